"""Remember the last build into a folder and its messages, which are printed again if no file has changed.

Changes are found by names, sizes and times of the files that the build read and wrote.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from perfledger.ingest.build import Inputs
from perfledger.ingest.common import sources
from perfledger.ingest.common.cache import key_of
from perfledger.ingest.common.documents import MOST_OF_TABLE, read_bytes
from perfledger.ingest.common.files import notes, write_if_changed
from perfledger.ingest.read.objects import is_url
from perfledger.schema.records import from_text

_NOTE = "last_build.json"


class Printed(msgspec.Struct, frozen=True):
    """The output of a build: messages, and a table of the runs; `pages` counts the files of the site."""

    messages: tuple[str, ...]
    table: str
    pages: int
    status: int


class LastBuild(msgspec.Struct, frozen=True):
    """A build: a hash of its command and all inputs, a hash of the files that it left, and its output."""

    asked: str
    left: str
    printed: Printed


def asked(inputs: Inputs, *options: object) -> str:
    """Return a hash of everything that a build depends on; empty if the times of files do not show every change.

    They do not for object stores, for single logs, which may have other files next to them, and just after a change.
    """
    if inputs.stores or is_url(inputs.ledger) or not all(each.is_dir() for each in inputs.paths):
        return ""
    state, settled_at = sources.looked_at([*inputs.paths, *inputs.published, *sources.beside_logs(inputs.layout)])
    # Installing a library changes the folder that contains it.
    libraries = Path(click.__file__).parents[1].stat().st_mtime_ns
    if settled_at >= time.time_ns():
        return ""
    return key_of(sys.version, str(libraries), str(Path.cwd()), repr(inputs), repr(options), state)


def repeated(asked: str, inputs: Inputs) -> Printed | None:
    """Return the output of the last build, if it is the same build and the files that it left are unchanged."""
    try:
        last = from_text(read_bytes(notes(inputs.out) / _NOTE, MOST_OF_TABLE), LastBuild)
    except (OSError, ValueError):
        return None
    return last.printed if asked and asked == last.asked and last.left == _left(inputs) else None


def note(asked: str, inputs: Inputs, printed: Printed) -> None:
    """Note a build once all of it is written. The note may be lost: the next build then reads again."""
    with suppress(OSError):
        write_if_changed(notes(inputs.out) / _NOTE, msgspec.json.encode(LastBuild(asked, _left(inputs), printed)))


def _left(inputs: Inputs) -> str:
    return sources.fingerprint([inputs.out, *([Path(inputs.ledger)] if inputs.ledger else [])])
