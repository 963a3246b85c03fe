"""DiT, SiT, LlamaGen and programs made of them (`train.py`): a line per `log_every` steps with the steps per second.

The rate is that of the job since the line before, with the wait for data, and has two decimals, which are too few for
slow steps: the clocks of the lines give the speed, and the rate counts only where lines have no clock. A checkpoint has
a line of its own, and lies in the record after it. The batch size is not printed.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="DiT",
    framework="PyTorch",
    unproven=True,
    start="Experiment directory created at ",
    before_start=rb"^Starting rank=[0-9]++, seed=",
    end="] Done!",
    readings=(
        Reading(
            "[{clock}] (step={step}) Train Loss: {loss}, {*}Train Steps/Sec: ",
            unit="images/s",
            pauses=(Pause("checkpoint", "Saved checkpoint to "),),
        ),
        Reading(
            "^(step={step}) Train Loss: {loss}, {*}Train Steps/Sec: {steps_per_second}",
            unit="images/s",
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
