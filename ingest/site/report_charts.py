"""Charts of a report: the figures of its tables as bars, lines, and curves, as the declaration lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.declarations import Block, Report, ReportError
from perfledger.ingest.published.publications import Published
from perfledger.ingest.published.slices import Cut, Head, Slice, SliceFigure, Values
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.published_tables import caption, head_text, joined, printed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Dot, Dots, Lines, Panel, Point, Spec, Tick

MILLION = 1_000_000
#: Points of a chart, at least: two lines of two points, or one of three, show more than a sentence.
POINTS = 3


def report_charts(report: Report, found: Cut) -> list[Chart]:
    """Return all charts of a report."""
    return [
        chart
        for block, parts in zip(report.blocks, found.slices, strict=True)
        for index in range(len(parts))
        for chart in slice_charts(report, block, parts, index, found.common)
    ]


def slice_charts(report: Report, block: Block, parts: Sequence[Slice], index: int, common: Values) -> list[Chart]:
    """Return the charts of one of a block's slices, in the order of the declaration."""
    found = parts[index]
    name = f"reports/{report.id}-{report.blocks.index(block) + 1}-{index + 1}"
    only_slice = block.title is not None and len(parts) == 1
    shared = caption(found, common)
    what = joined(shared) if shared and not only_slice else block.title or report.title
    return [
        Chart(f"{name}-{form}-{n}" if n > 1 else f"{name}-{form}", spec, phrase(f"report.text_{form}"))
        for form in found.block.show
        if form != "table"
        for n, spec in enumerate(_FORMS[form](block, found, phrase(f"report.chart_{form}", what=what)), 1)
    ]


def _bars(block: Block, found: Slice, title: Text) -> list[Spec]:
    """Draw a panel per row with a dot per column."""
    return _comparison(title, _panels_of(block, found, range(len(found.columns))), found.figures[0].row)


def _columns(block: Block, found: Slice, title: Text) -> list[Spec]:
    """Draw a panel per column with a dot per figure, for tables that have a framework per row."""
    panels = [
        Panel(head_text(found, head), tuple(_dot_of_row(found, *each) for each in _of_column(found, column)))
        for column, head in enumerate(found.columns)
    ]
    return _comparison(title, panels, found.figures[0].row)


def _of_column(found: Slice, column: int) -> list[tuple[Head, SliceFigure]]:
    """Return the figures of a column with the heads of their rows."""
    return [(head, each) for at, head in enumerate(found.rows) for each in found.cells.get((at, column), ())]


def _dot_of_row(found: Slice, head: Head, figure: SliceFigure) -> Dot:
    name, framework = _row_name(found, head), figure.row.framework
    label = joined([name, *(tables.mark(found, each) for each in figure.marks)])
    ink = colours.ink(framework).id
    return Dot(label=label, series=framework, ink=ink, value=figure.row.value, text=_figure(figure))


def _comparison(title: Text, panels: Sequence[Panel], row: Published) -> list[Spec]:
    """Return panels with scales of their own, since numbers of devices differ; an empty list for a single figure."""
    if sum(len(panel.rows) for panel in panels) < 2:
        return []
    unit = tables.metric(row.metric, row.unit)
    if all(len(panel.rows) == 1 for panel in panels):
        rows = tuple(structs.replace(panel.rows[0], label=panel.label) for panel in panels)
        return [Dots(title=title, unit=unit, panels=(Panel(panels[0].rows[0].label, rows),))]
    return [Dots(title=title, unit=unit, panels=tuple(panels), apart=True)]


def _panels_of(block: Block, found: Slice, columns: Iterable[int]) -> list[Panel]:
    """Return a panel per row of the table, with the figures of these columns."""
    chosen = list(columns)
    figures = [figure.row for (_, column), each in found.cells.items() if column in chosen for figure in each]
    if len({(row.metric, row.unit) for row in figures}) != 1:
        raise ReportError(f"{block.place}: show: a chart needs figures of one metric and unit")
    panels = [
        Panel(_row_name(found, head), tuple(_dot(block, found, *each) for each in places if each in found.cells))
        for at, head in enumerate(found.rows)
        for places in [[(at, column) for column in chosen]]
    ]
    return [panel for panel in panels if panel.rows]


def _dot(block: Block, found: Slice, row: int, column: int) -> Dot:
    figures = found.cells[row, column]
    if len(figures) > 1:
        raise ReportError(f"{block.place}: show: a chart needs at most one figure in a cell")
    figure, head = figures[0], found.columns[column]
    name = _column_name(found, head)
    marked = joined([name, *(tables.mark(found, each) for each in figure.beside)])
    return Dot(label=marked, series=name, ink=_ink(found, column), value=figure.row.value, text=_figure(figure))


def _column_name(found: Slice, head: Head) -> Text:
    """Return the title of a column without its metric, which the axis names."""
    named = Head(tuple(each for each in head.values if each[0] != "metric"), head.text, head.marks)
    return head_text(found, named) if named.values or named.text else _framework(found)


def _framework(found: Slice) -> Text:
    """Return the framework of a slice of one."""
    return found.figures[0].row.framework


def _row_name(found: Slice, head: Head) -> Text:
    """Return the name of a row in words; a count is followed by its noun."""
    stated = [_fact_text(found, *each) for each in head.values if each[1]]
    marks = [tables.mark(found, each) for each in head.marks]
    return joined([*stated, *marks]) if stated or marks else head.text or ""


def _fact_text(found: Slice, key: str, text: str) -> Text:
    if found.block.labels.get(key, {}).get(text):
        return tables.value(found, key, text)
    if key == "nodes":
        return phrase("chart.nodes_n", n=text)
    return tables.stated(key, text)


def _ink(found: Slice, column: int) -> str:
    """Return the ink of a column's framework; columns of one framework have that of the page."""
    frameworks = {figure.row.framework for figure in found.figures}
    own = {figure.row.framework for (_, at), each in found.cells.items() if at == column for figure in each}
    return colours.ink(next(iter(own))).id if len(own) == 1 or len(frameworks) == 1 else ""


def _lines(block: Block, found: Slice, title: Text) -> list[Spec]:
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
        _lines_of(block, found, titles.get(metric, title), columns)
        for metric, columns in by_metric.items()
        if len(columns) == most
    ]


def _lines_of(block: Block, found: Slice, title: Text, columns: Sequence[int]) -> Spec:
    dots = [(at, dot) for at, panel in enumerate(_panels_of(block, found, columns)) for dot in panel.rows]
    inks = {dot.series: dot.ink for _, dot in dots}
    points = {
        name: tuple(Point(x=at, y=dot.value, text=dot.text) for at, dot in dots if dot.series == name and dot.value)
        for name in inks
    }
    series = tuple(ChartLine(name, ink, points[name]) for name, ink in inks.items() if points[name])
    ticks = tuple(Tick(at, _tick(found, *head.values[0])) for at, head in enumerate(found.rows))
    row = next(each.row for (_, column), figures in found.cells.items() if column in columns for each in figures)
    return Lines(
        title=title, unit=tables.metric(row.metric, row.unit), x=Axis(_across(block, found), ticks=ticks), series=series
    )


def _tick(found: Slice, key: str, text: str) -> Text:
    """Return a value as a tick; labels of millions would overlap."""
    return f"{int(text) / MILLION:g}M" if text.isdecimal() and int(text) >= MILLION else tables.value(found, key, text)


def _across(block: Block, found: Slice) -> Text:
    """Return the name of the axis of a table's rows."""
    if len(found.keys) != 1:
        raise ReportError(f"{block.place}: show: lines need rows of one key")
    return phrase("chart.version") if found.keys == ("place",) else tables.key_name(found.keys[0])


def _speedup(block: Block, found: Slice, title: Text) -> list[Spec]:
    """Draw efficiency: a line per column, or per column and batch size, that has at least two numbers of devices."""
    lines: dict[Text, dict[int, Point]] = {}
    inks: dict[Text, str] = {}
    for (row, column), figures in sorted(found.cells.items()):
        rest = [_fact_text(found, *each) for each in found.rows[row].values if each[0] != "devices" and each[1]]
        for figure in figures:
            devices = figure.row.devices
            if devices and (figure.speedup or (devices == 1 and figure.row.value)):
                name = joined([_column_name(found, found.columns[column]), *rest])
                inks[name] = _ink(found, column)
                lines.setdefault(name, {})[devices] = _share(devices, float(figure.speedup or 1), figure)
    drawn = {name: points for name, points in lines.items() if len(points) > 1}
    if sum(map(len, drawn.values())) < POINTS:
        return []
    series = tuple(ChartLine(name, inks[name], tuple(at[each] for each in sorted(at))) for name, at in drawn.items())
    ticks = tuple(Tick(each, str(each)) for each in sorted({each for at in drawn.values() for each in at}))
    axis = Axis(phrase("chart.devices"), log2=True, ticks=ticks)
    return [Lines(title=title, unit=phrase("chart.efficiency"), x=axis, series=series, ideal=100, near=True)]


def _share(devices: int, speedup: float, figure: SliceFigure) -> Point:
    share = speedup / devices * 100
    return Point(x=devices, y=share, text=f"{share:.1f}% ({speedup:.2f}×)", about=_figure(figure))


def _curve(block: Block, found: Slice, title: Text) -> list[Spec]:
    """Draw throughput over the computed time of a step: a line per number of devices, a point per batch size."""
    points: dict[int, list[Point]] = {}
    for figure in found.figures:
        row = figure.row
        if not (row.value and row.devices and row.batch_size and row.metric == "throughput"):
            raise ReportError(f"{block.place}: show: a curve needs throughput, devices and batch size of every figure")
        milliseconds = row.batch_size * row.devices / row.value * 1000
        label = phrase("front.batch", n=row.batch_size)
        points.setdefault(row.devices, []).append(Point(x=milliseconds, y=row.value, text=_figure(figure), about=label))
    ink = colours.ink(found.figures[0].row.framework).id
    series = tuple(
        ChartLine(tables.stated("devices", f"1x{devices}"), ink, tuple(sorted(each, key=lambda point: point.x)))
        for devices, each in sorted(points.items())
    )
    axis = Axis(phrase("chart.milliseconds"))
    return [Lines(title=title, unit=tables.metric("throughput", found.figures[0].row.unit), x=axis, series=series)]


_FORMS: dict[str, Callable[[Block, Slice, Text], list[Spec]]] = {
    "bars": _bars, "columns": _columns, "lines": _lines, "speedup": _speedup, "curve": _curve
}  # fmt: skip


def _figure(figure: SliceFigure) -> Text:
    row = figure.row
    if row.value is None:
        return phrase("table.oom") if row.state == "oom" else phrase(f"report.{row.state}")
    return f"{printed(row)} {row.unit}".strip()
