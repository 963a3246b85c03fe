"""PaddleNLP, BERT pre-training (`examples/language_model/bert`): a record per `logging_steps` steps.

`ips` is the throughput of one device: samples over batch cost plus reader cost. With gradient merge, every 88th step or
so also reduces and updates: one record in nine is therefore slow, and counts. Older releases misspell `total step` as
`tobal step`. Some logs print the command at the very end.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, listed
from parsers.paddle import LAUNCHER


def _with_waiting(columns: Columns) -> Postprocessed:
    """Return all records; a step takes the printed batch cost and the reader cost, which is printed apart from it."""
    made = {name: column for name, column in columns.items() if name != "_batch_cost"}
    made["step_seconds"] = columns["_batch_cost"] + columns["reader_seconds"]
    return np.arange(len(made["step"])), made


FORMAT = Format(
    title="PaddleNLP BERT pre-training",
    framework="PaddlePaddle",
    marker=b"al step: ",
    start=rb"(?m)^Namespace\(adam_epsilon=",
    readings=(
        Reading(
            rb"to[tb]al step: <step>, epoch: <epoch>, batch: \d++, loss: <loss>, "
            rb"avg_reader_cost: <reader_seconds> sec, avg_batch_cost: <_batch_cost> sec, avg_samples: [\d.]++, "
            rb"ips: <throughput> sequences/sec",
            unit="sequences/s",
            scope="device",
            postprocess=_with_waiting,
        ),
    ),
    facts=(
        Fact("batch_size", rb"\bbatch_size=(\d++)", int),
        Fact("accumulation", rb"\bgradient_merge_steps=(\d++)", int),
        Fact("precision", rb"\buse_pure_fp16=(True)", words={b"True": "fp16"}),
        Fact("precision", rb"\buse_amp=(\w++)", words={b"True": "amp", b"1": "amp", b"False": "fp32", b"0": "fp32"}),
        Fact("model", rb"\bmodel_name_or_path='([^']++)'"),
        Fact("total_steps", rb"\bmax_steps=(\d++)", int),
        *LAUNCHER,
        Fact("devices_per_node", rb"--gpus[= ]([\d,]++) ", listed),
    ),
    samples=(
        Sample(
            b"total step: 10, epoch: 0, batch: 9, loss: 11.089721, avg_reader_cost: 0.05000 sec, avg_batch_cost: 0.75000 sec, "
            b"avg_samples: 96.00000, ips: 120.00000 sequences/sec",
            step=10, epoch=0, loss=11.089721, reader_seconds=0.05, _batch_cost=0.75, throughput=120.0,
        ),
        Sample(
            b"tobal step: 90, epoch: 0, batch: 89, loss: 11.300495, avg_reader_cost: 0.00010 sec, avg_batch_cost: 1.37611 sec, "
            b"avg_samples: 96.00000, ips: 69.75663 sequences/sec",
            step=90, throughput=69.75663,
        ),
        NearMiss(
            b"global step 10, epoch: 1, batch: 9, loss: 0.69, speed: 4.10 step/s, ips: 120.00000 sequences/sec",
            "fine-tuning prints another line",
        ),
        NearMiss(b"--ips 10.0.0.1,10.0.0.2 run_pretrain.py --batch_size 96", "the launcher's list of hosts"),
    ),
)  # fmt: skip
