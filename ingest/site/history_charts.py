"""Charts of results over time: throughput per device, a line per configuration, a place per day, version and round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
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
    """A history as a line: the configuration without its framework, the points, and the page of each."""

    label: Text
    devices: int
    points: tuple[HistoryPoint, ...]
    pages: tuple[str, ...]
    #: Whether the level of the results changes at each point.
    changes: tuple[bool, ...]

    def text(self, point: HistoryPoint) -> str:
        """Return the throughput of a device as it is written."""
        return numbers.figure(point.figure.value / self.devices, point.figure.spread)


def of_results(site: Site, suite: Suite, found: Sequence[OwnHistory]) -> list[Chart]:
    """Return a chart per framework, hardware, precision and unit of our results."""
    groups: dict[_About, list[_Line]] = {}
    for each in found:
        if each.metric == THROUGHPUT:
            row = each.row
            about = (row.framework or "", row.hardware or "", row.precision or "", row.unit)
            groups.setdefault(about, []).append(_own(site, each))
    return _charts(suite, "history", groups)


def of_published(site: Site, suite: Suite, found: Sequence[PrintedHistory]) -> list[Chart]:
    """Return a chart per framework, hardware, precision and unit of published figures."""
    groups: dict[_About, list[_Line]] = {}
    for moments in found:
        row = moments[0].point.printed
        groups.setdefault((row.framework, row.hardware, row.precision, row.unit), []).append(_published(site, moments))
    return _charts(suite, "published-history", groups)


def _own(site: Site, found: OwnHistory) -> _Line:
    row, points = found.row, tuple(each.point for each in found.moments)
    pages = tuple(site.page(each.runs[0]) for each in points)
    label = _label(row.devices, row.batch_size, row.options)
    return _Line(label, row.devices or 1, points, pages, tuple(each.mark for each in found.moments))


def _published(site: Site, found: PrintedHistory) -> _Line:
    row = found[-1].point.printed
    options = {name: value for name, value in row.options.items() if (name, value) != ("xla", "no")}
    label = _label(row.devices, row.batch_size, options)
    points = tuple(each.point for each in found)
    pages = tuple(site.published.sources[each.printed.source].address_of(each.printed) or "" for each in points)
    return _Line(label, row.devices or 1, points, pages, tuple(each.mark for each in found))


def _label(devices: int | None, batch_size: int | None, options: Mapping[str, object]) -> Text:
    """Return a configuration in words; a chart has one precision, which its title names."""
    count = phrase("front.one_device") if devices == 1 else phrase("front.devices", n=devices) if devices else ""
    return listed((count, phrase("front.batch", n=batch_size) if batch_size else "", in_words(options)))


def _charts(suite: Suite, name: str, groups: Mapping[_About, Sequence[_Line]]) -> list[Chart]:
    made = (_chart(suite, name, about, _chosen(lines)) for about, lines in sorted(groups.items()))
    return [each for each in made if each][:_MOST_CHARTS]


def _chosen(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines with the most points, at most as many as can be distinguished, in their own order."""
    longest = sorted(range(len(lines)), key=lambda at: (-len(lines[at].points), at))[:_MOST_LINES]
    return [lines[at] for at in sorted(longest)]


def _chart(suite: Suite, name: str, about: _About, lines: Sequence[_Line]) -> Chart | None:
    if len(lines) < _LINES and max(len(each.points) for each in lines) < _POINTS:
        return None
    framework, hardware, precision, unit = about
    places = _places(point for line in lines for point in line.points)
    series = tuple(_series(framework, each, list(places), unit) for each in lines)
    title = phrase("history.chart_title", title=suite.title, framework=framework, hardware=product(hardware))
    axis = Axis(phrase("chart.time"), ticks=tuple(Tick(at, name) for at, name in enumerate(places.values())))
    named = listed((title, precision_name(precision)))
    spec = Lines(title=named, unit=phrase("chart.per_device", unit=unit), x=axis, series=series, near=True)
    return Chart(f"{suite.id}-{name}-{slug(' '.join(about))}", spec, phrase("history.chart_text"))


def _series(framework: str, line: _Line, places: Sequence[_Key], unit: str) -> ChartLine:
    return ChartLine(
        line.label,
        colours.ink(framework).id,
        tuple(
            _point(line, each, page, places.index(_key(each)), unit, step)
            for each, page, step in zip(line.points, line.pages, line.changes, strict=True)
        ),
    )


def _point(line: _Line, point: HistoryPoint, page: str, at: int, unit: str, step: bool) -> Point:
    value, low, high = (getattr(point.figure, name) for name in ("value", "low", "high"))
    low, high = (each / line.devices if each is not None else None for each in (low, high))
    text = phrase("chart.per_device", unit=f"{line.text(point)} {unit}")
    about = listed(filter(None, _key(point)))
    return Point(
        x=at, y=value / line.devices, low=low, high=high, n=point.figure.repeats, text=text, about=about, href=page,
        step=phrase("history.level") if step else "",
    )  # fmt: skip


def _places(points: Iterable[HistoryPoint]) -> dict[_Key, str]:
    """Return a name for each point, in order: the day, version or round that distinguishes it from the others."""
    keys = dict.fromkeys(map(_key, in_order(list(points))))
    varying = [at for at, _ in enumerate(_WHEN) if len({key[at] for key in keys}) > 1]
    return {key: " ".join(filter(None, (key[at] for at in varying))) for key in keys}


def _key(point: HistoryPoint) -> _Key:
    return (point.date, point.version, point.round)
