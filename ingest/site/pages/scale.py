"""The page on many logs: what was measured, and what ten million would cost by these figures."""

from __future__ import annotations

from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Cell, Column, Table, cell


@dataclass(frozen=True)
class MeasuredScale:
    """Measurements of `python -m bench scale` for a number of logs: seconds of one core, and peak memory in MiB.

    `read` is without pages, and `pages` writes all pages; `changed` is a build after a change of one log.
    """

    logs: int
    read: float
    unchanged: float
    changed: float
    pages: float
    memory: float
    ledger_mb: float


#: Measured on two cores of an AMD EPYC of family 26, model 2, on logs made from public ones, of 87 kB on average.
MEASURED = (
    MeasuredScale(1_000, 6.6, 0.3, 2.1, 11.1, 275, 4.5),
    MeasuredScale(10_000, 66.3, 0.4, 6.1, 21.9, 380, 2.8),
    MeasuredScale(100_000, 666.1, 1.2, 40.3, 84.8, 992, 21.1),
)
#: Seconds of one core for a gigabyte of a long log.
SECONDS_OF_GIGABYTE = 20.0
#: Bytes of memory for each object that a store lists.
BYTES_LISTED = 300
#: Logs of the estimate.
LOGS = 10_000_000
#: Bytes of these logs.
BYTES = 50 * 10**12
#: Cores that read them.
CORES = 100
#: Bytes per second of the network.
BYTES_A_SECOND = 2 * 10**9
#: Names in one answer of an object store's listing.
_NAMES_OF_LISTING = 1_000
#: Seconds.
_HOUR = 3_600
#: Bytes.
_GB = 10**9


def pages(site: Site) -> list[Page]:
    """Return the page."""
    described = phrase("nav.scale"), phrase("describe.scale")
    context = {"measured": measured(), "estimated": estimated(), "limits": site.limits}
    return [Page(addresses.SCALE, "scale", *described, lambda: context)]


def measured() -> Table:
    """Return what was measured, by the number of logs."""
    names = ("logs", "read", "read_each", "pages", "unchanged", "changed", "memory", "ledger")
    head = tuple(Column(phrase(f"scale.{each}"), True) for each in names)
    return Table(head, tuple(_line(each) for each in MEASURED), name="measured")


def _line(found: MeasuredScale) -> tuple[Cell, ...]:
    each = 1000 * found.read / found.logs
    times = (found.read, each, found.pages, found.unchanged, found.changed)
    return (
        cell(numbers.count(found.logs)),
        *(cell(_written(each)) for each in (*times, found.memory, found.ledger_mb)),
    )


def _written(amount: float) -> str:
    return numbers.grouped(amount, 0 if amount >= 100 else 1)


def estimated() -> Table:
    """Return what `LOGS` of `BYTES` would cost, each line by a figure that was measured."""
    few, most = MEASURED[-2:]
    read = most.read / most.logs * LOGS + (BYTES / _GB) * SECONDS_OF_GIGABYTE
    gigabyte = _written(SECONDS_OF_GIGABYTE)
    held = (most.memory - few.memory) / (most.logs - few.logs) * 2**20
    lines: tuple[tuple[Text, float, Text], ...] = (
        (phrase("scale.listings"), LOGS / _NAMES_OF_LISTING, phrase("scale.by_listings")),
        (phrase("scale.listing_memory"), LOGS * BYTES_LISTED / _GB, phrase("scale.by_object", bytes=BYTES_LISTED)),
        (
            phrase("scale.core_hours"),
            read / _HOUR,
            phrase("scale.by_core_hours", seconds=gigabyte),
        ),
        (phrase("scale.cluster_hours", cores=CORES), read / _HOUR / CORES, phrase("scale.by_cores")),
        (phrase("scale.transfer"), BYTES / BYTES_A_SECOND / _HOUR, phrase("scale.by_rate")),
        (phrase("scale.ledger_size"), most.ledger_mb / most.logs * LOGS / 1000, phrase("scale.by_ledger")),
        (phrase("scale.build_memory"), held * LOGS / _GB, phrase("scale.by_run", kb=_written(held / 1000))),
        (phrase("scale.again"), most.changed / most.logs * LOGS / _HOUR, phrase("scale.by_changed")),
    )
    head = (Column(phrase("scale.what")), Column(phrase("scale.amount"), True), Column(phrase("scale.by")))
    return Table(
        head,
        tuple((cell(what), cell(_written(float(f"{amount:.2g}"))), cell(by)) for what, amount, by in lines),
        name="estimated",
    )
