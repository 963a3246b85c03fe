"""The names and meanings of the columns of records."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: Meaning of each column that a reading may capture. Those in CLOCKS become the column `clock`, in seconds.
#: A reading with verbs may capture private columns as well, whose names begin with an underscore: only the verbs see them.
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "rank": "rank that the line itself names, where no launcher's tag was removed; each rank is processed separately",
        "epoch": "epoch",
        "step": "step within the epoch, or of the run where it does not restart",
        "total_epochs": "epochs that the run is to take",
        "total_steps": "what `step` counts up to: steps of the run, or of the epoch where it restarts",
        "throughput": "per second, in the reading's unit, at its scope",
        "restated": "the same of a line whose seconds give the figure, which it may only contradict",
        "step_seconds": "seconds of one step, as a mean over what the record covers",
        "training_seconds": "seconds of one step by a timer of training alone, in addition to a clock that runs on; it may smooth",
        "steps_per_second": "steps per second",
        "duration": "seconds that the whole record covers, as a number or as `1:02:03`",
        "steps": "steps that the record covers",
        "samples": "samples that the record covers, at the reading's scope",
        "batch": "samples per step, at the reading's scope",
        "evaluated": "1 if the record includes an evaluation that no line announces, else 0",
        "consumed": "samples since the start, at the reading's scope",
        "length": "tokens of a sample, where they may change",
        "reader_seconds": "seconds per step spent waiting for data",
        "loss": "training loss",
        "learning_rate": "learning rate of the optimizer",
        "mean_loss": "losses since the program started, summed and divided by all steps of the run, also those before a resumption",
        "accuracy": "training accuracy or what the model is judged by, as printed",
        "memory": "MiB of one device",
        "flops": "TFLOP/s of one device",
        "power": "watts of one device",
        "energy": "joules of one device in one step",
        "seconds": "length of the whole run",
        "target_seconds": "seconds from the start of training to its end, of a run that trains until it reaches a target",
        "target_samples": "samples until then",
        "samples_before": "samples that other runs had trained before, of a run that goes on from them",
        "reached": "1 if the run reached its target, 0 if it ended without it",
        "clock": "date and time as printed, or the time of day alone",
        "unix": "seconds since 1970",
        "elapsed": "seconds since some start, as a number or as `1 day, 2:03:04`",
    }
)
CLOCKS = frozenset({"clock", "unix", "elapsed"})


def is_private(column: str) -> bool:
    """Return whether only the verbs of a reading see a column."""
    return column.startswith("_")
