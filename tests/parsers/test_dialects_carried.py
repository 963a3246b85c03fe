"""Lines as they reach readers: printed twice, copied from pages; and printers beside the large families; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, golden_lines, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from schema.records import Reason

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


# Somebody shows parts of two runs


def joined(seconds: float, *, mark: str, first: int, every: int = 10) -> list[str]:
    """Ten lines of steps of 0.5 s and, from some step on, ten of another pace."""
    lines = [megatron(step, 0.5) for step in range(every, 11 * every, every)]
    return [*lines, *filter(None, [mark]), *(megatron(first + each * every, seconds) for each in range(10))]


@pytest.mark.parametrize(
    "mark", ["```", "...", "[...]", "## On 8 GPUs", "==> other.log <==", "8 GPUs:", "with the new driver:"]
)
@pytest.mark.parametrize(("first", "seconds", "code"), [
    (110, 0.8, "marked_and_other"), (110, 0.5, None), (110, 0.55, None),
    (50, 0.55, "marked_and_back"), (100, 0.55, "marked_and_back"), (50, 0.5, None), (100, 0.5, None),
])  # fmt: skip
def test_a_mark_between_two_paces_tells_of_two_runs(
    mark: str, first: int, seconds: float, code: str | None, tmp_path: Path
) -> None:
    session = session_of(joined(seconds, mark=mark, first=first), tmp_path, "dlperf.megatron")
    assert second_run(session) == (code and (12, Reason(code)))


@pytest.mark.parametrize(("mark", "first", "seconds", "code"), [
    ("", 110, 0.8, None), ("### Epoch 2", 110, 0.8, None), ("-" * 40, 110, 0.8, None),
    ("after training:", 110, 0.8, None), ("", 510, 0.8, "pace_of_another"), ("", 510, 0.55, None),
])  # fmt: skip
def test_missing_lines_between_two_paces_tell_of_two_runs(
    mark: str, first: int, seconds: float, code: str | None, tmp_path: Path
) -> None:
    session = session_of(joined(seconds, mark=mark, first=first), tmp_path, "dlperf.megatron")
    # The line just behind those that are missing counts nowhere.
    assert second_run(session) == (code and (12, Reason(code)))


@pytest.mark.parametrize("mark", ["```", "...", "## Results"])
def test_a_mark_that_stands_elsewhere_as_well_is_the_programs_own(mark: str, tmp_path: Path) -> None:
    """The first epoch is slow, as it often is, and the program prints a line behind each."""
    epochs = [[megatron(10 * (4 * epoch + each), 0.5 if epoch else 0.8) for each in range(1, 5)] for epoch in range(5)]
    lines = [line for each in epochs for line in (*each, mark)]
    assert second_run(session_of(lines, tmp_path, "dlperf.megatron")) is None


def test_a_mark_before_lines_that_ranks_would_be_merged_with(tmp_path: Path) -> None:
    """Scripts print the lines of all ranks, so that those of a second run look like theirs."""
    line = "Epoch: [0][{0:4}/500]\tTime {1:6.3f} ({1:6.3f})\tData  0.005 ( 0.010)\tLoss 7.000e+00 (7.1000e+00)"
    parts = ([line.format(step, seconds) for step in range(100, 200, 10)] for seconds in (0.5, 0.53))
    session = session_of([*next(parts), "and with the other card:", *next(parts)], tmp_path, "dlperf.pytorch_examples")
    assert second_run(session) == (12, Reason("marked_and_back"))


@pytest.mark.parametrize("tags", [("", ""), ("[1,0]<stdout>:", "[1,1]<stdout>:")])
def test_a_comment_between_the_lines_of_two_ranks(tags: tuple[str, str], tmp_path: Path) -> None:
    line = "{2}Epoch: [0][{0:4}/500]\tTime {1:6.3f} ({1:6.3f})\tData  0.005 ( 0.010)\tLoss 7.000e+00 (7.1000e+00)"
    lines = [line.format(step, 0.5, tag) for step in range(100, 200, 10) for tag in tags]
    session = session_of([*lines[:9], "# that is what we see", *lines[9:]], tmp_path, "dlperf.pytorch_examples")
    assert second_run(session) is None


@pytest.mark.parametrize(("fronts", "other", "found"), [
    (("a.log:", "b.log:"), 0.8, True), (("-", "+"), 0.8, True),
    (("", "INFO:root:"), 0.5, False), (("w0 ", "w1 "), 0.8, False), (("", "lr = 0.1 "), 0.8, False),
])  # fmt: skip
@pytest.mark.parametrize("in_turn", [True, False])
def test_lines_of_two_files(fronts: tuple[str, str], other: float, found: bool, in_turn: bool, tmp_path: Path) -> None:
    line = "{2}Epoch: [0][{0:4}/500]\tTime {1:6.3f} ({1:6.3f})\tData  0.005 ( 0.010)\tLoss 7.000e+00 (7.1000e+00)"
    told = zip((0.5, other), fronts, strict=True)
    one, two = ([line.format(step, *each) for step in range(100, 130, 10)] for each in told)
    lines = [each for both in zip(one, two, strict=True) for each in both] if in_turn else [*one, *two]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert second_run(session) == ((2 if in_turn else 4, Reason("fronts_differ")) if found else None)


@pytest.mark.parametrize(("other", "found"), [(0.8, True), (0.5, False)])
def test_lines_of_two_runs_side_by_side(other: float, found: bool, tmp_path: Path) -> None:
    """An update that the loss scaler skips has the step of another as well, so that equal steps alone tell nothing."""
    line = (
        "[2026-11-20 10:00:00,000] [    INFO] - loss: 7.75, learning_rate: 1e-05, global_step: {}, "
        "interval_runtime: {}, interval_samples_per_second: {:.4f}, interval_steps_per_second: {:.4f}, epoch: 0.1"
    )
    lines = [line.format(step, 10 * each, 64 / each, 1 / each) for step in range(10, 110, 10) for each in (0.5, other)]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert second_run(session) == ((2, Reason("steps_go_back")) if found else None)


def test_the_newest_line_first(tmp_path: Path) -> None:
    lines = [megatron(step, 0.5) for step in range(10, 210, 10)]
    assert second_run(session_of(lines[::-1], tmp_path, "dlperf.megatron")) == (2, Reason("newest_first"))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_record_that_holds_an_evaluation_is_left_out_however_many_ranks_print_it(ranks: int, tmp_path: Path) -> None:
    lines = list[str]()
    for step in range(10, 610, 10):
        took = 45 if step % 200 == 10 and step > 10 else 5
        evaluated = ["eval_loss: 6.5, eval_runtime: 40.0, eval_samples_per_second: 12.5, epoch: 1.0"] * (took > 5)
        record = f"loss: 7.75, learning_rate: 1e-05, global_step: {step}, interval_runtime: {took}.0, "
        record += (
            f"interval_samples_per_second: {640 / took:.4f}, interval_steps_per_second: {10 / took:.4f}, epoch: 0.1"
        )
        lines += [
            f"[2026-11-20 10:00:00,000] [    INFO] - {each}" for each in [*evaluated, record] for _ in range(ranks)
        ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert value(session, "sustained", devices=4) == pytest.approx(128)


def test_the_seconds_of_one_interval_are_not_those_of_all_whose_lines_are_lost(tmp_path: Path) -> None:
    """Every fourth line is cut by those of another program."""
    lines = [f"INFO:tensorflow:loss = 4.5, step = {step} (50.000 sec)" for step in range(100, 4100, 100)]
    lines = [each if at % 4 else each[:30] for at, each in enumerate(lines)]
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert value(session, "sustained", devices=4, batch_size=16) == pytest.approx(128)


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
