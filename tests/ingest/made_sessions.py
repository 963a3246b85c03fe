"""Sessions of made-up formats, for lines that the shipped formats do not have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session


def made(pattern: bytes, lines: Sequence[str], folder: Path, **about: Any) -> Session:
    """Return a session of a format with this pattern."""
    path = folder / "train.log"
    text = "".join(f"{each}\n" for each in lines).encode()
    path.write_bytes(text)
    format = Format("made", (Reading(pattern, **about),))
    (session,) = read(path, format).sessions
    return session
