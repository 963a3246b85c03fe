"""DiT, SiT, LlamaGen and programs made of them (`train.py`): a line per `log_every` steps with the steps per second.

The rate is that of the job since the line before, with the wait for data, and has two decimals: where steps are too slow
for these the clocks of the lines tell the speed. A checkpoint, of which a line tells, lies in the record after it. The
batch size is not printed.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, grouped
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Steps per second below which two decimals tell less than the clocks.
_SLOW = 0.5


def _fine(columns: Columns) -> Postprocessed:
    """Return the records, with their clocks alone where the rates have too few digits."""
    rows, rates = np.arange(len(columns["step"])), columns["steps_per_second"]
    if np.isfinite(columns["clock"]).all() and (rates < _SLOW).any():
        return rows, {name: each for name, each in columns.items() if name != "steps_per_second"}
    return rows, columns


FORMAT = Format(
    title="DiT",
    framework="PyTorch",
    marker=b", Train Steps/Sec: ",
    unproven=True,
    start=rb"Experiment directory created at ",
    before_start=rb"^Starting rank=[0-9]++, seed=",
    end=rb"\] Done!",
    readings=(
        Reading(
            rb"(?:\[(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})\] )?+\(step=<step>\) Train Loss: <loss>, "
            rb"(?:[^\r\nT(]++|T(?!rain Steps/Sec: ))*+Train Steps/Sec: <steps_per_second>(?=[,\s])",
            unit="images/s",
            verbs=(_fine,),
            pauses=(
                Pause(
                    "checkpoint", rb"Saved checkpoint to ",
                ),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"Experiment directory created at (?:[^\s/]++/)*+[0-9]{3}-((?:DiT|SiT|GPT)-[A-Z]++[0-9]?+(?:-[0-9]++)?+)(?![0-9])"),
        Fact("parameters", rb"\b(?:DiT|SiT|GPT|Model) Parameters: ([0-9,]++)", grouped),
        Fact("data_set_size", rb"\bDataset contains ([0-9,]++) images", grouped),
        Fact("devices", rb"^Starting rank=[0-9]++, seed=[0-9]++, world_size=([0-9]++)\.", int),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
