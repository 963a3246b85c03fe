"""TensorFlow's Estimator and the tutorials before it: what their hooks print next to the loss.

The speeds of `ExamplesPerSecondHook` in its two spellings, of TPUEstimator and of the CIFAR-10 tutorials are those of
the whole job, unless several processes print in turn, as threads, sessions that begin or rates in a row show; of the
hook's two figures the one in brackets is of the interval, the other a mean since the start. TPUEstimator's is that of
one device as well where NVIDIA's scripts print `hvd.size()` above it, whose summary is that of the job, and of a
resumed run counts the steps before, too. Else a record is the seconds next to `loss = ..., step = ...`, or
`global_step/sec`, and needs the batch size. If a hook of the user prints the same at other intervals, the seconds
next to a step are those since one of two lines, and the rate alone counts. Releases from 1.13 on print every line twice,
once per logger. The tutorial's `sec/batch` has two digits and, on several devices, counts one of them. `Batch size` of
BERT's scripts is that of one device where NVIDIA's print `hvd.size()` above it, where several processes log, and with a
strategy that mirrors the model, else that of the job. Many other TensorFlow programs print the lines of Estimator as
well, so these claim a log only if no other format does.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    ENDED,
    NUMBER,
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    Scope,
    lacks,
    only_if,
    says,
    up_to,
)
from perfledger.parsers.frameworks import NVIDIA_BERT, TENSORFLOW

#: What NVIDIA's scripts print of Horovod, which precedes the configuration.
_HOROVOD = rb"\bhvd\.size\(\) = "
#: Their flag, which is printed even where that is not.
_WITH_HOROVOD = rb"INFO:tensorflow:  horovod: True"
#: The search for a batch size ends here: with accumulation a step takes several batches.
_ENDS = rb"\* Running training \*|num_accumulation_steps: (?!1\b)"
_BATCH = (
    rb"\* Running training \*++\n(?:INFO:tensorflow:[^\n]*+\n|I\d{4} [^\n]*+\n){0,60}?"
    rb"INFO:tensorflow: ++Batch size = (\d++)"
)
#: Replicas of a strategy take a batch each.
_FIRST_BATCH = rb"\A%s(?:(?!hvd\.size\(|" + _ENDS + rb")[\s\S])*+" + _BATCH
_NUMBER = rb"(?P<%s>" + NUMBER + rb")"
_TENSORFLOW = rb"INFO:tensorflow:"
_LOGGER = rb"(?m)^I[0-9]{4} [0-9:.]++ ++\w++ [^\]\n]++\] "

#: The statement of the Model Garden's scripts about their run. Only ResNet's batch size counts images of the job.
_BENCHMARK = rb"Benchmark run: \{"
_OF_RESNET = _BENCHMARK + rb"(?=" + up_to(rb"'model_name': 'resnet'", _BENCHMARK) + rb")"

#: The hooks' clock runs on meanwhile; an evaluation at a checkpoint is run by the hook that saves it.
_PAUSES = (
    Pause("checkpoint", "Saving checkpoints for "),
    Pause("evaluation", "Starting evaluation at "),
)


def _glog(thread: bytes) -> bytes:
    return rb"^I[0-9]{4} [0-9:.]++ ++" + thread + rb" tpu_estimator\.py:[0-9]++\] examples/sec: [^\n]*+\n"


#: Lines of two processes in turn, by the numbers of their threads.
_IN_TURN = (
    _glog(rb"(?P<thread>[0-9]++)") + rb"(?:[^\n]*+\n){0,30}?" + _glog(rb"(?!(?P=thread) )[0-9]++") + rb"(?:[^\n]*+\n){0,30}?" + _glog(rb"(?P=thread)")
)  # fmt: skip

#: The first line of a session, by two processes of one job, without an evaluation before.
_BEGUN = rb"INFO:tensorflow:Running local_init_op\."
#: Processes print it one after the other before their sessions begin: together they are one start.
_CONFIG = rb"INFO:tensorflow:Using config: "
_OTHERS = rb"/sec: |[Ee]valuation (?:at |\[)|Traceback|rror was raised|" + _BEGUN
_TWICE = _BEGUN + rb"(?:(?!" + _OTHERS + rb")[\s\S])*+" + _BEGUN

#: Two processes print one kind of line each before they print the other; two loggers print the same number.
_OF_TWO = (
    _TENSORFLOW + rb"global_step/sec: (?P<rate>[0-9.]++)\r?+\n" + _TENSORFLOW + rb"global_step/sec: (?!(?P=rate)\s)[0-9.]++\r?+\n"
    rb"(?:" + _TENSORFLOW + rb"global_step/sec: [0-9.]++\r?+\n)*+(?:" + _TENSORFLOW + rb"examples/sec: [0-9.]++\s++){2}"
)  # fmt: skip
_PROCESSES = _IN_TURN + rb"|" + _TWICE + rb"|" + _OF_TWO
_SEVERAL = _PROCESSES + rb"|" + _HOROVOD


def _speeds(logger: str, scope: Scope = "job") -> Reading:
    """Return the reading of TPUEstimator's speed by one of two loggers, which print no step to merge them by.

    Each of several processes prints its own, mostly without a tag, or only the first of them.
    """
    return Reading(
        logger + "examples/sec: {throughput}",
        unit="samples/s",
        scope=scope,
        where=lacks(_SEVERAL) if scope == "job" else says(_SEVERAL),
        weak=True,
        pauses=_PAUSES,
    )


def _of_several_hooks(columns: Columns) -> bool:
    """Return whether some lines print the same step with different seconds: they are of several hooks or processes."""
    step, seconds = columns["step"], columns["duration"]
    return bool(((np.diff(step) == 0) & (np.diff(seconds) != 0)).any())


def _rates(logger: bytes) -> Reading:
    return Reading(
        # A supervisor begins with 0.
        logger + rb"global_step/sec: (?!0\s)<steps_per_second>" + ENDED,
        unit="samples/s",
        weak=True,
        pauses=_PAUSES,
    )


FORMAT = Format(
    title="TensorFlow Estimator",
    framework="TensorFlow",
    # NVIDIA's scripts print one figure of the run through it as well.
    over=("frameworks.dllogger_text", "ngc.tensorflow_bert"),
    start=_CONFIG + rb"[^\n]*+(?:\n(?:(?!" + _CONFIG + rb"|[^\n]*?(?:, step = |Loss for final step|" + _OTHERS + rb"))[^\n]*+\n){0,300}+" + _CONFIG + rb"[^\n]*+)*+"
    rb"|Filling queue with \d++ \w++ images before starting to train",
    before_start=rb"Multi-GPU training with TF Horovod|Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties",
    end="Loss for final step: ",
    readings=(
        Reading(
            "step {step}, loss = {loss} ({throughput} examples/sec{,|;} {_} sec/batch)",
            unit="samples/s",
        ),
        Reading(
            "Global Step: {step}, {?{A|a}ccuracy: {accuracy}{?%}, }loss = {loss} ({throughput} examples/sec{,|;} {_} sec/batch)",
            unit="samples/s",
        ),
        Reading(
            "Average examples/sec: {_} ({throughput}), step = {step}",
            unit="samples/s",
            pauses=_PAUSES,
            ranks="own",
        ),
        Reading(
            "Batch [{step}]:  {?current}{?last {_} steps} exp/sec = {throughput}, {?total }average exp/sec = ",
            unit="samples/s",
            pauses=_PAUSES,
            ranks="own",
        ),
        _speeds("INFO:tensorflow:"),
        _speeds("^I{_} {_}  {_} {_}] "),
        _speeds("INFO:tensorflow:", "device"),
        _speeds("^I{_} {_}  {_} {_}] ", "device"),
        Reading(
            "{INFO:tensorflow:|] }loss = {loss}, step = {step} ({duration} sec)",
            unit="samples/s",
            pauses=_PAUSES,
            ranks="median",
            weak=True,
            verbs=(only_if(_of_several_hooks, False),),
        ),
        _rates(_TENSORFLOW),
        _rates(_LOGGER),
        # NVIDIA's scripts of 2019 sum up the run, and a prediction in nearly the same words.
        Reading(
            "INFO:tensorflow:{_} Training Performance = {throughput} sentences/sec",
            unit="samples/s", span="run", weak=True,
        ),
        Reading(
            "INFO:tensorflow:Total Training Time = {seconds} for Sentences = ",
            unit="samples/s", span="run", weak=True,
        ),
        Reading(
            rb"Total Training Time W/O Overhead = <seconds> for Sentences = <samples>\s[^\n]{0,200}+\n(?:[^\n]*+\n){0,4}?"
            rb"[^\nT]*+Throughput Average \(sentences/sec\) = " + _NUMBER % b"throughput" + ENDED,
            unit="samples/s", span="run", weak=True,
        ),
    ),
    facts=(
        Fact("batch_size", _HOROVOD + rb"(?:(?!" + _HOROVOD + rb"|" + _ENDS + rb")[\s\S])*+" + _BATCH, int),
        Fact("batch_size", _FIRST_BATCH % (rb"(?=[\s\S]*?(?:MirroredStrategy|" + _WITH_HOROVOD + rb"))"), int),
        Fact("batch_size", _FIRST_BATCH % b"" + rb"(?=[\s\S]*?(?:" + _PROCESSES + rb"))", int),
        Fact(
            "batch_size_of_job",
            _FIRST_BATCH % (rb"(?![\s\S]*?(?:MirroredStrategy|" + _WITH_HOROVOD + rb"))") + rb"(?![\s\S]*?(?:" + _PROCESSES + rb"))",
            int,
        ),
        *(
            Fact("batch_size_of_job", _OF_RESNET + up_to(label, _BENCHMARK) + each, int)
            for label, each in (
                (rb"'name': 'batch_size', 'long_value': ", rb"(\d++)"),
                (rb"(?='long_value': \d{1,9}, 'name': 'batch_size')", rb"'long_value': (\d++)"),
            )
        ),
        *NVIDIA_BERT,
        Fact("framework", rb"^INFO:tensorflow:\*{5} (Configuaration) \*{5}", lambda _: "NGC TensorFlow"),
        *TENSORFLOW,
    ),
)  # fmt: skip
