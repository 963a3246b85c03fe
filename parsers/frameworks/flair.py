"""Flair (`ModelTrainer`): a line per tenth of an epoch.

Up to 0.11 `samples/sec` are sentences per second since the line before, of a timer that leaves the wait for data out;
the first batch of an epoch has a line of its own in early releases, which takes it for a tenth of the epoch, and is no
record. Since then they count what the loss counts, such as the tokens of a tagger, and are a mean since the epoch
began: they are not read. `time (sec)`, the seconds of the epoch so far, gives the speed, with the wait for data.
Evaluations and checkpoints are between two epochs, outside both timers. The line at the end of an epoch includes the
last batch, which is smaller, and is not a record.
"""

from __future__ import annotations

from perfledger.parsers.contract import ENDED, Fact, Format, Pause, Reading, undo_mean

#: The first batch alone is not a tenth of an epoch, and the last one is smaller.
_INSIDE = rb"(?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps>"

FORMAT = Format(
    title="Flair",
    framework="PyTorch",
    start=rb'(?<=[0-9] )Model: "\w++\(',
    end=rb"(?<=[0-9] )(?:Testing using |Loading model from best epoch)",
    readings=(
        Reading(
            rb"epoch <epoch> - iter " + _INSIDE + rb" - loss <loss> - time \(sec\): (?P<_since>[0-9.]++) - samples/sec: ",
            unit="samples/s",
            scope="device",
            verbs=(lambda each: each.assign(step_seconds=each["_since"] / each["step"]), undo_mean("step_seconds")),
        ),
        Reading(
            rb"(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}) epoch <epoch> - iter " + _INSIDE + rb" - loss <loss> - samples/sec: <throughput>" + ENDED,
            unit="samples/s",
            scope="device",
            pauses=(Pause("evaluation", "EPOCH {_} done: ", inside="none"),),
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
