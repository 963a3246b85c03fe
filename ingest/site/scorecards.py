"""Scorecards: each framework against its fastest rival, by the standings.

A framework has a placing in each case that compares its figure. The fastest one has the verdict of the standing; any
other one has the verdict of a comparison with the fastest alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.candidates import candidates
from perfledger.ingest.compute.comparison import Candidate, Outcome
from perfledger.ingest.compute.standings import FRAMEWORK
from perfledger.ingest.site.hardware_names import is_accelerator
from perfledger.ingest.site.model import Row, Site, SuiteStanding, framework_of

Kind = Literal["clear_win", "likely_win", "tie", "likely_loss", "clear_loss"]
#: Result of a framework by whether it is the fastest of its case, and how sure the difference is.
_KINDS: Mapping[tuple[bool, Outcome], Kind] = {
    (True, "clear"): "clear_win", (True, "likely"): "likely_win", (True, "close"): "tie",
    (False, "clear"): "clear_loss", (False, "likely"): "likely_loss", (False, "close"): "tie",
}  # fmt: skip
#: Fewer comparisons give no score.
FEWEST = 5


@dataclass(frozen=True)
class Placing:
    """The result of a framework in the case of a standing; `rival` is the fastest of the others."""

    standing: SuiteStanding
    kind: Kind
    mine: Candidate
    rival: Candidate

    @property
    def row(self) -> Row:
        """The result that represents the framework."""
        return self.mine.result

    @property
    def ratio(self) -> float:
        """Its figure over that of the rival."""
        return self.mine.figure.value / self.rival.figure.value


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

    def order(placing: Placing) -> tuple[bool, float]:
        return not is_accelerator(placing.standing.hardware), -placing.ratio

    found = placings(site)
    return {name: Score(tuple(sorted(found.get(name, ()), key=order))) for name in site.once(frameworks)}


def placings(site: Site) -> Mapping[str, Sequence[Placing]]:
    """Return all placings by framework."""
    of_frameworks = (of_hardware for (_, axis), of_hardware in site.standings.items() if axis == FRAMEWORK)
    found = (placing for each in of_frameworks for standing in each for placing in _of_standing(site, standing))
    return by_key(found, lambda each: each.mine.framework)


def _of_standing(site: Site, standing: SuiteStanding) -> Iterator[Placing]:
    verdict = standing.verdict
    if verdict.contrast is None:
        return
    first, second, *_ = verdict.ranked
    of_case = candidates(site.by_id, standing.rows)
    for mine in verdict.ranked:
        two = [each for each in of_case if each.framework in (first.framework, mine.framework)]
        found = verdict if mine is first else comparison.verdict(two, standing.suite.workload)
        if found.contrast is not None:
            yield Placing(standing, _KINDS[mine is first, found.kind], mine, second if mine is first else first)
