"""The search in a real browser: what it finds first, when it loads its index, and the way to the other language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import served

INDEX = "search/search_index.json"


@pytest.fixture(scope="module")
def searched(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(real, tmp_path_factory.mktemp("searched")) as address:
        yield address


@pytest.fixture
def reader(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    yield opened
    opened.close()


def ask(reader: Any, query: str) -> None:
    """Ask for the whole query at once: typed letter by letter, the results of its beginning may be read for its own."""
    asked = reader.locator(".md-search__input")
    asked.click()
    asked.fill(query)
    asked.press("End")  # the search listens to keys that are let go


def first_hit(reader: Any, address: str, query: str) -> str:
    reader.goto(address)
    ask(reader, query)
    reader.wait_for_selector(".md-search-result__item a", state="attached")
    found: str = reader.locator(".md-search-result__item a").first.evaluate("link => new URL(link.href).pathname")
    return found


@pytest.mark.parametrize(
    ("language", "query", "page"),
    [
        ("", "ResNet-50 v1.5", "models/resnet50/"),
        ("", "resnet-50", "models/resnet50/"),
        ("", "resnet50", "models/resnet50/"),
        ("", "bert", "models/bert/"),
        ("", "deeplab", "models/deeplabv3p/"),
        ("", "gpt", "models/gpt/"),
        ("", "wide deep", "models/wide_deep/"),
        ("", "sustained", "method/"),
        ("zh/", "ResNet 多机", "models/resnet50/"),
        ("zh/", "DeepLab", "models/deeplabv3p/"),
        ("zh/", "resnet-50", "models/resnet50/"),
        ("zh/", "bert", "models/bert/"),
        ("zh/", "准确率", "method/"),
    ],
)
def test_a_name_finds_the_page_about_it_first(reader: Any, searched: str, language: str, query: str, page: str) -> None:
    assert first_hit(reader, searched + language, query).endswith(f"/sub/{language}{page}")


def test_the_index_is_loaded_once_the_reader_turns_to_the_search(reader: Any, searched: str) -> None:
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(searched, wait_until="networkidle")
    assert not [each for each in asked if INDEX in each]
    with reader.expect_request(f"**/{INDEX}"):
        reader.locator(".md-search__input").focus()


def test_an_address_with_a_query_opens_the_search(reader: Any, searched: str) -> None:
    reader.goto(f"{searched}?q=bert")
    reader.wait_for_selector(".md-search-result__item a[href*='models/bert/']", state="attached")


@pytest.mark.parametrize(("language", "other", "query"), [("", "zh/", "加速比"), ("zh/", "", "compilation")])
def test_what_one_language_does_not_have_is_looked_for_in_the_other(
    reader: Any, searched: str, language: str, other: str, query: str
) -> None:
    reader.goto(searched + language)
    ask(reader, query)
    link = reader.locator(".pl-search-other a")
    link.wait_for()
    assert query in link.inner_text()
    link.click()
    reader.wait_for_url(f"{searched}{other}?q=*")
    reader.wait_for_selector(".md-search-result__item a", state="attached")


def test_what_is_found_needs_no_other_language(reader: Any, searched: str) -> None:
    first_hit(reader, searched, "bert")
    assert not reader.locator(".pl-search-other").is_visible()


@pytest.mark.parametrize(
    ("language", "query", "said"),
    [
        ("", "resnet-50 epyc fp32 batch size 32", "Too close to call"),
        ("zh/", "resnet-50 epyc fp32 batch size 32", "差距不明显"),
    ],
)
def test_results_are_found_with_their_answer_and_lead_to_the_model_filtered_alike(
    reader: Any, searched: str, language: str, query: str, said: str
) -> None:
    reader.goto(searched + language)
    ask(reader, query)
    hit = reader.locator(".md-search-result__link[href*='devices=1&precision=fp32'][href*='resnet50']").first
    hit.wait_for(state="attached")
    assert said in (hit.text_content() or "").replace("\u200b", "")
    address = hit.evaluate("link => link.href")
    assert address.startswith(f"{searched}{language}models/resnet50/?hardware=")
