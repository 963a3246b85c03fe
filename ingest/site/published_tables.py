"""Tables of slices of published figures, and texts for their facts. Figures are shown as they were printed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.ingest.published.declarations import ROW_BATCH_SIZE, Facts, Report
from perfledger.ingest.published.likeness import comparisons
from perfledger.ingest.published.notes import PublishedNote
from perfledger.ingest.published.publications import Published, Publisher
from perfledger.ingest.published.slices import (
    CELL_BATCH_SIZE,
    LOG_BATCH_SIZE,
    Cut,
    Head,
    Slice,
    SliceFigure,
    Values,
    case_fact,
    fact,
)
from perfledger.ingest.site import verdict_words
from perfledger.ingest.site.model import precision_name
from perfledger.ingest.site.options import joined, sentences
from perfledger.ingest.site.render.table import Cell, Column, Entry, Link, Table, Tag, absent, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: Options that count something large; other numbers, such as dates, are not quantities.
COUNTS = ("vocabulary", "batch_size_of_job", "samples", "sequence_length")
#: Options that are on or off, as the heads of benchmark tables write them in every language.
SWITCHES = {"xla": "XLA", "dali": "DALI", "clip": "clip"}
#: Facts that count something large, besides options.
_BATCH_SIZES = ("batch_size", ROW_BATCH_SIZE)
#: Options whose value is clear without the option's name.
_NAMED_BY_VALUE = ("case", "parallel", "dataset", "reader")
#: The mark of a figure's verdict, by the identity of its row.
Verdicts = Mapping[int, Tag]


def of_slice(found: Slice, verdicts: Verdicts = MappingProxyType({})) -> Table:
    """Return the table of a slice: a column per key of its rows, then its columns, with marks of verdicts."""
    labels = [Column(key_name(key), _numeric(key, found.rows)) for key in found.keys]
    figures = [_column(found, index) for index in range(len(found.columns))]
    best = frozenset(id(row) for each in comparisons(found) for row in each.best)
    body = tuple(
        (*_labels(found, head), *_figures(found, index, best, verdicts)) for index, head in enumerate(found.rows)
    )
    return Table((*labels, *figures), body, notes=(*found.block.notes, *_notes(found)))


def _labels(found: Slice, head: Head) -> list[Cell]:
    """Return the labels of a row; the first has the row's marks and notes."""
    cells = [cell(value(found, *each)) for each in head.values]
    marks = tuple(mark(found, each) for each in head.marks)
    if cells:
        cells[0] = Cell((Entry(cells[0].entries[0].text, marks=marks),), together(head.notes) or None)
    return cells


def _figures(found: Slice, row: int, best: Container[int], verdicts: Verdicts) -> list[Cell]:
    """Return the figures of a row. One that was not measured is shown if it has a mark."""
    cells = []
    for column in range(len(found.columns)):
        figures = found.cells.get((row, column), ())
        known = [each for each in figures if each.row.state != "not_measured" or each.beside]
        entries = tuple(_entry(found, each, best, verdicts) for each in known)
        said = dict.fromkeys(note for each in figures for note in each.notes)
        cells.append(Cell(entries, together(tuple(said)) or None))
    return cells


def _entry(found: Slice, figure: SliceFigure, best: Container[int], verdicts: Verdicts) -> Entry:
    row, marks = figure.row, tuple(mark(found, each) for each in figure.marks)
    if stated := state(row):
        shown = stated.entries[0] if stated.entries else Entry(numbers.ABSENT)
        return Entry(shown.text, marks=marks, tone=shown.tone)
    delta = (_delta(*figure.delta),) if figure.delta else ()
    speedup = (f"{figure.speedup}×",) if has_speedup(figure) else ()
    small = (*delta, *speedup, *marks)
    return Entry(printed(row), None, small, best=id(row) in best, value=row.value, verdict=verdicts.get(id(row)))


def has_speedup(figure: SliceFigure) -> bool:
    """Return whether a table shows a speed-up next to a figure."""
    return bool(figure.speedup) and figure.row.devices != 1


def _notes(found: Slice) -> tuple[Text, ...]:
    """Return what is said of all figures, and of those of a column; the rest is said where it applies."""
    of_columns = (
        phrase("report.note_of", head=head_text(found, head), note=together(head.notes))
        for head in found.columns
        if head.notes
    )
    return (*map(note, found.notes), *of_columns)


def legend(found: Cut) -> tuple[Text, ...]:
    """Return what the signs of a report's tables mean: the general ones, speed-ups, and bold figures."""
    parts = [part for parts in found.slices for part in parts]
    sped = dict.fromkeys(part.block.speedup for part in parts if any(map(has_speedup, part.figures)))
    best = [phrase("report.best")] if any(each.best for part in parts for each in comparisons(part)) else []
    return (phrase("report.legend"), *(phrase(f"report.speedup_{each}") for each in sped), *best)


def note(said: PublishedNote) -> Text:
    """Return a note as a sentence; one without a word is somebody's own text and stays as it is."""
    if not said.key:
        return said.value
    value = precision_name(said.value) if said.key.endswith("_precision") else said.value
    return Phrase(f"note.{said.key}", (("value", value),), f"{said.key}={said.value}")


def together(notes: Sequence[PublishedNote]) -> Text:
    """Return the notes of one place as one text; empty without notes."""
    return sentences([note(each) for each in notes])


def _column(found: Slice, index: int) -> Column:
    """Return a column, with the unit of its figures unless its title or the caption states it."""
    head = found.columns[index]
    units = {each.row.unit for (_, at), figures in found.cells.items() if at == index for each in figures}
    stated_elsewhere = len(units) > 1 or any(key == "metric" for key, _ in head.values)
    return Column(head_text(found, head), True, unit="" if stated_elsewhere else next(iter(units), ""))


def of_facts(facts: Facts) -> Table:
    """Return a table of words."""
    columns = tuple(Column(each) for each in facts.columns)
    return Table(columns, tuple(tuple(map(_fact, row)) for row in facts.rows), prose=True)


def _fact(text: Text) -> Cell:
    """Return the cell of a fact; an address is a link, shown without its scheme."""
    if isinstance(text, str) and text.startswith("https://"):
        return cell(text.removeprefix("https://"), text)
    return cell(text)


def software(rows: Iterable[Published]) -> Table | None:
    """Return the sources and versions of the frameworks; None where no figure states any."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.framework_source:
            found.setdefault(row.framework, {}).setdefault(row.framework_source)
    columns = (
        ColumnOf[tuple[str, dict[str, None]]](phrase("table.framework"), lambda row: row[0]),
        ColumnOf[tuple[str, dict[str, None]]](phrase("report.software"), lambda row: Cell(tuple(map(Entry, row[1])))),
    )
    return table_of("software", list(found.items()), columns)


def caption(found: Slice, common: Values) -> tuple[Text, ...]:
    """Return what all figures of a slice have in common, without what all figures of its page have."""
    return tuple(_own(found, *each) or stated(*each) for each in found.same if each not in common)


def stated(key: str, text: str) -> Text:
    """Return a fact as a caption states it."""
    if key in _BATCH_SIZES:
        return phrase("front.batch", n=grouped_digits(text))
    if key == LOG_BATCH_SIZE:
        return phrase("report.log_says", value=grouped_digits(text))
    if key == CELL_BATCH_SIZE:
        return f"[BS={text}]"
    if key.startswith("options."):
        return _option(key, text)
    if key == "metric":
        return metric(*text.split("|"))
    if key == "devices":
        return _counted(text)
    return precision_name(text) if key == "precision" else text


_OF_SWITCH = {"yes": "w/", "no": "w/o"}


def _option(key: str, text: str) -> Text:
    name = key.removeprefix("options.")
    if name in SWITCHES and text in _OF_SWITCH:
        return f"{_OF_SWITCH[text]} {SWITCHES[name]}"
    if name in _NAMED_BY_VALUE:
        return word_for("option_value", text)
    return phrase("report.option_is", name=word_for("option", name), value=_plain(key, text))


def published_on(source: Publisher, report: Report | None = None) -> Text:
    """Return the date when a source published a report, or else the year of the source, or that it is unknown."""
    known = (report.date if report else "") or ("" if source.year is None else str(source.year))
    return known or phrase("report.date_unknown")


def printed_in(rows: Iterable[Published], sources: Mapping[str, Publisher]) -> tuple[Link, ...]:
    """Return the pages that print figures, with the lines if known.

    A page has a link if the address of that edition is known; another address may show another edition.
    """
    found = by_key(rows, lambda row: (row.source, row.place.split(" ")[0]))
    return tuple(
        Link(_lines(path, each), sources[source].address_of(min(each, key=_line)))
        for (source, path), each in found.items()
        if path
    )


def logs(rows: Iterable[Published], sources: Mapping[str, Publisher]) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    """Return the folders of the logs that figures name, each with links to its files."""
    found: dict[str, dict[str, Link]] = {}
    for row in sorted((row for row in rows if row.log), key=lambda row: row.log):
        folder, _, name = row.log.rpartition("/")
        found.setdefault(folder, {}).setdefault(name, Link(name, sources[row.source].address_of_log(row)))
    return tuple((folder, tuple(files.values())) for folder, files in found.items())


def key_name(key: str) -> Text:
    """Return the title of a column of labels."""
    if key.startswith("options."):
        return word_for("option", key.removeprefix("options."))
    return phrase(f"report.key_{key}")


def head_text(found: Slice, head: Head) -> Text:
    """Return a column's title, with its marks in brackets."""
    text = head.text if head.text is not None else joined([_title(found, *each) for each in head.values])
    marks = joined([mark(found, each) for each in head.marks])
    return phrase("report.head", head=text, marks=marks) if head.marks else text


def label(row: Published, key: str) -> Cell:
    """Return the printed value of a fact, for a column with the fact's title, and the log's value if it differs.

    The log's value is that of the case, and figures are compared by case.
    """
    text, of_log = fact(row, key), case_fact(row, key)
    if not text:
        return absent(None)
    if text == of_log or not row.log:
        return cell(_plain(key, text))
    return cell(_plain(key, text), None, phrase("report.log_says", value=_plain(key, of_log)))


def _title(found: Slice, key: str, text: str) -> Text:
    """Return a value as the head of a column."""
    return _own(found, key, text) or (_counted(text) if key == "devices" else _plain(key, text))


def value(found: Slice, key: str, text: str) -> Text:
    """Return a value as a label."""
    return _own(found, key, text) or _plain(key, text)


def _own(found: Slice, key: str, text: str) -> Text:
    """Return the spelling that a declaration gives a value; empty without one."""
    return found.block.labels.get(key, {}).get(text, "")


def _plain(key: str, text: str) -> Text:
    """Return a value for a place that names its key."""
    if key == "devices":
        return _devices(text)
    if key in ("metric", "precision"):
        return stated(key, text)
    if key.startswith("options.") and text in _OF_SWITCH:
        return phrase(f"report.{text}")
    if key == "options.parallel":
        return word_for("option_value", text)
    counted = key in _BATCH_SIZES or key.removeprefix("options.") in COUNTS
    return grouped_digits(text) if counted else text


def mark(found: Slice, each: tuple[str, str]) -> Text:
    """Return a fact as a mark of a figure."""
    key, text = each
    return _own(found, key, text) or (f"bsz={text}" if key == "batch_size" else stated(key, text))


def metric(name: str, unit: str) -> Text:
    """Return a metric's name with its unit."""
    return phrase("report.in_unit", name=metric_name(name), unit=unit) if unit else metric_name(name)


def metric_name(name: str) -> Text:
    """Return a metric's name."""
    return word_for("published_metric", name)


def printed(row: Published) -> str:
    """Return a figure as it was printed, with thousands separators."""
    return grouped_digits(row.printed)


def grouped_digits(text: str) -> str:
    """Group the digits of a number; other texts stay as they are."""
    found = re.fullmatch(r"([0-9]{4,})(\.[0-9]+)?", text)
    return f"{int(found[1]):,}{found[2] or ''}" if found else text


def state(row: Published) -> Cell | None:
    """Return the cell of a row without a figure (out of memory, pending, not measured); None where it has one."""
    if row.state == "oom":
        return cell(phrase("table.oom"), tone="bad")
    if row.state == "pending":
        return cell(phrase("report.pending"))
    return absent(None) if row.value is None else None


def _delta(difference: float, share: float) -> str:
    """Write a difference in the notation of the sources: absolute, then relative with an arrow."""
    sign, arrow = ("−", "↓") if difference < 0 else ("+", "↑")
    return f"({sign}{numbers.exact(abs(round(difference, 6)))}, {arrow}{abs(share) * 100:.1f}%)"


def _counted(text: str) -> Text:
    """Return a number of devices with its noun, for places without a title."""
    nodes, _, devices = text.partition("x")
    return verdict_words.devices_on(int(devices) if devices else None, int(nodes or 1))


def _devices(text: str) -> Text:
    nodes, _, devices = text.partition("x")
    return verdict_words.devices_short(int(devices), int(nodes or 1)) if devices else phrase("site.unknown")


def _numeric(key: str, rows: Sequence[Head]) -> bool:
    values = [text for head in rows for name, text in head.values if name == key]
    return key in ("devices", "nodes") or all(re.fullmatch(r"[0-9.]*", text) for text in values)


def _line(row: Published) -> int:
    return int(row.line) if row.line.isdecimal() else 0


def _lines(path: str, rows: Sequence[Published]) -> Text:
    lines = sorted({_line(row) for row in rows} - {0})
    if not lines:
        return path
    if lines[0] == lines[-1]:
        return phrase("report.line", path=path, line=lines[0])
    return phrase("report.lines", path=path, first=lines[0], last=lines[-1])
