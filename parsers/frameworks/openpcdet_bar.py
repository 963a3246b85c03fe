"""The bars of OpenPCDet up to 2022, and since then with `--use_tqdm_to_record`: a record per epoch, by its seconds.

`train: 100%|...| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]`. The time is cut to whole seconds, and the speed behind it
smoothed: an epoch is taken as a whole, and short ones tell nothing. The bar holds training alone; that of the evaluation begins
with `eval: `. What else the log says is as in its lines.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Postprocessed, Reading
from perfledger.parsers.contract.coarse import whole_seconds
from perfledger.parsers.frameworks.openpcdet import FORMAT as OPENPCDET


def _epochs(columns: Columns) -> Postprocessed:
    """Return the last complete state of each epoch's bar, which is drawn again with the number of its last step."""
    rows = np.flatnonzero(np.abs(np.diff(columns["step"], append=np.inf)) > 1)
    found = {name: columns[name][rows] for name in ("step", "steps")}
    return rows, found | {"duration": whole_seconds(columns["duration"][rows])}


FORMAT = Format(
    title="OpenPCDet, bars",
    framework="PyTorch",
    marker=b", total_it=",
    unproven=True,
    start=OPENPCDET.start,
    end=OPENPCDET.end,
    readings=(
        Reading(
            "train: 100%|{*}| {steps}/{_} [{duration:length}<{*}, total_it={step}]",
            unit="samples/s",
            span="epoch",
            verbs=(_epochs,),
        ),
    ),
    facts=OPENPCDET.facts,
)  # fmt: skip
