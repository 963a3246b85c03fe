"""What runners tell ingest of a recipe before it is run: `plans/<recipe>.json`, with a command for each case.

A plan names nothing of a machine: hosts, the folder of the data and what only a node knows stand as placeholders.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from perfledger.schema.records import Amount, Container, Count, Plain, Text, WrongError
from perfledger.schema.vocabulary import PRECISIONS

SCHEMA: Literal["perfledger.plan/1"] = "perfledger.plan/1"
#: Directly below a folder of logs.
PLANS_FOLDER = "plans"
#: Stands for the folder of the data set in commands.
EXAMPLE_DATA = "/path/to/data"

Texts = Annotated[tuple[str, ...], Meta(description="a list of texts")]


class DataSet(Struct, frozen=True, omit_defaults=True):
    """The data that a recipe trains on: `layout` is paths below `below`, `checksum` is of the file at `address`.

    `{data}` is the folder that `--data` names, and `{work}` that of `--work`.
    """

    name: str = ""
    below: str = "{data}"
    layout: Texts = ()
    address: str = ""
    checksum: str = ""


class PlanSource(Struct, frozen=True, omit_defaults=True):
    """What a recipe runs: a repository, its commit where known, and the folder that the command runs in."""

    repository: str = ""
    commit: str = ""
    folder: str = ""


class PlanCase(Struct, frozen=True):
    """One case: what is compared but the hardware; `choices`, the `--case` that gives it; and the command that runs it.

    `data` says whether a folder of data has to be named.
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
            raise WrongError(f".devices is {self.devices}, which {self.nodes} nodes cannot share")


class Plan(Struct, frozen=True):
    """A recipe with its cases. `image` is None where the recipe names none."""

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
