"""The line that Paddle's guide to reproducing papers prescribes (TIPC), in hundreds of small repositories.

Each record has means since the last one: `avg_batch_cost` includes the wait for data, and `avg_ips` is the samples of
one device over it. Both restart with each epoch. Copies of the line in PyTorch exist, so the framework is the one that
the log names.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_TIMER, Fact, Format, Reading
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER

FORMAT = Format(
    title="PaddlePaddle reproduction guide",
    unproven=True,
    readings=(
        Reading(
            "[Epoch {epoch}{?/{total_epochs}}, iter: {step}] {*}loss: {loss}, avg_reader_cost: {reader_seconds} sec, avg_batch_cost: {step_seconds} sec, avg_samples: {batch}, avg_ips: {throughput} images/sec",
            unit="images/s",
            scope="device",
            pauses=(EPOCH_TIMER,),
        ),
    ),
    facts=(
        Fact("batch_size", "Namespace({*}batch_size={:int}"),
        IN_PADDLE,
        *LAUNCHER,
    ),
)  # fmt: skip
