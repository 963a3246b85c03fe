"""The page that filters and sorts all runs, and shows those without a page; without scripts, the runs by hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.site import addresses, run_tables
from perfledger.ingest.site.data import explorer
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Page, Site, framework_of, hardware_of, named, or_unknown, precision_name
from perfledger.ingest.site.render.table import Table, cell
from perfledger.ingest.site.run_paging import Limits
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import OUTCOMES, PRECISIONS

#: The library that sorts, filters and scrolls, and the scripts that make the table of it.
EXPLORER_SCRIPTS = ("assets/vendor/tabulator.min.js", addresses.SITE_SCRIPT, "assets/js/explorer.js")
#: Columns that the table can be sorted by, in their order.
COLUMNS = (
    "model", "framework", "hardware", "devices", "batch_size", "precision", "options", "outcome", "throughput", "date",
    "run",
)  # fmt: skip

#: Details of a run that are shown on demand, by the names that the script uses, in order.
DETAILS = (
    ("outcome", phrase("table.outcome")),
    ("throughput", phrase("table.view_throughput")),
    ("tables", phrase("proof.tables")),
    ("model", phrase("table.model")),
    ("framework", phrase("table.framework")),
    ("hardware", phrase("table.hardware")),
    ("size", phrase("table.case")),
    ("options", phrase("table.options")),
    ("date", phrase("explorer.date")),
    ("window", phrase("proof.window")),
    ("rule", phrase("proof.rule")),
    ("arithmetic", phrase("proof.arithmetic")),
    ("log", phrase("run.log")),
    ("sha256", phrase("run.sha256")),
    ("problems", phrase("run.problems")),
    ("shard", phrase("runs.data")),
    ("command", phrase("explorer.evidence")),
)


@dataclass(frozen=True)
class FactChoices:
    """The values of one fact among the runs, as a part of the data names them, with their words."""

    name: str
    values: tuple[tuple[str | int, Text], ...]


def pages(site: Site) -> list[Page]:
    """Return the page of all runs."""
    described = phrase("nav.runs"), phrase("describe.runs")
    return [Page(addresses.RUNS, "runs", *described, partial(_runs, site), scripts=EXPLORER_SCRIPTS)]


@dataclass(frozen=True)
class RunsPage:
    """The page of all runs; `config` is for its script, and `own` are the runs that have pages if not all have."""

    count: int
    logs: int
    published: int
    limits: Limits
    own: Table | None
    details: tuple[tuple[str, Text], ...]
    choices: tuple[FactChoices, ...]
    columns: tuple[tuple[str, Text], ...]
    config: Mapping[str, Sequence[tuple[str, int, object]]]
    tables: tuple[tuple[Text, Table | None], ...]


def _runs(site: Site) -> RunsPage:
    parts, details = site.once(explorer.parts), site.once(explorer.details)
    by_hardware: dict[str, list[Run]] = {}
    for run in site.runs:
        by_hardware.setdefault(hardware_of(run), []).append(run)
    shown = count_table if details else run_tables.run_list
    return RunsPage(
        count=len(site.runs),
        logs=len({run.path for run in site.runs}),
        published=sum(run.published for run in site.runs),
        limits=site.limits,
        own=run_tables.run_list(site, list(filter(site.has_page, site.runs))) if details else None,
        details=DETAILS,
        choices=tuple(choices(site.runs)),
        columns=tuple((each, _title(each)) for each in COLUMNS),
        config={
            "parts": [(each.name, len(each.runs), each.models) for each in parts],
            "details": [(each.details, len(each.runs), each.first) for each in details],
        },
        tables=tuple((product(each), shown(site, by_hardware[each])) for each in sorted(by_hardware)),
    )


def choices(runs: Sequence[Run]) -> list[FactChoices]:
    """Return what can be chosen of each fact; what is not known comes last."""
    models, frameworks = {explorer.model_of(run) for run in runs}, {framework_of(run) for run in runs}
    hardware, devices = {hardware_of(run) for run in runs}, {run.case.devices for run in runs}
    precisions, outcomes = {run.case.precision or "" for run in runs}, {run.outcome for run in runs}
    return [
        FactChoices("model", tuple((each, named(each)) for each in sorted(models, key=_by_name))),
        FactChoices("framework", tuple((each, named(each)) for each in sorted(frameworks, key=_by_name))),
        FactChoices("hardware", tuple((each, product(each)) for each in sorted(hardware, key=_by_name))),
        FactChoices("precision", tuple((each, precision_name(each)) for each in _in_order(precisions, PRECISIONS))),
        FactChoices(
            "devices",
            tuple(
                ("" if each is None else each, or_unknown(each))
                for each in sorted(devices, key=lambda each: (each is None, each or 0))
            ),
        ),
        FactChoices("outcome", tuple((each, word_for("outcome", each)) for each in _in_order(outcomes, OUTCOMES))),
    ]


def _by_name(name: str) -> tuple[bool, str, str]:
    return not name, name.casefold(), name


def _in_order(names: set[str], order: Mapping[str, object]) -> list[str]:
    """Return names in the order of the vocabulary, then those that it does not know."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda each: (not each, places.get(each, len(places)), each))


def _title(column: str) -> Text:
    return phrase({"throughput": "table.view_throughput", "date": "explorer.date"}.get(column, f"table.{column}"))


def count_table(site: Site, runs: Sequence[Run]) -> Table | None:
    """Return for each suite the number of runs."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(site.suite_of[run.id].id, []).append(run)
    columns = (
        ColumnOf[list[Run]](
            phrase("table.model"),
            lambda each: cell(site.suite_of[each[0].id].title, addresses.model_page_of(site, each[0])),
        ),
        ColumnOf[list[Run]](phrase("runs.runs"), len, True),
        ColumnOf[list[Run]](phrase("runs.in_tables"), lambda each: sum(run.published for run in each), True),
        ColumnOf[list[Run]](
            phrase("runs.not_completed"), lambda each: sum(run.outcome != "completed" for run in each), True
        ),
    )
    return table_of("runs", [found[each] for each in sorted(found)], columns)
