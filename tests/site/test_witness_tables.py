"""Witnesses on the pages: the table of a run, the mark of a result, and what each kind compares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import LANGUAGES, Text, own
from perfledger.ingest.compute import results
from perfledger.ingest.compute.equations import TOLERANCE
from perfledger.ingest.site import builder, caveats, witness_tables
from perfledger.ingest.site.model import Site, site_of_runs, suites
from perfledger.ingest.site.pages import log
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.result_lines import slices
from perfledger.schema.records import Run
from tests import builders
from tests.builders import absent, edited, silent, witness
from tests.site.shown import only
from tests.site.tabled import plain

WORDS = own()
CLOCK = {"value": 333.3, "against": 400.0, "unit": "images/s", "difference": 20.0, "resolution": 0.25}
SILENT = [silent(kind) for kind in TOLERANCE]
ARGUMENTS = {"value": "333.3", "against": "400", "difference": "+20", "unit": "images/s", "arithmetic": "400 / 1.2",
             "witness": "clock"}  # fmt: skip


def run(name: str, *witnesses: dict[str, Any], **other: Any) -> Run:
    return builders.run(f"resnet50-{name.lower()}-1", framework=name, witnesses=witnesses, **other)


AGREED = run(
    "Agreed", witness("clock", value=399.0, against=400.0, unit="images/s", difference=0.25), silent("physics")
)
ALONE = run("Alone", *SILENT, speed=390.0)
CORRECTED = run(
    "Corrected", witness("clock", "corrects", **CLOCK, reason={"code": "omits_time", "args": {}}), speed=333.3
)
WITHHELD = run(
    "Withheld",
    witness("clock", "disagrees", **CLOCK),
    published=False,
    figures={"sustained": absent("withheld") | {"reason": {"code": "withheld", "args": {"line": 3, **ARGUMENTS}}}},
    problems=[
        {
            "code": "withheld",
            "path": "raw_logs/test/resnet50-withheld-1/train.log",
            "line": 3,
            "args": {**ARGUMENTS, "remedy": "clock"},
        }
    ],
)
RUNS = (AGREED, ALONE, CORRECTED, WITHHELD)


def site(runs: Sequence[Run] = RUNS) -> Site:
    return Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results.results)


def written(table: Table | None, language: str = "en") -> list[list[str]]:
    assert table is not None
    return plain(str(Writer(WORDS, language, lambda page: page).table(table)))


def said(text: Text, language: str = "en") -> str:
    return WORDS.say(language, text)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages, by language."""
    folder = tmp_path_factory.mktemp("witnesses")
    builder.build(site_of_runs(RUNS), folder / "docs", folder / "cache.sqlite")
    return folder / "docs"


def page(folder: Path, name: str, language: str = "en") -> str:
    return (folder / language / f"{name}.md").read_text("utf-8")


def test_a_run_lists_both_values_with_tolerance_and_resolution() -> None:
    head, clock = written(witness_tables.of_run(site(), CORRECTED))
    assert head[:5] == ["Witness", "Verdict", "Gives", "Compared with", "Difference"]
    assert clock[0] == "clock"
    assert clock[1].startswith("gives the result the printed speed omits time")
    assert clock[2:] == [
        "333.3 images/s",
        "400.0 images/s",
        "+20.0%",
        "+ 0.25%: resolution of the timestamps",
        "lines 3–9",
        "made up",
    ]
    disagrees = written(witness_tables.of_run(site(), WITHHELD))[1]
    assert disagrees[5] == "3.0% + 0.25%: resolution of the timestamps", "the tolerance that the run was held against"


def test_silent_witnesses_are_one_line_with_their_reasons() -> None:
    assert witness_tables.of_run(site(), ALONE) is None
    why = "the log does not state a model whose operations per sample are known"
    kinds = ("clock", "arithmetic", "summary", "framework", "counter", "physics")
    assert said(witness_tables.silent(ALONE)) == f"{', '.join(kinds)} ({why})"
    assert "clock" not in said(witness_tables.silent(CORRECTED))


def test_physics_is_shown_as_a_share_of_the_peak() -> None:
    bound = witness("physics", value=0.2816, against=0.0704, unit="TFLOP/s", difference=-75.0, resolution=0.0)
    row = written(witness_tables.of_run(site(), run("Bounded", bound)))[1]
    assert row[4:6] == ["25.0% of peak", "at most peak"]


def test_a_run_without_a_figure_has_no_witnesses() -> None:
    assert witness_tables.of_run(site(), run("Empty")) is None


def test_a_withheld_run_shows_no_headline_and_nothing_green(pages: Path) -> None:
    for language, remedy in (("en", "look at the lines shown"), ("zh", "请查看所列日志行")):
        text = page(pages, "runs/resnet50-withheld-1", language)
        assert "pl-headline" not in text
        assert '<span class="pl-good">' not in text
        assert remedy in text
        assert 'pl-bad">' in text.split('id="witnesses"')[1]
    assert '<span class="pl-sign">Outcome</span> completed' in page(pages, "runs/resnet50-withheld-1")
    assert "the witness “clock” disagrees (+20%)" in page(pages, "runs/resnet50-withheld-1")


def test_a_corrected_run_says_whose_figure_it_is_and_why(pages: Path) -> None:
    for language, why in (("en", "the timestamps are right"), ("zh", "应以时间戳为准")):
        head = page(pages, "runs/resnet50-corrected-1", language).split('id="proof"')[0]
        assert "pl-headline" in head
        assert why in head
        assert why not in page(pages, "runs/resnet50-agreed-1", language)


def test_a_correction_is_the_cause_of_a_difference_from_the_median() -> None:
    """The median is that of the printed speeds; neither stalls nor time between the records explain the difference."""
    _, cause = caveats.explanation(edited(CORRECTED, figures={"median": {"value": 400.0}}))
    assert "the timestamps are right" in said(cause)


def test_a_result_that_nothing_supports_carries_a_caution() -> None:
    made = site()
    (suite,) = made.shown
    lines = {line.row.framework: line for of in slices(made, suite) for line in of.lines}
    assert {name: line.row.witnesses for name, line in lines.items()} == {
        "Agreed": "agree", "Alone": "line", "Corrected": "corrects",
    }  # fmt: skip
    for language, name, caution in (
        ("en", "Alone", "Only the printed value supports it: Alone"),
        ("en", "Corrected", "Printed speed known to be wrong, corrected by a witness: Corrected"),
        ("zh", "Alone", "仅有打印值本身，没有旁证：Alone"),
        ("zh", "Corrected", "已知打印的速度有误，已按旁证修正：Corrected"),
    ):
        assert caution in [WORDS.say(language, each) for each in lines[name].cautions]
    assert not [each for each in lines["Agreed"].cautions if "witness" in said(each)]


def test_the_answer_warns_of_a_figure_without_support() -> None:
    def marks(*runs: Run) -> list[str]:
        return only(site(runs)).marks()

    assert "Only the printed value supports it: Alone" in marks(AGREED, ALONE)
    assert "Printed speed known to be wrong, corrected by a witness: Corrected" in marks(AGREED, CORRECTED)
    assert not any("witness" in each for each in marks(AGREED))


def test_the_tolerance_of_the_page_is_that_of_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness_tables, "TOLERANCE", {**TOLERANCE, "clock": 7.5})
    assert written(witness_tables.kinds())[1][0] == "clock tolerance 7.5%"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_method_explains_every_kind(pages: Path, language: str) -> None:
    text = page(pages, "method", language).split("{: #witnesses }")[1]
    for kind in TOLERANCE:
        assert f"<td>{WORDS.text(language, f'witness.{kind}')} <small>" in text
    assert f">{WORDS.text(language, 'witness.remedy')}</th>" in text


def test_the_lines_of_a_witness_are_marked_in_the_log() -> None:
    marks = {said(each.what): each.anchor for each in log.marks(CORRECTED)}
    assert marks["witness: clock"] == "L3-L9"
