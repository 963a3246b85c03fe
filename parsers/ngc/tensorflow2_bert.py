"""NGC DeepLearningExamples, TensorFlow 2 BERT (`run_pretraining.py`, `run_squad.py`): two lines per loop of steps.

From the printer's source alone: no real log has been read yet. The first line has the seconds of the loop, the second,
`Perf`, the samples per second of the whole job and of all accumulation steps. Both timers stop before a checkpoint or
an evaluation. `--train_batch_size` is that of a device, unlike in the Model Garden's script, whose line this one
extends. The trainer's own summary is the mean of `Perf`.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.ngc import TF32

#: Bars in front of what a line says, other than the line itself where it ends in a carriage return.
_DRAWN = rb"(?:[^\r\n]*+\r(?!\n))*+"
_STAMP = rb"[IWE](?:[0-9]{4} )?+[0-9:.]++ ++[0-9]++ [\w.-]++:[0-9]++\] "

FORMAT = Format(
    title="NGC TensorFlow 2 BERT",
    framework="NGC TensorFlow",
    over=("dlperf.tensorflow2_bert", "dlperf.tensorflow2_resnet50", "frameworks.dllogger_text", "frameworks.dllogger"),
    unproven=True,
    marker=b"model_training_utils.py:",
    end=rb"Throughput Average \(sentences/sec\) with overhead = ",
    readings=(
        Reading(
            "] Train Step: {step}/{total_steps}  / loss = {loss} / time = {duration} sec{?  {_} = {_}}\n{_} {_} {_} {_} Perf {throughput}",
            unit="sequences/s",
            counts="update",
            marker=b"Train Step: ",
            pauses=(
                Pause(
                    "evaluation",
                    rb"Running evaluation after step: ",
                    inside="none",
                ),
                Pause(
                    "checkpoint", rb"Saved checkpoint to ",
                    inside="none",
                ),
            ),
        ),
        Reading(
            "] Throughput Average (sentences/sec) = {throughput}", unit="sequences/s", span="run", exact=True, marker=b"Throughput Average",
        ),
    ),
    facts=(
        *TF32,
        Fact("batch_size", rb"\] ++Batch size = ([0-9]++)$", int),
        Fact("batch_size", rb"--train_batch_size[= ]([0-9]++)", int),
        Fact("accumulation", rb"--num_accumulation_steps[= ]([0-9]++)", int),
        Fact("devices", rb"\] hvd\.size\(\) = ([0-9]++)$", int),
        Fact("sequence_length", rb"--max_seq_length[= ]([0-9]++)", int),
        Fact("precision", rb"(--use_fp16)(?:=True|=true)?(?![=\w])", lambda _: "amp"),
        Fact("xla", rb"(--enable_xla)(?:=True|=true)?(?![=\w])", lambda _: "True"),
    ),
)  # fmt: skip
