"""DeepSpeed's throughput timer, in any program that trains with it: a line per `steps_per_print` steps, for the job.

Five dialects. The oldest prints only a running mean since the third step, which is undone here. It counts micro steps
within the epoch; from the second epoch on, what the mean covers is unknown, so those lines are not used. Since 2022
`CurrSamplesPerSec` is the speed of the last step; since 2023 steps are optimiser updates. The timer runs during
forward, backward and step only. Pipelines print `steps: ... samples/sec:` over the interval instead. Lines that the
training program prints itself take precedence. In DeepSpeed-Chat's third step the timer is of one phase and not read,
and `End-to-End` is the sum of generation and training alone, without the scoring between them: only the `E2E latency`
of the hybrid engine, of the whole job, includes all. Its first two steps print `Samples/sec` of one device, which
counts where no timer prints. GB are GiB; memory is the peak allocated to tensors. DLPerf averaged the running mean,
which smooths twice.
"""

from __future__ import annotations

import base64
import re

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Reading,
    lacks,
    listed,
    up_to,
)
from perfledger.parsers.dlperf import MEGATRON
from perfledger.parsers.frameworks import DEEPSPEED, PYTORCH_JOB

_TIMER = "[{clock}] [INFO] [timer.py:{_}:stop] "
#: Until mid-2020 the timer printed through the root logger, and then from a file of another name.
_FIRST_TIMER = "[{?INFO }{clock}] {?[INFO] [{?deepspeed_}timer.py:{_}:stop] }"
_CURRENT = ", RunningAvgSamplesPerSec={_}, CurrSamplesPerSec={throughput}"
_MEMORY = "{?, MemAllocated={*}MaxMemAllocated={memory:GB}}"
#: DeepSpeed-Chat's third step trains two networks in turn and generates in between: the timer is of a phase of one.
_NOT_RLHF = lacks(
    rb"--actor_model_name_or_path|--critic_model_name_or_path|Initializing Actor Model|End-to-End => |\|E2E latency="
)


def _first_epoch(columns: Columns) -> Columns:
    """Keep the records of epoch 0: what the mean of later ones covers is unknown."""
    return columns.take(columns["epoch"] == 0)


def _world(printed: bytes) -> int:
    """Return how many devices the launcher encodes: `{"node1": [0, 1], "node2": [0, 1]}` in base 64."""
    return _hosts(base64.urlsafe_b64decode(printed))


def _hosts(printed: bytes) -> int:
    """Count the devices in the lists of all hosts."""
    return sum(map(listed, re.findall(rb"\[([0-9][0-9, ]*+)\]", printed)))


_PIPELINE = rb" iter time \(s\): "
_JOB_BATCH = rb"^ *+global_batch_size \.++ "
#: Arguments of Megatron, whose own lines another rank prints than DeepSpeed's, perhaps into another log.
_OF_MEGATRON = (
    *MEGATRON,
    # Not next to the lines that count batches.
    Fact(
        "batch_size_of_job",
        _JOB_BATCH + rb"([0-9]++)(?=\s)" + up_to(_PIPELINE, rb"global_batch_size \.", rb"[\s\S]"),
        int,
    ),
    Fact("precision", rb"^ *+bf16 \.++ (True)(?=\s)", words={b"True": "bf16"}),
    Fact("precision", rb"^ *+fp16 \.++ (True)(?=\s)", words={b"True": "fp16"}),
)

FORMAT = Format(
    title="DeepSpeed throughput timer",
    framework="DeepSpeed",
    over=("dlperf.megatron",),
    # A script that prints its command prints it before the launcher does: together they are one start.
    start=rb"(?m:^)cmd = deepspeed [^\n]*+\n(?:(?:(?!cmd = deepspeed |[^\n]*?[sS]amples/?(?:Per)?[sS]ec)[^\n]*+\n){0,60}?[^\n]*?\[runner\.py:[0-9]++:main\] cmd = )?+"
    rb"|\[runner\.py:[0-9]++:main\] cmd = ",
    end="[launch.py:{_}:main] Process {_} exits successfully",
    readings=(
        Reading(
            _TIMER + "epoch={_}/micro_step={_}/global_step={step}" + _CURRENT + _MEMORY,
            unit="samples/s", span="step", per_update=True, weak=True, where=_NOT_RLHF,
        ),
        Reading(
            _TIMER + "{epoch}/{step}" + _CURRENT + _MEMORY,
            unit="samples/s", span="step", weak=True, where=_NOT_RLHF,
        ),
        Reading(
            _FIRST_TIMER + "{epoch}/{step}, SamplesPerSec={throughput}" + _MEMORY,
            unit="samples/s", running_mean=3, weak=True, where=_NOT_RLHF, verbs=(_first_epoch,),
        ),
        Reading(
            "step{?s}: {step}{? / {total_steps}} loss: {loss}{*} iter time (s): {step_seconds} samples/sec: {throughput}",
            unit="samples/s", per_update=True, weak=True,
        ),
        Reading(
            "|E2E latency={step_seconds:s} |Gather latency={*}|CurSamplesPerSec={throughput} |AvgSamplesPerSec=",
            unit="samples/s", span="step",
        ),
        Reading(
            "End-to-End => Latency: {training_seconds:s}, TFLOPs: {_}, Samples/sec: {_}, Time/seq {_}, Batch Size: {batch}, Total Seq. Length: ",
            unit="samples/s", scope="device", span="step",
        ),
        # The first two steps of DeepSpeed-Chat print it for each micro step, and do not say that it is of one device.
        Reading(
            "Model Parameters: {_} B, Latency: {step_seconds:s}, TFLOPs: {_}, Samples/sec: {throughput}, Time/seq {_}, Batch Size: {batch}, Sequence Length: ",
            unit="samples/s", scope="device", span="step", weak=True,
        ),
    ),
    facts=(
        Fact("model", rb"--actor_model_name_or_path[ =](\S++)", lambda path: path.decode().rstrip("/").rpartition("/")[2]),
        Fact("model", rb"--model_name_or_path[ =](\S++)", lambda path: path.decode().rstrip("/").rpartition("/")[2]),
        Fact("devices", rb"--world_info=([\w=-]++)", _world),
        Fact("devices", rb"\bWORLD INFO DICT: (\{[^{}\n]++\})", _hosts),
        *_OF_MEGATRON,
        *PYTORCH_JOB,
        Fact("nodes", "nnodes={:int},"),
        *DEEPSPEED,
        Fact("batch_size", "--per_device_train_batch_size{ |=}{:int}"),
        Fact("accumulation", "--gradient_accumulation_steps{ |=}{:int}"),
        Fact("drop_last", rb"\bdataloader_drop_last \.++ (True|False)$"),
        Fact("precision", rb"\bfp16_enabled \.++ (\w++)$", words={b"True": "fp16"}),
        Fact("precision", rb"\bbfloat16_enabled \.++ (\w++)$", words={b"True": "bf16"}),
        # Only FP16 scales its loss while it runs.
        Fact("precision", rb"\[(loss_scaler)\.py:[0-9]++:update_scale\]", words={b"loss_scaler": "fp16"}),
        Fact("zero", rb"^ *+zero_stage \.++ ([0-9])(?=\s)"),
        Fact("zero", "--zero_stage{ |=}{}"),
        Fact("sequence_length", "--max_seq_len{ |=}{:int}"),
        Fact("framework_version", "DeepSpeed info: version={},"),
    ),
)  # fmt: skip
