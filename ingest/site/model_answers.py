"""The answers on the page of a model: the fastest result of each comparison, by how much, and what speaks against it.

They follow from the standings, which the front page shows, too. A framework that was measured alone is compared along
another axis where its results allow it, such as with and without compilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.standings import AXES, FRAMEWORK
from perfledger.ingest.site.answer_marks import Mark, best_of_case, marks, run_page
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.model import Row, Site, Suite, SuiteStanding, group_name, precision_name, written
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.render.table import Facets
from perfledger.ingest.site.result_lines import ACCUMULATION, lead
from perfledger.ingest.site.verdict_words import devices, entrant_name
from perfledger.schema.vocabulary import precision_group


@dataclass(frozen=True)
class Answer:
    """The fastest result of one comparison: `case` is what all of its results have in common."""

    case: tuple[Text, ...]
    name: Text
    figure: Text
    page: str | None
    verdict: Text
    second: Text
    cautions: tuple[Mark, ...]
    facets: Facets


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
    best, row = best_of_case(found.verdict), best_of_case(found.verdict).result
    frameworks = sorted({each.framework for each in found.verdict.ranked})
    groups = sorted({precision_group(row.precision) for row in found.rows})
    facets = facets_of(found.hardware, "", [found.rows[0].devices or 0], frameworks)
    return Answer(
        case=tuple(_case(found, row)),
        name=entrant_name(best),
        figure=phrase("front.cell", figure=written(row), unit=row.unit),
        page=run_page(site, row),
        verdict=lead(found.verdict),
        second=entrant_name(found.verdict.pair[1]) if found.verdict.contrast else "",
        cautions=tuple(each for each in marks(site, found.suite, found.verdict) if each.warns),
        facets=(*facets, ("precision", " ".join(groups))),
    )


def _case(found: SuiteStanding, row: Row) -> Iterator[Text]:
    """Yield precision, devices, batch size and workload, and the framework where something else is compared."""
    suite = found.suite
    if found.axis != FRAMEWORK:
        yield row.framework or ""
    if found.axis != "precision":
        yield group_name(found.group) if found.axis == FRAMEWORK else precision_name(row.precision)
    yield devices(row)
    if row.batch_size:
        yield phrase("front.batch_short", n=numbers.count(row.batch_size))
    names = {ACCUMULATION, "batch_size_of_job"} if numbers.known(row.value) else set()
    shared = {
        name: row.options[name]
        for name in sorted(names & row.options.keys())
        if len({repr(each.options.get(name)) for each in found.rows}) == 1
    }
    for each in (suite.workload_words(row.model, row.options, *names), in_words(shared)):
        if each:
            yield each
