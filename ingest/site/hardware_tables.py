"""Hardware by model: a sheet per precision group and number of devices, and one per round for those who ask for it.

A row is a hardware, and a column is a model with its main workload: that of most hardware. A cell has the fastest
result of the hardware's latest round, at the batch size and settings that suit it best. If we have none, it has the
highest published figure, in outline and unranked. The page contains all sheets; a script shows the chosen one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import measured
from perfledger.ingest.compute.contrast import contrast
from perfledger.ingest.compute.history import natural
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, answer_marks, verdict_words
from perfledger.ingest.site.chips import token
from perfledger.ingest.site.hardware_names import group, is_accelerator, newest_first, product
from perfledger.ingest.site.model import Row, Site, Suite, group_name, written
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.published_figures import is_shown
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render.table import Cell, Entry, Facets, Table, cell
from perfledger.ingest.site.result_tables import day_of, how_measured, representative, sections
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.vocabulary import precision_group

#: A sheet needs a column with so much hardware; otherwise there is nothing to compare.
FEWEST = 2
#: The group of precisions that comes first.
_FIRST = "half"


@dataclass(frozen=True, order=True)
class SheetKey:
    """The reader's choice of a sheet; `round` is empty where each hardware has its latest results."""

    group: str
    devices: int
    nodes: int
    round: str = ""

    @property
    def size(self) -> str:
        """The devices, with the machines where there are several, as an address has them."""
        return str(self.devices) if self.nodes == 1 else f"{self.devices}-on-{self.nodes}"


@dataclass(frozen=True, order=True)
class SheetWorkload:
    """A workload of a model, in one unit and under one rule; `order` is the model's place among all."""

    order: int
    text: str
    unit: str
    rule: str


Place = tuple[str, SheetWorkload]


@dataclass(frozen=True)
class Sheet:
    """The results of one choice: ours, and where we have none, published figures.

    `columns` are the main workloads, the first with `most` figures, `variants` all others, and `hardware` the rows.
    """

    key: SheetKey
    hardware: tuple[str, ...]
    columns: tuple[SheetWorkload, ...]
    variants: tuple[SheetWorkload, ...]
    ours: Mapping[Place, Sequence[Row]]
    theirs: Mapping[Place, Published]
    most: int

    @property
    def reference(self) -> str:
        """The hardware that the page begins with: the accelerator with results of most models; empty without ours."""
        counted = Counter(name for name, workload in self.ours if workload in self.columns)
        return max(self.hardware, key=lambda name: (bool(counted[name]), is_accelerator(name), counted[name]))


def sheets(site: Site) -> tuple[Sheet, ...]:
    """Return the sheets with enough hardware: accelerators and half precision first, then those with most figures."""
    ours: dict[SheetKey, dict[Place, list[Row]]] = {}
    for key, place, row in _results(site):
        for each in {key, SheetKey(key.group, key.devices, key.nodes)}:
            ours.setdefault(each, {}).setdefault(place, []).append(row)
    theirs = _published(site)
    made = [_sheet(key, ours.get(key, {}), theirs.get(key, {})) for key in {**ours, **theirs}]
    return tuple(sorted((each for each in made if each.most >= FEWEST), key=_rank))


def _rank(sheet: Sheet) -> tuple[object, ...]:
    ranked = {name for name, workload in sheet.ours if workload in sheet.columns}
    accelerators = sum(map(is_accelerator, sheet.hardware))
    return (
        not any(map(is_accelerator, ranked)), bool(sheet.key.round), sheet.key.group != _FIRST, not ranked,
        -accelerators, -len(sheet.ours), sheet.key,
    )  # fmt: skip


def _results(site: Site) -> Iterable[tuple[SheetKey, Place, Row]]:
    for order, suite in enumerate(site.shown):
        for hardware, precisions, rows in sections(site, suite):
            for row in rows:
                if hardware and row.devices and numbers.known(row.value) and (row.value or 0) > 0:
                    workload = SheetWorkload(order, suite.workload_text(row.model, row.options), row.unit, row.rule)
                    yield SheetKey(precisions, row.devices, row.nodes or 1, row.round or ""), (hardware, workload), row


def _published(site: Site) -> dict[SheetKey, dict[Place, Published]]:
    """Return the highest published throughput of each place."""
    found: dict[SheetKey, dict[Place, Published]] = {}
    for order, suite in enumerate(site.shown):
        for row in site.published.by_suite.get(suite.id, ()):
            if row.metric == "throughput" and is_shown(row) and row.value and row.devices and row.hardware:
                key = SheetKey(precision_group(row.precision), row.devices, row.nodes or 1)
                options = {name: int(text) if text.isdecimal() else text for name, text in row.options.items()}
                workload = SheetWorkload(order, suite.workload_text(row.model, options), row.unit, HEADLINE)
                there = found.setdefault(key, {})
                place = (row.hardware, workload)
                there[place] = max(there.get(place, row), row, key=lambda each: each.value or 0)
    return found


def _sheet(key: SheetKey, ours: Mapping[Place, Sequence[Row]], theirs: Mapping[Place, Published]) -> Sheet:
    ran = {workload for _, workload in ours}
    counts = Counter(workload for _, workload in theirs)
    filled = {
        place: row
        for place, row in theirs.items()
        if place not in ours and (place[1] in ran or counts[place[1]] >= FEWEST)
    }
    counted = Counter(workload for _, workload in (*ours, *filled))

    def rank(each: SheetWorkload) -> tuple[object, ...]:
        return (-counted[each], each.rule != HEADLINE, each.text, each.unit, each.rule)

    main = {order: min(same, key=rank) for order, same in itertools.groupby(sorted(counted), lambda each: each.order)}
    columns = tuple(sorted(main.values(), key=lambda each: (-counted[each], each.order)))
    variants = tuple(sorted(each for each in counted if each not in columns))
    names = sorted({name for name, workload in (*ours, *filled) if workload in columns}, key=newest_first)
    return Sheet(key, tuple(names), columns, variants, ours, filled, counted[columns[0]] if columns else 0)


# ---- for the template ----


@dataclass(frozen=True)
class SheetCell:
    """A figure: `times` is its multiple of the reference, `share` its percentage of the fastest of its column.

    `close` are the numbers of the rows that it is too close to call with, `disputed` those of rows that are far from it
    by the sustained throughput and not by another rule. A published figure has none of these.
    """

    text: str
    value: float
    page: str
    about: Text
    caution: Text = ""
    times: str = ""
    close: tuple[int, ...] = ()
    disputed: tuple[int, ...] = ()
    share: float = 0.0
    is_published: bool = False


@dataclass(frozen=True)
class SheetColumn:
    """A model in its main workload."""

    title: Text
    page: str
    about: Text
    unit: str


@dataclass(frozen=True)
class SheetRow:
    """A hardware; `watts` and `price` are what a file states of one device."""

    hardware: str
    name: Text
    group: Text
    page: str
    watts: float | None
    price: float | None
    cells: tuple[SheetCell | None, ...]


@dataclass(frozen=True)
class DrawnSheet:
    """A sheet as the page shows it; `reference_row` is the number of the row of the reference."""

    key: SheetKey
    about: tuple[Text, ...]
    reference: str
    reference_row: int
    columns: tuple[SheetColumn, ...]
    rows: tuple[SheetRow, ...]
    variants: Table | None

    @property
    def facets(self) -> Facets:
        """Its names and values for the chips; the reference may be any hardware with a figure of ours."""
        ours = [row.hardware for row in self.rows if any(each and not each.is_published for each in row.cells)]
        key = self.key
        facts = ("precision", key.group), ("devices", key.size), ("round", token(key.round))
        return (*facts, *((("reference", " ".join(map(token, ours))),) if ours else ()))


def drawn(site: Site, sheet: Sheet) -> DrawnSheet:
    """Return a sheet with the words and links of its cells."""
    key, columns, rows = sheet.key, list[SheetColumn](), list[SheetRow]()
    cells = [_cells(site, sheet, each, sheet.hardware) for each in sheet.columns]
    for each in sheet.columns:
        suite, about = site.shown[each.order], _workload_words(site, sheet, each)
        page = addresses.model_page(suite, devices=key.devices, precision=key.group)
        columns.append(SheetColumn(suite.title, page, about, each.unit))
    for at, name in enumerate(sheet.hardware):
        stated = site.accelerators.of(name)
        watts, price = (stated.watts, stated.price) if stated else (None, None)
        of_row = tuple(of_column[at] for of_column in cells)
        rows.append(SheetRow(name, product(name), group(name), page_of(site, name), watts, price, of_row))
    return DrawnSheet(
        key=key,
        about=(group_name(key.group), verdict_words.devices_on(key.devices, key.nodes), round_name(key.round)),
        reference=sheet.reference if any(name == sheet.reference for name, _ in sheet.ours) else "",
        reference_row=sheet.hardware.index(sheet.reference),
        columns=tuple(columns),
        rows=tuple(rows),
        variants=_variants(site, sheet),
    )


def round_name(name: str) -> Text:
    """Return the words for a round; without one, each hardware has its latest."""
    return phrase("hardware.in_round", round=name) if name else phrase("hardware.latest")


def page_of(site: Site, hardware: str) -> str:
    """Return the page of a hardware; where only others published figures, the front page with these."""
    known = hardware in site.hardware_slugs
    return addresses.hardware_page(site, hardware) if known else addresses.on_front_page(hardware)


def _workload_words(site: Site, sheet: Sheet, workload: SheetWorkload) -> Text:
    ours = (rows[0] for (_, each), rows in sheet.ours.items() if each == workload)
    theirs = (row for (_, each), row in sheet.theirs.items() if each == workload)
    row: Row | Published = next(itertools.chain[Row | Published](ours, theirs))
    summary = phrase("metric.summary") if workload.rule != HEADLINE else ""
    return listed((site.shown[workload.order].workload_words(row.model, row.options), summary))


def _cells(site: Site, sheet: Sheet, workload: SheetWorkload, hardware: Sequence[str]) -> list[SheetCell | None]:
    """Return the cells of a column, from the first hardware to the last."""
    best = {name: _latest(site, rows) for (name, each), rows in sheet.ours.items() if each == workload}
    most = max((row.value or 0 for row in best.values()), default=0)
    base = best[sheet.reference].value if sheet.reference in best else None
    figures = {name: found for name, row in best.items() if (found := measured(site.by_id, row, "throughput"))}

    def of_hardware(name: str) -> SheetCell | None:
        if (row := best.get(name)) is None:
            theirs = sheet.theirs.get((name, workload))
            return _published_cell(site, site.shown[workload.order], theirs) if theirs else None
        suite, value = site.shown[workload.order], row.value or 0
        against = [
            (at, contrast(figures[name], figures[other]))
            for at, other in enumerate(hardware)
            if other != name and other in figures
        ]
        return SheetCell(
            text=written(row),
            value=value,
            page=site.page(representative(site, row)),
            about=listed((*_size(row), how_measured(site, suite, row))),
            caution=listed((*answer_marks.cautions(site, suite, row), _faster(row, sheet.ours[name, workload]))),
            times=numbers.ratio(value / base) if base else "",
            close=tuple(at for at, found in against if found.grade == "close" and not found.is_disputed),
            disputed=tuple(at for at, found in against if found.is_disputed),
            share=100 * value / most,
        )

    return [of_hardware(name) for name in hardware]


def _published_cell(site: Site, suite: Suite, row: Published) -> SheetCell:
    source = site.published.sources[row.source]
    by, batch = phrase("hardware.published_by", source=source.title), verdict_words.batch(row.batch_size)
    about = listed((by, row.framework, batch, in_words(row.options)))
    page = source.address_of(row) or addresses.comparison(suite, row.hardware)
    return SheetCell(printed(row), row.value or 0, page, about, is_published=True)


def _latest(site: Site, rows: Sequence[Row]) -> Row:
    """Return the fastest result of the round with the newest run."""
    by_round = by_key(rows, lambda row: row.round or "")
    newest = max(by_round, key=lambda name: (max(day_of(site, row) for row in by_round[name]), natural(name)))
    return max(by_round[newest], key=lambda row: (row.value or 0, row.run_ids))


def _faster(row: Row, rows: Sequence[Row]) -> Text:
    """Name an earlier result that is faster; empty without one."""
    first = max(rows, key=lambda each: each.value or 0)
    if (first.value or 0) <= (row.value or 0):
        return ""
    return phrase("hardware.faster_before", figure=written(first), unit=first.unit, round=first.round or "–")


def _size(row: Row) -> Iterable[Text]:
    """Yield the throughput per device, and the batch size."""
    devices = row.devices or 1
    if devices > 1:
        each = numbers.figure((row.value or 0) / devices, row.spread, (row.resolution or 0.0) / devices)
        yield phrase("hardware.each", figure=each)
    yield verdict_words.batch(row.batch_size)


def _variants(site: Site, sheet: Sheet) -> Table | None:
    """Return a row for each workload that has no column, with its figure on each hardware."""

    def model(workload: SheetWorkload) -> Cell:
        suite = site.shown[workload.order]
        return cell(suite.title, addresses.model_page(suite))

    def figures(workload: SheetWorkload) -> Cell:
        names = sorted({name for name, each in (*sheet.ours, *sheet.theirs) if each == workload}, key=newest_first)
        cells = zip(names, _cells(site, sheet, workload, names), strict=True)
        return Cell(tuple(Entry(each.text, each.page, (workload.unit, product(name))) for name, each in cells if each))

    columns = (
        ColumnOf(phrase("table.model"), model),
        ColumnOf[SheetWorkload](phrase("hardware.workload"), lambda each: _workload_words(site, sheet, each)),
        ColumnOf(phrase("table.figure"), figures),
    )
    return table_of("variants", sheet.variants, columns)
