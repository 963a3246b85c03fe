"""Tables and charts of a model's page: figures, their units, what is ranked, and one workload per panel."""

from __future__ import annotations

import re
from typing import Any

from perfledger.ingest.common.words import own
from perfledger.ingest.site import model_tables as tables
from perfledger.ingest.site import run_details
from perfledger.ingest.site.model import Row, Site, Suite, site_of_runs
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.html_table import Writer
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.result_charts import efficiency, throughput
from perfledger.ingest.site.result_lines import ResultSlice, slices
from perfledger.ingest.site.result_tables import units
from perfledger.schema.records import Run
from tests.builders import edited, run
from tests.site.shown import only as only_shown
from tests.site.tabled import tables_in


def parts(runs: list[Run]) -> tuple[Site, Suite, tuple[Row, ...]]:
    site = site_of_runs(runs)
    (suite,) = site.shown
    return site, suite, site.rows[suite.id]


def only(runs: list[Run]) -> tuple[Site, Suite, ResultSlice]:
    """Return the site of some runs, which are all of one hardware and group of precisions."""
    site, suite, _ = parts(runs)
    (found,) = slices(site, suite)
    return site, suite, found


def column(lines: list[list[str]], title: str) -> list[str]:
    """Return the cells below a title."""
    at = next(at for at, head in enumerate(lines[0]) if head.startswith(title))
    return [line[at] for line in lines[1:]]


def written(table: Table | None, language: str) -> list[list[str]]:
    """Return the table's lines, cell by cell, without links and with bold text between asterisks."""
    assert table is not None
    text = str(Writer(own(), language, lambda page: page).table(table))
    return [[re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in row] for row in tables_in(text)[0]]


def of_framework(framework: str, number: int, **found: dict[str, Any]) -> Run:
    return run(f"resnet50-{framework.lower()}-{number}", framework=framework, metrics=found)


def test_each_figure_has_its_unit_and_direction() -> None:
    memory = {"value": 9000.0, "unit": "MiB", "source": "log"}
    _, suite, of = only(
        [of_framework("PyTorch", 1, latency={"value": 160.0, "unit": "ms", "source": "log"}, memory=memory)]
    )
    head, line = written(tables.other_metrics(suite, of), "en")
    assert head[2:] == ["Time per step (ms) ↓", "Peak memory per device (MiB) ↓"]
    assert line[2:] == ["160.0", "9,000"]
    head, again = written(tables.other_metrics(suite, of), "zh")
    assert head[2:] == ["单步耗时（ms） ↓", "单设备显存峰值（MiB） ↓"]
    assert again[2:] == line[2:]


def test_memory_is_shown_as_a_multiple_of_the_least() -> None:
    runs = [
        of_framework("PyTorch", 1, memory={"value": 9000.0, "unit": "MiB"}),
        of_framework("TensorFlow", 1, memory={"value": 12000.0, "unit": "MiB"}),
        of_framework("MXNet", 1),
    ]
    _, suite, of = only(runs)
    lines = written(tables.other_metrics(suite, of), "en")
    assert {line[0].split()[0]: line[2] for line in lines[1:]} == {"PyTorch": "9,000", "TensorFlow": "12,000 1.33×"}


def test_a_fast_run_that_diverged_carries_a_caution() -> None:
    runs = [
        of_framework("PyTorch", 1, loss={"value": None, "unit": "", "diverged": True}),
        of_framework("TensorFlow", 1),
    ]
    site, suite, of = only(runs)
    for language, word in (("en", "diverged"), ("zh", "训练发散")):
        page = str(Writer(own(), language, str).table(tables.results(site, suite, of)))
        assert [word in each for each in re.findall(r'class="pl-caution"[^>]*aria-label="([^"]*)"', page)].count(
            True
        ) == 1
        assert word in str(written(tables.other_metrics(suite, of), language))
        assert word in str(written(run_details.metric_table(Site((), (), (), lambda _: ()), runs[0]), language))


def test_figures_in_different_units_are_not_ranked() -> None:
    """PaddleNLP prints words, NVIDIA tokens: each figure has its unit, and neither is the fastest."""
    runs = [
        run(f"resnet50-{framework.lower()}-{i}", framework=framework, unit=unit, speed=speed, repeat=i)
        for framework, unit, speed in (("PaddlePaddle", "words/s", 8000.0), ("PyTorch", "tokens/s", 9000.0))
        for i in (1, 2)
    ]
    site, suite, of = only(runs)
    assert units(of.rows) == "tokens/s, words/s"
    lines = written(tables.results(site, suite, of), "en")
    assert sorted(column(lines, "Throughput")) == ["8,000 words/s", "9,000 tokens/s"]
    assert set(column(lines, "Verdict")) == {"Not ranked: another unit"}
    found = only_shown(site)
    assert (found.kind, found.marks()) == ("units", [])


def bert(framework: str, number: int, model: str = "BERT-base", **options: int) -> Run:
    return run(
        f"bert-{framework.lower()}-{number}", framework=framework, model=model, options=options, speed=100.0 + number
    )


def test_a_log_that_states_no_sequence_length_is_compared_with_those_of_the_usual_one() -> None:
    """One name says `seqlen128` and the other says nothing; 512 tokens are another workload."""
    runs = [bert("PyTorch", 1, sequence_length=128), bert("TensorFlow", 90)]
    site, suite, of = only(runs)
    assert suite.id == "bert"
    lines = written(tables.results(site, suite, of), "en")
    assert "sequence length 128" in str(lines)
    assert column(lines, "Verdict") == ["Likely, 1.88×", "53% of the fastest"]
    site, suite, of = only([*runs, bert("MXNet", 1, sequence_length=512)])
    said = dict(
        zip(
            column(lines := written(tables.results(site, suite, of), "en"), "Framework"),
            column(lines, "Verdict"),
            strict=True,
        )
    )
    assert said["MXNet"] == "Not ranked: sequence length 512 instead of 128"


def test_accumulation_that_excludes_a_faster_result_is_named_in_both_rows() -> None:
    """As of BERT-base on V100: PaddlePaddle accumulates 88 steps, NVIDIA's PyTorch 704."""
    runs = [
        edited(bert(framework, number), case={"batch_size": 96, "options": {"accumulation": steps}})
        for framework, number, steps in (
            ("PaddlePaddle", 65, 88),
            ("NGC TensorFlow", 55, 704),
            ("NGC PyTorch", 59, 704),
        )
    ]
    site, suite, of = only(runs)
    lines = written(tables.results(site, suite, of), "en")
    batches = dict(zip(column(lines, "Framework"), column(lines, "Batch size"), strict=True))
    assert batches["PaddlePaddle"] == "96 AccGrad 88 global batch 8,448"
    assert batches["NGC PyTorch"] == "96 AccGrad 704 global batch 67,584"
    said = dict(zip(column(lines, "Framework"), column(lines, "Verdict"), strict=True))
    assert said["PaddlePaddle"] == "Not ranked: gradient accumulation steps 88 instead of 704"
    assert said["NGC PyTorch"].startswith("Not comparable: PaddlePaddle is faster with gradient accumulation steps 88")


def test_sequences_of_a_known_length_are_tokens_too() -> None:
    length = {"sequence_length": 4096}
    runs = [
        run(f"llama-{n}", model="Llama 3 8B", framework=framework, unit=unit, speed=speed, options=length)
        for n, (framework, unit, speed) in enumerate((("PyTorch", "sequences/s", 1.757), ("JAX", "tokens/s", 7000.0)))
    ]
    site, suite, of = only(runs)
    shown = column(written(tables.results(site, suite, of), "en"), "Throughput")
    assert sorted(shown) == ["1.757 sequences/s = 7,197 tokens/s", "7,000 tokens/s"]
    (chart,) = [chart for _, chart in throughput(site, suite, of)]
    spec = chart.said(own(), "en")
    assert spec.unit == "tokens/s"
    assert sorted(round(dot.value) for panel in spec.panels for dot in panel.rows) == [7000, 7197]


def test_two_models_of_one_page_share_no_comparison() -> None:
    site, suite, of = only(
        [
            run(f"gpt-{name}", framework=framework, model=model)
            for name, framework, model in (("a", "Megatron-LM", "GPT"), ("b", "OneFlow", "GPT-2 small"))
        ]
    )
    assert suite.id == "gpt"
    table = tables.results(site, suite, of)
    lines = written(table, "en")
    assert column(lines, "Configuration") == ["—", "GPT-2 small"]
    assert not any("Verdict" in head for head in lines[0]), "nothing is compared"


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
    made = [chart for of in slices(site, suite) for _, chart in throughput(site, suite, of)]
    return [*made, *filter(None, (efficiency(site, suite, of) for of in slices(site, suite)))]


def test_results_of_different_units_never_share_a_panel() -> None:
    runs = [
        run("a", framework="PyTorch", unit="tokens/s", speed=9000.0),
        run("b", framework="PaddlePaddle", unit="words/s", speed=8000.0),
        run("c", framework="TensorFlow", unit="words/s", speed=8500.0),
    ]
    (chart,) = charts(runs)
    spec = chart.said(own(), "en")
    assert [(panel.label, len(panel.rows)) for panel in spec.panels] == [("words/s", 2), ("tokens/s", 1)]
    assert spec.unit == ""
    assert spec.apart
    assert charts(runs[:2]) == []


def test_image_sizes_never_share_a_panel() -> None:
    runs = [
        run(f"{name}-{side}", framework=name, options={"image_size": side}, speed=speed)
        for name, side, speed in (("PyTorch", 64, 81.0), ("JAX", 64, 70.0), ("PaddleClas", 224, 2.23))
    ]
    (chart,) = charts(runs)
    panels = {panel.label: [row.label for row in panel.rows] for panel in chart.said(own(), "en").panels}
    assert {label: sorted(names) for label, names in panels.items()} == {
        "image size 64": ["JAX", "PyTorch"], "image size 224": ["PaddleClas"],
    }  # fmt: skip


def test_one_value_or_one_line_between_two_points_makes_no_chart() -> None:
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
    one, eight = (chart.said(own(), "en") for chart in charts(runs) if chart.name.endswith("-throughput"))
    assert "1 device" in one.title
    assert "8 devices" in eight.title
    (panel,) = eight.panels
    assert {row.label: row.value for row in panel.rows} == {"PyTorch": 100.0, "PaddlePaddle": 90.0}
    assert {row.label: row.text for row in panel.rows}["PyTorch"] == "100.0 images/s per device; 800.0 in all"
    hrefs = {row.href for spec in (one, eight) for panel in spec.panels for row in panel.rows}
    assert hrefs == {site.page(each) for each in runs}


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
