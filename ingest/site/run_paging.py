"""Where each run is shown: on a page of its own or, in a site of many runs, as an entry of a list.

The number of pages follows from limits, and not from the number of runs. Both choices are pure functions of the runs,
made so that one more run moves few others: a list is cut after the names of the runs in it, not by counting, so a new
run changes the list that it enters and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.compute.results import counts, repeats, representative
from ingest.site.render.text import digest, file_slug
from schema.records import Run


@dataclass(frozen=True)
class Limits:
    """How many runs have a page of their own, how many a list holds, and how many lists there may be.

    A run with a page, chart and log costs some 140 ms of a build from nothing (both languages, with MkDocs), one in a
    list some 10, most of it to read the log: `python -m bench sizes`.
    """

    pages: int = 200
    listed: int = 100
    lists: int = 200


LIMITS = Limits()


@dataclass(frozen=True)
class Listed:
    """A page that lists runs of one suite, by their ids."""

    path: str
    suite: str
    runs: tuple[str, ...]


def chosen(runs: Sequence[Run], limits: Limits) -> frozenset[str]:
    """Return the ids of the runs that have a page of their own: all, or as many as the limit.

    First come those that stand for a result, then those with problems, then the others, each by id.
    """
    if len(runs) <= limits.pages:
        return frozenset(run.id for run in runs)
    shown = {representative(each).id for each in repeats([run for run in runs if counts(run)])}
    ranks = ((_rank(run, shown), run.id) for run in runs)
    return frozenset(identifier for _, identifier in sorted(ranks)[: limits.pages])


def _rank(run: Run, shown: frozenset[str] | set[str]) -> int:
    if run.id in shown:
        return 0
    return 1 if run.problems else 2


def lists(suites: Mapping[str, Iterable[str]], limits: Limits) -> tuple[Listed, ...]:
    """Return lists of runs, by suite and id; none for few runs, since each has a page of its own."""
    ids = {suite: sorted(found) for suite, found in sorted(suites.items())}
    if sum(map(len, ids.values())) <= limits.pages:
        return ()
    size = _size(sum(map(len, ids.values())), limits)
    return tuple(Listed(run_list(s, n, part[0]), s, part) for s in ids for n, part in enumerate(cut(ids[s], size)))


def cut(ids: Sequence[str], size: int, most: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield parts of `size` ids on average, which begin where an id's hash says so, but have at least half that size.

    Adding or removing an id changes its part, and seldom later parts, which begin at the same ids as before. With
    `most`, no part has more ids; the parts are somewhat smaller then.
    """
    part: list[str] = []
    for each in ids:
        begins = len(part) >= size // 2 and int(digest(each)[:8], 16) % max(1, size // 2) == 0
        if part and (begins or len(part) == most):
            yield tuple(part)
            part = []
        part.append(each)
    if part:
        yield tuple(part)


def run_page(identifier: str) -> str:
    """Return the page of a run that has one."""
    return f"runs/{file_slug(identifier)}.md"


def run_list(suite: str, number: int, first: str) -> str:
    """Return the page of a list of runs; the first list is named after the suite.

    Args:
        suite: the suite's id.
        number: the list's index among those of the suite.
        first: the id of its first run, which names it, so that lists before it may come and go.
    """
    return f"runs/list-{suite}-{digest(first)[:8]}.md" if number else f"runs/list-{suite}.md"


def run_anchor(identifier: str) -> str:
    """Return the anchor of a run's entry within its list."""
    return f"run-{file_slug(identifier)}"


def run_entry(page: str, identifier: str) -> str:
    """Return the address of a run's entry in a list."""
    return f"{page}#{run_anchor(identifier)}"


def log_page(run: Run) -> str:
    """Return the page of a run's log."""
    return f"{run_page(run.id).removesuffix('.md')}/log.md"


def _size(runs: int, limits: Limits) -> int:
    """Return the number of runs per list. It doubles where there are too many lists, so that they join in pairs."""
    size = limits.listed
    while runs > size * limits.lists:
        size *= 2
    return size
