"""Suites: the files of `report_templates/suites/`, the spellings of a model, and the suite that it belongs to.

People spell a model in many ways. The word of a program depends on the program: `bert` is BERT-large in MLPerf and
BERT-base elsewhere. So a printed spelling is a model of a suite only if the suite declares it for that format; any
other keeps its name, and has a page of that name.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from perfledger import TEMPLATES
from perfledger.ingest.common.project import files
from perfledger.ingest.common.toml_file import TomlFile, display_path, read
from perfledger.ingest.common.words import WordsEntry
from perfledger.schema.vocabulary import UNITS

SUITES = TEMPLATES / "suites"

Name = Annotated[str, Meta(pattern=r"\S", description="a text that is not blank")]
Names = tuple[Name, ...]
#: Spellings of one model; the first is its name.
Spellings = Annotated[tuple[Name, ...], Meta(min_length=1, description="a list with at least one name")]


class SuiteWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of a suite's page."""

    summary: WordsEntry | None = None
    what: WordsEntry | None = None
    setup: WordsEntry | None = None
    steps: WordsEntry | None = None


class SuiteFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `report_templates/suites/`; `ingest new-suite` writes one that explains every key."""

    title: WordsEntry
    models: Spellings
    order: int = 1000
    more: tuple[Spellings, ...] = ()
    printed: dict[str, dict[str, str]] = {}
    unit: str = ""
    frameworks: Names = ()
    row_options: Names = ()
    usual: dict[str, str | int | float | bool] = {}
    words: SuiteWords = SuiteWords()


def paths() -> list[Path]:
    """Return the files of all suites, sorted by name; a suite of the user's project replaces ours of the same name."""
    by_name = {each.stem: each for each in (*SUITES.glob("*.toml"), *files("suites"))}
    return [by_name[name] for name in sorted(by_name)]


def path_of(name: str) -> Path:
    """Return the file of a suite, which may be missing."""
    return next((each for each in paths() if each.stem == name), SUITES / f"{name}.toml")


@cache
def spellings() -> dict[str, tuple[str, str]]:
    """Return a mapping of folded spelling to (suite, name of the model).

    A page may have `more` models, each a list of spellings: they share the page and its words, and stay different.

    Raises:
        FileError: a suite is wrong, or two claim one spelling.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in paths():
        file = suite_file(path)
        for models in (file.data.models, *file.data.more):
            for each in models:
                suite, name = found.setdefault(folded(each), (path.stem, models[0]))
                if (suite, name) != (path.stem, models[0]):
                    other = display_path(path_of(suite))
                    raise file.wrong(("models",), f"{each!r} is a spelling of {name!r} in {other}; remove it from one")
    return found


def suite_file(path: Path) -> TomlFile[SuiteFile]:
    """Read the file of a suite.

    Raises:
        FileError: it is not TOML, lacks a key, or has an unknown key or a wrong value.
    """
    return read(path, SuiteFile)


@cache
def _printed() -> dict[tuple[str, str], str]:
    """Return a mapping of (format, printed spelling) to the name of the model.

    Raises:
        FileError: a suite maps a spelling to a name that is not one of its models.
    """
    found: dict[tuple[str, str], str] = {}
    for path in paths():
        file = suite_file(path)
        names = [models[0] for models in (file.data.models, *file.data.more)]
        for format_id, names_of_printed in file.data.printed.items():
            for spelled, name in names_of_printed.items():
                if name not in names:
                    raise file.wrong(("printed", format_id, spelled), f"{name!r} is none of {', '.join(names)}")
                found[format_id, spelled] = name
    return found


def model(spelled: str) -> str:
    """Return the one name of a model, however people spell it; an unknown one stays as it is."""
    return spellings().get(folded(spelled), ("", spelled))[1]


def model_printed(format_id: str, spelled: str) -> str:
    """Return the name of a model that a log of a format prints; a spelling that no suite declares stays as it is."""
    return _printed().get((format_id, spelled), spelled)


def suite(spelled: str) -> str | None:
    """Return the suite that compares the model, however people spell it, if there is one."""
    return spellings().get(folded(spelled), (None, ""))[0]


def suite_of_name(name: str) -> str | None:
    """Return the suite of a model by its name; other spellings do not count."""
    return suite(name) if model(name) == name else None


#: Unit of programs that train any model.
SAMPLES = "samples/s"
#: Units of suites that count the same as samples.
_SAMPLE_EACH = frozenset(name for name, unit in UNITS.items() if unit.counts == "sample") - {SAMPLES}


@cache
def unit_of_samples(named: str | None) -> str:
    """Return the unit of a suite if it counts samples: images of ResNet-50, sequences of BERT.

    A sample of a translation is not a token, so suites with other units, and unknown suites, keep `samples/s`.
    """
    path = path_of(named) if named else SUITES
    unit = suite_file(path).data.unit if path.is_file() else ""
    return unit if unit in _SAMPLE_EACH else SAMPLES


def folded(spelled: str) -> str:
    """Return a spelling without case, blanks and signs. A plus stays: DeepLabV3+ and DeepLabV3 are two networks."""
    return "".join(each for each in spelled.lower() if each.isalnum() or each == "+")
