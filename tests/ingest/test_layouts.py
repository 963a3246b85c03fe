"""Facts of paths: the two shipped trees, a user's own layout, and invalid layouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_logs import seg
from made_trees import Called, facts_of_path, write_run

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.compute.results import results
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.run import runs_of
from tests.corpus import expected

HARDWARE = {"V100": "V100-SXM2-32GB", "A100": "A100-SXM4-40GB"}
MODELS = {
    "Bert": "BERT-base",
    "CtrDnn": "CTR-DNN",
    "DeepLabV3P": "DeepLabV3+",
    "HRNetW18": "HRNet-W18",
    "ResNet50V1.5": "ResNet-50 v1.5",
    "Transformer": "Transformer big",
    "WideDeep": "Wide & Deep",
    "Word2Vec": "Word2Vec",
}
#: Batch size per thread of recommendation models, which train on machines without GPUs.
SERVED = {"CtrDnn": 1000, "WideDeep": 1000, "Word2Vec": 100}


def tree_paths() -> list[str]:
    """Return the paths of the logs of the tree's published figures."""
    found = sorted({row["log"] for row in expected("published/paddle-perf")})
    assert len(found) == 142
    return found


def framework_of(path: str) -> str:
    other = re.search(r"OtherReports/(\w+)/", path)
    if not other:
        return "PaddlePaddle"
    if path.startswith(("DeepLab", "HRNet")):
        return "PyTorch"
    return {"TensorFlow": "NGC TensorFlow", "PyTorch": "NGC PyTorch", "MxNet": "NGC MXNet"}[other[1]]


def precision_of(path: str) -> str:
    """Return the true precision by the tree's reports and logs; most fp16 runs are amp."""
    if path.partition("/")[0] in SERVED:
        return "fp32"
    word = re.search(r"_(pure_fp16|fp16|fp32|amp)(?=[_.]|$)", path, re.IGNORECASE)
    assert word, path
    pure = "ResNet", "Bert/OtherReports/PyTorch", "pytorch_gpu32_fp16", "paddle_gpu32_fp16", "PaddleSeg_fcn_hrnetw18"
    fp16 = "fp16" if any(each in path for each in pure) else "amp"
    return {"pure_fp16": "fp16", "fp16": fp16, "fp32": "fp32", "amp": "amp"}[word[1].lower()]


def devices_of(facts: Mapping[str, Any]) -> int:
    return int(facts["devices"] if "devices" in facts else facts["nodes"] * facts["devices_per_node"])


@pytest.mark.parametrize("prefix", ["", "paddle-perf/", "some/where/else-1n8g/"])
def test_every_path_of_the_tree_is_read(prefix: str) -> None:
    named = layout.load("paddle-perf")
    for path in tree_paths():
        facts, folder = facts_of_path(named, prefix + path), path.partition("/")[0]
        assert facts is not None, path
        assert facts["model"] == MODELS[folder]
        assert facts["framework"] == framework_of(path)
        gpu = re.search(r"([VA]100)[-_]LOG", path)
        assert facts["hardware"] == ("Xeon Gold 5117" if folder in SERVED else HARDWARE[gpu[1] if gpu else "V100"])
        batch = re.search(r"bs(\d+)", path, re.IGNORECASE)
        assert facts.get("batch_size") == (int(batch[1]) if batch else SERVED.get(folder)), path
        assert facts["precision"] == precision_of(path), path
        served = re.search(r"_(DataLoader|DataSet)_(\d+)Thread_(\d+)Node(_GEO)?$", path)
        if served:
            assert (facts["reader"], facts["threads"]) == (served[1], int(served[2]))
            assert (facts["nodes"], devices_of(facts)) == (int(served[3]), int(served[3]))
            assert facts["sync_mode"] == ("geo" if served[4] else "async")
            continue
        devices = re.search(r"(?:gpu|_c|-N)(\d+)(?=[_.]|$)", path) or re.search(r"N\d+C(\d+)", path)
        assert devices, path
        assert devices_of(facts) == int(devices[1]), path
        assert facts["nodes"] == (4 if devices[1] == "32" else 1)


def test_every_template_matches_a_path() -> None:
    named, idle = layout.load("paddle-perf"), set()
    paths = tree_paths()
    for template in named.templates:
        others = [each for each in named.templates if each is not template]
        without = layout.Layout(named.name, named.title, named.source, tuple(others))
        if all(facts_of_path(named, path) == facts_of_path(without, path) for path in paths):
            idle.add(template.written)
    assert named.templates
    assert idle == set()


@pytest.mark.parametrize(
    "path",
    [
        "ResNet50V1.5/README.md",
        "Bert/logs/V100_LOG/base_bs96_fp16_gpu32.log.bak",
        "xResNet50V1.5/logs/V100-LOG/PaddleClas_ResNet50_bs256_fp32_DP_N1C1_log",
    ],
)
def test_other_paths_are_not_read(path: str) -> None:
    assert facts_of_path(layout.load("paddle-perf"), path) is None


RN50, BERT, GPT = {"model": "ResNet-50 v1.5"}, {"model": "BERT-base"}, {"model": "GPT"}
ONE_OF_R100 = {"nodes": 1, "devices_per_node": 8, "model": "InsightFace R100", "precision": "fp32", "repeat": 2}


SHAPE = {"data_parallel": 2, "micro_batch": 8, "sequence_length": 2048, "layers": 24, "hidden": 2304, "heads": 24}


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        (
            "logs/ngc/1n1g/rn50_b128_fp16_3.log",
            RN50 | {"nodes": 1, "devices_per_node": 1, "batch_size": 128, "precision": "amp", "repeat": 3},
        ),
        (
            "4n8g/bert-base-adam-training_b96_fp32_5.log",
            BERT | {"nodes": 4, "devices_per_node": 8, "batch_size": 96, "precision": "fp32", "repeat": 5},
        ),
        (
            "megatron_pretrain_gpt_2n8d_dp2_mp8_pp1_mbz8_gbz16_s2048_l24_h2304_nh24_rank0.log",
            GPT | SHAPE | {"nodes": 2, "tensor_parallel": 8, "pipeline_parallel": 1, "batch_size_of_job": 16},
        ),
        (
            "logs/megatron_lm_perf_4n8g_dp2_mp4_pp4_mbs8_gbs512_pretrain_3.log",
            GPT | {"nodes": 4, "pipeline_parallel": 4, "micro_batch": 8, "batch_size_of_job": 512},
        ),
        ("logs/paddle/resnet50/bz128/10n8g/r50_b128_fp32_1.log", {"nodes": 10, "devices_per_node": 8}),
        ("fp32_b128/mxnet/resnet50/bz128/1n8g/rn50_b128_fp16_1.log", {"model": "ResNet-50 v1b", "precision": "amp"}),
        ("logs/insightface/arcface/bz64/1n8g/r100_b64_fp32_2.log", {"batch_size": 64} | ONE_OF_R100),
        (
            "logs-20210104-sample-ratio-0.1/mxnet/partial_fc/bz64/1n8g/r100_b64_fp32_2.log",
            {"batch_size": 64, "parallel": "partial_fc", "partial_fc": "0.1"} | ONE_OF_R100,
        ),
        (
            "r100_fp32_b115_oneflow_model_parallel_True_partial_fc_True_0.1/r100/1n8g/r100_b115_fp32_2.log",
            {"batch_size": 115, "parallel": "partial_fc", "partial_fc": "0.1"} | ONE_OF_R100,
        ),
        (
            "y1_fp32_b256_oneflow_model_parallel_False_partial_fc_False_1/y1/1n1g/y1_b256_fp32_1.log",
            {"batch_size": 256, "parallel": "data_parallel", "model": "InsightFace Y1"},
        ),
    ],
)
def test_names_and_folders_of_dlperf_state_facts(path: str, facts: dict[str, object]) -> None:
    found = facts_of_path(layout.load("dlperf"), path)
    assert found is not None
    assert {name: found[name] for name in facts} == facts
    assert ("partial_fc" in found) == ("partial_fc" in facts)


def test_a_users_own_layout_states_facts(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        'title = "Mine"\n[words.net]\ndl = { model = "DeepLabV3+" }\n[[path]]\n'
        'template = "{net}/{devices}x/bs{batch_size}-{precision}.txt"\n'
        'facts = { framework = "PaddlePaddle", nodes = 1 }\n'
    )
    log = tmp_path / "logs" / "dl" / "2x" / "bs4-fp32.txt"
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(seg([4.0, *[5.0] * 5])) + "\n")
    called = ingest(tmp_path / "logs", "--layout", own, "--json")
    (line,) = called.lines
    assert called.code == 0, called.err
    assert line["case"] == {
        "model": "DeepLabV3+",
        "framework": "PaddlePaddle",
        "nodes": 1,
        "devices": 2,
        "batch_size": 4,
        "precision": "fp32",
        "options": {},
    }
    assert line["figures"]["mean"]["value"] == 10.0
    assert line["facts"]["devices"]["where"] == "layout mine"


ENTRY = '[[path]]\ntemplate = "{a}.log"\n'
BROKEN = {
    "no TOML": ("path = [", ":1: is not TOML"),
    "no template at all": ('title = "x"', ":1: the key 'path' is missing"),
    "a slot that begins with a digit": (
        '[[path]]\ntemplate = "{1a}.log"',
        ":2: path[0].template: the slot '1a' is not a name; write a name such as {nodes}, {_} or {*}",
    ),
    "a repeated slot": (
        '[[path]]\ntemplate = "{a}/{a}.log"',
        ":2: path[0].template: the slot 'a' appears twice",
    ),
    "a fact that is misspelt": (
        ENTRY + "facts = { bach_size = 4 }",
        ":3: path[0].facts.bach_size: there is no fact 'bach_size'; did you mean 'batch_size'",
    ),
    "a precision that is none": (
        ENTRY + 'facts = { precision = "fp61" }',
        ":3: path[0].facts.precision: there is no precision 'fp61'; did you mean 'fp16'",
    ),
    "a slot that is misspelt": (
        '[[path]]\ntemplate = "{batchsize}.log"',
        ":2: path[0].template: the slot 'batchsize' is no fact; did you mean 'batch_size'?",
    ),
    "words of a slot that no template has": (
        "words.gpu = { x = { hardware = 'X' } }\n" + ENTRY,
        ":1: words.gpu: no template has the slot 'gpu'; known are 'a'"[:55],
    ),
    "an optional part in square brackets": (
        '[[path]]\ntemplate = "{a}[_{b}].log"',
        ":2: path[0].template: an optional part is in braces: write {?_{b}} instead of [_{b}]",
    ),
    "an optional part that does not close": (
        '[[path]]\ntemplate = "{a}{?_{b}.log"',
        ":2: path[0].template: '{a}{?_{b}.log': its braces do not match",
    ),
    "the rest of a path by its old name": (
        '[[path]]\ntemplate = "{model}/{rest}"',
        ":2: path[0].template: the rest of a path is {*}; write {*} instead of {rest}",
    ),
    "a file beside with a gap in its path": (
        ENTRY + '[beside.para]\npath = "{*}.para"\nkind = "text"',
        ":4: beside.para.path: it may contain only text and slots with names",
    ),
    "a file beside with a slot that the template lacks": (
        ENTRY + 'beside = ["system"]\n[beside.system]\npath = "../{system}.json"\nkind = "json"',
        ":3: path[0].beside[0]: the path of 'system' needs the slot 'system', which the template lacks",
    ),
    "a key that is misspelt": (ENTRY + "fact = { nodes = 1 }", ":3: path[0].fact: unknown key; did you mean 'facts'?"),
}


@pytest.mark.parametrize(("text", "fault"), BROKEN.values(), ids=BROKEN.keys())
def test_the_message_about_a_broken_layout_has_line_and_cause(
    text: str, fault: str, tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(text)
    with pytest.raises(UsageError) as caught:
        layout.load(str(broken))
    message = str(caught.value)
    assert message.startswith(f"{broken}{fault}")
    write_run(tmp_path / "logs", "a", seg([1.0]))
    called = ingest(tmp_path / "logs", "--layout", broken, "--out", tmp_path / "docs")
    assert (called.code, called.problems) == (2, [f"ingest: {message}"])
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize("name", ["nowhere", "nowhere.toml", "../paddle-perf", ""])
def test_the_message_about_an_unknown_layout_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"paddle-perf") as caught:
        layout.load(name)
    assert repr(name) in str(caught.value)


def test_a_folder_or_binary_file_is_refused_as_a_layout(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.toml").mkdir()
    for name in ("bytes.toml", "folder.toml"):
        with pytest.raises(UsageError, match=name):
            layout.load(str(tmp_path / name))


def test_a_hostile_template_cannot_hang(
    tmp_path: Path, ingest: Callable[..., Called], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search stops at a timeout, and the log has only its own facts."""
    monkeypatch.setattr(layout, "_TIMEOUT_SECONDS", 0.01)
    hostile = tmp_path / "hostile.toml"
    slots = "".join(f"{{s{i}}}" for i in range(30))
    hostile.write_text(f'[[path]]\ntemplate = "{slots}!"\n')
    log = tmp_path / "logs" / ("a" * 120 + "!a")
    log.parent.mkdir()
    log.write_text("\n".join(seg([4.0, 5.0, 5.0])) + "\n")
    called = ingest(tmp_path / "logs", "--layout", hostile, "--json")
    assert called.code == 1
    assert len(called.lines) == 1
    # These facts follow from the records, not from the path.
    assert called.lines[0]["case"] == {"framework": "PaddlePaddle", "batch_size": 4, "options": {}}


def test_a_count_of_zero_in_a_path_is_not_a_fact(tmp_path: Path) -> None:
    log = tmp_path / "0n0g" / "rn50_b0_fp32_1.log"
    log.parent.mkdir()
    log.write_text("\n".join(seg([4.0, 5.0, 5.0])) + "\n")
    (given,) = walk([tmp_path]).inputs
    (line,) = runs_of(given, layout.load("dlperf"), "")
    assert not line.published
    assert results([line]) == []


@pytest.mark.parametrize(
    ("template", "path", "facts"),
    [
        ("{model}{?_{host}}.log", "a/Net_x.log", {"model": "Net", "host": "x"}),
        ("{model}{?_{host}}.log", "a/Net.log", {"model": "Net"}),
        ("{model}{?-{host}{?_{board}}}.log", "Net-x_y.log", {"model": "Net", "host": "x", "board": "y"}),
        ("{_}/{model}.log", "some folder/Net.log", {"model": "Net"}),
        ("tree/{*}/{model}.log", "tree/a/b/Net.log", {"model": "Net"}),
        ("{model}.{log|txt}", "Net.txt", {"model": "Net"}),
        ("{model}.{log|txt}", "Net.out", None),
        ("{{{model}}}.log", "{Net}.log", {"model": "Net"}),
        ("run {devices}", "run 08", {"devices": 8}),
        ("run {devices}", "run 0", None),
        ("run {repeat}", "run 0", {"repeat": 0}),
    ],
)
def test_each_sign_of_a_template_works(
    tmp_path: Path, template: str, path: str, facts: dict[str, object] | None
) -> None:
    (tmp_path / "own.toml").write_text(f'[[path]]\ntemplate = "{template}"\n')
    assert facts_of_path(layout.load(str(tmp_path / "own.toml")), f"/any/where/{path}") == facts
