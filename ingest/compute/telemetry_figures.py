"""From samples of devices to figures of a run: peaks, means and energy.

A peak is the largest sample of any device; a mean is that of every device first, then of the devices; energy is a sum.
Figures that the samples do not allow are absent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from perfledger.ingest.common.numbers import shortened
from perfledger.parsers.contract import Column
from perfledger.parsers.contract.telemetry import Recording
from perfledger.schema.machine import Sampled

PEAKS: Mapping[str, str] = {
    "memory_peak_mib": "memory_used",
    "memory_total_mib": "memory_total",
    "power_peak_w": "power",
    "power_limit_w": "power_limit",
    "temperature_peak_c": "temperature",
    "memory_temperature_peak_c": "memory_temperature",
    "host_memory_peak_mib": "host_memory_used",
    "host_memory_total_mib": "host_memory_total",
    "load_peak": "load",
}
MEANS: Mapping[str, str] = {
    "memory_mean_mib": "memory_used",
    "utilisation_mean": "utilisation",
    "memory_utilisation_mean": "memory_utilisation",
    "power_mean_w": "power",
    "temperature_mean_c": "temperature",
    "sm_clock_mean_mhz": "sm_clock",
    "graphics_clock_mean_mhz": "graphics_clock",
    "memory_clock_mean_mhz": "memory_clock",
    "host_memory_mean_mib": "host_memory_used",
    "load_mean": "load",
    "cpu_mean": "cpu",
    "disk_read_mean_mib_s": "disk_read",
    "disk_written_mean_mib_s": "disk_written",
}
ENERGY = "energy_j"
KEYS = (*PEAKS, *MEANS, ENERGY)
#: Longest pause between two samples over which energy is integrated, as a multiple of the usual pause.
_PAUSE = 5.0
#: The same as a share of the whole time, if that is longer.
_PAUSE_SHARE = 0.01


def figures(given: Recording, devices: int | None) -> Sampled:
    """Compute everything that some samples say.

    Args:
        given: the samples.
        devices: number of devices of the job, None if unknown.
    """
    rows = [given.device == each for each in range(len(given.devices))] or [np.ones(len(given), dtype=np.bool_)]
    found = {key: _peak(given.values.get(name)) for key, name in PEAKS.items()}
    if not given.format.peaks:
        for key, name in MEANS.items():
            column = given.values.get(name)
            found[key] = None if column is None else _mean([_mean(column[each]) for each in rows])
        if given.devices and len(given.devices) == devices and "power" in given.values:
            found[ENERGY] = _sum([_integral(given.time[each], given.values["power"][each]) for each in rows])
    ends = extent(given)
    clocks = [iso(each) for each in ends] if ends and given.dated else [None, None]
    return Sampled(
        samples=None if given.format.peaks else len(given),
        seconds=_number(round(ends[1] - ends[0], 3)) if ends else None,
        first=clocks[0],
        last=clocks[1],
        devices=len(given.devices) or None,
        **{key: _number(value) for key, value in found.items()},
    )


def completed(found: Sampled, other: Sampled) -> Sampled:
    """Return figures of devices, and those of their machine that are missing among them."""
    return replace(found, **{key: getattr(other, key) for key in KEYS if getattr(found, key) is None})


def extent(given: Recording) -> tuple[float, float] | None:
    """Return first and last clock of the samples; None if they have none."""
    known = given.time[np.isfinite(given.time)]
    return (float(known.min()), float(known.max())) if len(known) else None


def _peak(column: Column | None) -> float | None:
    """Return the largest known value."""
    known = column[np.isfinite(column)] if column is not None else np.empty(0)
    return float(known.max()) if len(known) else None


def _mean(values: Column | Sequence[float | None]) -> float | None:
    """Return the mean of the known values."""
    column = np.array(values, dtype=np.float64)
    known = column[np.isfinite(column)]
    return float(known.mean()) if len(known) else None


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a value is unknown."""
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None


def _number(value: float | None) -> float | int | None:
    if value is None:
        return None
    short = shortened(value)
    return int(short) if short.is_integer() else short


def _integral(time: Column, power: Column) -> float | None:
    """Return joules of one device by the trapezoidal rule; None if its clock or the gaps between samples forbid it."""
    stamps = time[np.isfinite(time)]
    known = np.isfinite(time) & np.isfinite(power)
    time, power = time[known], power[known]
    pauses = np.diff(time)
    if not len(pauses) or (pauses < 0).any():
        return None
    longest = max(_PAUSE * float(np.median(pauses)), _PAUSE_SHARE * float(time[-1] - time[0]))
    # Samples without a power at the beginning or the end are a gap like one between two samples.
    gaps = (*pauses, time[0] - stamps[0], stamps[-1] - time[-1])
    return None if max(gaps) > longest else float(np.trapezoid(power, time))


def within(given: Recording, first: float, last: float) -> Recording:
    """Return the samples of a period of time, both ends included."""
    rows = (given.time >= first) & (given.time <= last)
    values = {name: column[rows] for name, column in given.values.items()}
    return dataclasses.replace(given, time=given.time[rows], device=given.device[rows], values=values)


def side_by_side(given: Sequence[Recording]) -> Recording:
    """Return the samples of several machines as one recording; devices of one name differ by their machine."""
    if len(given) == 1:
        return given[0]
    first = np.cumsum([0, *(len(each.devices) for each in given)])
    named = [f"{at} {name}" for at, each in enumerate(given) for name in each.devices]
    quantities = dict.fromkeys(name for each in given for name in each.values)
    return dataclasses.replace(
        given[0],
        time=np.concatenate([each.time for each in given]),
        device=np.concatenate([each.device + at for each, at in zip(given, first, strict=False)]),
        devices=tuple(named) if all(each.devices for each in given) else (),
        dated=all(each.dated for each in given),
        values={
            name: np.concatenate([each.values.get(name, np.full(len(each), np.nan)) for each in given])
            for name in quantities
        },
    )


def iso(seconds: float) -> str:
    """Format a clock in the host's local time."""
    return str(np.datetime64(round(seconds * 1000), "ms"))


def seconds_of(clock: str) -> float:
    """Convert such a clock back to seconds."""
    from perfledger.parsers.engine.clock import clocks

    return float(clocks([clock.encode("ascii")])[0])
