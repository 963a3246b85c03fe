"""Perfledger's own sampler of a machine without accelerators: load, processor use and memory, one row per second.

All values are of the whole machine, including other programs. The load is a mean that trails by a minute, so it
includes what ran before the start. Processor use is of all processors together: one busy thread of four is 25 %. The
clock is UTC, whatever the time zone of the log.
"""

from __future__ import annotations

import re

from parsers.engine.rows import Dialect, Header, rows_format

COLUMNS = {
    "load_1m": "load",
    "cpu_percent": "cpu",
    "memory_used_mib": "host_memory_used",
    "memory_total_mib": "host_memory_total",
}
_NAMES = ("timestamp", *COLUMNS)
_STAMP = re.compile(rb"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})Z")


def header(line: bytes) -> Header | None:
    """Return the columns, if the line is the one that names them."""
    if line.strip() != ",".join(_NAMES).encode():
        return None
    return Header(_NAMES, {COLUMNS[name]: at for at, name in enumerate(_NAMES) if name in COLUMNS}, time=(0,))


def _split(line: bytes) -> list[bytes]:
    """Return the cells of a row, with its clock as the other printers write theirs."""
    clock, *cells = line.split(b",")
    found = _STAMP.fullmatch(clock.strip())
    return [b" ".join(found.groups()) if found else clock, *cells]


FORMAT = rows_format(
    Dialect(_split, header),
    title="Perfledger, of a machine (CPU)",
    markers=(",".join(_NAMES).encode(),),
    host=True,
)
