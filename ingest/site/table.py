"""Tables: language-neutral objects made once from results, then written in each language.

Since both languages write the same object, they cannot show different numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from ingest.numbers import ABSENT
from ingest.site.text import escape
from ingest.words import Both, Phrase, Words

Text = Phrase | Both | str


@dataclass(frozen=True)
class Link:
    """A link to a page of ours: `page` is a path under the language's folder, built from slugs only."""

    text: Text
    page: str | None


@dataclass(frozen=True)
class Entry:
    """One figure in a cell: its text and link, small print beside it, and links to the runs it came from."""

    text: Text
    page: str | None = None
    marks: tuple[Text, ...] = ()
    sources: tuple[Link, ...] = ()
    best: bool = False
    tone: str = ""


@dataclass(frozen=True)
class Cell:
    """What stands in a cell: entries one below the other; or nothing, with a note that says why."""

    entries: tuple[Entry, ...] = ()
    note: Text | None = None


@dataclass(frozen=True)
class Column:
    """A column's title and side: `number` is written to the right with figures of equal width."""

    title: Text
    number: bool = False
    page: str | None = None


@dataclass(frozen=True)
class Table:
    """Columns, rows of as many cells, and a caption if the text around does not say it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Text | None = None
    notes: tuple[Text, ...] = field(default=())


def cell(text: Text, page: str | None = None, *marks: Text, tone: str = "") -> Cell:
    """A cell with one entry."""
    return Cell((Entry(text, page, marks, tone=tone),))


def absent(note: Text | None) -> Cell:
    """A cell without a figure, and why."""
    return Cell(note=note)


@dataclass(frozen=True)
class Writer:
    """Writes tables in one language; `link` turns a page of ours into a link target relative to the present page."""

    words: Words
    language: str
    link: Callable[[str], str]

    def table(self, table: Table) -> Markup:
        """A table as Markdown with its caption and, below it, the notes that explain absent figures."""
        notes = _notes(table)
        header = [self._linked(column.title, column.page) for column in table.columns]
        rows = [[self._cell(each, notes) for each in row] for row in table.rows]
        parts = [_pipe(header, rows, [column.number for column in table.columns])]
        if notes:
            parts.append(self._footnotes(notes))
        parts += [Markup('<p class="pl-note">{}</p>').format(self.say(each)) for each in table.notes]
        caption = Markup('<p class="pl-caption">{}</p>\n\n').format(self.say(table.caption)) if table.caption else ""
        # Blank lines inside: md_in_html reads the table as Markdown.
        return Markup('{}<div class="pl-table" markdown="1">\n\n{}\n\n</div>').format(
            caption, Markup("\n\n").join(parts)
        )

    def say(self, text: Text) -> Markup:
        """A text in this language, escaped."""
        return escape(self.words.say(self.language, text))

    def _linked(self, text: Text, page: str | None) -> Markup:
        said = self.say(text)
        return Markup("[{}]({})").format(said, Markup(self.link(page))) if page else said

    def _cell(self, content: Cell, notes: dict[Text, str]) -> Markup:
        if not content.entries:
            mark = Markup("<sup>{}</sup>").format(notes[content.note]) if content.note else Markup("")
            return Markup('<span class="pl-absent">{}{}</span>').format(ABSENT, mark)
        written = Markup("<br>").join(self._entry(each) for each in content.entries)
        return written + Markup("<sup>{}</sup>").format(notes[content.note]) if content.note else written

    def _entry(self, entry: Entry) -> Markup:
        text = self._linked(entry.text, entry.page)
        if entry.best:
            text = Markup("**{}**").format(text)
        if entry.tone:
            text = Markup('<span class="pl-tone pl-{}">{}</span>').format(entry.tone, text)
        small = [self.say(each) for each in entry.marks if each]
        small += [self._linked(each.text, each.page) for each in entry.sources]
        return text + Markup(" <small>{}</small>").format(Markup(" ").join(small)) if small else text

    def _footnotes(self, notes: dict[Text, str]) -> Markup:
        said = [Markup("<sup>{}</sup> {}").format(mark, self.say(note)) for note, mark in notes.items()]
        return Markup('<p class="pl-note">{}</p>').format(Markup("<br>").join(said))


def _notes(table: Table) -> dict[Text, str]:
    """A letter per distinct note, in order of appearance."""
    found = dict.fromkeys(each.note for row in table.rows for each in row if each.note)
    return {note: _letters(index) for index, note in enumerate(found) if note}


def _letters(index: int) -> str:
    return (_letters(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def _pipe(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> Markup:
    """A pipe table whose cells are not padded: a row's bytes depend on that row alone, which keeps diffs small."""
    from tabulate import DataRow, TableFormat, tabulate

    rule = "|" + "|".join("--:" if number else "---" for number in numbers) + "|"
    row = DataRow("|", "|", "|")
    unpadded = TableFormat(None, lambda _widths, _sides: rule, None, None, row, row, 0, None)
    lines = tabulate(
        [list(map(str, each)) for each in rows],
        headers=list(map(str, header)),
        tablefmt=unpadded,
        disable_numparse=True,
        stralign=None,
    )
    return Markup(lines)
