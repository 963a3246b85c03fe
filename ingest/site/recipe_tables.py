"""Recipes as a table, on the pages of models and reports: what each runs, and the commands that run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from perfledger import TEMPLATES
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import Bilingual, Text, phrase
from perfledger.ingest.published import cases
from perfledger.ingest.published.declarations import Report
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site, Suite
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.render.table import Cell, Entry, Table, cell
from perfledger.ingest.site.reproduce import command_of
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.plans import Plan, PlanCase
from perfledger.schema.records import Run

#: The tool of an image that a plan names.
_CONTAINER_TOOL = "docker"


@dataclass(frozen=True)
class RecipeRow:
    """A recipe with the page of its model, the number of cases that its commands run, and these commands."""

    plan: Plan
    page: str | None
    count: int
    commands: tuple[str, ...]


def of_report(site: Site, report: Report, rows: Sequence[Published]) -> Table | None:
    """Return a row per recipe of a report, with the cases of its figures; None for a report without recipes."""
    plans = [plan for name in report.recipes if (plan := site.plans.by_recipe.get(name))]
    pages = {plan.recipe: addresses.model_page(suite) for suite in site.shown for plan in site.plans_of(suite)}
    return table_of(
        "recipes", [_row(plan, _printed(plan, rows), pages.get(plan.recipe)) for plan in plans], _COLUMNS, cards=True
    )


def of_suite(site: Site, suite: Suite) -> Table | None:
    """Return a row per recipe of a model, with the cases that did not run here; None if all did."""
    runs = (run.recipe for run in site.runs_of(suite) if run.published and run.recipe)
    ran = {_identity(recipe.name, recipe.case) for recipe in runs}
    left = (
        (plan, [each for each in plan.cases if _identity(plan.recipe, each.choices) not in ran])
        for plan in site.plans_of(suite)
    )
    return table_of("recipes", [_row(plan, found, None) for plan, found in left if found], _COLUMNS, cards=True)


def _identity(recipe: str, choices: Mapping[str, str]) -> tuple[object, ...]:
    return recipe, *sorted(choices.items())


def _printed(plan: Plan, rows: Sequence[Published]) -> Sequence[PlanCase]:
    """Return the cases of these figures; all if they fit none, as in other editions."""
    figures = cases.of_plan(rows, plan)
    return [case for case in plan.cases if any(cases.may_be_of(each, case) for each in figures)] or plan.cases


def _row(plan: Plan, wanted: Sequence[PlanCase], page: str | None) -> RecipeRow:
    chosen = [_common_choices(each) for each in _by_nodes(wanted)]
    count = sum(any(_selects(each, case) for each in chosen) for case in plan.cases)
    tool, data = _CONTAINER_TOOL if plan.image else "", any(each.data for each in wanted)
    commands = (command_of(plan.recipe, each, int(each["nodes"]), tool, data) for each in chosen)
    return RecipeRow(plan, page, count, tuple(commands))


def _by_nodes(found: Sequence[PlanCase]) -> Iterator[list[PlanCase]]:
    """Yield the cases of each number of machines: a command names its machines."""
    for nodes in dict.fromkeys(each.nodes for each in found):
        yield [each for each in found if each.nodes == nodes]


def _common_choices(found: Sequence[PlanCase]) -> Mapping[str, str]:
    """Return choices that select all of these cases: the values of each key, with `|` between them."""
    return {key: "|".join(dict.fromkeys(each.choices[key] for each in found)) for key in found[0].choices}


def _selects(choices: Mapping[str, str], case: PlanCase) -> bool:
    return all(case.choices.get(key) in values.split("|") for key, values in choices.items())


def _name(row: RecipeRow) -> Cell:
    page = addresses.section(row.page, "reproduce") if row.page else None
    return cell(row.plan.recipe, page, joined((row.plan.framework, described(row.plan))))


def described(plan: Plan) -> Bilingual:
    """Return the recipe's own words; a Chinese page quotes the English ones unless all of them have Chinese."""
    title, known = plan.title.rstrip("."), chinese()
    texts = [" ".join(each.split()) for each in (plan.text, plan.notes) if each]
    first, *rest = known["title"].get(title, ""), *(known["text"].get(each, "") for each in texts)
    english = " ".join([f"{title}.", *texts])
    return Bilingual(english, f"{first}。{''.join(rest)}" if first and all(rest) else f"“{english}”")


def noted(run: Run) -> Text | None:
    """Return the notes of a run; those that a recipe wrote are in both languages."""
    known, notes = chinese(), run.notes or ""
    found = (known["text"] | known["former"]).get(" ".join(notes.split()))
    return Bilingual(notes, found) if found else run.notes


@cache
def chinese() -> Mapping[str, dict[str, str]]:
    """Return Chinese texts by the English ones of recipes: titles, notes and set-ups, and former notes of runs."""
    return read(TEMPLATES / "recipes.zh.toml", dict[str, dict[str, str]]).data


_COLUMNS = (
    ColumnOf[RecipeRow](phrase("reproduce.recipe_column"), _name),
    ColumnOf[RecipeRow](phrase("reproduce.cases_column"), lambda row: row.count, number=True),
    ColumnOf[RecipeRow](phrase("reproduce.command_column"), lambda row: Cell(tuple(map(Entry, row.commands)))),
)
