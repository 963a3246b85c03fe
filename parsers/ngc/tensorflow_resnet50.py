"""NGC DeepLearningExamples, TensorFlow 1 ResNet-50 v1.5 (`training_benchmark`): a DLLogger record per displayed step.

Two dialects: `imgs_per_sec` (2020) and `total_ips` (since 2021). The figure is of one step of the whole job, without a
printed unit. The hook prints nothing during its own warm-up. A figure at the end of a truncated file is quoted only if
the cut cannot have changed it.
"""

from perfledger.parsers.contract import DLLOGGER_CLOCK, ENDED, Fact, Format, NearMiss, Reading, Sample, Window, up_to
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
            DLLOGGER_CLOCK + rb"\(<epoch>, <step>\) (?:total_ips|imgs_per_sec) : <throughput>" + ENDED
            + rb"(?: ++cross_entropy : \S++ ++l2_loss : \S++ ++total_loss : <loss>(?=\s))?+",
            unit="images/s",
            span="step",
        ),
        Reading(
            # Other programs print the figure under the same key, with a unit of their own.
            rb"DLL [\d .:-]{26} - \(\) train_throughput : <throughput>" + ENDED + rb"(?! ++(?!images/s\b)[a-z])",
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
    samples=(
        Sample(
            b"DLL 2026-11-20 04:01:45.500000 - (0, 200) total_ips : 1207.6998965222476 ",
            clock=1795147305.5, epoch=0, step=200, throughput=1207.6998965222476,
        ),
        Sample(
            b"DLL 2026-11-20 04:01:45.500000 - (0, 21) imgs_per_sec : 96.969697  cross_entropy : 7.1  l2_loss : 1.2  "
            b"total_loss : 8.3  learning_rate : 0.1 ",
            step=21, throughput=96.969697, loss=8.3,
        ),
        Sample(b"DLL 2026-11-20 04:02:49.192609 - () train_throughput : 1219.6576825967823 images/s",
               throughput=1219.6576825967823),
        Sample(b"DLL 2026-11-20 04:02:49.192609 - () train_throughput : 12671.899230200308",
               throughput=12671.899230200308),
        NearMiss(b"DLL 2026-11-20 04:01:45.500000 - (0, 200) total_ips : 120", "cut inside the number"),
        NearMiss(b"DLL 2026-11-20 04:01:45.500000 - () train_throughput : 2500.123456 samples/s\n", "another program"),
        NearMiss(b"DLL 2026-11-20 04:01:45.500000 - () val_throughput : 2500.123456 images/s", "inference"),
    ),
)  # fmt: skip
