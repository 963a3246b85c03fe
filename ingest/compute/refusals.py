"""Reasons for a missing figure, and the refusal of numbers that cannot be figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Column
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Reason

#: Numbers beyond these are garbled; their square or their share of another figure may overflow.
SMALLEST = 1e-100
LARGEST = 1e100
Known = TypeVar("Known")


@dataclass
class NoFigureError(Exception):
    """A figure is absent, for this reason."""

    reason: Reason


def required(found: Known | Reason) -> Known:
    """Return what was found, or raise NoFigureError with the reason why it was not."""
    if isinstance(found, Reason):
        raise NoFigureError(found)
    return found


def no_figure(code: str, **args: Any) -> NoFigureError:
    """Return the exception for a code of the words' table `reason` and the arguments of its sentence."""
    return NoFigureError(Reason(code, args))


def not_stated(name: str) -> NoFigureError:
    """Return the exception for a number that the log does not state: a key of the words' table `missing`."""
    return no_figure("not_stated", missing=name)


def missing(reason: Reason) -> str:
    """Return the number that a reason says is not stated; empty for other reasons."""
    return str(reason.args["missing"]) if reason.code == "not_stated" else ""


def refuse_impossible(values: Column, records: SessionRecords, row: NDArray[np.intp]) -> None:
    """Raise NoFigureError for the first value that is not positive and finite, with its line.

    Args:
        values: n numbers.
        records: the records that they are of.
        row: index in the records of each.
    """
    bad = np.flatnonzero(~((values > SMALLEST) & (values < LARGEST)))
    if len(bad):
        raise no_figure("impossible_figure", line=records.lines([int(row[bad[0]])])[0], count=len(bad))
