"""StyleGAN, StyleGAN2 and StyleGAN2-ADA in TensorFlow (`training_loop.py`) and programs made of them: a line per tick.

As in the PyTorch ones `sec/tick` is the time of the training of a tick alone, `sec/kimg` that of a thousand images of
all devices, and `maintenance` what lies between two ticks. A line with a `lod` above 0 is of a network that has not yet
grown to its full size, and not read.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample
from parsers.frameworks.edm import ticks

FORMAT = Format(
    title="StyleGAN, TensorFlow",
    framework="TensorFlow",
    marker=b" sec/kimg ",
    unproven=True,
    start=rb"\bRunning training\.training_loop\.training_loop\(\)",
    readings=(
        Reading(
            rb"(?<!\w)tick <step> ++kimg (?P<_kimg>[0-9.]++) ++(?:lod 0\.00 ++minibatch [0-9]++ ++)?+time (?:[0-9]++[dhms] ++)++"
            rb"sec/tick (?P<_sec_tick>[0-9.]++) ++sec/kimg (?P<_sec_kimg>[0-9.]++) ++maintenance -?+[0-9.]++(?: ++gpumem <memory>(?=\s)|(?=[ \t]*+[\r\n]))",
            unit="images/s",
            factors={"memory": 1024},
            postprocess=ticks,
        ),
    ),
    facts=(Fact("devices", rb"^ ++\"num_gpus\": (\d++),?$", int),),
    samples=(
        Sample(
            b"tick 1     kimg 6.1      lod 0.00  minibatch 32   time 12m 16s      sec/tick 625.0   sec/kimg 104.17  maintenance 30.5   gpumem 5.5\n",
            step=1, _kimg=6.1, _sec_tick=625, _sec_kimg=104.17, memory=5632,
        ),
        Sample(
            b"tick 3     kimg 12.0     time 4m 12s       sec/tick 62.5    sec/kimg 15.63   maintenance 0.5    gpumem 10.5  augment 0.012\n",
            step=3, _sec_kimg=15.63, memory=10752,
        ),
        NearMiss(
            b"tick 3     kimg 420.3    lod 5.00  minibatch 256  time 12m 16s      sec/tick 225.0   sec/kimg 1.61    maintenance 2.5    gpumem 5.5\n",
            "not yet of its full size",
        ),
        NearMiss(b"tick 1     kimg 6.1      lod 0.00  minibatch 32   time 12m 16s      sec/tick 625.0   sec/kimg 104.1", "cut"),
    ),
)  # fmt: skip
