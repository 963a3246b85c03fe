"""TensorFlow Model Garden (TF 2), BERT (`model_training_utils.py`): a line per loop of steps, with a clock, no speed.

The speed follows from the clocks of two lines. glog prints no year, and some builds no date, so that a run over
midnight seems to go back in time, which once gave a negative speed. `--train_batch_size` is that of the job.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import TENSORFLOW_GPU

FORMAT = Format(
    title="TensorFlow 2 BERT",
    framework="TensorFlow",
    readings=(
        Reading(
            "I{clock} {_} {_}] Train Step: {step}/{total_steps}  / loss = {loss}{?  {masked_lm|test|train}_accuracy = {accuracy}}",
            unit="sequences/s",
            pauses=(
                Pause("evaluation", "Running evaluation after step: "),
                Pause("checkpoint", "Saving model as TF checkpoint: "),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", "--train_batch_size={:int}"),
        Fact("devices_per_node", "--num_gpus={:int}"),
        Fact("sequence_length", "--max_seq_length={:int}"),
        TENSORFLOW_GPU,
        Fact("precision", "--dtype={}", words={b"fp16": "amp", b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("xla", "--enable_xla={}", words={b"true": "True", b"True": "True", b"false": "False", b"False": "False"}),
    ),
    over=("dlperf.tensorflow2_resnet50",),
)  # fmt: skip
