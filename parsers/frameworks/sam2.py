"""Segment Anything 2 (`training/trainer.py`), VGGT and others made of its trainer: a line per `log_freq` batches.

`Batch Time` is of the batch that is printed, and in brackets follows the mean since the start of the epoch, with the
wait for data, which is undone to what each line adds. It has two decimals. If steps are too fast for these, the clocks
of the lines show the speed. A sample is a video of several frames; the batch size is that of a device.
"""

from perfledger.parsers.contract import EPOCH_TIMER, Columns, Fact, Format, Reading

#: Means below these seconds are rounded by more than a hundredth if their two decimals are undone from line to line.
_FINE = 0.5


def _fine_or_by_clock(columns: Columns) -> Columns:
    """Drop the seconds if some are too coarse: the clocks of the lines count."""
    return columns.drop("step_seconds") if (columns["step_seconds"] < _FINE).any() else columns


FORMAT = Format(
    title="Segment Anything 2",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "{?INFO {clock} {_} {_}: }Train Epoch: [{epoch}][{step}/{total_steps}] | Batch Time: {_} ({step_seconds}) | Data Time: {_} ({reader_seconds}) | ",
            unit="samples/s",
            running_mean=0,
            pauses=(EPOCH_TIMER,),
            verbs=(_fine_or_by_clock,),
        ),
    ),
    facts=(
        Fact("batch_size", "^{? }train_batch_size: {:int}$"),
        Fact("devices", "^WORLD_SIZE={:int}$"),
    ),
)  # fmt: skip
