"""Others' published figures on the pages of models, hardware and frameworks: shown as published, and never ranked."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.published import cases
from perfledger.ingest.published.audit import SCORES, Audited
from perfledger.ingest.published.declarations import CASE, Report, reports
from perfledger.ingest.published.notes import notes
from perfledger.ingest.published.publications import REPEATS, Published, options_cell
from perfledger.ingest.published.slices import Values, case_fact, common, select
from perfledger.ingest.site import addresses, our_results
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.model import Row, Site, Suite, group_name
from perfledger.ingest.site.options import in_words, joined, listed, sentences
from perfledger.ingest.site.our_results import Ours
from perfledger.ingest.site.render.table import Cell, Entry, Facets, Link, Table
from perfledger.ingest.site.report_verdicts import verdict_cell
from perfledger.ingest.site.result_tables import representative
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.ingest.site.verdict_words import devices_on
from perfledger.schema.vocabulary import PRECISION_GROUPS, precision_group

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
    shown = filter(is_shown, site.published.by_suite.get(suite.id, ()))
    groups = by_key(shown, lambda row: (row.source, row.hardware, row.metric, row.unit))
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
        title=joined((site.published.sources[rows[0].source].title, rows[0].hardware)),
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
    return list(by_key(sorted(rows, key=_order), _case).values())


def _said(row: Published) -> list[Text]:
    """Return the notes on a figure, except on its precision, which is in its column."""
    return [tables.note(note) for note in notes(row) if note.key != "log_precision"]


def _options(row: Published, names: Sequence[str]) -> Text:
    """Return what a figure states of these options, without those that the name of its case contains."""
    left_out = _IN_CASE if "case" in row.options else ()
    return in_words({name: row.options[name] for name in names if name in row.options and name not in left_out})


def _order(row: Published) -> tuple[object, ...]:
    """Sort cases that differ only in their number of devices together, by that number."""
    rest = (row.model, row.framework, row.precision, row.batch_size or 0, options_cell(row.options))
    return (*rest, row.devices or 0, row.nodes or 0)


def _case(row: Published) -> tuple[object, ...]:
    """Return what identifies a figure: rows that agree in it are one figure, printed at several places."""
    stated = tuple(case_fact(row, key) for key in CASE)
    return (*stated, options_cell(row.options), row.value if row.value is not None else row.state)


def _value(site: Site, row: PublishedRow) -> Cell:
    """Return a figure with links to the first place that prints it and to the other places, and its labels."""
    places = tuple(Link(str(index), site.published.address_of(each)) for index, each in enumerate(row.places[1:], 2))
    labels = tuple(dict.fromkeys(each.label for each in row.places if each.label))
    page = site.published.address_of(row.first)
    entry = Entry(tables.printed(row.first), page, labels, places, value=row.first.value)
    return replace(tables.state(row.first) or Cell((entry,)), note=sentences(row.notes) or None)


def _ours(site: Site, row: PublishedRow) -> Cell:
    """Return our results of the same case, each linked to its run, with the difference from the published figure."""
    return Cell(tuple(_our(site, each) for each in row.ours))


def _our(site: Site, found: Ours) -> Entry:
    marks = (numbers.signed_percent(found.difference), *found.marks)
    page = site.page(representative(site, found.row))
    return Entry(numbers.figure(found.value, found.spread), page, marks, value=found.value)


# ---- a line per place, for tables of frameworks ----


class LineKey(NamedTuple):
    """The key of a line among those of one hardware. `group` is of precisions, and `variant` of the model."""

    suite: str
    group: str
    variant: str
    nodes: int
    devices: int
    unit: str


@dataclass(frozen=True)
class PublishedFigure:
    """Published figures of one framework: one figure, or the least and the most of several.

    `batch` has the batch sizes, `about` the sources; `page` is the place of a single figure, or the comparison of all.
    """

    figure: str
    batch: Text
    about: Text
    page: str


@dataclass(frozen=True)
class PublishedLine:
    """One model on a number of devices in a group of precisions: what others published, by framework."""

    key: LineKey
    title: Text
    page: str
    case: tuple[Text, ...]
    figures: Mapping[str, PublishedFigure]


def hardware(site: Site) -> frozenset[str]:
    """Return the hardware of published figures."""
    return frozenset(row.hardware for row in site.published.rows if row.hardware and _counts(row))


def lines(site: Site) -> Mapping[str, tuple[PublishedLine, ...]]:
    """Return the lines of each hardware, in the order of the models."""
    return {each: tuple(_of_hardware(site, each)) for each in site.once(hardware)}


def _of_hardware(site: Site, name: str) -> Iterator[PublishedLine]:
    for suite in site.shown:
        yield from _lines(site, suite, [row for row in _rows(site, suite, name) if row.metric == "throughput"])


def without_throughput(site: Site, hardware: str) -> tuple[tuple[Link, ...], Text]:
    """Return links to the models with published figures on a hardware, and the metrics of these figures."""
    found = [(suite, rows) for suite in site.shown if (rows := _rows(site, suite, hardware))]
    metrics = sorted({row.metric for _, rows in found for row in rows})
    return (
        tuple(Link(suite.title, addresses.comparison(suite, hardware)) for suite, _ in found),
        listed(word_for("published_metric", each) for each in metrics),
    )


def _counts(row: Published) -> bool:
    return row.value is not None and is_shown(row)


def _rows(site: Site, suite: Suite, hardware: str) -> list[Published]:
    return [row for row in site.published.by_suite.get(suite.id, ()) if row.hardware == hardware and _counts(row)]


def _lines(site: Site, suite: Suite, found: Sequence[Published]) -> Iterator[PublishedLine]:
    """Yield a line per group of precisions, variant of the model, and number of machines and devices."""
    groups = [*PRECISION_GROUPS, "unknown"]

    def key_of(row: Published) -> LineKey:
        group, variant = precision_group(row.precision), suite.variant_of(row.model)
        return LineKey(suite.id, group, variant, row.nodes or 1, row.devices or 0, row.unit)

    by_place = by_key(found, key_of)
    for key in sorted(by_place, key=lambda each: (groups.index(each[1]), *each[2:])):
        yield _line(site, suite, key, by_place[key])


def _line(site: Site, suite: Suite, key: LineKey, rows: Sequence[Published]) -> PublishedLine:
    page = addresses.comparison(suite, rows[0].hardware, key.group, key.devices)
    by_framework = by_key(rows, lambda row: row.framework)
    return PublishedLine(
        key=key,
        title=key.variant or suite.title,
        page=page,
        case=(group_name(key.group), devices_on(key.devices or None, key.nodes)),
        figures={name: figure_of(site, page, each) for name, each in by_framework.items()},
    )


def figure_of(site: Site, page: str, rows: Sequence[Published]) -> PublishedFigure:
    """Return published figures of one framework in one case; `page` compares all of them."""
    found = sorted(rows, key=lambda each: each.value or 0)
    ends = list(dict.fromkeys(map(_written, (found[0], found[-1]))))
    sizes = sorted({row.batch_size for row in found if row.batch_size})
    one = site.published.address_of(found[0]) if len(found) == 1 else None
    batch = "–".join(map(numbers.count, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else ""
    return PublishedFigure(
        figure="–".join(ends),
        batch=phrase("front.batch_short", n=batch) if batch else "",
        about=listed(dict.fromkeys(site.published.sources[each.source].title for each in found)),
        page=one or page,
    )


def _written(figure: Published) -> str:
    """Return a published figure with as many digits as ours have, and no more than were printed."""
    return min(numbers.figure(figure.value), tables.printed(figure), key=len)
