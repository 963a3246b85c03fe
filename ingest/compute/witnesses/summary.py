"""The summary: what the trainer says of the whole run and of its epochs, and the lines of the training program."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.digits import rounding
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.refusals import NoFigureError, no_figure
from perfledger.ingest.compute.samples import scoped
from perfledger.ingest.compute.witnesses.arithmetic import over_seconds
from perfledger.ingest.compute.witnesses.clock import claimed_seconds
from perfledger.ingest.compute.witnesses.judging import HOLDS_MORE, TOLERANCE, judged, least_alike
from perfledger.parsers.contract import Trap
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Figure, NoFigure, Reason, Witness
from perfledger.schema.vocabulary import UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

#: Further figures of a run that count a part of each step, such as its computation without the wait for data.
_OF_A_PART = frozenset({"compute"})
#: Summaries are rounded to three decimals, of which slow steps of large models leave a digit or two.
_ROUNDS, _FEW_DIGITS = 0.0005, 0.1
#: A summary that counts the steps alone contradicts the records below this share: it holds little else, as what is done
#: between the steps or behind the last line.
_HOLDS_LITTLE = 0.75
#: Older trainers print epochs in hundredths.
_HUNDREDTH = 0.01
#: A run was resumed if so many of its intervals lie before the first line.
_LATE = 1.5
#: Smallest ratio at which a summary contradicts the mean of all records, if a run has few of them.
_MANY_TIMES = 4.0
#: Records that make up less than this share of the run's seconds did not take place during them.
_LEAST_SHARE = 0.05


def summary_witness(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    """Compare the trainer's figures for the whole run with its records; they also count what lies between these."""
    further = _further(session, case, headline)
    if further and further.verdict == "disagrees":
        return further
    try:
        return _main_summary(session, case, given, headline)
    except NoFigureError:
        if further:
            return further
        raise


def _further(session: Session, case: Facts, headline: Figure) -> Witness | None:
    """Compare the further figures that a log prints for its run, such as a wrapper's; None if there are none.

    A wrapper's clock also counts the start of the program, so its figure may be lower.
    """
    names = {each.summary for each in session.format.readings if each.summary} - _OF_A_PART
    found = (rules.figure(f"{rules.SUMMARY}-{name}", session, case) for name in sorted(names))
    told = [
        each
        for each in found
        if isinstance(each, Figure) and (each.unit, each.scope) == (headline.unit, headline.scope)
    ]
    compared = [
        replace(
            judged(
                "summary", each.value, headline.value, each.unit, each.arithmetic, (each.first_line, each.last_line)
            ),
            **({"verdict": "agrees"} if HOLDS_MORE <= each.value / headline.value <= 1 else {}),
        )
        for each in told
    ]
    return min(compared, key=lambda each: each.verdict == "agrees", default=None)


def _main_summary(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    reported = rules.figure("reported", session, case)
    if isinstance(reported, NoFigure):
        return _epochs(session, case, given, headline) or _whole_run(session, given)
    if reported.scope != headline.scope or reported.unit != headline.unit or given.reading.span == "run":
        raise no_figure("other_scope")
    if given.source != "throughput" and reported.value > headline.value and (trap := _trap_of_summary(session)):
        raise NoFigureError(Reason(trap.code))
    of_run = [each.reading for each in session.records if each.reading.span == "run" and len(each)]
    averaged = _averaged(given)
    of_mean = bool(averaged) and any(each.averages for each in of_run)
    whole = float(given.samples.sum() / given.seconds.sum())
    # What lies between the records is in no summary of the steps alone.
    exact = any(each.exact for each in of_run)
    by_clock = [] if exact else _by_the_clock(given)
    speeds = averaged if of_mean else [headline.value, whole, *by_clock, *averaged]
    if reported.value > max(speeds) and (why := counts_more(session, case)):
        raise NoFigureError(why)
    nearest = min(speeds, key=lambda each: abs(each - reported.value))
    lines = reported.first_line, reported.last_line
    parts = over_seconds(session, reported)
    counted = parts is not None and parts.verdict == "agrees"
    if not counted and reported.value < least_alike("summary") * (slowest := _over_the_run(session, given)):
        # Nor can it count more time than the run took.
        return judged("summary", reported.value, slowest, reported.unit, reported.arithmetic, lines)
    least = _HOLDS_LITTLE if exact else HOLDS_MORE
    if not of_mean and least <= (holds := reported.value / min(speeds)) < least_alike("summary"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    if not of_mean and holds < HOLDS_MORE and reported.value >= HOLDS_MORE * _since_the_start(given):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    resolution = 100 * _ROUNDS / reported.value if reported.value < _FEW_DIGITS else 0.0
    found = judged("summary", reported.value, nearest, reported.unit, reported.arithmetic, lines, resolution)
    # Its window is the trainer's: between the speed of the window and that of all records it counts some of both.
    within = min(speeds) <= reported.value <= max(speeds)
    found = replace(found, verdict="agrees") if within else found
    return replace(parts, kind="summary") if found.verdict == "agrees" and parts and not counted else found


def of_few_records(given: Callable[[], Intervals], summary: Figure) -> Witness:
    """Compare the trainer's own figure with the mean of all records, if a run has too few of them for a figure.

    The records include the start of the program, so they can only contradict the figure: an epoch of 3 ms in a log of
    NCF makes its summary 170 times as fast as the run.
    """
    records = given()
    if (records.reading.unit, records.scope) != (summary.unit, summary.scope):
        raise no_figure("other_scope")
    whole = float(records.samples.sum() / records.seconds.sum())
    lines = summary.first_line, summary.last_line
    if whole * _MANY_TIMES >= summary.value >= whole / _MANY_TIMES:
        raise no_figure("few_records")
    return judged("summary", summary.value, whole, summary.unit, summary.arithmetic, lines)


def _over_the_run(session: Session, given: Intervals) -> float:
    """Return the samples of the records over the seconds of the run; 0 where these are not told, or another run's."""
    of_run = (each for each in session.records if each.reading.span == "run" and len(each) and "seconds" in each)
    seconds = next((float(each["seconds"][-1]) for each in of_run), math.nan)
    alone = given.timed and float(given.seconds.sum()) <= seconds / least_alike("summary")
    return float(given.samples.sum() / seconds) if alone else 0.0


def _trap_of_summary(session: Session) -> Trap | None:
    """Return what is known to be wrong with the trainer's own figure, which the seconds of the records show."""
    of_run = (each for each in session.records if each.reading.span == "run" and not each.reading.summary and len(each))
    return next((each.reading.trap for each in of_run), None)


def counts_more(session: Session, case: Facts) -> Reason | None:
    """Return why a summary may count steps that this run did not take; None where nothing says so.

    Trainers divide the steps that were planned by the time of those that were left to do. How far a run came is told by
    its summary, in steps or in epochs, or else by its last step.
    """
    if step := case.get("resumed_from"):
        return Reason("resumed_summary", {"step": step})
    if _trained_before(session):
        return Reason("resumed_losses")
    counted, done, planned = session.counters, math.nan, math.nan
    if counted and counted.unit == "step" and not counted.reached:
        done, planned = float(counted.done), float(counted.total)
    for records in (each for each in session.records if each.reading.span == "run" and len(each)):
        if "step" in records and "total_steps" in records and (told := _last_of(records, "step", "total_steps")):
            done, planned = told
            break
        if "epoch" in records:
            done, planned = float(records["epoch"][-1]), _planned_epochs(session, case)
    if not done < planned * (1 - TOLERANCE["counters"] / 100):
        return None
    return Reason("early_summary", {"done": f"{done:.4g}", "total": f"{planned:.4g}"})


def _last_of(records: SessionRecords, *names: str) -> list[float]:
    """Return what the last record that tells all of some columns says; nothing where none does."""
    import numpy as np

    table = np.stack([records[each] for each in names])
    told = np.flatnonzero(np.isfinite(table).all(axis=0))
    return [float(each) for each in table[:, told[-1]]] if len(told) else []


def _trained_before(session: Session) -> bool:
    """Return whether the losses show that a run was resumed: their mean over all its steps lacks some of them.

    A program that prints its losses from the beginning on was not resumed, unless the file keeps those from before.
    """
    import numpy as np

    of_run = (each for each in session.records if each.reading.span == "run" and len(each))
    whole = next((each for each in of_run if "epoch" in each or "mean_loss" in each), None)
    of_steps = (each for each in session.records if each.reading.span != "run" and len(each) and "loss" in each)
    lines = next((each for each in of_steps if "epoch" in each or "step" in each), None)
    if whole is None or lines is None:
        # Resumed behind its last step a run sums up no losses.
        return whole is not None and "mean_loss" in whole and whole["mean_loss"][-1] == 0
    place = "step" if "step" in lines else "epoch"
    at, losses = lines[place], lines["loss"]
    gaps = np.diff(at)
    forward = gaps[gaps > 0]
    coarse = _HUNDREDTH if (np.abs(at / _HUNDREDTH - np.round(at / _HUNDREDTH)) < 1e-6).all() else 0.0
    late = len(forward) > 1 and bool(at[0] > _LATE * median(forward) + coarse)
    told = "mean_loss" in whole and place in whole
    counted = float(whole["mean_loss"][-1] * whole[place][-1]) if told else math.nan
    if not math.isfinite(counted) or not (np.isfinite(losses) & (losses > 0)).all():
        return late
    # Up to the first line its loss stands for all before, which are larger, if they are missing in the log alone.
    logged = float((losses * np.diff(at, prepend=0.0)).sum())
    lacks = counted < least_alike("summary") * logged - coarse * float(losses.max())
    return lacks and (late or len(forward) < 2 or place == "step" or bool((gaps < 0).any()))


def _planned_epochs(session: Session, case: Facts) -> float:
    """Return how many epochs a run was to take, the last in part where its steps are limited; NaN if unknown."""
    told = (_last_of(each, "total_epochs") for each in session.records if len(each) and "total_epochs" in each)
    epochs, names = float(case.get("total_epochs", math.nan)), ("total_steps", "batch_size_of_job", "data_set_size")
    if not all(case.get(name) for name in names):
        return next((each for found in told for each in found), epochs)
    steps, batch, samples = (float(case[name]) for name in names)
    return min(epochs, steps * batch / samples)


def _by_the_clock(given: Intervals) -> list[float]:
    """Return the speed from the first to the last line by their clocks, with all that lies between.

    A record of one step stands for those since the line before.
    """
    import numpy as np

    stamps, advanced = given.clock, np.diff(given.step)
    took = float(stamps[-1] - stamps[0]) if len(stamps) > 1 else math.nan
    of_step = given.reading.span == "step"
    if not (np.isfinite(took) and took > 0 and given.timed) or (of_step and not (advanced > 0).all()):
        return []
    return [float((given.samples[1:] * (advanced if of_step else 1.0)).sum() / took)]


def _averaged(given: Intervals) -> list[float]:
    """Return the mean of the printed speeds, which some trainers print for the whole run: a slow record weighs no more.

    It lies above samples over time where steps are uneven. Trainers may leave out the first ones, as the window does,
    or tell the mean of the last epoch.
    """
    import numpy as np

    if given.source != "throughput" or given.reading.cumulative_since is not None:
        return []
    parts = (slice(None), rules.used_records(rules.HEADLINE, given), given.epoch == given.epoch[-1])
    return [float(np.mean(given.speed[each])) for each in parts]


def _since_the_start(given: Intervals) -> float:
    """Return the speed up to the last line by a timer that runs since the start; infinite where there is none.

    A slow start that the records leave out explains a summary that is far below them.
    """
    import numpy as np

    stamps, steps = given.clock, given.step
    timed = "elapsed" in given.reading.columns and given.timed and len(stamps) and stamps[-1] > 0
    if not timed or not np.isfinite(stamps[-1]) or not steps[-1] > 0 or len(np.unique(given.epoch)) > 1:
        return math.inf
    return float(given.samples.sum() / given.steps.sum() * steps[-1] / stamps[-1])


def _epochs(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness | None:
    """Compare the lines that tell of whole epochs with the records of the same epochs; None where there are none."""
    import numpy as np

    behind = len(np.unique(given.epoch)) / len(given)
    for records in session.records:
        if records.reading.span != "epoch" or records.table is given.records.table or not len(records):
            continue
        if "throughput" in records and records.reading.unit == given.reading.unit:
            multiplier, scope = scoped(records.reading, case)
            told = multiplier / float(np.mean(1 / records["throughput"]))
            if scope == given.scope and records.reading.exact:
                return _exact_speeds(records, multiplier, headline)
            if scope == given.scope:
                # An epoch's time may hold what takes time between its records, or not.
                held = (np.ones(len(given), dtype=np.bool_), given.kind == 0)
                speeds = [float(given.samples[each].sum() / given.seconds[each].sum()) for each in held if each.any()]
                nearest = min(speeds, key=lambda each: abs(each - told))
                return _compared(told, nearest, given.reading.unit, f"{len(records)} / Σ (1 / x)", records, behind)
        elif "duration" in records and "epoch" in records:
            claimed = np.nan_to_num(claimed_seconds(given))
            # A program that was started again begins with an epoch that was told of; processes tell of one in turn.
            told_of = list(records["epoch"][np.diff(records["epoch"], prepend=np.nan) != 0])
            inside = [float(claimed[given.epoch == each].sum()) / told_of.count(each) for each in records["epoch"]]
            # Of an epoch of which lines are missing, the records claim too little.
            whole = ~np.isin(records["epoch"], given.epoch[given.apart])
            if whole.any():
                took, claims = (float(np.sum(each, where=whole)) for each in (records["duration"], inside))
                return _compared(took, claims, "s", "Σ s", records, behind)
    return None


def _exact_speeds(records: SessionRecords, multiplier: int, headline: Figure) -> Witness:
    """Compare epochs whose speed is that of all their steps, and of nothing else, with the figure of these lines."""
    import numpy as np

    lines = np.array(records.lines(list(range(len(records)))))
    inside = np.flatnonzero((lines >= headline.first_line) & (lines <= headline.last_line))
    rows = inside if len(inside) else np.arange(len(records))
    told = multiplier / float(np.mean(1 / records["throughput"][rows]))
    named = int(lines[rows[0]]), int(lines[rows[-1]])
    return judged("summary", told, headline.value, headline.unit, f"{len(rows)} / Σ (1 / x)", named)


def _compared(
    value: float, told: float, unit: str, arithmetic: str, records: SessionRecords, behind: float = 0.0
) -> Witness:
    """Compare what lines of whole epochs tell with the records; in seconds, they may count more than the records do.

    Args:
        value: what the lines of epochs tell.
        told: what the records tell.
        unit: of both.
        arithmetic: how the value comes about.
        records: the lines of epochs.
        behind: the share of the records by which steps behind the last of them may have taken longer.
    """
    holds = told / value if unit == "s" else value / told
    least = _HOLDS_LITTLE / (1 + behind) if records.reading.exact else HOLDS_MORE
    if least <= holds < least_alike("summary"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    first, last = records.lines([0, len(records) - 1])
    return judged("summary", value, told, unit, arithmetic, (first, last))


def _whole_run(session: Session, given: Intervals) -> Witness:
    """Compare the seconds of the whole run, where the log states them, with those of all records: they are its most."""
    import numpy as np

    for records in session.records:
        if records.reading.span == "run" and len(records) and "seconds" in records:
            whole, told = float(records["seconds"][-1]), float(np.nansum(claimed_seconds(given)))
            # Of epochs many may be missing in the log.
            least = 0.0 if given.reading.span == "epoch" else _LEAST_SHARE
            if least * whole <= told < whole * least_alike("summary"):
                raise no_figure("summary_holds_more", percent=f"{100 * (1 - told / whole):.3g}")
            line = records.lines([len(records) - 1])[0]
            resolution = 100 * rounding(records, "seconds", records["seconds"])
            return judged("summary", whole, told, "s", f"{whole:.8g} s", (line, line), resolution)
    raise no_figure("no_reported_figure")


def framework_witness(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    """Compare what the training program prints between the lines of a format that stands over its own.

    Its lines may count more time than training, but not less. Without such a program, compare the speeds of one device
    with those of the job, if the lines of the format print both.
    """
    if session.view is None:
        found = _of_other_lines(session, case, given)
    else:
        told = {name: each.value for name, each in session.view.facts.items()} | dict(case)
        found = rules.figure(rules.HEADLINE, session.view, told)
    if isinstance(found, NoFigure) or found.scope != headline.scope or not _is_same_unit(found.unit, headline.unit):
        raise no_figure("other_scope")
    if HOLDS_MORE <= (holds := found.value / headline.value) < least_alike("framework"):
        raise no_figure("summary_holds_more", percent=f"{100 * (1 - holds):.3g}")
    lines = found.first_line, found.last_line
    return judged("framework", found.value, headline.value, headline.unit, found.arithmetic, lines)


def _is_same_unit(one: str, other: str) -> bool:
    return one == other or {UNITS[one].counts, UNITS[other].counts} == {"sample"}


def _of_other_lines(session: Session, case: Facts, given: Intervals) -> Figure | NoFigure:
    """Return the figure of the lines of one device if the headline is of those of the job, or the reverse."""
    own = given.reading
    others = (each for each in session.records if len(each) and each.reading.scope != own.scope)
    alike = next((each for each in others if "throughput" in each and each.reading.unit == own.unit), None)
    if alike is None or "run" in (alike.reading.span, own.span):
        raise no_figure("no_other_lines")
    return rules.figure(rules.HEADLINE, dataclasses.replace(session, records=(alike,)), case)
