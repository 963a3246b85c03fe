"""The page of a model's results over time: by day, version and round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Bilingual, Text, phrase, word_for
from perfledger.ingest.compute.candidates import THROUGHPUT
from perfledger.ingest.compute.comparison import Difference
from perfledger.ingest.compute.contrast import Contrast, written
from perfledger.ingest.compute.history import HistoryPoint, Judgment, Moment
from perfledger.ingest.site import addresses, history_charts, verdict_words
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.history import OwnHistory, OwnPoint, model_histories
from perfledger.ingest.site.model import Page, Row, Site, Suite, named, precision_name
from perfledger.ingest.site.options import listed
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
    """A model's results over time, by hardware."""

    title: Bilingual
    model_page: str
    charts: tuple[Chart, ...]
    tables: tuple[tuple[Text, Table | None], ...]


@dataclass(frozen=True)
class _HistoryRow:
    """A point of a history as a row of a table, with the point before; None for the first."""

    of: OwnHistory
    moment: Moment[OwnPoint]
    before: OwnPoint | None


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
    by_hardware = by_key(found, lambda each: each.row.hardware or "")
    return HistoryPage(
        title=suite.title,
        model_page=addresses.model_page(suite),
        charts=tuple(history_charts.of_results(site, suite, found)),
        tables=tuple(
            (product(each), table(site, suite, by_hardware[each])) for each in sorted(by_hardware, key=newest_first)
        ),
    )


def table(site: Site, suite: Suite, found: Sequence[OwnHistory]) -> Table | None:
    """Return a row per point of the histories on one hardware."""
    options = [each.row.options for each in found]
    names = {name for each in options for name in each}
    varying = {name for name in names if len({str(each.get(name)) for each in options}) > 1}

    def framework(row: _HistoryRow) -> Cell:
        return cell(named(row.of.row.framework), None, _configuration(suite, row.of.row, varying))

    columns = (
        ColumnOf(phrase("table.framework"), framework),
        ColumnOf[_HistoryRow](phrase("history.when"), lambda row: _when(row.moment.point), key="date"),
        ColumnOf[_HistoryRow](phrase("table.figure"), lambda row: _figure(site, row.of, row.moment), True),
        ColumnOf[_HistoryRow](
            phrase("history.previous"), lambda row: _steps(row.moment), key="previous", optional=True
        ),
        ColumnOf(phrase("history.changed"), partial(_changed, site), key="changed", optional=True),
    )
    rows = [
        _HistoryRow(each, moment, each.moments[at - 1].point if at else None)
        for each in found
        for at, moment in enumerate(each.moments)
    ]
    return table_of("history", rows, columns)


def _configuration(suite: Suite, row: Row, varying: set[str]) -> Text:
    """Return the configuration in words, with the options that differ between the rows of the table."""
    options = {name: value for name, value in row.options.items() if name in varying}
    size = verdict_words.devices(row), verdict_words.batch(row.batch_size)
    return listed((precision_name(row.precision), *size, suite.case_words(row.model, options)))


def _when(point: HistoryPoint) -> Cell:
    """Return the day with version and round in small print; the first of them that is known leads."""
    first, *rest = [each for each in (point.date, point.version, point.round) if each] or [""]
    return cell(first, None, listed(rest)) if first else absent(None)


def _figure(site: Site, found: OwnHistory, moment: Moment[OwnPoint]) -> Cell:
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


def _changed(site: Site, row: _HistoryRow) -> Cell:
    conditions = [Entry(_condition(each)) for each in row.moment.changed if each.name not in _NOT_CAUSES]
    return Cell((*conditions, *_notes(site, row.of.row, row.before, row.moment.point)))


def _notes(site: Site, row: Row, before: HistoryPoint | None, after: HistoryPoint) -> Iterator[Entry]:
    """Yield what people noted about the step to a point; of the first point, what names its version or round."""
    for note in site.changes.notes:
        begins = all(
            not stated or (stated == getattr(after, name) and stated != getattr(before, name, ""))
            for name, stated in (("version", note.version), ("round", note.round))
        )
        on_day = note.is_between(before.date, after.date) if before else note.date is None
        if note.is_about(row.model or "", row.framework or "", row.hardware or "") and begins and on_day:
            yield Entry(note.text, note.link or None)


def _condition(found: Difference) -> Text:
    before, after = (" / ".join(each) for each in (found.first, found.second))
    return phrase("history.condition", name=word_for("environment", found.name), before=before, after=after)
