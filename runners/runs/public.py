"""What of a host's words may stand in a record that others read: neither its name, nor its address, nor its folders."""

from __future__ import annotations

import re
from collections.abc import Sequence

HIDDEN = "…"
#: Of version 4; of version 6, that is three colons or two together. A time of day has two at most.
ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<!\w)[0-9a-fA-F]{0,4}(?:(?::[0-9a-fA-F]{0,4}){3,7}|::[0-9a-fA-F]{0,4})(?!\w)"
)
PATH = re.compile(r"(?<![\w.])~?/[^\s,;:'\"`)]+")


def without_places(text: str, hosts: Sequence[str]) -> str:
    """The text with nodes called by number, and addresses and absolute paths hidden.

    `hosts` are in order of rank, as their user names them: `name`, or `user@name`.
    """
    names = {name: f"node {rank}" for rank, host in enumerate(hosts) for name in (host, host.rpartition("@")[2])}
    # The longest first: one name may begin another.
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", names[name], text)
    return PATH.sub(HIDDEN, ADDRESS.sub(HIDDEN, text))
