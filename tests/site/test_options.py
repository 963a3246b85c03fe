"""Options in words, in both languages; the same words as on the page that compares."""

from __future__ import annotations

from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.compute.results import results as results_of
from perfledger.ingest.site import run_names, run_tables
from perfledger.ingest.site.model import site_of_runs, suites
from perfledger.ingest.site.options import in_words, listed
from tests import builders


@pytest.mark.parametrize(
    ("options", "en", "zh"),
    [
        ({}, "", ""),
        ({"threads": 2, "image_size": 64}, "image size 64, threads 2", "图像边长 64、线程数 2"),
        ({"xla": True, "dali": False}, "DALI off, XLA on", "DALI 关闭、XLA 启用"),
        ({"xla": "yes", "clip": "no"}, "gradient clipping off, XLA on", "梯度裁剪 关闭、XLA 启用"),
        ({"reader": "DataSet", "partial_fc": 0.1}, "sampled share of the classes 0.1, data reader DataSet", None),
        ({"input": "resident"}, "input resident on the device", "输入数据 常驻显存"),
        ({"trainer": "static"}, "trainer static graph", "训练程序 静态图"),
        ({"weights": "bfloat16"}, "weights BF16", "权重格式 BF16"),
        ({"quite_new": 3}, "quite_new 3", "quite_new 3"),
    ],
)
def test_options_are_said_in_words(options: dict[str, Any], en: str, zh: str | None) -> None:
    known, said = own(), in_words(options)
    assert known.say("en", said) == en
    assert zh is None or known.say("zh", said) == zh


def test_only_what_is_asked_for_is_said_and_nothing_empty() -> None:
    known = own()
    assert known.say("en", in_words({"threads": 2, "xla": True}, ["xla", "dali"])) == "XLA on"
    assert known.say("zh", listed(("", "GPT", in_words({"threads": 2})))) == "GPT、线程数 2"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("Llama tiny", "Llama tiny, threads 2"),  # not its size again
        ("Llama 2 7B", "Llama 2 7B, size llama-tiny, threads 2"),
        ("Llama 3 8B", "Llama 3 8B, size llama-tiny, threads 2"),
    ],
)
def test_a_workload_says_a_model_once(model: str, said: str) -> None:
    (llama,) = (suite for suite in suites() if "Llama tiny" in suite.models)
    options = {"size": "llama-tiny", "threads": 2}
    assert own().say("en", llama.workload_words(model, options)) == said
    assert "llama-tiny" in llama.workload_text(model, options), "what tells rows apart says all"


@pytest.mark.parametrize(
    ("suite", "model", "variant"),
    [
        ("llama", "Llama 3 8B", "Llama 3 8B"),  # the title is Llama alone
        ("vit", "ViT-L/16", "ViT-L/16"),
        ("gpt", "GPT", ""),
        ("gpt", "GPT-2 small", "GPT-2 small"),
        ("nccl", "all_reduce", ""),  # All-reduce (NCCL)
        ("fastscnn", "FastSCNN", ""),
        ("dlrm", "DLRM-DCNv2", ""),  # the only model of its page
    ],
)
def test_a_page_of_several_models_names_each_that_its_title_does_not(suite: str, model: str, variant: str) -> None:
    (found,) = (each for each in suites() if each.id == suite)
    assert found.variant_of(model) == variant


def test_a_run_of_such_a_page_is_named_with_its_model() -> None:
    run = builders.run("x", model="Llama 3 8B", framework="PyTorch", options={"sequence_length": 8192})
    site = site_of_runs([run])
    assert "Llama, " in own().say("en", run_names.name(site, run))
    assert "Llama 3 8B, sequence length 8192" in own().say("en", run_names.name(site, run))
    assert "Llama 3 8B、序列长度 8192" in own().say("zh", run_tables.case_text(site, run))


def test_an_option_that_only_repeats_the_model_is_marked_at_no_figure() -> None:
    options = {"size": "sdxl", "input": "resident", "image_size": 1024}
    (row,) = results_of([builders.run("x", model="SDXL", framework="PyTorch", options=options)])
    (found,) = (each for each in suites() if each.id == "sdxl")
    assert found.other_options(row) == {"input": "resident"}
