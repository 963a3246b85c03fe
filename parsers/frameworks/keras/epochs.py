"""Epochs of Keras: verbs that find the first complete bar of each, its seconds, and whether it counts steps or samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Column, Columns, Indices

#: Whole numbers below this are rounded by more than a tenth.
_COARSE = 5
#: Any step of TensorFlow takes longer than these seconds; a shorter time is that of a sample.
_QUICKEST = 200e-6


def _first_after_begin(columns: Columns, name: str) -> tuple[Indices, Indices, Indices]:
    """Return the first row that prints a column after each line `Epoch n/m`, that line, and which of these lines it is."""
    begins = np.flatnonzero(np.isfinite(columns["epoch"]))
    printed = np.flatnonzero(np.isfinite(columns[name]))
    which = np.searchsorted(begins, printed) - 1
    first = (which >= 0) & (np.diff(which, prepend=-1) > 0)
    return printed[first], begins[which[first]], which[first]


def _epochs(columns: Columns) -> Columns:
    """Return the finished epochs: the first complete bar after each line `Epoch n/m`, in steps or in samples."""
    rows, begins, which = _first_after_begin(columns, "steps")
    bars, first = columns["steps"][rows], columns["_first"][begins]
    # A resumed run begins once more with an epoch that was not finished, or was.
    begun = columns["epoch"][np.isfinite(columns["epoch"])]
    fresh = (np.diff(begun, prepend=np.nan) != 1)[which]
    found = columns.take(rows)
    found = found.assign(
        accuracy=_either(found, "accuracy", "_acc"),
        epoch=columns["epoch"][begins],
        total_epochs=columns["total_epochs"][begins],
        duration=_seconds(found, fresh),
    )
    in_samples = bool((bars == found["_dataset"]).any())
    in_samples |= _of_samples(np.where(first < bars, first, np.nan), found["_left"])
    return _in_samples(found) if in_samples else found


def _of_samples(begins: Column, left: Column) -> bool:
    """Return whether the bars begin with the samples of one batch, the same in each epoch.

    A bar of steps begins with 1, or with the steps of one call; then it shows its last state twice.
    """
    return len(begins) > 0 and begins[0] > 1 and bool((begins == begins[0]).all() and np.isnan(left).all())


def epochs_in_either(columns: Columns) -> Columns:
    """Return the finished epochs of a bar that may count samples without a word of it.

    The count is left out if no other line shows whether it is of steps or samples.
    """
    found = _epochs(columns)
    # Seconds that are all too coarse have a reason of their own.
    if "samples" in found or _shows_count(columns) or np.isnan(found["duration"]).all():
        return found
    if (found["duration"] / found["steps"] < _QUICKEST).any():
        return _in_samples(found)
    # With a validation, Keras prints the samples when it begins; a log that lacks the begin may lack that line.
    validated = np.isfinite(columns["_validation"]).any() and (columns["epoch"] == 1).any()
    return found if validated else found.drop("steps")


def epochs_in_steps(columns: Columns) -> Columns:
    """Return the finished epochs of a bar that most often counts steps.

    TensorFlow 1 also counted samples without a word of it. It named the accuracy `acc`, as programs of today may do too.
    """
    found = epochs_in_either(columns)
    return found if "samples" in found or np.isfinite(columns["_acc"]).any() else _epochs(columns)


def _shows_count(columns: Columns) -> bool:
    """Return whether the log shows that the bar counts samples or steps.

    The line of the data set and the first state of the bar show it. A line without a bar counts steps.
    """
    shows = ~np.isnan(columns["_dataset"]) | (columns["_first"] < np.nanmax(columns["steps"], initial=0))
    return bool(shows.any() or np.isnan(columns["_drawn"]).all())


def _in_samples(found: Columns) -> Columns:
    return found.assign(samples=found["steps"]).drop("steps")


def epochs_in_samples(columns: Columns) -> Columns:
    """Return the finished epochs of a bar that prints that it counts samples."""
    found = _epochs(columns)
    return found if "samples" in found else _in_samples(found)


def epochs_in_seconds(columns: Columns) -> Columns:
    """Return the first line of seconds after each line `Epoch n/m`, with the samples of an epoch if the log shows them."""
    rows, begins, _ = _first_after_begin(columns, "duration")
    places = {name: columns[name][begins] for name in ("epoch", "total_epochs")}
    seconds = columns["duration"][rows]
    found = columns.take(rows).assign(**places, duration=np.where(seconds < _COARSE, np.nan, seconds))
    samples = columns["_dataset"][np.isfinite(columns["_dataset"])]
    return found.assign(samples=np.full(len(rows), samples[-1])) if len(samples) else found


def _seconds(columns: Columns, fresh: NDArray[np.bool_]) -> Column:
    """Return the seconds of an epoch by the number with more digits; NaN if both have too few.

    The other number bounds it: that of a step in an epoch that a program begins with, since it leaves the compilation
    out; later that of the epoch, since it includes the wait of the first step.
    """
    count, whole = columns["steps"], columns["duration"]
    milli, micro = (_either(columns, f"_{unit}seconds", f"_{unit}seconds_behind") for unit in ("milli", "micro"))
    printed, unit = np.where(np.isnan(milli), micro, milli), np.where(np.isnan(milli), 1e-6, 1e-3) * count
    by_step = printed > whole
    found = np.where(by_step, printed * unit, whole)
    middle, half = np.where(fresh, printed * unit, whole), np.where(fresh, 0.5 * unit, 0.5)
    known = ~np.isnan(printed) & (whole > 0)
    bounded = np.where(known, np.clip(found, middle - half, middle + half), found)
    short = columns["_epoch_milliseconds"]
    in_seconds = np.where(np.where(by_step, printed, whole) < _COARSE, np.nan, bounded)
    return np.where(short >= _COARSE, 1e-3 * short, in_seconds)


def _either(columns: Columns, one: str, other: str) -> Column:
    return np.where(np.isnan(columns[one]), columns[other], columns[one])
