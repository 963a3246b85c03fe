"""Telemetry of a run: which files next to logs are telemetry, and the run of each file.

A file is recognised by its content, whatever its name. It belongs to the log that it is named after, to the only log of
its folder, or to the runs whose clocks it covers; if none of these applies, it is a problem and gives no figure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.files import is_as_stated
from perfledger.ingest.compute import energy, telemetry_figures
from perfledger.ingest.compute.metrics import SLICE
from perfledger.ingest.compute.telemetry_figures import COVERED, UsedDevices, covered, extent, seconds_of
from perfledger.ingest.read import run_json
from perfledger.ingest.read.walk import Input
from perfledger.parsers.contract.telemetry import Fault, Recording
from perfledger.parsers.engine.registry import telemetry_by_id
from perfledger.parsers.engine.scan import ScanError, check
from perfledger.parsers.engine.telemetry import read_telemetry, unread_samples
from perfledger.parsers.engine.unpack import plain_name
from perfledger.schema.machine import Sampled, Telemetry, TelemetryFile
from perfledger.schema.records import MetricFigure, Problem, Run, names_of, text_of
from perfledger.schema.redaction.redact import redact_record
from perfledger.schema.vocabulary import METRICS

#: The name that our own runs give it; a file of that name that is not understood is a problem.
NAME = "telemetry.csv"
#: Quantities that are measured for a whole GPU, not for a slice of it.
_OF_WHOLE_GPU = ("power", "power_limit", "memory_used", "memory_total", "utilisation", "memory_utilisation")
_LOG_ENDING = re.compile(r"(?:\.(?:log|txt|out|err|csv|mem|dmon|smi|dat))+$", re.IGNORECASE)
_WORDS = r"(?:telemetry|gpus?|nvidia|nvsmi|smi|dmon|memory|mem|power|util|utilization|utilisation|monitor|usage|stats?)"
#: Names of programs that sample devices, anywhere in the name of a file.
_OF_DEVICES = re.compile(r"(?:^|[._-])(?:gpus?|nvidia|nvsmi|smi|dmon|dcgmi?)(?=[._-])", re.IGNORECASE)
_DECORATION = re.compile(rf"(?:^|[._-]){_WORDS}(?=[._-]|$)", re.IGNORECASE)


@dataclass
class _RunData:
    """A run with the telemetry and problems found for it here."""

    given: Input
    run: Run
    telemetry: Telemetry | None = None
    #: Mean watts of all devices while the records that count, or why they are not known; None where none was sampled.
    power: float | str | None = None
    problems: list[Problem] = field(default_factory=list)

    def result(self) -> Run:
        """Return the run with its telemetry; sampled memory is used if the log prints none."""
        run = replace(self.run, problems=(*self.run.problems, *self.problems))
        if self.telemetry is None:
            return run
        peak, metrics = self.telemetry.memory_peak_mib, run.metrics
        if peak and "memory" not in metrics:
            metrics = {**metrics, "memory": MetricFigure(float(peak), METRICS["memory"].unit, "telemetry")}
        metrics |= energy.metrics(run, self.power)
        return replace(run, telemetry=self.telemetry, metrics=metrics)


@dataclass(frozen=True)
class File:
    """A file that is telemetry, and the id of its format."""

    given: Input
    format_id: str


@dataclass(frozen=True)
class Sorted:
    """The files that may be logs, those that are telemetry, and what is wrong."""

    logs: tuple[Input, ...]
    files: tuple[File, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def _by_folder(self) -> Mapping[Path, Sequence[File]]:
        found: dict[Path, list[File]] = defaultdict(list)
        for each in self.files:
            found[each.given.folder].append(each)
        return found

    def in_folders_of(self, logs: Sequence[Input]) -> tuple[File, ...]:
        """Return the telemetry in the folders of some logs."""
        folders = dict.fromkeys(each.folder for each in logs) if self.files else {}
        return tuple(each for folder in folders for each in self._by_folder.get(folder, ()))


def sort_out(inputs: Sequence[Input], beside: Sequence[Input], kind: Callable[[Input], str | Problem]) -> Sorted:
    """Separate telemetry from logs.

    Args:
        inputs: files that may be logs.
        beside: files that are not logs by their names, and may be telemetry.
        kind: returns the id of the telemetry format that claims a file, empty where none does; or why it is not known.
    """
    told = {each.name: kind(each) for each in (*inputs, *beside)}
    faults = [each for each in told.values() if isinstance(each, Problem)]
    found = {name: each for name, each in told.items() if isinstance(each, str)}
    inputs, beside = ([each for each in files if each.name in found] for files in (inputs, beside))
    files = tuple(File(each, found[each.name]) for each in (*inputs, *beside) if found[each.name])
    logs = tuple(each for each in inputs if not found[each.name])
    problems = [*faults, *_without_log(files, logs), *_unknown([each for each in beside if not found[each.name]], logs)]
    return Sorted(logs, files, tuple(problems))


def _without_log(files: Sequence[File], logs: Sequence[Input]) -> Iterable[Problem]:
    folders = {each.folder for each in logs}
    return [
        Problem("telemetry_unassigned", each.given.name, args={"runs": 0})
        for each in files
        if each.given.folder not in folders
    ]


def _unknown(others: Sequence[Input], logs: Sequence[Input]) -> Iterable[Problem]:
    """Yield problems of files that are named like telemetry, or contain samples, and are not understood."""
    stems = {(each.path.parent, stem(each.path.name)) for each in logs}
    for each in others:
        of_a_log = each.path.suffix == ".mem" and (each.path.parent, stem(each.path.name)) in stems
        line = unread_samples(each.path, named=bool(_OF_DEVICES.search(each.path.name)))
        if line or each.path.name == NAME or of_a_log:
            yield _not_understood(each, line)


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


def bare(name: str) -> str:
    """Return the stem without the words for telemetry: `case_gpu.csv` is `case`, `gpu.csv` is empty."""
    return _LOG_ENDING.sub("", _DECORATION.sub("", stem(name))).strip("._-")


def attach(logs: Sequence[tuple[Input, list[Run]]], files: Sequence[File], hashes: Mapping[str, str]) -> list[Run]:
    """Return the runs with the telemetry of their folders, and with problems of its files.

    Args:
        logs: every log with its runs.
        files: telemetry of the same folders.
        hashes: SHA-256 by name of a file.
    """
    data = [[_RunData(given, run) for run in runs] for given, runs in logs]
    folders: dict[Path, list[list[_RunData]]] = defaultdict(list)
    for (given, _), runs in zip(logs, data, strict=True):
        folders[given.folder].append(runs)
    for folder, found in folders.items():
        everything = [run for runs in found for run in runs]
        own = [each for each in files if each.given.folder == folder and _is_as_stated(each, everything)]
        if own:
            _attach(found, own, hashes)
    return [each.result() for runs in data for each in runs]


def _is_as_stated(file: File, runs: Sequence[_RunData]) -> bool:
    """Return whether a file is still the one that the run.json of a log names, if it names one.

    A changed file is not used; `record.run` reports it as a problem.
    """
    name = file.given.path.relative_to(file.given.folder).as_posix()
    logs = {each.given.path: each.given for each in runs}.values()
    stated = (run_json.of_log(given.path, given.name).files.get(name) for given in logs)
    return all(is_as_stated(file.given.path, each.sha256 if each else None) for each in stated)


@dataclass(frozen=True)
class _Owned:
    """A file's samples that belong to one run; `whole` if no other run shares the file."""

    file: File
    recording: Recording
    whole: bool


def _attach(logs: Sequence[list[_RunData]], files: Sequence[File], hashes: Mapping[str, str]) -> None:
    owned: dict[int, list[_Owned]] = defaultdict(list)
    by_id_of = {id(each): each for runs in logs for each in runs}
    for file in files:
        runs, named = _claimants(file, logs)
        shares = guarded(file.given.name, file.given.path, partial(_read_shares, file, runs, named=named))
        if isinstance(shares, Problem):
            _add_problems(runs, [shares])
            continue
        for run, share in shares:
            owned[id(run)].append(_Owned(file, share, len(runs) == 1))
    for key, found in owned.items():
        data = by_id_of[key]
        told = guarded(found[0].file.given.name, found[0].file.given.path, partial(_told, data, found, hashes))
        if isinstance(told, Problem):
            _add_problems([data], [told])
        else:
            data.telemetry = told


def _told(data: _RunData, found: Sequence[_Owned], hashes: Mapping[str, str]) -> Telemetry:
    told = redact_record(_of_run(data, _job(data), found, hashes))
    text_of(told)  # A number that is none fails here, and not where all runs are written.
    return told


def _read_shares(file: File, runs: list[_RunData], *, named: bool) -> Sequence[tuple[_RunData, Recording]] | Problem:
    """Read a file, and return which of its samples belong to which of the runs, or why that is not known."""
    try:
        recording = read_telemetry(file.given.path, telemetry_by_id(file.format_id))
    except ScanError as error:
        return Problem(error.code, file.given.name, args=error.details)
    _add_problems(runs, _faults(file, recording))
    return _shares(file, recording, runs, named=named) if len(recording) else ()


def _add_problems(runs: Sequence[_RunData], problems: Iterable[Problem]) -> None:
    redacted = [redact_record(each) for each in problems]
    for run in runs:
        run.problems += redacted


def _faults(file: File, recording: Recording) -> list[Problem]:
    found = [
        Problem("telemetry_skipped", file.given.name, each.line, {"count": each.count, "printed": _printed(each)})
        for each in recording.faults
    ]
    return found if len(recording) else [*found, Problem("telemetry_unknown", file.given.name)]


def _printed(fault: Fault) -> str:
    """Return the first text that could not be read, after the name of its column if it has one."""
    return f"{fault.column}: {fault.printed}" if fault.column else fault.printed


def _claimants(file: File, logs: Sequence[list[_RunData]]) -> tuple[list[_RunData], bool]:
    """Return the runs that a file may belong to, by its name or else by its folder, and whether it was by its name."""
    names = {stem(file.given.path.name), bare(file.given.path.name)} - {""}
    named = [runs for runs in logs if stem(runs[0].given.path.name) in names]
    found = [each for runs in (named if len(named) == 1 else logs) for each in runs]
    understood = [each for each in found if each.run.format]
    # If a log has several copies, only the first can own samples.
    once = {id(each) for each in {(e.run.sha256, e.run.session): e for e in reversed(understood)}.values()}
    return [each for each in understood if id(each) in once] or found, len(named) == 1


def _shares(
    file: File, recording: Recording, runs: list[_RunData], *, named: bool
) -> list[tuple[_RunData, Recording]] | Problem:
    """Return which samples belong to which of the runs, or why that is not known."""
    name, count = file.given.name, {"runs": len(runs)}
    if recording.format.peaks and not named:
        return Problem("telemetry_unassigned", name, args=count)
    if len(runs) == 1:
        return [(runs[0], recording)]
    # Starts without a step have no window of their own.
    trained = [each for each in runs if each.run.observations]
    windows = [_window(each) for each in trained]
    whole = extent(recording) if recording.dated else None
    known = [each for each in windows if each]
    has_clocks = whole is not None and trained and len(known) == len(trained)
    if whole is None or not has_clocks or any(a[0] <= b[1] and b[0] <= a[1] for a, b in combinations(known, 2)):
        return Problem("telemetry_unassigned", name, args=count)
    shares = [covered(each, whole) for each in known]
    inside, outside = sum(each >= COVERED for each in shares), sum(each == 0 for each in shares)
    # Some runs inside and some outside indicate clocks of two time zones.
    if inside < len(known) and (inside, outside) != (1, len(known) - 1):
        return Problem("telemetry_unassigned", name, args=count)
    return [
        (run, telemetry_figures.within(recording, *window))
        for run, window, share in zip(trained, known, shares, strict=True)
        if share >= COVERED
    ]


def _window(data: _RunData) -> tuple[float, float] | None:
    clock = data.run.clock
    return (seconds_of(clock[0]), seconds_of(clock[1])) if clock else None


def _job(data: _RunData) -> UsedDevices:
    document = run_json.of_log(data.given.path, data.given.name).document
    devices, nodes = data.run.case.devices, data.run.case.nodes
    variables = (document.environment_variables if document else None) or {}
    visible = str(variables.get("CUDA_VISIBLE_DEVICES", "")).replace(" ", "")
    listed = tuple(visible.split(",")) if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{1,3})*", visible) else ()
    return UsedDevices(devices, devices // nodes if devices and nodes else None, listed)


def _of_run(data: _RunData, job: UsedDevices, owned: Sequence[_Owned], hashes: Mapping[str, str]) -> Telemetry:
    """Return the telemetry of a run: of several printers, each figure is of the first that has it."""
    groups: dict[str, list[_Owned]] = defaultdict(list)
    for each in owned:
        groups[each.file.format_id].append(each)
    found = {name: _of_printer(data, job, groups[name]) for name in sorted(groups, key=_rank)}
    names = [(each.file.given.name, each.file.format_id) for each in owned]
    merged = _first_of(list(found.values()))
    return replace(
        merged,
        files=tuple(TelemetryFile(name, printer, hashes.get(name, "")) for name, printer in names),
        devices_of_job=job.devices,
        part="file" if all(each.whole for each in owned) else "window",
        printers={key: next(n for n, each in found.items() if getattr(each, key) is not None) for key in merged.scope},
    )


def _rank(printer: str) -> tuple[int, str]:
    """Return a printer's rank: utilisation and clocks come first, a maximum alone comes last."""
    order = ("nvidia_smi_csv", "nvidia_smi_dmon", "nvidia_smi_table", "nvidia_smi_pairs")
    return (order.index(printer) if printer in order else len(order), printer)


def _first_of(found: Sequence[Telemetry]) -> Telemetry:
    """Merge the figures of several printers: those of the first, completed by the others."""
    first = found[0]
    for other in found[1:]:
        known = {key: value for key in telemetry_figures.KEYS if (value := getattr(other, key)) is not None}
        more = {key: value for key, value in known.items() if getattr(first, key) is None}
        first = replace(
            first,
            **more,
            scope=first.scope | {key: other.scope[key] for key in more},
            absent={key: why for key, why in first.absent.items() if key not in more},
            window=first.window or other.window,
            measured=first.measured or other.measured,
        )
    return first


def _of_printer(data: _RunData, job: UsedDevices, owned: Sequence[_Owned]) -> Telemetry:
    recordings = [_used(each.recording, job) for each in owned]
    names = [each.file.given.name for each in owned]
    machines: dict[Path, list[Recording]] = defaultdict(list)
    for each, recording in zip(owned, recordings, strict=True):
        machines[each.file.given.path.parent].append(recording)
    given = telemetry_figures.of_machines([*machines.values()])
    if given is None:
        _add_problems([data], [Problem("telemetry_parts", names[1], args={"beside": names[0]})])
        return telemetry_figures.nothing(recordings[0], "parts")
    too_many = [(at, sampled) for at, each in enumerate(recordings) if (sampled := _too_many(each, job))]
    if too_many:
        at, sampled = too_many[0]
        args = {"sampled": sampled, "used": job.devices_per_node or job.devices}
        _add_problems([data], [Problem("telemetry_devices", names[at], args=args)])
        return telemetry_figures.nothing(given, "devices")
    if SLICE.search(data.run.case.hardware or ""):
        given = telemetry_figures.without(given, _OF_WHOLE_GPU)
        found = telemetry_figures.figures(given, job)
        found = replace(found, absent={telemetry_figures.ENERGY: "slice"})
    else:
        found = telemetry_figures.figures(given, job)
    return replace(found, window=_in_window(data, given, job), measured=_measured(data, given, job))


def _used(given: Recording, job: UsedDevices) -> Recording:
    """Keep the samples of the devices that run.json assigns to the run, if the file names them alike."""
    known = job.visible and len(given.devices) > len(job.visible) and set(job.visible) <= set(given.devices)
    return telemetry_figures.chosen(given, job.visible) if known else given


def _too_many(given: Recording, job: UsedDevices) -> int | None:
    """Return how many devices of a machine were sampled, if the run used fewer: idle ones would spoil every mean."""
    used = job.devices_per_node or job.devices
    sampled = len(given.devices) or telemetry_figures.sweep(given)
    return sampled if used and sampled and sampled > used and not given.format.peaks and not given.format.host else None


def _in_window(data: _RunData, given: Recording, job: UsedDevices) -> Sampled | None:
    """Return the figures between the first and the last record of the run, if both clocks overlap."""
    window, whole = _window(data), extent(given) if given.dated else None
    if not window or not whole or covered(window, whole) < COVERED:
        return None
    inside = telemetry_figures.within(given, *window)
    return _sampled(inside, job) if len(inside) else None


def _sampled(given: Recording, job: UsedDevices) -> Sampled:
    found = telemetry_figures.figures(given, job)
    return Sampled(**{name: getattr(found, name) for name in names_of(Sampled)})


def _measured(data: _RunData, given: Recording, job: UsedDevices) -> Sampled | UnsetType:
    """Return the figures while the records that count, and note the mean power of the first printer that has it."""
    clock = data.run.measured_clock
    window = None if clock is None else (seconds_of(clock[0]), seconds_of(clock[1]))
    inside = telemetry_figures.within(given, *window) if window and given.dated else None
    power = telemetry_figures.mean_power(given, job, window)
    if data.power is None or (isinstance(power, float) and isinstance(data.power, str)):
        data.power = power
    if inside is None or not len(inside):
        return UNSET
    gap = telemetry_figures.longest_gap(inside)
    return replace(_sampled(inside, job), gap_s=UNSET if gap is None else gap)
