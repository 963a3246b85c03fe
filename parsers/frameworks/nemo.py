"""NVIDIA NeMo over Lightning, GPT and similar models: a record per logged step, in any of five dialects.

The dialects are DLLogger lines as JSON and as text, NeMo 2.0's line `Training epoch 0, iteration 5/99 | ...`, and the
bars of Lightning that print `train_step_timing in s`. All count the job. With `step_timing_kwargs: buffer_size: 5`, as
in the published recipes, the timing is a mean over the last five steps, so slow steps linger. Hence the time between
two DLLogger lines is used if there are any, which includes validation and saving; the timing does not, and shows which
lines contain them. A bar is drawn several times per step, joined to the line that follows it; it rounds numbers of
seven figures. Its timing leaves out the wait for data, which the time of the bar shows: if they differ, no figure is
computed. The samples of a step are the difference of `consumed_samples`, or the global batch size.

NeMo 2.0's line of several iterations is a sum divided by their usual number. The first line of an epoch sums the end of
the epoch before as well, and is taken apart by its steps; the first one after a resumption sums fewer, which its
`global_batch_size` shows, and is left out.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Column,
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    either,
    up_to,
)

_TIMING = rb"train_step_timing in s"
_BATCH = rb"\| global_batch_size: "
#: A setting in a line of DLLogger.
_CFG = rb'"?cfg/%s"? ?: ([0-9]++)\b'
#: A setting in a line of a configuration.
_SETTING = rb"^[^\w\n]*+%s: ([0-9]++)\b"
_SIZES = {
    "batch_size_of_job": b"global_batch_size",
    "micro_batch": b"micro_batch_size",
    "tensor_parallel": b"tensor_model_parallel_size",
    "pipeline_parallel": b"pipeline_model_parallel_size",
    "expert_parallel": b"expert_model_parallel_size",
    "context_parallel": b"context_parallel_size",
    "sequence_length": b"(?:encoder_)?+seq_length",
}
#: Means of the same quantity differ by less than this share.
_ALIKE = 0.02


def _gaps(steps: Column) -> Column:
    """Return the steps since the line before; lines of the same step, of several ranks, share them."""
    begun = np.flatnonzero(np.diff(steps, prepend=np.nan) != 0)
    gaps = np.diff(steps[begun], prepend=np.nan)
    return np.repeat(gaps, np.diff([*begun, len(steps)]))


def _of_intervals(columns: Columns) -> Columns:
    """Return each line with the means of the steps that it sums, if their number differs from the divisor."""
    # A line is printed if the iteration is a multiple of the interval.
    interval = float(np.gcd.reduce(columns["_iteration"].astype(np.int64)))
    gaps = _gaps(columns["step"])
    gaps[np.isnan(gaps)] = interval
    batch = columns["_batch"] * interval / gaps
    # The first line is compared with the second one.
    other = batch[columns["step"] != columns["step"][:1]][:1]
    most = np.fmax.accumulate(np.concatenate([other if len(other) else batch[:1], batch]))[: len(batch)]
    fewer = (gaps <= 0) | (batch < (1 - _ALIKE) * most)
    if interval <= 1 or not (fewer | (gaps != interval)).any():
        return columns
    means = columns.assign(step_seconds=columns["step_seconds"] * interval / gaps, steps=gaps, batch=batch)
    return means.drop("consumed").take(~fewer)


def _with_counter(columns: Columns) -> Columns:
    """Return the states of a bar, with the samples that it counts unless some are rounded."""
    counted = np.isfinite(columns["_consumed"]).all()
    return columns.assign(consumed=columns["_consumed"]) if counted else columns


def _per_step(printed: bytes) -> int:
    """Return the samples of a step of `5.000, consumed_samples=768.0`: 768 are those of steps 0 to 5."""
    step, _, samples = printed.partition(b", consumed_samples=")
    each, rest = divmod(float(samples), float(step) + 1)
    if rest:
        raise ValueError(f"no whole number of samples per step: {printed!r}")
    return int(each)


#: The time between two DLLogger lines includes these pauses; the timing does not.
_PAUSES = (
    Pause("evaluation", "validation_step_timing in s"),
    Pause("evaluation", "Validation: iteration "),
    Pause("checkpoint", "Global Checkpoint Save : "),
    Pause("checkpoint", ", saving model to '"),
)  # fmt: skip

FORMAT = Format(
    title="NeMo",
    framework="NeMo",
    over=("frameworks.nemo_bar",),
    needs=_TIMING,
    # What Lightning says when a program makes its trainer, of some releases each rank.
    start=rb"\bGPU available: [^\n]{0,99}+(?:(?:\n[^\n]{0,60}?\b[THI]PU available: [^\n]{0,99}+){0,3}+\n[^\n]{0,60}?\bGPU available: [^\n]{0,99}+)*+",
    before_start=rb"^(?: *+\*++ Experiment configuration \*|NeMo configuration file:)",
    end=rb"`Trainer\.fit` stopped: `max_(?:steps|epochs)=[0-9]++` reached|max_time reached",
    readings=(
        Reading(
            '"timestamp": "{unix}", {*}"type": "LOG", "step": {step}, "data": {{{*}{?"reduced_train_loss": {loss}{*}}{?"consumed_samples": {consumed}{*}}"train_step_timing in s": {training_seconds}',
            unit="samples/s",
            pauses=_PAUSES,
        ),
        Reading(
            "DLL {clock} - {step} {*}{?reduced_train_loss : {loss} {*}}{?consumed_samples : {consumed} {*}}train_step_timing in s : {training_seconds}",
            unit="samples/s",
            pauses=_PAUSES,
        ),
        Reading(
            "Training epoch {epoch}, iteration {_iteration}/{_}{*}{? consumed_samples: {consumed}{*}}{? global_batch_size: {_batch}{*}}{? global_step: {step}{*}}{? reduced_train_loss: {loss}{*}} train_step_timing in s: {step_seconds}{?{*} consumed_samples: {_consumed}}",
            unit="samples/s",
            ranks="median",
            verbs=(either("consumed", "_consumed"), _of_intervals),
        ),
        Reading(
            "[{elapsed}{?<{_}},{*}reduced_train_loss={loss}{*}global_step={step:,},{*}{?consumed_samples={?{_consumed:,},}{*}}train_step_timing in s={step_seconds}{,|]}",
            unit="samples/s",
            ranks="median",
            verbs=(_with_counter,),
        ),
        # From the ten thousandth step on its number is rounded, and the bar's own is the step.
        Reading(
            "Epoch {epoch}:{*}%|{*}| {step}/{total_steps} [{elapsed}<{_},{*}reduced_train_loss={loss}{*}global_step={_}e+{_},{*}{?consumed_samples={?{_consumed:,},}{*}}train_step_timing in s={step_seconds}{,|]}",
            unit="samples/s",
            ranks="median",
            verbs=(_with_counter,),
        ),
        Reading("TFLOPs per sec per GPU={flops}", weak=True),
    ),
    facts=(
        *(fact for name, key in _SIZES.items() for fact in (Fact(name, _CFG % key, int), Fact(name, _SETTING % key, int))),
        # For several iterations it is a mean, which is too low on the first line after a resumption.
        Fact("batch_size_of_job", _BATCH + rb"([0-9]++) \|" + up_to(_BATCH, _BATCH, rb"[\s\S]") + rb"\1 \|", int),
        Fact("batch_size_of_job", rb"\A(?:(?!" + _BATCH + rb")[\s\S])*+" + _BATCH + rb"([0-9]++) \|(?!(?:(?!" + _BATCH + rb")[\s\S])*+" + _BATCH + rb")", int),
        # A bar prints no more than six figures.
        Fact("batch_size_of_job", rb"\bglobal_step=([0-9]++\.[0-9]++, consumed_samples=[0-9]++\.[0-9]++)(?=[,\]])", _per_step),
        Fact("layers", _CFG % b"num_layers", int),
        Fact("hidden", _CFG % b"hidden_size", int),
        Fact("heads", _CFG % b"num_attention_heads", int),
        Fact("nodes", _SETTING % b"num_nodes", int),
        Fact("devices_per_node", _SETTING % b"devices", int),
        Fact("devices", rb"^[^\w\n]*+All distributed processes registered\. Starting with ([0-9]++) processes", int),
        Fact("precision", rb'"?cfg/fp8"? ?: (\w++)', words={b"True": "fp8", b"true": "fp8"}),
        Fact("precision", rb"^[^\w\n]*+fp8: (True|true)\b", words={b"True": "fp8", b"true": "fp8"}),
        Fact(
            "precision",
            rb"^[^\w\n]*+precision: '?([\w-]++)",
            words={b"bf16": "bf16", b"bf16-mixed": "bf16", b"16": "amp", b"16-mixed": "amp", b"32": "fp32", b"32-true": "fp32"},
        ),
    ),
)  # fmt: skip
