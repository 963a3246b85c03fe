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
from perfledger.ingest.compute import results
from perfledger.ingest.compute.comparison_levels import DEFAULT, Level
from perfledger.ingest.published import publications
from perfledger.ingest.site import heat
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.pages import summary
from perfledger.schema.vocabulary import PRECISIONS
from tests import builders
from tests.builders import run
from tests.site.kinds import figure, made_up

WORDS = own()
CELL = re.compile(
    r'<td class="pl-share"(?P<stated>[^>]*)><span>(?P<inside>.*?)</span>(?P<plain><small>.*?</small>)?'
    r'(?P<differs><small class="pl-differs">.*?</small>)?(?P<published><small class="pl-theirs">.*?</small>)?</td>'
)
ROW = re.compile(r'<tr class="pl-row"(?P<about>[^>]*)>(?P<inside>.*?)</tr>', re.DOTALL)


def front(pages: Path, language: str) -> str:
    return (pages / language / "index.md").read_text("utf-8")


def stated(attributes: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', attributes)}


def rows(pages: Path, language: str) -> Iterator[tuple[str, dict[str, str], list[dict[str, str]]]]:
    """Yield the hardware, what is said of the row, and its cells: attributes, text without tags, and link."""
    for part in front(pages, language).split('<div class="pl-machine')[1:]:
        if part.startswith(" pl-published"):  # figures of others, which are not ranked
            continue
        hardware = stated(part.partition(">")[0])["data-hardware"]
        for row in ROW.finditer(part):
            cells = [
                {**stated(each["stated"]), "shown": re.sub(r"<sup.*?</sup>|<[^>]+>", "", each["inside"]).strip(),
                 "plain": re.sub("<[^>]+>", "", each["plain"] or ""),
                 "marks": "".join(re.findall(r">([*?])<", each["inside"])),
                 "href": (re.findall(r'href="([^"]+)"', each["inside"] + (each["plain"] or "")) or [""])[0]}
                for each in CELL.finditer(row["inside"])
            ]  # fmt: skip
            yield (
                hardware,
                {**stated(row["about"]), "sure": re.sub(r"<[^>]+>", " ", row["inside"].split("pl-sure")[1])},
                cells,
            )


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
    measured, seen = records(built), 0
    for hardware, about, cells in rows(built, language):
        values = {}
        for each in cells:
            if "data-each" not in each:
                continue
            (found,) = [
                one for one in measured
                if (one["hardware"], one["suite"]) == (hardware, about["data-suite"])
                and str(one["devices"]) == about["data-devices"]
                and about["data-group"] in ("", PRECISIONS[one["precision"]].group)
                and one["framework"] == each["data-name"]
                and f"{one['text']} {one['unit']}" == each["data-text"]
                and one["value"] / one["devices"] == float(each["data-each"]) and one["repeats"] == int(each["data-n"])
            ][:1]  # fmt: skip
            assert (
                each["href"].rstrip("/").endswith(tuple(one["id"] for one in found["runs"])) or "runs/" in each["href"]
            )
            values[each["data-name"]] = found["value"]
            seen += 1
        compared = [each for each in cells if "style" in each]
        for each in compared:
            share = 100 * (values[each["data-name"]] / max(values.values()))
            assert each["shown"] == (f"{share:.1f}" if 99.5 <= share < 100 else f"{share:.0f}")
            assert each["style"] == f"--s:{share:.1f}"
            assert f"{each['plain']} {about['data-unit']}" == each["data-text"]
        assert not compared or max(float(each["style"].removeprefix("--s:")) for each in compared) == 100
    assert seen >= 4


def site_of(*runs: Any) -> Site:
    return Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results.results)


def some(framework: str, speed: float, repeats: int = 3, **other: Any) -> list[Any]:
    name = re.sub("[^a-z0-9]+", "-", f"{framework} {speed} {sorted(other.items())}".lower()).strip("-")
    return [
        run(f"{name}-{n}", framework=framework, speed=speed * (1 + 0.0005 * n), repeat=n, **other)
        for n in range(1, repeats + 1)
    ]


def heat_of(*runs: Any, level: Level = DEFAULT) -> heat.Heat:
    """Return the table of some runs, at one level."""
    found = heat.heat(site_of(*runs), builders.HARDWARE)
    rows = tuple(each for each in found.rows if level in each.levels)
    return replace(found, rows=rows, alone=tuple(each for each in found.alone if level in each.levels))


def test_the_framework_that_leads_most_often_comes_first() -> None:
    found = heat_of(
        *some("A", 400.0), *some("B", 300.0), *some("A", 100.0, devices=8), *some("B", 300.0, devices=8),
        *some("B", 300.0, devices=4), *some("A", 100.0, devices=4), *some("C", 9.0, devices=4),
    )  # fmt: skip
    assert [each.name for each in found.frameworks] == ["B", "A", "C"]
    assert [[each.text if each else None for each in row.shares] for row in found.rows] == [
        ["75", "100", None], ["100", "33", "3"], ["100", "33", None],
    ]  # fmt: skip
    assert [row.place.devices for row in found.rows] == [1, 4, 8]
    assert [row.kind for row in found.rows] == ["clear"] * 3


def test_what_is_too_close_to_call_is_marked_at_both_and_what_is_not_compared_has_no_share() -> None:
    found = heat_of(
        *some("A", 400.0, 1), *some("B", 398.5, 1), *some("C", 100.0, 1),
        *some("A", 400.0, devices=8, unit="words/s"), *some("B", 300.0, devices=8, unit="tokens/s"),
    )  # fmt: skip
    close, apart = found.rows
    assert [each.is_close for each in close.shares if each] == [True, True, False]
    assert [each.text for each in close.shares if each] == ["100", "99.6", "25"]
    assert (WORDS.say("en", close.sure), close.unit) == ("Too close to call", "images/s")
    assert WORDS.say("en", apart.sure) == "Not comparable"
    assert [(each.text, each.percent) for each in apart.shares if each] == [("400.4", None), ("300.3", None)]
    assert WORDS.say("en", apart.runs) in ("words/s vs. tokens/s", "tokens/s vs. words/s")


def test_a_figure_with_a_reason_for_caution_says_it() -> None:
    cut = [builders.edited(each, outcome="truncated") for each in some("A", 400.0)]
    found = heat_of(*cut, *some("B", 300.0))
    first, second = found.rows[0].shares
    assert first is not None
    assert second is not None
    assert WORDS.say("en", first.caution or "") == "Caution: Log ends before the run does: A"
    assert second.caution is None


def test_a_case_without_a_rival_is_listed_and_leads_to_its_model_under_the_same_filter() -> None:
    found = heat_of(*some("A", 400.0, devices=8))
    (alone,) = found.alone
    assert found.rows == ()
    assert (alone.framework, WORDS.say("en", alone.figure)) == ("A", "400.4 images/s")
    page, _, asked = alone.place.page.partition("?")
    assert page == "models/resnet50/index.md"
    assert parse_qs(asked) == {"hardware": [builders.HARDWARE], "devices": ["8"], "precision": ["fp32"]}


def test_published_figures_of_the_same_case_are_shown_with_ours_and_not_ranked(tmp_path: Path) -> None:
    """Those of another batch size or precision are compared at the loosest level only."""
    case = {"hardware": builders.HARDWARE, "devices": "1", "batch_size": "64", "precision": "fp32"}
    rows = [
        figure(**case, framework="A", value="410"), figure(**case, framework="A", value="420", place="other.md"),
        figure(**case, framework="C", value="200"), figure(**{**case, "batch_size": "32"}, framework="D", value="1"),
        figure(**{**case, "precision": "amp"}, framework="D", value="2"),
    ]  # fmt: skip
    published = publications.read([made_up(tmp_path, rows)])
    assert not published.problems
    site = replace(site_of(*some("A", 400.0), *some("B", 300.0)), published=published)
    found = heat.heat(site, builders.HARDWARE)
    assert [(each.name, each.is_published) for each in found.frameworks] == [
        ("A", False), ("B", False), ("C", True), ("D", True),
    ]  # fmt: skip
    shown = {
        level: [each and (each.figure, each.share) for each in row.published]
        for row in found.rows for level in row.levels
    }  # fmt: skip
    usual = [("410–420", "105"), None, ("200", "50"), None]
    assert shown == {"identical": usual, "workload": usual, "everything": [*usual[:3], ("1–2", "0")]}
    assert all([each.text if each else None for each in row.shares] == ["100", "75", None, None] for row in found.rows)


def test_hardware_with_comparisons_comes_first_and_accelerators_before_processors() -> None:
    pairs = [
        each
        for name in ("Xeon 1", "V100")
        for framework, speed in (("A", 1.0), ("B", 2.0))
        for each in some(framework, speed, hardware=name)
    ]
    pairs += [each for framework in ("A", "B") for each in some(framework, 3.0, hardware="Xeon 1", devices=2)]
    site = site_of(*pairs, *some("A", 5.0, hardware="H100"), *some("A", 5.0, hardware="Xeon 2"))
    assert [each.hardware for each in summary.ranked(heat.heats(site).values())] == ["V100", "Xeon 1", "H100", "Xeon 2"]


def test_what_changed_lately_is_that_of_the_last_day() -> None:
    old = some("A", 400.0, start="2026-01-01T00:00:00Z")
    new = [*some("B", 300.0, start="2026-02-03T00:00:00Z"), *some("C", 300.0, start="2026-02-03T00:00:00Z")]
    moved = [
        run(f"a-later-{n}", framework="A", speed=500.0, repeat=n + 3, start="2026-02-03T00:00:00Z") for n in range(9)
    ]
    found = summary.latest(site_of(*old, *new, *moved))
    assert found is not None
    assert (found.date, found.new, found.moved) == ("2026-02-03", 2, 1)
    assert [WORDS.say("en", each.what) for each in found.listed] == [
        "400.4 → 500 (+24.9%)", "new: 300.3", "new: 300.3",
    ]  # fmt: skip
    assert summary.latest(site_of()) is None
