"""nanoGPT and other programs of its author: a record per `log_interval` iterations, of that one iteration.

Five dialects: nanoGPT and llama2.c print the milliseconds of the iteration; `build-nanogpt`, llm.c and nanochat also
print tokens per second. All count the job. So do the milliseconds of minGPT and makemore, whose batches are of
sequences. The speed of llm.c is smoothed over some twenty steps, so that the figure is that of its milliseconds. The
speed of nanochat before October 2025 counts one micro batch in the seconds of all of an update: the figure is that of
the milliseconds if the tokens of a step are stated. In nanoGPT an iteration that evaluates or saves includes that time,
also in copies that do not print it; `mfu` is a running mean, and -100% for the first five iterations. nanoGPT prints
the tokens of an iteration since 2023; for older versions the speed is unknown without the command. `step 250: train
loss` is an evaluation. nanochat's fine-tuning, and the pretraining of `autoresearch`, print no number of steps to take.
Copies of `build-nanogpt` name their fields differently. A speed that does not give a whole number of tokens per step,
such as one per millisecond, is dropped.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    evaluations,
    grouped,
    lacks,
    median,
    only,
    says,
)
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Rounding error of a speed that is printed with two decimals, in tokens per second.
_ROUNDS = 0.005
#: Rounding error of a speed that is printed as a whole number, in tokens per second.
_ROUNDS_TO_WHOLE = 0.5


def whole_tokens(columns: Columns) -> Columns:
    """Drop speeds that do not give a whole number of tokens per step, such as tokens per millisecond.

    They stay if the log states the tokens: a speed is compared with these.
    """
    speed, seconds = columns["throughput"], columns["step_seconds"]
    rounds = _ROUNDS_TO_WHOLE if (speed % 1 == 0).all() else _ROUNDS
    usual = median(speed * seconds)
    unsure = median(np.abs(speed * seconds - usual)) + rounds * median(seconds)
    if np.isfinite(columns["_tokens_per_step"]).any() or not unsure < usual % 1 < 1 - unsure:
        return columns
    return columns.drop("throughput")


#: In nanoGPT the next iteration contains that time.
_PAUSES = (
    Pause("evaluation", "step {:int}: train loss "),
    Pause("checkpoint", "saving checkpoint to "),
)
_EVALUATIONS = (
    Pause("evaluation", "validation loss: "),
    Pause("evaluation", "HellaSwag accuracy: "),
)
#: In llm.c it is not timed.
_UNTIMED = (Pause("evaluation", "val loss ", inside="none"),)
_STEP = "{step|Step|iter|Iter}{?:}{step}{?/{total_steps}}{?:}{?,}{? |} {?train }{loss|Loss}{?:} {loss}"
#: In copies of build-nanogpt.
_FIELDS = (
    "{*}{dt|time|Time}{?:} {step_seconds:ms}{*}{tok/sec|tok/s|token/sec|tokens/sec|tokens/s|Tokens per second}{?:}{throughput:,}",
    "{*}{dt|time|Time}{?:} {step_seconds:ms} | {?lr: {_} | }{?norm: {_} | }{?speed: }{throughput:,} {tok/s|tokens/s}",
    "{*}{dt|time|Time}{?:} {step_seconds:s} | {?speed: }{throughput:,} {tok/s|tokens/s}",
    "{*}dt: {step_seconds:s}{*}{tok/sec|tok/s|tokens/s}: {throughput:,}",
)
#: Some copies print the speed of one device.
_OF_JOB = lacks("{tok/s|tokens/s}{*}{/gpu|per GPU|per device}")
#: nanochat states the tokens of a step.
_TOTAL = "Total batch size {_} => gradient accumulation steps: "
_DESIRED = rb"[Tt]otal desired (?:batch size|tokens per batch) ?: "
#: A part of llama2.c's line about an iteration: `4 grad accum steps * 1 processes * 128 batch size * 256 max seq len`.
_BREAKS_DOWN = rb"^breaks down as: (?:[0-9]++ [a-z ]++\* ){0,3}?([0-9]++) %s\b"

FORMAT = Format(
    title="nanoGPT",
    framework="PyTorch",
    # Every rank prints this, one after the other: together they are one start.
    start=rb"tokens per iteration will be: "
    rb"(?:(?!iter [0-9])(?:(?!tokens per iteration will)[^\n])*+\n(?:(?!iter [0-9]|[^\n]*?tokens per iteration will)[^\n]*+\n){0,299}+"
    rb"[^\n]*?tokens per iteration will be: )*+"
    # nanochat's stages, which one script appends to one log.
    rb"|Tokens / micro-batch / rank: "
    # llm.c in CUDA, and what build-nanogpt and llm.c in PyTorch print: some copies from every rank.
    rb"|\| train data pattern ++\| |" + _DESIRED
    + rb"(?:(?:(?!step ++[0-9]|" + _DESIRED + rb")[\s\S]){0,4000}+" + _DESIRED + rb")*+",
    # The fine-tuning of nanochat says in no other way that it is done.
    end="^Total training time: {:int}",
    readings=(
        Reading(
            "{I|i}ter {step}{?/{total_steps}}: {?train }loss {loss},{*} time {step_seconds:ms}",
            unit="tokens/s",
            span="step",
            where=lacks(", tok/s "),
            pauses=_PAUSES,
            verbs=(evaluations,),
        ),
        Reading(
            "{I|i}ter {step}{?/{total_steps}}: {?train }loss {loss},{*} time {step_seconds:s}",
            unit="tokens/s",
            span="step",
            pauses=_PAUSES,
            verbs=(evaluations,),
        ),
        # llama2.c
        Reading(
            "^{step} | loss {loss} {*}| lr {_} | {step_seconds:ms} | mfu ",
            unit="tokens/s",
            span="step",
            pauses=_PAUSES,
            verbs=(evaluations,),
        ),
        # minGPT, of the iteration before, and makemore
        Reading(
            "iter_dt {step_seconds:ms}; iter {step}: train loss {loss}",
            unit="sequences/s",
            span="step",
            verbs=(only(step_seconds=1e-6),),
        ),
        Reading("step {step} | loss {loss} | step time {step_seconds:ms}", unit="sequences/s", span="step"),
        # build-nanogpt, programs that lead up to it, and copies of it
        *(
            Reading(
                _STEP + fields,
                unit="tokens/s",
                span="step",
                where=_OF_JOB,
                pauses=(*_PAUSES, *_EVALUATIONS),
                verbs=(whole_tokens,),
            )
            for fields in _FIELDS
        ),
        # copies that print no speed
        Reading(_STEP + "{*}dt: {step_seconds:ms}\n", unit="tokens/s", span="step", pauses=_EVALUATIONS),
        # llm.c, whose speed is smoothed: the seconds count
        Reading(
            "step {step}/{total_steps} | {?train }loss {loss}{*}| norm {*}| lr {_} | {step_seconds:ms} | {*} | {restated} tok/s",
            unit="tokens/s",
            span="step",
        ),
        # llm.c in PyTorch, and in FP32
        Reading(
            "step {step}/{total_steps} | train loss {loss} |{*} lr {_} | ({step_seconds:ms} | {throughput} tok/s)",
            unit="tokens/s",
            span="step",
            pauses=_UNTIMED,
        ),
        Reading(
            "step {step}/{total_steps}: train loss {loss} ({step_seconds:ms}, {throughput} tok/s)",
            unit="tokens/s",
            span="step",
            pauses=_UNTIMED,
        ),
        # nanochat, whose speed was that of a micro batch until October 2025: the seconds count if it states its tokens
        Reading(
            "step {step}{?/{total_steps}} ({_}%) | loss: {loss} |{*} dt: {step_seconds:ms} | tok/{sec|s}: {throughput:,}",
            unit="tokens/s",
            span="step",
            where=lacks(_TOTAL),
        ),
        Reading(
            "step {step}{?/{total_steps}} ({_}%) | loss: {loss} |{*} dt: {step_seconds:ms} | tok/{sec|s}: ",
            unit="tokens/s",
            span="step",
            where=says(_TOTAL),
        ),
    ),
    facts=(
        Fact("tokens_per_step", "tokens per iteration will be: {:,}"),
        Fact("tokens_per_step", _DESIRED + rb"([0-9,]++)", grouped),
        Fact("tokens_per_step", "^| total batch size  | {:int} "),
        Fact("tokens_per_step", "Total batch size {:,} => gradient accumulation steps: "),
        # nanoGPT prints the file of its configuration, and what the command says instead.
        *(
            Fact(fact, before + name + rb" = ([0-9]++)(?=\s)", int)
            for fact, name in (("batch_size", b"batch_size"), ("sequence_length", b"block_size"))
            for before in (rb"^Overriding: ", rb"^")
        ),
        Fact("batch_size", "^    batch_size: {:int}$"),
        Fact("batch_size", rb"^\{'work_dir': [^\n]{0,999}?'batch_size': ([0-9]++)[,}]", int),
        # They train on one device.
        # With several processes build-nanogpt prints no device.
        Fact("devices", rb"^using device: (cuda|mps|cpu)$(?=(?:\n[^\n]*+){0,9}?\n" + _DESIRED + rb")", lambda _: 1),
        Fact("accumulation", "^=> calculated gradient accumulation steps: {:int}$"),
        Fact("devices", rb"^running on device (cuda|cpu|mps)\b", lambda _: 1),
        Fact("devices", rb"^\{'work_dir': [^\n]{0,999}?'device': '(cuda|cpu|mps)\b", lambda _: 1),
        Fact("accumulation", _BREAKS_DOWN % b"grad accum steps", int),
        Fact("accumulation", "Total batch size {_} => gradient accumulation steps: {:int}"),
        Fact("devices", _BREAKS_DOWN % b"processes", int),
        Fact("batch_size", _BREAKS_DOWN % b"batch size", int),
        Fact("sequence_length", _BREAKS_DOWN % b"max seq len", int),
        Fact("sequence_length", "Tokens / micro-batch / rank: {_} x {:int} = "),
        Fact("devices", "| num_processes  |{:int} "),
        *PYTORCH_JOB,
        Fact("parameters", "^Number of parameters: {:,}"),
        Fact("parameters", "number of parameters: {}M", lambda printed: round(float(printed) * 1e6)),
    ),
)  # fmt: skip
