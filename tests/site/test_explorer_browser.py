"""The page of all runs in a real browser: filter, sort, address, parts, runs on demand, phone, keyboard, no scripts."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.common import words
from ingest.common.words import coded
from ingest.site import addresses, builder, run_tables
from ingest.site.data import explorer
from tests import builders
from tests.site.conftest import BLANK, html, served
from tests.site.test_scale import SMALL, many, site_of

#: Of the last, the log tells no figure, and what is wrong with it.
ODD = builders.run(
    "test-net-7-odd", model="Test net 7", outcome="failed", session=2, sessions=3, published=False, precision="amp",
    figures={"sustained": builders.absent("no_reported_figure")}, path="raw_logs/odd one/train.log",
    options={"case": 99},
    problems=[
        {
            "code": "contradiction", "path": "raw_logs/odd one/train.log", "line": 7,
            "args": {"fact": "devices", "first": 8, "first_source": "run.json", "second": 16, "second_source": "log"},
        },
        {"code": "empty", "path": "raw_logs/odd one/train.log", "args": {}},
    ],
)  # fmt: skip
RUNS = [*many(130), *builders.runs(), ODD]
SHARDS = {run.id: "made-up.jsonl" for run in RUNS}
SITE = site_of(RUNS)
#: A run without a page, whose name is neither the first nor the last of its part.
SHOWN = next(run for run in RUNS if not SITE.has_page(run) and run.id.startswith("test-net-7-case0007"))
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
        patched.setattr(explorer, "DETAILED", 10)
        patched.setattr(explorer, "MOST_DETAILED", 12)
        builder.build(RUNS, [], folder / "docs", cache=folder / "cache.sqlite", limits=SMALL, shards=SHARDS)
    ledger = folder / "docs" / "data" / "runs"
    ledger.mkdir()
    (ledger / "made-up.jsonl").write_text("{}\n", "utf-8")
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


def panel(page: Any) -> dict[str, str]:
    """Return what the open panel shows, by what it says it of; nothing where none is open."""
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


def test_a_link_leads_to_the_page_of_a_run_that_has_one(view: Any, start: str) -> None:
    run = next(each for each in SITE.runs if SITE.has_page(each))
    view.open(f"zh/runs/?text={run.id}")
    assert [row["run"].split("\n")[0] for row in rows(view)] == [run.id]
    view.locator(".tabulator-cell a").click()
    view.wait_for_url(f"{start}zh/{addresses.served(SITE.page(run))}")
    assert run.id in view.locator("article").inner_text()


@pytest.mark.parametrize("view", [{"width": 1440, "height": 900}, PHONE], indirect=True)
def test_a_row_without_a_page_opens_here_and_back_closes_it(view: Any) -> None:
    view.open(f"runs/?model=Test+net+7&text={SHOWN.id}")
    kept, shown = view.url, rows(view)
    view.locator(".tabulator-cell a:visible").click()
    found = until_open(view)
    figure = SHOWN.figure("sustained")
    assert figure is not None
    assert found["id"] == SHOWN.id
    assert found["name"].startswith("PyTorch, Test net 7, 1 × Test accelerator (made up), FP32, batch size 64")
    assert found["throughput"].split() == [f"{figure.value:.1f}", figure.unit]
    assert found["size"] == "Devices 1 · Batch size per device 64 · FP32"
    assert found["arithmetic"] == figure.arithmetic
    assert (found["log"], found["sha256"]) == (SHOWN.path, SHOWN.sha256[:12])
    assert found["command"] == f"python -m ingest explain {SHOWN.path}"
    assert (found["outcome"], found["tables"], found["shard"]) == ("completed", "included", "data/runs/made-up.jsonl")
    assert found["window"] == "lines 12–43, 32 records used, 8 excluded as warm-up"
    assert "problems" not in found
    assert asked(view) == {"model": ["Test net 7"], "text": [SHOWN.id], "run": [SHOWN.id]}
    assert view.evaluate("document.documentElement.scrollWidth") == view.viewport_size["width"]
    view.go_back()
    until(view, "!document.querySelector('#pl-explore-run').open")
    assert (view.url, rows(view)) == (kept, shown)
    view.go_forward()
    assert until_open(view) == found


@pytest.mark.parametrize("how", ["Escape", "button", "beside"])
def test_a_panel_is_closed_by_key_button_or_beside_it_and_the_row_has_the_focus(view: Any, how: str) -> None:
    view.open(f"runs/?text={SHOWN.id}")
    view.locator(".tabulator-cell a").focus()
    view.keyboard.press("Enter")
    until_open(view)
    if how == "Escape":
        view.keyboard.press("Escape")
    elif how == "button":
        view.get_by_role("button", name="Close").click()
    else:
        view.mouse.click(5, 5)
    until(view, "!location.search.includes('run=')")
    assert panel(view) == {}
    assert asked(view) == {"text": [SHOWN.id]}
    assert view.evaluate("document.activeElement.textContent") == SHOWN.id


@pytest.mark.parametrize(("language", "said"), [("", "session 2 of 3"), ("zh/", "第 2 个会话（共 3 个）")])
def test_an_address_opens_a_run_and_the_other_language_shows_the_same(view: Any, language: str, said: str) -> None:
    assert not SITE.has_page(ODD)
    view.open(f"{language}{addresses.served(SITE.page(ODD))}")
    found = until_open(view)
    assert found["id"] == ODD.id
    assert found["log"].split("\n") == [ODD.path, said]
    known, folder = words.load(), language.strip("/") or "en"
    told = [(run_tables.place(each), known.say(folder, coded("problem", each))) for each in ODD.problems]
    assert [
        line.startswith(place) and line.endswith(sentence)
        for line, (place, sentence) in zip(found["problems"].split("\n"), told, strict=True)
    ] == [True, True]
    assert found["command"] == f"python -m ingest explain '{ODD.path}'"
    assert found["throughput"].startswith("—")
    assert len(found["throughput"]) > 10  # it says why
    assert not found.keys() & {"window", "rule", "arithmetic"}
    assert len(rows(view)) > 5  # nothing else is chosen
    other = view.locator(".md-select a[hreflang]").evaluate_all("all => all.map(each => each.href)")
    assert all(each.endswith(f"?run={ODD.id}") for each in other)


def test_only_the_part_of_the_run_is_loaded(view: Any, built: Path) -> None:
    parts = sorted(each.name for each in (built / "data" / "explorer").glob("details_*.json.gz"))
    assert len(parts) > 5
    loaded: list[str] = []
    view.on("request", lambda request: loaded.append(request.url) if "/details_" in request.url else None)
    view.open("runs/")
    assert loaded == []
    view.open(f"runs/?run={SHOWN.id}")
    until_open(view)
    assert len(loaded) == 1


@pytest.mark.parametrize("unknown", ["aaa", "test-net-7-case0007-99", "zzz", "<b>x</b>", "../../index"])
def test_a_run_that_is_not_there_is_said_to_be_unknown(view: Any, unknown: str) -> None:
    view.open(f"runs/?run={unknown}")
    alert = f"This link asks for the run “{unknown}”, which this site does not have. Showing all instead."
    until(view, "document.querySelector('#pl-explore [role=alert]').textContent")
    assert view.locator("#pl-explore [role=alert]").inner_text() == alert
    assert panel(view) == {}
    assert status(view) == f"{len(RUNS)} of {len(RUNS)} runs"
    choose(view, "framework", "TensorFlow")
    assert asked(view) == {"framework": ["TensorFlow"]}
    view.open(f"zh/runs/?run={unknown}")
    until(view, "document.querySelector('#pl-explore [role=alert]').textContent")
    assert view.locator("#pl-explore [role=alert]").inner_text().startswith(f"网址中指定的运行“{unknown}”在本站不存在")


def test_an_address_of_a_run_that_has_a_page_leads_there(view: Any, start: str) -> None:
    run = next(each for each in SITE.runs if SITE.has_page(each))
    view.goto(f"{start}zh/runs/?run={run.id}")
    view.wait_for_url(f"{start}zh/{addresses.served(SITE.page(run))}")


def test_details_that_do_not_come_are_told_and_tried_again(browser: Any, start: str) -> None:
    page = browser.new_page()
    page.route("**/details_*.json.gz", lambda route: route.fulfill(status=404))
    opened(page, f"{start}runs/?run={SHOWN.id}")
    until(page, "document.querySelector('#pl-explore [role=alert]').textContent")
    assert page.locator("#pl-explore [role=alert]").inner_text() == (
        f"The run “{SHOWN.id}” could not be loaded. Reload the page to try again."
    )
    page.unroute("**/details_*.json.gz")
    page.locator("#pl-explore [name=text]").fill(SHOWN.id)
    first_is(page, SHOWN.id)
    page.locator(".tabulator-cell a").click()
    assert until_open(page)["id"] == SHOWN.id
    page.close()


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


def test_a_site_opened_from_the_disk_shows_a_run_on_demand(browser: Any, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built.parent / "docs", tmp_path / "docs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OFFLINE", "true")
        start = html(tmp_path).as_uri()
    page = browser.new_page()
    opened(page, f"{start}/zh/runs/index.html?run={SHOWN.id}")
    assert until_open(page)["id"] == SHOWN.id
    page.keyboard.press("Escape")
    page.locator("#pl-explore [name=text]").fill(ODD.id)
    first_is(page, ODD.id)
    page.locator(".tabulator-cell a").click()
    until(page, f"document.querySelector('.pl-slug').textContent === '{ODD.id}'")
    page.locator("#pl-explore-run a", has_text=str(ODD.case.model)).click()
    page.wait_for_url("**/zh/models/*/index.html")
    page.close()


def table_parts(built: Path) -> list[Path]:
    return sorted(each for each in (built / "data" / "explorer").glob("*.json.gz") if "details_" not in each.name)


def test_a_chosen_model_loads_the_parts_that_hold_it(view: Any, built: Path) -> None:
    parts = table_parts(built)
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
    slow = table_parts(built)[0].name
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


def test_parts_that_the_browser_has_unpacked_are_read(view: Any, start: str) -> None:
    """As from a server that names the compression of such files."""

    def unpacked(route: Any) -> None:
        route.fulfill(body=gzip.decompress(route.fetch().body()), content_type="application/json")

    view.route("**/data/explorer/*.json.gz", unpacked)
    view.goto(f"{start}runs/")
    done(view)
    assert status(view) == f"{len(RUNS)} of {len(RUNS)} runs"


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_part_that_does_not_come_is_told_and_the_tables_are_shown(browser: Any, start: str, language: str) -> None:
    page = browser.new_page()
    page.route("**/data/explorer/*.json.gz", lambda route: route.fulfill(status=404))
    page.goto(f"{start}{language}runs/")
    page.wait_for_selector(".pl-explore-failed")
    assert status(page).endswith({"": "or use the tables below.", "zh/": "或查看下方表格。"}[language])
    assert page.locator('.pl-explore-still a[href*="models/bert"]').first.is_visible()
    page.close()


@pytest.mark.parametrize("language", ["", "zh/"])
def test_without_scripts_counts_and_the_runs_with_pages_are_shown_and_no_filter(
    browser: Any, start: str, built: Path, language: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{start}{language}runs/")
    assert not page.locator("#pl-explore").is_visible()
    assert not page.locator("#pl-explore-table").is_visible()
    still = page.locator(".pl-explore-still")
    links = still.locator("a").evaluate_all("all => all.map(each => each.href)")
    own = {each.name for each in (built / language / "runs").iterdir() if each.is_dir()}
    found = (re.search(r"/runs/([^/#.]+)/$", each) for each in links)
    assert {each[1] for each in found if each} == own - {"tables"}
    assert len(own - {"tables"}) == SMALL.pages
    assert any(each.endswith("/models/bert/") for each in links)
    assert "data/runs.parquet" in still.inner_text()
    assert not page.locator("#pl-explore-run").is_visible()
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


def test_on_paper_the_tables_are_printed(view: Any) -> None:
    view.open("runs/")
    view.emulate_media(media="print")
    assert not view.locator("#pl-explore-table").is_visible()
    assert view.locator('.pl-explore-still a[href*="models/bert"]').first.is_visible()
