"""The summary of a model's results in the form of benchmark reports: devices and batch size by framework.

Comparisons need equal batch sizes; reports print one row even if some frameworks had to lower theirs, and state the
other batch size in the cell. A table has a row for each number of devices and batch size. Batch sizes are ordered by
the number of frameworks that ran them, first with this number of devices, then in the whole table, larger sizes before
smaller. A batch size has no row of its own if every framework that ran it lacks a figure in one of the earlier rows:
then its results are in the nearest of these rows, marked with their batch size. So every result is shown exactly once.

Runs without gradient accumulation make rows of their own, after all others, where other runs on as many devices
accumulate. A log that states nothing about it is not known to do without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from perfledger.ingest.common import numbers
from perfledger.ingest.common.suites import model
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import audit
from perfledger.ingest.published.audit import Audited
from perfledger.ingest.published.cases import library
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, published_tables
from perfledger.ingest.site import result_tables as tables
from perfledger.ingest.site.answer_marks import cautions
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import (
    Row,
    Site,
    Suite,
    group_name,
    named,
    or_unknown,
    ordered,
    precision_name,
    written,
)
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.planned import PlannedCase, fits, planned
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, absent, cell
from perfledger.ingest.site.result_lines import ACCUMULATION, accumulated

DEVICES = Column(phrase("table.devices"), True)
BATCH_SIZE = Column(phrase("table.batch_size"), True)
OPTIONS = Column(phrase("table.options"))


@dataclass(frozen=True, order=True)
class TablePlace:
    """Common facts of results that may share a row although their batch sizes differ."""

    without_accumulation: bool
    nodes: int
    devices: int
    workload: str
    words: Text = field(default="", compare=False)


@dataclass(frozen=True)
class Awaited:
    """A case that a plan or a source announces and that was not measured; `everywhere` if on any hardware."""

    framework: str
    place: TablePlace
    batch_size: int
    everywhere: bool = False


@dataclass(frozen=True)
class SummaryRow:
    """A row of a summary; `batch_size` is that of the row, and may differ from that of some of its results.

    `pending` are the frameworks with a planned case that was not measured yet.
    """

    place: TablePlace
    batch_size: int
    results: tuple[Row, ...] = ()
    pending: frozenset[str] = frozenset()

    def of(self, framework: str) -> list[Row]:
        """Return the results in the cell of a framework: figures first, and those of the row's own batch size."""
        mine = [row for row in self.results if (row.framework or "") == framework]
        return sorted(mine, key=lambda row: (not numbers.known(row.value), (row.batch_size or 0) != self.batch_size))


@dataclass(frozen=True)
class Summary:
    """A table with the names of its hardware and precision group; the page folds one without `several` frameworks."""

    hardware: Text
    group: Text
    unit: str
    table: Table
    several: bool


def summaries(site: Site, suite: Suite) -> list[Summary]:
    """Return a summary per hardware and precision group, in the order of the page."""
    verdicts, unrun, found = _by_run(site.audited), planned(site, suite), []
    for hardware, group, rows in tables.sections(site, suite):
        awaited = [
            *_printed_pending(site, suite, hardware, group),
            *_planned(suite, unrun, hardware, group, rows),
        ]
        writer = _Writer(site, suite, rows, lines(site, suite, rows, awaited), verdicts)
        about = product(hardware), group_name(group), tables.units(rows)
        found.append(Summary(*about, writer.table(), len(writer.frameworks) > 1))
    return found


def _by_run(found: Iterable[Audited]) -> Mapping[str, list[Audited]]:
    """Return the audited throughputs by the run of the log that they name."""
    by_run: dict[str, list[Audited]] = {}
    for each in found:
        if each.run and each.row.metric == "throughput":
            by_run.setdefault(each.run.id, []).append(each)
    return by_run


# ---- which rows there are ----


def lines(site: Site, suite: Suite, rows: Sequence[Row], awaited: Iterable[Awaited] = ()) -> list[SummaryRow]:
    """Return the rows of a table of results, in their order."""
    places = _places(site, suite, rows)
    ran = Counter(size for of_place in places.values() for _, size in _sizes(of_place))
    found = {
        (place, size): SummaryRow(place, size, tuple(results))
        for place, of_place in places.items()
        for size, results in _by_batch_size(of_place, ran).items()
    }
    for each in awaited:
        key = (each.place, each.batch_size)
        was_run = (each.framework, each.batch_size) in _sizes(places.get(each.place, ()))
        # A case that is planned for any hardware gets no row of its own, which would be in the tables of all hardware.
        if not was_run and (key in found or not each.everywhere):
            line = found.get(key, SummaryRow(*key))
            found[key] = replace(line, pending=line.pending | {each.framework})
    return [found[key] for key in sorted(found)]


def _printed_pending(site: Site, suite: Suite, hardware: str, group: str) -> Iterator[Awaited]:
    """Yield the cases of this hardware that a source prints as pending."""
    for row in site.published.by_suite.get(suite.id, ()):
        if row.state == "pending" and row.hardware == hardware and suite.group(row.precision) == group:
            without = row.options.get("gradient_accumulation") == "no"
            place = TablePlace(without, row.nodes or 1, row.devices or 0, "")
            yield Awaited(row.framework, place, row.batch_size or 0)


def _planned(
    suite: Suite, cases: Iterable[PlannedCase], hardware: str, group: str, rows: Sequence[Row]
) -> Iterator[Awaited]:
    """Yield the cases of plans that may be run on this hardware, under the names that its results give frameworks."""
    names = {library(row.framework or ""): row.framework or "" for row in rows}
    for plan, case in ((each.plan, each.case) for each in cases if fits(each.plan, hardware)):
        if library(plan.framework) in names and suite.group(case.precision) == group:
            about = model(plan.model), case.options, ACCUMULATION
            key, words = suite.workload_text(*about), suite.workload_words(*about)
            place = TablePlace(case.options.get(ACCUMULATION) == 1, case.nodes, case.devices, key, words)
            yield Awaited(names[library(plan.framework)], place, case.batch_size, everywhere=True)


def _places(site: Site, suite: Suite, rows: Sequence[Row]) -> Mapping[TablePlace, list[Row]]:
    """Return results by their place."""
    keys = [
        (row.nodes or 1, row.devices or 0, suite.workload_text(row.model, row.options, ACCUMULATION)) for row in rows
    ]
    steps = [accumulated(site, row) for row in rows]
    accumulating = {key for key, each in zip(keys, steps, strict=True) if (each or 1) > 1}
    found: dict[TablePlace, list[Row]] = {}
    for row, key, each in zip(rows, keys, steps, strict=True):
        words = suite.workload_words(row.model, row.options, ACCUMULATION)
        found.setdefault(TablePlace(each == 1 and key in accumulating, *key, words), []).append(row)
    return found


def _sizes(rows: Iterable[Row]) -> set[tuple[str, int]]:
    """Return the batch sizes that each framework ran; 0 is an unknown one."""
    return {(row.framework or "", row.batch_size or 0) for row in rows}


def _by_batch_size(rows: Sequence[Row], ran: Mapping[int, int]) -> dict[int, list[Row]]:
    """Return the results of a place by the batch size of their row, as the module's docstring explains."""
    here = Counter(size for _, size in _sizes(rows))
    found: dict[int, list[Row]] = {}
    for size in sorted(here, key=lambda each: (-here[each], -ran[each], -each)):
        of_size = [row for row in rows if (row.batch_size or 0) == size]
        homes = {each: _home(each, size, found) for each in {row.framework or "" for row in of_size}}
        own = not all(homes.values())
        for row in of_size:
            found.setdefault(size if own else homes[row.framework or ""], []).append(row)
    return found


def _home(framework: str, size: int, found: Mapping[int, Sequence[Row]]) -> int:
    """Return the batch size of the nearest row without a figure of a framework, or 0."""
    free = [each for each in found if each and size and not _has_figure(framework, found[each])]
    return min(free, key=lambda each: (max(each, size) / min(each, size), -each), default=0)


def _has_figure(framework: str, rows: Iterable[Row]) -> bool:
    return any((row.framework or "") == framework and numbers.known(row.value) for row in rows)


# ---- what the cells show ----


@dataclass(frozen=True)
class _Writer:
    """Writes one table: the results of one hardware and precision group in their rows."""

    site: Site
    suite: Suite
    rows: Sequence[Row]
    lines: Sequence[SummaryRow]
    verdicts: Mapping[str, Sequence[Audited]]

    def table(self) -> Table:
        with_options = any(each.place.workload for each in self.lines)
        head = [DEVICES, BATCH_SIZE, *([OPTIONS] if with_options else [])]
        head += [Column(named(each), True, self._page(each)) for each in self.frameworks]
        body = tuple(
            (*_heads(each, with_options), *(self._cell(each, framework) for framework in self.frameworks))
            for each in self.lines
        )
        without = any(each.place.without_accumulation for each in self.lines)
        notes = (phrase("source_form.rule_without"),) if without else ()
        return Table(tuple(head), body, notes=notes, name="summary")

    @cached_property
    def frameworks(self) -> list[str]:
        """The frameworks of the columns."""
        measured = {row.framework or "" for row in self.rows}
        return ordered(measured.union(*(each.pending for each in self.lines)), self.suite.frameworks)

    @cached_property
    def _steps(self) -> Mapping[TablePlace, set[int | None]]:
        """The batches per update that the results of a place state."""
        found: dict[TablePlace, set[int | None]] = {}
        for line in self.lines:
            found.setdefault(line.place, set()).update(accumulated(self.site, row) for row in line.results)
        return found

    @cached_property
    def _differing(self) -> frozenset[str]:
        """The facts with several values in the table; a result without a figure has no unit."""
        names = ("unit", "precision")
        return frozenset(name for name in names if len({getattr(row, name) for row in self.rows} - {""}) > 1)

    def _page(self, framework: str) -> str | None:
        """Return the page of a framework; None if it has no runs."""
        known = framework in self.site.frameworks(self.suite)
        return addresses.framework_page(self.suite, framework) if known else None

    def _cell(self, line: SummaryRow, framework: str) -> Cell:
        """Return the results of a cell, each followed by its published figures."""
        found = line.of(framework)
        parts = [self._result(line, row, found) for row in found]
        entries = [entry for each in parts for entry in each.entries]
        if framework in line.pending:
            entries.append(Entry(phrase("report.pending"), marks=(_size(line.batch_size),) if found else ()))
        if not found and not entries:
            return absent(phrase("table.not_measured"))
        return Cell(tuple(entries), next((each.note for each in parts if each.note), None))

    def _result(self, line: SummaryRow, row: Row, beside: Sequence[Row]) -> Cell:
        about, printed = self._about(line, row, beside), self._published(row)
        if numbers.known(row.value):
            return Cell((self._entry(row, about), *printed))
        ended = tables.without_figure(self.site, row)
        if not (ended.entries or about or printed or len(beside) > 1):
            return ended
        # The reason is next to the dash, since a footnote would come after the whole content of the cell.
        entries = ended.entries or (Entry(numbers.ABSENT, marks=tuple(filter(None, [ended.note]))),)
        return Cell((*(replace(each, marks=(*about, *each.marks)) for each in entries), *printed))

    def _entry(self, row: Row, about: Sequence[Text]) -> Entry:
        marks = (*about, *([*tables.spread_marks(row), tables.repeats_text(row)] if row.repeats > 1 else []))
        against = cautions(self.site, self.suite, row)
        return Entry(
            written(row), self.site.page(tables.representative(self.site, row)), tuple(filter(None, marks)),
            value=row.value, caution=tables.sentences(against) if against else "",
        )  # fmt: skip

    def _about(self, line: SummaryRow, row: Row, beside: Sequence[Row]) -> tuple[Text, ...]:
        """Return what a reader has to know of a figure beyond its row and column."""
        marks: list[Text] = [row.unit] if "unit" in self._differing else []
        marks += [_size(row.batch_size)] if any((each.batch_size or 0) != line.batch_size for each in beside) else []
        marks += [precision_name(row.precision)] if "precision" in self._differing else []
        marks += self._accumulation(line, row)
        marks += [*tables.own_marks(row), _distinction(row, beside), *tables.version_marks(row, beside)]
        return tuple(each for each in marks if each)

    def _accumulation(self, line: SummaryRow, row: Row) -> list[Text]:
        """Return the batches per update of a result, where those of its row differ in them."""
        found = self._steps[line.place]
        if len(found) < 2 or not any((each or 1) > 1 for each in found):
            return []
        stated = accumulated(self.site, row)
        return [phrase("source_form.accumulated", n=stated) if stated else phrase("source_form.not_stated")]

    def _published(self, row: Row) -> tuple[Entry, ...]:
        """Return the published figures of a result's logs, unless they equal the result."""
        found = [each for run in row.run_ids for each in self.verdicts.get(run, ())]
        others = [each for each in found if not _says_the_same(each.row, row)]
        ordered = sorted(_by_figure(others), key=lambda group: audit.VERDICTS.index(group[0].verdict))
        return tuple(_printed(group, row) for group in ordered)


def _heads(line: SummaryRow, with_options: bool) -> list[Cell]:
    """Return the head of a row."""
    place, size = line.place, line.batch_size or None
    without = [phrase("source_form.without")] if place.without_accumulation else []
    found = [
        tables.devices_cell(place.devices or None, place.nodes),
        cell(or_unknown(size), None, *without, value=size),
    ]
    return [*found, *([cell(place.words)] if with_options else [])]


def _size(batch_size: int | None) -> Text:
    return phrase("source_form.batch_size", n=or_unknown(batch_size))


def _distinction(row: Row, in_cell: Sequence[Row]) -> Text:
    """Return the options of a result that differ from those of the other results of its cell."""
    several = {name for name in row.options if len({repr(each.options.get(name)) for each in in_cell}) > 1}
    return in_words(row.options, sorted(several - {ACCUMULATION}))


def _says_the_same(printed: Published, row: Row) -> bool:
    """Return whether a published figure equals a result except for rounding, and is printed for the same batch size."""
    equal = row.value is not None and printed.unit == row.unit and audit.is_printed(printed, row.value)
    return equal and not printed.printed_batch_size


def _by_figure(found: Iterable[Audited]) -> list[list[Audited]]:
    """Group published figures by their number; several places may print more or fewer digits of it."""
    groups: list[list[Audited]] = []
    for each in found:
        there = next((group for group in groups if audit.same(group[0].row, each.row)), None)
        if there:
            there.append(each)
        else:
            groups.append([each])
    return groups


def _printed(group: Sequence[Audited], row: Row) -> Entry:
    """Return a published figure with its verdict, linked to the audit; and what its places print of the case."""
    first = group[0]
    value, verdict = published_tables.printed(first.row), phrase(f"verdict.{first.verdict}")
    unit = [first.row.unit] if row.unit not in ("", first.row.unit) else []
    marks = dict.fromkeys((*unit, *(mark for each in group for mark in _printed_case(each.row))))
    return Entry(
        phrase("source_form.published", value=value, verdict=verdict), addresses.AUDIT, tuple(marks), tone="aside"
    )


def _printed_case(row: Published) -> list[Text]:
    """Return what the source prints of a case where the log says otherwise, and its own label."""
    size = [_size(row.printed_batch_size)] if row.printed_batch_size else []
    precision = [precision_name(row.printed_precision)] if row.printed_precision else []
    return [*(phrase("source_form.printed_as", what=each) for each in (*size, *precision)), *filter(None, [row.label])]
