"""Tables in a real browser: sorting, filtering, switching views, sticky heads, notes on a phone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.common.words import own
from ingest.site.render.html_table import Writer
from ingest.site.result_tables import comparison
from tests.builders import SPEED, metrics, run
from tests.site.test_result_tables import parts

COMPARED = '.pl-table:has([data-name="comparison-1"])'
RUNS = '.pl-table:has([data-name="runs-1"])'


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def opened(page: Any, address: str, language: str, path: str = "models/resnet50/") -> Any:
    page.goto(f"{address}{language}{path}")
    return page.locator(COMPARED)


def cells(table: Any, column: int) -> list[str]:
    """Return the figure that a reader sees in a column, row by row, without the rows that are filtered away."""
    return [
        (row.locator("th, td").nth(column).inner_text().split() or [""])[0]
        for row in table.locator("tbody tr").all()
        if row.is_visible()
    ]


def head(table: Any, column: int) -> Any:
    return table.locator("thead th").nth(column)


def test_a_head_sorts_up_down_and_back(page: Any, address: str) -> None:
    table = opened(page, address, "")
    before = cells(table, 2)
    button = head(table, 2).get_by_role("button")
    assert "PaddlePaddle" in button.get_attribute("aria-label")
    button.click()
    assert head(table, 2).get_attribute("aria-sort") == "ascending"
    assert [each[:3] for each in cells(table, 2)] == ["412", "3,1", "—a", "—a"]
    button.press("Enter")
    assert head(table, 2).get_attribute("aria-sort") == "descending"
    assert [each[:3] for each in cells(table, 2)] == ["3,1", "412", "—a", "—a"], "what is absent stays last"
    button.press("Enter")
    assert head(table, 2).get_attribute("aria-sort") is None
    assert cells(table, 2) == before


def test_only_one_head_says_that_it_sorts_and_equal_rows_keep_their_order(page: Any, address: str) -> None:
    table = opened(page, address, "")
    head(table, 1).get_by_role("button").click()
    head(table, 0).locator("xpath=.").click(position={"x": 5, "y": 5})
    assert table.locator("[aria-sort]").count() == 1
    assert cells(table, 0) == ["1", "1", "1", "8"]
    assert cells(table, 1) == ["64", "128", "512", "64"]


def test_a_link_in_a_head_is_a_link(page: Any, address: str) -> None:
    table = opened(page, address, "")
    head(table, 2).locator("a").click()
    page.wait_for_url("**/frameworks/paddlepaddle/")


def test_ranges_are_sorted_by_their_least_not_as_text(page: Any, address: str) -> None:
    opened(page, address, "", "models/resnet50/#beside")
    table = page.locator('.pl-table:has([data-key="range"])').first
    table.locator('[data-key="range"]').get_by_role("button").click()
    column = table.locator("thead th").evaluate_all("all => all.findIndex(each => each.dataset.key === 'range')")
    least = [float(each.replace(",", "")) for each in cells(table, column) if each[0].isdigit()]
    assert max(least) > 1000 > min(least)
    assert least == sorted(least)


def test_a_filter_leaves_the_rows_that_have_every_word(page: Any, address: str) -> None:
    opened(page, address, "zh/", "models/resnet50/#logs")
    table = page.locator(RUNS)
    rows = table.locator("tbody tr").count()
    widths = "table => [...table.querySelectorAll('thead th')].map(head => head.getBoundingClientRect().width)"
    before = table.evaluate(widths)
    field = table.get_by_role("searchbox")
    field.fill("tensorflow AMP")
    shown = [each for each in cells(table, 0) if each]
    assert 0 < len(shown) < rows
    assert all("tensorflow" in each and "amp" in each for each in shown)
    status = table.get_by_role("status")
    assert re.findall(r"\d+", status.inner_text()) == [str(len(shown)), str(rows)]
    assert table.evaluate(widths) == pytest.approx(before, abs=1)
    field.fill("nothing of the kind")
    assert cells(table, 0) == []
    field.fill("")
    assert len(cells(table, 0)) == rows
    assert status.inner_text() == ""


def test_a_filtered_table_sorts(page: Any, address: str) -> None:
    opened(page, address, "", "models/resnet50/#logs")
    table = page.locator(RUNS)
    table.get_by_role("searchbox").fill("paddlepaddle fp32")
    last = table.locator("thead th").count() - 1
    head(table, last).get_by_role("button").click()
    figures = [float(each.replace(",", "")) for each in cells(table, last)]
    assert len(figures) == 4
    assert figures == sorted(figures)


def test_the_switch_changes_all_tables_and_is_kept_in_the_address(page: Any, address: str) -> None:
    opened(page, address, "zh/", "models/resnet50/#scaling")
    table, second = (page.locator(f'.pl-table:has([data-name="scaling-{n}"])') for n in (1, 2))
    choices = table.get_by_role("radio")
    assert choices.evaluate_all("all => all.map(each => each.value)") == ["efficiency", "speedup", "per_device"]
    assert cells(table, 2)[0] == "94.0%"
    table.locator("label", has=page.locator('[value="speedup"]')).click()
    assert cells(table, 2)[0] == "7.52×"
    assert "metric=speedup" in page.url
    assert second.get_by_role("radio", checked=True).get_attribute("value") == "speedup"
    assert cells(second, 2)[0] == "7.52×"
    table.locator('[value="speedup"]').press("ArrowRight")
    assert table.get_by_role("radio", checked=True).get_attribute("value") == "per_device"
    own = float(cells(table, 2)[0])
    page.reload()
    assert float(cells(table, 2)[0]) == own
    table.locator("label", has=page.locator('[value="efficiency"]')).click()
    assert "metric" not in page.url
    assert cells(table, 2)[0] == "94.0%"
    compared = opened(page, address, "zh/")
    assert compared.get_by_role("radio").evaluate_all("all => all.map(each => each.value)") == [
        "throughput", "latency", "memory",
    ]  # fmt: skip
    whole = float(cells(compared, 2)[-1].replace(",", ""))
    assert own == pytest.approx(whole / 8, rel=0.002), "the part of one device"


def thrice(site: Path) -> str:
    """Return the page of a model with a first table of three repeats, of which one can clearly be the best."""
    runs = [
        run(f"resnet50-{name.lower()}-{n}", framework=name, repeat=n, speed=speed + n / 10, metrics=metrics(name, n))
        for name, speed in SPEED.items()
        for n in (1, 2, 3)
    ]
    made, suite, rows = parts([*runs, run("resnet50-without-times", batch_size=128)])
    table = str(Writer(own(), "en", str, "models/resnet50/index.md").table(comparison(made, suite, rows)))
    page = (site / "models" / "resnet50" / "index.html").read_text("utf-8")
    name = page.index('data-name="comparison-1"')
    return page[: page.rindex('<div class="pl-table"', 0, name)] + table + page[page.index("\n</div>", name) + 7 :]


def test_each_view_has_its_unit_its_best_and_its_notes(page: Any, address: str, site: Path) -> None:
    """What is clearly the best is bold, in each view; two repeats are too few for that."""
    body = thrice(site)
    assert "pl-best" not in (site / "models" / "resnet50" / "index.html").read_text("utf-8")
    page.route("**/models/resnet50/*", lambda route: route.fulfill(body=body, content_type="text/html"))
    table = opened(page, address, "", "models/resnet50/?metric=latency")
    assert head(table, 2).inner_text().split("\n")[-1] == "ms ↓"
    bold = table.locator("tbody tr").first.locator(".pl-best:visible")
    assert [each.inner_text() for each in bold.all()] == ["156.6"]
    assert "the log does not say" in table.inner_text()
    page.goto(f"{address}models/resnet50/?")
    assert head(table, 2).inner_text().split("\n")[-1] == "images/s ↑"
    assert [each.inner_text() for each in bold.all()] == ["410.20"]
    assert "the log does not say" not in table.inner_text()


def test_a_sorted_table_follows_the_switch(page: Any, address: str) -> None:
    table = opened(page, address, "")
    head(table, 4).get_by_role("button").click()
    assert cells(table, 4)[:2] == ["300.0", "402"]
    table.locator("label", has=page.locator('[value="latency"]')).click()
    times = [float(each) for each in cells(table, 4) if each[0].isdigit()]
    assert len(times) > 1
    assert times == sorted(times)
    assert table.locator("thead small:visible").last.inner_text() == "ms ↓"


def test_head_and_first_column_stay_in_view(phone: Any, address: str) -> None:
    opened(phone, address, "", "models/resnet50/#logs")
    table = phone.locator(RUNS)
    box = table.locator(".pl-scroll")
    box.scroll_into_view_if_needed()
    box.evaluate("box => { box.scrollTop = box.scrollHeight; box.scrollLeft = box.scrollWidth; }")
    assert box.evaluate("box => box.scrollTop > 200 && box.scrollLeft > 40")
    outer = box.bounding_box()
    corner = head(table, 0).bounding_box()
    last = table.locator("tbody tr").last
    assert corner["y"] == pytest.approx(outer["y"], abs=1.5)
    assert corner["x"] == pytest.approx(outer["x"], abs=1.5)
    assert head(table, 2).bounding_box()["y"] == pytest.approx(outer["y"], abs=1.5)
    assert last.locator("th").bounding_box()["x"] == pytest.approx(outer["x"], abs=1.5)
    assert last.locator("td").first.bounding_box()["x"] < outer["x"] + corner["width"], "the others scroll below it"
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_letter_leads_to_its_note_and_the_note_back(phone: Any, address: str) -> None:
    """The way back leads to the letter that was tapped, although an earlier one has the same note."""
    table = opened(phone, address, "zh/")
    letters = table.locator("a.pl-ref:visible")
    assert letters.count() > 1
    letter = letters.nth(letters.count() - 1)
    letter.tap()
    note = phone.locator(f"[id='{letter.get_attribute('href')[1:]}']")
    assert "没有该配置的运行记录" in note.inner_text()
    seen = "node => { const box = node.getBoundingClientRect(); return box.top >= 48 && box.bottom <= innerHeight; }"
    assert note.evaluate(seen)
    note.locator("a.pl-back").tap()
    assert letter.evaluate("node => node === document.activeElement")
    assert letter.evaluate(seen)


def test_targets_are_as_large_as_a_finger_needs(phone: Any, address: str) -> None:
    table = opened(phone, address, "")
    for each in table.locator("a.pl-ref:visible, a.pl-back:visible, button, td small a:visible").all():
        box = each.bounding_box()
        assert min(box["width"], box["height"]) >= 24, each.evaluate("node => node.outerHTML")


def test_files_are_downloaded_and_equal_what_is_shown(page: Any, address: str) -> None:
    table = opened(page, address, "zh/")
    texts = {}
    for kind in ("CSV", "JSON"):
        with page.expect_download() as waiting:
            table.locator(".pl-files a", has_text=kind).click()
        texts[kind] = waiting.value.path().read_text("utf-8")
    lines = list(csv.DictReader(io.StringIO(texts["CSV"])))
    records = json.loads(texts["JSON"])["data"]
    assert [line["pytorch"] or "None" for line in lines] == [str(each["pytorch"]) for each in records]
    for view, key in (("throughput", "pytorch"), ("latency", "pytorch_latency"), ("memory", "pytorch_memory")):
        table.locator("label", has=page.locator(f'[value="{view}"]')).click()
        for line, shown in zip(lines, cells(table, 4), strict=True):
            if line[key]:
                assert float(line[key]) == pytest.approx(float(shown.replace(",", "")), rel=0.005)
            else:
                assert not shown[0].isdigit()


def test_points_stand_below_each_other(page: Any, address: str) -> None:
    """Measure where the whole part ends: of 402, of 3,025, and of 300.0."""
    table = opened(page, address, "")
    ends = table.evaluate(
        r"""table => [...table.querySelectorAll('tbody tr > :nth-child(5) [data-view="throughput"] .pl-entry')]
          .filter(entry => /^[\d,.]+/.test(entry.textContent)).map(entry => {
            const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT), text = walker.nextNode();
            const range = document.createRange();
            range.setStart(text, 0);
            range.setEnd(text, text.data.match(/^[\d,]+/)[0].length);
            return range.getBoundingClientRect().right;
          })"""
    )
    assert len(ends) == 3
    assert max(ends) - min(ends) < 0.6


def test_a_box_is_in_the_order_of_focus_only_while_it_scrolls(page: Any, address: str) -> None:
    table = opened(page, address, "")
    box = table.locator(".pl-scroll")
    sizes = "box => [box.scrollWidth, box.clientWidth, box.scrollHeight, box.clientHeight]"
    assert box.get_attribute("tabindex") is None, box.evaluate(sizes)
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function("box => box.tabIndex === 0", arg=box.element_handle())
    assert box.get_attribute("role") == "group"
    assert page.locator(f"[id='{box.get_attribute('aria-labelledby')}']").inner_text()


def test_paper_has_no_controls(page: Any, address: str) -> None:
    table = opened(page, address, "")
    page.emulate_media(media="print")
    assert not table.locator(".pl-tools, .pl-sort, .pl-files").locator("visible=true").count()
    assert table.locator("thead").evaluate("node => getComputedStyle(node).display") == "table-header-group"
    assert table.locator(".pl-scroll").evaluate("node => getComputedStyle(node).overflow") == "visible"


def test_without_scripts_the_throughput_is_there_and_no_control(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    table = opened(page, address, "")
    assert cells(table, 2)[0] == "412"
    assert not table.locator("button, input").count()
    assert table.locator('[data-view="speedup"]').first.is_hidden()
    context.close()
