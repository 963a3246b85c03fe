"""A planned run as one self-contained bash script; the part that never changes is `host.sh`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.case import command, environment_variables
from runners.errors import RunnerError
from runners.plan import Run

SCHEMA = "perfledger.run/1"
HOST = Path(__file__).parent / "host.sh"


def build(run: Run, commit: str = "") -> str:
    """The script of a run. `commit` is the version of the recipe's own files, empty where it is not known.

    Every value of the case is quoted for the shell. Raises RunnerError where a file of the recipe cannot be read.
    """
    recipe, case = run.recipe, run.case
    argv = command(recipe, case)
    variables = environment_variables(recipe, case)
    lines = [
        "#!/usr/bin/env bash",
        _assign("destination", str(run.folder)),
        _assign("device", recipe.device),
        _assign("timeout_seconds", str(recipe.timeout_seconds)),
        _assign("threads", str(case.slots.get("threads", ""))),
        _assign("python", recipe.python),
        _assign_list("packages", recipe.packages),
        _assign_list("variables", [f"{name}={value}" for name, value in variables.items()]),
        _assign_list("command", argv),
        _assign("work_files", "1" if recipe.files else "0"),
        _write_files(run),
        _assign("json_head", _members({"schema": SCHEMA, "suite": recipe.suite}, 1)),
        _assign("json_case", _members(_case_facts(run), 2)),
        _assign("json_plan", _members(_plan_facts(run, argv, variables, commit), 1)),
    ]
    return "\n".join(lines) + "\n\n" + HOST.read_text(encoding="utf-8")


def _case_facts(run: Run) -> dict[str, object]:
    case = run.case
    return {
        "model": run.recipe.model,
        "framework": run.recipe.framework,
        "nodes": case.nodes,
        "devices": case.devices,
        "batch_size": case.batch_size,
        "precision": case.precision,
        "options": dict(case.options),
    }


def _plan_facts(run: Run, argv: list[str], variables: dict[str, str], commit: str) -> dict[str, object]:
    recipe = run.recipe
    facts: dict[str, object] = {"format": recipe.format, "repeat": run.repeat, "argv": argv}
    facts["environment_variables"] = variables
    facts["source"] = {"repository": recipe.repository, "commit": commit} if recipe.repository and commit else {}
    facts["notes"] = recipe.notes
    optional = ("format", "source", "notes")
    return {key: value for key, value in facts.items() if value or key not in optional}


def _members(facts: Mapping[str, object], depth: int) -> str:
    """The members of a JSON object, a line and a comma each."""
    return "\n".join(f"{' ' * depth}{json.dumps(key)}: {json.dumps(value)}," for key, value in facts.items())


def _assign(name: str, value: str) -> str:
    return f"{name}={shlex.quote(value)}"


def _assign_list(name: str, values: Sequence[str]) -> str:
    return f"{name}=({' '.join(shlex.quote(value) for value in values)})"


def _write_files(run: Run) -> str:
    lines = []
    for name, source in run.recipe.files.items():
        target = shlex.quote(name)
        lines.append(f'mkdir -p -- "$(dirname -- {target})" && printf %s {shlex.quote(_read(run, source))} >{target}')
    body = " &&\n".join(lines) or ":"
    return f"write_files() {{\n{body}\n}}"


def _read(run: Run, source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunnerError(f"recipe {run.recipe.name}: its file {source} cannot be read: {error}") from error
