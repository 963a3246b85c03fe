"""Compute the seconds of steps that are not printed from the running means of an epoch.

PyTorch's ImageNet example prints these means in brackets. So do the many programs that copied its `AverageMeter`.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract.statistics import median, medians
from perfledger.parsers.contract.verbs import Column, Columns, Indices

#: Rounding error of a mean that is printed with three decimals, in seconds.
ROUNDS = 0.0005
#: Largest rounding error, as a share of the seconds of a stretch.
_COARSE = 0.03
#: Two programs printed a step if its two times differ by more than this ratio.
_ALIKE = 1.1
#: Largest lag of the lines of a rank, in steps.
_LAG = 3
#: Share of the steps of an epoch that its only line must contain.
_NEARLY_ALL = 0.9


def stretches(columns: Columns) -> Columns:
    """Return records with the mean seconds of all steps since the previous record, if most steps are not printed.

    If each epoch prints a single line before its last step, the time of the later steps is unknown: no row remains.
    """
    nothing = np.full(len(columns["step"]), np.nan)
    columns = columns.assign(reader_seconds=columns.get("reader_seconds", nothing), steps=np.ones(len(nothing)))
    (epochs, steps), first, which = np.unique(
        np.stack([columns["epoch"], columns["step"]]), axis=1, return_index=True, return_inverse=True
    )
    gaps = np.diff(steps)[np.diff(epochs) == 0]
    usual = np.median(gaps) if len(gaps) else np.inf
    if usual <= 1 or len(steps) == 1 or _is_of_two(which.ravel(), columns["_mean_seconds"]):
        return columns
    means, waits, own = (
        medians(column, which.ravel())
        for column in (columns["_mean_seconds"], columns.get("_mean_wait", nothing), columns["step_seconds"])
    )
    # Steps count from 1 if the first is printed, or if every tenth one or so is printed from the tenth on.
    counted = np.median(steps % usual)
    counts = steps + (counted != 1 and (counted != 0 or steps.min() == 0))
    if not len(gaps) and not (counts >= _NEARLY_ALL * columns["total_steps"][first]).all():
        return columns.take(first[:0])
    ends = _ends(epochs, counts, means, own)
    if ends is None:
        return columns
    # The first line of an epoch counts the steps up to it, or its own step if the log begins amid an epoch.
    alone = np.diff(epochs[ends], prepend=np.nan) != 0
    whole = alone & (counts[ends] > 1) & (counts[ends] <= usual)
    covered = np.where(whole, counts[ends], np.where(alone, 1.0, np.diff(counts[ends], prepend=0.0)))
    took, waited = (np.diff(each[ends] * counts[ends], prepend=0.0) / covered for each in (means, waits))
    # The seconds of an epoch are wrong by the rounding of the means at its first and last line.
    begun = np.flatnonzero(alone)
    rounded = ROUNDS * (counts[ends[begun]] + counts[ends[np.append(begun[1:], len(ends)) - 1]]).sum()
    took = np.where(whole, means[ends], took)
    if rounded > _COARSE * (took * covered)[~alone | whole].sum():
        took = np.full(len(ends), np.nan)
    found = columns.take(first[ends])
    return found.assign(
        steps=covered,
        step_seconds=np.where(alone & ~whole, own[ends], took),
        reader_seconds=np.where(alone, found["reader_seconds"], np.maximum(waited, 0.0)),
    )


def _is_of_two(places: Indices, means: Column) -> bool:
    """Return whether a second program printed the same steps with different times; its lines are not merged.

    Ranks without tags may print blocks of lines too, but their times agree since they wait for each other in every step.
    """
    if not ((np.diff(places) < -_LAG) & (places[1:] <= places[0])).any():
        return False
    least, most = np.full(places.max() + 1, np.inf), np.zeros(places.max() + 1)
    np.minimum.at(least, places, means)
    np.maximum.at(most, places, means)
    again = np.bincount(places) > 1
    return median(most[again] / least[again]) > _ALIKE


def _ends(epochs: Column, counts: Column, means: Column, own: Column) -> Indices | None:
    """Return the rows that begin an epoch or end a stretch; None if the means do not begin with the epoch.

    The last stretch ends with the epoch. If its last steps were dropped, the slow first step would count too much.
    """
    if (np.abs(means - own)[counts == 1] > 2 * ROUNDS).any():
        return None
    ends: list[int] = []
    for places in np.split(np.arange(len(counts)), np.flatnonzero(np.diff(epochs) != 0) + 1):
        begin, last = int(places[0]), int(places[-1])
        ends.append(begin)
        for place in range(begin + 1, last + 1):
            took = means[place] * counts[place] - means[ends[-1]] * counts[ends[-1]]
            error = ROUNDS * (counts[place] + counts[ends[-1]])
            if error <= _COARSE * took:
                ends.append(place)
        if begin < ends[-1] < last:
            ends.pop()
        if ends[-1] < last:
            ends.append(last)
    return np.array(ends)
