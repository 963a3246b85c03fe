"""Our results next to published figures of the same case only."""

from __future__ import annotations

from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.compute import results
from perfledger.ingest.published.publications import Publications
from perfledger.ingest.site import our_results
from perfledger.ingest.site.model import Site, Suite, site_of_runs, suites
from perfledger.ingest.site.published_figures import published_tables
from perfledger.schema.records import Run
from tests.builders import HARDWARE, edited, run
from tests.site.test_reports import figures, one

ALIKE: dict[str, Any] = {
    "model": "ResNet-50 v1.5", "framework": "PyTorch", "hardware": HARDWARE, "batch_size": 64, "value": 320.0,
}  # fmt: skip


def site_of(runs: list[Run], *published: Any) -> tuple[Site, Suite]:
    source = next(iter(figures().sources.values()))
    rows = Publications(tuple(published), {"Made up": source})
    site = site_of_runs(runs, published=rows)
    return site, next(each for each in suites() if each.id == "resnet50")


def found(runs: list[Run], **change: Any) -> list[our_results.Ours]:
    figure = one(**{**ALIKE, **change})
    site, suite = site_of(runs, figure)
    return our_results.of_suite(site, suite)(figure)


def test_a_figure_of_the_same_case_is_shown_with_its_difference() -> None:
    (mine,) = found([run("a", speed=400.0)])
    assert (mine.value, mine.difference, mine.marks) == (400.0, 0.25, ())


@pytest.mark.parametrize(
    "change",
    [
        {"model": "ResNet-50 v1b"}, {"framework": "NGC PyTorch"}, {"hardware": "Another"}, {"devices": 8},
        {"nodes": 4}, {"batch_size": 128}, {"precision": "amp"}, {"unit": "samples/s"}, {"batch_size": None},
        {"devices": None}, {"metric": "max_num_classes", "unit": "classes"}, {"metric": "latency", "unit": "ms"},
        {"metric": "loss", "unit": ""}, {"value": None, "printed": "", "state": "oom"},
    ],
    ids=str,
)  # fmt: skip
def test_a_figure_of_another_case_is_not_compared(change: dict[str, Any]) -> None:
    assert found([run("a", speed=400.0)], **change) == []


@pytest.mark.parametrize(
    ("stated", "options", "marks"),
    [
        ({"xla": "yes"}, {"xla": True}, ()),
        ({"xla": "no"}, {"xla": True}, None),
        ({}, {"xla": True, "image_size": 64}, ("image size 64, XLA on",)),
        ({"xla": "no"}, {}, ()),
        ({"sequence_length": "128"}, {"sequence_length": 128}, ()),
        ({"sequence_length": "512"}, {"sequence_length": 128}, None),
        # Tables say `W/O AccGrad`; in logs, one step makes an update, and the case has no such option.
        ({"gradient_accumulation": "no"}, {}, ()),
        ({"gradient_accumulation": "no"}, {"accumulation": 88}, None),
        ({}, {"accumulation": 88}, ("gradient accumulation steps 88",)),
    ],
)
def test_options_that_both_state_have_to_agree(
    stated: dict[str, str], options: dict[str, Any], marks: tuple[str, ...] | None
) -> None:
    mine = found([run("a", options=options)], options=stated)
    assert [tuple(own().say("en", mark) for mark in each.marks) for each in mine] == ([] if marks is None else [marks])


@pytest.mark.parametrize(("options", "of"), [({}, "without"), ({"accumulation": 88}, "with")])
def test_of_a_row_without_accumulation_and_one_that_says_nothing_each_gets_its_own(
    options: dict[str, Any], of: str
) -> None:
    """The report has `GPU=32,BS=32` and `GPU=32,BS=32 [W/O AccGrad]` below each other."""
    rows = {"with": one(**ALIKE), "without": one(**{**ALIKE, "options": {"gradient_accumulation": "no"}})}
    site, suite = site_of([run("a", options=options)], *rows.values())
    of_figure = our_results.of_suite(site, suite)
    assert [name for name, figure in rows.items() if of_figure(figure)] == [of]


def test_a_library_counts_as_its_framework_and_is_named() -> None:
    (mine,) = found([run("a", framework="PaddleClas")], framework="PaddlePaddle")
    assert mine.marks == ("PaddleClas",)


def test_a_network_cut_over_devices_is_compared_by_the_batch_of_the_job() -> None:
    mine = edited(run("a", options={"batch_size_of_job": 64}), case={"batch_size": None})
    assert found([mine], batch_size=None, options={"batch_size_of_job": "64"})
    assert not found([mine], batch_size=None, options={"batch_size_of_job": "128"})
    assert not found([mine], batch_size=None)


def test_another_metric_is_compared_with_its_own() -> None:
    latency = {"latency": {"value": 160.0, "unit": "ms"}}
    (mine,) = found([run("a", metrics=latency)], metric="latency", unit="ms", value=200.0)
    assert (mine.value, mine.difference) == (160.0, pytest.approx(-0.2))
    assert not found([run("a", metrics=latency)], metric="latency", unit="s", value=0.2)


def test_the_page_shows_the_median_of_repeats_with_a_link() -> None:
    runs = [run(f"resnet50-pytorch-{i}", speed=speed, repeat=i) for i, speed in enumerate((390.0, 400.0, 402.0), 1)]
    site, suite = site_of(runs, one(**ALIKE), one(**{**ALIKE, "devices": 8, "row": 3}))
    (table,) = published_tables(site, suite)
    assert table.ours
    first, second = table.table.rows
    (entry,) = first[-1].entries
    assert (entry.text, entry.marks[0], entry.page) == ("400", "+25.0%", "runs/resnet50-pytorch-2.md")
    assert not second[-1].entries


def test_a_table_without_results_of_ours_has_one_column_less() -> None:
    site, suite = site_of([run("a")], one(**{**ALIKE, "hardware": "Another"}))
    (table,) = published_tables(site, suite)
    assert not table.ours
    assert len(table.table.columns) == len(table.table.rows[0])
    assert "report.ours" not in str(table.table.columns)


def test_a_page_of_bert_has_a_row_of_its_own_without_accumulation() -> None:
    bert = next(each for each in suites() if each.id == "bert")
    made = [run(name, model="BERT-base", options=each) for name, each in (("a", {"accumulation": 88}), ("b", {}))]
    rows = results.results(made)
    assert len({bert.row_key(each) for each in rows}) == 2
