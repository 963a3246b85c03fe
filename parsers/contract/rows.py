"""Rows: lines that contain an object in JSON, or a dictionary as Python prints it, read by key.

    Rows("DLLL ", "type == LOG", step="step[-1]", throughput="data.train.total_ips", loss="data.train.loss?")

The first argument is the text before the object, and may go on into it: `{"timestamp":`. `^` at its beginning is the
beginning of a line. Conditions follow, and a path for each column.

`data.train.loss`       the key `data.train.loss`, or else `train.loss` in the object `data`, and so on
`step[-1]`              an item of a list
`step[1]|step`          the first of several paths that prints a value
`data.{train_|}ips`     one of several keys: `train_ips` or `ips`; only the last key may have several names
`loss?`                 a column that a row may lack; a row that lacks another one is not a record

`type == LOG`           the condition that a value is printed so, apart from quotes and blanks
`data.loss|data.mlm`    the condition that one of some paths is present
`!data.val_loss`        the condition that a path is absent

A value is a number or a text, and is quoted as it is printed. A line whose object is not complete is not a record. The
time is linear in the size of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any

import msgspec

from perfledger.parsers.contract.literals import Alternatives, literals, longest
from perfledger.parsers.contract.patterns import FormatError, compiled

#: An object by key. A value is bytes as printed (`msgspec.Raw`) until somebody asks for what it contains.
Object = dict[str, Any]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
#: What Python prints differently from JSON: text in single quotes, words, tuples. `NaN` and `Infinity` are not JSON.
_SPELLING = re.compile(
    rb"'(?P<text>(?:[^'\\]|\\.)*+)'|\"(?:[^\"\\]|\\.)*+\""
    rb"|(?P<number>-?+\b(?:NaN|nan|Infinity|inf)\b)|\b(?P<word>True|False|None)\b|(?P<bracket>[()])"
)
_JSON_WORDS = {b"True": b"true", b"False": b"false", b"None": b"null"}
_JSON_BRACKETS = {b"(": b"[", b")": b"]"}
_PATH = re.compile(r"(?P<key>[^\[\]?]+)(?P<items>(?:\[-?[0-9]+\])*)\Z")
_ITEM = re.compile(r"-?[0-9]+")
_NAMES = re.compile(r"\{([^{}]*)\}")
_ALTERNATIVE = re.compile(r"\|(?![^{}]*\})")
#: Stretches of text whose objects are kept for the format's next reading.
_STRETCHES = 2
#: Kinds of objects, by their keys, for which the one key of several is kept.
_KINDS = 1024


class Row:
    """A record of `Rows`, with the methods of a match of a pattern by which logs are read."""

    __slots__ = ("_columns", "_end", "_start", "_values")

    def __init__(self, columns: Mapping[str, int], values: tuple[bytes | None, ...], start: int, end: int) -> None:
        self._columns = columns
        self._values = values
        self._start = start
        self._end = end

    def start(self) -> int:
        """Return where the text before the object begins."""
        return self._start

    def end(self) -> int:
        """Return where the line ends."""
        return self._end

    def groups(self, default: bytes) -> tuple[bytes, ...]:
        """Return what is printed for each column, or a default where the row lacks it."""
        return tuple(default if each is None else each for each in self._values)

    def groupdict(self) -> dict[str, bytes | None]:
        """Return what is printed, by column; None where the row lacks it."""
        return dict(zip(self._columns, self._values, strict=True))

    def __getitem__(self, column: str) -> bytes | None:
        """Return what is printed for a column; None if the row lacks it."""
        return self._values[self._columns[column] - 1]


@dataclass(frozen=True, init=False)
class Rows:
    """Lines with an object, by prefix, conditions and paths (see the module's docstring).

    Attributes:
        prefix: the text before the object, with the object's first bracket and perhaps what follows it.
        conditions: what must be true of the object, or the line is not a record.
        columns: (name, path) of each column.

    Raises:
        FormatError: a path is not one.
    """

    prefix: str
    conditions: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]

    def __init__(self, prefix: str, *conditions: str, **columns: str) -> None:
        object.__setattr__(self, "prefix", prefix if "{" in prefix else prefix + "{")
        object.__setattr__(self, "conditions", conditions)
        object.__setattr__(self, "columns", tuple(columns.items()))

    @cached_property
    def groupindex(self) -> Mapping[str, int]:
        """Return the numbers of the columns, from 1, as a pattern does."""
        return {name: number for number, (name, _) in enumerate(self.columns, 1)}

    def finditer(self, text: bytes, begin: int = 0, end: int | None = None) -> Iterator[Row]:
        """Yield the records of a stretch of text."""
        columns, conditions, wanted = self.groupindex, self._conditions, self._wanted
        for start, stop, found in _objects(self._begin, text, begin, len(text) if end is None else end):
            if all(condition(found) for condition in conditions):
                values = tuple(value(found) for value, _ in wanted)
                if all(value is not None or not needed for value, (_, needed) in zip(values, wanted, strict=True)):
                    yield Row(columns, values, start, stop)

    def search(self, text: bytes, begin: int = 0, end: int | None = None) -> Row | None:
        """Return the first record of a stretch of text."""
        return next(self.finditer(text, begin, end), None)

    def match(self, text: bytes, begin: int) -> Row | None:
        """Return the record that begins at a place."""
        line = self._begin.match(text, begin)
        return self.search(text, begin, line.end()) if line else None

    @cached_property
    def words(self) -> tuple[Alternatives, ...]:
        """Return texts that stand in every record: the prefix, and one of the keys of each column that it needs."""
        needed = [path for _, path in self.columns if not path.endswith("?")]
        needed += [each for each in self.conditions if " == " not in each and not each.startswith("!")]
        return longest([*literals(self._begin), *map(_last_keys, needed)])

    @cached_property
    def shape(self) -> str:
        """Return a row as people read it, with columns in braces."""
        values = ", ".join(f"{path.rstrip('?')}: {{{name}}}" for name, path in self.columns)
        return f"{self.prefix}{'' if self.prefix.endswith('{') else '… '}{values}}}"

    @cached_property
    def _begin(self) -> re.Pattern[bytes]:
        """Compile the prefix and the rest of its line; the group `object` is the part from the bracket on."""
        bare = self.prefix.removeprefix("^")
        before, inside = (re.escape(each.encode()) for each in bare.split("{", 1))
        line_start = rb"(?<![^\r\n])" if bare != self.prefix else b""
        return compiled(line_start + before + rb"(?P<object>\{" + inside + rb"[^\r\n]*+)")

    @cached_property
    def _conditions(self) -> tuple[Callable[[Object], bool], ...]:
        return tuple(map(_condition, self.conditions))

    @cached_property
    def _wanted(self) -> tuple[tuple[Callable[[Object], bytes | None], bool], ...]:
        """Return what finds the value of each column, and whether a row must have it."""
        return tuple((partial(_printed, _paths(path.rstrip("?"))), not path.endswith("?")) for _, path in self.columns)


@lru_cache(_STRETCHES)
def _objects(prefix: re.Pattern[bytes], text: bytes, begin: int, end: int) -> list[tuple[int, int, Object]]:
    """Return the objects of a stretch of text, each with the places where its line begins and ends."""
    found = ((line, _decoded(line["object"])) for line in prefix.finditer(text, begin, end))
    return [(line.start(), line.end(), decoded) for line, decoded in found if decoded is not None]


def _decoded(printed: bytes) -> Object | None:
    """Return the object with which a text begins; None if it is not complete. A bar may be drawn after it."""
    printed = printed[: printed.rfind(b"}") + 1]
    found: Object | None = _contents(_OBJECT, printed)
    return found if found is not None else _contents(_OBJECT, _SPELLING.sub(_as_json, printed))


def _as_json(found: re.Match[bytes]) -> bytes:
    """Spell a part of a Python dictionary as JSON; numbers that JSON does not know become texts."""
    if (text := found["text"]) is not None:
        return b'"%s"' % text.replace(b"\\'", b"'").replace(b'"', b'\\"')
    if found["number"]:
        return b'"%s"' % found["number"]
    return _JSON_WORDS.get(found[0]) or _JSON_BRACKETS.get(found[0], found[0])


@dataclass(frozen=True)
class _Path:
    """A way to a value: the names that the key may have within the object `parent`, and items of lists."""

    parent: str
    names: frozenset[str]
    items: tuple[int, ...] = ()

    def of(self, row: Object) -> Any:
        """Return the value, None if there is none."""
        within = _at(row, self.parent) if self.parent else row
        if not isinstance(within, dict):
            return None
        name = _name(self.names, tuple(within)) if len(self.names) > 1 else next(iter(self.names))
        found = _at(within, name) if name else None
        for item in self.items:
            found = found[item] if isinstance(found, list) and -len(found) <= item < len(found) else None
        return found


@lru_cache(_KINDS)
def _name(names: frozenset[str], keys: tuple[str, ...]) -> str | None:
    """Return the first key that is one of some names."""
    return next((key for key in keys if key in names), None)


def _at(row: Object, path: str) -> Any:
    """Return the value at a path of keys, which may contain dots themselves: the longest key counts."""
    at = len(path)
    while at > 0:
        if (key := path[:at]) in row:
            value = _opened(row, key)
            if at == len(path):
                return value
            if isinstance(value, dict) and (found := _at(value, path[at + 1 :])) is not None:
                return found
        at = path.rfind(".", 0, at)
    return None


def _opened(row: Object, key: str) -> Any:
    """Return a value: an object or a list is decoded and kept, since other columns ask for it, too."""
    value = row[key]
    if isinstance(value, msgspec.Raw):
        first = bytes(memoryview(value)[:1])
        if first in (b"{", b"["):
            value = row[key] = _contents(_OBJECT if first == b"{" else _LIST, value)
    return value


def _contents(decoder: msgspec.json.Decoder[Any], value: msgspec.Raw | bytes) -> Any:
    """Return what an object or a list contains; None if it is garbled."""
    try:
        return decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _paths(written: str) -> tuple[_Path, ...]:
    """Return the paths that are written with `|` between them."""
    return tuple(map(_path, _ALTERNATIVE.split(written)))


def _path(written: str) -> _Path:
    found = _PATH.match(written)
    if not found:
        raise FormatError(f"{written!r} is not a path: write it as a.b, a[0], a[-1] or a.{{b|c}}")
    key, items = found["key"], tuple(map(int, _ITEM.findall(found["items"])))
    several = key.find("{")
    if several < 0:
        return _Path("", frozenset({key}), items)
    at = key.rfind(".", 0, several) + 1
    texts = _NAMES.split(key[at:])  # text, names, text, names, ..., text
    parts = [each.split("|") if number % 2 else [each] for number, each in enumerate(texts)]
    return _Path(key[: max(0, at - 1)], frozenset(map("".join, product(*parts))), items)


def _printed(paths: tuple[_Path, ...], row: Object) -> bytes | None:
    """Return the number or the text at the first path that has one, without quotes; None if none has."""
    for path in paths:
        found = path.of(row)
        if isinstance(found, msgspec.Raw):
            printed = bytes(found)
            if printed[:1] == b'"':
                return printed[1:-1]
            if printed not in (b"null", b"true", b"false"):
                return printed
    return None


def _condition(written: str) -> Callable[[Object], bool]:
    path, _, value = written.partition(" == ")
    paths = _paths(path.removeprefix("!"))
    if value:
        return lambda row: any(_compact(each.of(row)) == value.encode() for each in paths)
    absent = written.startswith("!")
    return lambda row: all(each.of(row) is None for each in paths) == absent


def _compact(value: Any) -> bytes:
    """Return what is printed for a value, without blanks and outer quotes."""
    if isinstance(value, list):
        return b"[%s]" % b",".join(map(_compact, value))
    return bytes(value).strip(b'"').replace(b" ", b"") if isinstance(value, msgspec.Raw) else b""


def _last_keys(written: str) -> Alternatives:
    """Return texts of which one stands in every object with a value at a path: its last keys, or the shortest parts of them."""
    names = {name.rpartition(".")[2] for path in _paths(written) for name in path.names}
    return tuple(sorted(each.encode() for each in names if not any(other in each for other in names - {each})))
