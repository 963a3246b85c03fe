"""Perfledger's own sampler of a machine: load, use of processors, memory and disks, one row per second.

All values are of the whole machine, including other programs. The load is a mean that trails by a minute, so it
includes what ran before the start. Processor use is of all processors together: one busy thread of four is 25 %. Files
without disks are older. The clock is UTC, whatever the time zone of the log.
"""

from __future__ import annotations

import re

from perfledger.parsers.engine.rows import Dialect, Header, rows_format

COLUMNS = {
    "load_1m": "load",
    "cpu_percent": "cpu",
    "memory_used_mib": "host_memory_used",
    "memory_total_mib": "host_memory_total",
    "disk_read_mib_s": "disk_read",
    "disk_written_mib_s": "disk_written",
}
_NAMES = ("timestamp", *COLUMNS)
#: Columns of every version of the sampler.
_FIRST = _NAMES[:5]
_STAMP = re.compile(rb"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})Z")


def header(line: bytes) -> Header | None:
    """Return the columns, if the line is the one that names them."""
    names = tuple(line.strip().decode("ascii", "replace").split(","))
    if names not in (_FIRST, _NAMES):
        return None
    return Header(names, {COLUMNS[name]: at for at, name in enumerate(names) if name in COLUMNS}, time=(0,))


def split(line: bytes) -> list[bytes]:
    """Return the cells of a row, with its clock as the other printers write theirs."""
    clock, *cells = line.split(b",")
    found = _STAMP.fullmatch(clock.strip())
    return [b" ".join(found.groups()) if found else clock, *cells]


FORMAT = rows_format(
    Dialect(split, header),
    title="Perfledger host",
    markers=(",".join(_FIRST).encode(),),
    host=True,
)
