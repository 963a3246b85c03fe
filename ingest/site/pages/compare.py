"""The page that compares results which the reader chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as product_of
from typing import Any

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import places, verdicts
from perfledger.ingest.compute.comparison import DIMENSIONS, FOLLOWS
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, PLACE, Level
from perfledger.ingest.compute.comparison_tables import tables
from perfledger.ingest.site import addresses
from perfledger.ingest.site.answer_marks import overturning
from perfledger.ingest.site.data import measured
from perfledger.ingest.site.defaults import default_hardware
from perfledger.ingest.site.hardware_names import product, raw
from perfledger.ingest.site.model import Page, Row, Site, Suite, framework_of, hardware_of
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
    """The page for its script: its settings, words, and names of hardware; `models` are for other readers."""

    config: Mapping[str, Any]
    word_tables: tuple[str, ...]
    models: tuple[Link, ...]
    hardware: tuple[tuple[str, Text], ...]


def pages(site: Site) -> list[Page]:
    """Return the compare page; its figures and verdicts are data files, so it contains only names."""
    config = {
        "suites": {each.id: {"workload": each.workload} for each in site.known},
        "dimensions": DIMENSIONS,
        "levels": tuple(PLACE.items()),
        "level": DEFAULT,
        "opens": default_hardware(site),
        "follows": {fact: FOLLOWS[dimension] for dimension, fact in DIMENSIONS.items()},
        "inks": _inks({*map(framework_of, site.runs), *(row.framework for row in site.published.rows)}),
    }
    hardware = {*map(hardware_of, site.runs), *(row.hardware for row in site.published.rows)} - {""}
    models = tuple(Link(suite.title, addresses.model_page(suite)) for suite in site.shown)
    page = ComparePage(config, COMPARE_WORDS, models, tuple(_products(hardware)))
    described = phrase("nav.compare"), phrase("describe.compare")
    return [Page(addresses.COMPARE, "compare", *described, lambda: page, scripts=COMPARE_SCRIPTS)]


def data(site: Site, found: Sequence[ResultRecord]) -> bytes:
    """Return `data/comparisons.json`: the verdicts that the page looks up."""
    workloads = {each.id: each.workload for each in site.known}
    made = structs.replace(tables(found, workloads, measured.figures(site)), overturned=_overturned(site))
    return text_of(made).encode() + b"\n"


def _overturned(site: Site) -> dict[Level, dict[str, list[str]]]:
    """Return the faster results that leave a case without a winner, by level and by each result of the case."""
    found: dict[Level, dict[str, list[str]]] = {}
    for level, (suite, place) in product_of(LEVELS, _places(site)):
        for case, said in verdicts(site.by_id, suite, place, level):
            if overturning(said):
                faster = [measured.identity(each.candidate.result) for each in said.left_out if each.is_faster]
                found.setdefault(level, {}).update({measured.identity(row): faster for row in case})
    return found


def _places(site: Site) -> list[tuple[Suite, list[Row]]]:
    """Return the results of each model that a level may place together."""
    groups = ((suite, rows) for suite in site.shown for _, _, rows in sections(site, suite))
    return [(suite, place) for suite, rows in groups for place in places(suite, rows)]


def _products(names: Iterable[str]) -> list[tuple[str, Text]]:
    """Return what readers call each hardware, where runs state another name."""
    return [(each, product(each)) for each in sorted(names) if raw(each)]


def _inks(frameworks: Iterable[str]) -> Mapping[str, str]:
    return {each: colours.ink(each).id for each in sorted(frameworks)}
