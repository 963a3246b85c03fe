"""The table of vendors, and the accelerators that a site declares."""

import functools
import shutil

from . import amd, ascend, nvidia
from .devices import LIVE, Row, Vendor, named
from .programs import tool_output
from .spec import SiteDevice

NVIDIA = Vendor(
    name="NVIDIA",
    tool="nvidia-smi",
    variables=("CUDA_VISIBLE_DEVICES",),
    read=nvidia.read,
    stream=nvidia.stream,
    processes=nvidia.processes,
    fact="cuda_driver",
    fact_command=("nvidia-smi",),
    fact_pattern=r"CUDA (?:UMD )?Version: *([0-9.]+)",
    topology_command=("nvidia-smi", "topo", "-m"),
)
VENDORS = (
    NVIDIA,
    Vendor(
        name="AMD",
        tool="amd-smi",
        # HIP numbers the GPUs as amd-smi does, unless a driver says otherwise.
        variables=("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
        read=amd.read,
        sample=amd.sample,
        fact="rocm",
        fact_command=("amd-smi", "version", "--json"),
        fact_pattern=r'"rocm_version": *"([0-9.]+)',
        topology_command=("amd-smi", "topology", "--link-type"),
    ),
    Vendor(
        name="Ascend",
        tool="npu-smi",
        variables=("ASCEND_RT_VISIBLE_DEVICES",),
        read=ascend.read,
        fact="cann",
        fact_command=("sh", "-c", "cat /usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info"),
        fact_pattern=r"^version=(\S+)",
        topology_command=("npu-smi", "info", "-t", "topo"),
    ),
)


def vendor_here(declared: "SiteDevice | None") -> Vendor:
    """Return the vendor of the accelerators of this host: the one that its site declares, or whose tool is here."""
    if declared:
        variables = (declared.variable,) if declared.variable else ()
        return Vendor(declared.name, declared.probe, variables, functools.partial(read_probe, declared))
    return next((vendor for vendor in VENDORS if shutil.which(vendor.tool)), NVIDIA)


def read_probe(declared: "SiteDevice", visible: str) -> "list[Row]":
    """Return the devices that the probe of a site prints: CSV, whose first line names the columns."""
    lines = [
        [cell.strip() for cell in line.split(",")] for line in tool_output("bash", "-c", declared.probe).splitlines()
    ]
    known = ("index", "name", "driver", "memory_mib", "used_mib", "utilisation", "processes", *LIVE)
    found = []
    for at, cells in enumerate(lines[1:]):
        row = {key: cell for key, cell in zip(lines[0], cells) if key in known and cell}
        found.append({"index": str(at), "name": declared.name, **row})
    return named(found, visible)
