"""`python -m parsers FORMAT LOG`: read a log with one format, and print what it quotes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import click

from perfledger.parsers.contract import Format, FormatError
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.registry import by_id, formats
from perfledger.parsers.engine.scan import Noise, ScanError, chunks
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.distinct_lines import without_digits

#: Lines shown that contain a text of the format and were not read.
_UNREAD = 3


@click.command()
@click.argument("format_id", metavar="FORMAT")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rows", default=10, show_default=True, help="Records to print of each reading.")
def main(format_id: str, log: Path, rows: int) -> None:
    """Read LOG with the format FORMAT, such as paddle.seg, and print its claim, records and facts.

    Use it while you write a format: it reads the log with this format whichever claims it, and says which do.
    """
    try:
        format = _format(format_id)
        for line in _report(read(log, format), format, rows):
            click.echo(line)
    except FormatError as error:
        raise click.ClickException(str(error)) from None
    except ScanError as error:
        raise click.ClickException(f"{log}: {error.code} {error.details or ''}") from None


def _format(identifier: str) -> Format:
    """Return the format of an id, or fail with the ids that are close to it."""
    try:
        return by_id(identifier)
    except KeyError:
        close = get_close_matches(identifier, [each.id for each in formats()], n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise click.BadParameter(f"there is no parsers/{identifier.replace('.', '/')}.py.{hint}") from None


def _report(log: Log, format: Format, rows: int) -> Iterator[str]:
    claims = ", ".join(f"{each.format.id} (line {each.line})" for each in log.claims) or "no format"
    yield f"{log.path}: {log.lines} lines, claimed by {claims}"
    if [each.format.id for each in log.claims] != [format.id]:
        yield f"ingest reads a log that exactly one format claims; it would not read this one with {format.id}."
    for session in log.sessions:
        yield from _session(session, rows)
    if not any(len(records) for session in log.sessions for records in session.records):
        yield from _unread(log, format)


def _session(session: Session, rows: int) -> Iterator[str]:
    from tabulate import tabulate

    ending = session.ending
    at = f" (line {ending.line})" if ending.line else ""
    yield f"\nsession {session.number}: lines {session.first_line} to {session.last_line}, {ending.outcome}{at}"
    for number, records in enumerate(session.records):
        if len(records):
            yield f"\nreading {number}: {len(records)} records, in {records.reading.unit or 'no unit'}"
            yield tabulate(_table(records, rows), headers="keys", disable_numparse=True)
    facts = [(name, quoted.value, quoted.line) for name, quoted in session.facts.items()]
    yield "\n" + (tabulate(facts, headers=["fact", "value", "line"]) if facts else "no facts")


def _table(records: SessionRecords, rows: int) -> dict[str, list[object]]:
    first = range(min(rows, len(records)))
    return {"line": [*records.lines(first)]} | {name: records[name][: len(first)].tolist() for name in records.columns}


def _unread(log: Log, format: Format) -> Iterator[str]:
    """Yield the first lines that contain a word of the format's records, to show what the patterns miss."""
    words = {word for each in format.readings for alternatives in each.words[:1] for word in alternatives}
    lines = (
        (number, text, line)
        for chunk in chunks(log.path, Noise())
        for number, line in enumerate(chunk.text.splitlines(), chunk.first_line)
        for text in [each for each in words if each in without_digits(line)][:1]
    )
    found = list(islice(lines, _UNREAD))
    if not found:
        yield f"No record: no line contains {' or '.join(repr(each) for each in sorted(words))}."
    for number, text, line in found:
        yield f"No record: line {number} contains {text!r}, and no reading matches it:\n  {line[:300]!r}"


if __name__ == "__main__":
    sys.exit(main(prog_name="python -m parsers"))
