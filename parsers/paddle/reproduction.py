"""The line that Paddle's guide to reproducing papers prescribes (TIPC), in hundreds of small repositories.

A record per so many batches, with means since the last one: `avg_batch_cost` holds the wait for data, and `avg_ips` the
samples of one device over it. Both begin anew with each epoch. Copies of the line in PyTorch exist, so that the
framework is what the log names.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to, up_to_argument
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER

FORMAT = Format(
    title="PaddlePaddle reproduction guide",
    marker=b" images/sec",
    unproven=True,
    readings=(
        Reading(
            rb"\[Epoch <epoch>(?:/<total_epochs>)?+, iter: <step>\] " + up_to(rb"\bloss: ", rb"\[Epoch ") + rb"<loss>, avg_reader_cost: <reader_seconds> sec, "
            rb"avg_batch_cost: <step_seconds> sec, avg_samples: <batch>, avg_ips: <throughput> images/sec",
            unit="images/s",
            scope="device",
            epoch_timer=True,
        ),
    ),
    facts=(
        Fact("batch_size", rb"Namespace\(" + up_to_argument(b"batch_size") + rb"(\d++)\b", int),
        IN_PADDLE,
        *LAUNCHER,
    ),
    samples=(
        Sample(
            b"[Epoch 1, iter: 20] acc: 0.12500, lr: 0.10000, loss: 2.25000, avg_reader_cost: 0.01000 sec, avg_batch_cost: 0.50000 sec, "
            b"avg_samples: 32.0, avg_ips: 64.00000 images/sec.\n",
            epoch=1, step=20, loss=2.25, reader_seconds=0.01, step_seconds=0.5, batch=32, throughput=64,
        ),
        Sample(
            b"[Epoch 1/90, iter: 20] top1: 0.12500, top5: 0.25000, lr: 0.10000, loss: 2.25000, avg_reader_cost: 0.01000 sec, "
            b"avg_batch_cost: 0.50000 sec, avg_samples: 32.0, avg_ips: 64.00000 images/sec.\n",
            epoch=1, total_epochs=90, step=20, throughput=64,
        ),
        NearMiss(
            b"[Epoch 1, iter: 20] acc: 0.12500, lr: 0.10000, loss: 2.25000, avg_reader_cost: 0.01000 sec, avg_batch_cost: 0.50000 sec, "
            b"avg_samples: 32.0, avg_ips: 64.0", "cut inside the number",
        ),
        NearMiss(b"[Eval, iter: 20] acc: 0.12500, loss: 2.25000, avg_samples: 32.0, avg_ips: 64.00000 images/sec.\n", "an evaluation"),
    ),
)  # fmt: skip
