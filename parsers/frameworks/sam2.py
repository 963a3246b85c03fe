"""Segment Anything 2 (`training/trainer.py`), VGGT and others made of its trainer: a line per `log_freq` batches.

`Batch Time` is of the batch that is printed, and in brackets follows the mean since the start of the epoch, with the
wait for data, which is undone to what each line adds. It has two decimals: of steps too fast for these the clocks of
the lines tell the speed. A sample is a video of several frames; the batch size is that of a device.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Reading, Sample
from perfledger.parsers.contract.coarse import FINE_MEAN, fine_seconds

FORMAT = Format(
    title="Segment Anything 2",
    framework="PyTorch",
    marker=b" | Batch Time: ",
    unproven=True,
    readings=(
        Reading(
            rb"(?:\bINFO (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \S++ ++[0-9]++: )?+Train Epoch: \[<epoch>\]\[ *+<step>/<total_steps>\] \| "
            rb"Batch Time: [0-9.]++ \(<step_seconds>\) \| Data Time: [0-9.]++ \(<reader_seconds>\) \| ",
            unit="samples/s",
            cumulative_since=0,
            epoch_timer=True,
            postprocess=fine_seconds(FINE_MEAN),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^ *+train_batch_size: (\d++)$", int),
        Fact("devices", rb"^WORLD_SIZE=(\d++)$", int),
    ),
    samples=(
        Sample(
            b"INFO 2026-11-20 10:00:00,250 train_utils.py: 271: Train Epoch: [3][ 20/250] | Batch Time: 1.50 (1.75) | Data Time: 0.00 (0.25) | "
            b"Mem (GB): 40.00 (38.50/42.00) | Time Elapsed: 00d 00h 12m | Losses/train_all_loss: 1.25e+01 (1.50e+01)\n",
            epoch=3, step=20, total_steps=250, step_seconds=1.75, reader_seconds=0.25,
        ),
        NearMiss(
            b"INFO 2026-11-20 10:00:00,250 train_utils.py: 271: Val Epoch: [3][ 20/250] | Batch Time: 1.50 (1.75) | Data Time: 0.00 (0.25) | Mem\n",
            "a validation",
        ),
        NearMiss(b"INFO 2026-11-20 10:00:00,250 train_utils.py: 271: Train Epoch: [3][ 20/250] | Batch Time: 1.50 (1.7", "cut"),
    ),
)  # fmt: skip
