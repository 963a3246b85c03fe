"""Instructions to repeat runs, from their run.json: recipe, command, variables, source, image and set-up.

All of it comes from the files of runs, so it states what was run. A recipe, or a command without one, is shown once,
with all its cases. `recipe_tables` has the cases that were not run yet.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from perfledger import as_called
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import image_of
from perfledger.ingest.site.model import Site, framework_of, named
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.run_tables import case_text, source_of
from perfledger.schema.plans import EXAMPLE_DATA
from perfledger.schema.records import Run, text_of, to_json
from perfledger.schema.vocabulary import CASE

#: Cases of a recipe in a block, at most.
CASES_SHOWN = 80
#: Commands without a recipe in a block, at most.
COMMANDS_SHOWN = 6
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
    launcher; `install` are the steps of the set-up, and `setup` the command that runs them.
    """

    title: Text
    again: tuple[str, ...]
    more: int
    facts: tuple[Text, ...]
    install: tuple[str, ...]
    setup: str
    executed: tuple[Executed, ...]

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
        return any(_LATE.search(each.code) for each in self.executed)


def blocks(site: Site, runs: Sequence[Run]) -> list[CommandBlock]:
    """Return the blocks of some runs of one framework: recipes by name, then the commands of other runs."""
    known = [run for run in runs if run.argv or run.recipe]
    return [_block(site, each) for each in by_key(sorted(known, key=_order), _key).values()]


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
