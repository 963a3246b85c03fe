"""TensorFlow Model Garden (TF 2), Keras callback `TimeHistory`: a record per `log_steps` steps.

`examples/second` is the throughput of the whole job over the steps named. glog prints no year, and some builds no date,
so a run over midnight seems to go back in time. The timer continues over the end of an epoch, with the validation and
the checkpoint there. In the scripts with a loop of their own, whose steps Orbit prints, too, it stops for both.
A progress bar may precede the message on its line, and copies print it without the logger's stamp. Some documents mask
the figures of the line. Releases of 2019 and 2020 print the same as `BenchmarkMetric`. The figure precedes the unit, so
a truncated one is not read.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading, up_to
from perfledger.parsers.frameworks import TENSORFLOW_GPU

#: The end of an epoch; Keras prints a part of its lines. It is a pause only if a record is slow: if an interval ends
#: with the epoch, the timer begins with the next step, after the validation and the checkpoint.
_PAUSES = (
    Pause("epoch_end", "val_loss: "),
    Pause("epoch_end", "saving model to "),
    # Orbit prints between two of its loops: the timer begins with the next one.
    Pause("evaluation", "eval | step: ", inside="none"),
    Pause("checkpoint", "saved checkpoint to ", inside="none"),
)

#: Beginning of the lines of the scripts for images with their configuration; every process prints them.
_TRAINER = rb"\bclassifier_trainer\.py:[0-9]++\] "
_BASE = _TRAINER + rb"Base params: "
_BEGINS = _BASE + rb"(?:(?:(?!" + _BASE + rb"|TimeHistory: |Run stats:|Traceback)[\s\S])*+" + _BASE + rb")*+"

FORMAT = Format(
    title="TensorFlow 2 TimeHistory",
    framework="TensorFlow",
    over=("frameworks.orbit",),  # The scripts with a loop of their own print its steps as well, without their samples.
    start=_BEGINS,
    end="Run stats:",
    readings=(
        Reading(
            "{clock} {_} {_}] TimeHistory: {duration} seconds, {throughput} examples/second between steps {_} and {step}",
            unit="images/s",
            pauses=_PAUSES,
            ranks="own",
        ),
        # A progress bar may end where the copy begins.
        Reading(
            rb"(?<!\] )TimeHistory: <duration> seconds, <throughput> examples/second between steps [0-9]++ and <step>(?=\s)",
            unit="images/s",
            pauses=_PAUSES,
            ranks="own",
        ),
        Reading(
            "I{clock} {_} {_}] BenchmarkMetric: {{'global step':{step}, 'time_taken': {duration},{? }'examples_per_second': {throughput}}}",
            unit="images/s",
            pauses=_PAUSES,
            ranks="own",
        ),
    ),
    facts=(
        Fact("batch_size_of_job", "--batch_size={:int}"),
        Fact("batch_size_of_job", _TRAINER + rb"Global batch size: (\d++)", int),
        Fact("devices", _TRAINER + rb"Detected (\d++) devices\.", int),
        Fact("model", _TRAINER + rb"Final model parameters: " + up_to(rb"'model_name': '", _TRAINER, rb"[\s\S]") + rb"([^'\n]++)'"),
        Fact("devices_per_node", "--num_gpus={:int}"),
        TENSORFLOW_GPU,
        Fact("precision", "--dtype={}", words={b"fp16": "amp", b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("xla", "--enable_xla={}", words={b"true": "True", b"True": "True", b"false": "False", b"False": "False"}),
    ),
)  # fmt: skip
