"""Perfledger's own sampler of accelerators whose tool prints no rows: GPUs of AMD, NPUs of Ascend, and others.

A row per device and second, as the maker's tool states it; what that does not tell is `N/A`. The clock is UTC,
whatever the time zone of the log.
"""

from __future__ import annotations

from parsers.engine.rows import Dialect, Header, rows_format
from parsers.telemetry.host_csv import split

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


def header(line: bytes) -> Header | None:
    """Return the columns, if the line is the one that names them."""
    if line.strip() != ",".join(_NAMES).encode():
        return None
    quantities = {COLUMNS[name]: at for at, name in enumerate(_NAMES) if name in COLUMNS}
    return Header(_NAMES, quantities, devices=(1,), time=(0,))


FORMAT = rows_format(
    Dialect(split, header),
    title="Perfledger, of accelerators",
    markers=(",".join(_NAMES).encode(),),
)
