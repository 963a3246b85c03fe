"""The pages of the reports of published figures, and their index."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.common.words import phrase
from ingest.published.declarations import SECTIONS, Block, Report
from ingest.published.publications import Published
from ingest.published.slices import Slice, Values, cut
from ingest.site import addresses
from ingest.site.model import Site
from ingest.site.pages import Page
from ingest.site.render.table import Link
from ingest.site.reports import charts, tables
from ingest.site.reports.model import rows_of, shown, source_anchors


def pages(site: Site) -> list[Page]:
    """Return the index, and a page per report whose source has figures here."""
    found = shown(site)
    return [_index(site, found), *(page_of(site, each) for each in found)]


def _index(site: Site, found: Sequence[Report]) -> Page:
    return Page(
        addresses.REPORTS,
        "reports",
        phrase("nav.reports"),
        phrase("describe.reports"),
        lambda: {"sources": _sources(site, found)},
        order=0,
    )


def _sources(site: Site, found: Sequence[Report]) -> list[Mapping[str, Any]]:
    """Return the sources with reports, and then those whose figures are on the models' pages only."""
    names = dict.fromkeys([*(each.source for each in found), *(row.source for row in site.published.rows)])
    return [
        {
            "source": site.published.sources[name],
            "anchor": source_anchors(site)[name],
            "figures": sum(row.source == name for row in site.published.rows),
            "sections": [
                (phrase(f"report.section_{section}"), of_section)
                for section in SECTIONS
                if (
                    of_section := [
                        (r, addresses.report_page(r)) for r in found if r.source == name and r.section == section
                    ]
                )
            ],
        }
        for name in names
    ]


def page_of(site: Site, report: Report) -> Page:
    """Return the page of a report."""
    return Page(
        addresses.report_page(report),
        "report",
        report.title,
        report.description,
        functools.partial(_context, site, report),
        order=report.order,
        group=site.published.sources[report.source].title.en,
    )


def _context(site: Site, report: Report) -> Mapping[str, Any]:
    found = cut(report, rows_of(site, report))
    used = found.rows
    return {
        "report": report,
        "source": site.published.sources[report.source],
        "index": addresses.REPORTS,
        "common": [tables.stated(*each) for each in found.common],
        "models": _models(site, used),
        "software": tables.software(used),
        "log_links": tables.logs(used, site.published.sources),
        "blocks": [
            _block(site, report, block, parts, found.common)
            for block, parts in zip(report.blocks, found.slices, strict=True)
        ],
    }


def _models(site: Site, rows: Sequence[Published]) -> list[Link]:
    used = {row.suite for row in rows}
    return [Link(each.title, addresses.model_page(each)) for each in site.shown if each.id in used]


def _block(site: Site, report: Report, block: Block, found: Sequence[Slice], common: Values) -> Mapping[str, Any]:
    return {
        "title": block.title,
        "level": block.level,
        "text": block.text,
        "facts": tables.of_facts(block.facts) if block.facts else None,
        "parts": [
            {
                "caption": tables.caption(each, common),
                "table": tables.of_slice(each) if "table" in each.block.show else None,
                "charts": charts.of_slice(report, block, found, index, common),
                "printed": tables.printed_in((f.row for f in each.figures), site.published.sources),
            }
            for index, each in enumerate(found)
        ],
    }
