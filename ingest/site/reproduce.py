"""Instructions to repeat runs, from their run.json: recipe, command, variables, source, image and set-up.

All of it comes from the files of runs, so it states what was run. A recipe, or a command without one, is shown once,
with all its cases. Cases that were not run yet are shown in the same form, from the plans of recipes.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

from msgspec.structs import replace

from perfledger import TEMPLATES, as_called
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import Bilingual, Text, phrase
from perfledger.ingest.compute.comparison import image_of
from perfledger.ingest.site.model import Site, Suite, framework_of, named
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.run_tables import case_text, source_of
from perfledger.schema.plans import EXAMPLE_DATA, Plan
from perfledger.schema.records import Run, text_of, to_json
from perfledger.schema.vocabulary import CASE

#: Cases of a recipe in a block, at most.
CASES_SHOWN = 80
#: Commands without a recipe in a block, at most.
COMMANDS_SHOWN = 6
#: The tool of an image that a plan names.
_CONTAINER_TOOL = "docker"
_Said = TypeVar("_Said")
#: A word that only the machine itself can fill in.
_LATE = re.compile(r"\{[a-z_]+\}")


@dataclass(frozen=True)
class Executed:
    """A command as it was executed, and the run that it made, or the first of them; `cases` are what they were."""

    code: str
    run: Link
    cases: tuple[Text, ...]


@dataclass(frozen=True)
class CommandBlock:
    """One recipe, or the commands of runs without one.

    `again` has a line per case that runs it again, and `more` counts the cases left out. `facts` are source, image and
    launcher; `install` are the steps of the set-up, and `setup` the command that runs them. Only plans have `notes`,
    the recipe's own words; the data set's `folder` and the `layout` in it; and the `planned` commands of the trainer,
    in the order of `again`.
    """

    title: Text
    again: tuple[str, ...]
    more: int
    facts: tuple[Text, ...]
    install: tuple[str, ...]
    setup: str
    executed: tuple[Executed, ...] = ()
    notes: Bilingual | None = None
    folder: str = ""
    layout: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()

    @property
    def hosts(self) -> bool:
        """Whether the reader has to name machines."""
        return any("HOST1" in each for each in self.again)

    @property
    def data(self) -> bool:
        """Whether the reader has to name the folder of the data set."""
        return any(EXAMPLE_DATA in each for each in self.again)

    @property
    def late(self) -> bool:
        """Whether commands have words that only the machine itself can fill in."""
        return any(_LATE.search(each) for each in (*self.planned, *(each.code for each in self.executed)))


def blocks(site: Site, runs: Sequence[Run]) -> list[CommandBlock]:
    """Return the blocks of some runs of one framework: recipes by name, then the commands of other runs."""
    known = [run for run in runs if run.argv or run.recipe]
    return [_block(site, each) for each in by_key(sorted(known, key=_order), _key).values()]


def of_suite(site: Site, suite: Suite) -> list[CommandBlock]:
    """Return a block per recipe of a suite, with the cases of its plan that no block of runs contains."""
    runs = (run.recipe for run in site.runs_of(suite) if run.published and run.recipe)
    run_cases = {_name(recipe.name, recipe.case) for recipe in runs}
    left = (
        replace(plan, cases=tuple(each for each in plan.cases if _name(plan.recipe, each.choices) not in run_cases))
        for plan in site.plans_of(suite)
    )
    return [_of_plan(each) for each in left if each.cases]


def _name(recipe: str, choices: Mapping[str, str]) -> tuple[object, ...]:
    return recipe, *sorted(choices.items())


def command(run: Run) -> str:
    """Return the command that repeats a run's case by its recipe; empty for a run without recipe."""
    recipe = run.recipe
    if not recipe:
        return ""
    tool = recipe.container.tool if recipe.container else ""
    return command_of(recipe.name, recipe.case, run.case.nodes or 1, tool, recipe.data)


def explanation(run: Run) -> str:
    """Return the command that explains the figures of a run."""
    return f"{as_called('python -m ingest explain')} {shlex.quote(run.path)}"


def command_of(recipe: str, choices: Mapping[str, str], nodes: int, tool: str, data: bool) -> str:
    """Return the command that runs the cases of a recipe that `choices` select."""
    chosen = ",".join(f"{name}={choices[name]}" for name in sorted(choices, key=_by_vocabulary))
    words = ["python", "-m", "runners", "run", recipe, "--on", _place(nodes)]
    words += ["--case", chosen] if chosen else []
    words += ["--container", tool] if tool else []
    return as_called(shlex.join([*words, *(["--data", EXAMPLE_DATA] if data else [])]))


def _setup(recipe: str, nodes: int) -> str:
    return as_called(shlex.join(["python", "-m", "runners", "setup", recipe, "--on", _place(nodes)]))


def _by_vocabulary(name: str) -> tuple[int, str]:
    """Return the place of a fact in the usual order of a case's facts."""
    return (CASE.index(name) if name in CASE else len(CASE), name)


def executed(run: Run) -> str:
    """Return the command that was executed, with its environment variables, for a shell; empty if unknown."""
    if not run.argv:
        return ""
    variables = (f"{name}={shlex.quote(str(value))}" for name, value in (run.environment_variables or {}).items())
    return " ".join([*variables, shlex.join(run.argv)])


def _place(nodes: int) -> str:
    """Return the target for a case: this machine, or hosts that the reader has to name."""
    return "local" if nodes == 1 else "ssh:" + ",".join(f"HOST{number}" for number in range(1, nodes + 1))


def _order(run: Run) -> tuple[bool, str, bool, str]:
    """Sort recipes by name, then other runs; completed runs come first, since the first command is shown."""
    name = run.recipe.name if run.recipe else ""
    return (not run.recipe, name, run.outcome != "completed", run.id)


def _key(run: Run) -> str:
    """Return what runs of one block share: the recipe as it was; without one, the source of the trainer."""
    # Launchers may differ within a recipe: a case on one device may not need one.
    recipe = to_json(replace(run.recipe, case={}, launcher="")) if run.recipe else run.source
    return json.dumps([bool(run.recipe), recipe], sort_keys=True)


def _block(site: Site, runs: Sequence[Run]) -> CommandBlock:
    recipe = runs[0].recipe
    commands = _executed(site, runs)
    lines = _distinct(runs, command)
    about = {
        "framework": named(framework_of(runs[0])),
        "cases": len({text_of(run.case) for run in runs}),
        "runs": len(runs),
    }
    shown = commands[:1] if recipe else commands[:COMMANDS_SHOWN]
    return CommandBlock(
        title=phrase("reproduce.recipe", name=recipe.name, **about) if recipe else phrase("reproduce.stated", **about),
        again=tuple(lines[:CASES_SHOWN]),
        more=max(0, len(lines) - CASES_SHOWN) if recipe else len(commands) - len(shown),
        facts=tuple(_facts(runs)),
        install=recipe.setup if recipe else (),
        setup=_setup(recipe.name, runs[0].case.nodes or 1) if recipe else "",
        executed=tuple(shown),
    )


def described(plan: Plan) -> Bilingual:
    """Return the recipe's own words; the Chinese is empty unless all of them have one."""
    title, known = plan.title.rstrip("."), _chinese()
    texts = [" ".join(each.split()) for each in (plan.text, plan.notes) if each]
    chinese = [known["title"].get(title, ""), *(known["text"].get(each, "") for each in texts)]
    return Bilingual(
        en=" ".join([f"{title}.", *texts]),
        zh=f"{chinese[0]}。{''.join(chinese[1:])}" if all(chinese) else "",
    )


def noted(run: Run) -> Text | None:
    """Return the notes of a run; those that a recipe wrote are in both languages."""
    known, notes = _chinese(), run.notes or ""
    chinese = (known["text"] | known["former"]).get(" ".join(notes.split()))
    return Bilingual(notes, chinese) if chinese else run.notes


@cache
def _chinese() -> Mapping[str, dict[str, str]]:
    """Return Chinese texts by the English ones of recipes: titles, notes and set-ups, and former notes of runs."""
    return read(TEMPLATES / "recipes.zh.toml", dict[str, dict[str, str]]).data


def _of_plan(plan: Plan) -> CommandBlock:
    shown, data_set = plan.cases[:CASES_SHOWN], plan.data_set
    tool = tool_of(plan)
    return CommandBlock(
        title=phrase("reproduce.plan", framework=plan.framework, name=plan.recipe, cases=len(plan.cases)),
        again=tuple(command_of(plan.recipe, each.choices, each.nodes, tool, each.data) for each in shown),
        more=len(plan.cases) - len(shown),
        facts=tuple(_facts_of_plan(plan)),
        install=plan.setup,
        setup=_setup(plan.recipe, min(each.nodes for each in plan.cases)),
        notes=described(plan),
        folder=data_set.below.replace("{data}", EXAMPLE_DATA),
        layout=data_set.layout,
        planned=tuple(each.command for each in shown),
    )


def tool_of(plan: Plan) -> str:
    """Return the tool that runs the image of a plan; empty for a plan without an image."""
    return _CONTAINER_TOOL if plan.image else ""


def _facts_of_plan(plan: Plan) -> Iterable[Text]:
    if source := " @ ".join(filter(None, (plan.source.repository, plan.source.commit))):
        yield phrase("reproduce.source", source=source)
    image = "@".join(filter(None, (plan.image.image, plan.image.digest))) if plan.image else ""
    yield phrase("reproduce.image", image=image) if image else phrase("reproduce.no_image")
    if plan.launcher != "plain":
        yield phrase("reproduce.launcher", launcher=plan.launcher)
    if plan.packages:
        yield phrase("reproduce.packages", packages=listed(plan.packages))
    stated = plan.data_set
    if data := ", ".join(filter(None, (stated.name, stated.address, stated.checksum))):
        yield phrase("reproduce.data_set", data=data)


def _executed(site: Site, runs: Sequence[Run]) -> list[Executed]:
    """Return each command once, with its cases."""
    return [
        Executed(code, Link(alike[0].id, site.page(alike[0])), tuple(_distinct(alike, partial(case_text, site))))
        for code, alike in by_key(runs, executed).items()
        if code
    ]


def _facts(runs: Sequence[Run]) -> Iterable[Text]:
    for source in _distinct(runs, source_of):
        yield phrase("reproduce.source", source=source)
    for image in _distinct(runs, image_of):
        yield phrase("reproduce.image", image=image)
    for launcher in _distinct(runs, _launcher):
        yield phrase("reproduce.launcher", launcher=launcher)


def _launcher(run: Run) -> str:
    """Return what started the ranks; empty for `plain`, since cases on one device need no launcher."""
    found = run.recipe.launcher if run.recipe else ""
    return "" if found == "plain" else found


def _distinct(runs: Iterable[Run], of: Callable[[Run], _Said | None]) -> list[_Said]:
    return [*dict.fromkeys(each for run in runs if (each := of(run)))]
