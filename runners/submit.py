"""Pack runs for submission: redacted, hashed and checked; the same runs always give the same bytes.

The checks are those of `python -m ingest accept`, by which a pull request is judged, on exactly what is packed.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from perfledger import TOP, __version__
from perfledger.runners.job import RunnerError
from perfledger.runners.record import case_figures
from perfledger.schema.records import RunJson, told_apart
from perfledger.schema.redaction.names import Names, names_in
from perfledger.schema.redaction.redact import UNREADABLE, redact, redacted_text
from perfledger.schema.submission import (
    FOLDER,
    LARGEST_FILE,
    MANIFEST,
    RAW_LOGS,
    SCHEMA,
    SUBMITTER,
    Manifest,
    SubmissionCheck,
    SubmittedFile,
    identity,
)

RUN = "run.json"
#: Runs that a message names.
SHOWN = 3
#: ZIP has no older date; members are stored, since other versions of zlib compress to other bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_PLAIN = 0o100644 << 16


@dataclass(frozen=True)
class Packed:
    """A submission: its files by path below its folder, its manifest, and the result of the checks.

    `left_out` says, by the folder of the run, why some runs are no part of it.
    """

    files: Mapping[str, bytes]
    manifest: Manifest
    checks: tuple[SubmissionCheck, ...]
    left_out: Mapping[Path, str]

    @property
    def refused(self) -> bool:
        """Whether a check failed."""
        return any(each.state == "fail" for each in self.checks)

    @property
    def id(self) -> str:
        """The id by which its folder is named."""
        return identity({name: each.sha256 for name, each in self.manifest.files.items()})

    @property
    def place(self) -> str:
        """Its folder in the repository."""
        return f"{RAW_LOGS}/{FOLDER}/{self.manifest.submitter}/{self.id}"


def pack(folders: Sequence[Path], submitter: str) -> Packed:
    """Read, redact and check the runs below some folders, without those that are not submitted.

    Raises:
        RunnerError: there is no such run, a file cannot be read, or `ingest` cannot be run.
    """
    if not re.fullmatch(SUBMITTER, submitter):
        raise RunnerError(f"--submitter {submitter!r}: give a name of letters, digits and single hyphens, as on GitHub")
    runs = _runs(folders)
    left_out = {run: why for run in runs if (why := _why_left_out(run))}
    originals = _read([run for run in runs if run not in left_out])
    if not originals:
        whys = [f"{run}: {why}" for run, why in left_out.items()]
        more = [f"and {len(whys) - SHOWN} more"] if len(whys) > SHOWN else []
        said = "; ".join([*whys[:SHOWN], *more])
        raise RunnerError(f"none of these runs can be submitted: {said}. Remedy: run them again on idle machines")
    files = _redacted(originals)
    stated = {
        name: SubmittedFile(
            sha256=_hash(data), bytes=len(data), original="" if data == originals[name] else _hash(originals[name])
        )
        for name, data in sorted(files.items())
    }
    manifest = Manifest(schema=SCHEMA, submitter=submitter, perfledger=__version__, files=stated)
    made = Packed(files, manifest, (), left_out)
    with tempfile.TemporaryDirectory(prefix="perfledger-submission-") as work:
        folder = Path(work, made.place)
        _write(folder, made)
        checks = [_keys(originals), *_checked(folder), _same_figures(originals, folder)]
    return replace(made, checks=tuple(checks))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _keys(files: Mapping[str, bytes]) -> SubmissionCheck:
    """Say where keys and passwords stand: redaction takes them out here, but whoever reads the original has them."""
    found = []
    for name, data in files.items():
        lines = data.decode("utf-8", "replace").split("\n")
        found += [f"{name}:{each.line + 1} ({each.rule})" for each in redacted_text(lines)[1] if each.kind == "key"]
    if not found:
        return SubmissionCheck("keys", "pass")
    return SubmissionCheck("keys", "fail", f"{'; '.join(found)}. Remedy: revoke the key, and take it out of the file")


def _runs(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of the finished runs below some folders."""
    runs = sorted({path.parent.absolute() for each in folders for path in each.rglob(RUN)})
    if not runs:
        raise RunnerError(f"{', '.join(map(str, folders))}: no {RUN} below; give folders of finished runs")
    return runs


def _why_left_out(run: Path) -> str:
    """Return why a run is not submitted, by its run.json; empty where it is, or where that is not readable."""
    try:
        stated = msgspec.json.decode((run / RUN).read_bytes(), type=RunJson)
    except (OSError, ValueError):  # the checks say what is wrong
        return ""
    if stated.smoke:
        return "is a trial"
    if disturbances := told_apart(stated.warnings or (), stated.disturbances)[1]:
        accepted = ", which --accept-disturbed accepts here, and no submission does" if stated.accept_disturbed else ""
        return f"was disturbed ({disturbances[0]}){accepted}"
    return "" if stated.outcome in (None, "completed") else f"its outcome is {stated.outcome}"


def _read(runs: Sequence[Path]) -> dict[str, bytes]:
    """Return the files of runs: each run by its last four folders, as `runners` names them."""
    found: dict[str, bytes] = {}
    for run in runs:
        place = "/".join(_plain(each) for each in run.parts[-4:])
        for path in sorted(each for each in run.rglob("*") if each.is_file() and not each.is_symlink()):
            name = f"{place}/{path.relative_to(run).as_posix()}"
            if path.stat().st_size > LARGEST_FILE:
                raise RunnerError(f"{path}: is larger than {LARGEST_FILE >> 20} MiB; leave it out, or print less often")
            if name in found:
                raise RunnerError(f"{path}: another run is called {place} as well; submit them one after the other")
            found[name] = path.read_bytes()
    return found


def _plain(name: str) -> str:
    """Return a name of a folder without what the manifest forbids in it."""
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "-", name).lstrip(".-") or "run"


def _redacted(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files without addresses, paths, and names of hosts and users, and each run.json with their new hashes."""
    done: dict[str, bytes] = {}
    for place in sorted({name.rpartition("/")[0] for name in files if name.endswith(f"/{RUN}")}):
        own = {name: data for name, data in files.items() if name.startswith(f"{place}/")}
        names = names_in(data.decode("utf-8", "replace") for data in own.values())
        found = {name: _without_names(name, data, names) for name, data in own.items() if name != f"{place}/{RUN}"}
        done |= found
        done[f"{place}/{RUN}"] = _run_json(place, own, found, names)
    return done


def _without_names(name: str, data: bytes, names: Names) -> bytes:
    if name.endswith(".json"):
        return _json(name, data, names)
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    found, _ = redacted_text([each.encode("utf-8", "replace").decode("utf-8") for each in lines], names)
    if UNREADABLE in found and UNREADABLE not in lines:
        raise RunnerError(f"{name}: has lines that cannot be searched for names; leave the run out")
    # A line that nothing is taken out of keeps its bytes.
    plain = [each.encode("utf-8", "replace").decode("utf-8") for each in lines]
    kept = [old if same == new else new for old, same, new in zip(lines, plain, found, strict=True)]
    return "\n".join(kept).encode("utf-8", "surrogateescape")


def _json(name: str, data: bytes, names: Names) -> bytes:
    document = _document(name, data)
    found = redact(document, names)
    return data if found == document else _text(found)


def _document(name: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise RunnerError(f"{name}: {error}; it is no JSON: repair it, or leave the run out") from None


def _text(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _run_json(place: str, own: Mapping[str, bytes], found: Mapping[str, bytes], names: Names) -> bytes:
    """Return a run.json that states the hashes of redacted files; one that was wrong before stays wrong."""
    data = own[f"{place}/{RUN}"]
    document = _document(f"{place}/{RUN}", data)
    if not isinstance(document, dict) or not isinstance(document.get("files", {}), dict):
        raise RunnerError(f"{place}/{RUN}: is no object with `files`; it is not of a run")
    made: dict[str, Any] = redact(document, names)
    for name, stated in document.get("files", {}).items():
        before, now = own.get(f"{place}/{name}"), found.get(f"{place}/{name}")
        if before is None or now is None or before == now or stated.get("sha256") != _hash(before):
            continue
        made["files"][name] = {**stated, "sha256": _hash(now), **({"bytes": len(now)} if "bytes" in stated else {})}
    return data if made == document else _text(made)


def _write(folder: Path, packed: Packed) -> None:
    for name, data in {**packed.files, MANIFEST: manifest_text(packed.manifest)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def manifest_text(manifest: Manifest) -> bytes:
    """Return a manifest as it is stored."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def _checked(folder: Path) -> list[SubmissionCheck]:
    words = [sys.executable, "-m", "perfledger.ingest", "accept", "--json", str(folder)]
    done = subprocess.run(words, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        return msgspec.json.decode(done.stdout, type=list[SubmissionCheck])
    except msgspec.DecodeError:
        cause = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"])[-1]
        raise RunnerError(f"the runs cannot be checked, because `python -m ingest accept` fails: {cause}") from None


def _same_figures(originals: Mapping[str, bytes], folder: Path) -> SubmissionCheck:
    """Say whether the redacted logs give the figures of the original ones."""
    with tempfile.TemporaryDirectory(prefix="perfledger-submission-") as work:
        before = Path(work, folder.name)
        for name, data in originals.items():
            (before / name).parent.mkdir(parents=True, exist_ok=True)
            (before / name).write_bytes(data)
        figures = [{each.path: (each.value, each.unit) for each in case_figures(one).runs} for one in (before, folder)]
    changed = sorted(path for path in figures[0] if figures[0][path] != figures[1].get(path))
    if not changed:
        return SubmissionCheck("redaction", "pass")
    remedy = "leave these runs out, and report the line that was taken out"
    return SubmissionCheck(
        "redaction", "fail", f"redaction changes the figure of {', '.join(changed)}. Remedy: {remedy}"
    )


def bundle(packed: Packed) -> bytes:
    """Return the ZIP of a submission, whose members lie where the repository wants them."""
    stream = io.BytesIO()
    members = {**packed.files, MANIFEST: manifest_text(packed.manifest)}
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(members.items()):
            member = zipfile.ZipInfo(f"{packed.place}/{name}", _DATE)
            member.create_system, member.external_attr = 3, _PLAIN
            archive.writestr(member, data)
    return stream.getvalue()


def save(packed: Packed, to: Path) -> Path:
    """Write the ZIP, unless it is there already; another file of its name is never replaced.

    Raises:
        RunnerError: it cannot be written, or another file has its name.
    """
    path, data = to / f"submission-{packed.manifest.submitter}-{packed.id}.zip", bundle(packed)
    try:
        if not to.is_dir():  # mkdir names a file in its place with the error of a bundle that exists
            to.mkdir(parents=True)
        with path.open("xb") as stream:
            stream.write(data)
    except FileExistsError:
        if not to.is_dir():
            raise RunnerError(f"--to {to}: is a file; give a folder") from None
        if path.read_bytes() != data:
            raise RunnerError(f"{path}: another file has this name; move it away, or give --to") from None
    except OSError as error:
        raise RunnerError(f"{path}: {error.strerror}; give --to a folder that can be written") from None
    return path


def by_hand(packed: Packed, path: Path) -> Iterator[str]:
    """Yield the commands that open the pull request, run in a clone of the repository."""
    branch = f"submit-{packed.id}"
    yield f"git switch --create {branch} origin/main"
    yield f"python -m zipfile -e {path.absolute()} ."
    yield f"git add {packed.place} && git commit -m 'Results of {packed.manifest.submitter}'"
    yield f"git push origin {branch}    # to a fork, if you may not write here"
    yield f"gh pr create --head {branch} --title 'Results of {packed.manifest.submitter}'    # or on the web"


def login() -> str | None:
    """Return the name of the user that `gh` is authenticated as; None without it."""
    try:
        done = subprocess.run(
            ["gh", "api", "user", "--jq", ".login"], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None if done.returncode == 0 else None


def open_pull_request(packed: Packed, repository: Path, remote: str, base: str) -> str:
    """Push a branch with the submission, and open the pull request by `gh`; return its address.

    The branch is made in a work tree of its own, so that the user's stays as it is.

    Raises:
        RunnerError: git or gh refuses.
    """
    branch, title = f"submit-{packed.id}", f"Results of {packed.manifest.submitter}"
    with tempfile.TemporaryDirectory(prefix="perfledger-submission-") as work:
        tree = Path(work, "tree")
        _told(["git", "fetch", remote, base], repository)
        _told(["git", "worktree", "add", "-b", branch, str(tree), "FETCH_HEAD"], repository)
        try:
            if (tree / packed.place).exists():
                raise RunnerError(f"{packed.place}: is in {base} already; there is nothing to submit")
            _write(tree / packed.place, packed)
            _told(["git", "add", "--force", packed.place], tree)
            _told(["git", "commit", "-m", title], tree)
            _told(["git", "push", remote, branch], tree)
            body = "\n".join(f"- {each.name}: {each.state} {each.text}".rstrip() for each in packed.checks)
            words = ["gh", "pr", "create", "--base", base, "--head", branch, "--title", title, "--body", body]
            return _told(words, tree).strip()
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], cwd=repository, capture_output=True, check=False
            )
            subprocess.run(["git", "branch", "-D", branch], cwd=repository, capture_output=True, check=False)


def _told(words: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise RunnerError(f"{words[0]}: {error.strerror}; the bundle is written: send it by hand") from None
    if done.returncode:
        cause = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no cause given"])[-1]
        raise RunnerError(f"`{' '.join(words[:3])}` fails: {cause}; the bundle is written: send it by hand")
    return done.stdout.decode("utf-8", "replace")
