"""The page of a model's results over time: by day, version and round, and by edition of published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Bilingual, Text, phrase, word_for
from perfledger.ingest.compute.candidates import THROUGHPUT
from perfledger.ingest.compute.contrast import Contrast, written
from perfledger.ingest.compute.history import ChangedCondition, HistoryPoint, Judgment, Moment
from perfledger.ingest.published.histories import PrintedHistory, PrintedPoint
from perfledger.ingest.site import addresses, history_charts, verdict_words
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.history import OwnHistory, OwnPoint, model_histories
from perfledger.ingest.site.model import Page, Row, Site, Suite, named, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.table import Cell, Entry, Link, Table, absent, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.vocabulary import METRICS

#: How a word is coloured.
_TONES = {"regression": "bad", "suspicious": "warn", "improvement": "good"}
#: Changes that are in a column of their own, or that no reader takes for a cause: a kernel is a string of a build.
_NOT_CAUSES = ("framework_version", "kernel")


@dataclass(frozen=True)
class HistoryPage:
    """A model's results over time: ours by hardware, and those that others published."""

    title: Bilingual
    model_page: str
    charts: tuple[Chart, ...]
    own: tuple[tuple[Text, Table | None], ...]
    published_charts: tuple[Chart, ...]
    published: Table | None


def pages(site: Site) -> list[Page]:
    """Return the page of each model with a history."""
    return [
        Page(
            addresses.history_page(suite),
            "history",
            phrase("history.title", title=suite.title),
            phrase("history.description", title=suite.title),
            partial(_history, site, suite),
            basis=partial(site.basis, suite),
        )
        for suite in site.shown
        if suite.id in site.once(model_histories)
    ]


def _history(site: Site, suite: Suite) -> HistoryPage:
    found = site.once(model_histories)[suite.id]
    by_hardware = by_key(found.own, lambda each: each.row.hardware or "")
    return HistoryPage(
        title=suite.title,
        model_page=addresses.model_page(suite),
        charts=tuple(history_charts.of_results(site, suite, found.own)),
        own=tuple(
            (product(each), own_table(site, suite, by_hardware[each])) for each in sorted(by_hardware, key=newest_first)
        ),
        published_charts=tuple(history_charts.of_published(site, suite, found.published)),
        published=published_table(site, found.published),
    )


@dataclass(frozen=True)
class _HistoryRow:
    """A point of a history as a row of a table."""

    framework: Text
    configuration: Text
    when: Cell
    figure: Cell
    previous: Cell
    changed: Cell


def _table(name: str, lines: Sequence[_HistoryRow]) -> Table | None:
    columns = (
        ColumnOf[_HistoryRow](phrase("table.framework"), lambda each: cell(each.framework, None, each.configuration)),
        ColumnOf[_HistoryRow](phrase("history.when"), lambda each: each.when, key="date"),
        ColumnOf[_HistoryRow](phrase("table.figure"), lambda each: each.figure, True),
        ColumnOf[_HistoryRow](phrase("history.previous"), lambda each: each.previous, key="previous", optional=True),
        ColumnOf[_HistoryRow](phrase("history.changed"), lambda each: each.changed, key="changed", optional=True),
    )
    return table_of(name, lines, columns)


# ---- our results ----


def own_table(site: Site, suite: Suite, found: Sequence[OwnHistory]) -> Table | None:
    """Return a row per point of the histories on one hardware."""
    options = [each.row.options for each in found]
    names = {name for each in options for name in each}
    varying = {name for name in names if len({str(each.get(name)) for each in options}) > 1}
    lines = [
        _HistoryRow(
            framework=named(each.row.framework),
            configuration=_configuration(suite, each.row, varying),
            when=_when(moment.point),
            figure=_own_figure(site, each, moment),
            previous=_steps(moment),
            changed=_changed(site, each.row, moment, each.moments[at - 1].point if at else None),
        )
        for each in found
        for at, moment in enumerate(each.moments)
    ]
    return _table("history", lines)


def _configuration(suite: Suite, row: Row, varying: set[str]) -> Text:
    """Return the configuration in words, with the options that differ between the rows of the table."""
    options = {name: value for name, value in row.options.items() if name in varying}
    size = verdict_words.devices(row), verdict_words.batch(row.batch_size)
    return listed((precision_name(row.precision), *size, suite.case_words(row.model, options)))


def _when(point: HistoryPoint) -> Cell:
    """Return the day with version and round in small print; the first of them that is known leads."""
    first, *rest = [each for each in (point.date, point.version, point.round) if each] or [""]
    return cell(first, None, listed(rest)) if first else absent(None)


def _own_figure(site: Site, found: OwnHistory, moment: Moment[OwnPoint]) -> Cell:
    """Return the figure of a point, linked to its run; a figure of several runs has a link to each instead."""
    point, figure = moment.point, moment.point.figure
    unit = figure.unit if found.metric == THROUGHPUT else METRICS[found.metric].unit
    spread = f"±{numbers.percent(figure.spread)}" if figure.spread is not None and figure.repeats > 1 else ""
    level = phrase("history.level") if moment.mark else ""
    pages = [site.page(run) for run in point.runs]
    sources = tuple(Link(phrase("run.nth", n=number), each) for number, each in enumerate(pages, 1))
    text = numbers.figure(figure.value, figure.spread, point.resolution)
    one = len(pages) == 1
    marks = (unit, spread, level)
    return Cell((Entry(text, pages[0] if one else None, marks, () if one else sources, value=figure.value),))


def _steps(moment: Moment[OwnPoint]) -> Cell:
    """Return the difference from the point before; from the best and that of a year before, if these are others."""
    if moment.previous is None:
        return absent(None)
    others = (each for each in (moment.best, moment.year) if each and each.earlier is not moment.previous.earlier)
    by_point = {id(each.earlier): each for each in others}
    steps = [_step(moment.previous)]
    steps += [
        _step(each, phrase("history.versus", name=_label(each.earlier, moment.point))) for each in by_point.values()
    ]
    return Cell(tuple(steps))


def _step(found: Judgment[OwnPoint], *marks: Text) -> Entry:
    """Return what the difference is called with the ratio; only the ratio, if the data are too few for a name."""
    if found.word == "insufficient":
        return Entry(_ratio(found.contrast), None, marks)
    text = phrase(f"history.word_{found.word}")
    return Entry(text, None, (_ratio(found.contrast), *marks), tone=_TONES.get(found.word, ""))


def _ratio(found: Contrast) -> str:
    low, high = written(found)
    return f"{low}×" if low == high else f"{low}–{high}×"


def _label(point: HistoryPoint, other: HistoryPoint) -> str:
    """Return the version, round or day that distinguishes a point from another."""
    names = ((each.version, each.round, each.date) for each in (point, other))
    return next((own for own, others in zip(*names, strict=True) if own and own != others), "")


# ---- what changed ----


def _changed(site: Site, row: Row, moment: Moment[OwnPoint], before: OwnPoint | None) -> Cell:
    conditions = [Entry(_condition(each)) for each in moment.changed if each.name not in _NOT_CAUSES]
    about = (row.model or "", row.framework or "", row.hardware or "")
    return Cell((*conditions, *_notes(site, about, before, moment.point)))


def _notes(
    site: Site, about: tuple[str, str, str], before: HistoryPoint | None, after: HistoryPoint
) -> Iterator[Entry]:
    """Yield what people noted about the step to a point; of the first point, what names its version or round.

    `about` has model, framework and hardware.
    """
    for note in site.changes.notes:
        begins = all(
            not stated or (stated == getattr(after, name) and stated != getattr(before, name, ""))
            for name, stated in (("version", note.version), ("round", note.round))
        )
        on_day = note.is_between(before.date, after.date) if before else note.date is None
        if note.is_about(*about) and begins and on_day:
            yield Entry(note.text, note.link or None)


def _condition(found: ChangedCondition) -> Text:
    before, after = (" / ".join(each) for each in (found.before, found.after))
    return phrase("history.condition", name=word_for("environment", found.name), before=before, after=after)


# ---- what others published ----


def published_table(site: Site, found: Sequence[PrintedHistory]) -> Table | None:
    """Return a row per figure of cases that one publisher printed several times; none is judged."""
    lines = []
    for moments in found:
        before: PrintedPoint | None = None
        for each in moments:
            lines.append(_printed_line(site, each, before))
            before = each.point
    return _table("published-history", lines)


def _printed_line(site: Site, moment: Moment[PrintedPoint], before: PrintedPoint | None) -> _HistoryRow:
    """Return a published figure as a row; the hardware is named as its source names it."""
    point, row = moment.point, moment.point.printed
    source = site.published.sources[row.source]
    on, batch = verdict_words.devices_of(row.devices, row.nodes, row.hardware), verdict_words.batch(row.batch_size)
    return _HistoryRow(
        framework=row.framework,
        configuration=listed((on, precision_name(row.precision), batch, in_words(row.options))),
        when=cell(point.date, None, listed((source.title, point.version or row.framework_source))),
        figure=cell(printed(row), source.address_of(row), row.unit, value=row.value),
        previous=cell(_ratio(moment.previous.contrast)) if moment.previous else absent(None),
        changed=Cell(tuple(_notes(site, (row.model, row.framework, row.hardware), before, point))),
    )
