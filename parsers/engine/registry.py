"""The registry of formats. Every format module has one `FORMAT`, in the packages below and among a user's own modules.

Modules are found by name on the first request, so that the engine does not import formats. A user's own modules are the
files in `formats/` of the user's project, and modules that an installed package lists under the entry point
`perfledger.formats`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from perfledger import project_folder
from perfledger.parsers.contract import Format, FormatError, Reading
from perfledger.parsers.contract.telemetry import TelemetryFormat

#: Packages of formats of training logs.
PACKAGES = ("paddle", "ngc", "dlperf", "frameworks")
#: The package of formats of telemetry.
TELEMETRY = "telemetry"
#: The first part of the ids of the user's own formats.
OWN = "own"
#: The name of `frameworks` in records that were written before November 2026.
_OLD_PACKAGE = "more."
_NEW_PACKAGE = "frameworks."

_Kind = TypeVar("_Kind", Format, TelemetryFormat)
#: A user's format: its id, where it comes from, and the function that loads its module.
_Added = tuple[str, str, Callable[[], ModuleType]]


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats of training logs, by package and module; an id is `package.module`.

    Raises:
        FormatError: a module has no docstring or no `FORMAT`.
    """
    found = [each for package in PACKAGES for each in _load(package, f"{package}.", Format)]
    return (*found, *added().formats)


@dataclass(frozen=True)
class AddedFormats:
    """The formats that a user adds. `broken` has a sentence with file and reason for each that does not load."""

    formats: tuple[Format, ...] = ()
    broken: tuple[str, ...] = ()


@cache
def added() -> AddedFormats:
    """Return the user's own formats; an id is `own.module`, or `name.module` for the entry point of that name."""
    found: list[Format] = []
    broken: list[str] = []
    for identifier, place, load in [*_of_project(), *_of_entry_points()]:
        try:
            made = _format_of(load(), identifier, Format)
            _ = [reading.finder for reading in made.readings]
            found.append(made)
        except Exception as error:
            broken.append(f"{place}: {type(error).__name__}: {error}; no log is read with it until it loads")
    return AddedFormats(tuple(found), tuple(broken))


def _of_project() -> Iterator[_Added]:
    folder = project_folder()
    for path in sorted((folder / "formats").glob("*.py")) if folder else ():
        if not path.stem.startswith("_"):
            yield f"{OWN}.{path.stem}", os.path.relpath(path), partial(_loaded, path)


def _loaded(path: Path) -> ModuleType:
    described = importlib.util.spec_from_file_location(f"perfledger_formats.{path.stem}", path)
    if described is None or described.loader is None:
        raise ImportError("it is no Python module")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def _of_entry_points() -> Iterator[_Added]:
    from importlib.metadata import entry_points  # slow to import

    for each in entry_points(group="perfledger.formats"):
        yield f"{each.name}.{each.value.rpartition('.')[2]}", f"entry point {each.name} = {each.value}", each.load


@cache
def frames(identifier: str) -> tuple[Reading, ...]:
    """Return the readings of whole runs that sessions of the format of that id get from formats that override all."""
    others = (reading for each in formats() if each.id != identifier and "*" in each.over for reading in each.readings)
    return tuple(each for each in others if each.span == "run" and not each.unit and not each.where)


def by_id(identifier: str) -> Format:
    """Return the format of an id; raise KeyError if the id is unknown."""
    return {each.id: each for each in formats()}[identifier]


@cache
def telemetry_formats() -> tuple[TelemetryFormat, ...]:
    """Return all formats of telemetry, by module; an id is the module's name."""
    return tuple(_load(TELEMETRY, "", TelemetryFormat))


def telemetry_by_id(identifier: str) -> TelemetryFormat:
    """Return the format of telemetry of an id; raise KeyError if the id is unknown."""
    return {each.id: each for each in telemetry_formats()}[identifier]


def current_id(identifier: str) -> str:
    """Return the current id of a format, from an id in an older record."""
    old = identifier.startswith(_OLD_PACKAGE)
    return _NEW_PACKAGE + identifier.removeprefix(_OLD_PACKAGE) if old else identifier


def _load(package: str, prefix: str, kind: type[_Kind]) -> Iterator[_Kind]:
    """Yield the `FORMAT` of every module of a package, by name; an id is the prefix and that name."""
    folder = importlib.import_module(f"perfledger.parsers.{package}").__path__
    for name in sorted(each.name for each in pkgutil.iter_modules(folder)):
        yield _format_of(importlib.import_module(f"perfledger.parsers.{package}.{name}"), f"{prefix}{name}", kind)


def _format_of(module: ModuleType, identifier: str, kind: type[_Kind]) -> _Kind:
    found = getattr(module, "FORMAT", None)
    if not isinstance(found, kind) or not module.__doc__:
        raise FormatError(f"{module.__name__}: a format module needs a docstring and one FORMAT = {kind.__name__}(...)")
    return replace(found, id=identifier, doc=module.__doc__)
