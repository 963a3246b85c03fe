"""The page of each hardware over all models and frameworks: results, machines, and who else published there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import phrase
from perfledger.ingest.site import addresses, answers, hardware_tables, heat, scorecards
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import product, raw
from perfledger.ingest.site.model import Page, Site, framework_of, named
from perfledger.ingest.site.pages.model import machines
from perfledger.ingest.site.published_figures import source_anchors
from perfledger.ingest.site.render.table import Cell, Column, Link, Table, absent, cell


def pages(site: Site) -> list[Page]:
    """Return the list of hardware, and a page for each of those with a run that counts."""
    names = answers.hardware_by_coverage(site.counted)
    return [_index(site, names), *(_hardware(site, each) for each in names)]


def _index(site: Site, names: Sequence[str]) -> Page:
    def context() -> Mapping[str, Any]:
        found = {"hardware": _list(site, names) if names else None, "matrix": None}
        if not site.once(hardware_tables.matrices):
            return found
        return {
            **found,
            "matrix": hardware_tables.first(site),
            "config": hardware_tables.config(site),
            "offers": hardware_tables.offers(site),
            "stated": hardware_tables.sources(site),
        }

    return Page(
        addresses.HARDWARE,
        "hardware_list",
        phrase("nav.hardware"),
        phrase("describe.hardware_list"),
        context,
        order=0,
        scripts=hardware_tables.SCRIPTS,
    )


def _list(site: Site, names: Sequence[str]) -> Table:
    head = (
        Column(phrase("table.hardware")),
        Column(phrase("scorecard.frameworks")),
        Column(phrase("nav.models"), True),
        Column(phrase("nav.runs"), True),
        Column(phrase("scorecard.last"), True),
    )
    return Table(head, tuple(_line(site, each) for each in names), name="hardware")


def _line(site: Site, hardware: str) -> tuple[Cell, ...]:
    runs = scorecards.runs_on(site, hardware)
    models = len({site.suite_of[run.id].id for run in runs})
    last = max((day for run in runs if (day := date_of(run))), default="")
    return (
        cell(product(hardware), addresses.hardware_page(site, hardware)),
        scorecards.entries(sorted({framework_of(run) for run in runs}, key=str.casefold)),
        scorecards.count(models),
        scorecards.count(len(runs)),
        cell(last) if last else absent(phrase("stated.undated")),
    )


def _hardware(site: Site, hardware: str) -> Page:
    def context() -> Mapping[str, Any]:
        there = [each for each in site.once(scorecards.placings) if each.hardware == hardware]
        runs = scorecards.runs_on(site, hardware)
        frameworks = sorted({each.framework for each in there}, key=str.casefold)
        return {
            "hardware": product(hardware),
            "raw": raw(hardware),
            "runs": len(runs),
            "scores": scorecards.scores(
                [(_linked(site, each), [o for o in there if o.framework == each]) for each in frameworks],
                phrase("table.framework"),
                "frameworks",
            ),
            "heats": (found := [site.once(heat.heats)[hardware]]),
            "heading": phrase("scorecard.results"),
            "others_only": (),
            "with_others": any(row.hardware == hardware for row in site.published.rows),
            "groups": heat.groups(found),
            **answers.levels(),
            "machines": machines(runs),
            "sources": _sources(site, hardware),
        }

    return Page(
        addresses.hardware_page(site, hardware),
        "hardware",
        product(hardware),
        phrase("describe.hardware", hardware=product(hardware)),
        context,
        scripts=heat.SCRIPTS,
    )


def _linked(site: Site, framework: str) -> Cell:
    return cell(named(framework), addresses.scorecard_page(site, framework))


def _sources(site: Site, hardware: str) -> list[tuple[Link, str]]:
    """Return who else published results on a hardware, with how many."""
    rows = [row for row in site.published.rows if row.hardware == hardware and row.value is not None]
    counted, anchors = Counter(row.source for row in rows), source_anchors(site)
    return [
        (
            Link(site.published.sources[each].title, addresses.section(addresses.REPORTS, anchors[each])),
            numbers.count(n),
        )
        for each, n in counted.most_common()
    ]
