"""Which parts of a long page are folded, so that a reader sees what there is without scrolling through all of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ingest.site.render.table import Table

#: Pixels that the open parts of a page may take together, of the 6,000 that a page may be tall at a width of 1,440.
OPEN = 2800
#: About how tall a table is without its rows, each of its rows, and a chart.
_HEAD, _ROW, _CHART = 110, 27, 480


def height(tables: Sequence[Table | None], charts: int = 0) -> int:
    """Return about how many pixels tables and charts take, one below the other."""
    return sum(_HEAD + _ROW * len(each.rows) for each in tables if each) + _CHART * charts


def folded(heights: Sequence[int]) -> list[bool]:
    """Return for each part of a page whether it is folded: the first is open, and others while there is room."""
    return [index > 0 and total > OPEN for index, total in enumerate(accumulate(heights))]
