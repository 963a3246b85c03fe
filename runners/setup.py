"""Puts on hosts what a recipe needs: its setup steps, one after the other, on all hosts at the same time."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from runners import backends
from runners.cases.recipe import Recipe
from runners.errors import RunnerError
from runners.places.ask import Answer, Question, ask
from runners.places.place import Place

#: A build from source, or an image over a slow line.
SECONDS = 4 * 3600
#: Not where a dollar stands before it: that is the shell's own `${work}`, and means the same.
WORK = re.compile(r"(?<!\$)\{work\}")
LINES_SHOWN = 20


def program(steps: Sequence[str], work: str) -> str:
    """The bash program of the steps: in the folder for sources, each in a shell of its own, up to the first failure."""
    lines = [
        f"work={shlex.quote(work)}",
        # As `settle` of host/main.sh has it, or a run would look elsewhere.
        "case $work in '') work=$HOME/.perfledger/work ;; '~/'*) work=$HOME/${work#'~/'} ;;",
        "/*) ;; *) work=$HOME/$work ;; esac",
        'mkdir -p -- "$work" && cd -- "$work" && export work=$PWD || exit 2',
    ]
    for step in steps:
        text = shlex.quote(WORK.sub('"${work}"', step))
        lines.append(f"printf '+ %s\\n' {shlex.quote(step)}; bash -c {text} </dev/null 2>&1 || exit")
    return "\n".join(["main() {", *lines, "}", "main", ""])


def set_up(recipe: Recipe, place: Place, work: str) -> dict[str, str]:
    """What the steps printed, by host; raises RunnerError with the last of it where a step failed."""
    if not recipe.setup.steps:
        raise RunnerError(f"recipe {recipe.name}: it has no setup steps; `show` says in words what it needs")
    shells = backends.shells(place)
    answers = ask([Question(argv, program(recipe.setup.steps, work)) for argv in shells.values()], SECONDS)
    failures = [_failure(host, answer) for host, answer in zip(shells, answers, strict=True) if answer.status]
    if failures:
        raise RunnerError("\n".join(failures))
    return {host: answer.output for host, answer in zip(shells, answers, strict=True)}


def _failure(host: str, answer: Answer) -> str:
    printed = [*answer.output.splitlines(), *answer.errors.splitlines()][-LINES_SHOWN:]
    return "\n".join([f"{host}: a setup step failed (exit status {answer.status}); it printed last:", *printed])
