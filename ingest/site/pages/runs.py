"""The page that filters and sorts all runs, and shows those without a page; without scripts, the runs by hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.site import addresses, run_tables
from perfledger.ingest.site.chips import ChipGroup, Selection, as_list, chip_group
from perfledger.ingest.site.data import explorer
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.model import Page, Site, framework_of, group_name, hardware_of, named, or_unknown
from perfledger.ingest.site.render.table import Table, Value
from perfledger.schema.vocabulary import OUTCOMES, PRECISION_GROUPS, precision_group

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


def pages(site: Site) -> list[Page]:
    """Return the page of all runs."""
    described = phrase("nav.runs"), phrase("describe.runs")
    return [
        Page(
            addresses.RUNS, "runs", *described, partial(_runs, site), scripts=EXPLORER_SCRIPTS,
            selection=lambda: Selection() if site.runs else None,
        )
    ]  # fmt: skip


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
    chips: tuple[ChipGroup, ...]
    columns: tuple[tuple[str, Text], ...]
    config: Mapping[str, Sequence[tuple[object, ...]]]
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
        chips=_chips(site),
        columns=tuple((each, phrase(_TITLES.get(each, f"table.{each}"))) for each in COLUMNS),
        config={
            "parts": [(each.name, len(each.runs)) for each in parts],
            "details": [(each.details, len(each.runs), each.first) for each in details],
        },
        tables=tuple((product(each), run_tables.run_list(site, by_hardware[each])) for each in sorted(by_hardware)),
    )


def _chips(site: Site) -> tuple[ChipGroup, ...]:
    """Return the facts of all runs, each value with its number of runs; models and hardware are chosen from lists."""
    suites = sorted(site.suite_of.values(), key=lambda each: (each.order, each.id))
    groups = {precision_group(run.case.precision) for run in site.runs}
    outcomes = {run.outcome for run in site.runs}
    frameworks = sorted({*map(framework_of, site.runs)}, key=lambda each: (not each, each.casefold()))
    devices = sorted({run.case.devices or 0 for run in site.runs}, key=lambda each: (not each, each))
    labels: dict[str, dict[Value, Text]] = {
        "model": {each.id: each.title for each in suites},
        "hardware": {each: product(each) for each in sorted({*map(hardware_of, site.runs)}, key=newest_first)},
        "framework": {each: named(each) for each in frameworks},
        "precision": {each: group_name(each) for each in (*PRECISION_GROUPS, "unknown") if each in groups},
        "devices": {each: or_unknown(each or None) for each in devices},
        "outcome": {each: word_for("outcome", each) for each in OUTCOMES if each in outcomes},
    }
    facts = [explorer.facets(site, run) for run in site.runs]
    found = (chip_group(name, phrase(f"table.{name}"), facts, words) for name, words in labels.items())
    return tuple(as_list(each) if each.name in ("model", "hardware") else each for each in found)
