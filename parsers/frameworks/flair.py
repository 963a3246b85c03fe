"""Flair (`ModelTrainer`): a line per tenth of an epoch.

Up to 0.11 `samples/sec` are sentences per second since the line before, of a timer that leaves the wait for data out;
the first batch of an epoch has a line of its own in early releases, which takes it for a tenth of the epoch, and is no
record. Since then they count what the loss counts, such as the tokens of a tagger, and are a mean since the epoch
began: they are not read. `time (sec)`, the seconds of the epoch so far, gives the speed, with the wait for data.
Evaluations and checkpoints are between two epochs, outside both timers. The line at the end of an epoch includes the
last batch, which is smaller, and is not a record.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, take


def _inside(columns: Columns) -> Postprocessed:
    """Keep the rows within an epoch: the first batch alone is not a tenth of it, and the last one is smaller."""
    return take(columns, (columns["step"] > 0) & (columns["step"] < columns["total_steps"]))


def _since_line(columns: Columns) -> Postprocessed:
    """Add the steps and the seconds since the line before, or since the epoch began."""
    steps, at = columns["step"], columns["_since"]
    same = (np.diff(columns["epoch"]) == 0) & (np.diff(steps) > 0)
    made = {
        name: each - np.concatenate([[0.0], np.where(same, each[:-1], 0.0)])
        for name, each in (("steps", steps), ("duration", at))
    }
    return np.arange(len(steps)), {**columns, **made}


FORMAT = Format(
    title="Flair",
    framework="PyTorch",
    start=rb'(?<=[0-9] )Model: "\w++\(',
    end=rb"(?<=[0-9] )(?:Testing using |Loading model from best epoch)",
    readings=(
        Reading(
            "epoch {epoch} - iter {step}/{total_steps} - loss {loss} - time (sec): {_since} - samples/sec: ",
            unit="samples/s",
            scope="device",
            verbs=(_since_line, _inside),
        ),
        Reading(
            "{clock} epoch {epoch} - iter {step}/{total_steps} - loss {loss} - samples/sec: {throughput}",
            unit="samples/s",
            scope="device",
            pauses=(Pause("evaluation", "EPOCH {_} done: ", inside="none"),),
            verbs=(_inside,),
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
