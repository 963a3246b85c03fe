"""Cards of a hardware: the fastest result of each model, how it was measured, and a link to its log lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.answer_marks import run_page
from perfledger.ingest.site.model import Row, Site, Suite, SuiteStanding, named, precision_name, written
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.result_tables import in_tokens, representative, spread_marks
from perfledger.ingest.site.run_tables import log_lines_text
from perfledger.ingest.site.verdict_words import LEADS, devices, entrant_name, ratio, times

#: Cards of a hardware.
CARDS = 6


@dataclass(frozen=True)
class Card:
    """The fastest result of a model: `facts` say how it was measured, `evidence` is the page of its lines."""

    title: Text
    page: str
    figure: str
    unit: str
    case: tuple[Text, ...]
    facts: tuple[Text, ...]
    evidence: Link


def cards(site: Site, hardware: str, compared: Sequence[SuiteStanding]) -> tuple[Card, ...]:
    """Return a card per model or variant of one; those whose fastest result leads a comparison come first."""
    fastest: dict[tuple[str, str], tuple[Suite, Row]] = {}
    for suite in site.shown:
        for row in site.rows.get(suite.id, ()):
            if (row.hardware or "") != hardware or not numbers.known(row.value) or row.diverged:
                continue
            known = fastest.setdefault((suite.id, suite.variant(row)), (suite, row))[1]
            if _speed(row)[0] == _speed(known)[0] and _speed(row) > _speed(known):
                fastest[suite.id, suite.variant(row)] = suite, row
    # If a result leads along several axes, the first counts, which is the framework.
    leads = {id(each.verdict.pair[0].result): each for each in reversed(compared) if each.verdict.kind in LEADS}
    found = sorted(fastest.values(), key=lambda each: id(each[1]) not in leads)
    return tuple(_card(site, suite, row, leads.get(id(row))) for suite, row in found[:CARDS])


def _speed(row: Row) -> tuple[str, float]:
    """Return a result's unit and value for the choice of the fastest: tokens per second if the length is known."""
    tokens = in_tokens(row)
    return (row.unit, row.value or 0) if tokens is None else ("tokens/s", tokens)


def _card(site: Site, suite: Suite, row: Row, lead: SuiteStanding | None) -> Card:
    """Return the card of a result; `lead` is a comparison that it leads."""
    run = representative(site, row)
    figure = run.figure(row.rule)
    lines = addresses.log_lines(site, run, figure.first_line, figure.last_line) if figure else None
    said = log_lines_text(figure.first_line, figure.last_line) if figure and lines else phrase("front.evidence")
    case = (named(row.framework), precision_name(row.precision), devices(row), suite.setting(row))
    return Card(
        title=suite.name_of(row),
        page=addresses.model_page(suite, hardware=row.hardware or ""),
        figure=written(row),
        unit=row.unit,
        case=tuple(each for each in case if each),
        facts=tuple(
            each for each in (lead_in_words(lead) if lead else "", *_peak(row), *spread_marks(row), times(row)) if each
        ),
        evidence=Link(said, lines or run_page(site, row) or addresses.RUNS),
    )


def _peak(row: Row) -> Iterator[Text]:
    """Yield the share of the vendor's peak, or the arithmetic per second."""
    share, flops = row.metrics.get("peak_share"), row.metrics.get("flops")
    if share and share.value is not None:
        yield phrase("front.of_peak", share=f"{share.value:.0f}%")
    elif flops and flops.value is not None:
        yield f"{numbers.figure(flops.value, flops.spread)} {flops.unit}"


def lead_in_words(found: SuiteStanding) -> Text:
    """Return the ratio of the fastest to the next, or the only figure's share of the peak."""
    verdict = found.verdict
    if verdict.contrast is None:
        return listed(_peak(verdict.ranked[0].result)) if verdict.kind == "alone" else ""
    second = entrant_name(verdict.pair[1])
    return phrase("front.lead", ratio=ratio(verdict.contrast), second=second)
