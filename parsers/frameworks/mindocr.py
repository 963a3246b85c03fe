"""MindOCR (`tools/train.py`): a line per `log_interval` steps with the images per second of one device, and one per epoch.

The time holds the wait for data and begins anew with each epoch, behind the evaluation and the checkpoint; steps behind
the last line of an epoch are in no line but that of the epoch. With `dataset_sink_mode` only the lines of epochs are printed.
A step is a batch of each device, however many of them an update accumulates. The first releases print the lines of
MindSpore's own monitors.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

_BEGINS = rb"\bepoch: \[<epoch>/<total_epochs>\]"
_SPEED = rb"per step time: <step_seconds> ms, fps per card: <throughput> img/s"

FORMAT = Format(
    title="MindOCR",
    framework="MindSpore",
    marker=b", fps per card: ",
    unproven=True,
    start=rb"Batch size: [0-9]++\r?+\nNum devices: [0-9]++\r?+\nGradient accumulation steps: ",
    before_start=rb"^(?:Distribute|Model|Total number of (?:trainable )?+parameters|Data root|Optimizer|Weight decay): ",
    end=rb"^Training completed!",
    readings=(
        Reading(
            _BEGINS + rb" step: \[<step>/<total_steps>\], loss: <loss>, lr(?:_0)?+: [0-9.e+-]++, " + _SPEED,
            unit="images/s",
            scope="device",
            factors={"step_seconds": 1e-3},
            pauses=(
                Pause(
                    "epoch_end",
                    rb"epoch time: ",
                    inside="none",
                ),
            ),
        ),
        Reading(
            _BEGINS + rb", loss: <loss>, epoch time: <duration> s, " + _SPEED,
            unit="images/s",
            scope="device",
            span="epoch",
            factors={"step_seconds": 1e-3},
            exact=True,
        ),
    ),
    facts=(
        Fact("devices", rb"^Num devices: (\d++)$", int),
        Fact("batch_size", rb"^Batch size: (\d++)$", int),
        Fact("accumulation", rb"^Gradient accumulation steps: (\d++)$", int),
        Fact("total_epochs", rb"^Num epochs: (\d++)$", int),
        Fact("model", rb"^Model: ([\w.+-]++)$"),
    ),
)  # fmt: skip
