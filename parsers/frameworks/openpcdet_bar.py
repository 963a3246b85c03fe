"""The bars of OpenPCDet up to 2022, and since then with `--use_tqdm_to_record`: a record per epoch, by its seconds.

`train: 100%|...| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]`. The time is cut to whole seconds, and the speed behind it
smoothed: an epoch is taken as a whole, and short ones tell nothing. The bar holds training alone; that of the evaluation begins
with `eval: `. What else the log says is as in its lines.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample
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
            rb"\btrain: 100%\|[^|\r\n]++\| (?P<steps>[1-9][0-9]*+)/(?P=steps) \[(?P<duration>[0-9:]++)<[0-9:]++, ++[0-9.]++(?:it/s|s/it), "
            rb"total_it=<step>\]",
            unit="samples/s",
            span="epoch",
            postprocess=_epochs,
        ),
    ),
    facts=OPENPCDET.facts,
    samples=(
        Sample(
            "\rtrain: 100%|██████████| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]\r".encode(),
            step=9280, steps=928, duration=605,
        ),
        NearMiss("\rtrain:  50%|█████     | 464/928 [05:05<05:05,  1.53it/s, total_it=8816]\r".encode(), "half of an epoch"),
        NearMiss("\reval: 100%|██████████| 928/928 [10:05<00:00,  1.53it/s, total_it=9280]\r".encode(), "an evaluation"),
        NearMiss("\rtrain: 100%|██████████| 928/928 [10:05<00:00,  1.53it/s, total_it=92".encode(), "cut"),
    ),
)  # fmt: skip
