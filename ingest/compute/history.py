"""A result over rounds, versions and dates: each point against the one before, the best before it, and that of a year
before.

Pure functions over points. They do not depend on the date of a call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from perfledger.ingest.compute.change_points import change_points
from perfledger.ingest.compute.comparison import Difference
from perfledger.ingest.compute.comparison_levels import Values
from perfledger.ingest.compute.contrast import SEVERAL, Contrast, Measured, contrast

#: Names of a difference from an earlier point. `suspicious`: likely worse; `promising`: likely better.
Word = Literal["regression", "suspicious", "no_change", "promising", "improvement", "insufficient"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class HistoryPoint:
    """One figure of a history.

    Attributes:
        date: the day as ISO 8601, or only its month or year; empty where it is not known.
        conditions: what is known of how it was measured, by name.
    """

    figure: Measured
    date: str = ""
    version: str = ""
    round: str = ""
    conditions: Mapping[str, Values] = field(default_factory=dict)


P = TypeVar("P", bound=HistoryPoint)


@dataclass(frozen=True)
class Judgment(Generic[P]):
    """A comparison of a point with an earlier one: `contrast` has the later figure over the earlier one."""

    earlier: P
    contrast: Contrast
    word: Word


@dataclass(frozen=True)
class Moment(Generic[P]):
    """A point with its comparison with earlier ones; None for the first.

    Attributes:
        best: against the best of all earlier points.
        year: against the last point that is at least a year older.
        changed: what differs from the previous point in how it was measured.
        mark: the level of the series changes here.
    """

    point: P
    previous: Judgment[P] | None = None
    best: Judgment[P] | None = None
    year: Judgment[P] | None = None
    changed: tuple[Difference, ...] = ()
    mark: bool = False


def history(points: Sequence[P], better: Better = "higher") -> tuple[Moment[P], ...]:
    """Return points of one case in their order, each compared with earlier ones."""
    found = in_order(points)
    marks = change_points([each.figure.value for each in found])
    return tuple(_moment(each, found[:at], better, at in marks) for at, each in enumerate(found))


def in_order(points: Sequence[P]) -> list[P]:
    """Return points by date where all have one; otherwise by round, version and date, numbers in them by size."""
    if all(each.date for each in points):
        return sorted(points, key=lambda each: (each.date, natural(each.round), natural(each.version)))
    return sorted(points, key=lambda each: (natural(each.round), natural(each.version), each.date))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts `0.10` after `0.9`, and `v4.0` before `v4.0.1`."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple((0, int(each), "") if each.isdecimal() else (1, 0, each) for each in parts)


def a_year_before(date: str) -> str:
    """Return the date a year before; the 29th of February stays one, since only the order of dates counts."""
    return f"{int(date[:4]) - 1:04d}{date[4:]}"


def _moment(point: P, earlier: Sequence[P], better: Better, mark: bool) -> Moment[P]:
    if not earlier:
        return Moment(point)
    best = (max if better == "higher" else min)(earlier, key=lambda each: each.figure.value)
    old = [each for each in earlier if point.date and each.date and each.date <= a_year_before(point.date)]
    return Moment(
        point,
        against(point, earlier[-1], better),
        against(point, best, better),
        against(point, old[-1], better) if old else None,
        changes(earlier[-1], point),
        mark,
    )


def against(point: P, earlier: P, better: Better = "higher") -> Judgment[P]:
    """Return what a point says against an earlier one."""
    found = contrast(point.figure, earlier.figure)
    return Judgment(earlier, found, word(found, point.figure, earlier.figure, better))


def word(found: Contrast, later: Measured, earlier: Measured, better: Better = "higher") -> Word:
    """Return the name of the difference of two figures.

    Clear and worse is a regression, clear and better an improvement. A likely one is suspicious, or promising. One that
    is too close to call is not a change, unless one side has too few repeats to say so, or more would settle it.
    """
    if found.grade == "close":
        few = min(later.repeats, earlier.repeats) < SEVERAL
        return "insufficient" if few or found.more is not None else "no_change"
    worse = later.value < earlier.value if better == "higher" else later.value > earlier.value
    if found.grade == "clear":
        return "regression" if worse else "improvement"
    return "suspicious" if worse else "promising"


def changes(before: HistoryPoint, after: HistoryPoint) -> tuple[Difference, ...]:
    """Return the conditions that both points state with different values."""
    both = ((name, before.conditions[name], after.conditions.get(name)) for name in before.conditions)
    return tuple(
        Difference("condition", name, first, second, strict=False)
        for name, first, second in both
        if first and second and first != second
    )
