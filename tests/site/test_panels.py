"""The page of a model in a real browser: its tabs, its filters, and rows that another page has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.common.words import LANGUAGES, own
from ingest.compute.results import results
from ingest.site.model import Site, suites
from ingest.site.pages import model
from ingest.site.render import jinja
from tests.builders import run
from tests.site.conftest import served

MODEL = "models/resnet50/"
HEIGHT, WEIGHT = 2500, 80_000


def tabs(page: Any) -> Any:
    return page.get_by_role("tab")


def chosen(page: Any) -> list[str]:
    """Return the tab that is chosen, and the headings of the panels that are seen."""
    heads = page.locator(".pl-panel:visible > h2").evaluate_all("all => all.map(each => each.id)")
    return [page.get_by_role("tab", selected=True).get_attribute("href"), *heads]


def test_tabs_by_keyboard_are_in_the_address_and_the_back_button_leads_back(page: Any, address: str) -> None:
    page.goto(address + MODEL)
    assert [each.get_attribute("href") for each in tabs(page).all()] == [
        "#results", "#scaling", "#evidence", "#reproduce",
    ]  # fmt: skip
    assert chosen(page) == ["#results", "results"]
    tabs(page).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert chosen(page) == ["#evidence", "evidence"]
    assert page.url.endswith("#evidence")
    assert page.evaluate("document.activeElement.hash") == "#evidence"
    assert tabs(page).evaluate_all("all => all.map(each => each.tabIndex)") == [-1, -1, 0, -1]
    page.keyboard.press("Home")
    assert chosen(page) == ["#results", "results"]
    page.go_back()
    assert chosen(page) == ["#evidence", "evidence"]
    page.reload()
    assert chosen(page) == ["#evidence", "evidence"]


@pytest.mark.parametrize(
    ("anchor", "tab"),
    [
        ("comparison", "results"), ("charts", "results"), ("notes", "evidence"), ("logs", "evidence"),
        ("setup", "reproduce"), ("nowhere", ""),
    ],
)  # fmt: skip
def test_an_anchor_opens_the_tab_that_it_is_in(page: Any, address: str, anchor: str, tab: str) -> None:
    """Other pages and hits of the search lead there; one that is not here leads to the first tab."""
    page.goto(f"{address}{MODEL}#{anchor}")
    assert chosen(page)[0] == f"#{tab or 'results'}"
    assert not tab or page.locator(f"#{anchor}").is_visible()
    page.goto(f"{address}{MODEL}#scaling")
    page.evaluate("anchor => { location.hash = anchor; }", anchor)
    page.wait_for_function(
        "tab => document.querySelector(`[aria-selected=true]`).hash === tab", arg=f"#{tab or 'results'}"
    )


def test_filters_are_in_the_address_and_go_along_to_the_other_language(page: Any, address: str) -> None:
    page.goto(address + MODEL)
    names = page.locator(".pl-filters select").evaluate_all("all => all.map(each => each.name)")
    assert names == ["devices", "precision", "framework", "level"], "there is one hardware only"
    page.locator("select[name=devices]").select_option("8")
    page.locator("select[name=precision]").select_option("half")
    page.locator("select[name=framework]").select_option("PyTorch")
    for asked in ("devices=8", "precision=half", "framework=PyTorch"):
        assert asked in page.url
    shown = page.locator(".pl-panel:visible .pl-grid:visible")
    assert shown.evaluate_all("all => all.map(each => each.dataset.name)") == ["comparison-2"]
    assert shown.locator("tbody tr:visible").count() == 1
    assert [each.inner_text().split("\n")[0] for each in shown.locator("thead th:visible").all()][2:] == ["PyTorch"]
    tabs(page).nth(2).click()
    runs = page.locator('[data-name="runs-1"] tbody tr:visible')
    assert runs.count() == 2
    assert all("pytorch-n1d8-amp" in each.inner_text() for each in runs.all())
    page.locator("a.md-select__link[hreflang=zh]").evaluate("link => link.click()")
    page.wait_for_url(f"**/zh/{MODEL}?*")
    assert chosen(page) == ["#evidence", "evidence"]
    assert page.locator('[data-name="runs-1"] tbody tr:visible').count() == 2
    assert page.locator("select[name=precision]").input_value() == "half"


def test_what_the_address_asks_for_and_is_not_there_is_not_chosen(page: Any, address: str) -> None:
    page.goto(f"{address}{MODEL}?devices=77&framework=Nobody")
    assert page.locator("select[name=devices]").input_value() == "all"
    assert page.locator('[data-name="comparison-1"] tbody tr:visible').count() == 4


def test_paper_and_readers_without_scripts_have_all_of_it(page: Any, browser: Any, address: str) -> None:
    page.goto(address + MODEL)
    page.emulate_media(media="print")
    assert page.locator(".pl-panel:visible").count() == 4
    assert not page.locator(".pl-filters:visible, .pl-tabs:visible").count()
    assert page.locator("#evidence").bounding_box()["height"] > 8
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(address + MODEL)
    assert plain.locator(".pl-panel:visible").count() == 4
    assert not plain.locator(".pl-filters").is_visible()
    plain.locator('.pl-tabs a[href="#evidence"]').click()
    assert plain.locator("#evidence").bounding_box()["y"] < 200
    context.close()


@pytest.fixture(scope="module")
def ours(real: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield the page of our own ResNet-50, with two kinds of hardware and more rows than the page has."""
    with served(real, tmp_path_factory.mktemp("served-real")) as address:
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(address + MODEL)
        yield opened
        opened.close()


def test_one_hardware_is_chosen_and_the_results_are_short(ours: Any) -> None:
    choice = ours.locator("select[name=hardware]")
    assert choice.input_value() not in ("", "all")
    hidden = ours.locator(".pl-slice[data-f-hardware].pl-off")
    assert hidden.count() > 0
    assert ours.evaluate("document.documentElement.scrollHeight") < HEIGHT


def test_further_rows_come_when_they_are_asked_for(page: Any, address: str, site: Path) -> None:
    """The page is given the first row of its first table only; the page of all results has the others."""
    text = (site / "models" / "resnet50" / "index.html").read_text("utf-8")
    start = text.index("<tbody>", text.index('data-name="comparison-1"'))
    first, end = text.index("</tr>", start) + 5, text.index("</tbody>", start)
    link = '<p class="pl-rest"><a href="all-results/#comparison-1">Show all 4 rows</a></p>'
    body = text[:first] + text[end:].replace("</table></div>", f"</table></div>{link}", 1)
    page.route(f"**/{MODEL}", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(address + MODEL)
    table = page.locator('[data-name="comparison-1"]')
    assert table.locator("tbody tr").count() == 1
    page.locator(".pl-rest a").click()
    table.locator("tbody tr").nth(3).wait_for()
    assert page.url.endswith(MODEL)
    assert not page.locator(".pl-rest").count()
    table.locator("thead").get_by_role("button").nth(2).click()
    assert table.locator("tbody tr").last.inner_text().split()[0] != "8", "it is sorted"
    page.locator("select[name=devices]").select_option("8")
    assert table.locator("tbody tr:visible").count() == 1
    target = table.locator("tbody tr:visible a[href]").first.get_attribute("href")
    assert page.evaluate("address => fetch(address).then((reply) => reply.ok)", target)


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_hundred_results_are_less_than_80_kb(language: str) -> None:
    """The HTML of the tab of results, without the drawings of charts, which are files until the site is built."""
    runs = [
        run(f"resnet50-{framework}-{devices}-{size}-{precision}", framework=framework, devices=devices,
            batch_size=size, precision=precision, speed=400.0 * devices + len(framework) * size / 10)
        for framework in ("PyTorch", "TensorFlow", "PaddlePaddle", "MXNet", "JAX")
        for devices in (1, 2, 4, 8, 32)
        for size in (32, 64, 128, 256)
        for precision in ("fp32", "amp")
    ]  # fmt: skip
    site = Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results)
    assert sum(map(len, site.rows.values())) == 200
    page, full = model.pages(site)
    written = dict(zip(LANGUAGES, (each.text for each in jinja.rendered(own(), page)), strict=True))[language]
    tab = written[written.index("{: #results }") : written.index("{: #scaling }")]
    assert 10_000 < len(tab.encode()) < WEIGHT
    assert tab.count('class="pl-rest"') == 2, "both tables have few of their rows here"
    everything = next(iter(jinja.rendered(own(), full))).text
    assert len(re.findall(r"<tr data-f-devices", everything)) == 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_much_hardware_the_first_is_shown_whole_and_the_rest_on_another_page(language: str) -> None:
    names = [f"Made-up accelerator {number}" for number in range(1, 8)]
    runs = [
        run(
            f"r-{number}-{framework}-{devices}",
            hardware=name,
            framework=framework,
            devices=devices,
            speed=devices * 100.0,
        )
        for number, name in enumerate(names)
        for framework in ("PyTorch", "JAX")
        for devices in (1, 2, 4)
    ]
    page, _, further = model.pages(Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results))
    whole, rest = (
        dict(zip(LANGUAGES, (each.text for each in jinja.rendered(own(), of)), strict=True))[language]
        for of in (page, further)
    )
    shown, left = names[: model.HARDWARE_SHOWN], names[model.HARDWARE_SHOWN :]
    assert len(left) == 2
    for section, after in (("charts", "summary"), ("scaling", "evidence"), ("beside", "environment")):
        mine = part(whole, section, after)
        assert [name for name in names if f'data-f-hardware="{name}"' in mine] == shown
        assert f"(further.md{'' if section == 'charts' else f'#{section}'})" in mine
        assert f'data-f-hardware="{left[0]}"' in (there := rest[rest.index(f"{{: #{section} }}") :])
        assert f'data-f-hardware="{shown[0]}"' not in there
    assert all(f'data-f-hardware="{name}"' in part(whole, "comparison", "charts") for name in names)


def test_scaling_that_no_hardware_has_is_linked_nowhere() -> None:
    runs = [run(f"r-{number}", hardware=f"Made-up accelerator {number}") for number in range(1, 8)]
    page, _, further = model.pages(Site(tuple(runs), (), suites(), results))
    whole, rest = (next(iter(jinja.rendered(own(), of))).text for of in (page, further))
    assert own().text("en", "model.no_scaling") in part(whole, "scaling", "evidence")
    assert "(further.md#scaling)" not in whole
    assert "{: #scaling }" not in rest
    assert "(further.md#beside)" in whole
    few = Site(tuple(runs[: model.HARDWARE_SHOWN]), (), suites(), results)
    assert [each.path for each in model.pages(few)] == [f"{MODEL}index.md", f"{MODEL}all-results.md"]


def part(text: str, begin: str, end: str) -> str:
    """Return the part of a page between the marks of two places."""
    return re.split(rf'{{: #{end} }}|id="{end}"', text.partition(f"{{: #{begin} }}")[2])[0]
