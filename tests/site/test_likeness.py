"""Which published figures may be compared, and how the best of them are marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.published.likeness import better, like
from perfledger.ingest.published.publications import METRICS, REPEATS
from perfledger.ingest.site.render.table import Table
from tests.site.test_reports import cut_of, markdown, named, one, tabled

OF_ROWS = 'rows = "devices"\ncolumns = "framework"\nseveral = true'


def best(table: Table) -> list[str]:
    return [str(each.text) for row in table.rows for cell in row for each in cell.entries if each.best]


def test_the_best_of_like_figures_is_marked(tmp_path: Path) -> None:
    rows = [one(value=10.0), one(framework="Beta", value=12.5), one(framework="Gamma", value=11.0)]
    assert best(tabled(tmp_path, OF_ROWS, rows)) == ["12.5"]


@pytest.mark.parametrize("metric", ["latency", "memory"])
def test_less_is_better_of_time_and_memory(tmp_path: Path, metric: str) -> None:
    unit = {"latency": "ms", "memory": "MiB"}[metric]
    rows = [one(framework=name, value=value, metric=metric, unit=unit) for name, value in (("A", 10.0), ("B", 12.5))]
    assert best(tabled(tmp_path, OF_ROWS, rows)) == ["10.0"]


@pytest.mark.parametrize(
    "other",
    [
        {"batch_size": 16}, {"unit": "samples/s"}, {"options": {"clip": "no"}}, {"hardware": "Other GPU"},
        {"precision": "tf32"}, {"nodes": 2}, {"model": "Other net"}, {"options": {"gradient_accumulation": "no"}},
        {"state": "oom", "value": None, "printed": ""}, {"state": "pending", "value": None, "printed": ""},
        {"metric": "throughput_run"}, {"framework": "Alpha"}, {"value": 10.0},
    ],
    ids=str,
)  # fmt: skip
def test_what_differs_or_has_no_rival_is_not_marked(tmp_path: Path, other: dict[str, Any]) -> None:
    rows = [one(value=10.0), one(**{"framework": "Beta", "value": 99.0, **other})]
    text = OF_ROWS.replace('"devices"', '["devices", "*"]') if "metric" in other else OF_ROWS
    assert best(tabled(tmp_path, text, rows)) == []


@pytest.mark.parametrize("metric", sorted(REPEATS))
def test_single_repeats_are_not_compared(metric: str) -> None:
    assert like([one(value=10.0, metric=metric), one(framework="Beta", value=12.5, metric=metric)]) == []


@pytest.mark.parametrize("options", [{"xla": "yes"}, {"dali": "no"}])
def test_how_a_framework_runs_the_same_work_is_compared(options: dict[str, str]) -> None:
    (found,) = like([one(value=10.0), one(framework="Beta", value=12.5, options=options)])
    assert [row.framework for row in found.best] == ["Beta"]


def test_kinds_of_half_precision_are_compared() -> None:
    (found,) = like([one(value=10.0, precision="amp"), one(framework="Beta", value=12.5, precision="fp16")])
    assert [row.framework for row in found.ranked] == ["Beta", "Alpha"]


def test_equal_figures_are_best_together_where_another_is_worse() -> None:
    (found,) = like([one(value=12.5), one(framework="Beta", value=12.5), one(framework="Gamma", value=1.0)])
    assert [row.framework for row in found.best] == ["Alpha", "Beta"]


def test_every_metric_that_is_no_repeat_has_a_better_direction() -> None:
    assert {better(each) for each in METRICS if each not in REPEATS} == {"higher", "lower"}


def test_a_row_with_two_batch_sizes_has_a_best_of_each() -> None:
    """The front page of 2021, one GPU, row 128: PaddlePaddle and MXNet ran 96, the others 128."""
    part = next(parts[0] for parts in cut_of(named("perf-2021")).slices if parts)
    rows = [row.row for row in part.figures if row.row.line == "70"]
    assert [[row.framework for row in each.best] for each in like(rows)] == [["NGC MXNet"], ["NGC TensorFlow"]]


@pytest.mark.parametrize(("language", "said"), [("en", "best"), ("zh", "最优")])
def test_the_mark_is_bold_and_named(language: str, said: str) -> None:
    text = markdown()[language, "reports/perf-resnet50.md"]
    marked = re.findall(rf'<strong class="pl-best" title="{said}">(?:<[^>]+>)*([0-9.,]+)', text)
    assert marked
    legend = words.load().text(language, "report.best")
    assert legend in text
    assert "by more than the repeats differ" not in text
