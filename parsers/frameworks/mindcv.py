"""MindCV (`train.py`): the seconds of the steps since the line before, at the first batch of an epoch, each
`log_interval` batches and the last one.

With `dataset_sink_mode`, as is usual, there is one line per epoch. Without, the time is that of the steps alone, without the
wait for data between them, which the timestamps show. Evaluations and checkpoints lie between epochs. A step is a batch of
each device, however many of them an update accumulates.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, undo_mean

FORMAT = Format(
    title="MindCV",
    framework="MindSpore",
    unproven=True,
    start="Essential Experiment Configurations:",
    end="Finish training!",
    readings=(
        Reading(
            "Epoch: [{epoch}/{total_epochs}], batch: [{step}/{total_steps}], loss: {loss}, lr: {_}, time: {duration:s}",
            unit="images/s",
            # Counts the steps; no mean needs undoing.
            verbs=(undo_mean(),),
            pauses=(Pause("epoch_end", "Total time since last epoch: ", inside="none"),),
            untrue=("clock",),
        ),
    ),
    facts=(
        Fact("devices", "^Number of devices: {:int}"),
        Fact("batch_size", "^Batch size: {:int}"),
        Fact("model", "^Model: {}"),
        Fact("total_epochs", "^Number of epochs: {:int}"),
        Fact("precision", rb"^Auto mixed precision: (O[0-3])$", words={b"O0": "fp32", b"O1": "amp", b"O2": "amp", b"O3": "fp16"}),
    ),
)  # fmt: skip
