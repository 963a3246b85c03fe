"""TensorFlow's `tf_cnn_benchmarks.py`: a record per `--display_every` steps, and a figure of its own at the end.

`images/sec` is a running mean since the first step after the warm-up. Its scope follows from the head of the log
alone: the whole job, one process under Horovod, where every process prints it, or one worker of a distributed run;
without a head only the figure at the end can be trusted, which always counts the job. Inference prints the same lines,
hence the option `mode`. No line shows whether `--display_perf_ewma` smooths the figures. `resnet50` is version 1, and
`resnet50_v1.5` another model.
"""

from perfledger.parsers.contract import Condition, Fact, Format, Reading, Scope, listed, says
from perfledger.parsers.frameworks import TENSORFLOW_GPU, resnet_v1

#: Behind the stamp of Kubeflow's launcher, or glog's.
_LINE = rb"(?m)^(?:INFO\|[0-9T:-]{19}\|[^|\n]++\|[0-9]++\| )?+(?:[IW][0-9]{4} [0-9:.]++ ++\w++ [^\]\n]++\] )?+"
#: Logs are assumed to be of training, so training is not an option.
_MODES = {b"forward-only": "inference", b"forward only": "inference", b"evaluation": "evaluation"}

#: The scope of the printed speed, which the head of the log shows.
_SCOPES: dict[Scope, Condition] = {
    "job": says(_LINE + rb"Devices: (?![^\n]*?/job:)[^\n]*+\n(?:(?!Variables:)[^\n]*+\n){0,20}?[^\n]*?Variables: ++(?!horovod)"),
    "device": says(_LINE + rb"Variables: ++horovod"),
    "node": says(_LINE + rb"Devices: [^\n]*?/job:"),
}  # fmt: skip

FORMAT = Format(
    title="tf_cnn_benchmarks",
    framework="TensorFlow",
    # Every process of Horovod prints this, one after the other: together they are one start.
    start=_LINE + rb"TensorFlow: ++[0-9](?:(?=(?:[^\n]*+\n){1,80}?[^\n]*?Variables: ++horovod)"
    rb"(?:(?![^\n]*?(?:/sec: |Traceback|Error))[^\n]*+\n){1,200}?" + _LINE.removeprefix(rb"(?m)") + rb"TensorFlow: ++[0-9])*+",
    before_start=rb"Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties",
    end=_LINE + rb"total (?:images|examples)/sec: ",
    readings=(
        *(
            Reading(
                "{step}  {images|examples}/sec: {throughput} +/- {_} (jitter = {_})  {loss}",
                unit="images/s", scope=scope, running_mean=1, ranks="median", where=where,
            )
            for scope, where in _SCOPES.items()
        ),
        Reading(
            "total {images|examples}/sec: {throughput}",
            unit="images/s",
            span="run",
        ),
    ),
    facts=(
        Fact("model", _LINE + rb"Model: ++resnet(\d++)$", resnet_v1),
        Fact("model", _LINE + rb"Model: ++(\S++)"),
        Fact("framework_version", _LINE + rb"TensorFlow: ++(\d[\w.]*+)"),
        # A worker of a distributed run calls its own batch the global one.
        Fact("batch_size_of_job", _LINE + rb"Batch size: ++(\d++)(?:\.0)?+ global(?!(?:[^\n]*+\n){1,20}?[^\n]*?Devices: [^\n]*?/job:)", int),
        Fact("batch_size", _LINE + rb" *+(\d++)(?:\.0)?+ per device", int),
        Fact("devices", _LINE + rb"Devices: ++\[((?:(?!/job:)[^\]\n])++)\]", listed),
        Fact("data_format", _LINE + rb"Data format: ++(NCHW|NHWC)"),
        Fact("mode", _LINE + rb"Mode: ++([\w-]++(?: only)?+)$", words=_MODES),
        Fact("mode", _LINE + rb"Mode: ++(training \+ evaluation)", lambda _: "training and evaluation"),
        Fact("precision", rb"--use_fp16(?:=| (?!-))?+((?:[Tt]rue|[Ff]alse|1|0)?+)(?![\w=])",
             words={b"": "fp16", b"True": "fp16", b"true": "fp16", b"1": "fp16", b"False": "fp32", b"false": "fp32", b"0": "fp32"}),
        Fact("precision", _LINE + rb"Data type: ++float(32|16)$", words={b"32": "fp32", b"16": "fp16"}),
        Fact("xla", rb"(Compiled cluster using XLA)", lambda _: "True"),
        TENSORFLOW_GPU,
    ),
)  # fmt: skip
