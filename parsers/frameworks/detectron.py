"""Detectron of Caffe2 (`json_stats`), and what is made of it: a line per twenty iterations.

`time` is the mean of all iterations since the twentieth, with the wait for data and without the checkpoints. Numbers may
stand in quotes. The batch size of one device and the number of devices stand in the configuration that is printed above.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample

_ROW = rb'json_stats: \{(?=[^\n{}]*?"iter": <step>,)(?=[^\n{}]*?"loss": "?+<loss>[",])(?:(?=[^\n{}]*?"mem": <memory>[,}])|)[^\n{}]*?"time": "?+'

FORMAT = Format(
    title="Detectron (Caffe2)",
    framework="Caffe2",
    marker=b"json_stats: {",
    start=rb"\bTraining with config:",
    before_start=rb"Called with args:",
    readings=(
        Reading(_ROW + rb'<step_seconds>[",}]', unit="images/s", cumulative_since=20),
    ),
    facts=(
        Fact("batch_size", rb"'IMS_PER_BATCH': ([0-9]++)\b", int),
        Fact("devices", rb"'NUM_GPUS': ([0-9]++)\b", int),
        Fact("total_steps", rb"'MAX_ITER': ([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            b'json_stats: {"accuracy_cls": 0.875000, "eta": "1 day, 2:21:51", "iter": 300, "loss": 1.250000, "loss_bbox": 0.125000, '
            b'"lr": 0.002500, "mb_qsize": 64, "mem": 3084, "time": 0.262500}\n',
            step=300, loss=1.25, memory=3084, step_seconds=0.2625,
        ),
        Sample(
            b'json_stats: {"accuracy_cls": "0.875000", "eta": "2:21:51", "iter": 300, "loss": "1.250000", "lr": "0.002500", "mb_qsize": 64, '
            b'"mem": 3084, "time": "0.262500"}\n',
            step=300, loss=1.25, step_seconds=0.2625,
        ),
        NearMiss(b'json_stats: {"eta": "2:21:51", "iter": 300, "loss": 1.250000, "mem": 3084, "time": 0.26', "cut inside the number"),
    ),
)  # fmt: skip
