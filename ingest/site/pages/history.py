"""The page of a model's results over time: by day, version and round, and by edition of published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.contrast import Contrast
from perfledger.ingest.compute.history import ChangedCondition, HistoryPoint, Judgment, Moment, Word
from perfledger.ingest.published.histories import PrintedHistory, PrintedPoint
from perfledger.ingest.read.change_notes import ChangeNote
from perfledger.ingest.site import addresses, history, history_charts
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.history import OwnHistory, OwnPoint
from perfledger.ingest.site.model import Page, Site, Suite, named, precision_name
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render.table import Cell, Column, Entry, Link, Table, absent, cell
from perfledger.ingest.site.run_tables import case_text
from perfledger.ingest.site.table_metrics import THROUGHPUT
from perfledger.schema.vocabulary import METRICS

#: How a word is coloured.
_TONES: Mapping[Word, str] = {"regression": "bad", "suspicious": "warn", "improvement": "good"}
#: Fields of a configuration for programs.
_CASE = ("devices", "batch_size", "precision", "options_text")
#: Fields that distinguish points, in the order of the columns.
_WHEN = ("date", "version", "round")


def pages(site: Site) -> list[Page]:
    """Return the page of each model with a history."""
    return [
        Page(
            addresses.history_page(suite),
            "history",
            phrase("history.title", title=suite.title),
            phrase("history.description", title=suite.title),
            partial(_context, site, suite),
            basis=partial(site.basis, suite),
        )
        for suite in site.shown
        if history.has(site, suite)
    ]


def _context(site: Site, suite: Suite) -> Mapping[str, Any]:
    own, printed_ones = history.of_results(site, suite), history.published(site, suite)
    return {
        "suite": suite,
        "model_page": addresses.model_page(suite),
        "own": [(product(hardware), own_table(site, mine)) for hardware, mine in _by_hardware(own)],
        "own_charts": history_charts.of_results(site, suite, own),
        "published_charts": history_charts.of_published(site, suite, printed_ones),
        "published": published_table(site, printed_ones) if printed_ones else None,
        "editions": editions_table(site, found) if (found := history.editions(site, suite)) else None,
    }


def _by_hardware(found: Sequence[OwnHistory]) -> list[tuple[str, list[OwnHistory]]]:
    by_name: dict[str, list[OwnHistory]] = {}
    for each in found:
        by_name.setdefault(each.row.hardware or "", []).append(each)
    return sorted(by_name.items())


# ---- our results ----


def own_table(site: Site, found: Sequence[OwnHistory]) -> Table:
    """Return a row per point of the histories on one hardware."""
    moments = [each for one in found for each in one.moments]
    shown = [name for name in _WHEN if any(getattr(each.point, name) for each in moments)]
    with_year = any(each.year for each in moments)
    head = (
        Column(phrase("table.framework")),
        *(Column(phrase(f"history.{name}"), name == "date", key=name) for name in shown),
        Column(phrase("table.figure"), True),
        Column(phrase("table.spread"), True),
        Column(phrase("table.repeats"), True),
        Column(phrase("history.previous")),
        Column(phrase("history.best")),
        *([Column(phrase("history.year"))] if with_year else []),
        Column(phrase("history.changed")),
    )
    body = tuple(_own_line(site, one, at, shown, with_year) for one in found for at in range(len(one.moments)))
    return Table(head, body, name="history")


def _own_line(site: Site, one: OwnHistory, at: int, shown: Sequence[str], with_year: bool) -> tuple[Cell, ...]:
    moment, row = one.moments[at], one.row
    point = moment.point
    before = one.moments[at - 1].point if at else None
    about = _About(row.model or "", row.framework or "", row.hardware or "")
    return (
        _configuration(site, one),
        *(cell(getattr(point, name)) if getattr(point, name) else absent(None) for name in shown),
        _own_figure(site, one, moment),
        _share(point.figure.spread),
        cell(str(point.figure.repeats), value=point.figure.repeats),
        _step(moment.previous),
        _earlier(moment, moment.best),
        *([_earlier(moment, moment.year)] if with_year else []),
        _changed(moment.changed, _notes(site, about, before, point)),
    )


def _configuration(site: Site, one: OwnHistory) -> Cell:
    """Return the framework with its configuration in small print, which leaves room for figures on a phone."""
    row, run = one.row, one.moments[0].point.runs[0]
    details = tuple((name, getattr(row, name)) for name in _CASE)
    return cell(named(row.framework), None, case_text(site, run), details=details)


def _own_figure(site: Site, one: OwnHistory, moment: Moment[OwnPoint]) -> Cell:
    """Return the figure of a point, linked to its run; a figure of several runs has a link to each instead."""
    point, metric = moment.point, one.metric
    unit = point.figure.unit if metric == THROUGHPUT else METRICS[metric].unit
    level = (phrase("history.level"),) if moment.mark else ()
    pages = tuple(site.page(run) for run in point.runs)
    page, several = (pages[0], ()) if len(pages) == 1 else (None, pages)
    sources = tuple(Link(phrase("run.nth", n=number), each) for number, each in enumerate(several, 1))
    text = numbers.figure(point.figure.value, point.figure.spread, point.resolution)
    runs = (("runs", " ".join(run.id for run in point.runs)), ("unit", unit), ("level", "begins" if level else None))
    return Cell((Entry(text, page, (unit, *level), sources, value=point.figure.value, details=runs),))


def _share(spread: float | None) -> Cell:
    return cell(numbers.percent(spread), value=spread) if spread is not None else absent(phrase("table.one_repeat"))


# ---- steps between points ----


def _step(found: Judgment[OwnPoint] | None, *marks: Text) -> Cell:
    """Return what the difference from an earlier figure is called, with the ratio to it."""
    if found is None:
        return absent(None)
    details = (("word", found.word), ("low", found.contrast.low), ("high", found.contrast.high))
    needed = (phrase("history.more", n=found.contrast.more),) if found.contrast.more is not None else ()
    text = phrase(f"history.word_{found.word}")
    return cell(text, None, ratio(found.contrast), *marks, *needed, tone=_TONES.get(found.word, ""), details=details)


def _earlier(moment: Moment[OwnPoint], found: Judgment[OwnPoint] | None) -> Cell:
    """Return the difference from a point before, with its name; the previous one has a column of its own."""
    if found is None:
        return absent(None)
    if moment.previous and found.earlier is moment.previous.earlier:
        return cell(phrase("history.is_previous"), details=(("word", found.word),))
    return _step(found, label(found.earlier, moment.point))


def ratio(found: Contrast) -> str:
    """Write a ratio from its least to its most, with a third decimal where two would write it as 1."""
    places = 3 if "1.00" in {numbers.grouped(each, 2) for each in (found.low, found.high)} else 2
    low, high = (numbers.grouped(each, places) for each in (found.low, found.high))
    return f"{low}×" if low == high else f"{low}–{high}×"


def label(point: HistoryPoint, other: HistoryPoint) -> str:
    """Return the version, round or day that distinguishes a point from another."""
    names = ((each.version, each.round, each.date) for each in (point, other))
    return next((own for own, others in zip(*names, strict=True) if own and own != others), "")


# ---- what changed ----


@dataclass(frozen=True)
class _About:
    """The facts of a history that an entry of changes.toml may name."""

    model: str
    framework: str
    hardware: str


def _notes(site: Site, about: _About, before: HistoryPoint | None, after: HistoryPoint) -> list[ChangeNote]:
    """Return what somebody wrote down about the step to a point; of the first, what names its version or round."""
    mine = (each for each in site.changes.notes if each.is_about(about.model, about.framework, about.hardware))
    return [each for each in mine if _is_of_step(each, before, after)]


def _is_of_step(note: ChangeNote, before: HistoryPoint | None, after: HistoryPoint) -> bool:
    """Return whether an entry belongs to the step to a point: its version and round begin there, on the step's days."""
    new = all(
        not stated or (stated == getattr(after, name) and stated != getattr(before, name, ""))
        for name, stated in (("version", note.version), ("round", note.round))
    )
    return new and (note.is_between(before.date, after.date) if before else note.date is None)


def _changed(found: Iterable[ChangedCondition], notes: Iterable[ChangeNote]) -> Cell:
    entries = [Entry(_condition(each)) for each in found]
    entries += [Entry(each.text, each.link or None) for each in notes]
    return Cell(tuple(entries)) if entries else absent(None)


def _condition(found: ChangedCondition) -> Text:
    before, after = (" / ".join(each) for each in (found.before, found.after))
    return phrase("history.condition", name=word_for("environment", found.name), before=before, after=after)


# ---- what others published ----


def published_table(site: Site, found: Sequence[PrintedHistory]) -> Table:
    """Return a row per figure of cases that one publisher printed several times; none is judged."""
    all_notes = [[_printed_notes(site, moments, at) for at in range(len(moments))] for moments in found]
    noted = any(each.entries for notes in all_notes for each in notes)
    head = (
        *_printed_head(),
        Column(phrase("history.previous"), True),
        *([Column(phrase("history.changed"))] if noted else []),
    )
    body = tuple(
        (*_printed_line(site, each.point), _plain(each.previous), *([note] if noted else []))
        for moments, notes in zip(found, all_notes, strict=True)
        for each, note in zip(moments, notes, strict=True)
    )
    return Table(head, body, name="published-history")


def editions_table(site: Site, found: Sequence[tuple[PrintedPoint, ...]]) -> Table:
    """Return a table with a row per edition: the highest figure of a framework on a number of devices."""
    body = tuple(_printed_line(site, each) for points in found for each in points)
    return Table(_printed_head(), body, name="editions")


def _printed_head() -> tuple[Column, ...]:
    names = ("framework", "hardware", "precision", "batch_size", "options")
    return (
        *(Column(phrase(f"table.{name}"), name == "batch_size") for name in names),
        Column(phrase("history.date"), True, key="date"),
        Column(phrase("history.version"), key="version"),
        Column(phrase("table.figure"), True),
    )


def _printed_line(site: Site, point: PrintedPoint) -> tuple[Cell, ...]:
    """Return what is printed of a figure; its hardware is named as its source names it."""
    row = point.printed
    source = site.published.sources[row.source]
    machines = (phrase("round.machines_of", nodes=row.nodes),) if (row.nodes or 1) > 1 else ()
    on = phrase("round.devices_of", devices=row.devices or "—", hardware=row.hardware)
    version = point.version or row.framework_source
    return (
        cell(row.framework),
        cell(on, None, *machines, value=row.devices),
        cell(precision_name(row.precision)),
        cell(numbers.count(row.batch_size), value=row.batch_size) if row.batch_size else absent(None),
        cell(in_words(row.options)) if row.options else absent(None),
        cell(point.date, None, source.title),
        cell(version) if version else absent(None),
        cell(printed(row), source.address_of(row), row.unit, value=row.value, details=(("unit", row.unit),)),
    )


def _plain(found: Judgment[PrintedPoint] | None) -> Cell:
    """Return the ratio of two printed figures, which have no spread."""
    if found is None:
        return absent(None)
    return cell(ratio(found.contrast), value=found.contrast.low)


def _printed_notes(site: Site, moments: Sequence[Moment[PrintedPoint]], at: int) -> Cell:
    point = moments[at].point
    row = point.printed
    before = moments[at - 1].point if at else None
    return _changed((), _notes(site, _About(row.model, row.framework, row.hardware), before, point))
