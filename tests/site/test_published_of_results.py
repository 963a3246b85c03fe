"""The published figures of the logs of results: each is in the row of its result, with the verdict of the audit."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from perfledger.ingest.common.words import own
from perfledger.ingest.compute.results import results
from perfledger.ingest.published import publications
from perfledger.ingest.site import model_tables
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.render.table import Cell, Entry
from perfledger.ingest.site.result_lines import ResultLine, slices
from perfledger.schema.records import Run
from tests.site.conftest import ROOT

WORDS = own()
REPRODUCED, OTHER_RULE, UNSUPPORTED = "reproduced", "reproduced by another rule", "not supported by its log"
#: As the sources print them: devices to framework to the figure, and its verdict; and the batch size of all of these.
Printed = Mapping[int, Mapping[str, tuple[str, str]]]
V100 = "V100-SXM2-32GB"
HALF = "Mixed and half precision"
TABLES: list[tuple[str, str, int, Printed]] = [
    ("resnet50", "FP32", 256, {
        1: {"PaddlePaddle": ("393.561", REPRODUCED), "NGC TensorFlow": ("415.786", REPRODUCED),
            "NGC PyTorch": ("370.194", REPRODUCED), "NGC MXNet": ("389.54", REPRODUCED)},
        8: {"PaddlePaddle": ("3,019.361", OTHER_RULE), "NGC TensorFlow": ("3,273.03", REPRODUCED),
            "NGC PyTorch": ("2,791.98", OTHER_RULE), "NGC MXNet": ("2,957.8", REPRODUCED)},
        32: {"PaddlePaddle": ("10,984.436", REPRODUCED), "NGC TensorFlow": ("12,671.9", REPRODUCED),
             "NGC PyTorch": ("10,523.32", OTHER_RULE)},
    }),
    ("resnet50", HALF, 256, {
        1: {"PaddlePaddle": ("1,438.518", UNSUPPORTED), "NGC TensorFlow": ("1,218.82", REPRODUCED),
            "NGC PyTorch": ("790.033", REPRODUCED), "NGC MXNet": ("1,471.9", REPRODUCED)},
        8: {"PaddlePaddle": ("10,936.815", REPRODUCED), "NGC TensorFlow": ("9,405.36", REPRODUCED),
            "NGC PyTorch": ("5,889.05", OTHER_RULE), "NGC MXNet": ("10,336", OTHER_RULE)},
        32: {"PaddlePaddle": ("39,972.13", OTHER_RULE), "NGC TensorFlow": ("33,317.67", OTHER_RULE),
             "NGC PyTorch": ("21,259.81", OTHER_RULE)},
    }),
    ("bert", "FP32", 96, {
        1: {"PaddlePaddle": ("164.866", REPRODUCED), "NGC TensorFlow": ("155.077", OTHER_RULE),
            "NGC PyTorch": ("158.6111", REPRODUCED)},
        8: {"PaddlePaddle": ("1,320.939", OTHER_RULE), "NGC TensorFlow": ("1,218.31", OTHER_RULE),
            "NGC PyTorch": ("1,232.11", OTHER_RULE)},
        32: {"PaddlePaddle": ("4,829.9", OTHER_RULE), "NGC TensorFlow": ("4,238.5", OTHER_RULE),
             "NGC PyTorch": ("3,496.94", OTHER_RULE)},
    }),
    ("bert", HALF, 96, {
        1: {"PaddlePaddle": ("665.655", REPRODUCED), "NGC TensorFlow": ("527.024", OTHER_RULE),
            "NGC PyTorch": ("639.16", REPRODUCED)},
        8: {"PaddlePaddle": ("5,355.659", OTHER_RULE), "NGC TensorFlow": ("4,042.83", OTHER_RULE),
            "NGC PyTorch": ("5,055.56", OTHER_RULE)},
        32: {"PaddlePaddle": ("20,054.43", OTHER_RULE), "NGC TensorFlow": ("16,142.9", OTHER_RULE),
             "NGC PyTorch": ("16,610.6", OTHER_RULE)},
    }),
    ("deeplabv3p", "FP32", 4, {
        1: {"PaddlePaddle": ("6.13", REPRODUCED), "PyTorch": ("4.25", OTHER_RULE)},
        8: {"PaddlePaddle": ("44.39", OTHER_RULE), "PyTorch": ("25.65", OTHER_RULE)},
        32: {"PaddlePaddle": ("176", UNSUPPORTED), "PyTorch": ("60.95", UNSUPPORTED)},
    }),
    ("deeplabv3p", HALF, 4, {
        1: {"PaddlePaddle": ("15.41", REPRODUCED), "PyTorch": ("7.76", OTHER_RULE)},
        8: {"PaddlePaddle": ("96.03", OTHER_RULE), "PyTorch": ("41.31", OTHER_RULE)},
        32: {"PaddlePaddle": ("373.76", UNSUPPORTED), "PyTorch": ("203.2", OTHER_RULE)},
    }),
]  # fmt: skip
each_table = pytest.mark.parametrize(("suite", "group", "batch_size", "figures"), TABLES)


@pytest.fixture(scope="module")
def perf() -> Site:
    """Return the site of the 82 logs that are recorded with the figures that were published of them."""
    found = publications.read([ROOT / "raw_logs" / "published"])
    runs = tuple(replace(each, id=each.path, published=not _is_wrong(each)) for each in found.recorded)
    assert len(runs) == 82
    return Site(runs, (), suites(), results, found)


def _is_wrong(given: Run) -> bool:
    return any(each.code in ("contradiction", "duplicate") for each in given.problems)


def said(entry: Entry) -> str:
    return " ".join(str(WORDS.say("en", each)) for each in (entry.text, *entry.marks))


def published(site: Site, suite_id: str, group: str) -> list[tuple[ResultLine, Cell]]:
    """Return the results of a suite on V100, each with its cell of published figures."""
    (suite,) = [each for each in suites() if each.id == suite_id]
    for of in slices(site, suite):
        if of.hardware == V100 and WORDS.say("en", of.title[1]) == group:
            table = model_tables.results(site, suite, of)
            at = [each.key for each in table.columns].index("published")
            return [(line, row[at]) for line, row in zip(of.lines, table.rows, strict=True)]
    raise AssertionError((suite_id, group))


@each_table
def test_each_result_has_its_published_figure_with_the_verdict(
    perf: Site, suite: str, group: str, batch_size: int, figures: Printed
) -> None:
    found = [
        (line.row.devices, line.row.framework, said(entry), str(WORDS.say("en", entry.verdict.means)))
        for line, cell in published(perf, suite, group)
        for entry in cell.entries
        if entry.verdict and (line.row.batch_size == batch_size or "printed as batch" in said(entry))
    ]
    for devices, row in figures.items():
        for framework, (figure, verdict) in row.items():
            of_case = [each[2:] for each in found if each[:2] == (devices, framework)]
            # Another place may print the figure with more digits.
            assert any(text.startswith(figure) and means.startswith(verdict) for text, means in of_case), of_case


def test_a_published_figure_is_linked_to_its_source_and_its_verdict_to_the_audit(perf: Site) -> None:
    for suite in ("resnet50", "bert", "deeplabv3p"):
        entries = [each for _, cell in published(perf, suite, "FP32") for each in cell.entries]
        assert entries
        assert all((each.page or "").startswith("https://github.com/") for each in entries)
        assert all(each.verdict and (each.verdict.page or "").startswith("audit.md#figure-") for each in entries)


def test_the_printed_batch_size_and_precision_are_stated_where_the_log_says_another(perf: Site) -> None:
    of_mxnet = [
        said(entry)
        for line, cell in published(perf, "resnet50", "FP32")
        for entry in cell.entries
        if line.row.framework == "NGC MXNet"
    ]
    assert {"389.54 printed as batch 256", "2,957.8 printed as batch 256"} <= {*of_mxnet}
    amp = [said(entry) for _, cell in published(perf, "resnet50", HALF) for entry in cell.entries]
    assert "10,936.815 printed as AMP (O2)" in amp
