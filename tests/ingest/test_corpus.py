"""Public logs: the format that reads them, their number of records, and figures that were computed elsewhere."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.cli import main
from perfledger.ingest.common import suites
from tests.corpus import corpus as corpus_path
from tests.corpus import expected

#: Names of formats in the table and their ids.
FORMATS = {
    "ppcls_static": "paddle.clas_static",
    "paddlenlp_bert": "paddle.nlp_bert",
    "paddleseg": "paddle.seg",
    "ngc_tf_rn50": "ngc.tensorflow_resnet50",
    "ngc_pyt_rn50": "ngc.pytorch_resnet50",
    "ngc_mxnet_rn50": "ngc.mxnet_resnet50",
    "ngc_tf_bert": "ngc.tensorflow_bert",
    "ngc_pyt_bert": "ngc.pytorch_bert",
    "paddlenlp_transformer": "paddle.nlp_transformer",
    "ngc_pyt_transformer": "ngc.pytorch_transformer",
    "paddlerec": "paddle.rec",
    "mmseg": "frameworks.mmseg",
}
PRECISIONS = {"fp32": ("fp32", "tf32"), "amp": ("amp",), "fp16": ("amp", "fp16"), "pure_fp16": ("fp16",)}
#: The only contradicting log: except for some warnings it is the log of 16 nodes, under the wrong name.
WRONG = "Word2Vec/logs/W2V_DataLoader_16Thread_8Node"
RIGHT = "Word2Vec/logs/W2V_DataLoader_16Thread_16Node"
#: Logs of five records: the first is warm-up, and the last may include a checkpoint.
SHORT = {
    f"DeepLabV3P/OtherReports/PyTorch/logs/pytorch/deeplabv3p_{each}.log" for each in ("c32_fp32", "c8_fp16", "c8_fp32")
}
PROBLEMS = {
    WRONG: [
        ("contradiction", {"fact": "nodes", "first": "16", "first_source": "line 15", "second": "8",
                           "second_source": "layout paddle-perf"}),
        ("duplicate", {"original": f"paddle-perf/{RIGHT}"}),
    ],
}  # fmt: skip


ROWS = expected("expected-paddle-perf")
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"])


class Corpus:
    """Output of one call of the command for all logs of the corpus."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.err = code, err.splitlines()
        self.lines: list[dict[str, Any]] = [json.loads(each) for each in out.splitlines()]
        self.by_path = {each["path"].partition("/")[2]: each for each in self.lines}


def read_tree(folder: Path) -> Corpus:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([str(folder), "--layout", "paddle-perf", "--json", "--verbose"])
    return Corpus(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Read the corpus once."""
    return read_tree(corpus_path("paddle-perf"))


def equal_as_printed(value: float, printed: str) -> bool:
    """Return whether a value rounds to the printed one."""
    decimals = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5000001 * 10.0**-decimals


@each_row
def test_one_format_reads_all_records(corpus: Corpus, row: dict[str, str]) -> None:
    line = corpus.by_path[row["path"]]
    assert line["format"] == FORMATS[row["format"]]
    assert line["sessions"] == 1
    assert line["observations"] == int(row["observations"])


@each_row
@pytest.mark.parametrize(("rule", "column"), [("mean", "steady_mean"), ("median", "steady_median")])
def test_figures_equal_the_expected_ones_in_all_printed_decimals(
    corpus: Corpus, row: dict[str, str], rule: str, column: str
) -> None:
    figure = corpus.by_path[row["path"]]["figures"][rule]
    assert figure["scope"] == "job"
    assert equal_as_printed(figure["value"], row[column]), (figure["value"], row[column])
    if row["format"] != "ngc_pyt_bert":
        assert figure["skipped"] == int(row["warmup_records_skipped"])
        assert figure["used"] + figure["skipped"] == int(row["observations"])


@each_row
def test_the_facts_of_the_case_are_the_expected_ones(corpus: Corpus, row: dict[str, str]) -> None:
    line = corpus.by_path[row["path"]]
    case = line["case"]
    # The table has the number of nodes in the wrong name.
    right = {"devices": 16, "nodes": 16} if row["path"] == WRONG else {}
    assert case["devices"] == right.get("devices", int(row["devices"]))
    assert case["nodes"] == right.get("nodes", int(row["nodes"]))
    assert case["batch_size"] == int(row["batch_size_per_device"])
    assert case["hardware"] == (row["gpu"] or "Xeon Gold 5117")
    assert case["framework"] == row["framework"].removesuffix(" 1.15").removesuffix(" (mmsegmentation)")
    assert suites.folded(case["model"]) == suites.folded(suites.model(row["model"]))
    assert case["precision"] in PRECISIONS[re.split(r"[ /]", row["precision"])[0]]
    problems = [(each["code"], each["args"]) for each in line["problems"] if each["code"] != "too_few"]
    assert problems == PROBLEMS.get(row["path"], [])
    assert (len(line["problems"]) > len(problems)) is (row["path"] in SHORT)
    assert line["published"] == (not problems)


def test_logs_of_parameter_servers_have_their_options(corpus: Corpus) -> None:
    found = {path: line["case"]["options"] for path, line in corpus.by_path.items() if line["format"] == "paddle.rec"}
    assert len(found) == 16
    for path, options in found.items():
        reader = "DataSet" if "DataSet" in path else "DataLoader"
        assert options == {"reader": reader, "sync_mode": "async", "threads": 16}


#: Upstream's wrongly named copies of other logs: name, the original log, and the contradictions.
COPIES = [
    *(
        (f"WideDeep/logs/WideDeep_DataSet_16Thread_{nodes}Node", f"CtrDnn/logs/CtrDnn_DataSet_16Thread_{nodes}Node",
         [("model", "CTR-DNN", "Wide & Deep")])
        for nodes in (8, 16, 32)
    ),
]  # fmt: skip


def test_logs_of_another_model_are_reported(tmp_path: Path) -> None:
    """Three logs of Wide & Deep in that tree have the bytes of CTR-DNN's, and print a path with CTR-DNN's name."""
    root = tmp_path / "paddle-perf"
    shutil.copytree(corpus_path("paddle-perf/CtrDnn"), root / "CtrDnn")
    for name, original, _ in COPIES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / original, root / name)
    called = read_tree(root)
    assert called.code == 1
    found = called.by_path
    for name, original, contradictions in COPIES:
        *named, last = found.pop(name)["problems"]
        assert [
            (each["args"]["fact"], each["args"]["first"], each["args"]["second"]) for each in named
        ] == contradictions
        assert (last["code"], last["args"]) == ("duplicate", {"original": f"paddle-perf/{original}"})
    assert len(found) == 8
    assert all(line["published"] and not line["problems"] for line in found.values())
