"""The audit: published results next to those of their logs, and where a source contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import Audited, Slip, Unconfirmed
from perfledger.ingest.published.publications import Published, options_cell
from perfledger.ingest.site import addresses
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.audit_cases import AuditCase, audit_cases, facets, setting
from perfledger.ingest.site.audit_summary import AuditSummary, audit_summary
from perfledger.ingest.site.chips import ChipGroup, Selection, chip_group
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Cell, Entry, Table, Value, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: Rows that a reader sees before asking for more.
ROWS_SHOWN = 20


@dataclass(frozen=True)
class AuditPage:
    """The audit as its template shows it; `tables` compare what sources print."""

    printed: int
    audit: AuditSummary | None
    chips: tuple[ChipGroup, ...]
    cases: tuple[AuditCase, ...]
    tables: tuple[Table, ...]
    tolerance: str
    recorded: bool


def pages(site: Site) -> list[Page]:
    """Return the page of the audit."""
    described = phrase("nav.audit"), phrase("describe.audit")
    selection = Selection(".pl-audit tbody tr", {}, most=ROWS_SHOWN)
    scripts = (addresses.SITE_SCRIPT,)
    return [
        Page(
            addresses.AUDIT, "audit", *described, lambda: _page(site), scripts=scripts,
            selection=lambda: selection if any(each.run for each in site.audited) else None,
        )
    ]  # fmt: skip


def _page(site: Site) -> AuditPage:
    found = [each for each in site.audited if each.run]
    return AuditPage(
        printed=len(site.published.rows),
        audit=audit_summary(site),
        chips=_chips(site, found),
        cases=audit_cases(site, found),
        tables=tuple(_tables(site)),
        tolerance=numbers.percent(audit.TOLERANCE),
        recorded=any(each.recorded for each in found),
    )


def _chips(site: Site, found: Sequence[Audited]) -> tuple[ChipGroup, ...]:
    models: dict[Value, Text] = {each.row.suite or each.row.model: each.row.model for each in found}
    labels: dict[str, dict[Value, Text]] = {
        "verdict": {each: phrase(f"verdict.{each}") for each in audit.VERDICTS},
        "source_of_figures": {name: each.title for name, each in site.published.sources.items()},
        "model": models | {each.id: each.title for each in site.known if each.id in models},
        "framework": {each: each for each in sorted({each.row.framework for each in found})},
        "hardware": {each: product(each) for each in sorted({each.row.hardware for each in found})},
    }
    facts = [facets(each.row, each.verdict) for each in found]
    return tuple(
        chip_group(name.partition("_")[0], phrase(f"table.{name}"), facts, named) for name, named in labels.items()
    )


def _tables(site: Site) -> Iterator[Table]:
    """Yield the tables of conflicting values, inconsistent speed-ups, and unsupported claims."""
    rows = site.published.rows
    claims = audit.unconfirmed(site.audited, site.published.sources)
    found = (
        table_of(
            "disagreements",
            audit.disagreements(rows),
            (
                ColumnOf(phrase("table.case"), lambda rows: _case(rows[0])),
                ColumnOf(phrase("table.places"), lambda rows: _conflicting(site, rows)),
            ),
        ),
        table_of(
            "slips",
            audit.slips(rows),
            (
                ColumnOf(phrase("table.case"), lambda each: _case(each.row)),
                ColumnOf(phrase("table.printed_speedup"), lambda each: _speedup(site, each), True),
                ColumnOf(phrase("table.computed_speedup"), lambda each: f"{each.computed:.2f}", True),
            ),
        ),
        table_of(
            "claims",
            sorted(claims, key=lambda each: (not each.stated, each.row.log)),
            (
                ColumnOf(phrase("table.claim"), lambda each: _claimed(site, each)),
                ColumnOf(phrase("table.in_the_log"), _stated),
                ColumnOf(phrase("table.case"), lambda each: _case(each.row)),
                ColumnOf(phrase("table.audit_log"), lambda each: _log(site, each.row)),
            ),
        ),
    )
    yield from filter(None, found)


def _case(row: Published) -> Cell:
    return cell(row.model, None, row.framework, setting(row))


def _conflicting(site: Site, rows: Sequence[Published]) -> Cell:
    """Return the different values of one case, each with its place, and with its kind if they are of several."""
    alike = len({options_cell(row.options) for row in rows}) == 1
    entries = (Entry(f"{row.printed} {row.unit}", site.published.address_of(row), _marks(row, alike)) for row in rows)
    return Cell(tuple(entries))


def _marks(row: Published, alike: bool) -> tuple[Text, ...]:
    output = (word_for("published_metric", row.metric),) if row.metric == "throughput_median" else ()
    options = () if alike or not row.options else (options_cell(row.options),)
    return (_place(row), *output, *options)


def _speedup(site: Site, found: Slip) -> Cell:
    return Cell((Entry(found.row.speedup, site.published.address_of(found.row), (_place(found.row),)),))


def _claimed(site: Site, found: Unconfirmed) -> Cell:
    source = site.published.sources[found.row.source]
    claim = tables.stated(f"options.{found.claim.option}", found.claim.value)
    return cell(claim, source.address_of(found.row), source.title)


def _stated(found: Unconfirmed) -> Cell:
    if not found.stated:
        return cell(phrase("audit.unmentioned"))
    return cell(tables.stated(f"options.{found.claim.option}", found.stated), tone="bad")


def _log(site: Site, row: Published) -> Cell:
    return cell(row.log.rpartition("/")[2], site.published.sources[row.source].address_of_log(row) or None)


def _place(row: Published) -> str:
    return f"{row.place}:{row.line}" if row.line else row.place
