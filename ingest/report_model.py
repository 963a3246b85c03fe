"""What a model's page shows of figures that others published, and which reports hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest import report_tables
from ingest.audit import Audited
from ingest.published import Published, options_text
from ingest.report_slices import select
from ingest.reports import Report, reports
from ingest.site_audit import TONES
from ingest.site_model import Site, Suite
from ingest.site_tables import precision
from ingest.tables import Cell, Column, Entry, Link, Table, Text, absent, cell
from ingest.words import phrase

#: Single repeats and what follows from them stand on the pages of their reports and in the data.
LEFT_OUT = ("throughput_run", "throughput_mean", "throughput_median")


def shown(site: Site) -> tuple[Report, ...]:
    """The reports whose source has figures here."""
    there = {row.source for row in site.published.rows}
    return tuple(each for each in reports() if each.source in there)


def path(report: Report) -> str:
    """The page of a report."""
    return f"reports/{report.id}.md"


def rows_of(site: Site, report: Report) -> tuple[Published, ...]:
    """The figures of a report's source."""
    return tuple(row for row in site.published.rows if row.source == report.source)


def reports_of(site: Site, suite: Suite) -> list[Link]:
    """The reports that show figures of a suite's models."""
    rows = site.published.by_suite.get(suite.id, ())
    return [Link(each.title, path(each)) for each in shown(site) if _holds(each, rows)]


def _holds(report: Report, rows: Sequence[Published]) -> bool:
    mine = [row for row in rows if row.source == report.source]
    return any(select(mine, block.figures.where) for block in report.blocks if block.figures)


def published_tables(site: Site, suite: Suite) -> list[tuple[Text, Table]]:
    """What others published of a suite's models, by source and hardware: what several places print stands once."""
    rows = [row for row in site.published.by_suite.get(suite.id, ()) if row.metric not in LEFT_OUT]
    verdicts = {id(each.row): each for each in site.audited if each.run}
    groups: dict[tuple[str, str], list[Published]] = {}
    for row in rows:
        groups.setdefault((row.source, row.hardware), []).append(row)
    return [
        (
            phrase("report.joined", first=site.published.sources[source].title, rest=hardware),
            _figures(site, mine, verdicts),
        )
        for (source, hardware), mine in groups.items()
    ]


def _figures(site: Site, rows: Sequence[Published], verdicts: Mapping[int, Audited]) -> Table:
    groups: dict[tuple[object, ...], list[Published]] = {}
    for row in rows:
        groups.setdefault(_case(row), []).append(row)
    named = ("model", "framework", "devices", "batch_size", "precision", "options")
    several = [name for name in named if len({_of(row, name) for row in rows}) > 1]
    audited = any(id(row) in verdicts for row in rows)
    head = [Column(phrase(f"table.{name}"), name in ("devices", "batch_size")) for name in several]
    alike = len({(row.metric, row.unit) for row in rows}) == 1
    figure = report_tables.metric(rows[0].metric, rows[0].unit) if alike else phrase("table.published")
    head += [Column(figure, True)]
    head += [Column(phrase("table.verdict"))] if audited else []
    body = []
    for group in groups.values():
        line = [_label(group[0], name) for name in several]
        line += [_value(site, group, named=not alike)]
        line += [_verdict(group, verdicts)] if audited else []
        body.append(tuple(line))
    return Table(tuple(head), tuple(body))


def _of(row: Published, name: str) -> object:
    return options_text(row.options) if name == "options" else getattr(row, name)


def _case(row: Published) -> tuple[object, ...]:
    """What a figure says: rows alike in it are one figure, printed at several places."""
    number = row.value if row.value is not None else row.state
    size = (row.nodes, row.devices, row.batch_size)
    return (row.model, row.framework, row.hardware, *size, row.precision, options_text(row.options), row.metric, number)


def _label(row: Published, name: str) -> Cell:
    if name == "devices":
        return cell(report_tables.devices(row)) if row.devices else absent(None)
    if name == "precision":
        return cell(precision(row.precision)) if row.precision else absent(None)
    text = str(_of(row, name) or "")
    return cell(report_tables.grouped_digits(text)) if text and text != "None" else absent(None)


def _value(site: Site, group: Sequence[Published], *, named: bool) -> Cell:
    """The figure, linked to the place where it was printed first, and the other places."""
    row, *others = group
    marks = (row.unit, report_tables.metric_name(row.metric)) if named else ()
    places = tuple(Link(str(index), _address(site, each)) for index, each in enumerate(others, 2))
    entry = Entry(report_tables.printed(row), _address(site, row), marks, places)
    return report_tables.state(row) or Cell((entry,))


def _address(site: Site, row: Published) -> str:
    return site.published.sources[row.source].address_of(row)


def _verdict(group: Sequence[Published], verdicts: Mapping[int, Audited]) -> Cell:
    found = [verdicts[id(row)] for row in group if id(row) in verdicts]
    if not found:
        return absent(None)
    return cell(phrase(f"verdict.{found[0].verdict}"), "audit.md", tone=TONES.get(found[0].verdict, ""))
