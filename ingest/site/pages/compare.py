"""The page that compares results which the reader chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.candidates import places, verdicts
from perfledger.ingest.compute.comparison import AXES, FOLLOWS
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, PLACE, Level
from perfledger.ingest.compute.comparison_tables import tables
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, machines
from perfledger.ingest.site.answer_marks import overturning
from perfledger.ingest.site.chips import Chip, ChipGroup, Selection, as_list
from perfledger.ingest.site.data import measured
from perfledger.ingest.site.hardware_names import product, raw
from perfledger.ingest.site.machines import Machine
from perfledger.ingest.site.model import Options, Page, Row, Site, framework_of, group_name, hardware_of, named
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import CHARTS
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.result_tables import sections
from perfledger.schema.records import text_of
from perfledger.schema.results import ResultRecord
from perfledger.schema.vocabulary import METRICS, PRECISION_GROUPS, precision_group

#: Tables of the words file that the compare page needs.
COMPARE_WORDS = (
    "axis", "chart", "compare", "environment", "fact", "group", "metric", "option", "option_value", "precision",
    "published_metric", "report", "rule", "site", "source", "support", "table",
)  # fmt: skip
COMPARE_SCRIPTS = (
    CHARTS,
    addresses.SITE_SCRIPT,
    *(f"assets/js/compare{each}.js" for each in ("-choice", "-board", "-words", "")),
)


#: The figures that a result may have in addition to the metrics of logs.
_FIGURES = ("throughput", "speedup", "efficiency")


@dataclass(frozen=True)
class ComparePage:
    """The page for its script: its chips, its words, and names of hardware; `models` are for other readers.

    workloads: by suite, the options that make another workload.
    axes: the fact or option that each axis compares.
    follows: by fact that is compared, the facts that differ with it.
    machines: the facts of each hardware, with the axis that a reader sees first; the first one is chosen at first.
    """

    chips: tuple[ChipGroup, ...]
    machines: tuple[Machine, ...]
    workloads: Mapping[str, Options]
    axes: Mapping[str, str]
    levels: tuple[tuple[Level, tuple[str, ...]], ...]
    level: Level
    follows: Mapping[str, tuple[str, ...]]
    inks: Mapping[str, str]
    word_tables: tuple[str, ...]
    models: tuple[Link, ...]
    hardware: tuple[tuple[str, Text], ...]


def pages(site: Site) -> list[Page]:
    """Return the compare page; its figures and verdicts are data files, so it contains only names."""
    described = phrase("nav.compare"), phrase("describe.compare")
    return [
        Page(
            addresses.COMPARE, "compare", *described, lambda: _page(site), scripts=COMPARE_SCRIPTS, selection=Selection
        )
    ]  # fmt: skip


def _page(site: Site) -> ComparePage:
    frameworks = {*map(framework_of, site.runs), *(row.framework for row in site.published.rows)}
    hardware = {*map(hardware_of, site.runs), *(row.hardware for row in site.published.rows)} - {""}
    found = site.once(machines.machines)
    return ComparePage(
        chips=tuple(_chips(site, found)),
        machines=found,
        workloads=_workloads(site),
        axes=AXES,
        levels=tuple(PLACE.items()),
        level=DEFAULT,
        follows={fact: FOLLOWS[axis] for axis, fact in AXES.items()},
        inks={each: colours.ink(each).id for each in sorted(frameworks)},
        word_tables=COMPARE_WORDS,
        models=tuple(Link(suite.title, addresses.model_page(suite)) for suite in site.shown),
        hardware=tuple((each, product(each)) for each in sorted(hardware) if raw(each)),
    )


def _chips(site: Site, found: Sequence[Machine]) -> Iterator[ChipGroup]:
    """Yield what a reader chooses, the most important first; a fact that is compared is not chosen."""
    rows, theirs = [row for of_suite in site.rows.values() for row in of_suite], site.published.rows
    every: list[Row | Published] = [*rows, *theirs]
    groups = {precision_group(row.precision) for row in every}
    devices, batches = (sorted({getattr(row, name) for row in every} - {None}) for name in ("devices", "batch_size"))
    frameworks = sorted({row.framework or "" for row in every}, key=lambda each: (not each, each.casefold()))
    metrics = {*_FIGURES, *(name for row in rows for name in row.metrics), *(row.metric for row in theirs)}
    yield machines.hardware_chips(found, found)
    yield _one("axis", "axis.title", [Chip(each, phrase(f"axis.{each}")) for each in AXES])
    yield as_list(_one("model", "table.model", [Chip(suite.id, suite.title) for suite in site.shown]))
    yield _one("level", "compare.level", [Chip(each, phrase(f"compare.level_{each}")) for each in LEVELS])
    known = [each for each in (*PRECISION_GROUPS, "unknown") if each in groups]
    yield _one("precision", "table.precision", [Chip(each, group_name(each), 0) for each in known])
    yield _one("batch", "axis.batch", [Chip(each, str(each), 0) for each in batches])
    yield ChipGroup("devices", phrase("table.devices"), tuple(Chip(each, str(each), 0) for each in devices))
    yield ChipGroup("framework", phrase("table.framework"), tuple(Chip(each, named(each), 0) for each in frameworks))
    origins = tuple(Chip(each, phrase(f"compare.origin_{each}"), 0) for each in ("measured", "published"))
    yield ChipGroup("origin", phrase("compare.origin"), origins)
    names = [*_FIGURES, *sorted(metrics - {*_FIGURES})]
    yield as_list(_one("metric", "compare.metric", [Chip(each, _metric(each)) for each in names]))


def _one(name: str, label: str, chips: Sequence[Chip]) -> ChipGroup:
    return ChipGroup(name, phrase(label), tuple(chips), has_all=False)


def _metric(name: str) -> Text:
    if name in _FIGURES:
        return phrase("compare.throughput" if name == "throughput" else f"table.{name}")
    return phrase(f"metric.{name}") if name in METRICS else word_for("published_metric", name)


def _workloads(site: Site) -> Mapping[str, Options]:
    return {each.id: each.workload for each in site.known}


def data(site: Site, found: Sequence[ResultRecord]) -> bytes:
    """Return `data/comparisons.json`: the verdicts that the page looks up."""
    made = tables(found, _workloads(site), measured.figures(site))
    return text_of(structs.replace(made, overturned=_overturned(site))).encode() + b"\n"


def _overturned(site: Site) -> dict[str, list[str]]:
    """Return the faster results that leave a case without a winner, by each result of the case."""
    groups = ((suite, rows) for suite in site.shown for _, _, rows in sections(site, suite))
    found: dict[str, list[str]] = {}
    every = [(suite, place) for suite, rows in groups for place in places(suite, rows)]
    for suite, place in every:
        for case, said in verdicts(site.by_id, suite, place):
            if overturning(said):
                faster = [measured.identity(each.candidate.result) for each in said.left_out if each.is_faster]
                found.update({measured.identity(row): faster for row in case})
    return found
