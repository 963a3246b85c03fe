"""Journeys of readers from the first screen on: an engineer, a sceptic, one on a phone, one of Chinese, a vendor.

These five are the browser's part of the quick tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Visit = Callable[..., Any]
WIDE = {"wide": 1440, "high": 900}


def test_an_engineer_gets_from_the_answer_to_the_log_line_in_two_clicks(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    row = page.locator(".pl-row:visible").first
    assert row.bounding_box()["y"] < 700, "the answer is on the first screen"
    sure = row.locator(".pl-sure").inner_text()
    assert "Too close" in sure
    assert "PyTorch" in sure
    assert re.search(r"1\.\d\d–1\.\d\d×", sure)
    page.locator(".pl-chips fieldset[data-name=precision] button[value=fp32]").click()
    assert "precision=fp32" in page.url
    row.locator("button").press("Enter")
    assert page.locator(".pl-why:visible .pl-marks li").count() > 0
    row.locator("td", has_text="100").first.locator("a").first.click()
    page.wait_for_url("**/runs/resnet50-paddlepaddle-*/")
    assert "PaddlePaddle" in page.locator("h1").inner_text()
    page.locator(".pl-proof").get_by_role("link", name=re.compile(r"^lines \d+–\d+")).first.click()
    page.wait_for_url("**/logs/*.html#L*")
    line = re.search(r"#L(\d+)", page.url)
    assert line
    assert "ips: " in page.locator(f"#L{line[1]}").inner_text()


def test_a_sceptic_gets_from_the_front_page_to_a_published_value_and_its_log(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE)
    page.locator(".pl-audit-card a", has_text="not supported").click()
    page.wait_for_url("**/audit/?verdict=not_supported")
    row = page.locator(".pl-audit tbody tr:visible")
    assert row.count() == 1
    assert row.bounding_box()["y"] < 900, "the row is on the first screen"
    assert row.locator("td").nth(0).inner_text().startswith("450.25")
    assert row.locator("td").nth(2).inner_text().strip() == "−10.8%"
    row.locator("td").nth(1).locator("a").first.click()
    page.wait_for_url("**/runs/resnet50-pytorch-*/")
    assert "401.6" in page.locator(".pl-headline").inner_text()


def test_on_a_phone_the_answer_is_on_the_first_screen_and_nothing_is_too_wide(visit: Visit, home: str) -> None:
    page = visit("about:blank", wide=390, high=844, has_touch=True, is_mobile=True)
    for language, too_close in (("", "Too close"), ("zh/", "差距不明显")):
        page.goto(home + language)
        card = page.locator(".pl-cards:visible li").first.bounding_box()
        assert card["y"] + card["height"] < 844
        assert too_close in page.locator(".pl-sure:visible").first.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".pl-row:visible th a").first.click()
    page.wait_for_url("**/models/resnet50/?hardware=*")
    page.get_by_role("tab").nth(2).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_reader_of_chinese_finds_a_model_by_search_and_a_term_in_the_glossary(visit: Visit, home: str) -> None:
    page = visit(f"{home}zh/", **WIDE, locale="zh-CN")
    page.locator(".md-search__input").click()
    page.keyboard.type("ResNet")
    hit = page.locator(".md-search-result__item a").first
    hit.wait_for(state="attached")
    assert "/zh/models/resnet50/" in hit.evaluate("link => link.href")
    hit.evaluate("link => link.click()")
    page.wait_for_url("**/zh/models/resnet50/**")
    page.goto(f"{home}zh/method/")
    page.locator("a[href$='glossary/']:visible").first.click()
    page.wait_for_url("**/zh/glossary/")
    row = page.locator("tr", has=page.locator("th", has_text="加速比")).first
    assert "单" in row.inner_text()


def test_a_vendor_finds_the_page_and_copies_a_badge(visit: Visit, home: str) -> None:
    page = visit(home, **WIDE, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".md-sidebar--primary a", has_text="Frameworks").first.click()
    page.wait_for_url("**/frameworks/")
    page.locator("article table a", has_text="PyTorch").first.click()
    page.wait_for_url("**/frameworks/pytorch/")
    drawn = page.locator("article img[src$='.svg']").first
    drawn.scroll_into_view_if_needed()
    assert drawn.evaluate("each => each.decode().then(() => each.naturalWidth)") > 100
    badge = page.locator("pre", has_text="data/badges/").first
    badge.hover()
    badge.locator("button").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("[![")
    assert "](https://example.org/sub/data/badges/" in copied
    assert "](https://example.org/sub/runs/" in copied
