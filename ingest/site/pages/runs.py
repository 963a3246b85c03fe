"""The page that filters and sorts all runs, and shows those without a page; without scripts, the runs by hardware."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.site import addresses, run_tables
from perfledger.ingest.site.data import explorer
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Page, Site, framework_of, hardware_of, named, or_unknown, precision_name
from perfledger.ingest.site.render.table import Table
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import OUTCOMES, PRECISIONS

#: The library that sorts, filters and scrolls, and the scripts that make the table of it.
EXPLORER_SCRIPTS = ("assets/vendor/tabulator.min.js", addresses.SITE_SCRIPT, "assets/js/explorer.js")
#: Columns that the table can be sorted by, in their order.
COLUMNS = (
    "model", "framework", "hardware", "devices", "batch_size", "precision", "options", "outcome", "throughput", "date",
    "run",
)  # fmt: skip
#: Titles of columns that no other table has.
_TITLES = {"throughput": "table.view_throughput", "date": "explorer.date"}

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
    """The page of all runs; `config` is for its script. `tables` have the runs with a page of their own, by hardware.

    `paged` is the number of these if not all runs have one, else 0.
    """

    count: int
    logs: int
    published: int
    paged: int
    details: tuple[tuple[str, Text], ...]
    choices: tuple[FactChoices, ...]
    columns: tuple[tuple[str, Text], ...]
    config: Mapping[str, Sequence[tuple[str, int, object]]]
    tables: tuple[tuple[Text, Table], ...]


def _runs(site: Site) -> RunsPage:
    parts, details = site.once(explorer.parts), site.once(explorer.details)
    by_hardware = by_key(filter(site.has_page, site.runs), hardware_of)
    return RunsPage(
        count=len(site.runs),
        logs=len({run.path for run in site.runs}),
        published=sum(run.published for run in site.runs),
        paged=site.limits.pages if details else 0,
        details=DETAILS,
        choices=tuple(choices(site.runs)),
        columns=tuple((each, phrase(_TITLES.get(each, f"table.{each}"))) for each in COLUMNS),
        config={
            "parts": [(each.name, len(each.runs), each.models) for each in parts],
            "details": [(each.details, len(each.runs), each.first) for each in details],
        },
        tables=tuple((product(each), run_tables.run_list(site, by_hardware[each])) for each in sorted(by_hardware)),
    )


def choices(runs: Sequence[Run]) -> list[FactChoices]:
    """Return what can be chosen of each fact; what is not known comes last."""
    numbers = sorted({run.case.devices for run in runs}, key=lambda each: (each is None, each or 0))
    precisions = _in_order({run.case.precision or "" for run in runs}, PRECISIONS)
    outcomes = _in_order({run.outcome for run in runs}, OUTCOMES)
    return [
        FactChoices("model", _named({explorer.model_of(run) for run in runs}, named)),
        FactChoices("framework", _named({framework_of(run) for run in runs}, named)),
        FactChoices("hardware", _named({hardware_of(run) for run in runs}, product)),
        FactChoices("precision", tuple((each, precision_name(each)) for each in precisions)),
        FactChoices("devices", tuple(("" if each is None else each, or_unknown(each)) for each in numbers)),
        FactChoices("outcome", tuple((each, word_for("outcome", each)) for each in outcomes)),
    ]


def _named(names: set[str], said: Callable[[str], Text]) -> tuple[tuple[str, Text], ...]:
    """Return names in alphabetical order with their words."""
    return tuple((each, said(each)) for each in sorted(names, key=lambda each: (not each, each.casefold(), each)))


def _in_order(names: set[str], order: Mapping[str, object]) -> list[str]:
    """Return names in the order of the vocabulary, then those that it does not know."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda each: (not each, places.get(each, len(places)), each))
