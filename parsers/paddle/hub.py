"""PaddleHub (fine-tuning), and PaddleSeg until 2020 (`pdseg/train.py`): a record per so many steps, with steps per second.

PaddleHub 2, and the classifiers of PaddleSpeech after it, and PaddleSeg count the time since the last line, with
evaluations and checkpoints between; PaddleHub 1 from the begin of the first step on, behind its wait for data and
what stands before it: where the lines' times show that, they are right, and lines without them are not read. A step
is a batch of each device. PaddleSeg alone prints its batch size.
"""

from __future__ import annotations

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Trap, up_to
from parsers.paddle import LAUNCHER, of_two_decimals

_OF_EVALUATION = Pause(
    "evaluation",
    rb" - Evaluation on ",
    b"[2026-11-20 13:14:40,123] [    INFO] - Evaluation on dev dataset start",
    inside="none",
)
_PAUSES = (
    Pause("evaluation", rb"- \[Evaluation result\]", b"[2026-11-20 13:14:40,123] [    EVAL] - [Evaluation result] avg_acc=0.5000"),
    Pause("evaluation", rb"Evaluation start", b"Evaluation start"),
    Pause("checkpoint", rb"Save model checkpoint to ", b"Save model checkpoint to ./saved_model/unet/10"),
    Pause("checkpoint", rb"Saving model checkpoint to ", b"[2026-11-20 13:14:40,123] [    INFO] - Saving model checkpoint to epoch_1"),
)  # fmt: skip


FORMAT = Format(
    title="PaddleHub",
    framework="PaddlePaddle",
    marker=b"step/sec",
    start=rb"PaddleHub model checkpoint (?:not found|loaded)",
    unproven=True,
    readings=(
        Reading(
            rb"\bEpoch=<epoch>/<total_epochs>, Step=<step>/<total_steps> (?:loss=<loss> )?+" + up_to(rb" step/sec=", rb"Epoch=")
            + rb"<steps_per_second> (?:ips:[0-9.]++)?+\| ETA ",
            unit="samples/s",
            epoch_end=True,
            postprocess=of_two_decimals,
            pauses=_PAUSES,
        ),
        Reading(
            rb"(?<![^\n\r ])epoch=<epoch> step=<step> lr=[0-9.e-]++ loss=<loss> " + up_to(rb"\bstep/sec=", rb"epoch=") + rb"<steps_per_second> \| ETA ",
            unit="images/s",
            epoch_end=True,
            pauses=_PAUSES,
        ),
        Reading(
            rb"\[(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3})\] \[ *+TRAIN\] - step <step>(?: / <total_steps>)?+: loss=<loss> " + up_to(rb"\[step/sec: ", rb"TRAIN\]") + rb"<steps_per_second>\]",
            unit="samples/s",
            postprocess=of_two_decimals,
            trap=Trap("clock", "outside_step_time", most=1.5),
            pauses=(_OF_EVALUATION,),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^batch_size_per_dev: (\d++)", int),
        Fact("devices", rb"^#Device count: (\d++)", int),
        *LAUNCHER,
    ),
    samples=(
        Sample(
            b"[2026-11-20 13:14:40,123] [   TRAIN] - Epoch=3/65, Step=10/63 loss=0.7500 acc=0.5000 lr=0.000100 step/sec=1.25 | ETA 01:54:43",
            epoch=3, total_epochs=65, step=10, total_steps=63, loss=0.75, steps_per_second=1.25,
        ),
        Sample(
            b"epoch=1 step=170 lr=0.00093 loss=0.2500 step/sec=5.125 | ETA 00:07:06",
            epoch=1, step=170, loss=0.25, steps_per_second=5.125,
        ),
        Sample(
            b"[2026-11-20 13:14:40,123] [   TRAIN] - step 10 / 50: loss=0.75000 acc=0.50000 [step/sec: 6.25]",
            step=10, total_steps=50, loss=0.75, steps_per_second=6.25,
        ),
        NearMiss(b"[   TRAIN] - step 10 / 50: loss=0.75000 acc=0.50000 [step/sec: 6.25]", "no timestamp that tells what the rate leaves out"),
        NearMiss(b"[EVAL]step=1 loss=0.01955 acc=0.9926 IoU=0.9653 step/sec=2.12 | ETA 00:00:00", "an evaluation"),
        NearMiss(b"[2026-11-20 13:14:40,123] [    EVAL] - [dev dataset evaluation result] loss=0.75000 acc=0.50000 [step/sec: 6.25]", "an evaluation"),
        NearMiss(b"[2026-11-20 13:14:40,123] [   TRAIN] - Epoch=3/65, Step=10/63 loss=0.7500 lr=0.000100 step/sec=1.2", "cut inside the number"),
    ),
)  # fmt: skip
