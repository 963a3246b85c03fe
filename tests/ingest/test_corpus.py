"""Logs that others made: which format reads them, how many records, and the figures that were computed elsewhere."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_trees import SHARED, shared

from ingest import rules
from ingest.cli import main
from parsers.read import read
from parsers.registry import formats

CORPUS = SHARED / "corpus"
MODELS = ("ResNet50V1.5", "BERT-base", "DeepLabV3P")
#: The formats' names in the table, and ours.
FORMATS = {
    "ppcls_static": "paddle.clas_static",
    "paddlenlp_bert": "paddle.nlp_bert",
    "paddleseg": "paddle.seg",
    "ngc_tf_rn50": "ngc.tensorflow_resnet50",
    "ngc_pyt_rn50": "ngc.pytorch_resnet50",
    "ngc_mxnet_rn50": "ngc.mxnet_resnet50",
    "ngc_tf_bert": "ngc.tensorflow_bert",
    "ngc_pyt_bert": "ngc.pytorch_bert",
}
PRECISIONS = {"fp32": ("fp32", "tf32"), "amp": ("amp",), "fp16": ("amp", "fp16"), "pure_fp16": ("fp16",)}


def rows() -> list[dict[str, str]]:
    """Rows of the table whose formats are understood; none where the table is not at hand."""
    table = CORPUS / "expected.csv"
    if not table.exists():
        return []
    with table.open(newline="") as stream:
        found = [each for each in csv.DictReader(stream) if each["model"] in MODELS and each["format"] in FORMATS]
    assert len(found) >= 46
    return found


ROWS = rows()
each_row = pytest.mark.parametrize("row", ROWS or [None], ids=lambda row: row["path"] if row else "no-corpus")


class Corpus:
    """One call of the command over all logs of the corpus."""

    def __init__(self, code: int, out: str, err: str, site: Path) -> None:
        self.code, self.err, self.site = code, err.splitlines(), site
        self.lines: list[dict[str, Any]] = [json.loads(each) for each in out.splitlines()]
        self.by_path = {each["path"].partition("/")[2]: each for each in self.lines}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The corpus is read once; the site is built, too."""
    import contextlib
    import io

    folder, site = shared("corpus/paddle-perf"), tmp_path_factory.mktemp("corpus") / "docs"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(folder), "--layout", "paddle-perf", "--json", "--out", str(site)])
    return Corpus(code, out.getvalue(), err.getvalue(), site)


def equal_as_printed(value: float, printed: str) -> bool:
    """Whether a value is the printed one to all the decimals that are given there."""
    decimals = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5000001 * 10.0**-decimals


def rule_of(words: str) -> str:
    """Our rule for the words of the column `published_rule`."""
    table = (
        (r"analysis\.py: drop first (\d+) ips records", "paddle:skip={}"),
        (r"[Ss]ummary (?:field|line)(?!;)", "reported"),
        (r"value of the final benchmark\.py table", "reported"),
        (r"plain mean of ALL per-iteration", "mean:skip=0"),
        (r"mean of .*?(?:after dropping the first|drop first) (\d+)", "mean:skip={}"),
    )
    for pattern, rule in table:
        if found := re.search(pattern, words.partition("; NOT")[0]):
            return rule.format(*found.groups())
    raise AssertionError(f"no rule for {words!r}")


@each_row
def test_one_format_reads_all_records(corpus: Corpus, row: dict[str, str]) -> None:
    line = corpus.by_path[row["path"]]
    assert line["format"] == FORMATS[row["format"]]
    assert line["sessions"] == 1
    assert line["observations"] == int(row["observations"])
    assert len(read(shared("corpus/paddle-perf") / row["path"]).claims) == 1


@each_row
@pytest.mark.parametrize(("rule", "column"), [("mean", "steady_mean"), ("median", "steady_median")])
def test_figures_to_the_decimals_given(corpus: Corpus, row: dict[str, str], rule: str, column: str) -> None:
    figure = corpus.by_path[row["path"]]["figures"][rule]
    assert figure["scope"] == "job"
    assert equal_as_printed(figure["value"], row[column]), (figure["value"], row[column])
    if row["format"] != "ngc_pyt_bert":
        assert figure["skipped"] == int(row["warmup_records_skipped"])
        assert figure["used"] + figure["skipped"] == int(row["observations"])


@each_row
def test_rule_that_rebuilds_the_published_figure(corpus: Corpus, row: dict[str, str]) -> None:
    if row["rule_kind"] != "family rule":
        assert row["rule_kind"] == "approximate"
        return
    line = corpus.by_path[row["path"]]
    log = read(shared("corpus/paddle-perf") / row["path"])
    case = {name: each["value"] for name, each in line["facts"].items()}
    found = rules.figure(rule_of(row["published_rule"]), log.sessions[0], case)
    assert isinstance(found, rules.Figure), found
    assert found.value == pytest.approx(float(row["rule_value"]), rel=1e-4)


@each_row
def test_facts_of_the_case(corpus: Corpus, row: dict[str, str]) -> None:
    line = corpus.by_path[row["path"]]
    case = line["case"]
    assert case["devices"] == int(row["devices"])
    assert case["nodes"] == int(row["nodes"])
    assert case["batch_size"] == int(row["batch_size_per_device"])
    assert case["hardware"] == row["gpu"]
    assert case["framework"] == row["framework"].removesuffix(" 1.15")
    assert case["precision"] in PRECISIONS[re.split(r"[ /]", row["precision"])[0]]
    assert line["problems"] == []
    assert line["published"]


def test_other_logs_are_listed_and_the_site_is_built(corpus: Corpus) -> None:
    understood = {row["path"] for row in ROWS}
    others = sorted(path for path in corpus.by_path if path not in understood)
    assert others
    assert corpus.code == 1
    codes = [each["code"] for path in others for each in corpus.by_path[path]["problems"]]
    assert codes == ["unknown_format"] * len(others)
    assert sorted(each.split(": ")[0] for each in corpus.err) == [f"paddle-perf/{path}" for path in others]
    assert len(list(corpus.site.glob("data/runs/*.jsonl"))) > 5
    assert (corpus.site / "en" / "index.md").is_file()
    assert (corpus.site / "zh" / "index.md").is_file()


def test_every_built_format_of_the_table_occurs() -> None:
    shared("corpus/expected.csv")
    assert {FORMATS[row["format"]] for row in ROWS} == set(FORMATS.values())
    assert set(FORMATS.values()) <= {each.id for each in formats()}
