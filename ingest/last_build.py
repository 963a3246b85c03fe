"""What the last build into a folder was asked, and what it printed: asked the same again, nothing need be read.

Names, sizes and times of files tell whether anything changed, both of what is read and of what was written.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from ingest.build import Inputs
from ingest.common import sources
from ingest.common.cache import key_of
from ingest.common.files import is_settled, notes, write_if_changed
from ingest.read.objects import is_url

_NOTE = "last_build.json"


class Printed(msgspec.Struct, frozen=True):
    """What a build prints: messages, and a table of what was read; `pages` counts the files of the site."""

    messages: tuple[str, ...]
    table: str
    pages: int
    status: int


class LastBuild(msgspec.Struct, frozen=True):
    """A build: hashes of what it was asked and of what it left, and what it printed."""

    asked: str
    left: str
    printed: Printed


def asked(inputs: Inputs, *options: object) -> str:
    """Return a hash of all that a build depends on; empty where files and their times do not tell it.

    They do not for object stores, for single logs, which other files may lie beside, and for a moment after a change.
    """
    if inputs.stores or is_url(inputs.ledger) or not all(each.is_dir() for each in inputs.paths):
        return ""
    code = (Path(sources.__file__).parents[2] / each for each in sources.CODE)
    state, newest = sources.looked_at([*inputs.paths, *inputs.published, Path(inputs.layout), *code])
    # A library that was installed changes its folder.
    libraries = Path(click.__file__).parents[1].stat().st_mtime_ns
    settled = is_settled([0, 0, newest])
    return key_of(sys.version, str(libraries), str(Path.cwd()), repr(inputs), repr(options), state) if settled else ""


def repeated(asked: str, inputs: Inputs) -> Printed | None:
    """Return what the last build printed, if it was asked the same and nothing that it left has changed."""
    try:
        last = msgspec.json.decode((notes(inputs.out) / _NOTE).read_bytes(), type=LastBuild)
    except (OSError, ValueError, RecursionError):
        return None
    return last.printed if asked and asked == last.asked and last.left == _left(inputs) else None


def note(asked: str, inputs: Inputs, printed: Printed) -> None:
    """Note what a build was asked, and printed, once all of it is written."""
    write_if_changed(notes(inputs.out) / _NOTE, msgspec.json.encode(LastBuild(asked, _left(inputs), printed)))


def _left(inputs: Inputs) -> str:
    return sources.fingerprint([inputs.out, *([Path(inputs.ledger)] if inputs.ledger else [])])
