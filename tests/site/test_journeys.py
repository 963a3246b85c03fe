"""What readers come for, from the first screen on: an engineer, a reader on a phone, and a reader of Chinese.

The site holds twenty of our own runs: ResNet-50 by four frameworks on one machine, five runs each. The way of those
who publish, from the front page to a badge, is among the tests of their pages.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest import cli
from tests.site.conftest import ROOT, html, served

CASE = "cpu-n1d1-bs32-fp32-threads-2"
FRAMEWORKS = ("jax", "mxnet", "pytorch", "tensorflow")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("journeys")
    for framework in FRAMEWORKS:
        below = Path("raw_logs") / "resnet50" / framework / CASE
        shutil.copytree(ROOT / below, folder / below)
    assert cli.main([str(folder / "raw_logs"), "--out", str(folder / "docs")]) == 0
    with served(html(folder), tmp_path_factory.mktemp("served-journeys")) as address:
        yield address


def reader(browser: Any, width: int, height: int, **more: Any) -> Any:
    return browser.new_context(viewport={"width": width, "height": height}, **more).new_page()


def test_an_engineer_gets_from_the_answer_to_the_log_line_in_two_clicks(browser: Any, start: str) -> None:
    page = reader(browser, 1440, 900)
    page.goto(start)
    row = page.locator(".pl-row:visible")
    assert row.count() == 1
    assert row.bounding_box()["y"] < 600, "the answer is on the first screen"
    sure = row.locator(".pl-sure").inner_text()
    assert "Too close to call" in sure
    assert "PyTorch" in sure
    assert re.search(r"0\.\d\d–1\.\d\d×", sure)
    page.locator("select[name=precision]").select_option("fp32")
    assert "precision=fp32" in page.url
    row.locator("button").press("Enter")
    assert "MXNet varies by" in page.locator(".pl-why:visible").inner_text()
    best = row.locator("td", has_text="100").first.locator("a")
    best.click()
    page.wait_for_url("**/runs/resnet50-mxnet-*/")
    assert "MXNet" in page.locator("h1").inner_text()
    page.locator(".pl-proof").get_by_role("link", name=re.compile(r"^lines \d+–\d+")).first.click()
    page.wait_for_url("**/log/#L*")
    line = re.search(r"#L(\d+)", page.url)
    assert line
    assert "Speed" in page.locator(f"#L{line[1]}").inner_text()
    page.context.close()


@pytest.mark.parametrize(("language", "too_close"), [("", "Too close to call"), ("zh/", "差距不明显")])
def test_on_a_phone_the_answer_is_on_the_first_screen_and_nothing_hangs_over(
    browser: Any, start: str, language: str, too_close: str
) -> None:
    page = reader(browser, 390, 844, has_touch=True, is_mobile=True)
    page.goto(start + language)
    sure = page.locator(".pl-sure:visible").first
    assert too_close in sure.inner_text()
    assert sure.bounding_box()["y"] < 844
    page.locator(".pl-row:visible th a").first.click()
    page.wait_for_url("**/models/resnet50/?hardware=*")
    page.get_by_role("tab").nth(2).click()
    for address in (start + language, page.url):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_a_reader_of_chinese_finds_a_model_by_search_and_a_term_in_the_glossary(browser: Any, start: str) -> None:
    page = reader(browser, 1440, 900, locale="zh-CN")
    page.goto(f"{start}zh/")
    page.locator(".md-search__input").click()
    page.keyboard.type("ResNet")
    hit = page.locator(".md-search-result__item a").first
    hit.wait_for(state="attached")
    assert "/zh/models/resnet50/" in hit.evaluate("link => link.href")
    hit.evaluate("link => link.click()")
    page.wait_for_url("**/zh/models/resnet50/**")
    page.goto(f"{start}zh/method/")
    page.locator("a[href$='glossary/']:visible").first.click()
    page.wait_for_url("**/zh/glossary/")
    row = page.locator("tr", has=page.locator("th", has_text="加速比")).first
    assert "单" in row.inner_text()
    page.context.close()
