"""Words of a command line: parts known here, and parts that only the node knows when it starts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from runners.errors import RunnerError

#: What a node knows when it starts; its script holds each in a bash variable of this name.
LATE = {
    "node_rank": "number of this node, from 0",
    "master_address": "host that the ranks meet at, which is node 0",
    "master_port": "port that the ranks meet at",
    "hosts": "all hosts in order of rank, with commas: h1,h2",
    "addresses": "the same as addresses: a.b.c.d,a.b.c.e",
    "address": "that of this node",
    "host_slots": "the hosts with devices per node: h1:8,h2:8",
    "hostfile": "path of a file with a line `h1 slots=8` per host",
    "ranks": "folder for one log per rank, which is brought home",
    "output": "folder for whatever else a trainer writes, such as checkpoints, which is not",
    "work": "folder that holds the checked-out sources",
    "working_folder": "folder that the command runs in",
    "identity": "name of the job, the same on all its nodes",
}


@dataclass(frozen=True)
class Late:
    """A value known on the node only, one of `LATE`."""

    name: str


Word = tuple[str | Late, ...]


def word(text: str) -> Word:
    """A word that is known here, whole."""
    return (text,)


def literal(*texts: str) -> list[Word]:
    """Words that are known here."""
    return [word(text) for text in texts]


def shell(words: Sequence[Word]) -> str:
    """The words for bash, as elements of an array or as arguments: each arrives as exactly one word.

    Raises RunnerError where a text cannot be a word of any command, as `checked` does.
    """
    return " ".join("".join(_part(part) for part in each if part) or "''" for each in words)


def texts(words: Sequence[Word]) -> list[str]:
    """The words for people and for `run.json`: a value that only the node knows is its name in braces."""
    return ["".join(f"{{{part.name}}}" if isinstance(part, Late) else part for part in each) for each in words]


def checked(text: str, where: str) -> str:
    """The text as it is; raises RunnerError, naming `where`, for one that no command line can hold."""
    if "\0" in text:
        raise RunnerError(f"{where}: {text!r} holds a NUL byte, which no command line can; take it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RunnerError(f"{where}: {text!r} is not UTF-8; write it in UTF-8") from error
    return text


def _part(part: str | Late) -> str:
    return f'"${{{part.name}}}"' if isinstance(part, Late) else shlex.quote(checked(part, "a word of the command"))
