"""The version of all code that a line of the ledger depends on, as a hash."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from perfledger import PACKAGES, project_folder
from perfledger.ingest.common import sources, suites
from perfledger.ingest.read import layout as layouts

#: Packages that only use what the ledger says.
_LATER = ("site", "diff")


def code_of(layout: str) -> str:
    """Hash everything except the logs that a line depends on: formats, rules, layouts, spellings, redaction."""
    return _code_of(layout, project_folder())


@cache
def _code_of(layout: str, _project: Path | None) -> str:
    top = PACKAGES
    files = [
        *top.glob("parsers/**/*.py"),
        *(each for kind in ("py", "toml") for each in top.glob(f"ingest/*/*.{kind}") if each.parent.name not in _LATER),
        *top.glob("schema/*.*"),
        *top.glob("schema/redaction/*.*"),
    ]
    files += [*suites.SUITES.glob("*.toml"), *layouts.files_of(layout), *sources.own_files()]
    named = layouts.load(layout)
    digest = hashlib.sha256(repr((named.name, [(at, each.name) for at, each in named.below.items()])).encode())
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
