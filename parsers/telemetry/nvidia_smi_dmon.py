"""`nvidia-smi dmon`: a row per device and interval, under two lines of names and units that are repeated.

The columns depend on `-s` and on the driver, so they are found by name. MB under `fb` are MiB, as everywhere in NVML.
Without `-o DT` rows have no time, and with `-o T` no date. `pmon` looks alike and counts processes.
"""

from __future__ import annotations

from perfledger.parsers.engine.rows import Dialect, Header, rows_format

COLUMNS = {
    "pwr": "power",
    "gtemp": "temperature",
    "temp": "temperature",
    "mtemp": "memory_temperature",
    "sm": "utilisation",
    "mem": "memory_utilisation",
    "fb": "memory_used",
    "mclk": "memory_clock",
    "pclk": "sm_clock",
}
_UNITS = {b"idx", b"#idx", b"yyyymmdd", b"#yyyymmdd", b"hh:mm:ss", b"#hh:mm:ss"}


def header(line: bytes) -> Header | None:
    """Return the columns of a line of names; None for any other line."""
    if line[:1] != b"#" or _is_units(line):
        return None
    names = tuple(each.decode("utf-8", "replace").lower() for each in _cells(line[1:]))
    if "gpu" not in names or "pid" in names:
        return None
    quantities: dict[str, int] = {}
    for at, name in enumerate(names):
        if name in COLUMNS:
            quantities.setdefault(COLUMNS[name], at)
    time = tuple(names.index(each) for each in ("date", "time") if each in names) if "time" in names else ()
    return Header(names, quantities, (names.index("gpu"),), time) if quantities else None


def _is_units(line: bytes) -> bool:
    return any(each.lower() in _UNITS for each in line.replace(b",", b" ").split())


def _cells(line: bytes) -> list[bytes]:
    """Split a line, also of `--format csv`; write its date as nvidia-smi's other clocks do."""
    found = line.replace(b",", b" ").split()
    if found and len(found[0]) == 8 and found[0].isdigit():
        found[0] = b"%s/%s/%s" % (found[0][:4], found[0][4:6], found[0][6:])
    return found


def _passed(line: bytes) -> bool:
    return line[:1] == b"#" and _is_units(line)


FORMAT = rows_format(
    Dialect(_cells, header, _passed),
    title="nvidia-smi dmon",
    markers=(b"# gpu", b"#gpu", b"#Date", b"# Date", b"#Time", b"# Time"),
)
