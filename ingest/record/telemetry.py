"""Telemetry of a run: which files next to logs are telemetry, and the run of each file.

A file is recognised by its content, whatever its name. It belongs to the log that it is named after, or else to the
only log of its folder that trained; if neither applies, it is a problem and gives no figure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.files import is_as_stated
from perfledger.ingest.compute import energy
from perfledger.ingest.compute.peaks import SLICE
from perfledger.ingest.compute.telemetry_figures import completed, figures, seconds_of, side_by_side, within
from perfledger.ingest.read import run_json
from perfledger.ingest.read.walk import Input
from perfledger.parsers.contract.telemetry import Fault, Recording
from perfledger.parsers.engine.registry import telemetry_by_id
from perfledger.parsers.engine.scan import ScanError, check
from perfledger.parsers.engine.telemetry import claimant, read_telemetry, unread_samples
from perfledger.parsers.engine.unpack import plain_name
from perfledger.schema.machine import Sampled, Telemetry, TelemetryFile
from perfledger.schema.records import MetricFigure, Problem, Run, text_of
from perfledger.schema.redaction.redact import redact_record
from perfledger.schema.run_json import StatedFile
from perfledger.schema.vocabulary import METRICS

#: The name that our own runs give it; a file of that name that is not understood is a problem.
NAME = "telemetry.csv"
_LOG_ENDING = re.compile(r"(?:\.(?:log|txt|out|err|csv|mem|dmon|smi|dat))+$", re.IGNORECASE)
#: Names of programs that sample devices, anywhere in the name of a file.
_OF_DEVICES = re.compile(r"(?:^|[._-])(?:gpus?|nvidia|nvsmi|smi|dmon|dcgmi?)(?=[._-])", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    """A file that is telemetry, and the id of its format."""

    given: Input
    format_id: str


@dataclass(frozen=True)
class Sorted:
    """Files that may be logs, files that are telemetry, and what is wrong."""

    logs: list[Input] = field(default_factory=list)
    telemetry: list[File] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def sort_out(inputs: Sequence[Input], beside: Sequence[Input]) -> Sorted:
    """Separate telemetry from logs.

    Args:
        inputs: files that may be logs.
        beside: files that are not logs by their names, and may be telemetry.
    """
    found = Sorted()
    for number, each in enumerate((*inputs, *beside)):
        kind = guarded(each.name, each.path, partial(claimant, each.path))
        if isinstance(kind, Problem):
            found.problems.append(kind)
        elif kind:
            found.telemetry.append(File(each, kind))
        elif number < len(inputs):
            found.logs.append(each)
        else:
            found.problems.extend(_unknown(each))
    folders = {each.folder for each in found.logs}
    found.problems.extend(_unassigned(each, 0) for each in found.telemetry if each.given.folder not in folders)
    return found


def _unassigned(file: File, runs: int) -> Problem:
    return Problem("telemetry_unassigned", file.given.name, args={"runs": runs})


def _unknown(given: Input) -> Iterator[Problem]:
    """Yield the problem of a file that is named like telemetry, or contains samples, and is not understood."""
    line = unread_samples(given.path, named=bool(_OF_DEVICES.search(given.path.name)))
    if line or given.path.name == NAME:
        yield _not_understood(given, line)


def _not_understood(given: Input, line: int) -> Problem:
    try:
        check(given.path)
        with given.path.open("rb") as stream:
            stream.read(1)
    except ScanError as error:
        code = "telemetry_unknown" if error.code == "empty" else error.code
        return Problem(code, given.name, args=error.details)
    except OSError as error:
        return Problem("unreadable", given.name, args={"cause": error.strerror or "cannot be opened"})
    return Problem("telemetry_unknown", given.name, line)


def stem(name: str) -> str:
    """Return a file's name without its endings: `case.log.gz` and `case.mem` are both `case`."""
    return _LOG_ENDING.sub("", plain_name(name))


@dataclass
class _RunData:
    """A run, the telemetry that belongs to it, and problems of telemetry."""

    given: Input
    run: Run
    files: list[File] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class _Source:
    """A file and its samples."""

    file: File
    recording: Recording


def attach(logs: Sequence[tuple[Input, list[Run]]], files: Sequence[File], hashes: Mapping[str, str]) -> list[Run]:
    """Return the runs with the telemetry of their folders, and with problems of its files.

    Args:
        logs: every log with its runs.
        files: telemetry of the same folders.
        hashes: SHA-256 by name of a file.
    """
    data = [[_RunData(given, run) for run in runs] for given, runs in logs]
    by_folder, by_name = defaultdict[Path, list[_RunData]](list), defaultdict[tuple[Path, str], list[int]](list)
    for at, (given, _) in enumerate(logs):
        by_folder[given.folder] += data[at]
        by_name[given.folder, stem(given.path.name)].append(at)
    for file in files:
        folder = file.given.folder
        named = by_name.get((folder, stem(file.given.path.name)), [])
        is_named = len(named) == 1
        runs = data[named[0]] if is_named else by_folder[folder]
        owner = _owner(runs) if is_named or not telemetry_by_id(file.format_id).peaks else None
        if owner:
            owner.files.append(file)
        for each in () if owner else runs:
            each.problems.append(_unassigned(file, len(runs)))
    return [_with_telemetry(each, hashes) for runs in data for each in runs]


def _owner(runs: Sequence[_RunData]) -> _RunData | None:
    """Return the only run that trained, else the only one that is understood, else the only one."""
    understood = [each for each in runs if each.run.format]
    trained = [each for each in understood if each.run.observations]
    return next((some[0] for some in (trained, understood, runs) if len(some) == 1), None)


def _with_telemetry(data: _RunData, hashes: Mapping[str, str]) -> Run:
    """Return a run with its telemetry; sampled memory is used if the log prints none."""
    # A file that run.json describes with another hash is not used; `record.run` reports it.
    stated = run_json.of_log(data.given.path, data.given.name).files if data.files else {}
    files = [each for each in data.files if _is_as_stated(each.given, stated)]
    problems, telemetry, metrics = data.problems, None, data.run.metrics
    if files:
        first = files[0].given
        found = guarded(first.name, first.path, lambda: _read(data.run, files, hashes))
        telemetry, more = (None, [found]) if isinstance(found, Problem) else found
        problems = [*problems, *more]
    # Tools sample a whole GPU, not a slice of it.
    if telemetry is not None and not SLICE.search(data.run.case.hardware or ""):
        if telemetry.memory_peak_mib and "memory" not in metrics:
            memory = MetricFigure(float(telemetry.memory_peak_mib), METRICS["memory"].unit, "telemetry")
            metrics = {**metrics, "memory": memory}
        metrics |= energy.metrics(data.run, telemetry)
    problems = [*data.run.problems, *map(redact_record, problems)]
    return replace(data.run, telemetry=telemetry, metrics=metrics, problems=tuple(problems))


def _is_as_stated(given: Input, stated: Mapping[str, StatedFile]) -> bool:
    named = stated.get(given.path.relative_to(given.folder).as_posix())
    return is_as_stated(given.path, named.sha256 if named else None)


def _read(run: Run, files: Sequence[File], hashes: Mapping[str, str]) -> tuple[Telemetry | None, list[Problem]]:
    """Read the files of a run; of devices, and of machines as a whole, each machine has one file at most."""
    problems, of_devices, of_hosts = list[Problem](), list[_Source](), list[_Source]()
    for file in files:
        try:
            recording = read_telemetry(file.given.path, telemetry_by_id(file.format_id))
        except ScanError as error:
            problems.append(Problem(error.code, file.given.name, args=error.details))
            continue
        problems += _faults(file, recording)
        if len(recording):
            (of_hosts if recording.format.host else of_devices).append(_Source(file, recording))
    wrong = [_unusable(run, each) for each in (of_devices, of_hosts)]
    problems += filter(None, wrong)
    used = [each for each, why in zip((of_devices, of_hosts), wrong, strict=True) if each and not why]
    if not used:
        return None, problems
    recordings = [side_by_side([source.recording for source in each]) for each in used]
    names = [(source.file.given.name, source.file.format_id) for each in used for source in each]
    found = redact_record(
        Telemetry(
            **asdict(_sampled(run, recordings)),
            files=tuple(TelemetryFile(name, printer, hashes.get(name, "")) for name, printer in names),
            measured=_measured(run, recordings),
        )
    )
    text_of(found)  # NaN fails here, where the file is known, and not when all runs are written.
    return found, problems


def _faults(file: File, recording: Recording) -> list[Problem]:
    found = [
        Problem("telemetry_skipped", file.given.name, each.line, {"count": each.count, "printed": _printed(each)})
        for each in recording.faults
    ]
    return found if len(recording) else [*found, Problem("telemetry_unknown", file.given.name)]


def _printed(fault: Fault) -> str:
    """Return the first text that could not be read, after the name of its column if it has one."""
    return f"{fault.column}: {fault.printed}" if fault.column else fault.printed


def _unusable(run: Run, sources: Sequence[_Source]) -> Problem | None:
    """Return why samples are not known to be those of a run: a second file, or idle devices, which spoil every mean."""
    folders = dict[Path, File]()
    devices, nodes = run.case.devices, run.case.nodes
    used = devices // nodes if devices and nodes else devices
    for each in sources:
        name, sampled = each.file.given.name, len(each.recording.devices)
        if other := folders.get(each.file.given.path.parent):
            return Problem("telemetry_parts", name, args={"beside": other.given.name})
        if used and sampled > used and not each.recording.format.peaks:
            return Problem("telemetry_devices", name, args={"sampled": sampled, "used": used})
        folders[each.file.given.path.parent] = each.file
    return None


def _sampled(run: Run, recordings: Sequence[Recording]) -> Sampled:
    """Return the figures of devices, completed by those of their machines."""
    first, *others = (figures(each, run.case.devices) for each in recordings)
    return completed(first, others[0]) if others else first


def _measured(run: Run, recordings: Sequence[Recording]) -> Sampled | UnsetType:
    """Return the figures of the period that the counted records cover."""
    if run.measured_clock is None:
        return UNSET
    begin, end = map(seconds_of, run.measured_clock)
    inside = [within(each, begin, end) for each in recordings if each.dated]
    known = [each for each in inside if len(each)]
    return _sampled(run, known) if known else UNSET
