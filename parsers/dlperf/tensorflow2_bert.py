"""TensorFlow Model Garden (TF 2), BERT (`model_training_utils.py`): a line per loop of steps, with a clock, no speed.

The speed follows from the clocks of two lines. glog prints no year, and some builds no date, so that a run over
midnight seems to go back in time, which once gave a negative speed. `--train_batch_size` is that of the job.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, Window
from perfledger.parsers.frameworks import TENSORFLOW_GPU

FORMAT = Format(
    title="TensorFlow 2 BERT",
    framework="TensorFlow",
    marker=b"Train Step: ",
    readings=(
        Reading(
            rb"[IWE](?P<clock>(?:[0-9]{4} )?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]++) ++[0-9]++ [\w.-]++:[0-9]++\] Train Step: "
            rb"<step>/<total_steps>  / loss = <loss>(?=\s)(?:[ \t]++(?:masked_lm|test|train)_accuracy = <accuracy>(?=\s))?+",
            unit="sequences/s",
            pauses=(
                Pause(
                    "evaluation",
                    rb"Running evaluation after step: ",
                ),
                Pause(
                    "checkpoint",
                    rb"Saving model as TF checkpoint: ",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"--train_batch_size=(\d++)", int),
        Fact("devices_per_node", rb"--num_gpus=(\d++)", int),
        Fact("sequence_length", rb"--max_seq_length=(\d++)", int),
        TENSORFLOW_GPU,
        Fact("precision", rb"--dtype=(\w++)", words={b"fp16": "amp", b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("xla", rb"--enable_xla=(\w++)", words={b"true": "True", b"True": "True", b"false": "False", b"False": "False"}),
    ),
    windows={"dlperf": Window(20, 120, "clock")},
    over=("dlperf.tensorflow2_resnet50",),
)  # fmt: skip
