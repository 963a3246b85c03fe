"""Slim runs, without the parts that only their own pages show: whole runs of a large ledger do not fit into memory."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from perfledger.schema.records import Figure, Figures, MetricFigure, Problem, Run, Witness

_Shared = TypeVar("_Shared")
#: Records that many runs have alike.
_RECORDS = (
    "case", "environment", "environment_details", "environment_variables", "recipe", "argv", "nodes", "source",
)  # fmt: skip
#: Texts and counts that many runs have alike.
_PLAIN: dict[type, tuple[str, ...]] = {
    Run: ("format", "outcome", "rule"),
    Figure: ("unit", "scope", "used", "skipped", "first_line", "last_line"),
    MetricFigure: ("unit", "source"),
    Witness: ("kind", "verdict", "unit", "first_line", "last_line"),
}


class Slimmer:
    """Makes runs slim: without traces and arithmetic, and with one object for equal parts of many runs.

    The headline figure keeps its arithmetic.
    """

    def __init__(self) -> None:
        """Begin without shared objects."""
        self._texts: dict[Any, Any] = {}
        self._records: dict[tuple[type, bytes], Any] = {}

    def slim(self, run: Run) -> Run:
        """Return a run without the parts that only its page shows."""
        return replace(
            run,
            trace=None,
            facts={name: self._record(each) for name, each in run.facts.items()},
            figures=self._figures(run.figures, run.rule),
            audit=run.audit if run.audit is UNSET else self._figures(run.audit, ""),
            metrics={name: self._measured(each, arithmetic=None) for name, each in run.metrics.items()},
            witnesses=tuple(self._measured(each, arithmetic="") for each in run.witnesses),
            problems=tuple(self._problem(each, run) for each in run.problems),
            **{name: self._record(getattr(run, name)) for name in _RECORDS},
            **self._plain(run),
        )

    def _figures(self, figures: Figures, headline: str) -> Figures:
        return Figures(
            {
                rule: self._measured(each) if rule == headline else self._measured(each, arithmetic="")
                for rule, each in figures.items()
            }
        )

    def _measured(self, record: Any, **changes: str | None) -> Any:
        """Return a figure, a metric or a witness; one record for all that are equal and have no value."""
        return self._record(record) if record.value is None else replace(record, **self._plain(record), **changes)

    def _problem(self, problem: Problem, run: Run) -> Problem:
        """Return a problem that shares the names of logs with its run."""
        names = {run.path: run.path, run.duplicate_of: run.duplicate_of}
        args = {name: names.get(each, each) if isinstance(each, str) else each for name, each in problem.args.items()}
        path = run.path if problem.path == run.path else problem.path
        return Problem(self._texts.setdefault(problem.code, problem.code), path, problem.line, args)

    def _plain(self, record: Any) -> dict[str, Any]:
        """Return the first texts and counts that are equal to those of a record."""
        first = self._texts.setdefault
        return {name: first(value, value) for name in _PLAIN[type(record)] for value in (getattr(record, name),)}

    def _record(self, record: _Shared) -> _Shared:
        """Return the first record that is equal."""
        found: _Shared = self._records.setdefault((type(record), msgspec.json.encode(record)), record)
        return found
