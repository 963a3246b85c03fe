"""Our own results of the case of a published figure; an option that only ours states is shown with our result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.suites import folded
from perfledger.ingest.common.words import Text
from perfledger.ingest.published import cases
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.result_tables import own_marks, version_marks

#: Metrics that compare with published ones; the loss of one step does not compare with that of another.
METRICS = frozenset({"latency", "memory", "flops", "peak_share", "flops_of_job"})


@dataclass(frozen=True)
class Ours:
    """A result of ours and its value of the published metric.

    `difference` is relative to the published figure; `marks` are what our case states and the published one does not.
    """

    row: Row
    value: float
    spread: float | None
    difference: float
    marks: tuple[Text, ...]


def of_suite(site: Site, suite: Suite) -> Callable[[Published], list[Ours]]:
    """Return a function that looks up our results of the case of a published figure, in the order of the results."""
    of_case = cases.matcher(site.rows.get(suite.id, ()) if site.runs else (), site.published.rows)
    return lambda figure: _ours(figure, of_case(figure))


def _ours(figure: Published, rows: Sequence[Row]) -> list[Ours]:
    if not figure.value:
        return []
    known = ((row, _value(figure, row)) for row in rows)
    return [
        Ours(
            row,
            value,
            spread,
            value / figure.value - 1,
            (*_marks(figure, row), *own_marks(row), *version_marks(row, rows)),
        )
        for row, (value, spread) in known
        if value and value > 0
    ]


def _marks(figure: Published, row: Row) -> tuple[Text, ...]:
    library = row.framework if folded(row.framework or "") != folded(figure.framework) else ""
    more = {name: value for name, value in row.options.items() if name not in figure.options}
    return tuple(each for each in (library, in_words(more)) if each)


def _value(figure: Published, row: Row) -> tuple[float | None, float | None]:
    """Return our value of the published metric, and its spread over repeats."""
    if figure.metric == "throughput":
        return (row.value, row.spread) if row.unit == figure.unit else (None, None)
    found = row.metrics.get(figure.metric) if figure.metric in METRICS else None
    return (found.value, None) if found and found.unit == figure.unit else (None, None)
