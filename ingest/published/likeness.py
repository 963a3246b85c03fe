"""Decide which published figures may be compared, and which of them are best.

Sources print figures side by side that differ in batch size, clipping or unit. Figures are compared only if they state
the same facts, except for the framework and its way to run the same work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.published.publications import REPEATS, Published, options_cell
from perfledger.ingest.published.slices import Slice
from perfledger.schema.vocabulary import METRICS, precision_group

Direction = Literal["higher", "lower"]
#: Options that change how a framework runs the same work; compared figures may differ in them.
MANNER = frozenset({"xla", "dali"})
#: The better direction of metrics that only published figures have.
_BETTER: Mapping[str, Direction] = {
    "throughput": "higher",
    "memory_ratio": "lower",
    "utilisation": "higher",
    "max_num_classes": "higher",
}


@dataclass(frozen=True)
class LikeFigures:
    """Figures that may be compared: measured ones of at least two frameworks, in the order of their table."""

    rows: tuple[Published, ...]

    @property
    def ranked(self) -> list[Published]:
        """The figures, the best first."""
        sign = 1 if better(self.rows[0].metric) == "lower" else -1
        return sorted(self.rows, key=lambda row: sign * (row.value or 0))

    @property
    def best(self) -> tuple[Published, ...]:
        """The best figures, several where they are the same; none where all are."""
        first = self.ranked[0]
        found = tuple(row for row in self.rows if row.value == first.value)
        return found if len(found) < len(self.rows) else ()


def better(metric: str) -> Direction:
    """Return which direction of a metric is better."""
    return METRICS[metric].better if metric in METRICS else _BETTER[metric]


def comparisons(found: Slice) -> list[LikeFigures]:
    """Return what may be compared within a slice, in the order of its rows."""
    return like(each.row for each in found.figures)


def like(rows: Iterable[Published]) -> list[LikeFigures]:
    """Return the groups of figures that may be compared."""
    groups = by_key((row for row in rows if row.value is not None and row.metric not in REPEATS), _case)
    return [LikeFigures(tuple(each)) for each in groups.values() if len({row.framework for row in each}) > 1]


def _case(row: Published) -> tuple[object, ...]:
    """Return what has to be the same. Kinds of half precision are compared with each other, as everywhere here."""
    precision = precision_group(row.precision, row.precision)
    options = options_cell({name: value for name, value in row.options.items() if name not in MANNER})
    case = (row.model, row.hardware, row.nodes, row.devices, row.batch_size, precision)
    return (*case, row.metric, row.unit, options)
