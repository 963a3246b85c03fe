"""Perfledger reads raw training logs and writes a bilingual benchmark report site.

`perfledger.read("logs/")` gives runs and results in Python; see `perfledger.reading`.

In a checkout the packages `ingest`, `parsers`, `runners` and `schema` lie next to this folder, where they also run by
themselves (`python -m ingest`); installed, they lie inside it. Both ways they are imported as `perfledger.ingest`, ....
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfledger.ingest.common.errors import UsageError
    from perfledger.reading import LogsRead, read

__all__ = ["LogsRead", "UsageError", "__version__", "read"]
__version__ = "0.1.0"
LICENSE = "Apache-2.0"

_HERE = Path(__file__).resolve().parent
INSTALLED = (_HERE / "ingest").is_dir()
#: The folder that Python must search to find `perfledger`.
TOP = _HERE.parent
#: The folder of `ingest`, `parsers`, `runners` and `schema`.
PACKAGES = _HERE if INSTALLED else TOP
TEMPLATES = PACKAGES / ("templates" if INSTALLED else "report_templates")
#: Names the user's project for a process that runs in another folder.
PROJECT_VARIABLE = "PERFLEDGER_PROJECT"

if not INSTALLED:
    __path__.append(str(TOP))


def as_called(text: str) -> str:
    """Return a text with commands as this Perfledger is called: installed, it has one command."""
    if not INSTALLED:
        return text
    pages = text.replace("python -m ingest raw_logs/", "perfledger pages raw_logs/")
    runners = re.sub(r"python -m runners(?!\.)", "python -m perfledger.runners", pages)
    return runners.replace("python -m ingest", "perfledger")


def project_folder() -> Path | None:
    """Return the folder with the user's `perfledger.toml`: the current one, or the one that the environment names."""
    at = Path(os.environ.get(PROJECT_VARIABLE) or Path.cwd())
    return at if (at / "perfledger.toml").is_file() else None


def __getattr__(name: str) -> Any:
    """Import the interface when it is first asked for: commands, and hosts that run nothing but a launcher, do not."""
    if name in ("LogsRead", "read"):
        from perfledger import reading

        return getattr(reading, name)
    if name == "UsageError":
        from perfledger.ingest.common.errors import UsageError

        return UsageError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
