"""Links from a report to others: its editions, the reports before and after it, and its siblings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.declarations import Report
from perfledger.ingest.published.publications import Publisher
from perfledger.ingest.published.slices import select
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.published_figures import reports_with_figures, rows_of
from perfledger.ingest.site.published_tables import joined, published_on
from perfledger.ingest.site.render.table import Link

SUMMARY = "summary"


@dataclass(frozen=True)
class Shelf:
    """The reports that have figures here, in their order, the suites of each one's figures, and their sources."""

    reports: Sequence[Report]
    suites: Mapping[str, frozenset[str]]
    sources: Mapping[str, Publisher]

    def series(self, report: Report) -> list[Report]:
        """Return the reports of the same publisher, all editions included, in their order."""
        return [each for each in self.reports if self._publisher(each) == self._publisher(report)]

    def _publisher(self, report: Report) -> str:
        """Return the source of a report, or, for an edition, that of the original report."""
        return next((each.source for each in self.reports if each.id == report.edition_of), report.source)


@dataclass(frozen=True)
class Links:
    """The links of one report. The page of the edition that is shown has none."""

    editions: tuple[Link, ...]
    previous: Link | None
    next: Link | None
    same_model: tuple[Link, ...]
    same_section: tuple[Link, ...]


def shelf(site: Site) -> Shelf:
    """Return the reports that have figures here."""
    found = reports_with_figures(site)
    return Shelf(found, {each.id: _suites(site, each) for each in found}, site.published.sources)


def _suites(site: Site, report: Report) -> frozenset[str]:
    rows = rows_of(site, report)
    chosen = (select(rows, block.where) for block in report.blocks if block.rows)
    return frozenset(row.suite for found in chosen for row in found if row.suite)


def links(found: Shelf, report: Report) -> Links:
    """Return the links of a report."""
    series = found.series(report)
    at = series.index(report)
    editions = _editions(series, report)
    others = [each for each in series if each not in editions]
    model = [each for each in others if report.section != SUMMARY and found.suites[each.id] & found.suites[report.id]]
    section = [each for each in others if each.section == report.section and each not in model]
    return Links(
        tuple(_edition(found, each, report) for each in editions) if len(editions) > 1 else (),
        _link(series[at - 1]) if at else None,
        _link(series[at + 1]) if at + 1 < len(series) else None,
        tuple(map(_link, model)),
        tuple(map(_link, section)),
    )


def _editions(series: Sequence[Report], report: Report) -> list[Report]:
    leading = report.edition_of or report.id
    return [each for each in series if leading in (each.id, each.edition_of)]


def _edition(found: Shelf, report: Report, shown: Report) -> Link:
    page = None if report is shown else addresses.report_page(report)
    return Link(edition_name(found.sources[report.source], report), page)


def _link(report: Report) -> Link:
    return Link(report.title, addresses.report_page(report))


def edition_name(source: Publisher, report: Report) -> Text:
    """Return the full name of an edition: its name, its date and its commit, each if known."""
    commit = phrase("report.commit", commit=source.commit) if source.commit else phrase("report.commit_unknown")
    return joined([*([source.edition] if source.edition else []), published_on(source, report), commit])
