"""A model's page: results, scaling, evidence, commands and what others published; and the page of its full tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import image_of
from perfledger.ingest.compute.comparison_levels import LEVELS, Level
from perfledger.ingest.compute.results import counts
from perfledger.ingest.site import (
    addresses,
    answers,
    caveats,
    history,
    options,
    planned,
    published_figures,
    reproduce,
    result_charts,
    result_tables,
    run_tables,
    source_form,
    unplaced,
)
from perfledger.ingest.site.answers import Answer
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import (
    Page,
    Row,
    Site,
    Suite,
    framework_of,
    group_name,
    hardware_of,
    named,
    ordered,
    precision_name,
)
from perfledger.ingest.site.render.table import Cell, Column, Entry, Facets, Rest, Table, absent, cell
from perfledger.ingest.site.run_tables import ENVIRONMENT, packages, source_of, value_text
from perfledger.schema.records import Run

#: Rank in the search of the page of a model that ran here; a model's page comes before reports about it.
RANKED_FIRST = 10
#: Rank in the search of the page of another model.
RANKED_NEXT = 6
RUNS_SHOWN = 100  # by the page of a model; the pages of runs list them all
#: Rows of all tables of results on a model's page; scripts load further rows.
ROWS_SHOWN = 14
#: Rows of each table of results on a model's page, at least.
ROWS_AT_LEAST = 3
VERDICTS_SHOWN = 6  # of a hardware; the others are folded
#: Number of hardware with charts, scaling and other metrics on a model's page; another page has those of the rest.
HARDWARE_SHOWN = 5


@dataclass(frozen=True)
class ModelSlice:
    """The results of one hardware and precision group, which are compared with each other, and their tables."""

    hardware: str
    group: str
    rows: tuple[Row, ...]
    compared: Table
    scaling: Table | None
    largest: Table | None
    details: Table

    @property
    def titles(self) -> tuple[Text, ...]:
        """The common title of its tables."""
        return (product(self.hardware), group_name(self.group), result_tables.units(self.rows))

    @property
    def facets(self) -> Facets:
        """Its names and values for the filters of the page."""
        return (("hardware", self.hardware), ("precision", self.group))

    @property
    def several(self) -> bool:
        """Whether there is anything to compare."""
        return len({row.framework for row in self.rows}) > 1


@dataclass(frozen=True)
class Filter:
    """A choice of the page: its name in the address, and its values with their words."""

    name: str
    choices: tuple[tuple[str, Text], ...]


@dataclass(frozen=True)
class Verdicts:
    """The answers on a hardware at some levels: the first of those that compare something, and all others."""

    hardware: str
    name: Text
    first: tuple[Answer, ...]
    rest: tuple[Answer, ...]
    levels: tuple[Level, ...]

    @property
    def facets(self) -> Facets:
        """Their names and values for the filters of the page."""
        return (("hardware", self.hardware), ("level", " ".join(self.levels)))


def pages(site: Site) -> list[Page]:
    """Return the page of each model; if it has runs, that of all rows of its tables, and that of further hardware."""
    found = []
    for suite in site.shown:
        hardware = {hardware_of(run) for run in site.runs_of(suite) if counts(run)}
        found += [_model(site, suite), *([_all_results(site, suite)] if hardware else [])]
        found += [_further(site, suite)] if len(hardware) > HARDWARE_SHOWN else []
    return found


def _model(site: Site, suite: Suite) -> Page:
    described = phrase("describe.model", title=suite.title)
    return Page(
        addresses.model_page(suite),
        "model",
        suite.title,
        described,
        lambda: {
            "suite": suite,
            **_results(site, suite),
            **_evidence(site, suite),
            **_commands(site, suite),
            "reports": published_figures.reports_of(site, suite),
            "published": published_figures.published_tables(site, suite),
            "history": history.link(site, suite),
            "counted": any(map(counts, site.runs_of(suite))),
            "unplaced": unplaced.of_suite(site, suite),
            "more_unplaced": None,
            "pages": [(named(each), addresses.scorecard_page(site, each)) for each in site.frameworks(suite)],
        },
        order=suite.order,
        scripts=("assets/js/panels.js",),
        basis=partial(site.basis, suite),
        boost=RANKED_FIRST if any(map(counts, site.runs_of(suite))) else RANKED_NEXT,
    )


def _all_results(site: Site, suite: Suite) -> Page:
    return _beside(
        site,
        suite,
        addresses.all_results(suite),
        "all_results",
        phrase("title.all_results", title=suite.title),
        phrase("describe.all_results", title=suite.title),
        lambda: {"slices": slices(site, suite), "summaries": source_form.summaries(site, suite)},
    )


def _further(site: Site, suite: Suite) -> Page:
    return _beside(
        site,
        suite,
        addresses.further(suite),
        "further",
        phrase("title.further", title=suite.title),
        phrase("describe.further", title=suite.title),
        lambda: {
            "slices": (far := _near_and_far(slices(site, suite))[1]),
            **_charts(site, suite, far),
        },
    )


def _beside(
    site: Site,
    suite: Suite,
    address: str,
    template: str,
    title: Text,
    description: Text,
    context: Callable[[], Mapping[str, Any]],
) -> Page:
    """Return a page next to that of a model, which has a link to it."""
    head = {"title": title, "suite_title": suite.title, "model_page": addresses.model_page(suite)}
    return Page(
        address,
        template,
        title,
        description,
        lambda: {**head, **context()},
        basis=partial(site.basis, suite),
        boost=0,
    )


def slices(site: Site, suite: Suite) -> list[ModelSlice]:
    """Return the results of a model by hardware and precision group: first the hardware with most to compare."""
    ranked = answers.hardware_by_coverage([run for run in site.runs_of(suite) if counts(run)])
    found = sorted(result_tables.sections(site, suite), key=lambda each: ranked.index(each[0]))
    return [
        ModelSlice(
            hardware,
            group,
            rows,
            result_tables.comparison(site, suite, rows),
            result_tables.scaling(site, suite, rows),
            result_tables.largest(site, suite, rows),
            result_tables.details_table(site, suite, rows),
        )
        for hardware, group, rows in found
    ]


def _results(site: Site, suite: Suite) -> Mapping[str, Any]:
    """Return what the tabs of results and of scaling show."""
    found, everything = slices(site, suite), addresses.all_results(suite)
    by_hardware = dict.fromkeys(each.hardware for each in found)
    near, far = _near_and_far(found)
    return {
        "slices": near,
        "several": any(each.several for each in found),
        "further": (len({each.hardware for each in far}), addresses.further(suite)) if far else None,
        "further_scaling": any(each.scaling for each in far),
        "filters": _filters(suite, found),
        "verdicts": [each for hardware in by_hardware for each in _verdicts(site, suite, hardware)],
        **answers.levels(),
        **answers.LIMITS,
        "compared": list(zip(found, _shortened([each.compared for each in found], everything), strict=True)),
        "all_results": everything,
        **_charts(site, suite, near),
    }


def _near_and_far(found: Sequence[ModelSlice]) -> tuple[list[ModelSlice], list[ModelSlice]]:
    """Return the slices that a model's page shows whole, and those with only their comparison there."""
    shown = list(dict.fromkeys(each.hardware for each in found))[:HARDWARE_SHOWN]
    return [each for each in found if each.hardware in shown], [each for each in found if each.hardware not in shown]


def _charts(site: Site, suite: Suite, found: Sequence[ModelSlice]) -> Mapping[str, Any]:
    return {
        "charts": [
            (each.hardware, chart)
            for each in _charted(found)
            if (chart := result_charts.throughput(site, suite, each.hardware, each.group, each.rows))
        ],
        "scaling_charts": [
            (each.facets, chart)
            for each in found
            if (chart := result_charts.efficiency(site, suite, each.hardware, each.group, each.rows))
        ],
    }


def _verdicts(site: Site, suite: Suite, hardware: str) -> list[Verdicts]:
    """Return the answers on a hardware: once for levels at which all of them are the same."""
    found: list[tuple[tuple[Answer, ...], list[Level]]] = []
    for level in LEVELS:
        made = answers.answers(site, suite, hardware, level)
        levels = next((levels for known, levels in found if answers.say_the_same(known, made)), None)
        if levels is None:
            found.append((made, [level]))
        else:
            levels.append(level)
    return [_verdicts_of(hardware, made, levels) for made, levels in found]


def _verdicts_of(hardware: str, found: Sequence[Answer], levels: Sequence[Level]) -> Verdicts:
    first = tuple(each for each in found if each.kind not in ("alone", "none"))[:VERDICTS_SHOWN]
    rest = tuple(each for each in found if each not in first)
    return Verdicts(hardware, product(hardware), first, rest, tuple(levels))


def _filters(suite: Suite, found: Sequence[ModelSlice]) -> list[Filter]:
    """Return the filters with several choices; those of the hardware are in the order of the page."""
    rows = [row for each in found for row in each.rows]
    every: dict[str, Mapping[str, Text]] = {
        "hardware": {each.hardware: product(each.hardware) for each in found},
        "devices": {str(each): str(each or "?") for each in sorted({row.devices or 0 for row in rows})},
        "precision": {each.group: group_name(each.group) for each in found},
        "framework": {each: named(each) for each in ordered({row.framework or "" for row in rows}, suite.frameworks)},
    }
    return [Filter(name, tuple(values.items())) for name, values in every.items() if len(values) > 1]


def _shortened(tables: Sequence[Table], page: str) -> list[Table]:
    """Return tables with their first rows, as many as a page of results has; that page has all of them."""
    left, found = ROWS_SHOWN, []
    for each in tables:
        shown = min(len(each.rows), max(ROWS_AT_LEAST, left))
        left -= shown
        found.append(replace(each, rest=Rest(shown, page)))
    return found


def _charted(found: Sequence[ModelSlice]) -> list[ModelSlice]:
    """Return of each hardware the slice that compares most frameworks."""
    best: dict[str, ModelSlice] = {}
    for each in found:
        known = best.setdefault(each.hardware, each)
        if len({row.framework for row in each.rows}) > len({row.framework for row in known.rows}):
            best[each.hardware] = each
    return list(best.values())


def _evidence(site: Site, suite: Suite) -> Mapping[str, Any]:
    """Return what the tab of evidence shows: runs, notes, what was measured and where."""
    runs = site.runs_of(suite)
    rows, published = site.rows.get(suite.id, ()), [run for run in runs if run.published]
    return {
        "unit": result_tables.units(rows) or suite.unit,
        "devices": ", ".join(map(str, sorted({row.devices for row in rows if row.devices is not None}))),
        "precisions": [precision_name(each) for each in _precisions(suite, rows)],
        "options": _options(rows),
        "batch_sizes": result_tables.batch_sizes(suite, rows),
        "machines": machines(published),
        "software": software(suite, published),
        "differences": caveats.differences(site, suite),
        "remarks": caveats.remarks(site, suite),
        "logs": run_tables.run_list(site, _first(site, runs), brief=True),
        "more_logs": max(0, len(runs) - RUNS_SHOWN),
    }


def _commands(site: Site, suite: Suite) -> Mapping[str, Any]:
    """Return what the tab of commands shows: those of runs, those of recipes, and what these have yet to run."""
    published = [run for run in site.runs_of(suite) if run.published]
    made = {
        each: reproduce.blocks(site, [run for run in published if framework_of(run) == each])
        for each in site.frameworks(suite)
    }
    pending = planned.planned(site, suite)
    return {
        "several_machines": sum((run.case.nodes or 1) > 1 for run in published),
        "reproduce": [block for blocks in made.values() for block in blocks],
        "without_command": [named(each) for each, blocks in made.items() if not blocks],
        "plans": reproduce.of_suite(site, suite),
        "pending": pending,
        "pending_table": planned.table(pending),
    }


def _options(rows: Sequence[Row]) -> list[Text]:
    """Return every option with its values."""
    found: dict[str, dict[str, Text]] = {}
    for row in rows:
        for name, value in row.options.items():
            found.setdefault(name, {})[numbers.quantity(value)] = options.value_of(value)
    values = {name: options.listed(found[name][each] for each in sorted(found[name])) for name in sorted(found)}
    return [phrase("model.option", name=options.name_of(name), values=each) for name, each in values.items()]


def _precisions(suite: Suite, rows: Sequence[Any]) -> list[str]:
    return ordered({row.precision or "" for row in rows}, [each for group in suite.groups.values() for each in group])


def _first(site: Site, runs: Sequence[Run]) -> list[Run]:
    """Return as many runs as a page shows, in their order: as many of each hardware, those with own pages first."""
    taken: Counter[str] = Counter()
    ranks = {}
    for run in sorted(runs, key=lambda run: not site.has_page(run)):
        ranks[run.id] = taken[hardware_of(run)]
        taken[hardware_of(run)] += 1
    shown = set(sorted(ranks, key=lambda each: ranks[each])[:RUNS_SHOWN])
    return [run for run in runs if run.id in shown]


ENOUGH = 6  # distinct values of one item that a cell lists


def machines(runs: Sequence[Run]) -> Table | None:
    """Return the machines of the runs: a column per hardware, with its distinct values."""
    by_hardware: dict[str, list[Run]] = {}
    for run in runs:
        by_hardware.setdefault(hardware_of(run), []).append(run)
    hardware = sorted(by_hardware)
    found = [
        (item, [_distinct(run.environment.get(item) for run in by_hardware[each]) for each in hardware])
        for item in ENVIRONMENT
    ]
    body = tuple(
        (cell(phrase(f"environment.{item}")), *(cell(values) if values else absent(None) for values in line))
        for item, line in found
        if any(line)
    )
    head = (Column(phrase("table.item")), *(Column(product(each)) for each in hardware))
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
