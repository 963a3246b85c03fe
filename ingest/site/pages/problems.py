"""The problems of all runs, by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.problems import file_of
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.run_tables import problem_list

#: Problems of a kind, and files that were passed over, that the page lists at most.
SHOWN = 50


@dataclass(frozen=True)
class ProblemKind:
    """Problems of one kind: how many there are, and the first of them with their places."""

    code: str
    count: int
    shown: Sequence[tuple[Link, Text]]


@dataclass(frozen=True)
class ProblemsPage:
    """The page of problems, the most frequent kind first; `file` has all of them."""

    count: int
    file: str
    kinds: tuple[ProblemKind, ...]
    passed_over: tuple[str, ...]
    more_passed_over: int


def pages(site: Site) -> list[Page]:
    """Return the page of problems."""
    described = phrase("nav.problems"), phrase("describe.problems")
    return [Page(addresses.PROBLEMS, "problems", *described, partial(_problems, site))]


def _problems(site: Site) -> ProblemsPage:
    found = by_key(site.all_problems, lambda each: each.code)
    kinds = (ProblemKind(code, len(each), problem_list(site, each[:SHOWN])) for code, each in found.items())
    return ProblemsPage(
        count=len(site.all_problems),
        file=file_of(site.runs),
        kinds=tuple(sorted(kinds, key=lambda each: (-each.count, each.code))),
        passed_over=site.passed_over[:SHOWN],
        more_passed_over=max(0, len(site.passed_over) - SHOWN),
    )
