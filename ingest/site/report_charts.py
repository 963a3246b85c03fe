"""Charts of a report: the figures of its tables as bars, lines, and curves, as the declaration lists them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.declarations import Report, ReportError
from perfledger.ingest.published.slices import Head, Slice, SliceFigure, Values
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.published_tables import caption, head_text, printed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import (
    Axis,
    Chart,
    ChartLine,
    Dot,
    Dots,
    Lines,
    Panel,
    Point,
    Spec,
    Tick,
    efficiency_lines,
)
from perfledger.ingest.site.verdict_words import batch

#: Values from here on are ticks in millions.
MILLION = 1_000_000
#: Points of a chart, at least: two lines of two points, or one of three, show more than a sentence.
POINTS = 3


def slice_charts(report: Report, parts: Sequence[Slice], found: Slice, common: Values) -> list[Chart]:
    """Return the charts of one of a block's slices, in the order of the declaration."""
    block = found.block
    name = f"reports/{report.id}-{report.blocks.index(block) + 1}-{parts.index(found) + 1}"
    only_slice = block.title is not None and len(parts) == 1
    shared = caption(found, common)
    what = joined(shared) if shared and not only_slice else block.title or report.title
    return [
        Chart(f"{name}-{form}-{n}" if n > 1 else f"{name}-{form}", spec, phrase(f"report.text_{form}"))
        for form in block.show
        if form != "table"
        for n, spec in enumerate(_FORMS[form](found, phrase(f"report.chart_{form}", what=what)), 1)
    ]


# ---- dots ----


def _bars(found: Slice, title: Text) -> list[Spec]:
    """Draw a panel per row with a dot per column."""
    columns = range(len(found.columns))
    panels = [Panel(_row_name(found, head), _dots(found, at, columns)) for at, head in enumerate(found.rows)]
    return _comparison(title, _unit(found, columns), [each for each in panels if each.rows])


def _columns(found: Slice, title: Text) -> list[Spec]:
    """Draw a panel per column with a dot per figure, for tables that have a framework per row."""
    panels = [
        Panel(
            head_text(found, head),
            tuple(
                _dot(found, _row_name(found, row), each, each.marks)
                for at, row in enumerate(found.rows)
                for each in found.cells.get((at, column), ())
            ),
        )
        for column, head in enumerate(found.columns)
    ]
    return _comparison(title, _unit(found, range(len(found.columns))), panels)


def _comparison(title: Text, unit: Text, panels: Sequence[Panel]) -> list[Spec]:
    """Return panels with scales of their own, since numbers of devices differ; an empty list for a single figure."""
    if sum(len(panel.rows) for panel in panels) < 2:
        return []
    if all(len(panel.rows) == 1 for panel in panels):
        rows = tuple(structs.replace(panel.rows[0], label=panel.label) for panel in panels)
        return [Dots(title=title, unit=unit, panels=(Panel(panels[0].rows[0].label, rows),))]
    return [Dots(title=title, unit=unit, panels=tuple(panels), apart=True)]


def _dots(found: Slice, row: int, columns: Iterable[int]) -> tuple[Dot, ...]:
    """Return the dots of a row, named after their columns."""
    cells = [(column, found.cells[row, column]) for column in columns if (row, column) in found.cells]
    if any(len(figures) > 1 for _, figures in cells):
        raise ReportError(f"{found.block.place}: show: a chart needs at most one figure in a cell")
    return tuple(_dot(found, _column_name(found, column), each, each.beside) for column, (each,) in cells)


def _dot(found: Slice, name: Text, figure: SliceFigure, marks: Values) -> Dot:
    label = joined([name, *(tables.mark(found, each) for each in marks)])
    ink = colours.ink(figure.row.framework).id
    return Dot(label=label, series=name, ink=ink, value=figure.row.value, text=_figure(figure))


def _unit(found: Slice, columns: Container[int]) -> Text:
    """Return the metric and unit of some columns."""
    units = {
        (each.row.metric, each.row.unit) for (_, at), cell in found.cells.items() if at in columns for each in cell
    }
    if len(units) != 1:
        raise ReportError(f"{found.block.place}: show: a chart needs figures of one metric and unit")
    return tables.metric(*units.pop())


def _column_name(found: Slice, column: int) -> Text:
    """Return the title of a column without its metric, which the axis names; the framework if that is all."""
    head = found.columns[column]
    named = replace(head, values=tuple(each for each in head.values if each[0] != "metric"))
    return head_text(found, named) if named.values or named.text else found.figures[0].row.framework


def _row_name(found: Slice, head: Head) -> Text:
    """Return the name of a row in words; a count is followed by its noun."""
    stated = [_fact_text(found, *each) for each in head.values if each[1]]
    marks = [tables.mark(found, each) for each in head.marks]
    return joined([*stated, *marks]) if stated or marks else head.text or ""


def _fact_text(found: Slice, key: str, text: str) -> Text:
    if key == "nodes":
        return phrase("chart.nodes_n", n=text)
    return found.block.labels.get(key, {}).get(text) or tables.stated(key, text)


# ---- lines ----


def _lines(found: Slice, title: Text) -> list[Spec]:
    """Draw a chart per metric, with a line per column over rows that have an order, such as versions.

    A metric of fewer columns than others, such as a ratio, is in the table only.
    """
    by_metric: dict[str, list[int]] = {}
    for index, head in enumerate(found.columns):
        by_metric.setdefault(dict(head.values).get("metric", ""), []).append(index)
    most = max(map(len, by_metric.values()))
    if len(found.rows) < 2:
        return []
    titles = {metric: joined([title, tables.metric_name(metric.split("|")[0])]) for metric in by_metric if metric}
    return [
        _lines_of(found, titles.get(metric, title), columns)
        for metric, columns in by_metric.items()
        if len(columns) == most
    ]


def _lines_of(found: Slice, title: Text, columns: Sequence[int]) -> Spec:
    drawn = _Series()
    for at in range(len(found.rows)):
        for dot in _dots(found, at, columns):
            if dot.value is not None:
                drawn.add(dot.series, dot.ink, Point(x=at, y=dot.value, text=dot.text))
    if len(found.keys) != 1:
        raise ReportError(f"{found.block.place}: show: lines need rows of one key")
    name = phrase("chart.version") if found.keys == ("place",) else tables.key_name(found.keys[0])
    ticks = tuple(Tick(at, _tick(found, *head.values[0])) for at, head in enumerate(found.rows))
    return Lines(title=title, unit=_unit(found, columns), x=Axis(name, ticks=ticks), series=drawn.lines())


def _tick(found: Slice, key: str, text: str) -> Text:
    """Return a value as a tick; labels of millions would overlap."""
    return f"{int(text) / MILLION:g}M" if text.isdecimal() and int(text) >= MILLION else tables.value(found, key, text)


def _speedup(found: Slice, title: Text) -> list[Spec]:
    """Draw efficiency: a line per column, or per column and batch size, that has at least two numbers of devices."""
    drawn = _Series()
    for (row, column), figures in sorted(found.cells.items()):
        rest = [_fact_text(found, *each) for each in found.rows[row].values if each[0] != "devices" and each[1]]
        name = joined([_column_name(found, column), *rest])
        for each in figures:
            devices = each.row.devices
            if devices and (each.speedup or (devices == 1 and each.row.value)):
                drawn.add(name, colours.ink(each.row.framework).id, _share(devices, float(each.speedup or 1), each))
    series = drawn.lines(least=2)
    if sum(len(each.points) for each in series) < POINTS:
        return []
    return [efficiency_lines(title, series)]


def _share(devices: int, speedup: float, figure: SliceFigure) -> Point:
    share = speedup / devices * 100
    return Point(x=devices, y=share, text=f"{share:.1f}% ({speedup:.2f}×)", about=_figure(figure))


def _curve(found: Slice, title: Text) -> list[Spec]:
    """Draw throughput over the computed time of a step: a line per number of devices, a point per batch size."""
    drawn = _Series()
    for figure in sorted(found.figures, key=lambda each: each.row.devices or 0):
        row = figure.row
        if not (row.value and row.devices and row.batch_size and row.metric == "throughput"):
            raise ReportError(
                f"{found.block.place}: show: a curve needs throughput, devices and batch size of every figure"
            )
        milliseconds = row.batch_size * row.devices / row.value * 1000
        point = Point(x=milliseconds, y=row.value, text=_figure(figure), about=batch(row.batch_size))
        drawn.add(tables.stated("devices", f"1x{row.devices}"), colours.ink(row.framework).id, point)
    axis = Axis(phrase("chart.milliseconds"))
    return [Lines(title=title, unit=_unit(found, range(len(found.columns))), x=axis, series=drawn.lines())]


class _Series:
    """Lines by name and ink, in the order of their first points."""

    def __init__(self) -> None:
        self._points: dict[tuple[Text, str], list[Point]] = {}

    def add(self, name: Text, ink: str, point: Point) -> None:
        """Add a point to a line; of two points at one place the later counts."""
        points = self._points.setdefault((name, ink), [])
        points[:] = [*(each for each in points if each.x != point.x), point]

    def lines(self, least: int = 1) -> tuple[ChartLine, ...]:
        """Return the lines of at least `least` points, each from left to right."""
        return tuple(
            ChartLine(name, ink, tuple(sorted(points, key=lambda point: point.x)))
            for (name, ink), points in self._points.items()
            if len(points) >= least
        )


_FORMS: dict[str, Callable[[Slice, Text], list[Spec]]] = {
    "bars": _bars, "columns": _columns, "lines": _lines, "speedup": _speedup, "curve": _curve
}  # fmt: skip


def _figure(figure: SliceFigure) -> Text:
    row = figure.row
    if row.value is None:
        return phrase("table.oom") if row.state == "oom" else phrase(f"report.{row.state}")
    return f"{printed(row)} {row.unit}".strip()
