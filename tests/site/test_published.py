"""A site as a publisher gives it away: with its name and colours, read from the disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks import hook
from tests.site import markup
from tests.site.kinds import LOGO, REPOSITORY
from tests.site.traced import STATED

Visit = Callable[..., Any]


def results_of(site: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((site / "data" / "results.json").read_text("utf-8"))["results"]
    return found


def address(site: Path, path: str) -> str:
    return f"{site.as_uri()}/{path}"


@pytest.mark.parametrize(("language", "asked"), [("", "contradictions"), ("zh/", "预热")])
def test_a_site_opened_from_the_disk_is_searched_compares_and_lists_runs(
    visit: Visit, published: Path, language: str, asked: str
) -> None:
    page = visit(address(published, f"{language}index.html"))
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").fill(asked)
    page.locator("input.md-search__input").press("End")
    page.wait_for_selector(".md-search-result__item a")
    choice = "axis=devices&model=resnet50&precision=fp32&batch=64&framework=PyTorch"
    page.goto(address(published, f"{language}compare.html?{choice}"))
    page.wait_for_selector("#pl-compare tbody tr")
    known = [
        each["text"]
        for each in sorted(results_of(published), key=lambda each: each["devices"])
        if (each["suite"], each["framework"], each["precision"], each["batch_size"])
        == ("resnet50", "PyTorch", "fp32", 64)
        and each["origin"] == "measured"
        and each["hardware"].startswith("Test")
    ]
    figures = page.locator("#pl-compare tbody .pl-n a").all_inner_texts()
    assert [each for each in figures if each in known] == known != []
    page.locator(".pl-chips [data-name=precision] button[value=half]").click()
    page.locator("#pl-compare tbody tr[data-id]").first.locator(".pl-n a").click()
    page.wait_for_url("**/runs/resnet50-pytorch-n1d1-amp-*.html")
    assert page.locator("article h1").count() == 1
    page.go_back()
    page.wait_for_selector("#pl-compare caption a")
    page.locator("#pl-compare caption a").click()
    page.wait_for_url("**/models/resnet50/index.html")
    page.goto(address(published, f"{language}runs/index.html?text=stalled"))
    page.wait_for_selector("#pl-explore-table[aria-busy=false]")
    page.locator("#pl-explore-table .tabulator-cell a").click()
    page.wait_for_url("**/runs/resnet50-stalled-1.html")
    assert "/zh/" not in page.url or language
    page.goto(address(published, f"{language}runs/index.html?run=resnet50-tensorflow-n1d1-fp32-2"))
    page.wait_for_selector("#pl-explore-run[open]")
    assert page.locator(".pl-slug").inner_text() == "resnet50-tensorflow-n1d1-fp32-2"
    page.locator("#pl-explore-run a", has_text="ResNet-50").click()
    page.wait_for_url(f"**/{language}models/resnet50/index.html")


def test_data_are_scripts_only_for_reading_from_the_disk(whole: Path, published: Path) -> None:
    script = (published / "data" / "results.js").read_text("utf-8")
    data = json.loads(script.removeprefix("window.perfledger_results = ").rstrip().removesuffix(";"))
    assert data["results"] == results_of(whole)
    assert not (whole / "data" / "results.js").exists()
    assert not list((whole / "data" / "explorer").glob("*.js"))


def test_a_publisher_has_a_name_a_logo_colors_and_a_footer_of_their_own(published: Path) -> None:
    for language, line in (("", "Run by the lab."), ("zh/", "由实验室运营。")):
        page = (published / language / "runs" / "index.html").read_text("utf-8")
        assert "- Example & Lab</title>" in page or "- Example &amp; Lab</title>" in page
        assert "assets/publisher.svg" in page
        (footer,) = markup.parsed(page).elements("footer")
        for said in (line, "Example & Lab", "Perfledger"):
            assert said in footer.text()
        assert page.index("assets/css/all.css") < page.index("assets/css/publisher.css")
    assert (published / "assets" / "publisher.svg").read_text("utf-8") == LOGO
    assert (published / "assets" / "css" / "publisher.css").read_text("utf-8") == hook("identity").stylesheet("#ffd400")


def test_lines_of_committed_logs_are_shown_on_our_page(visit: Visit, published: Path) -> None:
    page = visit(address(published, "zh/runs/bert-pytorch-golden-1.html"))
    assert page.locator(f".md-header a[href='{REPOSITORY}']").count() == 1
    links = page.eval_on_selector_all("article a", "all => all.map(each => each.getAttribute('href'))")
    log = "../../logs/bert-pytorch-golden-1.html"
    assert {f"{log}#L{line}" for line, _ in STATED.values()} <= set(links)
    page.locator(".pl-proof a[href*='#L']").first.click()
    assert page.locator(".pl-log span.w").count() > 0
