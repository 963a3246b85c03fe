"""Hardware by model in a browser: 45 accelerators by 15 models, what a reader chooses, and what the address keeps."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.common import numbers
from ingest.read.accelerators import Accelerator, Accelerators
from ingest.site import builder
from ingest.site.run_paging import Limits
from tests.builders import edited, run
from tests.site.conftest import BLANK, Shared, served

ACCELERATORS, MODELS = 45, 15
ROUND = {"round": {"value": "v5.1", "source": "layout", "where": "the path"}}
#: What a file states of two of them.
STATED = Accelerators(
    {
        f"accelerator 0{n} of 80 gb": Accelerator(dt.date(2026, 11, 1), 100.0 * n, "https://example.org/watts")
        for n in (1, 2)
    }
)


def _run(hardware: int, model: int, **other: Any) -> Any:
    speed = 100.0 + (hardware * 61 + model * 37) % 509
    name = f"{hardware}-{model}-" + "-".join(map(str, other.values()))
    more = {"model": f"Network number {model}", "hardware": f"Accelerator {hardware:02} of 80 GB", "speed": speed}
    return run(name.strip("-"), **more, **other)


def _runs() -> list[Any]:
    """Return a result of every model on every accelerator, and fewer of another precision, of a round, and on eight."""
    found = [_run(n, m) for n in range(ACCELERATORS) for m in range(MODELS) if (n, m) != (7, 3)]
    found += [_run(n, m, precision="amp") for n in range(3) for m in range(2)]
    found += [_run(n, 0, devices=8) for n in range(2)]
    rounds = [_run(n, m, batch_size=32) for n in (1, 2) for m in range(2)]
    return found + [edited(each, id=f"{each.id}-round", path=f"{each.path}-round", facts=ROUND) for each in rounds]


def _of_many(folder: Path, cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        builder.build(_runs(), [], folder / "docs", cache=cache, limits=Limits(pages=4), accelerators=STATED)


@pytest.fixture(scope="module")
def many(shared: Shared) -> Path:
    return shared.site("matrix", _of_many)


@pytest.fixture(scope="module")
def there(many: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(many, tmp_path_factory.mktemp("served-matrix")) as found:
        yield found


@pytest.fixture
def matrix(browser: Any, there: str) -> Iterator[Any]:
    """Yield a page on that site which fails its test on any error."""
    opened = browser.new_page(viewport={"width": 1440, "height": 900}, base_url=there)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    yield opened
    opened.close()
    assert not wrong


#: Head and cells as a reader and the search of other pages see them, without what the script of tables adds.
LOOK = """() => {
  const table = document.getElementById("pl-matrix-table");
  const links = (at) => [...at.querySelectorAll("a")].map((each) => [each.href, each.textContent]);
  const head = (at) => [links(at), [...at.querySelectorAll("small")].map((each) => each.textContent)];
  const cell = (at) => [at.textContent.trim(), at.title, Number(at.dataset.value || 0), links(at), [...at.querySelectorAll("sup")].map((each) => each.title)];
  return {
    caption: document.getElementById("pl-matrix-caption").textContent,
    heads: [...table.tHead.rows[0].cells].map(head),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map(cell)),
  };
}"""  # noqa: E501


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


def named(number: int) -> str:
    return f"Accelerator {number:02} of 80 GB"


@pytest.mark.parametrize("language", ["", "zh/"])
def test_the_script_draws_what_the_page_begins_with(matrix: Any, browser: Any, there: str, language: str) -> None:
    still = browser.new_page(java_script_enabled=False)
    still.goto(f"{there}{language}hardware/")
    rows = still.locator("#pl-matrix-table tbody tr")
    assert (rows.count(), still.locator("#pl-matrix-table thead th").count()) == (ACCELERATORS, MODELS + 1)
    matrix.goto(f"{language}hardware/")
    before = look(matrix)
    assert still.locator("#pl-matrix-caption").inner_text() == before["caption"]
    assert rows.all_inner_texts()[0].split()[0] == "Accelerator"
    still.close()
    choose(matrix, reference=named(3))
    assert look(matrix) != before
    reference = matrix.evaluate("JSON.parse(document.getElementById('pl-matrix').dataset.config).matrices[0].reference")
    assert choose(matrix, reference=reference) == before
    assert asked(matrix) == {}


@pytest.mark.parametrize(("language", "words"), [("", "no result"), ("zh/", "无结果")])
def test_every_figure_is_over_that_of_the_chosen_reference(matrix: Any, language: str, words: str) -> None:
    matrix.goto(f"{language}hardware/")
    found = choose(matrix, reference=named(5))
    assert named(5) + " = 1.00×" in found["caption"]
    for column in range(1, MODELS + 1):
        over = values(found, column)[named(5)]
        wanted = {name: numbers.ratio(each / over) for name, each in values(found, column).items() if each}
        texts = {row[0][0]: row[column][0] for row in found["rows"]}
        assert len(wanted) >= ACCELERATORS - 1
        assert [each for each in wanted if not texts[each].startswith(wanted[each])] == []
    empty = [row[0][0] for row in found["rows"] for cell in row if cell[0] == words]
    assert empty == [named(7)]
    assert asked(matrix) == {"reference": [named(5)]}
    matrix.reload()
    assert look(matrix) == found
    other = matrix.locator('.md-select a[hreflang="zh"], a.md-select__link[hreflang="zh"]').first
    assert "reference=" in other.get_attribute("href")
    matrix.go_back()
    assert named(5) + " =" not in look(matrix)["caption"]


def test_a_tie_is_rounded_as_the_page_rounds_it(matrix: Any) -> None:
    """One and an eighth is 1.12 to Python and 1.13 to JavaScript."""
    matrix.goto("hardware/")
    found, at = look(matrix), 1
    there = values(found, at)
    one, other = next((a, b) for a in there for b in there if there[b] and there[a] / there[b] in (0.125, 1.125, 2.125))
    texts = {row[0][0]: row[at][0] for row in choose(matrix, reference=other)["rows"]}
    assert texts[one].startswith(numbers.ratio(there[one] / there[other]))


def test_without_a_figure_of_the_reference_there_is_no_multiple(matrix: Any) -> None:
    matrix.goto("hardware/")
    found = choose(matrix, reference=named(7))
    without = [n for n, head in enumerate(found["heads"]) if "none on the reference: no multiple" in head[1]]
    (column,) = without
    texts = [row[column][0] for row in found["rows"]]
    assert len(texts) == ACCELERATORS
    assert not [each for each in texts if "×" in each]
    assert "no result" in texts


def test_a_round_is_named_and_stands_apart(matrix: Any) -> None:
    matrix.goto("hardware/")
    assert "no round" in look(matrix)["caption"]
    found = choose(matrix, round="v5.1")
    assert "round v5.1" in found["caption"]
    titles = [cell[1] for row in found["rows"] for cell in row[1:]]
    assert len(titles) == 4
    assert all("batch size 32" in each and "v5.1" in each for each in titles)
    assert asked(matrix)["round"] == ["v5.1"]
    matrix.reload()
    assert look(matrix) == found
    offered = matrix.locator("#pl-matrix [name=reference] option:not([hidden])").all_inner_texts()
    assert offered == [named(1), named(2)]


def test_throughput_per_watt_where_it_is_stated(matrix: Any) -> None:
    matrix.goto("hardware/")
    before = values(look(matrix), 1)
    found = choose(matrix, reference=named(2), figure="per_watt")
    assert found["caption"].startswith("Throughput per watt · ")
    assert all(head[1] == ["images/s/W"] for head in found["heads"][1:])
    watts = {named(n): before[named(n)] / (100.0 * n) for n in (1, 2)}
    assert {name: each for name, each in values(found, 1).items() if each} == pytest.approx(watts)
    texts = {row[0][0]: row[1][0] for row in found["rows"]}
    assert texts[named(1)].startswith(numbers.ratio(watts[named(1)] / watts[named(2)]))
    assert asked(matrix) == {"reference": [named(2)], "figure": ["per_watt"]}


def test_what_a_choice_makes_impossible_is_replaced(matrix: Any) -> None:
    matrix.goto("hardware/")
    assert "8 devices" in choose(matrix, devices="8")["caption"]
    found = choose(matrix, precision="half")
    assert "Mixed and half precision · 1 device · no round" in found["caption"]
    assert len(found["rows"]) == 3
    assert matrix.locator(".pl-choose-said").inner_text() == ""


def test_a_link_to_what_is_not_there_says_so(matrix: Any) -> None:
    matrix.goto("hardware/?precision=half&devices=64&reference=Abacus&figure=beauty")
    found = look(matrix)
    assert "Mixed and half precision" in found["caption"]
    said = matrix.locator(".pl-choose-said span").all_inner_texts()
    assert len(said) == 3
    assert all(any(f"“{value}”" in each for each in said) for value in ("64", "Abacus", "beauty"))


def test_data_that_cannot_be_loaded_are_missed_in_words(browser: Any, there: str) -> None:
    page = browser.new_page()
    page.route("**/data/matrix/*.json", lambda route: route.fulfill(status=404))
    page.goto(f"{there}hardware/")
    choose(page, reference=named(3))
    assert page.locator(".pl-choose-said").inner_text() == "The data of this table could not be loaded."
    page.close()


def test_how_a_figure_was_measured_is_seen_while_its_link_has_the_focus(matrix: Any) -> None:
    matrix.goto("hardware/")
    link = matrix.locator("#pl-matrix-table tbody td a").first
    link.focus()
    matrix.keyboard.press("Tab")
    matrix.keyboard.press("Shift+Tab")
    content = link.evaluate("(each) => getComputedStyle(each.closest('td'), '::after').content")
    assert "batch size 64, PyTorch, FP32, 2026-01-01, 1 run" in content


@pytest.mark.parametrize("width", [1440, 390])
def test_a_large_matrix_scrolls_in_its_own_box(matrix: Any, width: int) -> None:
    matrix.set_viewport_size({"width": width, "height": 900})
    matrix.goto("hardware/")
    look(matrix)
    assert matrix.evaluate("document.documentElement.scrollWidth") <= width
    assert matrix.evaluate("document.documentElement.scrollHeight") < 6000
    left = "document.querySelector('#pl-matrix-table tbody th').getBoundingClientRect().left"
    before = matrix.evaluate(left)
    scrolled = matrix.locator("#pl-matrix-table").evaluate(
        "(table) => { table.parentElement.scrollLeft = 300; return table.parentElement.scrollLeft; }"
    )
    assert scrolled > 100
    assert abs(matrix.evaluate(left) - before) < 2


def test_data_are_loaded_when_they_are_asked_for_and_are_small(matrix: Any, many: Path) -> None:
    loaded: list[str] = []
    matrix.on("request", lambda request: loaded.append(request.url) if "/data/" in request.url else None)
    matrix.goto("hardware/", wait_until="networkidle")
    assert loaded == []
    choose(matrix, round="v5.1")
    choose(matrix, reference=named(2))
    (only,) = loaded
    files = sorted((many / "data" / "matrix").glob("*.json"), key=lambda path: path.stat().st_size)
    assert len(files) == 4
    assert only.rpartition("/")[2] in {each.name for each in files[:-1]}
    assert len(json.loads(files[-1].read_text("utf-8"))["rows"]) == ACCELERATORS
    packed = [len(gzip.compress(path.read_bytes(), 6)) for path in (files[-1], many / "hardware" / "index.html")]
    assert max(packed) < 40_000


@pytest.mark.parametrize(
    ("language", "words"), [("", "Compare 45 kinds of hardware over 15 models"), ("zh/", "对比 45 种硬件、15 个模型")]
)
def test_the_front_page_leads_there(matrix: Any, language: str, words: str) -> None:
    matrix.goto(language)
    matrix.get_by_role("link", name=words).click()
    matrix.wait_for_url(f"**/{language}hardware/#matrix")
    assert len(look(matrix)["rows"]) == ACCELERATORS
