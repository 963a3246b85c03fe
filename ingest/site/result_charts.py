"""The charts of a model's results: throughput per device by framework, and scaling efficiency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import contradicted
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Row, RowKey, Site, Suite, group_name, named, ordered, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Dot, Dots, Lines, Panel, Point, Tick
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.result_tables import representative, version_marks

#: Points of a chart, at least: two lines of two points, or one of three, show more than a sentence.
POINTS = 3
#: Rows of a chart, at most; the tables have all rows.
MOST_ROWS = 40


def throughput(site: Site, suite: Suite, hardware: str, group: str, rows: Sequence[Row]) -> Chart | None:
    """Return a panel per number of devices, where one of them has two results of one unit to compare.

    The chart has the unit of most results: an axis has one. Of many results it has the first comparisons.
    """
    known = [row for row in rows if numbers.known(row.value)]
    unit = next((unit for unit, _ in Counter(row.unit for row in known).most_common(1)), "")
    valued = _in_order(suite, [row for row in known if row.unit == unit])
    shown = _first(suite, valued)
    labelled = list(zip(shown, _labels(suite, shown), strict=True))
    places = sorted({_place(row) for row in shown})
    panels = tuple(
        Panel(_devices(place), tuple(_dot(site, row, label) for row, label in labelled if _place(row) == place))
        for place in places
    )
    if not any(len(panel.rows) > 1 for panel in panels):
        return None
    several = any(devices > 1 for _, devices in places)
    title = phrase("chart.bars_title", **_of_slice(suite, hardware, group))
    spec = Dots(title=title, unit=phrase("chart.per_device", unit=unit) if several else unit, panels=panels)
    text = phrase("chart.bars_text")
    if len(shown) < len(valued):
        text = phrase("chart.bars_part", text=text, shown=len(shown), all=len(valued))
    return Chart(f"{_name(suite, hardware, group)}-throughput", spec, text)


def _first(suite: Suite, rows: Sequence[Row]) -> Sequence[Row]:
    """Return as many rows as a chart has room for: the fastest of each framework in whole comparisons.

    Numbers of devices take turns; in each the comparison of most frameworks is first, and of those the fastest.
    """
    if len(rows) <= MOST_ROWS:
        return rows
    fastest: dict[RowKey, dict[str | None, Row]] = {}
    for row in sorted(rows, key=lambda each: each.value or 0):
        fastest.setdefault(suite.row_key(row), {})[row.framework] = row
    compared = [list(each.values()) for each in fastest.values()]
    rivals = [each for each in compared if len(each) > 1] or compared
    turns: dict[tuple[int, int], list[list[Row]]] = {}
    for each in sorted(rivals, key=lambda each: (len(each), each[-1].value or 0), reverse=True):
        turns.setdefault(_place(each[0]), []).append(each)
    kept: list[Row] = []
    for each in filter(None, chain.from_iterable(zip_longest(*(turns[place] for place in sorted(turns))))):
        kept += each if len(kept) + len(each) <= MOST_ROWS else []
    return _in_order(suite, kept)


def efficiency(site: Site, suite: Suite, hardware: str, group: str, rows: Sequence[Row]) -> Chart | None:
    """Return a line per framework, where there is more than one line between two points."""
    known = _in_order(suite, [row for row in rows if numbers.known(row.efficiency) and row.devices])
    labels = _labels(suite, known)
    lines: dict[Text, dict[int, Point]] = {}
    for row, label in zip(known, labels, strict=True):
        lines.setdefault(label, {})[row.devices or 1] = _point(site, row)
    drawn = {label: points for label, points in lines.items() if len(points) > 1}
    if sum(map(len, drawn.values())) < POINTS:
        return None
    inks = {label: colours.ink(row.framework or "").id for row, label in zip(known, labels, strict=True)}
    series = tuple(ChartLine(label, inks[label], tuple(at[each] for each in sorted(at))) for label, at in drawn.items())
    ticks = tuple(Tick(each, str(each)) for each in sorted({each for at in drawn.values() for each in at}))
    spec = Lines(
        title=phrase("chart.efficiency_title", **_of_slice(suite, hardware, group)), unit=phrase("chart.efficiency"),
        ideal=100, near=True, x=Axis(phrase("chart.devices"), log2=True, ticks=ticks), series=series,
    )  # fmt: skip
    return Chart(f"{_name(suite, hardware, group)}-efficiency", spec, phrase("chart.efficiency_text"))


def _name(suite: Suite, hardware: str, group: str) -> str:
    return f"{suite.id}-{slug(hardware or 'unknown')}-{group}"


def _of_slice(suite: Suite, hardware: str, group: str) -> Mapping[str, Text]:
    return {"title": suite.title, "hardware": product(hardware), "group": group_name(group)}


def _in_order(suite: Suite, rows: Sequence[Row]) -> list[Row]:
    first = ordered({row.framework or "" for row in rows}, suite.frameworks)
    return sorted(rows, key=lambda row: (first.index(row.framework or ""), row.precision or "", suite.row_key(row)))


def _place(row: Row) -> tuple[int, int]:
    return row.nodes or 1, row.devices or 1


def _devices(place: tuple[int, int]) -> Text:
    nodes, devices = place
    if nodes > 1:
        return phrase("front.machines", devices=devices, nodes=nodes)
    return phrase("front.one_device") if devices == 1 else phrase("front.devices", n=devices)


def _dot(site: Site, row: Row, label: Text) -> Dot:
    devices = row.devices or 1
    value, low, high = (each / devices if each is not None else None for each in (row.value, row.low, row.high))
    return Dot(
        label=label, series=named(row.framework), ink=colours.ink(row.framework or "").id, value=value, low=low,
        high=high, n=row.repeats, text=_written(row, value), about=_about(site, row), href=_page(site, row),
    )  # fmt: skip


def _written(row: Row, value: float | None) -> Text:
    """Return the throughput of one device, and that of all."""
    each = numbers.figure(value, row.spread, row.resolution or 0.0)
    if (row.devices or 1) == 1:
        return f"{each} {row.unit}".strip()
    whole = numbers.figure(row.value, row.spread, row.resolution or 0.0)
    return phrase("chart.each_and_all", value=each, unit=row.unit, all=whole)


def _point(site: Site, row: Row) -> Point:
    share = (row.efficiency or 0) * 100
    text = f"{share:.1f}% ({numbers.ratio(row.speedup)})"
    return Point(x=row.devices or 1, y=share, n=row.repeats, text=text, about=_about(site, row), href=_page(site, row))


def _about(site: Site, row: Row) -> Text:
    """Return the case in words, with the version and the day of the run."""
    batch = phrase("front.batch", n=row.batch_size) if row.batch_size else ""
    summary = "" if row.rule == HEADLINE else phrase("chart.summary")
    day = date_of(representative(site, row)) or ""
    return listed((precision_name(row.precision), batch, in_words(row.options), row.version or "", summary, day))


def _page(site: Site, row: Row) -> str:
    return site.page(representative(site, row))


def _labels(suite: Suite, rows: Sequence[Row]) -> list[Text]:
    """Return the framework of each row, with the facts that distinguish it; tooltips have all other facts."""
    options = _distinguishing(suite, rows)
    precisions, batches = ({getattr(row, name) for row in rows} for name in ("precision", "batch_size"))
    return [
        listed(
            (
                named(row.framework),
                *version_marks(row, [each for each in rows if each.framework == row.framework]),
                suite.variant(row),
                precision_name(row.precision) if len(precisions) > 1 else "",
                phrase("front.batch", n=row.batch_size) if len(batches) > 1 and row.batch_size else "",
                in_words(row.options, sorted(options & row.options.keys())),
                "" if row.rule == HEADLINE else phrase("chart.summary"),
            )
        )
        for row in rows
    ]


def _distinguishing(suite: Suite, rows: Sequence[Row]) -> set[str]:
    """Return the options that distinguish results of one framework in one place, or that differ between frameworks."""
    own: dict[object, list[Row]] = {}
    for row in rows:
        own.setdefault((row.framework, row.precision, row.batch_size, row.version, row.round, _place(row)), []).append(
            row
        )
    names = {name for row in rows for name in row.options}
    differ = {
        name for name in names for group in own.values() if len({repr(row.options.get(name)) for row in group}) > 1
    }
    keys = {suite.row_key(row) for row in rows}
    against = {each for key in keys for each in contradicted([row for row in rows if suite.row_key(row) == key])}
    workload = {name for name in suite.row_options if len({repr(row.options.get(name)) for row in rows}) > 1}
    return differ | against | workload
