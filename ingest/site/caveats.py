"""Notes that follow from the numbers of a model's results."""

from __future__ import annotations

from collections.abc import Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, phrase
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import steadiness, witness_tables
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.ingest.site.render.table import Cell, Column, Table, absent, cell
from perfledger.ingest.site.run_tables import run_cell, run_facets
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import NO_FIGURE


def differences(site: Site, suite: Suite) -> Table | None:
    """Return the runs whose headline differs from the median of the printed figures, the largest difference first.

    There are as many as runs have pages, so that the page of a model does not grow with its repeats.
    """
    runs = [run for run in site.runs_of(suite) if run.published and difference(run)]
    found = sorted(runs, key=lambda run: -abs(steadiness.difference(run) or 0))
    columns = tuple(
        Column(phrase(f"table.{each}"), each not in ("run", "cause"))
        for each in ("run", "sustained", "median", "difference", "cause")
    )
    shown = found[: site.limits.pages]
    facets = tuple(run_facets(suite, run) for run in shown)
    more = (phrase("notes.more", n=numbers.count(len(found) - len(shown))),) if len(found) > len(shown) else ()
    rows = tuple(_line(site, run) for run in shown)
    return Table(columns, rows, name="notes", facets=facets, notes=more) if found else None


def _line(site: Site, run: Run) -> tuple[Cell, ...]:
    values = [run.figure(HEADLINE), run.figure("median")]
    share = steadiness.difference(run) or 0.0
    return (
        run_cell(site, run),
        *(cell(numbers.figure(each.value), value=each.value) if each else absent(None) for each in values),
        cell(numbers.signed_percent(share), value=share),
        cell(_cause(run)),
    )


def remarks(site: Site, suite: Suite) -> list[Phrase]:
    """Return what is to be known of a model's results beyond the differences of single runs."""
    rows = site.rows.get(suite.id, ())
    alike = [] if differences(site, suite) else [phrase("notes.none")]
    return [*alike, *_counts(site, suite, rows)]


def difference(run: Run) -> tuple[Phrase, ...] | None:
    """Explain why the headline and the median of the printed figures differ by more than 2 %; None if they do not."""
    share, sustained, median = steadiness.difference(run), run.figure(HEADLINE), run.figure("median")
    if share is None or sustained is None or median is None or abs(share) <= steadiness.DIFFER:
        return None
    head = phrase(
        "notes.differ",
        sustained=numbers.figure(sustained.value),
        median=numbers.figure(median.value),
        difference=numbers.signed_percent(share),
    )
    return (head, _cause(run))


def _cause(run: Run) -> Phrase:
    if corrected := witness_tables.corrected(run):
        return corrected
    if (since := steadiness.running_since(run)) is not None:
        return phrase("notes.running", step=since)
    even = run.evenness
    if even and even.slow:
        return phrase("notes.stalls", slow=numbers.count(even.slow), n=numbers.count(even.records))
    if even and abs(even.change) > steadiness.DIFFER:
        return phrase("notes.faster" if even.change > 0 else "notes.slower", change=numbers.signed_percent(even.change))
    return phrase("notes.between")


def _counts(site: Site, suite: Suite, rows: Sequence[Row]) -> list[Phrase]:
    alone = sum(row.repeats == 1 for row in rows)
    bad = sum(run.outcome in NO_FIGURE for run in site.runs_of(suite))
    notes = [phrase("notes.tf32")] if any(row.precision == "fp32_tf32" for row in rows) else []
    notes += [phrase("notes.small", n=alone)] if alone else []
    return notes + ([phrase("notes.outcomes", n=bad)] if bad else [])
