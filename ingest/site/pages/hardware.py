"""The page of each hardware over all models and frameworks: results and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site import addresses, hardware_tables, machines, verdict_words
from perfledger.ingest.site.chips import Chip, ChipGroup, Selection
from perfledger.ingest.site.data.measured import newest_day
from perfledger.ingest.site.hardware_names import group, newest_first, product, raw
from perfledger.ingest.site.hardware_tables import DrawnSheet, round_name
from perfledger.ingest.site.machine_tables import machines as machines_of
from perfledger.ingest.site.machines import Machine
from perfledger.ingest.site.model import Page, Site, framework_of, group_name, hardware_of, named
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.table import Cell, Link, Table, Value, cell
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.records import Run

SCRIPTS = (addresses.SITE_SCRIPT, "assets/js/hardware.js")
#: The name of a figure in the address, its name on the page, and what follows its unit.
Figure = tuple[str, Text, str]


def pages(site: Site) -> list[Page]:
    """Return the list of hardware, and a page for each of those with a run that counts."""
    names = sorted({hardware_of(run) for run in site.counted}, key=newest_first)
    described = phrase("nav.hardware"), phrase("describe.hardware_list")
    index = Page(
        addresses.HARDWARE, "hardware_list", *described, partial(_index, site, names), order=0, scripts=SCRIPTS,
        selection=partial(_selection, site),
    )  # fmt: skip
    return [index, *(_page(site, each, place) for place, each in enumerate(names, 1))]


# ---- all hardware ----


@dataclass(frozen=True)
class HardwareIndex:
    """The page of all hardware: what a reader chooses, the sheets, and the list.

    units: what follows a unit, by the name of each figure that a reader chooses.
    """

    sheets: tuple[DrawnSheet, ...]
    chips: tuple[ChipGroup, ...]
    units: tuple[tuple[str, str], ...]
    stated: tuple[Text, ...]
    hardware: Table | None


def _index(site: Site, names: Sequence[str]) -> HardwareIndex:
    found = site.once(hardware_tables.sheets)
    figures, stated = _power_and_prices(site, {name for each in found for name in each.hardware})
    return HardwareIndex(
        sheets=tuple(hardware_tables.drawn(site, each) for each in found),
        chips=tuple(_chips(found, figures)),
        units=tuple((name, unit) for name, _, unit in figures),
        stated=stated,
        hardware=_list(site, names),
    )


def _selection(site: Site) -> Selection | None:
    found = site.once(hardware_tables.sheets)
    if not found:
        return None
    first = found[0].key
    return Selection(".pl-sheet", {"precision": first.group, "devices": first.size, "round": first.round})


def _chips(found: Sequence[hardware_tables.Sheet], figures: Sequence[Figure]) -> Iterator[ChipGroup]:
    """Yield what names a sheet, the most important first; then its reference, and its figure."""
    keys = [each.key for each in found]
    sizes = sorted({(each.devices, each.nodes, each.size) for each in keys})
    named: dict[str, dict[Value, Text]] = {
        "table.precision": {each.group: group_name(each.group) for each in keys},
        "table.devices": {size: verdict_words.devices_on(devices, nodes) for devices, nodes, size in sizes},
        "glossary.round": {each: round_name(each) for each in sorted({each.round for each in keys})},
        "hardware.figure": {name: text for name, text, _ in figures},
    }
    *sheet, figure = (
        ChipGroup(key.rpartition(".")[2], phrase(key), tuple(Chip(*each) for each in values.items()), has_all=False)
        for key, values in named.items()
    )
    yield from sheet
    yield ChipGroup("reference", phrase("hardware.reference"), (), lists=_references(found), has_all=False)
    yield figure


def _references(found: Sequence[hardware_tables.Sheet]) -> tuple[tuple[Text, tuple[Chip, ...]], ...]:
    """Return hardware by generation, each with its number of models."""
    models = Counter(name for name, _ in {(name, each.order) for sheet in found for name, each in sheet.ours})
    by_group = groupby(sorted(models, key=newest_first), group)
    return tuple(
        (generation, tuple(Chip(each, product(each), models[each]) for each in names)) for generation, names in by_group
    )


def _power_and_prices(site: Site, names: set[str]) -> tuple[tuple[Figure, ...], tuple[Text, ...]]:
    """Return the figures that readers choose from, each with the end of its unit, and who states power and prices."""
    stated = [(name, each) for name in sorted(names, key=newest_first) if (each := site.accelerators.of(name))]
    currencies = {each.currency for _, each in stated if each.price}
    figures: list[Figure] = [("throughput", phrase("table.view_throughput"), "")]
    notes: list[Text] = []
    for name, each in stated:
        about = {"name": name, "date": each.date.isoformat()}
        if each.watts:
            watts = numbers.quantity(each.watts)
            notes.append(phrase("hardware.watts_of", watts=watts, source=each.watts_source, **about))
        if each.price:
            price = f"{numbers.quantity(each.price)} {each.currency or ''}"
            notes.append(phrase("hardware.price_of", price=price, source=each.price_source, **about))
    if any(each.watts for _, each in stated):
        figures.append(("watts", phrase("hardware.per_watt"), "/W"))
    if len(currencies) == 1:
        figures.append(("price", phrase("hardware.per_price"), f" / ({currencies.pop()}/h)"))
    return tuple(figures), tuple(notes)


def _list(site: Site, names: Sequence[str]) -> Table | None:
    """Return a row for each hardware: its runs, and how many figures others published."""
    printed = Counter(row.hardware for row in site.published.rows if row.value is not None and row.hardware)
    runs: Mapping[str, Sequence[Run]] = {**dict.fromkeys(printed, ()), **by_key(site.counted, hardware_of)}

    def name(each: str) -> Cell:
        return cell(product(each), hardware_tables.page_of(site, each), group(each))

    columns = (
        ColumnOf(phrase("table.hardware"), name),
        ColumnOf[str](phrase("nav.frameworks"), lambda each: listed(sorted({*map(framework_of, runs[each])}))),
        ColumnOf[str](
            phrase("nav.models"), lambda each: len({site.suite_of[run.id].id for run in runs[each]}) or None, True
        ),
        ColumnOf[str](phrase("nav.runs"), lambda each: len(runs[each]) or None, True),
        ColumnOf[str](phrase("hardware.last"), lambda each: newest_day(runs[each]), True),
        ColumnOf[str](phrase("table.published"), lambda each: printed[each] or None, True, "published", True),
    )
    return table_of("hardware", sorted({*names, *printed}, key=newest_first), columns)


# ---- one hardware ----


@dataclass(frozen=True)
class HardwarePage:
    """One hardware: its comparisons as on the front page, and its machines."""

    hardware: Text
    raw: str
    group: Text
    runs: int
    frameworks: tuple[Link, ...]
    machine: Machine
    chips: tuple[ChipGroup, ...]
    machines: Table | None


def _page(site: Site, hardware: str, order: int) -> Page:
    return Page(
        addresses.hardware_page(site, hardware),
        "hardware",
        product(hardware),
        phrase("describe.hardware", hardware=product(hardware)),
        partial(_hardware, site, hardware),
        order=order,
        scripts=machines.SCRIPTS,
        selection=lambda: machines.selection([_machine(site, hardware)]),
    )


def _hardware(site: Site, hardware: str) -> HardwarePage:
    runs = [run for run in site.counted if hardware_of(run) == hardware]
    names = sorted({framework_of(run) for run in runs}, key=str.casefold)
    machine = _machine(site, hardware)
    return HardwarePage(
        hardware=product(hardware),
        raw=raw(hardware),
        group=group(hardware),
        runs=len(runs),
        frameworks=tuple(Link(named(each), addresses.scorecard_page(site, each)) for each in names),
        machine=machine,
        chips=machines.chips([machine], [machine]) if machine.tables else (),
        machines=machines_of(runs),
    )


def _machine(site: Site, hardware: str) -> Machine:
    return next(each for each in site.once(machines.machines) if each.hardware == hardware)
