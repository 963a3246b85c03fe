"""`environment.json` next to a log: details of a machine that are too long for `run.json`. They are only displayed."""

from __future__ import annotations

from pathlib import Path

from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.files import is_as_stated
from perfledger.ingest.common.toml_file import record
from perfledger.ingest.read.run_json import RunJsonFile, read, short
from perfledger.ingest.read.walk import Input
from perfledger.schema.machine import Environment, EnvironmentDetails
from perfledger.schema.records import Problem, from_json, to_json

NAME = "environment.json"


def details_of(log: Input, run_json: RunJsonFile) -> tuple[EnvironmentDetails | None, list[Problem]]:
    """Return what the document that run.json names says of topology, InfiniBand, GPUs and installed packages.

    Returns:
        Its known parts, None without a valid document; and the problems that make it invalid.
        A file that changed since is not read; `record.run` reports it.
    """
    at = f"{log.name.rpartition('/')[0]}/{NAME}"
    found = guarded(at, log.path.with_name(NAME), lambda: _details(log.path.with_name(NAME), at, run_json))
    return (None, [found]) if isinstance(found, Problem) else found


def _details(path: Path, at: str, run_json: RunJsonFile) -> tuple[EnvironmentDetails | None, list[Problem]]:
    stated = run_json.files.get(NAME)
    if stated is None or not is_as_stated(path, stated.sha256):
        return None, []
    document = read(path, at)
    if isinstance(document, Problem):
        return None, [document]
    try:
        found = record({key: value for key, value in document.items() if value is not None}, Environment)
    except ValueError as error:
        return None, [Problem("wrong_file", at, args={"cause": short(str(error))})]
    details = from_json(to_json(found), EnvironmentDetails)
    return (details if to_json(details) else None), []
