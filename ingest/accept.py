"""Check a submission: the files in its folder, and the other files that its pull request touches.

Everything in it is data of a stranger: it is read and hashed, but never run. `submit` prints the same checks before it
packs, so that a submitter learns of faults in time.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from perfledger.ingest.check_secrets import found_in
from perfledger.ingest.common.documents import cause, read_bytes
from perfledger.ingest.common.errors import UsageError, one_line
from perfledger.ingest.common.files import file_hash
from perfledger.parsers.engine.scan import ScanError
from perfledger.schema.figures import RunFigure
from perfledger.schema.records import Run, from_text
from perfledger.schema.run_json import RunJson
from perfledger.schema.submission import (
    FOLDER,
    ID,
    LARGEST,
    LARGEST_FILE,
    MANIFEST,
    MOST_FILES,
    PATH,
    RAW_LOGS,
    SUBMITTER,
    Manifest,
    SubmissionCheck,
    identity,
)
from perfledger.schema.vocabulary import NEEDED

_SUBMISSION = re.compile(rf"{RAW_LOGS}/{FOLDER}/{SUBMITTER}/{ID}/.+", re.DOTALL)
_PLAIN_FILE = "100644"
#: Names the author of the pull request; the workflow sets it.
AUTHOR_VARIABLE = "PULL_REQUEST_AUTHOR"
#: Causes that one line names, at most.
_SHOWN = 5


def check(folder: Path) -> list[SubmissionCheck]:
    """Return the checklist of one submission; if a file differs from the manifest, only the files are checked.

    Raises:
        UsageError: the folder has no manifest that can be read.
    """
    from perfledger.ingest import build as builder

    manifest = _manifest(folder)
    found = [_line("files", _wrong_files(folder, manifest), "only the files of the manifest, with its hashes")]
    if found[0].state == "fail":
        return found
    documents = dict(_run_jsons(folder, manifest))
    texts = {name: each for name, each in documents.items() if isinstance(each, str)}
    runs = {name: each for name, each in documents.items() if isinstance(each, RunJson)}
    read = builder.read(builder.Inputs((folder,))).ledger.runs
    return [
        *found,
        _line("run.json", [*texts.values(), *_incomplete(runs)], "state what is missing, or run it with `runners run`"),
        _line("figures", _without_figure(read), "submit only runs that have a figure by `python -m ingest figures`"),
        keys("secrets", folder, manifest),
        _line("names", _secrets(folder, manifest, keys=False), "pack it with `python -m ingest submit`"),
        _line("disturbed", _disturbed(read), "leave these runs out, and repeat them on idle machines"),
        _line("round", _without_round(runs), "name one with `runners run --round 2026Q4`", "warn"),
    ]


def in_pull_request(head: Path, base: str) -> list[tuple[str, list[SubmissionCheck]]]:
    """Return the checklists of the submissions that a checkout adds to a revision; empty if it does not touch any.

    Raises:
        UsageError: git cannot compare them.
    """
    changed = list(_changed(head, base))
    folders = sorted({"/".join(path.split("/")[:4]) for path, *_ in changed if _SUBMISSION.fullmatch(path)})
    if not folders and not any(path.startswith(f"{RAW_LOGS}/{FOLDER}/") for path, *_ in changed):
        return []
    wrong = [f"{path}: {why}" for path, status, mode in changed if (why := _not_new(path, status, mode))]
    touched = _line("pull request", wrong, "add new files below one folder of raw_logs/submitted/ only")
    return [
        ("pull request", [touched, _author(folders)]),
        *((each, _checked(head / each)) for each in folders if touched.state == "pass"),
    ]


def _author(folders: Sequence[str]) -> SubmissionCheck:
    """Compare the submitters, as the folders name them, with the author of the pull request."""
    login = os.environ.get(AUTHOR_VARIABLE, "")
    if not login:
        text = f"the submitter was not compared with the author of the pull request: {AUTHOR_VARIABLE} is not set"
        return SubmissionCheck("author", "warn", text)
    # GitHub takes two spellings of a login as the same one if they differ in case only.
    others = [each for each in folders if each.split("/")[2].lower() != login.lower()]
    return _line("author", [f"{each}: the author is {login}" for each in others], f"pack with `--submitter {login}`")


def bring(head: Path, folders: Sequence[str], to: Path) -> None:
    """Copy the files of accepted submissions into another checkout, for a preview.

    Raises:
        UsageError: a file is there already, or cannot be written.
    """
    try:
        for each in folders:
            shutil.copytree(head / each, to / each, symlinks=True)
    except OSError as error:
        raise UsageError(f"{error.filename or to}: {error.strerror}; give a checkout of the target branch") from None


def _checked(folder: Path) -> list[SubmissionCheck]:
    try:
        return check(folder)
    except UsageError as error:
        return [SubmissionCheck("manifest", "fail", str(error))]


def _changed(head: Path, base: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, status and mode of each file that a checkout changes; git runs no filter or driver for that."""
    words = ["git", "-C", str(head), "diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]
    done = subprocess.run([*words, f"{base}...HEAD", "--"], capture_output=True, check=False)
    if done.returncode:
        cause = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git printed no cause"])[-1]
        raise UsageError(f"{head}: git cannot compare it with {base}: {cause}")
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    for entry, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, _, status = entry.split(" ")
        yield path, status, mode


def _not_new(path: str, status: str, mode: str) -> str:
    if not _SUBMISSION.fullmatch(path):
        return "lies elsewhere"
    if status != "A":
        return "changes or removes a file that is there"
    return "" if mode == _PLAIN_FILE else "is not a plain file"


def _line(name: str, wrong: Sequence[str], remedy: str, otherwise: Literal["warn", "fail"] = "fail") -> SubmissionCheck:
    if not wrong:
        return SubmissionCheck(name, "pass")
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    shown = "; ".join(each.rstrip(".") for each in wrong[:_SHOWN])
    return SubmissionCheck(name, otherwise, f"{shown}{more}. Remedy: {remedy}")


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        if path.is_symlink():
            raise UsageError(f"{path}: is a link; pack the runs with `python -m ingest submit`")
        return from_text(read_bytes(path, LARGEST_FILE), Manifest)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {cause(error)}; pack the runs with `python -m ingest submit`") from None


def _wrong_files(folder: Path, manifest: Manifest) -> list[str]:
    names = [manifest.submitter, _id(manifest)]
    wrong = [] if list(folder.absolute().parts[-2:]) == names else [f"the folder is not {FOLDER}/{'/'.join(names)}"]
    there = {each: mode for each, mode in _files(folder) if each != MANIFEST}
    wrong += [f"{name}: is not in the manifest" for name in sorted(there.keys() - manifest.files.keys())]
    wrong += [f"{name}: is missing" for name in sorted(manifest.files.keys() - there.keys())]
    wrong += [
        f"{name}: has a name that is not permitted" for name in sorted(manifest.files) if not PATH.fullmatch(name)
    ]
    wrong += [f"{name}: is not a plain file" for name, mode in sorted(there.items()) if not stat.S_ISREG(mode)]
    if len(there) > MOST_FILES or sum(each.bytes for each in manifest.files.values()) > LARGEST:
        wrong.append(f"more than {MOST_FILES} files or {LARGEST >> 20} MiB")
    wrong += [
        f"{name}: is larger than {LARGEST_FILE >> 20} MiB"
        for name, e in manifest.files.items()
        if e.bytes > LARGEST_FILE
    ]
    return wrong or [f"{name}: {why}" for name in sorted(manifest.files) if (why := _altered(folder, manifest, name))]


def _id(manifest: Manifest) -> str:
    return identity({name: each.sha256 for name, each in manifest.files.items()})


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield path and mode of all that lies in a folder; links are not followed."""
    for top, folders, names in os.walk(folder):
        links = [each for each in folders if Path(top, each).is_symlink()]
        for name in (*names, *links):
            path = Path(top, name)
            yield path.relative_to(folder).as_posix(), path.lstat().st_mode


def _altered(folder: Path, manifest: Manifest, name: str) -> str:
    path, stated = folder / name, manifest.files[name]
    if (size := path.stat().st_size) != stated.bytes:
        return f"has {size} bytes, {stated.bytes} in the manifest"
    return "" if file_hash(path) == stated.sha256 else "has another hash than in the manifest"


def _run_jsons(folder: Path, manifest: Manifest) -> Iterator[tuple[str, RunJson | str]]:
    """Yield each run.json, or what is wrong with it; a log without one is wrong, too."""
    found = [name for name in manifest.files if name.rpartition("/")[2] == "run.json"]
    if not found:
        yield "", "run.json is missing"
    for name in sorted(found):
        try:
            yield name, from_text(read_bytes(folder / name), RunJson)
        except (OSError, ValueError) as error:
            yield name, f"{name}: {cause(error)}"


def _incomplete(runs: dict[str, RunJson]) -> Iterator[str]:
    for name, run in runs.items():
        lacking = [f"case.{each}" for each in NEEDED if getattr(run.case, each, msgspec.UNSET) is msgspec.UNSET]
        lacking += [key for key in ("outcome", "start", "argv", "environment", "files") if not getattr(run, key)]
        if lacking:
            yield f"{name}: does not state {', '.join(lacking)}"
        if run.outcome not in ("completed", None):
            yield f"{name}: the outcome is {run.outcome}"


def _disturbed(runs: Sequence[Run]) -> list[str]:
    found = [f"{each.path}: {each.disturbances[0]}" for each in runs if each.disturbances]
    return found + [f"{each.path}: is a trial" for each in runs if each.outcome == "trial"]


def _without_round(runs: dict[str, RunJson]) -> list[str]:
    return [f"{name}: names no round" for name, run in runs.items() if not run.round]


def keys(name: str, folder: Path, manifest: Manifest) -> SubmissionCheck:
    """Fail if files contain keys or passwords."""
    return _line(name, _secrets(folder, manifest, keys=True), "revoke the key, and take it out of the file")


def figures_of(folder: Path) -> tuple[RunFigure, ...]:
    """Return the figure of each run below a folder."""
    from perfledger.ingest import build as builder
    from perfledger.ingest import figures

    return figures.of_runs(builder.read(builder.Inputs((folder,))).ledger.runs).runs


def _without_figure(runs: Sequence[Run]) -> list[str]:
    """Return the reasons why runs have no figure."""
    from perfledger.ingest import figures

    found = [f"{each.path}: {each.reason}" for each in figures.of_runs(runs).runs if each.reason]
    return found if runs else ["a log is missing"]


def _secrets(folder: Path, manifest: Manifest, *, keys: bool) -> list[str]:
    """Return the places of keys, or of everything else to redact; never the text itself."""
    found = []
    for name in sorted(manifest.files):
        try:
            wanted = (each for each in found_in(folder / name) if (each.kind == "key") == keys)
            found += [f"{name}:{each.line}: {each.kind} ({each.rule})" for each in wanted]
        except (OSError, EOFError, ValueError, ScanError):
            found.append(f"{name}: cannot be read")
    return found


def table(checks: Sequence[SubmissionCheck]) -> str:
    """Return a line per check; a line break in the name of a file is spelled out."""
    lines = (f"[{each.state}] {each.name}{': ' if each.text else ''}{each.text}" for each in checks)
    return "\n".join(map(one_line, lines))
