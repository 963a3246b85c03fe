"""Programs of this host, and what they print. No short question needs them: their start takes a module of Python."""

import os
import re
import select
import signal
import subprocess
import time
from typing import Any

from .tools import kill

NOTHING = subprocess.DEVNULL
# Limits of a tool's output in bytes; some print without end.
LONGEST = 1 << 18
LONGEST_LIST = 1 << 22


def clean(data: bytes) -> str:
    """Return what a tool printed as text: UTF-8 where it is, without control characters other than tab and newline."""
    text = data.decode("utf-8", "replace").replace("\0", "").replace("\r", "")
    return re.sub(r"[\x01-\x08\x0b-\x1f\x7f]", " ", text)


def run_tool(argv: "list[str]", seconds: float = 30, longest: int = LONGEST, **options: Any) -> "tuple[int, str]":
    """Run a tool, and return exit status and output; the status is 127 if it cannot be started, -9 if it was killed.

    A tool that hangs or prints without end is killed, with its process group.
    """
    options = {"stderr": NOTHING, **options}
    try:
        process = subprocess.Popen(argv, stdin=NOTHING, stdout=subprocess.PIPE, start_new_session=True, **options)
    except (OSError, ValueError) as error:
        return 127, str(error)
    assert process.stdout is not None
    data, end = b"", time.monotonic() + seconds
    while len(data) <= longest and select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            break
        data += chunk
    try:
        process.wait(max(0, end - time.monotonic()) if len(data) <= longest else 0)
    except subprocess.TimeoutExpired:
        kill(process.pid, signal.SIGKILL, group=True)
        process.wait()
    process.stdout.close()
    return process.returncode, clean(data[:longest])


def last_words(said: str) -> str:
    """Return the last line that a program printed."""
    return (said.strip().splitlines() or ["it says nothing"])[-1]


def tool_output(*argv: str, **options: Any) -> str:
    """Return the output of a tool, stripped; empty if it fails or is missing."""
    status, text = run_tool(list(argv), **options)
    return "" if status else text.strip()
