"""NGC DeepLearningExamples, PyTorch ResNet-50 v1.5 (ConvNets `main.py`): a DLLogger record per iteration.

`total_ips` includes the time spent waiting for data, `compute_ips` does not; both are of the whole job. Epoch and
`Summary` lines have the same keys; the word `None` is printed as a unit; the last iteration of an epoch can be very
slow.

A line of several iterations prints the means of their speeds, which hide a stall: of nine iterations at full speed and
one that waits, the mean is nine tenths. If such lines take longer than they say, no figure is computed.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to
from perfledger.parsers.ngc import TF32

_COMMAND = rb"'\./main\.py', "

FORMAT = Format(
    title="NGC PyTorch ResNet-50",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    start=rb" - PARAMETER (?:data|data_backend) : (?=(?:[^\r\nbfP]++|b(?!atch_size : )|f(?!eature_spec_file : )|P(?!ARAMETER ))*+batch_size : )",
    end=" - Summary: ",
    readings=(
        Reading(
            "DLL {clock} - Epoch: {epoch} Iteration: {step}  train.loss : {loss} {*}train.total_ips : {throughput} {images|img}/s",
            unit="images/s",
            span="step",
            pauses=(Pause("epoch_end", rb" - Epoch: [0-9]++ ++train\.(?!data_time)", inside="last"),),
        ),
        Reading(
            "DLL {_} {_} - Summary: {*}train.total_ips : {throughput} {images|img}/s",
            unit="images/s", span="run", untrue=("summary",),
        ),
        # Without the loading of data; what Lambda publishes.
        Reading("DLL {_} {_} - Summary: {*}train.compute_ips : {throughput} {images|img}/s  train.total_ips : ", unit="images/s", span="run", untrue=("summary",)),
    ),
    facts=(
        *TF32,
        Fact("model", " - PARAMETER{*} arch : {}"),
        Fact("batch_size", " - PARAMETER {*} batch_size : {:int}"),
        Fact("batch_size", "'-b', '{:int}'"),
        Fact("devices", " - PARAMETER {*} world_size : {:int}"),
        Fact("num_classes", " - PARAMETER {*} num_classes : {:int}"),
        Fact("data_format", " - PARAMETER {*} memory_format : {}", words={b"nchw": "NCHW", b"nhwc": "NHWC"}),
        # Before AMP the trainer cast the network itself; then `amp` is False.
        Fact("precision", " - PARAMETER {*} fp16 : {}", words={b"True": "fp16"}),
        Fact("precision", " - PARAMETER {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("precision", _COMMAND + up_to(rb"'--(?=(?:amp|fp16)')", _COMMAND, rb"[^\n\]]") + rb"(amp|fp16)'", lambda _: "amp"),
        Fact("dali", rb" data_backend : (dali)[\w-]*+ ", words={b"dali": "True"}),
    ),
)  # fmt: skip
