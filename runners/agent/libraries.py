"""Accelerators by the library of each maker.

Where one can be imported, one process reads telemetry, which takes less from the run than a tool each second.
"""

import contextlib
import importlib

from .tools import number, without_unknown

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Callable
    from typing import Any


def asked(question: "Callable[[], Any]") -> "Any":
    """Return an answer of a maker's library; None where it has none, for it raises errors of its own."""
    with contextlib.suppress(Exception):
        return question()
    return None


def plausible(value: "Any", most: int) -> str:
    """Return a number as a text; empty where it is none, or so large that it stands for an unknown one."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and 0 <= value <= most else ""


# The column of why a GPU is slowed down, where NVML is read.
SLOWDOWN_COLUMN = "slowdown_reasons"
# More than any device draws (W), heats to (degrees Celsius), runs at (MHz) and holds (MiB).
MOST_WATTS, MOST_DEGREES, MOST_MHZ, MOST_MIB = 20000, 200, 20000, 1 << 24


class Library:
    """A maker's library. `START` is what a Python must be able to do to use it."""

    START = ""

    def read(self, index: str) -> "dict[str, str]":
        """Return what a row of telemetry needs of a device."""
        raise NotImplementedError

    def agrees(self, gpu: "dict[str, str]") -> bool:
        """Whether it numbers a device as the tool does and counts in the same units: its memory is that of the tool."""
        read, told = (number(row.get("memory_mib")) for row in (self.read(gpu["index"]), gpu))
        return read is not None and told is not None and abs(read - told) <= 1


class Nvml(Library):
    """GPUs of NVIDIA. Source: "NVML API Reference Guide"; `pynvml` is the module of nvidia-ml-py."""

    START = "import pynvml; pynvml.nvmlInit()"

    def __init__(self) -> None:
        self.nvml = importlib.import_module("pynvml")
        self.nvml.nvmlInit()

    def read(self, index: str) -> "dict[str, str]":  # noqa: D102
        nvml = self.nvml
        device = nvml.nvmlDeviceGetHandleByIndex(int(index))
        # The first version counts as used what drivers from 510 on reserve, which nvidia-smi does not. Bindings that do
        # not know the second one cannot tell; one that knows it, and is refused, has an older driver.
        memory = asked(lambda: nvml.nvmlDeviceGetMemoryInfo(device, version=nvml.nvmlMemory_v2))
        memory = memory or asked(lambda: nvml.nvmlDeviceGetMemoryInfo(device))
        is_exact = hasattr(nvml, "nvmlMemory_v2")
        milliwatts = asked(lambda: nvml.nvmlDeviceGetPowerUsage(device))
        degrees = asked(lambda: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU))
        core_mhz = asked(lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM))
        memory_mhz = asked(lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM))
        # Its name before driver 535.
        reasons = asked(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(device))
        reasons = asked(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device)) if reasons is None else reasons
        return without_unknown({
            "index": index,
            "utilisation": plausible(asked(lambda: nvml.nvmlDeviceGetUtilizationRates(device).gpu), 100),
            "used_mib": plausible(memory.used >> 20 if memory and is_exact else None, MOST_MIB),
            "memory_mib": plausible(memory.total >> 20 if memory else None, MOST_MIB),
            "power_watts": plausible(None if milliwatts is None else milliwatts / 1000, MOST_WATTS),
            "temperature_c": plausible(degrees, MOST_DEGREES),
            "core_clock_mhz": plausible(core_mhz, MOST_MHZ),
            "memory_clock_mhz": plausible(memory_mhz, MOST_MHZ),
            SLOWDOWN_COLUMN: "" if reasons is None else f"{reasons:#018x}",
        })  # fmt: skip


class AmdLibrary(Library):
    """GPUs of AMD. Source: "AMD SMI Python library reference" of the ROCm documentation, 5.7 to 7; memory is in MiB."""

    START = "import amdsmi; amdsmi.amdsmi_init()"

    def __init__(self) -> None:
        self.smi = importlib.import_module("amdsmi")
        self.smi.amdsmi_init()
        self.handles = self.smi.amdsmi_get_processor_handles()

    def read(self, index: str) -> "dict[str, str]":  # noqa: D102
        smi, device = self.smi, self.handles[int(index)]
        power = asked(lambda: smi.amdsmi_get_power_info(device)) or {}
        memory = asked(lambda: smi.amdsmi_get_gpu_vram_usage(device)) or {}
        activity = asked(lambda: smi.amdsmi_get_gpu_activity(device)) or {}
        # Of the two, older GPUs know only the second, and an unknown one has all bits set.
        watts = (plausible(power.get(key), MOST_WATTS) for key in ("current_socket_power", "average_socket_power"))
        return without_unknown({
            "index": index,
            "utilisation": plausible(activity.get("gfx_activity"), 100),
            "used_mib": plausible(memory.get("vram_used"), MOST_MIB),
            "memory_mib": plausible(memory.get("vram_total"), MOST_MIB),
            "power_watts": next(filter(None, watts), ""),
            "temperature_c": self.degrees(device, "HOTSPOT") or self.degrees(device, "EDGE"),
            "memory_temperature_c": self.degrees(device, "VRAM"),
            "core_clock_mhz": self.clock(device, "GFX"),
            "memory_clock_mhz": self.clock(device, "MEM"),
        })  # fmt: skip

    def clock(self, device: "Any", name: str) -> str:
        """Return a clock in MHz. Its key was `cur_clk` before ROCm 6.2."""
        found = asked(lambda: self.smi.amdsmi_get_clock_info(device, getattr(self.smi.AmdSmiClkType, name))) or {}
        return plausible(found.get("clk", found.get("cur_clk")), MOST_MHZ)

    def degrees(self, device: "Any", name: str) -> str:
        """Return a temperature."""
        kind, now = self.smi.AmdSmiTemperatureType, self.smi.AmdSmiTemperatureMetric.CURRENT
        found = asked(lambda: self.smi.amdsmi_get_temp_metric(device, getattr(kind, name), now))
        return plausible(found, MOST_DEGREES)
