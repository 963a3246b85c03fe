"""The report of NCCL, and the network between nodes."""

import contextlib
import fcntl
import glob
import os
import re
from typing import NamedTuple

from .machine import infiniband_ports
from .programs import LONGEST_LIST
from .tools import read_text

# Variables that make it report how ranks are connected; see `NCCL_VARIABLES` in job.py, with the file that it goes to.
# Source: "Environment Variables" of the NCCL documentation.
NCCL_REPORT = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,GRAPH"}
NCCL_FILE = "NCCL_DEBUG_FILE"
# Below `ranks`, which containers see. Hidden, because it is removed: it contains names and addresses of hosts.
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
# Variables that name the network interface of the ranks to a framework.
OF_INTERFACE = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


class NcclReport(NamedTuple):
    """The facts of NCCL by their keys in host.json: version, how ranks are connected, and the number of channels."""

    nccl: str
    nccl_transport: str
    nccl_channels: "int | None"


def nccl_report(folder: str) -> NcclReport:
    """Return what NCCL's files in a folder say."""
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
    return NcclReport(" + ".join(sorted(versions)), " + ".join(sorted(named)), max(channels) or None)


def unused_infiniband(nodes: int, transport: str) -> "list[str]":
    """Return a warning if nodes were connected by sockets although this one has an active port of InfiniBand."""
    ports = [port for port in infiniband_ports() if port.endswith("InfiniBand")]
    if nodes < 2 or not ports or "NET/Socket" not in transport or "NET/IB" in transport:
        return []
    remedy = "a container needs /dev/infiniband, and NCCL_IB_HCA may name the wrong devices"
    count = f"{len(ports)} active {'ports' if len(ports) > 1 else 'port'} of InfiniBand"
    return [f"NCCL connected the nodes by sockets (NET/Socket), although this host has {count}; {remedy}"]


def loops_back(name: str) -> bool:
    """Return whether a name is resolved to this machine's loopback, as Debian does with the machine's own."""
    import socket

    try:
        return socket.gethostbyname(name).startswith("127.")
    except OSError:
        return False


def interface_towards(address: str) -> str:
    """Return the network interface towards an address; empty if it is unknown or that of loopback."""
    import socket

    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            # This sends no datagram.
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
