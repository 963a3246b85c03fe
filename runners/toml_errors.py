"""Messages for a mistake in a TOML file: its line, its key, what must be there, and the nearest spelling."""

from __future__ import annotations

import difflib
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from perfledger.runners.job import RunnerError

T = TypeVar("T", bound=Struct)
R = TypeVar("R")

#: Keys on the way to a value of a file; the number of a table in a list of tables is one, too.
Keys = tuple[str | int, ...]
#: A text over several lines, in which nothing is a key.
_LONG_TEXT = re.compile(r"""(\"{3}|'{3}).*?\1""", re.DOTALL)


class FaultError(Exception):
    """A mistake at some keys of a file; the reader of the file adds path and line."""

    def __init__(self, keys: Keys, what: str) -> None:
        super().__init__(what)
        self.keys = keys


def read_toml(path: Path, kind: type[T], what: str, reader: Callable[[bytes, T], R]) -> R:
    """Return what a reader makes of a TOML file, by its bytes and its record; `what` the file is, for messages.

    Raises:
        RunnerError: it cannot be read, is not TOML, or has a mistake; the message names the line.
    """
    text = ""
    try:
        content = path.read_bytes()
        text = content.decode()
        return reader(content, _decoded(tomllib.loads(text), kind, what))
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


def _decoded(tables: object, kind: type[T], what: str) -> T:
    """Return the tables of a file as a record; raise a fault in our words."""
    try:
        return msgspec.convert(tables, kind)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `")
        # Without the keys that the author chose, which msgspec does not name.
        keys = tuple(re.findall(r"\.(\w+)", place))
        name = next(iter(re.findall("`([^`]*)`", said)), "")
        if said.startswith("Object missing"):
            raise FaultError(keys, f"the key `{dotted((*keys, name))}` is missing; add it") from error
        if said.startswith("Object contains unknown"):
            known = _struct_at(kind, keys).__struct_fields__
            remedy = nearest(name, known) or f"the keys here are {', '.join(known)}"
            raise FaultError((*keys, name), f"`{dotted((*keys, name))}` is not a key of a {what}; {remedy}") from error
        hint = get_type_hints(_struct_at(kind, keys[:-1]), include_extras=True)[keys[-1]]
        description = next((each.description for each in get_args(hint) if isinstance(each, Meta)), None)
        raise wrong(keys, f"must be {description or ('a text' if hint is str else 'a table')}") from error


def _struct_at(found: type[Struct], keys: Iterable[str]) -> type[Struct]:
    for key in keys:
        found = next(_structs(get_type_hints(found)[key]))
    return found


def _structs(hint: object) -> Iterator[type[Struct]]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for each in get_args(hint):
        yield from _structs(each)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `did you mean NAME?` with the nearest known name; empty if no name is near."""
    similar = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{similar[0]}`?" if similar else ""


def wrong(keys: Keys, why: str) -> FaultError:
    """Return the fault of a value."""
    return FaultError(keys, f"`{dotted(keys)}` {why}")


def dotted(keys: Keys) -> str:
    """Return keys as a message shows them."""
    return ".".join(key for key in keys if isinstance(key, str))


def line_of(text: str, keys: Keys) -> int:
    """Return the line of the value at these keys, or of the table around it, from 1; tomllib keeps no positions."""
    text = _LONG_TEXT.sub(lambda found: re.sub(".", " ", found[0]), text)
    at, pattern = 0, re.compile("")
    for key in keys:
        if isinstance(key, str):
            name = rf"[\"']?{re.escape(key)}[\"']?[ \t]*"
            pattern = re.compile(rf"^[ \t]*(?:\[\[?(?:.*\.)?[ \t]*{name}\]|{name}=)", re.MULTILINE)
            found = pattern.search(text, at)
        else:
            found = next(itertools.islice(pattern.finditer(text, at), key, None), None)
        at = found.start() if found else at
    return text.count("\n", 0, at) + 1
