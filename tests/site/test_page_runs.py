"""The page of all runs in a browser: filter, sort, address, parts, runs on demand, phone, keyboard, no scripts."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.common.words import coded
from perfledger.ingest.site import addresses, run_tables
from tests.site.large import LIMITS, ODD, RUNS, SHOWN, SITE, accelerator, network

Visit = Callable[..., Any]
WIDE, PHONE = {"wide": 1440, "high": 900}, {"wide": 390, "high": 800}
ALL = f"{len(RUNS)} of {len(RUNS)} runs"
#: What the table shows: the columns in sight, and a text per cell.
CELLS = """() => {
  const seen = each => each.checkVisibility();
  const table = document.getElementById("pl-explore-table");
  const heads = [...table.querySelectorAll(".tabulator-col")].filter(seen);
  const names = heads.map(each => each.getAttribute("tabulator-field"));
  return [...table.querySelectorAll(".tabulator-row")].map(row => Object.fromEntries(
    [...row.querySelectorAll(".tabulator-cell")].filter(seen).map((cell, at) => [names[at], cell.innerText])));
}"""


def done(page: Any) -> Any:
    """Wait until all that the choice needs is there."""
    page.wait_for_selector("#pl-explore-table[aria-busy=false]")
    return page


def until(page: Any, test: str) -> None:
    """Wait until a condition holds; the policy of the site forbids the browser's own way to wait for one."""
    check = f"const look = () => ({test}) ? done() : requestAnimationFrame(look); look();"
    page.evaluate(f"() => new Promise((done, fail) => {{ setTimeout(fail, 10000, 'not true in time'); {check} }})")


def first_is(page: Any, text: str) -> None:
    until(page, f"document.querySelector('.tabulator-row').innerText.includes({json.dumps(text)})")


def scrolled(page: Any, to: str) -> None:
    page.locator(".tabulator-tableholder").evaluate(f"each => {{ each.scrollTop = {to}; }}")


def status(page: Any) -> str:
    return str(page.locator("#pl-explore-shown").inner_text())


def alert(page: Any) -> str:
    """Its text as laid out, which comes a moment after the text itself."""
    until(page, "document.querySelector('#pl-explore-said').innerText")
    return str(page.locator("#pl-explore-said").inner_text())


def choose(page: Any, name: str, value: str) -> None:
    """Choose a chip, or an entry of a list."""
    group = page.locator(f".pl-chips [data-name={name}]")
    if group.locator("select").count():
        group.locator("select").select_option(value)
    else:
        group.locator(f'button[value="{value}"]').click()
    done(page)


def reset(page: Any, *names: str) -> None:
    for name in names:
        choose(page, name, "all")


def search(page: Any, text: str) -> None:
    page.locator("#pl-explore [name=text]").fill(text)
    until(page, f"(new URLSearchParams(location.search).get('text') || '') === {json.dumps(text)}")


def suite_of(model: str) -> str:
    return next(SITE.suite_of[run.id].id for run in RUNS if run.case.model == model)


def rows(page: Any) -> list[dict[str, str]]:
    found: list[dict[str, str]] = page.evaluate(CELLS)
    return found


def ids(page: Any) -> list[str]:
    return [row["run"].split("\n")[0] for row in rows(page)]


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def head(page: Any, column: str) -> Any:
    return page.locator(f'.tabulator-col[tabulator-field="{column}"]')


def figures(page: Any) -> list[float]:
    texts = (row["throughput"].split()[0].replace(",", "") for row in rows(page))
    return [float(each) for each in texts if each != "—"]


def panel(page: Any) -> dict[str, str]:
    """Return the values of the open panel by their labels; empty if no panel is open."""
    found: dict[str, str] = page.locator("#pl-explore-run[open]").evaluate_all(
        """all => all.length ? Object.fromEntries([
            ["name", all[0].querySelector("[role=heading]").innerText],
            ["id", all[0].querySelector(".pl-slug").innerText],
            ...[...all[0].querySelectorAll("[data-of]")].filter(each => each.checkVisibility()).map(
                each => [each.dataset.of, each.querySelector("dd").innerText])]) : {}"""
    )
    return found


def until_open(page: Any) -> dict[str, str]:
    page.wait_for_selector("#pl-explore-run[open]")
    return panel(page)


# ---- the table ----


def test_filters_and_search_leave_the_runs_that_fit_and_say_how_many(visit: Visit, large_home: str) -> None:
    page = done(visit(f"{large_home}runs/", **WIDE))
    assert status(page) == ALL
    assert 5 < page.locator(".tabulator-row").count() < len(RUNS) / 2, "only rows in sight are drawn"
    first, run = rows(page)[0], min(RUNS, key=lambda run: (str(run.case.model), run.id))
    assert first["model"] == run.case.model == network(0)
    assert first["run"].split("\n") == [run.id, run.path]
    assert (first["devices"], first["batch_size"], first["precision"]) == (str(run.case.devices), "64", "FP32")
    assert (first["framework"], first["outcome"], first["date"]) == ("PyTorch", "completed", "2026-01-01")
    figure = run.figure("sustained")
    assert figure is not None
    assert first["throughput"].split() == [f"{figure.value:.1f}", figure.unit]
    last = max(RUNS, key=lambda run: (str(run.case.model), run.id))
    scrolled(page, "each.scrollHeight")
    until(page, f"document.getElementById('pl-explore-table').innerText.includes('{last.id}')")
    choose(page, "precision", "half")
    fitting = [run for run in RUNS if run.case.precision == "amp"]
    assert status(page) == f"{len(fitting)} of {len(RUNS)} runs"
    assert set(ids(page)) == {run.id for run in fitting}
    assert {row["precision"] for row in rows(page)} == {"AMP"}
    choose(page, "outcome", "failed")
    assert ids(page) == [ODD.id]
    assert page.locator(".pl-chips [data-name=framework] button[value=JAX]").is_disabled()
    search(page, "nothing of the kind")
    assert status(page) == f"0 of {len(RUNS)} runs: none matches this filter."
    search(page, "")
    reset(page, "precision", "outcome")
    until(page, "!location.search")
    assert status(page) == ALL
    search(page, "TEST-net  train.log odd")
    assert ids(page) == [ODD.id]
    page.goto(f"{large_home}runs/?devices=0")
    assert [(row["devices"], row["precision"]) for row in rows(done(page))] == [("—", "—")]
    page.goto(f"{large_home}runs/?model=<b>gone</b>&framework=JAX&sort=nothing")
    done(page)
    assert page.locator(".pl-chips [role=status]").inner_text() == "There is no Model “<b>gone</b>” here."
    assert {row["framework"] for row in rows(page)} == {"JAX"}


def test_a_head_sorts_up_down_and_back_by_mouse_and_keyboard(visit: Visit, large_home: str) -> None:
    page = done(visit(f"{large_home}runs/?hardware=Accelerator+01+of+80+GB", **WIDE))
    before, button = rows(page), head(page, "throughput").get_by_role("button")
    button.click()
    assert head(page, "throughput").get_attribute("aria-sort") == "ascending"
    up = figures(page)
    assert up == sorted(up)
    button.press("Enter")
    assert head(page, "throughput").get_attribute("aria-sort") == "descending"
    down = figures(page)
    assert down == sorted(down, reverse=True)
    assert down[0] > 7 * up[0]
    button.press("Enter")
    assert head(page, "throughput").get_attribute("aria-sort") == "none"
    assert asked(page).keys() == {"hardware"}
    scrolled(page, "0")
    first_is(page, before[0]["run"].split("\n")[0])
    there = [run for run in RUNS if run.case.hardware == accelerator(1)]
    for column, key in (("devices", "devices"), ("framework", "framework"), ("run", "id")):
        head(page, column).get_by_role("button").click()
        head(page, column).get_by_role("button").click()
        wanted = sorted((getattr(run if key == "id" else run.case, key) for run in there), reverse=True)
        until(page, f"document.querySelector('.tabulator-row').innerText.includes({json.dumps(str(wanted[0]))})")
        found = [row[column].split("\n")[0] for row in rows(page)]
        assert found == [str(each) for each in wanted[: len(found)]]
        assert len(found) > 5
    choose(page, "hardware", "all")
    choose(page, "model", "model-test-net-7")
    head(page, "throughput").get_by_role("button").click()
    assert rows(page)[-1]["throughput"].startswith("—"), "what is absent comes last"


def test_the_address_keeps_the_choice_and_restores_it(visit: Visit, large_home: str) -> None:
    page = done(visit(f"{large_home}runs/", **WIDE))
    choose(page, "model", suite_of(network(3)))
    choose(page, "devices", "1")
    head(page, "throughput").get_by_role("button").click()
    head(page, "throughput").get_by_role("button").click()
    search(page, "80")
    wanted = {
        "model": [suite_of(network(3))], "devices": ["1"], "text": ["80"], "sort": ["throughput"], "order": ["desc"],
    }  # fmt: skip
    assert asked(page) == wanted
    kept, shared, before = rows(page), page.url, status(page)
    page.goto(f"{large_home}runs/")
    assert rows(done(page)) != kept
    page.goto(shared)
    assert (rows(done(page)), status(page), asked(page)) == (kept, before, wanted)
    assert page.locator("#pl-explore [name=text]").input_value() == "80"
    choose(page, "model", suite_of(network(4)))
    page.go_back()
    first_is(page, kept[0]["run"].split("\n")[0])
    assert rows(done(page)) == kept
    page.locator(".md-select").hover()
    page.locator(".md-select a[hreflang=zh]").click()
    done(page)
    assert "/zh/runs/" in page.url
    assert asked(page) == wanted
    assert [row["run"] for row in rows(page)] == [row["run"] for row in kept]


def test_the_chinese_page_says_it_in_chinese(visit: Visit, large_home: str) -> None:
    page = done(visit(f"{large_home}zh/runs/?outcome=failed", **WIDE))
    assert status(page) == f"显示 1 次运行，共 {len(RUNS)} 次"
    (row,) = rows(page)
    assert re.search("[\u4e00-\u9fff]", row["outcome"])
    assert re.search("[\u4e00-\u9fff]", row["throughput"])
    heads = [each.inner_text().split("\n")[0] for each in page.locator(".tabulator-col:visible").all()]
    assert heads[:6] == ["模型", "框架", "硬件", "设备数", "单设备 batch size", "精度"]
    search(page, "threads")
    until(page, "!document.querySelector('.tabulator-row')")
    search(page, "线程数")
    first_is(page, "线程数 1")


# ---- runs on demand ----


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_row_without_a_page_opens_here_and_is_closed_by_key_button_back_or_a_click_outside(
    visit: Visit, large_home: str, size: dict[str, int]
) -> None:
    page = done(visit(f"{large_home}runs/?model={SITE.suite_of[SHOWN.id].id}&text={SHOWN.id}", **size))
    kept, shown = page.url, rows(page)
    page.locator(".tabulator-cell a:visible").first.click()
    found, figure = until_open(page), SHOWN.figure("sustained")
    assert figure is not None
    assert found["id"] == SHOWN.id
    assert found["name"].startswith(f"PyTorch, {SHOWN.case.model}, 1 × {SHOWN.case.hardware}, FP32, batch size 64")
    assert found["throughput"].split() == [f"{figure.value:.1f}", figure.unit]
    assert found["size"] == "Devices 1 · Batch size per device 64 · FP32"
    assert found["window"] == "lines 12–43, 32 records used, 8 excluded as warm-up"
    assert "problems" not in found
    assert asked(page) == {"model": [SITE.suite_of[SHOWN.id].id], "text": [SHOWN.id], "run": [SHOWN.id]}
    assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"]
    page.go_back()
    until(page, "!document.querySelector('#pl-explore-run').open")
    assert (page.url, rows(page)) == (kept, shown)
    page.go_forward()
    assert until_open(page) == found
    page.go_back()
    until(page, "!document.querySelector('#pl-explore-run').open")
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.get_by_role("button", name="Close").click(),
        lambda: page.mouse.click(5, 5),
    ):
        page.locator(".tabulator-cell a:visible").first.press("Enter")
        until_open(page)
        close()
        until(page, "!location.search.includes('run=')")
        assert panel(page) == {}
        assert page.evaluate("document.activeElement.closest('.tabulator-row') !== null"), "the row has the focus"


@pytest.mark.parametrize(("language", "said"), [("", "session 2 of 3"), ("zh/", "第 2 个会话（共 3 个）")])
def test_an_address_opens_a_run_and_the_other_language_shows_the_same(
    visit: Visit, large_home: str, large: Path, language: str, said: str
) -> None:
    parts = sorted(each.name for each in (large / "data" / "explorer").glob("details_*.json.gz"))
    assert len(parts) > 5
    page, loaded = visit("about:blank", **WIDE), list[str]()
    page.on("request", lambda request: loaded.append(request.url) if "/details_" in request.url else None)
    page.goto(f"{large_home}{language}{addresses.served(SITE.page(ODD))}")
    found = until_open(done(page))
    assert len(loaded) == 1, "only the part of the run"
    assert found["id"] == ODD.id
    assert found["log"].split("\n") == [ODD.path, said]
    known, folder = words.load(), language.strip("/") or "en"
    told = [(run_tables.place(each), known.say(folder, coded("problem", each))) for each in ODD.problems]
    for line, (place, sentence) in zip(found["problems"].split("\n"), told, strict=True):
        assert line.startswith(place)
        assert line.endswith(sentence)
    assert found["command"] == f"python -m ingest explain '{ODD.path}'"
    assert found["throughput"].startswith("—")
    assert len(found["throughput"]) > 10, "it says why"
    assert not found.keys() & {"window", "rule", "arithmetic"}
    assert len(rows(page)) > 5, "nothing else is chosen"
    other = page.locator(".md-select a[hreflang]").evaluate_all("all => all.map(each => each.href)")
    assert all(each.endswith(f"?run={ODD.id}") for each in other)
    own = next(each for each in SITE.runs if SITE.has_page(each))
    page.goto(f"{large_home}{language}runs/?run={own.id}")
    page.wait_for_url(f"{large_home}{language}{addresses.served(SITE.page(own))}")
    page.goto(f"{large_home}{language}runs/?text={own.id}")
    done(page).locator(".tabulator-cell a").first.click()
    page.wait_for_url(f"{large_home}{language}{addresses.served(SITE.page(own))}")
    assert own.id in page.locator("article").inner_text()


def test_a_run_that_is_not_there_or_does_not_come_is_said_to_be(visit: Visit, large_home: str) -> None:
    page = visit("about:blank", **WIDE)
    for unknown in ("aaa", f"{SHOWN.id}-99", "zzz", "<b>x</b>", "../../index"):
        page.goto(f"{large_home}runs/?run={unknown}")
        assert alert(page) == (
            f"This link asks for the run “{unknown}”, which this site does not have. Showing all instead."
        )
        assert panel(done(page)) == {}
        assert status(page) == ALL
    choose(page, "framework", "JAX")
    assert asked(page) == {"framework": ["JAX"]}
    page.goto(f"{large_home}zh/runs/?run=zzz")
    assert alert(page).startswith("网址中指定的运行“zzz”在本站不存在")
    page.route("**/details_*.json.gz", lambda route: route.fulfill(status=404))
    page.goto(f"{large_home}runs/?run={SHOWN.id}")
    assert alert(page) == f"The run “{SHOWN.id}” could not be loaded. Reload the page to try again."
    page.unroute("**/details_*.json.gz")
    search(done(page), SHOWN.path)
    first_is(page, SHOWN.id)
    page.locator(".tabulator-cell a").first.click()
    assert until_open(page)["id"] == SHOWN.id
    page.wrong.clear()


# ---- parts of the data ----


def table_parts(site: Path) -> list[Path]:
    return sorted(each for each in (site / "data" / "explorer").glob("*.json.gz") if "details_" not in each.name)


def test_rows_are_shown_and_filtered_while_further_parts_come(visit: Visit, large_home: str, large: Path) -> None:
    parts = table_parts(large)
    assert len(parts) > 3
    page, waiting = visit("about:blank", **WIDE), list[Any]()
    page.route(f"**/{parts[0].name}", lambda route: waiting.append(route))
    page.goto(f"{large_home}runs/")
    page.wait_for_selector(".tabulator-row")
    assert page.locator("#pl-explore-table").get_attribute("aria-busy") == "true"
    said = re.fullmatch(rf"(\d+) of {len(RUNS)} runs; loading …", status(page))
    assert said
    assert 0 < int(said[1]) < len(RUNS)
    page.locator(".pl-chips button[value=failed]").click()
    until(page, "document.querySelectorAll('.tabulator-row').length < 3")
    waiting[0].continue_()
    assert ids(done(page)) == [ODD.id]
    # As from a server that names the compression of such files, so that the browser unpacks them.
    page.unroute(f"**/{parts[0].name}")
    page.route(
        "**/data/explorer/*.json.gz",
        lambda route: route.fulfill(body=gzip.decompress(route.fetch().body()), content_type="application/json"),
    )
    page.goto(f"{large_home}runs/")
    assert status(done(page)) == ALL


@pytest.mark.parametrize(("language", "tables"), [("", "or use the tables below."), ("zh/", "或查看下方表格。")])
def test_the_tables_appear_without_scripts_on_paper_and_without_data(
    visit: Visit, large_home: str, large: Path, language: str, tables: str
) -> None:
    page = visit("about:blank")
    page.route("**/data/explorer/*.json.gz", lambda route: route.fulfill(status=404))
    page.goto(f"{large_home}{language}runs/")
    page.wait_for_selector(".pl-explore-failed")
    assert status(page).endswith(tables)
    model = '.pl-explore-still a[href*="models/"]'
    assert page.locator(model).first.is_visible()
    page.unroute("**/data/explorer/*.json.gz")
    page.wrong.clear()
    page.goto(f"{large_home}{language}runs/")
    done(page).emulate_media(media="print")
    assert not page.locator("#pl-explore-table").is_visible()
    assert page.locator(model).first.is_visible()
    plain = visit(f"{large_home}{language}runs/", java_script_enabled=False)
    for each in ("#pl-explore", "#pl-explore-table", "#pl-explore-run"):
        assert not plain.locator(each).is_visible()
    still = plain.locator(".pl-explore-still")
    links = still.locator("a").evaluate_all("all => all.map(each => each.href)")
    own = {each.name for each in (large / language / "runs").iterdir() if each.is_dir()} - {"tables"}
    found = (re.search(r"/runs/([^/#.]+)/$", each) for each in links)
    assert {each[1] for each in found if each} == own
    assert len(own) == LIMITS.pages
    assert "data/runs.parquet" in still.inner_text()


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_phone_shows_a_card_per_run_and_sorts_by_a_list(visit: Visit, large_home: str, language: str) -> None:
    page = done(visit(f"{large_home}{language}runs/", **PHONE))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["wide"]
    holder = page.locator(".tabulator-tableholder")
    assert holder.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert rows(page)[0].keys() == {"case", "throughput"}
    page.select_option("#pl-explore [name=sort]", "throughput")
    page.select_option("#pl-explore [name=order]", "desc")
    found = figures(page)
    assert found == sorted(found, reverse=True)
    assert len(found) > 2
    card = rows(page)[0]["case"]
    run = next(run for run in RUNS if run.path in card)
    for wanted in (run.case.model, run.case.framework, "2026-01-01"):
        assert str(wanted) in card
    page.set_viewport_size({"width": 1440, "height": 900})
    until(page, "document.querySelector('.tabulator-col[tabulator-field=model]').checkVisibility()")
    assert figures(page)[:3] == found[:3]
    page.locator(".tabulator-cell a").first.focus()
    assert page.evaluate("document.activeElement.closest('.tabulator-row') !== null")
