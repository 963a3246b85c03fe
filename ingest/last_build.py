"""The command of the last build into a folder, and what it printed: where nothing has changed, it is printed again.

Names, sizes and times of files tell whether anything has changed, both of what is read and of what was written.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from perfledger.ingest.build import Inputs
from perfledger.ingest.common import sources
from perfledger.ingest.common.cache import key_of
from perfledger.ingest.common.documents import MOST_OF_TABLE, decoded, read_bytes
from perfledger.ingest.common.files import is_settled, notes, write_if_changed
from perfledger.ingest.read.objects import is_url

_NOTE = "last_build.json"


class Printed(msgspec.Struct, frozen=True):
    """What a build prints: messages, and a table of what was read; `pages` counts the files of the site."""

    messages: tuple[str, ...]
    table: str
    pages: int
    status: int


class LastBuild(msgspec.Struct, frozen=True):
    """A build: hashes of its command with all that it reads, and of the files that it left, and what it printed."""

    asked: str
    left: str
    printed: Printed


def asked(inputs: Inputs, *options: object) -> str:
    """Return a hash of all that a build depends on; empty where the times of files do not show every change.

    They do not for object stores, for single logs, beside which other files may lie, and just after a change.
    """
    if inputs.stores or is_url(inputs.ledger) or not all(each.is_dir() for each in inputs.paths):
        return ""
    state, newest = sources.looked_at([*inputs.paths, *inputs.published, *sources.beside_logs(inputs.layout)])
    # Installing a library changes the folder that holds it.
    libraries = Path(click.__file__).parents[1].stat().st_mtime_ns
    settled = is_settled([0, 0, newest])
    return key_of(sys.version, str(libraries), str(Path.cwd()), repr(inputs), repr(options), state) if settled else ""


def repeated(asked: str, inputs: Inputs) -> Printed | None:
    """Return what the last build printed, if it is the same build and none of the files that it left has changed."""
    try:
        last = decoded(read_bytes(notes(inputs.out) / _NOTE, MOST_OF_TABLE), LastBuild)
    except (OSError, ValueError):
        return None
    return last.printed if asked and asked == last.asked and last.left == _left(inputs) else None


def note(asked: str, inputs: Inputs, printed: Printed) -> None:
    """Note a build once all of it is written. The note may be lost: the next build then reads again."""
    with suppress(OSError):
        write_if_changed(notes(inputs.out) / _NOTE, msgspec.json.encode(LastBuild(asked, _left(inputs), printed)))


def _left(inputs: Inputs) -> str:
    return sources.fingerprint([inputs.out, *([Path(inputs.ledger)] if inputs.ledger else [])])
