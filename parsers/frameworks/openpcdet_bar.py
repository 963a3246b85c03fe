"""The bars of OpenPCDet up to 2022, and since then with `--use_tqdm_to_record`: a record per epoch, by its seconds.

`train: 100%|...| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]`. The time is cut to whole seconds, and the speed after it
smoothed: an epoch is taken as a whole, and short ones show nothing. The bar contains training alone; that of the evaluation begins
with `eval: `. What else the log says is as in its lines.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Kept, Reading, take, whole_seconds
from perfledger.parsers.frameworks.openpcdet import FORMAT as OPENPCDET


def last_of_epochs(columns: Columns) -> Kept:
    """Keep the last complete state of each epoch's bar, which is drawn twice: with the last step but one, and the last."""
    return take(columns, np.abs(np.diff(columns["step"], append=np.inf)) > 1)


FORMAT = Format(
    title="OpenPCDet, bars",
    framework="PyTorch",
    unproven=True,
    start=OPENPCDET.start,
    end=OPENPCDET.end,
    readings=(
        Reading(
            "train: 100%|{*}| {steps}/{_} [{duration:length}<{*}, total_it={step}]",
            unit="samples/s",
            span="epoch",
            verbs=(last_of_epochs, whole_seconds()),
        ),
    ),
    facts=OPENPCDET.facts,
)  # fmt: skip
