"""Scripts planted in logs and addresses do not run, load nothing, and appear as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.site import planted
from tests.site.conftest import served

Visit = Callable[..., Any]
#: Texts as they are in addresses that a reader may be sent.
HOSTILE = [*(quote(planted.TEXTS[each]) for each in ("image", "quote", "prototype")), "%E0%A4%A"]
LISTS = (
    "", "zh/", "models/hostile/", "zh/models/hostile/", "runs/", "problems/", "zh/problems/", "audit/", "data/",
)  # fmt: skip
MARKUP = ":is(img, script, iframe, form[action], base, style, b, i)"


@pytest.fixture(scope="module")
def hostile(planted_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(planted_site, tmp_path_factory.mktemp("served-planted")) as found:
        yield found


def test_the_worst_pages_run_nothing_and_the_search_shows_text(visit: Visit, hostile: str, planted_site: Path) -> None:
    page = visit("about:blank")
    logs = sorted((planted_site / "logs").glob("*.html"))[::20]
    for path in logs:
        page.goto(f"{hostile}logs/{path.name}")
        assert page.locator("main h1").count() == 1
        assert page.wrong == [], path
    for path in (*LISTS, f"runs/{logs[0].stem}/"):
        page.goto(hostile + path)
        assert page.locator("article.md-content__inner h1").count() == 1
        assert page.wrong == [], path
    page.goto(hostile, wait_until="networkidle")
    field = page.locator("input.md-search__input")
    field.click()
    for asked in ("image", "script", "<img src=x onerror=alert(1)>", "x" * 60_000):
        field.fill(asked)
        field.press("End")
        page.wait_for_timeout(100)
    assert page.locator(".md-search-result img, .md-search-result script").count() == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_addresses_run_nothing(visit: Visit, hostile: str, text: str) -> None:
    page = visit("about:blank")
    given = f"model={text}&axis={text}&level={text}&metric={text}&hardware={text}&option.{text}={text}&batch={text}"
    for path in (
        f"compare/?{given}#{text}",
        f"compare/?model=hostile&framework={text}&option.named={text}#{text}",
        f"?metric={text}&h={text}&q={text}#{text}",
        f"models/hostile/?metric={text}&h={text}#L{text}-L{text}",
        f"runs/?model={text}&text={text}&sort={text}",
    ):
        page.goto(hostile + path)
        assert page.locator("article.md-content__inner h1").count() == 1
        assert page.wrong == [], path


def test_the_tables_of_scripts_show_hostile_names_as_text(visit: Visit, hostile: str) -> None:
    page = visit(hostile + "compare/?model=hostile")
    page.wait_for_selector("#pl-compare tbody tr")
    chips = page.locator(".pl-chips [data-name=hardware] button").all()
    shown = ""
    for chip in chips:
        chip.dispatch_event("click")
        shown += page.locator("#pl-compare").inner_text()
    assert len(chips) > 5
    assert all(planted.TEXTS[each] in shown for each in ("image", "script", "frame", "form", "base")), shown
    assert page.locator("#pl-compare :is(img, script, iframe, form[action], base, style)").count() == 0
    for language in ("", "zh/"):
        page.goto(f"{hostile}{language}runs/?text=onerror")
        page.wait_for_selector("#pl-explore-table[aria-busy=false]")
        assert page.locator(".tabulator-row").count() > 5
        assert "<img src=x onerror=alert(1)>" in page.locator("#pl-explore-table").inner_text()
        assert page.locator(f"#pl-explore-table {MARKUP}").count() == 0
        links = page.locator("#pl-explore-table a").evaluate_all("all => all.map(a => a.href)")
        assert all(each.startswith(hostile) for each in links)
