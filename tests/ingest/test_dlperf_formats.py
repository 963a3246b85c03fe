"""Inputs that made DLPerf's own scripts fail or print a wrong figure: we give the right one, or a reason.

"Was" in a docstring is the output of the script.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_logs import clock, mxnet_speed, pytorch_bert, tensorflow_resnet50

from perfledger.ingest.compute import results
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record import run
from perfledger.ingest.record.identity import identify
from perfledger.schema.records import Run, text_of

BATCH = 32
WARM = range(21, 121)


def took(i: int) -> float:
    """Return the seconds of the i-th step, counted from 1; the first ten are warm-up."""
    return (0.5 if i > 10 else 2.0) + 0.05 * (i % 4)


def at(i: int) -> float:
    """Return the seconds from the start to the end of the i-th step."""
    return sum(took(each) for each in range(1, i + 1))


def end_of(batch: int) -> float:
    """Return the seconds from the start to the end of a batch; batches are counted from 0."""
    return at(batch + 1)


def speed(i: int, devices: int = 1) -> float:
    return BATCH * devices / took(i)


def write(root: Path, name: str, lines: Iterable[str]) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each}\n" for each in lines))
    return path


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


def why(line: dict[str, Any], rule: str = "dlperf") -> str:
    """Return the missing number, or the code of another reason, of a figure that must be absent."""
    assert line["figures"][rule]["value"] is None
    reason = line["figures"][rule]["reason"]
    return str(reason["args"].get("missing", reason["code"]))


def codes(line: dict[str, Any]) -> set[str]:
    return {each["code"] for each in line["problems"]}


def gluon_cv(steps: Iterable[int], devices: int = 1, label: str = "Batch[{}]") -> list[str]:
    return [
        f"INFO:root:Epoch[0] {label.format(i)}\tSpeed: {speed(i, devices):.6f} samples/sec\taccuracy=0.001\tlr=0.003"
        for i in steps
    ]


def tensorflow_bert(steps: Iterable[int], unit: str | Callable[[int], str]) -> list[str]:
    said = unit if callable(unit) else lambda _: unit
    return [
        f"DLL {clock(at(i))} - Iteration: {i}  throughput_train : {speed(i):.3f} "
        f"{said(i)} mlm_loss : 10.4  nsp_loss : 0.67  total_loss : 11.1  avg_loss_step : 11.1  learning_rate : 5e-06 "
        for i in steps
    ]


def pytorch_examples(steps: Iterable[int], ranks: int = 1, slow: Sequence[int] = ()) -> list[str]:
    return [
        f"Epoch: [0][{i:3d}/200]\tTime {12.5 if i in slow else took(i):6.3f} ( 2.123)\tData  0.106 ( 0.077)\t"
        "Loss 1.1494e+01 (1.8538e+01)\tAcc@1   1.56 (  1.56)\tAcc@5  11.72 ( 10.94)"
        for i in steps
        for _ in range(ranks)
    ]


def paddle_bert(steps: Iterable[int]) -> list[str]:
    return [
        f"epoch: 1, progress: 1/1, step: {i}, loss: 10.48, ppl: 177.2, next_sent_acc: 0.56, speed: {1 / took(i):.6f} "
        "steps/s, file: made_up.gz"
        for i in steps
    ]


def arcface(devices: int, kind: str = "Epoch") -> list[str]:
    return [
        f"INFO:root:{kind}[0] Batch [{20 * i}-{20 * i + 20}]\tSpeed: {speed(i + 11, devices):.2f} samples/sec\t"
        f"acc=0.000000\tlossvalue=40.25"
        for i in range(10)
    ]


PLAIN = statistics.fmean(speed(i) for i in WARM)
BY_TIME = 100 * BATCH / (at(120) - at(20))


def by_window(runs: Sequence[Run], **case: object) -> float | None:
    """Return the figure of the runs of a case by DLPerf's rule."""
    of_case = [run for run in runs if all(getattr(run.case, name) == value for name, value in case.items())]
    found = results.figure(of_case, "dlperf")
    return found.value if found else None


def test_a_folder_that_is_not_a_case_states_no_devices(tmp_path: Path) -> None:
    line = line_of(tmp_path, paddle_bert(range(1, 131)), "1n8gx2", "bert")
    assert codes(line) >= {"unmatched_name"}
    assert not line["published"]
    assert why(line) == "devices"


def test_a_folder_may_have_several_batch_sizes_and_precisions(tmp_path: Path) -> None:
    """Was: the file read last took the place of the others."""
    for name, devices in (("b32_fp32_1", 1), ("b64_fp32_1", 2), ("b32_fp16_1", 3), ("b32_fp32_2", 1)):
        write(tmp_path, f"1n1g/rn50_{name}.log", [f"{name} made up", *gluon_cv(range(1, 121), devices)])
    runs = runs_of(tmp_path)
    found = {(each.batch_size, each.precision): each for each in results.results(runs)}
    cases = {(32, "fp32"): 1, (64, "fp32"): 2, (32, "amp"): 3}
    assert found.keys() == cases.keys()
    for (size, precision), speed_of_case in cases.items():
        assert by_window(runs, batch_size=size, precision=precision) == pytest.approx(speed_of_case * PLAIN)
    assert found[32, "fp32"].repeats == 2


def test_a_log_shorter_than_the_window_has_no_figure(tmp_path: Path) -> None:
    """Was: a speed of 0, which went into the median."""
    for repeat, last in ((1, 131), (2, 131), (3, 90)):
        lines = [f"DLL {repeat}", *pytorch_bert((i, at(i)) for i in range(1, last))]
        write(tmp_path, f"1n1g/bert_b32_fp32_{repeat}.log", lines)
    short = next(each for each in lines_of(tmp_path) if each["repeat"] == 3)
    assert why(short) == "window_not_reached"
    assert short["figures"]["sustained"]["value"] > 0
    assert by_window(runs_of(tmp_path)) == pytest.approx(100 * BATCH / (at(125) - at(25)), rel=1e-6)


def test_an_iteration_is_not_found_in_a_longer_number(tmp_path: Path) -> None:
    """Was: a figure of other iterations, since `Iteration: 20` matched 200, and `Iteration: 120` matched 1200."""
    line = line_of(tmp_path, tensorflow_bert([*range(200, 300), *range(1190, 1210)], "seq/s"), model="bert")
    assert why(line, "dlperf-time") == why(line) == "window_not_reached"
    assert value(line, "sustained") > 0


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
    assert value(line) == pytest.approx(PLAIN, rel=1e-6)
    # The next record includes the time of a validation; the last validation has no next record.
    seconds = at(130) - at(26) - sum(at(i + 1) - at(i) for i in range(30, 130, 10))
    assert value(line, "sustained") == pytest.approx(94 * BATCH / seconds, rel=1e-6)


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_all_ranks_of_a_node_may_be_in_one_file(ranks: int, tmp_path: Path) -> None:
    """Was: 407 instead of 741, since a hundred lines of eight ranks are twelve steps, all of them warm-up."""
    line = line_of(tmp_path, pytorch_examples(range(200), ranks), f"1n{ranks}g")
    seconds = sum(took(i) for i in range(26, 126))
    assert value(line) == pytest.approx(ranks * 100 * BATCH / seconds, rel=1e-6)


def test_ranks_may_interleave(tmp_path: Path) -> None:
    """Was: a table whose rows mix iterations."""
    pairs = sorted(((rank, i) for i in range(1, 121) for rank in range(8)), key=lambda each: each[1] + each[0] % 3)
    line = line_of(
        tmp_path, mxnet_speed(((rank, i - 1, speed(i, 8) * (1 + rank / 1000)) for rank, i in pairs), at=end_of), "1n8g"
    )
    assert value(line) == pytest.approx(8 * PLAIN * 1.0035, rel=1e-6)


def test_a_sink_may_print_a_loss_per_step(tmp_path: Path) -> None:
    """Ten lines of state have one time, and the log begins in the middle of a sink."""
    lines = ["epoch time: 99.0 ms, per step time: 9.9 ms"]
    for sink in range(13):
        seconds = sum(took(10 * sink + i) for i in range(1, 11))
        lines += [f"epoch: {sink + 1} step: {i}, loss is 6.9" for i in range(1, 11)]
        lines += [f"epoch time: {1000 * seconds:.3f} ms, per step time: {100 * seconds:.3f} ms"]
    line = line_of(tmp_path, lines)
    assert line["observations"] == 13
    assert value(line) == pytest.approx(BY_TIME, rel=1e-6)


@pytest.mark.parametrize("kind", ["Epoch", "Iter"])
@pytest.mark.parametrize(("case", "devices"), [("1n8g", 8), ("2n8g", 16)])
def test_a_speed_of_the_job_is_not_multiplied(kind: str, case: str, devices: int, tmp_path: Path) -> None:
    """Was: the speed of all nodes times the number of nodes."""
    line = line_of(tmp_path, arcface(devices, kind), case, "r100")
    assert (line["format"], line["observations"]) == ("dlperf.arcface", 10)
    assert value(line) == pytest.approx(statistics.fmean(speed(i + 11, devices) for i in range(1, 6)), rel=1e-4)


def test_windows_with_other_defaults_are_computed(tmp_path: Path) -> None:
    """A script's default ends ten steps earlier than in its manual, and the clock of another spans 99 steps."""
    line = line_of(tmp_path / "bert", pytorch_bert((i, at(i)) for i in range(1, 151)), model="bert")
    assert value(line, "dlperf-110") == pytest.approx(90 * BATCH / (at(115) - at(25)), rel=1e-6)
    assert value(line) == pytest.approx(100 * BATCH / (at(125) - at(25)), rel=1e-6)
    line = line_of(tmp_path / "rn50", tensorflow_resnet50(((i, speed(i)) for i in range(21, 121)), at=at))
    assert value(line, "dlperf-time") == pytest.approx(99 * BATCH / (at(120) - at(21)), rel=1e-6)


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
