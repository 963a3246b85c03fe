"""The page of hardware in a browser: many accelerators by many models, what a reader chooses, and its address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perfledger.ingest.common import numbers
from tests.site.large import ACCELERATORS, MODELS, RIVALS, SHARED_MODELS, accelerator

Visit = Callable[..., Any]
#: Head and cells as a reader and the search of other pages see them, without what the script of tables adds.
LOOK = """() => {
  const table = document.getElementById("pl-matrix-table");
  const links = (at) => [...at.querySelectorAll("a")].map((each) => [each.href, each.textContent]);
  const head = (at) => [links(at), [...at.querySelectorAll("small")].map((each) => each.textContent)];
  const notes = (at) => [...at.querySelectorAll("sup")].map((each) => each.title);
  const cell = (at) => [at.textContent.trim(), at.title, Number(at.dataset.value || 0), links(at), notes(at)];
  return {
    caption: document.getElementById("pl-matrix-caption").textContent,
    heads: [...table.tHead.rows[0].cells].map(head),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map(cell)),
  };
}"""


@pytest.fixture(scope="module")
def matrix(stay: Visit, large_home: str) -> Callable[..., Any]:
    """Return a function that opens the page with a choice, on one page for both languages."""
    page = stay("about:blank", wide=1440)

    def opened(query: str = "", language: str = "") -> Any:
        page.goto(f"{large_home}{language}hardware/{query}")
        assert page.wrong == []
        return page

    return opened


def look(page: Any) -> dict[str, Any]:
    page.wait_for_selector("#pl-matrix-table:not([aria-busy])")
    found: dict[str, Any] = page.evaluate(LOOK)
    return found


def choose(page: Any, **fields: str) -> dict[str, Any]:
    for name, value in fields.items():
        page.select_option(f"#pl-matrix [name={name}]", value)
    return look(page)


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def values(found: dict[str, Any], column: int) -> dict[str, float]:
    return {row[0][0]: row[column][2] for row in found["rows"]}


@pytest.mark.parametrize(("language", "none"), [("", "no result"), ("zh/", "无结果")])
def test_every_figure_is_over_that_of_the_chosen_reference(
    matrix: Callable[..., Any], visit: Visit, language: str, none: str
) -> None:
    page = matrix(language=language)
    before = look(page)
    still = visit(page.url, java_script_enabled=False)
    rows = still.locator("#pl-matrix-table tbody tr")
    assert (rows.count(), still.locator("#pl-matrix-table thead th").count()) == (ACCELERATORS, MODELS + 1)
    assert still.locator("#pl-matrix-caption").inner_text() == before["caption"]
    found = choose(page, reference=accelerator(5))
    assert accelerator(5) + " = 1.00×" in found["caption"]
    for column in range(1, MODELS + 1):
        over = values(found, column)[accelerator(5)]
        wanted = {name: numbers.ratio(each / over) for name, each in values(found, column).items() if each}
        texts = {row[0][0]: row[column][0] for row in found["rows"]}
        assert len(wanted) >= ACCELERATORS - 1
        assert [each for each in wanted if not texts[each].startswith(wanted[each])] == []
    assert [row[0][0] for row in found["rows"] for cell in row if cell[0] == none] == [accelerator(7)]
    assert asked(page) == {"reference": [accelerator(5)]}
    page.reload()
    assert look(page) == found
    assert "reference=" in page.locator(".md-select a[hreflang]").first.get_attribute("href")
    page.go_back()
    assert accelerator(5) + " =" not in look(page)["caption"]
    usual = page.evaluate("JSON.parse(document.getElementById('pl-matrix').dataset.config).matrices[0].reference")
    choose(page, reference=accelerator(3))
    assert choose(page, reference=usual) == before, "the script draws what the page begins with"
    assert asked(page) == {}


def test_a_tie_is_rounded_as_the_page_rounds_it_and_a_multiple_needs_a_reference(
    matrix: Callable[..., Any],
) -> None:
    """One and an eighth is 1.12 to Python and 1.13 to JavaScript."""
    page = matrix()
    there = values(look(page), 1)
    one, other = accelerator(ACCELERATORS - 1), accelerator(ACCELERATORS - 2)
    assert there[one] / there[other] == 1.125
    texts = {row[0][0]: row[1][0] for row in choose(page, reference=other)["rows"]}
    assert texts[one].startswith(numbers.ratio(there[one] / there[other]))
    found = choose(page, reference=accelerator(7))
    (column,) = [n for n, head in enumerate(found["heads"]) if "none on the reference: no multiple" in head[1]]
    texts = [row[column][0] for row in found["rows"]]
    assert len(texts) == ACCELERATORS
    assert not [each for each in texts if "×" in each]
    assert "no result" in texts


def test_a_round_is_named_and_apart_and_its_data_are_loaded_when_they_are_asked_for(
    visit: Visit, large_home: str, large: Path
) -> None:
    page, loaded = visit("about:blank", wide=1440), list[str]()
    page.on("request", lambda request: loaded.append(request.url) if "/data/" in request.url else None)
    page.goto(f"{large_home}hardware/", wait_until="networkidle")
    assert loaded == []
    assert "no round" in look(page)["caption"]
    found = choose(page, round="v5.1")
    assert "round v5.1" in found["caption"]
    titles = [cell[1] for row in found["rows"] for cell in row[1:]]
    assert len(titles) == 4
    assert all("batch size 32" in each and "v5.1" in each for each in titles)
    offered = page.locator("#pl-matrix [name=reference] option:not([hidden])").all_inner_texts()
    assert offered == [accelerator(1), accelerator(2)]
    (only,) = loaded
    files = sorted((large / "data" / "matrix").glob("*.json"), key=lambda path: path.stat().st_size)
    assert len(files) == 4
    assert only.rpartition("/")[2] in {each.name for each in files[:-1]}
    assert asked(page)["round"] == ["v5.1"]
    page.reload()
    assert look(page) == found


def test_throughput_per_watt_where_it_is_stated(matrix: Callable[..., Any]) -> None:
    page = matrix()
    before = values(look(page), 1)
    found = choose(page, reference=accelerator(2), figure="per_watt")
    assert found["caption"].startswith("Throughput per watt · ")
    assert all(head[1] == ["images/s/W"] for head in found["heads"][1:])
    watts = {accelerator(n): before[accelerator(n)] / (100.0 * n) for n in (1, 2)}
    assert {name: each for name, each in values(found, 1).items() if each} == pytest.approx(watts)
    texts = {row[0][0]: row[1][0] for row in found["rows"]}
    assert texts[accelerator(1)].startswith(numbers.ratio(watts[accelerator(1)] / watts[accelerator(2)]))
    assert asked(page) == {"reference": [accelerator(2)], "figure": ["per_watt"]}


def test_what_is_not_there_is_replaced_and_a_link_to_it_says_so(matrix: Callable[..., Any], visit: Visit) -> None:
    page = matrix()
    found = choose(page, devices="8")
    assert "8 devices" in found["caption"]
    assert (len(found["rows"]), len(found["heads"])) == (RIVALS, SHARED_MODELS + 1)
    found = choose(page, precision="half")
    assert "Mixed and half precision · 1 device · no round" in found["caption"]
    assert len(found["rows"]) == 3
    assert page.locator(".pl-choose-said").inner_text() == ""
    page = matrix("?precision=half&devices=64&reference=Abacus&figure=beauty")
    assert "Mixed and half precision" in look(page)["caption"]
    said = page.locator(".pl-choose-said span").all_inner_texts()
    assert len(said) == 3
    assert all(any(f"“{value}”" in each for each in said) for value in ("64", "Abacus", "beauty"))
    lost = visit("about:blank")
    lost.route("**/data/matrix/*.json", lambda route: route.fulfill(status=404))
    lost.goto(page.url.partition("?")[0])
    choose(lost, reference=accelerator(3))
    assert lost.locator(".pl-choose-said").inner_text() == "The data of this table could not be loaded."
    lost.wrong.clear()


@pytest.mark.parametrize(
    ("language", "width", "words"),
    [
        ("", 1440, f"Compare {ACCELERATORS} kinds of hardware over {MODELS} models"),
        ("zh/", 390, f"对比 {ACCELERATORS} 种硬件、{MODELS} 个模型"),
    ],
)
def test_the_front_page_leads_to_a_matrix_that_scrolls_in_its_own_box(
    visit: Visit, large_home: str, language: str, width: int, words: str
) -> None:
    page = visit(large_home + language, wide=width)
    page.get_by_role("link", name=words).click()
    page.wait_for_url(f"**/{language}hardware/#matrix")
    assert len(look(page)["rows"]) == ACCELERATORS
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 6000
    left = "document.querySelector('#pl-matrix-table tbody th').getBoundingClientRect().left"
    before = page.evaluate(left)
    scrolled = page.locator("#pl-matrix-table").evaluate(
        "(table) => { table.parentElement.scrollLeft = 300; return table.parentElement.scrollLeft; }"
    )
    assert scrolled > 100
    assert abs(page.evaluate(left) - before) < 2
    link = page.locator("#pl-matrix-table tbody td a").first
    link.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    content = link.evaluate("(each) => getComputedStyle(each.closest('td'), '::after').content")
    assert "batch size 64" in content, "how it was measured is seen while the link has the focus"
    assert "2026-01-01" in content
