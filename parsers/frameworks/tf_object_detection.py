"""The Object Detection API of TensorFlow 2 (`model_main_tf2.py`): a line every hundred steps.

The seconds are those of the one step that is printed, not of the hundred, except on TPUs. The clocks of the logger show
all steps: they count where there are any, and contain the checkpoints, which have no line. Every line is printed twice, with
a clock to stderr and without. Neither speed nor batch size is printed: the unit is images of all devices. Evaluations
are another program's.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import TENSORFLOW

FORMAT = Format(
    title="TensorFlow Object Detection API",
    framework="TensorFlow",
    unproven=True,
    start="INFO:tensorflow:Maybe overwriting train_steps: ",
    before_start=rb"Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties|"
    rb"Using MirroredStrategy with devices ",
    readings=(
        Reading(
            "I{clock} {_} model_lib_v2.py:{_}] Step {step} per-step time {_}s{? loss={loss}}",
            unit="images/s",
        ),
        Reading(
            "INFO:tensorflow:Step {step} per-step time {step_seconds:s}{? loss={loss}}",
            unit="images/s",
            span="step",
        ),
    ),
    facts=(
        Fact("total_steps", "Maybe overwriting train_steps: {:int}$"),
        *TENSORFLOW,
    ),
)  # fmt: skip
