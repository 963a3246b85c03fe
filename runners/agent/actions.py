"""Answers to the questions of a launcher."""

import contextlib
import json
import os
import signal
import sys
import time

from .tools import (
    CHECKED,
    FULL,
    PROGRAM,
    SIGNALS,
    Disturbance,
    Refused,
    as_json,
    first_match,
    free_bytes,
    has_variables,
    kill,
    last_line,
    machine,
    processes_with,
    read_text,
    secret_texts,
    send_answer,
    without,
    write_file,
)

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Callable

    from .spec import Json, Request


class Actions:
    """The actions that a launcher can request for the job of this node, one method each."""

    def __init__(self, request: "Request") -> None:
        self.request = request
        self.identity, self.rank = request.get("identity", ""), request.get("rank", 0)
        default = os.environ.get("PERFLEDGER_JOBS") or os.path.expanduser("~/.perfledger/jobs")
        self.jobs = request.get("jobs") or os.path.join(default, self.identity)
        self.folder = os.path.join(self.jobs, f"node{self.rank}")
        self.variables = [f"PERFLEDGER_IDENTITY={self.identity}", f"PERFLEDGER_NODE_RANK={self.rank}"]

    def path(self, *names: str) -> str:
        """Return a path below the job's folder."""
        return os.path.join(self.folder, *names)

    def deliver(self) -> None:
        """Write what the job needs into its folder."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            write_file(self.path("job.json"), as_json(self.request))
        except OSError as error:
            raise Refused(
                f"the job's folder {self.folder} cannot be written: {error.strerror}; make room there, or set "
                "PERFLEDGER_JOBS to another folder"
            ) from error

    def check(self) -> "dict[str, list[str]]":
        """Deliver the job and check this node; the run records what the check has found."""
        from .checks import check
        from .job import NodeJob

        self.deliver()
        found = check(NodeJob(self.folder))
        answer: "dict[str, list[str]]" = {
            "warnings": [each for each in found if not isinstance(each, Disturbance)],
            "disturbances": [each for each in found if isinstance(each, Disturbance)],
        }
        write_file(self.path(CHECKED), as_json(answer))
        return answer

    def idle(self) -> "dict[str, list[str]]":
        """Return why this node is not idle."""
        from .checks import why_busy
        from .job import NodeJob

        self.deliver()
        return {"warnings": why_busy(NodeJob(self.folder))}

    def argv(self) -> "list[str]":
        """Return the command that runs the job; -I ignores modules in the current folder and PYTHON* variables."""
        return [sys.executable, "-I", PROGRAM, "run", self.folder]

    def environment(self) -> "dict[str, str]":
        """Return the environment of the process that runs the job, which identifies it."""
        variables = dict(variable.split("=", 1) for variable in self.variables)
        return {**os.environ, "PERFLEDGER_JOB": self.folder, **variables, **self.request.get("secrets", {})}

    def begin(self) -> "dict[str, str]":
        """Start the job in a session of its own, so that it outlives the connection and the launcher."""
        import subprocess

        if os.path.exists(self.path("pid")):
            raise Refused(f"the job in {self.folder} has been started before")
        with open(self.path("host.log"), "wb") as log:
            process = subprocess.Popen(
                self.argv(), cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        while not os.path.exists(self.path("pid")):
            if process.poll() is not None and not os.path.exists(self.path("pid")):
                raise Refused(f"the job did not start: {last_line(self.path('host.log'))}")
            time.sleep(0.05)
        return {}

    def ours(self) -> int:
        """Return the pid of the job's process, 0 if it is gone. The variables show whether the pid was reused."""
        text = read_text(self.path("pid")).strip()
        return int(text) if text.isdigit() and has_variables(text, *self.variables) else 0

    def look(self) -> "dict[str, str | int]":
        """Return the state of the job."""
        if os.path.isdir(self.folder):
            # Note: a network file system may not show a new file until its folder is listed.
            os.listdir(self.folder)
        log = self.path("train.log")
        running = not os.path.exists(self.path("host.json")) and self.ours()
        answer: "dict[str, str | int]" = {
            "kind": "running" if running else "lost",
            "log_bytes": os.path.getsize(log) if os.path.exists(log) else 0,
            "last_line": self.shown_line(log),
        }
        # Checked last, because the job may have ended just now.
        if os.path.exists(self.path("host.json")):
            answer["kind"] = "ended"
            answer["outcome"] = first_match(r'"outcome": *"([a-z]*)"', read_text(self.path("host.json")))
        elif not running:
            answer.update(self.why_lost())
        return answer

    def shown_line(self, log: str) -> str:
        """Return the last line of a log that still grows, unless a secret may be in it: those are masked at its end."""
        job = read_text(self.path("job.json"))
        return "(not shown: the run has secrets)" if job and json.loads(job)["spec"]["secrets"] else last_line(log)

    def why_lost(self) -> "dict[str, str]":
        """Return why the job's process is gone although it wrote no host.json."""
        there = read_text(self.path("machine")).split("\n")
        here = machine()
        if len(there) > 1 and there[0] != here[0] and there[1] != here[1]:
            # The folder is shared or was copied; processes on the other machine are invisible here.
            return {"kind": "unreachable", "cause": "the run was started on another machine; ask there"}
        if not os.path.isdir(self.folder):
            return {"cause": "its folder is not there any more"}
        if there[0] and there[0] != here[0]:
            return {"cause": "the host was restarted"}
        # One that is a file of its own has no host.log.
        if not any(os.path.exists(self.path(name)) for name in ("pid", "host.log")):
            return {"cause": "it was never started"}
        if free_bytes(self.folder) < FULL:
            return {"cause": "there is no space left for what it writes"}
        # Paths are private.
        words = last_line(self.path("host.log")).replace(f"{self.folder}/", "")
        return {"cause": f"its agent is gone; its last words: {words}" if words else "its agent is gone, as if killed"}

    def finish(self) -> "dict[str, str]":
        """Ask the job to end; if its process is gone, give its guard 3 s to clear up, and kill what is left then."""
        process = self.ours()
        if process:
            kill(process, SIGNALS[self.request.get("outcome", "stopped")])
            return {}
        for _ in range(30):
            if not processes_with(*self.variables):
                break
            time.sleep(0.1)
        for process in processes_with(*self.variables):
            kill(process, signal.SIGKILL)
        return {}

    def forget(self) -> "dict[str, str]":
        """Remove what a check has written, unless something ran."""
        import shutil

        if not os.path.exists(self.path("pid")) and not os.path.exists(self.path("train.log")):
            shutil.rmtree(self.folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rmdir(self.jobs)
        return {}

    def send(self) -> None:
        """Send the files of the job as a tar stream, empty if its folder is gone."""
        import tarfile

        send_answer({"files": True})
        sys.stdout.flush()
        with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", dereference=False) as archive:
            for folder, folders, files in os.walk(self.folder):
                at_top = folder == self.folder
                folders[:] = [name for name in folders if not (at_top and name == "output")]
                for name in [*folders, *files]:
                    path = os.path.join(folder, name)
                    if (at_top and name == "machine") or not os.access(path, os.R_OK):
                        continue
                    archive.add(path, os.path.relpath(path, self.folder), recursive=False)

    def hardware(self) -> "dict[str, str]":
        """Return the hardware name of a run that would start now: of two kinds of GPUs it would get one."""
        from .checks import choose_gpus, given_gpus
        from .devices import hardware
        from .job import NodeJob

        job = NodeJob(self.folder, self.request)
        if job.spec.device == "cpu":
            return {"hardware": hardware("cpu", [])}
        try:
            gpus = choose_gpus(job, given_gpus(job))
        except Refused:
            gpus = job.vendor.devices()
        return {"hardware": hardware("gpu", gpus)}

    def setup(self) -> "dict[str, list[str]]":
        """Store the setup steps in the work folder, and return the command that runs them in a terminal."""
        work = os.path.join(os.path.expanduser("~"), os.path.expanduser(self.request["work"] or "~/.perfledger/work"))
        with contextlib.suppress(OSError):
            os.makedirs(work, exist_ok=True)
        if not (os.path.isdir(work) and os.access(work, os.W_OK)):
            raise Refused(f"{work} is no folder that can be written to, or made; name another with --work")
        path = os.path.join(work, f"setup.{os.getpid()}.json")
        write_file(path, as_json(self.request))
        return {"argv": [sys.executable, "-I", PROGRAM, "setup", path]}


def serve(request: "Request") -> None:
    """Carry out a request, and answer it."""
    action: "Callable[[], Json]" = getattr(Actions(request), request["action"])
    try:
        answer = action()
    except Refused as refusal:
        answer = {"refused": without(secret_texts(request.get("spec", {}).get("secrets", [])), str(refusal))}
    if answer is not None:
        send_answer(answer)
