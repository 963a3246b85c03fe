"""OneFlow's InsightFace (`oneflow_face`): a record per `loss_print_frequency` iterations.

`throughput` is that of the whole job. The lines have no clock. DLPerf called its window of 101 values a hundred
iterations.
"""

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.dlperf import ARGUMENT, ONEFLOW_HEADER

FORMAT = Format(
    title="OneFlow InsightFace",
    framework="OneFlow",
    start="^batch_size_per_device = ",
    before_start=ARGUMENT,
    readings=(
        Reading(
            "train: iter {step}, loss {loss}, throughput: {throughput}",
            unit="images/s",
            pauses=(Pause("evaluation", "Validation on ["),),
        ),
    ),
    facts=ONEFLOW_HEADER,
)
