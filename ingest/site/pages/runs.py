"""The page that filters and sorts all runs; without scripts, the runs by hardware, and the lists that hold many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common import numbers
from ingest.common.words import Text, phrase, word_for
from ingest.compute.rules import HEADLINE, SUMMARY
from ingest.site import addresses, run_tables
from ingest.site.data import explorer
from ingest.site.hardware_names import product
from ingest.site.model import Page, Site, framework_of, hardware_of, named, or_unknown, precision_name
from ingest.site.render.table import Cell, Column, Entry, Link, Table, absent, cell
from ingest.site.run_paging import Listed, run_anchor
from ingest.site.run_tables import case_cell, headline, headline_cell, outcome_cell, window_text
from schema.records import Run
from schema.vocabulary import OUTCOMES, PRECISIONS

#: The library that sorts, filters and scrolls, and the scripts that make the table of it.
EXPLORER_SCRIPTS = ("assets/vendor/tabulator.min.js", addresses.SITE_SCRIPT, "assets/js/explorer.js")
#: What the table can be sorted by, in the order of its columns.
COLUMNS = (
    "model", "framework", "hardware", "devices", "batch_size", "precision", "options", "outcome", "throughput", "date",
    "run",
)  # fmt: skip


@dataclass(frozen=True)
class FactChoices:
    """What the runs have of one fact, as a part of the data names it, with its words."""

    name: str
    values: tuple[tuple[str | int, Text], ...]


def pages(site: Site) -> list[Page]:
    """Return the index of runs, and the lists of a site with many."""
    return [_index(site), *(_run_list(site, each) for each in site.lists)]


def _index(site: Site) -> Page:
    described = phrase("nav.runs"), phrase("describe.runs")
    return Page(addresses.RUNS, "runs", *described, lambda: _context(site), scripts=EXPLORER_SCRIPTS)


def _context(site: Site) -> Mapping[str, Any]:
    parts = site.once(explorer.parts)
    return {
        "count": len(site.runs),
        "logs": len({run.path for run in site.runs}),
        "published": sum(run.published for run in site.runs),
        "limits": site.limits,
        "lists": bool(site.lists),
        "choices": choices(site.runs),
        "columns": [(each, _title(each)) for each in COLUMNS],
        "config": {"parts": [(each.name, len(each.runs), each.models) for each in parts]},
        "tables": [
            (
                product(each),
                (list_table if site.lists else run_tables.run_list)(
                    site, [run for run in site.runs if hardware_of(run) == each]
                ),
            )
            for each in sorted({hardware_of(run) for run in site.runs})
        ],
    }


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


def _run_list(site: Site, listed: Listed) -> Page:
    """Return a list of runs of one suite, each with what leads from its figure to the lines of its log."""
    runs = [site.by_id[each] for each in listed.runs]
    suite = site.suite_of[listed.runs[0]]
    mine = [each.path for each in site.lists if each.suite == suite.id]
    before, after = ([*mine, None][mine.index(listed.path) + step] for step in (-1, 1))
    about = {"title": suite.title, "first": listed.runs[0]}
    return Page(
        listed.path,
        "run_list",
        phrase("title.run_list", **about),
        phrase("describe.run_list", **about),
        lambda: {
            "heading": phrase("title.run_list", **about),
            "suite_title": suite.title,
            "suite_page": addresses.model_page_of(site, runs[0]),
            "first": listed.runs[0],
            "last": listed.runs[-1],
            "count": len(runs),
            "by_rule": phrase("runs.by_rule", rule=phrase(f"rule.{HEADLINE}"), summary=phrase(f"rule.{SUMMARY}")),
            "path": runs[0].path,
            "runs": entry_table(site, runs),
            "before": before,
            "after": after,
        },
        boost=0,
    )


def list_table(site: Site, runs: Sequence[Run]) -> Table:
    """Return for each suite the number of runs, and the pages that list them."""
    head = (
        Column(phrase("table.model")),
        Column(phrase("runs.runs"), True),
        Column(phrase("runs.in_tables"), True),
        Column(phrase("runs.not_completed"), True),
        Column(phrase("runs.lists")),
    )
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(site.suite_of[run.id].id, []).append(run)
    return Table(head, tuple(_lists_line(site, found[each]) for each in sorted(found)))


def _lists_line(site: Site, runs: Sequence[Run]) -> tuple[Cell, ...]:
    suite, ids = site.suite_of[runs[0].id], {run.id for run in runs}
    lists = [each.path for each in site.lists if each.suite == suite.id and ids & set(each.runs)]
    return (
        cell(suite.title, addresses.model_page_of(site, runs[0])),
        cell(numbers.count(len(runs))),
        cell(numbers.count(sum(run.published for run in runs))),
        cell(numbers.count(sum(run.outcome != "completed" for run in runs))),
        Cell((Entry("", sources=tuple(Link(numbers.count(n), page) for n, page in enumerate(lists, 1))),)),
    )


def entry_table(site: Site, runs: Sequence[Run]) -> Table:
    """Return runs, each with what leads from its figure to the lines of its log."""
    names = ("run", "framework", "case", "outcome", "figure", "window", "arithmetic")
    head = tuple(Column(phrase(f"table.{each}"), each == "figure") for each in names)
    head += (Column(phrase("run.log")), Column(phrase("runs.data")))
    return Table(head, tuple(_run_entry(site, run) for run in runs))


def _run_entry(site: Site, run: Run) -> tuple[Cell, ...]:
    identifier, found = run.id, headline(run)
    name = Entry(identifier, site.page(run) if site.has_page(run) else None, anchor=run_anchor(identifier))
    session = phrase("run.session_of", session=run.session, sessions=run.sessions)
    marks = (session,) if run.sessions > 1 else ()
    shard = site.shards.get(identifier)
    return (
        Cell((name,)),
        cell(named(run.case.framework)),
        case_cell(run.case),
        outcome_cell(run),
        headline_cell(run),
        cell(window_text(found.first_line, found.last_line) if found else ""),
        cell(found.arithmetic if found else ""),
        cell(run.path, None, *marks, f"SHA-256 {run.sha256[:12]}"),
        cell(shard, addresses.ledger_file(shard)) if shard else absent(None),
    )
