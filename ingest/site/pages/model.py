"""A model's page: its answers, charts and results under one selection; then scaling, evidence, commands and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.results import counts
from perfledger.ingest.site import (
    addresses,
    history,
    model_tables,
    published_figures,
    recipe_tables,
    reproduce,
    result_charts,
    run_tables,
    unplaced,
)
from perfledger.ingest.site.chips import Chip, ChipGroup, Selection, chip_group, facets_of
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.machine_tables import machines, software
from perfledger.ingest.site.model import Page, Site, Suite, framework_of, group_name, hardware_of, named, ordered
from perfledger.ingest.site.model_answers import Answer, answers
from perfledger.ingest.site.published_figures import PublishedTable
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.table import Facets, Link, Table, Value
from perfledger.ingest.site.reproduce import CommandBlock
from perfledger.ingest.site.result_lines import ResultSlice, hardware_of_suite, slices
from perfledger.schema.records import Run

#: Rank in the search of the page of a model that ran here; a model's page comes before reports about it.
RANKED_FIRST = 10
#: Rank in the search of the page of another model.
RANKED_NEXT = 6
RUNS_SHOWN = 100  # by the page of a model; the pages of runs list them all


@dataclass(frozen=True)
class SliceOnPage:
    """A slice with its tables; `beside` is None if it has no other figures."""

    of: ResultSlice
    results: Table
    beside: Table | None


@dataclass(frozen=True)
class Evidence:
    """The runs of a model, and where they were measured."""

    logs: Table
    more_logs: int
    machines: Table | None
    software: Table | None


@dataclass(frozen=True)
class Commands:
    """How the runs of a model are made again, and the recipes of cases that have yet to run."""

    reproduce: Sequence[CommandBlock]
    without_command: Sequence[Text]
    recipes: Table | None


@dataclass(frozen=True)
class ModelPage:
    """The page of one model. Answers, charts and slices are the same results, filtered by the same facets."""

    suite: Suite
    frameworks: tuple[tuple[Text, str], ...]
    history: Link | None
    counted: bool
    chips: tuple[ChipGroup, ...]
    answers: tuple[Answer, ...]
    charts: tuple[tuple[Facets, Chart], ...]
    slices: tuple[SliceOnPage, ...]
    scaling_charts: tuple[tuple[Facets, Chart], ...]
    only_published: tuple[tuple[Facets, Text], ...]
    evidence: Evidence
    commands: Commands
    published: Sequence[PublishedTable]
    reports: Sequence[Link]
    unplaced: Table | None
    more_unplaced: None = None


def pages(site: Site) -> list[Page]:
    """Return the page of each model."""
    return [_page(site, suite) for suite in site.shown]


def _page(site: Site, suite: Suite) -> Page:
    counted = any(map(counts, site.runs_of(suite)))
    return Page(
        addresses.model_page(suite),
        "model",
        suite.title,
        phrase("describe.model", title=suite.title),
        partial(_content, site, suite, counted),
        order=suite.order,
        scripts=(addresses.SITE_SCRIPT, "assets/js/panels.js"),
        basis=partial(site.basis, suite),
        boost=RANKED_FIRST if counted else RANKED_NEXT,
        selection=lambda: _selection(site, suite) if counted else None,
    )


def _content(site: Site, suite: Suite, counted: bool) -> ModelPage:
    found, own = slices(site, suite), hardware_of_suite(site, suite)
    theirs = Counter(
        row.hardware
        for row in site.published.by_suite.get(suite.id, ())
        if row.hardware and published_figures.is_shown(row)
    )
    scaling = [(each.facets, result_charts.efficiency(site, suite, each)) for each in found]
    return ModelPage(
        suite=suite,
        frameworks=tuple((named(each), addresses.scorecard_page(site, each)) for each in site.frameworks(suite)),
        history=history.link(site, suite),
        counted=counted,
        chips=_chips(suite, found, own, theirs),
        answers=tuple(each for hardware in own for each in answers(site, suite, hardware)),
        charts=tuple(each for of in found for each in result_charts.throughput(site, suite, of)),
        slices=tuple(
            SliceOnPage(
                each,
                model_tables.results(site, suite, each),
                model_tables.other_metrics(suite, each),
            )
            for each in found
        ),
        scaling_charts=tuple((facets, chart) for facets, chart in scaling if chart),
        only_published=tuple(
            (facets_of(name), phrase("model.only_published", hardware=product(name), n=n))
            for name, n in theirs.items()
            if name not in own
        ),
        evidence=_evidence(site, suite),
        commands=_commands(site, suite),
        published=published_figures.published_tables(site, suite),
        reports=published_figures.reports_of(site, suite),
        unplaced=unplaced.of_suite(site, suite),
    )


# ---- the chips ----


def _selection(site: Site, suite: Suite) -> Selection:
    first = [("hardware", each) for each in hardware_of_suite(site, suite)[:1]]
    return Selection(".pl-results tr[data-f-hardware], .pl-only-published", dict(first))


def _chips(
    suite: Suite, found: Sequence[ResultSlice], own: Sequence[str], theirs: Mapping[str, int]
) -> tuple[ChipGroup, ...]:
    """Return the facts of the page's results, each value with its number of results.

    The results of others are counted for hardware without any of ours: `own` and `theirs`.
    """
    lines = [line for each in found for line in each.lines]
    every = [each.facets for each in lines]
    first = [each.facets for each in lines if each.row.hardware == found[0].hardware] if found else []
    frameworks = ordered({each.row.framework or "" for each in lines}, suite.frameworks)
    labels: dict[str, dict[Value, Text]] = {
        "devices": {n: str(n) if n else "?" for n in sorted({each.row.devices or 0 for each in lines})},
        "precision": {each.group: group_name(each.group) for each in found},
        "framework": {each: named(each) for each in frameworks},
    }
    groups = (chip_group(name, phrase(f"table.{name}"), every, named, first) for name, named in labels.items())
    counted = Counter(each.row.hardware or "" for each in lines)
    hardware = [Chip(each, product(each), fixed_count=numbers.count(counted[each])) for each in own]
    hardware += [
        Chip(each, product(each), fixed_count=phrase("model.n_published", n=theirs[each]), is_outlined=True)
        for each in sorted({*theirs} - {*own}, key=newest_first)
    ]
    return ChipGroup("hardware", phrase("table.hardware"), tuple(hardware), has_all=False), *groups


# ---- the parts below the results ----


def _evidence(site: Site, suite: Suite) -> Evidence:
    runs = site.runs_of(suite)
    published = [run for run in runs if run.published]
    return Evidence(
        logs=run_tables.run_list(site, _first(site, runs), brief=True),
        more_logs=max(0, len(runs) - RUNS_SHOWN),
        machines=machines(published),
        software=software(suite, published),
    )


def _commands(site: Site, suite: Suite) -> Commands:
    published = [run for run in site.runs_of(suite) if run.published]
    made = {
        each: reproduce.blocks(site, [run for run in published if framework_of(run) == each])
        for each in site.frameworks(suite)
    }
    return Commands(
        reproduce=[block for blocks in made.values() for block in blocks],
        without_command=[named(each) for each, blocks in made.items() if not blocks],
        recipes=recipe_tables.of_suite(site, suite),
    )


def _first(site: Site, runs: Sequence[Run]) -> list[Run]:
    """Return as many runs as a page shows, in their order: as many of each hardware, those with own pages first."""
    of_hardware = by_key(sorted(runs, key=lambda run: not site.has_page(run)), hardware_of).values()
    in_turn = [run.id for each in zip_longest(*of_hardware) for run in each if run]
    shown = {*in_turn[:RUNS_SHOWN]}
    return [run for run in runs if run.id in shown]
