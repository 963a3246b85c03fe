"""The choices of the user beyond the recipe, and the additions of a site: a table for each host and Slurm partition.

A recipe says what is run; `site.toml` in the present folder says where its Python, its data and its network are.
`find_site` names file and line of a mistake; `SiteFile.of` returns the table for the hosts of one command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from perfledger.runners.cases import RecipeCase, slugify
from perfledger.runners.job import ContainerTool, DeclaredAccelerator, RunnerError, secret_values
from perfledger.runners.recipes import LaunchRecipe, Variables, Words, check_variables
from perfledger.runners.toml_errors import read_toml, wrong
from perfledger.schema.records import SiteRecord

#: The site file of a folder.
SITE_FILE = "site.toml"
#: On a host that others use: refuse a run, wait until it is idle, run, or run and count it although it is disturbed.
IfBusy = Literal["refuse", "wait", "run", "count"]

Folder = Annotated[str, Meta(pattern="^(/.*)?$", description="an absolute path")]


class SiteContainer(Struct, frozen=True, forbid_unknown_fields=True):
    """Further arguments of the container tool."""

    arguments: Words = ()


class SitePlace(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file: what one host, or the nodes of one partition, add to recipes."""

    prologue: Words = ()
    environment_variables: Variables = {}
    address: Annotated[str, Meta(pattern=r"^[\w.:-]*$", description="an address, or a name that its peers know")] = ""
    data: Annotated[dict[str, Folder], Meta(description="a table of absolute paths")] = {}
    container: SiteContainer = SiteContainer()
    sbatch: Words = ()
    prefix: Words = ()
    accelerator: DeclaredAccelerator | None = None

    @property
    def record(self) -> SiteRecord | None:
        """The additions that run.json records; None if it has nothing to record."""
        found = SiteRecord(prologue=self.prologue, container_arguments=self.container.arguments)
        return None if found == SiteRecord() else found

    def data_for(self, recipe: str, data_set: str) -> str:
        """Return the folder of a recipe's data: by its name, by that of its data set, or the one for all."""
        return next((self.data[name] for name in (recipe, data_set, "default") if name in self.data), "")


class SiteFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of the file by the names of hosts, or of partitions of Slurm."""

    hosts: dict[str, SitePlace] = {}
    partitions: dict[str, SitePlace] = {}

    def of(self, kind: Literal["hosts", "partitions"], names: Iterable[str]) -> SitePlace:
        """Return the table for all hosts of a command, without their addresses.

        Raises:
            RunnerError: two hosts differ, and one run has one command.
        """
        places = self.hosts if kind == "hosts" else self.partitions
        found = [(name, replace(places.get(name, SitePlace()), address="")) for name in names]
        first, place = found[0]
        for name, other in found[1:]:
            for key in SitePlace.__struct_fields__:
                if getattr(other, key) != getattr(place, key):
                    what = f"`{kind}.{first}.{key}` and `{kind}.{name}.{key}` of the site file differ"
                    raise RunnerError(f"{what}, and all hosts of a run must share them; make them equal")
        return place

    def addresses(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Return the address of each host for its peers, empty where the file states none."""
        return tuple(self.hosts.get(host, SitePlace()).address for host in hosts)


class Settings(Struct, frozen=True):
    """The choices of the user: `container` a tool or `none`; `work` and `data` folders on the nodes.

    `variables` are set for the command; `secrets` are names of variables whose values come from our own environment;
    `place` has the additions of the site. All runs of a command record its `round`, whether they are a trial (`smoke`),
    and the seed of their random order.
    """

    container: ContainerTool | Literal["none"] = "none"
    work: str = ""
    data: str = ""
    if_busy: IfBusy = "refuse"
    variables: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    place: SitePlace = SitePlace()
    round: str = ""
    smoke: bool = False
    order_seed: int | None = None

    def __post_init__(self) -> None:
        if self.data and not self.data.startswith("/"):
            why = "the command runs in another folder; name the whole path, from / on"
            raise RunnerError(f"--data {self.data}: {why}")

    def at(self, place: SitePlace, recipe: LaunchRecipe) -> Settings:
        """Return these settings with the additions of a site for a recipe; the choices of the user go first.

        Raises:
            RunnerError: a secret has no value here.
        """
        secret_values(self.secrets)
        variables = {**place.environment_variables, **self.variables}
        data = self.data or place.data_for(recipe.name, recipe.data.name)
        return replace(self, data=data, variables=variables, place=place)

    def applied(self, recipe: LaunchRecipe) -> LaunchRecipe:
        """Return a recipe as it is started here: with the site's variables and arguments of the container."""
        # Braces would be slots.
        variables = {name: re.sub("[{}]", r"\g<0>\g<0>", value) for name, value in self.variables.items()}
        image = recipe.container
        return replace(
            recipe,
            environment_variables={**recipe.environment_variables, **variables},
            container=image and replace(image, arguments=(*image.arguments, *self.place.container.arguments)),
        )

    def prefixed(self, case: RecipeCase) -> RecipeCase:
        """Return a case with the site's prefix as an option: a run on fewer processors does not repeat one on all."""
        prefix = shlex.join(self.place.prefix)
        if not prefix:
            return case
        slug = f"{case.slug}-prefix-{slugify(prefix)}"
        return replace(case, options={**case.options, "prefix": prefix}, slug=slug)


def find_site(named: str) -> SiteFile:
    """Return the site of `--site`, or else that in the present folder.

    Raises:
        RunnerError: the file that was named is missing, or a file is not a site; the message names file and line.
    """
    path = Path(named or SITE_FILE)
    return read_toml(path, SiteFile, "site file", _checked) if named or path.is_file() else SiteFile()


def _checked(_content: bytes, file: SiteFile) -> SiteFile:
    for kind, places in {"hosts": file.hosts, "partitions": file.partitions}.items():
        for name, place in places.items():
            check_variables(place.environment_variables, (kind, name, "environment_variables"))
            key = "sbatch" if kind == "hosts" else "address"
            if getattr(place, key):
                raise wrong((kind, name, key), f"is not for {kind}; leave it out")
    return file
