"""TF-Slim's training loop (`slim.learning.train`), as the Object Detection API of TensorFlow 1, DeepLab and others use it.

The seconds are those of the one step that is printed, with its wait for data, which says nothing of steps that are not;
the clocks of releases from 1.14 on tell of all, and count where there are any. Neither speed nor batch size is printed:
the unit is images of all devices. A logger with two handlers prints every line twice. `global_step/sec` beside the
steps, which begins with 0, is another program's line as well and not read.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import TENSORFLOW_GPU

_STEP = rb"global step <step>: loss = <loss> \("

FORMAT = Format(
    title="TF-Slim",
    framework="TensorFlow",
    over=("frameworks.tf_estimator",),  # The supervisor's rates are printed as Estimator's are.
    marker=b" sec/step)",
    unproven=True,
    start=rb"INFO:tensorflow:Starting Session\.(?:\s++(?:I[0-9]{4} [^\]\n]++\] |INFO:tensorflow:)Starting Session\.)*+",
    before_start=rb"Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties",
    end=rb"Finished training! Saving model to disk\.",
    readings=(
        Reading(
            rb"\bI(?P<clock>[0-9]{4} [0-9:.]++) ++[0-9]++ [\w.-]++:[0-9]++\] " + _STEP + rb"[0-9.]++ sec/step\)",
            unit="images/s",
            repeated=True,
        ),
        Reading(
            rb"INFO:tensorflow:" + _STEP + rb"<step_seconds> sec/step\)",
            unit="images/s",
            span="step",
            repeated=True,
        ),
    ),
    facts=(TENSORFLOW_GPU,),
    samples=(
        Sample(b"INFO:tensorflow:global step 120: loss = 2.2500 (0.625 sec/step)\n", step=120, loss=2.25, step_seconds=0.625),
        Sample(
            b"I1120 09:17:51.500000 140663000000000 learning.py:512] global step 120: loss = 2.2500 (0.625 sec/step)\n",
            step=120, loss=2.25,
        ),
        NearMiss(b"INFO:tensorflow:global_step/sec: 1.60\n", "Estimator's rate"),
        NearMiss(b"step 120 \t loss = 2.250, (0.625 sec/step)\n", "another program"),
        NearMiss(b"INFO:tensorflow:global step 120: loss = 2.2500 (0.62", "cut inside the number"),
    ),
)  # fmt: skip
