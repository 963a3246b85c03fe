"""Megatron-LM and its forks (Megatron-DeepSpeed, GPT-NeoX, Megatron Core): a line per `log_interval` iterations.

Only GPT-NeoX prints a throughput that counts. For the others it is the samples of the interval over the milliseconds
(in some forks, seconds) per iteration, a mean over the interval. The batch size may grow during training, so samples
are taken from `consumed samples` if printed; so may the sequences, whose length the lines of Megatron-DeepSpeed print.
The loss is missing if all iterations were skipped; `1460.8/1450.4` is the interval's figure and the mean so far, as
Primus' `(avg 510.1)` is; validation lines print a loss as well. Newer releases of Megatron Core print the first
iteration alone, and include it in the next line again: the first line is then not a record. Forks for Ascend spell
`gloabl batch size`. Old releases print no global batch size: then it is that of DeepSpeed's configuration, or must be
stated next to the log. Memory is the peak allocated to tensors, not what the allocator reserved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    Column,
    Columns,
    Condition,
    Fact,
    Format,
    Pause,
    Reading,
    either,
    lacks,
)
from perfledger.parsers.dlperf import MEGATRON, argument, dotted_start
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Fields before that of the batch size: the speeds of the interval, before means so far. Primus renamed some in 2026.
_FLOPS = "{? {throughput|compute} per GPU (TFLOP/s/GPU): {flops}{?/{_}}{? (avg {_}} |}"
_TOKENS = (
    "{? tokens per GPU (tokens/s/GPU): {_of_device}{?/{_}} |}{? tokens/s/GPU inst/harmonic mean: {_inst}{?/{_}} |}"
)
_ENERGY = "{? energy per GPU (J/iter/GPU): {energy} |}{? power per GPU (W/GPU): {power} |}"
_LOSS = "{?{*} lm{ |_}loss{?:} {loss} |}"
#: Fields after those of the loss: of Megatron Core, and of Megatron-DeepSpeed.
_MEMORY = "{?{*} peak allocated memory: {memory} |}"
_SAMPLES = "{?{*} seqlen: {length} |}{?{*} samples per second: {restated} |}{?{*} TFLOPs: {_flops} |}"
#: The second of two lines that include the first iteration is slower than the later ones by this factor.
_AS_SLOW = 1.2
#: Arguments between two others.
_OTHERS = rb"(?:(?! *+(?:model_parallel_size|batch_size) )[^\n]*+\n){0,400}+"
#: The batch size in the configuration that DeepSpeed prints. With accumulation an iteration may be a micro batch.
_OF_DEEPSPEED = (
    rb"\[config\.py:[0-9]++:print\] ++gradient_accumulation_steps \.++ 1 *+\n"
    rb"(?:(?![^\n]*? train_batch_size \.)[^\n]*+\n){0,90}+[^\n]*? train_batch_size \.++ ([0-9]++)(?=\s)"
)


def _is_printed_again(steps: Column, seconds: Column) -> bool:
    """Return whether the first line is of the first iteration alone, and the second one's interval includes it again.

    A newer Megatron Core prints that line at once, and restarts neither its timer nor its counters after it. The line
    is outside the turn of `log_interval`; if each iteration is printed, the second one shows half of the first.
    """
    if len(steps) < 2 or not (gap := steps[1] - steps[0]) > 0 or not seconds[1] * (gap + 1) >= seconds[0]:
        return False
    gaps = np.diff(steps[1:])
    usual = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else np.nan
    if usual == gap == 1:
        return bool(seconds[1] > _AS_SLOW * np.median(seconds[2:]))
    return bool(gap < usual or (np.isnan(usual) and steps[0] % gap))


def _with_samples(columns: Columns) -> Columns:
    """Add the samples of each record: those consumed since the record before, else batch size times steps."""
    columns = columns.take(slice(int(_is_printed_again(columns["step"], columns["step_seconds"])), None))
    gaps = np.diff(columns["step"], prepend=np.nan)
    usual = np.median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    consumed = np.diff(columns["consumed"], prepend=np.nan)
    estimated = columns["batch"] * np.where(gaps > 0, gaps, usual)
    samples = np.where((gaps > 0) & (consumed > 0), consumed, estimated)
    # The speed is that of the last batch, which may be larger than those before it.
    speed = columns["_of_device"] * columns["_devices"] / columns["_sequence_length"]
    speed = np.where(np.isfinite(columns["restated"]), columns["restated"], speed)
    return columns.assign(samples=samples, restated=speed * samples / estimated).drop("batch", "consumed")


#: The interval after such a line includes it.
_OF_TRAINING = (
    # The loss of the validation set, and in some forks of the test set.
    Pause("evaluation", " loss at iteration "),
    # The same line of GPT-NeoX.
    Pause("evaluation", " results at iteration "),
    Pause("checkpoint", "saving checkpoint at iteration "),
    # In GPT-NeoX DeepSpeed prints the line, in the words of its release.
    Pause("checkpoint", "Saving model checkpoint: "),
    Pause("checkpoint", "Checkpoint global_step{_} is "),
)
#: The fine-tuning of a task evaluates after an epoch, and stops no timer in any release.
_TASK = Pause("evaluation", "calculating metrics ...")
#: A line with a date before it.
_DATED = rb"(?<=[0-9])\] iteration ++[0-9]++/"
#: Since Megatron Core 0.5, which prints a date, the timer stops meanwhile.
_BESIDE = (*(replace(each, inside="none") for each in _OF_TRAINING), _TASK)
_PAUSES = (*_OF_TRAINING, _TASK)


def _with_batch(
    unit: str, before: str = "", pauses: tuple[Pause, ...] = _PAUSES, where: Condition | None = None
) -> Reading:
    """Return the reading of lines with a batch size.

    Args:
        unit: the unit of the time as it is printed.
        before: what precedes the line.
        pauses: what else takes time.
        where: a condition on the session.
    """
    return Reading(
        before + "iteration {step}/{total_steps} |{?{*} consumed samples: {consumed} |}{*} elapsed time per iteration (" + unit + "): {step_seconds:in " + unit + "}{?/{_}} |"
        + _FLOPS + _TOKENS + _ENERGY + "{*} batch size: {batch} |" + _LOSS + _SAMPLES + _MEMORY,
        unit="sequences/s", pauses=pauses, where=where,
        verbs=(either("flops", "_flops"), either("_of_device", "_inst"), _with_samples),
    )  # fmt: skip


FORMAT = Format(
    title="Megatron-LM",
    framework="Megatron-LM",
    start=dotted_start(rb"(?:distributed_backend|distributed_timeout_minutes|DDP_impl)"),
    end=rb"\[(?:after training is done|exiting program (?:after|at))",
    readings=(
        _with_batch("ms", where=lacks(_DATED)),
        _with_batch("ms", "[{clock}] ", _BESIDE),
        _with_batch("s"),
        Reading(
            "iteration={step}/{total_steps} | consumed_samples={consumed} |{*} elapsed_time_per_iteration_ms={step_seconds:in ms} |{*} global_batch_size={batch} |{?{*} lm{ |_}loss={loss} |}"
            "{*} samples_per_second={restated} | tokens_per_gpu_per_second_tgs={_of_device} | [LM]{?-}TFLOPs={flops} |",
            unit="sequences/s", pauses=_PAUSES, verbs=(_with_samples,),
        ),
        Reading(
            "samples/sec: {throughput} | iteration {step}/{total_steps} | elapsed time per iteration (ms): {step_seconds:in ms} |{?{*} approx flops per GPU: {flops}TFLOPS |}" + _LOSS,
            unit="sequences/s", pauses=_PAUSES,
        ),
        Reading(
            "iteration {step}/{total_steps} | elapsed time per iteration (ms): {step_seconds:in ms} |" + _LOSS,
            unit="sequences/s", pauses=_PAUSES,
        ),
        Reading(
            "[Rank {_}] (after {_} iterations) memory (MB) | allocated: {_} | max allocated: {memory} |",
            # All ranks of a pipeline print it, and only the last one the lines above: those of others may be DeepSpeed's.
            weak=True,
        ),
    ),
    facts=(
        Fact("framework", rb"^ *+deepspeed \.++ (True)", words={b"True": "DeepSpeed"}),
        Fact("zero", rb"^ *+zero_stage \.++ ([0-9])(?=\s|\.\.)"),
        Fact("model", rb"building (GPT2?|T5) model \.\.\.", words={b"GPT": "GPT", b"GPT2": "GPT", b"T5": "T5"}),
        *MEGATRON,
        argument("devices", "global_num_gpus"),
        *PYTORCH_JOB,
        argument("batch_size_of_job", "global_batch_size"),
        argument("batch_size_of_job", "train_batch_size"),
        Fact("batch_size_of_job", _OF_DEEPSPEED, int),
        argument("micro_batch", "train_micro_batch_size_per_gpu"),
        # Before 2020's second half: samples of one copy of the network, and hence of a device where none is cut.
        Fact("batch_size", rb"^ *+batch_size \.++ ([0-9]++) *+\n" + _OTHERS + rb" *+model_parallel_size \.++ 1$", int),
        Fact("batch_size", rb"^ *+model_parallel_size \.++ 1 *+\n" + _OTHERS + rb" *+batch_size \.++ ([0-9]++)$", int),
        Fact("vocabulary", "> padded vocab (size: {_}) with {_} dummy tokens (new size: {:int})"),
        argument("vocabulary", "padded_vocab_size"),
        argument("tensor_parallel", "model_parallel_size"),
        argument("pipeline_parallel", "pipe_parallel_size"),
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
)  # fmt: skip
