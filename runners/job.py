"""The interface between the two halves of the runners: everything that one run needs, as typed data.

The upper half (recipe, settings, command, wrappers, batch, cli) makes a `PlannedRun`; the lower half (nodes, transport,
record, run, agent) carries it out and does not know recipes. `JobSpec` is what the nodes get, as JSON; it is
the same for all of them. A word that only a node can complete has `NodeVariable` parts, so that no text of a user
ever has to be escaped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from perfledger.schema.records import Case, Recipe, SiteRecord


class RunnerError(Exception):
    """A fault with its place, cause and remedy, in one sentence or two; printed without a traceback, exit 2."""


RUN_SCHEMA = "perfledger.run/1"
#: Characters of a secret: the words of a log may be shorter, and would be masked with it.
SHORTEST_SECRET = 8

#: Tools that run an image. Pyxis is a plugin of Slurm: srun itself starts a container of enroot.
ContainerTool = Literal["docker", "podman", "apptainer", "pyxis"]
#: Values that only a node knows; `docs/guide/keys.toml` has their meaning. The agent fills them in.
NODE_VARIABLES = (
    "node_rank", "master_address", "master_port", "hosts", "addresses", "address", "host", "host_slots", "ranks",
    "output", "work", "working_folder", "identity", "gpu_ids",
)  # fmt: skip

#: Variables that name the network interface of the ranks to a framework.
OF_INTERFACE = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
#: Variables that a node sets so that NCCL reports what it chose; see `agent/nccl.py`.
NCCL_VARIABLES = ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE")

Scalar = str | int | float | bool
# The descriptions finish the sentence "`key` is VALUE, but must be ..." of an error message.
Text = Annotated[str, Meta(pattern=r"\S", description="a text that is not empty")]
Count = Annotated[int, Meta(ge=1, description="a whole number from 1")]


class NodeVariable(Struct, frozen=True):
    """A part of a word that only the node knows; `name` is one of `NODE_VARIABLES`. In JSON: `{"node": "hosts"}`."""

    name: str = field(name="node")


#: One word of a command line: its parts are joined without anything between them.
Word = tuple[str | NodeVariable, ...]


class ContainerSpec(Struct, frozen=True):
    """An image, and how to run words in it.

    `enter` are the words that, put before others, run those inside (`docker run ... IMAGE`); `pinned` is the image by
    its digest, where that is known.
    """

    tool: ContainerTool
    image: str
    enter: tuple[Word, ...]
    digest: str = ""
    pinned: str = ""


class VirtualEnvironment(Struct, frozen=True):
    """The Python environment of a recipe, which `setup` makes below the work folder and a run uses where it is there.

    `made_by` is a hash of all that it is made from; an environment of earlier setup steps has another one.
    """

    name: str
    made_by: str


class DeclaredAccelerator(Struct, frozen=True, forbid_unknown_fields=True):
    """An accelerator that no tool known here describes, as a site declares it.

    `probe` is a shell line that prints a line per device, and `variable` shows programs some of them only.
    """

    name: Annotated[str, Meta(min_length=1, description="the name of the accelerator")]
    probe: Annotated[str, Meta(min_length=1, description="a shell line")]
    variable: Annotated[str, Meta(pattern=r"^([A-Za-z_]\w*)?$", description="the name of an environment variable")] = ""


class JobSpec(Struct, frozen=True, kw_only=True):
    """The work of one run on its nodes.

    `command` is the trainer under its launcher, without the container. `every_node` is false where the launcher starts
    the other nodes from the first by itself. `files` (path to text) make a folder of their own, where the command
    runs. `packages` must be importable by `python`. `prologue` are the site's shell lines, which set variables of the
    command. `secrets` are names of variables: their values come with the request to start, and are in no file.
    `source_folder` lies below `work`; empty texts mean "none", an empty `work` the default.
    """

    command: tuple[Word, ...]
    device: Literal["cpu", "gpu"]
    accelerator: DeclaredAccelerator | None = None
    nodes: Count
    devices_per_node: Count
    every_node: bool
    timeout_seconds: Count
    variables: dict[str, Word] = {}
    files: dict[str, str] = {}
    container: ContainerSpec | None = None
    python: str = "python"
    packages: tuple[str, ...] = ()
    virtual_environment: VirtualEnvironment | None = None
    prologue: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    source_folder: str = ""
    expected_commit: str = ""
    work: str = ""
    data: str = ""
    threads: str = ""
    even_if_busy: bool = False

    @property
    def argv(self) -> list[Word]:
        """The whole command, in its container if it has one."""
        return [*(self.container.enter if self.container else ()), *self.command]


class SourceRecord(Struct, frozen=True, omit_defaults=True):
    """`source` of `run.json`, as the recipe wants it; None in `PlannedRecord` unless both are known."""

    repository: str
    commit: str
    modified: bool = False


class PlannedRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The keys of `run.json` that are known before the run starts, in their order in the file."""

    schema: str
    suite: str
    case: Case
    format: str
    repeat: int
    recipe: Recipe
    argv: tuple[str, ...]
    environment_variables: dict[str, str]
    secrets: tuple[str, ...] = ()
    site: SiteRecord | None = None
    accept_disturbed: bool = False
    smoke: bool = False
    order_seed: int | None = None
    round: str = ""
    source: SourceRecord | None = None
    notes: str = ""


class RequiredRecords(Struct, frozen=True, forbid_unknown_fields=True):
    """The records that the log must have, of one format; `node` is the node that prints them."""

    format: Text
    at_least: Count
    node: Annotated[Literal["first", "last"], Meta(description="first or last")] = "first"


class PlannedRun(Struct, frozen=True, kw_only=True):
    """One run to be started. `folder` is `<raw logs>/<suite>/<framework>/<case>/<repeat>`."""

    folder: Path
    record: PlannedRecord
    wanted: RequiredRecords
    spec: JobSpec


def word(text: str) -> Word:
    """Return a word without node variables."""
    return (text,)


def literal(*texts: str) -> list[Word]:
    """Return words without node variables."""
    return [word(text) for text in texts]


def texts(words: Sequence[Word]) -> list[str]:
    """Return words for people and for `run.json`: a node variable is its name in braces."""
    return ["".join(f"{{{part.name}}}" if isinstance(part, NodeVariable) else part for part in each) for each in words]


def secret_values(names: Sequence[str]) -> dict[str, str]:
    """Return the values of secrets, from the environment of the runner.

    Raises:
        RunnerError: one has no value, or one that cannot be masked in a log: too short, or of several lines.
    """
    for name in names:
        value = os.environ.get(name, "")
        if len(value) < SHORTEST_SECRET or len(value.splitlines()) > 1:
            what = "its value cannot be masked in a log" if value else "it is not set here"
            remedy = (
                f"export it, one line of at least {SHORTEST_SECRET} characters, in the shell that starts the runner"
            )
            raise RunnerError(f"secret {name}: {what}; {remedy}")
    return {name: os.environ[name] for name in names}
