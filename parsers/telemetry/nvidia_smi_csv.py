"""`nvidia-smi --query-gpu=... --format=csv`, with any columns in any order, once or in a loop, appended or not.

`nounits` leaves the units in the header and removes them from the rows. A file written in several goes repeats its
header, perhaps with other columns. Without `index`, `uuid` or a bus id nothing says which of several GPUs a row is of.
Every row has a time of its own, in the time zone of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from perfledger.parsers.contract.telemetry import QUANTITIES
from perfledger.parsers.engine.rows import Dialect, Header, rows_format

#: Quantity to its columns, the best first. Source: `nvidia-smi --help-query-gpu`.
COLUMNS = {
    "memory_used": ("memory.used",),
    "memory_total": ("memory.total",),
    "utilisation": ("utilization.gpu",),
    "memory_utilisation": ("utilization.memory",),
    "power": ("power.draw", "power.draw.average", "power.draw.instant"),
    "power_limit": ("enforced.power.limit", "power.limit"),
    "temperature": ("temperature.gpu",),
    "memory_temperature": ("temperature.memory",),
    "sm_clock": ("clocks.sm", "clocks.current.sm"),
    "graphics_clock": ("clocks.gr", "clocks.current.graphics"),
    "memory_clock": ("clocks.mem", "clocks.current.memory"),
}
_INDEX = ("index", "pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid")
#: Columns that other tools add in front when they collect the files of several machines.
_HOST = ("hostname", "host", "node")
_CELL = rb" *+[a-z][a-z0-9_.]*+(?: \[[A-Za-z%]++\])? *+"
_HEADER = re.compile(_CELL + rb"(?:," + _CELL + rb")*+\r?")
_PASSED = re.compile(rb"Unable to determine the device handle|NVIDIA-SMI has failed|No devices were found")


def header(line: bytes) -> Header | None:
    """Return the columns that a line names; None if it does not name a quantity."""
    if not line[:2].strip()[:1].islower() or not _HEADER.fullmatch(line):
        return None
    names = tuple(each.strip().decode() for each in line.split(b","))
    bare = [each.partition(" [")[0] for each in names]
    units = [each.partition(" [")[2].rstrip("]") for each in names]
    found = {quantity: at for quantity, spelled in COLUMNS.items() if (at := _first(bare, spelled)) is not None}
    if not found:
        return None
    quantities = {name: at for name, at in found.items() if units[at] in ("", QUANTITIES[name].unit)}
    devices = [at for at in (_first(bare, _HOST), _first(bare, _INDEX)) if at is not None]
    named = _first(bare, _INDEX) is not None
    time = _first(bare, ("timestamp",))
    refused = tuple(names[at] for name, at in found.items() if name not in quantities)
    return Header(names, quantities, tuple(devices) if named else (), () if time is None else (time,), refused)


def _first(names: list[str], wanted: Iterable[str]) -> int | None:
    return next((names.index(each) for each in wanted if each in names), None)


def _split(line: bytes) -> list[bytes]:
    return line.split(b",")


def _passed(line: bytes) -> bool:
    return line[:1] in b"UN" and bool(_PASSED.match(line))


_MARKERS = (b"memory.", b"utilization.", b"power.draw", b"temperature.", b"clocks.")
FORMAT = rows_format(Dialect(_split, header, _passed), title="nvidia-smi --query-gpu --format=csv", markers=_MARKERS)
