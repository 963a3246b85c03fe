"""GPUs of AMD, as amd-smi states them.

Its MB are MiB. Source: "AMD SMI CLI tool usage" of the ROCm documentation. `amd-smi` of 6.1 to 7 prints a list, or an
object with it under `gpu_data`.
"""

import json
import re
from collections.abc import Mapping

from .devices import Row, named
from .programs import tool_output
from .spec import Json
from .tools import without_unknown

# Places of changing values in `amd-smi metric`, for each key of a device; the first place that has a value counts.
MEASURED = {
    "utilisation": ("usage.gfx_activity",),
    "used_mib": ("mem_usage.used_vram",),
    "memory_mib": ("mem_usage.total_vram",),
    "power_watts": ("power.socket_power", "power.average_socket_power"),
    "temperature_c": ("temperature.hotspot", "temperature.edge"),
    "memory_temperature_c": ("temperature.mem",),
    "core_clock_mhz": ("clock.gfx_0.clk", "clock.gfx_0.cur_clk"),
    "memory_clock_mhz": ("clock.mem_0.clk", "clock.mem_0.cur_clk"),
}
# Places of constant values in `amd-smi static`.
STATED = {
    "name": ("asic.market_name",),
    "memory_mib": ("vram.size",),
    "driver": ("driver.version", "driver.driver_version"),
    "power_limit_watts": ("limit.socket_power", "limit.power"),
}


def cell(row: "Mapping[str, Json]", place: str) -> str:
    """Return a number or a text of a document; a number may be next to its unit. Empty if it is unknown."""
    found: "Json" = row
    for key in place.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    found = found.get("value") if isinstance(found, dict) else found
    is_known = isinstance(found, (int, float, str)) and not isinstance(found, bool) and found != "N/A"
    return str(found) if is_known else ""


def cells(row: "Mapping[str, Json]", table: "dict[str, tuple[str, ...]]") -> "Row":
    """Return the known cells of a row by the keys of a table."""
    return without_unknown({
        key: next(filter(None, (cell(row, place) for place in places)), "") for key, places in table.items()
    })  # fmt: skip


def ask(*words: str) -> "dict[str, dict[str, Json]]":
    """Return what a command of amd-smi says of each GPU, by its number."""
    text = tool_output("amd-smi", *words, "--json")
    try:
        # A warning may come first.
        found = json.loads(text[re.search(r"^[\[{]", text, re.M).start() :])  # type: ignore[union-attr]
    except (ValueError, AttributeError):
        return {}
    rows = found.get("gpu_data", []) if isinstance(found, dict) else found
    return {str(row["gpu"]): row for row in rows if isinstance(row, dict) and "gpu" in row}


def sample(visible: str) -> "list[Row]":
    """Return the changing values of the GPUs that a value of the variable names."""
    rows = sorted(ask("metric").items(), key=lambda each: int(each[0]))
    return named([{"index": index, **cells(row, MEASURED)} for index, row in rows], visible)


def read(visible: str) -> "list[Row]":
    """Return the GPUs that a value of the variable names."""
    stated, running = ask("static"), ask("process")
    found = []
    for gpu in sample(visible):
        row = cells(stated.get(gpu["index"], {}), STATED)
        if "name" in row and not row["name"].startswith("AMD"):
            row["name"] = f"AMD {row['name']}"
        found.append({**gpu, **row, "processes": processes(running.get(gpu["index"], {}))})
    return found


def processes(row: "Mapping[str, Json]") -> str:
    """Return the number of processes. A sentence replaces each or all of them on an idle GPU."""
    rows = row.get("process_list") or row.get("process_info") or []
    if not isinstance(rows, list):
        return "0"
    found = [each.get("process_info", each) for each in rows if isinstance(each, dict)]
    return str(sum(isinstance(each, dict) and "pid" in each for each in found))
