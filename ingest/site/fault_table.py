"""Faults that Perfledger is tested against: the promise, the effect for a user, and the tests of the promise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from perfledger import TEMPLATES
from perfledger.ingest.common import numbers
from perfledger.ingest.common.toml_file import read
from perfledger.ingest.common.words import phrase
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, cell

HEAD = ("fault", "promise", "seen", "tried", "tests")


class PromiseTests(Struct, frozen=True, forbid_unknown_fields=True):
    """The tests of a promise, as pytest names them, and the number of cases in their long form."""

    tests: tuple[str, ...]
    tried: int


@cache
def faults() -> Mapping[str, PromiseTests]:
    """Return the faults by name, in the order of the file."""
    return read(TEMPLATES / "faults.toml", dict[str, PromiseTests]).data


def _name(test: str) -> str:
    return test.partition("::")[2]


def table() -> Table:
    """Return a row for each fault."""
    rows = (
        (
            *(cell(phrase(f"fault.{name}{part}")) for part in ("", "_promise", "_seen")),
            cell(numbers.count(found.tried), value=found.tried),
            Cell(tuple(Entry(_name(each)) for each in found.tests)),
        )
        for name, found in faults().items()
    )
    columns = (Column(phrase(f"fault.{each}"), each == "tried") for each in HEAD)
    return Table(tuple(columns), tuple(rows), name="faults", prose=True)
