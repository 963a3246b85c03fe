"""PyTorch Lightning's own bar (`Epoch 0: 100%|...| 500/500 [01:40<00:00, 5.00it/s`): a record per epoch.

The first complete state of each epoch counts, which releases from 2.0 on draw before the validation. Steps are printed,
not samples, so the batch size must be known. The rate is a mean over the epoch, which some releases invert (`1.25s/it`)
if a step takes longer than a second; others print it with two decimals even then, and the time of the epoch is more exact.
If a run was resumed within an epoch, its bar begins there, and its rate counts steps that an earlier run did: they
are taken off. In older releases, which print `loss=..., v_num=`, the bar includes the batches of a validation if there
is one, which the bar alone does not show, as the option `validation` says; `Validation DataLoader 0` is a separate bar,
so that the state before it counts training alone. In later ones it includes those that interrupt the epoch, and is
drawn again after the last; where a terminal kept this state alone, the first epoch shows it by a metric of the
validation. If the loader has no length (`500/?`), the last state of an epoch counts, as it does of a run that ended
within its first one. The bar of `rich` (`Epoch 0/9 ━━━ 500/500`) prints the rate of the last half minute, so that the
time of the epoch is more exact, unless it is too short for the steps. Bars of other programs that begin with `Epoch 0:`
look alike and mean the same. NeMo's bars with `train_step_timing` have their own format.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, only, product, states
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Steps per second; a rate is rounded to two decimals.
_ROUNDS = 0.005
#: Seconds that cutting to whole seconds takes off on average.
_CUT = 0.5
#: Seconds over which the bar of `rich` takes its rate.
_LATEST = 30.0
#: Seconds; a bar that begins with more steps than fit into them begins within the epoch.
_FIRST_SECOND = 2.0


def _epochs(columns: Columns) -> Columns:
    """Return the first complete state of each epoch's bar, with the rate as seconds per step.

    If no bar is complete, because the run ended within its first epoch or the length of an epoch is unknown, it is the last state.
    If validations begin within the bar, it is the last state before the first one of an epoch. If the log does not
    show that state, the epochs contain a validation.
    """
    found = _one_per_epoch(columns, "steps")
    if not len(found.rows) and "_open" in columns:
        found = _one_per_epoch(columns, "_open", last=True)
    if "_trained" in columns and np.isfinite(columns["_trained"]).any():
        found = _one_per_epoch(columns, "_trained")
    elif "_within" in columns and np.isfinite(columns["_within"]).any():
        found = found.assign(evaluated=np.ones(len(found.rows)))
    rate = found["steps_per_second"]
    seconds = found.get("step_seconds", np.full(len(rate), np.nan))
    return found.assign(step_seconds=np.where(np.isnan(seconds), 1 / np.where(rate > 0, rate, np.nan), seconds))


def _one_per_epoch(columns: Columns, steps: str, last: bool = False) -> Columns:
    """Return the first state of each epoch, or the last one, that prints its steps in a column."""
    return states("epoch", last=last)(only("steps")(columns.assign(steps=columns[steps])))


def _of_bar(columns: Columns) -> Columns:
    """Return the same of a bar that prints the mean of an epoch, without the steps that an earlier run did of it."""
    found = _epochs(columns)
    steps, lasted, printed = found["steps"], found["duration"] + _CUT, columns.take(found.rows)
    coarse = _ROUNDS / np.where(np.isnan(printed["step_seconds"]), printed["steps_per_second"], printed["step_seconds"])
    # The rate of a state that is not complete may be smoothed.
    apart = np.abs(steps * found["step_seconds"] - lasted)
    smoothed = np.isnan(printed["steps"]) & ~(apart <= _CUT + coarse * lasted)
    seconds = steps * np.where(smoothed | (_CUT / lasted < coarse), lasted / steps, found["step_seconds"])
    before = np.array([_before(columns, row) for row in found.rows.tolist()])
    done = steps - np.where(before * seconds > _FIRST_SECOND * steps, before, 0.0)
    return found.assign(steps=done, step_seconds=seconds / done).drop("duration", "steps_per_second")


def _before(columns: Columns, row: int) -> float:
    """Return with how many steps the bar began that is complete in a row; 0 where that is not plain."""
    begun = columns["_begun"][:row]
    rows = np.flatnonzero(np.isfinite(begun) & (columns["epoch"][:row] == columns["epoch"][row]))
    return float(begun[rows[-1]]) - 1 if len(rows) else 0.0


def _of_rich(columns: Columns) -> Columns:
    """Return the same of a bar that prints the rate of the last half minute, and the time of the epoch.

    If the run was resumed within an epoch, the time of that epoch is too short for its steps.
    """
    found = _epochs(columns)
    lasted = (found["duration"] + _CUT) / found["steps"]
    slower = (found["duration"] + _CUT > _LATEST) & (lasted > found["step_seconds"])
    seconds = np.where(slower, lasted, found["step_seconds"])
    return found.assign(step_seconds=seconds).drop("duration", "steps_per_second")


_GPU = rb"(?:INFO:[\w.]++:|\[[^\]\n]*+\]\[[^\]\n]*+\]\[INFO\] - )?+GPU available: "
#: The first complete bar of the first epoch, up to its rate.
_FIRST = rb"Epoch 0: ++100%(?:\|[^|\r\n]++\|)?+ ++[0-9]++/[0-9]++ \[[^,\]\r\n]++, ++[0-9.]++(?:it/s|s/it)(?=[,\]])"
#: A bar that is at tens of steps in its first second, after its empty state and warnings between them.
_BEGUN = (
    rb"  0%(?:\|[^|\r\n]*+\|)?+ 0/[0-9]++ \[00:00<\?, \?it/s[^\r\n]{0,1000}+[\r\n]++(?:(?!Epoch [0-9])[^\r\n]{0,1000}+[\r\n]++){0,8}+"
    rb"Epoch [0-9]++: ++[0-9]{1,2}%(?:\|[^|\r\n]++\|)?+ (?P<_begun>[0-9]{2,9})/[0-9]++ \[00:00<"
)
#: A bar up to its steps; and what follows them up to the bar of a validation, or up to that of one that begins.
_PART = rb" *+(?:[0-9]{1,2}%)?+(?:\|[^|\r\n]++\|)?+ "
_TO_VALIDATION = rb"/(?:[0-9]++|\?)(?= \[(?:(?!global_step=)[^\]\r\n]){0,1000}+\][ \r\n]{0,1000}+Validati"
_TO_FIRST_BATCH = _TO_VALIDATION + rb"[\w ]{0,60}+: ++0(?:it|%)"
#: The bar of an epoch that is not over, and after it that of a validation.
_WITHIN = rb"Epoch [0-9]++: ++(?:[0-9]{1,2}%)?+(?:\|[^|\r\n]++\|)?+ [0-9]++/(?:[0-9]++|\?) \[[^\]\r\n]{0,1000}+\][ \r\n]{0,1000}+(Validati)"
_ROW_WITHIN = rb"(?:/[0-9]++)?+ ++(?:\xe2[\x80-\xbf][\x80-\xbf]|[ -])++([0-9]++)/(?!\1 )[0-9]++ "
_WITHIN_RICH = rb"Epoch [0-9]++" + _ROW_WITHIN + rb"[^\r\n]{0,1000}+[\r\n]++Validation "
#: A row of the first epoch that shows a metric of a validation before the epoch is over.
_TOLD_WITHIN = (
    rb"Epoch 0" + _ROW_WITHIN + rb"(?:(?! val(?:id(?:ation)?+)?+[_/])[^\r\n]){0,1000}+ val(?:id(?:ation)?+)?+[_/]"
)


#: What RWKV-LM says of its job: `RWKV-4 BF16 on 1x8 GPU, bsz 1x8x12=96, deepspeed_stage_2`.
_RWKV = rb"^# RWKV-\S++ (?:BF16|FP16|FP32|TF32) on "


FORMAT = Format(
    title="PyTorch Lightning",
    framework="PyTorch",
    # Releases before 1.1 let every rank of a Slurm job print this: together they are one start.
    start=rb"(?m)^" + _GPU + rb"(?:(?:(?![^\n]*?(?:Epoch [0-9]|Traceback|Error|stopped: ))[^\n]*+\n){1,40}?" + _GPU + rb")*+",
    end=rb"`(?:Trainer\.)?fit` stopped: ",
    readings=(
        Reading(
            rb"Epoch <epoch>: (?:(?:100%(?:\|[^|\r\n]++\|)?+ (?P<steps>[0-9]++)/(?P=steps)|"
            + _PART + rb"(?:(?P<_trained>[1-9][0-9]*+)" + _TO_FIRST_BATCH + rb")|(?P<_within>[1-9][0-9]*+)" + _TO_VALIDATION + rb"))|"
            # The last state of a bar that is not complete, after which another program prints.
            + rb" *+(?:[0-9]{1,2}%)?+\|[^|\r\n]++\| (?P<_open>[1-9][0-9]*+)/(?:\?|[0-9]++(?=(?:(?!global_step=)[^\r\n])*+\n))) "
            rb"\[(?P<duration>[0-9:]++)<[0-9:]++, ++"
            rb"(?:(?P<steps_per_second>[0-9.]++)it/s|(?P<step_seconds>[0-9.]++)s/it)(?=[,\]])"
            rb"(?![^\]\r\n]*?train_step_timing)(?:(?:[^\]\r\n ]++| (?!(?:train_)?+loss(?:_step|_epoch)?+=))*+"
            rb" (?:train_)?+loss(?:_step|_epoch)?+=<loss>(?=[,\]]))?+[^\]\r\n]*+(?=[\]\r\n])|" + _BEGUN + rb")",
            unit="samples/s",
            span="epoch",
            weak=True,
            verbs=(_of_bar,),
        ),
        Reading(
            rb"Epoch <epoch>(?:/[0-9]++)?+ ++(?:(?:\xe2[\x80-\xbf][\x80-\xbf])++|-++) ++(?P<steps>[0-9]++)/(?P=steps) ++(?P<duration>[0-9:]++) "
            rb"\xe2\x80\xa2 [0-9:-]++ ++(?P<steps_per_second>[0-9.]++)it/s(?=\s)"
            rb"(?:[^\r\n]{0,400}? (?:train_)?+loss(?:_step|_epoch)?+: <loss>(?=\s))?+",
            unit="samples/s",
            span="epoch",
            weak=True,
            verbs=(_of_rich,),
        ),
    ),
    facts=(
        Fact("devices", "Starting with {:int} processes"),
        *PYTORCH_JOB,
        # The one device that is visible, where no line above says that there are several processes.
        Fact("devices", rb"LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: \[([\w-]++)\]", lambda _: 1),
        Fact("gpu", rb"You are using a CUDA device \('([^'\n]++)'\)"),
        Fact("precision", rb"Using (16bit|bfloat16|native 16bit|bfloat16 native) (?:native )?+(?:Automatic Mixed Precision|precision)",
             words={b"16bit": "amp", b"native 16bit": "amp", b"bfloat16": "bf16", b"bfloat16 native": "bf16"}),
        Fact("devices", _RWKV + rb"([0-9]++x[0-9]++) ", product),
        Fact("batch_size_of_job", _RWKV + rb"[^\n]{0,40}?, bsz [0-9x]++=([0-9]++),", int),
        Fact("precision", rb"^# RWKV-\S++ (BF16|FP16|FP32|TF32) on ", words={b"BF16": "bf16", b"FP16": "fp16", b"FP32": "fp32", b"TF32": "tf32"}),
        Fact("sequence_length", "^# Model = {_} n_layer, {_} n_embd, {:int} ctx_len$"),
        Fact("validation", rb"Epoch [0-9]++:" + _PART + rb"[1-9][0-9]*+" + _TO_FIRST_BATCH + rb")( )", lambda _: "False"),
        # Whether or not the lines of the validation are there: they are drawn over, and filtered out.
        # So may be a bar whose end the width of a terminal took.
        Fact("validation", _FIRST + rb"(?:[^\]\r\nv]++|(?<![ ,])v|v(?!al(?:id(?:ation)?+)?+[_/]))*+(val(?=[_/i])|\]|(?=[\r\n]))",
             words={b"val": "included", b"": "included"}),
        Fact("validation", rb"Epoch [0-9]++: ++[0-9]++%(?:\|[^|\r\n]++\|)?+ [^\[\r\n]++\[[^,\]\r\n]++, ++[0-9.?]++(?:it/s|s/it), (loss)=[^,\]\r\n]++, v_num=", lambda _: "included"),
        Fact("validation", _WITHIN, lambda _: "included"),
        Fact("validation", _WITHIN_RICH, lambda _: "included"),
        Fact("validation", _TOLD_WITHIN, lambda _: "included"),
    ),
)  # fmt: skip
