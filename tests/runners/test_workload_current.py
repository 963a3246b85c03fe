"""Trainers of workloads that people run this year, small and on a CPU: that they train, and that their logs are read.

Each runs where its packages are installed, which no two of them share; see the setup of their recipes.
"""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest
from workload_logs import need, train

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.wrappers import CaseWords
from runners.workloads import causal_lm_models
from tests.runners.written import filled

SMALL = ("--iterations", "6", "--batch-size", "2")


@pytest.mark.parametrize("more", [("transformers",), ("trl", "--lora", "4")], ids=["transformers", "trl"])
def test_a_llama_is_trained_from_its_configuration_and_each_step_is_a_record(tmp_path, more):
    need("transformers")
    need(more[0] if more[0] == "trl" else "accelerate")
    found = train(tmp_path, "causal_lm", *SMALL, "--sequence-length", "32", "--trainer", *more)
    session = found.session
    assert session.format.id == "frameworks.dllogger"
    (records,) = (each for each in session.records if each.reading.span == "interval" and "throughput" in each)
    assert records["step"].tolist() == [1, 2, 3, 4, 5, 6]
    # Of each token, by hand: q, k, v and o, three matrices of the MLP, and the last layer; frozen ones take less.
    weights = 4 * (4 * 256 * 256 + 3 * 256 * 688) + 256 * 32000
    adapters = weights_of_adapters(4) if more[0] == "trl" else 0
    per_token = (4 if adapters else 6) * weights + 6 * adapters + 12 * 4 * 256 * 32
    expected = records["throughput"] * 32 * per_token / 1e12
    assert records["flops"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    lines = [line for line in found.log.read_text().splitlines() if line.startswith("DLLL ")]
    stated = json.loads(lines[0].removeprefix("DLLL "))["data"]
    assert (stated["global_batch_size"], stated["max_seq_length"], stated["model"]) == (2, 32, "llama-tiny")
    whole = json.loads(lines[-1].removeprefix("DLLL "))["data"]
    # The steps follow each other without a gap.
    seconds = sum(2 / rate for rate in records["throughput"].tolist())
    assert whole["raw_train_time"] == pytest.approx(seconds, rel=0.02)
    assert whole["raw_train_time"] < found.wall_seconds


def weights_of_adapters(rank):
    """Each adapted matrix gets two more, with `rank` columns."""
    from runners.workloads.causal_lm import ADAPTED

    shapes = dict.fromkeys(("q_proj", "k_proj", "v_proj", "o_proj"), (256, 256))
    shapes |= dict.fromkeys(("gate_proj", "up_proj", "down_proj"), (256, 688))
    return 4 * sum(rank * sum(shapes[name]) for name in ADAPTED)


def test_a_llama_in_paddleformers_prints_a_record_for_each_step(tmp_path):
    need("paddleformers")
    found = train(tmp_path, "causal_lm_paddle", *SMALL, "--sequence-length", "32")
    assert found.session.format.id == "paddle.nlp_trainer"
    assert len(found.session.main) == 6


@pytest.mark.parametrize("arch", ["vit_tiny_patch16_224", "resnet50"])
def test_a_model_of_timm_is_trained(tmp_path, arch):
    need("timm")
    session = train(tmp_path, "timm_classifier", *SMALL, "--arch", arch, "--image-size", "32").session
    assert session.format.id == "ngc.pytorch_resnet50"
    assert len(session.main) == 6


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_adapters_of_a_denoising_network_alone_are_trained(tmp_path, precision):
    need("diffusers")
    need("peft")
    found = train(tmp_path, "sdxl_lora", *SMALL, "--image-size", "64", "--precision", precision)
    assert found.session.format.id == "frameworks.dllogger"
    assert len(found.session.main) == 6
    stated = json.loads(found.log.read_text().partition("DLLL ")[2].splitlines()[0])["data"]
    # Of each of 12 blocks of attention, which has two: four projections, each with two matrices of 16 columns.
    assert 0 < stated["trained_parameters"] < 1_000_000


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what PyTorch imports
@pytest.mark.parametrize(("name", "release"), [("llama-torchtitan", "0.3"), ("llama-torchtitan-one-gpu", "0.2")])
def test_torchtitan_takes_our_text_and_our_arguments(tmp_path, monkeypatch, name, release):
    """Both recipes, each with the release that it installs; torchtitan trains on GPUs alone."""
    need("torchtitan")
    need("tokenizers")
    if not version("torchtitan").startswith(release):
        pytest.skip(f"torchtitan {version('torchtitan')} is installed, and {name} is for {release}")
    from datasets import load_dataset
    from torchtitan.config import ConfigManager

    from runners.workloads import torchtitan_llama

    monkeypatch.chdir(tmp_path)
    torchtitan_llama.write_tokenizer()
    torchtitan_llama.write_text()
    rows = load_dataset(str(torchtitan_llama.TEXT), split="train")
    assert len(rows) == torchtitan_llama.DOCUMENTS
    recipe = recipes.load(recipes.find(name))
    for case in select_cases(recipe, {"nodes": "1", "batch_size": "1", "precision": ["bf16", "fp8"]}):
        _, _, _, *words = filled(CaseWords(recipe, case).trainer(), {})
        config = ConfigManager().parse_args(words)
        assert (config.training.steps, config.training.seq_len) == (recipe.iterations, 8192)
        assert (config.metrics.log_freq, config.compile.enable, config.checkpoint.enable) == (1, True, False)


def test_tokens_are_words_of_the_model_and_the_same_again():
    parser = causal_lm_models.language_model_parser("", ("cpu", "cuda"))
    arguments = parser.parse_args(["--sequence-length", "7", "--model", "llama-3-8b"])
    tokens = causal_lm_models.tokens(arguments, 1000)
    assert tokens.shape == (1000, 8)
    assert 3 <= tokens.min() < tokens.max() < 128256
    assert (tokens == causal_lm_models.tokens(arguments, 1000)).all()


def test_the_sizes_are_those_that_were_published():
    def parameters(name: str) -> int:
        size = causal_lm_models.MODELS[name]
        width, inner, layers = size["hidden_size"], size["intermediate_size"], size["num_hidden_layers"]
        narrow = width * size["num_key_value_heads"] // size["num_attention_heads"]
        layer = 2 * width * width + 2 * width * narrow + 3 * width * inner + 2 * width
        return 2 * size["vocab_size"] * width + layers * layer + width

    # As their model cards state them.
    assert parameters("llama-2-7b") == 6_738_415_616
    assert parameters("llama-3-8b") == 8_030_261_248
