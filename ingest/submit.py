"""Pack runs for submission: redacted, hashed and checked. The same runs always give the same files and the same id."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from perfledger import __version__
from perfledger.ingest import accept
from perfledger.ingest.common.errors import UsageError
from perfledger.schema.redaction.names import Names, names_in
from perfledger.schema.redaction.redact import UNREADABLE, redact, redacted_text
from perfledger.schema.run_json import RunJson, told_apart
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
    submitter_of,
)

RUN = "run.json"
#: Most runs that a message names.
_SHOWN = 3


@dataclass(frozen=True)
class Packed:
    """A submission: its files by path below its folder, its manifest among them, and the result of the checks.

    `place` is its folder in the repository. `left_out` says, by the folder of the run, why some runs are not in it.
    """

    place: str
    files: Mapping[str, bytes]
    checks: tuple[SubmissionCheck, ...]
    left_out: Mapping[Path, str]

    @property
    def refused(self) -> bool:
        """Whether a check failed."""
        return any(each.state == "fail" for each in self.checks)


def pack(folders: Sequence[Path], submitter: str) -> Packed:
    """Read, redact and check the runs below some folders, without those that are not submitted.

    Raises:
        UsageError: no run can be submitted, or a file cannot be read.
    """
    if not re.fullmatch(SUBMITTER, submitter):
        raise UsageError(f"--submitter {submitter!r}: give a name of letters, digits and single hyphens, as on GitHub")
    runs = _runs(folders)
    left_out = {run: why for run in runs if (why := _why_left_out(run))}
    originals = _read([run for run in runs if run not in left_out])
    if not originals:
        whys = [f"{run}: {why}" for run, why in left_out.items()]
        more = [f"and {len(whys) - _SHOWN} more"] if len(whys) > _SHOWN else []
        causes = "; ".join([*whys[:_SHOWN], *more])
        raise UsageError(f"none of these runs can be submitted: {causes}. Remedy: run them again on idle machines")
    files = _redacted(originals)
    manifest = _manifest(submitter, originals, files)
    place = f"{RAW_LOGS}/{FOLDER}/{submitter}/{identity({name: each.sha256 for name, each in manifest.files.items()})}"
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    packed = Packed(place, {**files, MANIFEST: text}, (), left_out)
    with tempfile.TemporaryDirectory(prefix="perfledger-submission-") as work:
        redacted, original = Path(work, "redacted", place), Path(work, "original", place)
        _write(redacted, packed.files)
        _write(original, originals)
        # Redaction removes keys from the copy, but others may have read the original.
        keys = accept.keys("keys", original, manifest)
        checks = [keys, *accept.check(redacted), _same_figures(original, redacted)]
    return replace(packed, checks=tuple(checks))


def _manifest(submitter: str, originals: Mapping[str, bytes], files: Mapping[str, bytes]) -> Manifest:
    stated = {
        name: SubmittedFile(
            sha256=_hash(data), bytes=len(data), original="" if data == originals[name] else _hash(originals[name])
        )
        for name, data in sorted(files.items())
    }
    return Manifest(schema=SCHEMA, submitter=submitter, perfledger=__version__, files=stated)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _runs(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of the finished runs below some folders, without runs that were submitted already."""
    found = {path.parent.absolute() for each in folders for path in each.rglob(RUN)}
    runs = sorted(each for each in found if submitter_of(f"{each.as_posix()}/") is None)
    if not runs:
        raise UsageError(f"{', '.join(map(str, folders))}: no {RUN} below; give folders of finished runs")
    return runs


def _why_left_out(run: Path) -> str:
    """Return why a run is not submitted, by its run.json; empty if it is, or if that is not readable."""
    try:
        stated = msgspec.json.decode((run / RUN).read_bytes(), type=RunJson)
    except (OSError, ValueError):  # the checks say what is wrong
        return ""
    if stated.smoke:
        return "is a trial"
    if disturbances := told_apart(stated.warnings or (), stated.disturbances)[1]:
        accepted = ", which counts here, and in no submission" if stated.accept_disturbed else ""
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
                raise UsageError(f"{path}: is larger than {LARGEST_FILE >> 20} MiB; leave it out, or print less often")
            if name in found:
                raise UsageError(f"{path}: another run is called {place} as well; submit them one after the other")
            found[name] = path.read_bytes()
    return found


def _plain(name: str) -> str:
    """Return a name of a folder without the characters that the manifest forbids."""
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
        document = _document(name, data)
        found = redact(document, names)
        return data if found == document else _text(found)
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    plain = [each.encode("utf-8", "replace").decode("utf-8") for each in lines]
    redacted, _ = redacted_text(plain, names)
    if UNREADABLE in redacted and UNREADABLE not in lines:
        raise UsageError(f"{name}: has lines that cannot be searched for names; leave the run out")
    # A line that does not change keeps its bytes.
    kept = [old if same == new else new for old, same, new in zip(lines, plain, redacted, strict=True)]
    return "\n".join(kept).encode("utf-8", "surrogateescape")


def _document(name: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise UsageError(f"{name}: {error}; it is not JSON: repair it, or leave the run out") from None


def _text(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _run_json(place: str, own: Mapping[str, bytes], found: Mapping[str, bytes], names: Names) -> bytes:
    """Return a run.json that states the hashes of redacted files; one that was wrong before stays wrong."""
    data = own[f"{place}/{RUN}"]
    document = _document(f"{place}/{RUN}", data)
    if not isinstance(document, dict) or not isinstance(document.get("files", {}), dict):
        raise UsageError(f"{place}/{RUN}: is not an object with `files`; it does not describe a run")
    made: dict[str, Any] = redact(document, names)
    for name, stated in document.get("files", {}).items():
        before, now = own.get(f"{place}/{name}"), found.get(f"{place}/{name}")
        if before is None or now is None or before == now or stated.get("sha256") != _hash(before):
            continue
        made["files"][name] = {**stated, "sha256": _hash(now), **({"bytes": len(now)} if "bytes" in stated else {})}
    return data if made == document else _text(made)


def _same_figures(original: Path, redacted: Path) -> SubmissionCheck:
    """Fail if the redacted logs give other figures than the original ones."""
    after = {each.path: (each.value, each.unit) for each in accept.figures_of(redacted)}
    before = accept.figures_of(original)
    changed = sorted(each.path for each in before if (each.value, each.unit) != after.get(each.path))
    if not changed:
        return SubmissionCheck("redaction", "pass")
    text = f"it changes the figure of {', '.join(changed)}. Remedy: leave these runs out, and report the line"
    return SubmissionCheck("redaction", "fail", text)


def save(packed: Packed, to: Path) -> Path:
    """Write a submission below a folder, unless it is there already; a file is never replaced.

    Raises:
        UsageError: it cannot be written, or the folder has other files.
    """
    folder = to / packed.place
    try:
        if not folder.exists():
            _write(folder, packed.files)
        elif packed.files != _contents(folder):
            raise UsageError(f"{folder}: is there with other files; move it away, or give --to")
    except OSError as error:
        where = error.filename or folder
        raise UsageError(f"{where}: {error.strerror}; give --to a folder that can be written") from None
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def next_commands(packed: Packed) -> Iterator[str]:
    """Yield the commands that open the pull request, run in a clone of the repository that has the folder."""
    *_, submitter, name = packed.place.split("/")
    yield f"git switch --create submit-{name} origin/main"
    yield f"git add --force {packed.place} && git commit -m 'Results of {submitter}'"
    yield f"git push origin submit-{name}    # to a fork, if you may not write here"
    yield f"gh pr create --title 'Results of {submitter}' --fill    # or on the web"
