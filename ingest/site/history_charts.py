"""Charts of results over time: throughput per device, a line per configuration, a place per day, version and round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import THROUGHPUT
from perfledger.ingest.compute.history import HistoryPoint, Moment, in_order
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.history import OwnHistory, OwnPoint
from perfledger.ingest.site.model import Row, Site, Suite, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Lines, Point, Tick
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.verdict_words import batch, devices_on

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


def of_results(site: Site, suite: Suite, found: Sequence[OwnHistory]) -> list[Chart]:
    """Return a chart per framework, hardware, precision and unit."""
    groups = by_key((each for each in found if each.metric == THROUGHPUT), _about)
    made = (_chart(site, suite, about, groups[about]) for about in sorted(groups))
    return [each for each in made if each][:_MOST_CHARTS]


def _about(found: OwnHistory) -> tuple[str, ...]:
    """Return what the title of a chart names: framework, hardware, precision and unit."""
    row = found.row
    return row.framework or "", row.hardware or "", row.precision or "", row.unit


def _label(row: Row) -> Text:
    """Return a configuration in words, without what the title names."""
    return listed((devices_on(row.devices, 1) if row.devices else "", batch(row.batch_size), in_words(row.options)))


def _chart(site: Site, suite: Suite, about: tuple[str, ...], every: Sequence[OwnHistory]) -> Chart | None:
    """Return the chart of the lines with the most points, as many as can be distinguished, in their own order."""
    longest = sorted(range(len(every)), key=lambda at: (-len(every[at].moments), at))[:_MOST_LINES]
    lines = [every[at] for at in sorted(longest)]
    if len(lines) < _LINES and max(len(each.moments) for each in lines) < _POINTS:
        return None
    framework, hardware, precision, unit = about
    places = _places(each.point for line in lines for each in line.moments)
    order = list(places)
    series = (
        ChartLine(
            _label(line.row),
            colours.ink(framework).id,
            tuple(_point(site, line.row, each, order.index(_key(each.point))) for each in line.moments),
        )
        for line in lines
    )
    title = phrase("history.chart_title", title=suite.title, framework=framework, hardware=product(hardware))
    axis = Axis(phrase("chart.time"), ticks=tuple(Tick(at, name) for at, name in enumerate(places.values())))
    named = listed((title, precision_name(precision)))
    spec = Lines(title=named, unit=phrase("chart.per_device", unit=unit), x=axis, series=tuple(series), near=True)
    return Chart(f"{suite.id}-history-{slug(' '.join(about))}", spec, phrase("history.chart_text"))


def _point(site: Site, row: Row, moment: Moment[OwnPoint], at: int) -> Point:
    """Return the throughput of a device as a point, marked if the level of the results changes there."""
    figure, devices = moment.point.figure, row.devices or 1
    value = figure.value / devices
    return Point(
        x=at, y=value, low=figure.low / devices, high=figure.high / devices, n=figure.repeats,
        text=phrase("chart.per_device", unit=f"{numbers.figure(value, figure.spread)} {row.unit}"),
        about=listed(filter(None, _key(moment.point))), href=site.page(moment.point.runs[0]),
        step=phrase("history.level") if moment.mark else "",
    )  # fmt: skip


def _places(points: Iterable[HistoryPoint]) -> dict[_Key, str]:
    """Return a name for each point, in order: the day, version or round that distinguishes it from the others."""
    keys = dict.fromkeys(map(_key, in_order(list(points))))
    varying = [at for at, _ in enumerate(_WHEN) if len({key[at] for key in keys}) > 1]
    return {key: " ".join(filter(None, (key[at] for at in varying))) for key in keys}


def _key(point: HistoryPoint) -> _Key:
    return (point.date, point.version, point.round)
