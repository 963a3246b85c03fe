"""Hosts that a test starts for itself: OpenSSH servers on loopback and in network namespaces, and a Slurm cluster."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.runners.node import polls, tool

SSHD = """
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
SetEnv HOME={folder} PERFLEDGER_JOBS={jobs} {variables}
"""
CLIENT = """
Host {name}
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


@dataclass
class SshHost:
    """A host: `jobs` is where it keeps jobs, `namespace` what its server is started in, if any."""

    name: str
    folder: Path
    address: str
    port: int
    jobs: Path
    namespace: Sequence[str] = ()
    variables: str = ""
    server: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start the server, and return when it listens."""
        settings = {"port": self.port, "address": self.address, "folder": self.folder, "jobs": self.jobs}
        (self.folder / "sshd_config").write_text(SSHD.format(**settings, variables=self.variables), encoding="utf-8")
        log = str(self.folder / "sshd.log")
        argv = [*self.namespace, sshd(), "-D", "-f", str(self.folder / "sshd_config"), "-E", log]
        self.server = subprocess.Popen(argv, start_new_session=True, stderr=subprocess.DEVNULL)
        assert any("Server listening" in text(Path(log)) for _ in polls()), text(Path(log))

    def cut(self) -> None:
        """Kill the server and all its connections at once; processes in sessions of their own go on."""
        if self.server:
            # Each connection is a process in a session of its own.
            for process in servers(self.server.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.server.wait()
            (self.folder / "sshd.log").unlink(missing_ok=True)
            self.server = None

    def client(self) -> str:
        """Its part of an ssh configuration."""
        values = {"name": self.name, "address": self.address, "port": self.port, "folder": self.folder}
        return CLIENT.format(**values, user=getpass.getuser())


def sshd() -> str:
    """Return the full path of the OpenSSH server, which insists on being called by it."""
    found = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("OpenSSH is missing (openssh-server and openssh-client on Debian)")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    return found


def servers(listener: int) -> list[int]:
    """Return a server's process and those of its connections, without what was started over them."""
    found, parents = [listener], {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            if name.startswith("sshd"):
                parents[int(path.parent.name)] = int(rest.split()[1])
    for server in found:
        found += [process for process, parent in parents.items() if parent == server]
    return found


@contextmanager
def ssh_hosts(folder: Path, names: Sequence[str]) -> Iterator[list[SshHost]]:
    """Hosts that differ in their ports; `folder/ssh_config` knows them."""
    sshd()
    with ExitStack() as stack:
        hosts = [stack.enter_context(_host(folder / name, name, "127.0.0.1", free_port())) for name in names]
        stack.enter_context(_known(folder, hosts))
        yield hosts


@contextmanager
def namespaces(folder: Path, count: int) -> Iterator[list[SshHost]]:
    """Hosts that differ in their addresses: each in a network namespace of its own, on one bridge.

    As root, and where there is `ip`. A host's link is `<its name>.0` out here: see `link`. Names and addresses are
    those of this process, since tests run at the same time.
    """
    number = os.getpid() % 250
    bridge = f"plbr{number}"
    if os.getuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("network namespaces need root and `ip` (iproute2 on Debian)")
    sshd()
    with ExitStack() as stack:
        if not _ip("link", "add", bridge, "type", "bridge", check=False):
            pytest.skip("network namespaces cannot be made here")
        stack.callback(_ip, "link", "del", bridge, check=False)
        _ip("addr", "add", f"10.213.{number}.254/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        hosts = [
            stack.enter_context(_namespace(folder, f"pl{number}-{rank}", bridge, f"10.213.{number}.{rank}"))
            for rank in range(1, count + 1)
        ]
        stack.enter_context(_known(folder, hosts))
        yield hosts


def link(host: SshHost, state: str) -> None:
    """Switch the network of a host in a namespace on or off."""
    _ip("link", "set", f"{host.name}.0", state)


@contextmanager
def _known(folder: Path, hosts: Sequence[SshHost]) -> Iterator[None]:
    """Have `ssh` read `folder/ssh_config`, which knows only these hosts, in place of the user's configuration."""
    path = folder / "ssh_config"
    path.write_text("".join(host.client() for host in hosts), encoding="utf-8")
    found = tool(folder / "client", "ssh", f'exec {shutil.which("ssh")} -F {path} "$@"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", found)
        yield


def keygen(path: Path) -> None:
    """Make a key without a password."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def know(host: SshHost, key: Path) -> None:
    """Record a key as the one that the client knows for a host."""
    known = " ".join(text(key.with_suffix(".pub")).split()[:2])
    (host.folder / "known_hosts").write_text(f"[{host.address}]:{host.port} {known}\n", encoding="utf-8")


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def text(path: Path) -> str:
    """Return the content of a file; empty if it does not exist."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@contextmanager
def _host(folder: Path, name: str, address: str, port: int, namespace: Sequence[str] = ()) -> Iterator[SshHost]:
    folder.mkdir(parents=True)
    keygen(folder / "key")
    keygen(folder / "host_key")
    host = SshHost(name, folder, address, port, folder / "jobs", namespace)
    know(host, folder / "host_key")
    host.start()
    try:
        yield host
    finally:
        host.cut()


@contextmanager
def _namespace(folder: Path, name: str, bridge: str, address: str) -> Iterator[SshHost]:
    _ip("netns", "add", name)
    try:
        _ip("link", "add", f"{name}.0", "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", f"{name}.0", "master", bridge, "up")
        _ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")
        inside = ["ip", "netns", "exec", name, "unshare", "--uts", "bash", "-c", f'hostname {name}; exec "$@"', "bash"]
        with _host(folder / name, name, address, 2222, inside) as host:
            yield host
    finally:
        _ip("link", "del", f"{name}.0", check=False)
        _ip("netns", "del", name, check=False)


def _ip(*words: str, check: bool = True) -> bool:
    return subprocess.run(["ip", *words], check=check, capture_output=True).returncode == 0


SLURM = """
ClusterName=perfledger
SlurmctldHost={machine}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SchedulerTimeSlice=5
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdTimeout=300
MessageTimeout=60
TCPTimeout=20
BatchStartTimeout=120
GresTypes=gpu
NodeName=blade1 NodeHostname={machine} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=1000 Gres=gpu:2
NodeName=blade2 NodeHostname={machine} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=1000 Gres=gpu:2
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun", "scontrol")


@dataclass(frozen=True)
class Slurm:
    """A cluster of two nodes on this machine; `variables` lead its commands to it."""

    folder: Path
    variables: Mapping[str, str]

    def call(self, *argv: str) -> str:
        """Return the output of one of its commands."""
        environment = {**os.environ, **self.variables}
        return subprocess.run(argv, env=environment, check=True, capture_output=True, text=True, timeout=30).stdout


@contextmanager
def slurm_cluster() -> Iterator[Slurm]:
    """Start munged, slurmctld and a slurmd for each of two nodes, separate from any of this machine."""
    missing = [name for name in DAEMONS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if missing or os.getuid() != 0:
        pytest.skip(f"a Slurm cluster needs root and slurm-wlm with munge; missing: {', '.join(missing) or 'root'}")
    # Not below pytest's folder: the path of a socket ends at 104 bytes.
    folder = Path(tempfile.mkdtemp(prefix="slurm."))
    try:
        with ExitStack() as stack:
            yield _slurm(folder, stack)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _slurm(folder: Path, stack: ExitStack) -> Slurm:
    folder.chmod(0o755)
    machine = socket.gethostname().split(".")[0]
    ports = [free_port() for _ in range(3)]
    (folder / "slurm.conf").write_text(SLURM.format(folder=folder, machine=machine, ports=ports), encoding="utf-8")
    (folder / "gres.conf").write_text(f"NodeName=blade[1-2] Name=gpu File={folder}/gpu[0-1]\n", encoding="utf-8")
    for name in ("gpu0", "gpu1"):
        (folder / name).touch()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    cluster = Slurm(folder, {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"})
    _daemon(stack, cluster, "munged", "--force", "--foreground", f"--key-file={folder}/munge.key",
            f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log",
            f"--seed-file={folder}/munge.seed")  # fmt: skip
    assert any((folder / "munge.socket").exists() for _ in polls())
    _daemon(stack, cluster, "slurmctld", "-D", "-i")
    for node in ("blade1", "blade2"):
        _daemon(stack, cluster, "slurmd", "-D", "-N", node)
    idle = ""
    for _ in polls(20):
        with suppress(subprocess.CalledProcessError):
            idle = cluster.call("sinfo", "--noheader", "--format=%D %t")
        if idle.split() == ["2", "idle"]:
            return cluster
        time.sleep(0.1)
    pytest.skip(f"the Slurm cluster did not come up here: {idle} {text(folder / 'slurmctld.log')[-300:]}")


def _daemon(stack: ExitStack, cluster: Slurm, *argv: str) -> None:
    environment = {**os.environ, **cluster.variables}
    log = stack.enter_context((cluster.folder / f"{argv[0]}.out").open("ab"))
    process = subprocess.Popen(argv, env=environment, stdout=log, stderr=log, start_new_session=True)
    stack.callback(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
