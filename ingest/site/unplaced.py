"""Results that are not placed: figures of logs that leave their case open, in a table of their own."""

from __future__ import annotations

from collections.abc import Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import phrase, word_for
from perfledger.ingest.site import addresses, run_names
from perfledger.ingest.site.model import Row, Site, Suite, named, written
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Cell, Link, Table, absent, cell
from perfledger.ingest.site.run_tables import reservations, why_absent
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import METRICS

#: Rows of the front page; the page of runs has all.
ROWS_SHOWN = 8


def of_front(site: Site) -> tuple[Table | None, Link | None]:
    """Return the table of the front page, and a link to all runs if it leaves some out: it has one of each kind."""
    kinds: dict[tuple[object, ...], Row] = {}
    for row in site.unplaced:
        run = site.by_id[row.run_ids[0]]
        kinds.setdefault((run.case.model, run.case.framework, run.format, row.unit, *(run.missing or ())), row)
    shown = list(kinds.values())[:ROWS_SHOWN]
    more = len(site.unplaced) - len(shown)
    link = Link(phrase("unplaced.more", n=numbers.count(more)), addresses.RUNS) if more > 0 else None
    return _table(site, shown), link


def of_suite(site: Site, suite: Suite) -> Table | None:
    """Return the table of a model's page; None if all of its results are placed."""
    return _table(site, [row for row in site.unplaced if site.suite_of[row.run_ids[0]].id == suite.id])


def _table(site: Site, rows: Sequence[Row]) -> Table | None:
    def run(row: Row) -> Run:
        return site.by_id[row.run_ids[0]]

    def model(row: Row) -> Cell:
        return cell(named(row.model), addresses.model_page_of(site, run(row)))

    columns = (
        ColumnOf[Row](phrase("table.run"), lambda row: cell(run_names.short(run(row)), site.page(run(row)))),
        ColumnOf[Row](phrase("table.figure"), lambda row: _figure_cell(row, run(row)), True),
        ColumnOf[Row](
            phrase("table.not_stated"), lambda row: listed([word_for("fact", each) for each in row.missing or ()])
        ),
        ColumnOf(phrase("table.model"), model),
        ColumnOf[Row](phrase("table.framework"), lambda row: named(row.framework)),
    )
    return table_of("unplaced", rows, columns, cards=True)


def _figure_cell(row: Row, run: Run) -> Cell:
    """Return the throughput at the scope that the log has, or else the time per step."""
    if row.value is not None:
        scope = [] if row.scope in ("job", None) else [phrase("proof.scope", scope=word_for("scope", str(row.scope)))]
        return cell(written(row), None, row.unit, *scope, *reservations(row), value=row.value)
    time = run.metrics.get("latency")
    if time is None or time.value is None:
        return absent(why_absent(run))
    unit = phrase("unplaced.per_step", unit=METRICS["latency"].unit)
    return cell(numbers.figure(time.value), None, unit, *reservations(row), value=time.value)
