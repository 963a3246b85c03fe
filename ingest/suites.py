"""Suites as far as figures need them: which spellings of a model mean the same, and which suite it belongs to."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

SUITES = Path(__file__).resolve().parent.parent / "report_templates" / "suites"


@cache
def spellings() -> dict[str, tuple[str, str]]:
    """Folded spelling to (suite, name of the model).

    The first of a suite's `models` is its name. A page may hold `more` models, each a list of spellings like it: they
    share the page and its words, and stay different models.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(SUITES.glob("*.toml")):
        given = tomllib.loads(path.read_text("utf-8"))
        for models in (given["models"], *given.get("more", ())):
            found |= {folded(each): (path.stem, models[0]) for each in models}
    return found


def model(spelled: str) -> str:
    """The one name of a model, however it is spelled; an unknown one stays as it is."""
    return spellings().get(folded(spelled), ("", spelled))[1]


def suite(spelled: str) -> str | None:
    """The suite that compares the model, if there is one."""
    return spellings().get(folded(spelled), (None, ""))[0]


def folded(spelled: str) -> str:
    """A spelling without what spellings differ in. A plus stays: DeepLabV3+ is another network than DeepLabV3."""
    return "".join(each for each in spelled.lower() if each.isalnum() or each == "+")
