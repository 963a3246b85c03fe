"""`python -m tests.joined`: count the logs of two runs that the checks of `one_run` find.

The logs are made of pairs of real logs of one format, of the trees of the reference:

- `joined`: log A, then log B from its first record on, so that nothing announces B;
- `halves`: the first half of A's lines, then the last quarter of B's;
- `in turn`: log A with B's lines from its first record on between its own, one by one.

A made log counts as found by the check that names the first line. `sessions` means that the reader finds two runs,
which are then measured one by one, and `no figure` that nothing is published for another reason. Among the logs not
found, `one pace` counts those whose two runs differ by less than 10 % in speed. Whole logs must not be found.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from perfledger.ingest.compute.chain import as_printed
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.one_run import CHECKS, one_run
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.run_facts import facts_of
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure
from tests import reference

#: Bytes of a log beyond which it is not used.
LONGEST = 4_000_000
#: Logs of a format that are used, spread over all of them.
LOGS = 16
#: Fewest records of a log that is used.
FEWEST = 10
#: Two runs have one pace if their figures differ by less than this factor.
ONE_PACE = 1.1
NOT_FOUND = "not found"


@dataclass(frozen=True)
class Whole:
    """A real log of one run: its lines, the index of its first record, and its figure."""

    path: Path
    format: str
    lines: Sequence[bytes]
    first: int
    value: float


def figure_of(session: Session) -> float:
    """Return the headline of a session, 0 if it has none."""
    merged = facts_of(session, RunJsonFile(), PathFacts("perfledger"))
    headline = measured(session, merged.for_rules(), merged.of_records).headline
    return headline.value if isinstance(headline, Figure) else 0.0


def found_by(session: Session) -> str:
    """Return the name of the check that finds a second run in a session; empty if none does."""
    if one_run(session) is None:
        return ""
    tables = [as_printed(each) for each in session.records if len(each) and each.reading.span != "run"]
    found = [(told, each.__name__) for each in CHECKS for table in tables if (told := each(table, session.stated))]
    return min(found, key=lambda each: each[0][0])[1]


def whole_logs() -> tuple[dict[str, list[Whole]], Counter[str]]:
    """Return the logs of one run by format, and how the checks answer them."""
    logs, answers = defaultdict(list), Counter[str]()
    paths = chain.from_iterable(walk([each.path]).inputs for each in reference.trees())
    for path in dict.fromkeys(each.path for each in paths if each.path.stat().st_size < LONGEST):
        try:
            sessions = read(path).sessions
        except ScanError:
            continue
        if len(sessions) != 1 or len(sessions[0].main) < FEWEST or not (value := figure_of(sessions[0])):
            continue
        (session,) = sessions
        name = found_by(session)
        answers[name or NOT_FOUND] += 1
        if not name and path.suffix not in (".gz", ".json", ".jsonl"):
            lines = path.read_bytes().splitlines(keepends=True)
            logs[session.format.id].append(Whole(path, session.format.id, lines, session.main.lines([0])[0] - 1, value))
    return logs, answers


def joined(one: Whole, other: Whole) -> bytes:
    """Return one log, then the other from its first record on."""
    return b"".join([*one.lines, b"\n", *other.lines[other.first :]])


def halves(one: Whole, other: Whole) -> bytes:
    """Return the first half of one log, then the last quarter of the other."""
    return b"".join([*one.lines[: len(one.lines) // 2], *other.lines[-(len(other.lines) // 4) :]])


def in_turn(one: Whole, other: Whole) -> bytes:
    """Return the lines of both logs in turn, from their first records on."""
    pairs = zip(one.lines[one.first :], other.lines[other.first :], strict=False)
    return b"".join([*one.lines[: one.first], *chain.from_iterable(pairs)])


KINDS: Mapping[str, Callable[[Whole, Whole], bytes]] = {"joined": joined, "halves": halves, "in turn": in_turn}


def pairs(logs: Mapping[str, Sequence[Whole]]) -> Iterator[tuple[Whole, Whole]]:
    """Yield each of some logs of a format with the next one, and with the one half of the list away."""
    for _, of_format in sorted(logs.items()):
        ordered = sorted(of_format, key=lambda each: each.path)
        some = ordered[:: max(1, len(ordered) // LOGS)][:LOGS]
        for away in dict.fromkeys([1, len(some) // 2]):
            for at in range(len(some)):
                if away and len(some) > 1:
                    yield some[at], some[(at + away) % len(some)]


def answer(data: bytes, format_id: str, path: Path) -> str:
    """Return the answer of the checks to a joined log."""
    path.write_bytes(data)
    sessions = [each for each in read(path).sessions if each.format.id == format_id and len(each.main)]
    if names := [name for each in sessions if (name := found_by(each))]:
        return names[0]
    if len(sessions) != 1:
        return "sessions" if sessions else "no figure"
    return NOT_FOUND if figure_of(sessions[0]) else "no figure"


@click.command()
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write the answer to each made log into a file.")
def main(table: Path | None) -> None:
    """Print the answers of the checks to logs of two runs and to whole logs."""
    logs, whole = whole_logs()
    rows = []
    with tempfile.TemporaryDirectory(prefix="joined-") as folder:
        for one, other in pairs(logs):
            for kind, make in KINDS.items():
                found = answer(make(one, other), one.format, Path(folder, "train.log"))
                one_pace = max(one.value, other.value) < ONE_PACE * min(one.value, other.value)
                rows.append((kind, one.format, one.path.name, other.path.name, found, int(one_pace)))
    if table:
        with table.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    click.echo(f"{len(logs)} formats, {len(rows) // len(KINDS)} pairs; whole logs: {dict(whole)}")
    for kind in KINDS:
        answers = Counter(row[4] for row in rows if row[0] == kind)
        quiet = sum(row[5] for row in rows if row[0] == kind and row[4] == NOT_FOUND)
        click.echo(f"{kind}: {dict(answers.most_common())}, of those not found {quiet} of one pace")


if __name__ == "__main__":
    main(prog_name="python -m tests.joined")
