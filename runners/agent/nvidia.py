"""GPUs of NVIDIA, as nvidia-smi states them."""

import re

from .devices import Row
from .programs import run_tool, tool_output
from .tools import first_match

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
SAMPLED = "timestamp,index,name,memory.used,utilization.gpu,power.draw,clocks.sm,clocks.mem,temperature.gpu"
# Bits of the reasons why a GPU is slowed down, and the bit of the power limit. The first is set
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


def nvidia_smi(visible: str, *words: str) -> "list[str]":
    """Return an nvidia-smi command, limited to some GPUs. It takes no slices of MIG."""
    return ["nvidia-smi", *(["-i", visible] if visible and "MIG" not in visible else []), *words]


def read(visible: str) -> "list[Row]":
    """Query GPUs. A driver refuses the whole query for an unknown field, and names it: retry without."""
    fields = GPU_FIELDS
    while fields:
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


def gpu_row(fields: "list[tuple[str, str]]", line: str) -> "Row":
    """Parse one line; unknown values are printed in brackets, or as N/A, and left out."""
    cells = dict(zip((key for _, key in fields), (cell.strip() for cell in line.split(","))))
    if not re.match(r"\d+$", cells.get("index", "")):
        return {}
    return {key: cell for key, cell in cells.items() if cell and not cell.startswith("[") and cell != "N/A"}


def processes(gpu: "Row") -> int:
    """Return how many processes compute on a GPU."""
    found = tool_output("nvidia-smi", "-i", gpu["index"], "--query-compute-apps=pid", "--format=csv,noheader")
    return len(re.findall(r"^\d", found, re.M))


def stream(visible: str) -> "list[str]":
    """Return the command that prints a row a second, with why GPUs slow down under the name that this driver knows."""
    fields = SAMPLED
    for field in SLOWDOWN_FIELDS:
        if tool_output(*nvidia_smi(visible, f"--query-gpu={field}", "--format=csv,noheader")).startswith("0x"):
            fields = f"{SAMPLED},{field}"
            break
    return nvidia_smi(visible, "--format=csv", "-lms", "1000", f"--query-gpu={fields}")


def slowdowns(printed: str) -> "tuple[dict[str, float], list[str]]":
    """Return what rows of `stream` say of clocks: the share of samples under the power limit, and warnings."""
    rows = [[cell.strip() for cell in line.split(",")] for line in printed.splitlines()]
    reasons: "dict[str, list[int]]" = {}
    for cells in rows[1:]:
        row = dict(zip(rows[0], cells))
        said = next(filter(None, map(row.get, SLOWDOWN_FIELDS)), "")
        if re.match(r"0x[0-9A-Fa-f]+$", said):
            reasons.setdefault(row["index"], []).append(int(said, 16))
    if not reasons:
        return {}, []
    warnings = []
    for gpu, samples in sorted(reasons.items()):
        slowed = sum(any(sample & bit for bit, _ in SLOWDOWNS) for sample in samples)
        why = [words for bit, words in SLOWDOWNS if any(sample & bit for sample in samples)]
        if slowed:
            warnings.append(f"GPU {gpu} was slowed down in {slowed} of {len(samples)} samples: {', '.join(why)}")
    every = [sample for samples in reasons.values() for sample in samples]
    capped = sum(bool(sample & POWER_CAP) for sample in every) * 100 / len(every)
    return {"gpu_power_capped_percent": round(capped, 1)}, warnings
