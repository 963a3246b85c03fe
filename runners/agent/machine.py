"""The machine: processors, memory, disks, ports.

Never collect names of hosts or users, serial numbers, or addresses.
"""

import contextlib
import glob
import os
import re
import resource
from typing import Union

from .programs import tool_output
from .tools import PROC, SYS, first_match, read_text

# A fact of a machine; None or empty if it is unknown.
Fact = Union[None, str, int, float]
# CPU load above which the host counts as busy; an idle machine stays below it.
BUSY_PERCENT = 10


def cpu_model() -> str:
    """Return the CPU model, with its family if the name has no number (virtual machines may say "AMD EPYC" only)."""
    info = read_text(f"{PROC}/cpuinfo")
    name = first_match(r"^model name\s*:\s*(.*)$", info)
    if not name:
        name = first_match(r"^Model name:\s*(.*)$", tool_output("lscpu", env={**os.environ, "LC_ALL": "C"}))
    family, model = (first_match(rf"^{key}\s*:\s*(.*)$", info) for key in ("cpu family", "model"))
    return f"{name} (family {family}, model {model})" if name and family and not re.search(r"\d", name) else name


def cpu_cores() -> int:
    """Return the number of processors. Not by `nproc`, which prints OMP_NUM_THREADS if that is set."""
    return os.sysconf("SC_NPROCESSORS_ONLN")


def usable_cores() -> "int | None":
    """Return the number of processors that this process may use, if a cpuset or `taskset` leaves it fewer than all."""
    count = len(os.sched_getaffinity(0))
    return count if count < cpu_cores() else None


def machine_facts() -> "dict[str, Fact]":
    """Return the facts of the machine without its GPUs."""
    kib = first_match(r"^MemTotal:\s*(\d+) kB", read_text(f"{PROC}/meminfo"))
    return {
        "cpu": cpu_model(),
        "cores": cpu_cores(),
        "cores_usable": usable_cores(),
        "cpu_sockets": len(set(re.findall(r"^physical id\s*:\s*(.*)$", read_text(f"{PROC}/cpuinfo"), re.M))) or None,
        "numa_nodes": len(glob.glob(f"{SYS}/devices/system/node/node[0-9]*")) or None,
        "cpu_governor": read_text(f"{SYS}/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip(),
        "memory_gib": (int(kib) * 10 + 524288) // 1048576 / 10 if kib else None,
    }


def infiniband_ports() -> "list[str]":
    """Return one line per active port: device, rate, kind of link."""
    lines = []
    for port in sorted(glob.glob(f"{SYS}/class/infiniband/*/ports/*/")):
        state, rate, link = (read_text(port + name).strip() for name in ("state", "rate", "link_layer"))
        if "ACTIVE" in state:
            lines.append(f"{port.split('/')[-4]}: {rate}, {link}")
    return lines


def processor_times() -> "tuple[int, int, int] | None":
    """Return busy, total and stolen jiffies, summed over all processors. Source: proc(5), /proc/stat, line `cpu`.

    Stolen ones were used by other virtual machines.
    """
    try:
        with open(f"{PROC}/stat") as file:
            values = [int(value) for value in file.readline().split()[1:9]]
        user, nice, system, idle, wait, irq, softirq = values[:7]
    except (OSError, ValueError):
        return None
    busy, stolen = user + nice + system + irq + softirq, values[7] if len(values) > 7 else 0
    return busy, busy + idle + wait + stolen, stolen


def own_seconds() -> float:
    """Return the processor seconds of this process and of the children that it has waited for, with theirs."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def adopt_orphans() -> None:
    """Become the parent of processes whose own ends before them, so that their time is known. Source: prctl(2)."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    """Wait for all children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def disk_bytes() -> "tuple[int, int]":
    """Return the bytes read from and written to all disks. Source: iostats.txt of the kernel, sectors of 512 bytes."""
    read = written = 0
    for path in glob.glob(f"{SYS}/block/*/stat"):
        # Devices on top of others would count twice: of disks alone there is a link to the hardware.
        fields = read_text(path).split()
        if len(fields) > 6 and os.path.exists(os.path.join(os.path.dirname(path), "device")):
            read, written = read + int(fields[2]) * 512, written + int(fields[6]) * 512
    return read, written


def kernel_kills() -> str:
    """Return how many processes the kernel has killed for lack of memory. Source: proc(5), /proc/vmstat."""
    return first_match(r"^oom_kill (\d+)$", read_text(f"{PROC}/vmstat"))
