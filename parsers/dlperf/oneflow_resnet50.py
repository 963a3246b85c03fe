"""OneFlow-Benchmark, ResNet-50 v1.5 (`of_cnn_train_val.py`): a record per `loss_print_every_n_iter` iterations.

`samples/s` is the throughput of the whole job. Most releases end the line with a Unix time, from which DLPerf computes;
the others end with the speed. `validation:` lines print the speed of inference. The timer runs on through validations and
snapshots, which lie in the first record of the next epoch, and through what an epoch has left over behind its last line.
"""

from perfledger.parsers.contract import ENDED, Format, NearMiss, Pause, Reading, Sample, Window
from perfledger.parsers.dlperf import ONEFLOW_HEADER, ONEFLOW_START

FORMAT = Format(
    title="OneFlow ResNet-50",
    framework="OneFlow",
    marker=b"train: epoch ",
    start=ONEFLOW_START,
    readings=(
        Reading(
            rb"train: epoch <epoch>, iter <step>, loss: <loss>, top_1: \S++ top_k: \S++ "
            rb"samples/s: <throughput>(?: (?P<unix>\d{9,}+\.\d{3,}+))?" + ENDED,
            unit="images/s",
            epoch_end=True,
            pauses=(
                Pause(
                    "evaluation", rb"validation: epoch ", b"validation: epoch 0, iter 100, top_1: 0.074620, top_k: 0.194120, samples/s: 2014.683\n"
                ),
                Pause("checkpoint", rb"Saving model to ", b"Saving model to ./output/snapshots/snapshot_epoch_0.\n"),
            ),
        ),
    ),
    facts=ONEFLOW_HEADER,
    windows={"dlperf": Window(20, 120, "clock")},
    samples=(
        Sample(
            b"train: epoch 0, iter 20, loss: 7.087004, top_1: 0.000000, top_k: 0.000000, samples/s: 3988.891 1795163766.5000000\n",
            epoch=0, step=20, loss=7.087004, throughput=3988.891, clock=1795163766.5,
        ),
        Sample(b"train: epoch 0, iter 20, loss: 6.505637, top_1: 0.000000, top_k: 0.000000, samples/s: 288.088\n",
               step=20, throughput=288.088),
        NearMiss(b"validation: epoch 0, iter 100, top_1: 0.074620, top_k: 0.194120, samples/s: 2014.683\n", "validation"),
        NearMiss(b"train: epoch 0, iter 20, loss: 6.505637, top_1: 0.000000, top_k: 0.000000, samples/s: 28", "cut inside the number"),
    ),
)  # fmt: skip
