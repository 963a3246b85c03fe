"""Write the lines that NVIDIA's DLLogger prints: as text, and as JSON.

DLLogger itself is on no package index; only the text it prints is needed here. Source of the shapes:
NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets in 2023, whose logger prints a metric as
`name : value unit` and leaves the literal `None` where a metric has no unit; and DLLogger's own JSON lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

UNITLESS = "None"
#: The step of a JSON line that states parameters, and of one that sums up the job.
PARAMETERS, WHOLE_JOB = "PARAMETER", ()
#: A value that a line states.
Printed = str | int | float | bool


@dataclass(frozen=True)
class PrintedMetric:
    """One figure as it is to be printed: `text` is formatted by the caller, `unit` follows it."""

    name: str
    text: str
    unit: str = UNITLESS

    def __str__(self) -> str:
        """Return the metric as it is printed in a line."""
        return f"{self.name} : {self.text} {self.unit}"


def loss(name: str, value: float) -> PrintedMetric:
    """Format a loss: five decimals, no unit."""
    return PrintedMetric(name, f"{value:.5f}")


def images_per_second(name: str, value: float) -> PrintedMetric:
    """Format a throughput of the whole job in images/s: two decimals."""
    return PrintedMetric(name, f"{value:.2f}", "images/s")


def seconds(name: str, value: float) -> PrintedMetric:
    """Format a duration in seconds: five decimals."""
    return PrintedMetric(name, f"{value:.5f}", "s")


def learning_rate(value: float) -> PrintedMetric:
    """Format the learning rate; this printer gives it an empty unit, hence the two spaces after it."""
    return PrintedMetric("train.lr", f"{value}", "")


def parameter_line(now: datetime, parameters: Mapping[str, Printed]) -> str:
    """Return the line that states a job's parameters; each pair ends in a space, so the line does too."""
    return _line(now, "PARAMETER " + " ".join(f"{name} : {value} " for name, value in parameters.items()))


def iteration_line(now: datetime, epoch: int, iteration: int, metrics: tuple[PrintedMetric, ...]) -> str:
    """Return the line of one iteration; iterations count from 1 and the first one is printed too."""
    return _line(now, f"Epoch: {epoch} Iteration: {iteration}  {_joined(metrics)}")


def epoch_line(now: datetime, epoch: int, metrics: tuple[PrintedMetric, ...]) -> str:
    """Return the line of a whole epoch, which repeats the names of the iteration's metrics."""
    return _line(now, f"Epoch: {epoch}  {_joined(metrics)}")


def summary_line(now: datetime, metrics: tuple[PrintedMetric, ...]) -> str:
    """Return the line of the whole job."""
    return _line(now, f"Summary: {_joined(metrics)}")


def json_line(now: datetime, started: datetime, step: tuple[int, ...] | str, data: Mapping[str, Printed]) -> str:
    """Return a JSON line of the screen: `step` is (epoch, iteration), WHOLE_JOB or PARAMETERS.

    A NaN is written as DLLogger writes it, as the bare word that strict JSON does not know.
    """
    line = {
        "timestamp": str(now.timestamp()),
        "datetime": f"{now:%Y-%m-%d %H:%M:%S.%f}",
        "elapsedtime": str((now - started).total_seconds()),
        "type": "LOG",
        "step": step if isinstance(step, str) else list(step),
        "data": dict(data),
    }
    return f"DLLL {json.dumps(line)}"


class JsonLog:
    """Prints JSON lines with the time since its beginning; only the first process of a job prints."""

    def __init__(self, is_first: bool = True) -> None:
        self.begun, self.is_first = datetime.now(), is_first

    def say(self, step: tuple[int, ...] | str, data: Mapping[str, Printed]) -> None:
        """Print a line, see `json_line`."""
        if self.is_first:
            print(json_line(datetime.now(), self.begun, step, data), flush=True)


def _joined(metrics: tuple[PrintedMetric, ...]) -> str:
    return " ".join(str(metric) for metric in metrics)


def _line(now: datetime, text: str) -> str:
    return f"DLL {now:%Y-%m-%d %H:%M:%S.%f} - {text}"
