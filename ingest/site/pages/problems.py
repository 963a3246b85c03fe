"""The problems of all runs, by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.problems import ProblemGroup, file_of, grouped
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Site, named, precision_name
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.run_tables import problem_list, size_text
from perfledger.schema.records import Problem, Run

#: Problems of a site that are listed one by one, at most.
PROBLEMS_SHOWN = 50
#: Groups of one kind below one folder that are listed if there are more problems.
GROUPS_SHOWN = 5
#: Examples of a group.
EXAMPLES = 2


def pages(site: Site) -> list[Page]:
    """Return the page of problems."""
    everything = site.all_problems
    few = len(everything) <= PROBLEMS_SHOWN
    page = Page(
        addresses.PROBLEMS,
        "problems",
        phrase("nav.problems"),
        phrase("describe.problems"),
        lambda: {
            "count": len(everything),
            "file": file_of(site.runs),
            "listed": _with_cases(site, everything) if few else (),
            "kinds": () if few else _kinds(site, everything),
            "passed_over": site.passed_over[:PROBLEMS_SHOWN],
            "more_passed_over": max(0, len(site.passed_over) - PROBLEMS_SHOWN),
        },
    )
    return [page]


def _with_cases(site: Site, problems: Sequence[Problem]) -> list[tuple[Link, Text]]:
    """Return problems with their place; those of a log that no format reads with the case that others state of it."""
    return [
        (link, _of_case(site.once(_unread).get(each.path), said))
        for each, (link, said) in zip(problems, problem_list(site, problems), strict=True)
    ]


def _unread(site: Site) -> Mapping[str, Run]:
    """Return the runs of logs that no format reads, but whose model a layout or another file states, by path."""
    return {run.path: run for run in site.runs if run.format is None and run.case.model is not None}


def _of_case(run: Run | None, said: Text) -> Text:
    if run is None:
        return said
    precision = precision_name(run.case.precision)
    return phrase(
        "problems.of_case", said=said, model=named(run.case.model), size=size_text(run.case), precision=precision
    )


@dataclass(frozen=True)
class ShownGroup:
    """Problems of one kind below one folder: how many there are, and the first of them."""

    folder: str
    count: int
    examples: Sequence[tuple[Link, Text]]


@dataclass(frozen=True)
class ShownKind:
    """Problems of one kind by folder, those of most first; `more` counts the problems in folders that are left out."""

    code: str
    count: int
    groups: Sequence[ShownGroup]
    more: int


def _kinds(site: Site, problems: Sequence[Problem]) -> list[ShownKind]:
    """Return problems by kind, the most frequent first."""
    found: dict[str, list[ProblemGroup]] = {}
    for each in grouped(problems):
        found.setdefault(each.code, []).append(each)
    made = [_kind(site, code, groups) for code, groups in found.items()]
    return sorted(made, key=lambda each: (-each.count, each.code))


def _kind(site: Site, code: str, groups: Sequence[ProblemGroup]) -> ShownKind:
    shown = [
        ShownGroup(f"{each.folder}/", len(each.problems), _with_cases(site, each.problems[:EXAMPLES]))
        for each in groups[:GROUPS_SHOWN]
    ]
    more = sum(len(each.problems) for each in groups[GROUPS_SHOWN:])
    return ShownKind(code, sum(len(each.problems) for each in groups), shown, more)
