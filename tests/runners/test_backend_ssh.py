"""Jobs on hosts by SSH, for real: OpenSSH servers that the test starts, on ports and in network namespaces."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from perfledger.runners.job import RunnerError
from perfledger.runners.settings import Settings
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local
from tests.runners.agents import change_agent
from tests.runners.clusters import SshHost, namespaces, ssh_hosts
from tests.runners.jobs import CPU, host_python, planned
from tests.runners.node import ended, polls

pytestmark = pytest.mark.usefixtures("bash")
TWO = {"nodes": "2", "devices": "2"}
MEETING = 'RANK = "{node_rank}"\nMASTER = "{master_address}"\nPORT = "{master_port}"\nHOSTS = "{hosts}"\n'

# The ranks of all nodes meet at the address of the first, and each prints what it heard.
MEET = """
import os, socket, time
rank, place = int(os.environ["RANK"]), (os.environ["MASTER"], int(os.environ["PORT"]))
print("rank", rank, "of", os.environ["HOSTS"], "on", socket.gethostname(), flush=True)
if rank == 0:
    with socket.create_server(place) as server:
        other, _ = server.accept()
        print("heard", other.recv(100).decode(), flush=True)
        other.sendall(b"hello from 0")
else:
    for _ in range(100):
        try:
            other = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.1)
    other.sendall(b"hello from 1")
    print("heard", other.recv(100).decode(), flush=True)
"""


@pytest.fixture
def two_hosts(tmp_path):
    with ssh_hosts(tmp_path, ["first", "second"]) as hosts:
        yield hosts


@pytest.fixture
def one_host(tmp_path):
    with ssh_hosts(tmp_path, ["first"]) as (host,):
        yield host


def place(*hosts: SshHost) -> Ssh:
    return Ssh(tuple(host.name for host in hosts))


def meeting(write_recipe) -> Path:
    """Write a recipe whose ranks meet."""
    return write_recipe(command=[sys.executable, "-c", MEET], more=MEETING)


def log(started, rank=0):
    return (started.node(rank) / "train.log").read_text(encoding="utf-8")


def host_json(started, rank=0):
    return json.loads((started.node(rank) / "host.json").read_text(encoding="utf-8"))


def test_a_job_runs_on_the_host_and_all_its_files_are_fetched(write_recipe, tmp_path, one_host):
    started = planned(write_recipe('echo "\u4e2d\u6587 $1"; echo "$PERFLEDGER_JOB"'), place(one_host), tmp_path)
    started.start()
    assert started.over().kind == "ended"
    assert not list(started.incoming.iterdir())
    started.fetch()
    there = one_host.jobs / started.identity / "node0"
    assert log(started) == f"\u4e2d\u6587 plain\n{there}\n"
    assert {path.name for path in started.node(0).iterdir()} == {"environment.json", "host.json", "train.log"}
    for name, stated in host_json(started)["files"].items():
        assert hashlib.sha256((started.node(0) / name).read_bytes()).hexdigest() == stated["sha256"]
    assert [path.name for path in started.incoming.iterdir()] == ["node0"]
    before = (started.node(0) / "train.log").stat().st_ino
    started.fetch()
    assert (started.node(0) / "train.log").stat().st_ino == before
    options = place(one_host).argv(0)[:-3]
    asked = subprocess.run([*options, "-O", "check", "first"], capture_output=True, text=True, check=False)
    assert "Master running" in asked.stderr, "one connection serves all requests"


def test_hosts_of_their_own_networks_meet_by_their_addresses(write_recipe, tmp_path):
    with namespaces(tmp_path, 2) as hosts:
        started = planned(meeting(write_recipe), place(*hosts), tmp_path, TWO)
        started.start()
        assert started.over().kind == "ended"
        started.fetch()
    addresses = ",".join(host.address for host in hosts)
    for rank, other in ((0, 1), (1, 0)):
        place_of_rank = f"rank {rank} of {addresses} on {hosts[rank].name}"
        assert log(started, rank).splitlines() == [place_of_rank, f"heard hello from {other}"]


def test_mpirun_starts_the_ranks_of_both_hosts_while_the_second_observes(write_recipe, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin on Debian)")
    with namespaces(tmp_path, 2) as hosts:
        # The first host reaches the second by its address, as its own user's configuration would have it.
        agent = f"ssh -F {tmp_path}/agent"
        renamed = [host.client().replace(f"Host {host.name}", f"Host {host.address}") for host in hosts]
        (tmp_path / "agent").write_text("".join(renamed), encoding="utf-8")
        network = f"{hosts[0].address}/24"
        launcher = ["--mca", "plm_rsh_agent", agent, "--mca", "btl_tcp_if_include", network,
                    "--mca", "oob_tcp_if_include", network]  # fmt: skip
        more = f'\n[launcher]\nname = "mpirun"\narguments = {json.dumps(launcher)}\n'
        path = write_recipe('echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"', more=more)
        started = planned(path, place(*hosts), tmp_path, TWO)
        assert not started.job.facts.every_node
        started.start()
        assert started.over().kind == "ended"
        started.fetch()
    # Open MPI may print notices of its own among the ranks' lines.
    printed = re.findall(r"rank \d of \d on \S+", log(started, 0))
    assert sorted(printed) == [f"rank {rank} of 2 on {host.name}" for rank, host in enumerate(hosts)]
    assert log(started, 1) == ""
    assert [host_json(started, rank)["outcome"] for rank in (0, 1)] == ["completed", "completed"]
    assert (started.node(1) / "telemetry.csv").exists()


def test_torchrun_brings_two_hosts_together(write_recipe, tmp_path, two_hosts):
    found = shutil.which("torchrun")
    if found is None:
        pytest.skip("torchrun is missing: PyTorch is not installed")
    for host in two_hosts:
        host.cut()
        host.variables = f"PATH={Path(found).parent}:{os.environ['PATH']}"
        host.start()
    program = (
        "import torch.distributed as d; d.init_process_group('gloo'); print(d.get_rank(), 'of', d.get_world_size())"
    )
    command = [str(Path(found).parent / "python"), "-c", program]
    path = write_recipe(command=command, more='\n[launcher]\nname = "torchrun"\n')
    started = planned(path, place(*two_hosts), tmp_path, TWO)
    started.start()
    assert started.over(120).kind == "ended"
    started.fetch()
    # On a busy machine torchrun may say last that the first node, where the ranks met, has ended before this one.
    printed = [re.findall(r"^\d of \d$", log(started, rank), re.M) for rank in (0, 1)]
    assert printed == [["0 of 2"], ["1 of 2"]]


def test_output_of_a_login_is_ignored(write_recipe, tmp_path, one_host, monkeypatch):
    host_python(monkeypatch, tmp_path, f'exec {sys.executable} "$@"')
    noise = "echo 'Welcome! perfledger {}'; echo beware >&2; trap 'echo kind lost' EXIT\n"
    (tmp_path / "noise").write_text(noise, encoding="utf-8")
    one_host.cut()
    one_host.variables = f"BASH_ENV={tmp_path}/noise"
    one_host.start()
    config = tmp_path / "ssh_config"
    config.write_text(config.read_text() + "  RemoteCommand echo mine\n  RequestTTY force\n  ForwardX11 yes\n")
    started = planned(write_recipe("echo quiet"), place(one_host), tmp_path)
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    assert "quiet" in log(started).splitlines()


def test_paths_arguments_and_files_pass_through_a_host_of_the_locale_c(write_recipe, tmp_path, one_host, monkeypatch):
    # As Python 3.6 in it, an option makes later ones take ASCII alone for paths.
    ascii_only = '"-X", "utf8=0"'
    argv = 'return [sys.executable, "-I", PROGRAM, "run"'
    change_agent(monkeypatch, argv, argv.replace('"-I"', f'{ascii_only}, "-I"'))
    host_python(monkeypatch, tmp_path, f'LC_ALL=C exec {sys.executable} -X utf8=0 "$@"')
    (tmp_path / "大.txt").write_text("größer\n", encoding="utf-8")
    path = write_recipe('cat 大.txt; echo "$1 $VALUE"; pwd', word="é 中文", more='[files]\n"大.txt" = "大.txt"\n')
    work = tmp_path / "größe"
    settings = Settings(work=str(work), variables={"VALUE": "ß"})
    started = planned(path, place(one_host), tmp_path, settings=settings)
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    assert log(started).splitlines()[-3:-1] == ["größer", "é 中文 ß"]
    with pytest.raises(RunnerError, match=f"the folder {work}/sources is not on this host"):
        planned(
            write_recipe(more='[source]\nfolder = "sources"\n'), place(one_host), tmp_path / "b", settings=settings
        ).start()


def test_a_socket_of_a_connection_fits_its_address():
    path = next(word for word in Ssh(("host",)).argv(0) if word.startswith("ControlPath=")).removeprefix("ControlPath=")
    assert len(path.replace("%C", "c" * 40)) + len(".0123456789abcdef") <= 104


def test_a_host_with_a_name_of_its_own_is_reached_as_the_configuration_says():
    argv = Ssh(("me@host",)).argv(0)
    assert argv[:2] == ["ssh", "-T"]
    assert argv[-3:-1] == ["--", "me@host"]
    assert argv[-1].startswith("python3 -I -S -c '")


def test_every_host_is_asked_for_its_hardware(one_host):
    (here,) = Local().hardware(CPU)
    assert here.endswith(" cores (CPU)")
    assert place(one_host).hardware(CPU) == [here]
    one_host.cut()
    with pytest.raises(RunnerError, match="Its hardware decides which earlier runs count"):
        place(one_host).hardware(CPU)


REFUSALS = {
    "unreachable": "Connection refused",
    "stranger": "Permission denied (",
    "no python": "No such file or directory",
    "old python": "Perfledger needs Python 3.6 or newer, and this is 3.5.2",
    "bad configuration": "Bad configuration option",
}


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_host_that_cannot_be_used_is_named_with_the_reason_and_the_remedy(
    write_recipe, tmp_path, one_host, monkeypatch, fault
):
    config = tmp_path / "ssh_config"
    if fault == "unreachable":
        one_host.cut()
    elif fault == "stranger":
        (one_host.folder / "key").unlink()
        (one_host.folder / "key.pub").rename(one_host.folder / "gone")
    elif fault == "no python":
        host_python(monkeypatch, tmp_path, "")
        (tmp_path / "tools/python3").unlink()
    elif fault == "old python":
        host_python(monkeypatch, tmp_path, "echo 'Perfledger needs Python 3.6 or newer, and this is 3.5.2' >&2; exit 1")
    else:
        config.write_text("Nonsense yes\n")
    started = planned(write_recipe("true"), place(one_host), tmp_path)
    with pytest.raises(RunnerError) as raised:
        started.start()
    message = str(raised.value)
    assert message.startswith("first: ")
    assert REFUSALS[fault].lower() in message.lower()
    remedy = "; `ssh first python3 --version` must print 3.6 or newer, and ask nothing"
    assert message.endswith(remedy) == (fault != "old python")
    assert not one_host.jobs.exists()
    assert not started.incoming.exists()


def test_a_machine_without_ssh_says_so(write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("true"), Ssh(("first",)), tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerError, match=r"ssh: it cannot be started here: No such file.*install it"):
        started.start()


def test_if_one_host_refuses_nothing_runs_anywhere(write_recipe, tmp_path, two_hosts):
    two_hosts[1].jobs.write_text("a file, where a folder should be", encoding="utf-8")
    started = planned(write_recipe("true"), place(*two_hosts), tmp_path, TWO)
    with pytest.raises(RunnerError, match=r"^second: .* the agent cannot be unpacked in .*PERFLEDGER_JOBS") as raised:
        started.start()
    assert "first" not in str(raised.value)
    assert [path.name for path in two_hosts[0].jobs.iterdir()] == [".agents"]


def test_if_one_host_does_not_start_the_other_is_stopped(write_recipe, tmp_path, two_hosts, monkeypatch):
    fails = 'exit("not today") if folder.endswith("1") else Runner(NodeJob(folder))'
    change_agent(monkeypatch, "    runner = Runner(NodeJob(folder))", f"    runner = {fails}")
    started = planned(write_recipe('echo "$$"; sleep 300'), place(*two_hosts), tmp_path, TWO)
    with pytest.raises(RunnerError, match=r"^second: the job did not start: not today"):
        started.start()
    first = two_hosts[0].jobs / started.identity / "node0"
    assert any((first / "host.json").exists() for _ in polls())
    assert json.loads((first / "host.json").read_text())["outcome"] == "stopped"
    # It may have been asked before it had begun.
    for process in (first / "train.log").read_text().split():
        assert ended(int(process))


def test_a_node_whose_agent_is_killed_is_reported_while_the_other_runs(write_recipe, tmp_path, two_hosts):
    started = planned(write_recipe("echo begun; sleep 300"), place(*two_hosts), tmp_path, TWO)
    started.start()
    folders = [host.jobs / started.identity / f"node{rank}" for rank, host in enumerate(two_hosts)]
    assert any(all((folder / "train.log").read_text() for folder in folders) for _ in polls())
    os.kill(int((folders[1] / "pid").read_text()), signal.SIGKILL)
    state = started.until(lambda state: state.failed)
    assert (state.kind, state.cause) == ("running", "")
    started.stop()
    state = started.over()
    assert (state.kind, state.cause.partition(":")[0]) == ("lost", "node 1")
