"""A file beside a log to its samples; which printer made it is told by its content, never by its name."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from parsers import telemetry
from parsers.engine import detect
from parsers.engine.clock import DATELESS_BEFORE, unwrapped
from parsers.engine.scan import Chunk, Noise, ScanError, check, chunks, clean, open_log
from parsers.telemetry.contract import QUANTITIES, Block, Faults, Printer, Recording

FIRST, HEAD, TAIL = 1 << 13, 1 << 16, 1 << 16
_PACKED = frozenset({".gz", ".zst"})


@cache
def printers() -> tuple[Printer, ...]:
    """All printers, by id."""
    names = sorted(each.name for each in pkgutil.iter_modules(telemetry.__path__))
    modules = [(name, importlib.import_module(f"parsers.telemetry.{name}")) for name in names]
    return tuple(
        replace(module.PRINTER, id=name, doc=module.__doc__ or "")
        for name, module in modules
        if isinstance(getattr(module, "PRINTER", None), Printer)
    )


def by_id(identifier: str) -> Printer:
    """The printer of that id; KeyError if there is none."""
    return {each.id: each for each in printers()}[identifier]


def claimant(path: Path) -> str:
    """Id of the printer that made a file, from its first and last lines; "" if none did.

    A file of which a format of training logs reads a line is a log, whatever else stands in it.
    """
    noise = Noise()
    try:
        if not (asked := _marked(path)):
            return ""
        ends = list(islice(chunks(path, noise, HEAD), 1))
        if noise.binary or noise.cut_lines:
            return ""
        ends += _tail(path, ends[0].bytes)
    except (ScanError, OSError):
        return ""
    text = b"\n".join(each.text for each in ends)
    found = [each.id for each in asked if each.claims(text)]
    return found[0] if len(found) == 1 and not detect.claims(ends) else ""


def _marked(path: Path) -> list[Printer]:
    """Printers that a file may be of, by its very first lines as they lie there: of nearly all logs, none."""
    check(path)
    try:
        with open_log(path) as stream:
            first = stream.read(FIRST)
    except (EOFError, zlib.error):
        return []
    return [each for each in printers() if any(mark in first for mark in each.markers)]


def _tail(path: Path, seen: int) -> list[Chunk]:
    """The last whole lines of a file, if they were not seen yet and it can be read from behind."""
    size = path.stat().st_size
    if path.suffix in _PACKED or size <= seen:
        return []
    with open_log(path) as stream:
        stream.seek(max(seen - 1, size - TAIL))
        data = stream.read(TAIL).partition(b"\n")[2]
    return list(clean(iter([(data, 0, 0, 0)]), Noise()))


def read(path: Path, printer: Printer) -> Recording:
    """All samples of a file.

    Raises:
        ScanError: the path is no readable, non-empty, regular file.
    """
    faults = Faults()
    found = list(printer.blocks(chunks(path, Noise()), faults))
    return recording(printer, found, faults)


def recording(printer: Printer, blocks: Iterable[Block], faults: Faults) -> Recording:
    """Blocks to one recording. Only where every row names its device are devices told apart."""
    import numpy as np

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
    ids = {name: one for each in found for name, one in each.ids.items()}
    dated = bool(np.isfinite(time).any()) and float(np.nanmin(time)) >= DATELESS_BEFORE
    return Recording(printer, time if dated else unwrapped(time), device, devices, ids, values, dated, faults.all())
