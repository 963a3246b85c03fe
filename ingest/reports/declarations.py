"""Reports of published figures as data: which figures stand in which table and chart, and the words around them.

A declaration is a file of `report_templates/reports/`. It names its source, and is shown where that source's figures
are. Its blocks are text, facts, or figures: a selection of published figures, laid out in rows and columns. A file with
several `[[page]]` makes a report of each, all with the same blocks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ingest.site.table import Text
from ingest.words import TEMPLATES, Both, WordsError, pair

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
    """A declaration is wrong; the message is `path: block: what`."""


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
    found = [report for path in files for report in _of_file(path, shared)]
    twice = sorted({each.id for each in found if sum(other.id == each.id for other in found) > 1})
    if twice:
        raise ReportError(f"{folder}: two reports are called {', '.join(twice)}")
    return tuple(sorted(found, key=lambda each: (each.order, each.id)))


@dataclass(frozen=True)
class _File:
    """A declaration being read: where it is, for messages."""

    path: Path
    source: str

    def wrong(self, place: str, what: str) -> ReportError:
        return ReportError(f"{self.path}: {place}: {what}" if place else f"{self.path}: {what}")

    def known(self, place: str, found: Mapping[str, Any], names: Iterable[str]) -> None:
        if unknown := sorted(set(found) - set(names)):
            said = ", ".join(map(repr, unknown))
            raise self.wrong(place, f"unknown key {said}; known are {', '.join(sorted(names))}")

    def both(self, place: str, entry: object) -> Both:
        try:
            return Both(**pair(self.path, self.source, place, entry))
        except (WordsError, TypeError) as error:
            raise ReportError(str(error)) from error

    def text(self, place: str, entry: object) -> Text:
        """A name, which is the same in every language, or words in both."""
        return entry if isinstance(entry, str) else self.both(place, entry)


def _toml(path: Path) -> tuple[_File, dict[str, Any]]:
    source = path.read_text("utf-8")
    try:
        return _File(path, source), tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ReportError(f"{path}: no TOML: {error}") from error


def _shared(path: Path) -> Mapping[str, Mapping[str, Any]]:
    return _toml(path)[1] if path.is_file() else {}


_HEAD = ("title", "description", "source", "section", "order", "date", "where", "page", "block")


def _of_file(path: Path, shared: Mapping[str, Mapping[str, Any]]) -> list[Report]:
    file, found = _toml(path)
    file.known("", found, _HEAD)
    alone: dict[str, Any] = {key: found[key] for key in ("title", "description", "order", "date") if key in found}
    pages = found.get("page") or [{"id": path.stem, **alone}]
    return [_report(file, found, {**alone, **page}, shared) for page in pages]


def _report(
    file: _File, found: Mapping[str, Any], page: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]
) -> Report:
    name = str(page.get("id", "page"))
    file.known(name, page, ("id", "title", "description", "order", "date", "where", "block", "section"))
    missing = [key for key in ("source", "section") if key not in {**found, **page}]
    missing += [key for key in ("id", "title", "description", "order") if key not in page]
    if missing:
        raise file.wrong(name, f"no {', '.join(missing)}")
    section = page.get("section", found.get("section"))
    if section not in SECTIONS:
        raise file.wrong(name, f"section {section!r} is none of {', '.join(SECTIONS)}")
    around = {**found.get("where", {}), **page.get("where", {})}
    given = [_merged_block(file, each, shared) for each in (*page.get("block", ()), *found.get("block", ()))]
    return Report(
        id=name,
        source=str(found["source"]),
        section=str(section),
        title=file.both(f"{name}.title", page["title"]),
        description=file.both(f"{name}.description", page["description"]),
        order=int(page["order"]),
        blocks=tuple(_block(file, f"{name}, block {n}", each, around) for n, each in enumerate(given, 1)),
        date=str(page.get("date", "")),
    )


def _merged_block(file: _File, given: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A block, or the shared one that it names with `use`, to which it may add; what it says itself counts."""
    if "use" not in given:
        return given
    if given["use"] not in shared:
        raise file.wrong("use", f"no block {given['use']!r} in {SHARED}")
    made = dict(shared[given["use"]])
    for key, value in given.items():
        both = isinstance(value, Mapping) and isinstance(made.get(key), Mapping) and key in _MERGED
        made[key] = {**made[key], **value} if both else value
    return {key: value for key, value in made.items() if key != "use"}


_FIGURES = (
    "where", "split", "rows", "columns", "column", "show", "speedup", "several", "notes", "order", "labels", "unmarked",
    "delta",
)  # fmt: skip


_MERGED = ("where", "order", "labels", "unmarked")


def _block(file: _File, place: str, given: Mapping[str, Any], around: Mapping[str, Any]) -> Block:
    file.known(place, given, ("title", "level", "text", "facts", *_FIGURES))
    title = file.text(f"{place}.title", given["title"]) if "title" in given else None
    place += f" ({_shown(title)})" if title else ""
    texts = given.get("text", [])
    return Block(
        place=f"{file.path}: {place}",
        title=title,
        level=int(given.get("level", 2)),
        text=tuple(file.both(f"{place}.text", each) for each in (texts if isinstance(texts, list) else [texts])),
        facts=_facts(file, place, given["facts"]) if "facts" in given else None,
        figures=_figures(file, place, given, around) if set(given) & set(_FIGURES) else None,
    )


def _shown(text: Text) -> str:
    return text.en if isinstance(text, Both) else str(text)


def _facts(file: _File, place: str, given: Mapping[str, Any]) -> Facts:
    file.known(f"{place}.facts", given, ("columns", "rows"))
    columns = tuple(file.text(f"{place}.facts.columns", each) for each in given["columns"])
    rows = tuple(tuple(file.text(f"{place}.facts.rows", each) for each in row) for row in given["rows"])
    if any(len(row) != len(columns) for row in rows):
        raise file.wrong(f"{place}.facts", f"a row has not {len(columns)} cells, as the columns have")
    return Facts(columns, rows)


def _figures(file: _File, place: str, given: Mapping[str, Any], around: Mapping[str, Any]) -> Figures:
    if "rows" not in given:
        raise file.wrong(place, "no rows")
    split = _listed(given.get("split", ()))
    made = Figures(
        where=where(file, f"{place}.where", {**around, **given.get("where", {})}),
        rows=_keys(file, f"{place}.rows", [each for each in _listed(given["rows"]) if each != REST]),
        columns=_columns(file, place, given),
        split=split if split == ("table",) else _keys(file, f"{place}.split", split),
        show=_among(file, f"{place}.show", _listed(given.get("show", "table")), FORMS),
        speedup=_among(file, f"{place}.speedup", [given.get("speedup", "")], SPEEDUPS)[0],
        several=bool(given.get("several", False)),
        notes=tuple(file.both(f"{place}.notes", each) for each in given.get("notes", ())),
        order=where(file, f"{place}.order", given.get("order", {})),
        labels=_labels(file, f"{place}.labels", given.get("labels", {})),
        unmarked=where(file, f"{place}.unmarked", given.get("unmarked", {})),
        delta=_delta(file, f"{place}.delta", given["delta"]) if "delta" in given else None,
    )
    return replace(made, rows=(*made.rows, REST)) if REST in _listed(given["rows"]) else made


def _columns(file: _File, place: str, given: Mapping[str, Any]) -> tuple[str, ...] | tuple[Column, ...]:
    if ("columns" in given) == ("column" in given):
        raise file.wrong(place, "either columns (keys) or [[block.column]] has to be there")
    if "columns" in given:
        return _keys(file, f"{place}.columns", _listed(given["columns"]))
    made = []
    for each in given["column"]:
        file.known(f"{place}.column", each, ("where", "head"))
        head = file.text(f"{place}.column.head", each.get("head"))
        made.append(Column(where(file, f"{place}.column.where", each.get("where", {})), head))
    return tuple(made)


def _delta(file: _File, place: str, given: Mapping[str, Any]) -> Delta:
    file.known(place, given, ("key", "base"))
    return Delta(_keys(file, place, [given["key"]])[0], _listed(given["base"]))


def _labels(file: _File, place: str, given: Mapping[str, Any]) -> Mapping[str, Mapping[str, Text]]:
    _keys(file, place, given)
    return {
        key: {value: file.text(f"{place}.{key}", each) for value, each in entries.items()}
        for key, entries in given.items()
    }


def where(file: _File, place: str, given: Mapping[str, Any]) -> Where:
    """A selection: per key the values that it may have. `*` stands for any text, `line` may be `first-last`."""
    _keys(file, place, given)
    return {key: _listed(value) for key, value in given.items()}


def _keys(file: _File, place: str, given: Iterable[str]) -> tuple[str, ...]:
    wrong = [each for each in given if each not in PLAIN and not each.startswith("options.")]
    if wrong:
        known = ", ".join((*PLAIN, "options.NAME"))
        raise file.wrong(place, f"unknown column {', '.join(map(repr, wrong))}; known are {known}")
    return tuple(given)


def _among(file: _File, place: str, given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if wrong := [each for each in given if each not in known]:
        raise file.wrong(place, f"{', '.join(map(repr, wrong))} is none of {', '.join(filter(None, known))}")
    return tuple(given)


def _listed(given: Any) -> tuple[str, ...]:
    return tuple(map(str, given)) if isinstance(given, list | tuple) else (str(given),)
