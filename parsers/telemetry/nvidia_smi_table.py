"""`nvidia-smi` by itself: a table per call, appended to a file by a loop or by `-l`, with the date above each.

Training logs contain such tables too, so a file is claimed only if all its lines belong to tables. A GPU takes two
lines of a table; drivers 530 and 550 widened the columns. The rows of MIG instances and processes below are parts of
the GPU's own rows. Power and utilisation are whole numbers of one moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import Faults, SampleBlock, TelemetryFormat
from perfledger.parsers.engine.rows import Header, OpenRows, block

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
_HEADER = Header(
    ("timestamp", "device", *_QUANTITIES), {name: at for at, name in enumerate(_QUANTITIES, 2)}, devices=(1,), time=(0,)
)
#: The time of a table without a date.
_UNKNOWN = b"N/A"
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")


def _claims(text: bytes) -> bool:
    """Return whether all lines belong to tables of nvidia-smi."""
    lines = [each for each in text.splitlines() if each.strip()]
    # The last line of a file may be cut.
    whole = lines[:-1] or lines
    return any(map(_TITLE.match, lines)) and all(_DATE.match(each) or _FRAME.match(each) for each in whole)


def _blocks(chunks: Iterable[Chunk], faults: Faults) -> Iterator[SampleBlock]:
    clock, name = _UNKNOWN, b""
    dated = False
    for chunk in chunks:
        waiting = OpenRows(_HEADER)
        for number, line in enumerate(chunk.text.split(b"\n"), chunk.first_line):
            # The figures of a GPU are on the line after its name, and only there.
            if name:
                if row := _row(line):
                    waiting.add(number, [clock, name, *row])
                else:
                    faults.add("lines", number, line)
                name = b""
            elif found := _NAME.fullmatch(line):
                name = found["index"]
            elif found := _DATE.match(line):
                clock, dated = _stamp(found), True
            elif _TITLE.match(line):
                # A table without a date does not have that of the table before it.
                clock, dated = (clock if dated else _UNKNOWN), False
        yield from block(waiting, faults)


def _row(line: bytes) -> list[bytes]:
    """Return the cells of a GPU's second line; an empty list for another line."""
    parts = _CELLS.fullmatch(line)
    state = _STATE.fullmatch(parts["first"]) if parts else None
    memory = _MEMORY.fullmatch(parts["memory"]) if parts else None
    if not parts or not state or not memory:
        return []
    use = _USE.fullmatch(parts["use"])
    return [state["temperature"], state["power"], state["limit"], *memory.groups(), use["use"] if use else b""]


def _stamp(found: re.Match[bytes]) -> bytes:
    """Return the date above a table as other printers write theirs."""
    month = _MONTHS.index(found["month"]) + 1
    return b"%s/%02d/%02d %s" % (found["year"], month, int(found["day"]), found["time"])


FORMAT = TelemetryFormat(title="nvidia-smi", markers=(b"| NVIDIA-SMI ",), claims=_claims, blocks=_blocks)
