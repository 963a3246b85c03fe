"""The reports of published figures: their index, and a page with tables and charts for each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import structs

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.declarations import SECTIONS, Block, Report, ReportError
from perfledger.ingest.published.publications import Published
from perfledger.ingest.published.slices import Cut, Head, Slice, SliceFigure, Values, cut
from perfledger.ingest.site import addresses, report_links, reproduce
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.folding import folded, height, height_of_facts, room
from perfledger.ingest.site.model import Page, Site
from perfledger.ingest.site.pages.rounds import links
from perfledger.ingest.site.published_figures import rows_of, source_anchors
from perfledger.ingest.site.published_tables import caption, head_text, joined, printed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Dot, Dots, Lines, Panel, Point, Spec, Tick
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.report_headlines import headline
from perfledger.ingest.site.report_links import Shelf

#: Name of an axis of groups, by the first key of their rows.
ACROSS = {"devices": "devices", "place": "version"}
#: Points of a chart, at least: two lines of two points, or one of three, show more than a sentence.
POINTS = 3


def pages(site: Site) -> list[Page]:
    """Return the index, and a page per report whose source has figures here."""
    found = report_links.shelf(site)
    return [_index(site, found.reports), *(page_of(site, each, found) for each in found.reports)]


def _index(site: Site, found: Sequence[Report]) -> Page:
    return Page(
        addresses.REPORTS,
        "reports",
        phrase("nav.reports"),
        phrase("describe.reports"),
        lambda: {"sources": _sources(site, found), "rounds": links(site)},
        order=0,
    )


def _sources(site: Site, found: Sequence[Report]) -> list[Mapping[str, Any]]:
    """Return the sources with reports, and then those whose figures are on the models' pages only."""
    names = dict.fromkeys([*(each.source for each in found), *(row.source for row in site.published.rows)])
    return [
        {
            "source": site.published.sources[name],
            "date": tables.published_on(site.published.sources[name]),
            "anchor": source_anchors(site)[name],
            "figures": sum(row.source == name and row.value is not None for row in site.published.rows),
            "empty": sum(row.source == name and row.value is None for row in site.published.rows),
            "sections": [
                (phrase(f"report.section_{section}"), of_section)
                for section in SECTIONS
                if (
                    of_section := [
                        (r, addresses.report_page(r)) for r in found if r.source == name and r.section == section
                    ]
                )
            ],
        }
        for name in names
    ]


def page_of(site: Site, report: Report, shelf: Shelf) -> Page:
    """Return the page of a report."""
    return Page(
        addresses.report_page(report),
        "report",
        report.title,
        report.description,
        functools.partial(_context, site, report, shelf),
        order=report.order,
        group=site.published.sources[report.source].title.en,
    )


def _context(site: Site, report: Report, shelf: Shelf) -> Mapping[str, Any]:
    found = cut(report, rows_of(site, report))
    used = found.rows
    return {
        "report": report,
        "source": site.published.sources[report.source],
        "date": tables.published_on(site.published.sources[report.source], report),
        "headline": headline(found),
        "section": phrase(f"report.section_{report.section}"),
        "links": report_links.links(shelf, report),
        "index": addresses.REPORTS,
        "common": [*(tables.stated(*each) for each in found.common), *map(tables.note, found.notes)],
        "models": _models(site, used),
        "software": tables.software(used),
        "log_links": tables.logs(used, site.published.sources),
        "plans": reproduce.of_report(site, report, used),
        "blocks": (blocks := _blocks(site, report, found)),
        "is_long": any(each["folded"] for each in blocks),
    }


def _blocks(site: Site, report: Report, found: Cut) -> list[Mapping[str, Any]]:
    """Return the blocks; in each, `folded` are the parts after those that fit on the page of a long report.

    In a long report, tables of details below a title of the third level are folded first.
    """
    blocks = [
        _block(site, report, block, parts, found.common)
        for block, parts in zip(report.blocks, found.slices, strict=True)
    ]
    heights = [height([part["table"]], part["charts"]) for each in blocks for part in each["parts"]]
    facts = {id(each): height_of_facts(each["facts"]) for each in blocks if each["facts"]}
    left = functools.partial(room, len(blocks), sum(len(each["text"]) for each in blocks), len(report.recipes))
    is_long = sum(heights) > left(sum(facts.values()))
    kept = sum(taken for each in blocks if (taken := facts.get(id(each))) and not (is_long and each["level"] > 2))
    folds = iter(folded(heights, left(kept)))
    return [
        {**_split(each, [next(folds) for _ in each["parts"]]), "folds_facts": is_long and each["level"] > 2}
        for each in blocks
    ]


def _split(block: Mapping[str, Any], folds: Sequence[bool]) -> Mapping[str, Any]:
    at = folds.index(True) if True in folds else len(folds)
    rest = block["parts"][at:]
    counted = {
        "tables": sum(bool(part["table"]) for part in rest),
        "charts": sum(len(part["charts"]) for part in rest),
    }
    return {**block, "open": block["parts"][:at], "folded": rest, **counted}


def _models(site: Site, rows: Sequence[Published]) -> list[Link]:
    used = {row.suite for row in rows}
    return [Link(each.title, addresses.model_page(each)) for each in site.shown if each.id in used]


def _block(site: Site, report: Report, block: Block, found: Sequence[Slice], common: Values) -> Mapping[str, Any]:
    return {
        "title": block.title,
        "level": block.level,
        "text": block.text,
        "facts": tables.of_facts(block.facts) if block.facts else None,
        "parts": [part for index in range(len(found)) for part in _parts(site, report, block, found, index, common)],
    }


def _parts(
    site: Site, report: Report, block: Block, found: Sequence[Slice], index: int, common: Values
) -> list[Mapping[str, Any]]:
    """Return the parts of a slice, which may be folded: its table with its first chart, and every other chart."""
    of, charts = found[index], slice_charts(report, block, found, index, common)
    first = {
        "caption": tables.caption(of, common),
        "table": tables.of_slice(of) if "table" in of.block.show else None,
        "charts": charts[:1],
        "printed": tables.printed_in((f.row for f in of.figures), site.published.sources),
    }
    return [first, *({**dict.fromkeys(first), "charts": [each]} for each in charts[1:])]


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
        Chart(f"{name}-{form}", spec, phrase(f"report.text_{form}"))
        for form in found.block.show
        if form != "table" and (spec := _FORMS[form](block, found, phrase(f"report.chart_{form}", what=what)))
    ]


def _bars(block: Block, found: Slice, title: Text) -> Spec | None:
    return _comparison(title, _panels_of(block, found, range(len(found.columns))), found.figures[0].row)


def _panels(block: Block, found: Slice, title: Text) -> Spec | None:
    """Draw panels per metric; one that fewer columns have than others, such as a ratio, is in the table only."""
    by_metric: dict[str, list[int]] = {}
    for index, head in enumerate(found.columns):
        by_metric.setdefault(dict(head.values).get("metric", ""), []).append(index)
    most = max(map(len, by_metric.values()))
    panels = [
        structs.replace(panel, label=joined([tables.metric(*metric.split("|")), panel.label]))
        for metric, columns in by_metric.items()
        if len(columns) == most
        for panel in _panels_of(block, found, columns)
    ]
    return _comparison(title, panels, found.figures[0].row)


def _comparison(title: Text, panels: Sequence[Panel], row: Published) -> Spec | None:
    """Return panels with scales of their own: they are of different numbers of devices. None for a single figure."""
    if sum(len(panel.rows) for panel in panels) < 2:
        return None
    unit = tables.metric(row.metric, row.unit)
    if all(len(panel.rows) == 1 for panel in panels):
        rows = tuple(structs.replace(panel.rows[0], label=panel.label) for panel in panels)
        return Dots(title=title, unit=unit, panels=(Panel(panels[0].rows[0].label, rows),))
    return Dots(title=title, unit=unit, panels=tuple(panels), apart=True)


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


def _lines(block: Block, found: Slice, title: Text) -> Spec | None:
    """Draw a line per column over rows that have an order, such as versions."""
    if len(found.rows) < 2:
        return None
    panels = _panels_of(block, found, range(len(found.columns)))
    names = [panel.label for panel in panels]
    by_label: dict[Text, list[Point]] = {}
    for at, panel in enumerate(panels):
        for dot in panel.rows:
            if dot.value is not None:
                by_label.setdefault(dot.series, []).append(Point(x=at, y=dot.value, text=dot.text))
    row = found.figures[0].row
    ink = colours.ink(row.framework).id
    series = tuple(ChartLine(label, ink, tuple(points)) for label, points in by_label.items())
    axis = Axis(
        phrase(f"chart.{ACROSS.get(found.keys[0], 'case')}"),
        ticks=tuple(Tick(at, name) for at, name in enumerate(names)),
    )
    return Lines(title=title, unit=tables.metric(row.metric, row.unit), x=axis, series=series)


def _speedup(block: Block, found: Slice, title: Text) -> Spec | None:
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
        return None
    series = tuple(ChartLine(name, inks[name], tuple(at[each] for each in sorted(at))) for name, at in drawn.items())
    ticks = tuple(Tick(each, str(each)) for each in sorted({each for at in drawn.values() for each in at}))
    axis = Axis(phrase("chart.devices"), log2=True, ticks=ticks)
    return Lines(title=title, unit=phrase("chart.efficiency"), x=axis, series=series, ideal=100, near=True)


def _share(devices: int, speedup: float, figure: SliceFigure) -> Point:
    share = speedup / devices * 100
    return Point(x=devices, y=share, text=f"{share:.1f}% ({speedup:.2f}×)", about=_figure(figure))


def _curve(block: Block, found: Slice, title: Text) -> Spec | None:
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
    return Lines(title=title, unit=tables.metric("throughput", found.figures[0].row.unit), x=axis, series=series)


_FORMS: dict[str, Callable[[Block, Slice, Text], Spec | None]] = {
    "bars": _bars, "lines": _lines, "panels": _panels, "speedup": _speedup, "curve": _curve
}  # fmt: skip


def _figure(figure: SliceFigure) -> Text:
    row = figure.row
    if row.value is None:
        return phrase("table.oom") if row.state == "oom" else phrase(f"report.{row.state}")
    return f"{printed(row)} {row.unit}".strip()
