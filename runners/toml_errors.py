"""Messages for a mistake in a TOML file: its line, its key, what is there, what must be, and the nearest spelling."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from perfledger.runners.job import RunnerError

T = TypeVar("T", bound=Struct)
R = TypeVar("R")

# Lines of a TOML file: the header of a table, and a key.
_KEY_TEXT = r"""(?:"([^"]+)"|'([^']+)'|([\w-]++))"""
_HEADER = re.compile(rf"\s*\[(\[?)\s*({_KEY_TEXT}(?:\s*\.\s*{_KEY_TEXT})*+)\s*\]\]?\s*(?:#.*)?$")
_KEY_LINE = re.compile(rf"\s*{_KEY_TEXT}\s*=")

#: A table of a TOML file, as tomllib gives it.
Table = Mapping[str, Any]
#: Keys on the way to a value of a file; the number of a table in a list of tables is one, too.
Keys = tuple[str | int, ...]


class FaultError(Exception):
    """A mistake at some keys of a file; the reader of the file adds path and line."""

    def __init__(self, keys: Keys, what: str) -> None:
        super().__init__(what)
        self.keys = keys


def read_toml(path: Path, what: str, reader: Callable[[bytes, Table], R]) -> R:
    """Return what a reader makes of a TOML file, by its bytes and tables; `what` the file is, for messages.

    Raises:
        RunnerError: it cannot be read, is not TOML, or its reader found a mistake; the message names the line.
    """
    text = ""
    try:
        content = path.read_bytes()
        text = content.decode()
        return reader(content, tomllib.loads(text))
    except OSError as error:
        raise RunnerError(f"{path}: this {what} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RunnerError(f"{path}:{line}: is not UTF-8; save the file in that encoding") from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), ", str(error))  # else it is at the end
        line = int(found[1]) if found else text.count("\n") + 1
        raise RunnerError(f"{path}:{line}: is not TOML: {error}") from error
    except FaultError as fault:
        raise RunnerError(f"{path}:{line_of(text, fault.keys)}: {fault}") from fault


def decoded(tables: Table, kind: type[T], file: str, at: tuple[str, ...] = ()) -> T:
    """Return tables of a file as a record.

    Args:
        tables: as TOML gives them.
        kind: the record.
        file: what the file is, for messages: `a recipe`.
        at: the keys at which the tables lie in it.

    Raises:
        FaultError: a key is unknown or missing, or its value has another type.
    """
    try:
        return msgspec.convert(tables, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise _explained(what, tuple(re.findall(r"\.(\w+)", place)), tables, kind, file, at) from error


def _explained(
    what: str, keys: tuple[str, ...], tables: Table, kind: type[Struct], file: str, at: tuple[str, ...]
) -> FaultError:
    """Return the fault that msgspec found, in our words: the value, the expected values, and the nearest spelling."""
    name, whole = next(iter(re.findall("`([^`]*)`", what)), ""), (*at, *keys)
    if what.startswith("Object missing"):
        return FaultError(whole, f"the key `{'.'.join((*whole, name))}` is missing; add it")
    if what.startswith("Object contains unknown"):
        known = _struct_at(kind, keys).__struct_fields__
        remedy = nearest(name, known) or f"the keys here are {', '.join(known)}"
        return FaultError((*whole, name), f"`{'.'.join((*whole, name))}` is not a key of {file}; {remedy}")
    value: Any = tables
    for key in keys:
        value = value[key]
    hint = get_type_hints(_struct_at(kind, keys[:-1]), include_extras=True)[keys[-1]]
    return FaultError(whole, f"`{'.'.join(whole)}` is {value!r}, but must be {_expected(hint, value)}")


def _struct_at(found: type[Struct], keys: Iterable[str]) -> type[Struct]:
    for key in keys:
        hint = get_type_hints(found)[key]
        found = next(each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, Struct))
    return found


def _expected(hint: Any, value: object) -> str:
    """Return what a key takes, from the description of its type, and the permitted value nearest to `value`."""
    meta = next((each for each in get_args(hint) if isinstance(each, Meta)), Meta())
    description = meta.description
    choices = meta.examples or [each for each in get_args(next(iter(get_args(hint)), None)) if isinstance(each, str)]
    near = nearest(str(value), choices)
    kind = "a text" if hint is str else "a table"
    return f"{description or kind}; {near}" if near else description or kind


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `did you mean NAME?` with the nearest known name; empty if no name is near."""
    similar = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{similar[0]}`?" if similar else ""


def wrong(keys: Keys, value: object, why: str) -> FaultError:
    """Return the fault of a value."""
    name = ".".join(key for key in keys if isinstance(key, str))
    return FaultError(keys, f"`{name}` is {value!r}, but {why}")


def line_of(text: str, keys: Keys) -> int:
    """Return the line of the value at these keys, or of the table around it; 1 where neither is found."""
    lines: dict[Keys, int] = {}
    for found, number in _key_lines(text):
        lines.setdefault(found, number)
    for length in range(len(keys), 0, -1):
        # The text has no number of a table that is the only one.
        for each in (keys[:length], tuple(key for key in keys[:length] if isinstance(key, str))):
            if each in lines:
                return lines[each]
    return 1


def _key_lines(text: str) -> Iterator[tuple[Keys, int]]:
    """Yield the keys of a TOML text with their lines; tomllib keeps no positions.

    A table of `[[matrix]]` has its number as a key; anything inside a value has the line of its key.
    """
    table: Keys = ()
    count, in_text = 0, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not in_text and (header := _HEADER.match(line)):
            table = tuple("".join(key) for key in re.findall(_KEY_TEXT, header[2]))
            yield table, number
            if header[1]:
                table, count = (*table, count), count + 1
                yield table, number
        elif not in_text and (key := _KEY_LINE.match(line)):
            yield (*table, key[1] or key[2] or key[3]), number
        in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
