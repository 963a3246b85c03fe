"""Verbs: functions that turn the columns of a format's lines into the columns of records.

A verb is a pure function from columns to columns. If tags separate ranks, it gets the lines of one rank. A number that a
line does not print is NaN, and so is the result of an impossible division: NumPy does not warn of these.

    verbs=(only("step"), total("step_seconds", "reader_seconds", "_compute"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract.statistics import median
from perfledger.schema.vocabulary import FACTS

Column = NDArray[np.float64]
#: Indices of rows.
Indices = NDArray[np.intp]

#: Largest lag of a rank, in rows; a step further back is of a program that was started again.
_LAG = 3
#: Largest difference between the clocks of two nodes, in seconds.
_NODES_APART = 3.0
#: Most parts of bars, each without a step back, that are searched for the end of an inner bar.
_MOST_PARTS = 1000
#: A row is slow if it takes this many times the median.
_SLOW = 1.5
#: Least number of slow rows that show a distance.
_SEVERAL = 3
#: Share of the rows at the distance that are slow, and of the slow rows that are at the distance.
_NEARLY_ALL = 0.9
#: Least value of a printed number, in units of its last digit.
_DIGITS = 10


class Columns(dict[str, Column]):
    """Columns of n rows in file order, by name, and the index of each row among the lines.

    A numeric fact of the session is a column, too: `_batch_size` for the fact `batch_size`, NaN if it is not stated. The
    methods return other columns, and are named as in pandas and Polars.
    """

    def __init__(self, columns: Mapping[str, Column], rows: Indices, facts: Mapping[str, float]) -> None:
        super().__init__(columns)
        self.rows = rows
        self._facts = facts

    def __missing__(self, name: str) -> Column:
        """Return a fact in each row."""
        if name[:1] != "_" or name[1:] not in FACTS:
            raise KeyError(name)
        return np.full(len(self.rows), self._facts.get(name[1:], np.nan))

    def take(self, rows: Indices | NDArray[np.bool_] | slice) -> Columns:
        """Keep some rows, by index, by a mask or by a slice."""
        return Columns({name: each[rows] for name, each in self.items()}, self.rows[rows], self._facts)

    def assign(self, **columns: Column) -> Columns:
        """Add columns, or replace them."""
        return Columns({**self, **columns}, self.rows, self._facts)

    def drop(self, *names: str) -> Columns:
        """Drop columns."""
        return self.select(*(each for each in self if each not in names))

    def select(self, *names: str) -> Columns:
        """Keep these columns."""
        return Columns({name: self[name] for name in names}, self.rows, self._facts)


Verb = Callable[[Columns], Columns]


def applied(verbs: Sequence[Verb], columns: Mapping[str, Column], facts: Mapping[str, float]) -> Columns:
    """Apply some verbs one after the other, and drop the private columns, whose names begin with an underscore.

    Args:
        verbs: the verbs, in their order.
        columns: n values each.
        facts: numeric facts of the session; a verb gets the fact `batch_size` as the column `_batch_size`.
    """
    found = Columns(columns, np.arange(len(next(iter(columns.values())))), facts)
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        for verb in verbs:
            found = verb(found)
    return found.drop(*(name for name in found if name.startswith("_")))


def only(*names: str, **least: float) -> Verb:
    """Keep the rows that print all these columns, and whose others are at least a number: `only("step", throughput=1)`."""
    bounds = {**dict.fromkeys(names, -np.inf), **least}

    def verb(columns: Columns) -> Columns:
        kept = [np.isfinite(columns[name]) & (columns[name] >= bound) for name, bound in bounds.items()]
        return columns.take(np.all(kept, axis=0))

    return verb


def only_if(condition: Callable[[Columns], bool], met: bool = True) -> Verb:
    """Keep all rows if the condition is `met` (or not, if that is False), else drop all: a choice of two readings."""
    return lambda columns: columns.take(slice(None if condition(columns) == met else 0))


def within(begin: str, end: str) -> Verb:
    """Keep the rows from a row with the column `begin` up to the next row with the column `end`.

    The two columns may be headings of two lists. If `begin` is empty, the rows count from the start.
    """

    def verb(columns: Columns) -> Columns:
        begun = _last_row(columns[begin]) if begin else 0
        ended = _last_row(columns[end])
        return columns.take(np.asarray((ended < 0) | (bool(begin) & (begun > ended))) & np.asarray(begun >= 0))

    return verb


def _last_row(column: Column) -> Indices:
    """Return for each row the last row so far that prints a column; -1 before the first."""
    return np.maximum.accumulate(np.where(np.isfinite(column), np.arange(len(column)), -1))


def states(*names: str, last: bool = False) -> Verb:
    """Keep the first row of each run of rows with equal columns, or the last one, such as the end of an epoch."""

    def verb(columns: Columns) -> Columns:
        changes = _changes(columns, names)
        return columns.take(np.roll(changes, -1) if last else changes)

    return verb


def _changes(columns: Columns, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows differ from the previous row in one of some columns; the first row counts as different."""
    changes: NDArray[np.bool_] = np.any([np.diff(columns[name]) != 0 for name in names], axis=0)
    if not len(columns[names[0]]):
        return changes
    return np.insert(changes, 0, True)


def first_drawn(columns: Columns) -> Columns:
    """Keep the lines of a bar that first show a step, without step 0 and the last step, which may contain a checkpoint.

    Bars of several nodes count once, and a bar that is drawn inside another one does not count.
    """
    step, total = columns["step"], columns["total_steps"]
    rows = _first_states(step, columns["clock"])
    return columns.take(rows[(step[rows] > 0) & (step[rows] < total[rows])])


def _first_states(step: Column, clock: Column) -> Indices:
    """Return the rows that first show a step of the outer bar, or of a bar after it.

    The n states are split at each row with an earlier step or clock. A part belongs to another node if it shows known
    steps at their times, and new steps later. It belongs to an inner bar if the outer bar continues after it. Else it
    is the bar of another program.
    """
    begins = np.append(0, np.flatnonzero((np.diff(step) < 0) | (np.diff(clock) < 0)) + 1)
    found: list[int] = []
    seconds_of: dict[float, float] = {}
    for number, (begin, end) in enumerate(zip(begins, np.append(begins[1:], len(step)), strict=True), 1):
        part = list(zip(step[begin:end].tolist(), clock[begin:end].tolist(), strict=True))
        if found:
            reached, at = step[found[-1]], clock[found[-1]]
            if not _continues(step[begin : begin + 1], clock[begin : begin + 1], reached, at) and not _of_node(
                part, seconds_of, reached, at
            ):
                later = begins[number : number + _MOST_PARTS]
                if _continues(step[later], clock[later], reached, at).any():
                    continue
                seconds_of = {}
        for row, (each, seconds) in enumerate(part, begin):
            if each not in seconds_of:
                seconds_of[each] = seconds
                found.append(row)
    return np.array(found, dtype=np.intp)


def _continues(step: Column, clock: Column, reached: float, at: float) -> NDArray[np.bool_]:
    """Return for each state whether it shows the step that a bar had reached, or the next one, at that time or later."""
    continues: NDArray[np.bool_] = ((step == reached) | (step == reached + 1)) & (clock >= at)
    return continues


def _of_node(part: Sequence[tuple[float, float]], seconds_of: Mapping[float, float], reached: float, at: float) -> bool:
    """Return whether some states may be of another node whose bar shows the same steps.

    Args:
        part: the states: step and seconds.
        seconds_of: the seconds at which earlier states show each step.
        reached: the last of these steps.
        at: its seconds.
    """
    return all(
        abs(seconds - seconds_of[number]) <= _NODES_APART
        if number in seconds_of
        else (seconds >= at - _NODES_APART if number > reached else seconds <= at + _NODES_APART)
        for number, seconds in part
    )


def since_start(columns: Columns) -> Columns:
    """Count the steps from the start of this program: an earlier program took the steps before the first interval."""
    steps = columns["step"]
    gaps = np.diff(steps)
    usual = np.median(gaps[gaps > 0]) if (gaps > 0).any() else np.inf
    before = max(0.0, steps[0] - (usual - 1)) if len(steps) else 0.0
    return columns.assign(step=steps - before)


def carry(*names: str) -> Verb:
    """Fill in columns that only headings print, from the last row that prints them."""

    def verb(columns: Columns) -> Columns:
        known = {name: _last_row(columns[name]) for name in names}
        return columns.assign(
            **{name: np.where(rows >= 0, columns[name][rows], np.nan) for name, rows in known.items()}
        )

    return verb


def total(name: str, *parts: str) -> Verb:
    """Make a column the sum of others, such as a step's compute time and its wait for data."""

    return lambda columns: columns.assign(**{name: np.sum([columns[each] for each in parts], axis=0)})


def either(name: str, *others: str) -> Verb:
    """Fill in a column from others, the first that a row prints."""

    def verb(columns: Columns) -> Columns:
        found = columns[name] if name in columns else np.full(len(columns.rows), np.nan)
        for other in others:
            found = np.where(np.isfinite(found), found, columns[other])
        return columns.assign(**{name: found})

    return verb


def undo_mean(*names: str, first: float = 0.0) -> Verb:
    """Turn means since the start of an epoch into means since the row before, and add the column `steps`.

    Args:
        names: columns that are means over the steps so far.
        first: added to `step` to get their number: 1 if it counts from 0.
    """

    def verb(columns: Columns) -> Columns:
        steps = columns["step"] + first
        restarts = np.diff(steps, prepend=np.inf) <= 0
        if "epoch" in columns:
            restarts |= np.diff(columns["epoch"], prepend=np.nan) != 0
        covered = np.where(restarts, steps, np.diff(steps, prepend=0.0))
        made = {}
        for name in names:
            so_far = columns[name] * steps
            made[name] = np.where(restarts, so_far, np.diff(so_far, prepend=0.0)) / covered
        return columns.assign(**made, steps=covered)

    return verb


def undo_window(columns: Columns, done: Column, window: Column) -> Columns:
    """Turn seconds that are means over the last steps into means since the row before, as long as all steps count.

    Args:
        columns: the columns.
        done: the steps since the means began, up to each row.
        window: the most steps in the mean of each row.
    """
    steps = np.diff(done, prepend=np.nan)
    since = {name: np.diff(columns[name] * done, prepend=np.nan) / steps for name in ("step_seconds", "reader_seconds")}
    undone = (steps > 0) & (done <= window)
    return columns.assign(**{name: np.where(undone & (each > 0), each, columns[name]) for name, each in since.items()})


def mean_of_ranks(*names: str) -> Verb:
    """Merge the rows of one step that several ranks print into one row with the means of these columns.

    Ranks may lag. A step that fewer ranks print than usual is dropped, such as the first or last step of a cut file.
    """

    def verb(columns: Columns) -> Columns:
        step = columns["step"]
        if not len(step):
            return columns
        gaps = np.diff(np.unique(step), append=np.inf)
        run = np.cumsum(np.diff(step, prepend=step[0]) < -_LAG * np.quantile(gaps, 0.5, method="lower"))
        _, first, group, ranks = np.unique(
            np.stack([run, step]), axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        whole = ranks == np.quantile(ranks, 0.5, method="higher")
        means = {name: (np.bincount(group.ravel(), columns[name]) / ranks)[whole] for name in names}
        return columns.take(first[whole]).assign(**means)

    return verb


def fine(name: str, digit: float, cut: bool = False) -> Verb:
    """Replace values by NaN that have too few digits: rounding to the last one, of this unit, changes them by a twentieth.

    Args:
        name: the column.
        digit: the unit of the last digit.
        cut: whether further digits are cut off, so that values are half a digit too small on average.
    """

    def verb(columns: Columns) -> Columns:
        values = columns[name] + (digit / 2 if cut else 0)
        return columns.assign(**{name: np.where(values < _DIGITS * digit, np.nan, values)})

    return verb


def evaluations(columns: Columns) -> Columns:
    """Mark rows that contain an evaluation without a line: nearly all rows at one distance in steps are slow.

    Rows next to the end of an epoch may be slow because of the loader, so the distance is measured without them.
    """
    took, steps = columns["step_seconds"], columns["step"]
    found = np.zeros(len(steps))
    slow = (steps > 0) & (took > _SLOW * median(took))
    shown = slow.copy()
    if "epoch" in columns and len(steps):
        ends = np.diff(columns["epoch"]) != 0
        shown &= ~np.append(True, ends) & ~np.append(ends, False)
    if shown.sum() > 1 and (distance := median(np.diff(steps[shown]))) > 0:
        offset = median(steps[shown] % distance)
        there = (steps > 0) & (steps % distance == offset)
        count = (there & slow).sum()
        # Step 0 is at the distance as well, if the offset is 0.
        if count + (offset == 0) >= _SEVERAL and count >= _NEARLY_ALL * max(there.sum(), shown.sum()):
            found[there & slow] = 1.0
    return columns.assign(evaluated=found)
