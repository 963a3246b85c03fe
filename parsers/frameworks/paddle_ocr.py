"""PaddleOCR (`tools/train.py`): a record per `print_batch_step` iterations, and one at the end of each epoch.

`ips` is the throughput of one device over the interval. `batch_cost`, `reader_cost` and `avg_samples` are sums divided
by `print_batch_step`, also where the end of an epoch makes the interval shorter: they are computed again here from the
steps between two records; where `print_batch_step` is unknown they are not read. Two dialects: `avg_samples` and a
unit (since 2022), and `samples`, the sum over the interval, with an `ips` that ends the line (2020 to 2021). The latter
leaves out metrics, several times as long as a step on some machines, and is read with its timestamps only. The
configuration also names a batch size for evaluation, before that for training. With a sampler of several scales no
batch has the configured size. The first record of a run includes the start-up, and that of a later epoch the checkpoint that ends
each epoch; evaluations lie outside. A resumed run counts its steps from 0 in
a later epoch. Memory is that of the tensors, 0 if unknown. OpenOCR prints the same in PyTorch, as `openrec` and
`opendet`.

The first trainers of documents (`ppstructure/vqa`, 2021 to 2022) print a line per step, whose `batch_cost` contains the
forward pass alone: they are read with their timestamps.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import EPOCH_END, Columns, Fact, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER

#: Columns that the printer divides by `print_batch_step`.
_DIVIDED = frozenset({"step_seconds", "reader_seconds", "batch"})
#: Share of the lines that the printer must have printed; some may be lost.
_PRINTED = 0.9
_PAUSES = (
    Pause("checkpoint", "save model in "),
    Pause("evaluation", "cur metric, ", inside="none"),
)
#: The timestamps go on meanwhile.
_DOCUMENT_PAUSES = (
    Pause("evaluation", "] results: {{"),
    Pause("checkpoint", "Saving model checkpoint to "),
)  # fmt: skip
#: Steps that no run reaches: a larger number is garbled.
_LAST_STEP = 1e12
#: Steps that no interval has.
_LONGEST = 10_000
#: Samples per step agree with the batch size within this share.
_SAME = 0.05


def _grid(columns: Columns) -> float:
    """Return `print_batch_step`, whose multiples are printed in addition to ends of epochs; NaN if steps do not show it."""
    epochs, steps = columns["epoch"], np.minimum(columns["step"], _LAST_STEP)
    regular = steps[:-1][np.diff(epochs) == 0].astype(np.int64)
    most, printed = int(np.gcd.reduce(regular)) if len(regular) else 0, np.unique(steps)
    found = [
        each
        for each in range(1, min(most, _LONGEST) + 1)
        if most % each == 0
        and (printed % each == 0).sum() >= _PRINTED * (printed[-1] // each - (printed[0] - 1) // each)
    ]
    return float(found[0]) if len(found) == 1 else np.nan


def _over_interval(columns: Columns, every: float) -> Columns:
    """Return the records with means over the steps since the record before; without a first one of an unknown number.

    Lines are missing where more steps lie between: such a record begins with the last multiple of `every`.
    """
    steps = columns["step"]
    gaps, beyond = np.diff(steps, prepend=np.nan), steps % every
    gaps = np.where(gaps > 0, gaps, np.where(beyond == 0, every, np.nan))
    rows = np.flatnonzero(~np.isnan(gaps))
    scale = every / np.where(gaps <= every, gaps, np.where(beyond == 0, every, beyond))
    return columns.assign(**{name: columns[name] * scale for name in _DIVIDED & columns.keys()}).take(rows)


def _by_grid(columns: Columns) -> Columns:
    """Return the records of the dialect with samples per step."""
    batch_size = columns["_batch_size"][:1]
    if len(columns["step"]) and np.isfinite(every := _grid(columns)):
        return _over_interval(columns, every)
    whole = bool((np.abs(np.median(columns["batch"]) / batch_size - 1) <= _SAME).any())
    return columns if whole else columns.drop(*_DIVIDED)


def _by_samples(columns: Columns) -> Columns:
    """Return the records of the dialect with samples of the interval, without seconds of an unknown number of steps."""
    every = _grid(columns)
    return _over_interval(columns, every) if np.isfinite(every) else columns.drop("step_seconds", "reader_seconds")


FORMAT = Format(
    title="PaddleOCR",
    framework="PaddlePaddle",
    start=rb"(?:ppocr|root|openrec|opendet) INFO: (?:Architecture : |\*{5} Running training \*{5})",
    readings=(
        Reading(
            "INFO: epoch: [{epoch}/{total_epochs}], {global_step|iter}: {step}, {*}{? acc: {accuracy},{*}}{? loss: {loss},{*}}{? avg_}reader_cost: {reader_seconds} s, {?avg_}batch_cost: {step_seconds} s, avg_samples: {batch}, ips: {throughput} samples/s{?{*}max_mem_allocated: {memory} MB}",
            unit="samples/s",
            scope="device",
            verbs=(_by_grid,),
            pauses=_PAUSES,
        ),
        Reading(
            "] {root|ppocr} INFO: epoch: [{epoch}/{total_epochs}], {global_step|iter}: {step}, {*}{? acc: {accuracy},{*}}{? loss: {loss},{*}}{? avg_}reader_cost: {reader_seconds} s, {?avg_}batch_cost: {step_seconds} s, samples: {samples}, ips: {throughput}",
            unit="samples/s",
            scope="device",
            # Metrics and logging lie outside the time that this dialect takes.
            untrue=("clock",),
            verbs=(_by_samples,),
            pauses=_PAUSES,
        ),
        Reading(
            "[{clock}] {root|ppocr} INFO: epoch: [{epoch}/{total_epochs}], iter: [{_}/{_}], global_step:{step}, train loss: {loss}, lr: {_}, avg_reader_cost: {_} sec, avg_batch_cost: {_} sec, avg_samples: {batch}, ips: {_} images/sec",
            unit="samples/s",
            scope="device",
            pauses=(*_DOCUMENT_PAUSES, EPOCH_END),
        ),
    ),
    facts=(
        Fact("batch_size", rb"INFO: Train :(?:(?!INFO: \w)[\s\S]){0,20000}?batch_size_per_card : (\d++)", int),
        Fact("batch_size", "INFO:  Instantaneous batch size per GPU = {:int}"),
        Fact("batch_size_of_job", "INFO:  Total train batch size (w. parallel, distributed) = {:int}"),
        Fact("total_steps", "INFO:  Total optimization steps = {:int}"),
        # In the `Global` section; deeper ones are of a part of the network, such as a backbone `large`.
        Fact("model", rb"INFO: {5}model_name : ([\w.+-]++)"),
        Fact("model", rb"INFO: Architecture :(?:(?!INFO: \w)[\s\S]){0,9000}?\n[^\n]*? INFO:     algorithm : ([\w.+-]++)"),
        Fact("precision", "INFO:  use_amp : {}", words={b"False": "fp32"}),
        Fact("precision", "INFO:  amp_level : {}", words={b"O1": "amp", b"O2": "fp16"}),
        Fact("precision", "INFO:  use_amp : {}", words={b"True": "amp"}),
        Fact("framework", rb"\] (openrec|opendet) INFO: ", lambda _: "PyTorch"),
        Fact("framework_version", rb"\] open(?:rec|det) INFO: run with torch (\d[\w.]*+)"),
        Fact("framework_version", rb"train with paddle (\d[\w.]*+)"),
        *LAUNCHER,
        Fact("devices", rb"INFO:     distributed : (False)", lambda _: 1),
    ),
)  # fmt: skip
