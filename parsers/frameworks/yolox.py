"""YOLOX (`tools/train.py`) and trackers made of it: a record per `print_interval` iterations of an epoch.

`iter_time` is the mean seconds of these iterations with the wait for data. Work after its line, such as
choosing the next image size, and the time between two epochs are not included. `batch_size` of the arguments is that of all
devices. `devices` is that of a machine, and None where all are used. The line that the training is done is printed after
a crash as well.
"""

from perfledger.parsers.contract import EPOCH_TIMER, Fact, Format, Reading, up_to

_ARGUMENTS = rb" - args: Namespace\("

FORMAT = Format(
    title="YOLOX",
    framework="PyTorch",
    start=".trainer:{?before_train:}{_} - args: Namespace(",
    readings=(
        Reading(
            " - epoch: {epoch}/{total_epochs}, iter: {step}/{total_steps}, {?gpu }mem: {memory}Mb, {?mem: {_}Gb, }iter_time: {step_seconds}s, data_time: {reader_seconds}s, {?total_loss: {loss}, }",
            unit="images/s",
            pauses=(EPOCH_TIMER,),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", _ARGUMENTS + up_to(rb"(?<=[\s(])batch_size=", _ARGUMENTS) + rb"(\d++)[,)]", int),
        Fact("devices_per_node", _ARGUMENTS + up_to(rb"(?<=[\s(])devices=", _ARGUMENTS) + rb"(\d++)[,)]", int),
        Fact("nodes", _ARGUMENTS + up_to(rb"(?<=[\s(])num_machines?+=", _ARGUMENTS) + rb"(\d++)[,)]", int),
        Fact("precision", _ARGUMENTS + up_to(rb"(?<=[\s(])fp16=", _ARGUMENTS) + rb"(True|False)[,)]", words={b"True": "amp", b"False": "fp32"}),
        Fact("model", _ARGUMENTS + up_to(rb"(?<=[\s(])name=", _ARGUMENTS) + rb"'([\w.-]++)'[,)]"),
        Fact("model", _ARGUMENTS + up_to(rb"(?<=[\s(])exp_file=", _ARGUMENTS) + rb"'(?:[^'/\\]*+[/\\]++)*+(yolox[\w-]*+)\.py'[,)]"),
    ),
)  # fmt: skip
