"""Tables of the machines and the software of some runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import image_of
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Suite, framework_of, hardware_of, named, ordered
from perfledger.ingest.site.render.table import Cell, Entry, Table, absent
from perfledger.ingest.site.run_tables import ENVIRONMENT, packages, source_of, value_text
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.schema.records import Run

ENOUGH = 6  # distinct values of one item that a cell lists


def machines(runs: Sequence[Run]) -> Table | None:
    """Return the machines of the runs: a column per hardware, with its distinct values."""
    items = [item for item in ENVIRONMENT if any(run.environment.get(item) is not None for run in runs)]
    columns = [ColumnOf[str](phrase("table.item"), lambda item: phrase(f"environment.{item}"))]
    columns += [_machine(hardware, of) for hardware, of in sorted(by_key(runs, hardware_of).items())]
    return table_of("machines", items, columns)


def _machine(hardware: str, runs: Sequence[Run]) -> ColumnOf[str]:
    return ColumnOf(product(hardware), lambda item: _distinct(run.environment.get(item) for run in runs))


def _distinct(values: Iterable[object]) -> str:
    found = sorted({value_text(each) for each in values if each is not None})
    return "; ".join(found[:ENOUGH]) + ("; …" if len(found) > ENOUGH else "")


def software(suite: Suite, runs: Sequence[Run]) -> Table | None:
    """Return versions of packages, images and sources per framework."""
    by_framework = by_key(runs, framework_of)
    columns = [
        ColumnOf[str](phrase("table.framework"), lambda each: named(each)),
        ColumnOf(phrase("table.software"), lambda each: _listed(_stated(each, by_framework[each]))),
        ColumnOf(phrase("run.source"), lambda each: _listed({source_of(run) for run in by_framework[each]})),
    ]
    return table_of("software", ordered(by_framework, suite.frameworks), columns)


def _stated(framework: str, runs: Sequence[Run]) -> set[str]:
    """Return the packages, the framework's version and the images that some runs state."""
    installed = {f"{name} {version}" for run in runs for name, version in packages(run).items()}
    versions = {run.facts["framework_version"].value for run in runs if "framework_version" in run.facts}
    return {*installed, *(f"{framework} {each}" for each in versions if each), *filter(None, map(image_of, runs))}


def _listed(found: Iterable[Text | None]) -> Cell:
    known = sorted({each for each in found if each}, key=repr)
    return Cell(tuple(map(Entry, known))) if known else absent(phrase("site.unknown"))
