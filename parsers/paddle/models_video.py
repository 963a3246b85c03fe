"""PaddlePaddle/models, TSM and SlowFast in the dynamic graph of 2020: a line per `log_interval` batches.

`batch_cost` holds the wait for data, and `ips` the clips of one device over it; both are means since the last line,
also where an epoch ends between. Validations lie outside. The networks for images beside them print the same of a batch
size that may be that of one device or of all, and are not read.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample, up_to
from perfledger.parsers.paddle import LAUNCHER

_BEGINS = rb"\[Epoch |TRAIN Epoch: "

FORMAT = Format(
    title="PaddlePaddle video models (2020)",
    framework="PaddlePaddle",
    marker=b" samples/sec",
    start=rb"-{16} Train Arguments -{16}",
    unproven=True,
    readings=(
        Reading(
            rb"(?:" + _BEGINS + rb")<epoch>, (?:batch |iter: )<step>(?:\]|,) loss:? <loss>, " + up_to(rb"\bbatch_cost: ", _BEGINS)
            + rb"<step_seconds> sec, reader_cost: <reader_seconds> sec, ips: <throughput> samples/sec",
            unit="clips/s",
            scope="device",
            epoch_end=True,
        ),
    ),
    facts=LAUNCHER,
    samples=(
        Sample(
            b"[Epoch 1, batch 20] loss 5.25000, err1 0.93750, err5 0.75000, batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 16.00000 samples/sec\n",
            epoch=1, step=20, loss=5.25, step_seconds=0.5, reader_seconds=0.01, throughput=16,
        ),
        Sample(
            b"TRAIN Epoch: 0, iter: 10, loss: 4.50000, acc1: 0.06250, acc5: 0.25000, lr: 0.01000, forward_cost:0.10000 s, backward_cost:0.12500 s, "
            b"minimize_cost:0.01500 s, to_variable_cost: 0.01000 s, batch_cost: 0.25000 sec, reader_cost: 0.00100 sec, ips: 64.00000 samples/sec\n",
            epoch=0, step=10, loss=4.5, step_seconds=0.25, throughput=64,
        ),
        NearMiss(b"[Test Epoch 1, batch 20] loss 5.25000, err1 0.93750, err5 0.75000\n", "a validation"),
        NearMiss(
            b"[Epoch 1, batch 20] loss: 5.25000, acc1: 0.06250, acc5: 0.25000, batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 16.00000 images/sec\n",
            "a batch of one device, or of all",
        ),
        NearMiss(
            b"[Epoch 1, batch 20] loss 5.25000, err1 0.93750, err5 0.75000, batch_cost: 0.50000 sec, reader_cost: 0.01000 sec, ips: 16.0", "cut inside the number",
        ),
    ),
)  # fmt: skip
