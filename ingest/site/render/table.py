"""Tables: language-neutral objects made once from results, then written as HTML in each language.

Since both languages write the same object, they cannot show different numbers. What a program wants of a table (keys of
columns, values before rounding, spread, repeats, runs) stands in attributes; the hook
`report_templates/hooks/tables.py` makes CSV and JSON of them when the site is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from markupsafe import Markup

from ingest.common.numbers import ABSENT
from ingest.common.words import Phrase, Text, Words, phrase
from ingest.site.render.text import escape, markup, slug

Value = float | int | str

#: Tables with more rows than this get a field to filter them by, and room for it above.
FILTERED_ABOVE = 8
_NUMBER = re.compile(r"([-+−±]?[0-9][0-9,]*)(\.[0-9]+)?[×%]?")
_PLAIN = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")


@dataclass(frozen=True)
class Link:
    """A link to a page of ours: `page` is a path under the language's folder, built from slugs only."""

    text: Text
    page: str | None


@dataclass(frozen=True)
class Entry:
    """One figure in a cell: its text and link, small print beside it, and links to the runs it came from.

    `value` is the figure before rounding, for sorting and for programs; a plain number's text is its own value.
    `details` are named values for programs only: spread (a share of one), repeats, runs, precision. `anchor` is the
    id by which links find it.
    """

    text: Text
    page: str | None = None
    marks: tuple[Text, ...] = ()
    sources: tuple[Link, ...] = ()
    best: bool = False
    tone: str = ""
    value: Value | None = None
    details: tuple[tuple[str, Value | None], ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Cell:
    """What stands in a cell: entries one below the other; or nothing, with a note that says why.

    `views` is what stands there instead when the reader switches to another of the table's views, by its key.
    """

    entries: tuple[Entry, ...] = ()
    note: Text | None = None
    views: tuple[tuple[str, Cell], ...] = ()


@dataclass(frozen=True)
class Column:
    """A column's title, unit, and kind: the figures of a `number` column stand point under point.

    `key` names it to programs, in every language; without one it is made of the English title. In a `switched` column,
    cells change with the table's view, and so does the unit.
    """

    title: Text
    number: bool = False
    page: str | None = None
    key: str = ""
    unit: Text = ""
    switched: bool = False


@dataclass(frozen=True)
class View:
    """One of the figures that a table's cells can show; `better` is `higher` or `lower`, or empty."""

    key: str
    title: Text
    unit: Text = ""
    better: str = ""


@dataclass(frozen=True)
class Table:
    """Columns, rows of as many cells, and a caption if the text around does not say it.

    The first of `views` is what the cells' own entries show. `name` is that of its files, numbered within a page.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Text | None = None
    notes: tuple[Text, ...] = field(default=())
    views: tuple[View, ...] = ()
    name: str = "table"


def cell(
    text: Text,
    page: str | None = None,
    *marks: Text,
    tone: str = "",
    value: Value | None = None,
    details: tuple[tuple[str, Value | None], ...] = (),
) -> Cell:
    """A cell with one entry."""
    return Cell((Entry(text, page, marks, tone=tone, value=value, details=details),))


def absent(note: Text | None) -> Cell:
    """A cell without a figure, and why."""
    return Cell(note=note)


def shown(table: Table, content: Cell, view: str) -> Cell:
    """What a cell of a switched column shows in a view; a figure of another view would be a wrong one."""
    own = not table.views or view == table.views[0].key
    return content if own else dict(content.views).get(view, Cell())


@dataclass
class _Notes:
    """The notes of a table as it is written: a letter each, in order of appearance; those of the first view lead."""

    name: str
    letters: dict[Text, str]
    views: dict[Text, list[str]]
    first: str
    referred: set[Text] = field(default_factory=set)

    def anchor(self, note: Text, view: str) -> str:
        """The id of a reference, for the note's way back: the first in the view in which the note is seen first."""
        if note in self.referred or view not in ("", *(self.views[note] or [self.first])[:1]):
            return ""
        self.referred.add(note)
        return f"fr-{self.name}-{self.letters[note]}"


@dataclass(frozen=True)
class _Room:
    """How long the longest whole part and the longest fraction of a column are: both are filled up to that."""

    whole: str = ""
    fraction: str = ""

    def around(self, text: str) -> tuple[str, str]:
        """What has to be added left and right of a text so that its point stands below the others'."""
        found = _NUMBER.fullmatch(text)
        if found:
            return self._left(len(found[1])), self.fraction[len(found[2] or "") :]
        return self._left(1 if text == ABSENT else len(text) + 1), ""

    def _left(self, length: int) -> str:
        return re.sub(r"[^,]", "0", self.whole[: max(len(self.whole) - length, 0)])


@dataclass(frozen=True)
class Writer:
    """Writes tables in one language; `link` turns a page of ours into a link target relative to the present page.

    One writer writes one page: it counts the tables, so that their names and the ids of their notes are unique there.
    """

    words: Words
    language: str
    link: Callable[[str], str]
    counted: dict[str, int] = field(default_factory=dict)

    def table(self, table: Table) -> Markup:
        """A table as HTML, one line per row; below it, the notes that explain absent figures."""
        name = self._name(table.name)
        notes = _notes(table, name)
        # Cells come first: they find out which reference a note leads back to.
        rows = [self._row(table, row, notes, rooms) for rooms in [_rooms(self, table)] for row in table.rows]
        parts = [
            markup('<p class="pl-caption">{}</p>\n', self.say(table.caption)) if table.caption else "",
            Markup('<div class="pl-table" data-search-exclude>'),
            self._tools(table),
            markup('<div class="pl-scroll"><table class="pl-grid" data-name="{}">', name),
            markup("<thead><tr>{}</tr></thead>", Markup("").join(self._heads(table))),
            markup("<tbody>\n{}\n</tbody></table></div>", Markup("\n").join(rows)),
            self._footnotes(notes),
            *(markup('<p class="pl-note">{}</p>', self.say(each)) for each in table.notes),
            self._legend(table),
            Markup("</div>"),
        ]
        return Markup("\n").join(each for each in parts if each)

    def say(self, text: Text) -> Markup:
        """A text in this language, escaped."""
        return escape(self.words.say(self.language, text))

    def _name(self, name: str) -> str:
        self.counted[name] = self.counted.get(name, 0) + 1
        return f"{slug(name)}-{self.counted[name]}"

    def _tools(self, table: Table) -> Markup:
        """Room for what scripts put above a table, so that nothing moves when they do."""
        if len(table.views) > 1:
            keys = " ".join(each.key for each in table.views)
            titles = Markup("|").join(self.say(each.title) for each in table.views)
            return markup('<div class="pl-tools" data-views="{}" data-titles="{}"></div>', keys, titles)
        return Markup('<div class="pl-tools"></div>') if len(table.rows) > FILTERED_ABOVE else Markup("")

    def _heads(self, table: Table) -> Iterator[Markup]:
        for key, column in zip(self._keys(table), table.columns, strict=True):
            side = Markup(' class="pl-n"') if column.number else Markup("")
            title = self._linked(column.title, column.page)
            yield markup('<th scope="col" data-key="{}"{}>{}{}</th>', key, side, title, self._units(table, column))

    def _keys(self, table: Table) -> list[str]:
        """The columns' names for programs: the same in every language, and each once."""
        found: list[str] = []
        for column in table.columns:
            wanted = (
                _snake(column.key) if column.key else _key(column.title) or _snake(self.words.say("en", column.title))
            )
            again = sum(each == wanted or each.startswith(f"{wanted}__") for each in found)
            found.append(f"{wanted}__{again + 1}" if again else wanted)
        return found

    def _units(self, table: Table, column: Column) -> Markup:
        if not (column.switched and table.views):
            unit = self.say(column.unit)
            return markup('<small data-unit="{}">{}</small>', unit, unit) if unit else Markup("")
        return Markup("").join(self._unit(table, each) for each in table.views)

    def _unit(self, table: Table, view: View) -> Markup:
        unit, better = self.say(view.unit), self.say(phrase(f"metric.{view.better}")) if view.better else Markup("")
        said = Markup(" ").join(each for each in (unit or self.say(view.title), better) if each)
        return markup('<small data-unit="{}"{}>{}</small>', unit, _of_view(table, view.key), said)

    def _row(self, table: Table, row: Sequence[Cell], notes: _Notes, rooms: Sequence[dict[str, _Room]]) -> Markup:
        cells = []
        for index, (column, content) in enumerate(zip(table.columns, row, strict=True)):
            tag = Markup('th scope="row"') if index == 0 else Markup("td")
            inside, attributes = self._cell(table, column, content, notes, rooms[index])
            side = Markup(' class="pl-n"') if column.number else Markup("")
            cells.append(markup("<{}{}{}>{}</{}>", tag, side, attributes, inside, tag[:2]))
        return markup("<tr>{}</tr>", Markup("").join(cells))

    def _cell(
        self, table: Table, column: Column, content: Cell, notes: _Notes, rooms: dict[str, _Room]
    ) -> tuple[Markup, Markup]:
        """What stands inside a cell, and the attributes of the cell itself."""
        value = next((each for entry in content.entries if (each := self._value(column, entry))), Markup(""))
        if not (column.switched and len(table.views) > 1):
            several = len(content.entries) > 1
            attributes = value if several else self._attributes(column, content.entries)
            return self._content(column, content, notes, rooms[""], "", apart=several), attributes
        parts = [
            markup(
                "<div{}>{}</div>",
                _of_view(table, each.key),
                self._content(column, shown(table, content, each.key), notes, rooms[each.key], each.key, apart=True),
            )
            for each in table.views
        ]
        return Markup("").join(parts), value

    def _content(self, column: Column, content: Cell, notes: _Notes, room: _Room, view: str, *, apart: bool) -> Markup:
        """Entries, one below the other; `apart`, each carries its own values."""
        mark = self._reference(content.note, notes, view)
        if not content.entries:
            return markup('<span class="pl-absent">{}{}</span>', self._placed(column, ABSENT, room), mark)
        written = [self._entry(column, each, room) for each in content.entries]
        if apart:
            written = [
                markup('<span class="pl-entry"{}>{}</span>', self._attributes(column, [entry]), said)
                for entry, said in zip(content.entries, written, strict=True)
            ]
        return Markup("" if apart else "<br>").join(written) + mark

    def _reference(self, note: Text | None, notes: _Notes, view: str) -> Markup:
        if not note:
            return Markup("")
        letter, anchor = notes.letters[note], notes.anchor(note, view)
        return markup(
            '<sup><a class="pl-ref" href="#fn-{}-{}"{}>{}</a></sup>',
            notes.name,
            letter,
            markup(' id="{}"', anchor) if anchor else "",
            letter,
        )

    def _entry(self, column: Column, entry: Entry, room: _Room) -> Markup:
        text = self._placed(column, entry.text, room)
        if entry.page:
            text = markup('<a href="{}">{}</a>', Markup(self.link(entry.page)), text)
        if entry.anchor:
            text = markup('<span id="{}">{}</span>', entry.anchor, text)
        if entry.best:
            text = markup('<strong class="pl-best">{}</strong>', text)
        if entry.tone:
            text = markup('<span class="pl-tone pl-{}">{}</span>', entry.tone, text)
        small = [self.say(each) for each in entry.marks if each]
        links = Markup(" ").join(self._linked(each.text, each.page) for each in entry.sources)
        if not small:
            return text + markup(' <small class="pl-runs">{}</small>', links) if links else text
        small += [markup('<span class="pl-runs">{}</span>', links)] if links else []
        return text + markup(" <small>{}</small>", Markup(" ").join(small))

    def _placed(self, column: Column, text: Text, room: _Room) -> Markup:
        """A text of a number column between what fills it up; style sheets print that as blanks."""
        said = self.say(text)
        left, right = room.around(self.words.say(self.language, text)) if column.number and room.whole else ("", "")
        sides = Markup("").join(markup(' data-{}="{}"', side, pad) for side, pad in (("l", left), ("r", right)) if pad)
        return markup('<span class="pl-v"{}>{}</span>', sides, said) if sides else said

    def _attributes(self, column: Column, entries: Sequence[Entry]) -> Markup:
        found = [markup("{}{}", self._value(column, each), _details(each)) for each in entries]
        return Markup("").join(found)

    def _value(self, column: Column, entry: Entry) -> Markup:
        """The value before rounding; a plain number in a number column says it itself."""
        value: Value | None = entry.value
        if value is None and column.number:
            said = self.words.say("en", entry.text)
            value = said.replace(",", "") if _PLAIN.fullmatch(said) else None
        return markup(' data-value="{}"', written(value)) if value is not None else Markup("")

    def _linked(self, text: Text, page: str | None) -> Markup:
        said = self.say(text)
        return markup('<a href="{}">{}</a>', Markup(self.link(page)), said) if page else said

    def _footnotes(self, notes: _Notes) -> Markup:
        back = self.say(phrase("table.back"))
        said = [self._footnote(notes, note, mark, back) for note, mark in notes.letters.items()]
        return markup('<ul class="pl-notes">{}</ul>', Markup("").join(said)) if said else Markup("")

    def _footnote(self, notes: _Notes, note: Text, mark: str, back: Markup) -> Markup:
        at = f"{notes.name}-{mark}"
        home = markup('<a class="pl-back" href="#fr-{}" aria-label="{}">↩</a>', at, back)
        seen = _of_views(notes.views[note], notes.first)
        return markup('<li id="fn-{}"{}><sup>{}</sup> {} {}</li>', at, seen, mark, self.say(note), home)

    def _legend(self, table: Table) -> Markup:
        """What bold figures mean, under a table that has one."""
        views = _views(table)
        marked = [view for view in views if any(entry.best for at in _switched(table, view) for entry in at.entries)]
        if not marked:
            return Markup("")
        return markup(
            '<p class="pl-note pl-legend"{}>{}</p>', _of_views(marked, views[0]), self.say(phrase("table.best"))
        )


def written(value: Value) -> str:
    """A value for programs: all its digits, and a whole number without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _details(entry: Entry) -> Markup:
    known = [(name, value) for name, value in entry.details if value is not None and value != ""]
    return Markup("").join(
        markup(' data-{}-{}="{}"', "s" if isinstance(value, str) else "d", _snake(name), escape(written(value)))
        for name, value in known
        if not isinstance(value, float) or math.isfinite(value)
    )


def _key(title: Text) -> str:
    """The name of a title in the words file, where that is all it says."""
    return title.key.rpartition(".")[2] if isinstance(title, Phrase) and not title.args and not title.otherwise else ""


@cache
def _snake(text: str) -> str:
    return slug(text).replace("-", "_")


def _of_view(table: Table, key: str) -> Markup:
    """The mark of what is seen in one view only; without scripts, that is the first."""
    return _of_views([key], table.views[0].key) if len(table.views) > 1 else Markup("")


def _of_views(keys: Sequence[str], first: str = "") -> Markup:
    if not any(keys):
        return Markup("")
    hidden = Markup(" hidden") if (first and first not in keys) else Markup("")
    return markup(' data-view="{}"{}', " ".join(keys), hidden)


def _views(table: Table) -> list[str]:
    """The keys of what a reader can switch between; one without a name where there is no choice."""
    return [each.key for each in table.views] if len(table.views) > 1 else [""]


def _switched(table: Table, view: str) -> Iterator[Cell]:
    """All cells as they are in a view."""
    for row in table.rows:
        for column, content in zip(table.columns, row, strict=True):
            yield shown(table, content, view) if column.switched and view else content


def _notes(table: Table, name: str) -> _Notes:
    """A letter per distinct note, and the views in which each is seen; none where all show it."""
    views = _views(table)
    found: dict[Text, list[str]] = {}
    for view in views:
        for content in _switched(table, view):
            if content.note:
                found.setdefault(content.note, [])
                found[content.note] += [view] if view not in found[content.note] else []
    letters = {note: _letters(index) for index, note in enumerate(found)}
    everywhere = {note: [] if seen == views else seen for note, seen in found.items()}
    return _Notes(name, letters, everywhere, views[0])


def _letters(index: int) -> str:
    return (_letters(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def _rooms(writer: Writer, table: Table) -> list[dict[str, _Room]]:
    """Per column and view, the room that its numbers need."""
    views = [*_views(table), ""]
    return [
        {
            view: _room(
                writer.words.say(writer.language, entry.text)
                for row in table.rows
                for entry in (shown(table, row[index], view) if column.switched and view else row[index]).entries
            )
            for view in views
        }
        if column.number
        else dict.fromkeys(views, _Room())
        for index, column in enumerate(table.columns)
    ]


def _room(texts: Iterator[str]) -> _Room:
    found = [match for text in texts if (match := _NUMBER.fullmatch(text))]
    if not found:
        return _Room()
    fraction = max((match[2] or "" for match in found), key=len)
    return _Room(max((match[1] for match in found), key=len), re.sub(r"[0-9]", "0", fraction))
