"""PaddleX 1 and 2 (`model.train`), and PaddleRS after them: a record per `log_interval_steps` steps.

`time_each_step` is the mean of the last `log_interval_steps` steps, of the last 20 in PaddleX 1, with the wait for data
and two decimals. Where these tell too little, the times of the lines are read instead. Evaluations and checkpoints lie
outside; the first step of an epoch holds the start of the loader. A step is a batch of the whole job, whose size no
line tells. PaddleX 3 calls other trainers, and prints their lines.
"""

from parsers.contract import Format, NearMiss, Pause, Reading, Sample
from parsers.contract.coarse import fine_seconds
from parsers.paddle import LAUNCHER

#: Smaller seconds, of two decimals, are rounded by more than a twentieth.
_FINE = 0.1
_FIELD = rb"(?:(?!%s)\w++=[^\s,]++, )*+"


FORMAT = Format(
    title="PaddleX",
    framework="PaddlePaddle",
    marker=b", time_each_step=",
    # Said where `train` loads weights, which it does unless told not to.
    start=rb"\[INFO\][ \t]++There are \d++(?:/\d++)?+ var(?:aib|iab)les (?:in \S++ are loaded|loaded into )",
    unproven=True,
    readings=(
        Reading(
            rb"(?:(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \[INFO\][ \t]++)?+\[TRAIN\] Epoch=<epoch>/<total_epochs>, Step=<step>/<total_steps>, " + _FIELD % rb"loss=|time_each_step="
            + rb"(?:loss=<loss>, )?+" + _FIELD % rb"time_each_step=" + rb"time_each_step=<step_seconds>s, eta=",
            unit="images/s",
            epoch_end=True,
            # Nine lines of two steps each, in PaddleX 1.
            lingers=9,
            postprocess=fine_seconds(_FINE),
            pauses=(
                Pause("evaluation", rb"Start to evaluat", b"2026-11-20 13:14:40 [INFO]\tStart to evaluate(total_samples=100, total_steps=25)...", inside="none"),
                Pause("checkpoint", rb"Model saved in ", b"2026-11-20 13:14:40 [INFO]\tModel saved in output/ppyolo/epoch_1.", inside="none"),
            ),
        ),
    ),
    facts=LAUNCHER,
    samples=(
        Sample(
            b"2026-11-20 13:14:40 [INFO]\t[TRAIN] Epoch=2/300, Step=10/37, loss_xy=0.250000, loss_cls=0.125000, loss=4.750000, lr=0.000125, "
            b"time_each_step=1.25s, eta=3:44:27",
            epoch=2, total_epochs=300, step=10, total_steps=37, loss=4.75, step_seconds=1.25,
        ),
        Sample(
            b"2026-11-20 13:14:40 [INFO]      [TRAIN] Epoch=1/12, Step=100/353, loss=1.5, acc1=0.25, acc5=0.75, lr=0.00625, time_each_step=0.5s, eta=0:45:33",
            step=100, loss=1.5, step_seconds=0.5,
        ),
        NearMiss(b"2026-11-20 13:14:40 [INFO]\t[TRAIN] Epoch 2 finished, loss=4.75, lr=0.000125 .", "the mean of an epoch"),
        NearMiss(
            b"2026-11-20 13:14:40 [INFO]\t[TRAIN] Epoch=2/300, Step=10/37, loss=4.75, lr=0.000125, time_each_step=1.2", "cut inside the number",
        ),
    ),
)  # fmt: skip
