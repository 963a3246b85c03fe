"""NGC DeepLearningExamples, TensorFlow 2 BERT (`run_pretraining.py`, `run_squad.py`): two lines per loop of steps.

From the printer's source alone: no real log has been read yet. The first line has the seconds of the loop, the second,
`Perf`, the samples per second of the whole job and of all accumulation steps. Both timers stop before a checkpoint or
an evaluation. `--train_batch_size` is that of a device, unlike in the Model Garden's script, whose line this one
extends. The trainer's own summary is the mean of `Perf`.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, carry, only
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow 2 BERT",
    framework="NGC TensorFlow",
    over=("dlperf.tensorflow2_bert", "dlperf.tensorflow2_resnet50", "frameworks.dllogger_text", "frameworks.dllogger"),
    unproven=True,
    needs=b"model_training_utils.py:",
    end="Throughput Average (sentences/sec) with overhead = ",
    readings=(
        Reading(
            "] Train Step: {step}/{total_steps}  / loss = {loss} / time = {duration} sec\n\n] Perf {throughput}",
            unit="sequences/s",
            per_update=True,
            verbs=(carry("step", "total_steps", "loss", "duration"), only("throughput", "step")),
            pauses=(
                Pause("evaluation", "Running evaluation after step: ", inside="none"),
                Pause("checkpoint", "Saved checkpoint to ", inside="none"),
            ),
        ),
        Reading(
            "] Throughput Average (sentences/sec) = {throughput}", unit="sequences/s", span="run",
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", "]  Batch size = {:int}$"),
        Fact("batch_size", rb"--train_batch_size[= ]([0-9]++)", int),
        Fact("accumulation", rb"--num_accumulation_steps[= ]([0-9]++)", int),
        Fact("devices", "] hvd.size() = {:int}$"),
        Fact("sequence_length", rb"--max_seq_length[= ]([0-9]++)", int),
        Fact("precision", rb"(--use_fp16)(?:=True|=true)?(?![=\w])", lambda _: "amp"),
        Fact("xla", rb"(--enable_xla)(?:=True|=true)?(?![=\w])", lambda _: "True"),
    ),
)  # fmt: skip
