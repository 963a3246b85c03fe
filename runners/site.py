"""The additions of a site to recipes: `site.toml` next to them, a table for each host and each partition of Slurm.

Recipes say what is run; a site says where its Python, its data and its network are. `load` checks every key and names
file and line of a mistake; `SiteFile.of` returns the table for the hosts of one command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from perfledger.runners.job import OF_INTERFACE, DeclaredAccelerator, Hooks, RunnerError
from perfledger.runners.recipe import FOLDER, SITE_FILE, VARIABLE, Words, secret_fault
from perfledger.runners.toml_errors import FaultError, Keys, Table, decoded, line_of, parsed, refuse_nul
from perfledger.schema.records import SiteRecord

#: Tables of a site, by the kind of target that they are for.
_KINDS = ("hosts", "partitions")

Folder = Annotated[str, Meta(pattern="^(/.*)?$", description="an absolute path")]


class SiteContainer(Struct, frozen=True, forbid_unknown_fields=True):
    """Further arguments of the container tool."""

    arguments: Words = ()


class SitePlace(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file: what one host, or the nodes of one partition, add to recipes."""

    interpreter: Folder = ""
    prologue: Words = ()
    before: Words = ()
    after: Words = ()
    environment_variables: Table = {}
    secrets: Words = ()
    interface: Annotated[str, Meta(pattern=r"^[\w.:-]*$", description="the name of a network interface")] = ""
    address: Annotated[str, Meta(pattern=r"^[\w.:-]*$", description="an address, or a name that its peers know")] = ""
    data: Table = {}
    container: SiteContainer = SiteContainer()
    sbatch: Words = ()
    prefix: Words = ()
    accelerator: DeclaredAccelerator | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the command, those of the network interface included."""
        return {**dict.fromkeys(OF_INTERFACE if self.interface else (), self.interface), **self.environment_variables}

    @property
    def hooks(self) -> Hooks:
        """Shell lines that run on the node around the command."""
        return Hooks(self.prologue, self.before, self.after)

    @property
    def record(self) -> SiteRecord | None:
        """The additions that run.json records; None if it has nothing to record."""
        found = SiteRecord(
            interpreter=self.interpreter,
            prologue=self.prologue,
            before=self.before,
            after=self.after,
            container_arguments=self.container.arguments,
            interface=self.interface,
        )
        return None if found == SiteRecord() else found

    def data_for(self, recipe: str, data_set: str) -> str:
        """Return the folder of a recipe's data: by its name, by that of its data set, or the one for all."""
        return next((str(self.data[name]) for name in (recipe, data_set, "default") if name in self.data), "")


class SiteFile(Struct, frozen=True):
    """A site file: its places by the kind of target and name."""

    path: Path | None = None
    places: Mapping[tuple[str, str], SitePlace] = {}

    def of(self, kind: str, names: Iterable[str]) -> SitePlace:
        """Return the table for all hosts of a command, without their addresses.

        Raises:
            RunnerError: two hosts differ, and one run has one command.
        """
        found = [(name, replace(self.places.get((kind, name), SitePlace()), address="")) for name in names]
        first, place = found[0]
        for name, other in found[1:]:
            for key in SitePlace.__struct_fields__:
                if getattr(other, key) != getattr(place, key):
                    what = f"`{kind}.{first}.{key}` and `{kind}.{name}.{key}` differ"
                    raise RunnerError(f"{self.path}: {what}, and all hosts of a run must share them; make them equal")
        return place

    def addresses(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Return the address of each host for its peers, empty where the file states none."""
        return tuple(self.places.get(("hosts", host), SitePlace()).address for host in hosts)


def find(named: str, folder: Path) -> SiteFile:
    """Return the site of `--site`, or else that next to the recipe, or else next to the recipes shipped.

    Raises:
        RunnerError: the file that was named is missing, or a file is not a site.
    """
    if named:
        return load(Path(named))
    found = next((path for path in (folder / SITE_FILE, FOLDER / SITE_FILE) if path.is_file()), None)
    return load(found) if found else SiteFile()


def load(path: Path) -> SiteFile:
    """Read a site file.

    Raises:
        RunnerError: it is not one; the message names the file, and line and key where they are known.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunnerError(f"{path}: this site file cannot be read: {error.strerror}") from error
    text, tables = parsed(path, content)
    try:
        refuse_nul(tables, ())
        return SiteFile(path, {key: place for kind in _checked_kinds(tables) for key, place in _places(kind, tables)})
    except FaultError as fault:
        raise RunnerError(f"{path}:{line_of(text, fault.keys)}: {fault}") from fault


def _checked_kinds(tables: Table) -> tuple[str, ...]:
    for key, value in tables.items():
        if key not in _KINDS:
            remedy = "a site file has [hosts.NAME] and [partitions.NAME]"
            raise FaultError((key,), f"`{key}` is not a table of a site file; {remedy}")
        if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
            raise FaultError((key,), f"`{key}` must be a table for each of its names: [{key}.NAME]")
    return _KINDS


def _places(kind: str, tables: Table) -> Iterable[tuple[tuple[str, str], SitePlace]]:
    for name, table in tables.get(kind, {}).items():
        where = (kind, name)
        place = decoded(table, SitePlace, "a site", where)
        _check_variables((*where, "environment_variables"), place.environment_variables)
        _check_secrets((*where, "secrets"), place.secrets)
        _check_folders((*where, "data"), place.data)
        if place.sbatch and kind == "hosts":
            raise FaultError((*where, "sbatch"), f"`{kind}.{name}.sbatch` is for partitions; move it to [partitions.*]")
        if place.address and kind == "partitions":
            what = f"`{kind}.{name}.address` is for hosts by SSH: Slurm knows the addresses of its nodes; leave it out"
            raise FaultError((*where, "address"), what)
        yield (kind, name), place


def _check_variables(keys: Keys, table: Table) -> None:
    for name, value in table.items():
        at = f"`{'.'.join(map(str, keys))}.{name}`"
        if not VARIABLE.fullmatch(name) or not isinstance(value, str):
            raise FaultError((*keys, name), f"{at} is {value!r}, but must be a text, and its key a variable's name")
        if fault := secret_fault(name, value):
            raise FaultError((*keys, name), f"{at} {fault}, or name it in `secrets`")


def _check_secrets(keys: Keys, names: Iterable[str]) -> None:
    for name in names:
        if not VARIABLE.fullmatch(name):
            what = f"`{'.'.join(map(str, keys))}` contains {name!r}, which is not the name of an environment variable"
            raise FaultError(keys, f"{what}; the value comes from the environment of the runner")


def _check_folders(keys: Keys, table: Table) -> None:
    for name, value in table.items():
        if not isinstance(value, str) or not re.match("/", value):
            at = f"`{'.'.join(map(str, keys))}.{name}`"
            raise FaultError((*keys, name), f"{at} is {value!r}, but must be an absolute path")
