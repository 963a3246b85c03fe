"""YOLOX (`tools/train.py`) and trackers made of it: a record per `print_interval` iterations of an epoch.

`iter_time` is the mean seconds of these iterations with the wait for data. What an iteration does after its line, such as
choosing the next image size, and what lies between two epochs, is in none. `batch_size` of the arguments is that of all
devices. `devices` is that of a machine, and None where all are used. The line that the training is done is printed after
a crash as well.
"""

from perfledger.parsers.contract import EPOCH_TIMER, Fact, Format, Reading, up_to


def _argument(name: bytes, word: bytes) -> bytes:
    """Return the pattern of an argument."""
    head = rb" - args: Namespace\("
    return head + up_to(rb"(?<=[\s(])" + name + rb"=", head) + word + rb"[,)]"


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
        Fact("batch_size_of_job", _argument(rb"batch_size", rb"(\d++)"), int),
        Fact("devices_per_node", _argument(rb"devices", rb"(\d++)"), int),
        Fact("nodes", _argument(rb"num_machines?+", rb"(\d++)"), int),
        Fact("precision", _argument(rb"fp16", rb"(True|False)"), words={b"True": "amp", b"False": "fp32"}),
        Fact("model", _argument(rb"name", rb"'([\w.-]++)'")),
        Fact("model", _argument(rb"exp_file", rb"'(?:[^'/\\]*+[/\\]++)*+(yolox[\w-]*+)\.py'")),
    ),
)  # fmt: skip
