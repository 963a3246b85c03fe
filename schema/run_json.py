"""The records of a run.json, the document of whoever ran a training, who states only known facts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from perfledger.schema.records import (
    LONGEST_LIST,
    Amount,
    Count,
    Node,
    Plain,
    Recipe,
    Records,
    SiteRecord,
    Stated,
    Text,
    Words,
    WrongValueError,
)
from perfledger.schema.vocabulary import CASE, COUNTS, OUTCOMES, PRECISIONS

#: Disturbances that early runners wrote among the warnings; now they have a key of their own.
_DISTURBED_BEFORE = re.compile(
    r"(?:node \d+: )?(?:the processors of this host are \d+ % busy before the run: something else computes here"
    r"|GPU \d+ is busy: processes on it .*)"
)
#: A round is named in tables and addresses.
RoundName = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"\S")]


class StatedCase(Struct, frozen=True):
    """The case of a run.json: its known facts, each of its type."""

    model: Text | UnsetType = UNSET
    framework: Text | UnsetType = UNSET
    hardware: Text | UnsetType = UNSET
    nodes: Count | UnsetType = UNSET
    devices: Count | UnsetType = UNSET
    batch_size: Count | UnsetType = UNSET
    precision: str | UnsetType = UNSET
    options: dict[str, Plain] = {}

    def __post_init__(self) -> None:
        if self.precision is not UNSET:
            _one_of("precision", self.precision, PRECISIONS)
        if self.devices is not UNSET and self.nodes is not UNSET and self.devices % self.nodes:
            raise WrongValueError(("devices",), f"{self.nodes} nodes cannot share {self.devices} devices")
        for name, value in self.options.items():
            _check_option(name, value)


class StatedFile(Struct, frozen=True):
    """A file next to a run.json, as run.json describes it."""

    sha256: str | None = None
    bytes: Amount | None = None


class RunJson(Struct, frozen=True):
    """A run.json: the whole contract with whoever ran the training, who states only known facts."""

    schema: Literal["perfledger.run/1"]
    case: StatedCase = StatedCase()
    outcome: str | None = None
    #: A trial with fewer iterations than its recipe requires; it is not published.
    smoke: bool = False
    #: Seed of the random order of the runs that were started together.
    order_seed: int | None = None
    suite: str | None = None
    format: str | None = None
    round: RoundName | None = None
    repeat: Count | None = None
    start: str | None = None
    end: str | None = None
    wall_seconds: int | float | None = None
    exit_status: int | None = None
    notes: str | None = None
    argv: tuple[str, ...] | None = None
    environment: dict[str, Stated] = {}
    environment_variables: dict[str, Plain] | None = None
    secrets: Words | None = None
    site: SiteRecord | None = None
    source: dict[str, Plain] | None = None
    files: dict[str, StatedFile] = {}
    recipe: Recipe | None = None
    records: Records | None = None
    warnings: Words | None = None
    disturbances: Words | None = None
    accept_disturbed: bool | None = None
    nodes: Annotated[tuple[Node, ...], Meta(max_length=LONGEST_LIST)] | None = None

    def __post_init__(self) -> None:
        if self.outcome is not None:
            _one_of("outcome", self.outcome, OUTCOMES)
        for name in self.files:
            _check_below(("files",), name)
        for number, node in enumerate(self.nodes or ()):
            _check_below(("nodes", number, "folder"), node.folder)
        if not isinstance((self.source or {}).get("modified", False), bool):
            raise WrongValueError(("source", "modified"), "expected true or false")


def told_apart(warnings: Sequence[str], disturbances: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return warnings and disturbances of a run.json; one without a key for disturbances lists them as warnings."""
    if disturbances is not None:
        return tuple(warnings), tuple(disturbances)
    found = tuple(filter(_DISTURBED_BEFORE.fullmatch, warnings))
    return tuple(each for each in warnings if each not in found), found


def _one_of(key: str, value: str, known: Mapping[str, Any]) -> None:
    if value not in known:
        near = difflib.get_close_matches(value, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise WrongValueError((key,), f"expected one of {', '.join(known)}, got {value!r}{hint}")


def _check_option(name: str, value: Plain) -> None:
    """Refuse an option that belongs elsewhere, or has a wrong type: `"accumulation": "8"` would multiply a text."""
    if name in CASE:
        raise WrongValueError(("options", name), "is not an option; put it into the case itself")
    if name == "round":
        raise WrongValueError(("options", name), "is not an option; put `round` next to `case`")
    if name in COUNTS and (type(value) is not int or value < 1):
        raise WrongValueError(("options", name), f"expected a positive whole number, got {value!r}")


def _check_below(keys: tuple[str | int, ...], name: str) -> None:
    """Refuse a path that is not below the run's folder, so that no other file of the disk is read."""
    if not (name.isprintable() and (name == "." or not {"", ".", ".."} & set(name.split("/")))):
        raise WrongValueError(keys, f"{name!r} is not a path below the folder of the run")
