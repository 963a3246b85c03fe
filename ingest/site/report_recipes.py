"""The recipes of a report as one table: what each runs, and the commands that run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import cases
from perfledger.ingest.published.declarations import Report
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.render.table import Cell, Entry, Table, cell
from perfledger.ingest.site.reproduce import command_of, tool_of
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.plans import Plan, PlanCase


@dataclass(frozen=True)
class RecipeRow:
    """A recipe with the page of its model, the number of cases that its commands run, and these commands."""

    plan: Plan
    page: str | None
    count: int
    commands: tuple[str, ...]


def recipes(site: Site, report: Report, rows: Sequence[Published]) -> Table | None:
    """Return a row per recipe of a report; None for a report without recipes."""
    plans = [plan for name in report.recipes if (plan := site.plans.by_recipe.get(name))]
    pages = {plan.recipe: addresses.model_page(suite) for suite in site.shown for plan in site.plans_of(suite)}
    return table_of("recipes", [_row(plan, rows, pages.get(plan.recipe)) for plan in plans], _COLUMNS)


def _row(plan: Plan, rows: Sequence[Published], page: str | None) -> RecipeRow:
    """Return the row of a plan, with the cases of these figures; with all if they fit none, as in other editions."""
    figures = cases.of_plan(rows, plan)
    wanted = [case for case in plan.cases if any(cases.may_be_of(each, case) for each in figures)] or plan.cases
    chosen = [_common_choices(each) for each in _by_nodes(wanted)]
    count = sum(any(_selects(each, case) for each in chosen) for case in plan.cases)
    data = any(each.data for each in wanted)
    commands = (command_of(plan.recipe, each, int(each["nodes"]), tool_of(plan), data) for each in chosen)
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
    marks: tuple[Text, ...] = (row.plan.framework,)
    return cell(row.plan.recipe, addresses.section(row.page, "reproduce") if row.page else None, *marks)


_COLUMNS = (
    ColumnOf[RecipeRow](phrase("reproduce.recipe_column"), _name),
    ColumnOf[RecipeRow](phrase("reproduce.cases_column"), lambda row: row.count, number=True),
    ColumnOf[RecipeRow](phrase("reproduce.command_column"), lambda row: Cell(tuple(map(Entry, row.commands)))),
)
