"""Public logs with known true figures: the headline is right, or a problem or note says why it may not be.

A figure of the log's main session is right, or it is withheld, refused or marked.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cache

import pytest

from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.run import runs_of
from perfledger.ingest.site.caveats import explanation
from perfledger.schema.records import Run
from tests.corpus import corpus

#: Tolerance: the true figure is a median or the trainer's own total, and the headline is samples over time.
#: test_missing_facts.py compares today's trainers within 1 %.
RIGHT = 0.03
#: Logs whose publisher's figure includes the start: the first of 19 iterations of an epoch is five times as slow, and
#: BERT SQuAD divides all steps by a time with the warm-up, or prints the last smoothed rate. Later lines are right.
STEADY = {
    "results/QuadroRTX8000_v1/PyTorch_waveglow_FP32/14-12-2022_22-12-43.txt": 46_010.884,
    "results/1080Ti/PyTorch_bert_large_squad_FP16/03-03-2020_10-35-27.txt": 258 * 4 / 124,
    "results/2080Ti/PyTorch_bert_base_squad_FP16/23-06-2020_19-10-57.txt": 4.8 * 20,
    "results/2xA100_40GB_SXM4_v1/PyTorch_bert_base_squad_FP16/19-11-2022_08-24-47.txt": 592.3,
    "results/2xQuadroRTX8000NVlink_trt2/PyTorch_bert_large_squad_FP16/18-06-2020_07-11-19.txt": 80.3,
}
#: Models whose "FP16" logs print `amp : False` since 2022, because the publisher's option no longer existed.
NEVER_HALF = {"ncf", "tacotron2", "waveglow"}


@dataclass(frozen=True)
class Truth:
    """The true throughput of a log, of the whole job or of one device."""

    path: str
    value: float
    of_device: bool = False
    precision: str = ""


def public() -> list[Truth]:
    """Return the table of public logs; `per_device` rows count one device."""
    rows = csv.DictReader(corpus("public/expected.csv").read_text().splitlines())
    return [Truth(row["file"], float(row["throughput"]), row["scope"] == "per_device") for row in rows]


def today() -> list[Truth]:
    """Return the table of today's trainers; some count steps or prompts instead of samples."""
    rows = json.loads(corpus("today/expected.json").read_text("utf-8"))
    return [Truth(row["file"], row["throughput"]["value"], row["throughput"]["scope"] == "device") for row in rows]


def mlperf() -> list[Truth]:
    """Return the result logs of MLPerf that print a throughput."""
    rows = csv.DictReader(corpus("mlperf-v5.1/expected.csv").read_text().splitlines())
    return [Truth(row["path"], float(row["median_throughput"])) for row in rows if row["median_throughput"]]


def lambdal() -> list[Truth]:
    """Return the logs of NVIDIA's examples with their publisher's figure."""
    rows = csv.DictReader(corpus("ngc-pytorch/expected.csv").read_text().splitlines())
    return [
        Truth(
            row["path"], STEADY.get(row["path"], float(row["publisher"])), False,
            "" if row["model"] in NEVER_HALF and row["generation"] != "v0" else row["stated_precision"],
        )
        for row in rows
        if row["publisher"]
    ]  # fmt: skip


#: The publisher's words for a precision, and the precisions that a case may have.
PRECISIONS = {"": None, "FP16": {"fp16", "amp"}, "AMP": {"amp"}, "FP32": {"fp32", "tf32"}}
TABLES = {"public": public, "today": today, "mlperf-v5.1": mlperf, "ngc-pytorch": lambdal}


@cache
def main_run(tree: str, path: str) -> Run:
    """Return the run of a log's main session: the one with the most records."""
    folder = corpus(tree)
    (found,) = (each for each in walk([folder / path]).inputs if each.path == folder / path)
    return max(runs_of(found, layout.load(layout.OWN), ""), key=lambda each: each.observations)


def verdict(run: Run, truth: Truth) -> str:
    """Return `right`, the objection to the figure, or `wrong and silent`."""
    headline = run.headline
    if run.unplaced:  # Its log does not state what the truth is of.
        return "right" if headline and abs(headline.value / truth.value - 1) <= RIGHT else "not placed"
    if not run.published or headline is None:
        return f"refused: {', '.join(each.code for each in run.problems)}" if run.problems else "refused silently"
    if (known := PRECISIONS[truth.precision]) and run.case.precision not in known:
        return f"wrong and silent: {run.case.precision} for {truth.precision}"
    value = headline.value / (run.case.devices or 1) if truth.of_device and headline.scope == "job" else headline.value
    if abs(value / truth.value - 1) <= RIGHT:
        return "right"
    return "marked" if explanation(run) else f"wrong and silent: {value:.6g} for {truth.value:.6g}"


@pytest.mark.parametrize("tree", TABLES)
def test_each_wrong_figure_has_an_objection(tree: str) -> None:
    verdicts = {each.path: verdict(main_run(tree, each.path), each) for each in TABLES[tree]()}
    assert verdicts
    assert {path: what for path, what in verdicts.items() if "silent" in what} == {}


@pytest.mark.parametrize(("tree", "at_least"), [("public", 17), ("today", 14), ("ngc-pytorch", 55)])
def test_most_figures_are_right(tree: str, at_least: int) -> None:
    verdicts = [verdict(main_run(tree, each.path), each) for each in TABLES[tree]()]
    assert verdicts.count("right") >= at_least
    assert verdicts.count("marked") <= 2


def test_a_wrong_figure_would_be_found() -> None:
    """Check the check: a changed true value makes the verdict wrong."""
    published = (each for each in public() if main_run("public", each.path).published)
    truth = next(each for each in published if verdict(main_run("public", each.path), each) == "right")
    run = main_run("public", truth.path)
    assert verdict(run, Truth(truth.path, truth.value * 1.1, truth.of_device)).startswith(
        ("wrong and silent", "marked")
    )
