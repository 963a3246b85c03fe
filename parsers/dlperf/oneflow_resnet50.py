"""OneFlow-Benchmark, ResNet-50 v1.5 (`of_cnn_train_val.py`): a record per `loss_print_every_n_iter` iterations.

`samples/s` is the throughput of the whole job. Most releases end the line with a Unix time, which DLPerf uses for its
figures; the others end with the speed. `validation:` lines print the speed of inference. The timer continues during
validations and snapshots, which are part of the first record of the next epoch, and during the rest of an epoch after
its last line.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Pause, Reading
from perfledger.parsers.dlperf import ARGUMENT, ONEFLOW_HEADER

FORMAT = Format(
    title="OneFlow ResNet-50",
    framework="OneFlow",
    start="^batch_size_per_device = ",
    before_start=ARGUMENT,
    readings=(
        Reading(
            "train: epoch {epoch}, iter {step}, loss: {loss}, top_1: {_} top_k: {_} samples/s: {throughput}{? {unix}}",
            unit="images/s",
            pauses=(
                Pause("evaluation", "validation: epoch "),
                Pause("checkpoint", "Saving model to "),
                EPOCH_END,
            ),
        ),
    ),
    facts=ONEFLOW_HEADER,
)
