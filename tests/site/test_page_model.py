"""The page of a model in a browser: tabs, filters, tables and charts, on a wide screen, a phone and paper."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.scale import nice, shortened
from perfledger.ingest.site.render.share import SIGNATURE
from perfledger.ingest.site.result_tables import comparison
from tests.builders import HARDWARE, SPEED, metrics, run
from tests.site.test_chart_labels import WRITTEN
from tests.site.test_result_tables import parts

MODEL = "models/resnet50/"
COMPARED, RUNS = (f'.pl-table:has([data-name="{name}-1"])' for name in ("comparison", "runs"))
Visit = Callable[..., Any]


def tabs(page: Any) -> Any:
    return page.get_by_role("tab")


def chosen(page: Any) -> list[str]:
    """Return the tab that is chosen, and the headings of the panels that are seen."""
    heads = page.locator(".pl-panel:visible > h2").evaluate_all("all => all.map(each => each.id)")
    return [page.get_by_role("tab", selected=True).get_attribute("href"), *heads]


def cells(table: Any, column: int) -> list[str]:
    """Return the figure that a reader sees in a column, row by row, without the rows that are filtered away."""
    return [
        (row.locator("th, td").nth(column).inner_text().split() or [""])[0]
        for row in table.locator("tbody tr").all()
        if row.is_visible()
    ]


def head(table: Any, column: int) -> Any:
    return table.locator("thead th").nth(column)


def view(page: Any, table: Any, name: str) -> None:
    table.locator("label", has=page.locator(f'[value="{name}"]')).click()


# ---- tabs and filters ----


def test_tabs_are_chosen_by_keyboard_address_and_anchor(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    assert [each.get_attribute("href") for each in tabs(page).all()] == [
        "#results", "#scaling", "#evidence", "#reproduce", "#published",
    ]  # fmt: skip
    assert chosen(page) == ["#results", "results"]
    tabs(page).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert chosen(page) == ["#evidence", "evidence"]
    assert page.url.endswith("#evidence")
    assert page.evaluate("document.activeElement.hash") == "#evidence"
    assert tabs(page).evaluate_all("all => all.map(each => each.tabIndex)") == [-1, -1, 0, -1, -1]
    page.keyboard.press("Home")
    assert chosen(page) == ["#results", "results"]
    page.go_back()
    assert chosen(page) == ["#evidence", "evidence"]
    page.reload()
    assert chosen(page) == ["#evidence", "evidence"]
    # Other pages and hits of the search lead to places in tabs; one that is not here leads to the first tab.
    for anchor, tab in (
        ("comparison", "results"), ("notes", "evidence"), ("charts", "results"), ("logs", "evidence"),
        ("nowhere", ""), ("setup", "reproduce"),
    ):  # fmt: skip
        page.evaluate("anchor => { location.hash = anchor; }", anchor)
        page.wait_for_function(
            "tab => document.querySelector(`[aria-selected=true]`).hash === tab", arg=f"#{tab or 'results'}"
        )
        assert not tab or page.locator(f"#{anchor}").is_visible()
    page.goto(f"{home}{MODEL}?devices=77&framework=Nobody#notes")
    assert chosen(page)[0] == "#evidence"
    assert page.locator("select[name=devices]").input_value() == "all"


def test_filters_are_in_the_address_and_go_along_to_the_other_language(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    names = page.locator(".pl-filters select").evaluate_all("all => all.map(each => each.name)")
    assert names == ["hardware", "devices", "precision", "framework", "level"]
    assert page.locator("select[name=hardware]").input_value() == HARDWARE
    assert page.locator(".pl-slice[data-f-hardware].pl-off").count() > 0
    for name, value in (("devices", "8"), ("precision", "half"), ("framework", "PyTorch")):
        page.locator(f"select[name={name}]").select_option(value)
        assert f"{name}={value}" in page.url
    shown = page.locator(".pl-panel:visible .pl-grid:visible")
    assert shown.evaluate_all("all => all.map(each => each.dataset.name)") == ["comparison-2"]
    assert shown.locator("tbody tr:visible").count() == 1
    assert [each.inner_text().split("\n")[0] for each in shown.locator("thead th:visible").all()][2:] == ["PyTorch"]
    tabs(page).nth(2).click()
    runs = page.locator('[data-name="runs-1"] tbody tr:visible')
    assert runs.count() == 2
    assert all("pytorch-n1d8-amp" in each.inner_text() for each in runs.all())
    page.locator("a.md-select__link[hreflang=zh]").evaluate("link => link.click()")
    page.wait_for_url(f"**/zh/{MODEL}?*")
    assert chosen(page) == ["#evidence", "evidence"]
    assert page.locator('[data-name="runs-1"] tbody tr:visible').count() == 2
    assert page.locator("select[name=precision]").input_value() == "half"


def test_further_rows_come_when_they_are_asked_for(visit: Visit, home: str, whole: Path) -> None:
    """The page is given the first row of its first table only; the page of all results has the others."""
    text = (whole / MODEL / "index.html").read_text("utf-8")
    start = text.index("<tbody>", text.index('data-name="comparison-1"'))
    first, end = text.index("</tr>", start) + 5, text.index("</tbody>", start)
    link = '<p class="pl-rest"><a href="all-results/#comparison-1">Show all 5 rows</a></p>'
    body = text[:first] + text[end:].replace("</table></div>", f"</table></div>{link}", 1)
    page = visit("about:blank")
    page.route(f"**/{MODEL}", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(home + MODEL)
    table = page.locator('[data-name="comparison-1"]')
    assert table.locator("tbody tr").count() == 1
    page.locator(".pl-rest a").click()
    table.locator("tbody tr").nth(4).wait_for()
    assert page.url.endswith(MODEL)
    assert not page.locator(".pl-rest").count()
    table.locator("thead").get_by_role("button").nth(2).click()
    assert table.locator("tbody tr").last.inner_text().split()[0] != "8", "it is sorted"
    page.locator("select[name=devices]").select_option("8")
    assert table.locator("tbody tr:visible").count() == 1
    target = table.locator("tbody tr:visible a[href]").first.get_attribute("href")
    assert page.evaluate("address => fetch(address).then((reply) => reply.ok)", target)


def test_paper_and_readers_without_scripts_have_all_of_it(visit: Visit, home: str) -> None:
    page = visit(home + MODEL, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator(".pl-panel:visible").count() == 5
    assert not page.locator(".pl-filters:visible, .pl-tabs:visible, .pl-saves:visible").count()
    assert page.locator("#evidence").bounding_box()["height"] > 8
    table = page.locator(COMPARED)
    assert not table.locator(".pl-tools, .pl-sort, .pl-files").locator("visible=true").count()
    assert table.locator("thead").evaluate("node => getComputedStyle(node).display") == "table-header-group"
    assert table.locator(".pl-scroll").evaluate("node => getComputedStyle(node).overflow") == "visible"
    assert page.locator("figure svg text").first.evaluate("node => getComputedStyle(node).fill") == "rgb(0, 0, 0)"
    figures = page.locator("figure.pl-chart")
    assert page.locator("figure.pl-chart > .pl-wide:visible").count() == figures.count()
    plain = visit(home + MODEL, wide=390, java_script_enabled=False)
    assert plain.locator(".pl-panel:visible").count() == 5
    assert not plain.locator(".pl-filters").is_visible()
    table = plain.locator(COMPARED)
    assert cells(table, 2)[0] == "412"
    assert not table.locator("button, input").count()
    assert table.locator('[data-view="latency"]').first.is_hidden()
    for figure in plain.locator("figure.pl-chart").all():
        assert figure.locator(":scope > .pl-narrow").is_visible()
        assert not figure.locator(":scope > .pl-wide").is_visible()
    plain.locator('.pl-tabs a[href="#evidence"]').click()
    assert plain.locator("#evidence").bounding_box()["y"] < 200


# ---- tables ----

#: Returns the positions at which the whole parts of the figures of a column end.
ENDS = r"""table => [...table.querySelectorAll('tbody tr > :nth-child(5) [data-view="throughput"] .pl-entry')]
  .filter(entry => /^[\d,.]+/.test(entry.textContent)).map(entry => {
    const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT), text = walker.nextNode();
    const range = document.createRange();
    range.setStart(text, 0);
    range.setEnd(text, text.data.match(/^[\d,]+/)[0].length);
    return range.getBoundingClientRect().right;
  })"""


def test_a_head_sorts_by_figures_up_down_and_back_and_follows_the_view(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    table = page.locator(COMPARED)
    before, button = cells(table, 2), head(table, 2).get_by_role("button")
    assert "PaddlePaddle" in button.get_attribute("aria-label")
    button.click()
    assert head(table, 2).get_attribute("aria-sort") == "ascending"
    assert [each[:3] for each in cells(table, 2)] == ["412", "3,1", "—a", "—a", "—a"]
    button.press("Enter")
    assert head(table, 2).get_attribute("aria-sort") == "descending"
    assert [each[:3] for each in cells(table, 2)] == ["3,1", "412", "—a", "—a", "—a"], "what is absent stays last"
    button.press("Enter")
    assert head(table, 2).get_attribute("aria-sort") is None
    assert cells(table, 2) == before
    head(table, 1).get_by_role("button").click()
    head(table, 0).locator("xpath=.").click(position={"x": 5, "y": 5})
    assert table.locator("[aria-sort]").count() == 1
    assert cells(table, 0) == ["1", "1", "1", "2", "8"]
    assert cells(table, 1)[:3] == ["64", "128", "512"], "equal rows keep their order"
    ends = table.evaluate(ENDS)
    assert len(ends) == 4
    assert max(ends) - min(ends) < 0.6, "points are below each other"
    head(table, 4).get_by_role("button").click()
    assert cells(table, 4)[:2] == ["300.0", "303.0"]
    view(page, table, "latency")
    times = [float(each) for each in cells(table, 4) if each[0].isdigit()]
    assert len(times) > 1
    assert times == sorted(times)
    assert table.locator("thead small:visible").last.inner_text() == "ms ↓"
    box = table.locator(".pl-scroll")
    assert box.get_attribute("tabindex") is None
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function("box => box.tabIndex === 0", arg=box.element_handle())
    assert box.get_attribute("role") == "group"
    assert page.locator(f"[id='{box.get_attribute('aria-labelledby')}']").inner_text()
    page.set_viewport_size({"width": 1280, "height": 800})
    tabs(page).nth(2).click()
    table = page.locator('.pl-table:has([data-key="range"])').first
    table.locator('[data-key="range"]').get_by_role("button").click()
    column = table.locator("thead th").evaluate_all("all => all.findIndex(each => each.dataset.key === 'range')")
    least = [float(each.replace(",", "")) for each in cells(table, column) if each[0].isdigit()]
    assert max(least) > 1000 > min(least)
    assert least == sorted(least), "ranges are sorted by their least"
    tabs(page).first.click()
    head(page.locator(COMPARED), 2).locator("a").click()
    page.wait_for_url("**/frameworks/paddlepaddle/")


def test_a_filter_leaves_the_rows_that_have_every_word_and_they_can_be_sorted(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/{MODEL}#logs")
    table = page.locator(RUNS)
    rows = table.locator("tbody tr:visible").count()
    widths = "table => [...table.querySelectorAll('thead th')].map(head => head.getBoundingClientRect().width)"
    before = table.evaluate(widths)
    field, status = table.get_by_role("searchbox"), table.get_by_role("status")
    field.fill("tensorflow AMP")
    shown = [each for each in cells(table, 0) if each]
    assert 0 < len(shown) < rows
    assert all("tensorflow" in each and "amp" in each for each in shown)
    assert re.findall(r"\d+", status.inner_text())[0] == str(len(shown))
    assert table.evaluate(widths) == pytest.approx(before, abs=1)
    field.fill("nothing of the kind")
    assert cells(table, 0) == []
    field.fill("paddlepaddle fp32")
    last = table.locator("thead th").count() - 1
    head(table, last).get_by_role("button").click()
    figures = [float(each.replace(",", "")) for each in cells(table, last)]
    assert len(figures) == 4
    assert figures == sorted(figures)
    field.fill("")
    assert len(cells(table, 0)) == rows
    assert status.inner_text() == ""


def test_the_switch_changes_all_tables_and_is_kept_in_the_address(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/{MODEL}#scaling")
    table, second = (page.locator(f'.pl-table:has([data-name="scaling-{n}"])') for n in (1, 2))
    choices = "all => all.map(each => each.value)"
    assert table.get_by_role("radio").evaluate_all(choices) == ["efficiency", "speedup", "per_device"]
    assert cells(table, 2)[0] == "94.0%"
    view(page, table, "speedup")
    assert cells(table, 2)[0] == "7.52×"
    assert "metric=speedup" in page.url
    assert second.get_by_role("radio", checked=True).get_attribute("value") == "speedup"
    assert cells(second, 2)[0] == "7.52×"
    table.locator('[value="speedup"]').press("ArrowRight")
    assert table.get_by_role("radio", checked=True).get_attribute("value") == "per_device"
    own_part = float(cells(table, 2)[0])
    page.reload()
    assert float(cells(table, 2)[0]) == own_part
    view(page, table, "efficiency")
    assert "metric" not in page.url
    assert cells(table, 2)[0] == "94.0%"
    tabs(page).first.click()
    compared = page.locator(COMPARED)
    assert compared.get_by_role("radio").evaluate_all(choices) == ["throughput", "latency", "memory"]
    eight = next(row for row in compared.locator("tbody tr").all() if row.inner_text().split()[0] == "8")
    whole_part = float(eight.locator("th, td").nth(2).inner_text().split()[0].replace(",", ""))
    assert own_part == pytest.approx(whole_part / 8, rel=0.002), "the part of one device"


def thrice(page: str) -> str:
    """Return the page of a model with a first table of three repeats, of which one can clearly be the best."""
    runs = [
        run(f"resnet50-{name.lower()}-{n}", framework=name, repeat=n, speed=speed + n / 10, metrics=metrics(name, n))
        for name, speed in SPEED.items()
        for n in (1, 2, 3)
    ]
    made, suite, rows = parts([*runs, run("resnet50-without-times", batch_size=128)])
    table = str(Writer(own(), "en", str, f"{MODEL}index.md").table(comparison(made, suite, rows)))
    name = page.index('data-name="comparison-1"')
    return page[: page.rindex('<div class="pl-table"', 0, name)] + table + page[page.index("\n</div>", name) + 7 :]


def test_each_view_has_its_unit_its_best_and_its_notes(visit: Visit, home: str, whole: Path) -> None:
    """What is clearly the best is bold, in each view; two repeats are too few for that."""
    given = (whole / MODEL / "index.html").read_text("utf-8")
    assert "pl-best" not in given
    page = visit("about:blank")
    page.route(f"**/{MODEL}*", lambda route: route.fulfill(body=thrice(given), content_type="text/html"))
    page.goto(f"{home}{MODEL}?metric=latency")
    table = page.locator(COMPARED)
    assert head(table, 2).inner_text().split("\n")[-1] == "ms ↓"
    bold = table.locator("tbody tr").first.locator(".pl-best:visible")
    assert [each.inner_text() for each in bold.all()] == ["156.6"]
    assert "the log does not say" in table.inner_text()
    view(page, table, "throughput")
    assert head(table, 2).inner_text().split("\n")[-1] == "images/s ↑"
    assert [each.inner_text() for each in bold.all()] == ["410.20"]
    assert "the log does not say" not in table.inner_text()


def test_on_a_phone_heads_stay_in_view_and_notes_lead_back(visit: Visit, home: str) -> None:
    """The way back leads to the letter that was tapped, although an earlier one has the same note."""
    page = visit(f"{home}zh/{MODEL}", wide=390, high=700, has_touch=True, is_mobile=True)
    table = page.locator(COMPARED)
    for each in table.locator("a.pl-ref:visible, a.pl-back:visible, button, td small a:visible").all():
        box = each.bounding_box()
        assert min(box["width"], box["height"]) >= 24, each.evaluate("node => node.outerHTML")
    letters = table.locator("a.pl-ref:visible")
    assert letters.count() > 1
    letter = letters.nth(letters.count() - 1)
    letter.tap()
    note = page.locator(f"[id='{letter.get_attribute('href')[1:]}']")
    assert "没有该配置的运行记录" in note.inner_text()
    seen = "node => { const box = node.getBoundingClientRect(); return box.top >= 48 && box.bottom <= innerHeight; }"
    assert note.evaluate(seen)
    note.locator("a.pl-back").tap()
    assert letter.evaluate("node => node === document.activeElement")
    assert letter.evaluate(seen)
    tabs(page).nth(2).click()
    table = page.locator(RUNS)
    box = table.locator(".pl-scroll")
    box.scroll_into_view_if_needed()
    box.evaluate("box => { box.scrollTop = box.scrollHeight; box.scrollLeft = box.scrollWidth; }")
    assert box.evaluate("box => box.scrollTop > 200 && box.scrollLeft > 40")
    outer, corner, last = box.bounding_box(), head(table, 0).bounding_box(), table.locator("tbody tr:visible").last
    assert (corner["x"], corner["y"]) == pytest.approx((outer["x"], outer["y"]), abs=1.5)
    assert head(table, 2).bounding_box()["y"] == pytest.approx(outer["y"], abs=1.5)
    assert last.locator("th").bounding_box()["x"] == pytest.approx(outer["x"], abs=1.5)
    assert last.locator("td").first.bounding_box()["x"] < outer["x"] + corner["width"], "the others scroll below it"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_copied_table_has_the_values_of_the_chosen_metric_before_rounding(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/{MODEL}")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    table, digits = page.locator(COMPARED), 0
    for name in ("throughput", "latency", "memory"):
        view(page, table, name)
        table.hover()
        table.locator(".pl-copy").click()
        lines = list(csv.DictReader(io.StringIO(page.evaluate("window.copied"), newline="")))
        for line, shown in zip(lines, cells(table, 4), strict=True):
            figure = re.match(r"[\d,.]+", shown)
            assert bool(figure) == bool(re.match(r"\d", line["pytorch"])), (line, shown)
            if figure:
                assert float(line["pytorch"]) == pytest.approx(float(figure[0].replace(",", "")), rel=0.005)
                digits += len(line["pytorch"]) > len(figure[0])
    assert digits


# ---- charts ----


def test_a_chart_is_pointed_at_saved_and_reached_by_keyboard(visit: Visit, home: str) -> None:
    page = visit(home + MODEL)
    chart = page.locator("figure.pl-chart").first
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
    texts = [each.text for each in ET.fromstring(saved).iter("{http://www.w3.org/2000/svg}text")]
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
#: Charts in hidden tabs are drawn when their tab is chosen.
SHOW = "all => all.forEach(each => { while (each.closest('[hidden]')) each.closest('[hidden]').hidden = false })"


@pytest.mark.parametrize(
    ("path", "scheme"), [(MODEL, "light"), (f"zh/{MODEL}", "dark"), ("runs/resnet50-stalled-1/", "dark")]
)
def test_charts_have_room_for_their_labels_and_the_colours_of_the_scheme(
    visit: Visit, home: str, path: str, scheme: str
) -> None:
    """A browser's letters may be wider than those by which the drawing was laid out."""
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
