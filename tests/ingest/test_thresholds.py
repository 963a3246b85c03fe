"""Named thresholds that tests of their modules do not surround: an input just inside, one just outside, two answers.

A row fails if its threshold moves by 30 % across its input, or by one if it is a small count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import made_sessions
import numpy as np
import pytest

from perfledger.ingest.compute import (
    contrast,
    digits,
    energy,
    kinds,
    one_run,
    ranks,
    results,
    resumed,
    rules,
    samples,
    throughput,
    window,
)
from perfledger.ingest.compute import telemetry_figures as telemetry
from perfledger.ingest.compute.chain import as_printed, intervals_of
from perfledger.ingest.compute.change_points import change_points
from perfledger.ingest.compute.equations import EQUATIONS, Given, check, clock, evaluation
from perfledger.ingest.compute.intervals import Intervals, usual_gap
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.record import identity, run_facts, run_problems
from perfledger.parsers.contract import Columns, Format, Reading, epoch_means
from perfledger.parsers.engine import rows as engine_rows
from perfledger.parsers.engine.session import Session
from perfledger.schema.machine import Sampled, Telemetry
from perfledger.schema.records import Case, ResultMetric, Run

Values = Sequence[float | str]
ONE = {"devices": 1, "batch_size": 16}
#: A clock of a day in November 2026.
NOVEMBER = 1_795_168_800.0
EPOCH = {"data_set_size": 1000, "total_epochs": 1, "total_steps": 10}


def table(columns: Mapping[str, Values], name: str = "steps", **about: Any) -> tuple[Reading, list[str]]:
    """Return a reading, and a line for each value of its columns."""
    pattern = f"{name}:" + "".join(f" {each} <{each}>" for each in columns)
    lines = []
    for row in zip(*columns.values(), strict=True):
        printed = (each if isinstance(each, str) else f"{each:.14g}" for each in row)
        lines.append(f"{name}:" + "".join(map(" {} {}".format, columns, printed)))
    return Reading(pattern.encode(), **{"unit": "images/s", **about}), lines


def session_of(folder: Path, *tables: tuple[Reading, list[str]]) -> Session:
    lines = [line for _, lines in tables for line in lines]
    return made_sessions.session_of(lines, folder, Format("made", tuple(reading for reading, _ in tables)))


def printed_of(folder: Path, columns: Mapping[str, Values], **about: Any) -> Intervals:
    return intervals_of(session_of(folder, table(columns, **about)).main)


def intervals_with_samples(folder: Path, columns: Mapping[str, Values], **about: Any) -> Intervals:
    return throughput.throughput(session_of(folder, table(columns, **about)), ONE)


def numbers(count: int) -> list[float]:
    return [float(each) for each in range(1, count + 1)]


def column(values: Sequence[float]) -> Any:
    return np.array(values, dtype=np.float64)


def clock_set_back(seconds: float, folder: Path) -> bool:
    records = {"step": numbers(4), "unix": [NOVEMBER, NOVEMBER + 9, NOVEMBER + 9 - seconds, NOVEMBER + 9]}
    session = session_of(folder, table(records))
    return one_run.clock_advances(as_printed(session.main), session.stated) is not None


def goes_back_often(times: int, count: int, folder: Path) -> bool:
    """Return whether two programs wrote a log of `count` lines if `times` of them go back by a step."""
    steps = [float(each) for each in range(1, count + 1)]
    for each in range(times):
        steps[3 * each + 1], steps[3 * each + 2] = steps[3 * each + 2], steps[3 * each + 1]
    session = session_of(folder, table({"step": steps, "throughput": [9.0] * count}))
    return one_run.steps_increase(as_printed(session.main), session.stated) is not None


def why_too_coarse(seconds: int, folder: Path) -> str | None:
    """Return why five steps of `seconds` by a clock of whole seconds, after a warm-up, give no figure."""
    clocks = [NOVEMBER + each for each in (0, 1, 2, 3, 4, 5, 1 + seconds)]
    found = window.too_few(intervals_with_samples(folder, {"step": numbers(7), "unix": clocks}))
    return found and found.code


def slow_records(speed: float, folder: Path) -> int:
    return window.evenness(intervals_with_samples(folder, {"throughput": [100.0] * 9 + [speed]})).slow


def smaller_rows(samples: Sequence[float], folder: Path) -> int:
    given = printed_of(folder, {"step": numbers(len(samples)), "batch": list(samples)}, span="step")
    return int(kinds.smaller_steps(given).sum())


def goes_back(steps: int, times: int, folder: Path) -> bool:
    """Return whether a line `steps` before the last of 101 steps means that the program started again."""
    printed = [float(each) for each in range(101) for _ in range(times)] + [100.0 - steps]
    columns = {"step": printed, "throughput": [9.0] * len(printed)}
    records = session_of(folder, table(columns, ranks="median")).main
    return bool(ranks.restarts(as_printed(records))[1].any())


def diverged(loss: float, folder: Path) -> bool | None:
    session = session_of(folder, table({"step": numbers(8), "throughput": [9.0] * 8, "loss": [*[1.0] * 7, loss]}))
    return metrics(session, {}, rules.figure("sustained", session, ONE))["loss"].diverged


def takes_round_number_as_printed(speed: int, folder: Path) -> bool:
    """Return whether the zeros of a round number count as digits; its rounding error is then small."""
    records = session_of(folder, table({"throughput": [f"{speed}.00"] * 3})).main
    return digits.rounding(records, "throughput", records["throughput"]) < 1e-5


def ranks_differ(repeats: int, folder: Path) -> bool:
    """Return whether processes print several speeds if `repeats` of 20 lines repeat a step."""
    steps = sorted([*range(1, 21 - repeats), *range(1, repeats + 1)])
    records = session_of(folder, table({"step": steps, "throughput": numbers(20)})).main
    return throughput.speeds_differ(records, tagged=False)


def has_fingerprint(count: int, folder: Path) -> bool:
    session = session_of(folder, table({"step": numbers(count), "throughput": numbers(count)}))
    return identity.fingerprint(session) is not None


def batch_of_records(speed: float, folder: Path) -> bool:
    columns = {"step": numbers(5), "throughput": [64.0] * 4 + [speed], "step_seconds": [1.0] * 5}
    return bool(run_facts._batch_of_records(session_of(folder, table(columns))))


def may_be_log(lines: int, folder: Path) -> bool:
    """Return whether a text may be a log if one of its `lines` has a number."""
    path = folder / "train_log.txt"
    path.write_text("step 1\n" + "words\n" * (lines - 1))
    return run_problems._may_be_meant(path)


def records_of(repeats: int, folder: Path) -> int:
    """Count the records of 20 lines if `repeats` of them repeat the line before."""
    steps = sorted([*range(1, 21 - repeats), *range(1, repeats + 1)])
    return len(session_of(folder, table({"step": steps, "throughput": steps})).main)


def power_gap(pauses: Sequence[float]) -> bool:
    """Return whether energy is integrated over samples with these pauses between them."""
    time = np.cumsum(column([0.0, *pauses]))
    return telemetry._integral(time, np.full(len(time), 9.0)) is not None


def power_over(count: int, whole: float) -> float | str:
    """Return the mean of `count` samples, 1 s apart, over a window of `whole` seconds."""
    measured = Sampled(samples=count, seconds=count - 1, devices=1, energy_j=9.0 * (count - 1))
    clock = (telemetry.iso(1e9), telemetry.iso(1e9 + whole))
    run = Run(path="a.log", sha256="", case=Case(devices=1), measured_clock=clock)
    return energy._power(run, Telemetry(measured=measured))


def measured(*values: float, spread: float = 0.0) -> contrast.Measured:
    middle = float(np.median(values))
    return contrast.Measured(middle, min(values), max(values), len(values), spread, groups=(values,))


def grade(percent: float, repeats: int) -> str:
    """Return how clear a difference of `percent` is between two groups of equal repeats."""
    return contrast.contrast(measured(*[100.0 + percent] * repeats), measured(*[100.0] * repeats)).grade


def repeats_needed(spread: float) -> int | None:
    """Return how many repeats would make a difference of 5 % clear if they vary by `spread`, a share."""
    return contrast.contrast(measured(95, 115, spread=spread), measured(90, 110, spread=spread)).more


def same_figures(value: float) -> bool:
    """Return whether figures of two formats, 100 and `value`, may belong to one result."""
    figures = {"one": 100.0, "other": value}
    runs = [
        SimpleNamespace(format=name, disturbed=None, rule="", outcome="completed", figure=lambda _, each=each: each)
        for name, each in ((name, SimpleNamespace(value=value, scope="job")) for name, value in figures.items())
    ]
    return results.several_formats(runs) is None


def dropped_runs(count: int) -> int:
    """Return how many of the slowest runs a score drops; here all runs missed their target."""
    found = ResultMetric(None, None, None, None, count, "min")
    runs = [SimpleNamespace(metrics={}, facts={})] * count
    return count - results._scored(found, "time_to_train", runs).reason.args["needed"]


def is_of_dialect(others: int) -> bool:
    """Return whether a dialect claims 20 lines if another program printed `others` of them."""
    dialect = engine_rows.Dialect(lambda line: line.split(b","), first=engine_rows.Header(("a", "b"), {}))
    return engine_rows.claimed(b"1,2\n" * (20 - others) + b"x\n" * others, dialect)


def epochs_used(step: int) -> int:
    """Return how many of three epochs of 100 steps count if each prints only the line of `step`."""
    seconds = dict.fromkeys(("step_seconds", "_mean_seconds"), np.ones(3))
    columns = {"epoch": column([0, 1, 2]), "step": np.full(3, step), "total_steps": np.full(3, 100.0), **seconds}
    return len(epoch_means.stretches(Columns(columns, np.arange(3), {})).rows)


def two_programs(first: int, last: int, ratio: float) -> bool:
    """Return whether steps `first` to `last`, printed twice, the second time with `ratio` s, are of two programs."""
    places = np.arange(first, last + 1)
    return epoch_means._is_of_two(np.tile(places, 2), np.repeat([1.0, ratio], len(places)))


def changes(*levels: tuple[float, int]) -> tuple[int, ...]:
    """Return where a series changes; each level is a value and how often it repeats."""
    return change_points([value for value, count in levels for _ in range(count)])


def outside_timer(seconds: Sequence[float]) -> int:
    """Count the records that took longer than their timer, which shows 1 s for each."""
    return int(kinds.outside_timer(column(seconds), np.ones(len(seconds))).sum())


def why_no_energy(percent: float) -> str:
    """Return why the energy is unknown if pauses take `percent` of the window."""
    headline = SimpleNamespace(scope="job", value=1.0, unit="images/s")
    return energy._refused(SimpleNamespace(headline=headline, pauses=SimpleNamespace(percent=percent)), 100.0)


def stretch_ends(seconds: float) -> list[int]:
    """Return which of three lines end a stretch if a step takes `seconds`."""
    return epoch_means._ends(np.zeros(3), column([10, 20, 60]), np.full(3, seconds), np.full(3, seconds)).tolist()


def run_of(folder: Path, steps: Mapping[str, Values], whole: Mapping[str, Values], **about: Any) -> Session:
    return session_of(folder, table(steps), table(whole, "run", span="run", **about))


def verdict(kind: str, session: Session) -> str:
    """Return the verdict of an equation on the headline, or the reason's code if the verdict is unknown."""
    given = throughput.throughput_or_reason(session, ONE)
    figure = rules.figure("sustained", session, ONE, given)
    (found,) = (each for each in check(Given(session, ONE, figure, given), EQUATIONS) if each.kind == kind)
    return found.reason.code if found.verdict == "silent" else found.verdict


def by_clock(passed: float, claimed: float, count: int, folder: Path, **about: Any) -> str:
    """Check the clock of `count` lines that are `passed` seconds apart and whose speeds claim `claimed` seconds."""
    clocks, speeds = [NOVEMBER + passed * each for each in range(count)], [f"{16 / claimed:.4f}"] * count
    return verdict(
        "clock", session_of(folder, table({"step": numbers(count), "unix": clocks, "throughput": speeds}, **about))
    )


def by_summary(speed: float, percent: float, folder: Path) -> str:
    """Check the run's own figure, which is `percent` above the speed of its intervals."""
    records = {"step": numbers(10), "throughput": [speed / (1 + percent / 100)] * 10}
    return verdict("summary", run_of(folder, records, {"throughput": [speed]}))


def is_resumed(first: int, folder: Path) -> bool:
    """Return whether a run is resumed if its first line is step `first`, and its lines are ten steps apart."""
    steps = {"step": [first, first + 10, first + 20, first + 30], "loss": [1.0] * 4}
    return resumed._trained_before(run_of(folder, steps, {"epoch": [1]}))


def ended_early(done: int, folder: Path) -> bool:
    """Return whether a run that did `done` of 1000 steps did fewer than its summary counts."""
    records = {"step": numbers(4), "loss": [1.0] * 4}
    return resumed.counts_more(run_of(folder, records, {"step": [done], "total_steps": [1000]}), {}) is not None


def intervals(seconds: Sequence[float]) -> clock.Compared:
    """Return intervals with these seconds by the clock; each claims 1 s."""
    return clock.Compared(column(seconds), np.ones(len(seconds)), np.arange(len(seconds)))


def agrees(kind: str, percent: float) -> bool:
    return evaluation.judged(kind, evaluation.Sides(100.0, 100.0 + percent, "images/s", "")).verdict == "agrees"


C, W = "ingest.compute", "ingest.compute.equations"
#: A threshold, the function that uses it, and pairs of input and answer.
Row = tuple[str, Callable[..., object], Sequence[tuple[Any, object]]]
OF_LOGS: Sequence[Row] = [
    (f"{C}.one_run._CLOCK_SET_BACK", clock_set_back, [(7_100, False), (7_300, True)]),
    (f"{C}.one_run._FEWEST_TIMES_BACK", goes_back_often, [((2, 10), False), ((3, 10), True)]),
    (f"{C}.one_run._SHARE_BACK", goes_back_often, [((9, 100), False), ((10, 100), True)]),
    (f"{C}.window._COARSEST", why_too_coarse, [(9, "coarse_clock"), (11, None)]),
    (f"{C}.window.SLOW", slow_records, [(81.0, 0), (79.0, 1)]),
    (f"{C}.kinds._GROWS", smaller_rows, [([10, 10, 100, 99.2, 99.2], 2), ([10, 10, 100, 98.8, 98.8], 0)]),
    (f"{C}.kinds._SMALLER", smaller_rows, [([91, 91, 100, 100, 100], 0), ([89, 89, 100, 100, 100], 2)]),
    (f"{C}.kinds._LAST", smaller_rows, [([81, 81, 81, 81, 100], 0), ([82, 82, 82, 82, 100, 100], 4)]),
    (f"{C}.ranks._LAG", goes_back, [((3, 1), False), ((4, 1), True)]),
    (f"{C}.ranks._LAG_SHARE", goes_back, [((10, 2), False), ((11, 2), True)]),
    (f"{C}.metrics._DIVERGED", diverged, [(1.95, False), (2.05, True)]),
    (f"{C}.digits._FINE", takes_round_number_as_printed, [(9_901, True), (10_101, False)]),
    (f"{C}.throughput._IN_TURN", ranks_differ, [(5, False), (6, True)]),
    (f"{W}.clock._COARSEST", by_clock, [((1, 1, 40), "coarse_clock"), ((1, 1, 44), "agrees")]),
    (f"{W}.clock._PLAIN", by_clock, [((2, 3.8, 12), "coarse_clock"), ((2, 4.2, 12), "disagrees")]),
    (f"{W}.clock._FEW", by_clock, [((2, 0.5, 11), "more_time"), ((2, 0.5, 13), "disagrees")]),
    (
        f"{W}.clock._KNOWN_TO_LEAVE_OUT",
        partial(by_clock, untrue=("clock",)),
        [((1.018, 1, 40), "agrees"), ((1.024, 1, 40), "corrects")],
    ),
    (
        f"{W}.clock._MOST_LEFT_OUT",
        partial(by_clock, untrue=("clock",)),
        [((1.18, 1, 40), "corrects"), ((1.2, 1, 40), "disagrees")],
    ),
    (
        f"{W}.evaluation.HOLDS_MORE",
        by_summary,
        [((52, -48), "disagrees"), ((53, -47), "more_time")],
    ),
    (f"{W}.summary._FEW_DIGITS", by_summary, [((0.095, 5.3), "agrees"), ((0.105, 5.3), "disagrees")]),
    (f"{W}.summary._ROUNDS", by_summary, [((0.05, 5.9), "agrees"), ((0.05, 6.1), "disagrees")]),
    (f"{C}.resumed._LATE", is_resumed, [(15, False), (16, True)]),
    (f"{C}.resumed._LACKS", ended_early, [(981, False), (979, True)]),
    ("ingest.record.identity._ENOUGH", has_fingerprint, [(9, False), (10, True)]),
    ("ingest.record.run_facts._ROUNDED", batch_of_records, [(64.3, True), (64.4, False)]),
    ("ingest.record.run_problems._PROSE_LINES", may_be_log, [(10, True), (11, False)]),
    ("parsers.engine.found._TWICE", records_of, [(5, 20), (6, 14)]),
]  # fmt: skip
OF_NUMBERS: Sequence[Row] = [
    (f"{C}.kinds._AGREES", outside_timer, [([1.0] * 5 + [1.09] * 6, 5), ([1.0] * 5 + [1.11] * 6, 0)]),
    (f"{C}.kinds._OUTSIDE", outside_timer, [([1.0] * 9 + [1.19], 0), ([1.0] * 9 + [1.22], 1)]),
    (f"{C}.intervals._SKIPPED", lambda gap: usual_gap(column([10, gap])), [(14, 12.0), (16, 10.0)]),
    (f"{C}.samples._REST_SHOWS", lambda batch: samples.of_short_epochs(EPOCH, batch), [(104, 104.0), (106, 100.0)]),
    (f"{C}.energy._MOST_PAUSES", why_no_energy, [(4.9, ""), (5.1, "energy_evaluation")]),
    (f"{C}.results.ALIKE", same_figures, [(101.9, True), (102.1, False)]),
    (f"{C}.results._MANY", dropped_runs, [(39, 1), (40, 4)]),
    (f"{C}.contrast.LEAST_CLEAR", grade, [((0.9, 5), "likely"), ((1.1, 5), "clear")]),
    (f"{C}.contrast.NARROW", grade, [((0.4, 5), "close"), ((0.6, 5), "likely")]),
    (f"{C}.contrast.LEAST_OF_FEW", grade, [((4.9, 1), "close"), ((5.1, 1), "likely")]),
    (f"{C}.contrast.SEVERAL", grade, [((4.9, 2), "close"), ((4.9, 3), "clear")]),
    (f"{C}.contrast.MANY", lambda count: contrast.median_interval(((1.0,) * count,)), [(4, None), (5, (1.0, 1.0))]),
    (f"{C}.contrast._AT_MOST", repeats_needed, [(0.137, 96), (0.144, None)]),
    (f"{C}.change_points.ENOUGH", changes, [(((1, 5), (2, 4)), ()), (((1, 5), (2, 5)), (5,))]),
    (f"{C}.change_points.SHORTEST", changes, [(((1, 10), (9, 2)), ()), (((1, 10), (9, 3)), (10,))]),
    (f"{C}.change_points._MOST_LEVELS", lambda count: len(changes(*((float(level), 3) for level in range(count)))), [
        (12, 11), (13, 2),
    ]),
    (f"{C}.change_points._PENALTY", lambda shift: changes(*(((-1) ** n + shift * (n > 9), 1) for n in range(20))), [
        (3.4, ()), (3.8, (10,)),
    ]),
    (f"{C}.change_points._EXACT", lambda last: changes((0, 6), (1, 3), (last, 3)), [
        (1 + 2.4e-6, (6,)), (1 + 2.8e-6, (6, 9)),
    ]),
    (f"{C}.change_points._NOTHING", lambda last: changes((1, 6), (last, 6)), [(1 + 1.9e-12, ()), (1 + 2.1e-12, (6,))]),
    (f"{C}.telemetry_figures._PAUSE", power_gap, [([1] * 20 + [4.9], True), ([1] * 20 + [5.1], False)]),
    (f"{C}.telemetry_figures._PAUSE_SHARE", power_gap, [([1] * 990 + [9.9], True), ([1] * 990 + [10.1], False)]),
    (f"{C}.energy._FEWEST", power_over, [((4, 3.0), "energy_few"), ((5, 4.0), 9.0)]),
    (f"{C}.energy._COVERED", power_over, [((88, 100.0), "energy_clock"), ((90, 100.0), 9.0)]),
    (f"{W}.evaluation.TOLERANCE", agrees, [
        (("clock", 5.9), True), (("clock", 6.1), False), (("clock", -5.6), True), (("clock", -5.7), False),
    ]),
    (f"{W}.evaluation.TOLERANCE", agrees, [(("arithmetic", 4.9), True), (("arithmetic", 5.1), False)]),
    (f"{W}.evaluation.TOLERANCE", agrees, [(("summary", 4.9), True), (("summary", 5.1), False)]),
    (f"{W}.evaluation.TOLERANCE", agrees, [(("framework", 4.9), True), (("framework", 5.1), False)]),
    (f"{W}.evaluation.TOLERANCE", agrees, [(("counters", 1.9), True), (("counters", 2.1), False)]),
    (f"{W}.clock._ELSEWHERE", lambda last: len(clock.without_pauses(intervals([1.0] * 5 + [last]), 0.0).row), [
        (1.95, 6), (2.05, 5),
    ]),
    (f"{W}.clock._STRETCH", lambda count: clock.stretches(intervals([1.0] * count), 1.0), [
        (119, (1.0, 119.0)), (120, (1.0, 40.0)),
    ]),
    ("parsers.engine.rows._MOSTLY", is_of_dialect, [(2, True), (3, False)]),
    ("parsers.contract.epoch_means.ROUNDS", stretch_ends, [(0.048, [0, 2]), (0.052, [0, 1, 2])]),
    ("parsers.contract.epoch_means._COARSE", stretch_ends, [(0.048, [0, 2]), (0.052, [0, 1, 2])]),
    ("parsers.contract.epoch_means._ALIKE", two_programs, [((0, 9, 1.09), False), ((0, 9, 1.11), True)]),
    ("parsers.contract.epoch_means._LAG", two_programs, [((0, 3, 2.0), False), ((0, 4, 2.0), True)]),
    ("parsers.contract.epoch_means._NEARLY_ALL", epochs_used, [(88, 0), (90, 3)]),
]  # fmt: skip


def listed(rows: Sequence[Row]) -> list[Any]:
    """Return a parameter for each input."""
    return [
        pytest.param(decide, given if isinstance(given, tuple) else (given,), answer, id=f"{name}-{number}")
        for name, decide, pairs in rows
        for number, (given, answer) in enumerate(pairs)
    ]


@pytest.mark.parametrize(("decide", "given", "answer"), listed(OF_LOGS))
def test_a_threshold_of_logs_has_its_value(
    decide: Callable[..., object], given: Any, answer: object, tmp_path: Path
) -> None:
    assert decide(*given, tmp_path) == answer


@pytest.mark.parametrize(("decide", "given", "answer"), listed(OF_NUMBERS))
def test_a_threshold_of_numbers_has_its_value(decide: Callable[..., object], given: Any, answer: object) -> None:
    assert decide(*given) == answer


def test_each_threshold_in_the_tables_exists() -> None:
    names = [name.rpartition(".") for name, _, _ in (*OF_LOGS, *OF_NUMBERS)]
    assert [name for module, _, name in names if not hasattr(import_module(f"perfledger.{module}"), name)] == []
