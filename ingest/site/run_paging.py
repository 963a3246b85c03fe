"""The place of each run: on a page of its own or, in a site of many runs, on demand on the page of all runs.

The number of pages follows from limits, and not from the number of runs. The choice depends only on the runs, and one
more run moves few others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfledger.ingest.compute.results import counts, repeats, representative
from perfledger.ingest.site.render.text import file_slug
from perfledger.schema.records import Run


@dataclass(frozen=True)
class Limits:
    """How many runs have a page of their own.

    A run with a page, chart and log costs some 140 ms of a build from nothing (both languages, with MkDocs), another
    some 10, most of it to read the log: `python -m bench scale`.
    """

    pages: int = 140


LIMITS = Limits()


def chosen(runs: Sequence[Run], limits: Limits) -> frozenset[str]:
    """Return the ids of the runs that have a page of their own: all, or as many as the limit.

    First come the representative runs of results, then those with problems, then the others, each by id.
    """
    if len(runs) <= limits.pages:
        return frozenset(run.id for run in runs)
    shown = {representative(each).id for each in repeats([run for run in runs if counts(run)])}
    ranks = ((0 if run.id in shown else 1 if run.problems else 2, run.id) for run in runs)
    return frozenset(identifier for _, identifier in sorted(ranks)[: limits.pages])


def run_page(identifier: str) -> str:
    """Return the page of a run that has one."""
    return f"runs/{file_slug(identifier)}.md"


def run_on_demand(identifier: str) -> str:
    """Return the address at which the page of all runs shows a run that has no page of its own."""
    return f"runs/index.md?run={file_slug(identifier)}"


def log_page(run: Run) -> str:
    """Return the page of a run's log, which both languages share, from the folder of either."""
    return f"../logs/{file_slug(run.id)}.html"
