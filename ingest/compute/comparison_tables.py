"""Tabulate the decisions of `comparison` for every two results that the compare page can place together.

The page places results together if they agree in the conditions of the reader's level (`comparison_levels.PLACE`),
except for the condition that it compares. Their other conditions form a statement, which decides whether they may be
compared. There are few different statements: each result gets the number of its own, and a table contains the verdict
on every two statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import Struct

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute.comparison import (
    AXES,
    Comparability,
    Difference,
    Statement,
    Workload,
    differences,
    differs_in,
    judged,
    statement_of_record,
)
from perfledger.ingest.compute.comparison_levels import Level, Values, coarse, coarse_option
from perfledger.ingest.compute.contrast import Grade, Measured, contrast, written
from perfledger.schema.results import ResultRecord

_Key = TypeVar("_Key")
#: The figures that were measured here, by the result's id and the metric.
Figures = Mapping[tuple[str, str], Measured]

THROUGHPUT = "throughput"
#: Any figure without a unit: a speed-up, an efficiency, or one that is absent.
RATIO = "ratio"
#: Facts that the page's reader chooses; the page groups results by them.
_CHOSEN = ("hardware", "precision", "devices", "batch_size")


class PairOutcome(Struct, frozen=True, omit_defaults=True):
    """The comparison of two results: differences as `kind.name`; if they did the same work, unknown conditions, too.

    Attributes:
        workload: what differs, and is allowed to from this level on.
        everything: what is allowed to differ at the loosest level alone.
        never: what forbids the comparison at every level.
    """

    workload: tuple[str, ...] = ()
    everything: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Lead(Struct, frozen=True, omit_defaults=True):
    """How far a result is ahead of another: its figure over the other's, from the least to the most.

    Attributes:
        grade: how sure that is.
        more: about how many runs of each would settle it.
    """

    grade: Grade
    low: str
    high: str
    more: int | None = None


class StatementTable(Struct, frozen=True):
    """The statements of a suite's results about one metric.

    Attributes:
        numbers: by result id, the number of its statement.
        pairs: `pairs[a][b]` is the index of the verdict on the statements a and b, where b <= a.
    """

    numbers: dict[str, int]
    pairs: list[list[int]]


class ComparisonTables(Struct, frozen=True):
    """The decisions that the compare page looks up.

    Attributes:
        statements: by suite and metric.
        verdicts: by axis, the index of the outcome.
        outcomes: the distinct outcomes.
        ahead: by metric and id of a result: the results of other frameworks that it is ahead of, of those measured
            here on the same hardware with the same number of devices.
        overturned: by id of a result: the faster results that leave its case without a winner.
    """

    statements: dict[str, dict[str, StatementTable]]
    verdicts: list[dict[str, int]]
    outcomes: list[PairOutcome]
    ahead: dict[str, dict[str, dict[str, Lead]]]
    overturned: dict[str, list[str]] = {}


def tables(records: Sequence[ResultRecord], workloads: Mapping[str, Workload], figures: Figures) -> ComparisonTables:
    """Return the decisions about the results of `results.json`.

    Args:
        records: the results.
        workloads: by suite, the options that make another workload.
        figures: those of the results that were measured here, with their repeats.
    """
    statements: dict[str, dict[str, StatementTable]] = {}
    ahead: dict[str, dict[str, dict[str, Lead]]] = {}
    verdicts: dict[tuple[PairOutcome, ...], int] = {}
    for (suite, metric), members in _by_figure(records).items():
        workload = workloads.get(suite, {})
        stated = {record.id: _statement(record, metric) for record in members}
        statements.setdefault(suite, {})[metric] = _statement_table(stated, workload, verdicts)
        if metric != RATIO:
            ahead.setdefault(metric, {}).update(_ahead(members, metric, figures))
    outcomes: dict[PairOutcome, int] = {}
    places = [[_number(each, outcomes) for each in verdict] for verdict in verdicts]
    by_axis = [dict(zip(AXES, each, strict=True)) for each in places]
    return ComparisonTables(statements, by_axis, list(outcomes), ahead)


def _number(key: _Key, known: dict[_Key, int]) -> int:
    return known.setdefault(key, len(known))


def _by_figure(records: Sequence[ResultRecord]) -> dict[tuple[str, str], list[ResultRecord]]:
    """Return the results by suite and metric."""
    found: dict[tuple[str, str], list[ResultRecord]] = {}
    for record in records:
        stated = [name for name, metric in record.metrics.items() if metric.value is not None]
        for name in (RATIO, *([] if record.value is None else [THROUGHPUT]), *stated):
            found.setdefault((record.suite, name), []).append(record)
    return found


# ---- what may be compared ----


def _statement_table(
    stated: Mapping[str, Statement], workload: Workload, verdicts: dict[tuple[PairOutcome, ...], int]
) -> StatementTable:
    options = sorted({name for each in stated.values() for name in each.options})
    distinct: dict[tuple[Values, ...], int] = {}
    numbers, examples = {}, dict[int, Statement]()
    for identifier, each in stated.items():
        numbers[identifier] = _number(_values(each, options, workload), distinct)
        examples.setdefault(numbers[identifier], each)
    # Values that are the same in all statements distinguish no pair.
    varying = [each for each in zip(*distinct, strict=True) if len(set(each)) > 1]
    distinguishing = list(zip(*varying, strict=True)) or [()]
    return StatementTable(numbers, list(_pairs(distinguishing, examples, workload, verdicts)))


def _values(stated: Statement, options: Sequence[str], workload: Workload) -> tuple[Values, ...]:
    """Return a statement, and as much of it as the level `workload` distinguishes."""
    named = [*stated.facts.items(), *stated.conditions.items()]
    chosen = [(name, stated.option(name, workload)) for name in options]
    return (
        *(each for _, each in (*named, *chosen)),
        *(coarse(name, each) for name, each in named),
        *(each if name in workload else coarse_option(name, each) for name, each in chosen),
    )


def _pairs(
    values: Sequence[Sequence[Values]],
    examples: Mapping[int, Statement],
    workload: Workload,
    verdicts: dict[tuple[PairOutcome, ...], int],
) -> Iterator[list[int]]:
    # Only whether values are stated and equal matters: pairs that are alike in that share one verdict.
    known: dict[tuple[tuple[bool, bool, bool], ...], int] = {}
    for a, of_a in enumerate(values):
        row = []
        for b, of_b in enumerate(values[: a + 1]):
            alike = tuple((bool(x), bool(y), x == y) for x, y in zip(of_a, of_b, strict=True))
            if alike not in known:
                known[alike] = _number(_verdict(examples[a], examples[b], workload), verdicts)
            row.append(known[alike])
        yield row


def _statement(record: ResultRecord, metric: str) -> Statement:
    """Return the statement of a result, with every fact of the reader's choice replaced by the same word."""
    found = statement_of_record(record, THROUGHPUT if metric == RATIO else metric)
    chosen = {name: ("chosen",) for name in _CHOSEN if found.facts[name]}
    # A loss has no unit; that is not one that nobody states.
    unit = () if metric == RATIO else found.facts["unit"]
    return replace(found, facts={**found.facts, **chosen, "unit": unit or (RATIO,)})


def _verdict(a: Statement, b: Statement, workload: Workload) -> tuple[PairOutcome, ...]:
    """Return the outcome along each axis; facts of the reader's choice are equal, except the compared one."""
    found = differences(a, b, workload)
    return tuple(
        _outcome(judged(found, axis, fact in _CHOSEN or differs_in(a, b, fact))) for axis, fact in AXES.items()
    )


def _outcome(found: Comparability) -> PairOutcome:
    def names(level: Level | None) -> tuple[str, ...]:
        return _names([each for each in found.differs if each.tolerated == level])

    everything, never = names("everything"), names(None)
    return PairOutcome(names("workload"), everything, never, () if everything or never else _names(found.unknown))


def _names(found: Sequence[Difference]) -> tuple[str, ...]:
    return tuple(f"{each.kind}.{each.name}" for each in found)


# ---- which is best ----


def _ahead(records: Sequence[ResultRecord], metric: str, known: Figures) -> Iterator[tuple[str, dict[str, Lead]]]:
    """Yield each result that is ahead of results of other frameworks on the same hardware and devices, with these.

    Those that others published state no repeats, and never lead.
    """
    ours = [each for each in records if each.origin == "measured"]
    for members in by_key(ours, lambda each: (each.hardware, each.devices)).values():
        figures = {each.id: known[each.id, metric] for each in members}
        better = "higher" if metric == THROUGHPUT else members[0].metrics[metric].better
        for first in members:
            others = [each for each in members if each.framework != first.framework]
            found = {each.id: lead(figures[first.id], figures[each.id], better) for each in others}
            if leads := {name: each for name, each in found.items() if each}:
                yield first.id, leads


def lead(first: Measured, other: Measured, better: str) -> Lead | None:
    """Return the lead over another figure of the same unit; None where the other is ahead."""
    behind = first.value < other.value if better == "higher" else first.value > other.value
    if behind or first.unit != other.unit:
        return None
    found = contrast(first, other) if better == "higher" else contrast(other, first)
    return Lead(found.grade, *written(found), found.more)
