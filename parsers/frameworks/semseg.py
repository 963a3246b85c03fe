"""`semseg` (PSPNet, PSANet) and the many trainers that copied its loop: a line per `print_freq` iterations of an epoch.

`Batch` is the seconds of one iteration of several, and in brackets the mean since the epoch began, with the wait for
data. Of the means, which have three decimals, a record is as many lines as tell two per cent or better. What stands
between two epochs is in none. Copies differ in whether the batch size that they print is that of a device or of the
job, so that none is read. Pointcept goes on from it with lines of its own.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Pause, Postprocessed, Reading, Sample
from parsers.contract.coarse import far_enough

#: What two means have lost together by three decimals, as a share of the seconds of a record.
_ROUNDS, _SHARE = 0.001, 0.02


def _well_told(columns: Columns) -> Postprocessed:
    """Return the lines between which the time since the epoch began grows by enough."""
    steps, mean = columns["step"], columns["step_seconds"]
    with np.errstate(all="ignore"):
        rows = far_enough(steps, np.where(mean > 0, steps * _ROUNDS / _SHARE / mean, np.inf))
    return rows, {name: each[rows] for name, each in columns.items()}


FORMAT = Format(
    title="semseg",
    framework="PyTorch",
    unproven=True,
    marker=b") Remain ",
    start=rb"\] => creating model \.\.\.",
    readings=(
        Reading(
            rb"(?:\[(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}) [^\]\r\n]++\] )?+"
            rb"\bEpoch: \[<epoch>/<total_epochs>\]\[<step>/<total_steps>\] Data [0-9.]++ \([0-9.]++\) "
            rb"Batch [0-9.]++ \(<step_seconds>\) Remain [0-9:]++ (?:MainLoss|Loss) <loss>(?=[\s,])",
            unit="samples/s",
            cumulative_since=1,
            epoch_timer=True,
            pauses=(
                Pause(
                    "evaluation", rb">>>> Start Evaluation >>>>",
                    b"[2026-11-20 10:00:00,125 INFO train.py line 290 1234] >>>>>>>>>>>>>>>> Start Evaluation >>>>>>>>>>>>>>>>\n",
                    inside="none",
                ),
            ),
            postprocess=_well_told,
        ),
    ),
    samples=(
        Sample(
            b"[2026-11-20 10:00:05,125 INFO train.py line 281 1234] Epoch: [2/50][10/1000] Data 0.001 (0.125) Batch 0.500 (0.625) "
            b"Remain 06:44:10 MainLoss 0.2500 AuxLoss 0.1250 Loss 0.3000 Accuracy 0.9125.\n",
            epoch=2, total_epochs=50, step=10, total_steps=1000, step_seconds=0.625, loss=0.25,
        ),
        Sample(
            b"Epoch: [2/50][10/1000] Data 0.001 (0.125) Batch 0.500 (0.625) Remain 06:44:10 Loss 0.3000 Lr: [0.01] Accuracy 0.9125.\n",
            epoch=2, step=10, step_seconds=0.625, loss=0.3,
        ),
        NearMiss(b"[2026-11-20 10:00:05,125 INFO train.py line 340 1234] Test: [10/500] Data 0.001 (0.125) Batch 0.500 (0.625) Loss 0.3000\n", "an evaluation"),
        NearMiss(b"Epoch: [2/50][10/1000] Data 0.001 (0.125) Batch 0.500 (0.62", "cut inside the number"),
    ),
)  # fmt: skip
