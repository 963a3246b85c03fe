"""Setup steps on hosts, one host after the other, in the terminal of the user."""

from __future__ import annotations

import subprocess

from msgspec import Struct
from msgspec.structs import asdict

from perfledger.runners.agent_link import ask_agents, decoded, question
from perfledger.runners.job import RunnerError, VirtualEnvironment, Word
from perfledger.runners.programs import Question
from perfledger.runners.transport import USUAL_SECONDS, Target


class SetupSteps(Struct, frozen=True, kw_only=True):
    """The steps of `setup` on a host: make the recipe's Python environment, if it has one, and run the steps inside it.

    `python` is what the environment is made of, `lock` the text of a requirements file with hashes that is installed
    first; `prologue` and `variables` are the site's; `enter` are the words that run a step in an image.
    """

    steps: tuple[str, ...]
    work: str = ""
    virtual_environment: VirtualEnvironment | None = None
    python: str = "python"
    lock: str = ""
    prologue: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    enter: tuple[Word, ...] = ()


class _Ready(Struct, frozen=True):
    """The command that runs the steps on a host, or why they cannot be run there."""

    argv: tuple[str, ...] = ()
    refused: str = ""


def set_up(target: Target, wanted: SetupSteps) -> None:
    """Run setup steps on one host after the other.

    Raises:
        RunnerError: a step failed; the message names each host with a failed step.
    """
    failures = [fault for rank in target.ranks if (fault := _set_up(target, rank, wanted))]
    if failures:
        raise RunnerError("\n".join(failures))


def _set_up(target: Target, rank: int, wanted: SetupSteps) -> str:
    """Run setup steps on a host; return why they failed, empty if they did not."""
    host = target.name(rank)
    print(f"{host}:", flush=True)
    argv = target.argv(rank)
    (answer,) = ask_agents([Question(argv, question(argv, "setup", **asdict(wanted)))], USUAL_SECONDS)
    ready = decoded(answer, _Ready)
    if ready is None:
        return target.explained(rank, answer)
    if ready.refused:
        return f"{host}: {ready.refused}"
    # The terminal sends Ctrl-C to the steps, on another host through ssh.
    status = subprocess.call(target.attached(rank, ready.argv))
    return f"{host}: a setup step failed (exit status {status})" if status else ""
