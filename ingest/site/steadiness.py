"""How far the headline of a run lies from the median of its printed speeds, and whether the printer explains it."""

from __future__ import annotations

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, phrase
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.schema.records import Run

DIFFER = 0.02  # where headline and median differ by more, a cause is looked for
UNEVEN = 0.05  # where they differ by more, and the printer does not explain it, every figure carries a mark


def difference(run: Run) -> float | None:
    """Return the headline over the median of the printed speeds, less one; None where either is absent."""
    sustained, median = run.figure(HEADLINE), run.figure("median")
    return sustained.value / median.value - 1 if sustained and median else None


def running_since(run: Run) -> int | None:
    """Return the step at which the running means of the format begin; None if it prints intervals."""
    from perfledger.parsers.engine.registry import formats

    return next((each.main.running_mean for each in formats() if each.id == run.format), None)


def mark(run: Run) -> Phrase | None:
    """Return the mark of a figure that differs from the median for no stated reason; None for one that does not."""
    share = difference(run)
    if share is None or abs(share) <= UNEVEN or running_since(run) is not None:
        return None
    return phrase("metric.uneven", difference=numbers.signed_percent(share))
