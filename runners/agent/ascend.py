"""NPUs of Ascend, by the tables of `npu-smi info`, two rows for each chip, with a slot `/ 0` for a missing memory.

Programs number the chips in this order. Source: "npu-smi info" of Huawei's "npu-smi Command Reference", 21.0 to 26.
"""

import re

from .devices import Row, named
from .programs import tool_output
from .tools import first_match, without_unknown

# NPU and name, health, power and temperature.
FIRST = re.compile(r"\|\s*(\d+)\s+([A-Za-z0-9][\w.-]*)\s*\|\s*\w+\s*\|\s*([\d.]+|NA|-)\s+([\d.]+|NA|-)\s")
# Chip (with its number among all), bus, AICore and memory.
SECOND = re.compile(r"\|\s*(\d+)(?:\s+\S+)?\s*\|\s*(?:[0-9A-Fa-f]+:[0-9A-Fa-f:.]+|NA)\s*\|\s*([\d.]+|NA|-)\s+(.*)\|")
PROCESS = re.compile(r"\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|")


def read(visible: str) -> "list[Row]":
    """Return the chips that a value of the variable names."""
    text = tool_output("npu-smi", "info")
    driver = first_match(r"^\|\s*npu-smi\s+\S+\s+Version:\s*(\S+)", text)
    running = [match.group(1, 2) for match in map(PROCESS.match, text.splitlines()) if match]
    found: "list[Row]" = []
    npu = None
    for line in text.splitlines():
        first, second = FIRST.match(line), SECOND.match(line)
        if second and npu:
            chip, use, memory = second.groups()
            # Memory of the chip, then that of the HBM: the last one that it has.
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
    return named(found, visible)


def known(text: str) -> str:
    """Return a text that is a number; empty for `NA` and `-`."""
    return text if re.match(r"[\d.]+$", text) else ""
