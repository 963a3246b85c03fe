"""Public logs for tests. This repository does not contain them.

`make corpus` fetches the files in `files.csv` from their public repositories at fixed commits into `.corpus/`, and
compares each with its SHA-256. If there is a folder `../shared` next to the checkout, tests read that folder instead.
The expected results of the logs are in `expected-*.csv`.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared"
FETCHED = ROOT / ".corpus"
#: The environment variable that names the tier of the tests.
TIER = "PERFLEDGER_TEST_TIER"


@dataclass(frozen=True)
class File:
    """A log of a public repository: its path there, and its name for tests."""

    file: str
    repository: str
    commit: str
    path: str
    sha256: str

    def is_at(self, folder: Path) -> bool:
        """Return whether `folder` contains this file with the same bytes."""
        path = folder / self.file
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


def files() -> list[File]:
    """Return every file of the corpus."""
    return [File(**row) for row in expected("files")]


def expected(name: str) -> list[dict[str, str]]:
    """Return the rows of `NAME.csv` in this folder."""
    with (HERE / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def folder(below: str) -> Path:
    """Return the path of a folder of the corpus; it may not exist, and does not exist in the quick tier."""
    if os.environ.get(TIER) == "quick":
        return HERE / "not-in-the-quick-tier" / below
    shared = SHARED / "corpus" / below
    return shared if shared.exists() else FETCHED / below


def corpus(below: str) -> Path:
    """Return a file or folder of the corpus, or skip the test if it is missing, and name the remedy."""
    path = folder(below)
    if not path.exists():
        pytest.skip(f"needs {below}: {_remedy(below)}")
    return path


def _remedy(below: str) -> str:
    fetched = {each.file.partition("/")[0] for each in files()}
    return "make corpus" if below.partition("/")[0] in fetched else "logs that make corpus does not fetch"


def logs(below: str) -> Iterator[Path]:
    """Yield every log below a folder of the corpus, in the order of their paths."""
    about = {".csv", ".md", ".toml", ".txt"}
    for path in sorted(folder(below).rglob("*")):
        if path.is_file() and not (path.suffix in about and path.name.startswith(("expected", "NOTICE", "layout"))):
            yield path
