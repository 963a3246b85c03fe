"""Power logs next to results of MLPerf: a file of readings over time per machine, and one of an estimate per switch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from perfledger.ingest.common.documents import MOST_OF_TABLE, read_bytes

_MARK = ":::MLLOG "


class PowerError(ValueError):
    """A power log without a mean; the message is its name."""


def watts(paths: Sequence[Path]) -> float:
    """Return the mean power of all machines and switches together.

    Source: the result summarizer of MLPerf Training. A reading is valid for the time since the one before it.

    Raises:
        PowerError: a file has none.
    """
    return sum(map(_mean, paths))


def _mean(path: Path) -> float:
    try:
        mean = _mean_of(sorted(_events(path), key=lambda each: each[1]))
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError, RecursionError):
        raise PowerError(path.name) from None
    if not 0 <= mean < math.inf:
        raise PowerError(path.name)
    return mean


def _mean_of(events: Sequence[tuple[str, float, Any]]) -> float:
    told = {key: value for key, _, value in events}
    efficiency = float(told.get("conversion_eff", 1.0))
    if "interconnect_power_est" in told:
        return efficiency * float(told["interconnect_power_est"])
    begin, end = _ends(events)
    readings = [(time, float(value)) for key, time, value in events if key == "power_reading" and begin < time <= end]
    if not readings:
        raise ValueError("no reading between the ends of the measurement")
    times = [begin, *(time for time, _ in readings)]
    done = sum(value * (after - before) for (before, after), (_, value) in zip(pairwise(times), readings, strict=True))
    return efficiency * done / (end - begin)


def _ends(events: Sequence[tuple[str, float, Any]]) -> tuple[float, float]:
    """Return when the measurement began and stopped; where no stop is logged, it is that of the last reading."""
    begin = [time for key, time, _ in events if key == "power_measurement_start"]
    end = [time for key, time, _ in events if key == "power_measurement_stop"]
    last = [time for key, time, _ in events if key == "power_reading"]
    return (begin[-1] if begin else float("inf")), (end or last[-1:] or [0.0])[0]


def _events(path: Path) -> Iterator[tuple[str, float, Any]]:
    for line in read_bytes(path, MOST_OF_TABLE).decode("utf-8", "replace").splitlines():
        _, mark, document = line.partition(_MARK)
        if mark:
            event = json.loads(document)
            yield str(event["key"]), float(event["time_ms"]), event["value"]
