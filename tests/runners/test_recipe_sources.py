"""The published cases and those of the logs, compared with the recipes: no case is missing, and none differs."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.read import facts
from perfledger.ingest.read.beside import PathFacts
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import by_id
from perfledger.parsers.engine.session import Quoted
from perfledger.runners import recipes
from perfledger.runners.cases import RecipeCase, select_cases
from perfledger.runners.job import texts
from perfledger.runners.matrix import text_of
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.wrappers import CaseWords
from tests.corpus import corpus

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "raw_logs" / "published"
HALF = {"amp", "fp16", "bf16"}
#: Keys of the tables that do not affect how a run is started.
ASIDE = {"repeat", "logs", "case", "test", "date", "version", "parameters_billion", "model_parallel_size"}

#: Framework, and the code where one framework has several, as the tables name them: the recipes that launch its cases.
COVERAGE: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    ("ResNet-50 v1.5", "OneFlow", ""): ("resnet50-oneflow",),
    ("ResNet-50 v1.5", "NGC MXNet", "e470c215"): ("resnet50-ngc-mxnet-2020",),
    ("ResNet-50 v1.5", "NGC MXNet", ""): ("resnet50-ngc-mxnet",),
    ("ResNet-50 v1.5", "NGC TensorFlow", "fed7ba99"): ("resnet50-ngc-tensorflow-2020",),
    ("ResNet-50 v1.5", "NGC TensorFlow", ""): ("resnet50-ngc-tensorflow",),
    ("ResNet-50 v1.5", "NGC PyTorch", "5cc03caa"): ("resnet50-ngc-pytorch-2020",),
    # The round's report names other commits of these trainers than the pages with their logs.
    ("ResNet-50 v1.5", "NGC PyTorch", "46ff3707"): ("resnet50-ngc-pytorch-2020",),
    ("ResNet-50 v1.5", "NGC PyTorch", ""): ("resnet50-ngc-pytorch",),
    ("ResNet-50 v1.5", "TensorFlow", ""): ("resnet50-tensorflow-models",),
    ("ResNet-50 v1.5", "PyTorch", ""): ("resnet50-pytorch-examples",),
    ("ResNet-50 v1.5", "PaddlePaddle", "PaddlePaddle/models"): ("resnet50-paddle-models",),
    ("ResNet-50 v1.5", "PaddlePaddle", ""): ("resnet50-paddleclas",),
    ("ResNet-50 v1.5", "MindSpore", ""): ("resnet50-mindspore-zoo",),
    ("ResNet-50 v1b", "MXNet", ""): ("resnet50-v1b-gluoncv",),
    ("BERT-base", "OneFlow", ""): ("bert-oneflow",),
    ("BERT-base", "NGC TensorFlow", "fed7ba99"): ("bert-ngc-tensorflow-2020",),
    ("BERT-base", "NGC TensorFlow", ""): ("bert-ngc-tensorflow",),
    ("BERT-base", "NGC PyTorch", "5cc03caa"): ("bert-ngc-pytorch-2020",),
    ("BERT-base", "NGC PyTorch", "26c26761"): ("bert-ngc-pytorch-2020",),
    ("BERT-base", "NGC PyTorch", ""): ("bert-ngc-pytorch",),
    ("BERT-base", "TensorFlow", ""): ("bert-tensorflow-models",),
    ("BERT-base", "PaddlePaddle", "PaddlePaddle/models"): ("bert-paddle-models",),
    ("BERT-base", "PaddlePaddle", ""): ("bert-paddlenlp",),
    ("BERT-base", "MXNet", ""): ("bert-gluonnlp",),
    ("BERT-base", "MindSpore", ""): ("bert-mindspore-zoo",),
    ("Transformer big", "NGC PyTorch", ""): ("transformer-ngc-pytorch",),
    ("Transformer big", "PaddlePaddle", ""): ("transformer-big-paddlenlp",),
    ("DeepLabV3+", "PaddlePaddle", ""): ("deeplabv3p-paddleseg-gpu",),
    ("DeepLabV3+", "PyTorch", ""): ("deeplabv3p-mmseg",),
    ("HRNet-W18", "PaddlePaddle", ""): ("hrnet-paddleseg",),
    ("HRNet-W18", "PyTorch", ""): ("hrnet-mmseg",),
    ("CTR-DNN", "PaddlePaddle", ""): ("ctr-dnn-paddlerec",),
    ("Wide & Deep", "PaddlePaddle", ""): ("wide-deep-paddlerec",),
    ("Word2Vec", "PaddlePaddle", ""): ("word2vec-paddlerec",),
    ("Wide & Deep", "OneFlow", "OneFlow-Benchmark"): ("wide-deep-oneflow",),
    ("Wide & Deep", "OneFlow", "Oneflow-Inc/models"): ("wide-deep-oneflow-models",),
    ("Wide & Deep", "HugeCTR", ""): ("wide-deep-hugectr",),
    ("InsightFace R100", "OneFlow", ""): ("insightface-r100-oneflow", "insightface-classes-oneflow"),
    ("InsightFace R100", "MXNet", "partial_fc"): ("insightface-r100-partial-fc", "insightface-classes-partial-fc"),
    ("InsightFace R100", "MXNet", "ArcFace"): ("insightface-r100-arcface",),
    ("InsightFace R100", "MXNet", ""): ("insightface-r100-arcface", "insightface-r100-partial-fc"),
    ("InsightFace Y1", "OneFlow", ""): ("insightface-y1-oneflow",),
    ("InsightFace Y1", "MXNet", ""): ("insightface-y1-arcface",),
    ("GPT", "Megatron-LM", ""): ("gpt-megatron",),
    ("GPT", "OneFlow", ""): ("gpt-oneflow",),
    ("GPT-2 small", "DeepSpeed", ""): ("gpt2-small-deepspeed",),
}

#: Rows of the sources that no recipe launches, as a pattern of their words, and why.
NOT_LAUNCHED: Mapping[str, str] = {
    r"OneFlow/HugeCTR": "a ratio of two figures",
    r"case=MP_1x32x1_16_3072x32": "16 sequences over 32 devices: none has a whole one",
    r"gpt2_big_fc_osdi_test_1207": "a branch whose trainer and arguments were not published",
    r"pytorch/examples.*dali=yes": "a changed copy of the example, which was not published",
    r"batches=\d+; micro_batches": "an example of a log, which states no case",
}


def rows() -> list[dict[str, str]]:
    """Everything measured that the two sources published."""
    tables = [PUBLISHED / f"{name}.csv" for name in ("dlperf", "paddle-perf")]
    found = [row for path in tables for row in csv.DictReader(path.read_text("utf-8").splitlines())]
    return [row for row in found if row["state"] != "not_measured"]


def options_of(row: Mapping[str, str]) -> dict[str, str]:
    options = dict(pair.split("=", 1) for pair in row["options"].split("; ") if pair)
    words = {"data": "data_set"}
    return {words.get(key, key): value for key, value in options.items() if key not in ASIDE}


def recipes_of(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return the recipes of the first entry whose code is part of the row's code (both may be empty)."""
    key = (row["model"], row["framework"])
    found = [
        names for (*place, code), names in COVERAGE.items() if tuple(place) == key and code in row["framework_source"]
    ]
    return found[0] if found else ()


def fits(case: RecipeCase, row: Mapping[str, str]) -> bool:
    """Whether a case is that of a row, as far as the row says."""
    options = options_of(row)
    stated = {**options, "nodes": row["nodes"], "devices": row["devices"], "batch_size": row["batch_size"]}
    own = {**case.slots, "batch_size_of_job": case.slots["global_batch_size"]}
    same_precision = row["precision"] in ("", case.precision) or {row["precision"], case.precision} <= HALF
    return same_precision and all(
        not value or key not in own or folded(value) == folded(text_of(own[key])) for key, value in stated.items()
    )


def folded(text: str) -> str:
    return {"yes": "true", "no": "false"}.get(text.lower(), text.lower())


@pytest.fixture(scope="module")
def cases() -> dict[str, list[RecipeCase]]:
    names = {name for names in COVERAGE.values() for name in names}
    return {name: select_cases(recipes.load(recipes.find(name)), {}) for name in names}


def test_every_published_case_is_a_case_of_its_recipe(cases):
    missing = set()
    for row in rows():
        words = " ".join(row[key] for key in ("model", "framework", "framework_source", "options"))
        if any(re.search(pattern, words) for pattern in NOT_LAUNCHED):
            continue
        if not any(fits(case, row) for name in recipes_of(row) for case in cases[name]):
            missing.add((words, *(row[key] for key in ("nodes", "devices", "batch_size", "precision", "metric"))))
    assert missing == set()


def test_every_row_of_the_coverage_and_every_exception_is_needed():
    published = rows()
    used = set(map(recipes_of, published))
    assert {names for names in COVERAGE.values() if names not in used} == set()
    for pattern in NOT_LAUNCHED:
        assert any(
            re.search(pattern, f"{row['framework']} {row['framework_source']} {row['options']}") for row in published
        )


#: Names that formats have for a fact of the case itself.
FACTS = (
    "batch_size", "batch_size_of_job", "devices", "devices_per_node", "nodes", "precision", "accumulation", "dali",
    "xla", "reader", "sync_mode",
)  # fmt: skip
RN50, BERT, SEG = "ResNet50V1.5/OtherReports", "Bert/OtherReports", "DeepLabV3P"
PYTORCH, TF, MXNET = f"{RN50}/PyTorch/logs/V100-LOG", f"{RN50}/TensorFlow/logs/V100_LOG", f"{RN50}/MxNet/logs/V100_LOG"
CLAS, NLP, BIG = "ResNet50V1.5/logs/V100-LOG", "Bert/logs/V100_LOG", "Transformer/logs/V100_LOG"
PADDLE_BIG = f"{BIG}/PaddleNLP_transformer_big_bs5120"
NGC_BERT = f"{BERT}/PyTorch/logs/V100_LOG/bert_base_lamb_pretraining.pyt_bert_pretraining_phase1"
TF_BERT = f"{BERT}/TensorFlow/logs/V100_LOG/tf_bert_pretraining_lamb_base"
NGC_BIG = "Transformer/OtherReports/PyTorch/logs/V100_LOG"

#: Recipe, the choices that leave one case, and a real log of that case.
REAL = [
    ("resnet50-ngc-pytorch", "devices=1,precision=fp32", f"{PYTORCH}/pytorch_gpu1_fp32_bs256.txt"),
    ("resnet50-ngc-pytorch", "devices=1,precision=amp", f"{PYTORCH}/pytorch_gpu1_amp_bs256.txt"),
    ("resnet50-ngc-pytorch", "devices=8,precision=fp32", f"{PYTORCH}/pytorch_gpu8_fp32_bs256.txt"),
    ("resnet50-ngc-pytorch", "devices=8,precision=amp", f"{PYTORCH}/pytorch_gpu8_amp_bs256.txt"),
    ("resnet50-ngc-pytorch", "devices=32,precision=amp", f"{PYTORCH}/pytorch_gpu32_amp_bs256.txt"),
    ("resnet50-ngc-tensorflow", "devices=1,precision=fp32", f"{TF}/tf_gpu1_fp32_bs256.txt"),
    ("resnet50-ngc-tensorflow", "devices=8,precision=amp", f"{TF}/tf_gpu8_amp_bs256.txt"),
    ("resnet50-ngc-tensorflow", "devices=32,precision=amp", f"{TF}/tf_gpu32_amp_bs256.txt"),
    ("resnet50-ngc-mxnet", "devices=1,precision=fp32,batch_size=128", f"{MXNET}/mxnet_gpu1_fp32_bs128.txt"),
    ("resnet50-ngc-mxnet", "devices=8,precision=fp32,batch_size=128", f"{MXNET}/mxnet_gpu8_fp32_bs128.txt"),
    ("resnet50-ngc-mxnet", "devices=8,precision=fp16", f"{MXNET}/mxnet_gpu8_amp_bs256.txt"),
    ("resnet50-paddleclas", "devices=1,precision=fp32", f"{CLAS}/PaddleClas_ResNet50_bs256_fp32_DP_N1C1_log"),
    ("resnet50-paddleclas", "devices=8,precision=fp16", f"{CLAS}/PaddleClas_ResNet50_bs256_pure_fp16_DP_N1C8_log"),
    ("resnet50-paddleclas", "devices=32,precision=fp16", f"{CLAS}/paddle_gpu32_pure_fp16_bs256.txt"),
    ("bert-paddlenlp", "devices=1,precision=fp32", f"{NLP}/PaddleNLP_bert_base_seqlen128_bs96_fp32_DP_N1C1_log"),
    ("bert-paddlenlp", "devices=8,precision=amp", f"{NLP}/PaddleNLP_bert_base_seqlen128_bs96_fp16_DP_N1C8_log"),
    ("bert-paddlenlp", "devices=32,precision=amp", f"{NLP}/base_bs96_fp16_gpu32.log"),
    ("bert-ngc-pytorch", "devices=1,precision=fp32,batch_size=96", f"{NGC_BERT}_fp32_bs96_gpu1.log"),
    ("bert-ngc-pytorch", "devices=8,precision=fp16,batch_size=96", f"{NGC_BERT}_fp16_bs96_gpu8.log"),
    ("bert-ngc-tensorflow", "devices=1,precision=fp32,batch_size=96", f"{TF_BERT}_fp32_bs96_gpu1.log"),
    ("bert-ngc-tensorflow", "devices=8,precision=amp,batch_size=96", f"{TF_BERT}_fp16_bs96_gpu8.log"),
    (
        "transformer-big-paddlenlp",
        "devices=8,precision=fp16",
        f"{PADDLE_BIG}_pure_fp16_DP_N1C8_log",
    ),
    ("transformer-ngc-pytorch", "devices=1,precision=fp32", f"{NGC_BIG}/transformer_pytorch_bs5120_fp32_gpu1"),
    ("transformer-ngc-pytorch", "devices=8,precision=amp", f"{NGC_BIG}/transformer_pytorch_bs5120_fp16_gpu8"),
    ("deeplabv3p-paddleseg-gpu", "devices=8,precision=amp", f"{SEG}/logs/paddle/Deeplabv3_FP16_BS4-N8.log"),
    ("deeplabv3p-paddleseg-gpu", "devices=32,precision=fp32", f"{SEG}/logs/paddle/Deeplabv3_FP32_BS4-N32.log"),
    ("deeplabv3p-mmseg", "devices=8,precision=amp", f"{SEG}/OtherReports/PyTorch/logs/pytorch/deeplabv3p_c8_fp16.log"),
    ("deeplabv3p-mmseg", "devices=32,batch_size=8", f"{SEG}/OtherReports/PyTorch/logs/pytorch/deeplabv3p_c32_fp32.log"),
    ("ctr-dnn-paddlerec", "nodes=4,reader=DataLoader", "CtrDnn/logs/CtrDnn_DataLoader_16Thread_4Node"),
    ("ctr-dnn-paddlerec", "nodes=32,reader=DataSet", "CtrDnn/logs/CtrDnn_DataSet_16Thread_32Node"),
    ("word2vec-paddlerec", "nodes=4,reader=DataLoader,sync_mode=async", "Word2Vec/logs/W2V_DataLoader_16Thread_4Node"),
]


def one(name: str, choices: str) -> tuple[LaunchRecipe, RecipeCase]:
    recipe = recipes.load(recipes.find(name))
    (case,) = select_cases(recipe, dict(pair.split("=") for pair in choices.split(",")))
    return recipe, case


def real(path: str) -> Path:
    return corpus(f"paddle-perf/{path}")


def stated(case: RecipeCase, name: str) -> Any:
    value = {"accumulation": 1, **case.slots, "batch_size_of_job": case.slots["global_batch_size"]}.get(name)
    return None if value is None else folded(text_of(value))


def of_run_json(recipe: LaunchRecipe, case: RecipeCase) -> dict[str, Any]:
    """Return a case as run.json states it."""
    named = {key: getattr(case, key) for key in ("nodes", "devices", "batch_size", "precision")}
    return {"model": recipe.model, "framework": recipe.framework, **named, "options": dict(case.options)}


@pytest.mark.parametrize(("name", "choices", "log"), REAL, ids=[f"{row[0]} {row[1]}" for row in REAL])
def test_recipes_agree_with_the_facts_of_real_logs(name, choices, log):
    recipe, case = one(name, choices)
    found = read(real(log))
    assert [claim.format.id for claim in found.claims] == [recipe.records.format]
    quoted = found.sessions[0].facts
    assert facts.merge(of_run_json(recipe, case), quoted, PathFacts(""), {}, recipe.records.format).contradictions == ()
    compared = {name: each.value for name, each in quoted.items() if name in FACTS}
    assert compared or "gpu32" in log
    for fact, value in compared.items():
        if fact in ("dali", "xla") and fact not in case.options:
            continue
        assert stated(case, fact) == folded(str(value)), fact


#: Recipe, the choices that leave one case, and what its trainer prints of its arguments, where no log of it is at hand.
HEADS = [
    (
        "resnet50-oneflow", "devices=16,precision=amp",
        "gpu_num_per_node = 8\nnum_nodes = 2\nmodel = resnet50\nbatch_size_per_device = 256\nuse_fp16 = True\n",
    ),
    (
        "wide-deep-oneflow", "devices=8,vocabulary=102400000",
        ("num_nodes = 1\ngpu_num_per_node = 8\nbatch_size = 16384\ndeep_vocab_size = 102400000\n"
        "deep_embedding_vec_size = 16\nhidden_units_num = 7\nhidden_size = 1024\n"),
    ),
    (
        "gpt-megatron", "devices=32,pipeline_parallel=2",
        ("  world_size ..... 32\n  global_batch_size ..... 512\n  micro_batch_size ..... 8\n  num_layers ..... 24\n"
        "  hidden_size ..... 2304\n  num_attention_heads ..... 24\n  seq_length ..... 2048\n  fp16 ..... True\n"
        "  tensor_model_parallel_size ..... 8\n  pipeline_model_parallel_size ..... 2\n"
        "  data_parallel_size ..... 2\n  checkpoint_activations ..... True\nbuilding GPT model ...\n"),
    ),
    (
        "gpt2-small-deepspeed", "devices=16,zero=1,checkpointing=full",
        ("  world_size ..... 16\n  batch_size ..... 4\n  model_parallel_size ..... 1\n  num_layers ..... 12\n"
        "  fp16 ..... True\n  checkpoint_activations ..... True\n  seq_length ..... 1024\n  zero_stage ..... 1\n"),
    ),
    (
        "insightface-r100-arcface", "devices=8,batch_size=64,parallel=data_parallel",
        ("Called with argument: Namespace(batch_size=512, kvstore='device', network='r100', per_batch_size=64) "
        "{'num_classes': 85742}\n"),
    ),
    (
        "resnet50-v1b-gluoncv", "devices=8,precision=fp16",
        "INFO:root:Namespace(batch_size=256, dtype='float16', lr_mode='cosine', model='resnet50_v1b', num_gpus=0)\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "choices", "head"), HEADS, ids=[row[0] for row in HEADS])
def test_a_recipe_does_not_contradict_what_its_trainer_prints(name, choices, head):
    recipe, case = one(name, choices)
    found: dict[str, Quoted] = {}
    for fact in by_id(recipe.records.format).facts:
        match = fact.regex.search(head.encode())
        value = fact.value(match[1]) if match else None
        if value is not None:
            found.setdefault(fact.name, Quoted(value, 1))
    assert len(found) >= 3
    assert facts.merge(of_run_json(recipe, case), found, PathFacts(""), {}).contradictions == ()


def arguments(recipe: LaunchRecipe, case: RecipeCase, data: str) -> list[str]:
    return texts(CaseWords(recipe, case, data).trainer())


@pytest.mark.parametrize(("devices", "precision"), [(1, "fp32"), (1, "amp"), (8, "fp32"), (8, "amp")])
def test_nvidias_pytorch_trainer_is_started_as_its_logs_say(devices, precision):
    log = real(f"{PYTORCH}/pytorch_gpu{devices}_{precision}_bs256.txt").read_text("utf-8", "replace")
    recipe, case = one("resnet50-ngc-pytorch", f"devices={devices},precision={precision}")
    printed = re.findall(r"^\['/opt/conda/bin/python', '-u', .*\]$", log, re.MULTILINE)
    own = arguments(recipe, case, "/imagenet")[1:]
    if devices > 1:
        assert own == ast.literal_eval(printed[0])[1:]
    parameters = re.search(r" - PARAMETER data : .*", log)[0]
    scale = "256.0" if precision == "amp" else "1 "
    for name, value in {
        "arch": "resnet50",
        "batch_size": 256,
        "epochs": 1,
        "prof": 100,
        "static_loss_scale": scale,
    }.items():
        assert f"  {name} : {value}" in parameters


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_nvidias_bert_is_started_as_its_logs_say(precision):
    log = real(f"{NGC_BERT}_{precision}_bs96_gpu8.log").read_text("utf-8", "replace")
    recipe, case = one("bert-ngc-pytorch", f"nodes=1,devices=8,precision={precision},batch_size=96")
    printed = set(
        re.search(r"^\+ python3 -m torch.distributed.launch .*run_pretraining.py (.*)$", log, re.MULTILINE)[1].split()
    )
    own = set(arguments(recipe, case, "/workspace/bert/data/pretrain/phase1/unbinned/parquet/")[2:])
    where = ("--output_dir", "--json-summary", "/workspace/bert/results/dllogger.json")
    # The file that its log names was in the image; that of the source, at the commit of the recipe, says the same.
    config = {"--config_file=bert_config_base.json", "--config_file=bert_configs/base.json"}
    assert {word for word in printed ^ own if not word.startswith(where)} == {"--skip_checkpoint", *config}


@pytest.mark.parametrize("devices", [1, 8])
def test_nvidias_transformer_is_started_as_its_logs_say(devices):
    log = real(f"{NGC_BIG}/transformer_pytorch_bs5120_fp16_gpu{devices}").read_text("utf-8", "replace")
    recipe, case = one("transformer-ngc-pytorch", f"nodes=1,devices={devices},precision=amp")
    printed = log.splitlines()[0].partition(" train.py ")[2].split()
    own = arguments(recipe, case, "/data/wmt14_en_de_joined_dict_pytorch")[3:]
    assert [word for word in own if word not in ("--max-update", "1000", "{output}/checkpoint")] == [
        word for word in printed if word != "/workspace/checkpoint"
    ]


@pytest.mark.parametrize(("devices", "precision", "log"), [
    (8, "fp32", "PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log"),
    (8, "fp16", "PaddleClas_ResNet50_bs256_pure_fp16_DP_N1C8_log"),
    (32, "fp32", "paddle_gpu32_fp32_bs256.txt"),
])  # fmt: skip
def test_paddleclas_is_started_as_its_logs_say(devices, precision, log):
    text = real(f"{CLAS}/{log}").read_text("utf-8", "replace")
    recipe, case = one("resnet50-paddleclas", f"devices={devices},precision={precision}")
    printed = ast.literal_eval(re.search(r"training_script_args: (\[.*\])$", text, re.MULTILINE)[1])
    own = arguments(recipe, case, "/data")
    assert {word for word in printed if word != "ppcls/static/train.py"} - set(own) == set()


@pytest.mark.parametrize(("devices", "precision", "words"), [(1, "fp32", "fp32"), (8, "amp", "fp16")])
def test_paddlenlps_bert_is_started_as_its_logs_say(devices, precision, words):
    log = f"{NLP}/PaddleNLP_bert_base_seqlen128_bs96_{words}_DP_N1C{devices}_log"
    printed = real(log).read_text("utf-8", "replace").rstrip().splitlines()[-1].partition("run_pretrain.py ")[2].split()
    recipe, case = one("bert-paddlenlp", f"devices={devices},precision={precision}")
    own = arguments(recipe, case, "./data/wikicorpus_en_seqlen128")[3:]
    assert set(zip(printed[::2], printed[1::2], strict=True)) ^ set(zip(own[::2], own[1::2], strict=True)) == {
        ("--output_dir", "./tmp2/"),
        ("--output_dir", "{output}/output"),
    }
