"""Puts on hosts what a recipe needs: its setup steps, one after the other, on all hosts at the same time."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

from runners import backends
from runners.cases.recipe import Recipe
from runners.errors import RunnerError
from runners.places.ask import holding, read, start
from runners.places.place import Place
from runners.progress import printable

#: Not where a dollar stands before it: that is the shell's own `${work}`, and means the same.
WORK = re.compile(r"(?<!\$)\{work\}")
#: Ends a program, and what it started, when nobody holds its standard input open any more. All of it is read before
#: it begins, for what watches over the input would eat the rest.
ATTENDED = """attended() {{
{{ cat; kill -TERM 0; }} <&0 >/dev/null 2>&1 &
trap "kill $!" EXIT
{program}}}
attended; exit
"""
GRACE_SECONDS = 10


@dataclass(frozen=True)
class _Started:
    """A host at work: what it prints is read as it comes, what the way to it says lies in `errors`."""

    host: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]


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


def set_up(recipe: Recipe, place: Place, work: str) -> None:
    """Runs the steps and prints what they print, after the name of the host; ends them where we are interrupted.

    Raises RunnerError for the hosts on which a step failed.
    """
    if not recipe.setup.steps:
        raise RunnerError(f"recipe {recipe.name}: it has no setup steps; `show` says in words what it needs")
    shells = backends.shells(place)
    text = ATTENDED.format(program=program(recipe.setup.steps, work))
    # The readers outside: they end with the programs.
    with ThreadPoolExecutor(len(shells)) as readers, ExitStack() as stack:
        started = [_started(host, argv, text, stack) for host, argv in shells.items()]
        failures = [failure for failure in readers.map(_failure, started) if failure]
    if failures:
        raise RunnerError("\n".join(failures))


def _started(host: str, argv: Sequence[str], text: str, stack: ExitStack) -> _Started:
    errors = stack.enter_context(holding(""))
    process = stack.enter_context(start(argv, subprocess.PIPE, subprocess.PIPE, errors))
    stack.callback(_end, process)
    if process.stdin:
        # Who is not reached reads nothing; what became of it is said by its exit status.
        with suppress(BrokenPipeError):
            process.stdin.write(text.encode())
            process.stdin.flush()
    return _Started(host, process, errors)


def _failure(started: _Started) -> str:
    """Why the steps failed on a host, once all is printed; empty where they did not."""
    for line in started.process.stdout or ():
        print(f"{started.host}: {printable(line.decode(errors='replace'))}", flush=True)
    if not (status := started.process.wait()):
        return ""
    last = read(started.errors).strip().splitlines()[-1:]
    return f"{started.host}: {': '.join([f'a setup step failed (exit status {status})', *last])}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program by closing what it reads, so that it ends on its host too."""
    if process.stdin:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
