"""The page of each hardware over all models and frameworks: results, machines, and who else published there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlencode

from ingest.common import numbers
from ingest.common.words import phrase
from ingest.compute.results import counts
from ingest.site import addresses, answers, scorecards
from ingest.site.data.measured import date_of
from ingest.site.hardware_names import product, raw
from ingest.site.model import Page, Site, framework_of, named
from ingest.site.pages.model import machines
from ingest.site.published_figures import source_anchors
from ingest.site.render.table import Cell, Column, Link, Table, absent, cell
from ingest.site.scorecards import Placing
from ingest.site.stated import joined

#: The words of a case's verdict.
_VERDICTS = {
    "clear": "scorecard.case_clear",
    "likely": "scorecard.case_likely",
    "close": "scorecard.tie",
    "alone": "scorecard.alone",
    "units": "scorecard.apart",
    "conditions": "scorecard.apart",
}
Placings = Callable[[], Sequence[Placing]]


def pages(site: Site) -> list[Page]:
    """Return the list of hardware, and a page for each of those with a run that counts."""
    placings = cache(lambda: scorecards.placings(site))
    names = answers.hardware_by_coverage([run for run in site.runs if counts(run)])
    return [_index(site, names), *(_hardware(site, each, placings) for each in names)]


def _index(site: Site, names: Sequence[str]) -> Page:
    return Page(
        addresses.HARDWARE,
        "hardware_list",
        phrase("nav.hardware"),
        phrase("describe.hardware_list"),
        lambda: {"hardware": _list(site, names) if names else None},
        order=0,
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


def _hardware(site: Site, hardware: str, placings: Placings) -> Page:
    def context() -> Mapping[str, Any]:
        there = [each for each in placings() if each.hardware == hardware]
        runs = scorecards.runs_on(site, hardware)
        frameworks = sorted({each.framework for each in there}, key=str.casefold)
        return {
            "hardware": product(hardware),
            "raw": raw(hardware),
            "runs": len(runs),
            "front": f"{addresses.SUMMARY}?{urlencode({'hardware': hardware})}",
            "scores": scorecards.scores(
                [(_linked(site, each), [o for o in there if o.framework == each]) for each in frameworks],
                phrase("table.framework"),
                "frameworks",
            ),
            "results": _results(site, there, frameworks),
            "machines": machines(runs),
            "sources": _sources(site, hardware),
        }

    return Page(
        addresses.hardware_page(site, hardware),
        "hardware",
        product(hardware),
        phrase("describe.hardware", hardware=product(hardware)),
        context,
    )


def _linked(site: Site, framework: str) -> Cell:
    return cell(named(framework), addresses.scorecard_page(site, framework))


def _results(site: Site, there: Sequence[Placing], frameworks: Sequence[str]) -> Table:
    """Return a line per case that an answer shows, and each framework's figure in it."""
    by_case: dict[int, dict[str, Placing]] = {}
    for each in there:
        by_case.setdefault(id(each.answer), {})[each.framework] = each
    head = (
        Column(phrase("scorecard.case")),
        Column(phrase("scorecard.verdict")),
        *(Column(named(each), True) for each in frameworks),
    )
    body = []
    for found in by_case.values():
        first = next(iter(found.values()))
        case = cell(first.suite.title, addresses.model_page(first.suite), joined(first.answer.case))
        cells = (scorecards.figure(site, found[each].mine) if each in found else absent(None) for each in frameworks)
        body.append((case, cell(phrase(_VERDICTS[first.answer.kind])), *cells))
    return Table(head, tuple(body), name="results")


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
