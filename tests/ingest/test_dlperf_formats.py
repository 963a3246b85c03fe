"""Inputs that made DLPerf's own scripts fail or print a wrong figure: we give the right one, or a reason.

"Was" in a docstring is the output of the script.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from made_logs import clock, mxnet_speed, pytorch_bert, tensorflow_resnet50
from made_trees import Called

from perfledger.ingest.compute import results
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record import run
from perfledger.ingest.record.identity import identify
from perfledger.schema.records import Reason, Run, text_of

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


def tensorflow2_bert(steps: Iterable[int], begin: float, date: str = "I0630 ") -> list[str]:
    def stamp(i: int) -> str:
        seconds = (begin + at(i)) % 86400
        return f"{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:09.6f}"

    return [
        f"{date}{stamp(i)} 140000000000001 model_training_utils.py:444] Train Step: {i}/130  / loss = 10.1  "
        "masked_lm_accuracy = 0.01"
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


def gluon_nlp(steps: Iterable[int], end: str, workers: int = 1) -> list[str]:
    return [
        f"INFO:root:[step {i}]\tmlm_loss=9.2\tmlm_acc=5.0\tnsp_loss=0.68\tnsp_acc=54.7\tthroughput=12.0K tks/s\t"
        f"lr=0.0000025 time={took(i):.2f}{end.format(1000 * took(i))}"
        for i in steps
        for _ in range(workers)
    ]


def arcface(devices: int, kind: str = "Epoch") -> list[str]:
    return [
        f"INFO:root:{kind}[0] Batch [{20 * i}-{20 * i + 20}]\tSpeed: {speed(i + 11, devices):.2f} samples/sec\t"
        f"acc=0.000000\tlossvalue=40.25"
        for i in range(10)
    ]


def mindspore(steps: Iterable[int], ranks: int = 1, unit: str = "ms", head: str = "") -> list[str]:
    def time(i: int) -> str:
        printed = f"{1000 * took(i):.3f} ms" if unit == "ms" else f"{took(i):.6f} s"
        return f"{head}epoch time: {printed}, per step time: {printed}"

    state = (
        "epoch: 0.0, current epoch percent: 0.001, step: {}, outputs are (Tensor(shape=[], dtype=Float32, value= 10.5))"
    )
    return [line for i in steps for line in [state.format(i)] * ranks + [time(i)] * ranks]


PLAIN = statistics.fmean(speed(i) for i in WARM)
BY_TIME = 100 * BATCH / (at(120) - at(20))


def by_window(runs: Sequence[Run], **case: object) -> float | None:
    """Return the figure of the runs of a case by DLPerf's rule."""
    of_case = [run for run in runs if all(getattr(run.case, name) == value for name, value in case.items())]
    found = results.figure(of_case, "dlperf")
    return found.value if found else None


def test_results_have_no_speed_up_without_a_run_of_one_device(tmp_path: Path) -> None:
    """Was: speed-up 1.0 everywhere, and a case that nobody ran."""
    write(tmp_path, "1n8g/rn50_b32_fp32_1.log", gluon_cv(range(1, 121), 8))
    write(tmp_path, "2n8g/rn50_b32_fp32_1.log", gluon_cv(range(1, 121), 16))
    runs = runs_of(tmp_path)
    found = results.results(runs)
    assert [each.devices for each in found] == [8, 16]
    assert [by_window(runs, devices=each) for each in (8, 16)] == pytest.approx([8 * PLAIN, 16 * PLAIN])
    assert [each.speedup for each in found] == [None, None]
    assert [each.speedup_reason for each in found] == [Reason("no_baseline", {"count": 0})] * 2


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


def test_a_slash_at_the_end_of_the_path_changes_nothing(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """Was: a table without a name."""
    write(tmp_path, "mine/1n1g/rn50_b32_fp32_1.log", gluon_cv(range(1, 121)))
    with_slash, without = (ingest(f"{tmp_path}/mine{each}", "--layout", "dlperf", "--json") for each in ("/", ""))
    assert with_slash.lines == without.lines
    assert len(without.lines) == 1


def test_the_last_iteration_prints_a_final_loss(tmp_path: Path) -> None:
    *lines, last = pytorch_bert((i, at(i)) for i in range(1, 126))
    assert value(
        line_of(tmp_path, [*lines, last.replace("average_loss", "final_loss")], model="bert")
    ) == pytest.approx(100 * BATCH / (at(125) - at(25)), rel=1e-6)


@pytest.mark.parametrize(
    "unit", ["seq/s", "sequences/s", lambda i: "seq/s" if i < 60 else "sequences/s"], ids=["old", "new", "both"]
)
def test_both_names_of_a_unit_are_read(unit: str | Callable[[int], str], tmp_path: Path) -> None:
    """Was: NaN in the table, and no error."""
    line = line_of(tmp_path, tensorflow_bert(range(10, 131, 10), unit), model="bert")
    assert value(line) == pytest.approx(statistics.fmean(speed(i) for i in range(30, 121, 10)), rel=1e-4)


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


@pytest.mark.parametrize("label", ["Batch[{}]", "Batch [{}]", "Batch [{:04}]/[5004]"])
@pytest.mark.parametrize("last", [120, 121, 150])
def test_labels_and_losses_between_speeds_change_nothing(label: str, last: int, tmp_path: Path) -> None:
    lines = [
        line
        for i, each in enumerate(gluon_cv(range(1, last + 1), 8, label), 1)
        for line in [f"INFO:root:Epoch[0] Batch[{i}] Loss[6.968]", each]
    ]
    line = line_of(tmp_path, lines, "1n8g")
    assert (line["format"], line["observations"]) == ("dlperf.gluon_cv", last)
    assert value(line) == pytest.approx(8 * PLAIN, rel=1e-6)


@pytest.mark.parametrize("end", ["", ", latency={:.1f} ms/batch", ", latency={:.1f} ms/step"])
@pytest.mark.parametrize("workers", [1, 8])
def test_a_line_needs_no_latency(end: str, workers: int, tmp_path: Path) -> None:
    """Was: an error, or one of the shape of the table."""
    line = line_of(tmp_path, gluon_nlp(range(1, 207), end, workers), f"1n{workers}g", "bert")
    assert value(line) == pytest.approx(workers * statistics.fmean(speed(i) for i in range(101, 201)), rel=1e-6)


def test_without_latency_the_case_is_needed(tmp_path: Path) -> None:
    write(tmp_path, "pretrain.log", gluon_nlp(range(1, 207), ""))
    (line,) = lines_of(tmp_path)
    assert why(line) == why(line, "sustained") == "devices"
    assert codes(line) == {"unmatched_name"}
    assert "devices" in line["missing"]


@pytest.mark.parametrize("date", ["I0630 ", "I1231 ", "I"])
@pytest.mark.parametrize("hour", [8, 23.99])
def test_a_clock_may_pass_midnight(hour: float, date: str, tmp_path: Path) -> None:
    """Was: a speed of -0.04."""
    line = line_of(tmp_path, tensorflow2_bert(range(1, 131), 3600 * hour, date), model="bert")
    assert value(line) == pytest.approx(BY_TIME, rel=1e-6)
    assert value(line, "sustained") == pytest.approx(104 * BATCH / (at(130) - at(26)), rel=1e-2)


@pytest.mark.parametrize("hours", [1, 13, 21])
def test_two_lines_may_be_hours_apart(hours: int, tmp_path: Path) -> None:
    lines = [
        f"I0128 {hours * i % 24:02}:05:{i:02}.500000 140000000000001 keras_utils.py:119] TimeHistory: "
        f"{3600 * hours + 1:.2f} seconds, {100 * BATCH / (3600 * hours + 1):.6f} examples/second between steps "
        f"{100 * (i - 1)} and {100 * i}"
        for i in range(1, 8)
    ]
    line = line_of(tmp_path, lines)
    assert value(line) == pytest.approx(100 * BATCH / (3600 * hours + 1), rel=1e-4)
    assert value(line, "dlperf-time") == pytest.approx(100 * BATCH / (3600 * hours + 1), rel=1e-6)


def test_steps_may_take_more_than_ten_seconds(tmp_path: Path) -> None:
    """Was: 12.500 read as 2.5."""
    line = line_of(tmp_path, pytorch_examples(range(200), slow=(60, 61)))
    seconds = sum(12.5 if i in (60, 61) else took(i) for i in range(26, 126))
    assert value(line) == pytest.approx(100 * BATCH / seconds, rel=1e-6)


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_all_ranks_of_a_node_may_be_in_one_file(ranks: int, tmp_path: Path) -> None:
    """Was: 407 instead of 741, since a hundred lines of eight ranks are twelve steps, all of them warm-up."""
    line = line_of(tmp_path, pytorch_examples(range(200), ranks), f"1n{ranks}g")
    seconds = sum(took(i) for i in range(26, 126))
    assert value(line) == pytest.approx(ranks * 100 * BATCH / seconds, rel=1e-6)


def test_a_rank_may_lose_a_line(tmp_path: Path) -> None:
    """Was: an error, since one of the table's 120 x ranks lines is missing."""
    lines = mxnet_speed(((rank, i - 1, speed(i, 8)) for i in range(1, 121) for rank in range(8)), at=end_of)
    line = line_of(tmp_path, [*lines[:500], *lines[501:]], "1n8g")
    assert value(line) == pytest.approx(8 * PLAIN, rel=1e-6)


def test_ranks_may_interleave(tmp_path: Path) -> None:
    """Was: a table whose rows mix iterations."""
    pairs = sorted(((rank, i) for i in range(1, 121) for rank in range(8)), key=lambda each: each[1] + each[0] % 3)
    line = line_of(
        tmp_path, mxnet_speed(((rank, i - 1, speed(i, 8) * (1 + rank / 1000)) for rank, i in pairs), at=end_of), "1n8g"
    )
    assert value(line) == pytest.approx(8 * PLAIN * 1.0035, rel=1e-6)


@pytest.mark.parametrize("unit", ["ms", "s"])
@pytest.mark.parametrize("head", ["", "Train "])
@pytest.mark.parametrize("ranks", [1, 8])
def test_times_may_be_seconds_instead_of_milliseconds(unit: str, head: str, ranks: int, tmp_path: Path) -> None:
    line = line_of(tmp_path, mindspore(range(1, 131), ranks, unit, head), f"1n{ranks}g", "bert")
    assert line["format"] == "dlperf.mindspore"
    assert value(line) == pytest.approx(ranks * BY_TIME, rel=1e-6)


def test_ranks_may_lag(tmp_path: Path) -> None:
    """Was: lines of a late rank were lost, if it printed them after the first rank had passed the window."""
    blocks = [mindspore([i], 2) for i in range(1, 131)]
    lines = blocks[0][:3] + [line for before, now in pairwise(blocks) for line in [*now[:2], before[3], now[2]]]
    assert value(line_of(tmp_path, [*lines, blocks[-1][3]], "1n2g", "bert")) == pytest.approx(2 * BY_TIME, rel=1e-6)


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


@pytest.mark.parametrize("case", ["1n1g", "1n8g", "2n8g"])
def test_devices_of_all_nodes_count(case: str, tmp_path: Path) -> None:
    """Was: the steps of a job of several nodes times the devices of one."""
    devices = {"1n1g": 1, "1n8g": 8, "2n8g": 16}[case]
    line = line_of(tmp_path, paddle_bert(range(1, 131)), case, "bert")
    assert value(line) == pytest.approx(devices * PLAIN, rel=1e-6)


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


def test_the_speed_is_not_read_as_a_missing_clock(tmp_path: Path) -> None:
    """Was: the speed at the end of the line counted as a time."""
    line = line_of(
        tmp_path,
        [
            f"train: epoch 0, iter {i}, loss: 7.1, top_1: 0.0, top_k: 0.0, samples/s: {speed(i):.3f}"
            for i in range(20, 161, 20)
        ],
    )
    assert why(line) == "timestamps"
    assert value(line, "median") == pytest.approx(statistics.median(speed(i) for i in range(40, 161, 20)), rel=1e-4)


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


@pytest.mark.parametrize(
    "lines", [mindspore(range(1, 131)), tensorflow2_bert(range(1, 131), 0), gluon_nlp(range(1, 207), "")]
)
def test_a_second_run_without_a_start_line_is_found(lines: list[str], tmp_path: Path) -> None:
    """The problem names the first line of the second run, and the figure is not published."""
    line = line_of(tmp_path, lines * 2, model="bert")
    problem = line["problems"][0]
    # MindSpore's step is known from the line after that of its state.
    assert (problem["code"], problem["line"] - len(lines)) in {("begun_anew", 1), ("begun_anew", 2)}
    assert not line["published"]


@pytest.mark.parametrize("back", [60, 100, 125])
def test_a_resumed_run_is_one_run(back: int, tmp_path: Path) -> None:
    """Steps repeat after a checkpoint."""
    line = line_of(tmp_path, [*paddle_bert(range(1, 131)), *paddle_bert(range(back, 200))], model="bert")
    assert value(line) == pytest.approx(PLAIN, rel=1e-6)
