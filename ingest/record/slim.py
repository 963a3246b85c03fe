"""Runs without what only their own pages show, for ledgers of so many that all of each would not fit into memory."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from perfledger.schema.records import FactValue, Figure, Figures, MetricFigure, NoFigure, Problem, Run, Witness

_Shared = TypeVar("_Shared")


class Slimmer:
    """Makes runs slim: without traces and arithmetic, and with one object for what many runs have alike.

    The headline figure keeps its arithmetic.
    """

    def __init__(self) -> None:
        """Begin with nothing shared."""
        self._texts: dict[str, str] = {}
        self._facts: dict[tuple[type, object, str, str], FactValue] = {}
        self._numbers: dict[int, int] = {}
        self._records: dict[tuple[type, bytes], object] = {}
        self._nothing: dict[str, object] = {}

    def slim(self, run: Run) -> Run:
        """Return a run without what only its page shows."""
        return replace(
            run,
            trace=None,
            case=self._record(run.case),
            facts={name: self._fact(each) for name, each in run.facts.items()},
            environment=self._record(run.environment),
            environment_details=self._record(run.environment_details),
            environment_variables=self._record(run.environment_variables),
            recipe=self._record(run.recipe),
            argv=self._record(run.argv),
            nodes=self._record(run.nodes),
            source=self._record(run.source),
            figures=self._figures(run.figures, run.rule),
            audit=run.audit if run.audit is UNSET else self._figures(run.audit, ""),
            metrics={name: self._metric(each) for name, each in run.metrics.items()},
            witnesses=tuple(self._witness(each) for each in run.witnesses),
            problems=tuple(self._problem(each, run) for each in run.problems),
            format=None if run.format is None else self._text(run.format),
            outcome=self._text(run.outcome),
            rule=self._text(run.rule),
        )

    def _figures(self, figures: Figures, headline: str) -> Figures:
        return Figures({rule: self._figure(each, rule == headline) for rule, each in figures.items()})

    def _figure(self, figure: Figure | NoFigure, headline: bool) -> Figure | NoFigure:
        if isinstance(figure, NoFigure):
            return self._record(figure)
        return replace(
            figure,
            unit=self._text(figure.unit),
            scope=self._text(figure.scope),
            used=self._number(figure.used),
            skipped=self._number(figure.skipped),
            first_line=self._number(figure.first_line),
            last_line=self._number(figure.last_line),
            arithmetic=figure.arithmetic if headline else "",
        )

    def _metric(self, metric: MetricFigure) -> MetricFigure:
        if metric.value is None:
            return self._record(metric)
        source = None if metric.source is None else self._text(metric.source)
        return replace(metric, unit=self._text(metric.unit), source=source, arithmetic=None)

    def _witness(self, witness: Witness) -> Witness:
        if witness.value is None:
            return self._record(witness)
        return replace(
            witness,
            kind=self._text(witness.kind),
            verdict=self._text(witness.verdict),
            unit=self._text(witness.unit),
            first_line=self._number(witness.first_line),
            last_line=self._number(witness.last_line),
            arithmetic="",
        )

    def _problem(self, problem: Problem, run: Run) -> Problem:
        names = {run.path: run.path, run.duplicate_of: run.duplicate_of}
        args = {name: names.get(each, each) if isinstance(each, str) else each for name, each in problem.args.items()}
        path = run.path if problem.path == run.path else problem.path
        return Problem(self._text(problem.code), path, problem.line, args if args else self._nothing)

    def _fact(self, fact: FactValue) -> FactValue:
        if isinstance(fact.value, list | dict):
            return self._record(fact)
        return self._facts.setdefault((type(fact.value), fact.value, fact.source, fact.where), fact)

    def _number(self, number: int) -> int:
        """Return the first whole number that is equal: most figures of a run are of the same records."""
        return self._numbers.setdefault(number, number)

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _record(self, record: _Shared) -> _Shared:
        """Return the first record that is equal."""
        if not record:
            return record
        found = self._records.setdefault((type(record), msgspec.json.encode(record)), record)
        assert isinstance(found, type(record))
        return found
