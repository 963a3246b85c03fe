"""TF-Slim's training loop (`slim.learning.train`), as the Object Detection API of TensorFlow 1, DeepLab and others use it.

The seconds are those of the printed step, with its wait for data, and do not represent the other steps. The clocks of
releases from 1.14 on cover all steps, and count if a log has them. Neither speed nor batch size is printed: the unit is
images of all devices. A logger with two handlers prints every line twice. `global_step/sec` next to the steps, which
begins with 0, is a line of other programs, too, and not read.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import TENSORFLOW_GPU

FORMAT = Format(
    title="TF-Slim",
    framework="TensorFlow",
    over=("frameworks.tf_estimator",),  # The supervisor's rates are printed as Estimator's are.
    unproven=True,
    start=rb"INFO:tensorflow:Starting Session\.(?:\s++(?:I[0-9]{4} [^\]\n]++\] |INFO:tensorflow:)Starting Session\.)*+",
    before_start=rb"Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties",
    end="Finished training! Saving model to disk.",
    readings=(
        Reading(
            "I{clock} {_} {_}:{_}] global step {step}: loss = {loss} ({_} sec/step)",
            unit="images/s",
            ranks="median",
        ),
        Reading(
            "INFO:tensorflow:global step {step}: loss = {loss} ({step_seconds} sec/step)",
            unit="images/s",
            span="step",
            ranks="median",
        ),
    ),
    facts=(TENSORFLOW_GPU,),
)  # fmt: skip
