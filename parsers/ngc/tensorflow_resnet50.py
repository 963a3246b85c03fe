"""NGC DeepLearningExamples, TensorFlow 1 ResNet-50 v1.5 (`training_benchmark`): a DLLogger record per displayed step.

Two dialects: `imgs_per_sec` (2020) and `total_ips` (since 2021). The figure is of one step of the whole job, without a
printed unit. The hook prints nothing during its own warm-up. A figure at the end of a truncated file is quoted only if
the cut cannot have changed it.
"""

from perfledger.parsers.contract import Fact, Format, Reading, Window, up_to
from perfledger.parsers.ngc import TF32

_PARAMETERS = rb"PARAMETER arch : "

FORMAT = Format(
    title="NGC TensorFlow ResNet-50",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    marker=b"DLL ",
    start=rb" - PARAMETER arch : [\w-]++ ++mode : training_benchmark ",
    end=rb"\(\) train_throughput : ",
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
            exact=True,
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb"PARAMETER arch : ([\w-]++)"),
        Fact("batch_size", _PARAMETERS + up_to(rb" batch_size : ", _PARAMETERS) + rb"(\d++)", int),
        Fact("batch_size", rb"^Per-GPU Batch Size (\d++)", int),
        Fact("precision", _PARAMETERS + up_to(rb" amp : ", _PARAMETERS) + rb"(\w++)", words={b"True": "amp", b"False": "fp32"}),
        Fact("data_format", _PARAMETERS + up_to(rb" data_format : ", _PARAMETERS) + rb"(NCHW|NHWC)"),
        Fact("xla", _PARAMETERS + up_to(rb" xla : ", _PARAMETERS) + rb"(\w++)"),
        Fact("dali", _PARAMETERS + up_to(rb" dali : ", _PARAMETERS) + rb"(\w++)"),
    ),
    windows={"dlperf": Window(21, 120), "dlperf-time": Window(21, 120, "clock")},
)  # fmt: skip
