"""Lines as they reach readers: printed twice, copied from pages; and printers beside the large families; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, golden_lines, session_of, value

from ingest.compute.measurement import measured

# Two handlers of a logger print each line twice


def automodel(twice: bool) -> Iterator[str]:
    """Yield steps of 2 s with 32,768 tokens; behind each ninth a validation takes 6 s, which the next step holds."""
    yield "2026-11-20 10:00:00 | INFO | root | World size: 8"
    at = 0
    for step in range(60):
        took = 8 if step % 9 == 0 and step else 2
        at += took
        told = [] if took == 2 else ['[val] name "validation" | step 1 | epoch 0 | loss 2.1000']
        speed = 32768 / took
        told.append(
            f"step {step} | epoch 0 | loss 2.0000 | grad_norm 0.5000 | lr 1.00e-05 | mem 40.25 GiB | "
            f"tps {speed:.2f}({speed / 8:.2f}/gpu) | num_label_tokens 32000"
        )
        for each in told:
            yield from [f"2026-11-20 10:{at // 60:02}:{at % 60:02} | INFO | root | {each}"] * (2 if twice else 1)


@pytest.mark.parametrize("twice", [False, True])
def test_a_record_that_holds_a_validation_is_left_out_though_it_is_printed_twice(twice: bool, tmp_path: Path) -> None:
    session = session_of(list(automodel(twice)), tmp_path, "frameworks.nemo_automodel")
    assert len(session.main) == 60
    assert value(session, "sustained") == pytest.approx(32768 / 2)


@pytest.mark.parametrize("name", ["dlperf.hugectr", "frameworks.clu", "frameworks.darknet", "paddle.paddle3d"])
def test_lines_that_are_printed_twice_are_records_once(name: str, tmp_path: Path) -> None:
    """Also where the seconds of a record follow from the line before."""
    lines = golden_lines(name)
    once = session_of(lines, tmp_path, name)
    records = set(once.main.lines(range(len(once.main))))
    twice = session_of([each for at, each in enumerate(lines, 1) for _ in range(1 + (at in records))], tmp_path, name)
    assert len(twice.main) == len(once.main)
    case = {"devices": 1, "batch_size": 32}
    assert value(twice, "sustained", **case) == value(once, "sustained", **case)


# Pages show several blanks as one


@pytest.mark.parametrize("name", ["frameworks.detectron2", "frameworks.libai", "frameworks.metric_logger"])
def test_several_blanks_may_have_become_one(name: str, tmp_path: Path) -> None:
    lines = golden_lines(name)
    plain = session_of(lines, tmp_path, name)
    squeezed = session_of([" ".join(filter(None, each.split(" "))) for each in lines], tmp_path, name)
    for column in set(plain.main.columns) - {"clock"}:
        assert squeezed.main[column].tolist() == pytest.approx(plain.main[column].tolist(), nan_ok=True)


# Flair


def flair(whole: str, batches: int, every: int, seconds: float) -> Iterator[str]:
    """Two epochs of batches of 32 sentences, in an old dialect or the new one, which counts tokens."""
    at = 0.0
    for epoch in (1, 2):
        since, begun = at, at
        for batch in range(1, batches + 1):
            at += seconds
            if batch % every:
                continue
            stamp = f"2026-11-20 10:{int(at) // 60:02}:{int(at) % 60:02},{round(at % 1 * 1000):03}"
            told = {
                "old": f"samples/sec: {32 * every / (at - since):.2f}",
                "new": f"time (sec): {at - begun:.2f} - samples/sec: {32 * 25 * batch / (at - begun):.2f}",
            }
            yield f"{stamp} epoch {epoch} - iter {batch}/{batches} - loss 1.25000000 - {told[whole]} - lr: 0.100000"
            since = at
        yield f"2026-11-20 10:{int(at) // 60:02}:{int(at) % 60:02},999 EPOCH {epoch} done: loss 1.2500 - lr 0.1000"
        at += 30
        yield f"2026-11-20 10:{int(at) // 60:02}:{int(at) % 60:02},000 DEV : loss 1.5 - score 0.5"


@pytest.mark.parametrize("whole", ["old", "new"])
def test_flair_counts_sentences_and_no_evaluation(whole: str, tmp_path: Path) -> None:
    head = [
        '2026-11-20 10:00:00,000 Model: "SequenceTagger(',
        '2026-11-20 10:00:00,000  - mini_batch_size: "32"',
        "2026-11-20 10:00:00,000 Device: cuda:0",
    ]
    session = session_of([*head, *flair(whole, 219, 21, 0.25)], tmp_path, "frameworks.flair")
    assert value(session, ALL) == pytest.approx(32 / 0.25)
    found = measured(session, facts_of(session)).headline
    assert found.value == pytest.approx(32 / 0.25)  # type: ignore[union-attr]


def test_the_last_batches_of_an_epoch_are_no_record_of_flair(tmp_path: Path) -> None:
    lines = list(flair("new", 40, 4, 0.25))
    session = session_of(lines, tmp_path, "frameworks.flair")
    assert session.main["step"].tolist() == [float(each) for _ in range(2) for each in range(4, 40, 4)]


def test_flair_on_several_devices(tmp_path: Path) -> None:
    lines = ["2026-11-20 10:00:00,000  - compute on device: 4 GPUs", *flair("new", 219, 21, 0.25)]
    assert facts_of(session_of(lines, tmp_path, "frameworks.flair"))["devices"] == 4


# Somebody shows the beginning and the end of a log


def megatron(step: int, seconds: float, clock: str = "") -> str:
    return (
        f"{clock} iteration {step:8}/    1000 | consumed samples: {64 * step:12} | elapsed time per iteration (ms): "
        f"{1000 * seconds:.1f} | learning rate: 1.000E-04 | global batch size:    64 | lm loss: 2.5E+00 |"
    )


@pytest.mark.parametrize("clock", [False, True])
def test_the_line_behind_a_gap_does_not_have_the_weight_of_all_that_are_missing(clock: bool, tmp_path: Path) -> None:
    """Ten steps took 0.5 s each, those of the line behind the gap 2 s; the gap hides an evaluation of ten minutes."""
    lines, at = list[str](), 0.0
    for step in range(10, 1010, 10):
        seconds = 2.0 if step == 700 else 0.5
        at += 10 * seconds + (600 if step == 500 else 0)
        stamp = f" [2026-11-20 {10 + int(at) // 3600}:{int(at) // 60 % 60:02}:{int(at) % 60:02}]" if clock else ""
        lines += [megatron(step, seconds, stamp)] if not 300 < step < 700 else []
    session = session_of([*lines[:30], "...", *lines[30:]], tmp_path, "dlperf.megatron")
    found = measured(session, facts_of(session) | {"devices": 8}).headline
    assert found.value == pytest.approx(64 / 0.5)  # type: ignore[union-attr]


def test_the_clocks_on_both_sides_of_a_gap_tell_no_speed(tmp_path: Path) -> None:
    lines, at = list[str](), 0
    for step in range(100, 6100, 100):
        at += 400 + (7200 if step == 3000 else 0)
        stamp = f"2026-11-20 {at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"
        lines += [f"[{stamp}] (step={step:07}) Train Loss: 0.2500, Train Steps/Sec: 0.25"]
    session = session_of([*lines[:20], "...", *lines[40:]], tmp_path, "frameworks.dit")
    assert value(session, "sustained", devices=1, batch_size=32) == pytest.approx(32 / 4)


@pytest.mark.parametrize(("first", "speed"), [(10, 64 / 0.5), (1, 64 * 1000 / (10 + 990 * 0.25))])
def test_a_single_line_behind_a_gap(first: int, speed: float, tmp_path: Path) -> None:
    """Of lines each ten steps the last but one are missing; those of single steps end with an interval of many."""
    lines = [megatron(first * step, 0.5 if first > 1 else 1.0) for step in range(1, 11)]
    session = session_of([*lines, megatron(1000, 0.25)], tmp_path, "dlperf.megatron")
    assert value(session, ALL, devices=8) == pytest.approx(speed)


def test_an_interval_that_changes_hides_no_line(tmp_path: Path) -> None:
    """The first ten steps have a line each, at 1 s; of the others each tenth has one, at 0.5 s."""
    steps = [*range(1, 11), *range(20, 210, 10)]
    lines = [megatron(step, 1.0 if step <= 10 else 0.5) for step in steps]
    session = session_of(lines, tmp_path, "dlperf.megatron")
    # Without the first line, which adds to no count, and a fifth of the others.
    assert value(session, "sustained", devices=8) == pytest.approx(64 * 194 / (4 + 190 * 0.5))


# Caffe


def caffe(told: bool) -> Iterator[str]:
    """Yield 2,000 iterations of 0.05 s with a display each hundred, a test of 30 s each 500 and a snapshot of 2 s."""
    yield from [
        "I1120 10:00:00.000000  4259 caffe.cpp:211] Using GPUs 0",
        "I1120 10:00:00.200000  4259 solver.cpp:44] Initializing solver from parameters: ",
        "test_iter: 100", "display: 100", "max_iter: 2000", "iter_size: 2",
        "I1120 10:00:00.400000  4259 net.cpp:51] Initializing net from parameters: ",
        'name: "TinyNet"', "  data_param {", "    batch_size: 64",
        "I1120 10:00:00.500000  4259 solver.cpp:172] Creating test net (#0) specified by net file: tiny.prototxt",
        "I1120 10:00:00.600000  4259 net.cpp:51] Initializing net from parameters: ", "    batch_size: 100",
    ]  # fmt: skip
    at = last = 1.0
    for step in range(2000):
        stamp = f"I1120 10:{int(at) // 60:02}:{at % 60:09.6f}  4259 "
        if step % 500 == 0:
            yield f"{stamp}solver.cpp:347] Iteration {step}, Testing net (#0)"
            at += 30
        at += 0.05
        stamp = f"I1120 10:{int(at) // 60:02}:{at % 60:09.6f}  4259 "
        if step % 100 == 0:
            rate = f" ({min(step, 100) / (at - last):g} iter/s, {at - last:g}s/100 iters)" if told else ""
            yield f"{stamp}solver.cpp:239] Iteration {step}{rate}, loss = 2.5"
            yield f"{stamp}sgd_solver.cpp:112] Iteration {step}, lr = 0.01"
            last = at
        if step == 999:
            yield f"{stamp}solver.cpp:464] Snapshotting to binary proto file tiny_iter_1000.caffemodel"
            at += 2


@pytest.mark.parametrize("told", [False, True])
def test_tests_and_snapshots_of_caffe_are_no_training(told: bool, tmp_path: Path) -> None:
    session = session_of(list(caffe(told)), tmp_path, "frameworks.caffe")
    facts = facts_of(session)
    assert (facts["batch_size"], facts["accumulation"], facts["total_steps"]) == (64, 2, 2000)
    assert value(session, "sustained") == pytest.approx(2 * 64 / 0.05, rel=1e-4)
    found = measured(session, facts).headline
    assert found.value == pytest.approx(2 * 64 / 0.05, rel=1e-4)  # type: ignore[union-attr]
