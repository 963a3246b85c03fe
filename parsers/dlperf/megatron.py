"""Megatron-LM and its forks (Megatron-DeepSpeed, GPT-NeoX, Megatron Core): a line per `log_interval` iterations.

Only GPT-NeoX prints a throughput that counts. Otherwise it is the samples of the interval over the milliseconds (in
some forks, seconds) per iteration, a mean over the interval. The batch size may grow during training, so samples are
taken from `consumed samples` if printed; so may the sequences, whose length the lines of Megatron-DeepSpeed tell. The
loss is missing if all iterations were skipped; `1460.8/1450.4` is the interval's figure and the mean so far, as Primus'
`(avg 510.1)` is; validation lines print a loss as well. Newer releases of Megatron Core print the first iteration
alone, and hold it in the next line again: the first line is then no record. Forks for Ascend spell `gloabl batch size`.
Old releases print no global batch size: then it is that of DeepSpeed's configuration, or must be stated beside the log.
Memory is the peak allocated to tensors, not what the allocator reserved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Column,
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    Window,
    is_private,
)
from perfledger.parsers.dlperf import argument, dotted_start
from perfledger.parsers.frameworks import PYTORCH_JOB

_BATCH = rb" (?:global|gloabl) batch size:"
_HEAD = rb"iteration ++<step>/ *+<total_steps> \|"


def _ahead(label: bytes, group: bytes) -> bytes:
    """Return a lookahead for a field further on in the line: their order differs between releases."""
    return (
        rb"(?=(?:(?!%s)[^|\n]{0,120}+\|){0,30}+%s(?P<%s>" % (label, label, group)
        + NUMBER + rb")(?:/" + NUMBER + rb"|TFLOPS| \(avg " + NUMBER + rb"\))?+ *+\|)"
    )  # fmt: skip


def _maybe(label: bytes, group: bytes) -> bytes:
    return rb"(?:" + _ahead(label, group) + rb"|)"


def _elapsed(unit: bytes) -> bytes:
    return (
        rb"(?:(?! elapsed time)[^|\n]{0,120}+\|){0,9}+"
        rb" elapsed time per iteration \(%s\): ++(?P<step_seconds>" % unit + NUMBER + rb")(?:/" + NUMBER + rb")?+ \|"
    )


#: The second of two lines that hold the first iteration is slower than the later ones by this much.
_AS_SLOW = 1.2
#: Arguments that stand between two others.
_OTHERS = rb"(?:(?! *+(?:model_parallel_size|batch_size) )[^\n]*+\n){0,400}+"
#: The batch size in the configuration that DeepSpeed prints. With accumulation an iteration may be a micro batch.
_OF_DEEPSPEED = (
    rb"\[config\.py:[0-9]++:print\] ++gradient_accumulation_steps \.++ 1 *+\n"
    rb"(?:(?![^\n]*? train_batch_size \.)[^\n]*+\n){0,90}+[^\n]*? train_batch_size \.++ ([0-9]++)(?=\s)"
)
_EXTRAS = (
    _maybe(rb" (?:(?:throughput|compute) per GPU \(TFLOP/s/GPU\)|TFLOPs|approx flops per GPU): ++", b"flops")
    + _maybe(rb" energy per GPU \(J/iter/GPU\): ++", b"energy")
    + _maybe(rb" power per GPU \(W/GPU\): ++", b"power")
    + _maybe(rb" (?:lm[ _])?+loss:?+ ++(?=[-+.0-9nNiI])", b"loss")
    + _maybe(rb" peak allocated memory: ++", b"memory")
)


def _is_told_again(steps: Column, seconds: Column) -> bool:
    """Return whether the first line is of the first iteration alone, and the second one's interval holds it again.

    A newer Megatron Core prints that line at once, and neither its timer nor its counters begin anew after it. The line
    stands outside the turn of `log_interval`; where each iteration is printed, the second one shows half of the first.
    """
    if len(steps) < 2 or not (gap := steps[1] - steps[0]) > 0 or not seconds[1] * (gap + 1) >= seconds[0]:
        return False
    gaps = np.diff(steps[1:])
    usual = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else np.nan
    if usual == gap == 1:
        return bool(seconds[1] > _AS_SLOW * np.median(seconds[2:]))
    return bool(gap < usual or (np.isnan(usual) and steps[0] % gap))


def _with_samples(columns: Columns) -> Postprocessed:
    """Add the samples of each record: those consumed since the record before, else batch size times steps."""
    rows = np.arange(int(_is_told_again(columns["step"], columns["step_seconds"])), len(columns["step"]))
    of_job = (columns["_devices"] / columns["_sequence_length"])[rows]
    columns = {name: column[rows] for name, column in columns.items()}
    gaps = np.diff(columns["step"], prepend=np.nan)
    usual = np.median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    consumed = np.diff(columns["consumed"], prepend=np.nan)
    estimated = columns["batch"] * np.where(gaps > 0, gaps, usual)
    counted = (gaps > 0) & (consumed > 0)
    kept = {name: each for name, each in columns.items() if not (name in {"batch", "consumed"} or is_private(name))}
    kept["samples"] = np.where(counted, consumed, estimated)
    # The speed is that of the last batch, which may be larger than those before it.
    told = columns["_of_device"] * of_job
    told = np.where(np.isfinite(columns["restated"]), columns["restated"], told)
    kept["restated"] = told * kept["samples"] / estimated
    return rows, kept


#: What the interval after it includes.
_OF_TRAINING = (
    # That of the validation set, and in some forks of the test set.
    Pause("evaluation", rb" loss at iteration "),
    # GPT-NeoX says so in other words.
    Pause("evaluation", rb" results at iteration "),
    Pause("checkpoint", rb"saving checkpoint at iteration "),
    # GPT-NeoX leaves it to DeepSpeed to say so, as its release does.
    Pause(
        "checkpoint",
        rb"Saving model checkpoint: ",
    ),
    Pause(
        "checkpoint",
        rb"Checkpoint global_step[0-9]++ is ",
    ),
)
#: The fine-tuning of a task evaluates behind an epoch, and stops no timer in any release.
_TASK = Pause("evaluation", rb"calculating metrics \.\.\.")
#: Since Megatron Core 0.5, which prints a date, the timer stops meanwhile.
_BESIDE = (*(replace(each, inside="none") for each in _OF_TRAINING), _TASK)
_PAUSES = (*_OF_TRAINING, _TASK)
_DATED, _UNDATED = rb"\[(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.[0-9]++)?+)\] ", rb"(?<![0-9]\] )"


#: Of the interval, before a mean so far; Primus renamed it in 2026.
_OF_DEVICE = rb" tokens(?: per GPU \(tokens/s/GPU\)|/s/GPU inst/harmonic mean): ++"


def _with_batch(unit: bytes, seconds: float, before: bytes = b"", pauses: tuple[Pause, ...] = _PAUSES) -> Reading:
    return Reading(
        before + _HEAD + _maybe(rb" consumed samples: ++", b"consumed") + _elapsed(unit)
        + _ahead(_BATCH + rb" ++", b"batch") + _EXTRAS
        + _maybe(rb" (?:actual|curriculum) seqlen: ++", b"length")
        + _maybe(rb" samples per second: ++", b"restated") + _maybe(_OF_DEVICE, b"_of_device"),
        unit="sequences/s", factors={"step_seconds": seconds}, pauses=pauses, verbs=(_with_samples,),
    )  # fmt: skip


FORMAT = Format(
    title="Megatron-LM",
    framework="Megatron-LM",
    marker=b"iteration",
    start=dotted_start(rb"(?:distributed_backend|distributed_timeout_minutes|DDP_impl)"),
    end=rb"\[(?:after training is done|exiting program (?:after|at))",
    readings=(
        _with_batch(b"ms", 1e-3, _UNDATED),
        _with_batch(b"ms", 1e-3, _DATED, _BESIDE),
        _with_batch(b"s", 1.0),
        Reading(
            rb"iteration= *+<step>/ *+<total_steps> \|" + _maybe(rb" consumed_samples= *+", b"consumed")
            + _ahead(rb" elapsed_time_per_iteration_ms=", b"step_seconds") + _ahead(rb" global_batch_size= *+", b"batch")
            + _maybe(rb" (?:\[LM\]-?+)?+TFLOPs=", b"flops") + _maybe(rb" lm[ _]loss=", b"loss")
            + _maybe(rb" samples_per_second=", b"restated") + _maybe(rb" tokens_per_gpu_per_second_tgs=", b"_of_device"),
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES, verbs=(_with_samples,),
        ),
        Reading(
            rb"\bsamples/sec: <throughput> \| " + _HEAD + _elapsed(b"ms") + _EXTRAS,
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES,
        ),
        Reading(
            _HEAD + rb"(?= elapsed)" + _elapsed(b"ms") + rb"(?!(?:[^|\n]{0,120}+\|){0,30}" + _BATCH + rb")" + _EXTRAS
            + rb"(?=(?:[^|\n]{0,120}+\|){1,30}+ *+(?:\r?\n|\Z))",
            unit="sequences/s", factors={"step_seconds": 1e-3}, pauses=_PAUSES,
        ),
        Reading(
            rb"\[Rank [0-9]++\] \(after [0-9]++ iterations\) memory \(MB\) \| allocated: \S++ \| "
            rb"max allocated: <memory> \|",
            # Of a pipeline's ranks all print it, and the last one alone the lines above: those of others may be DeepSpeed's.
            weak=True,
        ),
    ),
    facts=(
        Fact("framework", rb"^ *+deepspeed \.++ (True)", words={b"True": "DeepSpeed"}),
        Fact("zero", rb"^ *+zero_stage \.++ ([0-9])(?=\s|\.\.)"),
        Fact("model", rb"building (GPT2?|T5) model \.\.\.", words={b"GPT": "GPT", b"GPT2": "GPT", b"T5": "T5"}),
        argument("devices", "world_size"),
        argument("devices", "global_num_gpus"),
        *PYTORCH_JOB,
        argument("batch_size_of_job", "global_batch_size"),
        argument("batch_size_of_job", "train_batch_size"),
        Fact("batch_size_of_job", _OF_DEEPSPEED, int),
        argument("micro_batch", "micro_batch_size"),
        argument("micro_batch", "train_micro_batch_size_per_gpu"),
        # Before 2020's second half: samples of one copy of the network, and hence of a device where none is cut.
        Fact("batch_size", rb"^ *+batch_size \.++ ([0-9]++) *+\n" + _OTHERS + rb" *+model_parallel_size \.++ 1$", int),
        Fact("batch_size", rb"^ *+model_parallel_size \.++ 1 *+\n" + _OTHERS + rb" *+batch_size \.++ ([0-9]++)$", int),
        argument("layers", "num_layers"),
        argument("hidden", "hidden_size"),
        argument("heads", "num_attention_heads"),
        argument("sequence_length", "seq_length"),
        Fact("vocabulary", rb"> padded vocab \(size: [0-9]++\) with [0-9]++ dummy tokens \(new size: ([0-9]++)\)", int),
        argument("vocabulary", "padded_vocab_size"),
        argument("tensor_parallel", "tensor_model_parallel_size"),
        argument("tensor_parallel", "model_parallel_size"),
        argument("pipeline_parallel", "pipeline_model_parallel_size"),
        argument("pipeline_parallel", "pipe_parallel_size"),
        argument("data_parallel", "data_parallel_size"),
        argument("expert_parallel", "expert_model_parallel_size"),
        argument("context_parallel", "context_parallel_size"),
        Fact("precision", rb"^ *+fp8 \.++ (\w++)", words={b"hybrid": "fp8", b"e4m3": "fp8"}),
        # Before 2023's second half.
        Fact("precision", rb"^ *+fp8_(?:hybrid|e4m3) \.++ (True)$", words={b"True": "fp8"}),
        # GPT-NeoX.
        Fact("precision", rb"^ *+precision \.++ (fp16|bfloat16|fp32)(?=\s|\.\.)", words={b"fp16": "fp16", b"bfloat16": "bf16", b"fp32": "fp32"}),
        Fact("precision", rb"^ *+bf16 \.++ (\w++)", words={b"True": "bf16"}),
        Fact("precision", rb"^ *+fp16 \.++ (\w++)", words={b"True": "fp16", b"False": "fp32"}),
        Fact("checkpointing", rb"^ *+checkpoint_activations \.++ (\w++)", words={b"True": "full", b"False": "none"}),
        # `selective` recomputes a part, which the formula for FLOPs does not cover.
        Fact("checkpointing", rb"^ *+recompute_granularity \.++ (\w++)", words={b"full": "full", b"None": "none"}),
    ),
    windows={"dlperf": Window(301, 400, "seconds")},
)  # fmt: skip
