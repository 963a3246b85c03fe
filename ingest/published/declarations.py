"""Reports of published figures as data: which figures stand in which table and chart, and the words around them.

A declaration is a file of `report_templates/reports/`. It names its source, and is shown where that source's figures
are. Its blocks are text, facts, or figures: a selection of published figures, laid out in rows and columns. A file with
several `[[page]]` makes a report of each, all with the same blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ingest.common.toml_file import Keys, Kinds, TomlFile, instead, read, shown
from ingest.common.words import TEMPLATES, Both, Text, WordsError, pair

REPORTS = TEMPLATES / "reports"
SHARED = "_shared.toml"
SECTIONS = ("summary", "model", "framework", "history")
#: What tells one figure from another; a key of a declaration is one of these, `line`, `place`, or `options.NAME`.
CASE = ("model", "framework", "hardware", "devices", "precision", "batch_size", "metric")
PLAIN = (*CASE, "source", "place", "line", "nodes", "state", "framework_source", "unit")
FORMS = ("table", "bars", "speedup", "lines", "curve", "panels")
SPEEDUPS = ("", "published", "computed")
REST = "*"  # of rows: and whatever else differs between the figures

Where = Mapping[str, tuple[str, ...]]


class ReportError(WordsError):
    """A declaration is wrong; the message is `path:line: block: what`."""


@dataclass(frozen=True)
class Column:
    """A column of a declaration: the figures that it takes of the selected ones, and its head."""

    where: Where
    head: Text


@dataclass(frozen=True)
class Delta:
    """Differences beside the figures: against the one whose `key` is among `base`, all else being equal."""

    key: str
    base: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """A selection of figures and its layout.

    `split` makes several tables: by keys, or `table`: as they stand in the source, lines without a gap. `rows` are the
    keys that a row has in common, `columns` those of a column, or the columns themselves. What differs between figures
    and is in neither is marked where it differs; `unmarked` says what is not. `order` and `labels` say in which order
    values stand, and how they are written. With `several` a cell may hold more than one figure.
    """

    where: Where
    rows: tuple[str, ...]
    columns: tuple[str, ...] | tuple[Column, ...]
    split: tuple[str, ...] = ()
    show: tuple[str, ...] = ("table",)
    speedup: str = ""
    several: bool = False
    notes: tuple[Text, ...] = ()
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Text]] = field(default_factory=dict)
    unmarked: Where = field(default_factory=dict)
    delta: Delta | None = None


@dataclass(frozen=True)
class Facts:
    """A table of words: an environment, for instance."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Block:
    """A part of a report under its title. `place` says which block it is, for messages."""

    place: str
    title: Text | None = None
    level: int = 2
    text: tuple[Both, ...] = ()
    facts: Facts | None = None
    figures: Figures | None = None


@dataclass(frozen=True)
class Report:
    """One report. `id` is the name of its page and charts; `date` is when its source published it, where that is known
    better than by the source's year."""

    id: str
    source: str
    section: str
    title: Both
    description: Both
    order: int
    blocks: tuple[Block, ...]
    date: str = ""


@cache
def reports(folder: Path = REPORTS) -> tuple[Report, ...]:
    """All declared reports, by source and in their order.

    Raises:
        ReportError: a declaration is no TOML, has an unknown key, or lacks one of the languages.
    """
    shared = _shared(folder / SHARED)
    files = (each for each in sorted(folder.glob("*.toml")) if not each.name.startswith("_"))
    found: dict[str, tuple[Path, Report]] = {}
    for path in files:
        for report in _of_file(path, shared):
            if report.id in found:
                places = f"{shown(found[report.id][0])} and {shown(path)}"
                raise ReportError(f"{places}: two reports are called {report.id}; rename one")
            found[report.id] = (path, report)
    return tuple(sorted((report for _, report in found.values()), key=lambda each: (each.order, each.id)))


@dataclass(frozen=True)
class _Place:
    """A part of a declaration: as messages name it, and where it stands in the file."""

    said: str
    keys: Keys

    def __truediv__(self, key: str | int) -> _Place:
        return _Place(f"{self.said}.{key}" if self.said else str(key), (*self.keys, key))


@dataclass(frozen=True)
class _File:
    """A declaration being read: where it is, for messages."""

    toml: TomlFile

    def at(self, place: _Place) -> str:
        """A place as messages begin: `path:line: place`."""
        where = f"{shown(self.toml.path)}:{self.toml.line(place.keys)}"
        return f"{where}: {place.said}" if place.said else where

    def wrong(self, place: _Place, what: str) -> ReportError:
        return ReportError(f"{self.at(place)}: {what}")

    def known(self, place: _Place, found: Any, kinds: Mapping[str, Kinds]) -> None:
        self.toml.check(place.keys, found, kinds, place.said)

    def both(self, place: _Place, entry: object) -> Both:
        try:
            return Both(**pair(self.toml.path, self.toml.source, place.said, entry, place.keys))
        except WordsError as error:
            raise ReportError(str(error)) from None

    def text(self, place: _Place, entry: object) -> Text:
        """A name, which is the same in every language, or words in both."""
        return entry if isinstance(entry, str) else self.both(place, entry)


_TOP = _Place("", ())


def _shared(path: Path) -> Mapping[str, Mapping[str, Any]]:
    if not path.is_file():
        return {}
    file = _File(read(path, ReportError))
    for name, block in file.toml.data.items():
        file.known(_Place(name, (name,)), block, _BLOCK)
    return file.toml.data


_PAGE: Mapping[str, Kinds] = {
    "title": dict, "description": dict, "section": str, "order": int, "date": str, "where": dict, "block": list,
}  # fmt: skip
_HEAD = {**_PAGE, "source": str, "page": list}


def _of_file(path: Path, shared: Mapping[str, Mapping[str, Any]]) -> list[Report]:
    file = _File(read(path, ReportError))
    found = file.toml.data
    file.known(_TOP, found, _HEAD)
    alone: dict[str, Any] = {key: found[key] for key in ("title", "description", "order", "date") if key in found}
    if not found.get("page"):
        return [_report(file, _Place(path.stem, ()), found, {"id": path.stem, **alone}, shared)]
    made = []
    for number, page in enumerate(found["page"]):
        place = _Place(f"page {number + 1}", ("page", number))
        file.known(place, page, {**_PAGE, "id": str})
        named = _Place(page.get("id", place.said), place.keys)
        made.append(_report(file, named, found, {**alone, **page}, shared))
    return made


def _report(
    file: _File,
    place: _Place,
    found: Mapping[str, Any],
    page: Mapping[str, Any],
    shared: Mapping[str, Mapping[str, Any]],
) -> Report:
    missing = [key for key in ("source", "section") if key not in {**found, **page}]
    missing += [key for key in ("id", "title", "description", "order") if key not in page]
    if missing:
        raise file.wrong(place, f"no {', '.join(missing)}")
    section = page.get("section", found.get("section"))
    if section not in SECTIONS:
        raise file.wrong(place / "section", f"section {section!r} is none of {', '.join(SECTIONS)}")
    around = {**found.get("where", {}), **page.get("where", {})}
    blocks = [((*place.keys, "block", n), each) for n, each in enumerate(page.get("block", ()) if place.keys else ())]
    blocks += [(("block", n), each) for n, each in enumerate(found.get("block", ()))]
    return Report(
        id=str(page["id"]),
        source=str(found["source"]),
        section=str(section),
        title=file.both(place / "title", page["title"]),
        description=file.both(place / "description", page["description"]),
        order=page["order"],
        blocks=tuple(
            _block(file, _Place(f"{page['id']}, block {number}", keys), each, around, shared)
            for number, (keys, each) in enumerate(blocks, 1)
        ),
        date=page.get("date", ""),
    )


def _merged_block(
    file: _File, place: _Place, given: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The shared block that one names with `use`, and what it adds to that; what it says itself counts."""
    if given["use"] not in shared:
        raise file.wrong(place / "use", f"no block {given['use']!r} in {SHARED}{instead(given['use'], shared)}")
    made = dict(shared[given["use"]])
    for key, value in given.items():
        both = isinstance(value, Mapping) and isinstance(made.get(key), Mapping) and key in _MERGED
        made[key] = {**made[key], **value} if both else value
    return {key: value for key, value in made.items() if key != "use"}


_LISTED: Kinds = (str, int, list)
_FIGURES: Mapping[str, Kinds] = {
    "where": dict, "split": _LISTED, "rows": _LISTED, "columns": _LISTED, "column": list, "show": _LISTED,
    "speedup": str, "several": bool, "notes": list, "order": dict, "labels": dict, "unmarked": dict, "delta": dict,
}  # fmt: skip
_BLOCK = {**_FIGURES, "title": (str, dict), "level": int, "text": (list, dict), "facts": dict, "use": str}


_MERGED = ("where", "order", "labels", "unmarked")


def _block(
    file: _File,
    place: _Place,
    given: Mapping[str, Any],
    around: Mapping[str, Any],
    shared: Mapping[str, Mapping[str, Any]],
) -> Block:
    file.known(place, given, _BLOCK)
    if "use" in given:
        place = _Place(f"{place.said}, with [{given['use']}] of {SHARED}", place.keys)
        given = _merged_block(file, place, given, shared)
    title = file.text(place / "title", given["title"]) if "title" in given else None
    place = _Place(f"{place.said} ({_shown(title)})", place.keys) if title else place
    texts = given.get("text", [])
    return Block(
        place=file.at(place),
        title=title,
        level=given.get("level", 2),
        text=tuple(
            file.both(place / "text" / number, each)
            for number, each in enumerate(texts if isinstance(texts, list) else [texts])
        ),
        facts=_facts(file, place / "facts", given["facts"]) if "facts" in given else None,
        figures=_figures(file, place, given, around) if set(given) & set(_FIGURES) else None,
    )


def _shown(text: Text) -> str:
    return text.en if isinstance(text, Both) else str(text)


def _facts(file: _File, place: _Place, given: Mapping[str, Any]) -> Facts:
    file.known(place, given, {"columns": list, "rows": list})
    for key in ("columns", "rows"):
        if key not in given:
            raise file.wrong(place, f"no {key}")
    columns = tuple(file.text(place / "columns", each) for each in given["columns"])
    for row in given["rows"]:
        if not isinstance(row, list) or len(row) != len(columns):
            raise file.wrong(place / "rows", f"a row has not {len(columns)} cells, as the columns have: {row!r}")
    rows = tuple(tuple(file.text(place / "rows", each) for each in row) for row in given["rows"])
    return Facts(columns, rows)


def _figures(file: _File, place: _Place, given: Mapping[str, Any], around: Mapping[str, Any]) -> Figures:
    if "rows" not in given:
        raise file.wrong(place, "no rows")
    split = _listed(given.get("split", ()))
    made = Figures(
        where=where(file, place / "where", {**around, **given.get("where", {})}),
        rows=_keys(file, place / "rows", [each for each in _listed(given["rows"]) if each != REST]),
        columns=_columns(file, place, given),
        split=split if split == ("table",) else _keys(file, place / "split", split),
        show=_among(file, place / "show", _listed(given.get("show", "table")), FORMS),
        speedup=_among(file, place / "speedup", [given.get("speedup", "")], SPEEDUPS)[0],
        several=bool(given.get("several", False)),
        notes=tuple(file.both(place / "notes" / number, each) for number, each in enumerate(given.get("notes", ()))),
        order=where(file, place / "order", given.get("order", {})),
        labels=_labels(file, place / "labels", given.get("labels", {})),
        unmarked=where(file, place / "unmarked", given.get("unmarked", {})),
        delta=_delta(file, place / "delta", given["delta"]) if "delta" in given else None,
    )
    return replace(made, rows=(*made.rows, REST)) if REST in _listed(given["rows"]) else made


def _columns(file: _File, place: _Place, given: Mapping[str, Any]) -> tuple[str, ...] | tuple[Column, ...]:
    if ("columns" in given) == ("column" in given):
        raise file.wrong(place, "either columns (keys) or [[block.column]] has to be there")
    if "columns" in given:
        return _keys(file, place / "columns", _listed(given["columns"]))
    made = []
    for number, each in enumerate(given["column"]):
        at = place / "column" / number
        file.known(at, each, {"where": dict, "head": (str, dict)})
        made.append(Column(where(file, at / "where", each.get("where", {})), file.text(at / "head", each.get("head"))))
    return tuple(made)


def _delta(file: _File, place: _Place, given: Mapping[str, Any]) -> Delta:
    file.known(place, given, {"key": str, "base": _LISTED})
    if missing := [each for each in ("key", "base") if each not in given]:
        raise file.wrong(place, f"no {', '.join(missing)}")
    return Delta(_keys(file, place, [given["key"]])[0], _listed(given["base"]))


def _labels(file: _File, place: _Place, given: Mapping[str, Any]) -> Mapping[str, Mapping[str, Text]]:
    _keys(file, place, given)
    file.known(place, given, dict.fromkeys(given, dict))
    return {
        key: {value: file.text(place / key, each) for value, each in entries.items()} for key, entries in given.items()
    }


def where(file: _File, place: _Place, given: Mapping[str, Any]) -> Where:
    """A selection: per key the values that it may have. `*` stands for any text, `line` may be `first-last`."""
    _keys(file, place, given)
    return {key: _listed(value) for key, value in given.items()}


def _keys(file: _File, place: _Place, given: Iterable[str]) -> tuple[str, ...]:
    wrong = [each for each in given if each not in PLAIN and not each.startswith("options.")]
    if wrong:
        known = ", ".join((*PLAIN, "options.NAME"))
        raise file.wrong(place, f"unknown column {', '.join(map(repr, wrong))}; known are {known}")
    return tuple(given)


def _among(file: _File, place: _Place, given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if wrong := [each for each in given if each not in known]:
        raise file.wrong(place, f"{', '.join(map(repr, wrong))} is none of {', '.join(filter(None, known))}")
    return tuple(given)


def _listed(given: Any) -> tuple[str, ...]:
    return tuple(map(str, given)) if isinstance(given, list | tuple) else (str(given),)
