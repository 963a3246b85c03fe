"""The modules of the wings are the registry: every module with a `FORMAT` is a format, and nothing else is."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from parsers.contract import Format, FormatError, NearMiss

WINGS = ("paddle", "ngc", "dlperf", "more")


@cache
def formats() -> tuple[Format, ...]:
    """All formats, sorted by id (`wing.module`).

    Raises:
        FormatError: a module has no docstring, no `FORMAT`, or a `FORMAT` without samples and near-misses.
    """
    return tuple(_load(wing, module) for wing in WINGS for module in _modules(wing))


def by_id(identifier: str) -> Format:
    """The format of that id; KeyError if there is none."""
    return {each.id: each for each in formats()}[identifier]


def _modules(wing: str) -> list[str]:
    package = importlib.import_module(f"parsers.{wing}")
    return sorted(each.name for each in pkgutil.iter_modules(package.__path__))


def _load(wing: str, name: str) -> Format:
    module = importlib.import_module(f"parsers.{wing}.{name}")
    found = getattr(module, "FORMAT", None)
    if not isinstance(found, Format) or not module.__doc__:
        raise FormatError(f"{module.__name__}: a format module needs a docstring and one FORMAT")
    if not any(isinstance(each, NearMiss) for each in found.samples):
        raise FormatError(f"{module.__name__}: a format needs samples and near-misses")
    return replace(found, id=f"{wing}.{name}", doc=module.__doc__)
