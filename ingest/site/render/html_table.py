"""Tables as HTML in one language.

A template lays the table out. A site has some hundred thousand cells: these are joined from plain strings here, which
takes a third of the time. Every text goes through `escape` first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from perfledger.ingest.common.numbers import ABSENT
from perfledger.ingest.common.words import Text, Words, phrase
from perfledger.ingest.site.render.environment import environment
from perfledger.ingest.site.render.table import (
    Cell,
    Column,
    Entry,
    Facets,
    Table,
    Tag,
    value_of,
    written,
)
from perfledger.ingest.site.render.text import escape, slug

#: Tables with more rows than this get a field to filter them by, and room for it above.
FILTERED_ABOVE = 14
#: The named values that scripts and `verify` read on the page.
_NUMBER = re.compile(r"([-+−±]?[0-9][0-9,]*)(\.[0-9]+)?[×%]?")
_DIGIT = re.compile(r"[0-9]")
_NOT_COMMA = re.compile(r"[^,]")


@dataclass(frozen=True)
class _Room:
    """How long the longest whole part and the longest fraction of a column are: both are filled up to that."""

    whole: str = ""
    fraction: str = ""

    def around(self, text: str) -> tuple[str, str]:
        """Return the padding left and right of a text that aligns its decimal point with the others."""
        found = _NUMBER.fullmatch(text)
        if found:
            return self._left(len(found[1])), self.fraction[len(found[2] or "") :]
        return self._left(1 if text == ABSENT else len(text) + 1), ""

    def _left(self, length: int) -> str:
        return _NOT_COMMA.sub("0", self.whole[: max(len(self.whole) - length, 0)])


@dataclass(frozen=True)
class Writer:
    """Writes tables in one language; `link` turns a page of ours into a link target relative to the present page.

    One writer writes one page: it counts the tables, so that their names are unique there.
    """

    words: Words
    language: str
    link: Callable[[str], str]
    _counts: dict[str, int] = field(default_factory=dict)

    def table(self, table: Table) -> Markup:
        """Return a table as HTML, a line per row."""
        rooms = [self._room(table, at) if column.number else _Room() for at, column in enumerate(table.columns)]
        rows = [self._row(table, row, rooms) for row in table.rows]
        template: Any = environment().get_template("_table.html.j2").module
        written = template.table(
            {
                "name": self._name(table.name),
                "prose": table.prose,
                "cards": table.cards,
                "filtered": len(table.rows) > FILTERED_ABOVE and not table.prose,
                "heads": list(self._heads(table)),
                "rows": list(itertools.zip_longest(map(attributes, table.facets[: len(rows)]), rows, fillvalue="")),
                "notes": [self.say(each) for each in table.notes],
            }
        )
        return Markup(written)

    def say(self, text: Text) -> Markup:
        """Return a text in this language, escaped."""
        return escape(self.words.say(self.language, text))

    def caution(self, text: Text) -> Markup:
        """Return a dot whose words appear on hover, tap or keyboard focus."""
        dot = '<span class="pl-caution" tabindex="0" role="img" aria-label="{}"></span>'
        return Markup(dot).format(self.say(text))

    def _name(self, name: str) -> str:
        self._counts[name] = self._counts.get(name, 0) + 1
        return f"{slug(name)}-{self._counts[name]}"

    def _heads(self, table: Table) -> Iterator[Mapping[str, object]]:
        for key, column in zip(table.keys(self.words), table.columns, strict=True):
            title, unit = self.say(column.title), self.say(column.unit)
            yield {"key": Markup(key), "number": column.number, "title": title, "unit": unit}

    def _row(self, table: Table, row: Sequence[Cell], rooms: Sequence[_Room]) -> list[tuple[Markup, Markup]]:
        """Return the attributes and the content of each cell."""
        cells = []
        for column, content, room in zip(table.columns, row, rooms, strict=True):
            several = len(content.entries) > 1
            values = self._first_value(column, content) if several else self._attributes(column, content.entries)
            side = ' class="pl-n"' if column.number else ""
            side += f' data-label="{self.say(column.title)}"' if table.cards else ""
            cells.append((Markup(side + values), Markup(self._content(column, content, room))))
        return cells

    def _content(self, column: Column, content: Cell, room: _Room) -> str:
        """Entries, one below the other; each of several carries its own values."""
        mark = f" {self.caution(content.note)}" if content.note else ""
        if not content.entries:
            return f'<span class="pl-absent">{self._placed(column, ABSENT, room)}{mark}</span>'
        entries = [self._entry(column, each, room) for each in content.entries]
        if len(entries) > 1:
            entries = [
                f'<span class="pl-entry"{self._attributes(column, [entry])}>{written_entry}</span>'
                for entry, written_entry in zip(content.entries, entries, strict=True)
            ]
        return "".join(entries) + mark

    def _entry(self, column: Column, entry: Entry, room: _Room) -> str:
        text = self._placed(column, entry.text, room)
        if entry.page:
            text = f'<a href="{self.link(entry.page)}">{text}</a>'
        if entry.best:
            text = f'<strong class="pl-best" title="{self.say(phrase("table.best_figure"))}">{text}</strong>'
        if entry.tone:
            text = f'<span class="pl-tone pl-{escape(entry.tone)}">{text}</span>'
        if entry.verdict:
            text = f"{text} {self._verdict(entry.verdict)}"
        if entry.caution:
            text = f"{text} {self.caution(entry.caution)}"
        small = [str(self.say(each)) for each in entry.marks if each]
        links = " ".join(self._linked(each.text, each.page) for each in entry.sources)
        if not small:
            return f'{text} <small class="pl-runs">{links}</small>' if links else text
        small += [f'<span class="pl-runs">{links}</span>'] if links else []
        return f"{text} <small>{' '.join(small)}</small>"

    def _verdict(self, found: Tag) -> str:
        """Return a sign with its words, linked to where the verdict is explained."""
        tone = f" pl-{found.tone}" if found.tone else ""
        means, sign = self.say(found.means), self.say(found.text)
        address = self.link(found.page)
        return f'<a class="pl-verdict{tone}" href="{address}" title="{means}" aria-label="{means}">{sign}</a>'

    def _placed(self, column: Column, text: Text, room: _Room) -> str:
        """Return a text of a number column with its padding, which style sheets hide."""
        found = self.words.say(self.language, text)
        if not (column.number and room.whole):
            return escape(found)
        left, right = room.around(found)
        if not left and not right:
            return escape(found)
        sides = (f' data-l="{left}"' if left else "") + (f' data-r="{right}"' if right else "")
        return f'<span class="pl-v"{sides}>{escape(found)}</span>'

    def _attributes(self, column: Column, entries: Iterable[Entry]) -> str:
        """Return the values before rounding, which scripts use for sorting."""
        return "".join(self._value(column, each) for each in entries)

    def _first_value(self, column: Column, content: Cell) -> str:
        return next((each for entry in content.entries if (each := self._value(column, entry))), "")

    def _value(self, column: Column, entry: Entry) -> str:
        value = value_of(self.words, column, entry)
        return f' data-value="{escape(written(value))}"' if value is not None else ""

    def _linked(self, text: Text, page: str | None) -> str:
        found = self.say(text)
        return f'<a href="{self.link(page)}">{found}</a>' if page else found

    def _room(self, table: Table, index: int) -> _Room:
        """Return the room that the numbers of a column need."""
        texts = (self.words.say(self.language, entry.text) for row in table.rows for entry in row[index].entries)
        found = [match for text in texts if (match := _NUMBER.fullmatch(text))]
        if not found:
            return _Room()
        fraction = max((match[2] or "" for match in found), key=len)
        return _Room(max((match[1] for match in found), key=len), _DIGIT.sub("0", fraction))


def attributes(facets: Facets) -> Markup:
    """Return what the filters of a page know something by, as attributes."""
    return Markup("".join(f' data-f-{name}="{escape(value)}"' for name, value in facets))
