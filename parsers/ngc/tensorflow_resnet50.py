"""NGC DeepLearningExamples, TensorFlow 1 ResNet-50 v1.5 (`training_benchmark`): a DLLogger record per displayed step.

Two dialects: `imgs_per_sec` (2020) and `total_ips` (since 2021). The figure is of one step of the whole job, without a
printed unit. The hook prints nothing during its own warm-up. A figure at the end of a truncated file is quoted only if
the cut cannot have changed it.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow ResNet-50",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    needs=b"DLL ",
    start=" - PARAMETER arch : {_} mode : training_benchmark ",
    end="() train_throughput : ",
    readings=(
        Reading(
            "DLL {clock} - ({epoch}, {step}) {total_ips|imgs_per_sec} : {throughput}{? cross_entropy : {_} l2_loss : {_} total_loss : {loss}}",
            unit="images/s",
            span="step",
        ),
        Reading(
            # Other programs print the figure under the same key, with a unit of their own.
            " - () train_throughput : {throughput}{? images/s}$",
            unit="images/s",
            span="run",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", "PARAMETER arch : {}"),
        Fact("batch_size", "PARAMETER arch : {*} batch_size : {:int}"),
        Fact("batch_size", "^Per-GPU Batch Size {:int}"),
        Fact("precision", "PARAMETER arch : {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("data_format", "PARAMETER arch : {*} data_format : {}"),
        Fact("xla", "PARAMETER arch : {*} xla : {}"),
        Fact("dali", "PARAMETER arch : {*} dali : {}"),
    ),
)  # fmt: skip
