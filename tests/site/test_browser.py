"""The site in a real browser: language, figures and their runs, search, width and requests."""

from __future__ import annotations

import re
from typing import Any

import pytest


def heading(page: Any) -> str:
    return str(page.locator("article h1").inner_text()).rstrip("¶").strip()


def test_the_language_switch_lands_on_the_same_page(page: Any, address: str) -> None:
    page.goto(address)
    assert page.locator('.md-select a[hreflang="zh"]').get_attribute("href") == "zh/"
    page.goto(address + "models/resnet50/")
    page.locator(".md-select button").hover()
    page.locator('.md-select a[hreflang="zh"]').click()
    page.wait_for_url("**/zh/models/resnet50/")
    assert page.locator("html").get_attribute("lang") == "zh"
    assert "测试说明" in page.locator("article").inner_text()


def test_a_figure_leads_to_its_run_and_back(page: Any, address: str) -> None:
    page.goto(address)
    figure = page.locator("article .pl-bars .pl-value a", has_text=re.compile(r"^402$")).first
    figure.click()
    page.wait_for_url("**/runs/resnet50-pytorch-n1d1-fp32-*/")
    assert heading(page).startswith("resnet50-pytorch-n1d1-fp32-")
    assert "12–43" in page.locator("article").inner_text()
    page.locator("article a", has_text="ResNet-50 v1.5").first.click()
    page.wait_for_url("**/models/resnet50/")
    assert heading(page) == "ResNet-50 v1.5"


@pytest.mark.parametrize(
    ("start", "query", "found"),
    [("", "contradictions", "Method"), ("zh/", "预热", "测试方法"), ("zh/", "混合精度", "")],
)
def test_the_search_finds_words_of_both_languages(page: Any, address: str, start: str, query: str, found: str) -> None:
    page.goto(address + start)
    page.wait_for_load_state("networkidle")  # the search listens once its index has come
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").fill(query)
    page.keyboard.press("End")  # the theme\'s search listens to keys
    page.locator("input.md-search__input").press("End")  # the theme listens to keys, as an input method sends them
    page.wait_for_selector(".md-search-result__item a")
    assert found in page.locator(".md-search-result__list").inner_text()


@pytest.mark.parametrize(
    "path",
    ["", "zh/", "models/resnet50/", "zh/runs/", "runs/resnet50-stalled-1/", "zh/method/", "formats/", "zh/data/"],
)
def test_no_page_is_wider_than_a_phone(browser: Any, address: str, path: str) -> None:
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto(address + path)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_ink_of_charts_follows_the_theme(browser: Any, address: str, scheme: str) -> None:
    opened = browser.new_page(color_scheme=scheme)
    opened.goto(address + "runs/resnet50-stalled-1/")
    ink = opened.locator("figure svg text").first.evaluate("node => getComputedStyle(node).fill")
    red = int(re.findall(r"\d+", ink)[0])
    assert (red > 128) == (scheme == "dark")
    opened.close()


@pytest.mark.parametrize("path", ["runs/resnet50-stalled-1/", "models/resnet50/", "zh/models/resnet50/"])
def test_no_label_of_a_chart_is_cut(page: Any, address: str, path: str) -> None:
    """The browser's letters are wider than those that the drawing was measured with."""
    page.goto(address + path)
    cut = page.evaluate(
        """[...document.querySelectorAll("figure.pl-figure")].flatMap(figure => {
          const svg = figure.querySelector("svg"), drawn = svg.getBoundingClientRect();
          const room = getComputedStyle(svg).overflow === "visible" ? figure.getBoundingClientRect() : drawn;
          return [...svg.querySelectorAll("text")].filter(text => {
            const box = text.getBoundingClientRect();
            return box.right > room.right + 0.5 || box.left < room.left - 0.5;
          }).map(text => text.textContent);
        })"""
    )
    assert page.locator("figure.pl-figure svg text").count() > 5
    assert cut == []
