"""The reports of published figures: their index, and a page with tables and charts for each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ingest.common.words import Bilingual, Phrase, Text, phrase
from ingest.published.declarations import ROW_BATCH_SIZE, SECTIONS, Block, Report, ReportError
from ingest.published.publications import Published
from ingest.published.slices import CELL_BATCH_SIZE, LOG_BATCH_SIZE, Cut, Head, Slice, SliceFigure, Values, cut
from ingest.site import addresses, report_links, reproduce
from ingest.site import published_tables as tables
from ingest.site.model import Page, Site
from ingest.site.pages.rounds import links
from ingest.site.published_figures import rows_of, source_anchors
from ingest.site.published_tables import COUNTS, caption, head_text, joined, printed, switch
from ingest.site.render import drawing
from ingest.site.render.chart import Chart
from ingest.site.render.table import Link
from ingest.site.report_headlines import headline
from ingest.site.report_links import Shelf

#: What the groups of a chart are, by the keys of its rows: tokens. Of several keys the first counts.
ACROSS = {
    ("devices", "batch_size"): "groups",
    ("devices", ROW_BATCH_SIZE): "groups",
    ("devices", "options.gradient_accumulation", ROW_BATCH_SIZE): "groups",
    ("devices",): "devices",
    ("nodes",): "nodes",
    ("batch_size",): "batch_size",
    ("place",): "version",
    ("options.vocabulary",): "vocabulary",
}
#: Metrics that have a token; others are written as their unit.
UP = ("throughput", "latency", "memory")
Drawn = tuple[partial[str], tuple[Phrase, ...]]


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
        "blocks": [
            _block(site, report, block, parts, found.common)
            for block, parts in zip(report.blocks, found.slices, strict=True)
        ],
    }


def _models(site: Site, rows: Sequence[Published]) -> list[Link]:
    used = {row.suite for row in rows}
    return [Link(each.title, addresses.model_page(each)) for each in site.shown if each.id in used]


def _block(site: Site, report: Report, block: Block, found: Sequence[Slice], common: Values) -> Mapping[str, Any]:
    return {
        "title": block.title,
        "level": block.level,
        "text": block.text,
        "facts": tables.of_facts(block.facts) if block.facts else None,
        "parts": [
            {
                "caption": tables.caption(each, common),
                "table": tables.of_slice(each) if "table" in each.block.show else None,
                "charts": slice_charts(report, block, found, index, common),
                "printed": tables.printed_in((f.row for f in each.figures), site.published.sources),
            }
            for index, each in enumerate(found)
        ],
    }


def report_charts(report: Report, found: Cut) -> list[Chart]:
    """Return all charts of a report."""
    return [
        chart
        for block, parts in zip(report.blocks, found.slices, strict=True)
        for index in range(len(parts))
        for chart in slice_charts(report, block, parts, index, found.common)
    ]


def slice_charts(report: Report, block: Block, parts: Sequence[Slice], index: int, common: Values) -> list[Chart]:
    """Return the charts of one of a block's slices, in the order in which they are declared."""
    found = parts[index]
    name = f"reports/{report.id}-{report.blocks.index(block) + 1}-{index + 1}"
    only_slice = block.title is not None and len(parts) == 1
    shared = caption(found, common)
    what = joined(shared) if shared and not only_slice else block.title or report.title
    made = []
    for form in found.block.show:
        if form != "table" and (drawn := _FORMS[form](block, found)):
            title = phrase(f"report.chart_{form}", what=what)
            made.append(Chart(f"{name}-{form}", drawn[0], title, f"report.text_{form}", drawn[1]))
    return made


def _bars(block: Block, found: Slice) -> Drawn | None:
    return partial(drawing.bars, _grouped(block, found, range(len(found.columns)))), _descriptions(found)


def _lines(block: Block, found: Slice) -> Drawn | None:
    if len(found.rows) < 2:
        return None
    return partial(drawing.trend, _grouped(block, found, range(len(found.columns)))), _descriptions(found)


def _panels(block: Block, found: Slice) -> Drawn | None:
    """Draw a panel per metric; one that fewer columns have than others, such as a ratio, is in the table only."""
    by_metric: dict[str, list[int]] = {}
    for index, head in enumerate(found.columns):
        by_metric.setdefault(dict(head.values).get("metric", ""), []).append(index)
    most = max(map(len, by_metric.values()))
    data = [_grouped(block, found, columns) for columns in by_metric.values() if len(columns) == most]
    return partial(drawing.panels, data), _descriptions(found)


def _speedup(block: Block, found: Slice) -> Drawn | None:
    """Draw a line per column, or per column and batch size, that has at least two numbers of devices."""
    lines: dict[str, dict[int, float]] = {}
    for (row, column), figures in sorted(found.cells.items()):
        rest = [_plain(block, found, *each, brief=False) for each in found.rows[row].values if each[0] != "devices"]
        for figure in figures:
            devices = figure.row.devices
            if devices and (figure.speedup or (devices == 1 and figure.row.value)):
                name = " ".join([_name(block, found, found.columns[column]), *rest])
                lines.setdefault(name, {})[devices] = float(figure.speedup or 1)
    series = tuple(
        (name, tuple(sorted(points)), tuple(points[each] for each in sorted(points)))
        for name, points in lines.items()
        if len(points) > 1
    )
    described = tuple(
        phrase("chart.value_of", name=name, group=device, value=f"{speed:.2f}×")
        for name, devices, speeds in series
        for device, speed in zip(devices, speeds, strict=True)
    )
    return (partial(drawing.speedup, drawing.Lines(series)), described) if series else None


def _curve(block: Block, found: Slice) -> Drawn | None:
    """Draw throughput over the computed time of a step: a line per number of devices, a point per batch size."""
    points: dict[int, list[tuple[float, float, str, str]]] = {}
    for figure in found.figures:
        row = figure.row
        if not (row.value and row.devices and row.batch_size and row.metric == "throughput"):
            raise ReportError(f"{block.place}: show: a curve needs throughput, devices and batch size of every figure")
        milliseconds = row.batch_size * row.devices / row.value * 1000
        point = (milliseconds, row.value, f"bsz={row.batch_size}", f"{printed(row)} {row.unit}")
        points.setdefault(row.devices, []).append(point)
    series = tuple(
        drawing.Curve(f"{devices} @cards@", *map(tuple, zip(*sorted(found), strict=True)))
        for devices, found in sorted(points.items())
    )
    data = drawing.Curves(series, "@latency@ (ms)", _up("throughput", found.figures[0].row.unit))
    return partial(drawing.curves, data), _descriptions(found)


_FORMS: dict[str, Callable[[Block, Slice], Drawn | None]] = {
    "bars": _bars, "lines": _lines, "panels": _panels, "speedup": _speedup, "curve": _curve
}  # fmt: skip


def _grouped(block: Block, found: Slice, columns: Iterable[int]) -> drawing.Bars:
    """Return bars: rows as groups, columns as series."""
    chosen = list(columns)
    figures = [figure.row for (_, column), each in found.cells.items() if column in chosen for figure in each]
    if len({(row.metric, row.unit) for row in figures}) != 1:
        raise ReportError(f"{block.place}: show: a chart needs figures of one metric and unit")
    groups = tuple(_group(block, found, each) for each in found.rows)
    series = tuple(_series(block, found, column) for column in chosen)
    return drawing.Bars(groups, series, _up(figures[0].metric, figures[0].unit), _across(found.keys))


def _series(block: Block, found: Slice, column: int) -> drawing.Series:
    cells = [found.cells.get((row, column), ()) for row in range(len(found.rows))]
    if any(len(each) > 1 for each in cells):
        raise ReportError(f"{block.place}: show: a chart needs at most one figure in a cell")
    return drawing.Series(
        _name(block, found, found.columns[column]),
        tuple(each[0].row.value if each else None for each in cells),
        missing=tuple("OOM" if each and each[0].row.state == "oom" else "" for each in cells),
        labels=tuple(_bar_label(block, found, each[0]) if each else "" for each in cells),
    )


def _bar_label(block: Block, found: Slice, figure: SliceFigure) -> str:
    """Return a figure as it stands on its bar, with what is printed beside it: `9,099.5 [BS=208]`."""
    if figure.row.value is None:
        return ""
    return " ".join([printed(figure.row), *(_plain(block, found, *each, brief=False) for each in figure.beside)])


def _across(keys: Sequence[str]) -> str:
    return ACROSS.get(tuple(keys)) or ACROSS.get(tuple(keys[:1])) or "case"


def _up(metric: str, unit: str) -> str:
    return f"@{metric}@ ({unit})" if metric in UP else unit


def _group(block: Block, found: Slice, head: Head) -> str:
    """Return the name of a group: `32 × 48 W/O AccGrad`, or `DP_8x1x1 8` where words come first."""
    said = [_plain(block, found, key, text) for key, text in head.values if text]
    counts = " × ".join(each for each in said if each.isdecimal())
    words = [each for each in said if not each.isdecimal()]
    ordered = (*words, counts) if words[:1] == said[:1] else (counts, *words)
    return " ".join(filter(None, ordered))


def _name(block: Block, found: Slice, head: Head) -> str:
    """Return the name of a series, without the metric, which the axis names."""
    alone = len(head.values) == 1
    named = [_plain(block, found, key, text, brief=alone) for key, text in head.values if key != "metric"]
    named = [f"{each} @cards@" if head.values == (("devices", head.values[0][1]),) else each for each in named]
    marks = [_plain(block, found, key, text, brief=False) for key, text in head.marks]
    words = [_neutral(block, head.text)] if head.text else named
    return " ".join([*words, *marks]) or _neutral(block, found.figures[0].row.framework)


def _plain(block: Block, found: Slice, key: str, text: str, *, brief: bool = True) -> str:
    """Return a value in a form that is the same in every language."""
    if label := found.block.labels.get(key, {}).get(text):
        return _neutral(block, label)
    name = key.removeprefix("options.")
    if key == "devices":
        return text.partition("x")[2]
    if key == "precision":
        return text.upper()
    if name in COUNTS and text.isdecimal() and int(text) >= 1_000_000:
        return f"{int(text) / 1e6:g}M"
    if short := switch(name, text):
        return short
    if key == "batch_size" and not brief:
        return f"bsz={text}"
    if key == CELL_BATCH_SIZE:
        return f"[BS={text}]"
    if key == LOG_BATCH_SIZE:
        return f"[@log@ BS={text}]"
    return f"{name}={text}" if key.startswith("options.") and not brief else text


def _neutral(block: Block, text: Text) -> str:
    if isinstance(text, Bilingual) and text.en == text.zh:
        return text.en
    if not isinstance(text, str):
        raise ReportError(f"{block.place}: show: a name in a chart has to be the same in both languages, one string")
    return text


def _descriptions(found: Slice) -> tuple[Phrase, ...]:
    """Describe every figure that is drawn, for those who cannot see the chart."""
    return tuple(
        phrase(
            "chart.value_of",
            name=head_text(found, found.columns[column]),
            group=_group(found.block, found, found.rows[row]),
            value=joined([_figure(figure), *(tables.mark(found, each) for each in figure.beside)]),
        )
        for (row, column), figures in sorted(found.cells.items())
        for figure in figures
    )


def _figure(figure: SliceFigure) -> Text:
    row = figure.row
    if row.value is None:
        return phrase("table.oom") if row.state == "oom" else phrase(f"report.{row.state}")
    return f"{printed(row)} {row.unit}".strip()
