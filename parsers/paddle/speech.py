"""PaddleSpeech: a line per `log_interval` batches of recognition (`s2t`), or per iteration of synthesis (`t2s`).

Both time one batch of one device, with the wait for its data: batches between two lines are not timed. Every rank
prints its lines. Recognition counts a step where the parameters are updated, so that a step may have several batches;
batches are counted here. The recognition of 2021 prints the wait for data and the training of each batch apart, and
the batch of the configuration.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample, is_private, up_to
from perfledger.parsers.paddle import LAUNCHER


def _with_wait(columns: Columns) -> Postprocessed:
    """Return the records; a step takes the wait for its data and the training."""
    made = {name: column for name, column in columns.items() if not is_private(name)}
    made["step_seconds"] = columns["reader_seconds"] + columns["_training"]
    return np.arange(len(columns["step"])), made


FORMAT = Format(
    title="PaddleSpeech",
    framework="PaddlePaddle",
    marker=b"Rank: ",
    start=rb"- train\.py Configuration Arguments -",
    unproven=True,
    readings=(
        Reading(
            rb"Train: Rank: [0-9]++, epoch: <epoch>, step: [0-9]++, lr: " + up_to(rb"\biter: ", rb"Train: Rank: ")
            + rb"<step>, (?:total: <total_steps>, )?+reader_cost: <reader_seconds>, batch_cost: <step_seconds>, samples: <batch>, ips: <throughput> sent\./sec",
            unit="samples/s",
            scope="device",
            span="step",
            repeated=True,
        ),
        Reading(
            rb"\biter: <step>/(?:None|<total_steps>), " + up_to(rb", avg_reader_cost: ", rb"\biter: ")
            + rb"<reader_seconds> sec, avg_batch_cost: <step_seconds> sec, avg_samples: <batch>, avg_ips: <throughput> sequences/sec",
            unit="samples/s",
            scope="device",
            span="step",
            repeated=True,
        ),
        Reading(
            rb"Train: Rank: [0-9]++, epoch: <epoch>, step: [0-9]++, batch : <step>/<total_steps>, lr: [0-9.e-]++, data time: <reader_seconds>s, "
            rb"train time: <_training>s, batch size: <batch>,",
            unit="samples/s",
            scope="device",
            span="step",
            repeated=True,
            postprocess=_with_wait,
        ),
    ),
    facts=LAUNCHER,
    samples=(
        Sample(
            b"2026-11-20 13:14:40.123 | INFO     | paddlespeech.s2t.training.trainer:train:100 - Train: Rank: 0, epoch: 1, step: 100, lr: 0.00100000, "
            b"batch_size: 32, accum: 2, loss: 12.50000000, step_cost: 0.49000000, iter: 200, total: 1000, reader_cost: 0.01000000, "
            b"batch_cost: 0.50000000, samples: 32, ips: 64.00000000 sent./sec",
            epoch=1, step=200, total_steps=1000, reader_seconds=0.01, step_seconds=0.5, batch=32, throughput=64,
        ),
        Sample(
            b"2026-11-20 13:14:40,123 - fastspeech2_updater.py - [line:100] - INFO:  iter: 200/1000, Rank: 0, loss: 1.25, avg_reader_cost: 0.01000 sec, "
            b"avg_batch_cost: 0.50000 sec, avg_samples: 32, avg_ips: 64.00000 sequences/sec",
            step=200, total_steps=1000, step_seconds=0.5, batch=32, throughput=64,
        ),
        Sample(
            b"2026-11-20 13:14:40,123 - pwg_updater.py - [line:100] - INFO:  iter: 200/None, Rank: 0, loss: 1.25, avg_reader_cost: 0.01000 sec, "
            b"avg_batch_cost: 0.50000 sec, avg_samples: 32, avg_ips: 64.00000 sequences/sec",
            step=200, total_steps=float("nan"), throughput=64,
        ),
        Sample(
            b"[INFO 2026/11/20 13:14:40 model.py:100] Train: Rank: 0, epoch: 1, step: 5310, batch : 1559/1876, lr: 0.00050000, data time: 0.125s, "
            b"train time: 3.000s, batch size: 64, train_loss: 12.500000",
            epoch=1, step=1559, total_steps=1876, reader_seconds=0.125, _training=3, batch=64,
        ),
        NearMiss(b"Train: Rank: 0, epoch: 1, step: 100, lr: 0.001, iter: 200, total: 1000, reader_cost: 0.01, batch_cost: 0.5, samples: 32, ips: 64.0", "cut"),
        NearMiss(b"Valid: Rank: 0, epoch: 1, step: 100, batch: 10/50, val_loss: 1.5", "a validation"),
    ),
)  # fmt: skip
