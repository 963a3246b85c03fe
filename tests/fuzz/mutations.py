"""Mutations by number: which log, which operators, and what came of reading it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from random import Random

from perfledger.ingest.common.processes import Death, done_apart
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError
from tests.corpus import ROOT, folder
from tests.fuzz import properties
from tests.fuzz.minimise import minimal
from tests.fuzz.operators import DAMAGES, HARMLESS, LONGEST, OF_LONG_LOGS, spliced
from tests.parsers.golden import logs as golden_logs

OWN = ROOT / "raw_logs"
#: Folders of the corpus whose logs are mutated, where they are at hand.
CORPORA = ("public", "today", "ngc-pytorch", "mlperf-v5.1", "paddle-perf")
#: Of a longer log, its beginning and its end: a mutation of a short log finds the same faults sooner.
_LONGEST_LOG = 4_000
#: NumPy takes other ways from some hundred elements on; a longer log is one of long lines.
MANY_RECORDS, _LONGEST_OF_MANY = 1_000, 1 << 20
_NO_LOGS = {".csv", ".md", ".json", ".toml", ".jsonl"}


def goldens() -> list[Path]:
    """Return the golden logs, and a few of our own runs with their telemetry, by path."""
    own = sorted(each for each in OWN.glob("logs/**/*") if each.name in {"train.log", "telemetry.csv"})[::12]
    return golden_logs() + own


def corpora() -> list[Path]:
    """Return the logs of the corpora that are at hand, by path."""
    found = (each for name in CORPORA for each in sorted(folder(name).rglob("*")))
    return [each for each in found if each.is_file() and each.suffix not in _NO_LOGS]


@cache
def excerpt(log: Path) -> bytes:
    """Return a log, or the first and the last lines of a long one."""
    text, half = log.read_bytes(), _LONGEST_LOG // 2
    if len(text) <= _LONGEST_LOG:
        return text
    return text[: text.find(b"\n", half) + 1] + text[text.rfind(b"\n", 0, -half) + 1 :]


@cache
def lengthened(log: Path) -> bytes:
    """Return a log with its records repeated until one session has more than a thousand."""
    text = log.read_bytes()
    lines = text.splitlines(keepends=True)
    try:
        records = [each for session in read(log).sessions for each in session.records if len(each)]
    except ScanError:
        records = []
    most = max(records, key=len, default=None)
    first, last = most.lines([0, len(most) - 1]) if most else (1, len(lines))
    repeated = b"".join(lines[first - 1 : last]) * (MANY_RECORDS // max(1, len(most or lines)) + 1)
    return b"".join([*lines[: first - 1], repeated, *lines[last:]])[:_LONGEST_OF_MANY]


@dataclass(frozen=True)
class Mutation:
    """One mutation: the log, what was done to it, and whether the last of that changes no record.

    A long one has more than a thousand records, and is read in a process of its own, which a native crash may end.
    """

    log: Path
    seed: str
    damages: tuple[str, ...]
    harmless: str = ""
    is_long: bool = False

    @property
    def name(self) -> str:
        """What was done, in words."""
        return f"{self.log.parent.name}/{self.log.name}: {', '.join([*self.damages, self.harmless]).strip(', ')}"

    def damaged(self, logs: Sequence[Path]) -> bytes:
        """Return the log after its damages."""
        chance = Random(self.seed)
        if self.is_long:
            return reduce(lambda text, name: OF_LONG_LOGS[name](text, chance), self.damages, lengthened(self.log))
        text = excerpt(self.log)
        for each in self.damages:
            if each == "spliced":
                text = spliced(text, excerpt(chance.choice(logs)), chance)
            else:
                text = DAMAGES[each](text, chance)
        return text[:LONGEST]

    def changed(self, text: bytes) -> bytes:
        """Return a text with other bytes between its records."""
        return HARMLESS[self.harmless](text, Random(f"{self.seed} {self.harmless}"))

    def wrong(self, text: bytes, scratch: Path) -> list[str]:
        """Return what is wrong with how the text is read, the text after the damages."""
        path = scratch / "train.log"
        path.write_bytes(text)
        if self.is_long:
            found = done_apart(properties.broken, path)
            return [f"death: {found.cause}"] if isinstance(found, Death) else list(found)
        if not self.harmless:
            return properties.broken(path)
        before = properties.runs(path)
        path.write_bytes(self.changed(text))
        return properties.moved(before, path)


def mutation(seed: int, number: int, logs: Sequence[Path]) -> Mutation:
    """Return the mutation of that number: of three, one damages a log, one changes no record, and one does both."""
    name = f"{seed} {number}"
    chance = Random(name)
    log, kind = chance.choice(logs), chance.randrange(3)
    count = chance.choice((1, 1, 2, 3)) if kind != 1 else 0
    damages = tuple(chance.choice((*DAMAGES, "spliced")) for _ in range(count))
    # Tags on some lines may be the printer's own: whether they are taken off depends on the lines around them.
    harmless = chance.choice(list(HARMLESS)) if kind and "tagged" not in damages else ""
    return Mutation(log, name, damages, harmless)


def long_mutation(seed: int, number: int, logs: Sequence[Path]) -> Mutation:
    """Return the mutation of that number of a log with many records."""
    name = f"{seed} {number} long"
    chance = Random(name)
    log = chance.choice(logs)
    return Mutation(log, name, tuple(chance.choices(list(OF_LONG_LOGS), k=chance.choice((1, 2)))), is_long=True)


def kind_of(wrong: Sequence[str]) -> str:
    """Return the kinds of what is wrong, by which a smaller log is the same failure."""
    return " ".join(sorted({each.partition(":")[0] for each in wrong}))


def kept(found: Mutation, text: bytes, wrong: Sequence[str], into: Path, scratch: Path, command: str) -> Path:
    """Write a failing log, made small, and beside it what is wrong and the command that makes it again."""
    kind = kind_of(wrong)
    small = minimal(text, lambda part: kind in kind_of(found.wrong(part, scratch)))
    path = into / f"{kind.replace(' ', '-')}-{found.seed.replace(' ', '-')}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.changed(small) if found.harmless else small)
    path.with_suffix(".txt").write_text(os.linesep.join([found.name, command, *(each[:500] for each in wrong), ""]))
    return path
