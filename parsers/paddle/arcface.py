"""PaddlePaddle's ArcFace (InsightFace `arcface_paddle`, PLSC 2.0): a line per `frequent` batches, by the first rank.

`throughput` counts the batches of all devices since the last line. Its timer runs on while the model is verified and
saved. PLSC before it, and after it, print other lines.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER

FORMAT = Format(
    title="PaddlePaddle ArcFace",
    framework="PaddlePaddle",
    start=rb"Training: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - rank: 0\b",
    unproven=True,
    readings=(
        Reading(
            "Training: {clock} - loss {loss}, lr: {_}, epoch: {epoch}, step: {step}, eta: {_} hours, throughput: {throughput} imgs/sec",
            unit="images/s",
            pauses=(Pause("evaluation", "]XNorm: "), EPOCH_END),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
