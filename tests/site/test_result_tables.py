"""Figures beside the throughput on model pages: direction, ratio of memory, divergence, largest number of classes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from perfledger.ingest.common.words import own
from perfledger.ingest.compute import results
from perfledger.ingest.site import answers
from perfledger.ingest.site import result_tables as tables
from perfledger.ingest.site.model import Row, Site, Suite, suites
from perfledger.ingest.site.pages import model as model_page
from perfledger.ingest.site.pages import run as run_page
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.result_charts import efficiency, throughput
from perfledger.schema.records import Run
from tests.builders import HARDWARE, edited, run
from tests.site.tabled import tables_in


def parts(runs: list[Run]) -> tuple[Site, Suite, tuple[Row, ...]]:
    site = Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), lambda some: results.results(some))
    (suite,) = site.shown
    return site, suite, site.rows[suite.id]


def written(table: Table | None, language: str) -> list[list[str]]:
    """Return the table's lines, cell by cell, without links and with bold text between asterisks."""
    assert table is not None
    text = str(Writer(own(), language, lambda page: page).table(table))
    return [[re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in row] for row in tables_in(text)[0]]


def of(framework: str, number: int, **found: dict[str, Any]) -> Run:
    return run(f"resnet50-{framework.lower()}-{number}", framework=framework, metrics=found)


def test_each_figure_has_its_unit_and_direction() -> None:
    memory = {"value": 9000.0, "unit": "MiB", "source": "log"}
    site, suite, rows = parts(
        [of("PyTorch", 1, latency={"value": 160.0, "unit": "ms", "source": "log"}, memory=memory)]
    )
    head, line = written(tables.details_table(site, suite, rows), "en")
    assert head[3:5] == ["Time per step (ms) ↓", "Peak memory per device (MiB) ↓"]
    assert line[3:5] == ["160.0", "9,000"]
    head, again = written(tables.details_table(site, suite, rows), "zh")
    assert head[3:5] == ["单步耗时（ms） ↓", "单设备显存峰值（MiB） ↓"]
    assert again[3:5] == line[3:5]


def test_memory_is_told_as_a_multiple_of_the_least() -> None:
    runs = [
        of("PyTorch", 1, memory={"value": 9000.0, "unit": "MiB"}),
        of("TensorFlow", 1, memory={"value": 12000.0, "unit": "MiB"}),
        of("MXNet", 1),
    ]
    lines = written(tables.details_table(*parts(runs)), "en")
    cells = {line[0].split()[0]: line[3] for line in lines[1:]}
    assert cells["PyTorch"] == "9,000"
    assert cells["TensorFlow"] == "12,000 1.33×"
    assert cells["MXNet"].startswith("—")


def test_a_fast_run_that_diverged_is_seen() -> None:
    runs = [of("PyTorch", 1, loss={"value": None, "unit": "", "diverged": True}), of("TensorFlow", 1)]
    site, suite, rows = parts(runs)
    for language, word in (("en", "diverged"), ("zh", "训练发散")):
        assert word in str(written(tables.comparison(site, suite, rows), language))
        assert word in str(written(tables.details_table(site, suite, rows), language))
        assert word in str(written(run_page.metric_table(Site((), (), (), lambda _: ()), runs[0]), language))


def test_the_largest_number_of_classes_and_where_memory_ran_out() -> None:
    runs = [
        run(
            f"resnet50-pytorch-{i}", options={"num_classes": classes}, outcome=outcome, published=outcome == "completed"
        )
        for i, (classes, outcome) in enumerate(
            [(1_000_000, "completed"), (1_800_000, "completed"), (2_000_000, "oom"), (4_000_000, "oom")]
        )
    ]
    site, suite, rows = parts(runs)
    (line,) = written(tables.largest(site, suite, rows), "en")[1:]
    assert line[3:] == ["1,800,000", "2,000,000"]
    assert tables.largest(*parts([of("PyTorch", 1)])) is None
    # Runs that all have as many classes, as those of PaddleClas state them, look for no largest number.
    assert tables.largest(*parts(runs[:1])) is None


def test_figures_in_different_units_are_not_ranked() -> None:
    """PaddleNLP prints words, NVIDIA tokens; both stand in the row, each with its unit, and neither is the fastest."""
    runs = [
        run(f"resnet50-{framework.lower()}-{i}", framework=framework, unit=unit, speed=speed, repeat=i)
        for framework, unit, speed in (("PaddlePaddle", "words/s", 8000.0), ("PyTorch", "tokens/s", 9000.0))
        for i in (1, 2)
    ]
    site, suite, rows = parts(runs)
    assert tables.units(rows) == "tokens/s, words/s"
    (line,) = written(tables.comparison(site, suite, rows), "en")[1:]
    assert "8,000 words/s" in line[3] or "8,000 words/s" in line[2]
    assert not any("**" in each for each in line)
    (answer,) = answers.answers(site, suite, HARDWARE)
    assert (answer.kind, answer.marks) == ("units", ())


def bert(framework: str, number: int, model: str = "BERT-base", **options: int) -> Run:
    return run(f"bert-{framework.lower()}-{number}", framework=framework, model=model, options=options)


def test_a_log_that_states_no_sequence_length_stands_beside_those_of_the_usual_one() -> None:
    """One name says `seqlen128` and the other says nothing; of 512 tokens is another workload."""
    site, suite, rows = parts([bert("PyTorch", 1, sequence_length=128), bert("TensorFlow", 1)])
    assert suite.id == "bert"
    (line,) = written(tables.comparison(site, suite, rows), "en")[1:]
    assert not any(each.startswith("—") for each in line)
    assert "sequence length 128" in str(line)
    long = bert("MXNet", 1, sequence_length=512)
    site, suite, rows = parts([bert("PyTorch", 1, sequence_length=128), bert("TensorFlow", 1), long])
    assert len(written(tables.comparison(site, suite, rows), "en")) == 1 + 2


def test_two_models_of_one_page_share_no_row() -> None:
    site, suite, rows = parts(
        [
            run(f"gpt-{name}", framework="Megatron-LM", model=model)
            for name, model in (("a", "GPT"), ("b", "GPT-2 small"))
        ]
    )
    assert suite.id == "gpt"
    lines = written(tables.comparison(site, suite, rows), "en")[1:]
    assert [line[2] for line in lines] == ["", "GPT-2 small"]
    assert "GPT-2 small" in str(written(tables.details_table(site, suite, rows), "en"))


def test_lines_of_two_workloads_are_two_lines_of_the_efficiency_chart() -> None:
    """Else the points of one are drawn over those of the other."""
    runs = [
        run(f"resnet50-pytorch-{side}-{devices}", devices=devices, speed=value, options={"image_size": side})
        for side, devices, value in ((64, 1, 100.0), (64, 8, 400.0), (224, 1, 10.0), (224, 8, 80.0))
    ]
    (chart,) = [each for each in charts(runs) if each.name.endswith("-efficiency")]
    said = chart.described(own(), "en")
    assert "4.00×" in said
    assert "8.00×" in said
    assert "image size 64" in said


def charts(runs: list[Run]) -> list[Chart]:
    """Return the charts of a model's page, of throughput and of efficiency."""
    site, suite, _ = parts(runs)
    made = [
        draw(site, suite, each.hardware, each.group, each.rows)
        for each in model_page.slices(site, suite)
        for draw in (throughput, efficiency)
    ]
    return [each for each in made if each]


def test_results_of_different_units_never_share_a_chart() -> None:
    """The chart has the unit of most results; a single one makes no chart."""
    runs = [
        run("a", framework="PyTorch", unit="tokens/s", speed=9000.0),
        run("b", framework="PaddlePaddle", unit="words/s", speed=8000.0),
        run("c", framework="TensorFlow", unit="words/s", speed=8500.0),
    ]
    (chart,) = charts(runs)
    assert "words/s" in chart.described(own(), "en")
    assert "tokens/s" not in chart.described(own(), "en")
    assert charts(runs[:2]) == []


def test_there_is_no_chart_of_one_value_or_of_one_line_between_two_points() -> None:
    one = run("a", framework="PyTorch", devices=1, speed=100.0)
    assert charts([one]) == []
    eight = run("b", framework="PyTorch", devices=8, speed=700.0)
    assert charts([one, eight]) == []
    sixteen = run("c", framework="PyTorch", devices=16, speed=1200.0)
    (chart,) = charts([one, eight, sixteen])
    (line,) = chart.said(own(), "en").series
    assert [(point.x, point.y, point.n) for point in line.points] == [(1, 100.0, 1), (8, 87.5, 1), (16, 75.0, 1)]


def test_dots_are_of_one_device_and_lead_to_their_run() -> None:
    runs = [
        run(f"{framework}-{devices}", framework=framework, devices=devices, speed=speed * devices)
        for framework, speed in (("PyTorch", 100.0), ("PaddlePaddle", 90.0))
        for devices in (1, 8)
    ]
    site, _, _ = parts(runs)
    chart = next(each for each in charts(runs) if each.name.endswith("-throughput"))
    spec = chart.said(own(), "en")
    assert [panel.label for panel in spec.panels] == ["1 device", "8 devices"]
    assert {row.label: row.value for row in spec.panels[1].rows} == {"PyTorch": 100.0, "PaddlePaddle": 90.0}
    texts = {row.label: row.text for row in spec.panels[1].rows}
    assert texts["PyTorch"] == "100.0 images/s per device; 800.0 in all"
    assert {row.href for panel in spec.panels for row in panel.rows} == {site.page(each) for each in runs}


def test_a_chart_of_many_results_has_whole_comparisons_of_each_number_of_devices_and_says_so() -> None:
    """Comparisons of most frameworks first; a result without a rival, and a slower one of a framework, are left out."""
    frameworks = ("PyTorch", "TensorFlow", "PaddlePaddle", "MXNet")
    runs = [
        run(f"{framework}-{devices}-{size}", framework=framework, devices=devices, batch_size=size,
            speed=(100.0 + size) * devices)
        for framework in frameworks
        for devices in (1, 8)
        for size in (16, 32, 64, 128, 256, 512, 1024)
        if (framework, size) != ("MXNet", 1024)
    ]  # fmt: skip
    runs += [run("alone", framework="PyTorch", batch_size=8, speed=99.0)]
    runs += [run("slow", framework="PyTorch", batch_size=512, options={"workers": 1}, speed=80.0)]
    chart = next(each for each in charts(runs) if each.name.endswith("-throughput"))
    panels = chart.said(own(), "en").panels
    assert [(panel.label, len(panel.rows)) for panel in panels] == [("1 device", 20), ("8 devices", 20)]
    for panel in panels:
        sizes = Counter(re.findall(r"batch size (\d+)", " ".join(row.label for row in panel.rows)))
        assert sizes == dict.fromkeys(("32", "64", "128", "256", "512"), 4)
    assert all(row.value > 100 for panel in panels for row in panel.rows)
    assert "40 of 56 results" in own().say("en", chart.text)
    assert "results" not in own().say("en", charts(runs[:14])[0].text), "few results are all there"


def test_a_dot_of_another_workload_says_so() -> None:
    runs = [
        run(name, framework=framework, options={"workers": workers})
        for name, framework, workers in (("a", "PyTorch", 8), ("b", "PaddlePaddle", 1))
    ]
    (chart,) = charts(runs)
    said = chart.described(own(), "en")
    assert "PyTorch, workers 8" in said
    assert "PaddlePaddle, workers 1" in said
    runs[1] = edited(runs[1], case={"options": {"workers": 8}})
    assert "workers" not in charts(runs)[0].described(own(), "en")
