"""The accelerators of this host: those that its site declares, or those whose tool is here."""

import contextlib
import json

from .amd import AmdSmi
from .ascend import Ascend
from .devices import LIVE, DeviceTool, gpu_values
from .machine import cpu_cores, cpu_model, usable_cores
from .nvidia import Nvidia
from .tools import number, tool_output

MYPY = False
if MYPY:
    from .spec import SiteDevice


class Declared(DeviceTool):
    """Accelerators that a site declares; its probe prints a line per device, of JSON, or of CSV under its names."""

    def __init__(self, declared: "SiteDevice") -> None:
        self.maker, self.probe = declared.name, declared.probe
        self.variables = (declared.variable,) if declared.variable else ()

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


MAKERS = (Nvidia, AmdSmi, Ascend)


def device_tool(declared: "SiteDevice | None") -> DeviceTool:
    """Return the accelerators of this host: those that its site declares, or else those whose tool is here."""
    if declared:
        return Declared(declared)
    makers = [maker() for maker in MAKERS]
    return next((maker for maker in makers if not maker.missing), makers[0])


def hardware(device: str, gpus: "list[dict[str, str]]") -> str:
    """Return the hardware name of this machine for a run on this device, and on these accelerators."""
    if device == "gpu":
        return gpu_values(gpus, "name") or "unknown"
    # A run on some processors of a machine does not repeat one on all of them.
    cores = f"{usable_cores()} of {cpu_cores()}" if usable_cores() else str(cpu_cores())
    return ", ".join([*filter(None, [cpu_model()]), f"{cores} cores (CPU)"])


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
    state = f"processes on it {count}, utilisation {shown[0]} %, memory {shown[1]} of {shown[2]} MiB"
    return f"GPU {gpu['index']} is busy: {state}"
