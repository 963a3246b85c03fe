"""Plans: a recipe before it is run, as runners pass it to ingest in `plans/<recipe>.json`, with a command per case.

A plan does not depend on a machine: hosts, the folder of the data and values known only on a node are placeholders.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from perfledger.schema.records import Amount, Container, Count, Plain, Text, WrongValueError
from perfledger.schema.vocabulary import PRECISIONS

SCHEMA: Literal["perfledger.plan/1"] = "perfledger.plan/1"
#: Name of the folder of plans, directly below a folder of logs.
PLANS_FOLDER = "plans"
#: Placeholder in commands for the folder of the data set.
EXAMPLE_DATA = "/path/to/data"

Texts = Annotated[tuple[str, ...], Meta(description="a list of texts")]


class DataSet(Struct, frozen=True, omit_defaults=True):
    """The data that a recipe trains on.

    `layout` lists paths in the folder `below`, `checksum` is of the file at `address`. `{data}` is the folder that
    `--data` names, and `{work}` that of `--work`.
    """

    name: str = ""
    below: str = "{data}"
    layout: Texts = ()
    address: str = ""
    checksum: str = ""


class PlanSource(Struct, frozen=True, omit_defaults=True):
    """The code that a recipe runs: a repository, its commit if known, and the working folder of the command."""

    repository: str = ""
    commit: str = ""
    folder: str = ""


class PlanCase(Struct, frozen=True):
    """One case without its hardware, the `choices` of `--case` that select it, and the command that runs it.

    `data` says whether the command needs a folder of data.
    """

    nodes: Count
    devices: Count
    batch_size: Count
    precision: Annotated[str, Meta(pattern=f"^(?:{'|'.join(PRECISIONS)})$")]
    options: dict[str, Plain]
    choices: dict[str, str]
    command: str
    data: bool = False

    def __post_init__(self) -> None:
        if self.devices % self.nodes:
            raise WrongValueError(("devices",), f"{self.nodes} nodes cannot share {self.devices} devices")


class Plan(Struct, frozen=True):
    """A recipe with its cases. `image` is None if the recipe does not name one."""

    schema: Literal["perfledger.plan/1"]
    recipe: Text
    title: Text
    suite: Text
    model: Text
    framework: Text
    device: Literal["cpu", "gpu"]
    launcher: str
    iterations: Count
    repeats: Amount
    cases: tuple[PlanCase, ...]
    source: PlanSource = PlanSource()
    image: Container | None = None
    packages: Texts = ()
    setup: Texts = ()
    text: str = ""
    notes: str = ""
    data_set: DataSet = DataSet()
