"""The front page: the fastest results on each hardware, the comparisons, the audit, and what changed lately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses, machines, unplaced
from perfledger.ingest.site.audit_summary import AuditSummary, audit_summary
from perfledger.ingest.site.chips import ChipGroup
from perfledger.ingest.site.data import changes
from perfledger.ingest.site.data.measured import newest_day
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.machines import Machine
from perfledger.ingest.site.model import Hit, Page, Site, named
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Link, Table
from perfledger.ingest.site.verdict_words import case_of

#: So many changes are listed; all are in the data.
LATEST = 3
#: Lines of tables on the page; scripts load those of other hardware from its page.
LINES = 150


@dataclass(frozen=True)
class FrontPage:
    """All that the front page shows. `machines` are on the page; `elsewhere` are on the pages of their hardware."""

    updated: str
    runs: int
    models: int
    published: int
    chips: tuple[ChipGroup, ...]
    machines: tuple[Machine, ...]
    elsewhere: tuple[Machine, ...]
    audit: AuditSummary | None
    changes: LatestChanges | None
    unplaced: Table | None
    more_unplaced: Link | None
    hits: tuple[Hit, ...]


@dataclass(frozen=True)
class LatestChanges:
    """The changes of the latest day: the numbers of new and of moved results, and some of them."""

    date: str
    new: int
    moved: int
    listed: tuple[ListedChange, ...]


@dataclass(frozen=True)
class ListedChange:
    """One change of a result on a hardware; `page` is that of the run that caused it."""

    title: Text
    hardware: Text
    case: tuple[Text, ...]
    what: Text
    unit: str
    page: str | None


def pages(site: Site) -> list[Page]:
    """Return the front page."""
    described = phrase("nav.summary"), phrase("describe.index")
    return [
        Page(
            addresses.SUMMARY, "index", *described, lambda: _front(site), scripts=machines.SCRIPTS,
            selection=lambda: machines.selection(site.once(machines.machines)),
        )
    ]  # fmt: skip


def _front(site: Site) -> FrontPage:
    found = site.once(machines.machines)
    shown = _shown(found)
    table, more = unplaced.of_front(site)
    return FrontPage(
        updated=newest_day(site.runs),
        runs=len(site.runs),
        models=len(site.shown),
        published=sum(row.value is not None for row in site.published.rows),
        chips=machines.chips(found, shown) if machines.selection(found) else (),
        machines=shown,
        elsewhere=tuple(each for each in found if each not in shown),
        audit=audit_summary(site),
        changes=latest(site),
        unplaced=table,
        more_unplaced=more,
        hits=tuple(hit for each in found for hit in machines.hits(each)),
    )


def _shown(found: Sequence[Machine]) -> tuple[Machine, ...]:
    """Return the hardware that fits on the page; that of others has no page of its own."""
    lines = accumulate(0 if each.is_published else sum(len(table.lines) for table in each.tables) for each in found)
    fits = zip(found, lines, strict=True)
    return tuple(each for nth, (each, total) in enumerate(fits) if nth == 0 or total <= LINES or each.is_published)


def latest(site: Site) -> LatestChanges | None:
    """Return the changes of the latest day that has any, those of moved figures first; None without changes."""
    found = site.once(changes.changes)
    if not found:
        return None
    day = max(each.date for each in found)
    of_day = sorted((each for each in found if each.date == day), key=lambda each: each.before is None)
    moved = sum(each.before is not None for each in of_day)
    return LatestChanges(day, len(of_day) - moved, moved, tuple(_changed(site, each) for each in of_day[:LATEST]))


def _changed(site: Site, change: changes.Change) -> ListedChange:
    row, suite = change.row, change.suite
    after, share = changes.text(change.after), numbers.signed_percent(change.share or 0)
    what = (
        phrase(
            "front.changed_moved",
            before=changes.text(change.before),
            after=after,
            share=listed((share, changes.how_sure(change))),
        )
        if change.before
        else phrase("front.changed_new", after=after)
    )
    page = site.page(change.runs[0]) if change.runs else None
    case = (named(row.framework), *case_of(suite, row))
    return ListedChange(suite.name_of(row), product(row.hardware or ""), case, what, row.unit, page)
