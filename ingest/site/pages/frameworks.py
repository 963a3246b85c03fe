"""The page of each framework over all models and hardware, for those who make it; and their list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Words, phrase
from perfledger.ingest.site import addresses, history, scorecards
from perfledger.ingest.site.data import badges
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Page, Site, framework_of, named
from perfledger.ingest.site.render import share
from perfledger.ingest.site.render.share import Picture
from perfledger.ingest.site.render.table import Cell, Link, cell
from perfledger.ingest.site.result_tables import representative
from perfledger.ingest.site.scorecards import Placing

#: Placeholder for the address of the site, which only its build knows.
SITE = "%SITE%/"
#: Service that draws badges.
SHIELDS = "https://img.shields.io/endpoint?url="


def pages(site: Site) -> list[Page]:
    """Return the list of frameworks, and a page for each of those with a run that counts."""
    names = scorecards.frameworks(site)
    return [_index(site, names), *(_framework(site, each) for each in names)]


def _index(site: Site, names: Sequence[str]) -> Page:
    def context() -> Mapping[str, Any]:
        lines = [
            (
                cell(named(each), addresses.scorecard_page(site, each)),
                _of(site, each),
            )
            for each in names
        ]
        return {"scores": scorecards.scores(lines, phrase("table.framework"), "frameworks") if lines else None}

    return Page(
        addresses.FRAMEWORKS, "frameworks", phrase("nav.frameworks"), phrase("describe.frameworks"), context, order=0
    )


def _framework(site: Site, framework: str) -> Page:
    page = addresses.scorecard_page(site, framework)

    def context() -> Mapping[str, Any]:
        mine = _of(site, framework)
        runs = [run for run in site.counted if framework_of(run) == framework]
        best, worst = scorecards.best_and_worst(mine)
        return {
            "framework": named(framework),
            "score": scorecards.score(mine),
            "by_hardware": scorecards.scores(_by_hardware(site, mine), phrase("table.hardware"), "hardware"),
            "best": scorecards.listed(site, best, "best") if best else None,
            "worst": scorecards.listed(site, worst, "worst") if worst else None,
            "apart": len(mine) - scorecards.score(mine).compared,
            "versions": scorecards.versions(runs),
            "models": _models(site, framework),
            "histories": history.links(site, framework),
            "picture": share.path(site.framework_slugs[framework]),
            "snippets": _snippets(site.framework_slugs[framework], page),
            "badges": _badges(site, best or mine[: scorecards.LISTED]),
        }

    return Page(
        page,
        "scorecard",
        named(framework),
        phrase("describe.scorecard", framework=named(framework)),
        context,
        picture=lambda words: _picture(site, words, framework, _of(site, framework)),
    )


def _of(site: Site, framework: str) -> list[Placing]:
    return [each for each in site.once(scorecards.placings) if each.framework == framework]


def _picture(site: Site, words: Words, framework: str, mine: Sequence[Placing]) -> Picture:
    by_hardware = [
        (
            words.say("en", product(each)),
            _counts([found for found in mine if found.hardware == each]),
        )
        for each in dict.fromkeys(found.hardware for found in mine if found.kind in scorecards.COMPARED)
    ]
    best, _ = scorecards.best_and_worst(mine)
    return Picture(
        site.framework_slugs[framework],
        words.say("en", named(framework)),
        _counts(mine),
        tuple(by_hardware),
        _best(words, best[0]) if best else (),
    )


def _counts(found: Sequence[Placing]) -> tuple[int, int, int]:
    score = scorecards.score(found)
    return score.won, score.counted["tie"], score.lost


def _best(words: Words, found: Placing) -> tuple[str, str]:
    case = (found.suite.title, product(found.hardware), *found.answer.case)
    rival = found.rival.framework if found.rival else ""
    return (
        ", ".join(words.say("en", each) for each in case),
        f"{numbers.ratio(found.ratio)} the throughput of {rival} ({words.say('en', scorecards.in_words(found.kind))})",
    )


def _snippets(name: str, page: str) -> tuple[str, str]:
    """Return the picture with a link to its page, as Markdown and as HTML; the build puts in the site's address."""
    image, target = f"{SITE}{share.path(name)}", f"{SITE}{addresses.served(page)}"
    return (
        f"[![{name}]({image})]({target})",
        f'<a href="{target}"><img src="{image}" width="600" height="315" alt="{name}"></a>',
    )


def _by_hardware(site: Site, mine: Sequence[Placing]) -> list[tuple[Cell, list[Placing]]]:
    return [
        (
            cell(product(each), addresses.hardware_page(site, each)),
            [found for found in mine if found.hardware == each],
        )
        for each in dict.fromkeys(found.hardware for found in mine)
    ]


def _models(site: Site, framework: str) -> list[Link]:
    """Return links to the pages of the models that ran in a framework."""
    shown = [suite for suite in site.shown if framework in site.frameworks(suite)]
    return [Link(suite.title, addresses.framework_page(suite, framework)) for suite in shown]


def _badges(site: Site, found: Sequence[Placing]) -> list[Mapping[str, Any]]:
    """Return the badges of some placings: what each is about, its file, and the run that it leads to."""
    there = {badge["path"] for _, of_model in badges.listed(site) for badge in of_model}
    return [
        {
            "about": (each.suite.title, *each.answer.case),
            "snippet": f"[![throughput]({SHIELDS}{SITE}{path})]({SITE}{addresses.served(page)})",
        }
        for each in found
        if (path := badges.path(each.row)) in there and (page := site.page(representative(site, each.row)))
    ]
