"""Flair (`ModelTrainer`): a line per tenth of an epoch.

Up to 0.11 `samples/sec` are sentences per second since the line before, of a timer that leaves the wait for data out;
the first batch of an epoch has a line of its own in early releases, which takes it for a tenth of the epoch, and is no
record. Since then they count what the loss counts, such as the tokens of a tagger, and are a mean since the epoch
began: they are not read. `time (sec)`, the seconds of the epoch so far, tells the speed, with the wait for data.
Evaluations and checkpoints stand between two epochs, outside both timers. The line at the end of an epoch holds the
last batch, which is smaller, and is no record.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Indices, Pause, Postprocessed, Reading

_CLOCK = rb"(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}) "
_HEAD = rb"epoch <epoch> - iter (?!0/)<step>/<total_steps> - loss <loss> - "


def _whole(columns: Columns) -> Indices:
    """Return the rows but for those of the last batches of an epoch, one of which is smaller."""
    return np.flatnonzero(columns["step"] < columns["total_steps"])


def _of_tenths(columns: Columns) -> Postprocessed:
    """Return the records as they are printed."""
    rows = _whole(columns)
    return rows, {name: each[rows] for name, each in columns.items()}


def _since_epoch(columns: Columns) -> Postprocessed:
    """Return the records with the steps and the seconds since the line before, or since the epoch began."""
    rows, steps, at = _whole(columns), columns["step"], columns["_since"]
    same = (np.diff(columns["epoch"]) == 0) & (np.diff(steps) > 0)
    since = {
        name: np.diff(each, prepend=0.0) + np.concatenate([[0.0], np.where(same, 0.0, each[:-1])])
        for name, each in (("steps", steps), ("duration", at))
    }
    kept = {name: columns[name] for name in ("epoch", "step", "total_steps", "loss")} | since
    return rows, {name: each[rows] for name, each in kept.items()}


FORMAT = Format(
    title="Flair",
    framework="PyTorch",
    marker=b" - iter ",
    start=rb'(?<=[0-9] )Model: "\w++\(',
    end=rb"(?<=[0-9] )(?:Testing using |Loading model from best epoch)",
    readings=(
        Reading(
            _HEAD + rb"time \(sec\): (?P<_since>[0-9.]++) - samples/sec: [0-9.]++(?= - |\s)",
            unit="samples/s",
            scope="device",
            verbs=(_since_epoch,),
        ),
        Reading(
            _CLOCK + _HEAD + rb"samples/sec: <throughput>(?= - |\s)",
            unit="samples/s",
            scope="device",
            pauses=(Pause("evaluation", rb"EPOCH [0-9]++ done: ", inside="none"),),
            verbs=(_of_tenths,),
        ),
    ),
    facts=(
        Fact("batch_size", rb' - mini_batch_size: "?+([0-9]++)"?+$', int),
        Fact("total_epochs", rb' - max_epochs: "?+([0-9]++)"?+$', int),
        Fact("devices", rb"^[0-9 :,-]{24} - compute on device: ([0-9]++) GPUs", int),
        Fact("devices", rb'^[0-9 :,-]{24}(?: - compute on d|D)evice: "?+(cuda|cpu|mps)', lambda _: 1),
        Fact("data_set_size", rb"^[0-9 :,-]{24}(?:Train:  |Corpus: \"Corpus: )([0-9]++) (?:sentences|train \+ )", int),
        Fact("model", rb'^[0-9 :,-]{24}Model: "(\w++)\('),
    ),
)  # fmt: skip
