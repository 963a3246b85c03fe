"""The answers above the tables: who leads by how much, what is not compared, and the warnings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.published import publications
from perfledger.ingest.site import builder, machines, published_figures
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.result_lines import verdicts_of_runs
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import precision_group
from tests import builders
from tests.builders import absent, edited, run, runs_of
from tests.site.shown import Shown, only, shown

WORDS = own()
Runs = list[Run]


def answer(runs: Runs) -> Shown:
    return only(site_of_runs(runs))


def test_the_fastest_is_named_with_its_lead_over_the_next() -> None:
    found = answer([*runs_of("PyTorch", 400.0), *runs_of("TensorFlow", 200.0), *runs_of("PaddlePaddle", 320.0)])
    assert (found.kind, found.first, found.line.key.unit) == ("clear", ("PyTorch", "400.4"), "images/s")
    assert found.said() == "Clear | 1.25× PaddlePaddle | 3 runs each"
    assert found.said("zh") == "明显领先 | 1.25× PaddlePaddle | 各跑 3 次"
    assert found.percents == {"PyTorch": 100, "PaddlePaddle": 80, "TensorFlow": 50}
    assert found.marks() == ["Repeated, no warning"]


def test_a_lead_within_the_spread_is_too_close_to_call() -> None:
    found = answer([*runs_of("PyTorch", 400.0), *runs_of("PyTorch", 380.0), *runs_of("TensorFlow", 385.0)])
    assert found.kind == "close"
    assert found.said() == "Too close | 0.99–1.04× TensorFlow | 6 and 3 runs; about 29 each would settle it"
    assert found.said("zh").startswith("差距不明显 | 0.99～1.04× TensorFlow | 分别跑 6 次和 3 次；")


def test_a_small_lead_of_few_repeats_names_the_repeats_that_would_settle_it() -> None:
    found = answer([*runs_of("PyTorch", 403.0, 2), *runs_of("TensorFlow", 395.0, 2)])
    assert found.kind == "close"
    assert found.said() == "Too close | 1.02× TensorFlow | 2 runs each; about 5 each would settle it"
    assert found.said("zh").endswith("各跑 2 次；各跑约 5 次才能定论")
    found = answer([*runs_of("PyTorch", 403.0), *runs_of("TensorFlow", 400.0)])
    assert (found.kind, found.said()) == ("likely", "Likely | 1.01× TensorFlow | 3 runs each")


@pytest.mark.parametrize(
    ("repeats", "runs"), [((1, 1), "one run each"), ((1, 3), "1 and 3 runs"), ((3, 1), "3 and 1 runs")]
)
def test_a_single_run_is_likely_faster_at_most(repeats: tuple[int, int], runs: str) -> None:
    found = answer([*runs_of("PyTorch", 400.0, repeats[0]), *runs_of("TensorFlow", 200.0, repeats[1])])
    assert (found.kind, found.said()) == ("likely", f"Likely | 2.00× TensorFlow | {runs}")
    assert found.marks()[0].startswith("Single run")
    assert answer([*runs_of("PyTorch", 210.0, repeats[0]), *runs_of("TensorFlow", 205.0, repeats[1])]).kind == "close"


def test_a_winner_that_depends_on_the_rule_is_marked() -> None:
    runs = [*runs_of("PyTorch", 400.0, 1), *runs_of("TensorFlow", 350.0, 1)]
    found = answer([edited(runs[0], figures={"median": {"value": 340.0}}), runs[1]])
    assert found.kind == "close"
    assert found.marks()[0] == "Winner depends on the rule: TensorFlow by “median”"


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"outcome": "truncated"}, "Log ends before the run does: PyTorch"),
        ({"figures": {"sustained": {"used": 7}}}, "PyTorch has only 7 records"),
        ({"start": None, "clock": None}, "Date unknown: PyTorch"),
        ({"start": "2025-01-05T00:00:00Z"}, "Measured 12 months apart"),
    ],
)
def test_what_speaks_against_a_figure_or_its_date_is_marked(change: Any, wanted: str) -> None:
    first = [edited(each, **change) for each in runs_of("PyTorch", 400.0)]
    assert answer([*first, *runs_of("TensorFlow", 300.0)]).marks() == [wanted]


def test_one_framework_alone_is_said_to_be_alone() -> None:
    found = answer(runs_of("PyTorch", 400.0))
    assert (found.kind, found.said()) == ("alone", "Only framework | 3 runs")


def test_the_case_with_most_frameworks_is_shown_and_batch_sizes_are_never_compared() -> None:
    runs = [*runs_of("PyTorch", 900.0, batch_size=128), *runs_of("PyTorch", 400.0), *runs_of("TensorFlow", 300.0)]
    found = answer(runs)
    assert found.case == "FP32 · 1 device · batch size 64"
    assert found.first == ("PyTorch", "400.4")


def test_the_largest_batch_size_is_shown_if_cases_have_equally_many_frameworks() -> None:
    runs = [
        each
        for size in (32, 256)
        for name in ("PyTorch", "TensorFlow")
        for each in runs_of(name, 400.0, batch_size=size)
    ]
    assert "batch size 256" in answer(runs).case


def test_the_fastest_workload_of_one_batch_size_is_shown() -> None:
    for fast, slow in ((64, 224), (224, 64)):
        runs = [
            each for side, speed in ((fast, 400.0), (slow, 300.0))
            for each in runs_of("PyTorch", speed, options={"image_size": side})
        ]  # fmt: skip
        assert answer(runs).first[1] == "400.4"


def test_another_workload_is_not_compared() -> None:
    """An image size is part of the workload by the suite; threads are, since both state them and disagree."""
    for stated in ({"image_size": 64}, {"threads": 8}):
        other = {name: 1 if name == "threads" else 224 for name in stated}
        runs = [*runs_of("PyTorch", 400.0, options=stated), *runs_of("TensorFlow", 300.0, options=other)]
        found = answer(runs)
        assert found.kind == "alone", stated
        assert {"image_size": "image size 64", "threads": "threads 8"}[next(iter(stated))] in found.case


def test_switches_are_compared_and_named() -> None:
    found = answer(
        [*runs_of("PyTorch", 400.0, options={"dali": True}), *runs_of("TensorFlow", 300.0, options={"xla": True})]
    )
    assert found.kind == "clear"
    assert found.marks() == ["They differ in: DALI on (not stated for TensorFlow), XLA not stated (on for TensorFlow)"]
    assert found.marks("zh") == ["两者的差异：DALI 启用（TensorFlow 未说明）、XLA未说明（TensorFlow 为 启用）"]
    about = {name: WORDS.say("en", each.about) for name, each in found.entries.items()}
    assert "DALI on" in about["PyTorch"]
    assert "XLA on" in about["TensorFlow"]


@pytest.mark.parametrize(
    ("first", "second", "kind", "wanted"),
    [
        ({"repeats": 1}, {"repeats": 1}, "likely", ["Single run each; variance unknown"]),
        ({"repeats": 1}, {}, "likely", ["Single run of PyTorch; variance unknown"]),
        ({"environment": {"driver": "470.1"}}, {"environment": {"driver": "535.2"}}, "conditions",
         ["They differ in: Driver version 470.1 instead of 535.2"]),
        ({"environment": {"driver": "470.1"}}, {"environment": {}}, "clear", ["Repeated, no warning"]),
        ({"environment": {"driver": "470.1", "cuda": "11.0"}}, {"environment": {"driver": "470.1", "cuda": "12.0"}},
         "clear", ["They differ in: CUDA 11.0 instead of 12.0"]),
        ({"environment": {"power_limit": "300 W"}}, {"environment": {"gpu_power_limit_watts": 250}}, "conditions",
         ["They differ in: Power limit 300 W instead of 250"]),
        ({"metrics": {"loss": {"value": None, "unit": "", "diverged": True}}}, {}, "clear", ["Loss diverged: PyTorch"]),
        ({}, {"problems": [{"code": "empty", "path": "x", "line": 0, "args": {}}]}, "clear",
         ["3 runs have problems in their logs"]),
        ({"precision": "amp"}, {"precision": "fp16"}, "clear", ["They differ in: precision AMP instead of FP16"]),
        ({"options": {"xla": True}}, {"options": {"xla": False}}, "clear", ["They differ in: XLA on instead of off"]),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_what_speaks_against_a_comparison_is_marked(first: Any, second: Any, kind: str, wanted: list[str]) -> None:
    both = {} if "precision" in first else {"precision": "fp32"}
    found = answer(
        [*runs_of("PyTorch", 400.0, **{**both, **first}), *runs_of("TensorFlow", 300.0, **{**both, **second})]
    )
    assert found.kind == kind
    assert found.marks() == wanted
    assert all(each.warns for each in found.line.marks) == (wanted != ["Repeated, no warning"])


def test_a_wide_spread_is_marked() -> None:
    found = answer([*runs_of("PyTorch", 400.0), *runs_of("PyTorch", 500.0), *runs_of("TensorFlow", 100.0)])
    (mark,) = found.line.marks
    assert WORDS.say("en", mark.text) == "PyTorch varies by ±12.2% between runs"
    assert mark.page == "models/resnet50/index.md#beside"
    assert found.entries["PyTorch"].low is not None


def test_a_case_that_ran_out_of_memory_has_its_line_and_no_bar() -> None:
    figures = {"sustained": absent("not_stated", missing="summary")}
    broken = run("oom-1", framework="TensorFlow", outcome="oom", published=False, trace=None, figures=figures)
    found = answer([*runs_of("PyTorch", 400.0), broken])
    assert (found.kind, found.percents["TensorFlow"]) == ("alone", None)
    assert WORDS.say("en", found.entries["TensorFlow"].figure) == "OOM"
    assert answer([broken]).kind == "none"


def test_each_number_of_devices_and_precision_has_its_answer() -> None:
    runs = [
        each for devices in (1, 8) for precision in ("fp32", "amp") for name in ("PyTorch", "TensorFlow")
        for each in runs_of(name, 400.0 * devices, devices=devices, precision=precision)
    ]  # fmt: skip
    assert [each.case for each in shown(site_of_runs(runs))] == [
        "FP32 · 1 device · batch size 64", "FP32 · 8 devices · batch size 64",
        "Mixed and half precision · 1 device · batch size 64", "Mixed and half precision · 8 devices · batch size 64",
    ]  # fmt: skip


def test_what_a_framework_reached_with_another_batch_size_is_named() -> None:
    elsewhere = [*runs_of("MXNet", 90.0, batch_size=32), *runs_of("PyTorch", 9.0, batch_size=8)]
    found = answer([*runs_of("PyTorch", 400.0), *runs_of("TensorFlow", 300.0), *elsewhere])
    assert found.marks() == [
        "MXNet 90.09 images/s is left out: batch size per device 32 instead of 64", "Repeated, no warning",
    ]  # fmt: skip
    assert answer([*runs_of("PyTorch", 400.0), *runs_of("TensorFlow", 300.0)]).marks() == ["Repeated, no warning"]


def test_the_page_of_a_run_says_of_its_result_what_the_page_of_its_model_says() -> None:
    runs = [
        *runs_of("PyTorch", 400.0),
        *runs_of("TensorFlow", 300.0),
        *runs_of("MXNet", 410.0, 1),
        *runs_of("JAX", 9.0, devices=8),
    ]
    found = verdicts_of_runs(site_of_runs(runs))
    assert {name: WORDS.say("en", link.text) for name, link in found.items()} == {
        **{f"pytorch-400-0-{n}": "98% of the fastest" for n in (1, 2, 3)},
        **{f"tensorflow-300-0-{n}": "73% of the fastest" for n in (1, 2, 3)},
        "mxnet-410-0-1": "Too close, 1.02×",
    }
    assert {link.page for link in found.values()} == {"models/resnet50/index.md#comparison"}


def test_others_that_ran_another_case_are_named() -> None:
    """A framework is not said to be the only one where another ran another batch size."""
    found = answer([*runs_of("PyTorch", 400.0, batch_size=128), *runs_of("TensorFlow", 300.0)])
    assert found.kind == "alone"
    assert found.said() == "Not comparable | batch size per device 64 instead of 128"
    assert found.said("zh") == "不可比 | 单设备 batch size 64 而非 128"
    assert found.percents == {"PyTorch": None, "TensorFlow": None}


def test_a_ledger_of_no_run_makes_a_front_page(tmp_path: Path) -> None:
    """MkDocs is strict about links, so that none leads to a page of runs that are not there."""
    builder.build(site_of_runs(()), tmp_path / "docs", tmp_path / "cache.sqlite")
    for language, word in (("en", "No run with a result yet."), ("zh", "尚未读取到有性能数据的运行记录。")):
        folder = tmp_path / "docs" / language
        page = (folder / "index.md").read_text("utf-8")
        links = re.findall(r'(?:\]\(|href=")([\w./-]+\.md)', page)
        assert links
        assert [each for each in links if not (folder / each).is_file()] == []
        assert word in page
        assert "pl-row" not in page
        assert "pl-chips" not in page


def test_a_model_and_hardware_that_nobody_names_are_said_to_be_unknown(tmp_path: Path) -> None:
    nameless = edited(run("nameless-1"), case={"model": None, "hardware": None})
    builder.build(site_of_runs([nameless]), tmp_path / "docs", tmp_path / "cache.sqlite")
    page = (tmp_path / "docs" / "zh" / "index.md").read_text("utf-8")
    assert "硬件未知" in page
    assert "模型未知" in page
    assert "pl-cards" in page


def test_the_logo_is_one_mark_in_all_its_files() -> None:
    templates = Path(builder.__file__).parents[2] / "report_templates"
    files = [
        *(templates / "theme" / "assets" / f"{name}.svg" for name in ("logo", "favicon")),
        templates / "theme" / ".icons" / "perfledger" / "logo.svg",
    ]
    marks_drawn = {re.findall(r' d="([^"]+)"', path.read_text("utf-8"))[-1] for path in files}
    assert len(marks_drawn) == 1


def test_a_trainers_own_summary_is_not_ranked_against_figures_over_records() -> None:
    figures = {"sustained": absent("no_records"), "reported": builders.figure(140.0)}
    alone = [edited(each, rule="reported", figures=figures) for each in runs_of("MXNet", 140.0)]
    found = answer([*runs_of("PyTorch", 100.0), *alone])
    assert found.kind == "conditions"
    assert "They differ in: rule trainer’s own summary (reported) instead of sustained" in found.marks()
    assert "两者的差异：统计规则 训练脚本汇总值（reported） 而非 持续吞吐（sustained）" in found.marks("zh")
    assert "trainer’s own summary" in WORDS.say("en", found.entries["MXNet"].about)


def published_site() -> Site:
    found = publications.read([Path(__file__).resolve().parents[2] / "raw_logs" / "published"])
    return site_of_runs((), published=found)


def test_a_table_of_hardware_without_our_results_has_every_published_throughput() -> None:
    site = published_site()
    found = {each.hardware: each for each in machines.machines(site)}
    assert not found["V100-SXM2"].tables
    assert [WORDS.say("en", each.text) for each in found["V100-SXM2"].models] == ["Wide & Deep"]
    assert "Time per step, Device memory" in WORDS.say("en", found["V100-SXM2"].note)
    checked = 0
    for suite in site.shown:
        for row in site.published.by_suite.get(suite.id, ()):
            if row.metric != "throughput" or row.value is None or row.hardware not in found:
                continue
            (table,) = found[row.hardware].tables
            column = [each.name for each in table.columns].index(row.framework)
            group, devices = precision_group(row.precision), row.devices or 0
            shown = [
                entry.published.figure
                for each in table.lines
                if (each.key.suite, each.key.group, each.key.devices, each.key.unit)
                == (suite.id, group, devices, row.unit) and (entry := each.entries[column]) and entry.published
            ]  # fmt: skip
            ends = [[float(end.replace(",", "")) for end in each.split("–")] for each in shown]
            assert any(each[0] * 0.99 <= row.value <= each[-1] * 1.01 for each in ends), row
            checked += 1
    assert checked > 1000


def test_every_hardware_of_published_figures_is_on_the_front_page_with_its_models() -> None:
    site = published_site()
    found = {each.hardware: each for each in machines.machines(site)}
    known = {each.id: each for each in site.shown}
    for row in site.published.rows:
        if row.hardware and row.value is not None and row.suite in known and published_figures.is_shown(row):
            here = found[row.hardware]
            lines = [each.key.suite for table in here.tables for each in table.lines]
            models = [each.text for each in here.models]
            assert row.metric != "throughput" or row.suite in lines or known[row.suite].title in models, row
