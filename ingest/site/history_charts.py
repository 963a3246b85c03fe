"""Charts of results over time: throughput per device, a line per configuration, a place per day, version and round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import THROUGHPUT
from perfledger.ingest.compute.history import HistoryPoint, in_order
from perfledger.ingest.published.histories import PrintedHistory
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.history import OwnHistory
from perfledger.ingest.site.model import Site, Suite, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Lines, Point, Tick
from perfledger.ingest.site.render.text import slug

#: Lines of a chart, at most, so that they can be distinguished.
_MOST_LINES = 8
#: Charts of a page, at most, so that they give an overview.
_MOST_CHARTS = 6
#: Points of a single line, at least: a line of two points repeats its row of the table.
_POINTS = 3
#: Lines of two points, at least: several lines show whether they move together.
_LINES = 2
_WHEN = ("date", "version", "round")
_Key = tuple[str, str, str]
#: Framework, hardware, precision and unit.
_About = tuple[str, str, str, str]


@dataclass(frozen=True)
class _Line:
    """A history as a line of a chart: the configuration without what the chart names, and its points.

    A point has its page, and is marked if the level of the results changes there.
    """

    chart: _About
    label: Text
    devices: int
    points: tuple[tuple[HistoryPoint, str, bool], ...]


def of_results(site: Site, suite: Suite, found: Sequence[OwnHistory]) -> list[Chart]:
    """Return a chart per framework, hardware, precision and unit of our results."""
    return _charts(suite, "history", [_own(site, each) for each in found if each.metric == THROUGHPUT])


def of_published(site: Site, suite: Suite, found: Sequence[PrintedHistory]) -> list[Chart]:
    """Return a chart per framework, hardware, precision and unit of published figures."""
    return _charts(suite, "published-history", [_published(site, each) for each in found])


def _own(site: Site, found: OwnHistory) -> _Line:
    row = found.row
    about = (row.framework or "", row.hardware or "", row.precision or "", row.unit)
    points = tuple((each.point, site.page(each.point.runs[0]), each.mark) for each in found.moments)
    return _Line(about, _label(row.devices, row.batch_size, row.options), row.devices or 1, points)


def _published(site: Site, found: PrintedHistory) -> _Line:
    row, sources = found[-1].point.printed, site.published.sources
    first = found[0].point.printed
    about = (first.framework, first.hardware, first.precision, first.unit)
    options = {name: value for name, value in row.options.items() if (name, value) != ("xla", "no")}
    printed = ((each, each.point.printed) for each in found)
    points = tuple((each.point, sources[one.source].address_of(one) or "", each.mark) for each, one in printed)
    return _Line(about, _label(row.devices, row.batch_size, options), row.devices or 1, points)


def _label(devices: int | None, batch_size: int | None, options: Mapping[str, object]) -> Text:
    """Return a configuration in words; a chart has one precision, which its title names."""
    count = phrase("front.one_device") if devices == 1 else phrase("front.devices", n=devices) if devices else ""
    return listed((count, phrase("front.batch", n=batch_size) if batch_size else "", in_words(options)))


def _charts(suite: Suite, name: str, lines: Sequence[_Line]) -> list[Chart]:
    groups = by_key(lines, lambda each: each.chart)
    made = (_chart(suite, name, groups[about]) for about in sorted(groups))
    return [each for each in made if each][:_MOST_CHARTS]


def _chart(suite: Suite, name: str, every: Sequence[_Line]) -> Chart | None:
    """Return the chart of the lines with the most points, as many as can be distinguished, in their own order."""
    longest = sorted(range(len(every)), key=lambda at: (-len(every[at].points), at))[:_MOST_LINES]
    lines = [every[at] for at in sorted(longest)]
    if len(lines) < _LINES and max(len(each.points) for each in lines) < _POINTS:
        return None
    framework, hardware, precision, unit = lines[0].chart
    places = _places(point for line in lines for point, _, _ in line.points)
    order = list(places)
    series = (
        ChartLine(
            line.label,
            colours.ink(framework).id,
            tuple(_point(line.devices, each, order.index(_key(each[0])), unit) for each in line.points),
        )
        for line in lines
    )
    title = phrase("history.chart_title", title=suite.title, framework=framework, hardware=product(hardware))
    axis = Axis(phrase("chart.time"), ticks=tuple(Tick(at, name) for at, name in enumerate(places.values())))
    named = listed((title, precision_name(precision)))
    spec = Lines(title=named, unit=phrase("chart.per_device", unit=unit), x=axis, series=tuple(series), near=True)
    return Chart(f"{suite.id}-{name}-{slug(' '.join(lines[0].chart))}", spec, phrase("history.chart_text"))


def _point(devices: int, found: tuple[HistoryPoint, str, bool], at: int, unit: str) -> Point:
    """Return the throughput of a device as a point."""
    point, page, changes = found
    figure = point.figure
    value = figure.value / devices
    return Point(
        x=at, y=value, low=figure.low / devices, high=figure.high / devices, n=figure.repeats,
        text=phrase("chart.per_device", unit=f"{numbers.figure(value, figure.spread)} {unit}"),
        about=listed(filter(None, _key(point))), href=page, step=phrase("history.level") if changes else "",
    )  # fmt: skip


def _places(points: Iterable[HistoryPoint]) -> dict[_Key, str]:
    """Return a name for each point, in order: the day, version or round that distinguishes it from the others."""
    keys = dict.fromkeys(map(_key, in_order(list(points))))
    varying = [at for at, _ in enumerate(_WHEN) if len({key[at] for key in keys}) > 1]
    return {key: " ".join(filter(None, (key[at] for at in varying))) for key in keys}


def _key(point: HistoryPoint) -> _Key:
    return (point.date, point.version, point.round)
