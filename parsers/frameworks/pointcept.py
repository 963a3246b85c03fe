"""Pointcept (`tools/train.py`, Point Transformer V2 and V3 and others): a line per iteration.

`Batch` is the seconds of the iteration with the wait for data, and in brackets their mean, which is not read. What
stands between two epochs is in none. `batch_size` of the configuration is that of all devices, `batch_size_per_gpu`
that of one. A scan is a cloud of any number of points.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample

FORMAT = Format(
    title="Pointcept",
    framework="PyTorch",
    marker=b") Remain ",
    start=rb"\] => Loading config \.\.\.",
    unproven=True,
    readings=(
        Reading(
            rb"\] Train: \[<epoch>/<total_epochs>\]\[<step>/<total_steps>\] (?:Scan [0-9]++ \([0-9]++\) )?+"
            rb"Data <reader_seconds> \([0-9.]++\) Batch <step_seconds> \([0-9.]++\) Remain [0-9:]++ (?:loss: <loss> )?+",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^batch_size = (\d++)$", int),
        Fact("batch_size", rb"^batch_size_per_gpu = (\d++)$", int),
        Fact("model", rb"\bbackbone=dict\(\s*+type='([\w.-]++)'"),
        Fact("precision", rb"^enable_amp = (True|False)$", words={b"True": "amp", b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"[2026-11-20 12:34:56,625 INFO misc.py line 117 12345] Train: [2/100][15/1201] Data 0.125 (0.250) Batch 0.625 (0.750) "
            b"Remain 24:30:15 loss: 1.2500 Lr: 0.00060\n",
            epoch=2, total_epochs=100, step=15, total_steps=1201, reader_seconds=0.125, step_seconds=0.625, loss=1.25,
        ),
        Sample(
            b"[2026-11-20 12:34:56,625 INFO misc.py line 110 12345] Train: [1/50][1/302] Scan 3 (240000) Data 3.250 (3.250) "
            b"Batch 12.500 (12.500) Remain 52:26:40 seg_loss: 2.5000 Lr: 0.00060\n",
            epoch=1, step=1, step_seconds=12.5,
        ),
        NearMiss(b"[2026-11-20 12:34:56,625 INFO evaluator.py line 150 12345] Test: [1/78] Loss 1.2500\n", "an evaluation"),
        NearMiss(
            b"[2026-11-20 12:34:56,625 INFO misc.py line 117 12345] Train: [2/100][15/1201] Data 0.125 (0.250) Batch 0.6", "cut"
        ),
    ),
)  # fmt: skip
