"""Printed digits: the rounding error of a number, by the text that the log prints."""

from __future__ import annotations

import math

import numpy as np

from perfledger.parsers.contract import Column
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.table import SessionRecords, converter, last_digit

#: Rounding of printed figures that needs no second look, as a share.
_FINE = 1e-4
#: Number of values that show how many decimals are printed.
_ENOUGH_VALUES = 100
#: Decimals beyond which a number is taken as exact.
_MOST_DECIMALS = 6


def rounding(records: SessionRecords, name: str, values: Column) -> float:
    """Return the rounding error of a printed column, as a share of its median; 0 if the column is not printed."""
    some = values[np.isfinite(values) & (values > 0)][:_ENOUGH_VALUES]
    if name not in records or not len(some):
        return 0.0
    whole = max(0, math.floor(math.log10(some.min())))
    shown = (each for each in range(-whole, _MOST_DECIMALS) if (some * 10.0**each % 1 <= 1e-6).all())
    unit = 10.0 ** -next(shown, _MOST_DECIMALS)
    if unit > _FINE * median(some) and name in records.reading.columns:
        # Equal round figures hide their zeros: look at one as it is printed, unless it was computed.
        if not is_as_printed(records, 0, name):
            return 0.0
        unit = last_digit(records.printed(0, name)) * records.reading.scales.get(name, 1.0)
    return 0.5 * unit / median(some)


def is_as_printed(records: SessionRecords, record: int, name: str) -> bool:
    """Return whether a number of a record is the one that its line prints; a format may compute others."""
    if name not in records.reading.columns:
        return True
    factor = records.reading.scales.get(name, 1.0)
    printed = converter(name)([records.printed(record, name)])[0] * factor
    return bool(np.isclose(printed, records[name][record], rtol=1e-12))
