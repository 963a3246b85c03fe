"""PaddleNLP Trainer (`paddlenlp.trainer`): a line per `logging_steps` optimiser steps.

`interval_samples_per_second` is the throughput of the job since the last line; an evaluation or a checkpoint counts in
the interval that follows it. `train_samples_per_second` of the summary covers the whole run, and is too high for a
resumed one; `eval_samples_per_second` is not training. Tokens are printed per device and include padding; they are
quoted where no samples are. Memory is the peak allocated to tensors, in GiB. The summary counts the steps that were
planned, also of a run that stopped early.

The first releases (2022) divide the samples of one update of one device, however many updates and devices the interval
has: of those the seconds are read and not the speed. They print learning rates with all digits, later ones with four.

The speed counts the rest that ends an epoch as a whole batch: of epochs of a few steps the seconds alone are read.

`trainer_state.json` holds the same numbers, but says nothing of checkpoints.

ERNIEKit, and the pre-training of ERNIE 4.5, print the same as `global_runtime` and `global_samples_per_second`. Their
tokens per second of a card follow from the steps per second, which have four decimals: too few for slow steps.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    grouped,
    is_private,
)
from perfledger.parsers.contract.verbs import every

#: An argument of the list that the program prints, name and value in two columns.
_ARGUMENT = rb"\] - %s ++: ?+%s[ \t\r]*+$"
#: With a bar, which is the default, the words stand behind blanks that erase it, and not behind a logger's.
_LINE = rb"(?<!\S)loss: (?<!, loss: )<loss>, (?:(?!global_step: )\w++: [^\s,]++, )*+global_step: <step>, "
_WITH_RATE = _LINE.replace(rb"(?:(?!global_step: )", rb"(?:learning_rate: <_learning_rate>, )?+(?:(?!global_step: )")
_FIELDS = rb"(?:(?!(?:interval|global)_|max_mem(?:ory)?+_allocated(?:_gb)?+: )\w++: [^\s,]++, )*+"

#: `trainer_state.json` has a line per number, in the order of their names.
_NEXT = rb"[ \t\r]*+\n\s++"
_OTHERS = rb'(?:"(?!(?:learning_rate|loss|step)")[\w/.-]++": [^\s,]++,' + _NEXT + rb")*+"
_ROW = (
    rb'"interval_runtime": <duration>,' + _NEXT + rb'"interval_samples_per_second": <throughput>,' + _NEXT
    + rb'(?:"interval_steps_per_second": <_steps_per_second>,' + _NEXT + rb")?+" + _OTHERS
    + rb'(?:"learning_rate": <_learning_rate>,' + _NEXT + rb")?+" + _OTHERS
    + rb'"loss": <loss>,' + _NEXT + _OTHERS + rb'"step": <step>(?=\s)'
)  # fmt: skip

#: What tells of how many samples the epochs are, and their steps; batches of so many more than there are hold rests.
_OF_EPOCHS, _REST_SHOWS = ("data_set_size", "total_epochs", "total_steps", "batch_size_of_job"), 1.05
#: Samples that a line counts are those of so many updates within this share, beyond its rounding.
_SAME = 0.01
#: Twice the rounding error of the last printed digit, in the release that prints the fewest digits.
_ROUNDING = {"throughput": 1e-3, "duration": 1e-4}


def _of_job(columns: Columns) -> Postprocessed:
    """Return all records, without the speeds of a release that counts one update of one device in an interval."""
    of_ernie = np.isfinite(columns["_ernie_seconds"])
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        miscounts = not of_ernie.any() and _counts_one_update(columns)
        dropped = {"throughput"} if miscounts or _counts_rests_as_batches(columns) else set()
    made = {name: column for name, column in columns.items() if not is_private(name) and name not in dropped}
    made["duration"] = np.where(of_ernie, columns["_ernie_seconds"], columns["duration"])
    return np.arange(len(columns["step"])), made


def _counts_rests_as_batches(columns: Columns) -> bool:
    """Return whether epochs are so short that the rests that end them show, which the speed counts as whole batches."""
    samples, epochs, steps, batch = (columns[f"_{name}"][:1] for name in _OF_EPOCHS)
    return bool((steps * batch > _REST_SHOWS * samples * epochs).any())


def _without_ernie(columns: Columns) -> Postprocessed:
    """Add the empty column of ERNIEKit's seconds, which `trainer_state.json` writes under the usual name."""
    rows = every(columns)
    return rows, {**columns, "_ernie_seconds": np.full(len(rows), np.nan)}


def _counts_one_update(columns: Columns) -> bool:
    """Return whether the samples of the records are those of one update of one device, and not of all.

    If the head is missing, samples per update that are not a whole number show it, or the digits of learning rates.
    """
    # The first releases split no model over devices; later ones may state the batch of the job otherwise than they count it.
    if (
        not len(columns["step"])
        or np.isfinite([columns["_tensor_parallel"][0], columns["_pipeline_parallel"][0]]).any()
    ):
        return False
    counted, updates = columns["throughput"] * columns["duration"], np.diff(columns["step"], prepend=np.nan)
    updates = np.where(updates > 0, updates, np.round(columns["_steps_per_second"] * columns["duration"]))
    per_line, per_update = (
        np.nanmedian(each) if np.isfinite(each).any() else np.nan for each in (counted, counted / updates)
    )
    of_job, of_device = columns["_batch_size_of_job"][0], (columns["_batch_size"] * columns["_accumulation"])[0]
    if np.isfinite(of_job * of_device):
        return bool(np.abs(per_line / of_device - 1) <= _SAME < np.abs(per_update / of_job - 1))
    rates = columns["_learning_rate"][np.isfinite(columns["_learning_rate"])].tolist()
    rounding = sum(each / np.nanmedian(columns[name]) for name, each in _ROUNDING.items())
    in_parts = bool(np.abs(per_update - np.round(per_update)) > rounding * per_update)
    return in_parts or any(float(f"{each:.3e}") != each for each in rates)


#: An evaluation or a checkpoint counts in the interval that follows it.
PAUSES = (
    Pause(
        "evaluation",
        rb'eval_loss"?+: ',
    ),
    Pause(
        "evaluation",
        rb"\*\*\*\*\* Running Evaluation",
    ),
    Pause(
        "checkpoint",
        rb"Saving model checkpoint to ",
    ),
)

#: What the trainer states of itself, also where the benchmarks made of it print other lines.
HEAD = (
    Fact("model", _ARGUMENT % (rb"model_name_or_path", rb"(?:[^\s/]++/)*+([\w.+-]++)/?+")),
    Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++)", grouped),
    Fact("batch_size_of_job", rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)", grouped),
    Fact("accumulation", rb"Gradient Accumulation steps = ([0-9,]++)", grouped),
    Fact("devices", _ARGUMENT % (rb"world_size", rb"([0-9]++)"), int),
    Fact("tensor_parallel", _ARGUMENT % (rb"tensor_parallel_degree", rb"([0-9]++)"), int),
    Fact("pipeline_parallel", _ARGUMENT % (rb"pipeline_parallel_degree", rb"([0-9]++)"), int),
    Fact("sequence_length", _ARGUMENT % (rb"max_seq_length", rb"([0-9]++)"), int),
    Fact("precision", _ARGUMENT % (rb"bf16", rb"(\w++)"), words={b"True": "bf16"}),
    # The list is in the order of names.
    Fact("precision", _ARGUMENT.replace(b"$", rb"\n[^\n]*?") % (rb"fp16", rb"True") + _ARGUMENT % (rb"fp16_opt_level", rb"(O2)"), words={b"O2": "fp16"}),
    Fact("precision", _ARGUMENT % (rb"fp16", rb"(\w++)"), words={b"True": "amp", b"False": "fp32"}),
)  # fmt: skip

FORMAT = Format(
    title="PaddleNLP Trainer",
    framework="PaddlePaddle",
    marker=b"_per_second",
    start=rb"\[ *+INFO\] - \*{5} Running training \*{5}",
    before_start=rb"\] - =++\[Trainer|\] - (?:Model|Data|Training|Pre-Training|Finetune) Configuration Arguments|" + _ARGUMENT % (rb"\w++", rb"[^\n]*?"),
    end=rb"\[ *+INFO\] - train_runtime: |Training completed\.",
    over=("frameworks.hf_trainer_state",),
    readings=(
        Reading(
            _WITH_RATE + _FIELDS
            + rb"(?:max_mem(?:ory)?+_allocated(?:_gb)?+: <memory>, " + _FIELDS + rb")?+"
            rb"(?:interval_runtime: <duration>|global_runtime: <_ernie_seconds>), (?:interval|global)_samples_per_second: <throughput>(?=,)"
            rb"(?:, (?!interval_steps_per_second: )\w++: [^\s,]++)*+(?:, interval_steps_per_second: <_steps_per_second>(?=,))?+",
            unit="samples/s",
            counts="update",
            factors={"memory": 1024},
            pauses=PAUSES,
            verbs=(_of_job,),
        ),
        Reading(
            _ROW,
            unit="samples/s",
            counts="update",
            pauses=PAUSES[:1],
            verbs=(_without_ernie, _of_job),
        ),
        Reading(
            _LINE + rb"(?:(?!interval_samples_per_second: |interval_tokens_per_second_per_device: )\w++: [^\s,]++, )*+"
            rb"interval_tokens_per_second_per_device: <throughput>(?=,)",
            unit="tokens/s",
            scope="device",
            counts="update",
            marker=b"interval_tokens_per_second_per_device: ",
            pauses=PAUSES,
        ),
        Reading(
            # Early stopping leaves planned steps out that the speed counts; the epoch tells how far the run came.
            rb"(?<!\S)train_runtime: <seconds>, train_samples_per_second: <throughput>(?=,)"
            rb"(?:, (?!epoch: |progress_or_epoch: )\w++: [^\s,]++)*+(?:, (?:progress_or_)?+epoch: (?P<epoch>[0-9.]++)(?=[\s,]))?+",
            unit="samples/s",
            span="run",
        ),
    ),
    facts=(
        *HEAD,
        Fact("parameters", rb"Number of trainable parameters = ([0-9,]++)", grouped),
        Fact("resumed_from", rb"Continuing training from (?:global )?+step ([0-9,]++)", grouped),
        Fact("data_set_size", rb"\] ++- ++Num examples = ([0-9,]++)[ \t]*+\r?\n(?=[^\n]{0,200}? Num Epochs = )", grouped),
        Fact("total_epochs", rb"\] ++- ++Num Epochs = ([0-9,]++)", grouped),
        Fact("total_steps", rb"Total optimization steps = ([0-9,]++)", grouped),
        Fact("total_steps", rb'^ ++"max_steps": ([0-9]++),$', int),
    ),
)  # fmt: skip
