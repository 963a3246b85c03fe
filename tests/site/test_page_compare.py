"""The page that compares results: what is chosen, what may be compared, and why the rest may not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.site.render.text import slug
from perfledger.schema.records import from_json
from perfledger.schema.results import ResultRecord
from tests.builders import HARDWARE
from tests.site.conftest import serve

LANGUAGES = ("", "zh/")
#: A case that three frameworks ran on one device, and two on eight.
CASE = "?axis=framework&model=resnet50&precision=fp32&batch=64"
Record = dict[str, Any]
Visit = Callable[..., Any]
Look = Callable[..., Any]


# ---- results made by hand ----


def record(**other: Any) -> Record:
    """Return a result as in results.json; none of its figures was measured anywhere."""
    found: Record = {
        "id": "one", "origin": "measured", "suite": "resnet50", "page": "models/resnet50/", "source": None,
        "title": {"en": "ResNet-50 v1.5", "zh": "ResNet-50 v1.5"}, "model": "ResNet-50 v1.5", "hardware": "H",
        "framework": "PyTorch", "framework_version": "2.13.0", "nodes": 1, "devices": 8, "batch_size": 64,
        "precision": "amp", "group": "half", "options": {}, "round": "2026Q4", "rule": "sustained", "unit": "images/s",
        "value": 100.0, "text": "100.0", "low": 99.0, "high": 101.0, "spread": 0.01, "range": "99 – 101", "repeats": 3,
        "speedup": 7.6, "efficiency": 0.95, "metrics": {}, "outcome": "completed", "reason": None,
        "speedup_reason": None, "diverged": False, "witnesses": "agree",
        "conditions": {"driver": "535.54", "power_limit": "300", "cuda": "12.4", "image": "a:1"},
        "runs": [{"id": "one-1", "page": "runs/one-1/", "date": "2026-01-01", "log": "one/1/train.log", "sha256": "0"}],
    }  # fmt: skip
    conditions = {**found["conditions"], **other.pop("conditions", {})}
    return {**found, "conditions": {name: value for name, value in conditions.items() if value is not None}, **other}


def at(speed: float, spread: float = 1.0, **other: Any) -> Record:
    """Return a result of this speed, whose repeats differ by so much up and down."""
    return record(value=speed, text=f"{speed}", low=speed - spread, high=speed + spread, **other)


def memory(value: float, *sources: str) -> Record:
    one = {"value": value, "low": value - 1, "high": value + 1, "spread": 0.001, "repeats": 3, "unit": "MiB"}
    text = {"text": f"{value:,.0f}", "range": f"{value - 1:,.0f} – {value + 1:,.0f}"}
    return {"memory": {**one, **text, "better": "lower", "sources": list(sources)}}


PADDLE = {"framework": "PaddlePaddle", "framework_version": "3.3.1"}
TENSORFLOW = {"framework": "TensorFlow", "framework_version": "2.20"}
ONEFLOW = {"framework": "OneFlow", "framework_version": "1.0"}
MXNET = {"framework": "MXNet", "framework_version": "2.0"}
NAMES = ("JAX", "MXNet", "MindSpore", "OneFlow", "PaddlePaddle", "PyTorch", "TensorFlow", "New 1", "New 2", "New 3")
LAB = {
    "name": "A lab", "title": {"en": "A lab", "zh": "某实验室"}, "address": "https://example.org/x", "place": "x",
    "line": None, "trainer": None, "also": [],
}  # fmt: skip
OOM = {"code": "outcome", "args": {}, "text": {"en": "outcome of the run: out of memory", "zh": "显存不足"}}
#: Results by the page of the model that they are of: one for each question.
MADE: dict[str, list[Record]] = {
    "drivers": [
        record(id="a"),
        at(120.0, id="b", **PADDLE),
        record(id="c", **TENSORFLOW, conditions={"driver": "550.90"}),
        record(id="d", **MXNET, batch_size=32),
        record(id="e", **ONEFLOW, conditions={"power_limit": None}),
        record(id="f", framework="MindSpore", framework_version="2.6", rule="dlperf"),
    ],
    # AMP, FP16 and a patch of the driver are one workload; another driver and batch size are not.
    "levels": [
        record(id="a"),
        at(120.0, id="b", **PADDLE, precision="fp16"),
        at(90.0, id="c", **TENSORFLOW, conditions={"driver": "535.54.03"}, options={"xla": True}),
        at(90.0, id="d", **ONEFLOW, conditions={"driver": "550.90"}),
        at(90.0, id="e", **MXNET, batch_size=32),
    ],
    "versions": [
        at(110.0, id="new", framework_version="2.10.0", round="2026Q4", repeats=1),
        at(100.0, id="old", framework_version="2.9.0", round="2026Q3", repeats=1),
        at(120.0, id="other", **PADDLE, repeats=1),
    ],
    "near": [record(id="a"), at(98.5, id="b", **PADDLE)],
    "best": [record(id="a"), at(90.0, id="b", **PADDLE)],
    "wild": [record(id="a"), at(90.0, id="b", **PADDLE), at(80.0, 19.5, id="c", **TENSORFLOW)],
    "witnesses": [record(id="a", metrics=memory(9000.0, "log")), record(id="b", **PADDLE, witnesses="line")],
    "published": [
        record(id="a"),
        record(id="p", origin="published", framework_version=None, rule=None, source=LAB, value=105.5, text="105.50",
               runs=[], round="A lab 2020", conditions=dict.fromkeys(("driver", "power_limit", "cuda", "image"))),
    ],
    "twice": [
        record(id="a"),
        *(
            record(id=f"p{slug(value)}", origin="published", framework_version=None, rule=None, source=LAB, runs=[],
                   value=float(value), text=value, round="A lab 2020")
            for value in ("158.611", "158.6111", "153.56")
        ),
    ],
    "oom": [
        record(id="a"),
        record(id="b", **PADDLE, value=None, text=None, low=None, high=None, outcome="oom", reason=OOM,
               speedup=None, efficiency=None),
    ],
    "units": [record(id="a"), at(99.0, id="c", **PADDLE), record(id="b", **PADDLE, unit="words/s", devices=4)],
    "looks": [record(id=f"{slug(name)}-{size}", framework=name, devices=size) for name in NAMES for size in (8, 16)],
    "long": [record(id=f"x{each}", framework=f"Framework with a long name {each}") for each in range(12)],
    "evil": [record(id="a", framework='=HYPERLINK("x")', hardware="<img src=x onerror=alert(1)>")],
}  # fmt: skip
RECORDS = [{**each, "suite": name, "id": f"{each['id']}-{name}"} for name, of in MADE.items() for each in of]
#: Statistics of the repeats of two results. The page computes from them how many more repeats would settle a lead.
REPEATS = {
    (each["id"], "throughput"): Measured(each["value"], each["low"], each["high"], 3, 0.013, "images/s")
    for each in RECORDS if each["suite"] == "near"
}  # fmt: skip


def told(page: Any, found: list[Record]) -> None:
    """Make the page read these results instead of those of the site."""
    serve(page, [from_json(each, ResultRecord) for each in found], REPEATS)


# ---- the page ----


def ready(page: Any) -> Any:
    page.wait_for_selector("#pl-compare .pl-compare-status")
    return page


def ask(page: Any, query: str) -> Any:
    """Show what an address asks for, as the browser's own way back does, without loading the page again."""
    page.evaluate(
        "query => { history.pushState(null, '', query); dispatchEvent(new PopStateEvent('popstate')); }", query
    )
    assert page.wrong == []
    return page


@pytest.fixture(scope="module")
def look(stay: Visit, home: str) -> Look:
    """Return a function that shows a choice of the site's results, on one page for each language."""
    pages: dict[str, Any] = {}

    def shown(query: str = "?", language: str = "") -> Any:
        if language not in pages:
            pages[language] = ready(stay(f"{home}{language}compare/"))
        return ask(pages[language], query)

    return shown


@pytest.fixture(scope="module")
def made(stay: Visit, home: str) -> Look:
    """Return a function that shows made-up results of one question, as `look` does."""
    pages: dict[str, Any] = {}

    def shown(question: str, query: str = "", language: str = "") -> Any:
        if language not in pages:
            page = pages[language] = stay("about:blank")
            told(page, RECORDS)
            page.goto(f"{home}{language}compare/")
            ready(page)
        return ask(pages[language], f"?model={question}{query if 'axis=' in query else '&axis=framework' + query}")

    return shown


def rows(page: Any) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll('#pl-compare tbody tr[data-id]')].map(
          row => [...row.cells].map(cell => cell.innerText.trim()))"""
    )
    return found


def figures(page: Any) -> list[tuple[str, str]]:
    """Return the framework and the figure of each row."""
    heads: list[str] = page.evaluate(
        "[...document.querySelectorAll('#pl-compare thead th')].map(each => each.innerText)"
    )
    at = next(
        index
        for index, each in enumerate(heads)
        if "images/s" in each or "ms" in each or each in ("Speed-up", "加速比")
    )
    who = next(index for index, each in enumerate(heads) if each in ("Framework", "框架"))
    return [tuple(row[index].split("\n")[0] for index in (who, at)) for row in rows(page)]  # type: ignore[misc]


def row_of(page: Any, framework: str) -> str:
    """Return the text of the only row of a framework."""
    head = page.locator("th", has_text=re.compile(rf"^{framework}[0-9]"))
    found = page.locator("#pl-compare tbody tr[data-id]", has=head)
    assert found.count() == 1, framework
    return str(found.inner_text())


def spec_of(page: Any) -> Any:
    return page.evaluate("plChart.present(document.querySelector('#pl-compare-chart')).spec")


def drawn(page: Any) -> dict[str, list[float | None]]:
    """Return the values that the chart itself has, by the label of their series; None where it has none."""
    spec = spec_of(page)
    if spec["kind"] == "dots":
        places = [{row["label"]: row.get("value") for row in panel["rows"]} for panel in spec["panels"]]
        return {label: [each.get(label) for each in places] for label in {name for each in places for name in each}}
    return {
        line["label"]: [points.get(tick["at"]) for tick in spec["x"]["ticks"]]
        for line in spec["series"]
        for points in [{each["x"]: each["y"] for each in line["points"]}]
    }


def choose(page: Any, name: str, value: str) -> None:
    """Choose a chip, or an entry of a list."""
    group = page.locator(f".pl-chips [data-name={name}]")
    if group.locator("select").count():
        group.locator("select").select_option(value)
    elif chosen(page, name) != value:
        group.locator(f'button[value="{value}"]').click()


def chosen(page: Any, name: str) -> str:
    return str(page.evaluate(f"plChips.choice[{json.dumps(name)}]"))


def offered(page: Any, name: str) -> list[str]:
    """Return the values of a group that a reader can choose."""
    chips = page.locator(f".pl-chips [data-name={name}] :is(button, option):enabled:not([hidden])")
    return [str(each) for each in chips.evaluate_all("all => all.map(each => each.value)") if each != "all"]


def said(page: Any) -> str:
    return str(page.locator(".pl-chips [role=status]").inner_text())


def query(page: Any) -> dict[str, list[str]]:
    return parse_qs(str(page.evaluate("location.search")).removeprefix("?"), keep_blank_values=True)


def results_of(site: Path) -> list[Record]:
    found: list[Record] = json.loads((site / "data" / "results.json").read_text("utf-8"))["results"]
    return [each for each in found if each["origin"] == "measured" and each["hardware"] == HARDWARE]


# ---- the results of the site ----


def test_choosing_changes_table_chart_and_address(look: Look, whole: Path) -> None:
    page = look(CASE, "zh/")
    known = {
        (each["framework"], each["devices"]): each
        for each in results_of(whole)
        if (each["suite"], each["precision"], each["batch_size"]) == ("resnet50", "fp32", 64)
    }
    assert sorted(figures(page)) == sorted((framework, each["text"]) for (framework, _), each in known.items())
    assert drawn(page)["PyTorch"] == [known["PyTorch", 1]["value"], known["PyTorch", 8]["value"]]
    assert drawn(page)["TensorFlow"] == [known["TensorFlow", 1]["value"], None]
    said = [cell.split("\n") for row in rows(page) for cell in row]
    assert all([each["text"], f"{each['range']}、2 次"] in said for each in known.values())
    choose(page, "precision", "half")
    assert "precision" not in query(page), "the usual one"
    assert {figure for _, figure in figures(page)}.isdisjoint(each["text"] for each in known.values())
    choose(page, "precision", "fp32")
    choose(page, "devices", "8")
    assert query(page)["devices"] == ["8"]
    frameworks = [name for name, _ in figures(page)]
    assert sorted(frameworks) == ["PaddlePaddle", "PyTorch"]
    assert figures(page) == [(name, known[name, 8]["text"]) for name in frameworks]
    assert drawn(page) == {name: [known[name, 8]["value"]] for name in frameworks}
    choose(page, "metric", "latency")
    assert sorted(figures(page)) == sorted((name, known[name, 8]["metrics"]["latency"]["text"]) for name in frameworks)
    page = look(CASE.replace("axis=framework", "axis=devices") + "&metric=speedup&framework=PyTorch")
    speedup = known["PyTorch", 8]["speedup"]
    assert drawn(page) == {"PyTorch": [1.0, speedup]}
    assert [row[0] for row in rows(page)] == ["1", "8"]
    assert figures(page) == [("PyTorch", "1.00×"), ("PyTorch", f"{speedup:.2f}×")]


def test_a_shared_address_opens_the_same_choice_back_leads_back_and_the_other_language_keeps_it(
    visit: Visit, home: str
) -> None:
    page = ready(visit(f"{home}zh/compare/{CASE}"))
    choose(page, "precision", "half")
    choose(page, "devices", "1")
    choose(page, "metric", "latency")
    shared, shown, kept = str(page.evaluate("location.href")), rows(page), drawn(page)
    page.go_back()
    assert "metric" not in query(page)
    assert rows(page) != shown
    page.go_back()
    assert chosen(page, "devices") == "all"
    page.go_forward()
    page.go_forward()
    assert (page.evaluate("location.href"), rows(page)) == (shared, shown)
    page.goto("about:blank")
    page.goto(shared)
    ready(page)
    assert (page.evaluate("location.href"), rows(page), drawn(page)) == (shared, shown, kept)
    before, said = query(page), figures(page)
    page.locator(".md-select button").hover()
    page.locator('.md-select a[hreflang="en"]').click()
    page.wait_for_url("**/sub/compare/?**")
    page.wait_for_selector("#pl-compare tbody tr")
    assert (query(page), figures(page)) == (before, said)


@pytest.mark.parametrize(("language", "sentence"), [("", "There is no"), ("zh/", "此处没有")])
def test_an_address_that_asks_for_what_is_gone_says_so_and_shows_something_else(
    visit: Visit, home: str, language: str, sentence: str
) -> None:
    asked = "?model=resnet50&hardware=Nothing+9000&axis=colour&level=loose&devices=77"
    page = ready(visit(f"{home}{language}compare/{asked}"))
    gone = said(page)
    assert all(each in gone for each in ("Nothing 9000", "77", "colour", "loose"))
    assert gone.count(sentence) == 4
    assert [chosen(page, each) for each in ("level", "hardware", "devices")] == ["workload", HARDWARE, "all"]
    choose(page, "precision", "fp32")
    assert said(page) == ""


def test_everything_has_a_label_and_can_be_chosen_with_the_keyboard(look: Look) -> None:
    page = look(CASE)
    assert "Throughput (images/s)" in page.locator("#pl-compare-chart").get_attribute("aria-label")
    page.locator(".pl-chips [data-name=axis] button[aria-pressed=true]").focus()
    reached: list[str | None] = []
    for _ in range(40):
        reached.append(page.evaluate("document.activeElement.closest('[data-name]')?.dataset.name"))
        page.keyboard.press("Tab")
    assert {"axis", "model", "level", "precision", "devices", "metric"} <= {*reached}
    page.locator(".pl-chips [data-name=precision] button[value=half]").focus()
    page.keyboard.press("Enter")
    assert chosen(page, "precision") == "half"
    assert page.evaluate("document.activeElement.value") == "half"


def test_the_page_opens_on_the_hardware_of_the_front_page_and_links_carry_the_choice(visit: Visit, home: str) -> None:
    page = ready(visit(f"{home}compare/"))
    assert chosen(page, "hardware") == HARDWARE
    page = ready(visit(f"{home}compare/{CASE}&hardware=Other+accelerator+(made+up)"))
    front = page.locator(".md-tabs a").first
    assert "hardware=Other+accelerator" in front.get_attribute("href")
    assert "axis" not in front.get_attribute("href"), "it has other axes"


def test_a_figure_and_its_dot_lead_to_the_run_and_the_chart_follows_light_and_dark(visit: Visit, home: str) -> None:
    page = ready(visit(f"{home}zh/compare/{CASE}"))
    assert page.locator("#pl-compare caption a").get_attribute("href") == home + "zh/models/resnet50/"
    page.locator("#pl-compare tbody tr[data-id]").first.locator(".pl-n a").click()
    page.wait_for_url(re.compile(f"{home}zh/runs/.*resnet50-paddlepaddle-n1d1-fp32-"))
    page.goto(f"{home}compare/{CASE}")
    ink = "getComputedStyle(document.querySelector('#pl-compare-chart .pl-drawn text')).fill"
    ready(page).wait_for_selector("#pl-compare-chart .pl-drawn text")
    light = page.evaluate(ink)
    page.locator(".md-header label[for=__palette_1]").click()
    page.wait_for_function("() => document.body.dataset.mdColorScheme === 'slate'")
    page.wait_for_function(f"() => {ink} !== {json.dumps(light)}")
    mark = page.locator("#pl-compare-chart a.pl-mark").first
    mark.focus()
    said = page.locator("#pl-compare-chart .pl-tip").inner_text()
    assert "batch size 64" in said
    assert "images/s" in said
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", said)
    page.keyboard.press("Escape")
    assert not page.locator("#pl-compare-chart .pl-tip").is_visible()
    mark.click()
    page.wait_for_url(re.compile(f"{home}runs/.*resnet50-"))


def test_the_chart_fits_the_paper_and_readers_without_scripts_are_led_to_the_models(visit: Visit, home: str) -> None:
    page = visit(f"{home}compare/")
    page.wait_for_selector("#pl-compare-chart .pl-drawn svg")
    page.emulate_media(media="print")
    # Paper is narrower than the screen, and no observer makes the chart draw itself again: all is measured at once.
    chart, room = page.evaluate(
        """() => {
          document.querySelector("#pl-compare-chart").style.width = "500px";
          return ["#pl-compare-chart .pl-drawn svg", "#pl-compare-chart"]
            .map(each => document.querySelector(each).getBoundingClientRect().toJSON());
        }"""
    )
    assert chart["right"] <= room["right"] + 1
    assert chart["bottom"] <= room["bottom"] + 1
    assert not page.locator(".pl-saves:visible, .pl-legends:visible").count()
    plain = visit(f"{home}zh/compare/", java_script_enabled=False)
    assert "JavaScript" in plain.locator("article").inner_text()
    plain.locator("#pl-compare-models a", has_text="ResNet-50 v1.5").click()
    plain.wait_for_url(home + "zh/models/resnet50/")


# ---- made-up results ----


@pytest.mark.parametrize(
    ("language", "said", "unknown"),
    [
        (
            "", ("driver: 550.90 (reference: 535.54)", "rule: "), "Not stated: power limit",
        ),
        (
            "zh/", ("驱动版本：550.90（基准为 535.54）", "统计规则："), "未注明：功耗上限",
        ),
    ],
)  # fmt: skip
def test_what_may_not_be_compared_is_listed_without_a_ratio_and_says_why(
    made: Look, language: str, said: tuple[str, ...], unknown: str
) -> None:
    page = made("drivers", language=language)
    compared = {"PyTorch", "PaddlePaddle", "OneFlow"}
    assert set(drawn(page)) == compared
    assert {name for name, _ in figures(page)} == {*compared, "TensorFlow", "MindSpore"}
    for framework in compared:
        assert "%" in row_of(page, framework).replace("±1.0%", ""), framework
    driver, rule = said
    for framework, words_said in (("TensorFlow", driver), ("MindSpore", rule)):
        assert words_said in row_of(page, framework)
        assert "%" not in row_of(page, framework).replace("±1.0%", ""), framework
    assert offered(page, "batch") == ["32", "64"], "what the choice leaves out is not a row"
    assert unknown in row_of(page, "OneFlow")
    assert all(each in page.locator(".pl-compare-status").inner_text() for each in "52")


def test_the_level_decides_what_has_a_ratio_and_is_in_the_address(made: Look) -> None:
    page = made("levels")
    assert chosen(page, "precision") == "half"
    assert "level" not in query(page)
    assert set(drawn(page)) == {"PyTorch", "PaddlePaddle", "TensorFlow"}
    assert "1.18–1.22×, clear" in row_of(page, "PyTorch")
    assert "precision: AMP (reference: FP16)" in row_of(page, "PyTorch")
    assert "driver: 535.54.03 (reference: 535.54)" in row_of(page, "TensorFlow")
    assert "×" not in row_of(page, "OneFlow")
    choose(page, "level", "identical")
    assert query(page)["level"] == ["identical"]
    assert {label for label, values in drawn(page).items() if values[0]} == {"PyTorch"}
    assert "×" not in row_of(page, "PaddlePaddle")
    assert "driver: 535.54.03 (reference: 535.54)" in row_of(page, "TensorFlow")
    assert "×" not in row_of(page, "TensorFlow")
    choose(page, "level", "everything")
    assert offered(page, "precision") == []
    assert set(drawn(page)) == {"PyTorch", "PaddlePaddle", "TensorFlow", "OneFlow", "MXNet"}
    assert "driver: 550.90 (reference: 535.54)" in row_of(page, "OneFlow")
    assert "batch size per device: 32 (reference: 64)" in row_of(page, "MXNet")
    assert all("1.31–1.36×, clear" in row_of(page, each) for each in ("TensorFlow", "OneFlow", "MXNet"))
    shared, shown = str(page.evaluate("location.search")), rows(page)
    assert rows(ask(page, "?axis=framework&model=drivers")) != shown
    assert rows(ask(page, shared)) == shown


def test_the_fastest_represents_a_framework_and_its_versions_and_rounds_can_be_compared(made: Look) -> None:
    page = made("versions")
    assert drawn(page) == {"PaddlePaddle": [120.0], "PyTorch": [110.0]}
    assert figures(page) == [("PaddlePaddle", "120.0"), ("PyTorch", "110.0"), ("PyTorch", "100.0")]
    assert "2.9.0" in page.locator("#pl-compare tbody tr").last.inner_text()
    choose(page, "axis", "version")
    assert [row[0] for row in rows(page)] == ["2.9.0", "2.10.0"]
    assert figures(page) == [("PyTorch", "100.0"), ("PyTorch", "110.0")]
    assert [each for row in rows(page) for each in row if "%" in each and "±" not in each] == ["100.0%", "110.0%"]
    choose(page, "axis", "round")
    assert [row[0] for row in rows(page)] == ["2026Q3", "2026Q4"]


@pytest.mark.parametrize(("language", "more"), [("", "about 9 runs each"), ("zh/", "各跑约 9 次")])
def test_a_lead_says_how_many_runs_would_settle_it(made: Look, language: str, more: str) -> None:
    assert more in row_of(made("near", language=language), "PaddlePaddle")


def test_a_throughput_with_one_witness_says_so(made: Look) -> None:
    page = made("witnesses")
    assert "unchecked" in row_of(page, "PaddlePaddle")
    assert "unchecked" not in row_of(page, "PyTorch")
    assert "unchecked" not in made("witnesses", "&metric=memory").locator("#pl-compare tbody").inner_text()


def test_published_figures_are_off_until_asked_for_and_marked_as_those_of_others(made: Look) -> None:
    page = made("published", language="zh/")
    assert figures(page) == [("PyTorch", "100.0")]
    choose(page, "origin", "all")
    assert query(page)["origin"] == ["all"]
    (name, figure), (_, second) = figures(page)
    assert (figure, second) == ("105.50", "100.0")
    assert name == "PyTorch"
    assert "第三方公布：某实验室" in page.locator("#pl-compare tbody tr.pl-apart").inner_text()
    assert page.locator("#pl-compare tbody tr.pl-apart").count() == 1
    assert page.locator("#pl-compare tbody a", has_text="105.50").get_attribute("href") == "https://example.org/x"
    assert set(drawn(page)) == {"PyTorch", "PyTorch（第三方公布：某实验室）"}
    assert "未知" in page.locator(".pl-compare-notes").inner_text()


def test_a_result_without_a_figure_is_shown_with_its_reason(made: Look) -> None:
    page = made("oom")
    assert [(name, figure.split("\n")[0][:3]) for name, figure in figures(page)] == [
        ("PyTorch", "100"),
        ("PaddlePaddle", "OOM"),
    ]
    assert "out of memory" in page.locator("#pl-compare tbody").inner_text()
    assert [row["text"] for row in spec_of(page)["panels"][0]["rows"]] == ["OOM", "100.0 images/s"]
    assert page.locator("#pl-compare-chart svg text:text-is('OOM')").count() == 1


def test_figures_of_different_units_never_share_an_axis_or_have_a_ratio(made: Look) -> None:
    page = made("units")
    assert set(drawn(page)) == {"PaddlePaddle", "PyTorch"}
    assert len(spec_of(page)["panels"]) == 1
    row = page.locator("#pl-compare tbody tr", has_text="words/s").inner_text()
    assert "No other result of this size" in row


def test_values_that_a_source_prints_twice_are_one_row(made: Look) -> None:
    page = made("twice", "&origin=all")
    assert [figure for _, figure in figures(page)] == ["158.6111", "153.56", "100.0"]


def test_no_two_series_look_alike_though_their_frameworks_share_an_ink(made: Look) -> None:
    page = made("looks", "&axis=devices")
    looks = page.locator("#pl-compare-chart polyline").evaluate_all(
        "all => all.map(each => getComputedStyle(each).stroke + getComputedStyle(each).strokeDasharray)"
    )
    assert len(looks) == len(set(looks)) == len(NAMES)
    page = made("looks")
    assert {row["label"] for panel in spec_of(page)["panels"] for row in panel["rows"]} == set(NAMES)


def test_the_page_runs_nothing_that_came_from_a_log(made: Look) -> None:
    assert made("evil").locator("#pl-compare img").count() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_comparison_fits_a_phone(made: Look, language: str) -> None:
    page = made("long", language=language)
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    assert width <= 390


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [("results", 404, ""), ("results", 200, '{"results": [null]}'), ("comparisons", 404, "")],
)
def test_results_that_do_not_arrive_are_missed_in_words_and_the_models_offered(
    visit: Visit, home: str, name: str, status: int, body: str
) -> None:
    page = visit("about:blank")
    page.route(f"**/data/{name}.json", lambda route: route.fulfill(status=status, body=body))
    page.goto(home + "compare/")
    page.wait_for_selector("#pl-compare [role=alert]")
    assert f"data/{name}.json" in page.locator("#pl-compare").inner_text()
    assert page.locator("#pl-compare-models a").first.is_visible()
    page.wrong.clear()


def test_many_results_are_chosen_from(visit: Visit, home: str, whole: Path) -> None:
    many = [each for each in results_of(whole) if (each["suite"], each["precision"]) == ("resnet50", "fp32")]
    copies = [
        {**deepcopy(each), "id": f"{each['id']}-{index}", "hardware": f"Accelerator {index:02}"}
        for index in range(100)
        for each in many
    ]
    assert len(copies) > 600
    page = visit("about:blank")
    told(page, copies)
    page.goto(f"{home}compare/{CASE}&hardware=Accelerator+23")
    assert len(rows(ready(page))) == 5
    choose(page, "axis", "hardware")
    assert len({row[0] for row in rows(page)}) == 100
