"""What an interrupted matrix left: runs to be finished, and how many of each case count already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from runners import backends
from runners.cases.case import Case
from runners.cases.recipe import Recipe
from runners.command.script import HOST
from runners.errors import RunnerError
from runners.places.ask import Answer, Question, ask
from runners.places.place import Place
from runners.runs import finished, launch_file
from runners.runs.finished import SETTLED, Finished
from runners.runs.plan import Run, case_folder

#: Of the script that runs on a node, what names its hardware.
PIECES = ("json", "tools", "machine", "gpu", "environment")
#: What a host's answer begins with.
MARK = "perfledger "
#: A cluster may let us wait for a node.
ANSWER_SECONDS = 600


def unfinished(recipe: Recipe, cases: Iterable[Case], raw_logs: Path) -> list[Path]:
    """The folders of unfinished runs of these cases, in the order in which they were begun."""
    folders = [folder for case in cases for folder in launch_file.unfinished(case_folder(recipe, case, raw_logs))]
    return sorted(folders, key=lambda folder: (folder / launch_file.NAME).stat().st_mtime_ns)


def hardware(recipe: Recipe, place: Place) -> list[str]:
    """The hardware of each host of a place, in order of rank, as its runs name it.

    Raises RunnerError for a host that does not say it: without it nobody knows which runs count.
    """
    shells = backends.shells(place, gpus=int(recipe.device == "gpu"))
    pieces = [(HOST / f"{piece}.sh").read_text(encoding="utf-8") for piece in PIECES]
    say = f"printf '\\n{MARK}%s\\n' \"$(hardware)\""
    program = "\n".join([f"device={recipe.device}", *pieces, say, ""])
    answers = ask([Question(argv, program) for argv in shells.values()], ANSWER_SECONDS)
    return [_hardware(host, answer) for host, answer in zip(shells, answers, strict=True)]


def _hardware(host: str, answer: Answer) -> str:
    """Whatever else a login prints is not listened to."""
    lines = [line.removeprefix(MARK).strip() for line in answer.output.split("\n") if line.startswith(MARK)]
    if answer.status or not "".join(lines):
        said = (answer.errors.strip().splitlines() or ["it gave no answer"])[-1]
        raise RunnerError(f"{host}: it cannot be asked for its hardware, which says which runs count: {said}")
    return lines[0]


def settled(run: Run, hardware: Sequence[str]) -> list[Finished]:
    """The runs of a case that need not be made again: completed or out of memory, on this hardware, in this round.

    Args:
        run: one of the case.
        hardware: of the hosts of the place, in order of rank.
    """
    rank = run.case.nodes - 1 if run.recipe.records.node == "last" else 0
    # Of the node whose log holds the figures. Nodes that a cluster chooses are taken to be alike.
    mine = hardware[min(rank, len(hardware) - 1)]
    return [each for each in finished.alike(run.folder.parent, mine, run.round) if each.outcome in SETTLED]
