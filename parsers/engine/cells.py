"""Convert printed cells to numbers: NaN if the driver does not know the value, a fault if the cell is unreadable."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from perfledger.parsers.contract import Column
from perfledger.parsers.contract.telemetry import QUANTITIES, Faults
from perfledger.parsers.engine.clock import clocks

#: Cells of nvidia-smi for unknown values: `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!`, and dmon's `-`.
_UNKNOWN = re.compile(rb"\[[^\[\]\n]*+\]|N/A|ERR!|Unknown Error|Not Supported|-|\?\??")
_NUMBER = re.compile(rb"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?(MiB|MHz|%|W|C)?")
_STAMP = re.compile(rb"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?")
_TIME = re.compile(rb"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?")


def values(quantity: str, printed: Sequence[bytes], lines: Sequence[int], faults: Faults, column: str = "") -> Column:
    """Convert a column of cells to numbers.

    Args:
        quantity: a name of QUANTITIES.
        printed: n cells.
        lines: their n line numbers.
        faults: gets the cells that are neither a value of that quantity nor a spelling of "unknown".
        column: name of the column in the file.

    Returns:
        n float64 in the quantity's unit, NaN for cells without a value.
    """
    # Even a long column has few different cells.
    distinct = {each: each.strip() for each in set(printed)}
    # If some cells have a unit, the cells without a unit were cut, perhaps inside their digits.
    bare = not any(_has_unit(each) for each in distinct.values())
    known = {each: _value(quantity, cell, bare=bare) for each, cell in distinct.items()}
    if None in known.values():
        for cell, line in zip(printed, lines, strict=True):
            if known[cell] is None:
                faults.add("values", line, cell, column or quantity)
    return np.array([np.nan if (found := known[each]) is None else found for each in printed], dtype=np.float64)


def _has_unit(cell: bytes) -> bool:
    found = _NUMBER.fullmatch(cell)
    return bool(found and found[2])


def _value(quantity: str, cell: bytes, *, bare: bool) -> float | None:
    """Return the number of a cell; NaN if the driver does not know it, None if the cell is unreadable."""
    if _UNKNOWN.fullmatch(cell):
        return float("nan")
    found, about = _NUMBER.fullmatch(cell), QUANTITIES[quantity]
    if not found or bool(found[2]) == bare or (found[2] and found[2].decode() != about.unit):
        return None
    value = float(found[1])
    return value if value <= about.most else None


def stamps(printed: Sequence[bytes], lines: Sequence[int], faults: Faults) -> Column:
    """Convert cells with a date and time, or a time of day, to seconds; others become NaN.

    Args:
        printed: n cells.
        lines: their n line numbers.
        faults: gets the cells that are neither stamps nor a spelling of "unknown".
    """
    cells = [each.strip() for each in printed]
    good = [bool(_STAMP.fullmatch(each) or _TIME.fullmatch(each)) for each in cells]
    found = np.full(len(cells), np.nan)
    found[good] = clocks([each for each, fits in zip(cells, good, strict=True) if fits])
    for row in map(int, np.flatnonzero(np.isnan(found))):
        if not _UNKNOWN.fullmatch(cells[row]):
            faults.add("values", lines[row], printed[row], "timestamp")
    return found
