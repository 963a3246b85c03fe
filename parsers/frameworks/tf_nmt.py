"""TensorFlow's NMT tutorial and the many programs made of it: a line per `steps_per_stats` steps, with `wps`.

From the printer's source alone: no real log has been read yet. Words are those of source and target, of the whole
program, in thousands per second; a word is what the vocabulary contains. The time is that of the training steps alone:
evaluations and checkpoints lie outside. `step-time` has two decimals, too few for short steps.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import TENSORFLOW_GPU

FORMAT = Format(
    title="TensorFlow NMT",
    framework="TensorFlow",
    unproven=True,
    start="# Start step {_}, lr ",
    before_start=rb"^# Job id [0-9]",
    end="# Final, step {_}",
    readings=(
        Reading(
            "^  {?global }step {step} lr {_} step-time {_}s wps {throughput:short} ppl ",
            unit="tokens/s",
        ),
    ),
    facts=(
        Fact("devices", "^  num_gpus={:int}$"),
        Fact("batch_size_of_job", "^  batch_size={:int}$"),
        TENSORFLOW_GPU,
    ),
)  # fmt: skip
