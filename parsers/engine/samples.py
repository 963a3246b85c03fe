"""Load the samples of formats: lines with the values that they yield, and similar lines that must not be read.

They are in `tests/golden/<id>/samples.toml`, or in `formats/golden/<name>/samples.toml` of a user's project for the user's
own formats. An installed package does not contain `tests/golden`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from perfledger import project_folder

_GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
_FILE = "samples.toml"


class Sample(msgspec.Struct, frozen=True):
    """A real line: the values that it yields, by column, or why it must not be read. The line of a pause has neither."""

    text: str
    values: Mapping[str, float] = {}
    why: str = ""

    @property
    def line(self) -> bytes:
        """Return the line as it is in a log."""
        return self.text.encode()


class Samples(msgspec.Struct, frozen=True):
    """All samples of a format: lines that are read, near misses, and pauses."""

    line: tuple[Sample, ...] = ()
    miss: tuple[Sample, ...] = ()
    pause: tuple[Sample, ...] = ()


@cache
def samples_of(identifier: str) -> Samples:
    """Return the samples of the format of an id; those of a format without a file are empty.

    Raises:
        msgspec.ValidationError: the file has another form.
    """
    path = _path(identifier)
    return msgspec.toml.decode(path.read_bytes(), type=Samples) if path.is_file() else Samples()


def _path(identifier: str) -> Path:
    package, _, name = identifier.partition(".")
    if package == "own" and (folder := project_folder()):
        return folder / "formats" / "golden" / name / _FILE
    return _GOLDEN / identifier / _FILE
