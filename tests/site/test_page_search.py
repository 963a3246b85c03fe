"""The search and the page for wrong addresses in a browser: what is found first, and the way between languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import Quiet, served

Visit = Callable[..., Any]
INDEX = "search/search_index.json"
#: Queries in each language, and the page that is found first.
FOUND = {
    "": {
        "ResNet-50 v1.5": "models/resnet50/", "resnet-50": "models/resnet50/", "resnet50": "models/resnet50/",
        "bert": "models/bert/", "deeplab": "models/deeplabv3p/", "gpt": "models/gpt/",
        "wide deep": "models/wide_deep/", "sustained": "method/", "H200": "hardware/h200/", "llama": "models/llama/",
        "飞桨 bert": "models/bert/", "w/o accgrad": "models/bert/", "V100 amp": "models/bert/",
    },
    "zh/": {
        "ResNet 多机": "models/resnet50/", "DeepLab": "models/deeplabv3p/", "resnet-50": "models/resnet50/",
        "bert": "models/bert/", "准确率": "method/", "H200": "hardware/h200/", "飞桨 bert": "models/bert/",
        "bert 梯度累积": "models/bert/",
    },
}  # fmt: skip


def ask(page: Any, query: str) -> None:
    """Ask for the whole query at once: typed letter by letter, the results of its beginning may be read for its own."""
    field = page.locator(".md-search__input")
    field.click()
    field.fill(query)  # without a key, as the mouse pastes


@pytest.mark.parametrize(
    ("language", "other", "foreign", "verdict"),
    [("", "zh/", "加速比", "Too close"), ("zh/", "", "compilation", "差距不明显")],
)
def test_a_name_finds_its_page_first_and_a_case_its_answer(
    visit: Visit, real_home: str, language: str, other: str, foreign: str, verdict: str
) -> None:
    page, asked = visit("about:blank", wide=1440), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(real_home + language, wait_until="networkidle")
    assert not [each for each in asked if INDEX in each]
    with page.expect_request(f"**/{INDEX}"):
        page.locator(".md-search__input").focus()
    for query, found in FOUND[language].items():
        ask(page, query)
        first = f".md-search-result__item:first-child a[href*='/sub/{language}{found}']"
        page.wait_for_selector(first, state="attached")
        assert not page.locator(".pl-search-other").is_visible()
    ask(page, "resnet-50 epyc fp32 batch size 32")
    hit = page.locator(".md-search-result__link[href*='devices=1&precision=fp32'][href*='resnet50']").first
    hit.wait_for(state="attached")
    assert verdict in (hit.text_content() or "")
    target = hit.evaluate("link => link.href")
    assert target.startswith(f"{real_home}{language}models/resnet50/?hardware=")
    ask(page, foreign)
    link = page.locator(".pl-search-other a")
    link.wait_for()
    assert foreign in link.inner_text()
    link.click()
    page.wait_for_url(f"{real_home}{other}?q=*")
    page.wait_for_selector(".md-search-result__item a", state="attached")


@pytest.mark.parametrize(
    ("language", "searched"),
    [
        ("", {"contradictions": "/method/", "BERT": "/models/bert/"}),
        ("zh/", {"预热": "/zh/method/", "可比程度": "/zh/method/", "扩展性": "/zh/models/resnet50/"}),
    ],
)
def test_hits_are_pages_of_the_readers_language_and_the_chosen_scheme_goes_along(
    visit: Visit, home: str, language: str, searched: dict[str, str]
) -> None:
    page = visit("about:blank")
    page.goto(home + language, wait_until="networkidle")  # the search listens once its index has come
    page.locator("label.md-header__button[for=__palette_1]").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    for query, found in searched.items():
        ask(page, query)
        page.wait_for_selector(f".md-search-result__item a[href*='{found}']", state="attached")
        links = page.locator(".md-search-result__item a").evaluate_all("all => all.map(each => each.href)")
        assert all(each.startswith(home + language) for each in links)
        assert language or not any("/zh/" in each for each in links)
    # Not by the mouse: the list moves while it unfolds.
    page.locator(".md-search-result__item a").first.evaluate("link => link.click()")
    page.wait_for_url("**/*?h=*")
    assert page.locator("article h1").is_visible()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    switch = page.locator('.md-select a[hreflang="zh"]')
    page.goto(home + "models/resnet50/")
    page.locator(".md-select button").hover()
    switch.click()
    page.wait_for_url("**/zh/models/resnet50/")
    assert page.locator("html").get_attribute("lang") == "zh"


@pytest.fixture(scope="module")
def host(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the site below its name, as GitHub Pages serves a project, with 404.html for any missing page."""

    class Host(Quiet):
        def send_error(self, code: int, *_: Any) -> None:
            body = (whole / "404.html").read_bytes()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(whole, tmp_path_factory.mktemp("host"), Host) as found:
        yield found


@pytest.mark.parametrize(
    ("wrong", "query", "found"),
    [("nothing", "contradictions", "/sub/method/"), ("zh/deep/er/still.html", "预热", "/sub/zh/method/")],
)
def test_a_wrong_address_gets_a_page_in_both_languages_at_any_depth(
    visit: Visit, host: str, wrong: str, query: str, found: str
) -> None:
    page, answers = visit("about:blank"), list[tuple[int, str]]()
    page.on("response", lambda got: answers.append((got.status, got.url)))
    page.goto(host + wrong, wait_until="networkidle")
    assert [each for each in answers if each[0] != 200] == [(404, host + wrong)]
    for language, title, lead in (("en", "Page not found", ""), ("zh", "页面不存在", "zh/")):
        part = page.locator(f'article section[lang="{language}"]')
        assert title in part.inner_text()
        assert part.locator("a").evaluate("a => a.href") == host + lead
        inks = "a => [getComputedStyle(a).color, getComputedStyle(document.body).backgroundColor]"
        assert len(set(part.locator("a").evaluate(inks))) == 2, "the link is there to be seen"
    assert page.locator(".md-header").evaluate("e => getComputedStyle(e).position") == "sticky"
    ask(page, query)
    page.wait_for_selector(".md-search-result__item a")
    links = page.locator(".md-search-result__item a").evaluate_all("all => all.map(a => new URL(a.href).pathname)")
    assert any(each.startswith(found) for each in links), links
    page.locator('article section[lang="zh"] a').evaluate("link => link.click()")
    page.wait_for_url("**/sub/zh/")
    assert page.locator("html").get_attribute("lang") == "zh"
    page.wrong.clear()
