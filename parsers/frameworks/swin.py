"""Swin Transformer (`main.py`, `main_simmim.py`) and its many copies: a record per `PRINT_FREQ` batches of an epoch.

`time` is seconds per batch with the wait for data: first of the one batch that is printed, which says nothing of those
in between, then in brackets the mean since the epoch began, which is undone to what each line adds. A batch is one of
each device, however many of them an update accumulates. A log of epochs of which each prints its first batch alone
tells nothing of the others, and is not read. The configuration follows the line that names its file, and is that of a
device.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample


def _of_many(columns: Columns) -> Postprocessed:
    """Return the records, or none where all are of the first of several batches."""
    alone = len(columns["step"]) > 1 and (columns["step"] == 0).all() and (columns["total_steps"] > 1).all()
    rows = np.arange(0 if alone else len(columns["step"]))
    return rows, {name: column[rows] for name, column in columns.items()}


def _steps(printed: bytes) -> int:
    """Read the accumulation, of which older releases print 0 for none."""
    return max(int(printed), 1)


FORMAT = Format(
    title="Swin Transformer",
    framework="PyTorch",
    marker=b"Train: [",
    start=rb"INFO Full config saved to ",
    before_start=rb"^RANK and WORLD_SIZE in environ: ",
    end=rb"INFO Training time [0-9]",
    readings=(
        Reading(
            rb"INFO Train: \[<epoch>/<total_epochs>\]\[<step>/<total_steps>\][\t ]++eta (?:[^\r\n\[t]++|t(?!ime )|(?<=[\w.])t)*+"
            rb"time [0-9.]++ \(<step_seconds>\)[\t ]"
            rb"(?:(?=(?:[^\r\n\[l]++|l(?!oss )|(?<=[\w.])l)*+loss [-+.0-9einaf]++ \(<loss>\)))?+"
            rb"(?:(?=(?:[^\r\n\[m]++|m(?!em )|(?<=[\w.])m)*+mem <memory>MB))?+",
            unit="images/s",
            cumulative_since=0,
            postprocess=_of_many,
        ),
    ),
    facts=(
        Fact("batch_size", rb"^ *+BATCH_SIZE: (\d++)$", int),
        Fact("devices", rb"^RANK and WORLD_SIZE in environ: \d++/(\d++)", int),
        Fact("accumulation", rb"^ *+ACCUMULATION_STEPS: (\d++)$", _steps),
        Fact("model", rb"INFO Creating model:[\w-]++/([\w.-]++)"),
        Fact("precision", rb"(?:^|INFO )AMP_ENABLE: (true|false)\b", words={b"true": "amp", b"false": "fp32"}),
        Fact("precision", rb"(?:^|INFO )AMP_OPT_LEVEL: O([01])\b", words={b"1": "amp", b"0": "fp32"}),
    ),
    samples=(
        Sample(
            b"[2026-11-20 09:05:16 swin_tiny_patch4_window7_224] (main.py 226): INFO Train: [14/300][250/1251]\teta 0:10:52 lr 0.000710\t"
            b"time 0.6408 (0.6250)\tloss 6.5584 (6.2500)\tgrad_norm 6.5613 (10.6225)\tmem 14764MB\n",
            epoch=14, total_epochs=300, step=250, total_steps=1251, step_seconds=0.625, loss=6.25, memory=14764,
        ),
        Sample(
            b"[2026-11-20 09:05:16 vmamba] (main.py 276): INFO Train: [0/300][0/1251]\teta 1 day, 1:10:52 lr 0.000001\t wd 0.0500\t"
            b"time 12.5000 (12.5000)\tdata time 6.2500 (6.2500)\tloss 6.9531 (6.9531)\tgrad_norm 1.2500 (inf)\tloss_scale 65536.0000 (65536.0000)\tmem 9000MB\n",
            epoch=0, step=0, step_seconds=12.5, loss=6.9531, memory=9000,
        ),
        NearMiss(
            b"[2026-11-20 09:05:16 swin] (main.py 276): INFO Test: [0/98]\tTime 5.625 (5.625)\tLoss 0.7500 (0.7500)\tAcc@1 84.3 (84.3)\tMem 9000MB\n",
            "the validation",
        ),
        NearMiss(b"[2026-11-20 09:05:16 swin] (main.py 236): INFO EPOCH 14 training takes 0:12:31\n", "the sum of an epoch"),
        NearMiss(
            b"[2026-11-20 09:05:16 swin] (main.py 226): INFO Train: [14/300][250/1251]\teta 0:10:52 lr 0.000710\ttime 0.6408 (0.62",
            "cut",
        ),
    ),
)  # fmt: skip
