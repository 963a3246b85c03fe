"""Layouts: what a tree of logs says by folders and file names. Data in `ingest/layouts/*.toml`, or a user's file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ingest.common.errors import UsageError
from schema.records import Plain
from schema.vocabulary import CASE, COUNTS

LAYOUTS = Path(__file__).resolve().parents[1] / "layouts"
OWN = "perfledger"
_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True)
class Template:
    """One kind of path: its pattern, what its slots say, and what the whole says."""

    written: str
    pattern: Any
    words: Mapping[str, Mapping[str, Mapping[str, Any]]]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """A named set of templates; the first that fits a path speaks for it."""

    name: str
    title: str
    templates: tuple[Template, ...]

    def facts(self, path: str) -> dict[str, Plain] | None:
        """What a log's absolute path says, or None where no template fits.

        The tree may lie below any folder, and the log be given by itself: templates are matched from the end.
        """
        for template in self.templates:
            try:
                match = template.pattern.search(path, timeout=_TIMEOUT_SECONDS)
            except TimeoutError:  # a template with many slots side by side; it fits nothing, rather than hang
                continue
            if match:
                return _said(template, match.groupdict())
        return None


def path_of(name: str) -> Path:
    """The file of a layout: a user's own if the name ends in `.toml`, a shipped one otherwise."""
    return Path(name) if name.endswith(".toml") else LAYOUTS / f"{name}.toml"


@cache
def load(name: str) -> Layout:
    """A shipped layout by name, or a layout file by path.

    Raises:
        UsageError: there is none, or the file is no layout; the message names the file and what is wrong.
    """
    path = path_of(name)
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return Layout(
            path.stem, str(data.get("title", path.stem)), tuple(_template(each, data) for each in data["path"])
        )
    except FileNotFoundError:
        known = ", ".join(sorted(each.stem for each in LAYOUTS.glob("*.toml")))
        raise UsageError(f"layout {name!r}: there is no such layout; give a .toml file or one of {known}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a layout: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{path}: not a layout: {error}; see the layouts in ingest/layouts/") from None


def _template(entry: Mapping[str, Any], data: Mapping[str, Any]) -> Template:
    written = entry["template"]
    if not isinstance(written, str):
        raise TypeError(f"template {written!r} is no text")
    words = {**data.get("words", {})}
    for slot, own in entry.get("words", {}).items():
        words[slot] = {**words.get(slot, {}), **own}
    for slot, said in words.items():
        for word, facts in said.items():
            _check(facts, f"words.{slot}.{word}")
    facts = entry.get("facts", {})
    _check(facts, f"facts of {written!r}")
    return Template(written, _pattern(written, words), words, facts)


def _check(facts: object, where: str) -> None:
    """Raise for what would only be noticed when a log is read: facts of a kind that no case is made of."""
    if not isinstance(facts, dict):
        raise TypeError(f"{where} is no table of facts")
    for name, value in facts.items():
        if name in COUNTS and (type(value) is not int or value < 1):
            raise ValueError(f"{where}: {name} = {value!r} is no positive whole number")
        if name in CASE and name not in COUNTS and not isinstance(value, str):
            raise ValueError(f"{where}: {name} = {value!r} is no text")
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"{where}: {name} = {value!r} is no text, number or true or false")


def _pattern(written: str, words: Mapping[str, Any]) -> Any:
    """A template to a pattern that is anchored at the end and begins at a folder."""
    import regex

    parts = regex.split(r"\{(\w+)\}", written)
    out = [regex.escape(parts[0])]
    for slot, literal in zip(parts[1::2], parts[2::2], strict=True):
        if not slot.isidentifier():
            raise ValueError(f"template {written!r}: {slot!r} is no name of a slot")
        alternatives = "|".join(map(regex.escape, sorted(words.get(slot, ()), key=len, reverse=True)))
        number = "[0-9]{1,9}" if slot == "repeat" else "0*[1-9][0-9]{0,8}"
        out.append(f"(?P<{slot}>{alternatives or (number if slot in COUNTS else '[^/]+?')})" + regex.escape(literal))
    return regex.compile(rf"(?:^|/){''.join(out)}$")


def _said(template: Template, slots: Mapping[str, str]) -> dict[str, Plain]:
    facts = dict(template.facts)
    for slot, printed in slots.items():
        facts |= template.words.get(slot, {}).get(printed) or {slot: int(printed) if slot in COUNTS else printed}
    return facts
