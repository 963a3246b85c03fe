"""The registry of formats: every module of the packages below has one `FORMAT`, and nothing else is registered.

Modules are found by name when they are first asked for, so that no import leads from the engine to a format.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TypeVar

from perfledger.parsers.contract import Format, FormatError, NearMiss, Reading
from perfledger.parsers.contract.telemetry import TelemetryFormat

#: Packages of formats of training logs, and the package of formats of the files beside them.
PACKAGES, TELEMETRY = ("paddle", "ngc", "dlperf", "frameworks"), "telemetry"
#: Records written before November 2026 name this package by its old name.
_OLD_PACKAGE, _NEW_PACKAGE = "more.", "frameworks."

_Kind = TypeVar("_Kind", Format, TelemetryFormat)


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats of training logs, by package and module; an id is `package.module`.

    Raises:
        FormatError: a module has no docstring, no `FORMAT`, a `FORMAT` without near-misses, or a pause that does not
            match its sample.
    """
    found = [each for package in PACKAGES for each in _load(package, f"{package}.", Format)]
    for each in found:
        _ = [pause.regex for reading in each.readings for pause in reading.pauses]
        if not any(isinstance(sample, NearMiss) for sample in each.samples):
            raise FormatError(
                f"parsers.{each.id}: samples need a NearMiss: a line that looks alike and must yield nothing"
            )
    return tuple(found)


@cache
def frames(identifier: str) -> tuple[Reading, ...]:
    """Return the readings of other formats that sessions of the format of that id get as well."""
    return tuple(reading for each in formats() if each.id != identifier for reading in each.frames)


def by_id(identifier: str) -> Format:
    """Return the format of that id; raise KeyError if there is none."""
    return {each.id: each for each in formats()}[identifier]


@cache
def telemetry_formats() -> tuple[TelemetryFormat, ...]:
    """Return all formats of telemetry, by module; an id is the module's name."""
    return tuple(_load(TELEMETRY, "", TelemetryFormat))


def telemetry_by_id(identifier: str) -> TelemetryFormat:
    """Return the format of telemetry of that id; raise KeyError if there is none."""
    return {each.id: each for each in telemetry_formats()}[identifier]


def current_id(identifier: str) -> str:
    """Return the id of a format as it is today, from one that an older record states."""
    old = identifier.startswith(_OLD_PACKAGE)
    return _NEW_PACKAGE + identifier.removeprefix(_OLD_PACKAGE) if old else identifier


def _load(package: str, prefix: str, kind: type[_Kind]) -> Iterator[_Kind]:
    """Yield the `FORMAT` of every module of a package, by name; an id is the prefix and that name."""
    folder = importlib.import_module(f"parsers.{package}").__path__
    for name in sorted(each.name for each in pkgutil.iter_modules(folder)):
        module = importlib.import_module(f"parsers.{package}.{name}")
        found = getattr(module, "FORMAT", None)
        if not isinstance(found, kind) or not module.__doc__:
            raise FormatError(
                f"{module.__name__}: a format module needs a docstring and one FORMAT = {kind.__name__}(...)"
            )
        yield replace(found, id=f"{prefix}{name}", doc=module.__doc__)
