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
    found: list[Ours] = []
    for row in rows if figure.value else ():
        value, spread = _value(figure, row)
        if value and value > 0:
            library = row.framework or "" if folded(row.framework or "") != folded(figure.framework) else ""
            more = in_words({name: each for name, each in row.options.items() if name not in figure.options})
            marks = (library, more, *own_marks(row), *version_marks(row, rows))
            difference = value / (figure.value or 1) - 1
            found.append(Ours(row, value, spread, difference, tuple(each for each in marks if each)))
    return found


def _value(figure: Published, row: Row) -> tuple[float | None, float | None]:
    """Return our value of the published metric, and its spread over repeats."""
    if figure.metric == "throughput":
        return (row.value, row.spread) if row.unit == figure.unit else (None, None)
    found = row.metrics.get(figure.metric) if figure.metric in METRICS else None
    return (found.value, None) if found and found.unit == figure.unit else (None, None)
