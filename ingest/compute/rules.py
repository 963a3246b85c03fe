"""Rules: named ways from observations to one figure. Data with names; one table never mixes two.

The house window drops the first fifth of the records, `max(1, n // 5)`, none where there is only one
(`ingest.compute.window`).
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import UNSET, UnsetType

from perfledger.ingest.common.numbers import decimals, printed_decimals
from perfledger.ingest.compute.digits import rounding
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.publisher_windows import OF_FORMATS, PUBLISHERS, Window
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated, refuse_impossible, required
from perfledger.ingest.compute.samples import samples_per_step, scoped
from perfledger.ingest.compute.throughput import throughput, throughput_or_reason
from perfledger.ingest.compute.window import too_short, training, warm_up
from perfledger.parsers.contract import Column, Indices, Scope
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Figure, NoFigure, Reason

HEADLINE = "sustained"
#: The headline of a log that gives one final figure only.
SUMMARY = "reported"
NAMES = ("sustained", "mean", "median", "reported", "paddle", "dlperf")


#: Rules that may leave out another number of first records, as `mean:skip=10`.
_SKIPPING = ("mean", "median", "sustained", "paddle")


def parse(rule: str) -> tuple[str, int | None]:
    """Return the statistic of a rule such as `mean` or `paddle:skip=5`, and how many records it leaves out, if it says.

    Raises:
        ValueError: no such statistic, or it takes no number.
    """
    statistic, colon, skipped = rule.partition(":skip=")
    if statistic.partition("-")[0] not in NAMES and statistic not in PUBLISHERS:
        raise ValueError(f"no rule {statistic!r}; there are {', '.join((*NAMES, *PUBLISHERS))}")
    if colon and not (statistic in _SKIPPING and skipped.isdecimal()):
        raise ValueError(f"{rule!r}: {', '.join(_SKIPPING)} take a whole number, such as mean:skip=10")
    return statistic, int(skipped) if colon else None


def figure(rule: str, session: Session, case: Facts, given: Intervals | Reason | None = None) -> Figure | NoFigure:
    """Return the figure of a session under a rule, or the reason for its absence.

    Args:
        rule: a rule, as `parse` reads it.
        session: what the log states.
        case: facts of the case; `devices`, `nodes`, `batch_size` and `accumulation` are used if a rule needs them.
        given: the session's throughput, or the reason for its absence, if it is computed already.
    """
    try:
        with np.errstate(all="ignore"):  # Overflows are detected afterwards.
            found = _computed(rule, session, case, given)
        if not (math.isfinite(found.value) and found.value > 0):
            raise no_figure("impossible_figure", line=found.first_line, count=found.used)
    except NoFigureError as error:
        return NoFigure(error.reason)
    return found


def _computed(rule: str, session: Session, case: Facts, given: Intervals | Reason | None) -> Figure:
    name, _ = parse(rule)
    if name == SUMMARY or name.startswith(f"{SUMMARY}-"):
        return _reported(session, case, int(name.removeprefix(f"{SUMMARY}-")) if name != SUMMARY else 1)
    window = OF_FORMATS.get(session.format.id, {}).get(name)
    if window is None and name.startswith("dlperf"):
        raise no_figure("no_window", rule=name)
    if window and window.of == "clock":
        return _clock_window(window, session, case)
    intervals = throughput(session, case) if given is None else required(given)
    if name in PUBLISHERS:
        return _window_of(PUBLISHERS[name], intervals, whole=True)
    return _window_of(window, intervals) if window else _steady(rule, intervals)


def figures(session: Session, case: Facts, given: Intervals | Reason | None = None) -> dict[str, Figure | NoFigure]:
    """Return the figures of a session under all named rules, and the further windows and summaries of its format."""
    further = {f"{SUMMARY}-{number}" for number in range(2, len(summaries(session)) + 1)}
    more = sorted({*OF_FORMATS.get(session.format.id, {}), *further} - set(NAMES))
    given = throughput_or_reason(session, case) if given is None else given
    return {name: figure(name, session, case, given) for name in (*NAMES, *more)}


def used_records(rule: str, given: Intervals) -> Indices:
    """Return the indices of the intervals that a rule over them uses, in file order.

    Raises:
        NoFigureError: too few intervals.
    """
    statistic, skip = parse(rule)
    if rule == HEADLINE:
        used = training(given)
        if len(given) and not len(used):
            raise NoFigureError(too_short(0, 0.0))
        return _at_least(1, used, len(given), 1)
    if skip is None:
        skip = 10 if statistic == "paddle" else warm_up(len(given))
    rest = np.arange(len(given))[skip:]
    if statistic != "paddle":
        return _at_least(1, rest, len(given), skip + 1)
    trim = max(int(0.05 * len(rest)), 5)
    _at_least(2 * trim + 1, rest, len(given), skip + 2 * trim + 1)
    by_value = rest[np.argsort(given.speed[rest], kind="stable")]
    return np.sort(by_value[trim:-trim])


def _at_least(count: int, indices: Indices, found: int, needed: int) -> Indices:
    if len(indices) < count:
        raise no_figure("too_few_records", records=found, needed=needed)
    return indices


def _steady(rule: str, given: Intervals) -> Figure:
    used, (statistic, _) = used_records(rule, given), parse(rule)
    if statistic == "median":
        return _figure(median(given.speed[used]), given, used, f"median of {len(used)}{_factor(given)}")
    if statistic != "sustained":
        return _mean(given, used)
    # A printer may state the last batch of each record alone, and not how many samples its steps took.
    if math.isnan(float(given.steps[used].sum())):
        raise not_stated("batch_sizes")
    # The mean that a printer prints may begin after the last step of each epoch.
    if given.samples[used].sum() <= 0 or given.seconds[used].sum() <= 0:
        raise not_stated("line_steps")
    return _over_time(given, used)


def _factor(given: Intervals) -> str:
    return f" × {given.multiplier}" if given.multiplier > 1 else ""


def _mean(given: Intervals, used: Indices) -> Figure:
    values = given.speed[used]
    arithmetic = f"Σ / n: {values.sum() / given.multiplier:.10g} / {len(values)}{_factor(given)}"
    return _figure(float(values.mean()), given, used, arithmetic)


def _over_time(given: Intervals, used: Indices) -> Figure:
    """Return samples over seconds; of speeds alone, whose samples are unknown, that is their harmonic mean."""
    samples, seconds = float(given.samples[used].sum()), float(given.seconds[used].sum())
    if given.timed:
        arithmetic = f"Σ samples / Σ s: {samples:.10g} / {seconds:.8g}"
    else:
        weighted = "" if np.ptp(given.steps[used]) == 0 else ", weighted by steps"
        arithmetic = f"harmonic mean of {len(used)}{weighted}"
    return _figure(samples / seconds, given, used, arithmetic)


def _figure(value: float, given: Intervals, used: Indices, arithmetic: str) -> Figure:
    rows = given.row[used]
    first, last = given.records.lines([int(rows.min()), int(rows.max())])
    coarse, left_out = _coarse(value, given.resolution), len(given) - len(used)
    return Figure(value, given.reading.unit, given.scope, len(used), left_out, first, last, arithmetic, coarse)


def _coarse(value: float, resolution: float) -> float | UnsetType:
    """Return what the last printed digit counts, as a share, if it is coarser than the digits that pages show."""
    coarse = math.isfinite(value) and value > 0 and printed_decimals(value, resolution) < decimals(value)
    return float(f"{resolution:.3g}") if coarse else UNSET


def summaries(session: Session) -> list[SessionRecords]:
    """Return the records with the program's own figures for the run, in the order of the format's readings."""
    of_run = (each for each in session.records if each.reading.span == "run" and len(each))
    return [each for each in of_run if "steps_per_second" in each or "throughput" in each]


def _reported(session: Session, case: Facts, number: int) -> Figure:
    """Return the program's own figure for the run, by its number from 1: programs print several."""
    found = summaries(session)
    if len(found) < number:
        raise not_stated("summary")
    records = found[number - 1]
    column = "steps_per_second" if "steps_per_second" in records else "throughput"
    printed, last = records[column][-1:], len(records) - 1
    refuse_impossible(printed, records, np.array([last]))
    factor: float
    scope: Scope
    if column == "steps_per_second":
        factor, scope, resolution = samples_per_step(session, records.reading, case), "job", 0.0
    else:
        factor, scope = scoped(records.reading, case)
        resolution = 2 * rounding(records, column, printed)
    value, line = float(printed[0]) * factor, records.lines([last])[0]
    arithmetic = f"{printed[0]:.10g}" + (f" × {factor:.10g}" if factor != 1 else "")
    unit, coarse = records.reading.unit, _coarse(value, resolution)
    return Figure(value, unit, scope, 1, last, line, line, arithmetic, coarse)


def _window_of(window: Window, given: Intervals, *, whole: bool = False) -> Figure:
    used = _inside(window, given, whole)
    return _over_time(given, used) if window.of == "seconds" else _mean(given, used)


def _inside(window: Window, given: Intervals, whole: bool) -> Indices:
    """Return the indices of a window's records; `whole`: not of a log that begins within it."""
    numbers, last = _numbers(window, given.step), _last(window, len(given))
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
    if window.by == "record":
        return np.arange(1.0, len(steps) + 1)
    return steps - steps[0] if window.by == "since_first" else steps


def _last(window: Window, count: int) -> int | None:
    """Return where a window ends; a negative number counts from the last of `count` records."""
    return count + 1 + window.last if window.last is not None and window.last < 0 else window.last


def _clock_window(window: Window, session: Session, case: Facts) -> Figure:
    records = next((each for each in session.records if len(each) and "clock" in each and "step" in each), None)
    if records is None:
        raise not_stated("timestamps")
    begin, last = _row(records, window.first, window), _last(window, len(records))
    end = len(records) - 1 if last is None else _row(records, last, window)
    clock, steps = records["clock"], records["step"]
    seconds = float(clock[end] - clock[begin])
    if math.isnan(seconds):  # The printer has releases that print no clock.
        raise not_stated("timestamps")
    if not seconds > 0:
        raise no_figure("clock_goes_back", line=records.lines([end])[0])
    samples = samples_per_step(session, records.reading, case) * float(steps[end] - steps[begin])
    first, last = records.lines([begin, end])
    used = end - begin + 1
    arithmetic = f"samples / s: {samples:.10g} / {seconds:.8g}"
    return Figure(samples / seconds, records.reading.unit, "job", used, len(records) - used, first, last, arithmetic)


def _row(records: SessionRecords, number: int, window: Window) -> int:
    found = np.flatnonzero(_numbers(window, records["step"]) == number)
    if not len(found):
        raise no_figure("window_not_reached", first=window.first, last=_last(window, len(records)) or len(records))
    return int(found[0])
