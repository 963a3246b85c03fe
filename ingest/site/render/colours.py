"""The ink of each framework, from `report_templates/frameworks.toml`: one place for pages, charts and scripts."""

from __future__ import annotations

import functools
import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.common.words import TEMPLATES, WordsError

_SOURCE = TEMPLATES / "frameworks.toml"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FIELDS = {"match": list, "light": str, "dark": str, "hatch": str, "marker": str}


@dataclass(frozen=True)
class Ink:
    """How a framework is drawn: on white and on slate, with what hatch (matplotlib's) in bars and marker on lines."""

    id: str
    match: tuple[str, ...]
    light: str
    dark: str
    hatch: str
    marker: str


@functools.cache
def inks(source: Path = _SOURCE) -> tuple[Ink, ...]:
    """All inks in the order of the file.

    Raises:
        WordsError: the file is no TOML, or an entry lacks a field or has a colour that is none.
    """
    try:
        entries = tomllib.loads(source.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WordsError(f"{source}: no TOML: {error}") from error
    return tuple(_ink(source, name, entry) for name, entry in entries.items())


def ink(framework: str) -> Ink:
    """The ink of a framework; of one without an entry it follows from its name alone, so that it never changes."""
    folded = framework.lower()
    own = next((each for each in inks() if any(part in folded for part in each.match)), None)
    spare = [each for each in inks() if not each.match]
    return own or spare[int(hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest(), 16) % len(spare)]


def colours() -> list[dict[str, object]]:
    """The inks for scripts: the same entries in the same order, those without a match last and by hash of the name."""
    return [
        {"id": each.id, "match": list(each.match), "light": each.light, "dark": each.dark, "hatch": each.hatch}
        for each in inks()
    ]


def variable(found: Ink) -> str:
    """An ink as a CSS colour that follows the theme; where there is no style sheet it is the one for white."""
    return f"var(--pl-ink-{found.id}, {found.light})"


def stylesheet() -> str:
    """The inks as CSS variables, for light, for dark, and for paper, which is always light; and a class for each."""
    light, dark = (
        "".join(f"  --pl-ink-{each.id}: {colour};\n" for each, colour in zip(inks(), chosen, strict=True))
        for chosen in ([each.light for each in inks()], [each.dark for each in inks()])
    )
    classes = "".join(f".pl-ink-{each.id} {{ color: var(--pl-ink-{each.id}); }}\n" for each in inks())
    return (
        "/* Written by python -m ingest from report_templates/frameworks.toml. */\n"
        f":root {{\n{light}}}\n"
        f'@media screen {{\n[data-md-color-scheme="slate"] {{\n{dark}}}\n}}\n{classes}'
    )


def in_theme(drawing: str, among: Sequence[Ink] | None = None) -> str:
    """A drawing whose colours follow the theme, made of one that was drawn with the inks for white."""
    for each in inks() if among is None else among:
        drawing = drawing.replace(each.light, variable(each))
    return drawing


def _ink(source: Path, name: str, entry: object) -> Ink:
    at = f"{source}: [{name}]"
    if not isinstance(entry, dict) or set(entry) != set(_FIELDS):
        raise WordsError(f"{at}: an entry has {', '.join(_FIELDS)}, and nothing else")
    for field, kind in _FIELDS.items():
        if not isinstance(entry[field], kind):
            raise WordsError(f"{at}: {field} is no {kind.__name__}")
    for field in ("light", "dark"):
        if not _COLOUR.fullmatch(entry[field]):
            raise WordsError(f"{at}: {field} is written as #1a2b3c, not as {entry[field]!r}")
    return Ink(name, tuple(entry["match"]), entry["light"], entry["dark"], entry["hatch"], entry["marker"])
