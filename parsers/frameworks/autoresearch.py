"""autoresearch (`train.py`): the block at the end of a run, for logs that contain this block alone.

Source: `train.py` of autoresearch, March 2026. `training_seconds` leave out the first eleven steps, which compile, and
the evaluation at the end; `total_tokens_M` counts all steps. The lines of the steps are those of nanochat.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Postprocessed, Reading, next_line

#: Steps before the timer of a run begins.
_UNTIMED = 11
_MILLION = 1e6


def _timed(columns: Columns) -> Postprocessed:
    """Return each block with the tokens per second of its timed steps."""
    steps = columns["_steps"]
    with np.errstate(all="ignore"):
        tokens = _MILLION * columns["_tokens"] * (steps - _UNTIMED) / steps
        speed = tokens / columns["seconds"]
    rows = np.flatnonzero(steps > _UNTIMED)
    return rows, {"throughput": speed[rows], "seconds": columns["seconds"][rows]}


_OTHERS = rb"(?:" + next_line(rb"(?:training_seconds|total_tokens_M|num_steps):") + rb")"

FORMAT = Format(
    title="autoresearch",
    marker=b"total_tokens_M:",
    unproven=True,
    start=rb"(?m)^---[ \t\r]*+\nval_bpb: ",
    end=rb"^num_params_M: ",
    readings=(
        Reading(
            rb"\btraining_seconds: ++(?P<seconds>[0-9.]++)" + _OTHERS + rb"total_tokens_M: ++(?P<_tokens>[0-9.]++)" + _OTHERS
            + rb"num_steps: ++(?P<_steps>[0-9]++)(?=\s)",
            unit="tokens/s",
            span="run",
            weak=True,
            verbs=(_timed,),
        ),
    ),
)  # fmt: skip
