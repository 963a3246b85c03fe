"""Others' published figures on the page of a model, and the reports that show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import cases
from perfledger.ingest.published.audit import SCORES, Audited
from perfledger.ingest.published.declarations import CASE, Report, reports
from perfledger.ingest.published.notes import notes
from perfledger.ingest.published.publications import REPEATS, Published, options_cell
from perfledger.ingest.published.slices import Values, case_fact, common, select
from perfledger.ingest.site import addresses, our_results
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.facets import facets_of
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.our_results import Ours
from perfledger.ingest.site.render.table import Cell, Entry, Facets, Link, Table
from perfledger.ingest.site.render.text import slugs
from perfledger.ingest.site.report_verdicts import verdict_cell
from perfledger.ingest.site.result_tables import representative
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: `2D_8x1x1_16_1536x16`: data, tensor and pipeline parallelism, batch size of the job, width and layers.
_IN_CASE = ("data_parallel", "tensor_parallel", "pipeline_parallel", "batch_size_of_job", "hidden", "layers")


def reports_with_figures(site: Site) -> tuple[Report, ...]:
    """Return the reports whose source has figures here."""
    there = {row.source for row in site.published.rows}
    return tuple(each for each in reports() if each.source in there)


def rows_of(site: Site, report: Report) -> tuple[Published, ...]:
    """Return the figures of a report's source."""
    return tuple(row for row in site.published.rows if row.source == report.source)


def score_of(site: Site, row: Row) -> Published | None:
    """Return the published score of a result; None where nobody published one here."""
    scores = (each for each in site.published.rows if each.metric in SCORES and each.value)
    return next((each for each in scores if cases.is_of_entry(each, row)), None)


def source_anchors(site: Site) -> Mapping[str, str]:
    """Return the anchor of each source on the index of the reports, the same in both languages."""
    return slugs(site.published.sources)


def reports_of(site: Site, suite: Suite) -> list[Link]:
    """Return links to the reports that show figures of a suite's models."""
    rows = site.published.by_suite.get(suite.id, ())
    return [Link(each.title, addresses.report_page(each)) for each in reports_with_figures(site) if _holds(each, rows)]


def _holds(report: Report, rows: Sequence[Published]) -> bool:
    of_source = [row for row in rows if row.source == report.source]
    return any(select(of_source, block.where) for block in report.blocks if block.rows)


@dataclass(frozen=True)
class PublishedRow:
    """A published figure: the places that print it, what is said of it, our results of its case, and its verdict."""

    places: Sequence[Published]
    notes: Sequence[Text]
    ours: Sequence[Ours]
    verdict: Audited | None

    @property
    def first(self) -> Published:
        """The figure at the first place."""
        return self.places[0]


@dataclass(frozen=True)
class PublishedTable:
    """The figures of a source on some hardware.

    `facets` are its names and values for the filters of the page, `same` is what all of its figures share, `pending`
    the number of cells whose figures the source announced, and `ours` says whether we have results of their cases.
    """

    title: Text
    facets: Facets
    same: tuple[Text, ...]
    pending: int
    table: Table
    ours: bool


def published_tables(site: Site, suite: Suite) -> list[PublishedTable]:
    """Return the published figures of a suite's models: a table per source, hardware and metric.

    A figure that several places print is shown once; what all figures of a table share is stated above it.
    """
    verdicts = {id(each.row): each for each in site.audited if each.run}
    results_of = our_results.of_suite(site, suite)
    groups: dict[tuple[str, str, str, str], list[Published]] = {}
    for row in site.published.by_suite.get(suite.id, ()):
        if is_shown(row):
            groups.setdefault((row.source, row.hardware, row.metric, row.unit), []).append(row)
    order = {name: index for index, name in enumerate(site.published.sources)}
    found = sorted(groups.values(), key=lambda rows: (order[rows[0].source], rows[0].hardware))
    return [_published_table(site, rows, verdicts, results_of) for rows in found]


def _published_table(
    site: Site,
    rows: Sequence[Published],
    verdicts: Mapping[int, Audited],
    results_of: Callable[[Published], Sequence[Ours]],
) -> PublishedTable:
    same = _same(rows)
    places = _merged(rows)
    said = [_said(each[0]) for each in places]
    everywhere = tuple(note for note in said[0] if all(note in each for each in said))
    found = [
        PublishedRow(
            each,
            [note for note in of_figure if note not in everywhere],
            results_of(each[0]) or (),
            next((verdicts[id(row)] for row in each if id(row) in verdicts), None),
        )
        for each, of_figure in zip(places, said, strict=True)
    ]
    table = table_of("published", found, _columns(site, rows, {key for key, _ in same}))
    assert table
    return PublishedTable(
        title=phrase("report.joined", first=site.published.sources[rows[0].source].title, rest=rows[0].hardware),
        facets=facets_of(rows[0].hardware),
        same=tuple(tables.stated(*each) for each in same if each[0] != "hardware"),
        pending=sum(each.first.state == "pending" for each in found),
        table=replace(table, notes=everywhere),
        ours=any(each.ours for each in found),
    )


def _columns(site: Site, rows: Sequence[Published], same: Container[str]) -> list[ColumnOf[PublishedRow]]:
    """Return the columns of the facts that differ, of the figures, of our results, and of verdicts."""
    options = sorted({name for row in rows for name in row.options if f"options.{name}" not in same})
    numbers = ("devices", "batch_size")
    return [
        *(
            ColumnOf(tables.key_name(key), partial(_label, key=key), number=key in numbers, optional=True)
            for key in CASE
            if key not in same
        ),
        ColumnOf(phrase("table.options"), lambda row: _options(row.first, options), optional=True),
        ColumnOf(tables.metric(rows[0].metric, rows[0].unit), partial(_value, site), number=True),
        ColumnOf(phrase("report.ours"), partial(_ours, site), number=True, optional=True),
        ColumnOf(phrase("table.verdict"), lambda row: verdict_cell(row.verdict), optional=True),
    ]


def _label(row: PublishedRow, key: str) -> Cell:
    return tables.label(row.first, key)


def is_shown(row: Published) -> bool:
    """Return whether a model's page shows a figure: one that was measured, and is not of a single repeat.

    Single repeats, and their means and medians, are on the pages of their reports and in the data.
    """
    return row.metric not in REPEATS and row.state != "not_measured"


def _same(rows: Sequence[Published]) -> Values:
    """Return the facts that all of these figures share, where that is what their sources print, too."""
    printed = common(rows)
    return tuple(each for each in common(rows, case_fact) if each in printed)


def _merged(rows: Iterable[Published]) -> list[list[Published]]:
    """Return the figures of a table in order, each with all places that print it."""
    groups: dict[tuple[object, ...], list[Published]] = {}
    for row in sorted(rows, key=_order):
        groups.setdefault(_case(row), []).append(row)
    return list(groups.values())


def _said(row: Published) -> list[Text]:
    """Return the notes on a figure, except on its precision, which is in its column."""
    return [tables.note(note) for note in notes(row) if note.key != "log_precision"]


def _options(row: Published, names: Sequence[str]) -> Text:
    """Return what a figure states of these options, without those that the name of its case contains."""
    left_out = _IN_CASE if "case" in row.options else ()
    return in_words({name: row.options[name] for name in names if name in row.options and name not in left_out})


def _order(row: Published) -> tuple[object, ...]:
    """Sort cases that differ only in their number of devices together, by that number."""
    options = tuple((name, _rank(value)) for name, value in sorted(row.options.items()))
    rest = (row.model, row.framework, row.precision, row.batch_size or 0, options)
    return (*rest, row.devices or 0, row.nodes or 0)


def _rank(text: str) -> tuple[bool, float, str]:
    """Sort numbers by size, then words."""
    number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text)
    return (not number, float(text) if number else 0.0, text)


def _case(row: Published) -> tuple[object, ...]:
    """Return what identifies a figure: rows that agree in it are one figure, printed at several places."""
    stated = tuple(case_fact(row, key) for key in CASE)
    return (*stated, options_cell(row.options), row.value if row.value is not None else row.state)


def _value(site: Site, row: PublishedRow) -> Cell:
    """Return a figure with links to the first place that prints it and to the other places, and its labels."""
    places = tuple(Link(str(index), _address(site, each)) for index, each in enumerate(row.places[1:], 2))
    labels = tuple(dict.fromkeys(each.label for each in row.places if each.label))
    entry = Entry(tables.printed(row.first), _address(site, row.first), labels, places, value=row.first.value)
    return replace(tables.state(row.first) or Cell((entry,)), note=tables.sentences(row.notes) or None)


def _ours(site: Site, row: PublishedRow) -> Cell:
    """Return our results of the same case, each linked to its run, with the difference from the published figure."""
    return Cell(tuple(_our(site, each) for each in row.ours))


def _our(site: Site, found: Ours) -> Entry:
    marks = (numbers.signed_percent(found.difference), *found.marks)
    page = site.page(representative(site, found.row))
    return Entry(numbers.figure(found.value, found.spread), page, marks, value=found.value)


def _address(site: Site, row: Published) -> str | None:
    return site.published.sources[row.source].address_of(row)
