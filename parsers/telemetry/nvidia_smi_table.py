"""`nvidia-smi` by itself: a table per call, appended to a file by a loop or by `-l`, with the date above each.

Training logs contain such tables too, so a file is claimed only if all its lines belong to tables. A GPU takes two
lines of a table; drivers 530 and 550 widened the columns. The rows of MIG instances and processes below are parts of
the GPU's own rows. Power and utilisation are whole numbers of one moment.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import Faults, SampleBlock, TelemetryFormat
from perfledger.parsers.engine import cells

_DAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ++(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ++(?P<day>[0-9]{1,2})"
_DATE = re.compile(_DAY + rb" (?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?: (?!AM|PM)[A-Z]{2,5})? (?P<year>[0-9]{4})\s*+")
_TITLE = re.compile(rb"\| NVIDIA-SMI [0-9.]++ ")
_BUS = rb"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]"
_NAME = re.compile(rb"\| {1,4}(?P<index>[0-9]{1,3}) {2}[^|\n]*+\| ++" + _BUS + rb" [^|\n]*+\|[^|\n]*+\|\s*+")
_CELLS = re.compile(rb"\|(?P<first>[^|\n]*+)\|(?P<memory>[^|\n]*+)\|(?P<use>[^|\n]*+)\|\s*+")
_STATE = re.compile(rb" *+(?:\S++) ++(?P<temperature>\S++) ++(?P<perf>\S++) ++(?P<power>\S++) */ *(?P<limit>\S++) *+")
_MEMORY = re.compile(rb" *+(?P<used>\S++) */ *(?P<total>\S++) *+")
_USE = re.compile(rb" *+(?P<use>N/A|ERR!|[0-9]++%) ++\S[^|\n]*+")
#: All other lines of such a file, without most lines that begin with a `+`, since `set -x` prints such into logs.
_FRAME = re.compile(
    rb"\|[^\n]*[|+]\s*$|\+[-=+]++\s*$|Every [0-9.]++s: |"
    rb"Unable to determine the device handle|NVIDIA-SMI has failed|No devices were found"
)
_QUANTITIES = ("temperature", "power", "power_limit", "memory_used", "memory_total", "utilisation")
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")


def _claims(text: bytes) -> bool:
    """Return whether all lines belong to tables of nvidia-smi."""
    lines = [each for each in text.splitlines() if each.strip()]
    # The last line of a file may be cut.
    whole = lines[:-1] or lines
    return any(map(_TITLE.match, lines)) and all(_DATE.match(each) or _FRAME.match(each) for each in whole)


@dataclass
class _OpenBlock:
    """Samples of a chunk that are not yet columns."""

    lines: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    rows: list[Sequence[bytes]] = field(default_factory=list)


def _blocks(chunks: Iterable[Chunk], faults: Faults) -> Iterator[SampleBlock]:
    clock, name = float("nan"), b""
    dated = False
    for chunk in chunks:
        waiting = _OpenBlock()
        for number, line in enumerate(chunk.text.split(b"\n"), chunk.first_line):
            # The figures of a GPU are on the line after its name, and only there.
            if name:
                _sample(waiting, faults, number, name, clock, line)
                name = b""
            elif found := _NAME.fullmatch(line):
                name = found["index"]
            elif found := _DATE.match(line):
                clock, dated = _seconds(found), True
            elif _TITLE.match(line):
                # A table without a date does not have that of the table before it.
                clock, dated = (clock if dated else float("nan")), False
        yield from _block(waiting, faults)


def _sample(waiting: _OpenBlock, faults: Faults, number: int, name: bytes, clock: float, line: bytes) -> None:
    parts = _CELLS.fullmatch(line)
    state = _STATE.fullmatch(parts["first"]) if parts else None
    memory = _MEMORY.fullmatch(parts["memory"]) if parts else None
    if not parts or not state or not memory:
        faults.add("lines", number, line)
        return
    use = _USE.fullmatch(parts["use"])
    waiting.lines.append(number)
    waiting.times.append(clock)
    waiting.devices.append(name.decode())
    waiting.rows.append(
        (state["temperature"], state["power"], state["limit"], *memory.groups(), use["use"] if use else b"")
    )


def _block(waiting: _OpenBlock, faults: Faults) -> Iterator[SampleBlock]:
    if not waiting.rows:
        return
    columns = zip(*waiting.rows, strict=True)
    values = {
        name: cells.values(name, column, waiting.lines, faults)
        for name, column in zip(_QUANTITIES, columns, strict=True)
    }
    yield SampleBlock(np.array(waiting.times), waiting.devices, values)


def _seconds(found: re.Match[bytes]) -> float:
    """Convert the date above a table to seconds since 1970; NaN if the day does not exist."""
    hour, minute, second = map(int, found["time"].split(b":"))
    try:
        at = dt.datetime(int(found["year"]), _MONTHS.index(found["month"]) + 1, int(found["day"]), hour, minute, second)
    except ValueError:
        return float("nan")
    return at.replace(tzinfo=dt.UTC).timestamp()


FORMAT = TelemetryFormat(title="nvidia-smi", markers=(b"| NVIDIA-SMI ",), claims=_claims, blocks=_blocks)
