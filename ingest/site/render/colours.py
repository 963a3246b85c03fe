"""The ink of each framework, from `report_templates/frameworks.toml`: one place for pages, charts and scripts."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from perfledger import TEMPLATES
from perfledger.ingest.common.toml_file import read

_SOURCE = TEMPLATES / "frameworks.toml"
Colour = Annotated[str, Meta(pattern=r"^#[0-9a-f]{6}\Z", description="a colour such as #1a2b3c")]


class Style(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The style of a framework: its colours on white and on slate, and its marker on lines (one of render/svg.py)."""

    match: tuple[str, ...]
    light: Colour
    dark: Colour
    marker: str


class Ink(Style, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A style with its name."""

    id: str


@functools.cache
def inks(source: Path = _SOURCE) -> tuple[Ink, ...]:
    """Return all inks in the order of the file.

    Raises:
        FileError: the file is not TOML, or an entry lacks a field or has a wrong value.
    """
    return tuple(Ink(id=name, **asdict(style)) for name, style in read(source, dict[str, Style]).data.items())


def ink(framework: str) -> Ink:
    """Return the ink of a framework; without an entry it follows from the name alone, so that it never changes."""
    folded = framework.lower()
    own = next((each for each in inks() if any(part in folded for part in each.match)), None)
    spare = [each for each in inks() if not each.match]
    return own or spare[int(hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest(), 16) % len(spare)]


def stylesheet() -> str:
    """Return the inks as CSS variables and classes, for light, for dark, and for paper, which is always light."""
    light, dark = (
        "".join(f"  --pl-ink-{each.id}: {colour};\n" for each, colour in zip(inks(), chosen, strict=True))
        for chosen in ([each.light for each in inks()], [each.dark for each in inks()])
    )
    # In charts a link has the ink of its mark.
    classes = "".join(
        f".pl-ink-{each.id}, .md-typeset a.pl-ink-{each.id} {{ color: var(--pl-ink-{each.id}); }}\n" for each in inks()
    )
    return (
        "/* Written by python -m ingest from report_templates/frameworks.toml. */\n"
        f":root {{\n{light}}}\n"
        f'@media screen {{\n[data-md-color-scheme="slate"] {{\n{dark}}}\n}}\n{classes}'
    )
