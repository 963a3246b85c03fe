"""Perfledger's own sampler of accelerators whose tool prints no rows, or whose maker's library can be imported.

A row per device and second with the values of the tool or the library; missing ones are `N/A`. The clock is UTC,
whatever the time zone of the log.
"""

from __future__ import annotations

from perfledger.parsers.engine.rows import Dialect, Header, rows_format
from perfledger.parsers.telemetry.host_csv import split

COLUMNS = {
    "power_w": "power",
    "utilisation_percent": "utilisation",
    "memory_used_mib": "memory_used",
    "memory_total_mib": "memory_total",
    "temperature_c": "temperature",
    "memory_temperature_c": "memory_temperature",
    "core_clock_mhz": "graphics_clock",
    "memory_clock_mhz": "memory_clock",
}
_NAMES = ("timestamp", "device", "name", *COLUMNS)
#: Column of NVIDIA's GPUs with the reasons for reduced clocks, as bits.
_REASONS = "slowdown_reasons"


def header(line: bytes) -> Header | None:
    """Return the columns, if the line is the one that names them."""
    names = tuple(line.strip().decode("ascii", "replace").split(","))
    if names not in (_NAMES, (*_NAMES, _REASONS)):
        return None
    quantities = {COLUMNS[name]: at for at, name in enumerate(names) if name in COLUMNS}
    return Header(names, quantities, devices=(1,), time=(0,))


FORMAT = rows_format(
    Dialect(split, header),
    title="Perfledger accelerator",
    markers=(",".join(_NAMES).encode(),),
)
