"""Journeys of readers from the first screen on, each with the number of interactions that it takes.

Those on the made-up site are the browser's part of the quick tests. The others need published results with their logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

Visit = Callable[..., Any]
WIDE = {"wide": 1440, "high": 900}
#: Height of the first screen, in pixels.
SCREEN = WIDE["high"]
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@dataclass
class Reader:
    """Someone who reads a page; `interactions` counts clicks, keys, and texts that were typed."""

    page: Any
    interactions: int = 0

    def click(self, target: Any) -> None:
        """Click something."""
        self.interactions += 1
        target.click()

    def press(self, target: Any, key: str) -> None:
        """Press a key on something."""
        self.interactions += 1
        target.press(key)

    def first_hit(self, query: str) -> str:
        """Search for a text, and return the address of the first result."""
        self.interactions += 1
        self.page.locator(".md-search__input").fill(query)
        hit = self.page.locator(f".md-search-result__item a[href*='h={quote(query.split()[-1].upper())}']").first
        hit.wait_for(state="attached")
        return str(hit.evaluate("link => new URL(link.href).pathname"))

    def sees_at_once(self, target: Any) -> bool:
        """Return whether something is on the screen before anything is scrolled."""
        box = target.bounding_box()
        return bool(box and box["y"] >= 0 and box["y"] + box["height"] <= SCREEN)


def test_an_engineer_gets_from_the_answer_to_the_log_line_in_two_clicks(visit: Visit, home: str) -> None:
    reader = Reader(visit(home, **WIDE))
    page = reader.page
    row = page.locator(".pl-row:visible").first
    assert row.bounding_box()["y"] < 700, "the answer is on the first screen"
    sure = row.locator(".pl-sure").inner_text()
    assert "Too close" in sure
    assert "PyTorch" in sure
    assert re.search(r"1\.\d\d–1\.\d\d×", sure)
    reader.click(page.locator(".pl-chips fieldset[data-name=precision] button[value=fp32]"))
    assert "precision=fp32" in page.url
    reader.press(row.locator("button"), "Enter")
    assert page.locator(".pl-why:visible .pl-marks li").count() > 0
    assert reader.interactions == 2, "a choice, and its reasons"
    reader.click(row.locator("td", has_text="100").first.locator("a").first)
    page.wait_for_url("**/runs/resnet50-paddlepaddle-*/")
    assert "PaddlePaddle" in page.locator("h1").inner_text()
    reader.click(page.locator(".pl-proof").get_by_role("link", name=re.compile(r"^lines \d+–\d+")).first)
    page.wait_for_url("**/logs/*.html#L*")
    line = re.search(r"#L(\d+)", page.url)
    assert line
    assert "ips: " in page.locator(f"#L{line[1]}").inner_text()
    assert reader.interactions == 4


def test_a_sceptic_gets_from_the_front_page_to_a_published_value_and_its_log(visit: Visit, home: str) -> None:
    reader = Reader(visit(home, **WIDE))
    page = reader.page
    reader.click(page.locator(".pl-audit-card a", has_text="not supported"))
    page.wait_for_url("**/audit/?verdict=not_supported")
    row = page.locator(".pl-audit tbody tr:visible")
    assert row.count() == 1
    assert row.bounding_box()["y"] < 900, "the row is on the first screen"
    assert row.locator("td").nth(0).inner_text().startswith("450.25")
    assert row.locator("td").nth(2).inner_text().strip() == "−10.8%"
    reader.click(row.locator("td").nth(1).locator("a").first)
    page.wait_for_url("**/runs/resnet50-pytorch-*/")
    assert "401.6" in page.locator(".pl-headline").inner_text()
    assert reader.interactions == 2


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
    reader = Reader(visit(home, **WIDE, permissions=CLIPBOARD))
    page = reader.page
    reader.click(page.locator(".md-sidebar--primary a", has_text="Frameworks").first)
    page.wait_for_url("**/frameworks/")
    reader.click(page.locator("article table a", has_text="PyTorch").first)
    page.wait_for_url("**/frameworks/pytorch/")
    drawn = page.locator("article img[src$='.svg']").first
    drawn.scroll_into_view_if_needed()
    assert drawn.evaluate("each => each.decode().then(() => each.naturalWidth)") > 100
    badge = page.locator("pre", has_text="data/badges/").first
    badge.hover()
    reader.click(badge.locator("button"))
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("[![")
    assert "](https://example.org/sub/data/badges/" in copied
    assert "](https://example.org/sub/runs/" in copied
    assert reader.interactions == 3


def test_a_report_shows_what_its_source_shows_with_verdicts_and_a_command_to_copy(visit: Visit, real_home: str) -> None:
    reader = Reader(visit(real_home, **WIDE, permissions=CLIPBOARD))
    page = reader.page
    reader.click(page.locator(".md-tabs a", has_text="Published by others"))
    page.wait_for_url("**/reports/")
    reader.click(page.locator("article a[href$='perf-resnet50/']").first)
    page.wait_for_url("**/reports/perf-resnet50/")
    figures = page.locator("article table:not(details *)")
    assert figures.count() > 8
    assert all(each.is_visible() for each in figures.all()), "only the recipes are folded"
    command = page.locator("pre", has_text="docker pull").first
    assert "paddlepaddle/paddle-benchmark" in command.inner_text()
    command.hover()
    reader.click(command.locator("button"))
    assert page.evaluate("navigator.clipboard.readText()").startswith("docker pull ")
    far = page.locator("td:visible", has_text="1,438.518").locator("a.pl-verdict").first
    assert far.inner_text() == "−0.7%"
    reader.click(far)
    page.wait_for_url("**/audit/#figure-*")
    row = page.locator("tr", has=page.locator(f"[id='{page.url.partition('#')[2]}']"))
    assert reader.sees_at_once(row)
    assert "1,438.518" in row.inner_text()
    assert reader.interactions == 4


def test_the_front_page_opens_with_results_and_the_audit_on_its_first_screen(visit: Visit, real_home: str) -> None:
    reader = Reader(visit(real_home, **WIDE))
    cards = reader.page.locator(".pl-cards:visible li")
    assert all(map(reader.sees_at_once, cards.all()))
    assert any(re.search(r"\d+% of peak · ±[\d.]+% · \d+ runs", each) for each in cards.all_inner_texts())
    audit = reader.page.locator(".pl-facts-line a", has_text="recomputed from their logs")
    assert reader.sees_at_once(audit)
    assert reader.page.locator(".pl-audit-card .pl-deviations").is_visible()
    assert reader.interactions == 0
    reader.click(audit)
    reader.page.wait_for_url("**/audit/")


def test_hardware_search_and_comparison_begin_where_the_reader_is(visit: Visit, real_home: str) -> None:
    reader = Reader(visit(real_home, **WIDE))
    page = reader.page
    first = page.locator(".pl-chips fieldset[data-name=hardware] [aria-pressed=true]").get_attribute("value")
    reader.click(page.locator(".md-sidebar--primary a", has_text="Hardware").first)
    page.wait_for_url("**/hardware/**")
    assert page.locator(".pl-sheet:visible tbody tr").first.get_attribute("data-hardware") == first == "H200"
    assert reader.first_hit("V100 amp").endswith("/models/bert/")
    assert reader.first_hit("飞桨").endswith("/models/bert/")
    page.goto(real_home)
    chosen = "plChips.choice.hardware"
    reader.click(page.locator(".md-tabs a", has_text="Compare"))
    page.wait_for_url("**/compare/?**")
    assert page.evaluate(chosen) == first
    page.go_back()
    other = page.locator(".pl-chips fieldset[data-name=hardware] button", has_text="Turin")
    reader.click(page.locator(".pl-chips fieldset[data-name=hardware] summary"))
    value = other.get_attribute("value")
    reader.click(other)
    reader.click(page.locator(".md-tabs a", has_text="Compare"))
    page.wait_for_url("**/compare/?**hardware=AMD*")
    assert page.evaluate(chosen) == value
    assert reader.interactions == 7
    page.goto(f"{real_home}compare/?hardware=V100-SXM2-32GB")
    assert page.evaluate(chosen) == "V100-SXM2-32GB", "hardware that only others measured"
