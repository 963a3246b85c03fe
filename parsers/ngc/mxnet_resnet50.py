"""NGC DeepLearningExamples, MXNet ResNet-50 v1.5 with DLLogger (since 2021): a record per `disp_batches` iterations.

`train.ips` is the throughput of the whole job since the last record. Iterations, epochs and the summary share one key.
`batch_size` is that of the job. `dtype : float16  amp : False` is what NVIDIA's reports call AMP. `benchmark.py` ends
with a table whose figure is the harmonic mean over the epochs after its warm-up epoch.
"""

from perfledger.parsers.contract import Fact, Format, Reading, listed, text, up_to
from perfledger.parsers.ngc import TF32

_PARAMETERS = rb" - PARAMETER arch : "

FORMAT = Format(
    title="NGC MXNet ResNet-50 (DLLogger)",
    framework="NGC MXNet",
    over=("frameworks.dllogger_text",),
    start=rb" - PARAMETER arch : res[a-z]++\w*+ ++num_layers : ",
    end=" - Summary: train.",
    readings=(
        Reading(
            "DLL {clock} - Epoch: {epoch} Iteration: {step} train.loss : {loss} train.ips : {throughput} images/s",
            unit="images/s",
        ),
        Reading(
            "^train.ips\n  |  {_} |\n{_}\n  {_} |{throughput} |",
            unit="images/s",
            span="run",
        ),
        Reading(
            " - Summary: train.loss : {_} train.ips : {throughput} images/s",
            unit="images/s",
            span="run",
        ),
    ),
    facts=(
        *TF32,
        Fact("model", rb" - PARAMETER arch : (\w++ ++num_layers : \d++)", lambda printed: text(printed).replace("num_layers :", "-").replace(" ", "")),
        Fact("batch_size_of_job", " - PARAMETER arch : {*} batch_size : {:int}"),
        Fact("devices", _PARAMETERS + up_to(rb" gpus : \[", _PARAMETERS) + rb"([\d, ]++)\]", listed),
        Fact("precision", " - PARAMETER arch : {*} dtype : float16  amp : {}", words={b"False": "fp16"}),
        Fact("precision", " - PARAMETER arch : {*} amp : {}", words={b"True": "amp"}),
        Fact("precision", " - PARAMETER arch : {*} dtype : {}", words={b"float32": "fp32"}),
        Fact("num_classes", " - PARAMETER arch : {*} num_classes : {:int}"),
        Fact("data_format", " - PARAMETER arch : {*} conv_layout : {}"),
        Fact("dali", " data_backend : {}-{_}", words={b"dali": "True"}),
    ),
)  # fmt: skip
