"""Charts as readers use them: pointing, keyboard, legend, files, a phone, paper, and a reader without scripts."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.site.render.drawing import nice, shortened
from tests.site.test_chart_labels import WRITTEN

MODEL = "models/resnet50/"


@pytest.fixture
def chart(page: Any, address: str) -> Iterator[Any]:
    """Yield the first chart of a model's page, drawn: throughput of several frameworks on one and on more devices."""
    page.goto(address + MODEL)
    figure = page.locator("figure.pl-chart").first
    figure.scroll_into_view_if_needed()
    figure.locator(".pl-drawn svg").wait_for()
    return figure


def test_the_script_and_the_picture_write_the_same_numbers_and_ticks(chart: Any, page: Any) -> None:
    assert page.evaluate("all => all.map(plChart.shortened)", [each for each, _ in WRITTEN]) == [
        shortened(each) for each, _ in WRITTEN
    ]
    spans = [(0, 415), (74.3, 100), (5, 5), (0, 0), (0, 0.0031), (0, 1_265_000)]
    drawn = page.evaluate("all => all.map(each => plChart.nice(...each))", spans)
    assert drawn == [pytest.approx(nice(*each)) for each in spans]
    still, live = (
        {each for each in chart.locator(kind).all_text_contents() if each.strip()}
        for kind in (":scope > svg text", ".pl-drawn svg text")
    )
    assert still == live


def test_a_mark_is_pointed_at_and_reached_by_keyboard_and_leads_to_its_run(chart: Any, page: Any) -> None:
    mark = chart.locator("a.pl-mark[href]").first
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


def test_the_legend_hides_series_with_the_keyboard_and_leaves_one(chart: Any, page: Any) -> None:
    buttons = chart.locator(".pl-legend")
    before = chart.locator(".pl-mark").count()
    buttons.first.focus()
    page.keyboard.press("Space")
    assert buttons.first.get_attribute("aria-pressed") == "false"
    assert 0 < chart.locator(".pl-mark").count() < before
    for at in range(1, buttons.count()):
        buttons.nth(at).click()
    assert [each.get_attribute("aria-pressed") for each in buttons.all()].count("true") == 1
    buttons.first.click()
    assert buttons.first.get_attribute("aria-pressed") == "true"


def test_a_chart_is_saved_as_picture_and_as_table(chart: Any, page: Any) -> None:
    files = {}
    for kind in ("SVG", "CSV"):
        with page.expect_download() as waiting:
            chart.locator(f".pl-save:text('{kind}')").click()
        files[kind] = Path(waiting.value.path()).read_text("utf-8")
        assert waiting.value.suggested_filename.endswith(f".{kind.lower()}")
    root = ET.fromstring(files["SVG"])
    assert "var(" not in files["SVG"]
    assert "currentColor" not in files["SVG"]
    texts = {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts == set(chart.locator(".pl-drawn svg text").all_text_contents())
    rows = list(csv.DictReader(files["CSV"].splitlines()))
    assert len(rows) == chart.locator(".pl-mark").count()
    assert {row["unit"] for row in rows} == {"images/s per device"}
    assert all(float(row["value"]) > 0 for row in rows)


def test_a_trace_is_read_record_by_record_with_the_keyboard(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address + "runs/resnet50-stalled-1/")
    figure = page.locator("figure.pl-chart").first
    figure.scroll_into_view_if_needed()
    area = figure.locator("[role=slider]")
    area.focus()
    page.keyboard.press("Home")
    first = area.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert area.get_attribute("aria-valuetext") != first
    assert figure.locator(".pl-tip").inner_text().split("\n")[0] in area.get_attribute("aria-valuetext")
    assert figure.locator(".pl-noted").count() == 1
    assert "below the median" in str(figure.locator(".pl-noted").text_content())


def test_without_scripts_the_picture_is_shown(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    opened = context.new_page()
    opened.goto(address + MODEL)
    for figure in opened.locator("figure.pl-chart").all():
        assert figure.locator(":scope > svg").is_visible()
    context.close()
