"""The page of hardware in a browser: many accelerators by many models, what a reader chooses, and its address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perfledger.ingest.common import numbers
from tests.site.large import ACCELERATORS, MODELS, RIVALS, SHARED_MODELS, accelerator

Visit = Callable[..., Any]
FP32 = "?precision=fp32&devices=1"
#: The sheet that a reader sees: its units, and a value, a multiple and a figure per cell.
LOOK = """() => {
  const sheet = [...document.querySelectorAll(".pl-sheet")].find((each) => each.offsetParent);
  const seen = (at) => (at && !at.hidden ? at.textContent : "");
  const figure = (at) => [seen(at.querySelector("b")), seen(at.querySelector("a"))];
  const cell = (at) => [Number(at.dataset.value || 0), ...figure(at), at.title];
  return {
    caption: sheet.querySelector(".pl-caption").textContent,
    units: [...sheet.querySelectorAll("th [data-unit]")].map((each) => each.textContent),
    rows: Object.fromEntries([...sheet.querySelectorAll("tbody tr[data-hardware]")].map(
      (row) => [row.dataset.hardware, [...row.querySelectorAll("td")].map(cell)])),
  };
}"""


@pytest.fixture(scope="module")
def hardware(stay: Visit, large_home: str) -> Callable[..., Any]:
    """Return a function that opens the page with a choice, on one page for both languages."""
    page = stay("about:blank", wide=1440)

    def opened(query: str = "", language: str = "") -> Any:
        page.goto(f"{large_home}{language}hardware/{query}")
        assert page.wrong == []
        return page

    return opened


def look(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(LOOK)
    return found


def choose(page: Any, **fields: str) -> dict[str, Any]:
    for name, value in fields.items():
        group = page.locator(f".pl-chips [data-name={name}]")
        if name == "reference":
            group.locator("select").select_option(value)
        else:
            group.locator(f'button[value="{value}"]').click()
    return look(page)


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def values(found: dict[str, Any], column: int) -> dict[str, float]:
    return {name: cells[column][0] for name, cells in found["rows"].items()}


@pytest.mark.parametrize("language", ["", "zh/"])
def test_every_figure_is_over_that_of_the_chosen_reference(
    hardware: Callable[..., Any], visit: Visit, language: str
) -> None:
    page = hardware(language=language)
    before = look(page)
    assert len(before["rows"]) == 3, "half precision comes first"
    still = visit(page.url, java_script_enabled=False)
    assert still.locator(".pl-sheet:visible").count() == 1
    assert still.locator(".pl-sheet:visible tbody tr").count() == 3
    page = hardware(FP32, language)
    found = choose(page, reference=accelerator(5))
    assert (len(found["rows"]), len(found["units"])) == (ACCELERATORS, MODELS)
    for column in range(MODELS):
        over = values(found, column)[accelerator(5)]
        wanted = {name: numbers.ratio(each / over) if each else "" for name, each in values(found, column).items()}
        assert {name: cells[column][1] for name, cells in found["rows"].items()} == wanted
    assert [name for name, cells in found["rows"].items() for cell in cells if not cell[0]] == [accelerator(7)]
    assert asked(page)["reference"] == [accelerator(5)]
    page.reload()
    assert look(page) == found
    assert "reference=" in page.locator(".md-select a[hreflang]").first.get_attribute("href")
    page.go_back()
    assert look(page) != found


def test_a_tie_is_rounded_as_the_page_rounds_it_and_a_multiple_needs_a_reference(
    hardware: Callable[..., Any],
) -> None:
    """One and an eighth is 1.12 to Python and 1.13 to JavaScript."""
    page = hardware(FP32)
    there = values(look(page), 0)
    one, other = accelerator(ACCELERATORS - 1), accelerator(ACCELERATORS - 2)
    assert there[one] / there[other] == 1.125
    assert choose(page, reference=other)["rows"][one][0][1] == numbers.ratio(there[one] / there[other])
    found = choose(page, reference=accelerator(7))
    without = [at for at in range(MODELS) if not values(found, at)[accelerator(7)]]
    assert [{cells[at][1] for cells in found["rows"].values()} for at in without] == [{""}]


def test_a_round_is_a_sheet_of_its_own(hardware: Callable[..., Any]) -> None:
    page = hardware(FP32)
    found = choose(page, round="v5.1")
    assert "round v5.1" in found["caption"]
    assert list(found["rows"]) == [accelerator(1), accelerator(2)]
    titles = [cell[3] for cells in found["rows"].values() for cell in cells]
    assert len(titles) == 4
    assert all("batch size 32" in each and "v5.1" in each for each in titles)
    offered = page.locator(".pl-chips [data-name=reference] option:enabled").all_inner_texts()
    assert [each.partition(" (")[0] for each in offered] == [accelerator(1), accelerator(2)]
    assert asked(page)["round"] == ["v5.1"]
    page.reload()
    assert look(page) == found


def test_throughput_per_watt_where_it_is_stated(hardware: Callable[..., Any]) -> None:
    page = hardware(FP32)
    before = values(look(page), 0)
    found = choose(page, reference=accelerator(2), figure="watts")
    assert set(found["units"]) == {"images/s/W"}
    watts = {accelerator(n): before[accelerator(n)] / (100.0 * n) for n in (1, 2)}
    shown = {name: cells[0][2] for name, cells in found["rows"].items() if cells[0][2] != "–"}
    assert {name: float(each) for name, each in shown.items()} == pytest.approx(watts, rel=1e-3)
    multiple = found["rows"][accelerator(1)][0][1]
    assert multiple == numbers.ratio(watts[accelerator(1)] / watts[accelerator(2)])
    assert asked(page)["figure"] == ["watts"]


def test_a_choice_that_does_not_exist_is_replaced_and_a_link_to_it_says_so(hardware: Callable[..., Any]) -> None:
    page = hardware(FP32)
    found = choose(page, devices="8")
    assert "8 devices" in found["caption"]
    assert (len(found["rows"]), len(found["units"])) == (RIVALS, SHARED_MODELS)
    found = choose(page, precision="half")
    assert "Mixed and half precision · 1 device" in found["caption"]
    assert page.locator(".pl-chips [role=status]").inner_text() == ""
    page = hardware("?precision=half&devices=64&reference=Abacus&figure=beauty")
    assert "Mixed and half precision" in look(page)["caption"]
    said = page.locator(".pl-chips [role=status]").inner_text()
    assert all(f"“{value}”" in said for value in ("64", "Abacus", "beauty"))


@pytest.mark.parametrize(("language", "width"), [("", 1440), ("zh/", 390)])
def test_the_sheet_scrolls_in_its_own_box(visit: Visit, large_home: str, language: str, width: int) -> None:
    page = visit(f"{large_home}{language}hardware/{FP32}", wide=width)
    assert len(look(page)["rows"]) == ACCELERATORS
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 6000
    heads = page.locator(".pl-sheet:visible tbody th")
    before = heads.first.bounding_box()["x"]
    scrolled = page.locator(".pl-sheet:visible .pl-grid").first.evaluate(
        "(table) => { table.parentElement.scrollLeft = 300; return table.parentElement.scrollLeft; }"
    )
    assert scrolled > 100
    assert abs(heads.first.bounding_box()["x"] - before) < 2
    link = page.locator(".pl-sheet:visible tbody td a").first
    link.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    content = link.evaluate("(each) => getComputedStyle(each.closest('td'), '::after').content")
    assert "batch size 64" in content
    assert "2026-01-01" in content
