"""The loop of many Kaggle notebooks (`Epoch: [1][0/391] Elapsed 0m 1s (remain 9m 44s) Loss: ...`): a record per epoch.

Lines tell the time since the epoch began, cut to whole seconds, and the last step of an epoch has one: an epoch is
taken as a whole, since a second is much between two lines. Too short epochs tell nothing. A step is a batch, of which
no size is printed. Lines that begin with `EVAL:` are of the validation.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Postprocessed, Reading
from perfledger.parsers.contract.coarse import whole_seconds


def _epochs(columns: Columns) -> Postprocessed:
    """Return the epochs whose last step is told."""
    rows = np.flatnonzero(columns["step"] + 1 == columns["total_steps"])
    took = whole_seconds(60 * columns["_minutes"][rows] + columns["_seconds"][rows])
    found = {name: columns[name][rows] for name in ("epoch", "total_steps", "loss")}
    found["steps"] = found["total_steps"]
    return rows, found | {"duration": took}


FORMAT = Format(
    title="Kaggle notebooks' loop",
    framework="PyTorch",
    marker=b"s (remain ",
    unproven=True,
    readings=(
        Reading(
            rb"(?<!\w)Epoch: \[<epoch>\]\[<step>/<total_steps>\] (?:Data [0-9.]++ \([0-9.]++\) )?+Elapsed (?P<_minutes>[0-9]++)m (?P<_seconds>[0-9]++)s "
            rb"\(remain [0-9]++m [0-9]++s\) Loss: <loss>(?=[ (])",
            unit="samples/s",
            span="epoch",
            verbs=(_epochs,),
        ),
    ),
)  # fmt: skip
