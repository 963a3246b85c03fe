"""NGC DeepLearningExamples, TensorFlow 2 DLRM and DCNv2: a line per `--print_freq` steps, from the hundredth step on.

From the printer's source alone: no real log has been read yet. The throughput counts the whole job, in millions.
Evaluations use the same timer, so the first interval after an evaluation may include any part of it. `batch_size` is
that of the job.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow 2 DLRM",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    unproven=True,
    start="^Command line flags:\n{{",
    end="Training run completed, elapsed: ",
    readings=(
        Reading(
            "step={step}, throughput={throughput:short}, step_time={step_seconds:ms}, learning_rate={_}, loss={loss},",
            unit="samples/s",
            pauses=(
                Pause("evaluation", "validation_step="),
                Pause("evaluation", "Evaluation completed, AUC: "),
            ),
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size_of_job", rb'^ ++"batch_size": ([0-9]++),?$', int),
        Fact("precision", rb'^ ++"amp": (true|false),?$', words={b"true": "amp", b"false": "fp32"}),
        Fact("xla", rb'^ ++"xla": (true|false),?$', words={b"true": "True", b"false": "False"}),
    ),
)  # fmt: skip
