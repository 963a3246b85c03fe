"""A model's page and those of its frameworks: tables, charts, notes and how to repeat its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ingest.common.numbers import quantity
from ingest.common.words import phrase
from ingest.compute.comparison import image_of
from ingest.compute.results import counts
from ingest.site import (
    addresses,
    answers,
    caveats,
    history,
    planned,
    published_figures,
    reproduce,
    result_charts,
    result_tables,
    run_tables,
    source_form,
)
from ingest.site.model import (
    Page,
    Site,
    Suite,
    framework_of,
    group_name,
    hardware_of,
    named,
    ordered,
    precision_name,
)
from ingest.site.render.table import Cell, Column, Entry, Table, absent, cell
from ingest.site.run_tables import ENVIRONMENT, packages, source_of, value_text
from schema.records import Run

#: A search for a model's name finds its page before reports about it; a model that ran here before one that did not.
RANKED_FIRST, RANKED_NEXT = 10, 6
RUNS_SHOWN = 100  # by the page of a model; the pages of runs list them all


def pages(site: Site) -> list[Page]:
    """Return the page of each model, followed by those of its frameworks."""
    found = []
    for suite in site.shown:
        found += [_model(site, suite), *(_framework(site, suite, each) for each in site.frameworks(suite))]
    return found


def _model(site: Site, suite: Suite) -> Page:
    runs = site.runs_of(suite)
    described = phrase("describe.model", title=suite.title)
    return Page(
        addresses.model_page(suite),
        "model",
        suite.title,
        described,
        lambda: {
            **_results(site, suite, runs),
            "answers": [
                (named(hardware, "site.unknown_hardware"), part)
                for hardware in answers.hardware_by_coverage([run for run in runs if counts(run)])
                if (part := answers.part(site, suite, hardware)).answers
            ],
            **answers.LIMITS,
            "summaries": source_form.summaries(site, suite),
            "charts": result_charts.result_charts(site, suite),
            "notes": caveats.notes(site, suite),
            "reports": published_figures.reports_of(site, suite),
            "plans": reproduce.of_suite(site, suite),
            "pending": (pending := planned.planned(site, suite)),
            "pending_table": planned.table(pending),
            "published": published_figures.published_tables(site, suite),
            "history": history.link(site, suite),
            "pages": [(named(each), addresses.framework_page(site, suite, each)) for each in site.frameworks(suite)],
        },
        order=suite.order,
        boost=RANKED_FIRST if any(map(counts, runs)) else RANKED_NEXT,
    )


def _framework(site: Site, suite: Suite, framework: str) -> Page:
    runs = tuple(run for run in site.runs_of(suite) if framework_of(run) == framework)
    about = {"title": suite.title, "framework": named(framework)}
    return Page(
        addresses.framework_page(site, suite, framework),
        "framework",
        phrase("title.framework", **about),
        phrase("describe.framework", **about),
        lambda: {
            **_results(site, suite, runs, framework),
            "framework": named(framework),
            "model_page": addresses.model_page(suite),
        },
    )


def _results(site: Site, suite: Suite, runs: Sequence[Run], only: str | None = None) -> Mapping[str, Any]:
    """Return the values that the pages of a model and of a framework share."""
    found = [
        (hardware, group, tuple(row for row in rows if only is None or (row.framework or "") == only))
        for hardware, group, rows in result_tables.sections(site, suite)
    ]
    found = [each for each in found if each[2]]
    rows = tuple(row for _, _, chosen in found for row in chosen)
    published = [run for run in runs if run.published]
    shown = [each for each in site.frameworks(suite) if only in (None, each)]
    made = {each: reproduce.blocks(site, [run for run in published if framework_of(run) == each]) for each in shown}
    return {
        "suite": suite,
        "unit": result_tables.units(rows) or suite.unit,
        "devices": ", ".join(map(str, sorted({row.devices for row in rows if row.devices is not None}))),
        "precisions": [precision_name(each) for each in _precisions(suite, rows)],
        "options": _options(rows),
        "batch_sizes": result_tables.batch_sizes(suite, rows),
        "machines": machines(published),
        "software": software(suite, published),
        "several_machines": sum((run.case.nodes or 1) > 1 for run in published),
        "reproduce": [block for blocks in made.values() for block in blocks],
        "without_command": [named(each) for each, blocks in made.items() if not blocks],
        "own": _own(site, suite, rows),
        "comparison": [
            (
                named(h, "site.unknown_hardware"),
                group_name(g),
                result_tables.units(chosen),
                result_tables.comparison(site, suite, chosen),
            )
            for h, g, chosen in found
            if len({row.framework for row in chosen}) > 1
        ],
        "scaling": [
            (named(h, "site.unknown_hardware"), group_name(g), table)
            for h, g, chosen in found
            if (table := result_tables.scaling(site, suite, chosen))
        ],
        "largest": [
            (named(h, "site.unknown_hardware"), group_name(g), table)
            for h, g, chosen in found
            if (table := result_tables.largest(site, suite, chosen))
        ],
        "details": [
            (named(h, "site.unknown_hardware"), group_name(g), result_tables.details_table(site, suite, chosen))
            for h, g, chosen in found
        ],
        "logs": run_tables.run_list(site, _first(site, runs), brief=True),
        "more_logs": max(0, len(runs) - RUNS_SHOWN),
    }


def _own(site: Site, suite: Suite, rows: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return each framework's own tables, one per hardware."""
    return [
        {
            "name": named(framework),
            "page": addresses.framework_page(site, suite, framework),
            "tables": [
                (
                    named(hardware, "site.unknown_hardware"),
                    result_tables.units(chosen),
                    result_tables.of_framework(site, suite, chosen),
                )
                for hardware in sorted({row.hardware or "" for row in rows})
                if (chosen := [r for r in rows if (r.hardware or "") == hardware and (r.framework or "") == framework])
            ],
        }
        for framework in ordered({row.framework or "" for row in rows}, suite.frameworks)
    ]


def _options(rows: Sequence[Any]) -> list[str]:
    """Return every option with its values."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.options.items():
            found.setdefault(name, set()).add(quantity(value))
    return [f"{name} = {' | '.join(sorted(found[name]))}" for name in sorted(found)]


def _precisions(suite: Suite, rows: Sequence[Any]) -> list[str]:
    return ordered({row.precision or "" for row in rows}, [each for group in suite.groups.values() for each in group])


def _first(site: Site, runs: Sequence[Run]) -> list[Run]:
    """Return as many runs as a page shows, preferably those with pages of their own, in the order of the runs."""
    shown = {run.id for run in sorted(runs, key=lambda run: not site.has_page(run))[:RUNS_SHOWN]}
    return [run for run in runs if run.id in shown]


ENOUGH = 6  # distinct values of one item that a cell lists


def machines(runs: Sequence[Run]) -> Table | None:
    """Return the machines of the runs: a column per hardware, with its distinct values."""
    hardware = sorted({hardware_of(run) for run in runs})
    found = [
        (item, [_distinct(r.environment.get(item) for r in runs if hardware_of(r) == each) for each in hardware])
        for item in ENVIRONMENT
    ]
    body = tuple(
        (cell(phrase(f"environment.{item}")), *(cell(values) if values else absent(None) for values in line))
        for item, line in found
        if any(line)
    )
    head = (Column(phrase("table.item")), *(Column(named(each, "site.unknown_hardware")) for each in hardware))
    return Table(head, body, name="machines") if body else None


def software(suite: Suite, runs: Sequence[Run]) -> Table | None:
    """Return versions of packages, images and sources per framework."""
    body = []
    for each in ordered({framework_of(run) for run in runs}, suite.frameworks):
        chosen = [run for run in runs if framework_of(run) == each]
        installed = {f"{name} {version}" for r in chosen for name, version in packages(r).items()}
        versions = {f"{each} {_fact(r, 'framework_version')}" for r in chosen if _fact(r, "framework_version")}
        images = {image for r in chosen if (image := image_of(r))}
        stated = sorted(installed | versions | images)
        sources = sorted({found for r in chosen if (found := source_of(r))}, key=repr)
        body.append(
            (
                cell(named(each)),
                Cell(tuple(map(Entry, stated))) if stated else absent(phrase("site.unknown")),
                Cell(tuple(map(Entry, sources))) if sources else absent(phrase("site.unknown")),
            )
        )
    head = (Column(phrase("table.framework")), Column(phrase("table.software")), Column(phrase("run.source")))
    return Table(head, tuple(body), name="software") if body else None


def _distinct(values: Iterable[Any]) -> str:
    found = sorted({value_text(each) for each in values if each is not None})
    return "; ".join(found[:ENOUGH]) + ("; …" if len(found) > ENOUGH else "")


def _fact(run: Run, name: str) -> str:
    fact = run.facts.get(name)
    return str(fact.value) if fact and fact.value is not None else ""
