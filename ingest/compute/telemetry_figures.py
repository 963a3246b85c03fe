"""From samples of devices to figures of a run: peaks, means and energy, each with its scope.

A peak is the largest sample of any device; a mean is that of every device first, then of the devices; energy is a sum.
Figures that the samples do not allow are absent; the reason is recorded unless it is obvious.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perfledger.ingest.common.numbers import shortened
from perfledger.parsers.contract.telemetry import Recording
from perfledger.schema.machine import Telemetry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Mask = NDArray[np.bool_]

#: A stretch of time, in seconds since the epoch: its first and its last moment.
Period = tuple[float, float]
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
#: Seconds beyond which samples are too far apart, however regular they are.
_LONGEST = 10.0
#: The same as a share of the whole time, if that is longer.
_LONGEST_SHARE = 0.05
#: Samples of each device that a mean power over a measured window needs.
_FEWEST = 5
#: Share of a run that telemetry must cover before we assume that both used the same clock.
COVERED = 0.9
#: Two rows closer than this share of the time between two sweeps belong to one sweep.
_WITHIN_SWEEP = 0.25
#: Quantile of the pauses that is the time between two sweeps: of 50 devices, one row in 50 ends a sweep.
_PAUSES_BETWEEN = 0.98
#: Share of the sweeps that must go through the same number of devices.
_MOSTLY = 0.9
#: Fewest pauses that show sweeps.
_FEW = 4


@dataclass(frozen=True)
class UsedDevices:
    """The devices that a run used, as far as known: of the whole job, of one machine, and by index on that machine."""

    devices: int | None = None
    devices_per_node: int | None = None
    visible: tuple[str, ...] = ()


def figures(given: Recording, job: UsedDevices) -> Telemetry:
    """Compute everything that some samples say; `absent` says why the energy is missing."""
    found: dict[str, int | float | None] = dict.fromkeys(KEYS)
    rows = [given.device == each for each in range(len(given.devices))] or [_all(given)]
    found |= {key: _number(_peak(given, name)) for key, name in PEAKS.items()}
    if not given.format.peaks:
        found |= {key: _number(_mean_of([_mean(given, name, each) for each in rows])) for key, name in MEANS.items()}
    energy = None if given.format.peaks else _energy(given, rows, job)
    absent = {ENERGY: energy} if isinstance(energy, str) else {}
    found[ENERGY] = None if isinstance(energy, str) else _number(energy)
    scope = {key: _scope(key, given) for key in KEYS if found[key] is not None}
    return replace(_extent(given), **found, scope=scope, absent=absent, per_device=_per_device(given, rows))


def nothing(given: Recording, why: str) -> Telemetry:
    """Return what is left where the samples are not known to be the run's: figures of every device by itself."""
    rows = [given.device == each for each in range(len(given.devices))]
    return replace(_extent(given), absent=dict.fromkeys(KEYS, why), per_device=_per_device(given, rows))


def _scope(key: str, given: Recording) -> str:
    over = "host" if given.format.host else "devices" if given.devices else "samples"
    kind = "sum" if key == ENERGY else "peak" if key in PEAKS else "mean"
    return f"{kind}_of_{over}"


def _all(given: Recording) -> Mask:
    import numpy as np

    return np.ones(len(given), dtype=np.bool_)


def _extent(given: Recording) -> Telemetry:
    ends = extent(given)
    clocks = [iso(each) for each in ends] if ends and given.dated else [None, None]
    return Telemetry(
        samples=None if given.format.peaks else len(given),
        seconds=_number(round(ends[1] - ends[0], 3)) if ends else None,
        first=clocks[0],
        last=clocks[1],
        devices=len(given.devices) or None,
    )


def extent(given: Recording) -> tuple[float, float] | None:
    """Return first and last clock of the samples; None if they have none."""
    import numpy as np

    known = given.time[np.isfinite(given.time)]
    return (float(known.min()), float(known.max())) if len(known) else None


def _peak(given: Recording, quantity: str) -> float | None:
    return _reduced(given.values.get(quantity), "max")


def _mean(given: Recording, quantity: str, rows: Mask) -> float | None:
    column = given.values.get(quantity)
    return None if column is None else _reduced(column[rows], "mean")


def _reduced(column: Column | None, how: str) -> float | None:
    """Return the maximum or the mean of the known values."""
    import numpy as np

    known = column[np.isfinite(column)] if column is not None else np.empty(0)
    if not len(known):
        return None
    return float(known.max() if how == "max" else known.mean())


def _mean_of(found: Sequence[float | None]) -> float | None:
    known = [each for each in found if each is not None]
    return sum(known) / len(known) if known else None


def _number(value: float | None) -> float | int | None:
    if value is None:
        return None
    short = shortened(value)
    return int(short) if short.is_integer() else short


def _energy(given: Recording, rows: Sequence[Mask], job: UsedDevices) -> float | str | None:
    """Return joules of all devices of the job, or the reason for their absence; None if the power was not measured."""
    import numpy as np

    power = given.values.get("power")
    if power is None or not np.isfinite(power).any():
        return None
    if not given.devices or len(given.devices) != job.devices:
        return "devices"
    found = [_integral(given.time[each], power[each]) for each in rows]
    return next((each for each in found if isinstance(each, str)), None) or sum(
        e for e in found if isinstance(e, float)
    )


def _integral(time: Column, power: Column) -> float | str:
    """Return joules of one device by the trapezoidal rule, or the reason for their absence."""
    import numpy as np

    stamps = time[np.isfinite(time)]
    known = np.isfinite(time) & np.isfinite(power)
    time, power = time[known], power[known]
    if len(time) < 2:
        return "no_clock"
    pauses = np.diff(time)
    if (pauses < 0).any():
        return "clock_set_back"
    whole = float(time[-1] - time[0])
    regular = max(_PAUSE * float(np.median(pauses)), _PAUSE_SHARE * whole)
    longest = min(regular, max(_LONGEST, _LONGEST_SHARE * whole))
    # Samples without a power at the beginning or the end are a gap like one between two samples.
    gaps = (*pauses, time[0] - stamps[0], stamps[-1] - time[-1])
    return "pauses" if max(gaps) > longest else float(np.trapezoid(power, time))


def covered(window: Period, whole: Period) -> float:
    """Return the share of a window that lies within the whole; 0 or 1 for a single moment."""
    common = min(window[1], whole[1]) - max(window[0], whole[0])
    if window[1] > window[0]:
        return max(0.0, common) / (window[1] - window[0])
    return float(common >= 0)


def mean_power(given: Recording, job: UsedDevices, window: Period | None) -> float | str | None:
    """Return watts of all devices of the job over a window, or the reason for their absence; None if none was measured.

    Each device counts over its own samples, since those of one sweep are not taken at once. They may end as far within
    the window as samples are apart: none is missing there.
    """
    import numpy as np

    power = given.values.get("power")
    if power is None or not np.isfinite(power).any() or given.format.peaks:
        return None
    if window is None or not given.dated:
        return "no_clock"
    if not given.devices or len(given.devices) != job.devices:
        return "devices"
    watts, is_inside = 0.0, (given.time >= window[0]) & (given.time <= window[1])
    for at in range(len(given.devices)):
        rows = is_inside & (given.device == at) & np.isfinite(power)
        time = given.time[rows]
        if len(time) < _FEWEST:
            return "few" if len(time) else "clock"
        gap = float(np.median(np.diff(time)))
        if covered(window, (float(time[0]) - gap, float(time[-1]) + gap)) < COVERED:
            return "clock"
        found = _integral(time, power[rows])
        if isinstance(found, str):
            return found
        watts += found / float(time[-1] - time[0])
    return watts


def longest_gap(given: Recording) -> float | None:
    """Return the longest time between two samples of one device; None where none has two."""
    import numpy as np

    rows = [given.time[given.device == each] for each in range(len(given.devices))] or [given.time]
    found = [float(np.diff(each[np.isfinite(each)]).max()) for each in rows if np.isfinite(each).sum() > 1]
    return shortened(max(found)) if found else None


def _per_device(given: Recording, rows: Sequence[Mask]) -> tuple[dict[str, str | int | float], ...]:
    found = []
    for at, (name, mask) in enumerate(zip(given.devices, rows, strict=False)):
        one = part(given, mask)
        own = {key: _number(_peak(one, quantity)) for key, quantity in PEAKS.items()}
        if not given.format.peaks:
            own |= {key: _number(_mean(given, quantity, mask)) for key, quantity in MEANS.items()}
        # Serial numbers and bus ids are private.
        named: dict[str, str | int | float] = {"device": name if name.isdigit() else f"#{at + 1}"}
        found.append(named | {key: value for key, value in own.items() if value is not None})
    return tuple(found)


def part(given: Recording, rows: Mask) -> Recording:
    """Return the samples that a mask selects."""
    values = {name: column[rows] for name, column in given.values.items()}
    return dataclasses.replace(given, time=given.time[rows], device=given.device[rows], values=values)


def without(given: Recording, quantities: Sequence[str]) -> Recording:
    """Return the samples without some quantities."""
    values = {name: column for name, column in given.values.items() if name not in quantities}
    return dataclasses.replace(given, values=values)


def within(given: Recording, first: float, last: float) -> Recording:
    """Return the samples of a period of time, both ends included."""
    return part(given, (given.time >= first) & (given.time <= last))


def chosen(given: Recording, names: Sequence[str]) -> Recording:
    """Return the samples of some devices."""
    import numpy as np

    wanted = [given.devices.index(each) for each in names]
    found = part(given, np.isin(given.device, wanted))
    place = {old: new for new, old in enumerate(wanted)}
    device = np.array([place[int(each)] for each in found.device], dtype=np.intp)
    return dataclasses.replace(found, device=device, devices=tuple(names))


def sweep(given: Recording) -> int | None:
    """Return how many devices a recording without names of devices samples in each sweep; None if unknown.

    Rows of one sweep lie milliseconds apart, sweeps as far as the user asked for.
    """
    import numpy as np

    pauses = np.diff(given.time)
    if given.devices or len(pauses) < _FEW or not np.isfinite(pauses).all() or (pauses < 0).any():
        return None
    between = np.flatnonzero(pauses > _WITHIN_SWEEP * float(np.quantile(pauses, _PAUSES_BETWEEN)))
    sizes = np.diff(between)
    usual = int(np.median(sizes)) if len(sizes) else 0
    return usual if usual and (sizes == usual).mean() >= _MOSTLY else None


def together(given: Sequence[Recording]) -> Recording | None:
    """Merge recordings of one printer; return None if they may be of other devices or of other times.

    Devices with an identity of their own are distinguished by it. Other recordings that follow upon each other are
    parts of one, and such that all overlap are of different machines.
    """
    if len(given) == 1:
        return given[0]
    if all(each.devices and set(each.devices) <= set(each.ids) for each in given):
        return _merged(given, [[each.ids[name] for name in each.devices] for each in given])
    ends = [extent(each) if each.dated else None for each in given]
    known = [each for each in ends if each]
    if len(known) < len(given):
        return None
    overlaps = [a[0] <= b[1] and b[0] <= a[1] for a, b in combinations(known, 2)]
    if not any(overlaps):
        return _merged(given, [list(each.devices) for each in given])
    if all(overlaps):
        return _side_by_side(given)
    return None


def of_machines(given: Sequence[Sequence[Recording]]) -> Recording | None:
    """Merge recordings of several machines; devices of the same name are different devices on each."""
    whole = [together(each) for each in given]
    known = [each for each in whole if each is not None]
    if len(known) < len(whole):
        return None
    return known[0] if len(known) == 1 else _side_by_side(known)


def _side_by_side(given: Sequence[Recording]) -> Recording:
    return _merged(given, [[f"{at} {name}" for name in each.devices] for at, each in enumerate(given)])


def _merged(given: Sequence[Recording], names: Sequence[Sequence[str]]) -> Recording:
    import numpy as np

    devices = tuple(dict.fromkeys(each for found in names for each in found)) if all(names) else ()
    place = {name: at for at, name in enumerate(devices)}
    device = [
        np.array([place[one] for one in own], dtype=np.intp)[each.device] if devices else np.zeros_like(each.device)
        for each, own in zip(given, names, strict=True)
    ]
    quantities = dict.fromkeys(name for each in given for name in each.values)
    values = {
        name: np.concatenate([each.values.get(name, np.full(len(each), np.nan)) for each in given])
        for name in quantities
    }
    time = np.concatenate([each.time for each in given])
    order = np.argsort(time, kind="stable")
    return dataclasses.replace(
        given[0],
        time=time[order],
        device=np.concatenate(device)[order],
        devices=devices,
        ids={},
        values={name: column[order] for name, column in values.items()},
        faults=(),
    )


def iso(seconds: float) -> str:
    """Format a clock in the host's local time."""
    import numpy as np

    return str(np.datetime64(round(seconds * 1000), "ms"))


def seconds_of(clock: str) -> float:
    """Convert such a clock back to seconds."""
    from perfledger.parsers.engine.clock import clocks

    return float(clocks([clock.encode("ascii")])[0])
