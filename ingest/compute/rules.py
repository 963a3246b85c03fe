"""Rules: named ways from observations to one figure. Data with names; one table never mixes two.

The house window drops the first fifth of the records, `max(1, n // 5)`, none where there is only one
(`ingest.compute.window`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from perfledger.ingest.common.numbers import decimals, printed_decimals
from perfledger.ingest.compute.series import (
    NoFigureError,
    ThroughputSeries,
    computed_series,
    no_figure,
    refuse_impossible,
    rounding,
    samples_per_step,
    scoped,
    series,
)
from perfledger.ingest.compute.window import begin, training, warm_up
from perfledger.parsers.contract import Window
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Figure, NoFigure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

HEADLINE = "sustained"
#: The headline of a log that gives one final figure only.
SUMMARY = "reported"
NAMES = ("sustained", "mean", "median", "reported", "paddle", "dlperf")


@dataclass(frozen=True)
class PublisherWindow:
    """The records that a publisher of figures counts, and where its rule stands."""

    window: Window
    source: str


#: What others compute their tables by, beside the windows of DLPerf, which differ by format. A window that a log does
#: not hold in full gives no figure. Time per step is averaged where the source averages it.
PUBLISHERS: Mapping[str, PublisherWindow] = {
    "dgxc": PublisherWindow(Window(35, 44, of="seconds"), "https://github.com/NVIDIA/dgxc-benchmarking"),
    "gpu_recipes": PublisherWindow(Window(10, 30, of="seconds"), "https://github.com/AI-Hypercomputer/gpu-recipes"),
    "primus": PublisherWindow(Window(6, None, by="record"), "https://github.com/AMD-AGI/Primus"),
    "titan90": PublisherWindow(Window(90, 90), "https://github.com/pytorch/torchtitan/tree/main/benchmarks"),
    "paddle_llm": PublisherWindow(
        Window(11, None, by="record"), "https://github.com/PaddlePaddle/PaddleNLP/tree/develop/tests/test_tipc"
    ),
}


class RuleError(ValueError):
    """A name that is not a rule."""


@dataclass(frozen=True)
class Rule:
    """A statistic and its parameters, written `mean`, `mean:skip=10` or `paddle:skip=5`."""

    statistic: str
    parameters: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The written form."""
        given = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.statistic}:{given}" if given else self.statistic


def parse(name: str) -> Rule:
    """Return the rule with this written form.

    Raises:
        RuleError: no such statistic or parameter.
    """
    statistic, _, given = name.partition(":")
    pairs = [each.partition("=") for each in given.split(",") if each]
    known = {"mean": {"skip"}, "median": {"skip"}, "sustained": {"skip"}, "paddle": {"skip"}}
    if statistic.partition("-")[0] not in NAMES and statistic not in PUBLISHERS:
        raise RuleError(f"no rule {statistic!r}; there are {', '.join((*NAMES, *PUBLISHERS))}")
    if any(key not in known.get(statistic, set()) or not value.isdigit() for key, _, value in pairs):
        raise RuleError(
            f"{name!r}: {statistic} takes {', '.join(known.get(statistic, ())) or 'no parameters'}, whole numbers"
        )
    return Rule(statistic, {key: int(value) for key, _, value in pairs})


def figure(
    rule: Rule | str, session: Session, case: Facts, given: Callable[[], ThroughputSeries] | None = None
) -> Figure | NoFigure:
    """Return the figure of a session under a rule, or why there is none.

    Args:
        rule: a rule or its written form.
        session: what the log states.
        case: facts of the case; `devices`, `nodes`, `batch_size` and `accumulation` are used where a rule needs them.
        given: gives the session's series, where it is at hand already.
    """
    import numpy as np

    rule = parse(rule) if isinstance(rule, str) else rule
    given = given or partial(series, session, case)
    try:
        with np.errstate(all="ignore"):  # Overflows are detected afterwards.
            return _possible(_computed(rule, session, case, given))
    except NoFigureError as reason:
        return reason.figure()


def _computed(rule: Rule, session: Session, case: Facts, given: Callable[[], ThroughputSeries]) -> Figure:
    if rule.statistic == "reported":
        return _reported(session, case)
    if rule.statistic.startswith(f"{SUMMARY}-"):
        return _reported(session, case, rule.statistic.removeprefix(f"{SUMMARY}-"))
    if rule.statistic.startswith("dlperf"):
        return _window(rule.statistic, session, case, given)
    if rule.statistic in PUBLISHERS:
        return _window_of(PUBLISHERS[rule.statistic].window, given(), whole=True)
    return _steady(rule, given())


def _possible(found: Figure) -> Figure:
    """Return the figure, or the reason if it overflows."""
    if not (math.isfinite(found.value) and found.value > 0):
        raise no_figure("impossible_figure", line=found.first_line, count=found.used)
    return found


def figures(
    session: Session, case: Facts, given: Callable[[], ThroughputSeries] | None = None
) -> dict[str, Figure | NoFigure]:
    """Return the figures of a session under all named rules, and the further windows and summaries of its format."""
    further = {f"{SUMMARY}-{each.summary}" for each in session.format.readings if each.summary}
    more = sorted({*session.format.windows, *further} - set(NAMES))
    given = given or computed_series(session, case)
    return {name: figure(name, session, case, given) for name in (*NAMES, *more)}


def used_records(rule: Rule | str, given: ThroughputSeries) -> Rows:
    """Return the indices of the records that a rule over the series uses, in file order.

    Raises:
        NoFigureError: too few records.
    """
    import numpy as np

    rule = parse(rule) if isinstance(rule, str) else rule
    indices = np.arange(len(given))
    if rule.name == HEADLINE:
        return _training(given)
    if rule.statistic != "paddle":
        skip = rule.parameters.get("skip", warm_up(len(given)))
        return _at_least(1, indices[skip:], len(given), skip + 1)
    skip = rule.parameters.get("skip", 10)
    rest = indices[skip:]
    trim = max(int(0.05 * len(rest)), 5)
    _at_least(2 * trim + 1, rest, len(given), skip + 2 * trim + 1)
    by_value = rest[np.argsort(given.values[rest], kind="stable")]
    return np.sort(by_value[trim:-trim])


def _training(given: ThroughputSeries) -> Rows:
    """Return the training records of the house window; windows of others count whatever they hold."""
    used = training(given.pauses, given.paces)
    if len(given) and not len(used):
        raise no_figure("only_pauses", records=len(given) - begin(given.pauses, given.paces))
    return _at_least(1, used, len(given), 1)


def _at_least(count: int, indices: Rows, found: int, needed: int) -> Rows:
    if len(indices) < count:
        raise no_figure("too_few_records", records=found, needed=needed)
    return indices


def _steady(rule: Rule, given: ThroughputSeries) -> Figure:
    used = used_records(rule, given)
    values, factor = given.values[used], f" × {given.multiplier}" if given.multiplier > 1 else ""
    if rule.statistic == "sustained":
        samples, seconds = float(given.samples[used].sum()), float(given.seconds[used].sum())
        # A printer may tell the last batch of each record alone, and not how many samples its steps took.
        if math.isnan(float(given.covered[used].sum())):
            raise no_figure("batches_vary", records=len(given))
        if samples <= 0 or seconds <= 0:
            raise _nothing_covered(given)
        value = samples / seconds
        arithmetic = _over_time(given, used, samples, seconds)
    elif rule.statistic == "median":
        value, arithmetic = median(values), f"median of {len(values)}{factor}"
    else:
        value, arithmetic = (
            float(values.mean()),
            f"Σ / n: {values.sum() / given.multiplier:.10g} / {len(values)}{factor}",
        )
    return _figure(value, given, used, arithmetic)


def _nothing_covered(given: ThroughputSeries) -> NoFigureError:
    """Return why records that cover no steps give no figure: the mean that they print begins with a later step."""
    since = given.records.reading.cumulative_since
    if since is None:
        return no_figure("too_few_records", records=len(given), needed=len(given) + 1)
    return no_figure("mean_not_begun", records=len(given), step=since)


def _over_time(given: ThroughputSeries, used: Rows, samples: float, seconds: float) -> str:
    """Return samples over seconds as arithmetic; of speeds alone, whose samples nothing tells, it is their mean."""
    import numpy as np

    if given.timed:
        return f"Σ samples / Σ s: {samples:.10g} / {seconds:.8g}"
    weighted = "" if np.ptp(given.covered[used]) == 0 else ", weighted by steps"
    return f"harmonic mean of {len(used)}{weighted}"


def _figure(value: float, given: ThroughputSeries, used: Rows, arithmetic: str) -> Figure:
    rows = given.rows[used]
    first, last = given.records.lines([int(rows.min()), int(rows.max())])
    return Figure(
        value, given.unit, given.scope, len(used), len(given) - len(used), first, last, arithmetic,
        _coarse(value, given.resolution),
    )  # fmt: skip


def _coarse(value: float, resolution: float) -> float | UnsetType:
    """Return what the last printed digit counts, as a share, where it is coarser than the digits that pages show."""
    coarse = math.isfinite(value) and value > 0 and printed_decimals(value, resolution) < decimals(value)
    return float(f"{resolution:.3g}") if coarse else UNSET


def _reported(session: Session, case: Facts, name: str = "") -> Figure:
    """Return the tool's own figure for the run: the last record of the first reading that spans the run.

    Of a tool that prints several, `name` is that of a further one.
    """
    own = [each for each in session.records if each.reading.span == "run" and each.reading.summary == name]
    for records in own:
        if len(records) and "steps_per_second" in records:
            return _reported_steps(records, session, case)
        if len(records) and "throughput" in records:
            refuse_impossible(records["throughput"][-1:], records, _last_row(records))
            multiplier, scope = scoped(records.reading, case)
            line = records.lines([len(records) - 1])[0]
            value = float(records["throughput"][-1]) * multiplier
            arithmetic = f"{value / multiplier:.10g}" + (f" × {multiplier}" if multiplier > 1 else "")
            resolution = 2 * rounding(records, "throughput", records["throughput"][-1:])
            return Figure(
                value,
                records.reading.unit,
                scope,
                1,
                len(records) - 1,
                line,
                line,
                arithmetic,
                _coarse(value, resolution),
            )
    raise no_figure("no_reported_figure")


def _last_row(records: SessionRecords) -> Rows:
    import numpy as np

    return np.array([len(records) - 1])


def _reported_steps(records: SessionRecords, session: Session, case: Facts) -> Figure:
    """Return the same for a tool that counts steps: its figure times the samples of a step."""
    printed = records["steps_per_second"][-1:]
    refuse_impossible(printed, records, _last_row(records))
    samples, line = samples_per_step(session, records.reading, case), records.lines([len(records) - 1])[0]
    arithmetic = f"{printed[0]:.10g} × {samples:.10g}"
    return Figure(float(printed[0]) * samples, records.reading.unit, "job", 1, len(records) - 1, line, line, arithmetic)


def _window(name: str, session: Session, case: Facts, given: Callable[[], ThroughputSeries]) -> Figure:
    window = session.format.windows.get(name)
    if window is None:
        raise no_figure("no_window", rule=name)
    return _clock_window(window, session, case) if window.of == "clock" else _window_of(window, given())


def _window_of(window: Window, given: ThroughputSeries, *, whole: bool = False) -> Figure:
    used = _inside(window, given, whole)
    if window.of == "seconds":
        samples, seconds = float(given.samples[used].sum()), float(given.seconds[used].sum())
        return _figure(samples / seconds, given, used, _over_time(given, used, samples, seconds))
    values, factor = given.values[used], f" × {given.multiplier}" if given.multiplier > 1 else ""
    arithmetic = f"Σ / n: {values.sum() / given.multiplier:.10g} / {len(values)}{factor}"
    return _figure(float(values.mean()), given, used, arithmetic)


def _inside(window: Window, given: ThroughputSeries, whole: bool) -> Rows:
    """Return the indices of a window's records; `whole`: not of a log that begins within it."""
    import numpy as np

    numbers, last = _numbers(window, given.steps), _last(window, len(given))
    inside = (numbers >= window.first) & (numbers <= (np.inf if last is None else last))
    inside &= numbers % window.every == 0
    # Steps restart with every epoch; DLPerf's scripts see the first epoch only.
    used = np.flatnonzero(inside & (np.cumsum(np.diff(numbers, prepend=numbers[0]) < 0) == 0))
    late = whole and numbers.min() > window.first
    if late or not len(used) or (last is not None and numbers[used].max() + window.every <= last):
        raise no_figure("window_not_reached", first=window.first, last=last or len(given))
    return used


def _numbers(window: Window, steps: Column) -> Column:
    """Return the numbers that a window counts by, for records of these steps."""
    import numpy as np

    if window.by == "record":
        return np.arange(1.0, len(steps) + 1)
    return steps - steps[0] if window.by == "since_first" else steps


def _last(window: Window, count: int) -> int | None:
    """Return where a window ends; a negative number counts from the last of `count` records."""
    return count + 1 + window.last if window.last is not None and window.last < 0 else window.last


def _clock_window(window: Window, session: Session, case: Facts) -> Figure:

    records = next((each for each in session.records if len(each) and "clock" in each and "step" in each), None)
    if records is None:
        raise no_figure("no_clock")
    begin, last = _row(records, window.first, window), _last(window, len(records))
    end = len(records) - 1 if last is None else _row(records, last, window)
    clock, steps = records["clock"], records["step"]
    seconds = float(clock[end] - clock[begin])
    if math.isnan(seconds):  # The printer has releases that print no clock.
        raise no_figure("no_clock")
    if not seconds > 0:
        raise no_figure("clock_runs_back", line=records.lines([end])[0])
    samples = samples_per_step(session, records.reading, case) * float(steps[end] - steps[begin])
    first, last = records.lines([begin, end])
    used = end - begin + 1
    arithmetic = f"samples / s: {samples:.10g} / {seconds:.8g}"
    return Figure(samples / seconds, records.reading.unit, "job", used, len(records) - used, first, last, arithmetic)


def _row(records: SessionRecords, number: int, window: Window) -> int:
    import numpy as np

    found = np.flatnonzero(_numbers(window, records["step"]) == number)
    if not len(found):
        raise no_figure("window_not_reached", first=window.first, last=_last(window, len(records)) or len(records))
    return int(found[0])
