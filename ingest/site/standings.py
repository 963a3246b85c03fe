"""The standings: which results of a model did the same work, and which of them is fastest.

They are compared along one axis at a time; all else is equal. A result that does not state its precision, or whether
it was compiled, is not an entrant of that axis. A place is a model on a number of devices of one hardware; along
another axis than the framework it is of one framework, too. If the results of a place form several cases, its standing
is of the case that most entrants ran, then of that with the largest batch size, then of the fastest.
`ingest.compute.comparison_place` adds the faster results that the case leaves out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.comparison import Candidate, Verdict, entrant
from perfledger.ingest.compute.comparison_place import place_verdicts
from perfledger.ingest.site.model import Row, Site, Suite, named, options_text, precision_name
from perfledger.ingest.site.options import value_of
from perfledger.ingest.site.result_tables import sections
from perfledger.ingest.site.table_metrics import candidates, places

FRAMEWORK = "framework"
#: Facts and options that the front page compares, one at a time; the page of hardware compares hardware.
AXES = (FRAMEWORK, "precision", "compile")


@dataclass(frozen=True)
class Standing:
    """One comparison along an axis.

    `group` is the group of precisions, empty if precisions are compared. `rows` are the results of the case, and
    `others` is the number of cases of the same place that it was chosen from.
    """

    suite: Suite
    hardware: str
    axis: str
    group: str
    rows: tuple[Row, ...]
    verdict: Verdict
    others: int

    @property
    def is_compared(self) -> bool:
        """Whether the case has several entrants."""
        return self.verdict.kind not in ("alone", "none")


def standings(site: Site) -> Mapping[tuple[str, str], tuple[Standing, ...]]:
    """Return all standings by hardware and axis, in the order of the models."""
    found: dict[tuple[str, str], list[Standing]] = {}
    for suite in site.shown:
        for axis in AXES:
            for each in _of_suite(site, suite, axis):
                found.setdefault((each.hardware, axis), []).append(each)
    return {key: tuple(each) for key, each in found.items()}


def _of_suite(site: Site, suite: Suite, axis: str) -> Iterator[Standing]:
    for hardware, group, rows in _sections(site, suite, axis):
        for place in _places(suite, axis, [row for row in rows if axis == FRAMEWORK or entrant(row, axis)]):
            cases = _cases(suite, axis, place)
            entrants = [candidates(site, case, axis=axis) for case in cases]
            judged = list(zip(cases, place_verdicts(entrants, suite.workload), strict=True))
            case, verdict = max(judged, key=_weight)
            yield Standing(suite, hardware, axis, group, tuple(case), verdict, len(cases) - 1)


def _sections(site: Site, suite: Suite, axis: str) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Yield the results of a suite by hardware and group of precisions, or by hardware if precisions are compared."""
    if axis != "precision":
        yield from sections(site, suite)
        return
    by_hardware: dict[str, list[Row]] = {}
    for hardware, _, rows in sections(site, suite):
        by_hardware.setdefault(hardware, []).extend(rows)
    for hardware, found in by_hardware.items():
        yield hardware, "", found


def _places(suite: Suite, axis: str, rows: Sequence[Row]) -> list[list[Row]]:
    found = places(suite, rows)
    return found if axis == FRAMEWORK else [each for place in found for each in _by_framework(place)]


def _by_framework(rows: Sequence[Row]) -> list[list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.framework or "", []).append(row)
    return list(found.values())


def _cases(suite: Suite, axis: str, rows: Sequence[Row]) -> list[list[Row]]:
    if axis == FRAMEWORK:
        return comparison.cases(rows, suite.row_key)
    found: dict[Hashable, list[Row]] = {}
    for row in rows:
        others = {name: value for name, value in row.options.items() if name != axis}
        precision = None if axis == "precision" else row.precision
        found.setdefault((suite.row_key(row), precision, options_text(others)), []).append(row)
    return list(found.values())


def _weight(judged: tuple[Sequence[Row], Verdict]) -> tuple[int, int, float]:
    rows, verdict = judged
    left_out = [each.candidate for each in verdict.left_out]
    entrants = sum(not any(each is other for other in left_out) for each in verdict.ranked)
    return entrants, rows[0].batch_size or 0, max((row.value or 0 for row in rows), default=0)


def entrant_name(candidate: Candidate) -> Text:
    """Return the words for what competes: a framework, a precision, or the value of an option."""
    return name_on(candidate.axis, entrant(candidate.result, candidate.axis))


def name_on(axis: str, value: str) -> Text:
    """Return the words for a value of an axis."""
    if axis == FRAMEWORK:
        return named(value)
    if axis == "precision":
        return precision_name(value or None)
    return value_of(value) if value else phrase("site.unknown")
