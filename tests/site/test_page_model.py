"""The page of a model in a browser: chips, tabs, tables and charts, on a wide screen, a phone and paper."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.scale import nice, shortened
from perfledger.ingest.site.render.share import SIGNATURE
from tests.builders import HARDWARE
from tests.site.test_chart_labels import WRITTEN

MODEL = "models/resnet50/"
RUNS = '.pl-table:has([data-name="runs-1"])'
ROWS = ".pl-results .pl-grid tbody tr:visible"
Visit = Callable[..., Any]


def tabs(page: Any) -> Any:
    return page.get_by_role("tab")


def chosen(page: Any) -> list[str]:
    """Return the tab that is chosen, and the headings of the panels that are seen."""
    heads = page.locator(".pl-panel:visible > h2").evaluate_all("all => all.map(each => each.id)")
    return [page.get_by_role("tab", selected=True).get_attribute("href"), *heads]


def chip(page: Any, name: str, value: str) -> Any:
    return page.locator(f'.pl-chips [data-name="{name}"] button[value="{value}"]')


def pressed(page: Any) -> dict[str, str]:
    """Return the chosen value of each filter."""
    return dict(page.evaluate("plChips.choice"))


def facts(page: Any, selector: str) -> list[tuple[str, str]]:
    """Return the precision and the devices of the visible parts."""
    found = "all => all.map(each => [each.dataset.fPrecision, each.dataset.fDevices])"
    return sorted(tuple(each) for each in page.locator(selector).evaluate_all(found))


# ---- the selection ----


def test_answers_charts_and_rows_follow_one_selection(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    assert pressed(page) == {
        "hardware": HARDWARE,
        "devices": "all",
        "precision": "all",
        "framework": "all",
    }
    places = [(group, devices) for group in ("fp32", "half") for devices in ("1", "8")]
    assert set(facts(page, ROWS)) == {*places, ("fp32", "2")}
    assert facts(page, ".pl-part-charts > div:visible") == places
    for name, value in (("devices", "8"), ("precision", "half")):
        chip(page, name, value).click()
        assert f"{name}={value}" in page.url
    assert set(facts(page, ROWS)) == {("half", "8")}
    assert facts(page, ".pl-part-charts > div:visible") == [("half", "8")]
    assert {each[1] for each in facts(page, ".pl-answers > li:visible")} == {"8"}
    assert page.locator(".pl-results .pl-slice:visible").count() == 1
    # TensorFlow did not run on 8 devices: its chip says so and cannot be chosen.
    assert chip(page, "framework", "TensorFlow").is_disabled()
    assert chip(page, "framework", "TensorFlow").get_attribute("title")
    chip(page, "framework", "PyTorch").click()
    assert page.locator(ROWS).count() == 1
    tabs(page).nth(1).click()
    assert page.locator(f"{RUNS} tbody tr:visible").count() == 2
    page.locator("a.md-select__link[hreflang=zh]").evaluate("link => link.click()")
    page.wait_for_url(f"**/zh/{MODEL}?*")
    assert page.locator(ROWS).count() == 1
    assert pressed(page)["precision"] == "half"
    chip(page, "framework", "PyTorch").click()
    assert pressed(page)["framework"] == "all", "a second click takes the choice back"


def test_an_unknown_value_is_named_and_all_results_are_shown(visit: Visit, home: str) -> None:
    page = visit(f"{home}{MODEL}?devices=77&framework=Nobody#logs")
    said = page.locator(".pl-chips [role=status]").inner_text()
    assert "Devices “77”" in said
    assert "Framework “Nobody”" in said
    assert page.locator(ROWS).count() > 5
    assert chosen(page)[0] == "#evidence"


@pytest.mark.parametrize("wide", [1440, 390])
@pytest.mark.parametrize("language", ["", "zh/"])
def test_nothing_moves_while_the_page_loads(visit: Visit, home: str, language: str, wide: int) -> None:
    """Parts that are not chosen are hidden before the first paint: 0.1 is the limit of web vitals."""
    page = visit("about:blank", wide=wide, high=900)
    page.add_init_script(
        "new PerformanceObserver(list => list.getEntries().forEach(each => { window.moved = (window.moved || 0) + "
        "each.value; })).observe({ type: 'layout-shift', buffered: true })"
    )
    page.goto(f"{home}{language}{MODEL}?precision=half", wait_until="networkidle")
    assert page.locator(ROWS).count() > 2
    assert page.evaluate("window.moved || 0") < 0.1
    assert page.evaluate("document.documentElement.scrollWidth") <= wide


# ---- tabs ----


def test_tabs_are_chosen_by_keyboard_address_and_anchor(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    hrefs = [each.get_attribute("href") for each in tabs(page).all()]
    assert hrefs == ["#scaling", "#evidence", "#reproduce", "#published"]
    assert chosen(page) == ["#scaling", "scaling"]
    tabs(page).first.focus()
    page.keyboard.press("ArrowRight")
    assert chosen(page) == ["#evidence", "evidence"]
    assert page.url.endswith("#evidence")
    assert page.evaluate("document.activeElement.hash") == "#evidence"
    assert tabs(page).evaluate_all("all => all.map(each => each.tabIndex)") == [-1, 0, -1, -1]
    page.keyboard.press("Home")
    assert chosen(page) == ["#scaling", "scaling"]
    page.go_back()
    assert chosen(page) == ["#evidence", "evidence"]
    page.reload()
    assert chosen(page) == ["#evidence", "evidence"]
    # Other pages and hits of the search lead to places in tabs and above them.
    for anchor, tab in (("logs", "evidence"), ("comparison", "scaling"), ("setup", "reproduce")):
        page.evaluate("anchor => { location.hash = anchor; }", anchor)
        page.wait_for_function("tab => document.querySelector(`[aria-selected=true]`).hash === tab", arg=f"#{tab}")
        assert page.locator(f"#{anchor}").is_visible()


# ---- tables ----


def test_a_head_sorts_by_figures_up_down_and_back(visit: Visit, home: str) -> None:
    page = visit(f"{home}{MODEL}?precision=fp32")
    table = page.locator(".pl-results .pl-table:visible").first
    button = table.locator('[data-key="throughput"]').get_by_role("button")

    def figures() -> list[float]:
        texts = table.locator("tbody td.pl-n a").all_inner_texts()
        return [float(each.replace(",", "")) for each in texts if each[0].isdigit()]

    before = figures()
    button.click()
    assert figures() == sorted(before)
    button.press("Enter")
    assert figures() == sorted(before, reverse=True)
    button.press("Enter")
    assert figures() == before


def test_the_list_of_runs_has_a_field_that_filters_it(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/{MODEL}#logs")
    table = page.locator(RUNS)
    rows = table.locator("tbody tr:visible").count()
    field, status = table.get_by_role("searchbox"), table.get_by_role("status")
    field.fill("tensorflow AMP")
    shown = table.locator("tbody tr:visible").all_inner_texts()
    assert 0 < len(shown) < rows
    assert all("tensorflow" in each and "amp" in each for each in shown)
    assert re.findall(r"\d+", status.inner_text())[0] == str(len(shown))
    field.fill("")
    assert table.locator("tbody tr:visible").count() == rows


def test_on_a_phone_a_row_is_a_card_that_names_its_columns(visit: Visit, home: str) -> None:
    page = visit(f"{home}{MODEL}?precision=half&devices=8", wide=390, high=844)
    card = page.locator(ROWS).first
    assert not page.locator(".pl-results .pl-grid thead").first.is_visible()
    assert card.bounding_box()["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    label = "node => getComputedStyle(node, '::before').content"
    labels = [each.evaluate(label).strip('"') for each in card.locator("td:visible").all()]
    assert labels[:4] == ["Devices", "Throughput images/s", "Per device", "Batch size per device"]


def test_a_copied_table_has_the_values_before_rounding(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/{MODEL}?precision=fp32")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    table = page.locator(".pl-results .pl-table:visible").first
    table.hover()
    table.locator(".pl-copy").click()
    lines = list(csv.DictReader(io.StringIO(page.evaluate("window.copied"), newline="")))
    shown = [
        float(each.replace(",", "")) for each in table.locator("tbody td.pl-n a").all_inner_texts() if each[0].isdigit()
    ]
    values = [line["throughput"] for line in lines if re.match(r"[\d.]+$", line["throughput"])]
    assert [float(each) for each in values] == pytest.approx(shown, rel=0.005)
    assert any(len(each) > 6 for each in values)


def test_a_caution_shows_its_words_when_it_has_the_focus(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    dot = page.locator(f"{ROWS} .pl-caution").first
    words = "node => getComputedStyle(node, '::after').content"
    assert dot.evaluate(words) == "none"
    dot.focus()
    assert dot.evaluate(words) == f'"{dot.get_attribute("aria-label")}"'


def test_paper_has_the_selection_and_readers_without_scripts_have_all_of_it(visit: Visit, home: str) -> None:
    page = visit(f"{home}{MODEL}?devices=8", color_scheme="dark")
    rows = page.locator(ROWS).count()
    page.emulate_media(media="print")
    assert page.locator(ROWS).count() == rows
    assert page.locator(".pl-panel:visible").count() == 1
    assert not page.locator(".pl-chips:visible, .pl-tabs:visible, .pl-sort:visible, .pl-saves:visible").count()
    ink = page.locator("figure svg text:visible").first.evaluate("node => getComputedStyle(node).fill")
    assert max(map(int, re.findall(r"\d+", ink))) < 100, "dark, whatever the reader's scheme"
    plain = visit(f"{home}{MODEL}?devices=8", wide=390, java_script_enabled=False)
    assert plain.locator(".pl-panel:visible").count() == 4
    assert not plain.locator(".pl-chips").is_visible()
    assert plain.locator(ROWS).count() > rows
    for figure in plain.locator("figure.pl-chart").all():
        assert figure.locator(":scope > .pl-narrow").is_visible()
    plain.locator('.pl-tabs a[href="#evidence"]').click()
    assert plain.locator("#evidence").bounding_box()["y"] < 200


# ---- charts ----


def test_a_chart_is_pointed_at_saved_and_reached_by_keyboard(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    chart = page.locator("figure.pl-chart:visible").nth(1)  # of eight devices
    chart.scroll_into_view_if_needed()
    chart.locator(".pl-saves").wait_for()
    # The script and the picture write the same numbers and ticks.
    assert page.evaluate("all => all.map(plChart.shortened)", [each for each, _ in WRITTEN]) == [
        shortened(each) for each, _ in WRITTEN
    ]
    spans = [(0, 415), (74.3, 100), (5, 5), (0, 0), (0, 0.0031), (0, 1_265_000)]
    drawn = page.evaluate("all => all.map(each => plChart.nice(...each))", spans)
    assert drawn == [pytest.approx(nice(*each)) for each in spans]
    with page.expect_download() as waiting:
        chart.locator(".pl-save:text('SVG')").click()
    assert waiting.value.suggested_filename.endswith(".svg")
    saved = Path(waiting.value.path()).read_text("utf-8")
    assert not re.search(r"var\(|currentColor|class=", saved)
    texts = [each.text or "" for each in ET.fromstring(saved).iter("{http://www.w3.org/2000/svg}text")]
    title = chart.locator("figcaption b").text_content()
    assert texts == [title, *chart.locator(".pl-wide text").all_text_contents()]
    with page.expect_download() as waiting:
        chart.locator(".pl-save:text('PNG')").click()
    assert Path(waiting.value.path()).read_bytes().startswith(SIGNATURE)
    mark = chart.locator("a.pl-mark[href]:visible").first
    mark.hover()
    said = chart.locator(".pl-tip").inner_text().split("\n")
    assert said[0] == mark.locator("text").first.text_content()
    assert "images/s" in said[1]
    assert any("batch size" in each for each in said)
    assert any("run" in each for each in said[3:])
    page.mouse.move(0, 0)
    assert not chart.locator(".pl-tip").is_visible()
    mark.focus()
    assert chart.locator(".pl-tip").is_visible()
    assert said[1] in mark.get_attribute("aria-label")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/resnet50-*/")


#: Labels of charts that a figure has no room for.
CUT = """() => [...document.querySelectorAll("figure.pl-chart")].flatMap(figure => {
  const room = figure.getBoundingClientRect();
  return [...figure.querySelectorAll("svg text")].filter(text => text.getClientRects().length).filter(text => {
    const box = text.getBoundingClientRect();
    return box.right > room.right + 1 || box.left < room.left - 1;
  }).map(text => text.textContent);
})"""
#: Charts in other tabs are hidden until their tab is chosen.
SHOW = "all => all.forEach(each => each.closest('.pl-panel')?.classList.add('pl-open'))"


@pytest.mark.parametrize(
    ("path", "scheme"), [(MODEL, "light"), (f"zh/{MODEL}", "dark"), ("runs/resnet50-stalled-1/", "dark")]
)
def test_charts_have_room_for_their_labels_and_the_colours_of_the_scheme(
    visit: Visit, home: str, path: str, scheme: str
) -> None:
    """A browser's letters may be wider than those that the layout assumes."""
    page = visit(home + path, high=6000, color_scheme=scheme)
    figures = page.locator("figure.pl-chart")
    for wide in (1280, 390):
        page.set_viewport_size({"width": wide, "height": 6000})
        figures.evaluate_all(SHOW)
        assert page.locator("figure text:visible").count() > 5
        assert page.evaluate(CUT) == []
        scrolls = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
        assert figures.evaluate_all(scrolls) == 0
    ink = page.locator("figure text").first.evaluate("node => getComputedStyle(node).fill")
    assert (int(re.findall(r"\d+", ink)[0]) > 128) == (scheme == "dark")
    if MODEL in path:
        wanted = getattr(colours.ink("PyTorch"), scheme)
        written = "rgb({}, {}, {})".format(*(int(wanted[at : at + 2], 16) for at in (1, 3, 5)))
        dots = page.locator("figure .pl-dot")
        assert written in dots.evaluate_all("all => all.map(node => getComputedStyle(node).stroke)")
