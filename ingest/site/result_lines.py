"""The statements of a model's page about each result: its place among those of the same work, or why it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import candidates, places, verdicts
from perfledger.ingest.compute.comparison import Candidate, Verdict, comparability
from perfledger.ingest.site import addresses
from perfledger.ingest.site.answer_marks import best_of_case, cautions, left_out_reasons, overturning
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.hardware_names import by_interest, product
from perfledger.ingest.site.model import Row, Site, Suite, group_name, named
from perfledger.ingest.site.render.table import Facets, Link
from perfledger.ingest.site.result_tables import sections
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.verdict_words import ratio

ACCUMULATION = "accumulation"
JOB_BATCH = "batch_size_of_job"
#: Options that cut a model over devices: the batch of the job is then not that of a device times the devices.
_CUT = ("tensor_parallel", "pipeline_parallel")


@dataclass(frozen=True)
class ResultLine:
    """A result on the page of its model.

    Attributes:
        verdict: its place among the results that did the same work, a word and a number; empty without rivals.
        apart: why it is shown without being ranked; empty if it is ranked.
        cautions: what speaks against its figure.
        accumulation: the batches per update, if all of its logs state them.
        place: the number of its comparison in the order of the page.
    """

    row: Row
    group: str
    verdict: Text
    apart: Text
    cautions: tuple[Text, ...]
    accumulation: int | None
    place: int

    @property
    def is_known(self) -> bool:
        """Whether the result has a figure."""
        return numbers.known(self.row.value)

    @property
    def facets(self) -> Facets:
        """Its names and values for the filters of the page."""
        return facets_of(self.row.hardware or "", self.group, [self.row.devices or 0], [self.row.framework or ""])

    @property
    def global_batch(self) -> int | None:
        """The samples of one update, if the log states the accumulation or the batch of the job."""
        row = self.row
        if isinstance(stated := row.options.get(JOB_BATCH), int):
            return stated
        if not self.accumulation or any(row.options.get(each, 1) != 1 for each in _CUT):
            return None
        return row.batch_size * row.devices * self.accumulation if row.batch_size and row.devices else None


@dataclass(frozen=True)
class ResultSlice:
    """The results of one hardware and group of precisions, the fastest of each comparison first."""

    hardware: str
    group: str
    lines: tuple[ResultLine, ...]

    @property
    def title(self) -> tuple[Text, ...]:
        """The hardware and the group of precisions in words."""
        return product(self.hardware), group_name(self.group)

    @property
    def facets(self) -> Facets:
        """Its names and values for the filters of the page."""
        return facets_of(self.hardware, self.group)

    @property
    def is_scaled(self) -> bool:
        """Whether it has results of several devices."""
        return any((row.devices or 1) > 1 for row in self.rows)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its results."""
        return tuple(each.row for each in self.lines)


def slices(site: Site, suite: Suite) -> tuple[ResultSlice, ...]:
    """Return the results of a model by hardware and group of precisions; the page opens with the first."""
    return site.once(_slices)[suite.id]


def _slices(site: Site) -> Mapping[str, tuple[ResultSlice, ...]]:
    return {suite.id: _of_suite(site, suite) for suite in site.shown}


def _of_suite(site: Site, suite: Suite) -> tuple[ResultSlice, ...]:
    order = hardware_of_suite(site, suite)
    found = sorted(sections(site, suite), key=lambda each: order.index(each[0]))
    return tuple(ResultSlice(hardware, group, _lines(site, suite, group, rows)) for hardware, group, rows in found)


def verdicts_of_runs(site: Site) -> Mapping[str, Link]:
    """Return what the page of its model says of the result of each run, by run id, with a link to it."""
    found: dict[str, Link] = {}
    for suite in site.shown:
        page = addresses.section(addresses.model_page(suite), "comparison")
        for each in (line for of in slices(site, suite) for line in of.lines):
            if said := each.verdict or not_ranked(each):
                found |= dict.fromkeys(each.row.run_ids, Link(said, page))
    return found


def hardware_of_suite(site: Site, suite: Suite) -> list[str]:
    """Return the hardware of a model's results, the one that pages open with first."""
    order = {each: place for place, each in enumerate(site.once(by_interest))}
    found = {row.hardware or "" for row in site.rows.get(suite.id, ())}
    return sorted(found, key=lambda each: (order.get(each, len(order)), each))


def accumulated(site: Site, row: Row) -> int | None:
    """Return the batches per update of a result; None if not all of its logs state it."""
    if isinstance(stated := row.options.get(ACCUMULATION), int):
        return stated
    facts = [site.by_id[each].facts.get(ACCUMULATION) for each in row.run_ids]
    return 1 if all(fact and fact.value == 1 for fact in facts) else None


def _lines(site: Site, suite: Suite, group: str, rows: Sequence[Row]) -> tuple[ResultLine, ...]:
    found: list[ResultLine] = []
    for of_place in places(suite, rows):
        judged = verdicts(site.by_id, suite, of_place)
        entrants = {each.result.run_ids: each for each in candidates(site.by_id, of_place)}
        for case, verdict in judged:
            for row in sorted(case, key=lambda each: -(each.value or 0)):
                mine = entrants.get(row.run_ids)
                said, apart = _place_of(mine, verdict, judged[0][1], suite) if mine else ("", "")
                against = (*cautions(site, suite, row), *reservations(row)) if mine else ()
                found.append(ResultLine(row, group, said, apart, against, accumulated(site, row), len(found)))
    return tuple(sorted(found, key=lambda each: (each.row.nodes or 1, each.row.devices or 0, each.place)))


def _place_of(mine: Candidate, own: Verdict, reference: Verdict, suite: Suite) -> tuple[Text, Text]:
    """Return the verdict on a result in its own case, or the reason why it is not ranked."""
    entrants = own.entrants
    if own.kind == "units" or (len(entrants) > 1 and mine.figure.unit != own.unit):
        return "", phrase("model.other_unit")
    if len(entrants) > 1:
        best = entrants[0]
        if mine.result.run_ids == best.result.run_ids:
            return lead(own), ""
        return phrase("model.share", share=numbers.percent(mine.figure.value / best.figure.value, 0)), ""
    if own is reference or all(each.framework == mine.framework for each in reference.entrants):
        return "", ""
    # Why a result is not compared with the best of the case that most frameworks ran.
    best = best_of_case(reference)
    said = comparability(mine.statement, best.statement, mine.axis, suite.workload)
    return "", left_out_reasons(said.apart, best)


def not_ranked(found: ResultLine) -> Text:
    """Return in words why a result is not ranked; empty if it is."""
    return phrase("model.apart", reason=found.apart) if found.apart else ""


def lead(found: Verdict) -> Text:
    """Return how sure it is that the first of a case is ahead, and by how much; or why that is not compared."""
    if found.contrast is not None:
        times = phrase("model.ratio", ratio=ratio(found.contrast))
        return phrase(f"model.lead_{found.contrast.grade}", ratio=times)
    if (missed := overturning(found)) is not None:
        reasons = left_out_reasons(missed.reasons, best_of_case(found))
        return phrase("model.lead_overturned", name=named(missed.candidate.framework), reasons=reasons)
    if found.kind == "conditions":
        first = found.pair[0]
        return phrase("model.lead_conditions", reasons=left_out_reasons(found.reasons, first))
    return phrase("model.lead_units") if found.kind == "units" else ""
