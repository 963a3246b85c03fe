"""PaddlePaddle's ArcFace (InsightFace `arcface_paddle`, PLSC 2.0): a line per `frequent` batches, by the first rank.

`throughput` counts the batches of all devices since the last line. Its timer runs on while the model is verified and
saved. PLSC before it, and after it, print other lines.
"""

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.paddle import LAUNCHER

FORMAT = Format(
    title="PaddlePaddle ArcFace",
    framework="PaddlePaddle",
    marker=b" imgs/sec",
    start=rb"Training: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - rank: 0\b",
    unproven=True,
    readings=(
        Reading(
            rb"Training: (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - loss <loss>, lr: [0-9.e-]++, epoch: <epoch>, step: <step>, "
            rb"eta: -?+[0-9.]++ hours, throughput: <throughput> imgs/sec",
            unit="images/s",
            epoch_end=True,
            pauses=(Pause("evaluation", rb"]XNorm: ", b"Training: 2026-11-20 09:10:00,125 - [lfw][2000]XNorm: 21.500000"),),
        ),
    ),
    facts=LAUNCHER,
    samples=(
        Sample(
            b"Training: 2026-11-20 08:36:06,500 - loss 34.2500, lr: 0.100000, epoch: 1, step: 1250, eta: 31.25 hours, throughput: 3200.50 imgs/sec\n",
            clock=1795163766.5, throughput=3200.5, loss=34.25, epoch=1, step=1250,
        ),
        NearMiss(b"Training: 2026-11-20 08:36:06,500 - [lfw][2000]Accuracy-Flip: 0.99750+-0.00250\n", "verification"),
        NearMiss(
            b"Training: 2026-11-20 08:36:06,500 - loss 34.2500, lr: 0.100000, epoch: 1, step: 1250, eta: 31.25 hours, throughput: 3200.5",
            "cut inside the number",
        ),
    ),
)  # fmt: skip
