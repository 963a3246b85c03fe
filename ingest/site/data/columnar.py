"""Results, runs, and the problems of many logs, as Parquet: rows with typed columns, for queries at size."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from perfledger.ingest.common import frame
from perfledger.ingest.common.frame import DataColumn, fields
from perfledger.ingest.common.problems import TABLE, file_of
from perfledger.ingest.common.words import Words
from perfledger.ingest.compute.results import version
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data import problems, results
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.model import Site, options_text
from perfledger.schema.records import Case, Figure, Run
from perfledger.schema.results import ResultRecord

RESULTS = "data/results.parquet"
RUNS = "data/runs.parquet"


def files(site: Site, found: Sequence[ResultRecord], words: Words) -> dict[str, bytes]:
    """Return the files of runs and of the results that were found; with the problems if these are not JSON lines."""
    made = {RESULTS: frame.parquet(results.COLUMNS, found), RUNS: frame.parquet(columns_of_runs(site), site.runs)}
    if site.all_problems and file_of(site.runs) == TABLE:
        made[TABLE] = frame.parquet(problems.columns(words), site.all_problems)
    return made


def columns_of_runs(site: Site) -> tuple[DataColumn[Run], ...]:
    """Return the columns of the table of runs: their case, the figure of the whole job, and what is wrong with them."""
    case = attrgetter("case")
    return (
        *fields(Run, "id", "path", "session", "sha256", "bytes", "lines", "format", "outcome", "observations"),
        *fields(Case, "model", "framework", of=case),
        DataColumn("framework_version", str, version),
        *fields(Case, "hardware", "nodes", "devices", "batch_size", "precision", of=case),
        DataColumn("options", str, lambda run: options_text(run.case.options)),
        *fields(Run, "rule"),
        *fields(Figure, "unit", "value", of=_of_job),
        DataColumn("date", str, date_of),
        *fields(Run, "published", "duplicate_of"),
        DataColumn("problems", list, lambda run: [each.code for each in run.problems]),
        DataColumn("page", str, lambda run: addresses.served(site.page(run))),
    )


def _of_job(run: Run) -> Figure | None:
    """Return the headline figure of a run if it is that of the whole job."""
    found = run.figure(run.rule)
    return found if found and found.scope == "job" else None
