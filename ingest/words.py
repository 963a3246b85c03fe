"""The words of the site: one file, both languages on one line, and no entry without both."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

LANGUAGES = ("en", "zh")
TEMPLATES = Path(__file__).resolve().parent.parent / "report_templates"


class WordsError(ValueError):
    """A words file lacks something; the message is `path:line: what`."""


@dataclass(frozen=True)
class Phrase:
    """A text that both languages know: `[table] key` of the words file, with the arguments of its placeholders.

    With `otherwise` the entry may be missing, and that text, which is data, stands for itself.
    """

    key: str
    args: tuple[tuple[str, object], ...] = ()
    otherwise: str | None = None


@dataclass(frozen=True)
class Both:
    """A text with its languages at hand: the title of a suite, which lives in the suite's own file."""

    en: str
    zh: str


def phrase(key: str, **args: object) -> Phrase:
    """A phrase from keyword arguments: `phrase("table.devices", n=8)`."""
    return Phrase(key, tuple(sorted(args.items())))


def word_for(table: str, name: object) -> Phrase:
    """The word for a name that comes from data; a name we have no word for is shown as it is."""
    return Phrase(f"{table}.{name}", (), str(name))


def coded(table: str, found: Mapping[str, Any]) -> Phrase:
    """The words for a code with arguments, the form in which the ledger keeps reasons and problems.

    Names of facts, outcomes, rules and sources among the arguments are said in the page's language; everything else is
    data.
    """
    args = {name: _said(name, each) for name, each in found.get("args", {}).items()}
    return phrase(f"{table}.{found['code']}", **args)


def _said(name: str, value: Any) -> object:
    if isinstance(value, Mapping) and "code" in value:
        return coded("reason", value)
    table = "source" if name.endswith("source") else {"fact": "fact", "outcome": "outcome", "rule": "rule"}.get(name)
    if table and isinstance(value, str):
        return word_for(table, value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, int | float | str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True)
class Words:
    """All entries as `table.key` to language to text."""

    path: Path
    entries: Mapping[str, Mapping[str, str]]

    def has(self, key: str) -> bool:
        """Whether there is an entry `table.key`."""
        return key in self.entries

    def text(self, language: str, key: str, **args: object) -> str:
        """The entry in that language with its placeholders filled; plain text, not yet escaped.

        Raises:
            WordsError: no such entry, or a placeholder without an argument.
        """
        if key not in self.entries:
            table, _, name = key.partition(".")
            raise WordsError(f"{self.path}: [{table}] has no entry {name!r}")
        return _filled(self, key, self.entries[key][language], args)

    def say(self, language: str, text: Phrase | Both | str) -> str:
        """A phrase in that language; text that is data stays as it is. Phrases among the arguments are said too."""
        if isinstance(text, str):
            return text
        if isinstance(text, Both):
            return text.en if language == "en" else text.zh
        if text.otherwise is not None and not self.has(text.key):
            return text.otherwise
        args = {
            name: self.say(language, value) if isinstance(value, Phrase | Both) else value for name, value in text.args
        }
        return self.text(language, text.key, **args)


def load(path: Path = TEMPLATES / "words.toml") -> Words:
    """Reads and checks a words file.

    Raises:
        WordsError: no TOML, an entry without one of the languages, or placeholders that differ between them.
    """
    source = path.read_text("utf-8")
    try:
        tables = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise WordsError(f"{path}: no TOML: {error}") from error
    entries = {f"{table}.{key}": entry for table, keys in tables.items() for key, entry in keys.items()}
    for key, entry in entries.items():
        _check(path, source, key, entry)
    return Words(path, MappingProxyType(entries))


def pair(path: Path, source: str, key: str, entry: object) -> Mapping[str, str]:
    """An entry of another file (a suite's title or prose) under the same rule: both languages or an error."""
    _check(path, source, key, entry)
    assert isinstance(entry, dict)
    return MappingProxyType(entry)


def _check(path: Path, source: str, key: str, entry: object) -> None:
    at = f"{path}:{_line_of(source, key)}: {key}"
    if not isinstance(entry, dict):
        raise WordsError(f'{at}: an entry is {{ en = "...", zh = "..." }}')
    for language in LANGUAGES:
        if not isinstance(entry.get(language), str) or not entry[language].strip():
            raise WordsError(f"{at}: no text in {language!r}")
    if _placeholders(entry["en"]) != _placeholders(entry["zh"]):
        raise WordsError(f"{at}: the placeholders differ between the languages")


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def _line_of(source: str, key: str) -> int:
    """The line of `table.key`; tomllib keeps no positions, so the table's header is searched first."""
    table, _, name = key.partition(".")
    header = re.search(rf"^\[{re.escape(table)}\]", source, re.MULTILINE)
    start = header.end() if header else 0
    entry = re.compile(rf'^"?{re.escape(name)}"?\s*=', re.MULTILINE).search(source, start)
    return source.count("\n", 0, entry.start() if entry else start) + 1


def _filled(words: Words, key: str, text: str, args: Mapping[str, object]) -> str:
    try:
        return text.format_map(args)
    except (KeyError, IndexError, ValueError) as error:
        line = _line_of(words.path.read_text("utf-8"), key)
        raise WordsError(f"{words.path}:{line}: {key}: no argument for placeholder {error}") from error
