"""Hugging Face's scripts of 2019 and 2020, the Trainer before 4.0, and programs after them (SetFit): bars `Iteration:`.

A bar begins again in each epoch and counts batches; an update may take several. It shows the seconds since its beginning.
The speed that it prints is smoothed until it is complete, so the seconds count. The time between two bars is in neither.
If only complete bars are left, such as in a copy from a terminal, each is an epoch. Evaluations and checkpoints are within
a bar if steps lead to them. Other programs draw such bars, of evaluations too: a log must have the head of these scripts.
The batch of the job in the head includes the accumulated ones. A resumed run draws its first bar over the batches that it
skips.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    only_if,
    says,
)
from perfledger.parsers.frameworks import HUGGING_FACE, HUGGING_FACE_START, PYTORCH_JOB

#: Columns that count the batches of the bars.
_COUNTED = ("step", "total_steps", "steps")


def _in_updates(columns: Columns) -> Columns:
    """Count updates instead of batches: an update takes one batch, or as many as the head says."""
    batches = np.nan_to_num(columns["_accumulation"], nan=1.0)
    return columns.assign(**{each: columns[each] / batches for each in _COUNTED if each in columns})


def _drawn(columns: Columns) -> Columns:
    """Return the lines of bars, numbered by `epoch`, and how many batches a resumed run skips in the first."""
    skipped = np.append(columns["_skipped"][np.isfinite(columns["_skipped"])], 0.0)
    bars = columns.take(columns["step"] <= columns["total_steps"])
    epoch = np.cumsum(np.diff(bars["step"], prepend=0.0) < 0).astype(float)
    return bars.assign(epoch=epoch, _skipped=np.full(len(epoch), skipped[0]))


def _are_complete(bars: Columns) -> bool:
    """Return whether the log contains complete bars only."""
    return bool((bars["step"] == bars["total_steps"]).all())


def _of_batches(bars: Columns) -> Columns:
    """Keep the lines that first show a batch."""
    _, first = np.unique(np.stack([bars["epoch"], bars["step"]]), axis=1, return_index=True)
    found = bars.take(first)
    return found.take((found["epoch"] > 0) | (found["step"] > found["_skipped"]))


def _of_complete_bars(bars: Columns) -> Columns:
    """Return the bars as epochs: their seconds are cut, and their speed is a mean."""
    steps, elapsed, number = bars["step"], bars["clock"], np.arange(float(len(bars.rows)))
    seconds = steps * np.fmax(bars["_seconds"], 1 / bars["_rate"])
    done = steps - np.where(number == 0, bars["_skipped"], 0.0)
    found = bars.assign(epoch=number, steps=done, duration=np.clip(seconds, elapsed, elapsed + 1))
    return found.select("epoch", "steps", "duration")


#: SetFit's head, which accumulates nothing, is the shorter one.
_JOB = rb"Total train batch size (?:\(w\. parallel, distributed & accumulation\) )?+= "
_BAR = Reading(
    rb"Iteration: (?<!\w Iteration: ) *+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ <step>/<total_steps> \[(?P<elapsed>[0-9:]++)<[0-9:]++, ++"
    rb"(?:(?P<_seconds>[0-9.]++)s/it|(?P<_rate>[0-9.]++)it/s)|Will skip the first (?P<_skipped>[0-9]++) (?:steps|batches) in the (?:first|current) epoch",
    unit="samples/s",
    where=says(_JOB),
    pauses=(
        Pause("evaluation", "***** Running {evaluation|Evaluation}"),
        Pause("checkpoint", "Saving model checkpoint to "),
    ),
    verbs=(_drawn, only_if(_are_complete, False), _of_batches, _in_updates),
)  # fmt: skip

FORMAT = Format(
    title="Hugging Face scripts (Iteration bars)",
    framework="PyTorch",
    needs=b"Total train batch size ",
    unproven=True,
    start=HUGGING_FACE_START,
    before_start=rb"^python[\d.]*+ |Process rank: -?+[0-9]|Training/evaluation parameters ",
    end=rb"- __main__ - ++global_step = [0-9]++, average loss = |Training completed\. Do not forget to share",
    over=("frameworks.hf_trainer", "ngc.pytorch_bert_squad", "ngc.pytorch_bert_squad_steps"),
    readings=(_BAR, replace(_BAR, span="epoch", pauses=(), verbs=(_drawn, only_if(_are_complete), _of_complete_bars, _in_updates))),
    facts=(
        Fact("batch_size_of_job", rb"Total train batch size = ([0-9]++)$", int),
        *HUGGING_FACE,
        *PYTORCH_JOB,
        Fact("precision", rb"Process rank: -?+[0-9]++, [^\n]{0,200}?16-bits training: (True|False)", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
