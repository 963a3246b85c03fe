"""nanoGPT and other programs of its author: a record per `log_interval` iterations, of that one iteration.

Five dialects: nanoGPT and llama2.c print the milliseconds of the iteration; `build-nanogpt`, llm.c and nanochat also
print tokens per second. All count the job. So do the milliseconds of minGPT and makemore, whose batches are of
sequences. The speed of llm.c is smoothed over some twenty steps, so that the figure is that of its milliseconds where
the tokens of a step are stated. In nanoGPT an iteration that evaluates or saves includes that time, also in copies that
do not print it; `mfu` is a running mean, and -100% for the first five iterations. nanoGPT prints the tokens of an
iteration since 2023; for older versions the speed is unknown without the command. `step 250: train loss` is an
evaluation. nanochat's fine-tuning, and the pretraining of `autoresearch`, print no number of steps to take. Those who
write `build-nanogpt` again name and order its fields as they like: seconds that grow from line to line are since the
start, and so may a speed on the same line be. A speed that does not give a whole number of tokens per step, such as
one per millisecond, is dropped. So is that of nanochat before October 2025, which counts one micro batch in the seconds of
all of an update.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Column,
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    grouped,
    is_private,
)
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Largest relative difference between the stated tokens per step and speed × time per step.
_ALIKE = 0.05
#: Largest relative difference between the smoothed speeds and the times per step of a steady run.
_STEADY = 0.02


def _as_timed(columns: Columns) -> Postprocessed:
    """Drop the smoothed speeds of llm.c, which show a slow step late and only in part: the seconds show it in full.

    The speeds stay if they contradict the stated tokens per step. If no tokens are stated, they stay in a steady run.
    """
    speed, seconds = columns["throughput"], columns["step_seconds"]
    tokens, stated = speed * seconds, columns["_tokens_per_step"]
    kept = ["step", "total_steps", "loss", "step_seconds"]
    if np.isfinite(stated).any():
        is_read = not abs(float(np.median(tokens / stated)) - 1) <= _ALIKE
    elif len(tokens):
        is_read = not abs(float(np.median(tokens) * np.sum(1 / speed) / np.sum(seconds)) - 1) > _STEADY
    else:
        is_read = True
    return np.arange(len(tokens)), {name: columns[name] for name in (*kept, *(["throughput"] if is_read else ()))}


def _of_updates(columns: Columns) -> Postprocessed:
    """Drop the speeds of nanochat if they count one of the micro batches that an update accumulates."""
    steps, tokens = columns["_accumulation"], columns["_tokens_per_step"] / columns["_accumulation"]
    kept = {name: each for name, each in columns.items() if not is_private(name)}
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        counted = median(columns["throughput"] * columns["step_seconds"] / tokens)
    if (steps > 1).all() and abs(counted - 1) <= _ALIKE:
        del kept["throughput"]
    return np.arange(len(columns["step"])), kept


#: Iterations of so many times the usual seconds hold an evaluation if so many lie at one distance, and of all iterations there,
#: and all slow ones, this share.
_SLOW, _SEVERAL, _MOSTLY = 1.5, 2, 0.9


def _with_evaluations(columns: Columns) -> Postprocessed:
    """Return the lines of nanoGPT, and which iterations hold an evaluation whose line is missing, as in some copies.

    It comes with each multiple of a number of iterations, and is in the seconds of that one. Of the others few are printed,
    so that it would count ten times as often as it took place.
    """
    steps, took = columns["step"], columns["step_seconds"]
    slow = (took > _SLOW * median(took)) & (steps > 0)
    found = np.zeros(len(steps))
    if slow.sum() >= _SEVERAL and (every := median(np.diff(steps[slow]))) > 0:
        there = (steps > 0) & (steps % every == 0)
        if (there & slow).sum() >= max(_SEVERAL, _MOSTLY * max(there.sum(), slow.sum())):
            found[there & slow] = 1.0
    return np.arange(len(steps)), {**columns, "evaluated": found}


#: Seconds that grow from line to line on more lines than these, and by this factor in all, are since the start.
_LINES, _GROWN = 8, 2
#: Speeds are means since the start where all tokens, by them and such seconds, grow by the same per step, up to this share.
_SINCE = 0.005
#: Rounding error of a speed that is printed with two decimals, in tokens per second.
_DECIMALS = 0.005
#: Rounding error of a speed that is printed as a whole number, in tokens per second.
_WHOLE = 0.5
#: A contradiction is this many times larger than the uncertainty of the tokens per step.
_PLAIN = 4


def _of_copies(columns: Columns) -> Postprocessed:
    """Return the lines of a copy of build-nanogpt, whose fields may hold something else than in build-nanogpt."""
    speed, seconds = columns["throughput"], columns["step_seconds"]
    rows, found = np.arange(len(speed)), {name: each for name, each in columns.items() if not is_private(name)}
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        if len(rows) > _LINES and seconds[-1] > _GROWN * seconds[0] and (np.diff(seconds) > 0).all():
            del found["step_seconds"]
            return _since_the_start(found, speed * seconds, seconds)
        tokens, rounding = speed * seconds, _WHOLE if (speed % 1 == 0).all() else _DECIMALS
        usual = median(tokens)
        unsure = median(np.abs(tokens - usual)) + rounding * median(seconds)
    if not np.isfinite(columns["_tokens_per_step"]).any() and usual % 1 > _PLAIN * unsure < 1 - usual % 1:
        del found["throughput"]
    return rows, found


def _since_the_start(columns: Columns, tokens: Column, seconds: Column) -> Postprocessed:
    """Return lines with seconds since the start, and what their speeds make of them, which may be as many tokens."""
    steps, more, lasted = np.diff(columns["step"]), np.diff(tokens), np.diff(seconds)
    each = more / steps
    if not ((steps > 0).all() and median(np.abs(each / median(each) - 1)) < _SINCE):
        return np.arange(len(tokens)), {**columns, "clock": seconds}
    told = {name: column[1:] for name, column in columns.items() if name != "throughput"}
    return np.arange(1, len(tokens)), {**told, "samples": more, "duration": lasted, "steps": steps}


_DESIRED = rb"[Tt]otal desired (?:batch size|tokens per batch) ?: "


def _field(label: bytes, value: bytes) -> bytes:
    """Return a lookahead for a field further on in the line."""
    return rb"(?=(?:(?! *+%s)[^|,\r\n]{0,80}+[|,]){0,12}+ *+%s%s)" % (label, label, value)


def _step(word: bytes) -> bytes:
    """Return a pattern for the step of a line of training, of which the other fields follow in any order.

    What begins with a literal is found ten times as fast as what begins with a set.
    """
    either = rb"[%s]%s" % (word[:1].upper() + word[:1], word[1:])
    return (
        word[1:] + rb"(?<=%s)(?<![\w.]%s)(?<![A-Za-z] %s)[:=]?+ *+<step>(?:/ *+<total_steps>)?+(?=[:,| ])(?! \()[:,| ]++" % (either, either, either)
        + _field(rb"(?:[Tt]rain(?:ing)?+[_ ])?+[Ll]oss(?:[:=] *+| ++)", rb"<loss>(?=[\s,|])")
        + rb"(?![^\r\n]{0,300}?\b[Vv]al)"  # an evaluation; looked for last, since it reads the whole line
    )  # fmt: skip


_PER_SECOND = rb"[Tt]ok(?:en)?+s?+(?:/| per |_per_)s(?:ec(?:ond)?+)?+"
#: Of one device, and not of the job.
_OF_DEVICE = rb"[\w/]| \(?+per "
_SPEED = _field(
    rb"(?:%s(?:[:=] *+| ++)(?=[0-9])|(?:[Ss]peed: *+)?+(?=[0-9][0-9.,]*+ %s(?!%s)))"
    % (_PER_SECOND, _PER_SECOND, _OF_DEVICE),
    rb"(?P<throughput>[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?+)(?=[\s|]|, )(?! \(?+per )",
)


def _timed(label: bytes, unit: bytes) -> bytes:
    return _field(label + rb"(?:[:=] *+| ++)", rb"<step_seconds> ?%s(?=[\s,|])" % unit)


#: In nanoGPT the next iteration holds that time.
_PAUSES = (
    Pause("evaluation", rb"step [0-9]++: train loss "),
    Pause("checkpoint", rb"saving checkpoint to "),
)
_EVALUATIONS = (
    Pause("evaluation", rb"validation loss: "),
    Pause("evaluation", rb"HellaSwag accuracy: "),
)
#: What llama2.c says of an iteration: `4 grad accum steps * 1 processes * 128 batch size * 256 max seq len`.
_BREAKS_DOWN = rb"^breaks down as: (?:[0-9]++ [a-z ]++\* ){0,3}?([0-9]++) %s\b"

#: What copies of build-nanogpt call a step.
_WORDS = (b"step", b"iter")

FORMAT = Format(
    title="nanoGPT",
    framework="PyTorch",
    marker=b"oss",
    # Every rank prints this, one after the other: together they are one start.
    start=rb"tokens per iteration will be: "
    rb"(?:(?!iter [0-9])(?:(?!tokens per iteration will)[^\n])*+\n(?:(?!iter [0-9]|[^\n]*?tokens per iteration will)[^\n]*+\n){0,299}+"
    rb"[^\n]*?tokens per iteration will be: )*+"
    # nanochat's stages, which one script appends to one log.
    rb"|Tokens / micro-batch / rank: "
    # llm.c in CUDA, and what build-nanogpt and llm.c in PyTorch print: some copies from every rank.
    rb"|\| train data pattern ++\| |" + _DESIRED
    + rb"(?:(?:(?!step ++[0-9]|" + _DESIRED + rb")[\s\S]){0,4000}+" + _DESIRED + rb")*+",
    # nanochat, of which the fine-tuning says by nothing else that it is done.
    end=rb"^Total training time: [0-9.]++m",
    readings=(
        *(
            Reading(
                rb"ter (?<=[Ii]ter )(?<![\w.][Ii]ter )<step>(?:/<total_steps>)?+: (?:train[_ ])?+loss <loss>,(?: (?!time |val)[^,\r\n]{1,60}+,){0,4}+ time <step_seconds>" + unit
                + rb"(?![^\r\n]{0,200}?%s)" % _PER_SECOND,
                marker=b", time ",
                unit="tokens/s",
                span="step",
                factors={"step_seconds": factor},
                pauses=_PAUSES,
                verbs=(_with_evaluations,),
            )
            for unit, factor in ((rb" ?ms", 1e-3), (rb" ?s(?=[\s,])", 1.0))
        ),
        # llama2.c.
        Reading(
            rb"(?<![^\r\n])<step> \| loss <loss> (?:\|(?! lr )[^|\r\n]{1,60}+){0,4}+\| lr [0-9.e+-]++ \| <step_seconds>ms \| mfu ",
            marker=b"ms | mfu ",
            unit="tokens/s",
            span="step",
            factors={"step_seconds": 1e-3},
            pauses=_PAUSES,
            verbs=(_with_evaluations,),
        ),
        # minGPT, of the iteration before, and makemore.
        *(
            Reading(
                pattern,
                marker=marker,
                unit="sequences/s",
                span="step",
                factors={"step_seconds": 1e-3},
            )
            for marker, pattern in (
                (b"iter_dt ", rb"iter_dt (?!0\.0++ms)<step_seconds>ms; iter <step>: train loss <loss>(?=\s)"),
                (b" | step time ", rb"step (?<![\w.]step )<step> \| loss <loss> \| step time <step_seconds>ms(?=\s)"),
            )
        ),
        # build-nanogpt, and what leads up to it or was made of it.
        *(
            Reading(
                _step(word) + _timed(rb"(?:dt|[Tt]ime)", unit) + _SPEED,
                marker=b"ok",  # As in `tok/s` and `Tokens per second`.
                unit="tokens/s",
                span="step",
                factors={"step_seconds": factor},
                pauses=(*_PAUSES, *_EVALUATIONS) if word == b"iter" else _EVALUATIONS,
                verbs=(_of_copies,),
            )
            for word in _WORDS
            for unit, factor in ((b"ms", 1e-3), (b"s", 1.0))
        ),
        # Copies that print no speed: `dt` is of one step, and `time` may be since the start.
        *(
            Reading(
                _step(word) + rb"(?![^\r\n]{0,300}?%s)(?=[^\r\n]{0,300}+[\r\n])" % _PER_SECOND + _timed(b"dt", b"ms"),
                marker=b"dt",
                unit="tokens/s",
                span="step",
                factors={"step_seconds": 1e-3},
                pauses=_EVALUATIONS,
            )
            for word in _WORDS
        ),
        Reading(
            "step {step}/{total_steps} | {?train }loss {loss}{*}| norm {*}| lr {*}| {step_seconds:ms} | {*}| {throughput} tok/s",
            marker=b"| norm ",
            unit="tokens/s",
            span="step",
            verbs=(_as_timed,),
        ),
        Reading(
            "step {step}/{total_steps} | train loss {loss} |{*} lr {*}| ({step_seconds:ms} | {throughput} tok/s)",
            marker=b" | train loss ",
            unit="tokens/s",
            span="step",
            pauses=(Pause("evaluation", rb"val loss ", inside="none"),),
        ),
        # llm.c in FP32.
        Reading(
            "step {step}/{total_steps}: train loss {loss} ({step_seconds:ms}, {throughput} tok/s)",
            marker=b": train loss ",
            unit="tokens/s",
            span="step",
            pauses=(Pause("evaluation", rb"val loss ", inside="none"),),
        ),
        Reading(
            rb"step (?<![\w.]step )<step>(?:/<total_steps>)?+ \([0-9.]++%\) \| loss: <loss> \|(?:[^\r\n]{0,200}?\|)? "
            rb"dt: <step_seconds>ms \| tok/s(?:ec)?+: (?P<throughput>[0-9][0-9,]*+)(?=\s)",
            marker=b"ms | tok/s",
            unit="tokens/s",
            span="step",
            factors={"step_seconds": 1e-3},
            verbs=(_of_updates,),
        ),
    ),
    facts=(
        Fact("tokens_per_step", rb"tokens per iteration will be: ([0-9,]++)", grouped),
        Fact("tokens_per_step", _DESIRED + rb"([0-9,]++)", grouped),
        Fact("tokens_per_step", rb"^\| total batch size ++\| ([0-9]++) ", int),
        Fact("tokens_per_step", rb"Total batch size ([0-9,]++) => gradient accumulation steps: ", grouped),
        # nanoGPT prints the file of its configuration, and what the command says instead.
        *(
            Fact(fact, before + name + rb" = ([0-9]++)(?=\s)", int)
            for fact, name in (("batch_size", b"batch_size"), ("sequence_length", b"block_size"))
            for before in (rb"^Overriding: ", rb"^")
        ),
        Fact("batch_size", rb"^    batch_size: ([0-9]++)$", int),
        Fact("batch_size", rb"^\{'work_dir': [^\n]{0,999}?'batch_size': ([0-9]++)[,}]", int),
        # They train on one device.
        # Of several processes build-nanogpt prints no device.
        Fact("devices", rb"^using device: (cuda|mps|cpu)$(?=(?:\n[^\n]*+){0,9}?\n" + _DESIRED + rb")", lambda _: 1),
        Fact("accumulation", rb"^=> calculated gradient accumulation steps: ([0-9]++)$", int),
        Fact("devices", rb"^running on device (cuda|cpu|mps)\b", lambda _: 1),
        Fact("devices", rb"^\{'work_dir': [^\n]{0,999}?'device': '(cuda|cpu|mps)\b", lambda _: 1),
        Fact("accumulation", _BREAKS_DOWN % b"grad accum steps", int),
        Fact("accumulation", rb"Total batch size [0-9,]++ => gradient accumulation steps: ([0-9]++)", int),
        Fact("devices", _BREAKS_DOWN % b"processes", int),
        Fact("batch_size", _BREAKS_DOWN % b"batch size", int),
        Fact("sequence_length", _BREAKS_DOWN % b"max seq len", int),
        Fact("sequence_length", rb"Tokens / micro-batch / rank: [0-9]++ x ([0-9]++) = ", int),
        Fact("devices", rb"\| num_processes ++\| *+(\d++) ", int),
        *PYTORCH_JOB,
        Fact("parameters", rb"^Number of parameters: ([0-9,]++)", grouped),
        Fact("parameters", rb"number of parameters: ([\d.]++)M", lambda printed: round(float(printed) * 1e6)),
    ),
)  # fmt: skip
