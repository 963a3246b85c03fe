"""Equations between the numbers of a log: both sides, and the one function that judges them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated, required
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, Reason, Witness

#: Difference in percent up to which the sides of an equation agree, in addition to rounding; by published kind.
TOLERANCE: Mapping[str, float] = {
    "clock": 6.0,
    "arithmetic": 5.0,
    "summary": 5.0,
    "framework": 5.0,
    "counters": 2.0,
    "physics": 0.0,
}


@dataclass(frozen=True)
class Given:
    """The figure of a session, and what it can be compared with.

    Attributes:
        session: what the log states.
        case: facts of the case that do not follow from the intervals themselves.
        figure: the headline.
        found: the intervals, or the reason for their absence.
        is_summary: whether the figure is the trainer's own, since the intervals give none.
    """

    session: Session
    case: Facts
    figure: Figure
    found: Intervals | Reason
    is_summary: bool = False

    @property
    def intervals(self) -> Intervals:
        """The intervals of the session."""
        return required(self.found)


@dataclass(frozen=True)
class Sides:
    """Both sides of an equation.

    Attributes:
        value: what follows from other numbers of the log, positive and finite.
        printed: what the figure claims, in the same unit.
        unit: of both; `s` if `value` are seconds of the run or of epochs.
        arithmetic: how `value` was computed.
        lines: first and last line of `value`.
        rounding: difference in percent that rounding of printed digits or clocks explains.
        least: smallest share of the printed speed that `value` may have, since it also counts what is not training.
        verdict: the verdict if it does not follow from the difference.
        agrees: remark if they agree.
    """

    value: float
    printed: float
    unit: str
    arithmetic: str
    lines: tuple[int, int] = (0, 0)
    rounding: float = 0.0
    least: float = 1.0
    verdict: str = ""
    agrees: Reason | None = None


#: Returns both sides of a relation between the numbers of a log that must be true; None if the log lacks these numbers.
#: Raises NoFigureError if they are there, and cannot be compared.
Equation = Callable[[Given], Sides | None]


def least_alike(kind: str) -> float:
    """Return the least ratio of the smaller to the larger of two values that agree."""
    return 1 / (1 + TOLERANCE[kind] / 100)


#: A summary below this share of the slowest speed of the intervals contradicts them; above it, it counts more time.
#: Half the speed contradicts: if devices or accumulation are counted wrongly, two of them are the most common.
HOLDS_MORE = (1 + TOLERANCE["summary"] / 100) / 2


def evaluate(kind: str, equations: tuple[Equation, ...], given: Given) -> Witness:
    """Return the verdict of the first equation of a kind whose numbers the log has, or why it is unknown."""
    try:
        found = next((sides for each in equations if (sides := each(given))), None)
        if found is None:
            raise not_stated(_UNKNOWN[kind])
        return judged(kind, found)
    except NoFigureError as error:
        return Witness(kind, "silent", reason=error.reason)


#: The numbers that an equation needs, by the words' table `missing`.
_UNKNOWN = {
    "clock": "timestamps",
    "arithmetic": "line_numbers",
    "summary": "summary",
    "framework": "other_program",
    "counters": "counters",
    "physics": "operations",
}


def judged(kind: str, sides: Sides) -> Witness:
    """Compare both sides: they agree within the tolerance of their kind and their rounding.

    Raises:
        NoFigureError: a side is not a positive finite number, or counts more time by a usual amount.
    """
    value, printed = sides.value, sides.printed
    if not (math.isfinite(value) and math.isfinite(printed) and value > 0 and printed > 0):
        raise not_stated("comparable")
    share = printed / value if sides.unit == "s" else value / printed
    if sides.least <= share < least_alike(kind):
        raise no_figure("more_time", percent=f"{100 * (1 / share - 1):.3g}")
    is_close = 100 * (max(share, 1 / share) - 1) <= TOLERANCE[kind] + sides.rounding
    verdict = sides.verdict or ("agrees" if is_close else "disagrees")
    return Witness(
        kind, verdict, value=shortened(value), against=shortened(printed), unit=sides.unit,
        difference=round(100 * (printed / value - 1), 3), resolution=round(sides.rounding, 3),
        tolerance=TOLERANCE[kind], first_line=sides.lines[0], last_line=sides.lines[1], arithmetic=sides.arithmetic,
        reason=None if verdict == "disagrees" else sides.agrees,
    )  # fmt: skip
