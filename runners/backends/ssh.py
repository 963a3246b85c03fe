"""Hosts by OpenSSH, with the user's own configuration, one connection a host for all that is asked of it."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

# Nobody is there to type a password. A host that says nothing for 15 seconds is taken to be cut off. What a user's
# configuration may add for terminals, commands and forwardings of their own, is left aside.
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ControlMaster": "auto",
    "ControlPersist": "60",
    "ClearAllForwardings": "yes",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "LogLevel": "ERROR",
}


def argv(host: str, config: str = "") -> list[str]:
    """Runs, on a host, the bash program on our standard input; bash, whatever the user's shell is there."""
    options = {**OPTIONS, "ControlPath": f"{_sockets()}/%C"}
    settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return ["ssh", "-T", *_file(config), *settings, "--", host, "bash -s"]


def resolution(host: str, config: str = "") -> list[str]:
    """Prints what the configuration says of a host, a line each; it contacts nobody."""
    return ["ssh", "-G", *_file(config), "--", host]


def _file(config: str) -> list[str]:
    return ["-F", config] if config else []


@functools.cache
def _sockets() -> str:
    """A folder of ours alone, whatever others put into /tmp.

    The trap: the path of a socket ends at 104 bytes, and ssh adds 58 of its own, so TMPDIR may be too long for it.
    """
    folder = Path(f"/tmp/perfledger-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return str(folder)
    return tempfile.mkdtemp(prefix="perfledger-", dir="/tmp")
