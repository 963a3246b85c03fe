"""The registry of formats: every module of the packages below that has a `FORMAT`, and nothing else."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from types import ModuleType

from parsers.contract import Format, FormatError, NearMiss
from parsers.telemetry.contract import TelemetryFormat

#: Packages of formats of training logs, and the package of formats of the files beside them.
PACKAGES, TELEMETRY = ("paddle", "ngc", "dlperf", "frameworks"), "telemetry"
#: Records written before November 2026 name this package by its old name.
_OLD_PACKAGE, _NEW_PACKAGE = "more.", "frameworks."


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats of training logs, by package and module; an id is `package.module`.

    Raises:
        FormatError: a module has no docstring, no `FORMAT`, or a `FORMAT` without samples and near-misses.
    """
    return tuple(_load(package, name, module) for package in PACKAGES for name, module in _modules(package))


def by_id(identifier: str) -> Format:
    """Return the format of that id; raise KeyError if there is none."""
    return {each.id: each for each in formats()}[identifier]


@cache
def telemetry_formats() -> tuple[TelemetryFormat, ...]:
    """Return all formats of telemetry, by module; an id is the module's name."""
    return tuple(
        replace(module.FORMAT, id=name, doc=module.__doc__ or "")
        for name, module in _modules(TELEMETRY)
        if hasattr(module, "FORMAT")
    )


def telemetry_by_id(identifier: str) -> TelemetryFormat:
    """Return the format of telemetry of that id; raise KeyError if there is none."""
    return {each.id: each for each in telemetry_formats()}[identifier]


def current_id(identifier: str) -> str:
    """Return the id of a format as it is today, from one that an older record states."""
    old = identifier.startswith(_OLD_PACKAGE)
    return _NEW_PACKAGE + identifier.removeprefix(_OLD_PACKAGE) if old else identifier


def _modules(package: str) -> list[tuple[str, ModuleType]]:
    """Return the modules of a package with their names, sorted by name."""
    folder = importlib.import_module(f"parsers.{package}").__path__
    names = sorted(each.name for each in pkgutil.iter_modules(folder))
    return [(name, importlib.import_module(f"parsers.{package}.{name}")) for name in names]


def _load(package: str, name: str, module: ModuleType) -> Format:
    found = getattr(module, "FORMAT", None)
    if not isinstance(found, Format) or not module.__doc__:
        raise FormatError(f"{module.__name__}: a format module needs a docstring and one FORMAT = Format(...)")
    if not any(isinstance(each, NearMiss) for each in found.samples):
        raise FormatError(f"{module.__name__}: samples need a NearMiss: a line that looks alike and must yield nothing")
    return replace(found, id=f"{package}.{name}", doc=module.__doc__)
