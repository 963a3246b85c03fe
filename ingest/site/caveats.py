"""Cautions that follow from figures: how far a headline is from the median, and why."""

from __future__ import annotations

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, phrase
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import witness_tables
from perfledger.schema.records import Run

#: Relative difference between headline and median above which the page of a run explains it.
DIFFER = 0.02
#: Relative difference above which a figure carries a caution, unless the printer explains it.
UNEVEN = 0.05


def difference(run: Run) -> float | None:
    """Return the headline over the median of the printed speeds, less one; None where either is absent."""
    sustained, median = run.figure(HEADLINE), run.figure("median")
    return sustained.value / median.value - 1 if sustained and median else None


def unexplained(run: Run) -> float | None:
    """Return the difference from the median if it is large, and no running mean explains it."""
    share = difference(run)
    return None if share is None or abs(share) <= UNEVEN or _running_since(run) is not None else share


def explanation(run: Run) -> tuple[Phrase, ...]:
    """Explain why the headline and the median differ by more than 2 %; empty if they do not."""
    share, sustained, median = difference(run), run.figure(HEADLINE), run.figure("median")
    if share is None or sustained is None or median is None or abs(share) <= DIFFER:
        return ()
    values = {"sustained": numbers.figure(sustained.value), "median": numbers.figure(median.value)}
    return phrase("notes.differ", **values, difference=numbers.signed_percent(share)), _cause(run)


def _cause(run: Run) -> Phrase:
    if corrected := witness_tables.corrected(run):
        return corrected
    if (since := _running_since(run)) is not None:
        return phrase("notes.running", step=since)
    even = run.evenness
    if even and even.slow:
        return phrase("notes.stalls", slow=numbers.count(even.slow), n=numbers.count(even.records))
    if even and abs(even.change) > DIFFER:
        return phrase("notes.faster" if even.change > 0 else "notes.slower", change=numbers.signed_percent(even.change))
    return phrase("notes.between")


def _running_since(run: Run) -> int | None:
    """Return the step at which the running means of the format begin; None if it prints intervals."""
    from perfledger.parsers.engine.registry import formats

    return next((each.main.running_mean for each in formats() if each.id == run.format), None)
