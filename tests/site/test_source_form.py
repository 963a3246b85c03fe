"""The summary of a model's page: the sources' own tables, rebuilt from logs; and which rows a table has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perfledger.ingest.common import words
from perfledger.ingest.common.words import Text
from perfledger.ingest.compute.results import results
from perfledger.ingest.published import publications
from perfledger.ingest.published.publications import Publications
from perfledger.ingest.read import plans
from perfledger.ingest.site import source_form
from perfledger.ingest.site.model import Site, Suite, suites
from perfledger.ingest.site.render.table import Cell, Table
from perfledger.schema.records import Run
from tests.builders import HARDWARE, edited, run
from tests.site.conftest import ROOT
from tests.site.test_reports import figures, one

WORDS = words.load()
#: Our figure is the printed one.
SAME = "same"
REPRODUCED, OTHER_RULE, UNSUPPORTED = "reproduced", "reproduced by another rule", "not supported by its log"
NO_RUN = "no run of this configuration"


def said(text: Text | None, language: str = "en") -> str:
    return str(WORDS.say(language, text)) if text else ""


def entries(cell: Cell, language: str = "en") -> list[str]:
    """Return the entries of a cell as they are read, each with its small print."""
    return [" ".join([said(each.text, language), *(said(m, language) for m in each.marks)]) for each in cell.entries]


def heads(table: Table) -> list[tuple[str, ...]]:
    """Return the heads of the rows."""
    named = [said(each.title) for each in table.columns]
    wide = 3 if "Options" in named else 2
    return [tuple(entries(each)[0] for each in row[:wide]) for row in table.rows]


def columns(table: Table) -> list[str]:
    return [said(each.title) for each in table.columns][2:]


# ---- the 82 logs ----

#: As the sources print them (../shared/reports/sources, ../shared/published): devices to framework to the figure, and
#: what is said of it beside ours. The batch size of all rows is the last of the head.
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
        1: {"PaddlePaddle": ("6.13", SAME), "PyTorch": ("4.25", OTHER_RULE)},
        8: {"PaddlePaddle": ("44.39", OTHER_RULE), "PyTorch": ("25.65", OTHER_RULE)},
        32: {"PaddlePaddle": ("176", UNSUPPORTED), "PyTorch": ("60.95", UNSUPPORTED)},
    }),
    ("deeplabv3p", HALF, 4, {
        1: {"PaddlePaddle": ("15.41", SAME), "PyTorch": ("7.76", OTHER_RULE)},
        8: {"PaddlePaddle": ("96.03", OTHER_RULE), "PyTorch": ("41.31", OTHER_RULE)},
        32: {"PaddlePaddle": ("373.76", UNSUPPORTED), "PyTorch": ("203.2", OTHER_RULE)},
    }),
]  # fmt: skip
each_table = pytest.mark.parametrize(("suite", "group", "batch_size", "printed"), TABLES)


@pytest.fixture(scope="module")
def perf() -> Site:
    """Return the site of the 82 logs, as they are recorded beside the figures that were published of them.

    That the record is what the logs give is tested where the logs are read (test_audit).
    """
    found = publications.read([ROOT / "raw_logs" / "published"])
    runs = tuple(replace(each, id=each.path, published=not _is_wrong(each)) for each in found.recorded)
    assert len(runs) == 82
    return Site(runs, (), suites(), results, found, plans=plans.found([ROOT / "raw_logs"]))


def _is_wrong(given: Run) -> bool:
    return any(each.code in ("contradiction", "duplicate") for each in given.problems)


def tables(site: Site, suite: str) -> dict[tuple[str, str], Table]:
    (about,) = [each for each in suites() if each.id == suite]
    return {(said(each.hardware), said(each.group)): each.table for each in source_form.summaries(site, about)}


def place(devices: int) -> str:
    return "32 on 4 machines" if devices == 32 else str(devices)


def cell(table: Table, devices: int, batch_size: int, framework: str) -> Cell:
    at = [said(each.title) for each in table.columns].index(framework)
    (row,) = [row for row, head in zip(table.rows, heads(table), strict=True)
              if head[:2] == (place(devices), str(batch_size))]  # fmt: skip
    return row[at]


@each_table
def test_the_logs_give_the_rows_and_columns_of_the_source(
    perf: Site, suite: str, group: str, batch_size: int, printed: Printed
) -> None:
    table = tables(perf, suite)[V100, group]
    mine = [head for head in heads(table) if head[1] == str(batch_size)]
    assert mine == [(place(devices), str(batch_size)) for devices in (1, 8, 32)]
    # The pending edition of DeepLabV3P prints another framework than the logs are of.
    assert [each for each in columns(table) if suite != "deeplabv3p" or each != "NGC PyTorch"] == list(printed[1])[
        : len(columns(table))
    ]


@each_table
def test_a_figure_that_differs_has_the_published_one_and_its_verdict_beside_it(
    perf: Site, suite: str, group: str, batch_size: int, printed: Printed
) -> None:
    table = tables(perf, suite)[V100, group]
    for devices, row in printed.items():
        for framework, (figure, verdict) in row.items():
            found = entries(cell(table, devices, batch_size, framework))
            beside = [each for each in found[1:] if each.startswith(f"published {figure}")]
            assert [each.startswith(f"published {figure}: {verdict}") for each in beside] == [True] * (verdict != SAME)


def test_each_published_figure_is_linked_to_the_audit_and_none_is_ours(perf: Site) -> None:
    for suite in ("resnet50", "bert", "deeplabv3p"):
        shown = [
            each for table in tables(perf, suite).values() for row in table.rows for c in row for each in c.entries
        ]
        published = [each for each in shown if said(each.text).startswith("published ")]
        assert published
        assert {each.page for each in published} == {"audit.md"}
        assert {each.value for each in published} == {None}


def test_a_batch_size_other_than_the_rows_is_said_in_the_cell_and_so_is_the_printed_one(perf: Site) -> None:
    table = tables(perf, "resnet50")[V100, "FP32"]
    for devices, ours, figure in ((1, "389.4", "389.54"), (8, "2,958", "2,957.8")):
        first, *others = entries(cell(table, devices, 256, "NGC MXNet"))
        assert first == f"{ours} BS=128"
        assert f"published {figure}: reproduced printed as BS=256" in others
    overridden = [c for row in table.rows for c in row if any("BS=128" in each for each in entries(c))]
    assert len(overridden) == 2
    seg = entries(cell(tables(perf, "deeplabv3p")[V100, "FP32"], 32, 4, "PyTorch"))
    assert seg[0].startswith("— BS=8")
    assert any(each.startswith("published 60.95: not supported by its log printed as BS=4") for each in seg)


def test_labels_are_as_printed(perf: Site) -> None:
    table = tables(perf, "resnet50")[V100, HALF]
    paddle = {devices: entries(cell(table, devices, 256, "PaddlePaddle")) for devices in (1, 8, 32)}
    assert [each[0].split()[1] for each in paddle.values()] == ["FP16"] * 3
    assert "published 10,936.815: reproduced printed as AMP (O2)" in paddle[8]
    assert not any("(O2)" in each for each in paddle[32])


def test_what_nobody_ran_is_pending_where_somebody_plans_it_and_not_measured_otherwise(perf: Site) -> None:
    half, single = (tables(perf, "resnet50")[V100, group] for group in (HALF, "FP32"))
    assert entries(cell(half, 32, 256, "NGC MXNet")) == ["pending"]
    assert said(cell(single, 32, 256, "NGC MXNet").note) == NO_RUN
    # The recipe's case is of the batch size that the log does not have.
    assert entries(cell(single, 1, 256, "NGC MXNet"))[-1] == "pending BS=256"


def test_cells_that_the_source_prints_as_pending_are_rows_unless_logs_have_them(perf: Site) -> None:
    found = tables(perf, "deeplabv3p")
    for devices in (1, 8, 32):
        for framework in ("PaddlePaddle", "NGC PyTorch"):
            assert entries(cell(found[V100, "FP32"], devices, 2, framework)) == ["pending"]
        assert entries(cell(found[V100, HALF], devices, 4, "NGC PyTorch")) == ["pending"]
        assert "pending" not in entries(cell(found[V100, HALF], devices, 4, "PaddlePaddle"))


def test_the_logs_of_bert_accumulate_or_do_not_say_so_and_none_is_without(perf: Site) -> None:
    """No log of this tree states that it does not accumulate: a row W/O AccGrad would be made up."""
    for group in ("FP32", HALF):
        table = tables(perf, "bert")[V100, group]
        assert len(table.rows) == 3
        assert not any("W/O" in each for head in heads(table) for each in head)
        stated = {
            (devices, framework): next((m for m in ("88", "704", "not stated") if f"AccGrad {m}" in first), "")
            for devices in (1, 8, 32)
            for framework in columns(table)
            for first in entries(cell(table, devices, 96, framework))[:1]
        }
        assert stated == {
            (1, "PaddlePaddle"): "88", (1, "NGC TensorFlow"): "704", (1, "NGC PyTorch"): "704",
            (8, "PaddlePaddle"): "", (8, "NGC TensorFlow"): "", (8, "NGC PyTorch"): "",
            (32, "PaddlePaddle"): "88", (32, "NGC TensorFlow"): "not stated", (32, "NGC PyTorch"): "not stated",
        }  # fmt: skip


def test_a_reader_of_chinese_gets_the_same_table(perf: Site) -> None:
    table = tables(perf, "resnet50")[V100, "FP32"]
    shown = entries(cell(table, 1, 256, "NGC MXNet"), "zh")
    assert shown[1] == "公布值 389.54：与日志一致 原文为 BS=256"
    assert shown[-1] == "待测 BS=256"


# ---- which rows there are ----

FRAMEWORKS = {"P": "PaddlePaddle", "T": "NGC TensorFlow", "Y": "NGC PyTorch", "M": "NGC MXNet"}


def placed(*ran: str, awaited: tuple[source_form.Awaited, ...] = ()) -> list[str]:
    """Return the rows of results such as `P128x8` (framework, batch size, devices; `!` for out of memory)."""
    runs = [of(each) for each in ran]
    site, suite = site_of(runs)
    shown = []
    for line in source_form.lines(site, suite, site.rows[suite.id], awaited):
        of_line = [_short(line, name) for name in FRAMEWORKS]
        without = " w/o" if line.place.without_accumulation else ""
        shown.append(f"{line.place.devices}x{line.batch_size}{without}: {' '.join(filter(None, of_line))}".strip())
    return shown


def _short(line: source_form.SummaryRow, name: str) -> str:
    sizes = "+".join(f"{each.batch_size}{'!' * (each.value is None)}" for each in line.of(FRAMEWORKS[name]))
    return f"{name}{sizes}" if sizes else f"{name}?" * (FRAMEWORKS[name] in line.pending)


def of(text: str, **change: Any) -> Run:
    name, _, steps = text.partition("/")
    size, _, devices = name[1:].rstrip("!").partition("x")
    made = run(text, framework=FRAMEWORKS[text[0]], batch_size=int(size), devices=int(devices or 1), **change)
    if steps:
        stated = {"accumulation": {"value": int(steps), "source": "log", "where": "line 1"}}
        made = edited(made, facts=stated, case={"options": {"accumulation": int(steps)} if steps != "1" else {}})
    failed = {"sustained": {"value": None, "reason": {"code": "failed", "args": {}}}}
    return edited(made, outcome="oom", figures=failed) if "!" in text else made


def site_of(runs: list[Run], *published: Any) -> tuple[Site, Suite]:
    rows = Publications(tuple(published), {"Made up": next(iter(figures().sources.values()))})
    (suite,) = [each for each in suites() if each.id == "resnet50"]
    return Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results, rows), suite


@pytest.mark.parametrize(
    ("ran", "rows"),
    [
        # The front page of 2021: FP32 on one device, AMP on one and on eight.
        ("P96 T128 Y128 M96 P96x8 T128x8 Y128x8", ["1x128: P96 T128 Y128 M96", "8x128: P96 T128 Y128"]),
        ("P128 T128 Y128 M128 P208 T256 Y256 M192", ["1x128: P128 T128 Y128 M128", "1x256: P208 T256 Y256 M192"]),
        (
            "P128x8 T128x8 Y128x8 M128x8 P208x8 T256x8 Y248x8 M192x8",
            ["8x128: P128 T128 Y128 M128", "8x256: P208 T256 Y248 M192"],
        ),
        # What most frameworks ran makes the row, whichever is larger; then what is usual in the table.
        ("P4 T4 Y8", ["1x4: P4 T4 Y8"]),
        ("P4 Y4 P4x8 Y8x8", ["1x4: P4 Y4", "8x4: P4 Y8"]),
        ("P4 Y8", ["1x8: P4 Y8"]),
        # A size that several ran is a row of its own, and an override goes to the nearest row.
        ("P128 T128 T256 Y256", ["1x128: P128 T128", "1x256: T256 Y256"]),
        ("P128 T128 Y128 P256 T256 M512", ["1x128: P128 T128 Y128", "1x256: P256 T256 M512"]),
        # A framework that ran all of them has a row for each.
        ("P16 P32 P64 T32", ["1x16: P16", "1x32: P32 T32", "1x64: P64"]),
        # Out of memory is no figure: the lower size joins it; where there is one already, it has its own row.
        ("Y256! Y248 T256", ["1x256: T256 Y248+256!"]),
        ("Y128 Y256! T128", ["1x128: T128 Y128", "1x256: Y256!"]),
    ],
)  # fmt: skip
def test_rows_are_the_batch_sizes_that_most_frameworks_ran(ran: str, rows: list[str]) -> None:
    assert placed(*ran.split()) == rows


@pytest.mark.parametrize(
    ("ran", "rows"),
    [
        # The front page of 2021: 32 devices, with and without.
        (
            "P32x32/1 P48x32/1 T32x32/16 T48x32/16 T32x32/1 T48x32/1",
            ["32x32: T32", "32x48: T48", "32x32 w/o: P32 T32", "32x48 w/o: P48 T48"],
        ),
        # Of which the log says nothing is not without; nor is anything where nobody accumulates.
        ("P32x8 T32x8/16", ["8x32: P32 T32"]),
        ("P32x8/1 T32x8/1", ["8x32: P32 T32"]),
        ("P32x8/1 T32x8", ["8x32: P32 T32"]),
        # Others accumulate on other devices only.
        ("P32/1 P32x8/1 T32x8/4", ["1x32: P32", "8x32: T32", "8x32 w/o: P32"]),
        # Without accumulation is no override of with.
        ("P32x8/1 T48x8/4", ["8x48: T48", "8x32 w/o: P32"]),
    ],
)
def test_rows_without_accumulation_stand_apart_and_last(ran: str, rows: list[str]) -> None:
    assert placed(*ran.split()) == rows


def test_a_case_that_was_run_is_not_pending() -> None:
    def awaited(name: str, size: int, *, everywhere: bool) -> source_form.Awaited:
        return source_form.Awaited(FRAMEWORKS[name], source_form.TablePlace(False, 1, 1, ""), size, everywhere)

    assert placed("P4", "T4", awaited=(awaited("P", 4, everywhere=False), awaited("Y", 4, everywhere=True))) == [
        "1x4: P4 T4 Y?"
    ]
    # A plan is of no hardware in particular, and makes no row; a source's table is of one.
    assert placed("P4", awaited=(awaited("P", 8, everywhere=True), awaited("P", 2, everywhere=False))) == [
        "1x2: P?", "1x4: P4",
    ]  # fmt: skip


def test_results_of_one_cell_are_told_apart() -> None:
    runs = [of("P64x8"), of("P64x8/4"), edited(of("P64x8"), id="xla", case={"options": {"xla": True}})]
    site, suite = site_of(runs)
    (table,) = (each.table for each in source_form.summaries(site, suite))
    shown = {" ".join(each.split()[1:3]) for each in entries(cell(table, 8, 64, "PaddlePaddle"))}
    assert shown == {"AccGrad not", "AccGrad 4"}
    assert sum(" XLA on " in f"{each} " for each in entries(cell(table, 8, 64, "PaddlePaddle"))) == 1


def test_unknown_batch_sizes_have_their_own_row_and_workloads_too() -> None:
    unknown = edited(of("T64"), case={"batch_size": None})
    small = edited(of("Y64"), id="small", case={"options": {"image_size": 64}})
    site, suite = site_of([of("P64"), unknown, small])
    (table,) = (each.table for each in source_form.summaries(site, suite))
    assert heads(table) == [("1", "not known", ""), ("1", "64", ""), ("1", "64", "image size 64")]


@pytest.mark.parametrize(("printed", "beside"), [("400.0", 0), ("400", 0), ("401", 1), ("400.1", 1)])
def test_a_published_figure_that_is_ours_but_for_its_rounding_is_not_repeated(printed: str, beside: int) -> None:
    about = {"model": "ResNet-50 v1.5", "hardware": HARDWARE, "batch_size": 64, "value": float(printed)}
    mine = of("P64")
    site, suite = site_of([mine], one(**about, printed=printed, framework="PaddlePaddle", log=mine.path))
    (table,) = (each.table for each in source_form.summaries(site, suite))
    found = entries(cell(table, 1, 64, "PaddlePaddle"))
    assert len(found) == 1 + beside


RAN = st.lists(
    st.builds("{}{}x{}".format, st.sampled_from("PTYM"), st.sampled_from((2, 3, 4, 8)), st.sampled_from((1, 8))),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(RAN, st.integers(0, 8))
def test_every_result_stands_in_one_row_and_one_of_each_has_its_batch_size(ran: list[str], failed: int) -> None:
    runs = [of(each + "!" * (place == failed)) for place, each in enumerate(ran)]
    site, suite = site_of(runs)
    found = source_form.lines(site, suite, site.rows[suite.id])
    assert sorted(each for line in found for row in line.results for each in row.run_ids) == sorted(r.id for r in runs)
    assert len({(line.place, line.batch_size) for line in found}) == len(found)
    assert all(line.batch_size in {row.batch_size for row in line.results} for line in found)
    for line in found:
        figures_of = [row.framework for row in line.results if row.value is not None]
        assert len(figures_of) == len(set(figures_of)), "two figures of a framework in one cell"


def test_why_there_is_no_figure_stands_beside_the_dash_if_anything_else_is_in_the_cell() -> None:
    short = {"sustained": {"value": None, "reason": {"code": "too_few_records", "args": {"records": 1, "needed": 2}}}}
    larger = edited(of("P8"), figures=short)
    for runs, shown in (([larger], 0), ([larger, of("T4"), of("Y4")], 1)):
        site, suite = site_of(runs)
        (table,) = (each.table for each in source_form.summaries(site, suite))
        found = table.rows[0][-3 if shown else -1]
        assert len(found.entries) == shown
        assert bool(found.note) is not bool(shown)
        assert [each.startswith("— BS=8 ") and len(each) > 10 for each in entries(found)] == [True] * shown


# ---- the pages ----


def test_the_summary_is_linked_from_the_model(real_pages: Path) -> None:
    for language in ("en", "zh"):
        for name in ("resnet50", "bert", "lenet5"):
            model = (real_pages / language / "models" / name / "index.md").read_text("utf-8")
            assert 'href="all-results.md"' in model
            page = (real_pages / language / "models" / name / "all-results.md").read_text("utf-8")
            assert 'data-name="summary-1"' in page
