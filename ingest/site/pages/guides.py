"""Pages of prose: the method, how to run, how to submit, and the data."""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common.files import MANY_LOGS
from perfledger.ingest.common.words import phrase
from perfledger.ingest.compute.change_points import ENOUGH, SHORTEST
from perfledger.ingest.compute.contrast import LEAST_CLEAR, LEAST_OF_FEW, SEVERAL
from perfledger.ingest.compute.publisher_windows import PUBLISHERS
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.compute.window import ENOUGH_RECORDS, ENOUGH_SECONDS
from perfledger.ingest.site import addresses, witness_tables
from perfledger.ingest.site.answer_marks import FEW, WIDE
from perfledger.ingest.site.caveats import UNEVEN
from perfledger.ingest.site.data import badges, changes
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Table, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.submission import LARGEST, LARGEST_FILE, MOST_FILES


@dataclass(frozen=True)
class MethodPage:
    """The tables of the method, and the limits that its sentences name."""

    rules: Table | None
    witnesses: Table
    enough_records: int = ENOUGH_RECORDS
    enough_seconds: int = int(ENOUGH_SECONDS)
    wide: float = WIDE
    uneven: float = UNEVEN
    clear: float = LEAST_CLEAR
    likely: float = LEAST_OF_FEW
    few: int = FEW
    several: int = SEVERAL
    enough_points: int = ENOUGH
    level_points: int = SHORTEST


@dataclass(frozen=True)
class RunningPage:
    """How to run recipes; its templates have all of it."""


@dataclass(frozen=True)
class SubmittingPage:
    """How to submit results, with the limits in MiB and files."""

    largest_file: int = LARGEST_FILE >> 20
    largest: int = LARGEST >> 20
    most_files: int = MOST_FILES


@dataclass(frozen=True)
class DataPage:
    """The limits of the data."""

    pages: int
    moved: float = changes.MOVED
    badges_at_most: int = badges.AT_MOST
    many: int = MANY_LOGS


def pages(site: Site) -> list[Page]:
    """Return the pages of prose."""
    return [
        Page(
            addresses.METHOD,
            "method",
            phrase("nav.method"),
            phrase("describe.method"),
            lambda: MethodPage(rule_table(), witness_tables.kinds()),
            boost=4,
        ),
        Page(addresses.RUNNING, "running", phrase("nav.running"), phrase("describe.running"), RunningPage),
        # Not searched: the Chinese index is almost at its limit.
        Page(
            addresses.SUBMITTING,
            "submitting",
            phrase("nav.submitting"),
            phrase("describe.submitting"),
            SubmittingPage,
            boost=0,
        ),
        Page(addresses.DATA, "data", phrase("nav.data"), phrase("describe.data"), lambda: DataPage(site.limits.pages)),
    ]


def rule_table() -> Table | None:
    """Return a table of every rule's name and definition, with the source of other publishers' rules."""
    sources = {**dict.fromkeys(NAMES, ""), **{name: each.source for name, each in PUBLISHERS.items()}}
    columns = (
        ColumnOf[str](phrase("table.rule"), lambda name: phrase(f"rule.{name}")),
        ColumnOf[str](phrase("table.definition"), lambda name: phrase(f"rule.{name}_definition")),
        # A reader names an address without its scheme.
        ColumnOf[str](
            phrase("table.source"), lambda name: cell(sources[name].partition("://")[2], sources[name] or None)
        ),
    )
    return table_of("rules", list(sources), columns)
