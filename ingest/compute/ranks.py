"""Lines of several ranks, and of programs that were started again: which lines print one step."""

from __future__ import annotations

import numpy as np

from perfledger.ingest.compute.intervals import Flags, Intervals
from perfledger.parsers.contract import Column, Indices
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.table import SessionRecords

#: Largest lag of a rank in distinct steps; a step repeated later means that the program was started again.
_LAG = 3
#: Largest lag of a rank as a share of all steps, if that is more.
_LAG_SHARE = 0.1


def is_repeated(records: SessionRecords) -> bool:
    """Return whether several lines may print one step."""
    return bool(records.reading.ranks) or bool(np.ptp(records.ranks()))


def may_go_back(records: SessionRecords) -> bool:
    """Return whether a line may print an earlier step: ranks lag, and a loss scaler takes back updates."""
    return is_repeated(records) or records.reading.per_update


def groups(given: Intervals) -> tuple[Indices, Indices]:
    """Return the first line of each step in order of appearance, and the number of the step of each of n lines.

    A file may contain the same steps twice, of a program that was started again without saying so.
    """
    order, begun = restarts(given)
    keys = _starts(begun, given.rank) * (order.max() + 1) + order
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    sequence = np.argsort(first, kind="stable")
    return first[sequence], np.argsort(sequence)[group.ravel()]


def restarts(given: Intervals) -> tuple[Indices, Flags]:
    """Return the index of each line's step, and whether the line goes back further than a line may lag.

    Ranks may lag by a few steps, or by a share of all steps if most steps are printed several times. Ranks with tags
    may lag freely, since what they print into a pipe arrives in blocks of lines.
    """
    order, by_rank = numbered(given.epoch, given.step), np.argsort(given.rank, kind="stable")
    begun = np.zeros(len(order), dtype=np.bool_)
    lag = _LAG if may_go_back(given.records) else 0
    if is_repeated(given.records) and median(np.bincount(order).astype(np.float64)) > 1:
        lag = max(lag, int(_LAG_SHARE * order.max()))
    back = np.diff(order[by_rank], prepend=order[by_rank[0]]) < -lag
    begun[by_rank] = back & (np.diff(given.rank[by_rank], prepend=given.rank[by_rank[0]]) == 0)
    return order, begun


def numbered(epochs: Column, steps: Column) -> Indices:
    """Return the number of each line's epoch and step, in their order; lines of one epoch and step share it."""
    in_order, number = np.lexsort((steps, epochs)), np.zeros(len(steps), dtype=np.intp)
    epochs, steps = epochs[in_order], steps[in_order]
    number[in_order[1:]] = np.cumsum((epochs[1:] != epochs[:-1]) | (steps[1:] != steps[:-1]))
    return number


def _starts(begun: Flags, rank: Column) -> Indices:
    """Return how often the rank of each line has started again up to that line."""
    by_rank, starts = np.argsort(rank, kind="stable"), np.zeros(len(begun), dtype=np.intp)
    so_far = np.cumsum(begun[by_rank])
    _, first, sizes = np.unique(rank[by_rank], return_index=True, return_counts=True)
    starts[by_rank] = so_far - np.repeat(so_far[first], sizes)
    return starts


def same_mean(given: Intervals) -> Flags:
    """Return whether a running mean continues from the line before; a program resumed within an epoch restarts it."""
    same: Flags = (np.diff(given.epoch, prepend=np.nan) == 0) & (np.diff(given.step, prepend=np.nan) >= 0)
    return same
