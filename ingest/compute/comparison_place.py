"""Judge the cases of one place together, so that no case passes over a faster result that it leaves out.

A place is a model on a number of devices of one hardware, in one group of precisions. Its results form several cases
if they did different work, such as with another batch size. A framework without a figure in a case may be faster in
another case: then the case has no winner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from perfledger.ingest.compute.comparison import (
    Candidate,
    LeftOut,
    Verdict,
    Workload,
    comparability,
    verdict,
)
from perfledger.ingest.compute.comparison_levels import DEFAULT, Level


def place_verdicts(
    cases: Sequence[Sequence[Candidate]], workload: Workload, level: Level = DEFAULT
) -> Iterator[Verdict]:
    """Yield the verdict on the throughput of each case, with the results of the other cases that it leaves out."""
    fastest = _fastest(cases)
    for number, case in enumerate(cases):
        firsts = (next((each for place, each in mine if place != number), None) for mine in fastest.values())
        others = [each for each in firsts if each]
        yield _with_left_out(verdict(case, "higher", workload, level), others, workload, level)


def _fastest(cases: Sequence[Sequence[Candidate]]) -> Mapping[tuple[str, str], Sequence[tuple[int, Candidate]]]:
    """Return the results of each framework and unit with the number of their case, the fastest first."""
    found: dict[tuple[str, str], list[tuple[int, Candidate]]] = defaultdict(list)
    for number, case in enumerate(cases):
        for each in case:
            found[each.entrant, each.figure.unit].append((number, each))
    return {
        of: sorted(mine, key=lambda one: (-one[1].figure.value, one[1].result.run_ids)) for of, mine in found.items()
    }


def _with_left_out(found: Verdict, others: Sequence[Candidate], workload: Workload, level: Level) -> Verdict:
    """Add the results that a case leaves out; it has no winner if another framework is faster elsewhere."""
    if not found.ranked:
        return found
    left_out = tuple(_left_out(found, others, workload, level))
    here = {each.entrant for each in found.ranked}
    faster = tuple(each.candidate for each in left_out if each.is_faster and each.candidate.entrant not in here)
    if found.contrast is None or not faster:
        return replace(found, left_out=left_out)
    reasons = next(each.reasons for each in left_out if each.candidate is faster[0])
    return Verdict(
        "conditions", found.unit, (*faster, *found.ranked), (faster[0], found.ranked[0]), reasons, left_out=left_out
    )


def _left_out(found: Verdict, others: Sequence[Candidate], workload: Workload, level: Level) -> Iterator[LeftOut]:
    """Yield the fastest result of each framework that has no figure in a case, or is faster than the case's best."""
    first, seen = found.ranked[0], set[str]()
    here = {each.entrant for each in found.ranked}
    for each in sorted(others, key=lambda one: (one.figure.unit != found.unit, -one.figure.value, one.result.run_ids)):
        is_faster = each.figure.unit == found.unit and each.figure.value > first.figure.value
        if each.entrant in seen or (each.entrant in here and not is_faster):
            continue
        seen.add(each.entrant)
        yield LeftOut(
            each, is_faster, comparability(each.statement, first.statement, first.axis, workload, level).apart
        )
