"""The front page: the answers on each hardware, and where others published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common.words import phrase
from ingest.compute.results import counts
from ingest.published.publications import Published
from ingest.site import addresses, answers, hardware_tables, published_figures
from ingest.site.hardware_names import product
from ingest.site.model import Page, Site
from ingest.site.render.table import Link
from schema.records import Run


def pages(site: Site) -> list[Page]:
    """Return the front page."""
    published = [run for run in site.runs if counts(run)]
    described = phrase("nav.summary"), phrase("describe.index")
    page = Page(
        addresses.SUMMARY,
        "index",
        *described,
        lambda: {
            **_hardware(site, published),
            "others": others(site),
            "others_figures": sum(row.value is not None for row in site.published.rows),
            "suites": site.shown,
            "runs": len(site.runs),
            "published": sum(run.published for run in published),
            "problems": len(site.all_problems),
            **answers.LIMITS,
        },
    )
    return [page]


def _hardware(site: Site, published: Sequence[Run]) -> Mapping[str, Any]:
    """Return the accelerators side by side, and the answers on each; one with a single framework stands there alone."""
    matrices = hardware_tables.matrices(site)
    names = answers.hardware_by_coverage(published)
    several = [each for each in names if answers.frameworks_on(published, each) > 1] if matrices else names
    return {
        "matrices": matrices,
        "hardware": [_summary(site, each) for each in several],
        "singles": len(names) - len(several),
    }


def _summary(site: Site, hardware: str) -> Mapping[str, Any]:
    parts = answers.parts(site, hardware)
    return {"name": product(hardware), "tally": answers.tally(parts), "parts": parts}


@dataclass(frozen=True)
class Others:
    """Published figures on one hardware: links to their sources, and to the comparison of each model."""

    hardware: str
    models: tuple[Link, ...]
    sources: tuple[Link, ...]


def others(site: Site) -> tuple[Others, ...]:
    """Return the hardware of published figures that the compare page can show, that with most figures first."""
    there = [
        row for row in site.published.rows if row.value is not None and row.hardware and published_figures.is_shown(row)
    ]
    counted = Counter(row.hardware for row in there)
    return tuple(
        Others(hardware, _compared(site, of_hardware), _sources(site, of_hardware))
        for hardware, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
        if (of_hardware := [row for row in there if row.hardware == hardware and row.suite])
    )


def _compared(site: Site, rows: Sequence[Published]) -> tuple[Link, ...]:
    used = {row.suite for row in rows}
    hardware = rows[0].hardware
    return tuple(Link(each.title, addresses.comparison(each, hardware)) for each in site.shown if each.id in used)


def _sources(site: Site, rows: Sequence[Published]) -> tuple[Link, ...]:
    names = {row.source for row in rows}
    anchors = published_figures.source_anchors(site)
    sources = site.published.sources
    return tuple(
        Link(sources[each].title, addresses.section(addresses.REPORTS, anchors[each]))
        for each in sources
        if each in names
    )
