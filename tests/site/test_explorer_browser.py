"""The page of all runs in a real browser: filter, sort, address, parts, both languages, phone, keyboard, no scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.site import addresses, builder
from ingest.site.data import explorer
from tests import builders
from tests.site.conftest import BLANK, html, served
from tests.site.test_scale import SMALL, many, site_of

RUNS = [*many(130), *builders.runs()]
PHONE = {"width": 390, "height": 800}
#: What the table shows: the columns in sight, and a text per cell.
CELLS = """() => {
  const seen = each => each.checkVisibility();
  const table = document.getElementById("pl-explore-table");
  const heads = [...table.querySelectorAll(".tabulator-col")].filter(seen);
  const names = heads.map(each => each.getAttribute("tabulator-field"));
  return [...table.querySelectorAll(".tabulator-row")].map(row => Object.fromEntries(
    [...row.querySelectorAll(".tabulator-cell")].filter(seen).map((cell, at) => [names[at], cell.innerText])));
}"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of more runs than have a page, in several parts."""
    folder = tmp_path_factory.mktemp("explored")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        patched.setattr(explorer, "SIZE", 40)
        patched.setattr(explorer, "MOST", 50)
        builder.build(RUNS, [], folder / "docs", cache=folder / "cache.sqlite", limits=SMALL)
    return html(folder)


@pytest.fixture(scope="module")
def start(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(built, tmp_path_factory.mktemp("served-explored")) as found:
        yield found


@pytest.fixture
def view(browser: Any, start: str, request: Any) -> Iterator[Any]:
    """Yield a page that fails its test on an error, a message on the console, or a request elsewhere."""
    page = browser.new_page(viewport=getattr(request, "param", {"width": 1440, "height": 900}))
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if told.type in ("error", "warning") else None)
    page.on("request", lambda asked: None if asked.url.startswith((start, "data:")) else wrong.append(asked.url))
    page.open = lambda below="": opened(page, f"{start}{below}")
    page.wrong = wrong
    yield page
    page.close()
    assert wrong == []


def opened(page: Any, address: str) -> None:
    page.goto(address)
    done(page)


def done(page: Any) -> None:
    """Wait until all that the choice needs is there."""
    page.wait_for_selector("#pl-explore-table[aria-busy=false]")


def until(page: Any, test: str) -> None:
    """Wait until a condition holds; the policy of the site forbids the browser's own way to wait for one."""
    look = f"const look = () => ({test}) ? done() : requestAnimationFrame(look); look();"
    page.evaluate(f"() => new Promise((done, fail) => {{ setTimeout(fail, 10000, 'not true in time'); {look} }})")


def first_is(page: Any, text: str) -> None:
    until(page, f"document.querySelector('.tabulator-row').innerText.includes({json.dumps(text)})")


def scrolled(page: Any, to: str) -> None:
    page.locator(".tabulator-tableholder").evaluate(f"each => {{ each.scrollTop = {to}; }}")


def status(page: Any) -> str:
    return str(page.locator("#pl-explore-shown").inner_text())


def choose(page: Any, name: str, value: str) -> None:
    page.locator(f"#pl-explore [name={name}]").select_option(value)
    done(page)


def rows(page: Any) -> list[dict[str, str]]:
    found: list[dict[str, str]] = page.evaluate(CELLS)
    return found


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def head(page: Any, column: str) -> Any:
    return page.locator(f'.tabulator-col[tabulator-field="{column}"]')


def figures(page: Any) -> list[float]:
    texts = (row["throughput"].split()[0].replace(",", "") for row in rows(page))
    return [float(each) for each in texts if each != "—"]


def test_all_runs_are_there_and_only_those_in_sight_are_drawn(view: Any) -> None:
    view.open("runs/")
    assert status(view) == f"{len(RUNS)} of {len(RUNS)} runs"
    assert 5 < view.locator(".tabulator-row").count() < len(RUNS) / 2
    first = rows(view)[0]
    run = min(RUNS, key=lambda run: (str(run.case.model), run.id))
    assert first["model"] == run.case.model == "BERT-base"
    assert first["run"].split("\n") == [run.id, run.path]
    assert (first["framework"], first["devices"], first["batch_size"]) == ("PyTorch", "1", "64")
    assert (first["precision"], first["outcome"], first["date"]) == ("FP32", "completed", "2026-01-01")
    figure = run.figure("sustained")
    assert figure is not None
    assert first["throughput"].split() == [f"{figure.value:.1f}", figure.unit]
    scrolled(view, "each.scrollHeight")
    until(view, "document.getElementById('pl-explore-table').innerText.includes('transformer-case0022-5')")


def test_filters_leave_the_runs_that_fit_and_say_how_many(view: Any) -> None:
    view.open("runs/")
    choose(view, "framework", "TensorFlow")
    fitting = [run for run in RUNS if run.case.framework == "TensorFlow"]
    assert status(view) == f"{len(fitting)} of {len(RUNS)} runs"
    assert {row["run"].split("\n")[0] for row in rows(view)} == {run.id for run in fitting}
    choose(view, "precision", "amp")
    assert {row["precision"] for row in rows(view)} == {"AMP"}
    assert len(rows(view)) == sum(run.case.precision == "amp" for run in fitting) == 2
    choose(view, "outcome", "oom")
    assert status(view) == f"0 of {len(RUNS)} runs: none matches this filter."
    view.get_by_role("button", name="Reset").click()
    until(view, "!location.search")
    assert status(view) == f"{len(RUNS)} of {len(RUNS)} runs"


def test_the_search_leaves_the_runs_that_have_every_word(view: Any) -> None:
    view.open("runs/")
    field = view.locator("#pl-explore [name=text]")
    field.fill("CASE 0012 transformer")
    until(view, "location.search.includes('text=')")
    assert [row["options"] for row in rows(view)] == []
    field.fill("Test-net 0003  train.log")
    until(view, "location.search.includes('net')")
    wanted = [run.id for run in RUNS if "test-net" in run.id and "0003" in run.id]
    assert [row["run"].split("\n")[0] for row in rows(view)] == wanted
    assert len(wanted) == 5


def test_a_head_sorts_up_down_and_back_by_mouse_and_keyboard(view: Any) -> None:
    view.open("runs/?model=ResNet-50+v1.5")
    before = rows(view)
    head(view, "throughput").get_by_role("button").click()
    assert head(view, "throughput").get_attribute("aria-sort") == "ascending"
    up = figures(view)
    assert up == sorted(up)
    assert up[0] == 300.0
    head(view, "throughput").get_by_role("button").press("Enter")
    assert head(view, "throughput").get_attribute("aria-sort") == "descending"
    down = figures(view)
    assert down == sorted(down, reverse=True)
    assert down[0] > 7 * up[0]
    scrolled(view, "each.scrollHeight")
    until(view, "document.querySelector('.tabulator-row:last-child').innerText.includes('—')")
    head(view, "throughput").get_by_role("button").press("Enter")
    assert head(view, "throughput").get_attribute("aria-sort") == "none"
    assert asked(view).keys() == {"model"}
    scrolled(view, "0")
    first_is(view, before[0]["run"].split("\n")[0])


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("devices", lambda run: run.case.devices),
        ("run", lambda run: run.id),
        ("framework", lambda run: run.case.framework),
    ],
)
def test_every_column_sorts_by_what_it_shows(view: Any, column: str, key: Any) -> None:
    view.open(f"runs/?model=ResNet-50+v1.5&sort={column}&order=desc")
    there = sorted((key(run) for run in RUNS if run.case.model == "ResNet-50 v1.5"), reverse=True)
    found = [row[column].split("\n")[0] for row in rows(view)]
    assert found == [str(each) for each in there[: len(found)]]
    assert len(found) > 5


def test_the_address_holds_the_choice_and_restores_it(view: Any) -> None:
    view.open("runs/")
    choose(view, "model", "BERT-base")
    choose(view, "devices", "1")
    head(view, "throughput").get_by_role("button").click()
    head(view, "throughput").get_by_role("button").click()
    view.locator("#pl-explore [name=text]").fill("case")
    until(view, "location.search.includes('text=')")
    wanted = {"model": ["BERT-base"], "devices": ["1"], "text": ["case"], "sort": ["throughput"], "order": ["desc"]}
    assert asked(view) == wanted
    kept = rows(view)
    shared, before = view.url, status(view)
    view.open("runs/")
    assert rows(view) != kept
    opened(view, shared)
    assert (rows(view), status(view), asked(view)) == (kept, before, wanted)
    assert view.locator("#pl-explore [name=text]").input_value() == "case"
    choose(view, "model", "Transformer")
    view.go_back()
    done(view)
    assert rows(view) == kept
    view.locator(".md-select").hover()
    view.locator(".md-select a[hreflang=zh]").click()
    done(view)
    assert "/zh/runs/" in view.url
    assert asked(view) == wanted
    assert [row["run"] for row in rows(view)] == [row["run"] for row in kept]


def test_what_no_run_has_is_named_and_everything_else_is_kept(view: Any) -> None:
    view.open("runs/?model=<b>gone</b>&framework=TensorFlow&sort=nothing")
    assert view.locator("#pl-explore [role=alert]").inner_text() == (
        "This link asks for Model “<b>gone</b>”, which no run has. Showing all instead."
    )
    assert {row["framework"] for row in rows(view)} == {"TensorFlow"}


def test_runs_that_do_not_say_are_chosen_by_an_empty_value(browser: Any, tmp_path: Path) -> None:
    unknown = builders.edited(builders.run("unknown"), case={"precision": None, "devices": None})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "drawn", lambda *_: BLANK)
        builder.build([unknown, builders.run("known")], [], tmp_path / "docs", cache=tmp_path / "cache.sqlite")
    with served(html(tmp_path), tmp_path / "root") as address:
        page = browser.new_page()
        opened(page, f"{address}runs/?devices=")
        assert [(row["devices"], row["precision"]) for row in rows(page)] == [("not known", "not known")]
        choose(page, "devices", "1")
        assert [row["run"].split("\n")[0] for row in rows(page)] == ["known"]
        page.close()


def test_a_link_leads_to_the_page_or_the_entry_of_a_run(view: Any, start: str) -> None:
    site = site_of(RUNS)
    for own in (True, False):
        run = next(each for each in site.runs if site.has_page(each) is own)
        view.open(f"zh/runs/?text={run.id}")
        assert [row["run"].split("\n")[0] for row in rows(view)] == [run.id]
        view.locator(".tabulator-cell a").click()
        view.wait_for_url(f"{start}zh/{addresses.served(site.page(run))}")
        shown = view.locator("article" if own else f"tr:has(#run-{run.id})")
        assert run.id in shown.inner_text()


def test_the_chinese_page_says_it_in_chinese(view: Any) -> None:
    view.open("zh/runs/?outcome=oom")
    assert status(view) == f"显示 1 次运行，共 {len(RUNS)} 次"
    (row,) = rows(view)
    assert row["outcome"] == "显存/内存不足"
    assert re.search("[\u4e00-\u9fff]", row["throughput"])
    heads = [each.inner_text().split("\n")[0] for each in view.locator(".tabulator-col:visible").all()]
    assert heads[:6] == ["模型", "框架", "硬件", "设备数", "单设备 batch size", "精度"]
    view.open("zh/runs/?text=threads&model=Test+net+7")
    assert [row["options"] for row in rows(view)] == []
    view.open("zh/runs/?text=线程数&model=Test+net+7")
    assert [row["options"] for row in rows(view)] == ["线程数 1"]


def test_a_chosen_model_loads_the_parts_that_hold_it(view: Any, built: Path) -> None:
    parts = list((built / "data" / "explorer").glob("*.json"))
    assert len(parts) > 3
    loaded: list[str] = []
    view.on("request", lambda request: loaded.append(request.url) if "/explorer/" in request.url else None)
    view.open("runs/?model=Test+net+7")
    few = len(loaded)
    assert 0 < few < len(parts)
    chosen = [run for run in RUNS if run.case.model == "Test net 7"]
    assert status(view) == f"{len(chosen)} of {len(RUNS)} runs"
    view.get_by_role("button", name="Reset").click()
    until(view, f"document.getElementById('pl-explore-shown').textContent === '{len(RUNS)} of {len(RUNS)} runs'")
    assert sorted(each.rpartition("/")[2] for each in loaded) == sorted(each.name for each in parts)


def test_rows_are_shown_while_further_parts_come(view: Any, built: Path, start: str) -> None:
    slow = sorted(each.name for each in (built / "data" / "explorer").glob("*.json"))[0]
    waiting: list[Any] = []
    view.route(f"**/{slow}", lambda route: waiting.append(route))
    view.goto(f"{start}runs/")
    view.wait_for_selector(".tabulator-row")
    assert view.locator("#pl-explore-table").get_attribute("aria-busy") == "true"
    said = re.fullmatch(rf"(\d+) of {len(RUNS)} runs; loading …", status(view))
    assert said
    assert 0 < int(said[1]) < len(RUNS)
    view.wait_for_timeout(100)
    waiting[0].continue_()
    done(view)
    assert status(view) == f"{len(RUNS)} of {len(RUNS)} runs"


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_part_that_does_not_come_is_told_and_the_lists_are_shown(browser: Any, start: str, language: str) -> None:
    page = browser.new_page()
    page.route("**/data/explorer/*.json", lambda route: route.fulfill(status=404))
    page.goto(f"{start}{language}runs/")
    page.wait_for_selector(".pl-explore-failed")
    assert status(page).endswith({"": "or use the tables below.", "zh/": "或查看下方表格。"}[language])
    assert page.locator('.pl-explore-still a[href*="list-bert"]').first.is_visible()
    page.close()


@pytest.mark.parametrize("language", ["", "zh/"])
def test_without_scripts_the_lists_are_shown_and_no_filter(
    browser: Any, start: str, built: Path, language: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{start}{language}runs/")
    assert not page.locator("#pl-explore").is_visible()
    assert not page.locator("#pl-explore-table").is_visible()
    links = page.locator(".pl-explore-still a[href*='list-']").evaluate_all("all => all.map(each => each.href)")
    lists = {each.name for each in (built / language / "runs").glob("list-*")}
    assert {each.rstrip("/").rpartition("/")[2] for each in links} == lists
    assert len(lists) > 5
    context.close()


@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize("view", [PHONE], indirect=True)
def test_a_phone_shows_a_card_per_run_and_sorts_by_a_list(view: Any, language: str) -> None:
    view.open(f"{language}runs/")
    assert view.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    holder = view.locator(".tabulator-tableholder")
    assert holder.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert rows(view)[0].keys() == {"case", "throughput"}
    choose(view, "sort", "throughput")
    choose(view, "order", "desc")
    found = figures(view)
    assert found == sorted(found, reverse=True)
    assert len(found) > 2
    card = rows(view)[0]["case"]
    run = next(run for run in RUNS if run.path in card)
    for wanted in (run.case.model, run.case.framework, "2026-01-01"):
        assert str(wanted) in card
    view.set_viewport_size({"width": 1440, "height": 900})
    until(view, "document.querySelector('.tabulator-col[tabulator-field=model]').checkVisibility()")
    assert figures(view)[:3] == found[:3]
    view.locator(".tabulator-cell a").first.focus()
    assert view.evaluate("document.activeElement.closest('.tabulator-row') !== null")


def test_on_paper_the_lists_are_printed(view: Any) -> None:
    view.open("runs/")
    view.emulate_media(media="print")
    assert not view.locator("#pl-explore-table").is_visible()
    assert view.locator('.pl-explore-still a[href*="list-bert"]').first.is_visible()
