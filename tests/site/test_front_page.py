"""The front page: tables of shares by hardware, whose numbers are those of the results, and what a reader chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.common.words import LANGUAGES, own
from ingest.compute import results
from ingest.compute.comparison_levels import DEFAULT, Level
from ingest.published import publications
from ingest.site import builder, heat
from ingest.site.model import Site, suites
from ingest.site.pages import summary
from schema.vocabulary import PRECISIONS
from tests import builders
from tests.builders import run
from tests.site.conftest import BLANK, html, served
from tests.site.kinds import figure, made_up

WORDS = own()
CELL = re.compile(
    r'<td class="pl-share"(?P<stated>[^>]*)><span>(?P<inside>.*?)</span>(?P<plain><small>.*?</small>)?'
    r'(?P<differs><small>.*?</small>)?(?P<published><small class="pl-theirs">.*?</small>)?</td>'
)
ROW = re.compile(r'<tr class="pl-row"(?P<about>[^>]*)>(?P<inside>.*?)</tr>', re.DOTALL)


def front(site: Path, language: str) -> str:
    return (site / ("" if language == "en" else language) / "index.html").read_text("utf-8")


def stated(attributes: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', attributes)}


def rows(site: Path, language: str) -> Iterator[tuple[str, dict[str, str], list[dict[str, str]]]]:
    """Yield the hardware, what is said of the row, and its cells: attributes, text without tags, and link."""
    for part in front(site, language).split('<div class="pl-machine')[1:]:
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


def records(site: Path) -> list[dict[str, Any]]:
    found = json.loads((site / "data" / "results.json").read_text("utf-8"))["results"]
    return [each for each in found if each["origin"] == "measured" and each["value"] is not None]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["site", "real"])
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


def test_both_languages_show_the_same_numbers_and_marks(real: Path) -> None:
    def numbers(language: str) -> list[object]:
        return [
            [hardware, about["data-suite"], [(each["shown"], each["plain"], each["marks"]) for each in cells]]
            for hardware, about, cells in rows(real, language)
        ]

    assert numbers("en") == numbers("zh") != []


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


# ---- in a browser ----


@pytest.fixture(scope="module")
def front_address(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(real, tmp_path_factory.mktemp("front")) as found:
        yield found


def seen(opened: Any) -> dict[str, Any]:
    return dict(
        opened.evaluate("""() => {
      const all = [...document.querySelectorAll(".pl-machine")].filter(each => each.offsetParent);
      const lines = [...document.querySelectorAll(".pl-machine [data-suite]")].filter(each => each.offsetParent);
      return {hardware: all.map(each => each.dataset.hardware), lines: lines.length,
              devices: [...new Set(lines.map(each => each.dataset.devices))],
              groups: [...new Set(lines.map(each => each.dataset.group))]};
    }""")
    )


def test_the_choice_is_in_the_address_and_comes_back_from_it(browser: Any, front_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(front_address)
    first = seen(opened)
    assert len(first["hardware"]) == 1
    other = opened.eval_on_selector_all(".pl-machine", "found => found.map(each => each.dataset.hardware)")[1]
    opened.select_option("[name=hardware]", other)
    assert seen(opened)["hardware"] == [other]
    assert parse_qs(urlsplit(opened.url).query) == {"hardware": [other]}
    opened.go_back()
    assert seen(opened) == first
    devices = opened.eval_on_selector_all("[name=devices] option", "found => found.map(each => each.value)")
    opened.select_option("[name=devices]", devices[-1])
    opened.locator(".pl-alone summary").first.click()
    assert seen(opened)["devices"] == [devices[-1]]
    assert 0 < seen(opened)["lines"] <= first["lines"] + opened.locator(".pl-alone li").count()
    count = opened.locator(".pl-chosen .pl-alone summary span").inner_text()
    assert int(count) == opened.locator(".pl-chosen .pl-alone li:visible").count()
    chosen = opened.evaluate("location.search")
    opened.reload()
    assert opened.locator("[name=devices]").input_value() == devices[-1]
    link = opened.locator('.md-select a[hreflang="zh"]').get_attribute("href")
    assert urlsplit(link).query == chosen[1:]
    opened.goto(link)
    assert opened.locator("[name=devices]").input_value() == devices[-1]
    opened.close()


def test_what_an_address_asks_for_in_vain_is_named(browser: Any, front_address: str) -> None:
    opened = browser.new_page()
    opened.goto(f"{front_address}?hardware=%3Cb%3Eno&devices=77&precision=half")
    said = opened.locator(".pl-choose-said").inner_text()
    assert "This link asks for Hardware “<b>no”, which is not available." in said
    assert "Devices “77”" in said
    assert seen(opened)["hardware"] == [opened.locator(".pl-machine").first.get_attribute("data-hardware")]
    opened.close()


def test_the_level_is_chosen_kept_in_the_address_and_goes_along_to_the_models(browser: Any, front_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(front_address)
    for level in ("identical", "everything", "workload"):
        opened.select_option("[name=level]", level)
        assert parse_qs(urlsplit(opened.url).query).get("level", ["workload"]) == [level]
        opened.reload()
        assert opened.locator("[name=level]").input_value() == level
        lines = opened.locator(".pl-chosen [data-level]:visible")
        assert lines.count() > 1
        assert all(level in each.get_attribute("data-level").split() for each in lines.all())
        assert opened.locator(".pl-chosen .pl-tally:visible").count() == 1
        asked = parse_qs(urlsplit(opened.locator(".pl-chosen .pl-row:visible th a").first.get_attribute("href")).query)
        assert asked.get("level", ["workload"]) == [level]
    opened.select_option("[name=level]", "everything")
    opened.locator(".pl-chosen .pl-row:visible th a").first.click()
    opened.wait_for_url("**/models/**")
    assert opened.locator("select[name=level]").input_value() == "everything"
    shown = opened.locator("[data-f-level]:visible")
    assert shown.count() == 1
    assert "everything" in shown.get_attribute("data-f-level").split()
    opened.close()


def test_third_parties_results_are_shown_where_they_are_asked_for(browser: Any, front_address: str) -> None:
    opened = browser.new_page()
    opened.goto(front_address)
    assert not opened.locator(".pl-others dt").first.is_visible()
    only = opened.eval_on_selector_all(
        "[name=hardware] optgroup:last-child option", "found => found.map(each => each.value)"
    )
    opened.goto(f"{front_address}?hardware={only[0]}&others=1")
    assert opened.locator("[name=others]").is_checked()
    assert opened.locator(".pl-others dt:visible").all_inner_texts() == [only[0]]
    assert seen(opened)["hardware"] == []
    opened.close()


def test_a_row_opens_by_keyboard_and_says_its_reasons(browser: Any, front_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(front_address)
    button = opened.locator(".pl-chosen .pl-sure button").first
    detail = opened.locator(f"[id='{button.get_attribute('aria-controls')}']")
    assert (button.get_attribute("aria-expanded"), detail.is_visible()) == ("false", False)
    button.focus()
    opened.keyboard.press("Enter")
    assert (button.get_attribute("aria-expanded"), detail.is_visible()) == ("true", True)
    assert detail.locator(".pl-marks li").count() > 0
    detail.locator(".pl-plot .pl-drawn svg").wait_for()
    assert detail.locator(".pl-plot a.pl-mark").count() > 1
    opened.keyboard.press("Enter")
    assert not detail.is_visible()
    opened.close()


def test_without_scripts_every_table_and_reason_is_there(browser: Any, front_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    opened.goto(front_address)
    machines = opened.locator(".pl-machine")
    assert machines.count() > 1
    for place in range(machines.count()):
        assert machines.nth(place).locator("h2").is_visible()
    usual = "[data-level~=workload]"
    assert opened.locator(f".pl-row{usual}").count() == opened.locator(".pl-row:visible").count() > 0
    assert opened.locator(f".pl-row{usual} + .pl-why").count() == opened.locator(".pl-why:visible").count() > 0
    assert not opened.locator(".pl-choose").is_visible()
    opened.close()


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_phone_shows_a_card_per_row_with_bars_as_long_as_their_shares(
    browser: Any, front_address: str, language: str
) -> None:
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto(front_address + language)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    cut = opened.evaluate(
        """[...document.querySelectorAll("article .pl-machine *, article .pl-facts *, article .pl-choose *")]
           .filter(node => node.offsetParent && node.getBoundingClientRect().right > innerWidth + 0.5
                   && !node.closest("thead")).map(node => node.outerHTML)"""
    )
    assert cut == []
    assert opened.locator(".pl-chosen .pl-row[hidden]").count() > 0
    assert not opened.locator(".pl-chosen .pl-row[hidden]:visible").count()
    row = opened.locator(".pl-chosen .pl-row").first
    assert row.evaluate("node => getComputedStyle(node).display") == "flex"
    assert row.bounding_box()["y"] + row.bounding_box()["height"] < 844  # the first answer is on the first screen
    for cell in row.locator(".pl-share[style]").all():
        share = float(cell.get_attribute("style").removeprefix("--s:"))
        assert f" {share:g}%" in cell.locator("small").evaluate("node => getComputedStyle(node).backgroundImage")
        assert cell.get_attribute("data-name") in cell.evaluate("node => getComputedStyle(node, '::before').content")
    opened.close()


def test_the_page_is_short_and_does_not_move(browser: Any, front_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.add_init_script("""window.moved = 0; new PerformanceObserver(list => list.getEntries().forEach(each => {
      if (!each.hadRecentInput) window.moved += each.value; })).observe({type: "layout-shift", buffered: true});""")
    opened.goto(front_address, wait_until="networkidle")
    assert opened.evaluate("document.body.scrollHeight") < 6000
    assert opened.evaluate("window.moved") < 0.05
    assert opened.locator(".pl-chosen .pl-row").first.bounding_box()["y"] < 500
    opened.close()


# ---- with more hardware and models than a page has room for ----


@pytest.fixture(scope="module")
def large_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield a site of nine models on each of three accelerators, of which the front page has room for one."""
    folder = tmp_path_factory.mktemp("large")
    models = [each.models[0] for each in suites() if each.models][:9]
    runs = [
        run(f"{name}-{number}-{framework}-{devices}".lower(), framework=framework, model=model, hardware=name.upper(),
            devices=devices, speed=speed * devices)
        for name in ("v100", "a100", "h100") for number, model in enumerate(models)
        for framework, speed in (("PyTorch", 400.0), ("JAX", 300.0)) for devices in (1, 8)
        if (name, devices, number) != ("v100", 1, 8)
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        patched.setattr(summary, "LINES", 20)
        builder.build(runs, [], folder / "docs", cache=folder / "cache.sqlite")
    with served(html(folder), tmp_path_factory.mktemp("served-large")) as found:
        yield found


def test_tables_for_which_there_is_no_room_are_loaded_when_they_are_chosen(browser: Any, large_address: str) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(large_address)
    assert opened.locator(".pl-machine").count() == 1
    values = opened.locator("[name=hardware] option").evaluate_all("all => all.map(each => each.value)")
    assert sorted(values) == ["A100", "H100", "V100"]
    other = values[-1]
    opened.select_option("[name=hardware]", other)
    opened.wait_for_function("other => document.querySelector('.pl-chosen').dataset.hardware === other", arg=other)
    assert opened.locator(".pl-chosen h2").inner_text().startswith(other)
    assert opened.locator(".pl-chosen .pl-row:visible").count() == 9
    link = opened.locator(".pl-chosen .pl-row:visible th a").first
    assert link.evaluate("each => each.href").startswith(f"{large_address}models/")
    opened.goto(opened.url)
    opened.wait_for_function("other => document.querySelector('.pl-chosen').dataset.hardware === other", arg=other)
    opened.goto(f"{large_address}zh/hardware/{other.lower()}/")
    assert opened.locator(".pl-row:visible").count() == 9
    opened.close()


def test_without_scripts_the_other_hardware_is_linked(browser: Any, large_address: str) -> None:
    opened = browser.new_page(java_script_enabled=False)
    opened.goto(large_address)
    assert opened.locator(".pl-elsewhere a:visible").count() == 2
    opened.close()


def test_a_table_longer_than_a_screen_begins_with_the_devices_of_most_comparisons(
    browser: Any, large_address: str
) -> None:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.goto(f"{large_address}?hardware=V100")
    opened.wait_for_function("() => document.querySelector('.pl-chosen').dataset.hardware === 'V100'")
    assert opened.locator("[name=devices]").input_value() == "8"
    assert opened.locator(".pl-chosen .pl-row:visible").count() == 9
    opened.select_option("[name=devices]", "")
    assert opened.locator(".pl-chosen .pl-row:visible").count() == 17
    assert parse_qs(urlsplit(opened.url).query)["devices"] == ["all"]
    opened.reload()
    opened.wait_for_function("() => document.querySelector('.pl-chosen').dataset.hardware === 'V100'")
    assert opened.locator("[name=devices]").input_value() == ""
    opened.close()
