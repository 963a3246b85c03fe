"""The accelerators of this host, whoever made them, and their records.

A device is a row of texts: `index` (as the variable of its vendor names it), `name`, and which of these are known:
`driver`, `memory_mib`, `used_mib`, `utilisation` (%), `processes` (how many run on it), the keys of LIVE, and settings.
"""

import itertools
import os
import re
from collections.abc import Callable
from typing import Dict, NamedTuple

from .machine import Fact, cpu_cores, cpu_model, usable_cores
from .programs import run_tool, tool_output
from .tools import first_match, number, without_unknown

# Python 3.6 has no `dict[str, str]`.
Row = Dict[str, str]
# Keys that only a sampler needs.
LIVE = ("power_watts", "temperature_c", "memory_temperature_c", "core_clock_mhz", "memory_clock_mhz")
# Keys that are not settings of one GPU.
GPU_NOT_LISTED = ("driver", "utilisation", "used_mib", "processes", *LIVE)
GPU_TEXTS = ("name", "persistence", "ecc", "mig")
# Settings that influence speed.
GPU_SETTINGS = (
    "memory_mib", "power_limit_watts", "clock_max_sm_mhz", "clock_max_memory_mhz", "clock_applications_sm_mhz",
    "clock_applications_memory_mhz",
)  # fmt: skip


def stated_processes(gpu: "Row") -> int:
    """Return how many processes run on a device by its row; 0 if the row does not say so."""
    return int(number(gpu.get("processes")) or 0)


class Vendor(NamedTuple):
    """The commands and functions that read the accelerators of a vendor; `vendors.py` is the table of vendors."""

    name: str
    # The command that answers, or the probe of a site.
    tool: str
    # Variables that show a program some devices only.
    variables: "tuple[str, ...]"
    # Returns the devices that a value of such a variable names, all if it is empty.
    read: "Callable[[str], list[Row]]"
    # The same with the keys of LIVE alone, if a tool needs less time for them.
    sample: "Callable[[str], list[Row]] | None" = None
    # Returns the command that prints rows of telemetry until it is ended, if the tool has one.
    stream: "Callable[[str], list[str]] | None" = None
    # Returns how many processes run on a device.
    processes: "Callable[[Row], int]" = stated_processes
    # A fact of the host: its key, the command that prints it, and the pattern that finds it there.
    fact: str = ""
    fact_command: "tuple[str, ...]" = ()
    fact_pattern: str = ""
    # Prints how the devices are connected.
    topology_command: "tuple[str, ...]" = ()

    def devices(self, visible: str = "") -> "list[Row]":
        """Return the devices that a value of the variable names, or those that a scheduler gave to this job, or all."""
        return self.read(visible or next(filter(None, map(os.environ.get, self.variables)), ""))

    def facts(self) -> "dict[str, str]":
        """Return the facts that are not those of a device."""
        return {self.fact: first_match(self.fact_pattern, tool_output(*self.fact_command))} if self.fact else {}

    def topology(self) -> str:
        """Return how the devices are connected."""
        status, text = run_tool([*self.topology_command]) if self.topology_command else (0, "")
        # nvidia-smi underlines the heading even if the output is not a terminal.
        return "" if status else re.sub(r"[\x1b ]\[[0-9;]*m", "", text).rstrip()


def named(gpus: "list[Row]", visible: str) -> "list[Row]":
    """Return the devices that the value of a variable names, all if it is empty."""
    # Programs ignore the first word that names no device, and all words after it.
    words = itertools.takewhile({gpu["index"] for gpu in gpus}.__contains__, visible.split(","))
    return [gpu for word in words for gpu in gpus if gpu["index"] == word] if visible else gpus


def gpu_values(gpus: "list[Row]", key: str) -> str:
    """Return the distinct values of a key over all GPUs, joined by ` + `."""
    return " + ".join(sorted({gpu[key] for gpu in gpus if key in gpu}))


def gpu_facts(gpus: "list[Row]") -> "dict[str, Fact]":
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


def gpu_record(gpu: "Row") -> "dict[str, Fact]":
    """Return the entry of one GPU in environment.json."""
    listed = {key: cell for key, cell in gpu.items() if key not in GPU_NOT_LISTED}
    return without_unknown({key: cell if key in GPU_TEXTS else number(cell) for key, cell in listed.items()})


def hardware(device: str, gpus: "list[Row]") -> str:
    """Return the hardware name of this machine for a run on this device, and on these accelerators."""
    if device == "gpu":
        return gpu_values(gpus, "name") or "unknown"
    # A run on some processors of a machine does not repeat one on all of them.
    cores = f"{usable_cores()} of {cpu_cores()}" if usable_cores() else str(cpu_cores())
    return ", ".join([*filter(None, [cpu_model()]), f"{cores} cores (CPU)"])


def busy_gpu(vendor: Vendor, gpu: "Row") -> str:
    """Return why a GPU is busy (processes, utilisation, a tenth of its memory used); empty if it is idle."""
    count = vendor.processes(gpu)
    use, used, total = (int(number(gpu.get(key)) or 0) for key in ("utilisation", "used_mib", "memory_mib"))
    if not count and use <= 10 and used * 10 <= total:
        return ""
    shown = [gpu.get(key, "?") for key in ("utilisation", "used_mib", "memory_mib")]
    state = f"processes on it {count}, utilisation {shown[0]} %, memory {shown[1]} of {shown[2]} MiB"
    return f"GPU {gpu['index']} is busy: {state}"
