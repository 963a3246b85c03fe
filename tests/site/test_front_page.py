"""The front page: tables of shares by hardware, whose numbers are those of the results, and what a reader chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.published import publications
from perfledger.ingest.site import machines
from perfledger.ingest.site.chips import token
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import front as front_page
from perfledger.schema.vocabulary import PRECISIONS
from tests import builders
from tests.builders import run, runs_of
from tests.site.kinds import figure, made_up

WORDS = own()
CELL = re.compile(r'<td class="pl-share"(?P<stated>[^>]*)>(?P<inside>.*?)</td>', re.DOTALL)
PERCENT = re.compile(r'<small class="pl-percent">(.*?)</small>')
ROW = re.compile(r'<tr class="pl-row"(?P<about>[^>]*)>(?P<inside>.*?)</tr>', re.DOTALL)


def front(pages: Path, language: str) -> str:
    return (pages / language / "index.md").read_text("utf-8")


def stated(attributes: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', attributes)}


def rows(pages: Path, language: str) -> Iterator[tuple[str, dict[str, str], list[dict[str, str]]]]:
    """Yield the hardware, what is said of the row, and its cells: attributes, figure, percentage, and link."""
    for part in front(pages, language).split('<div class="pl-machine')[1:]:
        hardware = stated(part.partition(">")[0])["data-f-hardware"]
        for row in ROW.finditer(part):
            cells = [
                {**stated(each["stated"]), "shown": re.sub("<[^>]+>", "", each["inside"].partition("</span>")[0]),
                 "percent": (PERCENT.findall(each["inside"]) or [""])[0],
                 "href": (re.findall(r'href="([^"]+)"', each["inside"]) or [""])[0]}
                for each in CELL.finditer(row["inside"])
            ]  # fmt: skip
            yield hardware, stated(row["about"]), cells


def records(pages: Path) -> list[dict[str, Any]]:
    found = json.loads((pages / "data" / "results.json").read_text("utf-8"))["results"]
    return [each for each in found if each["origin"] == "measured" and each["value"] is not None]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["whole_pages", "real_pages"])
def test_every_cell_is_a_result_as_a_share_of_the_best_of_its_row(
    request: pytest.FixtureRequest, name: str, language: str
) -> None:
    """Counted again from `results.json`, by another way than the page's own."""
    built: Path = request.getfixturevalue(name)
    measured, seen, compared = records(built), 0, 0
    for hardware, about, cells in rows(built, language):
        values = {}
        for each in (each for each in cells if "data-each" in each):
            (found,) = [
                one for one in measured
                if (token(one["hardware"] or ""), one["suite"]) == (hardware, about["data-suite"])
                and str(one["devices"]) == about["data-f-devices"]
                and about.get("data-f-precision", "") in ("", PRECISIONS[one["precision"]].group)
                and f"{one['text']} {one['unit']}" == each["data-text"]
                and one["value"] / one["devices"] == float(each["data-each"]) and one["repeats"] == int(each["data-n"])
            ][:1]  # fmt: skip
            assert (
                each["href"].rstrip("/").endswith(tuple(one["id"] for one in found["runs"])) or "runs/" in each["href"]
            )
            assert each["shown"] == found["text"]
            values[each["data-name"]] = found["value"]
            seen += 1
        for each in (each for each in cells if "style" in each):
            share = 100 * (values[each["data-name"]] / max(values.values()))
            assert each["percent"] == (f"{share:.1f}" if 99.5 <= share < 100 else f"{share:.0f}")
            assert each["style"] == f"--s:{share:.1f}"
            compared += 1
    assert seen >= 4
    assert compared >= 4


def machine_of(*runs: Any) -> machines.Machine:
    (found,) = machines.machines(site_of_runs(runs))
    return found


def table_of(*runs: Any, axis: str = "framework") -> machines.AxisTable:
    """Return the table of some runs on one hardware, along one axis."""
    (found,) = [each for each in machine_of(*runs).tables if each.axis == axis]
    return found


def percents(found: machines.StandingLine) -> list[int | None]:
    return [each and each.percent and round(each.percent) for each in found.entries]


def test_the_framework_that_leads_most_often_comes_first() -> None:
    found = table_of(
        *runs_of("A", 400.0), *runs_of("B", 300.0), *runs_of("A", 100.0, devices=8), *runs_of("B", 300.0, devices=8),
        *runs_of("B", 300.0, devices=4), *runs_of("A", 100.0, devices=4), *runs_of("C", 9.0, devices=4),
    )  # fmt: skip
    assert [each.name for each in found.columns] == ["B", "A", "C"]
    assert [percents(each) for each in found.lines] == [[75, 100, None], [100, 33, 3], [100, 33, None]]
    assert [each.key.devices for each in found.lines] == [1, 4, 8]
    assert [each.kind for each in found.lines] == ["clear"] * 3


def test_a_close_row_says_so_and_a_row_of_two_units_has_no_share() -> None:
    found = table_of(
        *runs_of("A", 400.0, 1), *runs_of("B", 398.5, 1), *runs_of("C", 100.0, 1),
        *runs_of("A", 400.0, devices=8, unit="words/s"), *runs_of("B", 300.0, devices=8, unit="tokens/s"),
    )  # fmt: skip
    close, apart = found.lines
    assert percents(close) == [100, 100, 25]
    assert (WORDS.say("en", close.sure), close.key.unit) == ("Too close", "images/s")
    assert WORDS.say("en", apart.sure) == "Not comparable"
    assert {WORDS.say("en", each.figure) for each in apart.entries if each} <= {
        "400.4", "300.3", "400.4 words/s", "300.3 tokens/s",
    }  # fmt: skip
    assert percents(apart) == [None, None, None]
    assert WORDS.say("en", apart.detail) in ("words/s vs. tokens/s", "tokens/s vs. words/s")


def test_a_figure_with_a_reason_for_caution_says_it() -> None:
    cut = [builders.edited(each, outcome="truncated") for each in runs_of("A", 400.0)]
    first, second = table_of(*cut, *runs_of("B", 300.0)).lines[0].entries
    assert first is not None
    assert second is not None
    assert WORDS.say("en", first.caution) == "Log ends before the run does: A"
    assert second.caution == ""


def test_a_single_result_is_a_row_and_leads_to_its_model_under_the_same_filter() -> None:
    _, alone = table_of(*runs_of("A", 400.0, devices=8), *runs_of("A", 50.0)).lines
    assert (WORDS.say("en", alone.sure), percents(alone)) == ("Only framework", [None])
    page, _, asked = alone.page.partition("?")
    assert page == "models/resnet50/index.md"
    assert parse_qs(asked) == {"hardware": [builders.HARDWARE], "devices": ["8"], "precision": ["fp32"]}


def test_results_that_all_have_cards_and_no_rival_have_no_table() -> None:
    found = machine_of(*runs_of("A", 400.0), *runs_of("A", 10.0, suite="vit", model="ViT-B/16"))
    assert found.tables == ()
    assert [each.figure for each in found.cards] == ["400.4", "10.010"]


def test_precisions_of_one_framework_are_compared_and_the_lead_is_on_the_card() -> None:
    runs = [
        *runs_of("A", 400.0),
        *runs_of("A", 800.0, precision="amp"),
        *runs_of("A", 900.0, precision="amp", batch_size=128),
    ]
    found = machine_of(*runs)
    assert found.axis == "precision"
    (line,) = table_of(*runs, axis="precision").lines
    names = [WORDS.say("en", each.name) for each in table_of(*runs, axis="precision").columns]
    assert names == ["FP32", "AMP"]
    assert (line.kind, percents(line)) == ("clear", [50, 100])
    (faster,) = line.entries[1].faster if line.entries[1] else ()
    assert (faster.figure, WORDS.say("en", faster.why)) == ("900.9", "batch size per device 128 instead of 64")
    (line,) = table_of(*runs[:6], axis="precision").lines
    assert (line.kind, percents(line)) == ("clear", [50, 100])
    (card,) = machine_of(*runs[:6]).cards
    assert card.figure == "800.8"
    assert WORDS.say("en", card.facts[0]) == "2.00× FP32"


def test_published_figures_fill_in_where_a_framework_has_no_result_of_ours(tmp_path: Path) -> None:
    case = {"hardware": builders.HARDWARE, "devices": "1", "batch_size": "64", "precision": "fp32"}
    rows = [
        figure(**case, framework="A", value="410"),
        figure(**case, framework="C", value="200"), figure(**{**case, "batch_size": "32"}, framework="C", value="190"),
        figure(**{**case, "precision": "amp"}, framework="D", value="2"),
        figure(**{**case, "hardware": "V100"}, framework="D", value="3"),
    ]  # fmt: skip
    published = publications.read([made_up(tmp_path, rows)])
    assert not published.problems
    site = replace(site_of_runs([*runs_of("A", 400.0), *runs_of("B", 300.0)]), published=published)
    ours, theirs = sorted(machines.machines(site), key=lambda each: each.is_published)
    (table,) = [each for each in ours.tables if each.axis == "framework"]
    assert [each.name for each in table.columns] == ["A", "B", "C", "D"]
    own, other = table.lines
    assert percents(own) == [100, 75, None, None]
    assert [each.published.figure if each and each.published else None for each in own.entries] == [
        None, None, "190–200", None,
    ]  # fmt: skip
    assert other.kind == "published"
    assert [each.published.figure if each and each.published else None for each in other.entries] == [None] * 3 + ["2"]
    assert (theirs.hardware, theirs.is_published, len(theirs.tables[0].lines)) == ("V100", True, 1)


def test_the_newest_accelerator_comes_first_then_published_ones_then_processors(tmp_path: Path) -> None:
    runs = [
        each for name in ("Xeon 1", "V100", "H100", "K80") for each in runs_of("A", 5.0, hardware=name)
    ]  # fmt: skip
    rows = [figure(hardware="B200", devices="1", batch_size="64", precision="fp32", framework="A", value="410")]
    site = replace(site_of_runs(runs), published=publications.read([made_up(tmp_path, rows)]))
    assert [each.hardware for each in machines.machines(site)] == ["H100", "V100", "K80", "B200", "Xeon 1"]


def test_what_changed_lately_is_that_of_the_last_day() -> None:
    old = runs_of("A", 400.0, start="2026-01-01T00:00:00Z")
    new = [*runs_of("B", 300.0, start="2026-02-03T00:00:00Z"), *runs_of("C", 300.0, start="2026-02-03T00:00:00Z")]
    moved = [
        run(f"a-later-{n}", framework="A", speed=500.0, repeat=n + 3, start="2026-02-03T00:00:00Z") for n in range(9)
    ]
    found = front_page.latest(site_of_runs([*old, *new, *moved]))
    assert found is not None
    assert (found.date, found.new, found.moved) == ("2026-02-03", 2, 1)
    assert [WORDS.say("en", each.what) for each in found.listed] == [
        "400.4 → 500 (+24.9%, clear)", "new: 300.3", "new: 300.3",
    ]  # fmt: skip
    assert front_page.latest(site_of_runs(())) is None
