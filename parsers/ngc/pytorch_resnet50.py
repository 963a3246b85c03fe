"""NGC DeepLearningExamples, PyTorch ResNet-50 v1.5 (ConvNets `main.py`): a DLLogger record per iteration.

`total_ips` includes the time spent waiting for data, `compute_ips` does not; both are of the whole job. Epoch and
`Summary` lines have the same keys; the word `None` is printed as a unit; the last iteration of an epoch can be very
slow.
"""

from parsers.contract import DLLOGGER_CLOCK, Fact, Format, NearMiss, Pause, Reading, Sample, Window, up_to
from parsers.ngc import TF32

_PARAMETERS = rb" - PARAMETER"
_COMMAND = rb"'\./main\.py', "

_TO_TOTAL = rb"(?:[^\r\ntD]++|t(?!rain\.total_ips : )|D(?!LL ))*+train\.total_ips : <throughput> (?:images|img)/s"

_TO_COMPUTE = rb"(?:[^\r\ntD]++|t(?!rain\.compute_ips : )|D(?!LL ))*+train\.compute_ips : <throughput> (?:images|img)/s(?= ++train\.total_ips : )"

FORMAT = Format(
    title="NGC PyTorch ResNet-50",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    marker=b"train.total_ips : ",
    start=rb" - PARAMETER (?:data|data_backend) : (?=(?:[^\r\nbfP]++|b(?!atch_size : )|f(?!eature_spec_file : )|P(?!ARAMETER ))*+batch_size : )",
    end=rb" - Summary: ",
    readings=(
        Reading(
            DLLOGGER_CLOCK + rb"Epoch: <epoch> Iteration: <step> ++train\.loss : <loss>" + _TO_TOTAL,
            unit="images/s",
            span="step",
            pauses=(
                Pause(
                    "epoch_end",
                    rb" - Epoch: [0-9]++ ++train\.",
                    b"DLL 2026-11-20 10:55:30.379795 - Epoch: 0  train.loss : 6.67479  train.total_ips : 21259.81 img/s",
                    inside="last",
                ),
            ),
        ),
        Reading(rb"DLL [\d .:-]{26} - Summary: " + _TO_TOTAL, unit="images/s", span="run"),
        # Without the loading of data; what Lambda publishes.
        Reading(rb"DLL [\d .:-]{26} - Summary: " + _TO_COMPUTE, unit="images/s", span="run", summary="compute"),
    ),
    facts=(
        *TF32,
        Fact("model", _PARAMETERS + up_to(rb" arch : ", _PARAMETERS) + rb"(\w++)"),
        Fact("batch_size", _PARAMETERS + rb" " + up_to(rb" batch_size : ", _PARAMETERS) + rb"(\d++)", int),
        Fact("batch_size", rb"'-b', '(\d++)'", int),
        Fact("devices", _PARAMETERS + rb" " + up_to(rb" world_size : ", _PARAMETERS) + rb"(\d++)", int),
        Fact("num_classes", _PARAMETERS + rb" " + up_to(rb" num_classes : ", _PARAMETERS) + rb"(\d++)", int),
        Fact("data_format", _PARAMETERS + rb" " + up_to(rb" memory_format : ", _PARAMETERS) + rb"(nchw|nhwc)", words={b"nchw": "NCHW", b"nhwc": "NHWC"}),
        # Before AMP the trainer cast the network itself; then `amp` is False.
        Fact("precision", _PARAMETERS + rb" " + up_to(rb" fp16 : ", _PARAMETERS) + rb"(True)", words={b"True": "fp16"}),
        Fact("precision", _PARAMETERS + rb" " + up_to(rb" amp : ", _PARAMETERS) + rb"(\w++)", words={b"True": "amp", b"False": "fp32"}),
        Fact("precision", _COMMAND + up_to(rb"'--(?=(?:amp|fp16)')", _COMMAND, rb"[^\n\]]") + rb"(amp|fp16)'", lambda _: "amp"),
        Fact("dali", rb" data_backend : (dali)[\w-]*+ ", words={b"dali": "True"}),
    ),
    windows={"dlperf": Window(25, 125, "clock")},
    samples=(
        Sample(
            b"DLL 2026-11-20 05:50:06.500000 - Epoch: 0 Iteration: 2  train.loss : 5.83243 None train.compute_ips : "
            b"4684.38 images/s train.total_ips : 4661.71 images/s train.lr : 0.1  train.grad_scale : 256.00000 None",
            clock=1795153806.5, epoch=0, step=2, loss=5.83243, throughput=4661.71,
        ),
        Sample(b"DLL 2026-11-20 14:29:14.427490 - Epoch: 0 Iteration: 3  train.loss : 6.93504  train.total_ips : 4294.91 img/s",
               step=3, throughput=4294.91),
        Sample(b"DLL 2026-11-20 10:55:30.379795 - Summary: train.loss : 6.67479  train.total_ips : 21259.81 img/s",
               throughput=21259.81),
        NearMiss(b"DLL 2026-11-20 10:55:30.379795 - Epoch: 0 train.loss : 6.67479  train.total_ips : 21259.81 img/s",
                 "an epoch's average"),
        Sample(b"DLL 2026-11-20 10:55:30.379795 - Summary: train.loss : 6.67479 None train.compute_ips : 21332.24 images/s "
               b"train.total_ips : 21259.81 images/s train.lr : 0.1", throughput=21259.81),
        NearMiss(b"DLL 2026-11-20 10:55:30.379937 - Summary: lr : 0.1  train.compute_ips : 21332.24 img/s "
                 b"train.data_time : 0.00132 s train.compute_time : 0.47581 s", "no total_ips"),
    ),
)  # fmt: skip
