"""kohya's sd-scripts and musubi-tuner: tqdm's bar `steps:`, with the mean loss behind the speed, once `loss`, now `avr_loss`.

The bar counts optimiser updates of the whole job, and tells the seconds since the start; the speed that it prints is
their mean since then, with sample images and checkpoints in it, and the figure is of the differences of the seconds.
The last step may hold the last checkpoint and is left out. A resumed run counts what is left to do, from 0. The head
states the batch size of a device, but not the devices.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.diffusers import bar, first_drawn

FORMAT = Format(
    title="sd-scripts",
    framework="PyTorch",
    marker=b"steps: ",
    start=rb"running training / ",
    readings=(
        Reading(
            # Not the steps of something, which are another program's.
            bar(rb"steps(?<!\w steps)", rb"(?:(?!(?:avr_)?+loss=)[\w ]++=[^,\]\r\n]++, )*+(?:avr_)?+loss="),
            unit="samples/s",
            counts="update",
            pauses=(
                Pause("evaluation", rb"generating sample images at ", b"INFO     generating sample images at step / train_util.py:5000"),
                Pause("checkpoint", rb"saving checkpoint: ", b"saving checkpoint: out/last-000001.safetensors"),
                Pause("epoch_end", rb"epoch [0-9]++/[0-9]++$", b"epoch 2/10"),
            ),
            postprocess=first_drawn,
        ),
    ),
    facts=(
        Fact("batch_size", rb"batch size per device / [^:\n]{1,60}: ([0-9]++)$", int),
        Fact("accumulation", rb"gradient accumulation steps / [^=\n]{1,60}= ([0-9]++)$", int),
        Fact("total_steps", rb"total optimization steps / [^:\n]{1,60}: ([0-9]++)$", int),
        *PYTORCH_JOB,
    ),
    samples=(
        Sample(
            "steps:   2%|▏         | 12/600 [00:58<47:05,  4.80s/it, avr_loss=0.0625]\r".encode(), step=12, total_steps=600, clock=58,
        ),
        Sample(
            "steps:   2%|▏         | 12/600 [00:58<47:05,  1.25it/s, Average key norm=0.1, avr_loss=0.0625]\r".encode(),
            step=12, total_steps=600, clock=58,
        ),
        Sample("steps:   2%|▏         | 12/600 [00:58<47:05,  4.80s/it, loss=0.0625]\r".encode(), step=12, total_steps=600, clock=58),
        NearMiss(b"Training steps:   2%|#         | 12/600 [00:58<47:05,  4.80s/it, loss=0.0625]\r", "of another program"),
        NearMiss(b"steps:   0%|          | 0/600 [00:00<?, ?it/s]\r", "nothing done yet"),
        NearMiss(b"steps: 100%|##########| 600/600 [47:05<00:00,  4.80s/it, avr_loss=0.0625]\n", "may hold the last checkpoint"),
    ),
)  # fmt: skip
