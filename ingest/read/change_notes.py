"""Notes of people about changes, such as a new driver, in `changes.toml` at the top of a folder of logs.

The file is append-only: an entry says what was known when it was written, and is not edited afterwards.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from perfledger.ingest.common import suites
from perfledger.ingest.common.optional_file import read_if_there
from perfledger.ingest.common.suites import folded
from perfledger.ingest.common.words import WordsEntry
from perfledger.schema.records import Problem, WrongValueError

FILE = "changes.toml"

Link = Annotated[str, Meta(pattern=r"^(?:https://\S+)?\Z", description="an address that begins with https://")]


class ChangeNote(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An entry: what changed, since which day, version or round, and which results it is about.

    `model`, `framework` and `hardware` are named as in the results; an empty one means all.
    """

    text: WordsEntry
    date: dt.date | None = None
    version: str = ""
    round: str = ""
    model: str = ""
    framework: str = ""
    hardware: str = ""
    link: Link = ""

    def __post_init__(self) -> None:
        if self.date is None and not self.version and not self.round:
            raise WrongValueError((), "says not when; add date, version or round")

    def is_about(self, model: str, framework: str, hardware: str) -> bool:
        """Return whether it is about results of a model, a framework and a hardware."""
        pairs = ((suites.model(self.model), model), (self.framework, framework), (self.hardware, hardware))
        return all(not own or folded(own) == folded(other) for own, other in pairs)

    def is_between(self, before: str, after: str) -> bool:
        """Return whether its day lies after one date and not after another; always where it names no day."""
        return self.date is None or (bool(after) and before < self.date.isoformat() <= after)


class ChangesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The entries in the order of the file."""

    change: tuple[ChangeNote, ...] = ()


@dataclass(frozen=True)
class ChangeNotes:
    """The entries of all files, in their order."""

    notes: tuple[ChangeNote, ...] = ()
    problems: tuple[Problem, ...] = ()


def found(paths: Iterable[Path]) -> ChangeNotes:
    """Return the entries of the files directly below the given paths.

    A file with a fault is a problem, and is not used.
    """
    notes: list[ChangeNote] = []
    problems: list[Problem] = []
    for path in (each / FILE for each in paths):
        if file := read_if_there(path, ChangesFile, problems):
            notes += file.data.change
    return ChangeNotes(tuple(notes), tuple(problems))
