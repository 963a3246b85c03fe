"""The standings: which results of a model did the same work, and which of them is fastest.

They are compared along one axis at a time; all else is equal. A result that does not state its value of an axis, such
as whether it was compiled, is not an entrant of it. A place is a model on a number of devices of one hardware; along
another axis than the framework it is of one framework, too. If the results of a place form several cases, its standing
is of the case that most entrants ran, then of that with the largest batch size, then of the fastest.
The verdict names the faster results that the case leaves out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.candidates import Grouping, Runs, Section, judged, places, sections
from perfledger.ingest.compute.comparison import Verdict, entrant
from perfledger.schema.records import Result

FRAMEWORK = "framework"
#: The axes along which results on one hardware and number of devices compete.
AXES = (FRAMEWORK, "precision", "compile", "trainer")

S = TypeVar("S", bound=Grouping)


@dataclass(frozen=True)
class Standing(Generic[S]):
    """One comparison along an axis.

    `group` is the group of precisions, empty if precisions are compared. `rows` are the results of the case.
    """

    suite: S
    hardware: str
    axis: str
    group: str
    rows: tuple[Result, ...]
    verdict: Verdict

    @property
    def is_compared(self) -> bool:
        """Whether the case has several entrants."""
        return self.verdict.kind not in ("alone", "none")


#: Standings by hardware and axis.
Standings = Mapping[tuple[str, str], tuple[Standing[S], ...]]


def standings(results: Sequence[tuple[S, Sequence[Result]]], runs: Runs) -> Standings[S]:
    """Return all standings of results, which are grouped by suite, in the order of the suites."""
    found: dict[tuple[str, str], list[Standing[S]]] = {}
    for suite, rows in results:
        for axis in AXES:
            for each in _of_suite(suite, rows, runs, axis):
                found.setdefault((each.hardware, axis), []).append(each)
    return {key: tuple(each) for key, each in found.items()}


def _of_suite(suite: S, results: Sequence[Result], runs: Runs, axis: str) -> Iterator[Standing[S]]:
    for hardware, group, rows in _sections(results, axis):
        for place in _places(suite, axis, [row for row in rows if axis == FRAMEWORK or entrant(row, axis)]):
            cases = _cases(suite, axis, place)
            case, verdict = judged(runs, suite, cases, axis=axis)[0]
            yield Standing(suite, hardware, axis, group, tuple(case), verdict)


def _sections(results: Sequence[Result], axis: str) -> list[Section]:
    """Return results by hardware and group of precisions, or by hardware alone if precisions are compared."""
    found = sections(results)
    if axis != "precision":
        return found
    by_hardware = by_key(found, lambda each: each[0])
    return [(name, "", tuple(row for *_, rows in of for row in rows)) for name, of in by_hardware.items()]


def _places(suite: Grouping, axis: str, rows: Sequence[Result]) -> list[list[Result]]:
    found = places(suite, rows)
    if axis == FRAMEWORK:
        return found
    return [each for place in found for each in by_key(place, lambda row: row.framework or "").values()]


def _cases(suite: Grouping, axis: str, rows: Sequence[Result]) -> list[list[Result]]:
    if axis == FRAMEWORK:
        return comparison.cases(rows, suite.row_key)

    def case(row: Result) -> Hashable:
        others = {name: value for name, value in row.options.items() if name != axis}
        return suite.row_key(row), row.precision if axis != "precision" else None, repr(sorted(others.items()))

    return list(by_key(rows, case).values())
