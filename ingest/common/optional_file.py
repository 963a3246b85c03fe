"""TOML files that may be next to logs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from perfledger.ingest.common.toml_file import FileError, TomlFile, read
from perfledger.schema.records import Problem

Record = TypeVar("Record")


def read_if_there(path: Path, kind: type[Record], problems: list[Problem]) -> TomlFile[Record] | None:
    """Read a file next to logs. If it is absent, return None; if it is wrong, add a problem and return None."""
    if not os.path.lexists(path):
        return None
    try:
        return read(path, kind)
    except FileError as error:
        problems.append(Problem("wrong_file", f"{path.parent.name}/{path.name}", error.line, {"cause": error.what}))
        return None
