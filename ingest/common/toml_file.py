"""Read a TOML file that a person writes into a typed record; a message about it names the line to edit.

msgspec decodes and checks the values. tomllib keeps no positions, so the lines of keys are found by their form, outside
of texts over several lines: headers, keys, and the elements of a list that begin lines. Any other part of a value has
the line of its key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect

from perfledger.ingest.common.documents import DocumentError, read_text
from perfledger.ingest.common.errors import UsageError

Keys = tuple[str | int, ...]
Record = TypeVar("Record")
Other = TypeVar("Other")

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_NAMES})[ \t]*\]")
_KEY = re.compile(rf"[ \t]*({_NAMES})[ \t]*=")
#: A step in the place that msgspec names: a key, the number of an element, or `[...]` for one of a table's own keys.
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")
#: Characters of a value in a message.
_LONGEST_VALUE = 60
#: Bytes that tomllib parses in a second; our longest file has a fifth of that.
_MOST_BYTES = 1 << 20
#: Parts of a dotted key; the memory of tomllib grows with their square.
_MOST_PARTS = 20
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{_MOST_PARTS}}}")
#: Bits of a whole number, as TOML demands.
_MOST_BITS = 64
_TOO_LONG = "it has a number of too many digits"
#: Names that a message lists, at most.
_MOST_NAMES = 30


class FileError(UsageError):
    """A file that a person writes is wrong; the message is `path:line: what is wrong, and what to do`."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(path, line, what)
        self.path, self.line, self.what = path, line, what

    def __str__(self) -> str:
        return (
            f"{display_path(self.path)}:{self.line}: {self.what}"
            if self.line
            else f"{display_path(self.path)}: {self.what}"
        )


@dataclass(frozen=True)
class TomlFile(Generic[Record]):
    """A file as it was read, and its record."""

    path: Path
    source: str
    data: Record

    def line(self, keys: Keys = ()) -> int:
        """Return the line of the value at these keys, or of the value that contains it; from 1."""
        found = (self._lines[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in self._lines)
        return next(found, 1)

    def wrong(self, keys: Keys, what: str) -> FileError:
        """Return an error to raise, at the line of these keys."""
        return FileError(self.path, self.line(keys), f"{_dotted(keys)}: {what}" if keys else what)

    def decoded(self, data: object, kind: type[Other]) -> TomlFile[Other]:
        """Return the file with `data` as a record of another kind.

        Raises:
            FileError: a key is unknown or missing, or has a wrong value.
        """
        try:
            record = msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            raise self.wrong(*_explained(data, kind, error)) from None
        return TomlFile(self.path, self.source, record)

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
                inside = _header_keys(_names(header[2]), arrays, one_more=header[1] == "[[")
                for length in range(1, len(inside) + 1):
                    found.setdefault(inside[:length], number)
            elif key := _KEY.match(line):
                names = _names(key[1])
                for length in range(1, len(names) + 1):
                    found.setdefault((*inside, *names[:length]), number)
                if line.rstrip().endswith("["):
                    opened, element = (*inside, *names), 0
        return found


def read_tables(path: Path) -> TomlFile[dict[str, Any]]:
    """Read a file without decoding it, for a caller that first merges it with others.

    Raises:
        FileError: it cannot be read, or is not TOML.
    """
    try:
        source = read_text(path, _MOST_BYTES).replace("\r\n", "\n")
    except OSError as error:
        raise FileError(path, 0, error.strerror or "cannot be read") from None
    except DocumentError as error:
        raise FileError(path, error.line, str(error)) from None
    if found := _LONG_KEY.search(source):
        raise FileError(
            path, source.count("\n", 0, found.start()) + 1, f"it has a key of more than {_MOST_PARTS} parts"
        )
    try:
        tables = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        line = int(at[1]) if at else source.rstrip().count("\n") + 1
        raise FileError(path, line, f"is not TOML: {error}") from None
    except RecursionError:
        raise FileError(path, 0, "it is nested too deep") from None
    except ValueError:  # Python converts no more than 4,300 digits, but any hexadecimal ones
        raise FileError(path, 0, _TOO_LONG) from None
    if any(each.bit_length() > _MOST_BITS for each in _whole_numbers(tables)):
        raise FileError(path, 0, _TOO_LONG)
    return TomlFile(path, source, tables)


def read(path: Path, kind: type[Record]) -> TomlFile[Record]:
    """Read a file as a record: a msgspec Struct, or a dictionary of them.

    A Struct may refuse a value in `__post_init__` by a WrongValueError. Messages describe the expected value by the
    Struct's `expected`, or by the description of an annotation; they suggest the examples of an annotation.

    Raises:
        FileError: it cannot be read, is not TOML, lacks a key, or has an unknown key or a wrong value.
    """
    tables = read_tables(path)
    return tables.decoded(tables.data, kind)


def record(data: object, kind: type[Record]) -> Record:
    """Return data that is not TOML, such as a row of a table or a JSON object, as a record.

    Raises:
        ValueError: a key is unknown or missing, or has a wrong value.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        keys, what = _explained(data, kind, error)
        raise ValueError(f"{_dotted(keys)}: {what}" if keys else what) from None


def one_of(*names: str, pattern: str = "", like: str = "") -> msgspec.Meta:
    """Return the constraint of a text that is one of some names, or has a pattern, which messages show as `like`."""
    alternatives = "|".join([*map(re.escape, names), *filter(None, [pattern])])
    known = ", ".join(each for each in (*names, like) if each)
    return msgspec.Meta(pattern=rf"^(?:{alternatives})\Z", description=f"one of {known}", examples=list(names))


def display_path(path: Path) -> str:
    """Return a path relative to the current folder if it is below it."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError, RuntimeError):  # of links that lead back to themselves, the last
        return str(path)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name: the most similar known names, or else all if there are few."""
    names = sorted(known)
    if near := difflib.get_close_matches(name, names, n=2):
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known are {', '.join(names)}" if 0 < len(names) <= _MOST_NAMES else ""


def _whole_numbers(data: object) -> Iterator[int]:
    if isinstance(data, int):
        yield data
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _whole_numbers(each)


def _explained(data: object, kind: Any, error: Exception) -> tuple[Keys, str]:
    """Return the keys of the fault that msgspec found, and the fault in our words."""
    what, _, place = str(error).partition(" - at `")
    keys = _located(data, kind, error, place)
    types = inspect.type_info(kind)
    name = next(iter(re.findall("`([^`]*)`", what)), "")
    if what.startswith("Object contains unknown"):
        return (*keys, name), f"unknown key{did_you_mean(name, _fields(_type_at(types, keys)))}"
    if what.startswith("Object missing"):
        return keys, f"the key {name!r} is missing; add it"
    if place.startswith("key`"):
        table = next(each for each in _alternatives(_type_at(types, keys[:-1])) if hasattr(each, "key_type"))
        return keys, f"unknown key: {_fault(table.key_type, keys[-1])}"
    if what.startswith(("Expected `", "Invalid enum")):
        return keys, _fault(_type_at(types, keys), _value_at(data, keys))
    return (*keys, *getattr(error.__cause__, "keys", ())), what


def _located(data: object, kind: Any, error: Exception, place: str) -> Keys:
    """Return the keys of the place that msgspec names; it writes `[...]` for every key of a dictionary."""
    keys: Keys = ()
    for key, index, any_key in _STEP.findall(place):
        keys = (*keys, _culprit(data, kind, error, keys) if any_key else key or int(index))
    return (*keys, _culprit(data, kind, error, keys)) if place.startswith("key`") else keys


def _culprit(data: object, kind: Any, error: Exception, keys: Keys) -> str:
    """Return the key of a dictionary that causes the error: the first that causes it alone."""
    entries = _value_at(data, keys)
    for name in entries:
        try:
            msgspec.convert(_with(data, keys, {name: entries[name]}), kind)
        except msgspec.ValidationError as same:
            if str(same) == str(error):
                return str(name)
    return str(next(iter(entries)))


def _value_at(data: Any, keys: Keys) -> Any:
    for key in keys:
        data = data[key]
    return data


def _with(data: Any, keys: Keys, value: object) -> Any:
    """Return the data with another value at these keys."""
    if not keys:
        return value
    inner = _with(data[keys[0]], keys[1:], value)
    if isinstance(data, Mapping):
        return {**data, keys[0]: inner}
    return [inner if index == keys[0] else each for index, each in enumerate(data)]


def _type_at(info: Any, keys: Keys) -> Any:
    """Return msgspec's description of the type at these keys, without those of unions that do not have them."""
    for key in keys:
        for each in _alternatives(info):
            if isinstance(each, inspect.StructType) and isinstance(key, str):
                info = next((field.type for field in each.fields if field.encode_name == key), info)
            elif isinstance(each, inspect.DictType) and isinstance(key, str):
                info = each.value_type
            elif isinstance(each, inspect.ListType | inspect.VarTupleType) and isinstance(key, int):
                info = each.item_type
    return info


def _alternatives(info: Any) -> Sequence[Any]:
    plain = _plain(info)
    return [_plain(each) for each in plain.types] if isinstance(plain, inspect.UnionType) else [plain]


def _plain(info: Any) -> Any:
    return info.type if isinstance(info, inspect.Metadata) else info


def _fields(info: Any) -> list[str]:
    return [field.encode_name for each in _alternatives(info) for field in getattr(each, "fields", ())]


def _fault(info: Any, value: object) -> str:
    """Return the expected value of a key, the actual one, and a suggestion."""
    extra = getattr(info, "extra_json_schema", None) or {}
    kinds = dict.fromkeys(_kind(each) for each in _alternatives(info))
    literals = [value for each in _alternatives(info) for value in getattr(each, "values", ())]
    choices = [*extra.get("examples", ()), *literals]
    near = difflib.get_close_matches(value, map(str, choices), n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"expected {extra.get('description') or ' or '.join(filter(None, kinds))}, got {_value(value)}{hint}"


def _kind(info: Any) -> str:
    if isinstance(info, inspect.LiteralType):
        return f"one of {', '.join(str(each) for each in info.values if each != '')}"
    if expected := getattr(getattr(info, "cls", None), "expected", None):
        return str(expected)
    names: dict[type, str] = {
        inspect.StrType: "a text", inspect.BoolType: "true or false", inspect.FloatType: "a number",
        inspect.DictType: "a table", inspect.StructType: "a table", inspect.ListType: "a list",
        inspect.VarTupleType: "a list",
    }  # fmt: skip
    if isinstance(info, inspect.IntType):
        return "a positive whole number" if info.ge == 1 else "a whole number"
    name = names.get(type(info), "")
    return f"{name} that is not empty" if name and getattr(info, "min_length", None) else name


def _value(value: object) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, Mapping):
        return "a table"
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _dotted(keys: Keys) -> str:
    """Return keys as a message shows them: `block[2].rows`."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in keys).removeprefix(".")


def _code(source: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, without those inside a text over several lines."""
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


def _header_keys(names: Keys, arrays: dict[Keys, int], *, one_more: bool) -> Keys:
    """Return the keys of a header's table; the name of an array of tables is followed by the table's number, from 0."""
    inside: Keys = ()
    for index, name in enumerate(names):
        inside = (*inside, name)
        if one_more and index == len(names) - 1:
            arrays[inside] = arrays.get(inside, -1) + 1
        if inside in arrays:
            inside = (*inside, arrays[inside])
    return inside
