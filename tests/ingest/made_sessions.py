"""Sessions of made-up lines, and of made-up formats for lines that the shipped formats do not have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session


def session_of(lines: Iterable[str], folder: Path, *format: Format) -> Session:
    """Return the only session of these lines, read by `format`, or else by the format that claims them."""
    path = folder / "train.log"
    path.write_bytes("".join(f"{each}\n" for each in lines).encode())
    (session,) = read(path, *format).sessions
    return session


def made(pattern: bytes, lines: Iterable[str], folder: Path, **about: Any) -> Session:
    """Return a session of a format with this pattern."""
    return session_of(lines, folder, Format("made", (Reading(pattern, **about),)))
