"""How `ingest` is asked for the records and figures of logs: no figure is computed by the runners."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from perfledger import PROJECT_VARIABLE, TOP, project_folder
from perfledger.runners.folders import RUN_JSON
from perfledger.runners.job import RequiredRecords, RunnerError
from perfledger.runners.nodes import LOG
from perfledger.schema.figures import FiguresFound


def log_figures(log: Path, run: Struct) -> FiguresFound:
    """Return the figures of a log whose `run.json` is not written yet; none without a log.

    Raises:
        RunnerError: `ingest` cannot be run.
    """
    if is_empty(log):
        return FiguresFound()
    # In a folder of its own: ingest would also read the other files of the unfinished run.
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        (Path(folder) / log.name).symlink_to(log.resolve())
        (Path(folder) / RUN_JSON).write_bytes(msgspec.json.encode(run))
        return ask_ingest(Path(folder))


def is_empty(log: Path) -> bool:
    """Return whether a log is missing or has no bytes."""
    return not log.is_file() or not log.stat().st_size


def count_records(found: FiguresFound) -> dict[str, int]:
    """Return the number of usable records by format; empty if no format claims the log."""
    formats = {run.format for run in found.runs if run.format}
    return {format: sum(run.records for run in found.runs if run.format == format) for format in formats}


def check_ingest(formats: Mapping[str, str]) -> None:
    """Ask `ingest` for the formats that recipes name: better to fail before hours of training than after.

    Args:
        formats: by name of the recipe.

    Raises:
        RunnerError: it cannot be run, or does not know a format.
    """
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        (Path(folder) / LOG).touch()
        known = ask_ingest(Path(folder)).formats
    for recipe, format in formats.items():
        if format not in known:
            # A name is often written without what comes before its dot.
            near = difflib.get_close_matches(_short(format.lower()), map(_short, known), n=1)
            similar = [name for name in known if _short(name) in near]
            meant = f"did you mean `{'` or `'.join(similar)}`?"
            remedy = meant if similar else "`python -m ingest figures LOG` prints the format of a log"
            raise RunnerError(f"recipe {recipe}: `records.format` is {format!r}, which ingest does not know; {remedy}")


def _short(format: str) -> str:
    return format.rpartition(".")[2]


def shortfall(found: Mapping[str, int], wanted: RequiredRecords) -> str:
    """Return why the records of a log are too few or in another format; empty if they are sufficient."""
    if wanted.format in found:
        count = found[wanted.format]
        return (
            ""
            if count >= wanted.at_least
            else f"the log holds {count} records, and the recipe asks for {wanted.at_least}"
        )
    others = f"it is in {', '.join(sorted(found))}" if found else "no format knows it"
    return f"the log is not in the recipe's format {wanted.format}: {others}"


def ask_ingest(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures` says of a log, or of the logs of a folder; paths begin with its name.

    Raises:
        RunnerError: `ingest` cannot be run.
    """
    path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "perfledger.ingest", "figures", "--json", folder.name],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": path, PROJECT_VARIABLE: str(project_folder() or "")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # so that Ctrl-C reaches the runner alone
    )
    try:
        return msgspec.json.decode(done.stdout, type=FiguresFound)
    except msgspec.MsgspecError as error:
        cause = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RunnerError(
            f"the records of a log cannot be counted, because `python -m ingest` fails: {cause} "
            "(once it works, `python -m runners collect` finishes the unfinished runs)"
        ) from error
