"""The Python interface: `perfledger.read`.

This interface is stable: it follows semantic versioning. All else in Perfledger may change.

    >>> import perfledger
    >>> ledger = perfledger.read("raw_logs/resnet50/pytorch/cpu-n1d1-bs16-fp32/1")
    >>> [(run.path, run.case.model, run.headline.unit) for run in ledger.runs]
    [('1/train.log', 'ResNet-50 v1.5', 'images/s')]
    >>> round(ledger.runs[0].headline.value, 2)
    29.26
    >>> print(ledger.results[["model", "devices", "repeats", "unit"]])
                model  devices  repeats      unit
    0  ResNet-50 v1.5        1        1  images/s
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from perfledger.ingest import explain, figures
from perfledger.ingest.build import Inputs, State
from perfledger.ingest.build import read as read_inputs
from perfledger.ingest.common import project
from perfledger.ingest.common.problems import message
from perfledger.ingest.compute import results
from perfledger.ingest.read import layout, reader_facts
from perfledger.schema.records import Run, to_json

if TYPE_CHECKING:
    import pandas as pd


#: The columns of `LogsRead.results`.
COLUMNS = (
    "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options", "version", "round",
    "unit", "rule", "value", "low", "high", "spread", "repeats", "witnesses", "speedup", "efficiency", "outcome",
    "reason", "run_ids",
)  # fmt: skip


@dataclass(frozen=True)
class LogsRead:
    """What some logs say: `runs`, `problems`, `results`, and how a figure was computed (`explain`)."""

    _state: State

    @property
    def runs(self) -> tuple[Run, ...]:
        """One for each session of each log; `run.headline` is its figure, or None."""
        return tuple(self._state.ledger.runs)

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about inputs that were not understood: `path:line: what, why, remedy`."""
        return tuple(map(message, self._state.problems))

    @cached_property
    def results(self) -> pd.DataFrame:
        """One row per case: the median over its repeats, in `unit` for the whole job.

        `value`, `low` and `high` are in `unit`, `spread` is the sample standard deviation over the mean, `witnesses`
        says what else in the logs supports the figure, `run_ids` has the ids of its runs. Unknown values are None.

        Raises:
            ModuleNotFoundError: pandas is not installed; `pip install 'perfledger[site]'` installs it.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ModuleNotFoundError("pandas is not installed: pip install 'perfledger[site]'") from None

        return pd.DataFrame([to_json(each) for each in results.results(self.runs)], columns=list(COLUMNS))

    def explain(self, run: Run) -> str:
        """Return how the figures of a run's log were computed: facts, records used and left out, arithmetic."""
        inputs = self._state.inputs
        return explain.text(self._state.logs[run.path][0], run.path, layout.load(inputs.layout), dict(inputs.assumed))

    def _repr_html_(self) -> str:
        """Return a table with a row for each log, for a notebook."""
        return figures.table(figures.of_runs(self.runs), "html")


def read(
    *paths: str | os.PathLike[str],
    layout: str = "perfledger",
    assume: Mapping[str, str | int | float | bool] | None = None,
) -> LogsRead:
    """Read logs, and write nothing.

    Args:
        paths: logs, and folders that are searched for logs.
        layout: how the tree names its logs: a name, or a `.toml` file.
        assume: facts by name, such as `devices`, for logs that do not state them.

    Raises:
        perfledger.UsageError: a path, a layout or an assumed fact does not exist, or `perfledger.toml` is wrong.
    """
    project.project()
    assumed = reader_facts.checked(assume or {})
    return LogsRead(read_inputs(Inputs(tuple(map(Path, paths)), layout, assumed=tuple(assumed.items()))))
