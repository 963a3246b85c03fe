"""DiT, SiT, LlamaGen and programs made of them (`train.py`): a line per `log_every` steps with the steps per second.

The rate is that of the job since the line before, with the wait for data, and has two decimals: where steps are too
slow for these the clocks of the lines give the speed. A checkpoint has a line of its own, and lies in the record after
it. The batch size is not printed.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, every
from perfledger.parsers.frameworks import PYTORCH_JOB

#: Steps per second below which two decimals are less exact than the clocks of the lines.
_SLOW = 0.5


def _by_clock(columns: Columns) -> Postprocessed:
    """Drop the rates if some have too few digits and each line has a clock."""
    if np.isfinite(columns["clock"]).all() and (columns["steps_per_second"] < _SLOW).any():
        columns = {name: each for name, each in columns.items() if name != "steps_per_second"}
    return every(columns), columns


FORMAT = Format(
    title="DiT",
    framework="PyTorch",
    unproven=True,
    start="Experiment directory created at ",
    before_start=rb"^Starting rank=[0-9]++, seed=",
    end="] Done!",
    readings=(
        Reading(
            "{?[{clock}] }(step={step}) Train Loss: {loss}, {*}Train Steps/Sec: {steps_per_second}",
            unit="images/s",
            verbs=(_by_clock,),
            pauses=(Pause("checkpoint", "Saved checkpoint to "),),
        ),
    ),
    facts=(
        Fact("model", rb"Experiment directory created at (?:[^\s/]++/)*+[0-9]{3}-((?:DiT|SiT|GPT)-[A-Z]++[0-9]?+(?:-[0-9]++)?+)(?![0-9])"),
        Fact("parameters", "{DiT|SiT|GPT|Model} Parameters: {:,}"),
        Fact("data_set_size", "Dataset contains {:,} images"),
        Fact("devices", "^Starting rank={_}, seed={_}, world_size={:int}."),
        *PYTORCH_JOB,
    ),
)  # fmt: skip
