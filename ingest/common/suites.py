"""Suites as far as figures need them: which spellings of a model mean the same, and which suite it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ingest.common.toml_file import TomlFile, read, shown
from ingest.common.words import WordsError
from schema.vocabulary import UNITS

#: Every key of a suite, and the kind of value it has; `report_templates/suites/` has examples.
KEYS: Mapping[str, type] = {
    "title": dict, "order": int, "models": list, "more": list, "unit": str, "frameworks": list, "row_options": list,
    "usual": dict, "precision": dict, "words": dict,
}  # fmt: skip
#: The texts of a suite's page.
WORDS: Mapping[str, type] = {"summary": dict, "what": dict, "setup": dict, "steps": dict}
NEEDED = ("title", "models")
_TEXTS = ("models", "frameworks", "row_options")

SUITES = Path(__file__).resolve().parents[2] / "report_templates" / "suites"


@cache
def spellings() -> dict[str, tuple[str, str]]:
    """Folded spelling to (suite, name of the model).

    The first of a suite's `models` is its name. A page may hold `more` models, each a list of spellings like it: they
    share the page and its words, and stay different models.

    Raises:
        WordsError: a suite is wrong, or two claim one spelling.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(SUITES.glob("*.toml")):
        file = suite_file(path)
        for models in (file.data["models"], *file.data.get("more", ())):
            for each in models:
                suite, name = found.setdefault(folded(each), (path.stem, models[0]))
                if (suite, name) != (path.stem, models[0]):
                    other = shown(SUITES / f"{suite}.toml")
                    raise file.wrong(("models",), f"{each!r} is a spelling of {name!r} in {other}; take it out of one")
    return found


def suite_file(path: Path) -> TomlFile:
    """A suite as it is written, each key of the kind it has to be.

    Raises:
        WordsError: it is no TOML, lacks a key, or has one that is unknown or of another kind.
    """
    file = read(path, WordsError)
    file.check((), file.data, KEYS)
    for key in NEEDED:
        if key not in file.data:
            raise file.wrong((), f"no {key}: a suite has to state it")
    file.check(("words",), file.data.get("words", {}), WORDS, "words")
    for key in _TEXTS:
        _check_texts(file, (key,), file.data.get(key, []))
    for place in ("more", "precision"):
        lists = file.data.get(place, {})
        entries: Any = lists.items() if isinstance(lists, Mapping) else enumerate(lists)
        for key, each in entries:
            _check_texts(file, (place, key), each)
    if not file.data["models"] or not all(file.data.get("more", ())):
        raise file.wrong(("models",), "models, and each list of more, holds at least one name")
    return file


def _check_texts(file: TomlFile, keys: tuple[str | int, ...], given: object) -> None:
    if not isinstance(given, list) or not all(isinstance(each, str) and each.strip() for each in given):
        raise file.wrong(keys, f"{keys[0]}: {given!r} is no list of texts")


def model(spelled: str) -> str:
    """The one name of a model, however it is spelled; an unknown one stays as it is."""
    return spellings().get(folded(spelled), ("", spelled))[1]


def suite(spelled: str) -> str | None:
    """The suite that compares the model, if there is one."""
    return spellings().get(folded(spelled), (None, ""))[0]


#: What a printer of any model says that it counts; and units in which a suite counts one of them as it is.
SAMPLES = "samples/s"
_SAMPLE_EACH = frozenset(name for name, unit in UNITS.items() if unit.counts == "sample") - {SAMPLES}


@cache
def unit_of_samples(named: str | None) -> str:
    """The unit of a suite in which a sample is what it counts: an image of ResNet-50, a sequence of BERT.

    A sample of a translation is no token, so that such a suite, and one that is not known, keep the printer's word.
    """
    path = SUITES / f"{named}.toml"
    unit = str(suite_file(path).data.get("unit", "")) if named and path.is_file() else ""
    return unit if unit in _SAMPLE_EACH else SAMPLES


def folded(spelled: str) -> str:
    """A spelling without what spellings differ in. A plus stays: DeepLabV3+ is another network than DeepLabV3."""
    return "".join(each for each in spelled.lower() if each.isalnum() or each == "+")
