"""The page that compares results which the reader chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as product_of

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import places, verdicts
from perfledger.ingest.compute.comparison import DIMENSIONS, FOLLOWS
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, PLACE, Level
from perfledger.ingest.compute.comparison_tables import tables
from perfledger.ingest.site import addresses
from perfledger.ingest.site.answer_marks import overturning
from perfledger.ingest.site.data import measured
from perfledger.ingest.site.hardware_names import by_interest, product, raw
from perfledger.ingest.site.model import Options, Page, Site, framework_of, hardware_of
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import CHARTS
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.result_tables import sections
from perfledger.schema.records import text_of
from perfledger.schema.results import ResultRecord

#: Tables of the words file that the compare page needs.
COMPARE_WORDS = (
    "chart", "compare", "environment", "fact", "group", "metric", "option", "precision", "published_metric", "report",
    "rule", "site", "source", "support", "table",
)  # fmt: skip
COMPARE_SCRIPTS = (
    CHARTS,
    addresses.SITE_SCRIPT,
    *(f"assets/js/compare{each}.js" for each in ("-choice", "-board", "-words", "")),
)


@dataclass(frozen=True)
class ComparePage:
    """The page for its script: what it compares, its words, and names of hardware; `models` are for other readers.

    workloads: by suite, the options that make another workload.
    level: the first of `levels`; `opens` is the first hardware.
    follows: by fact that is compared, the facts that differ with it.
    """

    workloads: Mapping[str, Options]
    dimensions: Mapping[str, str]
    levels: tuple[tuple[Level, tuple[str, ...]], ...]
    level: Level
    opens: str
    follows: Mapping[str, tuple[str, ...]]
    inks: Mapping[str, str]
    word_tables: tuple[str, ...]
    models: tuple[Link, ...]
    hardware: tuple[tuple[str, Text], ...]


def pages(site: Site) -> list[Page]:
    """Return the compare page; its figures and verdicts are data files, so it contains only names."""
    frameworks = {*map(framework_of, site.runs), *(row.framework for row in site.published.rows)}
    hardware = {*map(hardware_of, site.runs), *(row.hardware for row in site.published.rows)} - {""}
    page = ComparePage(
        workloads=_workloads(site),
        dimensions=DIMENSIONS,
        levels=tuple(PLACE.items()),
        level=DEFAULT,
        opens=next(iter(site.once(by_interest)), ""),
        follows={fact: FOLLOWS[dimension] for dimension, fact in DIMENSIONS.items()},
        inks={each: colours.ink(each).id for each in sorted(frameworks)},
        word_tables=COMPARE_WORDS,
        models=tuple(Link(suite.title, addresses.model_page(suite)) for suite in site.shown),
        hardware=tuple((each, product(each)) for each in sorted(hardware) if raw(each)),
    )
    described = phrase("nav.compare"), phrase("describe.compare")
    return [Page(addresses.COMPARE, "compare", *described, lambda: page, scripts=COMPARE_SCRIPTS)]


def _workloads(site: Site) -> Mapping[str, Options]:
    return {each.id: each.workload for each in site.known}


def data(site: Site, found: Sequence[ResultRecord]) -> bytes:
    """Return `data/comparisons.json`: the verdicts that the page looks up."""
    made = tables(found, _workloads(site), measured.figures(site))
    return text_of(structs.replace(made, overturned=_overturned(site))).encode() + b"\n"


def _overturned(site: Site) -> dict[Level, dict[str, list[str]]]:
    """Return the faster results that leave a case without a winner, by level and by each result of the case."""
    groups = ((suite, rows) for suite in site.shown for _, _, rows in sections(site, suite))
    every = [(suite, place) for suite, rows in groups for place in places(suite, rows)]
    found: dict[Level, dict[str, list[str]]] = {}
    for level, (suite, place) in product_of(LEVELS, every):
        for case, said in verdicts(site.by_id, suite, place, level):
            if overturning(said):
                faster = [measured.identity(each.candidate.result) for each in said.left_out if each.is_faster]
                found.setdefault(level, {}).update({measured.identity(row): faster for row in case})
    return found
