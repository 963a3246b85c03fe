"""MindOCR (`tools/train.py`): a line per `log_interval` steps with the images per second of one device, and one per epoch.

The time includes the wait for data and restarts with each epoch, after the evaluation and the checkpoint; steps after
the last line of an epoch are in no line but that of the epoch. With `dataset_sink_mode` only the lines of epochs are printed.
A step is a batch of each device, however many of them an update accumulates. The first releases print the lines of
MindSpore's own monitors.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="MindOCR",
    framework="MindSpore",
    unproven=True,
    start="Batch size: {_}\nNum devices: {_}\nGradient accumulation steps: ",
    before_start=rb"^(?:Distribute|Model|Total number of (?:trainable )?+parameters|Data root|Optimizer|Weight decay): ",
    end="^Training completed!",
    readings=(
        Reading(
            "epoch: [{epoch}/{total_epochs}] step: [{step}/{total_steps}], loss: {loss}, lr{?_0}: {_}, per step time: {step_seconds:ms}, fps per card: {throughput} img/s",
            unit="images/s",
            scope="device",
            pauses=(Pause("epoch_end", "epoch time: ", inside="none"),),
        ),
        Reading(
            "epoch: [{epoch}/{total_epochs}], loss: {loss}, epoch time: {duration:s}, per step time: {step_seconds:ms}, fps per card: {throughput} img/s",
            unit="images/s",
            scope="device",
            span="epoch",
        ),
    ),
    facts=(
        Fact("devices", "^Num devices: {:int}"),
        Fact("batch_size", "^Batch size: {:int}"),
        Fact("accumulation", "^Gradient accumulation steps: {:int}"),
        Fact("total_epochs", "^Num epochs: {:int}"),
        Fact("model", "^Model: {}"),
    ),
)  # fmt: skip
