"""No page names a fastest framework while it hides a faster result of the same model on the same devices."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest import build
from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.site import builder, scorecards, verdict_words
from perfledger.ingest.site.chips import token
from perfledger.ingest.site.data import badges
from perfledger.ingest.site.model import Row, Site, Suite, site_of_runs, written
from perfledger.ingest.site.pages import compare
from perfledger.ingest.site.result_lines import verdicts_of_runs
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import precision_group
from tests.builders import run
from tests.corpus import corpus
from tests.site.shown import only, shown

WORDS = own()


def of(framework: str, speed: float, accumulation: int | None = None, **other: Any) -> Run:
    options = {} if accumulation is None else {"accumulation": accumulation}
    named = "-".join(map(str, (framework, speed, accumulation, other.get("batch_size")))).lower().replace(".", "-")
    return run(
        named, suite="bert", model="BERT-base", framework=framework, speed=speed, unit="sequences/s",
        options=options, **other,
    )  # fmt: skip


OVERTURNED = [of("PyTorch", 640.0, 704), of("TensorFlow", 530.0, 704), of("PaddlePaddle", 665.0, 88)]


def test_a_faster_framework_that_is_left_out_overturns_a_lead() -> None:
    site = site_of_runs(OVERTURNED)
    found = only(site)
    assert found.said() == "Not comparable | gradient accumulation steps 88 instead of 704"
    assert found.said("zh") == "不可比 | 梯度累积步数 88 而非 704"
    assert list(found.entries) == ["PaddlePaddle", "PyTorch", "TensorFlow"]
    assert set(found.percents.values()) == {None}
    assert all(each.is_outlined for each in found.entries.values())
    assert scorecards.placings(site) == {}
    said = badges.badges(site, WORDS).values()
    assert len(said) == 3
    assert not any(b"fastest" in each for each in said)
    assert {WORDS.say("en", each.text) for each in verdicts_of_runs(site).values()} == {
        "Not comparable: PaddlePaddle is faster with gradient accumulation steps 88 instead of 704",
        "83% of the fastest", "Not ranked: gradient accumulation steps 88 instead of 704",
    }  # fmt: skip
    (missed,) = {tuple(each) for each in compare._overturned(site).values()}
    assert "paddlepaddle" in missed[0]


def test_a_slower_framework_that_is_left_out_is_named_and_overturns_nothing() -> None:
    found = only(site_of_runs([*OVERTURNED[:2], of("PaddlePaddle", 500.0)]))
    assert (found.kind, found.first[0]) == ("likely", "PyTorch")
    wanted = "PaddlePaddle 500.0 sequences/s is left out: gradient accumulation steps not stated (704 for PyTorch)"
    assert wanted in found.marks()
    assert found.entries["PaddlePaddle"].is_outlined


def test_a_framework_that_is_faster_with_another_batch_size_is_named_and_keeps_the_lead_of_a_case() -> None:
    found = only(site_of_runs([*OVERTURNED[:2], of("TensorFlow", 700.0, 704, batch_size=8)]))
    assert (found.kind, found.first[0]) == ("likely", "PyTorch")
    (faster,) = found.entries["TensorFlow"].faster
    assert (faster.figure, WORDS.say("en", faster.why)) == ("700.0", "batch size per device 8 instead of 64")
    (named,) = [each for each in found.line.marks if each.is_faster]
    said = WORDS.say("en", named.text)
    assert said == "TensorFlow 700.0 sequences/s is faster but left out: batch size per device 8 instead of 64"


def test_a_case_without_a_rival_names_the_faster_results_that_it_leaves_out() -> None:
    found = only(site_of_runs([of("PyTorch", 640.0, 704), of("PaddlePaddle", 665.0, 88, batch_size=32)]))
    assert found.kind == "alone"
    assert "PaddlePaddle 665.0 sequences/s is faster but left out" in " ".join(found.marks())
    assert found.said().startswith("Not comparable | ")


# ---- every row of the pages of a corpus of GPUs ----


@pytest.fixture(scope="module")
def of_corpus() -> Site:
    inputs = build.Inputs((corpus("paddle-perf"),), layout="paddle-perf", jobs=1, out=Path("nowhere"))
    return site_of_runs(list(build.read(inputs).ledger.runs))


@pytest.fixture(scope="module")
def pages(of_corpus: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    builder.build(replace(of_corpus, limits=Limits(pages=0)), folder / "docs", folder / "drawings.sqlite")
    return folder / "docs"


def faster_at(site: Site, suite: Suite, place: Mapping[str, Any], value: float) -> Iterator[Row]:
    """Yield the fastest result of each framework at a place, if it is faster than a value."""
    best: dict[str, Row] = {}
    for row in site.rows[suite.id]:
        of_row = {
            "hardware": token(row.hardware or ""), "devices": row.devices, "unit": row.unit,
            "variant": suite.variant(row), "group": precision_group(row.precision), "nodes": row.nodes or 1,
        }  # fmt: skip
        if numbers.known(row.value) and all(of_row[each] == wanted for each, wanted in place.items()):
            best[row.framework or ""] = max(row, best.get(row.framework or "", row), key=lambda each: each.value or 0)
    yield from (each for each in best.values() if (each.value or 0) > value * (1 + 1e-9))


def tables(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the hardware, the axis, and the HTML of each row of the tables of a page."""
    for machine in text.split('<div class="pl-machine')[1:]:
        (hardware,) = re.findall(r'data-f-hardware="([^"]*)"', machine)[:1]
        for table in machine.split('<div class="pl-axis')[1:]:
            (axis,) = re.findall(r'data-f-axis="([^"]*)"', table)[:1]
            for row in re.findall(r'<tr class="pl-row".*?</tr>', table, re.DOTALL):
                yield hardware, axis, row


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_row_of_every_table_names_what_is_faster(of_corpus: Site, pages: Path, language: str) -> None:
    """A cell of 100 % is the winner; the row is all that a reader can see without opening it."""
    folder = pages / language
    files = [folder / "index.md", *(each for each in (folder / "hardware").glob("*.md") if each.stem != "index")]
    crowned = missed = compared = 0
    for hardware, axis, row in (each for file in files for each in tables(file.read_text("utf-8"))):
        facts = dict(re.findall(r'data-(?:f-)?(\w+)="([^"]*)"', row.split(">", 1)[0]))
        winner = re.search(r'data-name="([^"]*)"[^>]*--s:100\.0', row)
        suite = next(each for each in of_corpus.shown if each.id == facts["suite"])
        figures = [float(each.replace(",", "")) for each in re.findall(r'data-text="([\d.,]+) ', row)]
        (nodes,) = {
            int(each) for each in re.findall(r"(\d+) machines|(\d+) 机共", row)[:1] for each in each if each
        } or {1}
        place = {
            "hardware": hardware, "devices": int(facts["devices"]), "unit": facts["unit"], "variant": "",
            "group": facts.get("precision", ""), "nodes": nodes,
        }  # fmt: skip
        if not figures:
            continue
        least = max(figures) if winner else min(figures)
        crowned += bool(winner)
        compared += axis == "precision"
        seen = html.unescape(re.sub("<[^>]*>", " ", row))
        framework = next(
            (each.framework or "" for each in of_corpus.rows[suite.id] if f"{each.framework} ·" in seen), ""
        )
        if axis == "precision":
            place = {name: value for name, value in place.items() if name != "group"}
        for each in faster_at(of_corpus, suite, place, least * 1.001):
            if axis == "precision" and each.framework != framework:
                continue
            missed += 1
            assert written(each) in seen, (facts, each.framework, each.value)
            assert axis == "precision" or f'data-name="{each.framework}"' in row
    assert crowned > 10
    assert missed > 4
    assert compared > 10


def test_every_standing_names_what_is_faster(of_corpus: Site) -> None:
    checked = overturned = 0
    for hardware in {row.hardware or "" for rows in of_corpus.rows.values() for row in rows}:
        for found in shown(of_corpus, hardware):
            suite, ranked = found.standing.suite, found.standing.verdict.ranked
            if not ranked:
                continue
            first = ranked[0].result
            is_crowned = found.kind not in verdict_words.APART
            place = {
                "hardware": hardware, "devices": first.devices, "unit": first.unit, "variant": suite.variant(first),
                "group": precision_group(first.precision), "nodes": first.nodes or 1,
            }  # fmt: skip
            least = (first.value or 0) if is_crowned else min(each.figure.value for each in ranked)
            checked += 1
            here = {each.entrant for each in ranked}
            for each in faster_at(of_corpus, suite, place, least):
                mine = found.entries[each.framework or ""]
                figures = {mine.figure, *(other.figure for other in mine.faster)}
                assert written(each) in figures, (suite.id, found.case)
                assert not is_crowned or each.framework in here or found.kind == "alone", (suite.id, found.case)
                overturned += found.kind == "conditions"
    assert checked >= 20
    assert overturned
