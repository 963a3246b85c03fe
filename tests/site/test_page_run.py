"""The pages of a run and of its log in a browser: from a figure to the lines of its log, and its chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.site.traced import BERT, EVIL, STATED

Visit = Callable[..., Any]
LANGUAGES = {"en": "", "zh": "zh/"}
WIDE = {"wide": 1280, "high": 900}


def text_of(page: Any, line: int) -> str:
    return str(page.locator(f".pl-log #L{line}").text_content())


def marked(page: Any) -> list[int]:
    """Return the lines that the page's address names, once its script has marked them."""
    page.wait_for_selector(".pl-log-marked", state="attached")
    return [int(each[1:]) for each in page.eval_on_selector_all(".pl-log-marked", "all => all.map(each => each.id)")]


def seen(page: Any, line: int) -> bool:
    """Return whether a line is visible in the window."""
    box = page.locator(f"#L{line}").bounding_box()
    return bool(0 <= box["y"] < 900)


@pytest.mark.parametrize(("language", "fact"), list(zip(LANGUAGES, STATED, strict=True)))
def test_a_figure_leads_to_the_lines_of_its_window_and_a_fact_to_the_line_that_states_it(
    visit: Visit, home: str, language: str, fact: str
) -> None:
    page = visit(f"{home}{LANGUAGES[language]}models/deeplabv3p/", **WIDE)
    page.locator("article td a[href*='runs/seg-paddle-']:visible").first.click()
    page.wait_for_url("**/runs/seg-paddle-*/")
    page.goto(f"{home}{LANGUAGES[language]}runs/seg-paddle-long-1/")
    window = page.locator(".pl-proof a[href*='#L']").first
    assert window.inner_text() == {"en": "lines 801–4,000", "zh": "第 801–4,000 行"}[language]
    window.click()
    page.wait_for_url("**/logs/seg-paddle-long-1.html#L801-L4000")
    assert seen(page, 801)
    assert "iter: 8010/99999" in text_of(page, 801)
    assert "iter: 40000/99999" in text_of(page, 4000)
    assert (marked(page)[0], marked(page)[-1]) == (801, 4000)
    assert "○" in page.evaluate("getComputedStyle(document.getElementById('L800'), '::before').content")
    assert "●" in page.evaluate("getComputedStyle(document.getElementById('L801'), '::before').content")
    gaps = page.locator(".pl-log-gap").all_inner_texts()
    assert gaps[0].startswith("Lines 121 to ")
    assert "第 121 至 " in gaps[0]
    # The clock's witness begins one line before the window.
    assert any(" to 787 are omitted." in each and each.endswith(" 至 787 行略去。") for each in gaps)
    line, printed = STATED[fact]
    page.goto(f"{home}{LANGUAGES[language]}runs/bert-pytorch-golden-1/")
    link = page.locator(f"#facts ~ * a[href$='#L{line}']").first
    assert link.inner_text() == {"en": f"line {line}", "zh": f"第 {line} 行"}[language]
    link.click()
    page.wait_for_url(f"**/logs/*.html#L{line}")
    assert marked(page) == [line]
    assert printed in text_of(page, line)
    assert printed in BERT.read_text("utf-8").split("\n")[line - 1]


def test_a_click_on_a_number_makes_an_address_for_the_line_and_with_shift_for_several(visit: Visit, home: str) -> None:
    page = visit(f"{home}logs/seg-paddle-bars-1.html", **WIDE)
    page.locator("#L4").click(position={"x": 8, "y": 5})
    assert page.url.endswith("#L4")
    page.locator("#L9").click(position={"x": 8, "y": 5}, modifiers=["Shift"])
    assert page.url.endswith("#L4-L9")
    assert marked(page) == [4, 5, 6, 7, 8, 9]
    page.locator("#L6").click(position={"x": 300, "y": 5})
    assert page.url.endswith("#L4-L9")
    plain = visit(f"{home}logs/seg-paddle-long-1.html#L801-L4000", **WIDE, java_script_enabled=False)
    assert seen(plain, 801), "a link lands on its line without scripts, too"
    assert plain.locator("#L801:has(> i:target)").count() == 1


def test_an_outcome_leads_to_its_line_and_a_hostile_log_stays_text(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/runs/seg-paddle-hostile-1/", **WIDE)
    page.locator(".pl-signs .pl-bad a[href$='#L34']").click()
    assert "cudaErrorMemoryAllocation" in text_of(page, 34)
    assert marked(page) == [34]
    assert text_of(page, 1) == text_of(page, 32) == f"{EVIL}\n"
    assert page.locator(".pl-log").locator("script, img, a").count() == 0
    assert page.locator(".pl-log").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_phone_shows_a_log_as_the_file_has_it_and_a_trace_record_by_record(visit: Visit, home: str) -> None:
    page = visit(f"{home}logs/seg-paddle-bars-1.html", wide=390, high=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert text_of(page, 16) == "a bar\nof a run\nthat wrote over itself\n"
    assert "iter: 160/99999" in text_of(page, 17)
    page.goto(f"{home}runs/resnet50-stalled-1/")
    figure = page.locator("figure.pl-chart").first
    figure.scroll_into_view_if_needed()
    area = figure.locator("[role=slider]:visible")
    area.focus()
    page.keyboard.press("Home")
    first = area.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert area.get_attribute("aria-valuetext") != first
    assert figure.locator(".pl-tip").inner_text().split("\n")[0] in area.get_attribute("aria-valuetext")
    assert "slowest at step 21, 93% below the median" in str(figure.locator("figcaption").text_content())
    assert figure.locator(".pl-mark:visible").count() == 4  # slow records
