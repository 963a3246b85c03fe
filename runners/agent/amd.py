"""GPUs of AMD."""

import json
import re

from .devices import DeviceTool
from .libraries import AmdLibrary
from .tools import first_match, number, read_text, tool_output, without_unknown

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from typing import Any


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
