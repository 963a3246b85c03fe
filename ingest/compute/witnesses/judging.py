"""How a witness is judged: what it gives, held against what the log prints."""

from __future__ import annotations

import math
from collections.abc import Mapping

from perfledger.ingest.compute.refusals import no_figure
from perfledger.schema.records import Witness

#: Difference in percent up to which a witness agrees, beyond its own resolution.
TOLERANCE: Mapping[str, float] = {
    "clock": 6.0,
    "arithmetic": 5.0,
    "summary": 5.0,
    "framework": 5.0,
    "counters": 2.0,
    "physics": 0.0,
}


def least_alike(kind: str) -> float:
    """Return the ratio of the smaller to the larger of two values from which on a witness agrees."""
    return 1 / (1 + TOLERANCE[kind] / 100)


#: A summary below this share of the slowest speed of the records contradicts them; above it, it counts more time. Half
#: the speed contradicts: where devices or accumulation are counted wrongly, two of them are the most common.
HOLDS_MORE = (1 + TOLERANCE["summary"] / 100) / 2


def judged(
    kind: str, value: float, against: float, unit: str, arithmetic: str, lines: tuple[int, int] = (0, 0),
    resolution: float = 0.0,
) -> Witness:  # fmt: skip
    """Compare what a witness gives with what the log prints.

    Args:
        kind: the witness.
        value: what it gives, in `unit`.
        against: what it is held against, in the same unit.
        unit: of both.
        arithmetic: how the value comes about.
        lines: first and last line that it rests on.
        resolution: the smallest difference that it can tell, in percent.
    """
    if not (math.isfinite(value) and math.isfinite(against) and value > 0 and against > 0):
        raise no_figure("no_comparison")
    difference = 100 * (against / value - 1)
    agrees = 100 * (max(against / value, value / against) - 1) <= TOLERANCE[kind] + resolution
    return Witness(
        kind, "agrees" if agrees else "disagrees", value=_digits(value), against=_digits(against), unit=unit,
        difference=round(difference, 3), resolution=round(resolution, 3), tolerance=TOLERANCE[kind],
        first_line=lines[0], last_line=lines[1], arithmetic=arithmetic,
    )  # fmt: skip


def _digits(value: float) -> float:
    return float(f"{value:.10g}")
