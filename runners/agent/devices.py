"""Accelerators of this host, as the tool of their maker states them, and their records.

A device is a row of texts: `index` (as the variable of its maker names it), `name`, and what else is known of the keys
of GPU_FIELDS and LIVE, `processes` (how many run on it) among them.
"""

import itertools
import os
import shutil

from .tools import number, without_unknown

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from typing import Any

# Keys that other tools state with the rest, and that only a sampler needs.
LIVE = ("power_watts", "temperature_c", "memory_temperature_c", "core_clock_mhz", "memory_clock_mhz")
# Keys that are not settings of one GPU.
GPU_NOT_LISTED = ("driver", "utilisation", "used_mib", "processes", *LIVE)
GPU_TEXTS = ("name", "persistence", "ecc", "mig")
# Settings that influence speed.
GPU_SETTINGS = (
    "memory_mib", "power_limit_watts", "clock_max_sm_mhz", "clock_max_memory_mhz", "clock_applications_sm_mhz",
    "clock_applications_memory_mhz",
)  # fmt: skip


def gpu_values(gpus: "list[dict[str, str]]", key: str) -> str:
    """Return the distinct values of a key over all GPUs, joined by ` + `."""
    return " + ".join(sorted({gpu[key] for gpu in gpus if key in gpu}))


def gpu_facts(gpus: "list[dict[str, str]]") -> "dict[str, Any]":
    """Return the facts of the accelerators; a number only where all agree."""
    if not gpus:
        return {}
    return {
        "gpu": gpu_values(gpus, "name"),
        "gpus": len(gpus),
        **{f"gpu_{key}": number(gpu_values(gpus, key)) for key in GPU_SETTINGS},
        "gpu_persistence": gpu_values(gpus, "persistence"),
        "gpu_ecc": gpu_values(gpus, "ecc"),
        "driver": gpu_values(gpus, "driver"),
    }


def gpu_record(gpu: "dict[str, str]") -> "dict[str, Any]":
    """Return the entry of one GPU in environment.json."""
    listed = {key: cell for key, cell in gpu.items() if key not in GPU_NOT_LISTED}
    return without_unknown({key: cell if key in GPU_TEXTS else number(cell) for key, cell in listed.items()})


class DeviceTool:
    """The accelerators of this host, by the tool of their maker. `variables` show programs some of them only."""

    tool = ""
    variables: "tuple[str, ...]" = ()
    maker = ""

    @property
    def missing(self) -> str:
        """The program of the tool that is not on this host; empty where all is there."""
        return "" if shutil.which(self.tool) else self.tool

    def devices(self, visible: str = "") -> "list[dict[str, str]]":
        """Return the devices that a value of the variable names, all if it is empty."""
        found = self.query()
        chosen = visible or next(filter(None, map(os.environ.get, self.variables)), "")
        # Programs ignore the first word that names no device, and all words after it.
        named = list(itertools.takewhile({gpu["index"] for gpu in found}.__contains__, chosen.split(",")))
        return [gpu for word in named for gpu in found if gpu["index"] == word] if chosen else found

    def query(self) -> "list[dict[str, str]]":
        """Return all devices of this host."""
        raise NotImplementedError

    def samples(self, visible: str) -> "list[dict[str, str]]":
        """Return what a row of telemetry needs of each device."""
        return self.devices(visible)

    def facts(self) -> "dict[str, Any]":
        """Return the facts that are not those of a device."""
        return {}

    def topology(self) -> str:
        """Return how the devices are connected."""
        return ""

    def processes(self, gpu: "dict[str, str]") -> int:
        """Return how many processes run on a device; 0 if the tool does not state it."""
        return int(number(gpu.get("processes")) or 0)

    def rows_of_tool(self, _visible: str) -> "list[str]":
        """Return the tool's own command that prints rows until it is ended; empty where it has none."""
        return []
