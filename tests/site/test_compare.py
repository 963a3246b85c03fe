"""The page that compares results: what is chosen, what may stand together, and why the rest does not."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from ingest.common import words
from ingest.compute import comparison
from ingest.compute.contrast import Measured
from ingest.site.pages import compare
from schema.records import from_json
from schema.results import ResultRecord
from tests import builders
from tests.site.conftest import ROOT, html, serve

ASSETS = ROOT / "report_templates" / "theme" / "assets"
VENDOR = ASSETS / "vendor"
LANGUAGES = ("", "zh/")
Record = dict[str, Any]


# ---- what is shipped ----


def test_every_library_of_others_is_the_one_that_is_written_down_with_its_licence() -> None:
    libraries = tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))["library"]
    for each in libraries:
        assert hashlib.sha256((VENDOR / each["file"]).read_bytes()).hexdigest() == each["sha256"], each["file"]
        licence = (VENDOR / each["licence_file"]).read_text("utf-8")
        assert each["licence"] in licence
        assert "Copyright" in licence
    told = {each[key] for each in libraries for key in ("file", "licence_file")} | {"vendor.toml"}
    assert told == {path.name for path in VENDOR.iterdir()}


def test_pages_with_charts_load_the_script_that_draws_them_and_no_others(site: Path) -> None:
    """The charts below the rows of the front page load it when the first is opened, which its own test shows."""
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        drawn = any(each in page for each in ('<figure class="pl-chart"', 'id="pl-compare"'))
        assert page.count("assets/js/charts.js") == (1 if drawn else 0), path


def test_every_word_that_its_scripts_say_is_in_the_words_file_and_on_the_page() -> None:
    entries = words.load().entries
    source = "".join(path.read_text("utf-8") for path in sorted((ASSETS / "js").glob("compare*.js")))
    said = set(re.findall(r'"((?:chart|compare|metric|report|site|table)\.[a-z_]*[a-z])"', source))
    said |= {f"compare.{each}" for each in (*comparison.DIMENSIONS, "by", "model", "metric", "copy", "csv", "json")}
    assert len(said) > 60
    assert said - entries.keys() == set()
    assert {each.partition(".")[0] for each in said} <= set(compare.COMPARE_WORDS)


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


PADDLE = {"framework": "PaddlePaddle", "framework_version": "3.3.1"}

# ---- the page ----


def opened(page: Any, to: str) -> None:
    page.goto(to)
    page.wait_for_selector("#pl-compare .pl-compare-status")


def told(page: Any, found: list[Record]) -> None:
    """Make the page read these results instead of those of the site."""
    serve(page, [from_json(each, ResultRecord) for each in found])


def rows(page: Any) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll('#pl-compare tbody tr')].map(
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
    return [(row[who], row[at]) for row in rows(page)]


def row_of(page: Any, framework: str) -> str:
    """Return the text of the only row of a framework."""
    found = page.locator("#pl-compare tbody tr", has=page.locator(f'th:text-is("{framework}")'))
    assert found.count() == 1, framework
    return str(found.inner_text())


def drawn(page: Any) -> dict[str, list[float | None]]:
    """Return the values that the chart itself holds, by the label of their series; None where there is none."""
    spec = spec_of(page)
    if spec["kind"] == "dots":
        places = [{row["label"]: row.get("value") for row in panel["rows"]} for panel in spec["panels"]]
        return {label: [each.get(label) for each in places] for label in {name for each in places for name in each}}
    return {
        line["label"]: [points.get(tick["at"]) for tick in spec["x"]["ticks"]]
        for line in spec["series"]
        for points in [{each["x"]: each["y"] for each in line["points"]}]
    }


def spec_of(page: Any) -> Any:
    return page.evaluate("plChart.present(document.querySelector('#pl-compare-chart')).spec")


def choose(page: Any, name: str, value: str) -> None:
    page.select_option(f"#pl-c-{name}", f"={value}")


def query(page: Any) -> dict[str, list[str]]:
    return parse_qs(str(page.evaluate("location.search")).removeprefix("?"), keep_blank_values=True)


def results_of(site: Path) -> list[Record]:
    found: list[Record] = json.loads((site / "data" / "results.json").read_text("utf-8"))["results"]
    return found


def test_choosing_changes_table_chart_and_address(page: Any, address: str, site: Path) -> None:
    opened(page, address + "zh/compare/?model=resnet50&precision=fp32&batch=64")
    known = {
        (each["framework"], each["devices"]): each
        for each in results_of(site)
        if (each["suite"], each["precision"], each["batch_size"]) == ("resnet50", "fp32", 64)
    }
    assert sorted(figures(page)) == sorted((framework, each["text"]) for (framework, _), each in known.items())
    assert drawn(page)["PyTorch"] == [known["PyTorch", 1]["value"], known["PyTorch", 8]["value"]]
    assert drawn(page)["TensorFlow"] == [known["TensorFlow", 1]["value"], None]

    choose(page, "precision", "amp")
    assert query(page)["precision"] == ["amp"]
    assert {figure for _, figure in figures(page)}.isdisjoint(each["text"] for each in known.values())
    choose(page, "precision", "fp32")
    page.uncheck("#pl-c-framework-TensorFlow")
    page.uncheck("#pl-c-devices-8")
    assert query(page)["framework"] == ["PaddlePaddle", "PyTorch"]
    assert figures(page) == [(name, known[name, 1]["text"]) for name in ("PaddlePaddle", "PyTorch")]
    assert drawn(page) == {name: [known[name, 1]["value"]] for name in ("PaddlePaddle", "PyTorch")}
    choose(page, "metric", "latency")
    assert figures(page) == [
        (name, known[name, 1]["metrics"]["latency"]["text"]) for name in ("PaddlePaddle", "PyTorch")
    ]


def test_scaling_is_drawn_over_the_devices_with_the_ideal(page: Any, address: str, site: Path) -> None:
    opened(
        page, address + "compare/?model=resnet50&precision=fp32&batch=64&by=devices&metric=speedup&framework=PyTorch"
    )
    known = [
        each
        for each in results_of(site)
        if (each["framework"], each["precision"], each["batch_size"]) == ("PyTorch", "fp32", 64)
    ]
    value = {each["devices"]: each["speedup"] for each in known if each["suite"] == "resnet50"}
    assert drawn(page) == {"PyTorch": [1.0, value[8]]}
    assert [row[0] for row in rows(page)] == ["1", "8"]
    assert figures(page) == [("PyTorch", "1.00×"), ("PyTorch", f"{value[8]:.2f}×")]


def test_a_shared_address_opens_the_same_choice_and_back_leads_back(page: Any, address: str) -> None:
    opened(page, address + "zh/compare/")
    choose(page, "precision", "amp")
    page.uncheck("#pl-c-framework-TensorFlow")
    choose(page, "metric", "latency")
    shared, shown, held = str(page.evaluate("location.href")), rows(page), drawn(page)
    page.go_back()
    assert "metric" not in query(page)
    assert rows(page) != shown
    page.go_back()
    assert page.locator("#pl-c-framework-TensorFlow").is_checked()
    page.go_forward()
    page.go_forward()
    assert (page.evaluate("location.href"), rows(page)) == (shared, shown)
    page.goto("about:blank")
    opened(page, shared)
    assert (page.evaluate("location.href"), rows(page), drawn(page)) == (shared, shown, held)


def test_the_language_switch_keeps_the_choice(page: Any, address: str) -> None:
    opened(page, address + "compare/")
    choose(page, "precision", "amp")
    page.uncheck("#pl-c-framework-PaddlePaddle")
    before, shown = query(page), figures(page)
    page.locator(".md-select button").hover()
    page.locator('.md-select a[hreflang="zh"]').click()
    page.wait_for_url("**/zh/compare/?**")
    page.wait_for_selector("#pl-compare tbody tr")
    assert (query(page), figures(page)) == (before, shown)


@pytest.mark.parametrize(("language", "sentence"), [("", "is not available"), ("zh/", "已不再提供")])
def test_an_address_that_asks_for_what_is_gone_says_so_and_shows_something_else(
    page: Any, address: str, language: str, sentence: str
) -> None:
    opened(
        page,
        address
        + language
        + "compare/?model=resnet50&hardware=Nothing+9000&framework=PyTorch&framework=Caffe&by=colour&option.xla=1",
    )
    gone = page.locator(".pl-compare-gone").inner_text()
    assert all(each in gone for each in ("Nothing 9000", "Caffe", "colour"))
    assert gone.count(sentence) == 4
    assert {name for name, _ in figures(page)} == {"PyTorch"}
    assert query(page)["hardware"] == [builders.HARDWARE]
    choose(page, "precision", "amp")
    assert page.locator(".pl-compare-gone").inner_text() == ""


DRIVERS = [
    record(id="a"),
    record(id="b", **PADDLE, value=120.0, text="120.0"),
    record(id="c", framework="TensorFlow", framework_version="2.20", conditions={"driver": "550.90"}),
    record(id="d", framework="MXNet", framework_version="2.0", batch_size=32),
    record(id="e", framework="OneFlow", framework_version="1.0", conditions={"power_limit": None}),
    record(id="f", framework="MindSpore", framework_version="2.6", rule="dlperf"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "said", "unknown"),
    [
        (
            "", ("driver: 550.90 (reference: 535.54)", "batch size per device: 32 (reference: 64)", "rule: "),
            "Power limit is unknown for OneFlow.",
        ),
        (
            "zh/", ("驱动版本：550.90（基准为 535.54）", "单设备 batch size：32（基准为 64）", "统计规则："),
            "OneFlow 的功耗上限未知。",
        ),
    ],
)  # fmt: skip
def test_what_may_not_be_compared_is_listed_without_a_ratio_and_says_why(
    page: Any, address: str, language: str, said: tuple[str, ...], unknown: str
) -> None:
    told(page, DRIVERS)
    opened(page, address + language + "compare/")
    compared = {"PyTorch", "PaddlePaddle", "OneFlow"}
    assert set(drawn(page)) == compared
    assert {name for name, _ in figures(page)} == {*compared, "TensorFlow", "MindSpore"}
    for framework in compared:
        assert "%" in row_of(page, framework).replace("±1.0%", ""), framework
    driver, batch, rule = said
    for framework, words_said in (("TensorFlow", driver), ("MindSpore", rule)):
        assert words_said in row_of(page, framework)
        assert "%" not in row_of(page, framework).replace("±1.0%", ""), framework
    # What the choice leaves out is no row.
    (entry,) = page.locator(".pl-compare-out li").all_inner_texts()
    assert entry.startswith("MXNet")
    assert batch in entry
    assert unknown in page.locator(".pl-compare-notes").inner_text()
    assert all(each in page.locator(".pl-compare-status").inner_text() for each in "521")


def test_what_has_no_ratio_can_become_what_others_are_held_against(page: Any, address: str) -> None:
    told(page, DRIVERS)
    opened(page, address + "compare/")
    page.locator("#pl-compare tbody tr", has_text="TensorFlow").get_by_role("button").click()
    assert set(drawn(page)) == {"TensorFlow"}
    assert query(page)["ref"] == ["c"]
    assert "driver: 535.54 (reference: 550.90)" in row_of(page, "PyTorch")


def test_the_level_decides_what_has_a_ratio_and_lies_in_the_address(page: Any, address: str) -> None:
    """AMP, FP16 and a patch of the driver are one workload; another driver and batch size are not."""
    one, two = {"low": 119.0, "high": 121.0}, {"low": 89.0, "high": 91.0}
    told(page, [
        record(id="a"),
        record(id="b", **PADDLE, **one, value=120.0, text="120.0", precision="fp16"),
        record(id="c", framework="TensorFlow", framework_version="2.20", **two, value=90.0, text="90.0",
               conditions={"driver": "535.54.03"}, options={"xla": True}),
        record(id="d", framework="OneFlow", framework_version="1.0", **two, value=90.0, text="90.0",
               conditions={"driver": "550.90"}),
        record(id="e", framework="MXNet", framework_version="2.0", **two, value=90.0, text="90.0", batch_size=32),
    ])  # fmt: skip
    opened(page, address + "compare/")
    assert query(page)["precision"] == ["half"]
    assert "level" not in query(page)
    assert page.locator("#pl-c-precision option:checked").inner_text() == "Mixed and half precision"
    assert set(drawn(page)) == {"PyTorch", "PaddlePaddle", "TensorFlow"}
    assert "1.18–1.22×, clear" in row_of(page, "PyTorch")
    assert "precision: AMP (reference: FP16)" in row_of(page, "PyTorch")
    assert "driver: 535.54.03 (reference: 535.54)" in row_of(page, "TensorFlow")
    assert "×" not in row_of(page, "OneFlow")
    assert page.locator("#pl-compare tbody b").all_inner_texts() == ["120.0"]

    choose(page, "level", "identical")
    assert query(page)["level"] == ["identical"]
    assert query(page)["precision"] == ["amp"]
    assert "half" not in page.locator("#pl-c-precision").inner_text()
    assert set(drawn(page)) == {"PyTorch"}
    assert "driver: 535.54.03 (reference: 535.54)" in row_of(page, "TensorFlow")
    assert "×" not in row_of(page, "TensorFlow")

    choose(page, "level", "everything")
    assert "precision" not in query(page)
    assert set(drawn(page)) == {"PyTorch", "PaddlePaddle", "TensorFlow", "OneFlow", "MXNet"}
    assert "driver: 550.90 (reference: 535.54)" in row_of(page, "OneFlow")
    assert "batch size per device: 32 (reference: 64)" in row_of(page, "MXNet")
    assert all("1.31–1.36×, clear" in row_of(page, each) for each in ("TensorFlow", "OneFlow", "MXNet"))
    shared, shown = str(page.evaluate("location.href")), rows(page)
    page.goto("about:blank")
    opened(page, shared)
    assert (page.evaluate("location.href"), rows(page)) == (shared, shown)


@pytest.mark.parametrize(("language", "sentence"), [("", "is not available"), ("zh/", "已不再提供")])
def test_a_level_that_is_none_is_explained(page: Any, address: str, language: str, sentence: str) -> None:
    opened(page, address + language + "compare/?level=loose")
    gone = page.locator(".pl-compare-gone").inner_text()
    assert "loose" in gone
    assert sentence in gone
    assert page.locator("#pl-c-level").input_value() == "=workload"


@pytest.mark.parametrize(("language", "more"), [("", "about 9 runs each"), ("zh/", "各跑约 9 次")])
def test_a_lead_says_how_many_runs_would_settle_it(page: Any, address: str, language: str, more: str) -> None:
    near = record(id="b", **PADDLE, value=98.5, text="98.5", low=97.5, high=99.5)
    serve(page, [from_json(each, ResultRecord) for each in (record(id="a"), near)], {
        (name, "throughput"): Measured(value, value - 1, value + 1, 3, 0.013, "images/s")
        for name, value in (("a", 100.0), ("b", 98.5))
    })  # fmt: skip
    opened(page, address + language + "compare/")
    assert more in row_of(page, "PaddlePaddle")


def test_the_fastest_stands_for_a_framework_and_its_versions_and_rounds_can_be_compared(
    page: Any, address: str
) -> None:
    found = [
        record(id="new", framework_version="2.10.0", value=110.0, text="110.0", round="2026Q4", repeats=1),
        record(id="old", framework_version="2.9.0", value=100.0, text="100.0", round="2026Q3", repeats=1),
        record(id="other", **PADDLE, value=120.0, text="120.0", repeats=1),
    ]
    told(page, found)
    opened(page, address + "compare/")
    assert drawn(page) == {"PaddlePaddle": [120.0], "PyTorch": [110.0]}
    assert figures(page) == [("PaddlePaddle", "120.0"), ("PyTorch", "110.0"), ("PyTorch", "100.0")]
    assert "framework version: 2.9.0 (reference: 2.10.0)" in page.locator("#pl-compare tbody tr").last.inner_text()
    choose(page, "by", "version")
    assert [row[0] for row in rows(page)] == ["2.9.0", "2.10.0"]
    assert figures(page) == [("PyTorch", "100.0"), ("PyTorch", "110.0")]
    assert [each for row in rows(page) for each in row if "%" in each and "±" not in each] == ["100.0%", "110.0%"]
    choose(page, "by", "round")
    assert [row[0] for row in rows(page)] == ["2026Q3", "2026Q4"]


def test_a_lead_within_the_spread_of_the_repeats_is_said_to_be_none(page: Any, address: str) -> None:
    near = record(id="b", **PADDLE, value=100.5, text="100.5", low=100.0, high=102.0)
    far = record(id="c", framework="TensorFlow", framework_version="2.20", value=90.0, text="90.0", low=89.0, high=91.0)
    told(page, [record(id="a"), near, far])
    opened(page, address + "compare/")
    shares = [next(each for each in row if "%" in each and "±" not in each) for row in rows(page)]
    assert shares == ["100.0%", "99.5%", "89.6%"]
    assert "too close to call" in row_of(page, "PyTorch")
    assert "clear" in row_of(page, "TensorFlow")
    assert page.locator("#pl-compare tbody b").all_inner_texts() == []


def test_the_best_is_marked_as_on_the_pages_of_models(page: Any, address: str) -> None:
    """Ahead of every other by more than the repeats differ; one run says nothing about that."""
    slow = {**PADDLE, "value": 90.0, "text": "90.0", "low": 89.0, "high": 91.0}
    wild = record(
        id="c", framework="TensorFlow", framework_version="2.20", value=80.0, text="80.0", low=60.0, high=99.5
    )
    opened(page, address + "compare/")
    for others, expected in (
        ([record(id="b", **slow)], ["100.0"]),
        ([record(id="b", **slow), wild], []),
        ([record(id="b", **{**slow, "repeats": 1, "low": 90.0, "high": 90.0})], []),
        ([], []),
    ):
        told(page, [record(id="a"), *others])
        opened(page, address + "compare/")
        assert page.locator("#pl-compare tbody b").all_inner_texts() == expected, others


def test_a_throughput_says_what_it_rests_on(page: Any, address: str) -> None:
    told(page, [record(id="a", metrics=memory(9000.0, "log")), record(id="b", **PADDLE, witnesses="line")])
    opened(page, address + "compare/")
    marks = page.locator("#pl-compare tbody .pl-tag")
    assert {(each.inner_text(), each.get_attribute("aria-label")) for each in marks.all()} == {
        ("✓✓", "at least two witnesses agree"),
        ("unchecked", "only the printed value supports it"),
    }
    opened(page, address + "compare/?metric=memory")
    assert page.locator("#pl-compare tbody .pl-tag").count() == 0


def memory(value: float, *sources: str) -> Record:
    one = {"value": value, "low": value - 1, "high": value + 1, "spread": 0.001, "repeats": 3, "unit": "MiB"}
    text = {"text": f"{value:,.0f}", "range": f"{value - 1:,.0f} – {value + 1:,.0f}"}
    return {"memory": {**one, **text, "better": "lower", "sources": list(sources)}}


def test_memory_that_was_measured_differently_is_not_compared(page: Any, address: str) -> None:
    found = [record(id="a", metrics=memory(9000.0, "log")), record(id="b", **PADDLE, metrics=memory(8000.0, "log"))]
    told(page, found)
    opened(page, address + "compare/?metric=memory")
    assert page.locator("#pl-compare tbody b").all_inner_texts() == ["8,000"]
    assert "7,999 – 8,001" in page.locator("#pl-compare tbody").inner_text()
    told(page, [found[0], {**found[1], "metrics": memory(8000.0, "telemetry")}])
    opened(page, address + "compare/?metric=memory")
    assert set(drawn(page)) == {"PaddlePaddle"}
    assert page.locator("#pl-compare tbody b").count() == 0
    assert "measured from" in row_of(page, "PyTorch")
    opened(page, address + "compare/?metric=throughput")
    assert len(rows(page)) == 2


def test_the_range_is_the_one_of_the_pages(page: Any, address: str, site: Path) -> None:
    opened(page, address + "compare/?model=resnet50&precision=fp32&batch=64")
    known = {each["text"]: each["range"] for each in results_of(site)}
    shown = [row for row in rows(page) if any(known.get(cell) for cell in row)]
    assert len(shown) > 2
    for row in shown:
        assert next(known[cell] for cell in row if known.get(cell)) in row


def test_an_efficiency_is_no_percentage_in_the_file(page: Any, address: str) -> None:
    told(page, [record(id="a"), record(id="b", **PADDLE)])
    opened(page, address + "compare/?metric=efficiency")
    assert page.locator("#pl-compare tbody").inner_text().count("95.0%") == 2
    with page.expect_download() as waiting:
        page.click("#pl-c-csv")
    with Path(waiting.value.path()).open(encoding="utf-8", newline="") as read:
        lines = [(each["metric"], each["unit"], each["value"]) for each in csv.DictReader(read)]
    assert lines == [("efficiency", "", "0.95")] * 2


def test_published_figures_are_off_until_asked_for_and_marked_as_those_of_others(page: Any, address: str) -> None:
    source = {
        "name": "A lab",
        "title": {"en": "A lab", "zh": "某实验室"},
        "address": "https://example.org/x",
        "place": "x",
        "line": None,
        "trainer": None,
        "also": [],
    }
    other = record(
        id="p", origin="published", framework_version=None, rule=None, source=source, value=105.5, text="105.50",
        runs=[], round="A lab 2020", conditions=dict.fromkeys(("driver", "power_limit", "cuda", "image")),
    )  # fmt: skip
    told(page, [record(id="a"), other])
    opened(page, address + "zh/compare/")
    assert figures(page) == [("PyTorch", "100.0")]
    page.check("#pl-c-published")
    assert query(page)["published"] == ["1"]
    (_, first), (name, figure) = figures(page)
    assert (first, figure) == ("100.0", "105.50")
    assert "第三方公布" in name
    assert page.locator("#pl-compare tbody tr.pl-of-others").count() == 1
    assert page.locator("#pl-compare tbody a", has_text="105.50").get_attribute("href") == "https://example.org/x"
    assert set(drawn(page)) == {"PyTorch", "PyTorch（第三方公布：某实验室）"}
    assert "未知" in page.locator(".pl-compare-notes").inner_text()


def test_a_result_without_a_figure_is_shown_with_its_reason(page: Any, address: str) -> None:
    reason = {"code": "outcome", "args": {}, "text": {"en": "outcome of the run: out of memory", "zh": "显存不足"}}
    oom = record(id="b", **PADDLE, value=None, text=None, low=None, high=None, outcome="oom", reason=reason)
    told(page, [record(id="a"), oom])
    opened(page, address + "compare/")
    assert [(name, figure.split("\n")[0][:3]) for name, figure in figures(page)] == [
        ("PaddlePaddle", "OOM"),
        ("PyTorch", "100"),
    ]
    assert "out of memory" in page.locator("#pl-compare tbody").inner_text()
    assert [row["text"] for row in spec_of(page)["panels"][0]["rows"]] == ["OOM", "100.0 images/s"]
    assert page.locator("#pl-compare-chart svg text:text-is('OOM')").count() == 1


def test_figures_of_different_units_never_share_an_axis(page: Any, address: str) -> None:
    words_per_second = record(id="b", **PADDLE, unit="words/s", devices=4)
    told(page, [record(id="a"), record(id="c", **PADDLE, value=99.0, text="99.0"), words_per_second])
    opened(page, address + "compare/")
    assert [name for name, _ in figures(page)] == ["PaddlePaddle", "PyTorch"]
    assert "unit: words/s (reference: images/s)" in page.locator(".pl-compare-out").inner_text()


def test_a_figure_leads_to_its_run_and_its_model(page: Any, address: str) -> None:
    opened(page, address + "zh/compare/?model=resnet50&precision=fp32&batch=64")
    assert page.locator("#pl-compare caption a").get_attribute("href") == address + "zh/models/resnet50/"
    page.locator("#pl-compare tbody tr").first.locator(".pl-n a").click()
    page.wait_for_url(f"{address}zh/runs/resnet50-paddlepaddle-n1d1-fp32-*/")


def test_everything_can_be_chosen_with_the_keyboard(page: Any, address: str) -> None:
    opened(page, address + "compare/")
    page.locator("#pl-c-by").focus()
    reached: list[str] = []
    for _ in range(80):  # the dots of the chart are reached, too
        reached.append(str(page.evaluate("document.activeElement.id || document.activeElement.className")))
        page.keyboard.press("Tab")
    controls: list[str] = page.evaluate(
        "[...document.querySelectorAll('#pl-compare :is(select, input, button)')].map(each => each.id).filter(Boolean)"
    )
    assert len(controls) > 10
    assert set(controls) <= set(reached)
    page.locator("#pl-c-precision").focus()
    page.keyboard.press("ArrowDown")
    assert query(page)["precision"] == ["amp"]
    assert page.evaluate("document.activeElement.id") == "pl-c-precision"
    page.locator("#pl-c-framework-PyTorch").focus()
    page.keyboard.press("Space")
    assert "PyTorch" not in query(page)["framework"]
    assert page.evaluate("document.activeElement.id") == "pl-c-framework-PyTorch"


def test_every_control_has_a_label_and_the_chart_a_text(page: Any, address: str) -> None:
    opened(page, address + "compare/?model=resnet50&precision=fp32&batch=64")
    unnamed = page.evaluate(
        "[...document.querySelectorAll('#pl-compare :is(select, input)')].filter(each => !each.labels.length).length"
    )
    assert unnamed == 0
    said = page.locator("#pl-compare-chart").get_attribute("aria-label")
    assert "Throughput (images/s)" in said
    assert all(f"{name}, 1: {figure}." in said for name, figure in figures(page)[:3])


def test_the_link_is_copied_with_the_choice(browser: Any, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    opened(page, address + "compare/")
    choose(page, "precision", "amp")
    page.click("#pl-c-copy")
    page.wait_for_function("() => document.querySelector('.pl-compare-copied').textContent !== ''")
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")
    context.close()


def test_the_choice_can_be_taken_along_as_csv_and_json(page: Any, address: str, site: Path) -> None:
    opened(page, address + "compare/?model=resnet50&precision=fp32&batch=64")
    with page.expect_download() as waiting:
        page.click("#pl-c-json")
    shown = json.loads(Path(waiting.value.path()).read_text("utf-8"))["results"]
    known = {each["id"]: each for each in results_of(site)}
    assert len(shown) == len(rows(page)) == 5
    assert all(each == known[each["id"]] for each in shown)
    with page.expect_download() as waiting:
        page.click("#pl-c-csv")
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith("id,origin,model,framework")
    assert [line.split(",")[0] for line in lines[1:]] == [each["id"] for each in shown]
    assert all(str(each["value"]) in line for each, line in zip(shown, lines[1:], strict=True))


def test_a_spreadsheet_runs_nothing_that_came_from_a_log(page: Any, address: str) -> None:
    told(page, [record(id="a", framework='=HYPERLINK("x")', hardware="<img src=x onerror=alert(1)>")])
    opened(page, address + "compare/")
    with page.expect_download() as waiting:
        page.click("#pl-c-csv")
    assert '"\'=HYPERLINK(""x"")"' in Path(waiting.value.path()).read_text("utf-8")
    assert page.locator("#pl-compare img").count() == 0


def test_the_chart_follows_light_and_dark_at_once(page: Any, address: str) -> None:
    opened(page, address + "compare/")
    ink = "getComputedStyle(document.querySelector('#pl-compare-chart .pl-drawn text')).fill"
    light = page.evaluate(ink)
    page.locator(".md-header label[for=__palette_1]").click()
    page.wait_for_function("() => document.body.dataset.mdColorScheme === 'slate'")
    page.wait_for_function(f"() => {ink} !== {json.dumps(light)}")


def test_no_two_series_look_alike_though_their_frameworks_share_an_ink(page: Any, address: str, site: Path) -> None:
    known = sorted({str(each["framework"]) for each in results_of(site)})
    names = [*known, "New one", "New two", "New three"]
    told(
        page,
        [record(id=f"{at}-{size}", framework=each, devices=size) for at, each in enumerate(names) for size in (8, 16)],
    )
    opened(page, address + "compare/?by=devices")
    looks = page.locator("#pl-compare-chart .pl-legend line").evaluate_all(
        "all => all.map(each => getComputedStyle(each).stroke + each.getAttribute('stroke-dasharray'))"
    )
    assert len(looks) == len(set(looks)) == len(names)
    opened(page, address + "compare/?by=framework")
    assert {row["label"] for panel in spec_of(page)["panels"] for row in panel["rows"]} == set(names)


def test_a_dot_says_its_configuration_and_leads_to_its_run(page: Any, address: str) -> None:
    opened(page, address + "compare/?model=resnet50&precision=fp32&batch=64")
    mark = page.locator("#pl-compare-chart a.pl-mark").first
    mark.focus()
    said = page.locator("#pl-compare-chart .pl-tip").inner_text()
    assert "batch size 64" in said
    assert "images/s" in said
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", said)
    page.keyboard.press("Escape")
    assert not page.locator("#pl-compare-chart .pl-tip").is_visible()
    mark.click()
    page.wait_for_url(f"{address}runs/resnet50-*/")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_comparison_fits_a_phone(browser: Any, address: str, language: str) -> None:
    phone = browser.new_page(viewport={"width": 390, "height": 844})
    told(
        phone,
        [
            *DRIVERS,
            *(
                record(id=f"x{each}", framework=f"Framework with a long name {each}", conditions={})
                for each in range(12)
            ),
        ],
    )
    opened(phone, address + language + "compare/")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.close()


def test_readers_without_scripts_are_led_to_the_models(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "zh/compare/")
    assert "JavaScript" in page.locator("article").inner_text()
    page.locator("#pl-compare-models a", has_text="ResNet-50 v1.5").click()
    page.wait_for_url(address + "zh/models/resnet50/")
    context.close()


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [("results", 404, ""), ("results", 200, '{"results": [null]}'), ("comparisons", 404, "")],
)
def test_results_that_do_not_arrive_are_told_and_the_models_offered(
    page: Any, address: str, name: str, status: int, body: str
) -> None:
    page.route(f"**/data/{name}.json", lambda route: route.fulfill(status=status, body=body))
    page.goto(address + "compare/")
    page.wait_for_selector("#pl-compare [role=alert]")
    assert f"data/{name}.json" in page.locator("#pl-compare").inner_text()
    assert page.locator("#pl-compare-models a").first.is_visible()


def test_thousands_of_results_are_chosen_from(page: Any, address: str, site: Path) -> None:
    many = [each for each in results_of(site) if each["suite"] == "resnet50"]
    copies = [
        {**deepcopy(each), "id": f"{each['id']}-{index}", "hardware": f"Accelerator {index:03}"}
        for index in range(300)
        for each in many
    ]
    told(page, copies)
    assert len(copies) >= 3000
    opened(page, address + "compare/?model=resnet50&hardware=Accelerator+123&precision=fp32&batch=64")
    assert len(rows(page)) == 5
    choose(page, "by", "hardware")
    page.wait_for_selector("#pl-c-hardware-Accelerator\\ 299")
    assert len({row[0] for row in rows(page)}) == 300


# ---- without a server ----


@pytest.fixture(scope="module")
def offline(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the ordinary fixture's site, built for reading from the disk."""
    folder = tmp_path_factory.mktemp("offline")
    shutil.copytree(site.parent / "docs", folder / "docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OFFLINE", "true")
        return html(folder)


@pytest.fixture
def disk(browser: Any) -> Iterator[Any]:
    """Yield a page that fails its test on a script error or on any request to a server."""
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    local: Callable[[str], bool] = lambda asked: asked.startswith(("file:", "data:", "blob:"))  # noqa: E731
    page.on("request", lambda asked: None if local(asked.url) else wrong.append(asked.url))
    yield page
    page.close()
    assert not wrong


@pytest.mark.parametrize(("language", "asked"), [("", "contradictions"), ("zh/", "预热")])
def test_a_site_opened_from_the_disk_is_searched_compares_and_lists_runs(
    disk: Any, offline: Path, language: str, asked: str
) -> None:
    root = offline.as_uri() + "/" + language
    disk.goto(root + "index.html")
    disk.locator("input.md-search__input").click()
    disk.locator("input.md-search__input").fill(asked)
    disk.locator("input.md-search__input").press("End")
    disk.wait_for_selector(".md-search-result__item a")
    disk.goto(root + "compare.html?model=resnet50&precision=fp32&batch=64&framework=PyTorch")
    disk.wait_for_selector("#pl-compare tbody tr")
    known = [
        each
        for each in results_of(offline)
        if (each["framework"], each["precision"], each["batch_size"]) == ("PyTorch", "fp32", 64)
    ]
    assert [figure for _, figure in figures(disk)] == [
        each["text"] for each in sorted(known, key=lambda each: each["devices"]) if each["suite"] == "resnet50"
    ]
    choose(disk, "precision", "amp")
    assert figures(disk)[0][1] != known[0]["text"]
    disk.locator("#pl-compare tbody tr").first.locator(".pl-n a").click()
    disk.wait_for_url("**/runs/resnet50-pytorch-n1d1-amp-*.html")
    assert disk.locator("article h1").count() == 1
    disk.go_back()
    disk.wait_for_selector("#pl-compare caption a")
    disk.locator("#pl-compare caption a").click()
    disk.wait_for_url("**/models/resnet50/index.html")
    disk.goto(root + "runs/index.html?text=stalled")
    disk.wait_for_selector("#pl-explore-table[aria-busy=false]")
    disk.locator("#pl-explore-table .tabulator-cell a").click()
    disk.wait_for_url("**/runs/resnet50-stalled-1.html")
    assert "/zh/" not in disk.url or language


def test_the_results_lie_there_as_a_script_only_for_reading_from_the_disk(site: Path, offline: Path) -> None:
    script = (offline / "data" / "results.js").read_text("utf-8")
    assert json.loads(script.removeprefix("window.perfledger_results = ").rstrip().removesuffix(";"))[
        "results"
    ] == results_of(site)
    assert not (site / "data" / "results.js").exists()
    assert not list((site / "data" / "explorer").glob("*.js"))


def test_the_chart_fits_the_paper(browser: Any, address: str) -> None:
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.goto(address + "compare/")
    opened.wait_for_selector("#pl-compare-chart .pl-drawn svg")
    opened.emulate_media(media="print")
    # Paper is narrower than the screen, and no observer tells the chart to draw itself anew: all is measured at once.
    chart, room = opened.evaluate(
        """() => {
          document.querySelector("#pl-compare-chart").style.width = "500px";
          return ["#pl-compare-chart .pl-drawn svg", "#pl-compare-chart"]
            .map(each => document.querySelector(each).getBoundingClientRect().toJSON());
        }"""
    )
    assert chart["right"] <= room["right"] + 1
    assert chart["bottom"] <= room["bottom"] + 1
    assert not opened.locator(".pl-saves:visible, .pl-legends:visible").count()
    opened.close()
