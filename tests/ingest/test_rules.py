"""Rules: windows, statistics, running means, clocks, ranks and scopes. The figures were computed by hand."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_logs import (
    clas_dygraph,
    clas_static,
    mxnet_speed,
    nlp_bert,
    pytorch_bert,
    pytorch_resnet50,
    seg,
    tensorflow_resnet50,
)
from made_sessions import made, session_of

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.samples import scoped
from perfledger.parsers.contract import Reading
from perfledger.schema.records import Figure, NoFigure, Reason

ONE = {"devices": 1, "batch_size": 4}


def figure(lines: Sequence[str], folder: Path, rule: str, case: dict[str, Any] | None = None) -> Figure:
    found = rules.figure(rule, session_of(lines, folder), ONE if case is None else case)
    assert isinstance(found, Figure), found
    return found


def missing(lines: Sequence[str], folder: Path, rule: str, case: dict[str, Any] | None = None) -> NoFigure:
    found = rules.figure(rule, session_of(lines, folder), ONE if case is None else case)
    assert isinstance(found, NoFigure), found
    return found


@pytest.mark.parametrize(("count", "dropped"), [(0, 0), (1, 0), (2, 1), (4, 1), (5, 1), (9, 1), (10, 2), (99, 19)])
def test_the_house_window_drops_a_fifth_of_the_records(count: int, dropped: int, tmp_path: Path) -> None:
    assert rules.warm_up(count) == dropped
    if not count:
        return
    found = figure(seg([float(i + 1) for i in range(count)]), tmp_path, "mean")
    kept = range(dropped + 1, count + 1)
    assert (found.skipped, found.used) == (dropped, count - dropped)
    assert (found.first_line, found.last_line) == (dropped + 1, count)
    assert found.value == pytest.approx(sum(kept) / len(kept))
    assert figure(seg([float(i + 1) for i in range(count)]), tmp_path, "median").value == statistics.median(kept)


def test_mean_median_and_sustained_equal_those_by_hand(tmp_path: Path) -> None:
    """Two of ten records are dropped. The rest sum to 270, and as 8 equal spans they take 1/10 + 1/20 + 6/40."""
    lines = seg([1.0, 2.0, 10.0, 20.0, *[40.0] * 6])
    assert figure(lines, tmp_path, "mean").value == pytest.approx(270 / 8)
    assert figure(lines, tmp_path, "median").value == 40
    assert figure(lines, tmp_path, "sustained").value == pytest.approx(8 / (0.1 + 0.05 + 0.15))
    assert figure(lines, tmp_path, "mean:skip=0").value == pytest.approx(27.3)
    assert figure(lines, tmp_path, "median:skip=3").value == 40
    assert figure(lines, tmp_path, "sustained:skip=9").value == pytest.approx(40)
    assert missing(lines, tmp_path, "mean:skip=10").reason == Reason("too_few_records", {"records": 10, "needed": 11})


@pytest.mark.parametrize("rule", ["mean", "median", "sustained"])
def test_without_devices_the_scope_is_the_printed_one(tmp_path: Path, rule: str) -> None:
    found = figure(seg([1.0, 10.0, 10.0]), tmp_path, rule, {})
    assert (found.value, found.scope) == (pytest.approx(10), "device")


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("job", (1, "job")), ("device", (8, "job")), ("node", (2, "job")), ("thread", (1, "thread"))],
)
def test_the_factor_from_a_scope_to_the_job_is_its_number(scope: Any, expected: tuple[int, str]) -> None:
    assert scoped(Reading(rb"", scope=scope), {"devices": 8, "nodes": 2}) == expected
    assert scoped(Reading(rb"", scope=scope), {}) == (1, scope)


def running_means(steps: Sequence[float], every: int, batch: int, epoch: int) -> list[tuple[int, int, float]]:
    """Return PaddleClas's speeds for steps of these durations: the running mean since step 5."""
    return [(epoch, at, batch * (at - 4) / sum(steps[5 : at + 1])) for at in range(every, len(steps), every)]


def test_running_means_are_undone_over_two_epochs(tmp_path: Path) -> None:
    """An epoch has 100 steps, and a tenth of them are slow. The figure is samples divided by their true time."""
    batch, devices = 16, 4
    first = [0.5] * 5 + [0.1 + 0.01 * (i % 7) + (0.3 if i % 10 == 3 else 0) for i in range(5, 101)]
    second = [2.0] * 5 + [0.2 - 0.001 * (i % 11) for i in range(5, 101)]
    lines = clas_static(running_means(first, 10, batch, 0) + running_means(second, 10, batch, 1), batch=batch)
    assert len(lines) == 20
    # The window drops a fifth of the 20 records, which are steps 10 to 40 of the first epoch.
    seconds = sum(first[41:101]) + sum(second[5:101])
    truth = devices * batch * (60 + 96) / seconds
    case = {"devices": devices, "batch_size": batch}
    found = figure(lines, tmp_path, "sustained", case)
    assert found.value == pytest.approx(truth, rel=1e-5)
    assert (found.used, found.skipped, found.first_line) == (16, 4, 5)
    assert figure(lines, tmp_path, "mean", case).value != pytest.approx(truth, rel=1e-3)


def test_the_weight_of_an_interval_is_its_steps(tmp_path: Path) -> None:
    """The last interval of an epoch has half the steps, and half the weight."""
    lines = seg([5.0, 10.0, 20.0, 40.0], steps=[10, 20, 30, 35])
    assert figure(lines, tmp_path, "sustained").value == pytest.approx(25 / (10 / 10 + 10 / 20 + 5 / 40))
    assert figure(lines, tmp_path, "mean").value == pytest.approx(70 / 3)


def test_the_first_interval_of_an_epoch_has_the_usual_number_of_steps(tmp_path: Path) -> None:
    """If steps restart with the epoch, their difference does not give the number of steps."""
    lines = clas_dygraph([(1, 10, 8.0), (1, 20, 8.0), (2, 10, 2.0), (2, 20, 8.0)], epochs=2)
    assert figure(lines, tmp_path, "sustained").value == pytest.approx(3 / (1 / 8 + 1 / 2 + 1 / 8))


def test_a_record_at_step_0_covers_one_step(tmp_path: Path) -> None:
    """PaddleClas prints the first step of every epoch alone, and its stall must not count for ten steps."""
    lines = clas_dygraph([(1, 0, 1.0), (1, 10, 8.0), (1, 20, 8.0), (2, 0, 0.5), (2, 10, 8.0)], epochs=2)
    assert figure(lines, tmp_path, "sustained").value == pytest.approx(31 / (30 / 8 + 1 / 0.5))


def test_figures_of_bert_follow_from_clocks(tmp_path: Path) -> None:
    """A line has 8 samples × 2 devices × 16 micro batches = 256 samples and takes 2 s, one line 4 s."""
    lines = pytorch_bert([(1, 0.0), (2, 30.0), (3, 32.0), (4, 34.0), (5, 38.0), (6, 40.0), (7, 42.0)])
    case = {"devices": 2, "batch_size": 8, "accumulation": 16}
    assert figure(lines, tmp_path, "sustained", case).value == pytest.approx(5 * 256 / 12)
    assert figure(lines, tmp_path, "median", case).value == 128
    assert figure(lines, tmp_path, "mean", case).value == pytest.approx((4 * 128 + 64) / 5)
    found = figure(lines, tmp_path, "mean", case)
    assert (found.used, found.skipped, found.first_line, found.last_line) == (5, 1, 3, 7)


def test_a_repeated_iteration_counts_as_a_batch(tmp_path: Path) -> None:
    """If the loss scaler skips an update, the number repeats or goes back, but each line is still one batch."""
    numbers = [1, 1, 1, 2, 3, 3, 4, 2, 3]
    lines = pytorch_bert([(number, 2.0 * i) for i, number in enumerate(numbers)])
    assert figure(lines, tmp_path, "sustained", ONE | {"accumulation": 3}).value == pytest.approx(6.0)


def test_accumulation_follows_from_the_whole_run(tmp_path: Path) -> None:
    """64 samples/s over 40 s are 2560 samples. The clocks show 20 updates, so each has 128."""
    lines = pytorch_bert([(i, 2.0 * i) for i in range(1, 21)], (64.0, 40.0))
    assert figure(lines, tmp_path, "sustained", {"devices": 2, "batch_size": 4}).value == pytest.approx(64.0)
    assert figure(lines, tmp_path, "reported", {}).value == 64.0


@pytest.mark.parametrize("cut", ["tensor_parallel", "pipeline_parallel", "context_parallel"])
def test_devices_that_share_samples_count_once(cut: str, tmp_path: Path) -> None:
    """8 devices in groups of 2 train 4 batches of 4 samples every 2 s."""
    lines = pytorch_bert([(i, 2.0 * i) for i in range(1, 21)])
    case = {"devices": 8, "batch_size": 4, "accumulation": 1, cut: 2}
    assert figure(lines, tmp_path, "sustained", case).value == pytest.approx(8.0)


@pytest.mark.parametrize("whole", [(64.3, 40.0), (64.0, 41.375), None])
def test_accumulation_is_not_guessed(tmp_path: Path, whole: tuple[float, float] | None) -> None:
    lines = pytorch_bert([(i, 2.0 * i) for i in range(1, 21)], whole)
    assert missing(lines, tmp_path, "sustained", {"devices": 2, "batch_size": 4}).reason.args == {
        "missing": "accumulation"
    }


@pytest.mark.parametrize(("case", "name"), [({}, "devices"), ({"devices": 1}, "batch_size"), (ONE, "accumulation")])
def test_the_fact_that_a_rule_needs_is_named(tmp_path: Path, case: dict[str, Any], name: str) -> None:
    assert missing(pytorch_bert([(1, 0.0), (2, 2.0), (3, 4.0)]), tmp_path, "mean", case).reason.args == {
        "missing": name
    }


def dllogger(at: float, step: int, key: str, value: float) -> str:
    data = f'"step": [0, {step}], "data": {{"{key}": {value}}}'
    return f'DLLL {{"timestamp": "{1795168800 + at:.6f}", "type": "LOG", {data}}}'


def test_each_record_counts_the_usual_ten_updates(tmp_path: Path) -> None:
    """50 updates of 64 samples take 20 s. Two records advance the number by less than ten, for skipped updates."""
    stamps = [(10, 0.0), (20, 4.0), (29, 8.0), (29, 12.0), (39, 16.0), (49, 20.0)]
    lines = [dllogger(at, step, "step_loss", 2.5) for step, at in stamps]
    case = {"devices": 2, "batch_size": 8, "accumulation": 4}
    assert figure(lines, tmp_path, "sustained:skip=0", case).value == pytest.approx(50 * 64 / 20)


@pytest.mark.parametrize(
    ("steps", "updates"),
    [([1, 51, 59], 58), ([10, 20, 40, 50, 60], 50), ([10, 20, 30, 40, 43], 33), ([10, 20, 29, 39, 49], 40)],
)
def test_intervals_far_from_the_usual_count_the_difference_of_their_steps(
    tmp_path: Path, steps: list[int], updates: int
) -> None:
    """The last interval of an epoch, or one with a missing line, has its own length. A skipped update does not."""
    lines = [dllogger(2.0 * step, step, "step_loss", 2.5) for step in steps]
    case = {"devices": 2, "batch_size": 8, "accumulation": 4}
    seconds = 2.0 * (steps[-1] - steps[0])
    assert figure(lines, tmp_path, "sustained:skip=0", case).value == pytest.approx(updates * 64 / seconds)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"tokens_per_step": 4096}, 4096 / 0.5),
        ({"tokens_per_step": 4096, "devices": 8, "batch_size": 4, "sequence_length": 64}, 4096 / 0.5),
        ({"devices": 8, "batch_size": 4, "sequence_length": 64}, 8 * 4 * 64 / 0.5),
        ({"devices": 8, "batch_size": 4}, "tokens_per_step"),
        ({"sequence_length": 64}, "devices"),
    ],
)
def test_sequences_are_not_counted_as_tokens(tmp_path: Path, case: dict[str, Any], expected: float | str) -> None:
    lines = [f"iter {10 * i}: loss 2.5000, time 500.00ms, mfu 40.00%" for i in range(6)]
    if isinstance(expected, str):
        assert missing(lines, tmp_path, "sustained", case).reason.args == {"missing": expected}
    else:
        assert figure(lines, tmp_path, "sustained", case).value == pytest.approx(expected)


def test_ranks_count_once_as_their_median(tmp_path: Path) -> None:
    """Four ranks print the speed of the job, out of order, and one prints an outlier."""
    lines = mxnet_speed(
        [(2, 0, 90.0), (0, 0, 1.0), (1, 0, 2.0), (3, 0, 4.0)]
        + [(rank, 1, value) for rank, value in enumerate([100.0, 102.0, 104.0, 900.0])]
        + [(rank, 2, value) for rank, value in enumerate([200.0, 10.0, 200.0, 200.0])]
    )
    found = figure(lines, tmp_path, "mean", ONE | {"devices": 4})
    assert found.value == pytest.approx((103 + 200) / 2)
    assert (found.used, found.skipped) == (2, 1)
    assert found.scope == "job"


PRINTED = [3.0, *[9.0] * 9, *range(100, 120)]


def test_paddle_rule_drops_skips_and_trims(tmp_path: Path) -> None:
    """10 of 30 records are skipped. The other 20 are sorted and lose 5 at each end, so 105 to 114 remain."""
    lines = seg([float(each) for each in PRINTED])
    found = figure(lines, tmp_path, "paddle")
    assert found.value == pytest.approx(statistics.fmean(range(105, 115)))
    assert (found.used, found.skipped) == (10, 20)
    assert (found.first_line, found.last_line) == (16, 25)
    assert found == figure(lines, tmp_path, "paddle:skip=10")
    shuffled = PRINTED[:10] + sorted(PRINTED[10:], key=lambda each: each * 7 % 20)
    assert figure(seg([float(each) for each in shuffled]), tmp_path, "paddle").value == pytest.approx(found.value)


def test_paddle_rule_trims_a_twentieth_of_many(tmp_path: Path) -> None:
    """220 records remain after the skip, and lose 11 at each end."""
    lines = seg([1.0] * 10 + [float(each) for each in range(1, 221)])
    assert figure(lines, tmp_path, "paddle").used == 220 - 22


def test_paddle_rule_needs_enough_records(tmp_path: Path) -> None:
    assert figure(seg([5.0] * 21), tmp_path, "paddle").used == 1
    assert missing(seg([5.0] * 20), tmp_path, "paddle").reason.args == {"records": 20, "needed": 21}
    assert figure(seg([5.0] * 13), tmp_path, "paddle:skip=2").value == 5


@pytest.mark.parametrize("printed", ["nan", "inf", "-inf", "-1.0", "0", "0.0"])
def test_impossible_figures_are_refused_with_their_line(tmp_path: Path, printed: str) -> None:
    lines = seg([4.0, printed, 5.0, printed])
    for rule in ("sustained", "mean", "median", "mean:skip=2"):
        found = missing(lines, tmp_path, rule)
        assert (found.reason.code, found.reason.args) == ("impossible_figure", {"line": 2, "count": 2})


def test_a_tool_may_print_several_figures_for_the_run(tmp_path: Path) -> None:
    """NVIDIA's ResNet-50 prints a summary with and one without the loading of data."""
    both = (
        "DLL 2026-11-20 10:55:30.379795 - Summary: train.loss : 6.67479 None train.compute_ips : 120.5 images/s "
        "train.total_ips : 110.25 images/s train.lr : 0.1"
    )
    lines = [*pytorch_resnet50([(step, 100.0) for step in range(10)]), both]
    assert figure(lines, tmp_path, "reported").value == 110.25
    assert figure(lines, tmp_path, "reported-2").value == 120.5
    assert "reported-2" in rules.figures(session_of(lines, tmp_path), ONE)
    assert missing(lines[:-1], tmp_path, "reported-2").reason.args == {"missing": "summary"}
    assert missing(seg([4.0]), tmp_path, "reported-2").reason.args == {"missing": "summary"}


def test_the_dlperf_window_may_use_clocks(tmp_path: Path) -> None:
    """A line of 4 samples appears every 0.5 s. The window is from the end of iteration 25 to that of 125."""
    lines = pytorch_resnet50([(i, 99.0) for i in range(1, 131)], second=0.5)
    found = figure(lines, tmp_path, "dlperf")
    assert found.value == pytest.approx(8.0)
    assert (found.first_line, found.last_line, found.used) == (25, 125, 101)
    assert missing(lines[:124], tmp_path, "dlperf").reason.code == "window_not_reached"
    assert (
        missing(pytorch_resnet50([(i, 9.0) for i in range(1, 131)], second=0), tmp_path, "dlperf").reason.code
        == "clock_goes_back"
    )


def test_the_dlperf_window_uses_the_first_epoch(tmp_path: Path) -> None:
    """The window is iterations 21 to 120 of TensorFlow's ResNet-50; the second epoch has the same numbers."""
    first = tensorflow_resnet50([(i, 1000.0 + i) for i in range(1, 131)])
    lines = first + [each.replace("(0, ", "(1, ").replace("total_ips : 1", "total_ips : 5") for each in first]
    found = figure(lines, tmp_path, "dlperf")
    assert found.value == pytest.approx(1000 + statistics.fmean(range(21, 121)))
    assert (found.used, found.first_line, found.last_line) == (100, 21, 120)


def test_a_format_without_a_window_has_a_reason(tmp_path: Path) -> None:
    assert missing(seg([4.0] * 200), tmp_path, "dlperf").reason.code == "no_window"


@pytest.mark.parametrize(
    "written", ["", "average", "mean:skip", "mean:skip=-1", "mean:skip=1.5", "mean:drop=1", "reported:skip=1"]
)
def test_an_invalid_rule_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"no rule|whole number"):
        rules.parse(written)


def test_slow_updates_change_the_mean_and_not_the_median(tmp_path: Path) -> None:
    """One record in nine also reduces gradients and updates weights."""
    lines = nlp_bert([(10 * i, 50.0 if i % 9 == 0 else 100.0) for i in range(1, 51)])
    case = {"devices": 8, "batch_size": 96}
    # The window has the 40 records of steps 110 to 500. Records 18, 27, 36 and 45 are slow.
    assert figure(lines, tmp_path, "median", case).value == 800
    assert figure(lines, tmp_path, "mean", case).value == pytest.approx(8 * (36 * 100 + 4 * 50) / 40)
    assert figure(lines, tmp_path, "sustained", case).value == pytest.approx(8 * 40 / (36 / 100 + 4 / 50))


SPEEDS = st.lists(st.integers(1, 10**6), min_size=1, max_size=40)


def found_in(speeds: Sequence[int], devices: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        session = session_of(seg([float(each) for each in speeds]), Path(folder))
        found = rules.figures(session, {"devices": devices, "batch_size": 4})
        return {name: each.value for name, each in found.items() if isinstance(each, Figure)}


@settings(max_examples=40, deadline=None)
@given(SPEEDS, st.integers(1, 64))
def test_figures_are_between_the_extreme_speeds(speeds: list[int], devices: int) -> None:
    found = found_in(speeds, devices)
    assert "median" in found
    for value in found.values():
        assert min(speeds) * devices * (1 - 1e-12) <= value <= max(speeds) * devices * (1 + 1e-12)
    if max(speeds) > 10 * min(speeds):  # such speeds may be refused as impossible
        return
    assert {"mean", "sustained"} <= set(found)
    assert found["sustained"] <= found["mean"] * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(SPEEDS, st.integers(2, 1000))
def test_scaled_speeds_scale_every_figure(speeds: list[int], factor: int) -> None:
    one, many = found_in(speeds, 1), found_in([each * factor for each in speeds], 1)
    assert one.keys() == many.keys()
    for name, value in one.items():
        assert many[name] == pytest.approx(value * factor, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.integers(0, 30))
def test_each_record_is_either_used_or_skipped(count: int, skip: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = session_of(seg([5.0] * count), Path(folder))
        for rule in ("mean", f"mean:skip={skip}", "paddle", f"paddle:skip={skip}"):
            found = rules.figure(rule, session, ONE)
            if isinstance(found, Figure):
                assert found.used + found.skipped == count
                assert found.value == pytest.approx(5.0)
            else:
                assert found.reason.args["needed"] > count


def steps_of(*speeds: float) -> list[str]:
    """Return a log that prints these speeds, one per step from 0 on."""
    return pytorch_resnet50(list(enumerate(speeds)))


@pytest.mark.parametrize(
    ("rule", "first", "last", "harmonic"),
    [("dgxc", 35, 44, True), ("gpu_recipes", 10, 30, True), ("titan90", 90, 90, False), ("primus", 5, 99, False),
     ("paddle_llm", 10, 99, False)],
)  # fmt: skip
def test_windows_of_other_publishers_have_their_steps_and_means(
    rule: str, first: int, last: int, harmonic: bool, tmp_path: Path
) -> None:
    speeds = [100.0 + step for step in range(100)]
    within = speeds[first : last + 1]
    expected = statistics.harmonic_mean(within) if harmonic else statistics.fmean(within)
    found = figure(steps_of(*speeds), tmp_path, rule)
    assert (found.value, found.used) == (pytest.approx(expected), last - first + 1)


@pytest.mark.parametrize(("rule", "steps"), [("dgxc", 44), ("gpu_recipes", 30), ("titan90", 90)])
def test_a_log_without_a_publishers_whole_window_has_no_figure(rule: str, steps: int, tmp_path: Path) -> None:
    assert missing(steps_of(*[100.0] * steps), tmp_path, rule).reason.code == "window_not_reached"
    resumed = pytorch_resnet50([(step, 100.0) for step in range(39, 91)])
    if rule != "titan90":
        assert missing(resumed, tmp_path, rule).reason.code == "window_not_reached"


def of_made(
    pattern: bytes, lines: Sequence[str], folder: Path, rule: str = "sustained", **about: Any
) -> Figure | NoFigure:
    return rules.figure(rule, made(pattern, lines, folder, **about), {"devices": 1, "batch_size": 64})


def test_a_record_at_step_1_covers_one_step(tmp_path: Path) -> None:
    """Steps 1, 10, 20 are printed, and the stall of the first must not count for ten steps."""
    printed = [(epoch, step, 5.0 if step == 1 else 0.1) for epoch in range(3) for step in (1, 10, 20, 30)]
    lines = [f"epoch {epoch} iter {step} took {took}" for epoch, step, took in printed]
    found = of_made(rb"epoch (?P<epoch>\d+) iter (?P<step>\d+) took (?P<step_seconds>\S+)", lines, tmp_path)
    assert isinstance(found, Figure)
    seconds = 2 * 1.0 + 2 * (5.0 + 0.9 + 1.0 + 1.0)  # Two of twelve records are warm-up.
    assert found.value == pytest.approx(64 * (20 + 2 * 30) / seconds)


def test_a_count_of_samples_may_restart_with_the_epoch(tmp_path: Path) -> None:
    """Each record has 64 samples. The negative difference between the epochs is not used."""
    epoch = [(64, 10.0), (128, 20.0), (192, 20.0), (256, 40.0)]
    lines = [f"iter {done // 64} total {done} speed {speed}" for _ in range(2) for done, speed in epoch]
    pattern = rb"iter (?P<step>\d+) total (?P<consumed>\d+) speed (?P<throughput>\S+)"
    found = of_made(pattern, lines, tmp_path, "sustained:skip=0")
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(8 / (2 * (1 / 10 + 1 / 20 + 1 / 20 + 1 / 40)))


@pytest.mark.parametrize("apart", [0.0, 0.002])
def test_a_line_that_is_printed_twice_counts_once(apart: float, tmp_path: Path) -> None:
    """Two handlers of a logger write each line within milliseconds."""
    lines = [f"iter {i} at {4.0 * i + later:.3f}" for i in range(1, 40) for later in (0.0, apart)]
    session = made(rb"iter (?P<step>\d+) at (?P<unix>\S+)", lines, tmp_path)
    found = rules.figure("sustained:skip=0", session, ONE)
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(ONE["batch_size"] * ONE["devices"] / 4)


def test_the_time_until_a_program_starts_again_does_not_count(tmp_path: Path) -> None:
    """Three hours pass before the program resumes from a checkpoint."""
    times = [*((i, 4.0 * i) for i in range(1, 40)), *((i, 10_800 + 4.0 * i) for i in range(30, 60))]
    session = made(rb"iter (?P<step>\d+) at (?P<unix>\S+)", [f"iter {i} at {time}" for i, time in times], tmp_path)
    for rule in ("sustained:skip=0", "mean"):
        found = rules.figure(rule, session, ONE)
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(ONE["batch_size"] * ONE["devices"] / 4)


@pytest.mark.parametrize("rule", ["sustained", "mean", "median", "reported"])
def test_figures_that_overflow_are_absent(tmp_path: Path, rule: str) -> None:
    """Each printed number is finite, but their sum, or the job's speed, is not."""
    pattern = rb"iter (?P<step>\d+) speed (?P<throughput>\S+)"
    session = made(pattern, [f"iter {i} speed 1e308" for i in range(9)], tmp_path, scope="device",
                   span="run" if rule == "reported" else "interval")  # fmt: skip
    found = rules.figure(rule, session, {"devices": 64, "batch_size": 4})
    assert isinstance(found, NoFigure)
    assert found.reason.code == "impossible_figure"


def test_the_last_of_several_figures_of_the_run_counts(tmp_path: Path) -> None:
    lines = ["total 5.0", "total 7.0", "total 6.0"]
    found = of_made(rb"total (?P<throughput>\S+)", lines, tmp_path, "reported", span="run")
    assert isinstance(found, Figure)
    assert (found.value, found.first_line, found.skipped) == (6.0, 3, 2)
