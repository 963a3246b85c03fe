"""Properties of every log, however damaged; each broken property is returned as a sentence.

Every log is read without an exception, and gives figures or reasons. A harmless change moves no figure. If a rule loses
its figure, a reason says why. The headline may then be that of another rule, which gave the same value before. This
compares two readings, and it is only valid under two conditions:

- The same labels are removed in both. Whether the beginnings of lines are labels depends on the lines around them.
- One program printed the log. A log of two programs is refused. Bytes between the lines of a record can make the
  records of one program unreadable. Then the lines of the other program give a figure, and that figure is correct.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record import run as record_run
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import telemetry_by_id
from perfledger.parsers.engine.scan import Noise, ScanError, chunks, clean, unstyled
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.telemetry import claimant, read_telemetry
from perfledger.schema.records import Figure, NoFigure, Run, text_of
from tests.ingest import calls

#: Time limit of a log in seconds, additional seconds per MiB, and MiB of memory that a log may need more than others.
SECONDS, SECONDS_PER_MIB, MIB, MIB_PER_MIB = 2.0, 40.0, 96.0, 60.0
#: Problems that do not withhold the figures of a run.
_HARMLESS = {"missing_facts", "cut_line", "ended_badly"}
#: Smaller numbers lose digits when their unit is changed.
_SUBNORMAL = 1e-300
#: Patterns that may match a line end, and the lines that such a record may span.
_SPANS, _LINES = re.compile(rb"\\[ns]"), 40
#: Seconds after which a call of the command hangs.
_HANGS = 1_000.0


def runs(path: Path) -> list[Run]:
    """Read a log as `python -m ingest` does."""
    return runs_of(Input(path, f"fuzz/{path.name}", asked=True), layout.load("perfledger"), "0" * 64)


def broken(path: Path) -> list[str]:
    """Return the faults in how a log is read."""
    return _broken(path)[0]


def _broken(path: Path) -> tuple[list[str], list[Run]]:
    before, begun = _mib(), time.process_time()
    found = runs(path)
    seconds, mib = time.process_time() - begun, _mib() - before
    size = path.stat().st_size / (1 << 20)
    wrong = [f"slow: {seconds:.1f} s"] if seconds > SECONDS + SECONDS_PER_MIB * size else []
    wrong += [f"memory: {mib:.0f} MiB more"] if mib > MIB + MIB_PER_MIB * size else []
    wrong += [each for run in found for each in _of_run(run)]
    with np.errstate(all="ignore"):  # As `runs_of` reads it.
        wrong += [*_misquoted(path), *_of_telemetry(path)]
    return wrong, found


def moved(before: Sequence[Run], path: Path) -> list[str]:
    """Return the faults in how a log is read after bytes between its records were changed.

    A figure must not move. If it is lost, a problem or a reason must say why.
    """
    wrong, after = _broken(path)
    return wrong + _moved(before, after)


def two_printed(found: Sequence[Run]) -> bool:
    """Return whether a log was refused because two programs printed it."""
    return any(problem.code == "two_formats" for run in found for problem in run.problems)


def _moved(before: Sequence[Run], after: Sequence[Run]) -> list[str]:
    known, found = _headlines(before), _headlines(after)
    wrong = [f"moved: {each} is none of {known}" for each in found if each not in _figures(before)]
    lost = Counter(rule for rule, _ in known) - Counter(rule for rule, _ in found)
    unsaid = lost and not _said(after) - _said(before)
    return wrong + ([f"lost: {known} became {found}, and nothing says so"] if unsaid else [])


def _said(found: Sequence[Run]) -> Counter[str]:
    """Count the problems of runs, and the reasons of absent figures."""
    reasons = (each.reason for run in found for each in run.figures.values() if isinstance(each, NoFigure))
    return Counter(problem.code for run in found for problem in run.problems) + Counter(map(text_of, reasons))


def labels(text: bytes) -> list[int]:
    """Return how many bytes of tags and labels are removed from each line that has any.

    Ranks do not suffice: a chunk has only those of its tags if some lines have a tag after their label.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    cleaned = b"".join(chunk.text for chunk in clean(iter([(text, 1, 1, 0)]), Noise()))
    lines = zip(unstyled(text).split(b"\n"), cleaned.split(b"\n"), strict=True)
    removed = (len(line.rstrip(b" \t")) - len(rest.rstrip(b" \t")) for line, rest in lines)
    return [each for each in removed if each]


def line_ends_in_summaries(text: bytes) -> frozenset[int]:
    """Return the lines, from 0, whose end is within a record of the whole run."""
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        path.write_bytes(text)
        try:
            with np.errstate(all="ignore"):  # As `runs_of` reads it.
                sessions = read(path).sessions
            cleaned = b"".join(each.text for each in chunks(path, Noise()))
        except ScanError:
            return frozenset()
    readings = {each.reading for session in sessions for each in session.records if each.reading.span == "run"}
    finders = (each.finder for each in readings)
    found = (each for finder in finders if isinstance(finder, re.Pattern) for each in finder.finditer(cleaned))
    spans = ((cleaned.count(b"\n", 0, each.start()), each[0].rstrip(b"\n").count(b"\n")) for each in found)
    return frozenset(line for first, ends in spans for line in range(first, first + ends))


def _sound(found: Iterable[Run]) -> list[Run]:
    """Return the runs whose figures are not withheld; their cases may be unknown."""
    return [run for run in found if run.headline and {each.code for each in run.problems} <= _HARMLESS]


def _headlines(found: Iterable[Run]) -> list[tuple[str, float]]:
    """Return rule and value of the headline of each run."""
    return [(run.rule, _rounded(run.headline)) for run in _sound(found) if run.headline]


def _figures(found: Iterable[Run]) -> set[tuple[str, float]]:
    """Return rule and value of all figures."""
    figures = (item for run in _sound(found) for item in run.figures.items())
    return {(rule, _rounded(each)) for rule, each in figures if isinstance(each, Figure)}


def _rounded(figure: Figure) -> float:
    return float(f"{figure.value:.8g}")


def _mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _of_run(run: Run) -> Iterator[str]:
    for problem in run.problems:
        if problem.code == "fault":
            yield f"fault: {problem.args}"
    try:
        document = json.loads(text_of(run), parse_constant=_refuse)
    except ValueError as error:
        yield f"json: {error}"
        return
    yield from (f"number: {name} = {value}" for name, value in _numbers(document) if not math.isfinite(value))
    for name, each in run.figures.items():
        if isinstance(each, Figure) and not (math.isfinite(each.value) and each.value > 0):
            yield f"figure: {name} = {each.value}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a document with the keys that lead to it."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _numbers(each, f"{name}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each, name)
    elif isinstance(value, float):
        yield name, value


def _misquoted(path: Path) -> Iterator[str]:
    """Yield records whose number differs from that on the line that they name."""
    try:
        log = read(path)
    except ScanError:
        return
    lines = b"".join(each.text for each in chunks(path, Noise())).split(b"\n")  # A tag may be within a number.
    for session in log.sessions[:2]:
        yield from _misquoted_of(session, lines)
        if not 1 <= session.first_line <= session.last_line <= len(lines):
            yield f"lines: {session.first_line} to {session.last_line} of {len(lines)}"


def _misquoted_of(session: Session, lines: Sequence[bytes]) -> Iterator[str]:
    for records in session.records:
        for name in {"throughput", "step_seconds", "step"} & set(records.reading.columns) & set(records.columns):
            for index in sorted({0, len(records) // 2, len(records) - 1} if len(records) else ()):
                printed, line = records.printed(index, name), records.lines([index])[0]
                finder = records.reading.finder
                span = _LINES if isinstance(finder, re.Pattern) and _SPANS.search(finder.pattern) else 1
                if printed not in b"\n".join(lines[line - 1 : line - 1 + span]):
                    yield f"quote: {name} {printed!r} is not on line {line}"
                value = records[name][index] / records.reading.scales.get(name, 1.0)
                if not records.reading.verbs and _differs(printed, value):
                    yield f"quote: {name} of line {line} is {value}, printed {printed!r}"


def _differs(printed: bytes, value: float) -> bool:
    """Return whether a plain printed number is not the value; other spellings are tested elsewhere."""
    try:
        number = float(printed)
    except ValueError:
        return False
    return abs(number) > _SUBNORMAL and not math.isclose(number, value, rel_tol=1e-12)


def _of_telemetry(path: Path) -> Iterator[str]:
    kind = claimant(path)
    if not kind:
        return
    recording = read_telemetry(path, telemetry_by_id(kind))
    for quantity, column in recording.values.items():
        if (column < 0).any() or len(column) != len(recording):
            yield f"telemetry: {quantity}"


def neighbours_lost(texts: Sequence[bytes], folder: Path) -> list[str]:
    """Return the faults in how `python -m ingest` reads a folder if one of its logs ends the reading process."""
    folder.mkdir()
    names = [f"{number:04}.log" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_bytes(text)
    killer = names[len(names) // 2]
    whole, without = _lines(folder), _lines(folder, killer)
    wrong = [f"unread: {name}" for name in names if not any(name in each for each in whole)]
    wrong += [each for each in whole if each.startswith("exit code")]
    wrong += [f"death: {each}" for each in whole if "the process that read it ended" in each]
    wrong += [f"lost: {each}" for each in sorted(whole ^ without) if killer not in each]
    named = f"{killer}: was not read: the process that read it ended (SIGSEGV)"
    return wrong if any(named in each for each in without) else [*wrong, f"unnamed: {killer}"]


def _lines(folder: Path, killer: str = "") -> set[str]:
    """Return the lines that the command prints about a folder; the log `killer` ends its reader."""
    real = record_run.read

    def read_or_die(path: Path) -> Any:
        if path.name == killer:
            os.kill(os.getpid(), signal.SIGSEGV)
        return real(path)

    def plant() -> None:
        record_run.read = read_or_die

    call = calls.start(folder.parent / "said", folder, "--json", "--verbose", before=plant)
    code, lines = call.code_within(_HANGS), call.said.splitlines()
    for each in lines:
        if each.startswith("{"):
            json.loads(each, parse_constant=_refuse)
    return {*lines, *([f"exit code {code}"] if code not in (0, 1) else [])}
