"""The one file of Perfledger that runs on a node: it checks the node, runs the command, and writes down what happened.

It needs Python 3.6 or newer and the standard library. It is called in six ways:

- by the launcher (`transport.py`), which sends this source with one request as a line of JSON; `serve` answers with a
  line of JSON behind a mark, since logins print too;
- `agent.py run` in a job's folder: runs the job. Exit status: 0 completed, 1 ended otherwise (the outcome is in
  host.json), 2 nothing was started, 3 host.json could not be written, 130 stopped;
- `agent.py environment`: writes environment.json, as a process of its own so that it can be ended;
- `agent.py sample`: prints telemetry of accelerators whose tool does not print it a row a second;
- `agent.py batch` and `agent.py node` in a job of Slurm, `agent.py series` in one that many runs share;
- `python -c SOURCE installed ...`: asks the Python that trains, inside the container if there is one, for its packages.

A file that `python -m runners script` wrote holds this source behind a line `STANDALONE = ...`, and starts its one run.
"""

import contextlib
import errno
import fcntl
import glob
import importlib
import itertools
import json
import mmap
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

# What few requests need is imported where it is used: a node is asked every few seconds, beside what is measured there.

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Callable, Iterator, Mapping
    from re import Pattern
    from typing import Any

MARK = "perfledger "
# Mount points of the kernel's file systems.
PROC, SYS = "/proc", "/sys"
SPACE_NEEDED = 64 * 1024 * 1024
# With less than this a disk counts as full.
FULL = 1 << 16
# CPU load above which the host counts as busy; an idle machine stays below it.
BUSY_PERCENT = 10
# How long that load is measured.
LOAD_SECONDS = 0.5
# Of a run shorter than this, the time of others is not told: the start of its processes is a large part of it.
JUDGED_SECONDS = 5
# How long a driver may take to forget the processes of a run that has ended.
RELEASE_SECONDS = 5
# Time limit of everything before the command, which may include pulling an image.
PREPARE_SECONDS = 7200
# Time limit of a site's prologue, and of each of its hooks.
HOOK_SECONDS = 300
# How much the clock of a host may differ from that of the launcher, whose request is on its way for a moment.
SKEW_SECONDS = 60
# Time between SIGTERM and SIGKILL.
GRACE_SECONDS = 10
# Container tools whose images are known to this host, and whose containers have names.
WITH_DAEMON = ("docker", "podman")
NEVER, NOTHING = float("inf"), subprocess.DEVNULL
# Limits of a tool's output in bytes; some print without end.
LONGEST = 1 << 18
LONGEST_LIST = 1 << 22
SIGNALS = {"stopped": signal.SIGTERM, "timeout": signal.SIGUSR1}
# A part of a secret at an end of a line that is as long as this is masked, too.
SHORTEST_PART = 4
# So is each line of a secret that is as long as this: some programs print the lines of a key apart.
SHORTEST_LINE = 8
# How often, and with which pause, a lock that is held is tried.
LOCK_ATTEMPTS, LOCK_SECONDS = 5, 0.2
# Variable that names the folder of a run that was started by a file of its own.
ALONE = "PERFLEDGER_ALONE"
EXIT_STATUS = {"completed": 0, "stopped": 130}


class Disturbance(str):
    """A warning that something else uses this machine: unless the user accepts it, the run is left out of results."""


class Refused(Exception):
    """A reason not to start the run: it would fail, or its figures would be worthless."""


# --- Tools ------------------------------------------------------------------------------------------------------------


def send_answer(answer: "dict[str, Any]") -> None:
    """Print an answer. It begins with a newline, because a login may have printed half a line before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(f"\n{MARK}{json.dumps(answer, ensure_ascii=False)}\n"))
    sys.stdout.flush()


def encoded(text: str) -> bytes:
    """Return a text in UTF-8.

    Where Python 3.6 has the locale C it takes no other texts than ASCII for paths and arguments: those that we read are
    bytes there, as `os.fsdecode` passes them through.
    """
    return text.encode("utf-8", "surrogateescape")


def as_json(value: "Any") -> str:
    """Return JSON of several lines for `encoded`, with its texts as they are."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def read_json(path: str) -> "dict[str, Any]":
    """Return the content of a file that a launcher wrote, whose texts can be paths and arguments here."""
    with open(path, "rb") as file:
        found: "dict[str, Any]" = json.loads(os.fsdecode(file.read()))
    return found


def clean(data: bytes) -> str:
    """Return what a tool printed as text: UTF-8 where it is, without control characters other than tab and newline."""
    text = data.decode("utf-8", "replace").replace("\0", "").replace("\r", "")
    return re.sub(r"[\x01-\x08\x0b-\x1f\x7f]", " ", text)


def run_tool(argv: "list[str]", seconds: float = 30, longest: int = LONGEST, **options: "Any") -> "tuple[int, str]":
    """Run a tool, and return exit status and output; the status is 127 if it cannot be started, -9 if it was killed.

    A tool that hangs or prints without end is killed, with its process group.
    """
    options = {"stderr": NOTHING, **options}
    try:
        process = subprocess.Popen(argv, stdin=NOTHING, stdout=subprocess.PIPE, start_new_session=True, **options)
    except (OSError, ValueError) as error:
        return 127, str(error)
    assert process.stdout is not None
    data, end = b"", time.monotonic() + seconds
    while len(data) <= longest and select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            break
        data += chunk
    try:
        process.wait(max(0, end - time.monotonic()) if len(data) <= longest else 0)
    except subprocess.TimeoutExpired:
        kill(process.pid, signal.SIGKILL, group=True)
        process.wait()
    process.stdout.close()
    return process.returncode, clean(data[:longest])


def last_words(said: str) -> str:
    """Return the last line of what a program said."""
    return (said.strip().splitlines() or ["it says nothing"])[-1]


def tool_output(*argv: str, **options: "Any") -> str:
    """Return the output of a tool, stripped; empty if it fails or is missing."""
    status, text = run_tool(list(argv), **options)
    return "" if status else text.strip()


def read_text(path: str) -> str:
    """Return the content of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def write_file(path: str, text: str) -> None:
    """Write a file atomically."""
    try:
        with open(f"{path}.partial", "wb") as file:
            file.write(encoded(text))
        os.replace(f"{path}.partial", path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(f"{path}.partial")
        raise


def without_unknown(members: "dict[str, Any]") -> "dict[str, Any]":
    """Return an object without its unknown (None or empty) members."""
    return {key: value for key, value in members.items() if value not in (None, "", [], {})}


def number(text: "str | None") -> "int | float | None":
    """Convert a text to a number; None if it is not one."""
    if not text or not re.match(r"(0|[1-9][0-9]{0,17})(\.[0-9]+)?$", text):
        return None
    return float(text) if "." in text else int(text)


def first_match(pattern: str, text: str) -> str:
    """Return the first group of the first match of a pattern; empty if nothing matches."""
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def kill(process: int, number: int, group: bool = False) -> None:
    """Send a signal to a process or its group; ignore that it may be gone."""
    with contextlib.suppress(OSError):
        (os.killpg if group else os.kill)(process, number)


def has_variables(process: "int | str", *variables: str) -> bool:
    """Return whether a process was started with all of these variables."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return {os.fsencode(variable) for variable in variables} <= set(file.read().split(b"\0"))
    except OSError:
        return False


def processes_with(*variables: str) -> "list[int]":
    """Return all processes that were started with these variables, in any session or process group."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and has_variables(name, *variables)]


def machine() -> "list[str]":
    """Return boot id and name of this machine, to tell whether a job ran here and since the last restart."""
    return [read_text("/proc/sys/kernel/random/boot_id").strip(), os.uname().nodename]


def last_line(path: str) -> str:
    """Return the last non-empty line of a file; progress bars end lines with a carriage return."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - 2000))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in re.split("[\r\n\0]", text) if line.strip()]
    return lines[-1] if lines else ""


# --- The machine ------------------------------------------------------------------------------------------------------
# Never collect names of hosts or users, serial numbers, or addresses.


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


def machine_facts() -> "dict[str, Any]":
    """Return the facts of the machine without its GPUs; None or empty where the kernel does not tell."""
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


def utc() -> str:
    """Return the current time, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# --- GPUs, as nvidia-smi states them ----------------------------------------------------------------------------------

# Queried fields, and our key for each. Source: `nvidia-smi --help-query-gpu`.
GPU_FIELDS = [
    ("index", "index"), ("name", "name"), ("memory.total", "memory_mib"), ("driver_version", "driver"),
    ("power.limit", "power_limit_watts"), ("power.default_limit", "power_limit_default_watts"),
    ("persistence_mode", "persistence"), ("ecc.mode.current", "ecc"), ("clocks.sm", "clock_sm_mhz"),
    ("clocks.mem", "clock_memory_mhz"), ("clocks.max.sm", "clock_max_sm_mhz"),
    ("clocks.max.mem", "clock_max_memory_mhz"), ("clocks.applications.gr", "clock_applications_sm_mhz"),
    ("clocks.applications.mem", "clock_applications_memory_mhz"), ("pcie.link.gen.current", "pcie_generation"),
    ("pcie.link.width.current", "pcie_width"), ("utilization.gpu", "utilisation"), ("memory.used", "used_mib"),
    ("mig.mode.current", "mig"),
]  # fmt: skip
# Keys that other tools state with the rest, and that only a sampler needs.
LIVE = ("power_watts", "temperature_c", "memory_temperature_c", "core_clock_mhz", "memory_clock_mhz")
# Keys that are not settings of one GPU.
GPU_NOT_LISTED = ("driver", "utilisation", "used_mib", "uuid", "parent", "processes", *LIVE)
GPU_TEXTS = ("name", "persistence", "ecc", "mig", "profile")
# Settings that influence speed.
GPU_SETTINGS = (
    "memory_mib", "power_limit_watts", "clock_max_sm_mhz", "clock_max_memory_mhz", "clock_applications_sm_mhz",
    "clock_applications_memory_mhz",
)  # fmt: skip
SAMPLED = "timestamp,index,name,memory.used,utilization.gpu,power.draw,clocks.sm,clocks.mem,temperature.gpu"
# Of a GPU that MIG divides: its memory, use and power are those of all slices together.
SAMPLED_OF_SLICES = "timestamp,index,name,clocks.sm,clocks.mem,temperature.gpu"
# Bits of the reasons for which a GPU is slowed down, and which of them is that of the power limit. The first is set
# with the next two. Source: nvml.h, nvmlClocksEventReason*.
SLOWDOWNS = (
    (0x08, "by its hardware"),
    (0x40, "for its heat"),
    (0x80, "by a power brake"),
    (0x20, "by software, for its heat"),
)
POWER_CAP = 0x04
# Its name now, and before driver 535.
SLOWDOWN_FIELDS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
# Our own name for them, where NVML is read.
SLOWDOWN_COLUMN = "slowdown_reasons"
# A line of `nvidia-smi -L`, of a GPU and of a slice below it. Source: NVIDIA MIG User Guide, "Device Enumeration".
LISTED_GPU = re.compile(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)$")
LISTED_SLICE = re.compile(r"\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[^)]+)\)$")
# Rows of the tables of `nvidia-smi`: GPU, GI, CI and device of a slice, with its memory; and those of a process.
SLICE_ROW = re.compile(r"\|\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+\|\s+(\d+)MiB\s*/\s*(\d+)MiB")
PROCESS_OF_SLICE = re.compile(r"\|\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+\s+[CGM+]+\s")
# What a slice shares with others, so that it is not known of it.
OF_WHOLE_GPU = ("utilisation", "power_limit_watts", "power_limit_default_watts", "memory_mib", "used_mib")


def nvidia_smi(visible: str, *words: str) -> "list[str]":
    """Return an nvidia-smi command, limited to some GPUs; without any, to those that a scheduler gave to this job.

    It takes no slices of MIG.
    """
    chosen = visible or os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return ["nvidia-smi", *(["-i", chosen] if chosen and "MIG" not in chosen else []), *words]


def gpu_slices() -> "list[dict[str, str]]":
    """Return the slices into which MIG divides the GPUs of this host: UUID, number of the GPU, profile, and use."""
    tables = tool_output("nvidia-smi")
    rows = {match.group(1, 4): match.groups() for match in SLICE_ROW.finditer(tables)}
    processes = [match.groups() for match in PROCESS_OF_SLICE.finditer(tables)]
    slices, parent = [], ""
    for line in tool_output("nvidia-smi", "-L").splitlines():
        gpu, slice = LISTED_GPU.match(line), LISTED_SLICE.match(line)
        parent = gpu.group(1) if gpu else parent
        if not slice:
            continue
        profile, device, uuid = slice.groups()
        found = {"uuid": uuid, "parent": parent, "profile": profile}
        if (parent, device) in rows:
            _, instance, compute, _, used, total = rows[parent, device]
            found.update(used_mib=used, memory_mib=total, processes=str(processes.count((parent, instance, compute))))
        slices.append(found)
    return slices


def query_gpus_or_slices(visible: str = "") -> "list[dict[str, str]]":
    """Query GPUs, and of those that MIG divides the slices, which is all that CUDA sees of them."""
    chosen = visible or os.environ.get("CUDA_VISIBLE_DEVICES", "")
    gpus = query_gpus(visible)
    divided = [gpu["index"] for gpu in gpus if gpu.get("mig") == "Enabled"]
    slices = gpu_slices() if divided or "MIG" in chosen else []
    named = chosen.split(",") if "MIG" in chosen else []
    found = []
    for gpu in gpus:
        own = [each for each in slices if each["parent"] == gpu["index"]]
        whole = {key: cell for key, cell in gpu.items() if key not in OF_WHOLE_GPU}
        for each in own:
            name = f"{gpu['name']} (MIG {each['profile']})"
            found.append({**whole, **each, "index": each["uuid"], "name": name})
        found += [] if own or named else [gpu]
    if not named:
        return found
    # A UUID may be shortened, as those of GPUs.
    return [gpu for word in named for gpu in found if gpu["index"].startswith(word)]


def query_gpus(visible: str = "") -> "list[dict[str, str]]":
    """Query GPUs. A driver refuses the whole query for an unknown field, and names it: retry without."""
    fields = GPU_FIELDS
    while fields and shutil.which("nvidia-smi"):
        query = "--query-gpu=" + ",".join(name for name, _ in fields)
        status, text = run_tool(nvidia_smi(visible, query, "--format=csv,noheader,nounits"))
        if status == 0:
            return [row for row in (gpu_row(fields, line) for line in text.splitlines()) if row]
        refused = first_match(r'^Field "([^"]*)" is not a valid field', text)
        left = [field for field in fields if field[0] != refused]
        # If the refusal has another form, query only the fields that every driver knows.
        left = left if len(left) < len(fields) else fields[:4]
        fields = left if len(left) < len(fields) else []
    return []


def gpu_row(fields: "list[tuple[str, str]]", line: str) -> "dict[str, str]":
    """Parse one line; unknown values are printed in brackets, or as N/A, and left out."""
    cells = dict(zip((key for _, key in fields), (cell.strip() for cell in line.split(","))))
    if not re.match(r"\d+$", cells.get("index", "")):
        return {}
    return {key: cell for key, cell in cells.items() if cell and not cell.startswith("[") and cell != "N/A"}


def gpu_values(gpus: "list[dict[str, str]]", key: str) -> str:
    """Return the distinct values of a key over all GPUs, joined by ` + `."""
    return " + ".join(sorted({gpu[key] for gpu in gpus if key in gpu}))


def gpu_names(gpus: "list[dict[str, str]]") -> str:
    """Return the GPU name; one that MIG divides is marked, because a run uses only a part, even if none is listed."""
    names = gpu_values(gpus, "name")
    is_part = "Enabled" in gpu_values(gpus, "mig") and not any("profile" in gpu for gpu in gpus)
    return f"{names} (MIG)" if names and is_part else names


def gpu_facts(gpus: "list[dict[str, str]]") -> "dict[str, Any]":
    """Return the facts of the accelerators; a number only where all agree."""
    if not gpus:
        return {}
    return {
        "gpu": gpu_names(gpus),
        "gpus": len(gpus),
        **{f"gpu_{key}": number(gpu_values(gpus, key)) for key in GPU_SETTINGS},
        "gpu_persistence": gpu_values(gpus, "persistence"),
        "gpu_ecc": gpu_values(gpus, "ecc"),
        "driver": gpu_values(gpus, "driver"),
    }


def gpu_record(gpu: "dict[str, str]") -> "dict[str, Any]":
    """Return the entry of one GPU in environment.json."""
    # The number of a slice is its UUID, which is no one's concern.
    hidden = (*GPU_NOT_LISTED, *(["index"] if "profile" in gpu else []))
    listed = {key: cell for key, cell in gpu.items() if key not in hidden}
    return without_unknown({key: cell if key in GPU_TEXTS else number(cell) for key, cell in listed.items()})


# --- Accelerators: the library of each maker --------------------------------------------------------------------------
# Where one can be imported, one process reads telemetry, which takes less from the run than a tool each second.


def asked(question: "Callable[[], Any]") -> "Any":
    """Return an answer of a maker's library; None where it has none, for it raises errors of its own."""
    with contextlib.suppress(Exception):
        return question()
    return None


def plausible(value: "Any", most: int) -> str:
    """Return a number as a text; empty where it is none, or so large that it stands for an unknown one."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and 0 <= value <= most else ""


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


# --- Accelerators: the tool of each maker ----------------------------------------------------------------------------
# A device is a row of texts: `index` (as the variable of its maker names it), `name`, and what else is known of the
# keys of GPU_FIELDS and LIVE, `processes` (how many run on it) among them.


class DeviceTool:
    """The accelerators of this host, by the tool of their maker. `variables` show programs some of them only."""

    tool = ""
    variables: "tuple[str, ...]" = ()
    maker = ""
    library: "type[Library] | None" = None
    # Columns of telemetry that its library states besides.
    further_columns: "tuple[str, ...]" = ()

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
        """Return how many processes run on a device; 0 where the tool does not tell."""
        return int(number(gpu.get("processes")) or 0)

    def sampler(self, job: "NodeJob") -> "list[str]":
        """Return the command that prints rows of telemetry until it is ended."""
        python = self.python_with_library(job)
        ours = [python or sys.executable, "-I", job.path("agent.py"), "sample"]
        return ours if python else self.rows_of_tool(job) or ours

    def rows_of_tool(self, _job: "NodeJob") -> "list[str]":
        """Return the tool's own command that prints rows until it is ended; empty where it has none."""
        return []

    def python_with_library(self, job: "NodeJob") -> str:
        """Return a Python that has the maker's library; empty where none has, or it cannot tell slices of a device."""
        if not self.library or any("parent" in gpu for gpu in job.gpus):
            return ""
        own = job.used_environment
        pythons = [*([os.path.join(own.bin, "python")] if own else []), sys.executable]
        starts = (python for python in pythons if run_tool([python, "-I", "-c", self.library.START])[0] == 0)
        return next(starts, "")

    def reader(self, gpus: "list[dict[str, str]]") -> "Library | None":
        """Return the maker's library where it is here and says the same of the devices as the tool."""
        with contextlib.suppress(Exception):
            found = self.library() if self.library else None
            return found if found and all(map(found.agrees, gpus)) else None
        return None


class Nvidia(DeviceTool):
    """GPUs of NVIDIA, by nvidia-smi. Of a GPU that MIG divides the slices are the devices."""

    tool, variables, maker, library = "nvidia-smi", ("CUDA_VISIBLE_DEVICES",), "NVIDIA", Nvml
    further_columns = (SLOWDOWN_COLUMN,)

    def devices(self, visible: str = "") -> "list[dict[str, str]]":  # noqa: D102
        return query_gpus_or_slices(visible)

    def facts(self) -> "dict[str, Any]":  # noqa: D102
        return {"cuda_driver": first_match(r"CUDA (?:UMD )?Version: *([0-9.]+)", tool_output("nvidia-smi"))}

    def topology(self) -> str:  # noqa: D102
        # nvidia-smi underlines the heading even if the output is not a terminal.
        text = run_tool(["nvidia-smi", "topo", "-m"])[1] if shutil.which("nvidia-smi") else ""
        return re.sub(r"[\x1b ]\[[0-9;]*m", "", text).rstrip()

    def processes(self, gpu: "dict[str, str]") -> int:  # noqa: D102
        if "profile" in gpu:
            return super().processes(gpu)
        found = tool_output("nvidia-smi", "-i", gpu["index"], "--query-compute-apps=pid", "--format=csv,noheader")
        return len(re.findall(r"^\d", found, re.M))

    def rows_of_tool(self, job: "NodeJob") -> "list[str]":
        """Return nvidia-smi itself, with why it slows GPUs down under the name that this driver knows."""
        parents = sorted({gpu["parent"] for gpu in self.devices(job.used_gpus) if "parent" in gpu})
        visible = ",".join(parents) or job.used_gpus
        known = [
            field
            for field in SLOWDOWN_FIELDS
            if tool_output(*nvidia_smi(visible, f"--query-gpu={field}", "--format=csv,noheader")).startswith("0x")
        ]
        fields = ",".join([SAMPLED_OF_SLICES if parents else SAMPLED, *known[:1]])
        return nvidia_smi(visible, "--format=csv", "-lms", "1000", f"--query-gpu={fields}")


def amount(found: "Any", *keys: str) -> str:
    """Return a number out of a document as a text, also where it stands beside its unit; empty if there is none."""
    for key in (*keys, "value"):
        found = found.get(key, found if key == "value" else None) if isinstance(found, dict) else found
    return str(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else ""


def text_in(found: "dict[str, Any]", *keys: str) -> str:
    """Return a text out of a document; empty if there is none."""
    within: "Any" = found
    for key in keys:
        within = within.get(key) if isinstance(within, dict) else None
    return within if isinstance(within, str) and within != "N/A" else ""


class AmdSmi(DeviceTool):
    """GPUs of AMD, by amd-smi. Its MB are MiB.

    HIP numbers the GPUs as it does, unless a driver says otherwise. Source: "AMD SMI CLI tool usage" of the ROCm
    documentation; `amd-smi` of 6.1 to 7 prints a list, or an object with it under `gpu_data`.
    """

    tool, variables, maker = "amd-smi", ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"), "AMD"
    library = AmdLibrary

    @staticmethod
    def ask(*words: str) -> "dict[str, dict[str, Any]]":
        """Return what a command says of each GPU, by its number."""
        text = tool_output("amd-smi", *words, "--json")
        try:
            # A warning may stand in front.
            found = json.loads(text[re.search(r"^[\[{]", text, re.M).start() :])  # type: ignore[union-attr]
        except (ValueError, AttributeError):
            return {}
        rows = found.get("gpu_data", []) if isinstance(found, dict) else found
        return {str(row["gpu"]): row for row in rows if isinstance(row, dict) and "gpu" in row}

    def query(self) -> "list[dict[str, str]]":  # noqa: D102
        stated, running = self.ask("static"), self.ask("process")
        return [
            {
                **gpu,
                **self.described(stated.get(gpu["index"], {})),
                "processes": self.running(running.get(gpu["index"], {})),
            }
            for gpu in self.measured()
        ]

    def samples(self, visible: str) -> "list[dict[str, str]]":  # noqa: D102
        wanted = visible.split(",") if visible else []
        return [gpu for gpu in self.measured() if not wanted or gpu["index"] in wanted]

    def measured(self) -> "list[dict[str, str]]":
        """Return what changes."""
        found = []
        for index, row in sorted(self.ask("metric").items(), key=lambda each: int(each[0])):
            clocks = row.get("clock")
            power = amount(row, "power", "socket_power") or amount(row, "power", "average_socket_power")
            hottest = amount(row, "temperature", "hotspot") or amount(row, "temperature", "edge")
            found.append(without_unknown({
                "index": index,
                "utilisation": amount(row, "usage", "gfx_activity"),
                "used_mib": amount(row, "mem_usage", "used_vram"),
                "memory_mib": amount(row, "mem_usage", "total_vram"),
                "power_watts": power,
                "temperature_c": hottest,
                "memory_temperature_c": amount(row, "temperature", "mem"),
                "core_clock_mhz": amount(clocks, "gfx_0", "clk") or amount(clocks, "gfx_0", "cur_clk"),
                "memory_clock_mhz": amount(clocks, "mem_0", "clk") or amount(clocks, "mem_0", "cur_clk"),
            }))  # fmt: skip
        return found

    @staticmethod
    def described(row: "dict[str, Any]") -> "dict[str, str]":
        """Return what does not change."""
        name = text_in(row, "asic", "market_name")
        version = text_in(row, "driver", "version") or text_in(row, "driver", "driver_version")
        return without_unknown({
            "name": name if not name or name.startswith("AMD") else f"AMD {name}",
            "memory_mib": amount(row, "vram", "size"),
            "driver": version,
            "power_limit_watts": amount(row, "limit", "socket_power") or amount(row, "limit", "power"),
        })  # fmt: skip

    @staticmethod
    def running(row: "dict[str, Any]") -> str:
        """Return how many processes there are; where there are none, a sentence stands in place of each or of all."""
        rows = row.get("process_list") or row.get("process_info") or []
        found = (
            [each.get("process_info", each) for each in rows if isinstance(each, dict)]
            if isinstance(rows, list)
            else []
        )
        return str(sum(isinstance(each, dict) and "pid" in each for each in found))

    def facts(self) -> "dict[str, Any]":  # noqa: D102
        return {"rocm": first_match(r'"rocm_version": *"([0-9.]+)', tool_output("amd-smi", "version", "--json"))}

    def topology(self) -> str:  # noqa: D102
        return tool_output("amd-smi", "topology", "--link-type")


# The options of rocm-smi, and for each key of a device the names under which it states it.
ROCM_SMI = [
    "--showproductname", "--showdriverversion", "--showuse", "--showmeminfo", "vram", "--showtemp", "--showpower",
    "--showclocks", "--showmaxpower", "--json",
]  # fmt: skip
ROCM_SMI_KEYS = {
    "name": ("card series", "device name", "card model"),
    "utilisation": ("gpu use (%)",),
    "power_watts": ("current socket graphics package power (w)", "average graphics package power (w)"),
    "power_limit_watts": ("max graphics package power (w)",),
    "temperature_c": ("temperature (sensor junction) (c)", "temperature (sensor edge) (c)"),
    "memory_temperature_c": ("temperature (sensor memory) (c)",),
}


class RocmSmi(DeviceTool):
    """GPUs of AMD, by the older rocm-smi, which does not say on which of them a process runs.

    Source: `rocm_smi.py` of ROCm 5 and 6, "ROCm SMI CLI". Keys hold the unit; some were renamed, or differ in case.
    """

    tool, variables, maker = "rocm-smi", AmdSmi.variables, AmdSmi.maker

    def query(self) -> "list[dict[str, str]]":  # noqa: D102
        try:
            found = json.loads(tool_output("rocm-smi", *ROCM_SMI))
        except ValueError:
            return []
        cards = {name: row for name, row in found.items() if re.match(r"card\d+$", name) and isinstance(row, dict)}
        driver = str((found.get("system") or {}).get("Driver version", ""))
        return [
            self.card(name[len("card") :], {key.lower(): str(value) for key, value in row.items()}, driver)
            for name, row in sorted(cards.items(), key=lambda each: int(each[0][len("card") :]))
        ]

    def card(self, index: str, row: "dict[str, str]", driver: str) -> "dict[str, str]":
        """Return one device."""
        found = {key: next((row[name] for name in names if name in row), "") for key, names in ROCM_SMI_KEYS.items()}
        used, total = (number(row.get(f"vram total {word}memory (b)")) for word in ("used ", ""))
        clocks = [first_match(r"\((\d+)Mhz\)", row.get(f"{name} clock speed:", "")) for name in ("sclk", "mclk")]
        name = found["name"]
        return without_unknown({
            **{key: value for key, value in found.items() if value != "N/A"},
            "index": index,
            "name": name if not name or name.startswith("AMD") else f"AMD {name}",
            "driver": driver,
            "used_mib": str(int(used) >> 20) if used is not None else "",
            "memory_mib": str(int(total) >> 20) if total else "",
            "core_clock_mhz": clocks[0],
            "memory_clock_mhz": clocks[1],
        })  # fmt: skip

    def facts(self) -> "dict[str, Any]":  # noqa: D102
        return {"rocm": first_match(r"^([0-9.]+)", read_text("/opt/rocm/.info/version"))}

    def topology(self) -> str:  # noqa: D102
        return tool_output("rocm-smi", "--showtopotype")


class Ascend(DeviceTool):
    """NPUs of Ascend, by the tables of `npu-smi info`, two rows for each chip, with a slot `/ 0` for what it lacks.

    Programs number the chips in this order. Source: "npu-smi info" of Huawei's "npu-smi Command Reference", 21.0 to 26.
    """

    tool, variables, maker = "npu-smi", ("ASCEND_RT_VISIBLE_DEVICES",), "Ascend"
    # NPU and name, health, power and temperature; and chip (with its number among all), bus, AICore and memory.
    first = re.compile(r"\|\s*(\d+)\s+([A-Za-z0-9][\w.-]*)\s*\|\s*\w+\s*\|\s*([\d.]+|NA|-)\s+([\d.]+|NA|-)\s")
    second = re.compile(
        r"\|\s*(\d+)(?:\s+\S+)?\s*\|\s*(?:[0-9A-Fa-f]+:[0-9A-Fa-f:.]+|NA)\s*\|\s*([\d.]+|NA|-)\s+(.*)\|"
    )
    process = re.compile(r"\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|")

    def query(self) -> "list[dict[str, str]]":  # noqa: D102
        text = tool_output("npu-smi", "info")
        driver = first_match(r"^\|\s*npu-smi\s+\S+\s+Version:\s*(\S+)", text)
        running = [match.group(1, 2) for match in map(self.process.match, text.splitlines()) if match]
        found: "list[dict[str, str]]" = []
        npu = None
        for line in text.splitlines():
            first, second = self.first.match(line), self.second.match(line)
            if second and npu:
                chip, use, memory = second.groups()
                # Memory of the chip, and behind it that of the HBM: the last one that it has.
                sizes = [pair for pair in re.findall(r"(\d+)\s*/\s*(\d+)", memory) if pair[1] != "0"] or [("", "")]
                found.append(without_unknown({
                    "index": str(len(found)),
                    "name": "Ascend " + npu.group(2).replace("Ascend", ""),
                    "driver": driver,
                    "utilisation": known(use),
                    "used_mib": sizes[-1][0],
                    "memory_mib": sizes[-1][1],
                    "power_watts": known(npu.group(3)),
                    "temperature_c": known(npu.group(4)),
                    "processes": str(running.count((npu.group(1), chip))),
                }))  # fmt: skip
            elif first:
                npu = first
        return found

    def facts(self) -> "dict[str, Any]":  # noqa: D102
        files = sorted(glob.glob("/usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info"))
        return {"cann": first_match(r"^version=(\S+)", read_text(files[0])) if files else ""}

    def topology(self) -> str:  # noqa: D102
        return tool_output("npu-smi", "info", "-t", "topo")


def known(text: str) -> str:
    """Return a text that is a number; empty for `NA` and `-`."""
    return text if re.match(r"[\d.]+$", text) else ""


class Declared(DeviceTool):
    """Accelerators of which a site says how to ask for them: a line per device, of JSON, or of CSV under its names."""

    def __init__(self, declared: "dict[str, str]") -> None:
        self.maker, self.probe = declared["name"], declared["probe"]
        self.variables = (declared["variable"],) if declared["variable"] else ()

    @property
    def missing(self) -> str:  # noqa: D102
        return "" if self.query() else self.probe

    def query(self) -> "list[dict[str, str]]":  # noqa: D102
        rows: "list[dict[str, str]]" = []
        names: "list[str]" = []
        for line in tool_output("bash", "-c", self.probe).splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if line.startswith("{"):
                with contextlib.suppress(ValueError):
                    rows.append({key: str(value) for key, value in json.loads(line).items()})
            elif names:
                rows.append(dict(zip(names, cells)))
            else:
                names = cells
        known_keys = {"index", "name", "driver", "memory_mib", "used_mib", "utilisation", "processes", *LIVE}
        return [
            {
                "index": str(at),
                "name": self.maker,
                **{key: cell for key, cell in row.items() if key in known_keys and cell},
            }
            for at, row in enumerate(rows)
        ]


MAKERS = (Nvidia, AmdSmi, RocmSmi, Ascend)


def device_tool(declared: "dict[str, str] | None" = None) -> DeviceTool:
    """Return the accelerators of this host: those that its site declares, or else those whose tool is here."""
    if declared:
        return Declared(declared)
    makers = [maker() for maker in MAKERS]
    return next((maker for maker in makers if not maker.missing), makers[0])


def hardware(device: str, gpus: "list[dict[str, str]]") -> str:
    """Return the hardware name of this machine for a run on this device, and on these accelerators."""
    if device == "gpu":
        return gpu_names(gpus) or "unknown"
    # A run on some processors of a machine is no repeat of one on all of them.
    cores = f"{usable_cores()} of {cpu_cores()}" if usable_cores() else str(cpu_cores())
    return ", ".join([*filter(None, [cpu_model()]), f"{cores} cores (CPU)"])


# --- What NCCL reports, and the network between nodes -----------------------------------------------------------------

# Variables that make it report how ranks are connected; see `NCCL_VARIABLES` in job.py, with the file that it goes to.
# Source: "Environment Variables" of the NCCL documentation.
NCCL_REPORT = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,GRAPH"}
NCCL_FILE = "NCCL_DEBUG_FILE"
# Below `ranks`, which containers see. Hidden, because it is removed: it holds names and addresses of hosts.
NCCL_FOLDER = ".nccl"
# Lines of its report. Source: init.cc, graph/search.cc, transport/p2p.cc and net.cc of NCCL 2.8 to 2.28. Pattern 4 is
# the ring, and the first type that of the paths inside a node, where all of NVL, NVB and C2C are links of NVIDIA.
NCCL_VERSION = re.compile(r"NCCL version (\d+(?:\.\d+)+)")
NCCL_VIA = re.compile(r"NCCL INFO Channel .* via (P2P|SHM|COLLNET|NVLS|NET/[A-Za-z ]+)(.*)")
NCCL_CHANNELS = re.compile(r"NCCL INFO (\d+) coll channels")
NCCL_RING = re.compile(r"NCCL INFO Pattern 4, .* type (\w+)/")
NCCL_LINKS = {
    "NVL": "NVLink",
    "NVB": "NVLink",
    "C2C": "NVLink-C2C",
    "PIX": "PCIe",
    "PXB": "PCIe",
    "PHB": "PCIe",
    "SYS": "PCIe",
}
# By which torch meets; that of AMD has the same name.
BACKEND = "nccl"
# Variables by which a framework takes the network interface of its ranks.
OF_INTERFACE = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


def nccl_report(folder: str) -> "dict[str, Any]":
    """Return what NCCL's files in a folder say: version, how ranks are connected, and the number of channels."""
    versions, channels = set(), [0]
    links: "set[str]" = set()
    ways: "set[tuple[str, bool]]" = set()
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        text = read_text(path)[:LONGEST_LIST]
        versions.update(NCCL_VERSION.findall(text))
        channels += map(int, NCCL_CHANNELS.findall(text))
        links.update(NCCL_LINKS.get(kind, kind) for kind in NCCL_RING.findall(text))
        ways.update((way.strip(), "GDRDMA" in rest) for way, rest in NCCL_VIA.findall(text))
    inside = f" ({' + '.join(sorted(links))})" if links else ""
    named = {way + (inside if way == "P2P" else " (GDRDMA)" if direct else "") for way, direct in ways}
    return without_unknown({
        "nccl": " + ".join(sorted(versions)),
        "nccl_transport": " + ".join(sorted(named)),
        "nccl_channels": max(channels) or None,
    })  # fmt: skip


def unused_infiniband(nodes: int, transport: str) -> "list[str]":
    """Return a warning if nodes were connected by sockets although this one has an active port of InfiniBand."""
    ports = [port for port in infiniband_ports() if port.endswith("InfiniBand")]
    if nodes < 2 or not ports or "NET/Socket" not in transport or "NET/IB" in transport:
        return []
    remedy = "a container needs /dev/infiniband, and NCCL_IB_HCA may name the wrong devices"
    count = f"{len(ports)} active {'ports' if len(ports) > 1 else 'port'} of InfiniBand"
    return [f"NCCL connected the nodes by sockets (NET/Socket), although this host has {count}; {remedy}"]


# How long nodes wait for each other in an all-reduce, how many bytes each rank gives, and how often it is timed.
ALL_REDUCE_SECONDS = 60
ALL_REDUCE_BYTES, ALL_REDUCE_REPEATS = 1 << 28, 10
# What the Python that trains runs on each node: a process for each device, forked before anything of CUDA is begun. Bus
# bandwidth is that of nccl-tests: 2 (n - 1) / n of the bytes, by the time of one all-reduce.
ALL_REDUCE = """
import json, os, signal, sys, time
mark, backend, address, port = sys.argv[1:5]
node, nodes, count, size, repeats, seconds = map(int, sys.argv[5:11])

def skip(why):
    sys.stdout.write("\\n" + mark + json.dumps({"skipped": why}) + "\\n")
    sys.stdout.flush()
    os._exit(0)

def meet(local):
    signal.alarm(seconds)
    from datetime import timedelta
    import torch
    import torch.distributed as distributed
    rank, ranks, on_gpu = node * count + local, nodes * count, backend == "nccl"
    os.environ.update(MASTER_ADDR=address, MASTER_PORT=port)
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group(backend, rank=rank, world_size=ranks, timeout=timedelta(seconds=seconds))
    given = torch.ones(size // 4, device=device)
    distributed.all_reduce(given)
    assert float(given[0]) == ranks, "the sum of %d ones is %r" % (ranks, float(given[0]))
    given.zero_()
    for timed in (0, repeats):
        for _ in range(timed or 3):
            distributed.all_reduce(given)
        if on_gpu:
            torch.cuda.synchronize()
        took, start = time.perf_counter() - (start if timed else 0), time.perf_counter()
    if local == 0:
        bandwidth = 2 * (ranks - 1) / ranks * size * repeats / took / 1e9
        sys.stdout.write("\\n" + mark + json.dumps({"gb_s": bandwidth, "ranks": ranks}) + "\\n")
        sys.stdout.flush()
    distributed.destroy_process_group()

import importlib.util
if importlib.util.find_spec("torch") is None:
    skip("the recipe's Python has no torch")
children = []
for local in range(count):
    child = os.fork()
    if not child:
        try:
            if backend == "nccl":
                import torch
                if not torch.cuda.is_available():
                    skip("the torch of the recipe's Python has no CUDA") if local == 0 else os._exit(0)
            meet(local)
        except BaseException as error:
            sys.stderr.write("%s: %s\\n" % (type(error).__name__, error))
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    children.append(child)
sys.exit(max(1 if os.waitpid(child, 0)[1] else 0 for child in children))
"""


def all_reduce(job: "NodeJob") -> "dict[str, Any]":
    """Meet the other nodes in a small all-reduce, as the run's ranks will, and return what came of it.

    `notes` are for whoever asks. Bandwidth and transport are kept for the environment of a run that follows.
    """
    spec, container = job.spec, job.spec["container"]
    if container and container["tool"] in WITH_DAEMON and not job.inspect_image("{{.Id}}"):
        return {"notes": [f"no all-reduce was tried: the image {container['image']} is not on this host yet"]}
    job.prepare_folders()
    address, port = job.master
    # Another port than the run's, which must be free when that starts.
    argv = job.contained([
        spec["python"], "-c", ALL_REDUCE, MARK, BACKEND, address, str(int(port) - 10000), str(job.rank),
        str(spec["nodes"]), str(spec["devices_per_node"]), str(ALL_REDUCE_BYTES), str(ALL_REDUCE_REPEATS),
        str(ALL_REDUCE_SECONDS),
    ])  # fmt: skip
    variables = {**job.environment(), "PYTHONUNBUFFERED": "1"}
    status, text = run_tool(argv, ALL_REDUCE_SECONDS + 30, env=variables, stderr=subprocess.STDOUT)
    job.kill_leftovers()
    job.take_over_files()
    report = nccl_report(job.path("ranks", NCCL_FOLDER))
    job.remove_unwanted()
    answers = [json.loads(line[len(MARK) :]) for line in text.splitlines() if line.startswith(MARK + "{")]
    found = answers[-1] if answers else {}
    if "skipped" in found:
        return {"notes": [f"no all-reduce was tried: {found['skipped']}"]}
    if status or "gb_s" not in found:
        last = last_words(text)
        return {"warnings": [f"an all-reduce over the ranks of this case failed (exit status {status}): {last}"]}
    transport = report.get("nccl_transport", "")
    bandwidth = float(f"{found['gb_s']:.3g}")
    facts = without_unknown({"allreduce_gb_s": bandwidth, "allreduce_transport": transport})
    write_file(job.path("all_reduce.json"), json.dumps(facts))
    note = f"all-reduce over {found['ranks']} ranks: {bandwidth:g} GB/s bus bandwidth"
    return {
        "notes": [f"{note}, by {transport}" if transport else note],
        "warnings": unused_infiniband(spec["nodes"], transport),
    }


def loops_back(name: str) -> bool:
    """Return whether a name is resolved to this machine's loopback, as Debian does with the machine's own."""
    import socket

    try:
        return socket.gethostbyname(name).startswith("127.")
    except OSError:
        return False


def interface_towards(address: str) -> str:
    """Return the network interface by which the kernel reaches an address; empty if none does, or it is loopback's."""
    import socket

    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            # Of a datagram nothing is sent by this.
            probe.connect((address, 9))
            own = probe.getsockname()[0]
        except OSError:
            return ""
        for _, name in [] if own.startswith("127.") else socket.if_nameindex():
            with contextlib.suppress(OSError):
                # SIOCGIFADDR; see netdevice(7).
                found = fcntl.ioctl(probe.fileno(), 0x8915, name.encode()[:15].ljust(40, b"\0"))
                if socket.inet_ntoa(found[20:24]) == own:
                    return name
    return ""


# --- The Python that trains -------------------------------------------------------------------------------------------

NVIDIA_WHEEL = re.compile(r"nvidia-(cuda-runtime|cudnn|nccl)(?:-cu\d+)?$")
# Variables by which images state versions. Trusted in containers only: on a bare machine anybody may set them.
IMAGE_VARIABLES = {
    "cuda": ("CUDA_VERSION",),
    "cudnn": ("CUDNN_VERSION", "NV_CUDNN_VERSION"),
    "nccl": ("NCCL_VERSION", "NV_LIBNCCL_PACKAGE_VERSION"),
}


def installed(device: str, contained: str, *packages: str) -> None:
    """Report what is installed in this Python. Where answers repeat a key, the last one counts.

    Frameworks are imported last, because a broken one may crash this process.
    """
    found = distributions()
    versions = {name: found[canonical(name)][1] for name in packages if canonical(name) in found}
    send_answer({
        "python": sys.version.split()[0],
        "packages": versions,
        "missing": [name for name in packages if name not in versions],
        "installed": [f"{name}=={version}" for name, version in sorted(found.values())],
    })  # fmt: skip
    if device != "gpu":
        return
    if contained == "yes":
        image = {key: [os.environ.get(name) for name in names] for key, names in IMAGE_VARIABLES.items()}
        send_answer(without_unknown({key: next(filter(None, values), "") for key, values in image.items()}))
    wheels = {NVIDIA_WHEEL.match(name): version for name, (_, version) in found.items()}
    send_answer({wheel.group(1).replace("cuda-runtime", "cuda"): version for wheel, version in wheels.items() if wheel})
    wanted = {canonical(name) for name in packages}
    for names, libraries in (({"torch"}, torch_libraries), ({"paddlepaddle", "paddlepaddle-gpu"}, paddle_libraries)):
        if wanted & names:
            try:
                libraries()
            except Exception as error:  # Whatever it is, the rest is known still.
                sys.stderr.write(f"{min(names)}: {error}\n")


def distributions() -> "dict[str, tuple[str, str]]":
    """Return name and version of every installed distribution, by normalised name."""
    try:
        from importlib.metadata import distributions as metadata

        found = [(each.metadata["Name"], each.version) for each in metadata()]
    except ImportError:  # before Python 3.8
        working_set = importlib.import_module("pkg_resources").working_set
        found = [(each.project_name, each.version) for each in working_set]
    return {canonical(name): (name, version) for name, version in reversed(found) if name and version}


def canonical(name: str) -> str:
    """Normalise the name of a package. Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def torch_libraries() -> None:
    """Report CUDA, cuDNN and NCCL as torch states them."""
    torch = importlib.import_module("torch")
    send_answer(without_unknown({"cuda": torch.version.cuda}))
    send_answer(without_unknown({"cudnn": dotted(torch.backends.cudnn.version() or 0)}))
    nccl = importlib.import_module("torch.cuda.nccl").version()
    send_answer(without_unknown({"nccl": ".".join(map(str, nccl)) if isinstance(nccl, tuple) else dotted(nccl)}))


def paddle_libraries() -> None:
    """Report the same for paddle, which states `False` for what it was built without."""
    version = importlib.import_module("paddle").version
    for key in IMAGE_VARIABLES:
        value = str(getattr(version, key, str)())
        if re.match(r"\d+(\.\d+)+$", value):
            send_answer({key: value})


def dotted(number: int) -> str:
    """Format a version number: 8902 is 8.9.2 (cuDNN before 9.0, NCCL before 2.9), later 90100 is 9.1.0; empty for 0."""
    thousand = 10000 if number >= 10000 else 1000
    rest = number % thousand
    return f"{number // thousand}.{rest // 100}.{rest % 100}" if number else ""


# --- A job on this node -----------------------------------------------------------------------------------------------


def fill(word: "list[Any]", values: "dict[str, str]") -> str:
    """Fill the node variables of one word of a command line."""
    return "".join(part if isinstance(part, str) else values[part["node"]] for part in word)


def address_of(host: str, is_this_node: bool) -> str:
    """Return the address of a host, or its name if it has none.

    Note: many hosts resolve their own name to 127.0.1.1, which other hosts cannot use.
    """
    if re.match(r"[0-9.]+$", host):
        return host
    import socket

    try:
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)]
    except OSError:
        found = []
    if is_this_node:
        found += [word for word in tool_output("hostname", "-I").split() if re.match(r"[0-9.]+$", word)]
    return next((address for address in found if not address.startswith("127.")), host)


class PythonEnvironment:
    """The virtual environment of a recipe, below the work folder. A mark in it, written last, says what made it."""

    def __init__(self, work: str, wanted: "dict[str, str]") -> None:
        self.name, self.made_by = wanted["name"], wanted["made_by"]
        self.folder = os.path.join(work, "environments", self.name)
        self.mark = os.path.join(self.folder, "perfledger.json")
        self.bin = os.path.join(self.folder, "bin")

    @property
    def is_there(self) -> bool:
        """Whether its setup was begun."""
        return os.path.isdir(self.folder)

    @property
    def is_current(self) -> bool:
        """Whether the steps that the recipe has now made it, all of them."""
        return first_match(r'"made_by": *"([0-9a-f]*)"', read_text(self.mark)) == self.made_by

    def entered(self, variables: "dict[str, str]") -> "dict[str, str]":
        """Return environment variables as they are inside it, and without those that would lead out of it."""
        path = os.pathsep.join(filter(None, [self.bin, variables.get("PATH", os.defpath)]))
        kept = {name: value for name, value in variables.items() if name != "PYTHONHOME"}
        return {**kept, "PATH": path, "VIRTUAL_ENV": self.folder}

    def make(self, python: str, lock: str, variables: "dict[str, str]") -> "list[list[str]]":
        """Remove an environment of other steps, and return the commands that make this one; none if it is current."""
        if self.is_current:
            return []
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(os.path.dirname(self.folder), exist_ok=True)
        path = variables.get("PATH")
        found = shutil.which(python, path=path) or shutil.which("python3", path=path) or sys.executable
        uv = shutil.which("uv", path=path)
        # Seeded, because setup steps call pip.
        made = [uv, "venv", "--seed", "--python", found] if uv else [found, "-m", "venv"]
        commands = [[*made, self.folder]]
        if lock:
            requirements = self.folder + ".lock"
            write_file(requirements, lock)
            inside = os.path.join(self.bin, "python")
            pip = [uv, "pip", "install", "--python", inside] if uv else [inside, "-m", "pip", "install"]
            commands.append([*pip, "--require-hashes", "-r", requirements])
        return commands

    def finish(self) -> None:
        """Mark it as complete."""
        write_file(self.mark, json.dumps({"schema": "perfledger.environment_made/1", "made_by": self.made_by}))


def after_prologue(lines: "list[str]") -> "dict[str, str]":
    """Return the environment variables that the lines of a site's prologue leave behind.

    Raises:
        Refused: a line failed.
    """
    if not lines:
        return dict(os.environ)
    # What the lines print goes to stderr, so that nothing but the variables stands in the answer.
    program = "\n".join(["set -e", "exec 3>&1 1>&2", *lines, "env -0 >&3"])
    try:
        done = subprocess.run(
            ["bash", "-c", program], stdin=NOTHING, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HOOK_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"the site's prologue cannot be run: {error}") from None
    if done.returncode:
        last = last_words(clean(done.stderr))
        raise Refused(f"a line of the site's prologue failed (exit status {done.returncode}): {last}")
    pairs = (os.fsdecode(each).partition("=") for each in done.stdout.split(b"\0"))
    return {name: value for name, equals, value in pairs if equals and name not in ("_", "SHLVL")}


def secret_texts(names: "list[str]", variables: "Mapping[str, str]" = os.environ) -> "list[str]":
    """Return what to mask of secrets, the longest first: their values, and the lines of a value that has several."""
    values = [variables[name] for name in names if variables.get(name)]
    lines = [line for value in values for line in value.splitlines() if len(line) >= SHORTEST_LINE]
    return sorted({*values, *lines}, key=len, reverse=True)


def without(texts: "list[str]", said: str) -> str:
    """Return what a program said with `***` in place of some texts."""
    for text in texts:
        said = said.replace(text, "***")
    return said


def mask(path: str, pattern: "Pattern[bytes]") -> None:
    """Replace what matches in a log by `***`, or, where the disk has no space for a copy, by stars in its place."""
    copy = f"{path}.masked"
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        if not pattern.search(log):
            return
        try:
            with open(copy, "wb") as masked, memoryview(log) as view:
                done = 0
                for found in pattern.finditer(log):
                    masked.write(view[done : found.start()])
                    masked.write(b"***")
                    done = found.end()
                masked.write(view[done:])
            os.replace(copy, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(copy)
            with open(path, "rb+") as masked:
                for found in pattern.finditer(log):
                    masked.seek(found.start())
                    masked.write(b"*" * len(found.group()))


def is_own(path: str) -> bool:
    """Return whether a file is this user's; one that is gone is nobody's concern."""
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return True


class NodeJob:
    """One job on this node: its specification, and the values that only this node knows."""

    def __init__(self, folder: str, document: "dict[str, Any] | None" = None) -> None:
        self.folder = os.path.abspath(folder)
        if document is None:
            document = read_json(self.path("job.json"))
        self.spec = document["spec"]
        self.accelerators = device_tool(self.spec.get("accelerator"))
        self.rank = document["rank"]
        self.identity = document["identity"]
        self.hosts = document["hosts"]
        self.master = (document["master_address"], document["master_port"])
        self.mark = f"{self.identity}.{self.rank}.{os.getpid()}"
        self.addresses: "list[str]" = []
        self.temporary = os.environ.get("TMPDIR") or "/tmp"
        spec = self.spec
        # Without sources and without --work, or with files of its own, the command runs in a new empty folder.
        self.wants_scratch = bool(spec["files"]) or not (spec["source_folder"] or spec["work"])
        work = os.path.expanduser(spec["work"] or "~/.perfledger/work")
        self.work = os.path.join(os.path.expanduser("~"), work)
        self.sources = os.path.join(self.work, spec["source_folder"]).rstrip("/")
        self.working_folder = self.temporary if self.wants_scratch else self.sources
        wanted = spec["virtual_environment"]
        self.python_environment = PythonEnvironment(self.work, wanted) if wanted else None
        self.variables: "dict[str, str]" = {}
        # If the launcher starts the other nodes itself, those only sample telemetry and wait.
        self.is_observer = not spec["every_node"] and self.rank != 0

    def path(self, *names: str) -> str:
        """Return a path below the job's folder."""
        return os.path.join(self.folder, *names)

    @property
    def used_environment(self) -> "PythonEnvironment | None":
        """The recipe's own Python environment, if its setup was run here; else the host's Python runs the command."""
        found = self.python_environment
        return found if found and found.is_there else None

    @property
    def gpu_variable(self) -> str:
        """The variable by which the command sees some accelerators only: that which gives them, or else the first.

        Raises:
            Refused: two give some, and one counts among those of the other.
        """
        names = self.accelerators.variables
        set_here = [name for name in names if name in self.spec["variables"] or self.base_variables.get(name)]
        if len(set_here) > 1:
            raise Refused(
                f"{' and '.join(set_here)} are both set, and each chooses among the GPUs; leave one of them out"
            )
        return next(iter([*set_here, *names]), "")

    @property
    def given_gpus(self) -> str:
        """The accelerators that recipe, user, site or scheduler give to the command; empty: all of this host."""
        word = self.spec["variables"].get(self.gpu_variable)
        # A recipe that names those which are chosen here gives none.
        if word and {"node": "gpu_ids"} in word:
            word = None
        given = fill(word, self.values) if word else self.base_variables.get(self.gpu_variable, "")
        return given.replace(" ", "")

    @property
    def used_gpus(self) -> str:
        """The accelerators of this job as the variable names them; empty: all of this host."""
        return read_text(self.path("gpus")) or self.given_gpus

    @property
    def gpus(self) -> "list[dict[str, str]]":
        """The accelerators of this job."""
        return self.accelerators.devices(self.used_gpus) if self.spec["device"] == "gpu" else []

    @property
    def base_variables(self) -> "dict[str, str]":
        """The environment variables after the site's prologue. Once, because modules and conda take seconds."""
        self.variables = self.variables or after_prologue(self.spec["hooks"]["prologue"])
        return self.variables

    @property
    def values(self) -> "dict[str, str]":
        """The node variables; see `NODE_VARIABLES` in job.py."""
        per_node = self.spec["devices_per_node"]
        # Looked up once, and only after the job has begun: a name server may be slow.
        self.addresses = self.addresses or [address_of(host, at == self.rank) for at, host in enumerate(self.hosts)]
        return {
            "node_rank": str(self.rank),
            "master_address": self.master[0],
            "master_port": str(self.master[1]),
            "hosts": ",".join(self.hosts),
            "addresses": ",".join(self.addresses),
            "address": self.addresses[self.rank],
            "host": self.hosts[self.rank],
            "host_slots": ",".join(f"{host}:{per_node}" for host in self.hosts),
            "hostfile": self.path("hostfile"),
            "ranks": self.path("ranks"),
            "output": self.path("output"),
            "work": self.work,
            "working_folder": self.working_folder,
            "identity": self.identity,
        }

    @property
    def gpu_ids(self) -> str:
        """The numbers of the GPUs of this job, or of all that its case has where it chose none."""
        count = self.spec["devices_per_node"]
        return self.used_gpus or ",".join(map(str, range(count)))

    def filled(self, word: "list[Any]") -> str:
        """Fill the node variables of a word; the numbers of GPUs only where it names them: they may depend on it."""
        ids = {"gpu_ids": self.gpu_ids} if {"node": "gpu_ids"} in word else {}
        return fill(word, {**self.values, **ids})

    def fill(self, words: "list[list[Any]]") -> "list[str]":
        """Fill the node variables of a command line."""
        return list(map(self.filled, words))

    def contained(self, words: "list[str]") -> "list[str]":
        """Return a command line that runs `words` in the container, if there is one."""
        container = self.spec["container"]
        return [*(self.fill(container["enter"]) if container else []), *words]

    @property
    def command(self) -> "list[str]":
        """The command in its container; an observer sleeps instead."""
        if self.is_observer:
            return ["sleep", str(self.seconds + PREPARE_SECONDS)]
        return self.contained(self.fill(self.spec["command"]))

    @property
    def seconds(self) -> int:
        """The time limit; observers have one too, or they would run forever if the launcher died."""
        return int(self.spec["timeout_seconds"]) + (PREPARE_SECONDS if self.is_observer else 0)

    def environment(self) -> "dict[str, str]":
        """Return the environment variables of the command.

        PERFLEDGER_COMMAND marks all processes that it starts, also those in sessions of their own, as launchers do it.
        CUDA_DEVICE_ORDER makes CUDA number the GPUs as nvidia-smi does.
        """
        order = {} if self.spec["device"] == "cpu" else {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        given = {name: self.filled(word) for name, word in self.spec["variables"].items()}
        chosen = {} if self.spec["device"] == "cpu" or not self.used_gpus else {self.gpu_variable: self.used_gpus}
        variables = {**self.base_variables, "PERFLEDGER_COMMAND": self.mark, **order, **given, **chosen}
        variables = {**self.reporting(variables), **self.meeting(variables), **variables}
        if self.spec["python"].startswith("/") and not self.spec["container"]:
            # The launchers that belong to a Python lie beside it.
            beside = os.path.dirname(self.spec["python"])
            variables["PATH"] = os.pathsep.join([beside, variables.get("PATH", os.defpath)])
        inside = self.used_environment
        return inside.entered(variables) if inside else variables

    def reporting(self, variables: "dict[str, str]") -> "dict[str, str]":
        """Return what makes NCCL report to files of this job how ranks are connected, unless somebody asked otherwise.

        Not where the launcher starts other nodes, which lack this folder: NCCL would report into the log.
        """
        spec = self.spec
        is_alone = spec["nodes"] * spec["devices_per_node"] == 1 or (spec["nodes"] > 1 and not spec["every_node"])
        has_nccl = spec["device"] == "gpu" and isinstance(self.accelerators, Nvidia)
        if is_alone or not has_nccl or any(name in variables for name in (*NCCL_REPORT, NCCL_FILE)):
            return {}
        return {**NCCL_REPORT, NCCL_FILE: self.path("ranks", NCCL_FOLDER, "%p.log")}

    def meeting(self, variables: "dict[str, str]") -> "dict[str, str]":
        """Return the variables of the network interface, where ranks would look for each other at loopback.

        Gloo and NCCL take the address to which the machine's own name is resolved.
        """
        wanted = [name for name in OF_INTERFACE if name not in variables]
        if self.spec["nodes"] == 1 or self.is_observer or not wanted or not loops_back(os.uname().nodename):
            return {}
        other = self.hosts[1 if self.rank == 0 else 0]
        found = interface_towards(address_of(other, False))
        return dict.fromkeys(wanted, found) if found else {}

    def prepare_folders(self) -> None:
        """Create the folders and the hostfile that the command and its container may name."""
        for name in ("ranks", "output", os.path.join("ranks", NCCL_FOLDER)):
            os.makedirs(self.path(name), exist_ok=True)
        lines = [f"{host} slots={self.spec['devices_per_node']}\n" for host in self.hosts]
        write_file(self.path("hostfile"), "".join(lines))

    def kill_leftovers(self) -> None:
        """Kill what the command left running; repeat, because a dying process may just have started another."""
        container = self.spec["container"]
        # With Apptainer and pyxis, the processes in the container are processes of this user like any other.
        if container and container["tool"] in WITH_DAEMON:
            tool_output(container["tool"], "rm", "--force", fill(container["name"], self.values))
        for attempt in range(1, 4):
            left = processes_with(f"PERFLEDGER_COMMAND={self.mark}")
            for process in left:
                kill(process, signal.SIGKILL)
            if not left:
                return
            time.sleep(attempt / 10)

    def take_over_files(self) -> None:
        """Make files that a container wrote as another user this user's own, or nobody could read or remove them.

        With a daemon that runs as root, a launcher in the container keeps logs of ranks in folders of root alone. Only
        root in a container may give them away.
        """
        container = self.spec["container"]
        places = [self.path(name) for name in ("ranks", "output")]
        found = (
            os.path.join(top, name)
            for place in places
            for top, folders, files in os.walk(place)
            for name in [*folders, *files]
        )
        if not container or container["tool"] not in WITH_DAEMON or all(map(is_own, found)):
            return
        mounts = [word for place in places for word in ("-v", f"{place}:{place}")]
        owner = f"{os.getuid()}:{os.getgid()}"
        tool_output(
            container["tool"], "run", "--rm", "--user", "0:0", "--entrypoint", "chown", *mounts, container["pinned"],
            "-R", owner, *places, seconds=HOOK_SECONDS,
        )  # fmt: skip

    def remove_unwanted(self) -> None:
        """Remove files that are not collected.

        Note: Paddle's launcher writes all environment variables of the user, with secrets, beside the logs of ranks.
        """
        shutil.rmtree(self.path("output"), ignore_errors=True)
        shutil.rmtree(self.path("ranks", NCCL_FOLDER), ignore_errors=True)
        for path in glob.glob(self.path("ranks", "paddle", "*")):
            if not re.match(r"(worker|server|trainer)log\.\d+$", os.path.basename(path)):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def run_hooks(self, name: str) -> str:
        """Run the lines of a site's hook; return why one failed, empty if none did. `after` runs to its end."""
        failed = ""
        for line in self.spec["hooks"][name]:
            status, said = run_tool(["bash", "-c", line], HOOK_SECONDS, stderr=subprocess.STDOUT)
            if status and not failed:
                last = without(secret_texts(self.spec["secrets"]), last_words(said))
                failed = f"`{line}` of the site's `{name}` failed (exit status {status}): {last}"
            if failed and name == "before":
                break
        return failed

    def mask_secrets(self) -> "list[str]":
        """Replace the values of secrets in the logs, which are published; return a warning where that fails."""
        texts, warnings = secret_texts(self.spec["secrets"]), []
        pattern = re.compile(b"|".join(re.escape(os.fsencode(text)) for text in texts))
        for name in ["train.log", *self.rank_logs()] if texts else []:
            try:
                # An empty file cannot be mapped.
                if os.path.getsize(self.path(name)):
                    mask(self.path(name), pattern)
            except OSError as error:
                warnings.append(f"secrets in {name} could not be masked ({error.strerror}); look before you publish it")
        return warnings

    def rank_logs(self) -> "list[str]":
        """Return the logs of ranks, relative to the job's folder."""
        found = []
        for folder, folders, files in os.walk(self.path("ranks")):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [os.path.join(folder, name) for name in sorted(files) if not name.startswith(".")]
        return [os.path.relpath(path, self.folder) for path in found if not os.path.islink(path)]

    def ask_python(self, device: str, seconds: float) -> "dict[str, Any]":
        """Return the answers of `installed`; nothing for a recipe without Python, which names no packages."""
        contained = self.spec["container"] is not None
        if not contained and not self.spec["packages"]:
            return {}
        question = [
            self.spec["python"],
            "-c",
            as_argument(read_text(self.path("agent.py"))),
            "installed",
            device,
            "yes" if contained else "no",
        ]
        argv = self.contained([*question, *self.spec["packages"]])
        folder = self.working_folder
        _, text = run_tool(
            argv, seconds, LONGEST_LIST, cwd=folder if os.path.isdir(folder) else None, env=self.environment()
        )
        answers: "dict[str, Any]" = {}
        for line in text.splitlines():
            if line.startswith(MARK + "{"):
                with contextlib.suppress(ValueError):
                    answers.update(json.loads(line[len(MARK) :]))
        return answers

    def inspect_image(self, template: str) -> str:
        """Ask the container tool about the image, by its digest if the recipe states one."""
        container = self.spec["container"]
        name = container["image"]
        if container["digest"]:
            name = f"{re.sub(r':[^:/]*$', '', name)}@{container['digest']}"
        return tool_output(container["tool"], "image", "inspect", "--format", template, "--", name)

    def container_record(self) -> "dict[str, str]":
        """Return tool, image and digest; the digest is the recipe's, or else that of the local image."""
        container = self.spec["container"]
        if not container:
            return {}
        digest = container["digest"]
        if not digest and container["tool"] in WITH_DAEMON:
            digests = self.inspect_image("{{range .RepoDigests}}{{println .}}{{end}}")
            digest = first_match(r"^[^@]*@(sha256:[0-9a-f]{64})$", digests)
        return without_unknown({"tool": container["tool"], "image": container["image"], "digest": digest})

    def environment_record(self) -> "dict[str, Any]":
        """Return the content of environment.json."""
        gpus = self.gpus
        load = [number(word) for word in read_text(f"{PROC}/loadavg").split()[:3]]
        answers = self.ask_python(self.spec["device"], PREPARE_SECONDS)
        container, ports = self.container_record(), infiniband_ports()
        kinds = [port.split(": ", 1)[1] for port in ports]
        facts = {
            **machine_facts(),
            **gpu_facts(gpus),
            **(self.accelerators.facts() if gpus else {}),
            # As many as the machine has, whichever of them ran.
            "gpus": len(self.accelerators.devices()) or None,
            "threads": number(self.spec["threads"]),
            "load_average_before": load,
            **{key: answers.get(key) for key in ("python", "packages", "cuda", "cudnn", "nccl")},
            "python_environment": self.used_environment.name if self.used_environment else None,
            "container_digest": container.get("digest"),
            **json.loads(read_text(self.path("all_reduce.json")) or "{}"),
            "network_interface": next(
                iter(self.meeting({**self.base_variables, **self.spec["variables"]}).values()), ""
            ),
            "infiniband": "; ".join(f"{kinds.count(kind)} x {kind}" for kind in sorted(set(kinds))),
            "os": first_match(r'^PRETTY_NAME=["\']?(.*?)["\']?$', read_text("/etc/os-release")),
            "kernel": os.uname().release,
        }
        return without_unknown({
            "schema": "perfledger.environment/1",
            "facts": without_unknown(facts),
            "gpus": [gpu_record(gpu) for gpu in gpus],
            "topology": self.accelerators.topology() if gpus else "",
            "infiniband": ports,
            "packages_installed": answers.get("installed"),
            "container": container,
        })  # fmt: skip

    def source_record(self) -> "dict[str, Any]":
        """Return the commit of the sources, and whether they were modified, as far as git can tell."""
        if not self.spec["source_folder"] or not os.path.isdir(self.sources):
            return {}
        commit = tool_output("git", "rev-parse", "--verify", "HEAD", cwd=self.sources)
        if not re.match(r"[0-9a-f]{40,64}$", commit):
            return {}
        status, changes = run_tool(["git", "status", "--porcelain", "--untracked-files=no"], cwd=self.sources)
        return {"commit": commit, **({} if status else {"modified": bool(changes.strip())})}


def as_argument(program: str) -> str:
    """Return a Python program in a form that one argument can hold: Linux limits each to 128 KiB."""
    import base64
    import zlib

    packed = base64.b64encode(zlib.compress(program.encode("utf-8"), 9)).decode()
    return f"import base64, zlib; exec(zlib.decompress(base64.b64decode('{packed}')).decode())"


def source() -> str:
    """Return the source of this file."""
    with open(os.path.abspath(__file__), encoding="utf-8") as file:
        return file.read()


# --- Before the run: what would make it fail, or its figures worthless ------------------------------------------------


def check(job: NodeJob) -> "list[str]":
    """Check this node before the run, and return warnings.

    Raises:
        Refused: the run must not be started.
    """
    warnings: "list[str]" = []
    for step in (
        check_lock, check_space, check_container, check_gpus, check_source, check_environment, check_programs,
        check_packages, check_port, check_hosts, check_load,
    ):  # fmt: skip
        warnings += step(job) or []
    return warnings


def lock_path() -> str:
    """Return the file that is locked while a run goes on: one per host, for jobs may lie on a shared disk."""
    jobs = os.environ.get("PERFLEDGER_JOBS") or os.path.expanduser("~/.perfledger/jobs")
    # Beside the folder, which is removed with its last job.
    return f"{jobs.rstrip('/')}.measuring.{os.uname().nodename}"


def lock_host(job: NodeJob) -> "Any":
    """Lock this host for a run, and return the open file, which holds the lock; None where no file can be made.

    Raises:
        Refused: another run measures here, and the two would slow each other down.
    """
    if "SLURM_JOB_ID" in os.environ:  # Its nodes are its own.
        return None
    try:
        os.makedirs(os.path.dirname(lock_path()), exist_ok=True)
        file = open(lock_path(), "a+", encoding="utf-8")  # noqa: SIM115
    except OSError:
        return None
    # A check holds it for a moment.
    for attempt in range(LOCK_ATTEMPTS):
        time.sleep(LOCK_SECONDS if attempt else 0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            taken = error.errno in (errno.EACCES, errno.EAGAIN)
            continue
        file.truncate(0)
        file.write(f"{job.identity} {utc()}\n")
        file.flush()
        return file
    file.seek(0)
    identity, since = [*file.read().split(), "", ""][:2]
    file.close()
    # Nodes of one job may share a machine, and some file systems know no locks.
    if not taken or identity == job.identity or job.spec["even_if_busy"]:
        return None
    raise Refused(
        f"this host is busy: another run measures here{f', {identity} since {since}' if since else ''}; wait for its "
        "end with --wait-idle, or measure all the same with --even-if-busy"
    )


def check_lock(job: NodeJob) -> None:
    """Refuse a host on which another run measures."""
    file = lock_host(job)
    if file:
        file.close()


def check_hosts(job: NodeJob) -> None:
    """Refuse a launcher that starts the ranks of other nodes by SSH where SSH does not reach them from here.

    Under Slurm launchers use `srun`, and others may have been told to use another program.
    """
    variables = job.environment()
    if job.spec["every_node"] or job.is_observer or "SLURM_JOB_ID" in variables:
        return
    parts = [*variables, *(part for word in job.spec["command"] for part in word if isinstance(part, str))]
    if any(re.search(r"(rsh|ssh)_agent", part) for part in parts):
        return
    for host in job.hosts[1:]:
        argv = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, "true"]
        status, said = run_tool(argv, 30, stderr=subprocess.STDOUT, env=variables)
        if status:
            last = last_words(said)
            raise Refused(
                f"the launcher starts the ranks of other nodes by SSH, and `ssh {host}` fails on this host: {last}; "
                "give it a key that the other hosts accept, and connect once by hand so that theirs are known"
            )


def why_busy(job: NodeJob) -> "list[str]":
    """Return why this host is not idle: another run, busy GPUs, busy processors."""
    try:
        check_lock(job)
        check_gpus(job)
    except Refused as refusal:
        if "busy" not in str(refusal):
            raise
        return [str(refusal).split(";")[0]]
    return check_load(job)


def free_bytes(place: str) -> int:
    """Return how much this user can still write below a folder."""
    disk = os.statvfs(place)
    return disk.f_bavail * disk.f_frsize


def check_space(job: NodeJob) -> None:
    """Refuse folders that are not writable or have no space."""
    for place in (job.folder, job.temporary):
        if not os.access(place, os.W_OK):
            raise Refused(f"the folder {place} cannot be written to on this host")
        free = free_bytes(place)
        if free < SPACE_NEEDED:
            raise Refused(
                f"there is no space left on this host: {free >> 20} MiB below {place}, and a run needs "
                f"{SPACE_NEEDED >> 20}; free some"
            )


def check_container(job: NodeJob) -> "list[str]":
    """Refuse a container tool that is missing or does not work; warn if the image has to be pulled."""
    container = job.spec["container"]
    if not container:
        return []
    tool = container["tool"]
    if job.spec["device"] == "gpu" and tool in WITH_DAEMON and not isinstance(job.accelerators, Nvidia):
        raise Refused(
            f"{tool} is told to give a container the GPUs of NVIDIA, and this host has those of "
            f"{job.accelerators.maker}; run it without --container, or with apptainer and what that needs "
            "among the site's container arguments"
        )
    if tool == "pyxis":
        if "--container-image" not in run_tool(["srun", "--help"])[1]:
            raise Refused("srun knows no --container-image here: pyxis is not installed; choose another --container")
        return []
    if not shutil.which(tool):
        raise Refused(f"{tool} is not on this host; install it, or choose another with --container")
    if tool == "apptainer":
        return []
    status, said = run_tool([tool, "info"], stderr=subprocess.STDOUT)
    if status:
        last = last_words(said)
        raise Refused(f"{tool} does not work on this host: {last}; is its service running, and may you use it?")
    if job.inspect_image("{{.Id}}"):
        return []
    return [f"the image {container['image']} is not on this host yet; the run begins by pulling it"]


def check_gpus(job: NodeJob) -> "list[str]":
    """Choose the GPUs of a job, or what accelerators this host has, and keep the choice for all that follows.

    Refuse too few or busy ones; warn if their settings differ, because the facts then cannot state them.
    """
    spec = job.spec
    if spec["device"] == "cpu":
        return []
    found, gpus = choose_gpus(job)
    busy = [Disturbance(sentence) for sentence in (busy_gpu(job.accelerators, gpu) for gpu in gpus) if sentence]
    if busy and not spec["even_if_busy"]:
        raise Refused(f"{busy[0]}; wait, or measure all the same with --even-if-busy")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(job.path("gpus"))
    # A trainer that takes all it sees would use more than its case says, and of divided GPUs it sees one slice.
    if job.gpu_variable and (len(gpus) < len(found) or any("profile" in gpu for gpu in gpus)):
        write_file(job.path("gpus"), ",".join(gpu["index"] for gpu in gpus))
    values = {key: gpu_values(gpus, key) for key in ("name", *GPU_SETTINGS, "persistence", "ecc", "mig")}
    differing = [f"the GPUs of this host differ in {key}: {value}" for key, value in values.items() if " + " in value]
    return busy + differing


def choose_gpus(job: NodeJob) -> "tuple[list[dict[str, str]], list[dict[str, str]]]":
    """Return the GPUs that are given to a job, and those of them that it is to use: free ones, in their order.

    Raises:
        Refused: there are too few, or the launcher uses others.
    """
    spec, tools = job.spec, job.accelerators
    if tools.missing:
        raise Refused(f"this recipe needs a GPU, and {missing_tool(tools)}")
    found, wanted = tools.devices(job.given_gpus), spec["devices_per_node"]
    if len(found) < wanted:
        raise Refused(f"this case needs {wanted} GPUs per node, and this host shows {len(found)}")
    if len(found) > wanted and not tools.variables:
        raise Refused(
            f"this case needs {wanted} of the {len(found)} devices of this host, and its site names no `variable` that "
            "chooses some; add it to [hosts.*.accelerator]"
        )
    # Sorting keeps the order among those that are free.
    gpus = found if spec["first_gpus"] else sorted(found, key=lambda gpu: bool(busy_gpu(tools, gpu)))
    gpus = sorted(gpus[:wanted], key=found.index)
    if all(gpu["index"].isdigit() for gpu in gpus):
        gpus.sort(key=lambda gpu: int(gpu["index"]))
    if spec["first_gpus"] and [gpu["index"] for gpu in gpus] != [str(at) for at in range(wanted)]:
        raise Refused(
            f"the launcher of this recipe uses GPU 0 to {wanted - 1}, whatever {job.gpu_variable} says, which is "
            f"{job.given_gpus} here; leave the variable out"
        )
    return found, gpus


def missing_tool(tools: DeviceTool) -> str:
    """Return in words that no accelerator can be asked here."""
    if isinstance(tools, Declared):
        return f"`{tools.probe}`, which the site names to ask for those of this host, prints no device here"
    if tools.tool != MAKERS[0].tool:
        return f"{tools.missing} is not on this host"
    return (
        f"{MAKERS[0].tool} is not on this host, nor {', '.join(maker.tool for maker in MAKERS[1:-1])} or "
        f"{MAKERS[-1].tool}; a site can declare another accelerator"
    )


def busy_gpu(tools: DeviceTool, gpu: "dict[str, str]") -> str:
    """Return why a GPU is busy (processes, utilisation, a tenth of its memory used); empty if it is idle."""
    count = tools.processes(gpu)
    use, used, total = (int(number(gpu.get(key)) or 0) for key in ("utilisation", "used_mib", "memory_mib"))
    if not count and use <= 10 and used * 10 <= total:
        return ""
    shown = [gpu.get(key, "?") for key in ("utilisation", "used_mib", "memory_mib")]
    # UUIDs of slices are private.
    name = f"GPU {gpu['index']}" if gpu["index"].isdigit() else f"a slice of GPU {gpu.get('parent', '')}".strip()
    return f"{name} is busy: processes on it {count}, utilisation {shown[0]} %, memory {shown[1]} of {shown[2]} MiB"


def check_source(job: NodeJob) -> "list[str]":
    """Refuse missing data or sources; warn of sources that are modified or at another commit."""
    if job.spec["data"] and not os.path.exists(job.spec["data"]):
        raise Refused(f"the data {job.spec['data']} is not on this host; name its place there with --data")
    if job.spec["source_folder"] and not os.path.isdir(job.sources):
        raise Refused(
            f"the folder {job.sources} is not on this host; `python -m runners setup` fetches the sources, --work says "
            "where they are"
        )
    found, expected = job.source_record(), job.spec["expected_commit"]
    commit, warnings = found.get("commit", ""), []
    if commit and expected and not commit.startswith(expected):
        warnings.append(
            f"the sources in {job.sources} are at commit {commit[:12]}, not at the recipe's {expected[:12]}"
        )
    if found.get("modified"):
        warnings.append(f"the sources in {job.sources} have been changed since their commit")
    return warnings


def check_environment(job: NodeJob) -> None:
    """Refuse a Python environment of the recipe that other setup steps made, or not all of them."""
    found = job.used_environment
    if found and not found.is_current:
        raise Refused(
            f"the Python environment {found.folder} is not of the recipe's present setup steps, or "
            "they did not finish; make it again with `python -m runners setup`, or remove it to use the host's Python"
        )


def check_secrets(job: NodeJob) -> None:
    """Refuse a run whose secrets this process did not get."""
    for name in job.spec["secrets"]:
        if not os.environ.get(name):
            raise Refused(f"the secret {name} is not set here; export it where the run is started")


def check_programs(job: NodeJob) -> None:
    """Refuse missing programs; they are looked up with the PATH and in the folder of the command."""
    path = job.environment().get("PATH")
    for program in [*([] if job.spec["container"] else job.command[:1]), *job.spec["programs"]]:
        found = os.path.join(job.working_folder, program) if "/" in program else program
        if not shutil.which(found, path=path):
            raise Refused(
                f"the program {program} is not on this host; install it or put it on PATH (`python -m runners show` "
                "says what a recipe needs)"
            )


def check_packages(job: NodeJob) -> None:
    """Refuse a Python that lacks packages. Skipped for an image that would have to be pulled first."""
    container, python = job.spec["container"], job.spec["python"]
    if not job.spec["packages"] or (container and container["tool"] not in WITH_DAEMON):
        return
    if container:
        if not job.inspect_image("{{.Id}}"):
            return
        job.prepare_folders()
    # Without the device: versions of CUDA are asked when the run begins.
    answers = job.ask_python("none", 120)
    missing = ", ".join(answers.get("missing", []))
    if missing:
        raise Refused(
            f"{python} lacks packages that this recipe needs: {missing}; `python -m runners setup` installs what the "
            "recipe's steps name, and `show` says what else it needs"
        )
    if "python" not in answers:
        raise Refused(f"{python} cannot say what packages it has; is it a Python?")


def check_port(job: NodeJob) -> None:
    """Refuse a rendezvous port that is already used on this node."""
    parts = [part for word in job.spec["command"] for part in word]
    if {"node": "master_port"} not in parts or job.rank != 0:
        return
    import socket

    address, port = job.master
    try:
        socket.create_connection((address, int(port)), 3).close()
    except OSError:
        return
    raise Refused(
        f"port {port} of {address} is taken, and the ranks were to meet there; end what listens on it, or start again "
        "for another port"
    )


def check_load(_job: NodeJob) -> "list[str]":
    """Warn if the CPU is busy. The load average is no measure: it still includes the run before this one."""
    before = processor_times()
    time.sleep(LOAD_SECONDS if before else 0)
    after = processor_times() if before else None
    if before and after and after[1] > before[1]:
        share = (after[0] - before[0]) * 100 // (after[1] - before[1])
        if share >= BUSY_PERCENT:
            return [
                Disturbance(
                    f"the processors of this host are {share} % busy before the run: something else computes here"
                )
            ]
    return []


# --- Telemetry: a row a second ----------------------------------------------------------------------------------------


# The columns that `sample` prints of each accelerator, by the keys of a device.
SAMPLE_COLUMNS = {
    "device": "index", "name": "name", "power_w": "power_watts", "utilisation_percent": "utilisation",
    "memory_used_mib": "used_mib", "memory_total_mib": "memory_mib", "temperature_c": "temperature_c",
    "memory_temperature_c": "memory_temperature_c", "core_clock_mhz": "core_clock_mhz",
    "memory_clock_mhz": "memory_clock_mhz",
}  # fmt: skip


def sample(folder: str) -> int:
    """Print a row a second for each accelerator of a job, until this process is ended."""
    job = NodeJob(folder)
    tools, visible, gpus = job.accelerators, job.used_gpus, job.gpus
    library = tools.reader(gpus)
    # A library that is not believed leaves it to the tool.
    argv = [] if library else tools.rows_of_tool(job)
    if argv:
        os.execvp(argv[0], argv)
    names = {gpu["index"]: gpu.get("name", "") for gpu in gpus}
    columns = {**SAMPLE_COLUMNS, **{name: name for name in tools.further_columns}}
    print(",".join(["timestamp", *columns]), flush=True)
    while True:
        began, now = time.monotonic(), utc()
        for gpu in [library.read(gpu["index"]) for gpu in gpus] if library else tools.samples(visible):
            row = {"name": names.get(gpu["index"], ""), **gpu}
            cells = [row.get(key) or "N/A" for key in columns.values()]
            print(",".join([now, *(cell.replace(",", " ") for cell in cells)]), flush=True)
        time.sleep(max(0.1, began + 1 - time.monotonic()))


def disk_bytes() -> "tuple[int, int]":
    """Return the bytes read from and written to all disks. Source: iostats.txt of the kernel, sectors of 512 bytes."""
    read = written = 0
    for path in glob.glob(f"{SYS}/block/*/stat"):
        # Devices on top of others would count twice: of disks alone there is a link to the hardware.
        fields = read_text(path).split()
        if len(fields) > 6 and os.path.exists(os.path.join(os.path.dirname(path), "device")):
            read, written = read + int(fields[2]) * 512, written + int(fields[6]) * 512
    return read, written


class Sampler:
    """Writes rows of telemetry, one a second: accelerators by a tool, and load, memory and disks of this machine.

    The latter starts no processes, so that the sampler takes as little as possible from the run. Of a run on GPUs it
    has a file of its own.
    """

    def __init__(self, job: NodeJob, guard: "Guard") -> None:
        self.job = job
        self.host = job.path("telemetry.csv" if job.spec["device"] == "cpu" else "telemetry-host.csv")
        self.process: "subprocess.Popen[bytes] | None" = None
        self.due = NEVER
        self.before = processor_times()
        self.disk, self.at = disk_bytes(), time.monotonic()
        if self.before:
            # The first row comes soon, because a run may be short.
            self.due = time.monotonic() + 0.2
            self.write(
                "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib,disk_read_mib_s,disk_written_mib_s\n"
            )
        if job.spec["device"] == "gpu":
            argv = job.accelerators.sampler(job)
            with contextlib.suppress(OSError), open(job.path("telemetry.csv"), "ab") as file:
                self.process = subprocess.Popen(
                    argv, stdin=NOTHING, stdout=file, stderr=NOTHING, start_new_session=True
                )
                guard.tell(f"group {self.process.pid}")

    def write(self, text: str) -> None:
        """Append a row; ignore a full disk, which is reported elsewhere."""
        with contextlib.suppress(OSError), open(self.host, "a") as file:
            file.write(text)

    def sample(self) -> None:
        """Write a row for the time since the last one, if it is due."""
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + 1
        now, memory, load = processor_times(), read_text(f"{PROC}/meminfo"), read_text(f"{PROC}/loadavg").split()
        total, available = (first_match(rf"^{key}:\s*(\d+)", memory) for key in ("MemTotal", "MemAvailable"))
        if not now or not self.before or now[1] <= self.before[1] or not (total and available and load):
            return
        tenths = max(0, (now[0] - self.before[0]) * 1000 // (now[1] - self.before[1]))
        self.before = now
        used = (int(total) - int(available)) // 1024
        disk, at = disk_bytes(), time.monotonic()
        read, written = ((there - here) / 2**20 / (at - self.at) for here, there in zip(self.disk, disk))
        self.disk, self.at = disk, at
        share = f"{tenths // 10}.{tenths % 10}"
        self.write(f"{utc()},{load[0]},{share},{used},{int(total) // 1024},{max(0, read):.1f},{max(0, written):.1f}\n")

    def stop(self) -> None:
        """Stop sampling; remove a truncated last row, and a file without rows."""
        if self.process:
            kill(self.process.pid, signal.SIGTERM, group=True)
            time.sleep(0.1)
            kill(self.process.pid, signal.SIGKILL, group=True)
            self.process.wait()
        for path in {self.host, self.job.path("telemetry.csv")}:
            with contextlib.suppress(OSError):
                with open(path, "rb+") as file:
                    data = file.read()
                    whole = data[: data.rfind(b"\n") + 1]
                    file.truncate(len(whole))
                if whole.count(b"\n") < 2:
                    os.unlink(path)

    def slowdowns(self) -> "tuple[dict[str, Any], list[str]]":
        """Return what the samples of NVIDIA's GPUs say of clocks: the share under the power limit, and warnings."""
        rows = [
            [cell.strip() for cell in line.split(",")]
            for line in read_text(self.job.path("telemetry.csv")).splitlines()
        ]
        names = rows[0] if rows else []
        at = next((names.index(field) for field in (*SLOWDOWN_FIELDS, SLOWDOWN_COLUMN) if field in names), None)
        if at is None:
            return {}, []
        index = names.index("device" if "device" in names else "index")
        found: "dict[str, list[int]]" = {}
        for row in rows[1:]:
            if len(row) > at and re.match(r"0x[0-9A-Fa-f]+$", row[at]):
                found.setdefault(row[index], []).append(int(row[at], 16))
        whole = [reasons for each in found.values() for reasons in each]
        if not whole:
            return {}, []
        warnings = []
        for gpu, each in sorted(found.items()):
            slowed = sum(any(reasons & bit for bit, _ in SLOWDOWNS) for reasons in each)
            why = [words for bit, words in SLOWDOWNS if any(reasons & bit for reasons in each)]
            if slowed:
                warnings.append(f"GPU {gpu} was slowed down in {slowed} of {len(each)} samples: {', '.join(why)}")
        capped = sum(bool(reasons & POWER_CAP) for reasons in whole) * 100 / len(whole)
        return {"gpu_power_capped_percent": round(capped, 1)}, warnings


# --- The run ----------------------------------------------------------------------------------------------------------


class OtherWork:
    """Finds what other work ran on this machine during the command, from its processors and its GPUs."""

    def __init__(self, job: NodeJob) -> None:
        self.job, self.gpus = job, job.gpus
        container = job.spec["container"]
        # Processes that a daemon or another launcher started are no children of this one.
        self.starts_all = not (job.is_observer or (container and container["tool"] in (*WITH_DAEMON, "pyxis")))
        adopt_orphans()
        self.began, self.own, self.before = time.monotonic(), own_seconds(), processor_times()

    def found(self) -> "list[str]":
        """Return sentences on work that was not of the command, which has ended."""
        wait_for_orphans()
        after, own = processor_times(), own_seconds() - self.own
        disturbances = []
        is_judged = time.monotonic() - self.began >= JUDGED_SECONDS
        if is_judged and self.before and after and after[1] > self.before[1]:
            busy, total, stolen = (there - here for here, there in zip(self.before, after))
            others = (busy - own * os.sysconf("SC_CLK_TCK")) * 100 / total
            if self.starts_all and others >= BUSY_PERCENT:
                disturbances.append(
                    f"other work used {others:.0f} % of the processors of this host during the run (mean)"
                )
            if stolen * 100 >= BUSY_PERCENT * total:
                disturbances.append(
                    f"other virtual machines took {stolen * 100 // total} % of the time of this host's processors "
                    "during the run (mean)"
                )
        return disturbances + list(filter(None, map(self.on_gpu, self.gpus)))

    def on_gpu(self, gpu: "dict[str, str]") -> str:
        """Return that others compute on a GPU whose own processes have ended; empty if none do."""
        if not gpu["index"].isdigit():
            return ""
        until, count = time.monotonic() + RELEASE_SECONDS, self.job.accelerators.processes(gpu)
        while count and time.monotonic() < until:
            time.sleep(0.5)
            count = self.job.accelerators.processes(gpu)
        return f"processes of others on GPU {gpu['index']} at the end of the run: {count}" if count else ""


class SignalPipe:
    """Signals as bytes in a pipe, so that one `select` waits for requests to stop and for the end of a child."""

    def __init__(self) -> None:
        self.pipe, end = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(end, False)
        signal.set_wakeup_fd(end)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def wait(self, seconds: float) -> "list[str]":
        """Wait for a signal, and return the requested outcomes in order."""
        if not select.select([self.pipe], [], [], max(0, seconds))[0]:
            return []
        ignored = (signal.SIGCHLD,)
        numbers = [number for number in os.read(self.pipe, 4096) if number not in ignored]
        return ["timeout" if number == signal.SIGUSR1 else "stopped" for number in numbers]


class Guard:
    """A child process that cleans up if the job's process is killed.

    It notices that by the end of a pipe that only the job's process holds open.
    """

    def __init__(self, job: NodeJob) -> None:
        end, self.pipe = os.pipe()
        if os.fork() == 0:
            try:
                os.setsid()
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
                    signal.signal(number, signal.SIG_IGN)
                os.close(self.pipe)
                with os.fdopen(end) as told:
                    self.clear(job, told.read().split("\n"))
            finally:
                os._exit(0)
        os.close(end)

    def tell(self, line: str) -> None:
        """Send a line to the guard; ignore that it may be gone."""
        with contextlib.suppress(OSError):
            os.write(self.pipe, f"{line}\n".encode("utf-8", "surrogateescape"))

    @staticmethod
    def clear(job: NodeJob, lines: "list[str]") -> None:
        """Kill the named process groups and remove the named folders, unless the job has ended by itself."""
        if "done" in lines:
            return
        for line in lines:
            if line.startswith("group "):
                kill(int(line[len("group ") :]), signal.SIGKILL, group=True)
        job.kill_leftovers()
        job.take_over_files()
        job.remove_unwanted()
        job.mask_secrets()
        if "hooks" in lines and "hooks done" not in lines:
            job.run_hooks("after")
        for line in lines:
            if line.startswith("folder "):
                shutil.rmtree(line[len("folder ") :], ignore_errors=True)


class Runner:
    """Runs a job: claims its folder, starts the command as a process group, supervises it."""

    def __init__(self, job: NodeJob) -> None:
        self.job = job
        self.requests = SignalPipe()
        self.outcome = ""
        self.status = 143
        self.scratch = ""
        self.warnings: "list[str]" = []
        self.sampler: "Sampler | None" = None

    def run(self) -> int:
        """Run the job and return the exit status of this program."""
        try:
            self.claim()
            self.guard = Guard(self.job)
            self.enter_folder()
            record = self.run_between_hooks()
            self.guard.tell("done")
        finally:
            if self.scratch:
                shutil.rmtree(self.scratch, ignore_errors=True)
        try:
            write_file(self.job.path("host.json"), as_json(without_unknown(record)) + "\n")
        except OSError:
            sys.stderr.write(f"{self.job.path('host.json')} cannot be written; is the disk full?\n")
            return 3
        return EXIT_STATUS.get(self.outcome, 1)

    def claim(self) -> None:
        """Create the log, and fail if there is one: no run overwrites another's log."""
        job = self.job
        # Held until this process ends, and the guard that it forks.
        self.lock = lock_host(job)
        try:
            os.close(os.open(job.path("train.log"), os.O_CREAT | os.O_EXCL, 0o666))
            job.prepare_folders()
            write_file(job.path("machine"), "\n".join(machine()) + "\n")
            # Last, because its existence shows that the job has begun.
            write_file(job.path("pid"), f"{os.getpid()}\n")
        except FileExistsError:
            raise Refused(f"a run was already started in {job.folder}; its log is not overwritten") from None
        except OSError:
            raise Refused(f"{job.folder} cannot be written to; is the disk full?") from None

    def enter_folder(self) -> None:
        """Create the scratch folder that the command runs in, with the files of the recipe.

        If one node starts the ranks of all, they need the same path everywhere, and two nodes on one machine share it.
        """
        job = self.job
        if not job.wants_scratch:
            return
        rank = f".{job.rank}" if job.spec["every_node"] else ""
        folder = os.path.join(job.temporary, f"perfledger.{job.identity}{rank}")
        try:
            os.mkdir(folder, 0o700)
        except OSError:
            is_this_node = (
                os.path.isdir(folder) and not os.path.islink(folder) and os.stat(folder).st_uid == os.geteuid()
            )
            if not is_this_node:
                raise Refused(
                    f"the scratch folder {folder} cannot be made; set TMPDIR to a folder with space"
                ) from None
        self.scratch = job.working_folder = folder
        self.guard.tell(f"folder {folder}")
        try:
            for name, text in job.spec["files"].items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(encoded(text))
        except OSError:
            raise Refused(
                "the files of this recipe cannot be written to a scratch folder; set TMPDIR to one with space"
            ) from None

    def run_between_hooks(self) -> "dict[str, Any]":
        """Run the command between the hooks of the site, and return the content of host.json."""
        self.guard.tell("hooks")
        refused = self.job.run_hooks("before")
        if refused:
            # Without what it was to set up, the figures would be of another machine.
            self.outcome = "failed"
            with contextlib.suppress(OSError), open(self.job.path("train.log"), "ab") as log:
                log.write(f"{refused}\n".encode("utf-8", "surrogateescape"))
        try:
            record = self.run_and_record()
        finally:
            failed = self.job.run_hooks("after")
            self.guard.tell("hooks done")
        if refused:
            record["exit_status"] = 126
        return {**record, "warnings": [*record["warnings"], *([failed] if failed else [])]}

    def run_and_record(self) -> "dict[str, Any]":
        """Run the command, and return the content of host.json."""
        job = self.job
        argv = [sys.executable, "-I", job.path("agent.py"), "environment", self.scratch]
        variables = {**os.environ, "PERFLEDGER_COMMAND": job.mark}
        self.supervise(argv, PREPARE_SECONDS, cwd=job.folder, env=variables, stdout=NOTHING)
        # Read now: somebody may check out another commit during the run.
        found = job.source_record()
        kills_before = kernel_kills()
        self.sampler = Sampler(job, self.guard)
        for request in self.requests.wait(0):
            self.outcome = self.outcome or request
        others = OtherWork(job)
        start, began = utc(), time.monotonic()
        if self.outcome:
            self.status = self.status or 143
        else:
            self.run_command()
        wall, end = time.monotonic() - began, utc()
        self.sampler.stop()
        job.kill_leftovers()
        disturbances = others.found()
        job.take_over_files()
        facts, warnings = self.sampler.slowdowns()
        said, doubts = self.nccl_facts()
        facts, warnings = {**facts, **said}, [*warnings, *doubts, *self.full_disks()]
        job.remove_unwanted()
        warnings += job.mask_secrets()
        self.name_outcome(kills_before)
        return {
            "schema": "perfledger.host/1",
            "node_rank": job.rank,
            "start": start,
            "end": end,
            "wall_seconds": round(wall, 2),
            "exit_status": self.status,
            "outcome": self.outcome,
            "hardware": hardware(job.spec["device"], job.gpus),
            **shown_gpus(job),
            "facts": facts,
            "warnings": warnings,
            "disturbances": disturbances,
            "source": found,
            "files": self.files(),
        }

    def full_disks(self) -> "list[str]":
        """Return where a command that failed left no space: what it would have said of it may be missing in its log."""
        job = self.job
        places = {"of its job": job.folder, "that it ran in": job.working_folder, "for temporary files": job.temporary}
        full = [words for words, place in places.items() if os.path.isdir(place) and free_bytes(place) < FULL]
        return (
            [f"the command left no space in the folder {', and in that '.join(full)}"] if full and self.status else []
        )

    def nccl_facts(self) -> "tuple[dict[str, Any], list[str]]":
        """Return what NCCL reported, and warnings if it did not do what was to be expected."""
        found = nccl_report(self.job.path("ranks", NCCL_FOLDER))
        warnings = unused_infiniband(self.job.spec["nodes"], found.get("nccl_transport", ""))
        stated = first_match(r'"nccl": *"(\d+(?:\.\d+)+)', read_text(self.job.path("environment.json")))
        version = found.get("nccl", "")
        if stated:
            # As it was known before, so that earlier repeats do not seem to have had another.
            found.pop("nccl", None)
        if stated and version not in ("", stated):
            warnings.append(f"NCCL says that it is {version}, and the Python that trains says {stated}")
        return found, warnings

    def run_command(self) -> None:
        """Run the command. The log is opened for appending, because programs may reopen /dev/stderr."""
        job = self.job
        # The first node removes the folder of the command as soon as it is over, and an observer may begin after that.
        folder = job.folder if job.is_observer else job.working_folder
        streams = {"stderr": subprocess.STDOUT, "env": job.environment(), "cwd": folder}
        with open(job.path("train.log"), "ab", 0) as log:
            try:
                self.supervise(job.command, job.seconds, stdout=log, **streams)
            except OSError as error:
                self.status = 127 if isinstance(error, FileNotFoundError) else 126
                with contextlib.suppress(OSError):
                    log.write(f"{job.command[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))

    def supervise(self, argv: "list[str]", seconds: float, **options: "Any") -> None:
        """Run a command as a process group until it ends; sets `status` (128 + n for signal n) and `outcome`."""
        process = subprocess.Popen(argv, stdin=NOTHING, start_new_session=True, **options)
        self.guard.tell(f"group {process.pid}")
        self.await_end(process, time.monotonic() + seconds)
        self.status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        # Kill the rest of the group; processes outside it are found by PERFLEDGER_COMMAND.
        kill(process.pid, signal.SIGKILL, group=True)

    def await_end(self, process: "subprocess.Popen[bytes]", limit: float) -> None:
        """Wait for a command. The first request terminates it; a second one, or the end of the grace, kills it."""
        killing = NEVER
        while process.poll() is None:
            due = self.sampler.due if self.sampler else NEVER
            requests = self.requests.wait(min(limit, killing, due, time.monotonic() + 3600) - time.monotonic())
            now = time.monotonic()
            if now >= limit:
                limit = NEVER
                requests.append("timeout")
            if now >= killing:
                requests.append(self.outcome)
            for request in requests:
                kill(process.pid, signal.SIGKILL if self.outcome else signal.SIGTERM, group=True)
                if self.outcome:
                    self.job.kill_leftovers()
                self.outcome = self.outcome or request
                killing = now + GRACE_SECONDS
            if self.sampler:
                self.sampler.sample()

    def name_outcome(self, kills_before: str) -> None:
        """Set the outcome from exit status, logs and kernel counters."""
        if self.job.is_observer:
            self.outcome, self.status = "completed", 0
        elif not self.outcome and self.status == 0:
            self.outcome = "completed"
        elif not self.outcome:
            killed = kills_before not in ("", kernel_kills())
            # Note: TensorFlow prints the same words when it falls back to a smaller algorithm.
            short = any(OUT_OF_MEMORY.search(line) and b"this is not a failure" not in line for line in self.lines())
            killed = killed and (self.status == 137 or any(map(KILLED.search, self.lines())))
            self.outcome = "oom" if short or killed else "failed"

    def lines(self) -> "Iterator[bytes]":
        """Yield the lines of all logs."""
        for name in ["train.log", *self.job.rank_logs()]:
            with contextlib.suppress(OSError), open(self.job.path(name), "rb") as file:
                yield from file

    def files(self) -> "dict[str, dict[str, Any]]":
        """Return hash and size of the files of the run.

        Skips empty logs of ranks, and names with unusual characters.
        """
        found = {}
        named = ["train.log", "telemetry.csv", "telemetry-host.csv", "environment.json"]
        for name in [*named, *self.job.rank_logs()]:
            path = self.job.path(name)
            # Files that a container wrote as root may be unreadable.
            if os.path.isfile(path) and os.access(path, os.R_OK) and re.match(r"[A-Za-z0-9._/+=,@:-]+$", name):
                size = os.path.getsize(path)
                if size or not name.startswith("ranks/"):
                    found[name] = {"sha256": digest(path), "bytes": size}
        return found


def shown_gpus(job: NodeJob) -> "dict[str, str]":
    """Return the variable that chose accelerators, and its value, without that of UUIDs, which are private."""
    used = job.used_gpus if job.spec["device"] == "gpu" else ""
    return {"gpus": used, "gpu_variable": job.gpu_variable} if re.match(r"[\d,]+$", used) else {}


OUT_OF_MEMORY = re.compile(
    rb"[Oo]ut [Oo]f [Mm]emory|OutOfMemory|OUT_OF_MEMORY|RESOURCE_EXHAUSTED|ResourceExhaustedError|"
    rb"CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation|hipErrorOutOfMemory|std::bad_alloc|"
    rb"^([A-Za-z_.]*\.)?_?(Array)?MemoryError|an.t allocate memory|annot allocate memory|not enough memory:|"
    rb"Allocate memory failed|oom.kill event"
)
# How launchers report that a rank was killed.
KILLED = re.compile(rb"SIGKILL|[Ss]ignal:? 9|exitcode: -9")


def kernel_kills() -> str:
    """Return how many processes the kernel has killed for lack of memory. Source: proc(5), /proc/vmstat."""
    return first_match(r"^oom_kill (\d+)$", read_text(f"{PROC}/vmstat"))


def digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    import hashlib

    found = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            found.update(chunk)
    return found.hexdigest()


def run_job(folder: str) -> int:
    """Run the job in a folder, and return the exit status."""
    runner = Runner(NodeJob(folder))
    try:
        status = runner.run()
    except Refused as refusal:
        # A launcher repeats it.
        sys.stderr.write(without(secret_texts(runner.job.spec["secrets"]), f"{refusal}\n"))
        return 2
    if os.environ.get(ALONE):
        place = os.environ[ALONE]
        sys.stderr.write(
            f"{runner.outcome}; copy {place} to the folder of raw logs on the machine with Perfledger, under the same "
            f"path below it, and run `python -m runners collect` there\n"
        )
    return status


def write_environment(folder: str, scratch: str) -> int:
    """Write environment.json; `scratch` is the folder that the command runs in, if it has one to itself."""
    job = NodeJob(folder)
    job.working_folder = scratch or job.working_folder
    # The mark of the command, so that what is started here is killed with it.
    job.mark = os.environ["PERFLEDGER_COMMAND"]
    write_file(job.path("environment.json"), as_json(job.environment_record()) + "\n")
    return 0


# --- What a launcher asks ---------------------------------------------------------------------------------------------


class Actions:
    """The actions that a launcher can request for the job of this node, one method each."""

    def __init__(self, request: "dict[str, Any]") -> None:
        self.request = request
        self.identity, self.rank = request.get("identity", ""), request.get("rank", 0)
        default = os.environ.get("PERFLEDGER_JOBS") or os.path.expanduser("~/.perfledger/jobs")
        self.jobs = request.get("jobs") or os.path.join(default, self.identity)
        self.folder = os.path.join(self.jobs, f"node{self.rank}")
        self.variables = [f"PERFLEDGER_IDENTITY={self.identity}", f"PERFLEDGER_NODE_RANK={self.rank}"]

    def path(self, *names: str) -> str:
        """Return a path below the job's folder."""
        return os.path.join(self.folder, *names)

    def deliver(self) -> None:
        """Write what the job needs into its folder."""
        kept = ("spec", "identity", "rank", "hosts", "master_address", "master_port")
        try:
            os.makedirs(self.folder, exist_ok=True)
            write_file(self.path("agent.py"), self.request["agent"])
            write_file(self.path("job.json"), as_json({key: self.request[key] for key in kept}))
        except OSError as error:
            raise Refused(
                f"the job's folder {self.folder} cannot be written: {error.strerror}; make room there, or set "
                "PERFLEDGER_JOBS to another folder"
            ) from error

    def check(self) -> "dict[str, Any]":
        """Deliver the job and check this node."""
        skew = time.time() - self.request.get("clock", time.time())
        self.deliver()
        found = check(NodeJob(self.folder))
        if abs(skew) >= SKEW_SECONDS:
            where = "ahead of" if skew > 0 else "behind"
            found.append(
                f"the clock of this host is {abs(skew):.0f} s {where} that of the machine that starts the run, and so "
                "are the times of its logs; let NTP set it"
            )
        disturbances = [each for each in found if isinstance(each, Disturbance)]
        return {"warnings": [each for each in found if each not in disturbances], "disturbances": disturbances}

    def all_reduce(self) -> "dict[str, Any]":
        """Meet the other nodes in an all-reduce, after this node was checked."""
        return all_reduce(NodeJob(self.folder))

    def idle(self) -> "dict[str, Any]":
        """Return why this node is not idle."""
        self.deliver()
        return {"warnings": why_busy(NodeJob(self.folder))}

    def argv(self) -> "list[str]":
        """Return the command that runs the job. -I ignores modules in the current folder and PYTHON* variables."""
        return [sys.executable, "-I", self.path("agent.py"), "run"]

    def environment(self) -> "dict[str, str]":
        """Return the environment of the process that runs the job, which identifies it."""
        variables = dict(variable.split("=", 1) for variable in self.variables)
        return {**os.environ, "PERFLEDGER_JOB": self.folder, **variables, **self.request.get("secrets", {})}

    def begin(self) -> "dict[str, Any]":
        """Start the job in a session of its own, so that it outlives the connection and the launcher."""
        if os.path.exists(self.path("pid")):
            raise Refused(f"the job in {self.folder} has been started before")
        with open(self.path("host.log"), "wb") as log:
            process = subprocess.Popen(
                self.argv(), cwd=self.folder, env=self.environment(), stdin=NOTHING, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        while not os.path.exists(self.path("pid")):
            if process.poll() is not None and not os.path.exists(self.path("pid")):
                raise Refused(f"the job did not start: {last_line(self.path('host.log'))}")
            time.sleep(0.05)
        return {}

    def ours(self) -> int:
        """Return the pid of the job's process, 0 if it is gone. The variables tell whether the pid was reused."""
        text = read_text(self.path("pid")).strip()
        return int(text) if text.isdigit() and has_variables(text, *self.variables) else 0

    def look(self) -> "dict[str, Any]":
        """Return the state of the job."""
        if os.path.isdir(self.folder):
            # Note: a network file system may not show a new file until its folder is listed.
            os.listdir(self.folder)
        log = self.path("train.log")
        running = not os.path.exists(self.path("host.json")) and self.ours()
        answer: "dict[str, Any]" = {
            "kind": "running" if running else "lost",
            "log_bytes": os.path.getsize(log) if os.path.exists(log) else 0,
            "last_line": self.without_secrets(last_line(log)),
            "gone": os.path.exists(self.path("gone")),
        }
        # Checked last, because the job may have ended just now.
        if os.path.exists(self.path("host.json")):
            answer["kind"] = "ended"
            answer["outcome"] = first_match(r'"outcome": *"([a-z]*)"', read_text(self.path("host.json")))
        elif not running:
            answer.update(self.why_lost())
        return answer

    def without_secrets(self, line: str) -> str:
        """Mask the values of secrets in the last line of a log that still grows, and what is there of one cut off."""
        text = read_text(self.path("job.json")) if line else ""
        names = json.loads(text)["spec"]["secrets"] if text else []
        # Of the job's process, where it runs here; the launcher that asks on its own machine has them, too.
        pid = self.ours() if names else 0
        own = (pair.partition("=") for pair in read_text(f"/proc/{pid}/environ").split("\0"))
        known = {**os.environ, **{name: value for name, _, value in own}}
        for value in secret_texts(names, known):
            line = line.replace(value, "***")
            parts = range(len(value) - 1, SHORTEST_PART - 1, -1)
            line = next((f"***{line[n:]}" for n in parts if line.startswith(value[-n:])), line)
            line = next((f"{line[:-n]}***" for n in parts if line.endswith(value[:n])), line)
        return line

    def why_lost(self) -> "dict[str, Any]":
        """Return why the job's process is gone although it wrote no host.json."""
        there = read_text(self.path("machine")).split("\n")
        here = machine()
        if len(there) > 1 and there[0] != here[0] and there[1] != here[1]:
            # The folder is shared or was copied; processes on the other machine are invisible here.
            return {"kind": "unreachable", "cause": "the run was started on another machine; ask there"}
        if not os.path.isdir(self.folder):
            return {"cause": "its folder is not there any more"}
        if there[0] and there[0] != here[0]:
            return {"cause": "the host was restarted"}
        # One that is a file of its own has no host.log.
        if not any(os.path.exists(self.path(name)) for name in ("pid", "host.log")):
            return {"cause": "it was never started"}
        if free_bytes(self.folder) < FULL:
            return {"cause": "there is no space left for what it writes"}
        # Paths are private.
        words = last_line(self.path("host.log")).replace(f"{self.folder}/", "")
        return {"cause": f"its agent is gone; its last words: {words}" if words else "its agent is gone, as if killed"}

    def finish(self) -> "dict[str, Any]":
        """Ask the job to end; if its process is gone, kill what it left running."""
        process = self.ours()
        if process:
            kill(process, SIGNALS[self.request.get("outcome", "stopped")])
        else:
            self.sweep()
        return {}

    def dismiss(self) -> "dict[str, Any]":
        """Stop an observer, once: a second signal would kill it."""
        try:
            os.mkdir(self.path("dismissed"))
        except FileExistsError:
            return {}
        return self.finish()

    def sweep(self) -> None:
        """Wait 3 s for the processes of the job to end, then kill them, and its container."""
        for _ in range(30):
            if not any(processes_with(*self.variables)):
                break
            time.sleep(0.1)
        for process in processes_with(*self.variables):
            kill(process, signal.SIGKILL)
        for tool in ("docker", "podman"):
            if shutil.which(tool):
                tool_output(tool, "kill", f"perfledger-{self.identity}-{self.rank}")

    def forget(self) -> "dict[str, Any]":
        """Remove what a check has written, unless something ran."""
        if not os.path.exists(self.path("pid")) and not os.path.exists(self.path("train.log")):
            shutil.rmtree(self.folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rmdir(self.jobs)
        return {}

    def send(self) -> None:
        """Send the files of the job as a tar stream, empty if its folder is gone."""
        import tarfile

        send_answer({"files": True})
        sys.stdout.flush()
        with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", dereference=False) as archive:
            for folder, folders, files in os.walk(self.folder):
                at_top = folder == self.folder
                folders[:] = [name for name in folders if not (at_top and name == "output")]
                for name in [*folders, *files]:
                    path = os.path.join(folder, name)
                    if (at_top and name == "machine") or not os.access(path, os.R_OK):
                        continue
                    archive.add(path, os.path.relpath(path, self.folder), recursive=False)

    def hardware(self) -> "dict[str, Any]":
        """Return the hardware name of a run that would start now: of two kinds of GPUs it would get one."""
        job = NodeJob(self.folder, self.request)
        if job.spec["device"] == "cpu":
            return {"hardware": hardware("cpu", [])}
        try:
            gpus = choose_gpus(job)[1]
        except Refused:
            gpus = job.accelerators.devices()
        return {"hardware": hardware("gpu", gpus)}

    def setup(self) -> "dict[str, Any]":
        """Run the setup steps up to the first failure; stop when standard input is closed."""
        work = os.path.join(os.path.expanduser("~"), os.path.expanduser(self.request["work"] or "~/.perfledger/work"))
        with contextlib.suppress(OSError):
            os.makedirs(work, exist_ok=True)
        if not (os.path.isdir(work) and os.access(work, os.W_OK)):
            raise Refused(f"{work} is no folder that can be written to, or made; name another with --work")
        base = {**after_prologue(self.request["prologue"]), **self.request["variables"]}
        # pip then refuses to install into the system's Python.
        variables = {**base, "work": work, "PWD": work, "PIP_REQUIRE_VIRTUALENV": "1"}
        values = {"work": work, "working_folder": work, "identity": f"setup.{os.getpid()}", "node_rank": "0"}
        wanted = self.request["virtual_environment"]
        environment = PythonEnvironment(work, wanted) if wanted else None
        if environment:
            for argv in environment.make(self.request["python"], self.request["lock"], base):
                self.step(" ".join(argv), argv, work, variables)
            variables = environment.entered(variables)
        for step in self.request["steps"]:
            # `${work}` is the shell's own variable, with the same value.
            text = re.sub(r"(?<!\$)\{work\}", '"${work}"', step)
            enter = [fill(word, values) for word in self.request["enter"]]
            self.step(step, [*enter, "bash", "-c", text], work, variables)
        if environment:
            environment.finish()
        return {}

    @staticmethod
    def step(shown: str, argv: "list[str]", folder: str, variables: "dict[str, str]") -> None:
        """Print a setup step and run it; end this program with its exit status where it fails."""
        sys.stdout.buffer.write(encoded(f"+ {shown}\n"))
        sys.stdout.flush()
        status = run_attended(argv, cwd=folder, env=variables)
        if status:
            sys.exit(status)


def run_attended(argv: "list[str]", **options: "Any") -> int:
    """Run a command and return its exit status; terminate its process group when standard input is closed."""
    process = subprocess.Popen(argv, stdin=NOTHING, stderr=subprocess.STDOUT, start_new_session=True, **options)
    while process.poll() is None:
        if select.select([0], [], [], 0.1)[0] and not os.read(0, 1 << 16):
            kill(process.pid, signal.SIGTERM, group=True)
            return process.wait() or 1
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def serve(request: "dict[str, Any]") -> None:
    """Carry out a request, and answer it."""
    action: "Callable[[], dict[str, Any] | None]" = getattr(Actions(request), request["action"])
    try:
        answer = action()
    except Refused as refusal:
        answer = {"refused": without(secret_texts(request.get("spec", {}).get("secrets", [])), str(refusal))}
    if answer is not None:
        send_answer(answer)


# --- Slurm: the batch job, and the tasks that it starts on the nodes --------------------------------------------------


class SlurmBatch:
    """The batch job of Slurm, on its first node. `batch.json` is the request for all nodes, without their hosts."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.request = read_json(os.path.join(folder, "batch.json"))
        self.requests = SignalPipe()
        self.here = [sys.executable, "-I", os.path.abspath(__file__), "node"]
        listed = tool_output("scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]).split()
        # The job of a series has as many as its largest run.
        self.hosts = listed[: self.request["spec"]["nodes"]]

    def step(self, hosts: "list[str]") -> "list[str]":
        """Return an srun command that runs this agent on these nodes of the job.

        Notes: by default srun may kill the other tasks once the first has ended (--wait), and binds a single task to
        one core (--cpu-bind).
        """
        return [
            "srun", "--overlap", "--export=ALL", "--ntasks-per-node=1", "--cpu-bind=none", "--kill-on-bad-exit=0",
            "--wait=0", f"--nodes={len(hosts)}", f"--ntasks={len(hosts)}", f"--nodelist={','.join(hosts)}", *self.here,
        ]  # fmt: skip

    def everywhere(self, *words: str) -> int:
        """Run an action on all nodes and wait for it."""
        return subprocess.call([*self.step(self.hosts), *words], stdin=NOTHING)

    def run(self) -> int:
        """Check all nodes, then run the job on them."""
        first = self.hosts[0]
        # The address that Slurm itself uses: not every cluster has its names in DNS.
        address = first_match(r" NodeAddr=(\S+)", tool_output("scontrol", "--oneliner", "show", "node", first)) or first
        os.environ.update(PERFLEDGER_HOSTS=",".join(self.hosts), PERFLEDGER_MASTER_ADDRESS=address)
        if self.everywhere("fit"):
            return 2
        if len(self.hosts) > 1 and self.request["spec"]["device"] == "gpu":
            self.everywhere("all_reduce")
        if self.requests.wait(0):
            open(os.path.join(self.folder, "stopped"), "w").close()
            return 130
        if self.request["spec"]["every_node"]:
            return self.await_end(subprocess.Popen([*self.step(self.hosts), "run"], stdin=NOTHING))
        return self.run_first()

    def run_first(self) -> int:
        """Run the job on this node, and observers on the others."""
        job = subprocess.Popen([*self.here, "run"], stdin=NOTHING)
        if len(self.hosts) == 1:
            return self.await_end(job)
        others = self.step(self.hosts[1:])
        observers = subprocess.Popen([*others, "run"], stdin=NOTHING)
        status = self.await_end(job)
        subprocess.call([*others, "dismiss"], stdin=NOTHING)
        self.await_end(observers)
        return status

    def await_end(self, process: "subprocess.Popen[bytes]") -> int:
        """Wait for a process, and forward requests to stop to all nodes."""
        while process.poll() is None:
            for outcome in self.requests.wait(10):
                self.everywhere("finish", outcome)
        return process.returncode


class SlurmSeries:
    """The job of Slurm that many runs share: it carries out one after the other what its queue names.

    It ends when it is told to, when nothing has come for some time (the runner may be gone), or when it is asked to
    stop between two runs. A file in the queue holds the folder of a run's files.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.queue = folder, os.path.join(folder, "queue")
        self.idle_seconds = read_json(os.path.join(folder, "series.json"))["idle_seconds"]
        self.requests = SignalPipe()

    def run(self) -> int:
        """Carry out runs until the end of the series, and remove the folder."""
        patience = time.monotonic() + self.idle_seconds
        stopped = False
        while not stopped:
            if self.carry_out_next(self.queue):
                patience = time.monotonic() + self.idle_seconds
            elif time.monotonic() > patience or os.path.exists(os.path.join(self.folder, "end")):
                break
            else:
                stopped = bool(self.requests.wait(0.5))
        # From now on nothing can be handed over; what has been is not lost.
        closed = os.path.join(self.folder, "closed")
        os.rename(self.queue, closed)
        while self.carry_out_next(closed, stopped):
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
        above = os.path.dirname(self.folder)
        with contextlib.suppress(OSError):
            os.rmdir(above)
            os.rmdir(os.path.dirname(above))
        return 0

    def carry_out_next(self, queue: str, stopped: bool = False) -> bool:
        """Carry out the oldest run of a queue, or only note that it was stopped; return False if there is none."""
        waiting = [os.path.join(queue, name) for name in os.listdir(queue)]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda path: os.stat(path).st_mtime_ns)
        run = read_text(oldest)
        os.unlink(oldest)
        # Its runner may have brought the run home, and removed this folder, before the batch program is over.
        with contextlib.suppress(FileNotFoundError):
            if stopped:
                write_file(os.path.join(run, "stopped"), "")
            else:
                self.carry_out(run)
            write_file(os.path.join(run, "over"), "")
        return True

    def carry_out(self, run: str) -> None:
        """Run the batch program of a run, and pass requests to stop on to it."""
        argv = [sys.executable, "-I", os.path.join(run, "agent.py"), "batch"]
        with open(os.path.join(run, "slurm.log"), "ab") as log:
            process = subprocess.Popen(argv, stdin=NOTHING, stdout=log, stderr=log)
        outcome = ""
        while process.poll() is None:
            for outcome in self.requests.wait(10):
                kill(process.pid, SIGNALS[outcome])
        if outcome and process.returncode < 0:
            # It was not ready yet for the signal.
            write_file(os.path.join(run, "stopped"), "")


def on_node(action: str, outcome: str = "stopped") -> int:
    """Carry out an action of the batch job on a node."""
    jobs = os.path.dirname(os.path.abspath(__file__))
    request = read_json(os.path.join(jobs, "batch.json"))
    hosts = os.environ["PERFLEDGER_HOSTS"].split(",")
    rank = hosts.index(os.environ["SLURMD_NODENAME"])
    meeting = {"hosts": hosts, "master_address": os.environ["PERFLEDGER_MASTER_ADDRESS"]}
    actions = Actions({**request, **meeting, "jobs": jobs, "rank": rank, "outcome": outcome, "agent": source()})
    if action == "fit":
        return fit(actions)
    if action == "all_reduce":
        return meet(actions)
    if action == "run":
        with open(actions.path("host.log"), "wb") as log:
            status = subprocess.call(
                actions.argv(), cwd=actions.folder, env=actions.environment(), stdin=NOTHING, stdout=log, stderr=log
            )
        if not os.path.exists(actions.path("host.json")):
            write_file(actions.path("gone"), "")
        return status
    getattr(actions, action)()
    return 0


def fit(actions: Actions) -> int:
    """Check a node of a Slurm job, and write the answer to a file, because no launcher is connected."""
    try:
        answer = actions.check()
        check_secrets(NodeJob(actions.folder))
        write_file(actions.path("check.json"), as_json(answer))
    except Refused as refusal:
        # It had the secrets, and this is published.
        texts = secret_texts(actions.request["spec"]["secrets"])
        write_file(actions.path("refused"), without(texts, str(refusal)))
        return 2
    return 0


def meet(actions: Actions) -> int:
    """Meet the other nodes of a Slurm job in an all-reduce, and add its warnings to those of the check."""
    with contextlib.suppress(Refused):
        warnings = actions.all_reduce().get("warnings", [])
        answer = read_json(actions.path("check.json"))
        write_file(actions.path("check.json"), as_json({**answer, "warnings": [*answer["warnings"], *warnings]}))
    return 0


# --- A file of its own, for a host that cannot be reached -------------------------------------------------------------


def is_of_this_machine(host: str) -> bool:
    """Return whether a name or address is one of this machine: only such an address can be bound."""
    import socket

    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return host in (socket.gethostname(), socket.gethostname().split(".")[0])
    for family, kind, protocol, _, address in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as bound:
            bound.bind(address)
            return True
    return False


def placed(nodes: int, words: "list[str]") -> "dict[str, Any]":
    """Return which node of a job this one is, from the words that the file was started with.

    Args:
        nodes: how many the job has.
        words: hosts with commas between, in order of rank, and, optionally, the number of this one.
    """
    if nodes == 1 and not words:
        return {}
    hosts = words[0].split(",") if words else []
    usage = f"start it on each of {nodes} nodes as `python3 {sys.argv[0]} HOST0,HOST1,... [NUMBER OF THIS ONE]`"
    if nodes == 1:
        usage = f"start it as `python3 {sys.argv[0]}`"
    if words and words[0].startswith("-"):
        raise Refused(f"{words[0]}: it takes no options; {usage}")
    if len(hosts) != nodes or len(words) > 2 or len(set(hosts)) != nodes:
        raise Refused(f"the run takes {nodes} different hosts, and {words[0] if words else 'none'} is named; {usage}")
    own = [rank for rank, host in enumerate(hosts) if is_of_this_machine(host)]
    if len(words) == 2:
        own = [int(words[1])] if words[1].isdigit() and int(words[1]) < nodes else []
    if len(own) != 1:
        raise Refused(f"which of {words[0]} this machine is cannot be told; name its number, from 0: {usage}")
    return {"hosts": hosts, "master_address": hosts[0], "rank": own[0]}


def standalone(text: str, words: "list[str]") -> int:
    """Create the folder of the run below the current one, check this host, and run.

    The nodes of one run may share the folder; each has its own in it.
    """
    document = json.loads(os.fsdecode(encoded(text)))
    folder = document["folder"]
    launch, launch_text = os.path.join(folder, "launch.json"), as_json(document["launch"])
    try:
        place = placed(document["request"]["spec"]["nodes"], words)
    except Refused as refusal:
        sys.stderr.write(f"runners: {refusal}\n")
        return 2
    actions = Actions({**document["request"], **place, "jobs": os.path.abspath(os.path.join(folder, "incoming"))})
    # Without the two lines in front that embed the run.
    actions.request["agent"] = source().split("\n", 2)[2]
    try:
        os.makedirs(folder, exist_ok=bool(place))
        if os.path.exists(launch) and read_text(launch) != launch_text:
            raise Refused("another run is there")
        write_file(launch, launch_text)
        os.makedirs(actions.folder)
        actions.deliver()
    except (OSError, Refused):
        sys.stderr.write(f"runners: {folder} cannot be made here, or is there already\n")
        return 2
    try:
        check_secrets(NodeJob(actions.folder))
        for warning in check(NodeJob(actions.folder)):
            sys.stderr.write(f"warning: {warning}\n")
    except Refused as refusal:
        shutil.rmtree(actions.folder)
        with contextlib.suppress(OSError):
            os.rmdir(actions.jobs)
            shutil.rmtree(folder)
        sys.stderr.write(f"runners: {refusal}\n")
        return 2
    if NodeJob(actions.folder).is_observer:
        sys.stderr.write("this node samples telemetry; when the run on the first node has ended, press Ctrl-C here\n")
    start = os.getcwd()
    os.chdir(actions.folder)
    os.execve(
        sys.executable, actions.argv(), {**actions.environment(), ALONE: os.path.abspath(os.path.join(start, folder))}
    )
    return 0


def main(argv: "list[str]") -> int:
    """Run a command; see the top of this file."""
    here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else ""
    action, words = ("standalone", argv) if "STANDALONE" in globals() else (argv[0], argv[1:])
    if action == "installed":
        installed(*words)
        return 0
    if action == "standalone":
        return standalone(globals()["STANDALONE"], words)
    if action == "run":
        return run_job(here)
    if action == "environment":
        return write_environment(here, *words)
    if action == "sample":
        return sample(here)
    if action == "batch":
        return SlurmBatch(here).run()
    if action == "series":
        return SlurmSeries(here).run()
    return on_node(*words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
