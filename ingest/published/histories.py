"""Figures that others published, over time: those of one case in several editions.

The changes get no verdict, since a published figure rarely states how often it was measured. A figure that a publisher
prints again later is not a new point. If an edition prints several figures of one case, the highest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.compute.history import HistoryPoint, Moment, history
from perfledger.ingest.published.cases import in_one_spelling, library
from perfledger.ingest.published.publications import Published, Publisher

_METRIC = "throughput"
#: Options that are off where nothing is stated.
_OFF = frozenset({("xla", "false"), ("dali", "false")})
Options = frozenset[tuple[str, str]]
Group = Callable[[str], str]


@dataclass(frozen=True)
class PrintedPoint(HistoryPoint):
    """A published figure with its date; `publisher` is the same for all editions of one."""

    row: Published | None = None
    publisher: str = ""

    @property
    def printed(self) -> Published:
        """The figure as it is printed."""
        assert self.row is not None
        return self.row


#: The history of one case, as one publisher printed it.
PrintedHistory = tuple[Moment[PrintedPoint], ...]


def dated(rows: Iterable[Published], sources: Mapping[str, Publisher]) -> list[PrintedPoint]:
    """Return the throughputs with a known date of publication, without repetitions by the same publisher.

    Points with the value 0 are figures that were announced or not measured; they show which cases an edition separates.
    """
    found: dict[Hashable, PrintedPoint] = {}
    points = (_point(row, sources[row.source]) for row in rows if row.metric == _METRIC)
    for at, each in enumerate(sorted((each for each in points if each), key=lambda each: each.date)):
        again = each.figure.value or (at,)
        found.setdefault((_job(each), each.printed.batch_size, each.publisher, again), each)
    return list(found.values())


def over_editions(points: Sequence[PrintedPoint], group: Group) -> list[PrintedHistory]:
    """Return the history of each case with several figures of one publisher, each from another day.

    Args:
        group: returns the group of a precision; half precisions are one case.
    """

    def case(each: PrintedPoint) -> Hashable:
        row = each.printed
        return (each.publisher, _job(each), row.hardware, row.batch_size, group(row.precision))

    cases = by_key(points, case).values()
    return [history(part) for alike in cases for part in _by_options(alike) if len(part) > 1]


def _point(row: Published, source: Publisher) -> PrintedPoint | None:
    if (pages := source.pages_of(row)) is None:
        return None
    value = row.value or 0.0
    figure = Measured(value, value, value, 1, unit=row.unit)
    return PrintedPoint(figure, pages.date, pages.version, row=row, publisher=source.address)


def _job(point: PrintedPoint) -> tuple[Hashable, ...]:
    row = point.printed
    return (row.model, library(row.framework), row.nodes or 1, row.devices, row.unit)


def _by_options(points: Sequence[PrintedPoint]) -> list[list[PrintedPoint]]:
    """Return points grouped by their options, one for each date.

    An edition that never states an option fits all its values. If an edition prints figures with an option and figures
    without it, those without are a separate case.
    """
    stated = [_options(each.printed) for each in points]
    telling = _told_by_absence(points, stated)
    cases = [each | {(name, "") for name in telling - {name for name, _ in each}} for each in stated]
    largest = {each for each in cases if not any(each < other for other in cases)}
    return [
        _by_date(point for point, case in zip(points, cases, strict=True) if case <= whole and point.figure.value)
        for whole in sorted(largest, key=sorted)
    ]


def _told_by_absence(points: Sequence[PrintedPoint], stated: Sequence[Options]) -> set[str]:
    """Return the options that some figures of one edition state and others do not."""
    names: dict[str, list[frozenset[str]]] = {}
    for point, options in zip(points, stated, strict=True):
        names.setdefault(point.date, []).append(frozenset(name for name, _ in options))
    return {name for each in names.values() for name in frozenset().union(*each) - each[0].intersection(*each)}


def _by_date(points: Iterable[PrintedPoint]) -> list[PrintedPoint]:
    """Return the highest figure of each date."""
    of_date = by_key(points, lambda each: each.date)
    return [max(some, key=lambda each: each.figure.value) for some in of_date.values()]


def _options(row: Published) -> Options:
    return frozenset(in_one_spelling(row.options).items()) - _OFF
