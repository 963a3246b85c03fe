"""Notes that follow from the numbers and belong beside a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.common import numbers
from ingest.common.words import Phrase, phrase
from ingest.compute.rules import HEADLINE
from ingest.site import steadiness, witness_tables
from ingest.site.model import Row, Site, Suite, group_name, named, options_text
from ingest.site.result_tables import sections
from schema.records import Run
from schema.vocabulary import NO_FIGURE


@dataclass(frozen=True)
class Note:
    """One or two sentences, and the run they are about."""

    sentences: tuple[Phrase, ...]
    run: str | None = None
    page: str | None = None


def notes(site: Site, suite: Suite) -> list[Note]:
    """Return the notes of a model's page."""
    runs = [run for run in site.runs_of(suite) if run.published]
    differences = [Note(found, run.id, site.page(run)) for run in runs if (found := difference(run))]
    rows = site.rows.get(suite.id, ())
    more = (*_batch_sizes(site, suite), *_options(suite, rows), *_counts(site, suite, rows))
    return [*(differences or [Note((phrase("notes.none"),))]), *(Note((each,)) for each in more)]


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


def _batch_sizes(site: Site, suite: Suite) -> list[Phrase]:
    notes = []
    for hardware, group, rows in sections(site, suite):
        by_framework: dict[str, set[int]] = {}
        for row in rows:
            by_framework.setdefault(row.framework or "?", set()).add(row.batch_size or 0)
        if len({frozenset(each) for each in by_framework.values()}) > 1:
            values = "; ".join(
                f"{name}: {', '.join(map(str, sorted(sizes)))}" for name, sizes in sorted(by_framework.items())
            )
            where = named(hardware, "site.unknown_hardware")
            notes.append(phrase("notes.batch_sizes", hardware=where, group=group_name(group), values=values))
    return notes


def _options(suite: Suite, rows: Sequence[Row]) -> list[Phrase]:
    by_framework: dict[str, set[str]] = {}
    for row in rows:
        by_framework.setdefault(row.framework or "?", set()).add(options_text(suite.other_options(row)))
    if len({frozenset(each) for each in by_framework.values()}) < 2:
        return []
    notes = (
        f"{name}: {', '.join(sorted(each or '-' for each in texts))}" for name, texts in sorted(by_framework.items())
    )
    return [phrase("notes.options", values="; ".join(notes))]


def _counts(site: Site, suite: Suite, rows: Sequence[Row]) -> list[Phrase]:
    alone = sum(row.repeats == 1 for row in rows)
    bad = sum(run.outcome in NO_FIGURE for run in site.runs_of(suite))
    notes = [phrase("notes.tf32")] if any(row.precision == "fp32_tf32" for row in rows) else []
    notes += [phrase("notes.small", n=alone)] if alone else []
    return notes + ([phrase("notes.outcomes", n=bad)] if bad else [])
