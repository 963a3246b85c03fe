"""Which records are training steps, and how many of them a figure needs. The numbers were computed by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_sessions import made

from perfledger.ingest.compute import rules, window
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.compute.throughput import throughput
from perfledger.parsers.contract import EPOCH_END, EPOCH_TIMER, Pause
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure, Reason
from perfledger.schema.window import Evenness, Pauses

STEP = rb"(?m)^step <step> of epoch <epoch>: <duration> s$"
SPEED = rb"(?m)^step <step>: <throughput> per s$"
CLOCK = rb"(?m)^at (?P<elapsed>[0-9.]++) step <step> timer <training_seconds>$"
EVALUATED = Pause("evaluation", "eval done")
SAVED = Pause("checkpoint", "saved to ")
CLOSED = Pause("epoch_end", "epoch over", inside="last")
ONE = {"devices": 1, "batch_size": 10}


def of(
    lines: Sequence[str], folder: Path, pattern: bytes = STEP, case: dict[str, Any] | None = None, **about: Any
) -> tuple[Intervals, Session]:
    session = made(pattern, lines, folder, unit="samples/s", **about)
    return throughput(session, ONE if case is None else case), session


def steps(*seconds: float, epoch: int = 0, first: int = 1) -> list[str]:
    return [f"step {10 * n} of epoch {epoch}: {each} s" for n, each in enumerate(seconds, first)]


def sustained(session: Session) -> float:
    found = rules.figure("sustained", session, ONE)
    assert isinstance(found, Figure), found
    return found.value


def test_the_record_after_an_evaluation_is_left_out(tmp_path: Path) -> None:
    lines = steps(9.0, 1.0, 1.0, 4.0, 2.0, 1.0)
    lines.insert(3, "eval done in 3 s")
    given, session = of(lines, tmp_path, pauses=(EVALUATED, SAVED))
    assert given.kind.tolist() == [0, 0, 0, 1, 0, 0]
    assert sustained(session) == pytest.approx(400 / 5)
    assert window.pauses(given) == Pauses(1, 2.75, 30.56, ("evaluation",))
    latency = metrics(session, ONE, rules.figures(session, ONE)["sustained"])["latency"]
    assert (latency.value, latency.first_line, latency.last_line) == (pytest.approx(1000 * 5 / 40), 2, 7)
    # The other rules include it.
    assert rules.figures(session, ONE)["median"].value == pytest.approx(100.0)
    every = rules.figure("sustained:skip=1", session, ONE)
    assert every.value == pytest.approx(500 / 9)


def test_several_kinds_in_one_record_count_once(tmp_path: Path) -> None:
    lines = steps(9.0, 1.0, 1.0, 4.0, 2.0, 1.0)
    lines[3:3] = ["eval done in 3 s", "saved to disk", "eval done in 1 s"]
    given, _ = of(lines, tmp_path, pauses=(EVALUATED, SAVED))
    assert window.pauses(given) == Pauses(1, 2.75, 30.56, ("evaluation", "checkpoint"))


def test_a_pause_before_the_first_record_or_after_the_last_is_ignored(tmp_path: Path) -> None:
    given, _ = of(["eval done in 3 s", *steps(9.0, *[1.0] * 5), "saved to disk"], tmp_path, pauses=(EVALUATED, SAVED))
    assert not given.kind.any()
    assert window.pauses(given) is None


def test_a_stall_without_a_reason_stays(tmp_path: Path) -> None:
    _, session = of(steps(9.0, 1.0, 1.0, 46.0, 1.0, 1.0), tmp_path, pauses=(EVALUATED,))
    assert sustained(session) == pytest.approx(500 / 50)


@pytest.mark.parametrize(("seconds", "counted"), [(1.4, True), (1.6, False)])
def test_the_end_of_an_epoch_is_left_out_only_if_it_is_slow(seconds: float, counted: bool, tmp_path: Path) -> None:
    lines = [*steps(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, seconds), "epoch over", *steps(1.0, 1.0, epoch=1)]
    given, _ = of(lines, tmp_path, pauses=(CLOSED,))
    assert bool(given.kind[6] == 0) is counted
    assert not given.kind[[0, 5, 7, 8]].any()


def test_the_first_record_of_an_epoch_may_include_the_end_of_the_epoch_before(tmp_path: Path) -> None:
    lines = [*steps(1.0, 1.0, 1.0, 1.0), *steps(5.0, 1.0, epoch=1), *steps(1.0, 1.0, epoch=2)]
    assert of(lines, tmp_path, pauses=(EPOCH_END,))[0].kind.tolist() == [0, 0, 0, 0, 4, 0, 0, 0]
    assert not of(lines, tmp_path)[0].kind.any()


def test_a_timer_that_restarts_with_the_epoch_excludes_pauses_before_it(tmp_path: Path) -> None:
    lines = [*steps(1.0, 1.0, 1.0, 1.0), "eval done in 3 s", *steps(1.0, 1.0, epoch=1), "eval done in 3 s"]
    lines += steps(4.0, 1.0, epoch=1, first=3)
    assert of(lines, tmp_path, pauses=(EVALUATED, EPOCH_TIMER))[0].kind.tolist() == [0] * 6 + [1, 0]
    assert of(lines, tmp_path, pauses=(EVALUATED,))[0].kind.tolist() == [0, 0, 0, 0, 1, 0, 1, 0]
    once = [line for epoch in range(6) for line in (*steps(1.0, epoch=epoch), "eval done in 3 s")]
    assert not of(once, tmp_path, pauses=(EVALUATED, EPOCH_TIMER))[0].kind.any()


def test_if_records_time_one_step_only_a_slow_one_includes_the_evaluation(tmp_path: Path) -> None:
    """The evaluation may have happened among steps that are not printed."""
    lines = steps(1.0, 1.0, 1.1, 1.0, 3.0, 1.0)
    lines[4:4] = ["eval done in 3 s"]
    lines[2:2] = ["eval done in 3 s"]
    given, _ = of(lines, tmp_path, span="step", pauses=(EVALUATED,))
    assert given.kind.tolist() == [0, 0, 0, 0, 1, 0]


def test_a_printer_that_smooths_shows_a_pause_for_several_records(tmp_path: Path) -> None:
    lines = steps(*[1.0] * 8)
    lines[3:3] = ["eval done in 3 s"]
    given, _ = of(lines, tmp_path, pauses=(dataclasses.replace(EVALUATED, records=3),))
    assert given.kind.tolist() == [0, 0, 0, 1, 1, 1, 0, 0]


def test_a_running_mean_that_restarts_with_the_epoch_excludes_earlier_pauses(tmp_path: Path) -> None:
    pattern = rb"(?m)^epoch <epoch> step <step>: <step_seconds> s$"
    lines = [f"epoch {epoch} step {n}: 1.0 s" for epoch in (0, 1) for n in (10, 20, 30, 40)]
    lines[6:6] = ["eval done in 3 s"]
    lines[4:4] = ["eval done in 3 s"]
    given, _ = of(lines, tmp_path, pattern, running_mean=0, pauses=(EVALUATED,))
    assert given.kind.tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


def timed(took: Sequence[float], timer: Sequence[float]) -> list[str]:
    at = [sum(took[: n + 1]) for n in range(len(took))]
    return [f"at {each:.3f} step {n} timer {one}" for n, (each, one) in enumerate(zip(at, timer, strict=True))]


def test_clock_time_outside_a_training_timer_is_a_pause(tmp_path: Path) -> None:
    took = [0.0, *[2.0] * 10, 62.0, *[2.0] * 9]
    given, session = of(timed(took, [2.0] * 21), tmp_path, CLOCK)
    assert given.kind.tolist() == [8 if each > 2 else 0 for each in took[1:]]
    assert sustained(session) == pytest.approx(5.0)
    assert window.pauses(given) == Pauses(1, 60.0, 65.22, ("outside_timer",))


def test_a_stall_that_a_smoothing_timer_spreads_over_records_stays(tmp_path: Path) -> None:
    """A mean over the last five steps shows a fifth of the stall five times."""
    took = [0.0, *[2.0] * 10, 12.0, *[2.0] * 9]
    timer = [2.0] * 11 + [4.0] * 5 + [2.0] * 5
    assert not of(timed(took, timer), tmp_path, CLOCK)[0].kind.any()


def enough(lines: Sequence[str], folder: Path, pattern: bytes = STEP, **about: Any) -> Reason | None:
    return window.too_few(of(lines, folder, pattern, **about)[0])


def test_five_records_after_the_warm_up_are_enough(tmp_path: Path) -> None:
    assert enough(steps(9.0, *[1.0] * 5), tmp_path) is None
    needed = {"records": 4, "needed": 5, "needed_seconds": 30, "seconds": 4.0}
    assert enough(steps(9.0, *[1.0] * 4), tmp_path) == Reason("too_short", needed)


def test_thirty_seconds_after_the_warm_up_are_enough(tmp_path: Path) -> None:
    assert enough(steps(99.0, 15.0, 15.0), tmp_path) is None
    found = enough(steps(99.0, 15.0, 14.9), tmp_path)
    assert found is not None
    assert (found.code, found.args["seconds"]) == ("too_short", 29.9)


def test_excluded_records_do_not_count_as_enough(tmp_path: Path) -> None:
    lines = steps(9.0, *[1.0] * 5)
    lines[3:3] = ["eval done in 3 s"]
    found = enough(lines, tmp_path, pauses=(EVALUATED,))
    assert found is not None
    assert found.args["records"] == 4


def test_updates_that_the_loss_scaler_skipped_do_not_count_as_enough(tmp_path: Path) -> None:
    lines = [f"step {n} of epoch 0: 10.0 s" for n in (1, 1, 1, 1, 1, 2, 3)]
    found = enough(lines, tmp_path, per_update=True, case=ONE | {"accumulation": 1})
    assert found is not None
    assert (found.args["records"], found.args["seconds"]) == (2, 20.0)
    # Skipped updates are training: the figure includes their time.
    session = of(lines, tmp_path, per_update=True, case=ONE | {"accumulation": 1})[1]
    whole = rules.figure("sustained", session, ONE | {"accumulation": 1})
    assert isinstance(whole, Figure)
    assert whole.used == 6


def test_equal_steps_of_different_epochs_count_separately(tmp_path: Path) -> None:
    assert enough([f"step 10 of epoch {n}: 1.0 s" for n in range(6)], tmp_path) is None


def test_an_epoch_of_unknown_length_is_long_enough(tmp_path: Path) -> None:
    assert enough(["step 1: 5.0 per s"], tmp_path, SPEED, span="epoch") is None


def test_the_headline_is_withheld_and_the_other_rules_are_not(tmp_path: Path) -> None:
    _, session = of(steps(9.0, 1.0, 1.0), tmp_path)
    found = measured(session, ONE)
    assert isinstance(found.figures["sustained"], NoFigure)
    assert found.figures["sustained"].reason.code == "too_short"
    assert (found.figures["mean"].value, found.witnesses) == (100.0, ())
    latency = metrics(session, ONE, found.figures["sustained"])["latency"]
    assert latency.reason == found.figures["sustained"].reason


def test_the_first_record_alone_does_not_give_the_cost_of_an_evaluation(tmp_path: Path) -> None:
    """The first record may contain an evaluation itself."""
    lines = [line for each in steps(*[9.0] * 8) for line in (each, "eval done in 3 s")]
    _, session = of(lines, tmp_path, pauses=(EVALUATED,), span="step")
    assert rules.figure("sustained", session, ONE) == NoFigure(window.too_short(0, 0.0))


def test_the_figure_is_withheld_if_every_record_contains_an_evaluation(tmp_path: Path) -> None:
    lines = [line for each in steps(*[1.0] * 8) for line in (each, "eval done in 3 s")]
    _, session = of(lines, tmp_path, pauses=(EVALUATED,))
    found = rules.figure("sustained", session, ONE)
    assert found == NoFigure(window.too_short(0, 0.0))
    assert rules.figures(session, ONE)["mean"].value == 100.0
    assert window.pauses(throughput(session, ONE)) == Pauses(7, None, None, ("evaluation",))


def test_evenness_counts_the_training_records_of_the_window(tmp_path: Path) -> None:
    lines = steps(9.0, *[1.0] * 6, 1.26, 1.26, 20.0)
    lines[-1:-1] = ["eval done in 3 s"]
    given, _ = of(lines, tmp_path, pauses=(EVALUATED,))
    assert window.evenness(given) == Evenness(7, 2, -0.2063)
    assert window.evenness(of(steps(9.0, 1.0), tmp_path)[0]) is None


def test_change_compares_the_halves_of_the_window(tmp_path: Path) -> None:
    """After two records of warm-up, both halves have a median of 100 / s. The outer thirds have 200 / s and 50 / s."""
    given, _ = of(steps(9.0, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0), tmp_path)
    assert window.evenness(given) == Evenness(10, 2, 0.0)


@pytest.mark.parametrize(
    ("seconds", "begin"),
    [
        ([9.0, 4.0, *[4.0] * 9, *[6.0] * 40], 1),  # grows by a schedule after one slow record
        ([9.0, 9.0, 4.0, *[4.0] * 9, *[6.0] * 40], 2),
        ([4.0] * 11 + [4.8] * 40, 10),  # a device that gets warm
        ([9.0] * 11 + [4.0] * 40, 10),  # a warm-up
        ([4.0] * 4 + [6.0] * 16, 4),  # too few records
    ],
)
def test_a_fast_first_fifth_is_not_a_warm_up(seconds: list[float], begin: int, tmp_path: Path) -> None:
    given, _ = of(steps(*seconds), tmp_path)
    assert window.begin(given) == begin


@pytest.mark.parametrize(
    ("seconds", "ratio"),
    [
        ([90.0, 60.0, 40.0, 10.0], "6"),
        ([90.0, 60.0, 40.0, 20.0, 10.0], "3.33"),
        ([90.0, 60.0, *[60.0] * 4, *[20.0] * 5], "3"),
        ([90.0, 60.0, 60.0, *[60.0] * 5, *[20.0] * 5], ""),  # a run that changes later
        ([90.0, 15.0, 15.0, 10.0, 10.0], ""),  # noise
        ([10.0, 10.0, 10.0, 40.0, 60.0], ""),  # a run that slows down has settled before
    ],
)
def test_a_run_whose_few_records_still_double_in_speed_has_no_figure(
    seconds: list[float], ratio: str, tmp_path: Path
) -> None:
    given, session = of(steps(*seconds), tmp_path)
    reason = window.not_settled(given)
    assert (reason.args["ratio"] if reason else "") == ratio
    assert isinstance(measured(session, ONE).headline, NoFigure) == bool(ratio)
