"""Segment Anything 2 (`training/trainer.py`), VGGT and others made of its trainer: a line per `log_freq` batches.

`Batch Time` is of the batch that is printed, and in brackets follows the mean since the start of the epoch, with the
wait for data, which is undone to what each line adds. It has two decimals: of steps too fast for these the clocks of
the lines show the speed. A sample is a video of several frames; the batch size is that of a device.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.contract.coarse import FINE_MEAN, fine_seconds

FORMAT = Format(
    title="Segment Anything 2",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "{?INFO {clock} {_} {_}: }Train Epoch: [{epoch}][{step}/{total_steps}] | Batch Time: {_} ({step_seconds}) | Data Time: {_} ({reader_seconds}) | ",
            unit="samples/s",
            running_mean=0,
            epoch_timer=True,
            verbs=(fine_seconds(FINE_MEAN),),
        ),
    ),
    facts=(
        Fact("batch_size", "^{? }train_batch_size: {:int}$"),
        Fact("devices", "^WORLD_SIZE={:int}$"),
    ),
)  # fmt: skip
