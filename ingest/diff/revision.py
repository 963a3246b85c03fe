"""Read the ledger as it is in a folder, and as git has it at a revision. No log is read.

Lines that an earlier version wrote may lack keys, which then have their defaults; unknown keys are ignored.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import ValidationError
from msgspec.structs import replace

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.record.store import FOLDER, FORMS, LINES, FolderStore, lines_of
from perfledger.schema.records import Run, from_text

_PUBLISHED = "published.csv"


@dataclass(frozen=True)
class RecordedState:
    """One side of a comparison: the ledger's runs, and the rows of figures that others published."""

    runs: tuple[Run, ...]
    published: tuple[bytes, ...]


@dataclass(frozen=True)
class Commit:
    """A revision as the user named it, the commit that it is, and that commit's day."""

    rev: str
    hash: str
    day: str


def here(out: Path) -> RecordedState:
    """Return the ledger and the published figures below `out`.

    Raises:
        UsageError: the ledger is missing or damaged.
    """
    return _state(_files(out), f"{out / FOLDER}/")


def at(rev: str, out: Path) -> tuple[Commit, RecordedState]:
    """Return the commit that `rev` names, and its ledger below `out`.

    Raises:
        UsageError: git, the repository, the revision or its ledger is missing.
    """
    _files(out)
    folder = (out / FOLDER).parent
    _git(folder, "rev-parse", "--show-toplevel")
    commit = _commit(rev, folder)
    files = _blobs(folder, commit)
    if not any(map(_is_ledger, files)):
        raise UsageError(f"diff {rev}: that revision holds no {out / FOLDER}/*{LINES}; name one that has pages")
    return commit, _state(files, f"{rev}:{out / FOLDER}/")


def _files(out: Path) -> dict[str, bytes]:
    """Return the files below `out/data` by name."""
    folder = out / FOLDER
    place = FolderStore(out)
    found = {f"{FOLDER.name}/{name}": place.get(name) or b"" for name in place.names()}
    if not found:
        raise UsageError(f"diff: {folder}/ holds no ledger; run python -m ingest raw_logs/ first, or name it by --out")
    table = folder.parent / _PUBLISHED
    return found | ({_PUBLISHED: table.read_bytes()} if table.is_file() else {})


def _commit(rev: str, folder: Path) -> Commit:
    # Git would take a name that begins with a dash as an option.
    arguments = ["rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}"]
    found = None if rev.startswith("-") or not rev.strip() else _called(folder, *arguments)
    if found is None or found.returncode:
        shallow = _called(folder, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        why = "this clone is shallow and does not hold it" if shallow else "git knows no such revision"
        remedy = "git fetch --unshallow origin" if shallow else "git fetch origin main"
        raise UsageError(f"diff {rev}: {why}; fetch it, for example by {remedy}, or name another")
    name = found.stdout.decode().strip()
    day = _git(folder, "show", "--no-patch", "--format=%cs", name).decode().strip()
    return Commit(rev, name, day)


def _blobs(folder: Path, commit: Commit) -> dict[str, bytes]:
    """Return the files that git has below the folder, with two calls however many there are."""
    listing = _git(folder, "ls-tree", "-r", "-z", commit.hash, "--", FOLDER.name, _PUBLISHED)
    entries = [each.split(b"\t", 1) for each in listing.split(b"\0") if each]
    names = {name.decode("utf-8", "replace"): about.split()[2] for about, name in entries if b" blob " in about}
    wanted = {name: blob for name, blob in names.items() if _is_ledger(name) or name == _PUBLISHED}
    if not wanted:
        return {}
    answer = _git(folder, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob in wanted.values()))
    return dict(zip(wanted, _contents(answer, len(wanted)), strict=True))


def _contents(answer: bytes, count: int) -> list[bytes]:
    """Split the output of `git cat-file --batch`: before each object is a line that ends in its size."""
    found, start = [], 0
    for _ in range(count):
        begin = answer.index(b"\n", start) + 1
        size = int(answer[start:begin].split()[-1])
        found.append(answer[begin : begin + size])
        start = begin + size + 1
    return found


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    done = _called(folder, *arguments, given=given)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(
            f"diff: git cannot read the history of {folder} ({said[0] if said else 'it says nothing'}); "
            "the ledger must lie in a clone of its repository"
        )
    return done.stdout


def _called(folder: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(folder), *arguments], input=given, capture_output=True, check=False)
    except FileNotFoundError:
        raise UsageError("diff needs git, which is not installed here or not on the PATH; install it") from None


def _state(files: Mapping[str, bytes], where: str) -> RecordedState:
    ledger = {name: data for name, data in files.items() if _is_ledger(name)}
    runs = [run for name, data in ledger.items() for run in _runs(name, data, where + name.partition("/")[2])]
    return RecordedState(tuple(runs), tuple(files.get(_PUBLISHED, b"").splitlines()[1:]))


def _is_ledger(name: str) -> bool:
    return name.endswith(FORMS)


def _runs(name: str, data: bytes, where: str) -> list[Run]:
    try:
        lines = lines_of(name, data)
    except ValueError as error:
        raise UsageError(f"{where}: {error}; run python -m ingest raw_logs/ again") from None
    return [_run(each, f"{where}:{number}") for number, each in enumerate(lines, 1) if each.strip()]


def _run(written: bytes, where: str) -> Run:
    try:
        run = from_text(written, Run)
    except ValidationError as error:
        raise UsageError(f"{where}: is no line of a ledger ({error}); run python -m ingest raw_logs/ again") from None
    except ValueError as error:
        raise UsageError(f"{where}: is not JSON ({error}); run python -m ingest raw_logs/ again") from None
    # A problem that an earlier version wrote may lack its place.
    problems = (each if each.path else replace(each, path=run.path) for each in run.problems)
    return replace(run, problems=tuple(problems))
