"""Jobs on hosts by SSH, for real: OpenSSH servers that the test starts, on ports and in network namespaces."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runners.backends import shells, ssh
from runners.errors import RunnerError
from runners.places import job
from runners.places.place import Place
from tests.runners.clusters import SshHost, keygen, know, namespaces, ssh_hosts
from tests.runners.jobs import over, planned, printing, until
from tests.runners.node import ended, polls, tool

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


def place(*hosts: SshHost) -> Place:
    return Place("ssh", tuple(host.name for host in hosts), ssh_config=str(hosts[0].folder.parent / "ssh_config"))


def meeting(write_recipe) -> Path:
    """A recipe whose ranks meet."""
    path = write_recipe("unused", more=MEETING)
    text = path.read_text(encoding="utf-8")
    begin = text.index("command =")
    end = text.index("\n", begin)
    program = MEET.replace("{", "{{").replace("}", "}}")
    command = f"command = {json.dumps([sys.executable, '-c', program])}"
    path.write_text(text[:begin] + command + text[end:], encoding="utf-8")
    return path


def log(started, rank=0):
    return (started.node(rank) / "train.log").read_text(encoding="utf-8")


def host_json(started, rank=0):
    return json.loads((started.node(rank) / "host.json").read_text(encoding="utf-8"))


def test_a_job_runs_there_and_comes_home_whole(write_recipe, tmp_path, one_host):
    started, script = planned(write_recipe('echo "\u4e2d\u6587 $1"; echo "$PERFLEDGER_JOB"'), place(one_host), tmp_path)
    job.start(started, script)
    assert over(started).kind == "ended"
    assert not list(started.incoming.iterdir())
    job.fetch(started)
    there = one_host.jobs / started.identity / "node0"
    assert log(started) == f"\u4e2d\u6587 plain\n{there}\n"
    assert {path.name for path in started.node(0).iterdir()} == {path.name for path in there.iterdir()} - {"machine"}
    for name, stated in host_json(started)["files"].items():
        assert hashlib.sha256((started.node(0) / name).read_bytes()).hexdigest() == stated["sha256"]
    assert [path.name for path in started.incoming.iterdir()] == ["node0"]
    before = (started.node(0) / "train.log").stat().st_ino
    job.fetch(started)
    assert (started.node(0) / "train.log").stat().st_ino == before


def test_the_ranks_of_two_hosts_meet_where_nobody_told_them(write_recipe, tmp_path, two_hosts):
    started, script = planned(meeting(write_recipe), place(*two_hosts), tmp_path, TWO)
    job.start(started, script)
    assert over(started).kind == "ended"
    job.fetch(started)
    assert [log(started, rank).splitlines()[1] for rank in (0, 1)] == ["heard hello from 1", "heard hello from 0"]
    assert [host_json(started, rank)["node_rank"] for rank in (0, 1)] == [0, 1]


def test_hosts_of_their_own_networks_meet_by_their_addresses(write_recipe, tmp_path):
    with namespaces(tmp_path, ["pl-one", "pl-two"]) as hosts:
        started, script = planned(meeting(write_recipe), place(*hosts), tmp_path, TWO)
        job.start(started, script)
        assert over(started).kind == "ended"
        job.fetch(started)
    addresses = "10.213.7.1,10.213.7.2"
    assert log(started, 0).splitlines() == [f"rank 0 of {addresses} on pl-one", "heard hello from 1"]
    assert log(started, 1).splitlines() == [f"rank 1 of {addresses} on pl-two", "heard hello from 0"]


def test_mpirun_starts_the_ranks_of_both_hosts_while_the_second_observes(write_recipe, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin on Debian)")
    with namespaces(tmp_path, ["pl-one", "pl-two"]) as hosts:
        # The first host reaches the second by its address, as its own user's configuration would have it.
        agent = f"ssh -F {tmp_path}/agent"
        renamed = [host.client().replace(f"Host {host.name}", f"Host {host.address}") for host in hosts]
        (tmp_path / "agent").write_text("".join(renamed), encoding="utf-8")
        launcher = ["--mca", "plm_rsh_agent", agent, "--mca", "btl_tcp_if_include", "10.213.7.0/24",
                    "--mca", "oob_tcp_if_include", "10.213.7.0/24"]  # fmt: skip
        more = f'\n[launcher]\nname = "mpirun"\narguments = {json.dumps(launcher)}\n'
        path = write_recipe('echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"', more=more)
        started, script = planned(path, place(*hosts), tmp_path, TWO)
        assert not started.every_node
        job.start(started, script)
        assert over(started).kind == "ended"
        job.fetch(started)
    said = sorted(line.split(":")[-1] for line in log(started, 0).splitlines())
    assert said == ["rank 0 of 2 on pl-one", "rank 1 of 2 on pl-two"]
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
    path = write_recipe("unused", more='\n[launcher]\nname = "torchrun"\n')
    text = path.read_text(encoding="utf-8")
    begin = text.index("command =")
    command = [str(Path(found).parent / "python"), "-c", program]
    path.write_text(
        text[:begin] + f"command = {json.dumps(command)}" + text[text.index("\n", begin) :], encoding="utf-8"
    )
    started, script = planned(path, place(*two_hosts), tmp_path, TWO)
    job.start(started, script)
    assert over(started, 120).kind == "ended"
    job.fetch(started)
    assert [log(started, rank).strip().splitlines()[-1] for rank in (0, 1)] == ["0 of 2", "1 of 2"]


def test_what_a_login_prints_disturbs_nothing(write_recipe, tmp_path, one_host):
    noise = "echo 'Welcome! perfledger kind lost'; echo beware >&2; trap 'echo kind lost' EXIT\n"
    (tmp_path / "noise").write_text(noise, encoding="utf-8")
    one_host.cut()
    one_host.variables = f"BASH_ENV={tmp_path}/noise"
    one_host.start()
    config = tmp_path / "ssh_config"
    config.write_text(config.read_text() + "  RemoteCommand echo mine\n  RequestTTY force\n  ForwardX11 yes\n")
    started, script = planned(write_recipe("echo quiet"), place(one_host), tmp_path)
    job.start(started, script)
    assert over(started).kind == "ended"
    job.fetch(started)
    assert "\nquiet\n" in log(started)


def test_one_connection_serves_all_questions(write_recipe, tmp_path, one_host):
    started, script = planned(write_recipe("echo begun; sleep 1"), place(one_host), tmp_path)
    job.start(started, script)
    assert over(started).kind == "ended"
    job.fetch(started)
    options = ssh.argv("first", str(tmp_path / "ssh_config"))[:-3]
    asked = subprocess.run([*options, "-O", "check", "first"], capture_output=True, text=True, check=False)
    assert "Master running" in asked.stderr


def test_a_socket_of_a_connection_fits_its_address():
    path = next(word for word in ssh.argv("host") if word.startswith("ControlPath=")).removeprefix("ControlPath=")
    assert len(path.replace("%C", "c" * 40)) + len(".0123456789abcdef") <= 104


@pytest.mark.parametrize("fault", ["link", "file", "open"])
def test_a_folder_for_sockets_that_another_made_is_not_used(fault, tmp_path, monkeypatch):
    monkeypatch.setattr(ssh.os, "getuid", lambda: 987654321)
    taken = Path("/tmp/perfledger-987654321")
    if fault == "link":
        taken.symlink_to(tmp_path)
    elif fault == "file":
        taken.touch()
    else:
        taken.mkdir(mode=0o777)
    ssh._sockets.cache_clear()
    try:
        found = Path(ssh._sockets())
        assert found != taken
        assert found.stat().st_mode & 0o077 == 0
        found.rmdir()
    finally:
        taken.rmdir() if fault == "open" else taken.unlink()
        ssh._sockets.cache_clear()


def test_a_host_with_a_name_of_its_own_is_reached_as_the_configuration_says():
    argv = ssh.argv("me@host", "some file")
    assert argv[:4] == ["ssh", "-T", "-F", "some file"]
    assert argv[-3:] == ["--", "me@host", "bash -s"]
    assert "-F" not in ssh.argv("host")


def test_the_shells_of_a_place_run_what_they_read(one_host):
    for argv in (*shells(place(one_host)).values(), *shells(Place("local")).values()):
        done = subprocess.run(argv, input='echo "$((6 * 7))"', capture_output=True, text=True, check=True)
        assert done.stdout == "42\n"
    assert list(shells(place(one_host))) == ["first"]
    assert shells(Place("slurm", partition="p")) == {
        "p": ["srun", "--nodes=1", "--ntasks=1", "--partition=p", "bash", "-s"]
    }


REFUSALS = {
    "unreachable": "no SSH server answers",
    "unknown name": "no such name is known",
    "changed key": "its key is not the one known for it",
    "unknown key": "its key is not known here yet",
    "stranger": "lets nobody in with the keys at hand",
    "no bash": "bash is not installed there",
    "bad configuration": "the ssh configuration cannot be read",
}


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_host_that_cannot_be_used_is_named_with_the_reason_and_the_remedy(write_recipe, tmp_path, one_host, fault):
    config = tmp_path / "ssh_config"
    if fault == "unreachable":
        one_host.cut()
    elif fault == "unknown name":
        config.write_text(config.read_text().replace("127.0.0.1", "nowhere.invalid"))
    elif fault == "changed key":
        keygen(tmp_path / "other")
        know(one_host, tmp_path / "other")
    elif fault == "unknown key":
        (one_host.folder / "known_hosts").unlink()
    elif fault == "stranger":
        (one_host.folder / "key").unlink()
        (one_host.folder / "key.pub").rename(one_host.folder / "gone")
    elif fault == "no bash":
        one_host.cut()
        one_host.variables = "PATH=/nonexistent"
        one_host.start()
    else:
        config.write_text("Nonsense yes\n")
    started, script = planned(write_recipe("true"), place(one_host), tmp_path)
    with pytest.raises(RunnerError) as raised:
        job.start(started, script)
    message = str(raised.value)
    assert message.startswith("first: ")
    assert REFUSALS[fault] in message
    assert not one_host.jobs.exists()
    assert not started.incoming.exists()


def test_a_machine_without_ssh_says_so(write_recipe, tmp_path, monkeypatch):
    started, script = planned(write_recipe("true"), Place("ssh", ("first",)), tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerError, match=r"ssh: it cannot be started here: No such file.*install it"):
        job.start(started, script)


def test_where_one_host_refuses_nothing_runs_anywhere(write_recipe, tmp_path, two_hosts):
    two_hosts[1].jobs.write_text("a file, where a folder should be", encoding="utf-8")
    started, script = planned(write_recipe("true"), place(*two_hosts), tmp_path, TWO)
    with pytest.raises(
        RunnerError, match=r"^second: the job's folder .* cannot be written: .*PERFLEDGER_JOBS"
    ) as raised:
        job.start(started, script)
    assert "first" not in str(raised.value)
    assert list(two_hosts[0].jobs.iterdir()) == []


def test_where_one_host_does_not_begin_the_other_is_ended(write_recipe, tmp_path, two_hosts):
    two_hosts[1].cut()
    two_hosts[1].variables = f"PATH={tool(tmp_path / 'tools', 'setsid', 'echo no setsid today >&2; exit 1')}"
    two_hosts[1].start()
    started, script = planned(write_recipe('echo "$$"; sleep 300'), place(*two_hosts), tmp_path, TWO)
    with pytest.raises(RunnerError, match=r"^second: the script did not start: no setsid today"):
        job.start(started, script)
    first = two_hosts[0].jobs / started.identity / "node0"
    assert over(replace(started, nodes=1)).kind == "ended"
    assert json.loads((first / "host.json").read_text())["outcome"] == "stopped"
    # It may have been asked before it had begun.
    for process in (first / "train.log").read_text().split():
        assert ended(int(process))


def test_a_node_that_fails_is_told_while_the_other_goes_on(write_recipe, tmp_path, two_hosts):
    path = write_recipe('[ "$RANK" = 1 ] && exit 3; echo begun; sleep 300', more=MEETING)
    started, script = planned(path, place(*two_hosts), tmp_path, TWO)
    job.start(started, script)
    state = until(started, lambda state: state.failed)
    assert (state.kind, state.failed) == ("running", True)
    job.stop(started)
    assert over(started).kind == "ended"
    job.fetch(started)
    assert [host_json(started, rank)["outcome"] for rank in (0, 1)] == ["stopped", "failed"]


def test_a_node_whose_script_is_killed_is_told_while_the_other_goes_on(write_recipe, tmp_path, two_hosts):
    started, script = planned(write_recipe("echo begun; sleep 300"), place(*two_hosts), tmp_path, TWO)
    job.start(started, script)
    folders = [host.jobs / started.identity / f"node{rank}" for rank, host in enumerate(two_hosts)]
    assert any(all((folder / "train.log").read_text() for folder in folders) for _ in polls(30))
    os.kill(int((folders[1] / "pid").read_text()), signal.SIGKILL)
    state = until(started, lambda state: state.failed)
    assert (state.kind, state.cause) == ("running", "")
    job.stop(started)
    state = over(started)
    assert (state.kind, state.cause.partition(":")[0]) == ("lost", "node 1")


def test_a_log_that_came_before_the_end_is_replaced_only_by_a_longer_one(write_recipe, tmp_path, one_host):
    started, script = planned(
        write_recipe('echo begun; until [ -e "$PERFLEDGER_JOB/go" ]; do sleep 0.05; done; echo done'),
        place(one_host),
        tmp_path,
    )
    job.start(started, script)
    printing(started)
    job.fetch(started)
    assert log(started) == "begun\n"
    there = one_host.jobs / started.identity / "node0"
    (started.node(0) / "train.log").write_text("begun and something that the host has lost\n", encoding="utf-8")
    with pytest.raises(RunnerError, match="nothing was overwritten"):
        job.fetch(started)
    (started.node(0) / "train.log").write_text("begun\n", encoding="utf-8")
    (there / "go").touch()
    assert over(started).kind == "ended"
    job.fetch(started)
    assert log(started) == "begun\ndone\n"
    assert [path.name for path in started.incoming.iterdir()] == ["node0"]
