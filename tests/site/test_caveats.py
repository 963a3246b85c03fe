"""Figures that differ from the median of the printed speeds: the note, and the marks on cells and answers."""

from __future__ import annotations

from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.site import caveats
from perfledger.ingest.site import model_tables as tables
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import run as run_page
from perfledger.ingest.site.result_lines import slices
from perfledger.schema.records import Run
from tests.builders import edited, run
from tests.site.shown import only

WORDS = own()


def of(median: float, **other: Any) -> Run:
    """Return a run of 400 images/s with this median."""
    return edited(run("resnet50-pytorch-1", **other), figures={"median": {"value": median}})


def note(given: Run, language: str = "en") -> str:
    return " ".join(WORDS.say(language, each) for each in caveats.explanation(given))


def even(records: int, slow: int = 0, change: float = 0.0) -> dict[str, Any]:
    return {"records": records, "slow": slow, "change": change}


def test_the_note_counts_records_and_not_points_of_the_drawing() -> None:
    given = of(420.0, evenness=even(15259, 62))
    assert len(given.trace.value) == 40 if given.trace else False
    assert "62 of 15,259 records" in note(given)
    assert "15,259 条记录中有 62 条" in note(given, "zh")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (even(30, change=-0.048), "slows down: the speed of the second half of the window changes by −4.8%"),
        (even(30, change=0.048), "speeds up: the speed of the second half of the window changes by +4.8%"),
        (even(30, change=0.01), "Logged throughput is steady"),
        (None, "Logged throughput is steady"),
    ],
)
def test_the_note_names_the_cause(about: dict[str, Any] | None, said: str) -> None:
    assert said in note(of(420.0, evenness=about))


def test_a_figure_near_the_median_has_no_note() -> None:
    assert caveats.explanation(of(407.0)) == ()
    assert caveats.unexplained(of(407.0)) is None


@pytest.mark.parametrize(
    ("median", "format", "marked"),
    [
        (440.0, "ngc.pytorch_resnet50", True),
        (360.0, "ngc.pytorch_resnet50", True),
        (415.0, "ngc.pytorch_resnet50", False),
        # A running mean explains it.
        (440.0, "paddle.clas_static", False),
    ],
)
def test_a_figure_far_from_the_median_carries_a_caution_on_both_pages(median: float, format: str, marked: bool) -> None:
    given = of(median, format=format)
    site = site_of_runs([given])
    (suite,) = site.shown
    (line,) = slices(site, suite)[0].lines
    share = f"{'−' if median > 400 else '+'}{abs(400 / median - 1):.1%}"
    cautions = [WORDS.say("en", each) for each in line.cautions]
    assert (f"PyTorch is {share} from its median step, unexplained" in cautions) is marked
    front = [WORDS.say("en", each.text) for each in only(site).line.marks if each.warns]
    assert (f"PyTorch is {share} from its median step, unexplained" in front) is marked


def test_a_runs_page_says_what_else_took_time() -> None:
    pauses = {"records": 3, "seconds": 12.5, "percent": 11.9, "kinds": ["evaluation", "checkpoint"]}
    given = edited(of(400.0), pauses=pauses, figures={"sustained": {"used": 29, "skipped": 11}})
    site = site_of_runs([given])
    (window,) = (each for each in run_page.steps(site, given) if WORDS.say("en", each.name) == "Window")
    for language, said in (
        ("en", ["29 records used, 8 excluded as warm-up",
                "3 excluded because they include more than training (11.9% of the time)", "evaluation", "checkpoint"]),
        ("zh", ["采用 29 条记录，另有 8 条作为预热不计入",
                "另有 3 条含训练以外的耗时，不计入（占 11.9% 的时间）", "评估", "保存检查点"]),
    ):  # fmt: skip
        assert [WORDS.say(language, each.text) for each in window.parts[1:]] == said


def test_a_run_of_too_few_records_has_its_reason_in_the_cell() -> None:
    reason = {"code": "too_short", "args": {"records": 2, "seconds": 0.7, "needed": 5, "needed_seconds": 30}}
    given = edited(of(400.0), figures={"sustained": {"value": None, "reason": reason}})
    site = site_of_runs([given])
    (suite,) = site.shown
    (row,) = site.rows[suite.id]
    assert (row.value, row.reason) == (None, given.figures["sustained"].reason)
    cell = tables.results(site, suite, slices(site, suite)[0]).rows[0][1]
    said = (
        "too few: 2 training records after the warm-up (0.7 s), apart from those with an evaluation, a checkpoint, or "
        "the end of an epoch; 5 records or 30 s are needed"
    )
    assert cell.note is not None
    assert WORDS.say("en", cell.note) == said
