"""A run in its place: what is needed to find it again, and what is known of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

from runners.places.place import Place


@dataclass(frozen=True)
class Job:
    """One run on its nodes.

    `devices_per_node` is what each node must have, `every_node` whether each starts its own part, `timeout_seconds` the
    limit that its scripts keep by themselves. `identity` names it on every host; it is brought home to `folder`.
    """

    place: Place
    nodes: int
    devices_per_node: int
    every_node: bool
    gpus: bool
    timeout_seconds: int
    identity: str
    folder: Path

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts by SSH that it takes, in order of rank."""
        return self.place.hosts[: self.nodes]

    @property
    def incoming(self) -> Path:
        """The folder of what its nodes wrote: `node0`, `node1` and so on."""
        return (self.folder / "incoming").resolve()

    @property
    def port(self) -> int:
        """Where its ranks meet: one for all nodes, seldom that of another job, and none that systems lend out."""
        return 20000 + zlib.crc32(self.identity.encode()) % 10000

    def node(self, rank: int) -> Path:
        """The folder at home of one node."""
        return self.incoming / f"node{rank}"


@dataclass(frozen=True)
class State:
    """What is known of a job, the worst over its nodes.

    `kind` is unreachable (of a node nothing is known), waiting, running, or, where no node is at work any more, lost (a
    script is gone without its last word) or ended; `cause` says why. `outcome` is what a scheduler says a lost job came
    to, empty where nobody does. `failed`: a node has not completed, while others may still be at work. `log_bytes` and
    `last_line` are of the longest log.
    """

    kind: str
    cause: str = ""
    log_bytes: int = 0
    last_line: str = ""
    outcome: str = ""
    failed: bool = False
