"""The summary of a model's results in the form of benchmark reports: devices and batch size by framework.

Comparisons need equal batch sizes; reports print one row for frameworks of which some had to lower theirs, and name the
other batch size in the cell. The rows of a table, per number of devices: batch sizes in the order of how many
frameworks ran them, first there, then in the whole table, then the larger one. Each is a row of its own, unless every
framework that ran it lacks a figure in one of the rows before: then its results stand there, in the nearest of them,
marked with their batch size. So no result is left out, and none stands twice.

Runs without gradient accumulation make rows of their own, after all others, where other runs on as many devices
accumulate. A log that states nothing about it is not known to do without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ingest.common import numbers
from ingest.common.words import Text, phrase
from ingest.published import audit
from ingest.published.audit import Audited
from ingest.published.publications import Published
from ingest.site import addresses, published_tables
from ingest.site import result_tables as tables
from ingest.site.model import Row, Site, Suite, group_name, named, options_text, or_unknown, ordered, precision_name
from ingest.site.render.table import Cell, Column, Entry, Table, absent, cell

ACCUMULATION = "accumulation"


@dataclass(frozen=True, order=True)
class Place:
    """What results have in common that may share a row although their batch sizes differ."""

    without_accumulation: bool
    nodes: int
    devices: int
    workload: str


@dataclass(frozen=True)
class Awaited:
    """A case that somebody is to measure, and nobody has."""

    framework: str
    place: Place
    batch_size: int


@dataclass(frozen=True)
class Line:
    """A row of a summary; `batch_size` is that of the row, and may differ from that of some of its results.

    `pending` are the frameworks of which the case is yet to be measured.
    """

    place: Place
    batch_size: int
    results: tuple[Row, ...] = ()
    pending: frozenset[str] = frozenset()

    def of(self, framework: str) -> list[Row]:
        """Return the results in the cell of a framework: figures first, and those of the row's own batch size."""
        mine = [row for row in self.results if (row.framework or "") == framework]
        return sorted(mine, key=lambda row: (not numbers.known(row.value), row.batch_size != self.batch_size))


@dataclass(frozen=True)
class Summary:
    """A table with the names of its hardware and precision group; `several` frameworks are worth to be seen at once."""

    hardware: Text
    group: Text
    unit: str
    table: Table
    several: bool


def summaries(site: Site, suite: Suite) -> list[Summary]:
    """Return a summary per hardware and precision group, in the order of the page."""
    verdicts, found = _by_run(site.audited), []
    for hardware, group, rows in tables.sections(site, suite):
        awaited = _awaited(site, suite, hardware, group)
        writer = _Writer(site, suite, rows, lines(site, suite, rows, awaited), verdicts)
        about = named(hardware, "site.unknown_hardware"), group_name(group), tables.units(rows)
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


def lines(site: Site, suite: Suite, rows: Sequence[Row], awaited: Iterable[Awaited] = ()) -> list[Line]:
    """Return the rows of a table of results, in their order."""
    places = _places(site, suite, rows)
    ran = Counter(size for of_place in places.values() for _, size in _sizes(of_place))
    found = {
        (place, size): Line(place, size, tuple(results))
        for place, of_place in places.items()
        for size, results in _by_batch_size(of_place, ran).items()
    }
    for each in awaited:
        key = (each.place, each.batch_size)
        if (each.framework, each.batch_size) not in _sizes(places.get(each.place, ())):
            line = found.get(key, Line(*key))
            found[key] = replace(line, pending=line.pending | {each.framework})
    return [found[key] for key in sorted(found)]


def _awaited(site: Site, suite: Suite, hardware: str, group: str) -> list[Awaited]:
    """Return the cases of this hardware that a source prints as pending."""
    rows = site.published.by_suite.get(suite.id, ())
    pending = (row for row in rows if row.state == "pending" and row.hardware == hardware)
    return [
        Awaited(row.framework, _place_of(row), row.batch_size or 0)
        for row in pending
        if suite.group(row.precision) == group
    ]


def _place_of(row: Published) -> Place:
    without = row.options.get("gradient_accumulation") == "no"
    return Place(without, row.nodes or 1, row.devices or 0, "")


def _places(site: Site, suite: Suite, rows: Sequence[Row]) -> Mapping[Place, list[Row]]:
    """Return results by their place."""
    keys = [(row.nodes or 1, row.devices or 0, suite.workload_text(row, ACCUMULATION)) for row in rows]
    steps = [accumulated(site, row) for row in rows]
    accumulating = {key for key, each in zip(keys, steps, strict=True) if (each or 1) > 1}
    found: dict[Place, list[Row]] = {}
    for row, key, each in zip(rows, keys, steps, strict=True):
        found.setdefault(Place(each == 1 and key in accumulating, *key), []).append(row)
    return found


def accumulated(site: Site, row: Row) -> int | None:
    """Return the batches per update of a result; None where not all of its logs state it."""
    if isinstance(stated := row.options.get(ACCUMULATION), int):
        return stated
    facts = [site.by_id[each].facts.get(ACCUMULATION) for each in row.run_ids]
    return 1 if all(fact and fact.value == 1 for fact in facts) else None


def _sizes(rows: Iterable[Row]) -> set[tuple[str, int]]:
    """Return the batch sizes that each framework ran; 0 stands for one that is not known."""
    return {(row.framework or "", row.batch_size or 0) for row in rows}


def _by_batch_size(rows: Sequence[Row], ran: Mapping[int, int]) -> dict[int, list[Row]]:
    """Return the results of a place by the batch size of the row that they stand in; the module says how."""
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
    """Return the nearest row in which a framework has no figure; 0 where there is none."""
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
    lines: Sequence[Line]
    verdicts: Mapping[str, Sequence[Audited]]

    def table(self) -> Table:
        with_options = any(each.place.workload for each in self.lines)
        head = [tables.DEVICES, tables.BATCH_SIZE, *([tables.OPTIONS] if with_options else [])]
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
    def _steps(self) -> Mapping[Place, set[int | None]]:
        """The batches per update that the results of a place state."""
        found: dict[Place, set[int | None]] = {}
        for line in self.lines:
            found.setdefault(line.place, set()).update(accumulated(self.site, row) for row in line.results)
        return found

    @cached_property
    def _differing(self) -> frozenset[str]:
        """The facts of which the table has several; a result without a figure has no unit."""
        names = ("unit", "precision")
        return frozenset(name for name in names if len({getattr(row, name) for row in self.rows} - {""}) > 1)

    def _page(self, framework: str) -> str | None:
        """Return the page of a framework of which there are runs."""
        known = framework in self.site.frameworks(self.suite)
        return addresses.framework_page(self.site, self.suite, framework) if known else None

    def _cell(self, line: Line, framework: str) -> Cell:
        """Return the results of a cell, each followed by what was published of it."""
        found = line.of(framework)
        parts = [self._result(line, row, found) for row in found]
        entries = [entry for each in parts for entry in each.entries]
        entries += [Entry(phrase("report.pending"))] if framework in line.pending else []
        if not found and not entries:
            return absent(phrase("table.not_measured"))
        return Cell(tuple(entries), next((each.note for each in parts if each.note), None))

    def _result(self, line: Line, row: Row, beside: Sequence[Row]) -> Cell:
        about, printed = self._about(line, row, beside), self._published(row)
        if numbers.known(row.value):
            entry = tables.figure_entry(self.site, row, about)
            size = ("batch_size", row.batch_size if row.batch_size != line.batch_size else None)
            return Cell((replace(entry, details=(*entry.details, size)), *printed))
        ended = tables.without_figure(self.site, row)
        entries = ended.entries or ((Entry(numbers.ABSENT),) if about or printed or len(beside) > 1 else ())
        return Cell((*(replace(each, marks=(*about, *each.marks)) for each in entries), *printed), ended.note)

    def _about(self, line: Line, row: Row, beside: Sequence[Row]) -> tuple[Text, ...]:
        """Return what a reader has to know of a figure beyond its row and column."""
        marks: list[Text] = [row.unit] if "unit" in self._differing else []
        marks += [_override(row)] if (row.batch_size or 0) != line.batch_size else []
        marks += [precision_name(row.precision)] if "precision" in self._differing else []
        marks += self._accumulation(line, row)
        marks += [*tables.summary_mark(row), _distinction(row, beside), *tables.version_marks(row, beside)]
        return tuple(each for each in marks if each)

    def _accumulation(self, line: Line, row: Row) -> list[Text]:
        """Return the batches per update of a result, where those of its row differ in them."""
        found = self._steps[line.place]
        if len(found) < 2 or not any((each or 1) > 1 for each in found):
            return []
        stated = accumulated(self.site, row)
        return [phrase("source_form.accumulated", n=stated) if stated else phrase("source_form.not_stated")]

    def _published(self, row: Row) -> tuple[Entry, ...]:
        """Return the published figures of the logs behind a result, where they are not the result itself."""
        shown: list[Audited] = []
        for each in (each for run in row.run_ids for each in self.verdicts.get(run, ())):
            if not _is_result(each, row) and not any(audit.same(each.row, other.row) for other in shown):
                shown.append(each)
        return tuple(_printed(each, row) for each in sorted(shown, key=lambda each: audit.VERDICTS.index(each.verdict)))


def _heads(line: Line, with_options: bool) -> list[Cell]:
    """Return the head of a row."""
    place, size = line.place, line.batch_size or None
    without = [phrase("source_form.without")] if place.without_accumulation else []
    found = [
        tables.devices_cell(place.devices or None, place.nodes),
        cell(or_unknown(size), None, *without, value=size),
    ]
    return [*found, *([cell(place.workload)] if with_options else [])]


def _override(row: Row) -> Text:
    return phrase("source_form.override", n=row.batch_size)


def _distinction(row: Row, beside: Sequence[Row]) -> str:
    """Return the options in which a result differs from the others of its cell."""
    several = {name for name in row.options if len({repr(each.options.get(name)) for each in beside}) > 1}
    return options_text(row.options, several - {ACCUMULATION})


def _is_result(published: Audited, row: Row) -> bool:
    """Return whether a published figure is that of a result, but for its rounding."""
    return row.value is not None and published.row.unit == row.unit and audit.is_printed(published.row, row.value)


def _printed(found: Audited, row: Row) -> Entry:
    """Return a published figure with its verdict, linked to the audit."""
    unit = [found.row.unit] if row.unit not in ("", found.row.unit) else []
    return Entry(
        phrase("source_form.published", value=published_tables.printed(found.row)),
        addresses.AUDIT,
        (*unit, phrase(f"verdict.{found.verdict}")),
        tone="aside",
    )
