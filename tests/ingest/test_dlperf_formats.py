"""Inputs that made DLPerf's own scripts fail or print a wrong figure: we give the right one, or a reason.

"Was" in a docstring is the output of the script.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from made_logs import pytorch_bert

from perfledger.ingest.compute import results
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record import run
from perfledger.ingest.record.identity import identify
from perfledger.schema.records import Run, text_of

BATCH = 32


def took(i: int) -> float:
    """Return the seconds of the i-th step, counted from 1; the first ten are warm-up."""
    return (0.5 if i > 10 else 2.0) + 0.05 * (i % 4)


def at(i: int) -> float:
    """Return the seconds from the start to the end of the i-th step."""
    return sum(took(each) for each in range(1, i + 1))


def speed(i: int, devices: int = 1) -> float:
    return BATCH * devices / took(i)


def write(root: Path, name: str, lines: Iterable[str]) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each}\n" for each in lines))


def runs_of(folder: Path) -> list[Run]:
    """Return the runs of a tree in DLPerf's layout."""
    found, named = walk([folder]), layout.load("dlperf")
    assert not found.problems
    return identify([one for each in found.inputs for one in run.runs_of(each, named, each.name)])


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the ledger's lines of a tree in DLPerf's layout."""
    return [json.loads(text_of(each)) for each in runs_of(folder)]


def line_of(folder: Path, lines: Iterable[str], case: str = "1n1g", model: str = "rn50") -> dict[str, Any]:
    """Return the ledger's line of one log."""
    write(folder, f"{case}/{model}_b{BATCH}_fp32_1.log", lines)
    (line,) = lines_of(folder)
    return line


def value(line: dict[str, Any], rule: str = "dlperf") -> float:
    assert line["problems"] == []
    assert line["figures"][rule]["scope"] == "job"
    return float(line["figures"][rule]["value"])


def why(line: dict[str, Any]) -> str:
    """Return the missing number, or the code of another reason, of a figure that must be absent."""
    assert line["figures"]["dlperf"]["value"] is None
    reason = line["figures"]["dlperf"]["reason"]
    return str(reason["args"].get("missing", reason["code"]))


def paddle_bert(steps: Iterable[int]) -> list[str]:
    return [
        f"epoch: 1, progress: 1/1, step: {i}, loss: 10.48, ppl: 177.2, next_sent_acc: 0.56, speed: {1 / took(i):.6f} "
        "steps/s, file: made_up.gz"
        for i in steps
    ]


def test_a_folder_that_is_not_a_case_states_no_devices(tmp_path: Path) -> None:
    line = line_of(tmp_path, paddle_bert(range(1, 131)), "1n8gx2", "bert")
    assert "unmatched_name" in {each["code"] for each in line["problems"]}
    assert not line["published"]
    assert why(line) == "devices"


def test_a_log_shorter_than_the_window_has_no_figure(tmp_path: Path) -> None:
    """Was: a speed of 0, which went into the median."""
    for repeat, last in ((1, 131), (2, 131), (3, 90)):
        lines = [f"DLL {repeat}", *pytorch_bert((i, at(i)) for i in range(1, last))]
        write(tmp_path, f"1n1g/bert_b32_fp32_{repeat}.log", lines)
    short = next(each for each in lines_of(tmp_path) if each["repeat"] == 3)
    assert why(short) == "window_not_reached"
    assert short["figures"]["sustained"]["value"] > 0
    median = results.figure(runs_of(tmp_path), "dlperf")
    assert median is not None
    assert median.value == pytest.approx(100 * BATCH / (at(125) - at(25)), rel=1e-6)


def test_lines_of_the_validation_are_not_records(tmp_path: Path) -> None:
    """Was: 64.0 became 61.6."""
    validation = "[validation_set] epoch: 1, step: {}, loss: 10.03, global ppl: 127.8, batch-averged ppl: 127.8, "
    said = "next_sent_acc: 1.000000, speed: 0.100000 steps/s"
    lines = [
        line
        for i, each in enumerate(paddle_bert(range(1, 131)), 1)
        for line in [each, *([validation.format(i) + said] if i % 10 == 0 and i > 26 else [])]
    ]
    line = line_of(tmp_path, lines, model="bert")
    assert line["observations"] == 130
    assert value(line) == pytest.approx(statistics.fmean(speed(i) for i in range(21, 121)), rel=1e-6)
    # The next record includes the time of a validation; the last validation has no next record.
    seconds = at(130) - at(26) - sum(at(i + 1) - at(i) for i in range(30, 130, 10))
    assert value(line, "sustained") == pytest.approx(94 * BATCH / seconds, rel=1e-6)


def test_all_ranks_of_a_node_may_be_in_one_file(tmp_path: Path) -> None:
    """Was: 407 instead of 741, since a hundred lines of eight ranks are twelve steps, all of them warm-up."""
    lines = [
        f"Epoch: [0][{i:3d}/200]\tTime {took(i):6.3f} ( 2.123)\tData  0.106 ( 0.077)\t"
        "Loss 1.1494e+01 (1.8538e+01)\tAcc@1   1.56 (  1.56)\tAcc@5  11.72 ( 10.94)"
        for i in range(200)
        for _ in range(8)
    ]
    line = line_of(tmp_path, lines, "1n8g")
    seconds = sum(took(i) for i in range(26, 126))
    assert value(line) == pytest.approx(8 * 100 * BATCH / seconds, rel=1e-6)


def test_a_speed_that_is_printed_per_metric_counts_once(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 08:36:06,500 Node[0] Epoch[{epoch}] Batch [{20 * i}]\tSpeed: {speed(i + epoch, 4):.2f} "
        f"samples/sec\tTrain-{metric}=0.1"
        for epoch in range(2)
        for i in range(1, 41)
        for metric in ("accuracy", "top_k_accuracy_5", "cross-entropy")
    ]
    line = line_of(tmp_path, lines, "1n4g")
    values = [speed(i + epoch, 4) for epoch in range(2) for i in range(1, 41)]
    assert line["figures"]["mean"]["used"] == 64
    assert value(line, "mean") == pytest.approx(statistics.fmean(values[16:]), rel=1e-4)
