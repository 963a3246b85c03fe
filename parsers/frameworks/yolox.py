"""YOLOX (`tools/train.py`) and trackers made of it: a record per `print_interval` iterations of an epoch.

`iter_time` is the mean seconds of these iterations with the wait for data. What an iteration does after its line, such as
choosing the next image size, and what stands between two epochs, is in none. `batch_size` of the arguments is that of all
devices. `devices` is that of a machine, and None where all are used. The line that the training is done is printed after
a crash as well.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to


def _argument(name: bytes, word: bytes) -> bytes:
    """Return the pattern of an argument."""
    head = rb" - args: Namespace\("
    return head + up_to(rb"(?<=[\s(])" + name + rb"=", head) + word + rb"[,)]"


FORMAT = Format(
    title="YOLOX",
    framework="PyTorch",
    marker=b"s, data_time: ",
    start=rb"\.trainer:(?:before_train:)?+[0-9]++ - args: Namespace\(",
    readings=(
        Reading(
            rb" - epoch: <epoch>/<total_epochs>, iter: <step>/<total_steps>, (?:gpu )?+mem: <memory>Mb, (?:mem: [0-9.]++Gb, )?+"
            rb"iter_time: <step_seconds>s, data_time: <reader_seconds>s, (?:total_loss: <loss>, )?+",
            unit="images/s",
            epoch_timer=True,
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
    samples=(
        Sample(
            b"2026-11-20 07:08:06.767 | INFO     | yolox.core.trainer:after_iter:246 - epoch: 1/300, iter: 20/1849, mem: 6357Mb, "
            b"iter_time: 0.500s, data_time: 0.125s, total_loss: 16.5, iou_loss: 4.5, l1_loss: 0.0, conf_loss: 10.2, cls_loss: 2.0, "
            b"lr: 1.170e-08, size: 640, ETA: 3 days, 18:38:06\n",
            epoch=1, total_epochs=300, step=20, total_steps=1849, memory=6357, step_seconds=0.5, reader_seconds=0.125, loss=16.5,
        ),
        Sample(
            b"2026-11-20 11:16:48 | INFO     | yolox.core.trainer:270 - epoch: 2/300, iter: 10/134, gpu mem: 9301Mb, mem: 24.6Gb, "
            b"iter_time: 0.750s, data_time: 0.250s, total_loss: 15.5, iou_loss: 3.8, conf_loss: 10.0, lr: 1.392e-07, size: 1280, ETA: 7:33:23\n",
            epoch=2, step=10, memory=9301, step_seconds=0.75, loss=15.5,
        ),
        NearMiss(b"2026-11-20 07:10:06.767 | INFO     | yolox.core.trainer:203 - ---> start train epoch2\n", "an epoch begins"),
        NearMiss(b"Average forward time: 3.25 ms, Average NMS time: 0.50 ms, Average inference time: 3.75 ms\n", "an evaluation"),
        NearMiss(
            b"2026-11-20 11:16:48 | INFO     | yolox.core.trainer:270 - epoch: 2/300, iter: 10/134, mem: 9301Mb, iter_time: 0.750s, data_ti",
            "cut",
        ),
    ),
)  # fmt: skip
