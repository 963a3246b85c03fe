"""What a run's page says of its telemetry: a table of figures with what each is taken over, and the files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from ingest.common import numbers
from ingest.common.words import TEMPLATES, Text, phrase
from ingest.site.render.table import Cell, Column, Table, absent, cell
from schema.records import Run, Telemetry

#: What readers look for first comes first.
ORDER = (
    "memory_peak_mib", "memory_mean_mib", "memory_total_mib", "utilisation_mean", "memory_utilisation_mean",
    "power_mean_w", "power_peak_w", "power_limit_w", "energy_j", "temperature_peak_c", "temperature_mean_c",
    "memory_temperature_peak_c", "sm_clock_mean_mhz", "graphics_clock_mean_mhz", "memory_clock_mean_mhz",
    "cpu_mean", "load_mean", "load_peak", "host_memory_peak_mib", "host_memory_mean_mib", "host_memory_total_mib",
)  # fmt: skip

_COUNTED = frozenset({"memory_peak_mib", "memory_total_mib", "host_memory_peak_mib", "host_memory_total_mib"})


def printers() -> list[Mapping[str, Any]]:
    """What telemetry is understood, as the modules that read it say, and in Chinese."""
    from parsers.telemetry.read import printers

    chinese = tomllib.loads((TEMPLATES / "formats.zh.toml").read_text("utf-8"))
    return [
        {"id": each.id, "title": each.title, "doc": each.doc, "said": {"zh": chinese[f"telemetry.{each.id}"]}}
        for each in printers()
    ]


def section(run: Run) -> Mapping[str, Any] | None:
    """The section's sentences and tables; None of a run beside which nothing was sampled."""
    found = run.telemetry
    if not found:
        return None
    return {"said": _said(found), "figures": figures(found), "files": files(found)}


def figures(found: Telemetry) -> Table | None:
    """Every figure that is there, with the same between first and last record where the clocks allow."""
    known = {key: value for key in ORDER if (value := getattr(found, key)) is not None}
    inner = found.window if found.part == "file" else None
    head = [Column(phrase("telemetry.quantity")), Column(phrase("table.value"), True)]
    head += [Column(phrase("telemetry.window"), True)] if inner else []
    head += [Column(phrase("telemetry.over")), Column(phrase("telemetry.printer"))]
    body = []
    for key, value in known.items():
        row = [cell(phrase(f"telemetry.{key}")), _figure_cell(key, value)]
        row += [_figure_cell(key, getattr(inner, key))] if inner else []
        row += [cell(phrase(f"telemetry.{found.scope[key]}")), cell(found.printers[key])]
        body.append(tuple(row))
    return Table(tuple(head), tuple(body)) if body else None


def _figure(key: str, value: float) -> str:
    """Memory is counted exactly; what is a mean is not known more finely than its samples."""
    return numbers.grouped(value, 0) if key in _COUNTED else numbers.figure(value)


def _figure_cell(key: str, value: float | None) -> Cell:
    return absent(None) if value is None else cell(_figure(key, value), value=value)


def files(found: Telemetry) -> Table:
    """The files, who made them, and their bytes."""
    head = (Column(phrase("telemetry.file")), Column(phrase("telemetry.printer")), Column(phrase("run.sha256")))
    body = tuple((cell(each.path), cell(each.printer), cell(each.sha256)) for each in found.files)
    return Table(head, body)


def _said(found: Telemetry) -> list[Text]:
    if not found.scope:
        return [phrase("telemetry.none_used")]
    if found.samples is None:
        return [phrase("telemetry.maximum")]
    said: list[Text] = [phrase(f"telemetry.intro_{found.part}"), _devices(found), _span(found, found.samples)]
    why = found.absent.get("energy_j")
    return [*said, phrase(f"telemetry.no_energy_{why}")] if why else said


def _devices(found: Telemetry) -> Text:
    if all(each.endswith("_of_host") for each in found.scope.values()):
        return phrase("telemetry.host")
    sampled, whole = found.devices, found.devices_of_job
    if sampled is None:
        return phrase("telemetry.devices_unnamed")
    if whole and whole > sampled:
        return phrase("telemetry.devices_some", n=sampled, all=whole)
    return phrase("telemetry.devices", n=sampled)


def _span(found: Telemetry, count: int) -> Text:
    samples = numbers.count(count)
    if found.first is None or found.last is None:
        return phrase("telemetry.undated", samples=samples)
    clock = {"first": found.first.replace("T", " "), "last": found.last.replace("T", " ")}
    return phrase("telemetry.span", samples=samples, seconds=numbers.seconds(found.seconds), **clock)
