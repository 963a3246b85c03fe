"""Which parts of a long page are folded, so that a reader sees what there is without scrolling through all of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from perfledger.ingest.common.words import Text, own
from perfledger.ingest.site.render.chart import Chart, Dots
from perfledger.ingest.site.render.table import Table

#: Pixels that a page may be tall at a width of 1,440.
TALL = 6000
# Heights in pixels, approximately.
#: Parts of a report above and below its blocks.
_AROUND = 2250
#: Title of a block.
_TITLE = 75
#: Line of a block's text.
_LINE = 45
#: Folded plan.
_PLAN = 65
#: Table without its rows.
_HEAD = 110
#: Row of a table with one line.
_ROW = 34
#: Row of a table with small print.
_MARKED = 54
#: Row of words.
_FACT = 52
#: Note below a table.
_NOTE = 45
#: Chart without its panels.
_CHART = 200
#: Chart with lines.
_LINES = 350
#: Head and foot of a panel.
_PANEL = 64
#: Bar next to its name.
_BAR = 24
#: Bar below its name.
_NAMED = 38
#: Number of panels that are drawn in two columns, at least.
_COLUMNS_FROM = 4
#: Letters of a name that does not fit next to its bar, at least.
_LONG = 42
#: Letters of a title that does not fit above its panel, at least.
_WIDE = 60
#: Pixels around tables and charts, for their captions and sources.
_PART = 60


def height(tables: Sequence[Table | None], charts: Sequence[Chart] = ()) -> int:
    """Return about how many pixels tables and charts take, one below the other."""
    return _PART + sum(_table(each) for each in tables if each) + sum(map(_chart, charts))


def height_of_facts(facts: Table) -> int:
    """Return about how many pixels a table of words takes."""
    return _HEAD + _FACT * len(facts.rows)


def _table(table: Table) -> int:
    is_marked = any(entry.marks for row in table.rows for cell in row for entry in cell.entries)
    cells = {cell.note for row in table.rows for cell in row if cell.note}
    return _HEAD + (_MARKED if is_marked else _ROW) * len(table.rows) + _NOTE * (len(table.notes) + len(cells))


def _chart(chart: Chart) -> int:
    if not isinstance(chart.spec, Dots):
        return _CHART + _LINES
    is_long = any(_letters(row.label) > _LONG for panel in chart.spec.panels for row in panel.rows)
    panels = [_PANEL + (_NAMED if is_long else _BAR) * len(each.rows) for each in chart.spec.panels]
    is_wide = any(_letters(panel.label) > _WIDE for panel in chart.spec.panels)
    columns = 2 if len(panels) >= _COLUMNS_FROM and not is_long and not is_wide else 1
    return _CHART + sum(max(panels[at : at + columns]) for at in range(0, len(panels), columns))


def _letters(text: Text) -> int:
    return len(own().say("en", text))


def folded(heights: Sequence[int], most: int = TALL - _AROUND) -> list[bool]:
    """Return for each part of a page whether it is folded: the first is open, and further parts up to `most` pixels."""
    return [index > 0 and total > most for index, total in enumerate(accumulate(heights))]


def room(blocks: int, lines: int, plans: int, facts: int) -> int:
    """Return how many pixels a report has for its figures, besides its blocks, lines of text, plans and facts.

    `facts` is the height of those that are open.
    """
    return TALL - _AROUND - _TITLE * blocks - _LINE * lines - _PLAN * plans - facts
