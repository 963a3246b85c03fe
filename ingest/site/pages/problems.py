"""The problems of all runs, by kind; and all of them as a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ingest.common.words import LANGUAGES, Text, Words, coded, phrase
from ingest.site import addresses, fault_table, witness_tables
from ingest.site.model import Page, Site, named, precision_name
from ingest.site.render.table import Link
from ingest.site.run_tables import problem_list, size_text
from schema.records import Problem, Run, to_json

PROBLEMS_SHOWN = 50  # of one kind


def pages(site: Site) -> list[Page]:
    """Return the page of problems."""
    everything = site.all_problems
    kinds = _kinds(everything)
    page = Page(
        addresses.PROBLEMS,
        "problems",
        phrase("nav.problems"),
        phrase("describe.problems"),
        lambda: {
            "count": len(everything),
            "shown": PROBLEMS_SHOWN,
            "remedies": witness_tables.remedies(),
            "faults": fault_table.table(),
            "passed_over": site.passed_over[:PROBLEMS_SHOWN],
            "more_passed_over": max(0, len(site.passed_over) - PROBLEMS_SHOWN),
            "kinds": [
                (kind, _with_cases(site, found[:PROBLEMS_SHOWN]), max(0, len(found) - PROBLEMS_SHOWN))
                for kind, found in kinds.items()
            ],
        },
    )
    return [page]


def _with_cases(site: Site, problems: Sequence[Problem]) -> list[tuple[Link, Text]]:
    """Return problems with their place; those of a log that no format reads with the case that others state of it."""
    cases = {run.path: run for run in site.runs if run.format is None and run.case.model is not None}
    return [
        (link, _of_case(cases.get(each.path), said))
        for each, (link, said) in zip(problems, problem_list(site, problems), strict=True)
    ]


def _of_case(run: Run | None, said: Text) -> Text:
    if run is None:
        return said
    precision = precision_name(run.case.precision)
    return phrase(
        "problems.of_case", said=said, model=named(run.case.model), size=size_text(run.case), precision=precision
    )


def document(found: Iterable[Problem], words: Words) -> bytes:
    """Return problems as JSON Lines, in the given order, each with its sentence in both languages."""
    lines = (
        {**to_json(each), "said": {name: words.say(name, coded("problem", each)) for name in LANGUAGES}}
        for each in found
    )
    return "".join(f"{json.dumps(each, sort_keys=True, ensure_ascii=False)}\n" for each in lines).encode()


def _kinds(problems: Sequence[Problem]) -> Mapping[str, list[Problem]]:
    """Group problems by their code, the most frequent first; few problems are one group, and all are shown."""
    if len(problems) <= PROBLEMS_SHOWN:
        return {"": [*problems]} if problems else {}
    found: dict[str, list[Problem]] = {}
    for each in problems:
        found.setdefault(each.code, []).append(each)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))
