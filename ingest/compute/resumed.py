"""Summaries that count steps which this run did not take: of resumed runs, and of runs that ended early."""

from __future__ import annotations

import math

import numpy as np

from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Reason

#: Share of the planned steps that a run may lack, and still has ended as planned.
_LACKS = 0.02
#: Older trainers print epochs in hundredths.
_HUNDREDTH = 0.01
#: Least number of usual intervals before the first line of a run that was resumed.
_LATE = 1.5
#: Largest difference between the falls of a learning rate in two thirds of a straight line, as a share.
_STRAIGHT = 0.02
#: Share of the updates that a loss scaler may skip, which leaves the learning rate as it was.
_SKIPPED = 0.1
#: Share of the printed losses that the run's mean loss contains at least, if it was not resumed.
_LEAST_LOSSES = 1 / 1.05


def counts_more(session: Session, case: Facts) -> Reason | None:
    """Return why a summary may count steps that this run did not take; None if nothing says so.

    Trainers divide the steps that were planned by the time of those that were left to do. How far a run came is printed
    by its summary, in steps or in epochs, or else by its last step.
    """
    if step := case.get("resumed_from"):
        return Reason("resumed", {"begun": f"step {step}"})
    if _trained_before(session):
        return Reason("resumed_losses")
    counted, done, planned = session.counters, math.nan, math.nan
    if counted and counted.unit == "step" and not counted.reached:
        done, planned = float(counted.done), float(counted.total)
    for records in _of_run(session):
        if "step" in records and "total_steps" in records and (stated := _last_of(records, "step", "total_steps")):
            done, planned = stated
            break
        if "epoch" in records:
            done, planned = float(records["epoch"][-1]), _planned_epochs(session, case)
    if not done < planned * (1 - _LACKS):
        return None
    return Reason("ended_early", {"done": f"{done:.4g}", "total": f"{planned:.4g}"})


def _of_run(session: Session) -> list[SessionRecords]:
    return [each for each in session.records if each.reading.span == "run" and len(each)]


def _last_of(records: SessionRecords, *names: str) -> list[float]:
    """Return the values of the last record that prints all of some columns; empty if none does."""
    table = np.stack([records[each] for each in names])
    complete = np.flatnonzero(np.isfinite(table).all(axis=0))
    return [float(each) for each in table[:, complete[-1]]] if len(complete) else []


def _trained_before(session: Session) -> bool:
    """Return whether the losses show that a run was resumed: their mean over all its steps lacks some of them.

    A program that prints its losses from the beginning on was not resumed, unless the file keeps those from before.
    """
    whole = next((each for each in _of_run(session) if "epoch" in each or "mean_loss" in each), None)
    of_steps = (each for each in session.records if each.reading.span != "run" and len(each) and "loss" in each)
    lines = next((each for each in of_steps if "epoch" in each or "step" in each), None)
    if whole is None or lines is None:
        # Resumed after its last step a run sums up no losses.
        return whole is not None and "mean_loss" in whole and whole["mean_loss"][-1] == 0
    place = "step" if "step" in lines else "epoch"
    at, losses = lines[place], lines["loss"]
    gaps = np.diff(at)
    forward = gaps[gaps > 0]
    coarse = _HUNDREDTH if (np.abs(at / _HUNDREDTH - np.round(at / _HUNDREDTH)) < 1e-6).all() else 0.0
    late = len(forward) > 1 and bool(at[0] > _LATE * median(forward) + coarse)
    stated = "mean_loss" in whole and place in whole
    counted = float(whole["mean_loss"][-1] * whole[place][-1]) if stated else math.nan
    if not math.isfinite(counted) or not (np.isfinite(losses) & (losses > 0)).all():
        return late
    # The loss of the first line replaces those before it, which are larger if the log alone lacks them.
    logged = float((losses * np.diff(at, prepend=0.0)).sum())
    lacks = counted < _LEAST_LOSSES * logged - coarse * float(losses.max())
    return lacks and (late or len(forward) < 2 or place == "step" or bool((gaps < 0).any()))


def _planned_epochs(session: Session, case: Facts) -> float:
    """Return how many epochs a run was to take, the last in part if its steps are limited; NaN if unknown."""
    stated = (_last_of(each, "total_epochs") for each in session.records if len(each) and "total_epochs" in each)
    epochs, names = float(case.get("total_epochs", math.nan)), ("total_steps", "batch_size_of_job", "data_set_size")
    if not all(case.get(name) for name in names):
        shown = (each for found in stated for each in found)
        return next(shown, epochs if math.isfinite(epochs) else _end_of_schedule(session))
    steps, batch, samples = (float(case[name]) for name in names)
    return min(epochs, steps * batch / samples)


def _end_of_schedule(session: Session) -> float:
    """Return the epoch at which a linear learning rate reaches zero; NaN unless that is well after the last line."""
    lines = next(
        (each for each in session.records if len(each) and {"epoch", "learning_rate"} <= set(each.columns)), None
    )
    third = len(lines) // 3 if lines else 0
    if not lines or not third:
        return math.nan
    places = np.arange(3) * third + len(lines) - 1 - 2 * third
    (first, middle, last), (_, before, end) = lines["learning_rate"][places], lines["epoch"][places]
    fell = middle - last
    if not (last > 0 and fell > 0 and abs(first - middle - fell) <= _STRAIGHT * fell):
        return math.nan
    zero = float(end + (end - before) * last / fell)
    return zero if zero > (1 + _SKIPPED) * end else math.nan
