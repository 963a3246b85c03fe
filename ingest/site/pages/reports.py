"""The reports of published figures: their index, and a page with tables, commands and charts for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.declarations import SECTIONS, Block, Report
from perfledger.ingest.published.publications import Published, Publisher
from perfledger.ingest.published.slices import Cut, cut
from perfledger.ingest.site import addresses, recipe_tables, report_verdicts
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.pages.rounds import links
from perfledger.ingest.site.published_figures import reports_with_figures, rows_of
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.table import Link, Table
from perfledger.ingest.site.render.text import slugs
from perfledger.ingest.site.report_charts import slice_charts
from perfledger.ingest.site.report_headlines import headline
from perfledger.ingest.site.report_verdicts import VerdictLine


@dataclass(frozen=True)
class SourceEntry:
    """A source on the index of reports, with the reports of each section; `empty` counts cells without a figure."""

    source: Publisher
    date: Text
    anchor: str
    figures: int
    empty: int
    sections: tuple[tuple[Text, tuple[tuple[Report, str], ...]], ...]


@dataclass(frozen=True)
class ReportIndex:
    """The index of reports."""

    sources: tuple[SourceEntry, ...]
    rounds: Sequence[Link]


@dataclass(frozen=True)
class ReportPart:
    """A table of a report, its charts, the facts that its figures share, and the places that print them."""

    caption: tuple[Text, ...]
    table: Table | None
    printed: tuple[Link, ...]
    charts: Sequence[Chart]


@dataclass(frozen=True)
class ReportBlock:
    """A part of a report: its declaration, and the tables of its facts and figures."""

    block: Block
    facts: Table | None
    parts: tuple[ReportPart, ...]


@dataclass(frozen=True)
class ReportPage:
    """A rebuilt report. `common` is what all its figures share; `legend` explains signs of its tables."""

    report: Report
    source: Publisher
    date: Text
    editions: tuple[Link, ...]
    models: tuple[Link, ...]
    headline: tuple[Text, ...]
    verdicts: VerdictLine | None
    common: tuple[Text, ...]
    legend: tuple[Text, ...]
    blocks: tuple[ReportBlock, ...]
    software: Table | None
    logs: tuple[tuple[str, tuple[Link, ...]], ...]
    recipes: Table | None


def pages(site: Site) -> list[Page]:
    """Return the index, and a page per report whose source has figures here."""
    found = reports_with_figures(site)
    describe = phrase("nav.reports"), phrase("describe.reports")
    index = Page(addresses.REPORTS, "reports", *describe, lambda: _index(site, found), order=0)
    return [index, *(_page(site, each) for each in found)]


def _index(site: Site, found: Sequence[Report]) -> ReportIndex:
    """Return the sources with reports, and then those whose figures are on the models' pages only."""
    names = dict.fromkeys([*(each.source for each in found), *(row.source for row in site.published.rows)])
    return ReportIndex(tuple(_entry(site, name, found) for name in names), links(site))


def _entry(site: Site, name: str, found: Sequence[Report]) -> SourceEntry:
    rows = [row for row in site.published.rows if row.source == name]
    figures = sum(row.value is not None for row in rows)
    of_section = {
        section: tuple(
            (each, addresses.report_page(each)) for each in found if each.source == name and each.section == section
        )
        for section in SECTIONS
    }
    return SourceEntry(
        source=site.published.sources[name],
        date=tables.published_on(site.published.sources[name]),
        anchor=slugs(site.published.sources)[name],
        figures=figures,
        empty=len(rows) - figures,
        sections=tuple((phrase(f"report.section_{name}"), of) for name, of in of_section.items() if of),
    )


def _page(site: Site, report: Report) -> Page:
    return Page(
        addresses.report_page(report),
        "report",
        report.title,
        report.description,
        partial(page_of, site, report),
        order=report.order,
        group=site.published.sources[report.source].title.en,
    )


def page_of(site: Site, report: Report) -> ReportPage:
    """Return the page of a report."""
    found = cut(report, rows_of(site, report))
    used = found.rows
    source = site.published.sources[report.source]
    return ReportPage(
        report=report,
        source=source,
        date=tables.published_on(source, report),
        editions=editions(site, report),
        models=_models(site, used),
        headline=headline(found),
        verdicts=report_verdicts.line(site, used),
        common=(*(tables.stated(*each) for each in found.common), *map(tables.note, found.notes)),
        legend=tables.legend(found),
        blocks=_blocks(site, report, found),
        software=tables.software(used),
        logs=tables.logs(used, site.published.sources),
        recipes=recipe_tables.of_report(site, report, used),
    )


def _blocks(site: Site, report: Report, found: Cut) -> tuple[ReportBlock, ...]:
    signs = report_verdicts.signs(site)
    return tuple(
        ReportBlock(
            block=block,
            facts=tables.of_facts(block.facts) if block.facts else None,
            parts=tuple(
                ReportPart(
                    caption=tables.caption(part, found.common),
                    table=tables.of_slice(part, signs) if "table" in block.show else None,
                    printed=tables.printed_in((each.row for each in part.figures), site.published.sources),
                    charts=slice_charts(report, parts, part, found.common),
                )
                for part in parts
            ),
        )
        for block, parts in zip(report.blocks, found.slices, strict=True)
    )


def editions(site: Site, report: Report) -> tuple[Link, ...]:
    """Return links to the editions of a report that are here; its own has no address. Empty for a single edition."""
    leading = report.edition_of or report.id
    found = [each for each in reports_with_figures(site) if leading in (each.id, each.edition_of)]
    if len(found) < 2:
        return ()
    return tuple(
        Link(
            _edition(site.published.sources[each.source], each), addresses.report_page(each) if each != report else None
        )
        for each in found
    )


def _edition(source: Publisher, report: Report) -> Text:
    """Return the full name of an edition: its name, its date and its commit, each if known."""
    commit = phrase("report.commit", commit=source.commit) if source.commit else phrase("report.commit_unknown")
    return joined([*([source.edition] if source.edition else []), tables.published_on(source, report), commit])


def _models(site: Site, rows: Sequence[Published]) -> tuple[Link, ...]:
    used = {row.suite for row in rows}
    return tuple(Link(each.title, addresses.model_page(each)) for each in site.shown if each.id in used)
