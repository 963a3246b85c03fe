"""A run for a host that has bash and nothing of ours: one script, whose folder is brought home by hand."""

from __future__ import annotations

import json
import shlex

from runners.command.script import Settings, build
from runners.places import job
from runners.places.place import Place
from runners.runs.beforehand import plan
from runners.runs.launch_file import INCOMING, NAME, document
from runners.runs.plan import Run

#: The trap: all is read before anything is done, for bash reads a script while it runs it.
PROGRAM = r"""
main() {
  mkdir -p -- "${folder%/*}" && mkdir -- "$folder" && mkdir -- "$folder/$incoming" "$folder/$incoming/node0" ||
    { printf 'runners: %s cannot be made here, or is there already\n' "$folder" >&2; exit 2; }
  unset PERFLEDGER_HOSTS PERFLEDGER_MASTER_ADDRESS PERFLEDGER_MASTER_PORT
  export PERFLEDGER_IDENTITY=$identity PERFLEDGER_NODE_RANK=0
  export PERFLEDGER_JOB=$PWD/$folder/$incoming/node0
  case $folder in /*) PERFLEDGER_JOB=$folder/$incoming/node0 ;; esac
  printf '%s' "$script" >"$PERFLEDGER_JOB/script.sh" && printf '%s' "$launch" >"$folder/$launch_name" ||
    { printf 'runners: %s cannot be written\n' "$folder" >&2; exit 2; }
  if ! (cd -- "$PERFLEDGER_JOB" && bash ./script.sh check </dev/null); then
    rm -rf -- "$folder"
    exit 2
  fi
  cd -- "$PERFLEDGER_JOB" && exec bash ./script.sh run </dev/null
}
main
"""


def program(run: Run, settings: Settings, commit: str) -> str:
    """The bash program of a run on one node: it makes the run's folder below the folder it is started in.

    Raises RunnerError for a case that takes several nodes, and as `build` does.
    """
    started = job.as_json(job.prepare(Place("local"), run))
    values = {
        "folder": str(run.folder),
        "incoming": INCOMING,
        "identity": str(started["identity"]),
        "launch_name": NAME,
        "launch": json.dumps(document(started, plan(run, settings, commit), run.recipe.records), indent=1),
        "script": build(run, settings),
    }
    lines = [f"{name}={shlex.quote(value)}" for name, value in values.items()]
    return "\n".join(["#!/usr/bin/env bash", *lines]) + "\n" + PROGRAM
