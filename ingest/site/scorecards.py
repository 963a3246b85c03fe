"""Scorecards: each framework against its fastest rival, by the standings.

A framework has a placing in each case that it has a figure in. The fastest one has the verdict of the standing; any
other one has the verdict of a comparison with the fastest alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.candidates import candidates
from perfledger.ingest.compute.comparison import Candidate, Verdict
from perfledger.ingest.compute.standings import FRAMEWORK
from perfledger.ingest.site.hardware_names import is_accelerator
from perfledger.ingest.site.model import Row, Site, SuiteStanding, framework_of

#: Result of a framework in a case. `apart`: it may not be compared with the fastest; `alone`: nobody else ran the case.
Kind = Literal["clear_win", "likely_win", "tie", "likely_loss", "clear_loss", "apart", "alone"]
#: Kinds with a comparison of two figures.
COMPARED: tuple[Kind, ...] = ("clear_win", "likely_win", "tie", "likely_loss", "clear_loss")
#: Fewer comparisons give no score.
FEWEST = 5


@dataclass(frozen=True)
class Placing:
    """The result of a framework in the case of a standing; `rival` is the fastest of the others, if any."""

    standing: SuiteStanding
    kind: Kind
    mine: Candidate
    rival: Candidate | None = None

    @property
    def row(self) -> Row:
        """The result that represents the framework."""
        return self.mine.result

    @property
    def ratio(self) -> float:
        """Its figure over that of the best rival; 0 without one."""
        return self.mine.figure.value / self.rival.figure.value if self.rival else 0.0


@dataclass(frozen=True)
class Score:
    """Comparisons of a framework, those on accelerators first, and then the highest ratio."""

    compared: tuple[Placing, ...]

    def count(self, *kinds: Kind) -> int:
        """Return the number of comparisons with one of some results."""
        return sum(each.kind in kinds for each in self.compared)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of cases that are won, too close to call, and lost, clearly or likely."""
        return self.count("clear_win", "likely_win"), self.count("tie"), self.count("likely_loss", "clear_loss")

    @property
    def is_telling(self) -> bool:
        """Whether wins are counted: there are some comparisons, and not on processors alone."""
        return len(self.compared) >= FEWEST and any(is_accelerator(each.standing.hardware) for each in self.compared)


def frameworks(site: Site) -> tuple[str, ...]:
    """Return the frameworks of all runs that count, by name; then those that only others measured."""
    ours = {framework_of(run) for run in site.counted}
    published = {row.framework for row in site.published.rows if row.value is not None and row.framework}
    return tuple(sorted(ours | published, key=lambda each: (each not in ours, each.casefold())))


def scores(site: Site) -> Mapping[str, Score]:
    """Return the score of each framework."""
    found = placings(site)
    compared = {name: [each for each in found.get(name, ()) if each.kind in COMPARED] for name in site.once(frameworks)}
    return {name: Score(tuple(sorted(mine, key=_order))) for name, mine in compared.items()}


def _order(placing: Placing) -> tuple[bool, float]:
    return not is_accelerator(placing.standing.hardware), -placing.ratio


def placings(site: Site) -> Mapping[str, Sequence[Placing]]:
    """Return all placings by framework."""
    found: dict[str, list[Placing]] = {}
    for (_, axis), of_hardware in site.standings.items():
        for standing in of_hardware if axis == FRAMEWORK else ():
            for each in _of_standing(site, standing):
                found.setdefault(each.mine.framework, []).append(each)
    return found


def _of_standing(site: Site, standing: SuiteStanding) -> Iterator[Placing]:
    of_case = sorted(candidates(site.by_id, standing.rows), key=lambda each: -each.figure.value)
    best = {each.framework: each for each in standing.verdict.ranked}
    for each in of_case:  # what counts in another unit is not ranked
        best.setdefault(each.framework, each)
    for mine in best.values():
        rival = next((each for each in best.values() if each is not mine), None)
        yield Placing(standing, _kind(standing, mine, of_case), mine, rival)


def _kind(standing: SuiteStanding, mine: Candidate, of_case: Sequence[Candidate]) -> Kind:
    found = standing.verdict
    first = found.ranked[0]
    if mine is first:
        return _of_first(found)
    two = [each for each in of_case if each.framework in (first.framework, mine.framework)]
    apart = comparison.verdict(two, "higher", standing.suite.workload)
    if found.contrast is None or apart.contrast is None:
        return "apart"
    return "tie" if apart.kind == "close" else "clear_loss" if apart.kind == "clear" else "likely_loss"


def _of_first(found: Verdict) -> Kind:
    if found.kind == "alone":
        return "alone"
    if found.contrast is None:
        return "apart"
    return "tie" if found.kind == "close" else "clear_win" if found.kind == "clear" else "likely_win"
