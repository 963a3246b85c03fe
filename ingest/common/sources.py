"""Find out whether pages are older than their sources, from a note that ingest leaves for the MkDocs hook."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from perfledger import PACKAGES, TEMPLATES
from perfledger.ingest.common.documents import read_text
from perfledger.ingest.common.files import notes, settled_at, write_if_changed
from perfledger.ingest.common.project import layout_files, parts

#: Folders of code and templates that pages depend on, in addition to the logs.
CODE = (TEMPLATES, *(PACKAGES / each for each in ("ingest", "parsers", "schema")))
_NOTE = "sources.json"
#: Depth of folders below a path that are entered; any tree of logs has fewer.
DEEPEST = 100


def fingerprint(paths: Iterable[Path]) -> str:
    """Hash the names, sizes and times of all files; editors' and Python's own files do not count."""
    return looked_at(paths)[0]


def looked_at(paths: Iterable[Path]) -> tuple[str, int]:
    """Return the fingerprint of all files, and the time in ns after which it shows each further change.

    The fingerprint includes the time of each file's last change of any kind, which a program cannot set back.
    """
    digest, settled = hashlib.sha256(), 0
    for path in sorted({each for top in paths for each in _files(top)}):
        try:
            at = os.stat(path)  # noqa: PTH116 - of every file, and a Path costs more than the look
        except OSError:
            continue  # gone since the folder was read
        line = f"{path}\0{at.st_size}\0{at.st_mtime_ns}\0{at.st_ctime_ns}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
        settled = max(settled, settled_at(at.st_ctime_ns))
    return digest.hexdigest(), settled


def beside_logs(layout: str) -> list[Path]:
    """Return the sources of pages other than logs: our code, the user's project, and a layout's file."""
    return [*CODE, *parts(), *layout_files(layout)]


def own_files() -> list[Path]:
    """Return the files of the user's project."""
    found = (Path(each) for part in parts() for each in _files(part))
    return [each for each in found if each.suffix in (".py", ".toml")]


def state(paths: Sequence[Path], layout: str) -> str:
    """Return the state of all sources of the pages for these logs; call it before they are read."""
    named = {"logs": [str(each.resolve()) for each in paths], "layout": layout}
    return json.dumps({**named, "sources": fingerprint([*paths, *beside_logs(layout)])})


def record(docs: Path, before: str) -> None:
    """Note that the pages in `docs` were made from the sources in that `state`."""
    write_if_changed(notes(docs) / _NOTE, before.encode())


def are_newer(docs: Path, paths: Sequence[Path], layout: str) -> bool:
    """Return whether the pages in `docs` have to be written for these logs.

    Pages of other logs, or of another layout, are the result of a user's command and stay. Pages stay, too, if the logs
    do not exist here.
    """
    if not any(each.exists() for each in paths):
        return False
    now = state(paths, layout)
    try:
        before = read_text(notes(docs) / _NOTE)
        known = json.loads(before)
        others = any(known[key] != json.loads(now)[key] for key in ("logs", "layout"))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return True
    return not (docs / "en" / "index.md").is_file() or (before != now and not others)


def _files(top: Path) -> Iterator[str]:
    """Yield the files below a folder and below folders that are linked there, by paths without links."""
    if not top.is_dir():
        yield os.path.realpath(top)
    seen = set[str]()
    for folder, below, names in os.walk(top, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:  # a link leads back to a folder that contains it
            below.clear()
            continue
        seen.add(real)
        deeper = folder.count(os.sep) - str(top).count(os.sep) < DEEPEST
        below[:] = [each for each in below if deeper and each != "__pycache__" and not each.startswith(".")]
        for path in (f"{real}/{each}" for each in names if not each.startswith(".") and not each.endswith("~")):
            yield os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114 - as above
