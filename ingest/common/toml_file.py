"""A TOML file that a person writes, with the line of every key: a message about it names the line to edit.

tomllib keeps no positions. Headers, keys and the elements of a list that begin lines are found by their form, outside
of texts over several lines; what stands further inside a value has the line of its key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ingest.common.errors import UsageError

Keys = tuple[str | int, ...]
Kinds = type | tuple[type, ...]

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_NAMES})[ \t]*\]")
_KEY = re.compile(rf"[ \t]*({_NAMES})[ \t]*=")
_SAID = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class FileError(UsageError):
    """A file that a person writes is wrong; the message is `path:line: what is wrong, and what to do`."""


@dataclass(frozen=True)
class TomlFile:
    """A file as it was read. `error` is the kind of exception that speaks of it."""

    path: Path
    source: str
    data: Mapping[str, Any]
    error: type[FileError] = FileError

    def line(self, keys: Keys = ()) -> int:
        """The line of the value at these keys, or of what surrounds it, as closely as it is known; from 1."""
        found = (self._lines[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in self._lines)
        return next(found, 1)

    def wrong(self, keys: Keys, what: str) -> FileError:
        """An error to raise, at the line of these keys."""
        return self.error(f"{shown(self.path)}:{self.line(keys)}: {what}")

    def check(self, keys: Keys, given: Any, known: Mapping[str, Kinds], named: str = "") -> None:
        """Raises for a value that is no table, and for keys of it that are unknown or hold another kind of value."""
        place = f"{named}: " if named else ""
        if not isinstance(given, Mapping):
            raise self.wrong(keys, f"{place}{_kind(given)} stands where a table is expected")
        for key, value in given.items():
            if key not in known:
                raise self.wrong((*keys, key), f"{place}unknown key {key!r}{instead(key, known)}")
            if not isinstance(value, known[key]) or (isinstance(value, bool) and known[key] is int):
                raise self.wrong((*keys, key), f"{place}{key} is {_kind(value)}; it has to be {_expected(known[key])}")

    @cached_property
    def _lines(self) -> Mapping[Keys, int]:
        found: dict[Keys, int] = {}
        arrays: dict[Keys, int] = {}
        inside: Keys = ()
        opened: Keys = ()
        element = 0
        for number, line in _code(self.source):
            if opened and not line.lstrip().startswith("]"):
                found[(*opened, element)] = number
                element += bool(line.strip()) and not line.lstrip().startswith("#")
                continue
            opened = ()
            if header := _HEADER.match(line):
                inside = _placed(_names(header[2]), arrays, one_more=header[1] == "[[")
                found.setdefault(inside, number)
            elif key := _KEY.match(line):
                names = _names(key[1])
                for length in range(1, len(names) + 1):
                    found.setdefault((*inside, *names[:length]), number)
                if line.rstrip().endswith("["):
                    opened, element = (*inside, *names), 0
        return found


def read(path: Path, error: type[FileError] = FileError) -> TomlFile:
    """Reads a file.

    Raises:
        FileError: it cannot be read, or is no TOML; `error` says which kind.
    """
    try:
        source = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        return TomlFile(path, source, tomllib.loads(source), error)
    except OSError as fault:
        raise error(f"{shown(path)}: {fault.strerror or 'cannot be read'}") from None
    except UnicodeDecodeError as fault:
        raise error(f"{shown(path)}:{line_of_byte(fault)}: is not UTF-8; save the file in that encoding") from None
    except tomllib.TOMLDecodeError as fault:
        at = re.search(r"\(at line (\d+)", str(fault))
        line = int(at[1]) if at else source.rstrip().count("\n") + 1
        raise error(f"{shown(path)}:{line}: no TOML: {fault}") from None


def line_of_byte(fault: UnicodeDecodeError) -> int:
    """The line of the first byte that is no UTF-8."""
    return fault.object[: fault.start].count(b"\n") + 1


def shown(path: Path) -> str:
    """A path as a person would type it from where they stand."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path)


def instead(name: str, known: Iterable[str]) -> str:
    """What may have been meant by an unknown name: the nearest known ones, or else all, where those are few."""
    names = sorted(known)
    if near := difflib.get_close_matches(name, names, n=2):
        return f"; is it {' or '.join(map(repr, near))}?"
    return f"; known are {', '.join(names)}" if 0 < len(names) <= 30 else ""


def _code(source: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that a text over several lines goes on in."""
    closing = ""
    for number, line in enumerate(source.split("\n"), 1):
        if not closing:
            yield number, line
        for mark in re.findall(r'"""|\'\'\'|#' if not closing else re.escape(closing), line):
            if mark == "#" and not closing:
                break
            closing = "" if mark == closing else closing or mark


def _names(written: str) -> Keys:
    return tuple(each.strip("\"'") for each in re.findall(_NAME, written))


def _placed(names: Keys, arrays: dict[Keys, int], *, one_more: bool) -> Keys:
    """Where a header's table lies: a name of an array of tables is followed by the number of the table, from 0."""
    inside: Keys = ()
    for index, name in enumerate(names):
        inside = (*inside, name)
        if one_more and index == len(names) - 1:
            arrays[inside] = arrays.get(inside, -1) + 1
        if inside in arrays:
            inside = (*inside, arrays[inside])
    return inside


def _kind(value: object) -> str:
    return _SAID.get(type(value), f"a {type(value).__name__}")


def _expected(kind: Kinds) -> str:
    kinds = (kind,) if isinstance(kind, type) else kind
    return " or ".join(_SAID.get(each, each.__name__) for each in kinds)
