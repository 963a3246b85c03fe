"""Speeds that a line tells twice, but for a factor that stays the same in a run: lines whose factor is another lie."""

from __future__ import annotations

import numpy as np

from parsers.contract import Column, Columns, Postprocessed, is_private
from parsers.contract.statistics import median

#: Lines whose factor differs by more than this ratio from that of most contradict themselves; where they are more than this
#: share of all, either may be wrong. Fewer are no records.
_DIFFERS, _SOME = 1.25, 0.25


def in_proportion(speeds: Column, others: Column, rounds: Column | float = 0.0, factor: float | None = None) -> Columns:
    """Return how far n speeds are in proportion to others, as the column `agreement`, where some are not.

    Args:
        speeds: n speeds, by which the figure goes.
        others: the same, in another unit; NaN where none is told.
        rounds: what printing took off these, or put on them.
        factor: of the speeds to the others; that of most lines where it is not known.
    """
    with np.errstate(all="ignore"):
        known = np.isfinite(speeds) & (speeds > 0) & (others > rounds)
        usual = factor or median((speeds / others)[known])
        least, most = (speeds / usual / each for each in (others + rounds, others - rounds))
    ratio = np.where(known, np.clip(1.0, least, most), 1.0)
    wrong = (ratio > _DIFFERS) | (ratio < 1 / _DIFFERS)
    if not wrong.any():
        return {}
    # Those that agree with most may be the ones that lie, unless the others are few.
    others_lie = wrong.sum() > _SOME * len(wrong)
    return {"agreement": np.where(wrong, ratio, 1 / median(ratio[wrong]) if others_lie else 1.0)}


def of_devices(columns: Columns) -> Postprocessed:
    """Return all lines, with how far their speed of the job is that of a device, `_each`, times the devices.

    Where no number of devices is stated, it must be the same on all lines.
    """
    speeds, each, devices = columns["throughput"], columns["_each"], columns["_devices"]
    found = {name: column for name, column in columns.items() if not is_private(name)}
    if not np.isfinite(devices).all():
        return np.arange(len(speeds)), {**found, **in_proportion(speeds, each)}
    with np.errstate(all="ignore"):
        told = speeds / each / devices
    return np.arange(len(speeds)), found | {"agreement": np.where(np.isfinite(told), told, 1.0)}
