"""Peaks of devices by their vendors, as `peaks.toml` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from perfledger.ingest.common.toml_file import read
from perfledger.schema.vocabulary import PRECISIONS

#: Hardware that is a part of a GPU, by MIG.
SLICE = re.compile(r"\bMIG\b", re.IGNORECASE)
PEAKS = Path(__file__).resolve().parent / "peaks.toml"


def peak_of(hardware: str | None, precision: str | None) -> float | None:
    """Return the vendor's dense peak of a device in TFLOP/s for a precision; None if the table does not list it.

    It lists no slices of GPUs.
    """
    if not hardware or not precision or SLICE.search(hardware):
        return None
    name = _listed(hardware, _peaks())
    return _peaks()[name].get(precision) if name else None


def has_tf32(hardware: str) -> bool:
    """Return whether a device is listed as one whose matrix units have TF32."""
    return _listed(hardware, _tables().tf32["devices"]) is not None


def _listed(hardware: str, names: Iterable[str]) -> str | None:
    """Return the longest listed name whose words begin the name of the device, or None."""
    folded = hardware.lower().replace(" ", "-")
    found = [name for name in names if folded == name or folded.startswith(f"{name}-")]
    return max(found, key=len, default=None)


def highest_peak(precision: str) -> float | None:
    """Return the highest peak of any listed device for a precision in TFLOP/s; None if none has units for it."""
    return max((each[precision] for each in _peaks().values() if precision in each), default=None)


@cache
def _peaks() -> Mapping[str, Mapping[str, float]]:
    kinds = {precision: each.peak or each.group for precision, each in PRECISIONS.items()}
    return {
        name: {precision: each[kind] for precision, kind in kinds.items() if kind in each}
        for name, each in _tables().peak.items()
    }


class _Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of peaks.toml."""

    peak: dict[str, dict[str, float]]
    tf32: dict[str, tuple[str, ...]]


@cache
def _tables() -> _Tables:
    return read(PEAKS, _Tables).data
