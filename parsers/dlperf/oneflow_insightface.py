"""OneFlow's InsightFace (`oneflow_face`): a record per `loss_print_frequency` iterations.

`throughput` is that of the whole job. The lines have no clock. DLPerf called its window of 101 values a hundred
iterations.
"""

from perfledger.parsers.contract import ENDED, Format, NearMiss, Pause, Reading, Sample, Window
from perfledger.parsers.dlperf import ONEFLOW_HEADER, ONEFLOW_START

FORMAT = Format(
    title="OneFlow InsightFace",
    framework="OneFlow",
    marker=b"train: iter ",
    start=ONEFLOW_START,
    readings=(
        Reading(
            rb"train: iter <step>, loss <loss>, throughput: <throughput>" + ENDED,
            unit="images/s",
            pauses=(Pause("evaluation", rb"Validation on \[", b"Validation on [lfw]:"),),
        ),
    ),
    facts=ONEFLOW_HEADER,
    windows={"dlperf": Window(25, 125)},
    samples=(
        Sample(b"train: iter 143997, loss 5.95467472076416, throughput: 5063.5\n", step=143997, loss=5.95467472076416, throughput=5063.5),
        NearMiss(b"train: iter 143997, loss 5.95467472076416, throughput: 506", "cut inside the number"),
        NearMiss(b"Validation on [lfw]: train: iter 143997, accuracy 0.99", "validation"),
    ),
)  # fmt: skip
