"""Why a host did not answer, and what to do about it, from what ssh prints."""

from __future__ import annotations

from runners.places.ask import NO_ANSWER, Answer

# What OpenSSH prints, in the order in which it counts, with what it means. Source: its readconf.c and sshconnect.c.
SAYINGS = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        (
            "its key is not the one known for it: it is another machine, or installed anew. Ask who runs it; if the "
            "new key is right, `ssh {host}` by hand says which known key to remove"
        ),
    ),
    (
        "Host key verification failed",
        "its key is not known here yet; connect once by hand with `ssh {host}` and accept it",
    ),
    ("Could not resolve hostname", "no such name is known; look for a slip in it, or add it to the ssh configuration"),
    ("Permission denied (", "it lets nobody in with the keys at hand; add yours there (`ssh-copy-id`), or load it"),
    ("bad configuration option", "the ssh configuration cannot be read"),
    ("Can't open user config file", "the file that --ssh-config names cannot be read"),
    ("Connection refused", "it is there, and no SSH server answers; start one, or set the port in the configuration"),
    ("timed out", "it does not answer; see whether it is up and whether the network reaches it"),
    ("No route to host", "the network does not reach it; see whether it is up"),
    ("Network is unreachable", "the network does not reach it; see whether this machine is connected"),
    ("not responding", "the connection broke off; see whether it is up and whether the network reaches it"),
)
SILENT = "the connection broke off or gave no answer; see whether it is up and whether the network reaches it"
NO_BASH = "bash is not installed there, and what runs on a host is a bash script; install it"


def explain(host: str, answer: Answer) -> str:
    """One message: the host, why it did not do what was asked, what to do, and the last words of ssh."""
    if answer.status in (126, 127):
        return f"{host}: {NO_BASH}{_said(answer)}"
    if answer.status == NO_ANSWER:
        return f"{host}: {SILENT}"
    for saying, meaning in SAYINGS:
        if saying in answer.errors:
            return f"{host}: {meaning.format(host=host)}{_said(answer)}"
    return f"{host}: {SILENT}{_said(answer)}"


def _said(answer: Answer) -> str:
    lines = answer.errors.strip().splitlines()
    return f" (it said: {lines[-1].strip()})" if lines else ""
