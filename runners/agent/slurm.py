"""The batch job of Slurm, and the tasks that it starts on the nodes."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

from .actions import Actions
from .checks import check_secrets
from .guard import SignalPipe
from .job import NodeJob
from .masking import secret_texts, without
from .tools import (
    NOTHING,
    PROGRAM,
    SIGNALS,
    Refused,
    as_json,
    first_match,
    kill,
    read_json,
    read_text,
    tool_output,
    write_file,
)


class SlurmBatch:
    """The batch job of Slurm, on its first node. `batch.json` is the request for all nodes, without their hosts."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.request = read_json(os.path.join(folder, "batch.json"))
        self.requests = SignalPipe()
        self.here = [sys.executable, "-I", PROGRAM, "node", folder]
        listed = tool_output("scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]).split()
        # The job of a series has as many as its largest run.
        self.hosts = listed[: self.request["spec"]["nodes"]]

    def step(self, hosts: "list[str]") -> "list[str]":
        """Return an srun command that runs this agent on these nodes of the job.

        Notes: by default srun may kill the other tasks once the first has ended (--wait), and binds a single task to
        one core (--cpu-bind).
        """
        return [
            "srun", "--overlap", "--export=ALL", "--ntasks-per-node=1", "--cpu-bind=none", "--kill-on-bad-exit=0",
            "--wait=0", f"--nodes={len(hosts)}", f"--ntasks={len(hosts)}", f"--nodelist={','.join(hosts)}", *self.here,
        ]  # fmt: skip

    def everywhere(self, *words: str) -> int:
        """Run an action on all nodes and wait for it."""
        return subprocess.call([*self.step(self.hosts), *words], stdin=NOTHING)

    def run(self) -> int:
        """Check all nodes, then run the job on them."""
        first = self.hosts[0]
        # The address that Slurm itself uses: not every cluster has its names in DNS.
        address = first_match(r" NodeAddr=(\S+)", tool_output("scontrol", "--oneliner", "show", "node", first)) or first
        os.environ.update(PERFLEDGER_HOSTS=",".join(self.hosts), PERFLEDGER_MASTER_ADDRESS=address)
        if self.everywhere("fit"):
            return 2
        if self.requests.wait(0):
            open(os.path.join(self.folder, "stopped"), "w").close()
            return 130
        if self.request["spec"]["every_node"]:
            return self.await_end(subprocess.Popen([*self.step(self.hosts), "run"], stdin=NOTHING))
        return self.run_first()

    def run_first(self) -> int:
        """Run the job on this node, and observers on the others."""
        job = subprocess.Popen([*self.here, "run"], stdin=NOTHING)
        if len(self.hosts) == 1:
            return self.await_end(job)
        others = self.step(self.hosts[1:])
        observers = subprocess.Popen([*others, "run"], stdin=NOTHING)
        status = self.await_end(job)
        subprocess.call([*others, "dismiss"], stdin=NOTHING)
        self.await_end(observers)
        return status

    def await_end(self, process: "subprocess.Popen[bytes]") -> int:
        """Wait for a process, and forward requests to stop to all nodes."""
        while process.poll() is None:
            for outcome in self.requests.wait(10):
                self.everywhere("finish", outcome)
        return process.returncode


class SlurmSeries:
    """The job of Slurm that many runs share: it carries out one after the other what its queue names.

    It ends when it is asked to, when nothing has come for some time (the runner may be gone), or when it is asked to
    stop between two runs. A file in the queue holds the folder of a run's files.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.queue = folder, os.path.join(folder, "queue")
        self.idle_seconds = read_json(os.path.join(folder, "series.json"))["idle_seconds"]
        self.requests = SignalPipe()

    def run(self) -> int:
        """Carry out runs until the end of the series, and remove the folder."""
        patience = time.monotonic() + self.idle_seconds
        stopped = False
        while not stopped:
            if self.carry_out_next(self.queue):
                patience = time.monotonic() + self.idle_seconds
            elif time.monotonic() > patience or os.path.exists(os.path.join(self.folder, "end")):
                break
            else:
                stopped = bool(self.requests.wait(0.5))
        # From now on nothing can be handed over; what has been is not lost.
        closed = os.path.join(self.folder, "closed")
        os.rename(self.queue, closed)
        while self.carry_out_next(closed, stopped):
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
        above = os.path.dirname(self.folder)
        with contextlib.suppress(OSError):
            os.rmdir(above)
            os.rmdir(os.path.dirname(above))
        return 0

    def carry_out_next(self, queue: str, stopped: bool = False) -> bool:
        """Carry out the oldest run of a queue, or only note that it was stopped; return False if the queue is empty."""
        waiting = [os.path.join(queue, name) for name in os.listdir(queue)]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda path: os.stat(path).st_mtime_ns)
        run = read_text(oldest)
        os.unlink(oldest)
        # Its runner may have brought the run home, and removed this folder, before the batch program is over.
        with contextlib.suppress(FileNotFoundError):
            if stopped:
                write_file(os.path.join(run, "stopped"), "")
            else:
                self.carry_out(run)
            write_file(os.path.join(run, "over"), "")
        return True

    def carry_out(self, run: str) -> None:
        """Run the batch program of a run, and pass requests to stop on to it."""
        argv = [sys.executable, "-I", os.path.join(run, "agent.pyz", "agent"), "batch", run]
        with open(os.path.join(run, "slurm.log"), "ab") as log:
            process = subprocess.Popen(argv, stdin=NOTHING, stdout=log, stderr=log)
        outcome = ""
        while process.poll() is None:
            for outcome in self.requests.wait(10):
                kill(process.pid, SIGNALS[outcome])
        if outcome and process.returncode < 0:
            # It was not ready yet for the signal.
            write_file(os.path.join(run, "stopped"), "")


def on_node(jobs: str, action: str, outcome: str = "stopped") -> int:
    """Carry out an action of the batch job on a node."""
    request = read_json(os.path.join(jobs, "batch.json"))
    hosts = os.environ["PERFLEDGER_HOSTS"].split(",")
    rank = hosts.index(os.environ["SLURMD_NODENAME"])
    meeting = {"hosts": hosts, "master_address": os.environ["PERFLEDGER_MASTER_ADDRESS"]}
    actions = Actions({**request, **meeting, "jobs": jobs, "rank": rank, "outcome": outcome})
    if action == "fit":
        return fit(actions)
    if action == "run":
        with open(actions.path("host.log"), "wb") as log:
            status = subprocess.call(
                actions.argv(), cwd=actions.folder, env=actions.environment(), stdin=NOTHING, stdout=log, stderr=log
            )
        if not os.path.exists(actions.path("host.json")):
            write_file(actions.path("gone"), "")
        return status
    getattr(actions, action)()
    return 0


def fit(actions: Actions) -> int:
    """Check a node of a Slurm job, and write the answer to a file, because no launcher is connected."""
    try:
        answer = actions.check()
        check_secrets(NodeJob(actions.folder))
        write_file(actions.path("check.json"), as_json(answer))
    except Refused as refusal:
        # It had the secrets, and this is published.
        texts = secret_texts(actions.request["spec"]["secrets"])
        write_file(actions.path("refused"), without(texts, str(refusal)))
        return 2
    return 0
