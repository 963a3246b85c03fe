"""The contract between a format of telemetry and everything that uses it.

A format quotes samples: a time, a device, and the values of its quantities. It does not average them or assign them to runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from perfledger.parsers.contract import Column, Indices
from perfledger.parsers.contract.chunk import Chunk


class Quantity(NamedTuple):
    """Unit of a quantity, and a limit above every device's value: a larger value was garbled."""

    unit: str
    most: float


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "memory_used": Quantity("MiB", 1e7),
        "memory_total": Quantity("MiB", 1e7),
        "utilisation": Quantity("%", 100.0),
        "memory_utilisation": Quantity("%", 100.0),
        "power": Quantity("W", 1e5),
        "power_limit": Quantity("W", 1e5),
        "temperature": Quantity("C", 200.0),
        "memory_temperature": Quantity("C", 200.0),
        "sm_clock": Quantity("MHz", 1e4),
        "graphics_clock": Quantity("MHz", 1e4),
        "memory_clock": Quantity("MHz", 1e5),
        # Quantities of the machine, not of a device.
        "load": Quantity("", 1e6),
        "cpu": Quantity("%", 100.0),
        "host_memory_used": Quantity("MiB", 1e9),
        "host_memory_total": Quantity("MiB", 1e9),
        "disk_read": Quantity("MiB/s", 1e6),
        "disk_written": Quantity("MiB/s", 1e6),
    }
)


@dataclass(frozen=True)
class SampleBlock:
    """A stretch of n samples in file order.

    Attributes:
        time: n float64, seconds since 1970 by the host's clock, NaN if the time was not printed.
        devices: n names, or None if the printer does not name devices.
        values: quantity to n float64 in its unit, NaN if the printer does not know the value.
    """

    time: Column
    devices: Sequence[str] | None
    values: Mapping[str, Column]


@dataclass(frozen=True)
class Fault:
    """Values or lines that could not be read: the first one, and their count.

    Attributes:
        code: `values` for cells that no device can have, `lines` for lines that are not samples.
        line: line number of the first.
        count: number of such values or lines.
        column: name of the first value's column in the file.
        printed: text of the first.
    """

    code: str
    line: int
    count: int
    column: str
    printed: str


class Faults:
    """The faults found so far: the first of each kind, and their count."""

    def __init__(self) -> None:
        self._first: dict[str, Fault] = {}

    def add(self, code: str, line: int, printed: bytes, column: str = "") -> None:
        """Count a fault, and quote it if it is the first of its kind in the file."""
        known = self._first.get(code)
        if known and known.line <= line:
            self._first[code] = replace(known, count=known.count + 1)
            return
        shown = printed[:80].decode("utf-8", "replace").strip()
        self._first[code] = Fault(code, line, known.count + 1 if known else 1, column, shown)

    def all(self) -> tuple[Fault, ...]:
        """Return all faults, by line."""
        return tuple(sorted(self._first.values(), key=lambda each: each.line))


@dataclass(frozen=True)
class TelemetryFormat:
    """The telemetry of one printer.

    Attributes:
        title: name of the printer on the pages.
        markers: texts; every file of the format contains one of them.
        claims: returns whether some whole lines are of the format; called only if they contain a marker.
        blocks: reads the chunks of a file.
        peaks: the numbers are already maxima over the run, so that only their maximum is meaningful.
        host: the samples are of the machine as a whole, not of its devices.
        id: name of the module, filled in by the registry.
        doc: the module's docstring, filled in by the registry.
    """

    title: str
    markers: tuple[bytes, ...]
    claims: Callable[[bytes], bool]
    blocks: Callable[[Iterable[Chunk], Faults], Iterator[SampleBlock]]
    peaks: bool = False
    host: bool = False
    id: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Recording:
    """All n samples of a file.

    Attributes:
        device: n indices into `devices`.
        devices: the names of the devices; empty if the printer does not name them.
        dated: whether the clock has a date; without a date only durations are known.
    """

    format: TelemetryFormat
    time: Column
    device: Indices
    devices: tuple[str, ...]
    values: Mapping[str, Column]
    dated: bool
    faults: tuple[Fault, ...]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.time)
