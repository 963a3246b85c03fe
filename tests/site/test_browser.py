"""The site in a real browser: language, figures and their runs, search, width and requests."""

from __future__ import annotations

import re
from typing import Any

import pytest


def heading(page: Any) -> str:
    return str(page.locator("article h1").inner_text()).rstrip("¶").strip()


def test_the_language_switch_lands_on_the_same_page(page: Any, address: str) -> None:
    page.goto(address)
    assert page.locator('.md-select a[hreflang="zh"]').evaluate("link => link.href") == f"{address}zh/"
    page.goto(address + "models/resnet50/")
    page.locator(".md-select button").hover()
    page.locator('.md-select a[hreflang="zh"]').click()
    page.wait_for_url("**/zh/models/resnet50/")
    assert page.locator("html").get_attribute("lang") == "zh"
    assert "最快框架" in page.locator("article").inner_text()


def test_a_figure_leads_to_its_run_and_back(page: Any, address: str) -> None:
    page.goto(address)
    figure = page.locator("article .pl-share[data-text^='402 '] a").first
    figure.click()
    page.wait_for_url("**/runs/resnet50-pytorch-n1d1-fp32-*/")
    assert heading(page).startswith("PyTorch, ResNet-50 v1.5, 1 × ")
    assert "12–43" in page.locator("article").inner_text()
    page.locator("article a", has_text="ResNet-50 v1.5").first.click()
    page.wait_for_url("**/models/resnet50/")
    assert heading(page) == "ResNet-50 v1.5"


@pytest.mark.parametrize(
    ("language", "searched"),
    [
        ("", {"contradictions": "/method/", "BERT": "/models/bert/"}),
        (
            "zh/",
            {
                "预热": "/zh/method/",
                "可比程度": "/zh/compare/",
                "加速比": "/zh/method/",
                "扩展性": "/zh/models/resnet50/",
            },
        ),
    ],
)
def test_the_search_finds_words_on_pages_of_the_readers_language_and_leads_there(
    page: Any, address: str, language: str, searched: dict[str, str]
) -> None:
    page.goto(address + language, wait_until="networkidle")  # the search listens once its index has come
    field = page.locator("input.md-search__input")
    field.click()
    for query, found in searched.items():
        field.fill(query)
        field.press("End")  # the theme listens to keys, as an input method sends them
        page.wait_for_selector(f".md-search-result__item a[href*='{found}']", state="attached")
        links = page.locator(".md-search-result__item a").evaluate_all("all => all.map(each => each.href)")
        assert all(each.startswith(address + language) for each in links)
        assert language or not any("/zh/" in each for each in links)
    # Not by the mouse: the list moves while it unfolds.
    page.locator(".md-search-result__item a").first.evaluate("link => link.click()")
    page.wait_for_url("**/*?h=*")
    assert page.locator("article h1").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_ink_of_charts_follows_the_theme(browser: Any, address: str, scheme: str) -> None:
    opened = browser.new_page(color_scheme=scheme)
    opened.goto(address + "runs/resnet50-stalled-1/")
    opened.locator(".pl-drawn svg").wait_for()
    # The picture for print, too, which is hidden while the other is shown.
    for kind in ("figure > svg text", "figure .pl-drawn text"):
        ink = opened.locator(kind).first.evaluate("node => getComputedStyle(node).fill")
        red = int(re.findall(r"\d+", ink)[0])
        assert (red > 128) == (scheme == "dark")
    opened.close()


CUT = """() => [...document.querySelectorAll("figure.pl-chart")].flatMap(figure => {
  const room = figure.getBoundingClientRect();
  return [...figure.querySelectorAll("svg text")].filter(text => text.getClientRects().length).filter(text => {
    const box = text.getBoundingClientRect();
    return box.right > room.right + 1 || box.left < room.left - 1;
  }).map(text => text.textContent);
})"""


@pytest.mark.parametrize("wide", [390, 1280])
@pytest.mark.parametrize("path", ["runs/resnet50-stalled-1/", "models/resnet50/", "zh/models/resnet50/"])
def test_no_label_of_a_chart_is_cut_and_none_scrolls(page: Any, address: str, path: str, wide: int) -> None:
    """A browser's letters may be wider than those by which the drawing was laid out."""
    page.set_viewport_size({"width": wide, "height": 6000})
    page.goto(address + path)
    # Those in tabs that are not chosen are drawn when they are shown.
    shown = "all => all.forEach(each => { while (each.closest('[hidden]')) each.closest('[hidden]').hidden = false })"
    page.locator("figure.pl-chart").evaluate_all(shown)
    for each in page.locator("figure.pl-chart").all():
        each.locator(".pl-drawn svg").wait_for()
    assert page.locator(".pl-drawn svg text").count() > 5
    assert page.evaluate(CUT) == []
    scrolls = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator("figure.pl-chart").evaluate_all(scrolls) == 0
    page.emulate_media(media="print")
    assert page.locator("figure.pl-chart > svg:visible").count() == page.locator("figure.pl-chart").count()
    assert not page.locator(".pl-live:visible").count()
