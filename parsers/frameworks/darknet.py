"""Darknet (`detector train`, `classifier train`), by its author and by AlexeyAB: a line per iteration.

Its seconds leave out the wait for data, which a line of its own tells before it; both make the iteration. The images
are those of the iteration times its number, so that one iteration has their quotient, on all devices and over all
`subdivisions`. With several devices the number advances by more than one, and the images do not count what they say.
What takes time between iterations, such as the mAP and the weights, is in neither time.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Postprocessed, Reading


def _iterations(columns: Columns) -> Postprocessed:
    """Return the iterations, each with the last wait for data that is told between it and the one before."""
    rows = np.flatnonzero(np.isfinite(columns["step"]))
    told = np.flatnonzero(np.isfinite(columns["_loaded"]))
    last = np.searchsorted(told, rows) - 1
    between = (
        (last >= 0) & (told[last] > np.append(-1, rows[:-1])) if len(told) else np.zeros(len(rows), dtype=np.bool_)
    )
    waited = np.where(between, columns["_loaded"][told[last]] if len(told) else 0.0, 0.0)
    found = {name: columns[name][rows] for name in ("step", "loss")}
    with np.errstate(all="ignore"):
        found["batch"] = columns["_images"][rows] / found["step"]
    return rows, found | {"step_seconds": columns["step_seconds"][rows] + waited, "reader_seconds": waited}


FORMAT = Format(
    title="Darknet",
    framework="Darknet",
    marker=b" seconds",
    unproven=True,
    start=rb"Learning Rate: [0-9.e-]++, Momentum: ",
    before_start=rb"^ *+(?:CUDA-version: |compute_capability = |net\.optimized_memory = |mini_batch = )",
    end=rb"^If you want to train from the beginning, then use flag",
    readings=(
        Reading(
            rb"(?:\bLoaded: (?P<_loaded>[0-9.]++) seconds|(?<![^\s])<step>: <loss>, [-+.0-9a-z]++ avg(?: loss)?+, "
            rb"[0-9.e-]++ rate, <step_seconds> seconds, (?P<_images>[1-9][0-9]*+) images)",
            unit="images/s",
            span="step",
            verbs=(_iterations,),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"\bmini_batch = \d++, batch = (\d++), time_steps = ", int),
        Fact("gpu", rb"\bcudnn_half = [01], GPU: ([^\r\n,]++)"),
    ),
)  # fmt: skip
