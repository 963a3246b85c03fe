"""Read a telemetry file as samples. Its content decides the format, not its name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np

from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import QUANTITIES, Faults, Recording, SampleBlock, TelemetryFormat
from perfledger.parsers.engine import detect
from perfledger.parsers.engine.clock import DATELESS_BEFORE, unwrapped
from perfledger.parsers.engine.registry import telemetry_formats
from perfledger.parsers.engine.scan import Noise, ScanError, check, chunks, clean, open_log

#: Bytes at the beginning of a file that are searched for the markers of formats.
FIRST = 1 << 13
#: Bytes at the beginning of a file with a marker that must be of its format.
HEAD = 1 << 16
#: Bytes at the end of such a file that must be of its format.
TAIL = 1 << 16


def claimant(path: Path) -> str:
    """Return the id of the format of a file, from its first and last lines; "" if it has none.

    A file is a log, not telemetry, if a format of training logs reads one of its lines.
    """
    noise = Noise()
    try:
        if not (marked := _marked(path)):
            return ""
        ends = list(islice(chunks(path, noise, HEAD), 1))
        if noise.binary or noise.cut_lines:
            return ""
        ends += _tail(path, ends[0].bytes)
    except (ScanError, OSError):
        return ""
    text = b"\n".join(each.text for each in ends)
    found = [each.id for each in marked if each.claims(text)]
    return found[0] if len(found) == 1 and not detect.claims(ends) else ""


def unread_samples(path: Path, *, named: bool = False) -> int:
    """Return the number of the first line that looks like a sample, in a file that no format claims, else 0.

    Such lines are rows of nvidia-smi without a header, and rows of `dcgmi dmon`. Most of the first lines must look like
    this, since a log may contain a few such lines. Rows of bare numbers, as `nounits` prints them, count only if `named`
    is true: the name of the file says that it is telemetry.
    """
    try:
        check(path)
        with open_log(path) as stream:
            lines = stream.read(FIRST).splitlines()
    except (ScanError, OSError):
        return 0
    found = [number for number, line in enumerate(lines, 1) if _SAMPLE.match(line) or (named and _ROW.fullmatch(line))]
    return found[0] if found and 2 * len(found) > sum(map(bool, lines)) else 0


_VALUE = rb" *+[0-9.]++ (?:MiB|%|W|MHz) *+"
_SAMPLE = re.compile(
    rb"(?:[^,\n]*+,)+?"
    + _VALUE
    + rb"(?:,|\r?\Z)|"
    + _VALUE
    + rb",|#? ?Entity  |GPU [0-9]++ ++[0-9.]++ ++(?:N/A|[0-9.]++)(?:\s|\Z)"
)
_ROW = re.compile(rb"[0-9][0-9./: -]*+(?:,[0-9./: -]++)++\r?")


def _marked(path: Path) -> list[TelemetryFormat]:
    """Return the formats whose markers the first lines of a file contain; for nearly all logs the list is empty."""
    check(path)
    with open_log(path) as stream:
        first = stream.read(FIRST)
    return [each for each in telemetry_formats() if any(mark in first for mark in each.markers)]


def _tail(path: Path, seen: int) -> list[Chunk]:
    """Return the last whole lines of a file, if they were not seen yet."""
    with open_log(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size <= seen:
            return []
        stream.seek(max(seen - 1, size - TAIL))
        data = stream.read(TAIL).partition(b"\n")[2]
    return list(clean(iter([(data, 0, 0, 0)]), Noise()))


def read_telemetry(path: Path, format: TelemetryFormat) -> Recording:
    """Read all samples of a file.

    Raises:
        ScanError: the path is not a readable, non-empty, regular file.
    """
    faults = Faults()
    found = list(format.blocks(chunks(path, Noise()), faults))
    return recording(format, found, faults)


def recording(format: TelemetryFormat, blocks: Iterable[SampleBlock], faults: Faults) -> Recording:
    """Join blocks to one recording. Devices are distinguished only if every row names its device."""
    found = list(blocks)
    time = np.concatenate([each.time for each in found]) if found else np.empty(0)
    named = bool(found) and all(each.devices is not None for each in found)
    names = [name for each in found for name in each.devices or ()] if named else []
    devices = tuple(dict.fromkeys(names))
    index = {name: at for at, name in enumerate(devices)}
    device = np.array([index[each] for each in names], dtype=np.intp) if named else np.zeros(len(time), dtype=np.intp)
    values = {
        quantity: np.concatenate([each.values.get(quantity, np.full(len(each.time), np.nan)) for each in found])
        for quantity in QUANTITIES
        if any(quantity in each.values for each in found)
    }
    dated = bool(np.isfinite(time).any()) and float(np.nanmin(time)) >= DATELESS_BEFORE
    return Recording(format, time if dated else unwrapped(time), device, devices, values, dated, faults.all())
