"""Files, texts, processes and answers: what all modules of the agent use."""

import contextlib
import json
import os
import re
import signal
import sys
import time

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Mapping
    from typing import TypeVar

    from .spec import JobDocument, Json

    T = TypeVar("T")

MARK = "perfledger "
# The folder of these modules, which may lie in an archive: the program that starts the agent again.
PROGRAM = os.path.dirname(os.path.abspath(__file__))
# Mount points of the kernel's file systems.
PROC, SYS = "/proc", "/sys"
# With less than this a disk counts as full.
FULL = 1 << 16
# Time limit of everything before the command, which may include pulling an image.
PREPARE_SECONDS = 7200
# Time limit of a site's prologue, and of the program that gives files of a container to this user.
PROLOGUE_SECONDS = 300
# Container tools whose images are known to this host, and whose containers have names.
WITH_DAEMON = ("docker", "podman")
# The file of a job with the warnings and disturbances that its check has found.
CHECKED = "checked.json"
NEVER = float("inf")
SIGNALS = {"stopped": signal.SIGTERM, "timeout": signal.SIGUSR1}


class Disturbance(str):
    """A warning that something else uses this machine: unless the user accepts it, the run is left out of results."""


class Refused(Exception):
    """A reason not to start the run: it would fail, or its figures would be worthless."""


class Busy(Refused):
    """Another run, or a program on its GPUs: it passes, and a user may run nevertheless."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; wait for its end with --if-busy wait, or measure nevertheless with --if-busy run")
        self.why = why


def send_answer(answer: "Json") -> None:
    """Print an answer. It begins with a newline, because a login may have printed half a line before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(f"\n{MARK}{json.dumps(answer, ensure_ascii=False)}\n"))
    sys.stdout.flush()


def encoded(text: str) -> bytes:
    """Return a text in UTF-8.

    Where Python 3.6 has the locale C it takes no other texts than ASCII for paths and arguments: those that we read are
    bytes there, as `os.fsdecode` passes them through.
    """
    return text.encode("utf-8", "surrogateescape")


def as_json(value: "Json | JobDocument") -> str:
    """Return JSON of several lines for `encoded`, with its texts as they are."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def read_job(folder: str) -> "JobDocument":
    """Return the content of `job.json` in a folder; its texts can be paths and arguments here."""
    with open(os.path.join(folder, "job.json"), "rb") as file:
        found: "JobDocument" = json.loads(os.fsdecode(file.read()))
    return found


def read_text(path: str) -> str:
    """Return the content of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def write_file(path: str, text: str) -> None:
    """Write a file atomically."""
    try:
        with open(f"{path}.partial", "wb") as file:
            file.write(encoded(text))
        os.replace(f"{path}.partial", path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(f"{path}.partial")
        raise


def without_unknown(members: "Mapping[str, T]") -> "dict[str, T]":
    """Return an object without its unknown (None or empty) members."""
    return {key: value for key, value in members.items() if value not in (None, "", [], {}, ())}


def number(text: "str | None") -> "int | float | None":
    """Convert a text to a number; None if it is not one."""
    if not text or not re.match(r"(0|[1-9][0-9]{0,17})(\.[0-9]+)?$", text):
        return None
    return float(text) if "." in text else int(text)


def first_match(pattern: str, text: str) -> str:
    """Return the first group of the first match of a pattern; empty if nothing matches."""
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def secret_texts(names: "list[str]", variables: "Mapping[str, str]" = os.environ) -> "list[str]":
    """Return the values of secrets, the longest first, because one may contain another."""
    return sorted((variables[name] for name in names if variables.get(name)), key=len, reverse=True)


def without(texts: "list[str]", said: str) -> str:
    """Return the words of a program with `***` instead of some texts."""
    for text in texts:
        said = said.replace(text, "***")
    return said


def kill(process: int, number: int, group: bool = False) -> None:
    """Send a signal to a process or its group; ignore that it may be gone."""
    with contextlib.suppress(OSError):
        (os.killpg if group else os.kill)(process, number)


def has_variables(process: "int | str", *variables: str) -> bool:
    """Return whether a process was started with all of these variables."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return {os.fsencode(variable) for variable in variables} <= set(file.read().split(b"\0"))
    except OSError:
        return False


def processes_with(*variables: str) -> "list[int]":
    """Return all processes that were started with these variables, in any session or process group."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and has_variables(name, *variables)]


def machine() -> "list[str]":
    """Return boot id and name of this machine: they show whether a job ran here, and since the last restart."""
    return [read_text("/proc/sys/kernel/random/boot_id").strip(), os.uname().nodename]


def last_line(path: str) -> str:
    """Return the last non-empty line of a file; progress bars end lines with a carriage return."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - 2000))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in re.split("[\r\n\0]", text) if line.strip()]
    return lines[-1] if lines else ""


def utc() -> str:
    """Return the current time, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def program_text(name: str) -> str:
    """Return the text of a module of the agent, which may lie in an archive."""
    import pkgutil

    found = pkgutil.get_data(__package__, name)
    assert found is not None
    return found.decode("utf-8")


def free_bytes(place: str) -> int:
    """Return how much this user can still write below a folder."""
    disk = os.statvfs(place)
    return disk.f_bavail * disk.f_frsize


def digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    import hashlib

    found = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            found.update(chunk)
    return found.hexdigest()
