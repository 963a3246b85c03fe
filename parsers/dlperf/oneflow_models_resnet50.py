"""OneFlow's models (`oneflow.nn`), ResNet-50 (`train.py`): a line per `--print-interval` iterations, and at each epoch's end.

`throughput` counts the batch of one device since the last line; every rank prints its own unless `--metric-local
False`. Evaluations end with a line of the same form, `[eval]`, and lie outside; a checkpoint lies in the record that
follows it.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.dlperf import argument, dotted_start

FORMAT = Format(
    title="OneFlow ResNet-50 (models)",
    framework="OneFlow",
    start=dotted_start(rb"zero_init_residual"),
    unproven=True,
    readings=(
        Reading(
            "[rank:{_}] [train], epoch: {epoch}/{total_epochs}, iter: {step}/{total_steps}, loss: {loss}, {?lr: {_}, }top1: {accuracy}, throughput: {throughput}{?, timestamp: {_}} | {clock}",
            unit="images/s",
            scope="device",
            ranks="median",
            pauses=(
                Pause("evaluation", "[eval], epoch: ", inside="none"),
                Pause("checkpoint", "Saving model to "),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"^ *+(zero_init_residual) \.", lambda _: "ResNet50"),
        argument("batch_size", "train_batch_size"),
        argument("batch_size_of_job", "train_global_batch_size"),
        argument("num_classes", "num_classes"),
        Fact("precision", rb"^ *+use_fp16 \.++ (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
