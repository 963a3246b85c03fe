"""The report of NCCL, and the network interface towards other nodes."""

from __future__ import annotations

import json
import socket

import pytest

from perfledger.runners.cli import main
from perfledger.runners.settings import Settings
from tests.runners.agents import replacing
from tests.runners.home import RECORD
from tests.runners.node import kernel, nvidia_smi, prepared, tool

pytestmark = pytest.mark.usefixtures("bash")

GPU = {
    "name": "NVIDIA T0",
    "memory.total": "16384",
    "driver_version": "550.1",
    "memory.used": "0",
    "utilization.gpu": "0",
}
#: The beginning of each line: host, process and thread, which are private.
HEAD = "secret-host:4242:4300 [0] NCCL INFO"
INSIDE = f"""{HEAD} NCCL version 2.21.5+cuda12.4
{HEAD} NET/IB : No device found.
{HEAD} NET/Socket : Using [0]eth0:10.1.2.3<0>
{HEAD} Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1
{HEAD} Pattern 1, crossNic 0, nChannels 12, bw 20.000000/20.000000, type SYS/SYS, sameChannels 1
{HEAD} Channel 00/24 :    0   1
{HEAD} Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read
{HEAD} Connected all rings
{HEAD} 24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer
"""
OLD = f"""{HEAD} Channel 01 : 0[1a000] -> 1[1b000] via direct shared memory
NCCL version 2.8.4+cuda11.1
{HEAD} Pattern 4, crossNic 0, nChannels 1, speed 5.000000/5.000000, type PHB/PIX, sameChannels 1
{HEAD} Channel 01 : 1[1b000] -> 0[1a000] via P2P/IPC
{HEAD} 2 coll channels, 2 p2p channels, 2 p2p channels per peer
"""
RDMA = f"{HEAD} Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n"
SOCKETS = f"{HEAD} Channel 00/0 : 8[0] -> 0[0] [receive] via NET/Socket/0\n"
EFA = f"{HEAD} Channel 03 : 15[a0] -> 6[a0] [receive] via NET/AWS Libfabric/3/GDRDMA\n"


def reporting(tmp_path, *reports):
    """Return a PATH with a torchrun that writes what NCCL would, a file for each process, into its files."""
    for at, text in enumerate(reports):
        (tmp_path / f"report{at}").write_text(text)
    lines = [f'cp {tmp_path}/report{at} "${{NCCL_DEBUG_FILE/\\%p/{at}}}"' for at in range(len(reports))]
    shown = 'echo "$NCCL_DEBUG $NCCL_DEBUG_SUBSYS"'
    tool(
        tmp_path / "tools",
        "torchrun",
        "\n".join([shown, f'[ -z "$NCCL_DEBUG_FILE" ] || {{ {"; ".join([*lines, "true"])}; }}']),
    )
    return nvidia_smi(tmp_path / "tools", *({**GPU, "index": str(at)} for at in range(2)))


LAUNCHED = '[launcher]\nname = "torchrun"\n'


@pytest.mark.parametrize(
    ("reports", "facts"),
    [
        ([INSIDE, ""], {"nccl": "2.21.5", "nccl_transport": "P2P (NVLink)", "nccl_channels": 24}),
        ([OLD], {"nccl": "2.8.4", "nccl_transport": "P2P (PCIe)", "nccl_channels": 2}),
        ([INSIDE, RDMA], {"nccl": "2.21.5", "nccl_transport": "NET/IB (GDRDMA) + P2P (NVLink)", "nccl_channels": 24}),
        ([EFA], {"nccl_transport": "NET/AWS Libfabric (GDRDMA)"}),
        ([SOCKETS], {"nccl_transport": "NET/Socket"}),
        (["nothing of NCCL's"], {}),
        ([], {}),
    ],
)
def test_what_nccl_reports_becomes_facts_and_is_removed(write_recipe, tmp_path, reports, facts):
    node = prepared(
        write_recipe(device="gpu", shape="1n2d", more=LAUNCHED), tmp_path / "job", PATH=reporting(tmp_path, *reports)
    )
    assert node.run() == 0
    assert node.log() == "INFO INIT,NET,GRAPH\n"
    assert node.host().get("facts", {}) == facts
    assert list((node.job / "ranks").iterdir()) == []
    assert "secret-host" not in json.dumps(node.host())


@pytest.mark.parametrize(
    ("settings", "shape", "given", "printed"),
    [
        (Settings(variables={"NCCL_DEBUG": "WARN"}), "1n2d", {}, "WARN \n"),
        (Settings(), "1n2d", {"NCCL_DEBUG_SUBSYS": "ALL"}, " ALL\n"),
        (Settings(), "1n1d", {}, " \n"),
        (Settings(), "2n1d", {}, "INFO INIT,NET,GRAPH\n"),
    ],
    ids=["user", "host", "one device", "two nodes"],
)
def test_nccl_is_asked_to_report_where_several_devices_meet_and_nobody_asked_otherwise(
    write_recipe, tmp_path, settings, shape, given, printed
):
    launched = LAUNCHED + "always = true\n"
    path = reporting(tmp_path)
    recipe = write_recipe(device="gpu", shape=shape, more=launched)
    hosts = ["127.0.0.1"] * int(shape[0])
    node = prepared(recipe, tmp_path / "job", settings=settings, hosts=hosts, PATH=path, **given)
    assert node.run() == 0
    assert node.log() == printed


def test_a_launcher_that_starts_other_nodes_leaves_nccl_as_it_is(write_recipe, tmp_path):
    """It passes variables on, and the other nodes lack the folder."""
    path = reporting(tmp_path)
    tool(tmp_path / "tools", "horovodrun", 'echo "$NCCL_DEBUG_FILE"')
    recipe = write_recipe(device="gpu", shape="2n1d", more='[launcher]\nname = "horovodrun"\n')
    node = prepared(recipe, tmp_path / "job", hosts=["127.0.0.1"] * 2, PATH=path)
    assert node.run() == 0
    assert node.log() == "\n"


@pytest.mark.parametrize(
    ("shape", "report", "link", "is_warned"),
    [
        ("2n1d", SOCKETS, "InfiniBand", True),
        ("2n1d", RDMA, "InfiniBand", False),
        ("2n1d", SOCKETS, "Ethernet", False),
        ("1n2d", SOCKETS, "InfiniBand", False),
    ],
)
def test_sockets_on_a_host_with_infiniband_are_a_warning(write_recipe, tmp_path, shape, report, link, is_warned):
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    for name, each in (("state", "4: ACTIVE"), ("rate", "400 Gb/sec (4X NDR)"), ("link_layer", link)):
        (port / name).write_text(f"{each}\n")
    node = prepared(
        write_recipe(device="gpu", shape=shape, more=LAUNCHED), tmp_path / "job", change=kernel(sys=tmp_path / "sys"),
        hosts=["127.0.0.1"] * int(shape[0]), PATH=reporting(tmp_path, report),
    )  # fmt: skip
    assert node.run() == 0
    said = node.host().get("warnings", [])
    assert [each.startswith("NCCL connected the nodes by sockets (NET/Socket)") for each in said] == [True] * is_warned


def test_facts_of_nccl_are_in_the_environment_and_do_not_separate_repeats(
    write_recipe, tmp_path, monkeypatch, only_run
):
    program = f"{RECORD} record 1"
    recipe = write_recipe(program, device="gpu", shape="1n2d", more=LAUNCHED)
    path = reporting(tmp_path, INSIDE)
    text = (tmp_path / "tools/torchrun").read_text()
    (tmp_path / "tools/torchrun").write_text(f'{text}\nwhile [ "$1" != bash ]; do shift; done; exec "$@"\n')
    monkeypatch.setenv("PATH", path)
    words = ["run", str(recipe), "--raw-logs", str(tmp_path / "raw")]
    # As an earlier version left it: without facts of NCCL.
    assert main(words) == 0
    folder, run = only_run()
    assert (run["environment"]["nccl"], run["environment"]["nccl_transport"]) == ("2.21.5", "P2P (NVLink)")
    assert not {"NCCL_DEBUG", "NCCL_DEBUG_FILE"} & run["environment_variables"].keys()
    for key in ("nccl", "nccl_transport", "nccl_channels"):
        run["environment"].pop(key)
    (folder / "run.json").write_text(json.dumps(run))
    assert main(words) == 0
    assert "warnings" not in json.loads((folder.parent / "2/run.json").read_text())


# --- Two nodes whose own name is resolved to loopback -----------------------------------------------------------------


def need_network():
    """Skip the test on a machine without a way out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")


def as_on_debian(looped):
    """Return a change of the agent that makes its own name be resolved to loopback, or not."""
    return replacing('return socket.gethostbyname(name).startswith("127.")', f"return {looped}")


SHOWN = 'echo "$GLOO_SOCKET_IFNAME $NCCL_SOCKET_IFNAME"'


@pytest.mark.parametrize(
    ("looped", "shape", "given", "expected"),
    [
        (True, "2n1d", {}, ("eth", "eth")),
        (False, "2n1d", {}, ("", "")),
        (True, "1n1d", {}, ("", "")),
        (True, "2n1d", {"GLOO_SOCKET_IFNAME": "ib0"}, ("ib0", "eth")),
        (True, "2n1d", {"GLOO_SOCKET_IFNAME": "ib0", "NCCL_SOCKET_IFNAME": "ib1"}, ("ib0", "ib1")),
    ],
)
def test_nodes_that_resolve_their_name_to_loopback_meet_where_they_reach_each_other(
    write_recipe, tmp_path, looped, shape, given, expected
):
    need_network()
    recipe = write_recipe(SHOWN, shape=shape, more=LAUNCHED)
    tool(tmp_path / "tools", "torchrun", SHOWN)
    path = tool(tmp_path / "tools", "python", "true")
    # Addresses of documentation, which the kernel would reach by its default route.
    hosts = ["192.0.2.1", "192.0.2.2"][: int(shape[0])]
    node = prepared(
        recipe, tmp_path / "job", change=as_on_debian(looped), rank=int(shape[0]) - 1, hosts=hosts, PATH=path, **given
    )  # fmt: skip
    assert node.run() == 0
    found = node.log().rstrip("\n").split(" ")
    names = {name for _, name in socket.if_nameindex()} - {"lo"}
    for value, wanted in zip(found, expected, strict=True):
        assert value in names if wanted == "eth" else value == wanted
    chosen = {value for value, wanted in zip(found, expected, strict=True) if wanted == "eth"}
    assert node.environment()["facts"].get("network_interface") == (chosen.pop() if chosen else None)


def test_two_nodes_on_one_machine_keep_meeting_at_loopback(write_recipe, tmp_path):
    path = tool(tmp_path / "tools", "torchrun", SHOWN)
    hosts = ["127.0.0.1", "127.0.0.2"]
    recipe = write_recipe(shape="2n1d", more=LAUNCHED)
    node = prepared(recipe, tmp_path / "job", change=as_on_debian(True), hosts=hosts, PATH=path)
    assert node.run() == 0
    assert node.log() == " \n"
