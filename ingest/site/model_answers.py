"""The answers on the page of a model: the fastest result of each comparison, by how much, and what speaks against it.

They are the lines of the front page, with the fastest result alone. A framework that was measured alone is compared
along another axis where its results allow it, such as with and without compilation.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common.words import Text
from perfledger.ingest.compute.standings import AXES, FRAMEWORK
from perfledger.ingest.site.answer_marks import Mark, best_of_case
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.machines import StandingEntry, StandingLine, line_of
from perfledger.ingest.site.model import Site, Suite, SuiteStanding
from perfledger.ingest.site.render.table import Facets
from perfledger.ingest.site.verdict_words import entrant_name
from perfledger.schema.vocabulary import precision_group


@dataclass(frozen=True)
class Answer:
    """The line of one comparison, and the `name` and the entry of its fastest result."""

    line: StandingLine
    name: Text
    best: StandingEntry
    facets: Facets

    @property
    def cautions(self) -> list[Mark]:
        """Its warnings."""
        return [each for each in self.line.marks if each.warns]


def answers(site: Site, suite: Suite, hardware: str) -> tuple[Answer, ...]:
    """Return the answers on a hardware: comparisons of frameworks, then those along other axes, then single results."""
    mine = [each for axis in AXES for each in site.standings.get((hardware, axis), ()) if each.suite.id == suite.id]
    # Along another axis than the framework, a result alone says nothing.
    alone = [each for each in mine if each.axis == FRAMEWORK and each.verdict.kind == "alone"]
    shown: list[SuiteStanding] = []
    for each in (*(each for each in mine if each.is_compared), *alone):
        shown_before = {row.run_ids for other in shown if other.axis != each.axis for row in other.rows}
        if not any(row.run_ids in shown_before for row in each.rows):
            shown.append(each)
    return tuple(_answer(site, each) for each in shown)


def _answer(site: Site, found: SuiteStanding) -> Answer:
    first = best_of_case(found.verdict)
    line = line_of(site, found, (first.entrant,))
    (best,) = filter(None, line.entries)
    frameworks = sorted({each.framework for each in found.verdict.ranked})
    groups = sorted({precision_group(row.precision) for row in found.rows})
    facets = facets_of(found.hardware, "", [found.rows[0].devices or 0], frameworks)
    return Answer(line, entrant_name(first), best, (*facets, ("precision", " ".join(groups))))
