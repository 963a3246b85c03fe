"""The registry of formats: every module of the four packages that has a `FORMAT`, and nothing else."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from parsers.contract import Format, FormatError, NearMiss

PACKAGES = ("paddle", "ngc", "dlperf", "frameworks")
#: Records written before November 2026 name this package by its old name.
_OLD_PACKAGE, _NEW_PACKAGE = "more.", "frameworks."


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, by package and module; an id is `package.module`.

    Raises:
        FormatError: a module has no docstring, no `FORMAT`, or a `FORMAT` without samples and near-misses.
    """
    return tuple(_load(package, module) for package in PACKAGES for module in _modules(package))


def by_id(identifier: str) -> Format:
    """Return the format of that id; raise KeyError if there is none."""
    return {each.id: each for each in formats()}[identifier]


def current_id(identifier: str) -> str:
    """Return the id of a format as it is today, from one that an older record states."""
    old = identifier.startswith(_OLD_PACKAGE)
    return _NEW_PACKAGE + identifier.removeprefix(_OLD_PACKAGE) if old else identifier


def _modules(package: str) -> list[str]:
    folder = importlib.import_module(f"parsers.{package}").__path__
    return sorted(each.name for each in pkgutil.iter_modules(folder))


def _load(package: str, name: str) -> Format:
    module = importlib.import_module(f"parsers.{package}.{name}")
    found = getattr(module, "FORMAT", None)
    if not isinstance(found, Format) or not module.__doc__:
        raise FormatError(f"{module.__name__}: a format module needs a docstring and one FORMAT")
    if not any(isinstance(each, NearMiss) for each in found.samples):
        raise FormatError(f"{module.__name__}: a format needs samples and near-misses")
    return replace(found, id=f"{package}.{name}", doc=module.__doc__)
