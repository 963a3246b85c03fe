"""The front page: who is fastest on each hardware, what changed lately, and where others published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import (
    addresses,
    answers,
    hardware_tables,
    heat,
    published_figures,
    published_machines,
    unplaced,
)
from perfledger.ingest.site.data import changes
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import is_accelerator, product
from perfledger.ingest.site.model import Page, Row, Site, Suite, named, precision_name
from perfledger.ingest.site.render.table import Link

#: So many changes are listed; all are in the data.
LATEST = 5
#: Lines of tables on the page; scripts load those of other hardware from its page.
LINES = 150


def pages(site: Site) -> list[Page]:
    """Return the front page."""
    described = phrase("nav.summary"), phrase("describe.index")
    return [Page(addresses.SUMMARY, "index", *described, lambda: _context(site), scripts=heat.SCRIPTS)]


def _context(site: Site) -> Mapping[str, Any]:
    found = ranked(site.once(heat.heats).values())
    names = {each.hardware for each in found}
    unplaced_table, more_unplaced = unplaced.of_front(site)
    return {
        "date": max((day for run in site.runs if (day := date_of(run))), default=None),
        "runs": len(site.runs),
        "problems": len(site.all_problems),
        "suites": site.shown,
        "machines": len(names),
        "heading": None,
        "heats": found,
        "shown": _shown(found),
        "hits": [hit for each in found for hit in heat.hits(each)],
        "hardware_compared": _hardware_compared(site),
        "matrix_page": addresses.section(addresses.HARDWARE, "matrix"),
        "changes": latest(site),
        "unplaced": unplaced_table,
        "more_unplaced": more_unplaced,
        "with_others": bool(site.published.rows),
        "others": (published_there := others(site)),
        "others_figures": sum(row.value is not None for row in site.published.rows),
        "published_only": (published_only := _published_only(site, published_there, names)),
        "others_only": [each.hardware for each in published_only],
        **answers.levels(),
        "groups": heat.groups([*found, *published_only]),
        **answers.LIMITS,
    }


def _published_only(
    site: Site, there: Iterable[Others], ours: Container[str]
) -> tuple[published_machines.PublishedMachine, ...]:
    """Return the tables of hardware that has results of others only."""
    return published_machines.machines(site, [each.hardware for each in there if each.hardware not in ours])


def _hardware_compared(site: Site) -> Text | None:
    """Return how much hardware the page of hardware compares, and by how many models; None where it cannot."""
    hardware, models = hardware_tables.extent(site)
    return phrase("hardware.compared", hardware=hardware, models=models) if hardware else None


def _shown(found: Sequence[heat.Heat]) -> Sequence[heat.Heat]:
    """Return the tables that fit on the page; the others are on the pages of their hardware."""
    lines = accumulate(each.lines for each in found)
    return [each for nth, (each, total) in enumerate(zip(found, lines, strict=True)) if nth == 0 or total <= LINES]


def ranked(found: Iterable[heat.Heat]) -> list[heat.Heat]:
    """Return tables in the order of the page: those with comparisons first, then accelerators, then the longest."""
    return sorted(
        found,
        key=lambda each: (
            not each.rows, not is_accelerator(each.hardware), -len(each.rows), -len(each.alone), each.hardware
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class ListedChange:
    """One change of a result on a hardware; `page` is that of the run that caused it."""

    title: Text
    hardware: Text
    case: tuple[Text, ...]
    what: Text
    unit: str
    page: str | None


@dataclass(frozen=True)
class LatestChanges:
    """The changes of the latest day: the numbers of new and of moved results, and some of them."""

    date: str
    new: int
    moved: int
    listed: tuple[ListedChange, ...]


def latest(site: Site) -> LatestChanges | None:
    """Return the changes of the latest day that has any, those of moved figures first; None without changes."""
    found = changes.of_results(site)
    if not found:
        return None
    day = max(each.change.date for each in found)
    of_day = sorted((each for each in found if each.change.date == day), key=lambda each: each.change.before is None)
    moved = sum(each.change.before is not None for each in of_day)
    return LatestChanges(day, len(of_day) - moved, moved, tuple(_changed(site, each) for each in of_day[:LATEST]))


def _changed(site: Site, found: changes.OfResult) -> ListedChange:
    row, change = found.row, found.change
    before, after = changes.text(change.before), changes.text(change.after)
    share = numbers.signed_percent(change.share or 0)
    what = (
        phrase("front.changed_moved", before=before, after=after, share=share)
        if change.before
        else phrase("front.changed_new", after=after)
    )
    page = site.page(change.runs[0]) if change.runs else None
    return ListedChange(found.suite.title, product(row.hardware or ""), _case(found.suite, row), what, row.unit, page)


def _case(suite: Suite, row: Row) -> tuple[Text, ...]:
    """Return the framework and the case of a result."""
    batch: Text = phrase("front.batch", n=row.batch_size) if row.batch_size else ""
    words = suite.case_words(row.model, row.options)
    parts = (named(row.framework), precision_name(row.precision), answers.devices(row), batch, words)
    return tuple(each for each in parts if each)


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
