"""kohya's sd-scripts and musubi-tuner: tqdm's bar `steps:`, with the mean loss after the speed, once `loss`, now `avr_loss`.

The bar counts optimiser updates of the whole job, and shows the seconds since the start; the speed that it prints is
their mean since then, with sample images and checkpoints in it, and the figure is of the differences of the seconds.
The last step may contain the last checkpoint and is left out. A resumed run counts what is left to do, from 0. The head
states the batch size of a device, but not the devices.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.diffusers import bar, first_drawn

FORMAT = Format(
    title="sd-scripts",
    framework="PyTorch",
    start="running training / ",
    readings=(
        Reading(
            # Not the steps of something, which are another program's.
            bar(rb"steps(?<!\w steps)", rb"(?:(?!(?:avr_)?+loss=)[\w ]++=[^,\]\r\n]++, )*+(?:avr_)?+loss="),
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause("evaluation", "generating sample images at "),
                Pause("checkpoint", "saving checkpoint: "),
                Pause("epoch_end", "epoch {_}/{_}$"),
            ),
            verbs=(first_drawn,),
        ),
    ),
    facts=(
        Fact("batch_size", rb"batch size per device / [^:\n]{1,60}: ([0-9]++)$", int),
        Fact("accumulation", rb"gradient accumulation steps / [^=\n]{1,60}= ([0-9]++)$", int),
        Fact("total_steps", rb"total optimization steps / [^:\n]{1,60}: ([0-9]++)$", int),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
