"""The vocabulary of `vocabulary.toml`: names with their types, meanings and words. Standard library only.

`runners` starts with a bare Python, and `parsers` needs only names, so this module imports no installed package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

VOCABULARY = Path(__file__).resolve().with_name("vocabulary.toml")

Type = Literal["count", "number", "text", "switch", "precision"]
Term = TypeVar("Term")


@dataclass(frozen=True)
class FactTerm:
    """A fact of a run, by the flags that `vocabulary.toml` explains."""

    type: Type
    meaning: str
    meaning_zh: str
    en: str
    zh: str
    case: bool = False
    needed: bool = False
    option: bool = False
    tuning: bool = False
    in_log: bool = True
    usual: Any = None


@dataclass(frozen=True)
class Precision:
    """A number format; `group`, `peak` and `family` are explained in `vocabulary.toml`."""

    group: str
    family: str
    meaning: str
    meaning_zh: str
    en: str
    zh: str
    peak: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a run ended; without `figure` its printed figures do not count."""

    meaning: str
    meaning_zh: str
    en: str
    zh: str
    figure: bool = True


@dataclass(frozen=True)
class MetricTerm:
    """A figure's unit, whether more or less of it is better, and how the figures of repeats become one."""

    unit: str
    better: Literal["higher", "lower"]
    meaning: str
    meaning_zh: str
    en: str
    zh: str
    repeats: Literal["median", "olympic"] = "median"


@dataclass(frozen=True)
class Scope:
    """The part of a job that a throughput covers."""

    meaning: str
    meaning_zh: str
    en: str
    zh: str


@dataclass(frozen=True)
class Unit:
    """A unit of throughput, and whether it counts samples, parts of them, or an unknown number."""

    counts: Literal["sample", "part", "unknown"]
    meaning: str


@dataclass(frozen=True)
class LauncherTerm:
    """A program that starts ranks."""

    meaning: str


_TABLES: Mapping[str, Mapping[str, Mapping[str, Any]]] = tomllib.loads(VOCABULARY.read_text("utf-8"))


def _read(table: str, term: Callable[..., Term]) -> Mapping[str, Term]:
    return MappingProxyType({name: term(**entry) for name, entry in _TABLES[table].items()})


FACTS = _read("fact", FactTerm)
PRECISIONS = _read("precision", Precision)
OUTCOMES = _read("outcome", Outcome)
METRICS = _read("metric", MetricTerm)
SCOPES = _read("scope", Scope)
UNITS = _read("unit", Unit)
LAUNCHERS = _read("launcher", LauncherTerm)

#: Facts that identify a case, in the usual order.
CASE = tuple(name for name, fact in FACTS.items() if fact.case)
#: Without these a figure belongs to no case.
NEEDED = tuple(name for name, fact in FACTS.items() if fact.needed)
#: Facts that make another workload or another way to run it: cases that differ in them are not repeats.
OPTIONS = frozenset(name for name, fact in FACTS.items() if fact.option)
#: Options that may differ within one workload.
TUNING = frozenset(name for name, fact in FACTS.items() if fact.tuning)
#: Facts that are positive whole numbers.
COUNTS = frozenset(name for name, fact in FACTS.items() if fact.type == "count")
#: Outcomes without a figure, even if records were printed.
NO_FIGURE = frozenset(name for name, outcome in OUTCOMES.items() if not outcome.figure)
#: Precisions that one table shows side by side.
PRECISION_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        group: tuple(name for name, each in PRECISIONS.items() if each.group == group)
        for group in dict.fromkeys(each.group for each in PRECISIONS.values())
    }
)


def precision_group(precision: str | None, unknown: str = "unknown") -> str:
    """Return the group of a precision; `unknown` for one that is in none."""
    return next((name for name, words in PRECISION_GROUPS.items() if precision in words), unknown)


def words() -> Mapping[str, Mapping[str, str]]:
    """Return the name of each term on the pages: `table.name` to language to text."""
    return {
        f"{table}.{name}": {"en": entry["en"], "zh": entry["zh"]}
        for table, entries in _TABLES.items()
        for name, entry in entries.items()
        if "en" in entry
    }
