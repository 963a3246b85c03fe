"""Which files of the given paths are logs, and under which name each is published.

A name is the path below the given one with that one's own name in front, so that no page names the machine's folders.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.problems import Problem, UsageError
from ingest.published import FOLDER, SOURCES

#: Files that lie beside logs and are none.
COMPANIONS = frozenset({"run.json", "environment.json", "expected.csv"})
#: No logs, and perhaps telemetry of those beside them.
_TELEMETRY = frozenset({".csv", ".mem"})
NOT_LOGS = frozenset(
    f".{each}"
    for each in (
        "csv", "md", "rst", "html", "pdf", "svg", "png", "jpg", "jpeg", "gif", "ico", "py", "pyc", "sh", "yaml", "yml",
        "toml", "cfg", "ini", "xlsx", "xlsm", "ipynb", "tar", "tgz", "zip", "whl", "pkl", "pt", "pth", "npz", "npy",
        "onnx", "pdparams", "pdopt", "params", "h5", "ckpt", "mem",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """One file to read: where it lies, and its name on the site."""

    path: Path
    name: str


@dataclass(frozen=True)
class Found:
    """What the given paths hold."""

    inputs: tuple[Input, ...]
    problems: tuple[Problem, ...]
    #: Files that are no logs, and may be telemetry of those.
    beside: tuple[Input, ...] = ()


def walk(paths: Sequence[Path]) -> Found:
    """All logs below the paths, sorted by name.

    Raises:
        UsageError: a path does not exist.
    """
    inputs: list[Input] = []
    beside: list[Input] = []
    problems: list[Problem] = []
    for path, label in zip(paths, labels(paths), strict=True):
        if not os.path.lexists(path):
            raise UsageError(f"{path}: no such file or folder; give the folder that holds the logs")
        aside: list[Path] = []
        found = [path] if not path.is_dir() else list(_files(path, label, problems, aside))
        mine = [_input(each, path, label) for each in found]
        beside += [_input(each, path, label) for each in aside]
        if not mine:
            problems.append(Problem("no_logs", label))
        inputs += mine
    return Found(_unique(inputs), tuple(problems), _unique(beside))


def _unique(found: Sequence[Input]) -> tuple[Input, ...]:
    return tuple(sorted({each.path.absolute(): each for each in found}.values(), key=lambda each: each.name))


def labels(paths: Sequence[Path]) -> list[str]:
    """The names under which the given paths are published: their last component, longer where two are alike."""
    parts = [Path(os.path.normpath(each.absolute())).parts for each in paths]
    depth = dict.fromkeys(range(len(parts)), 1)
    while True:
        names = ["/".join(each[-depth[index] :]) for index, each in enumerate(parts)]
        alike = [i for i, name in enumerate(names) if names.count(name) > 1 and depth[i] < len(parts[i])]
        if not alike or len(set(parts)) < len(parts):
            return names
        for index in alike:
            depth[index] += 1


def _input(path: Path, root: Path, label: str) -> Input:
    below = path.relative_to(root).as_posix() if path != root else ""
    name = f"{label}/{below}" if below else label
    return Input(path, name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _files(root: Path, label: str, problems: list[Problem], aside: list[Path]) -> Iterator[Path]:
    """Files that may be logs, in sorted order; links are followed, but into no folder twice."""
    yield from _below(root, root, label, frozenset(), problems, aside)


def _below(
    folder: Path, root: Path, label: str, above: frozenset[tuple[int, int]], problems: list[Problem], aside: list[Path]
) -> Iterator[Path]:
    name = _input(folder, root, label).name
    try:
        at = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
    except OSError as error:
        problems.append(Problem("unreadable", name, args={"cause": error.strerror or "cannot be opened"}))
        return
    if (at.st_dev, at.st_ino) in above:
        problems.append(Problem("link_loop", name))
        return
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.name == FOLDER and (path / SOURCES).is_file():
            continue
        if path.is_dir():  # of a link to itself, os.DirEntry.is_dir raises
            yield from _below(path, root, label, above | {(at.st_dev, at.st_ino)}, problems, aside)
        elif _may_be_log(path):
            yield from _regular(path, _input(path, root, label).name, problems)
        elif path.suffix.lower() in _TELEMETRY and path.name not in COMPANIONS:
            aside.append(path)


def _may_be_log(path: Path) -> bool:
    return path.name not in COMPANIONS and path.suffix.lower() not in NOT_LOGS


def _regular(path: Path, name: str, problems: list[Problem]) -> Iterable[Path]:
    """The path if it is a regular file; a FIFO, a device or a dangling link is a problem and is not opened."""
    try:
        kind = path.stat().st_mode
    except OSError as error:
        problems.append(Problem("unreadable", name, args={"cause": error.strerror or "cannot be opened"}))
        return ()
    if not stat.S_ISREG(kind):
        problems.append(Problem("not_a_file", name))
        return ()
    return (path,)
