"""The choices of the user beyond the recipe, with the additions of the site."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from msgspec import Struct, structs

from perfledger.runners.cases import RecipeCase, slugify
from perfledger.runners.job import ContainerTool, RunnerError, checked, secret_values
from perfledger.runners.recipe import LaunchRecipe
from perfledger.runners.site import SitePlace

#: On a host that others use: refuse a run, wait until it is idle, run, or run and count it although it is disturbed.
IfBusy = Literal["refuse", "wait", "run", "count"]


class Settings(Struct, frozen=True):
    """The choices of the user: `container` a tool or `none`; `work` and `data` folders on the nodes.

    `variables` are set for the command; `secrets` are names of variables whose values come from our own environment;
    `place` has the additions of the site.
    """

    container: ContainerTool | Literal["none"] = "none"
    work: str = ""
    data: str = ""
    if_busy: IfBusy = "refuse"
    variables: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    place: SitePlace = SitePlace()

    def __post_init__(self) -> None:
        """Refuse folders that no command line can name."""
        checked(self.work, "--work")
        if self.data and not checked(self.data, "--data").startswith("/"):
            why = "the command runs in another folder; name the whole path, from / on"
            raise RunnerError(f"--data {self.data}: {why}")

    def at(self, place: SitePlace, recipe: LaunchRecipe) -> Settings:
        """Return these settings with the additions of a site for a recipe; the choices of the user go first.

        Raises:
            RunnerError: a secret has no value here.
        """
        found = structs.replace(
            self,
            data=self.data or place.data_for(recipe.name, recipe.data.name),
            variables={**place.variables, **self.variables},
            secrets=tuple(dict.fromkeys((*place.secrets, *self.secrets))),
            place=place,
        )
        secret_values(found.secrets)
        return found

    def applied(self, recipe: LaunchRecipe) -> LaunchRecipe:
        """Return a recipe as it is started here: with the site's Python, variables and arguments of the container."""
        # Braces would be slots.
        variables = {name: re.sub("[{}]", r"\g<0>\g<0>", value) for name, value in self.variables.items()}
        image = recipe.container
        python = self.place.interpreter if self.container == "none" else ""
        named = recipe.command[0] in ("python", "python3", recipe.setup.python)
        return structs.replace(
            recipe,
            setup=structs.replace(recipe.setup, python=python or recipe.setup.python),
            command=(python, *recipe.command[1:]) if python and named else recipe.command,
            environment_variables={**recipe.environment_variables, **variables},
            container=image and structs.replace(image, arguments=(*image.arguments, *self.place.container.arguments)),
        )

    def prefixed(self, case: RecipeCase) -> RecipeCase:
        """Return a case with the site's prefix as an option: a run on fewer processors does not repeat one on all."""
        prefix = shlex.join(self.place.prefix)
        if not prefix or "prefix" in case.options:
            return case
        slug = f"{case.slug}-prefix-{slugify(prefix)}"
        return structs.replace(case, options={**case.options, "prefix": prefix}, slug=slug)
