"""Find the logs below the given paths, and the name under which each is published.

A name is the path below the given one with that one's own name in front, so that no page names the machine's folders.
A folder with a run.json is one run: its logs lie directly in it, and what lies below is of its ranks and further
machines. A folder with a launch.json and no run.json is a run that was not collected yet; it is not read.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from perfledger.ingest.common.documents import head
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import absolute
from perfledger.ingest.common.sources import DEEPEST
from perfledger.ingest.read.plans import is_plans
from perfledger.ingest.read.run_json import NAME as RUN_JSON
from perfledger.parsers.engine.unpack import plain_name
from perfledger.schema.records import FactValue, Problem
from perfledger.schema.submission import MANIFEST

#: The layout that a folder of logs carries itself.
LAYOUT_FILE = "layout.toml"
#: The folder of published figures; it contains no logs.
PUBLISHED_FOLDER = "published"
#: The file that marks it.
SOURCES = "sources.toml"
#: Files in folders of logs that are not logs.
COMPANIONS = frozenset({RUN_JSON, "launch.json", "environment.json", "expected.csv", MANIFEST})
#: The document of a run, and the schema that it names: other programs have files of this name, too.
_RUN = (RUN_JSON, b'"perfledger.run/')
#: The same of a run that was not collected yet.
_LAUNCH = ("launch.json", b'"perfledger.launch/')
#: Words in the names of logs, and names of other files next to logs in every repository.
_LOG_WORD = re.compile(r"(?:^|[^a-z])(?:log|logs|workerlog|txt|out|err|jsonl|stdout|stderr|nohup)(?:[^a-z]|$)", re.I)
_DOCUMENT = re.compile(
    r"(?:licen[cs]e|readme|notice|copying|authors|contributors|contributing|change(?:s|log)|requirements|citation|version"
    r"|news|history|install|todo|patents|makefile|dockerfile)(?:[^a-z].*)?",
    re.I,
)
#: Endings of logs that text for people has as well.
_PROSE = frozenset({"", ".txt"})
#: Folders of a run whose files are gathered before they are checked.
_INCOMING = "incoming"
_HEAD = 1 << 16
#: Not logs, and perhaps telemetry of the logs next to them.
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
    """One file to read: its path, and its name on the site.

    `run` is the folder of the run that a file belongs to, if it is below that. For a log, `parts` are the other
    files of its run: recordings next to it, and files that its ranks and further machines left. `beside` are files
    that state facts about it by the layout, whether they exist or not. `asked` is True if the user named the file
    itself, not a folder that contains it. `stated` are the facts that the reader states about it, by name.
    """

    path: Path
    name: str
    run: Path | None = None
    parts: tuple[Path, ...] = ()
    asked: bool = False
    beside: tuple[Path, ...] = ()
    stated: tuple[tuple[str, FactValue], ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the run, or else the folder of the file."""
        return self.run or self.path.parent

    @cached_property
    def run_json(self) -> Path:
        """The path of the document of its run, if there is one."""
        return self.path.with_name(RUN_JSON)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that a log's line depends on; not all need exist."""
        return (self.path, self.run_json, *self.parts, *self.beside)


@dataclass(frozen=True)
class FoundFiles:
    """The contents of the given paths."""

    inputs: tuple[Input, ...]
    problems: tuple[Problem, ...]
    #: Files that are not logs, and may be telemetry of those.
    beside: tuple[Input, ...] = ()
    #: Layouts that folders carry themselves.
    layouts: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Walk:
    """The files found below one given path."""

    root: Path
    label: str
    logs: list[Input] = field(default_factory=list)
    beside: list[Input] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Folders that are one run; links to folders that were not followed yet; the folders entered, by device and inode.
    runs: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    layouts: list[Path] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """Return the name under which a path is published."""
        below = path.relative_to(self.root).as_posix() if path != self.root else ""
        name = f"{self.label}/{below}" if below else self.label
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def walk(paths: Sequence[Path], names: Sequence[str] | None = None) -> FoundFiles:
    """Return all logs below the paths, sorted by name.

    Args:
        paths: files and folders.
        names: under which each is published; if None, `labels` of the paths.

    Raises:
        UsageError: a path does not exist.
    """
    walks = [_walked(path, label) for path, label in zip(paths, names or labels(paths), strict=True)]
    inputs, beside = ([each for walk in walks for each in getattr(walk, of)] for of in ("logs", "beside"))
    problems, layouts = (tuple(each for walk in walks for each in getattr(walk, of)) for of in ("problems", "layouts"))
    return FoundFiles(_unique(inputs), problems, _unique(beside), layouts)


def refuse_missing(path: Path) -> None:
    """Raise UsageError for a path that does not exist."""
    if not os.path.lexists(path):
        raise UsageError(f"{path}: no such file or folder; give the folder that holds the logs")


def _walked(path: Path, label: str) -> _Walk:
    refuse_missing(path)
    found = _Walk(path, label)
    if _is_folder(path):
        _below(found, path)
        for link in found.links:  # which grows meanwhile
            _below(found, link)
        found.problems.extend(_without_log(found))
    else:
        parts = tuple(_parts(_Walk(path.parent, ""), path.parent)) if _is_ours(path.parent, *_RUN) else ()
        found.logs.append(Input(path, found.name(path), parts=parts, asked=True))
    if not found.logs and not any(each.code == "unfinished" for each in found.problems):
        found.problems.append(Problem("no_logs", label))
    return found


def _without_log(walk: _Walk) -> Iterator[Problem]:
    """Yield a problem for each run without a log in its folder or below."""
    folders = {each.path.parent for each in walk.logs} if walk.runs else set[Path]()
    holding = {folder for each in folders for folder in (each, *each.parents)}
    for folder in walk.runs:
        if folder not in holding:
            yield Problem("no_log_of_run", walk.name(folder / _RUN[0]))


def _unique(found: Sequence[Input]) -> tuple[Input, ...]:
    return tuple(sorted({absolute(each.path): each for each in found}.values(), key=lambda each: each.name))


def labels(paths: Sequence[Path]) -> list[str]:
    """Return the names under which the given paths are published: their last component, longer if two are alike."""
    parts = [Path(os.path.normpath(each.absolute())).parts for each in paths]
    depth = dict.fromkeys(range(len(parts)), 1)
    while True:
        names = ["/".join(each[-depth[index] :]) for index, each in enumerate(parts)]
        alike = [i for i, name in enumerate(names) if names.count(name) > 1 and depth[i] < len(parts[i])]
        if not alike or len(set(parts)) < len(parts):
            return names
        for index in alike:
            depth[index] += 1


def _below(walk: _Walk, folder: Path) -> None:
    """Collect files that may be logs, in sorted order; linked folders are left for later, when all others are known."""
    entries = _entries(walk, folder, walk.seen)
    names = {each.name for each in entries}
    run = _is_run(folder, entries)
    if _LAUNCH[0] in names and _RUN[0] not in names and _is_ours(folder, *_LAUNCH):
        name = walk.name(folder)
        walk.problems.append(Problem("unfinished", name, args={"folder": shlex.quote(name)}))
        return
    parts = tuple(_parts(walk, folder)) if run else ()
    for path in entries:
        if _is_folder(path):
            if run and not (_is_ours(path, *_RUN) or _is_ours(path, *_LAUNCH)):
                continue
            if path.is_symlink():
                walk.links.append(path)
            else:
                _below(walk, path)
        elif path.name == LAYOUT_FILE:
            walk.layouts.extend(_regular(walk, path))
        elif may_be_log(path):
            walk.logs.extend(Input(each, walk.name(each), parts=parts) for each in _regular(walk, path))
        elif may_be_telemetry(path):
            walk.beside.append(Input(path, walk.name(path)))
    further = (each for each in parts if each.parent != folder and may_be_telemetry(each))
    walk.beside.extend(Input(each, walk.name(each), folder) for each in further)
    walk.runs.extend([folder] if run else [])


def _entries(walk: _Walk, folder: Path, seen: set[tuple[int, int]]) -> list[Path]:
    """Return the entries of a folder to look at, sorted; none of one that was entered before or lies too deep.

    A link to a folder around it is a problem; one to another folder, such as `latest-run` of Weights & Biases, is not.
    """
    try:
        if len(folder.parts) - len(walk.root.parts) > DEEPEST:
            raise OSError(0, f"it is more than {DEEPEST} folders deep")
        at = folder.stat()
        names = sorted(each.name for each in os.scandir(folder))
    except OSError as error:
        cause = error.strerror or "cannot be opened"
        walk.problems.append(Problem("unreadable", walk.name(folder), args={"cause": cause}))
        return []
    if (at.st_dev, at.st_ino) in seen:
        if folder.parent.resolve().is_relative_to(folder.resolve()):
            walk.problems.append(Problem("link_loop", walk.name(folder)))
        return []
    seen.add((at.st_dev, at.st_ino))
    paths = [folder / each for each in names if not each.startswith(".") and each != "__pycache__"]
    return [each for each in paths if not (_is_published(each) or is_plans(each))]


def _is_published(folder: Path) -> bool:
    return folder.name == PUBLISHED_FOLDER and os.path.lexists(folder / SOURCES)


def _parts(walk: _Walk, folder: Path) -> list[Path]:
    """Return all files of a run except its own possible logs; a folder that is a run itself is not a part."""
    seen: set[tuple[int, int]] = set()
    folders, links, found = [folder], list[Path](), list[Path]()
    while folders or links:
        top = (folders or links).pop()
        for path in _entries(walk, top, seen):
            own = top == folder
            if _is_folder(path):
                if not (own and path.name == _INCOMING) and not _is_ours(path, *_RUN):
                    (links if path.is_symlink() else folders).append(path)
            elif not (own and (path.name == _RUN[0] or may_be_log(path))):
                found.append(path)
    return sorted(found, key=lambda each: each.parts)


def _is_run(folder: Path, entries: Sequence[Path]) -> bool:
    """Return whether a folder is one run; its document is opened only if the answer matters, since there are many."""
    if not any(each.name == _RUN[0] for each in entries):
        return False
    flat = not any(map(_is_folder, entries)) and any(map(may_be_log, entries))
    return flat or _is_ours(folder, *_RUN)


def _is_ours(folder: Path, name: str, schema: bytes) -> bool:
    """Return whether a folder contains a document of ours, which says so near its beginning."""
    return schema in head(folder / name, _HEAD)


def may_be_telemetry(path: Path) -> bool:
    """Return whether a file may be telemetry, by its name."""
    return path.suffix.lower() in _TELEMETRY and path.name not in COMPANIONS


def may_be_log(path: Path) -> bool:
    """Return whether a file may be a log, by its name."""
    return path.name not in COMPANIONS and path.suffix.lower() not in NOT_LOGS


def named_like_log(path: Path) -> bool:
    """Return whether a file's name says that it is a log: `train.log`, `workerlog.0`, `slurm-1.out`, not `LICENSE`.

    Nor does the name of an event file of TensorBoard say so: it may contain evaluations or images alone.
    """
    name = plain_name(path.name)
    document = Path(name).suffix.lower() in _PROSE and _DOCUMENT.fullmatch(name)
    return bool(_LOG_WORD.search(name)) and not document and "tfevents" not in name


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # the path is too long: it is a problem as a file
        return False


def _regular(walk: _Walk, path: Path) -> Iterable[Path]:
    """Return the path if it is a regular file; a FIFO, a device or a dangling link is a problem and is not opened."""
    try:
        kind = path.stat().st_mode
    except OSError as error:
        cause = error.strerror or "cannot be opened"
        walk.problems.append(Problem("unreadable", walk.name(path), args={"cause": cause}))
        return ()
    if not stat.S_ISREG(kind):
        walk.problems.append(Problem("not_a_file", walk.name(path)))
        return ()
    return (path,)
