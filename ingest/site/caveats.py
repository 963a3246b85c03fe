"""Notes that follow from the numbers of a model's results."""

from __future__ import annotations

from collections.abc import Iterator

from perfledger.ingest.common.words import Phrase, phrase
from perfledger.ingest.site.model import Site, Suite
from perfledger.schema.vocabulary import NO_FIGURE


def remarks(site: Site, suite: Suite) -> Iterator[Phrase]:
    """Yield notes on the results of a model: TF32, configurations with one run, and runs without a figure."""
    rows = site.rows.get(suite.id, ())
    if any(row.precision == "fp32_tf32" for row in rows):
        yield phrase("notes.tf32")
    if alone := sum(row.repeats == 1 for row in rows):
        yield phrase("notes.small", n=alone)
    if bad := sum(run.outcome in NO_FIGURE for run in site.runs_of(suite)):
        yield phrase("notes.outcomes", n=bad)
