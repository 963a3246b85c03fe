"""Pages of prose: the method, how to run, how to submit, and the data."""

from __future__ import annotations

from perfledger.ingest.common.files import MANY_LOGS
from perfledger.ingest.common.words import phrase
from perfledger.ingest.compute.change_points import ENOUGH, SHORTEST
from perfledger.ingest.compute.contrast import LEAST_CLEAR, LEAST_OF_FEW, SEVERAL
from perfledger.ingest.compute.publisher_windows import PUBLISHERS
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.compute.window import ENOUGH_RECORDS, ENOUGH_SECONDS
from perfledger.ingest.site import addresses, witness_tables
from perfledger.ingest.site.answer_marks import FEW, WIDE
from perfledger.ingest.site.data import badges, changes
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Column, Table, cell
from perfledger.ingest.site.steadiness import UNEVEN
from perfledger.schema.submission import LARGEST, LARGEST_FILE, MOST_FILES


def pages(site: Site) -> list[Page]:
    """Return the pages of prose."""
    return [_method(site), _running(site), _submitting(), _data(site)]


def _method(site: Site) -> Page:
    described = phrase("nav.method"), phrase("describe.method")
    return Page(
        addresses.METHOD,
        "method",
        *described,
        lambda: {
            "limits": site.limits,
            "rules": rule_table(),
            "enough": {"records": ENOUGH_RECORDS, "seconds": int(ENOUGH_SECONDS)},
            "wide": WIDE,
            "uneven": UNEVEN,
            "clear": LEAST_CLEAR,
            "likely": LEAST_OF_FEW,
            "few": FEW,
            "several": SEVERAL,
            "enough_points": ENOUGH,
            "level_points": SHORTEST,
            "witnesses": witness_tables.kinds(),
        },
        boost=4,
    )


def _running(site: Site) -> Page:
    described = phrase("nav.running"), phrase("describe.running")
    return Page(addresses.RUNNING, "running", *described, lambda: {"limits": site.limits})


def _submitting() -> Page:
    described = phrase("nav.submitting"), phrase("describe.submitting")
    limits = {"file": LARGEST_FILE >> 20, "all": LARGEST >> 20, "files": MOST_FILES}
    # Not searched: the Chinese index is almost at its limit.
    return Page(addresses.SUBMITTING, "submitting", *described, lambda: {"most": limits}, boost=0)


def _data(site: Site) -> Page:
    described = phrase("nav.data"), phrase("describe.data")
    return Page(
        addresses.DATA,
        "data",
        *described,
        lambda: {
            "limits": site.limits,
            "moved": changes.MOVED,
            "badges_at_most": badges.AT_MOST,
            "many": MANY_LOGS,
        },
    )


def rule_table() -> Table:
    """Return a table of every rule's name and definition, with the source of other publishers' rules."""
    sources = {**dict.fromkeys(NAMES, ""), **{name: each.source for name, each in PUBLISHERS.items()}}
    body = tuple(
        (cell(phrase(f"rule.{each}")), cell(phrase(f"rule.{each}_definition")), cell(_shown(source), source or None))
        for each, source in sources.items()
    )
    columns = (Column(phrase("table.rule")), Column(phrase("table.definition")), Column(phrase("table.source")))
    return Table(columns, body, name="rules")


def _shown(address: str) -> str:
    """Return an address as a reader names it: without its scheme."""
    return address.partition("://")[2]
