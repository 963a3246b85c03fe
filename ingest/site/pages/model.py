"""A model's page and those of its frameworks: tables, charts, notes and how to repeat its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ingest.common import numbers
from ingest.common.numbers import quantity
from ingest.common.words import Text, phrase
from ingest.compute.comparison import contradicted, image_of
from ingest.compute.results import counts
from ingest.compute.rules import HEADLINE
from ingest.site import (
    addresses,
    answers,
    caveats,
    planned,
    published_figures,
    reproduce,
    result_tables,
    run_tables,
    source_form,
)
from ingest.site.model import (
    Page,
    Row,
    RowKey,
    Site,
    Suite,
    framework_of,
    group_name,
    hardware_of,
    named,
    options_text,
    ordered,
    precision_name,
    written,
)
from ingest.site.render import drawing
from ingest.site.render.chart import Chart, literal
from ingest.site.render.table import Cell, Column, Entry, Table, absent, cell
from ingest.site.render.text import slugs
from ingest.site.result_tables import sections, units, version_marks
from ingest.site.run_tables import ENVIRONMENT, packages, source_of, value_text
from schema.records import Run

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
            "charts": result_charts(site, suite),
            "notes": caveats.notes(site, suite),
            "reports": published_figures.reports_of(site, suite),
            "plans": reproduce.of_suite(site, suite),
            "pending": (pending := planned.planned(site, suite)),
            "pending_table": planned.table(pending),
            "published": published_figures.published_tables(site, suite),
            "pages": [(named(each), addresses.framework_page(site, suite, each)) for each in site.frameworks(suite)],
        },
        order=suite.order,
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


def result_charts(site: Site, suite: Suite) -> list[Chart]:
    """Return charts of throughput and speed-up per hardware and precision group; an axis has one unit."""
    found = []
    by_hardware = slugs({hardware for hardware, _, _ in sections(site, suite)})
    for hardware, group, rows in sections(site, suite):
        about = {"title": suite.title, "hardware": named(hardware, "site.unknown_hardware"), "group": group_name(group)}
        name = f"{suite.id}-{by_hardware[hardware]}-{group}"
        by_unit = {unit: [row for row in rows if row.unit == unit] for unit in sorted({row.unit for row in rows})}
        valued = {unit: mine for unit, mine in by_unit.items() if any(numbers.known(row.value) for row in mine)}
        parts = slugs(valued) if len(valued) > 1 else {}
        for unit, mine in valued.items():
            found.append(_bars(suite, mine, "-".join(filter(None, (name, parts.get(unit)))), about))
        found.append(_speedup(suite, rows, name, about))
    return [each for each in found if each]


def _bars(suite: Suite, rows: Sequence[Row], name: str, about: Mapping[str, Text]) -> Chart | None:
    rows = [row for row in rows if numbers.known(row.value)]
    if not rows:
        return None
    groups = sorted({suite.row_key(row) for row in rows})
    labels = _labels(suite, rows)
    series = []
    for label in ordered(set(labels), suite.frameworks):
        by_group = {suite.row_key(row): row for row, mine in zip(rows, labels, strict=True) if mine == label}
        chosen = [by_group.get(each) for each in groups]
        speeds, low, high = (tuple(getattr(r, f) if r else None for r in chosen) for f in ("value", "low", "high"))
        labelled = tuple(written(row) if row else "" for row in chosen)
        series.append(drawing.Series(label, speeds, low, high, labels=labelled))
    data = drawing.Bars(_group_labels(groups), tuple(series), literal(units(rows)))
    values = tuple(
        phrase("chart.value_of", name=_series_name(label), group=_group_label(suite.row_key(row)),
               value=f"{written(row)} {row.unit}")
        for row, label in zip(rows, labels, strict=True)
    )  # fmt: skip
    title = phrase("chart.bars_title", **about)
    return Chart(f"{name}-throughput", partial(drawing.bars, data), title, "chart.bars_text", values)


def _speedup(suite: Suite, rows: Sequence[Row], name: str, about: Mapping[str, Text]) -> Chart | None:
    rows = [row for row in rows if numbers.known(row.speedup) and row.devices]
    if not any((row.devices or 1) > 1 for row in rows):
        return None
    lines: dict[str, dict[int, float]] = {}
    several = len({row.batch_size for row in rows}) > 1
    workloads = len({suite.row_key(row)[3] for row in rows}) > 1
    for row, mine in zip(rows, _labels(suite, rows), strict=True):
        what = (str(row.batch_size) if several else "", suite.row_key(row)[3] if workloads else "")
        apart = ", ".join(filter(None, what))
        label = mine + (f" ({apart})" if apart else "")
        lines.setdefault(label, {})[row.devices or 1] = row.speedup or 1.0
    series = tuple((label, tuple(sorted(points)), tuple(points[each] for each in sorted(points)))
                   for label, points in sorted(lines.items()) if max(points) > 1)  # fmt: skip
    values = tuple(
        phrase("chart.value_of", name=_series_name(label), group=device, value=numbers.ratio(value))
        for label, devices, points in series
        for device, value in zip(devices, points, strict=True)
    )
    title = phrase("chart.speedup_title", **about)
    return Chart(
        f"{name}-speedup", partial(drawing.speedup, drawing.Lines(series)), title, "chart.speedup_text", values
    )


def _labels(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """Return the label of each row: its framework, and what distinguishes its bars from others in the same group.

    An option of the workload (threads) is named, so that nobody takes its bar for one of the same workload.
    """
    precisions = len({row.precision for row in rows}) > 1
    places = Counter((row.framework, row.precision, suite.row_key(row)) for row in rows)
    crowded = {(framework, precision) for (framework, precision, _), count in places.items() if count > 1}
    found = []
    apart = _apart(suite, rows)
    for row in rows:
        precision = (row.precision or "").upper() if precisions else ""
        stated = options_text({name: value for name, value in row.options.items() if name in apart})
        options = options_text(suite.other_options(row)) if (row.framework, row.precision) in crowded else stated
        edition = version_marks(row, [each for each in rows if each.framework == row.framework])
        named = literal(row.framework) if row.framework else "@unknown@"
        summary = "" if row.rule == HEADLINE else "@summary@"
        about = map(literal, filter(None, (*edition, precision, options)))
        found.append(" ".join(filter(None, (named, *about, summary))))
    return found


def _apart(suite: Suite, rows: Sequence[Row]) -> set[str]:
    """Return the options in which frameworks of one group contradict each other."""
    keys = {suite.row_key(row) for row in rows}
    return {name for key in keys for name in contradicted([row for row in rows if suite.row_key(row) == key])}


def _series_name(label: str) -> Text:
    return phrase("site.unknown") if label == "@unknown@" else label


def _group_labels(groups: Sequence[RowKey]) -> tuple[str, ...]:
    """Return labels of groups, without the options that all groups share."""
    options = [set(each[3].split(" ")) for each in groups]
    common = set.intersection(*options) if len(groups) > 1 else set()
    return tuple(
        _group_label((*each[:3], " ".join(word for word in each[3].split(" ") if word not in common)))
        for each in groups
    )


def _group_label(group: RowKey) -> str:
    _, devices, batch_size, options = group
    return " ".join(filter(None, (f"{devices or '?'} × {batch_size or '?'}", literal(options))))
