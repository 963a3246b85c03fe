"""Results as candidates of a comparison: which of them did the same work, and what is said of each case.

A place is a model on a number of devices of one hardware, in one group of precisions. Its results form several cases
if they did different work, such as with another batch size. No case passes over a faster result that it leaves out: if
an entrant without a figure in a case is faster in another case, the case has no winner.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute import comparison, results
from perfledger.ingest.compute.comparison import Candidate, LeftOut, Verdict, Workload
from perfledger.ingest.compute.contrast import Measured
from perfledger.schema.records import Result, Run
from perfledger.schema.vocabulary import PRECISION_GROUPS, precision_group

THROUGHPUT = "throughput"
#: Runs by id.
Runs = Mapping[str, Run]
#: A hardware, a precision group, and their results.
Section = tuple[str, str, tuple[Result, ...]]
JudgedCase = tuple[list[Result], Verdict]


class Grouping(Protocol):
    """How the results of a model are grouped; a suite is one."""

    @property
    def workload(self) -> Workload:
        """The options that make another workload, with their default values."""

    def variant(self, row: Result) -> str:
        """Return the model of a result if several are grouped."""

    def row_key(self, row: Result) -> Hashable:
        """Return what results of one case have in common."""


def measured(runs: Runs, row: Result, view: str) -> Measured | None:
    """Return a result's throughput or other metric with its repeats, or None."""
    repeats, stated = [runs[each] for each in row.run_ids], row.metrics.get(view)
    if view == THROUGHPUT:
        return measured_in(repeats, row)
    if stated is None or stated.value is None or not numbers.known(stated.value):
        return None
    low, high = (
        each if each is not None and numbers.known(each) else stated.value for each in (stated.low, stated.high)
    )
    # A score is not a median of its runs.
    groups = () if stated.rule else results.groups(repeats, row.rule, view)
    return Measured(stated.value, low, high, stated.repeats, stated.spread, stated.unit, groups=groups)


def measured_in(runs: Sequence[Run], row: Result) -> Measured | None:
    """Return the throughput of some of the repeats of a result, or None."""
    if (over := results.figure(runs, row.rule)) is None:
        return None
    return Measured(
        over.value, over.low, over.high, over.repeats, over.spread, row.unit,
        groups=results.groups(runs, row.rule), rules=results.by_rule(runs, row.rule),
    )  # fmt: skip


def candidates(runs: Runs, rows: Sequence[Result], axis: str = "framework") -> list[Candidate]:
    """Return the results that have a throughput, with that figure, as entrants of an axis."""
    of_rows = ((row, tuple(runs[each] for each in row.run_ids)) for row in rows)
    return [Candidate(row, figure, of, axis) for row, of in of_rows if (figure := measured_in(of, row))]


def sections(rows: Sequence[Result]) -> list[Section]:
    """Return results by hardware and precision group, in the order of the pages."""
    groups = [*PRECISION_GROUPS, "unknown"]
    found = by_key(rows, lambda row: (row.hardware or "", groups.index(precision_group(row.precision))))
    return [(hardware, groups[place], tuple(found[hardware, place])) for hardware, place in sorted(found)]


def places(suite: Grouping, rows: Sequence[Result]) -> list[list[Result]]:
    """Return rows by variant of the model, and number of machines and devices."""

    def place(row: Result) -> tuple[str, int, int]:
        return suite.variant(row), row.nodes or 1, row.devices or 0

    found = by_key(rows, place)
    return [found[key] for key in sorted(found)]


def verdicts(runs: Runs, suite: Grouping, place: Sequence[Result]) -> list[JudgedCase]:
    """Return the cases of a place, each with its verdict on frameworks; the first speaks for the place."""
    return judged(runs, suite, comparison.cases(place, suite.row_key))


def judged(runs: Runs, suite: Grouping, cases: Sequence[list[Result]], axis: str = "framework") -> list[JudgedCase]:
    """Return cases of one place with their verdicts, and with the results of other cases that each leaves out.

    First is the case that most entrants ran, then that with the largest batch size, then the fastest.
    """
    of_cases = [candidates(runs, case, axis) for case in cases]
    by_speed = sorted(
        ((number, each) for number, case in enumerate(of_cases) for each in case),
        key=lambda of: (-of[1].figure.value, of[1].result.run_ids),
    )
    found: list[JudgedCase] = []
    for number, (rows, case) in enumerate(zip(cases, of_cases, strict=True)):
        others = [each for other, each in by_speed if other != number]
        said = comparison.verdict(case, suite.workload)
        found.append((rows, _with_left_out(said, others, suite.workload) if said.ranked else said))
    return sorted(found, key=_weight, reverse=True)


def _with_left_out(found: Verdict, others: Sequence[Candidate], workload: Workload) -> Verdict:
    """Add the results that a case leaves out; it has no winner if another entrant is faster in another case."""
    left_out = tuple(_left_out(found, others, workload))
    here = {each.entrant for each in found.ranked}
    faster = [each for each in left_out if each.is_faster and each.candidate.entrant not in here]
    if found.contrast is None or not faster:
        return replace(found, left_out=left_out)
    ranked = (*(each.candidate for each in faster), *found.ranked)
    pair = (ranked[0], found.ranked[0])
    return Verdict("conditions", found.unit, ranked, pair, faster[0].reasons, left_out=left_out)


def _left_out(found: Verdict, others: Sequence[Candidate], workload: Workload) -> Iterator[LeftOut]:
    """Yield the fastest result of each entrant that has no figure in a case, or is faster than the case's best."""
    first, seen = found.ranked[0], set[str]()
    here = {each.entrant for each in found.ranked}
    for each in sorted(others, key=lambda one: one.figure.unit != found.unit):
        is_faster = each.figure.unit == found.unit and each.figure.value > first.figure.value
        if each.entrant not in seen and (is_faster or each.entrant not in here):
            seen.add(each.entrant)
            said = comparison.comparability(each.statement, first.statement, first.axis, workload)
            yield LeftOut(each, is_faster, said.apart)


def _weight(case: JudgedCase) -> tuple[int, int, float]:
    rows, verdict = case
    return len(verdict.entrants), rows[0].batch_size or 0, max((row.value or 0 for row in rows), default=0)


def sources(runs: Sequence[Run], metric: str) -> list[str]:
    """Return where a metric comes from: memory as the driver counts it is not what a framework has allocated."""
    return sorted({run.metrics[metric].source or "" for run in runs if metric in run.metrics})
