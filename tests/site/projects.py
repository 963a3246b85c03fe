"""A copy of the project's code, for tests that change it or run it elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("perfledger", "ingest", "parsers", "schema", "report_templates")


def copy_code(folder: Path) -> None:
    """Copy what `python -m ingest` consists of, with the bytecode that is there: to compile it takes seconds.

    Another process may write bytecode meanwhile, under a name that soon is gone.
    """
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
