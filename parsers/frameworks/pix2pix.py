"""CycleGAN and pix2pix (`train.py`) and programs made of it: the seconds of each epoch, with the images of the data set.

`time` of the lines in between is that of one image of the last iteration without the wait for data, and not read. The
time of an epoch contains the wait, the pictures that are drawn and the checkpoints; an epoch that ends with one, which has a
line, is not training alone. `batch_size` is that of all devices.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading, fine, listed

FORMAT = Format(
    title="CycleGAN and pix2pix",
    framework="PyTorch",
    unproven=True,
    start=rb"^-{10,}+ Options -{10,}+|\n-{10,}+ Options -{10,}+",
    readings=(
        Reading(
            "End of epoch {epoch} / {total_epochs} Time Taken: {duration} sec",
            unit="images/s",
            span="epoch",
            verbs=(fine("duration", 1.0, cut=True),),
            pauses=(
                Pause("checkpoint", "saving the model at the end of epoch "),
            ),
        ),
    ),
    facts=(
        Fact("data_set_size", "^The number of training images = {:int}$"),
        Fact("data_set_size", "^dataset [{_}] of size {:int} was created$"),
        Fact("batch_size_of_job", rb"^ *+batch_size: (\d++)(?:[\t ]++\[default: [^\]\r\n]*+\])?+[\t ]*+$", int),
        Fact("devices", rb"^ *+gpu_ids: ([0-9]++(?:,[0-9]++)*+)(?:[\t ]++\[default: [^\]\r\n]*+\])?+[\t ]*+$", listed),
        Fact("model", rb"^ *+model: (\w++)(?:[\t ]++\[default: [^\]\r\n]*+\])?+[\t ]*+$"),
    ),
)  # fmt: skip
