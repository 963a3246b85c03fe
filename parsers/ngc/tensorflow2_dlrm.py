"""NGC DeepLearningExamples, TensorFlow 2 DLRM and DCNv2: a line per `--print_freq` steps, from the hundredth step on.

From the printer's source alone: no real log has been read yet. The throughput counts the whole job, in millions.
Evaluations use the same timer, so that the first interval after one holds any part of it. `batch_size` is that of the
job.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow 2 DLRM",
    framework="NGC TensorFlow",
    over=("frameworks.dllogger_text",),
    unproven=True,
    marker=b", throughput=",
    start=rb"(?m)^Command line flags:\r?\n\{\r?$",
    end=rb"Training run completed, elapsed: ",
    readings=(
        Reading(
            rb"(?<!_)\bstep=<step>, throughput=<throughput>M, step_time=<step_seconds> ms, learning_rate=[^,\n]++, loss=<loss>,",
            unit="samples/s",
            factors={"throughput": 1e6, "step_seconds": 1e-3},
            pauses=(
                Pause("evaluation", rb"validation_step=", b"validation_step=49, validation_throughput=30.125M, step_time=2.125 ms"),
                Pause("evaluation", rb"Evaluation completed, AUC: ", b"Evaluation completed, AUC: 0.750000, test_loss: 0.125000"),
            ),
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size_of_job", rb'^ ++"batch_size": ([0-9]++),?$', int),
        Fact("precision", rb'^ ++"amp": (true|false),?$', words={b"true": "amp", b"false": "fp32"}),
        Fact("xla", rb'^ ++"xla": (true|false),?$', words={b"true": "True", b"false": "False"}),
    ),
    samples=(
        Sample(
            b"step=150, throughput=12.345M, step_time=5.309 ms, learning_rate=24.0000, loss=0.12500000,\n",
            step=150, throughput=12345000.0, step_seconds=0.005309, loss=0.125,
        ),
        NearMiss(b"validation_step=49, validation_throughput=30.125M, step_time=2.125 ms\n", "an evaluation"),
        NearMiss(b"step=150, throughput=12.345M, step_time=5.309 ms, learning_rate=24.0000, loss=0.12", "cut inside the loss, perhaps"),
    ),
)  # fmt: skip
