"""Mutations by number: the log, the operators, and the faults in how the mutated log is read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

from perfledger.ingest.common.faults import fault
from perfledger.ingest.common.processes import Death, Worker
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.scan import ScanError
from tests.corpus import ROOT, folder
from tests.fuzz import properties
from tests.fuzz.minimise import minimal
from tests.fuzz.operators import DAMAGES, HARMLESS, LONGEST, spliced
from tests.parsers.golden import logs as golden_logs

OWN = ROOT / "raw_logs"
#: Folders of the corpus whose logs are mutated if they exist.
CORPORA = ("public", "today", "ngc-pytorch", "mlperf-v5.1", "paddle-perf")
#: Longest log in bytes; a longer one loses its middle. Mutations of short logs find the same faults sooner.
_LONGEST_LOG = 4_000
#: NumPy uses other algorithms for arrays of some hundred elements.
MANY_RECORDS = 1_000
#: A time of day, with its date if that is before it.
_TIME = re.compile(rb"(?<!\d)(?:\d{4}([-/])\d\d\1\d\d[ T])?\d\d:\d\d:\d\d(?!\d)")
_DIGITS = re.compile(rb"\d+")
_NO_LOGS = {".csv", ".md", ".json", ".toml", ".jsonl"}


def goldens() -> list[Path]:
    """Return the golden logs, and some of our own runs with their telemetry, ordered by path."""
    own = sorted(each for each in OWN.glob("logs/**/*") if each.name in {"train.log", "telemetry.csv"})[::12]
    return golden_logs() + own


def corpora() -> list[Path]:
    """Return the logs of the corpora that exist here, ordered by path."""
    found = (each for name in CORPORA for each in sorted(folder(name).rglob("*")))
    return [each for each in found if each.is_file() and each.suffix not in _NO_LOGS]


@cache
def excerpt(log: Path) -> bytes:
    """Return a log, or the first and the last lines of a long one."""
    text, half = log.read_bytes(), _LONGEST_LOG // 2
    if len(text) <= _LONGEST_LOG:
        return text
    return text[: text.find(b"\n", half) + 1] + text[text.rfind(b"\n", 0, -half) + 1 :]


def lengthened(log: Path, least: int = 0) -> bytes:
    """Repeat the records of a log to more than a thousand and at least `least` bytes, with later times."""
    lines = [each + b"\n" for each in log.read_bytes().split(b"\n")]
    try:
        records = [each for session in read(log).sessions for each in session.records if len(each)]
    except ScanError:
        records = []
    most = max(records, key=len, default=None)
    first, last = most.lines([0, len(most) - 1]) if most else (1, len(lines))
    block = b"".join(lines[first - 1 : last])
    count = max(MANY_RECORDS // len(most or lines), least // len(block)) + 1
    seconds = _seconds(block)
    repeated = b"".join(_later(block, timedelta(seconds=seconds * number)) for number in range(count))
    return b"".join([*lines[: first - 1], repeated, *lines[last:]])


def _seconds(block: bytes) -> int:
    """Return the seconds of a block, from its first line to 1 s after its last; a block takes less than a day."""
    times = [_printed(found) for found in _TIME.finditer(block)]
    return (times[-1] - times[0]).seconds + 1 if times else 1


def _later(block: bytes, after: timedelta) -> bytes:
    """Return lines with later times."""

    def moved(found: re.Match[bytes]) -> bytes:
        numbers = iter((_printed(found) + after).timetuple()[:6][-len(_DIGITS.findall(found[0])) :])
        return _DIGITS.sub(lambda digits: b"%0*d" % (len(digits[0]), next(numbers)), found[0])

    return _TIME.sub(moved, block)


def _printed(found: re.Match[bytes]) -> datetime:
    """Return the printed time, on an arbitrary day if it has no date."""
    return datetime(*([2026, 1, 1, *map(int, _DIGITS.findall(found[0]))][-6:]))


@dataclass(frozen=True)
class Mutation:
    """A mutation: a log, its damages, and a harmless change, which changes no record."""

    log: Path
    seed: str
    damages: tuple[str, ...]
    harmless: str = ""

    @property
    def name(self) -> str:
        """Describe the mutation in words."""
        return f"{self.log.parent.name}/{self.log.name}: {', '.join([*self.damages, self.harmless]).strip(', ')}"

    def damaged(self, logs: Sequence[Path], least: int = 0) -> bytes:
        """Return the damaged log; it is first lengthened to `least` bytes, or shortened."""
        chance = Random(self.seed)
        text = lengthened(self.log, least) if least else excerpt(self.log)
        for each in self.damages:
            if each == "spliced":
                text = spliced(text, excerpt(chance.choice(logs)), chance)
            else:
                text = DAMAGES[each](text, chance)
        return text if least else text[:LONGEST]

    def changed(self, text: bytes) -> bytes:
        """Return the text with additional bytes between its records if the mutation has a harmless change.

        Bytes between the lines of a record of the whole run are damage: the log has no other record of that kind, and
        its other lines give another figure, or none.
        """
        if not self.harmless:
            return text
        # Labels are removed before records are found.
        within = properties.line_ends_in_summaries(text) if self.harmless != "labelled" else frozenset[int]()
        # A byte that the text does not contain: a change between any two bytes cannot split it.
        inner = bytes([max({*range(256)} - {*text})])
        *lines, last = text.split(b"\n")
        joined = b"".join(each + (inner if at in within else b"\n") for at, each in enumerate(lines)) + last
        return HARMLESS[self.harmless](joined, Random(f"{self.seed} {self.harmless}")).replace(inner, b"\n")

    def wrong(self, text: bytes, scratch: Path) -> list[str]:
        """Return the faults in how the damaged text is read, and in how its harmless change moves figures."""
        path = scratch / "train.log"
        path.write_bytes(text)
        if not self.harmless:
            return properties.broken(path)
        before, changed = properties.runs(path), self.changed(text)
        path.write_bytes(changed)
        labels = [] if self.harmless == "labelled" else properties.labels(changed)
        if properties.labels(text) != labels or properties.two_printed(before):
            return properties.broken(path)
        return properties.moved(before, path)


def mutation(seed: int, number: int, logs: Sequence[Path]) -> Mutation:
    """Return a mutation by its number: every third only damages, every third is only harmless, the others do both."""
    name = f"{seed} {number}"
    chance = Random(name)
    log, kind = chance.choice(logs), chance.randrange(3)
    count = chance.choice((1, 1, 2, 3)) if kind != 1 else 0
    damages = tuple(chance.choice((*DAMAGES, "spliced")) for _ in range(count))
    # ASCII bytes shift the rest of a text with two bytes per character.
    harmless = chance.choice(list(HARMLESS)) if kind and "utf-16" not in damages else ""
    return Mutation(log, name, damages, harmless)


def long_mutation(seed: int, number: int, logs: Sequence[Path]) -> Mutation:
    """Return a mutation of a long log by its number: each log in turn, with at most two damages."""
    name = f"{seed} {number} long"
    chance = Random(name)
    damages = tuple(chance.choices(list(DAMAGES), k=chance.randrange(3)))
    return Mutation(logs[number % len(logs)], name, damages)


class Apart:
    """Reads mutations in another process, so that a native crash is a failure of one mutation."""

    def __init__(self, scratch: Path) -> None:
        formats()  # once, for all copies of this process
        self._scratch, self._worker = scratch, Worker(_wrong)

    def wrong(self, found: Mutation, text: bytes) -> list[str]:
        """Return the faults in how the damaged text is read."""
        self._worker.give((found, text, self._scratch))
        answer = self._worker.answer()
        if not isinstance(answer, Death):
            return list(answer)
        self._worker.close()
        self._worker = Worker(_wrong)
        return [f"death: {answer.cause}"]

    def close(self) -> None:
        """End the process."""
        self._worker.close()


def _wrong(task: tuple[Mutation, bytes, Path]) -> list[str]:
    found, text, scratch = task
    try:
        return found.wrong(text, scratch)
    except Exception as error:
        return [f"exception: {fault(error, found.log.name).args}"]


def kind_of(wrong: Sequence[str]) -> str:
    """Return the kinds of faults; a smaller log with the same kinds is the same failure."""
    return " ".join(sorted({each.partition(":")[0] for each in wrong}))


def kept(found: Mutation, text: bytes, wrong: Sequence[str], apart: Apart, into: Path, command: str) -> Path:
    """Write a minimal failing log, and a text with its faults and the command that reproduces it."""
    kind = kind_of(wrong)
    small = minimal(text, lambda part: kind in kind_of(apart.wrong(found, part)))
    path = into / f"{kind.replace(' ', '-')}-{found.seed.replace(' ', '-')}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.changed(small))
    path.with_suffix(".txt").write_text(os.linesep.join([found.name, command, *(each[:500] for each in wrong), ""]))
    return path
