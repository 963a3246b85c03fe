"""Rows: lines that contain an object in JSON, or a dictionary as Python prints it, read by key.

    Rows("DLLL ", "type == LOG", step="step[-1]", throughput="data.train.total_ips", loss="data.train.loss?")

The first argument is the text before the object, and may go on into it: `{"timestamp":`. `^` at its beginning is the
beginning of a line. Conditions follow, and a path for each column.

`data.train.loss`       the key `data.train.loss`, or `train.loss` in the object `data`, and so on
`step[-1]`              an item of a list
`step[1]|step`          the first of several paths that prints a value
`data.{train_|}ips`     one of several keys: `train_ips` or `ips`
`loss?`                 a column that a row may lack; a row that lacks another one is not a record

`type == LOG`           the condition that a value is printed like this, apart from quotes and blanks
`data.loss|data.mlm`    the condition that one of some paths is present
`!data.val_loss`        the condition that a path is absent

A value is a number, or a text that begins as a number or a clock, and is quoted as it is printed. A line whose object is
not complete is not a record. The time is linear in the size of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, compress, product, repeat
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import msgspec

from perfledger.parsers.contract.literals import Alternatives, longest, words_of_pattern
from perfledger.parsers.contract.patterns import FormatError, compiled

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
#: Objects within objects are opened to this depth, lists to this length: no printer has a number deeper or farther.
_DEEPEST = 3
_LONGEST_LIST = 16
#: Python's spellings that JSON lacks: text in single quotes, words, tuples, `NaN` and `Infinity`.
_SPELLING = re.compile(
    rb"'(?P<text>(?:[^'\\]|\\.)*+)'|\"(?:[^\"\\]|\\.)*+\""
    rb"|(?P<number>-?+\b(?:NaN|nan|Infinity|inf)\b)|\b(?P<word>True|False|None)\b|(?P<bracket>[()])"
)
_JSON_WORDS = {b"True": b"true", b"False": b"false", b"None": b"null"}
_JSON_BRACKETS = {b"(": b"[", b")": b"]"}
_PATH = re.compile(r"(?P<key>[^\[\]?]+)(?P<item>\[-?[0-9]+\])?\Z")
#: How a number, a clock or a number that is not finite begins in a text; `null` and `true` are not texts.
_NUMERIC = re.compile(rb"[-+]?(?:\.?[0-9]|(?:nan|inf|NaN|Inf))")
#: The item of a list at the end of a path.
_PATH_END = re.compile(r"\[-?[0-9]+\]\Z")
_PARTS = re.compile(r"(?:\{[^{}]*\})+")
_NAMES = re.compile(r"\{([^{}]*)\}")
_ALTERNATIVE = re.compile(r"\|(?![^{}]*\})")
#: A decoder for lines with the same keys pays off from this number of lines on.
_LEARNED = 8
#: Most decoders that are tried on a line.
_DECODERS = 8
#: Most cached paths: several readings may use the same path, which may have a thousand names.
_PATHS = 256
#: Most cached stretches of text: the format's next reading uses their lines again.
_STRETCHES = 2
#: Most cached lists of full names, by their keys.
_KEYS = 256


class RowMatch(msgspec.Struct, frozen=True, gc=False):
    """A record of `Rows`, with those methods of `re.Match` that the engine uses.

    Attributes:
        values: the printed value of each column; empty if the row lacks it.
        place: positions of the begin of the text before the object, and of the line's end.
        columns: the numbers of the columns, from 1.
    """

    values: tuple[bytes, ...]
    place: tuple[int, int]
    columns: Mapping[str, int]

    def start(self) -> int:
        """Return the position at which the text before the object begins."""
        return self.place[0]

    def end(self) -> int:
        """Return the position of the line's end."""
        return self.place[1]

    def groups(self, default: bytes) -> tuple[bytes, ...]:
        """Return the printed value of each column, or a default if the row lacks it."""
        return tuple(each or default for each in self.values) if default else self.values

    def groupdict(self) -> dict[str, bytes | None]:
        """Return the printed values by column; None if the row lacks one."""
        return {name: self[name] for name in self.columns}

    def __getitem__(self, column: str) -> bytes | None:
        """Return the printed value of a column; None if the row lacks it."""
        return self.values[self.columns[column] - 1] or None


#: The full names of an object's values: `data.train.loss`, `step[0]`.
_Names = tuple[str, ...]


@dataclass
class _Lines:
    """Lines whose objects have the same keys, and these objects.

    The first objects are lists of the printed values, one per name. Later ones come from a decoder that is made for these
    keys and takes a third of the time. There, a value is an attribute, or an item of an attribute.
    """

    names: _Names
    decoder: msgspec.json.Decoder[Any] | None = None
    attributes: Sequence[tuple[str, int | None]] = ()
    brackets: tuple[int, int] = (0, 0)
    places: list[tuple[int, int]] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    _numbers: dict[int, list[bytes]] = field(default_factory=dict)

    def numbers(self, at: int) -> list[bytes]:
        """Return the printed numbers of a name, one per line; empty if the value is not a number."""
        if at not in self._numbers:
            self._numbers[at] = _texts(self.column(at))
        return self._numbers[at]

    def column(self, at: int) -> list[bytes]:
        """Return the printed values of a name, one per line."""
        if not self.decoder:
            return [each[at] for each in self.objects]
        attribute, item = self.attributes[at]
        values = map(attrgetter(attribute), self.objects)
        return list(map(bytes, values if item is None else map(itemgetter(item), values)))


@dataclass(frozen=True, init=False)
class Rows:
    """Lines with an object, by prefix, conditions and paths (see the module's docstring).

    Attributes:
        prefix: the text before the object, with the object's first bracket and perhaps what follows it.
        conditions: conditions that the object must meet, or the line is not a record.
        columns: (name, path) of each column.

    Raises:
        FormatError: a path is invalid.
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
        """Return the numbers of the columns, from 1, as `re.Pattern.groupindex` does."""
        return {name: number for number, (name, _) in enumerate(self.columns, 1)}

    def finditer(self, text: bytes, begin: int = 0, end: int | None = None) -> Iterator[RowMatch]:
        """Yield the records of a stretch of text."""
        kinds = _lines(self._begin, text, begin, len(text) if end is None else end)
        found = [rows for lines in kinds if (rows := list(self._rows(lines)))]
        if len(found) == 1:
            return iter(found[0])
        return iter(sorted(chain.from_iterable(found), key=methodcaller("start")))

    def search(self, text: bytes, begin: int = 0, end: int | None = None) -> RowMatch | None:
        """Return the first record of a stretch of text."""
        return next(self.finditer(text, begin, end), None)

    def match(self, text: bytes, begin: int) -> RowMatch | None:
        """Return the record that begins at a place."""
        found = self.search(text, begin, _line_end(text, begin, len(text), redrawn=True))
        return found if found and found.start() == begin else None

    @cached_property
    def words(self) -> tuple[Alternatives, ...]:
        """Return texts that every record contains: the prefix, and one of the keys of each required column."""
        needed = [path for _, path in self.columns if not path.endswith("?")]
        needed += [each for each in self.conditions if " == " not in each and not each.startswith("!")]
        return longest([*words_of_pattern(self._begin.pattern), *map(_last_keys, needed)])

    @cached_property
    def shape(self) -> str:
        """Return a row for people, with columns in braces; a gap replaces a part of a key that has alternatives."""
        keys = ((name, _PARTS.sub("…", path.rstrip("?"))) for name, path in self.columns)
        values = ", ".join(f"{key}: {{{name}}}" for name, key in keys)
        return f"{self.prefix}{'' if self.prefix.endswith('{') else '… '}{values}}}"

    @cached_property
    def _begin(self) -> re.Pattern[bytes]:
        """Compile the prefix; its group begins with the object."""
        bare = self.prefix.removeprefix("^")
        before, inside = (re.escape(each.encode()) for each in bare.split("{", 1))
        line_start = rb"(?<![^\r\n])" if bare != self.prefix else b""
        return compiled(line_start + before + rb"(\{" + inside + rb")")

    @cached_property
    def _wanted(self) -> tuple[tuple[_Paths, bool], ...]:
        """Return the paths of each column, and whether a row must have it."""
        return tuple((_Paths(path.rstrip("?")), not path.endswith("?")) for _, path in self.columns)

    @cached_property
    def _keys(self) -> tuple[tuple[_Paths, bool], ...]:
        """Return the paths that a row must have or lack."""
        conditions = [each for each in self.conditions if " == " not in each]
        return tuple((_Paths(each.removeprefix("!")), not each.startswith("!")) for each in conditions)

    @cached_property
    def _equal(self) -> tuple[tuple[_Paths, frozenset[bytes]], ...]:
        """Return the paths of the conditions `path == value`, each with two spellings of the value: bare and quoted."""
        pairs = (each.split(" == ") for each in self.conditions if " == " in each)
        return tuple((_Paths(path), frozenset({value.encode(), f'"{value}"'.encode()})) for path, value in pairs)

    def _rows(self, lines: _Lines) -> Iterable[RowMatch]:
        """Return the records among lines with the same keys."""
        places = {name: at for at, name in enumerate(lines.names)}
        if any((paths.place(places) is not None) != present for paths, present in self._keys):
            return ()
        wanted = [(paths.place(places), needed) for paths, needed in self._wanted]
        equal = [(paths.place(places), values) for paths, values in self._equal]
        if any(needed and at is None for at, needed in wanted) or any(at is None for at, _ in equal):
            return ()
        empty = [b""] * len(lines.places)
        columns = [empty if at is None else lines.numbers(at) for at, _ in wanted]
        found = map(RowMatch, zip(*columns, strict=True), lines.places, repeat(self.groupindex))
        # Conditions that some lines do not meet, with a value per line.
        partly = [
            map(bool, column) for column, (_, needed) in zip(columns, wanted, strict=True) if needed and not all(column)
        ]
        compared = [(lines.column(at), values) for at, values in equal if at is not None]
        partly += [map(values.__contains__, column) for column, values in compared if not values.issuperset(column)]
        return compress(found, map(all, zip(*partly, strict=True))) if partly else found


@lru_cache(_STRETCHES)
def _lines(prefix: re.Pattern[bytes], text: bytes, begin: int, end: int) -> Sequence[_Lines]:
    """Return the lines of a stretch of text that contain a complete object, by their keys."""
    known: dict[_Names, _Lines] = {}
    fast: list[_Lines] = []
    redrawn, stop = text.find(b"\r", begin, end) >= 0, begin
    for line in prefix.finditer(text, begin, end):
        start = line.start()
        if start < stop:
            continue
        stop = _line_end(text, start, end, redrawn)
        printed = text[line.start(1) : text.rfind(b"}", start, stop) + 1]  # A bar may be drawn after the object.
        brackets = _brackets(printed) if fast else (0, 0)
        for kind in fast:
            # The decoder would accept a list in place of a number.
            if kind.brackets == brackets and (decoded := _decoded(kind.decoder, printed)) is not None:
                break
        else:
            is_json = _values(printed, 1)
            if not (values := is_json or _values(_SPELLING.sub(_as_json, printed), 1)):
                continue
            names, decoded = values
            kind = known.setdefault(names, _Lines(names))
            if is_json and len(kind.places) == _LEARNED and len(fast) < _DECODERS and not any(map(_is_open, decoded)):
                fast.append(_of_kind(names, printed))
        kind.places.append((start, stop))
        kind.objects.append(decoded)
    return [each for each in (*known.values(), *fast) if each.places]


def _line_end(text: bytes, start: int, end: int, redrawn: bool) -> int:
    """Return the position of a line's end; a line that is redrawn ends with a carriage return."""
    stop = text.find(b"\n", start, end)
    stop = end if stop < 0 else stop
    again = text.find(b"\r", start, stop) if redrawn else -1
    return stop if again < 0 else again


def _of_kind(names: _Names, printed: bytes) -> _Lines:
    """Return an empty collection of lines, with a decoder for objects that have the keys of an example."""
    kind, attributes = _structure(printed, 1)
    return _Lines(names, msgspec.json.Decoder(kind), attributes, _brackets(printed))


def _brackets(printed: bytes) -> tuple[int, int]:
    """Count the opening brackets of objects and of lists."""
    return printed.count(b"{"), printed.count(b"[")


def _structure(printed: bytes, depth: int) -> tuple[Any, list[tuple[str, int | None]]]:
    """Return the type of an object or a list, as `_values` opens it, and the attributes of its values."""
    found = _content(printed) if _is_open(printed) and depth <= _DEEPEST else None
    if isinstance(found, list) and 0 < len(found) <= _LONGEST_LIST:
        return tuple[(msgspec.Raw,) * len(found)], [("", at) for at in range(len(found))]  # type: ignore[misc]
    if not isinstance(found, dict):
        return msgspec.Raw, [("", None)]
    inner = {f"f{at}": _structure(bytes(each), depth + 1) for at, each in enumerate(found.values())}
    made = msgspec.defstruct(
        "RowMatch",
        [(name, kind) for name, (kind, _) in inner.items()],
        rename=dict(zip(inner, found, strict=True)),
        forbid_unknown_fields=True,
        gc=False,
    )
    attributes = [(f"{name}.{each}".rstrip("."), item) for name, (_, of) in inner.items() for each, item in of]
    return made, attributes


def _as_json(found: re.Match[bytes]) -> bytes:
    """Spell a part of a Python dictionary as JSON; numbers that JSON does not know become texts."""
    if (text := found["text"]) is not None:
        return b'"%s"' % text.replace(b"\\'", b"'").replace(b'"', b'\\"')
    if found["number"]:
        return b'"%s"' % found["number"]
    return _JSON_WORDS.get(found[0]) or _JSON_BRACKETS.get(found[0], found[0])


def _values(printed: bytes, depth: int) -> tuple[_Names, Sequence[bytes]] | None:
    """Return the names and the printed values of an object or a list, and of those within; None if it is garbled."""
    content = _content(printed)
    if isinstance(content, list):
        return (_items(len(content)), list(map(bytes, content))) if 0 < len(content) <= _LONGEST_LIST else None
    if content is None:
        return None
    names: _Names = tuple(content)
    values = [bytes(each) for each in content.values()]
    opened = [at for at, each in enumerate(values) if _is_open(each)] if depth < _DEEPEST else []
    for at in reversed(opened):
        if inner := _values(values[at], depth + 1):
            names = (*names[:at], *_within(names[at], inner[0]), *names[at + 1 :])
            values[at : at + 1] = inner[1]
    return names, values


def _is_open(printed: bytes) -> bool:
    """Return whether a value is an object or a list."""
    return printed[0] in b"{["


def _content(printed: bytes) -> Any:
    """Return the values of an object or a list; None if it is garbled."""
    return _decoded(_LIST if printed[:1] == b"[" else _OBJECT, printed)


def _decoded(decoder: msgspec.json.Decoder[Any] | None, printed: bytes) -> Any:
    try:
        return decoder.decode(printed) if decoder else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@lru_cache(_LONGEST_LIST)
def _items(count: int) -> _Names:
    return tuple(f"[{at}]" for at in range(count))


@lru_cache(_KEYS)
def _within(key: str, names: _Names) -> _Names:
    """Return the full names of values in the object or the list of a key."""
    return tuple(f"{key}{each}" if each.startswith("[") else f"{key}.{each}" for each in names)


def _texts(values: list[bytes]) -> list[bytes]:
    """Return the numbers among printed values, without quotes; empty for other values."""
    together = b"\n".join(values)
    if not (others := together.translate(None, b"0123456789.\n")):
        return values
    if others == b'""' * len(values):
        return together.replace(b'"', b"").split(b"\n")
    return list(map(_text, values))


def _text(value: bytes) -> bytes:
    text = value.strip(b'"')
    return text if _NUMERIC.match(text) and value[0] not in b"nt" else b""


@dataclass(frozen=True)
class _Paths:
    """Alternative paths, written with `|` between them; the first path that an object has counts."""

    written: str

    @cached_property
    def each(self) -> tuple[tuple[frozenset[str], str], ...]:
        """Return the full names of each path, and the item of a list from its end, such as `[-1]`.

        Raises:
            FormatError: one of them is not a path.
        """
        return tuple(map(_path, _ALTERNATIVE.split(self.written)))

    def place(self, places: Mapping[str, int]) -> int | None:
        """Return the index of the value among the names of an object; None if the object lacks it."""
        for wanted, from_end in self.each:
            name = next(iter(wanted)) if len(wanted) == 1 else next((each for each in places if each in wanted), "")
            if from_end:
                count = sum(each.startswith(name + "[") for each in places)
                name = f"{name}[{count + int(from_end[1:-1])}]"
            if name in places:
                return places[name]
        return None


@lru_cache(_PATHS)
def _path(written: str) -> tuple[frozenset[str], str]:
    found = _PATH.match(written)
    if not found:
        raise FormatError(f"{written!r} is not a path: write it as a.b, a[0], a[-1] or a.{{b|c}}")
    item = found["item"] or ""
    from_end = item if item.startswith("[-") else ""
    parts = _NAMES.split(found["key"])  # text, names, text, names, ..., text
    choices = [each.split("|") if number % 2 else [each] for number, each in enumerate(parts)]
    return frozenset("".join(each) + ("" if from_end else item) for each in product(*choices)), from_end


def _last_keys(written: str) -> Alternatives:
    """Return the ends of the keys of a path: an object with a value at the path contains one of them."""
    return tuple(end for path in _ALTERNATIVE.split(written) for end in _ends(_PATH_END.sub("", path)))


def _ends(key: str) -> Iterable[bytes]:
    parts = _NAMES.split(key)
    ends = parts[-2].split("|") if not parts[-1] and len(parts) > 1 else [parts[-1]]
    return [each.rpartition(".")[2].encode() for each in ends]
