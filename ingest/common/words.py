"""The words of the site, with those of the vocabulary: both languages on one line, and no entry without both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from ingest.common.toml_file import FileError, Keys, TomlFile, instead, read, shown
from schema import vocabulary
from schema.records import Problem, Reason

LANGUAGES = ("en", "zh")
TEMPLATES = Path(__file__).resolve().parents[2] / "report_templates"
WORDS = TEMPLATES / "words.toml"


class WordsError(FileError):
    """A words file lacks something; the message is `path:line: what is wrong, and what to do`."""


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


#: A text that a page shows: in both languages, or data that is the same in both.
Text = Phrase | Both | str


def phrase(key: str, **args: object) -> Phrase:
    """A phrase from keyword arguments: `phrase("table.devices", n=8)`."""
    return Phrase(key, tuple(sorted(args.items())))


def word_for(table: str, name: object) -> Phrase:
    """The word for a name that comes from data; a name we have no word for is shown as it is."""
    return Phrase(f"{table}.{name}", (), str(name))


def coded(table: str, found: Reason | Problem) -> Phrase:
    """Return the words for a reason or a problem, which are codes with arguments.

    Names of facts, outcomes, rules and sources among the arguments are said in the page's language; everything else is
    data.
    """
    args = {name: _said(name, each) for name, each in found.args.items()}
    return phrase(f"{table}.{found.code}", **args)


def _said(name: str, value: Any) -> object:
    if isinstance(value, Mapping) and "code" in value:
        return coded("reason", Reason(value["code"], value.get("args", {})))
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
        if not self.has(key):
            raise _no_entry(self, key)
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


def load(path: Path = WORDS) -> Words:
    """Read and check a words file, and add what the vocabulary calls its terms.

    Raises:
        WordsError: no TOML, an entry without one of the languages, placeholders that differ between them, or an entry
            that the vocabulary has.
    """
    file = read(path, WordsError)
    for table, keys in file.data.items():
        if not isinstance(keys, dict):
            raise file.wrong((table,), f"{table}: stands above the first table; put it below a [table]")
    entries = {(table, key): entry for table, keys in file.data.items() for key, entry in keys.items()}
    for (table, key), entry in entries.items():
        _check(file, f"{table}.{key}", (table, key), entry)
    terms = vocabulary.words()
    for table, key in entries:
        if f"{table}.{key}" in terms:
            raise file.wrong((table, key), f"{table}.{key}: stands in schema/vocabulary.toml already; take it out here")
    own = {f"{table}.{key}": entry for (table, key), entry in entries.items()}
    return Words(path, MappingProxyType({**terms, **own}))


def pair(path: Path, source: str, key: str, entry: object, keys: Keys | None = None) -> Mapping[str, str]:
    """An entry of another file (a suite's title or prose) under the same rule: both languages or an error.

    `key` names it in messages; `keys` are where it stands, if the name does not say that.
    """
    _check(TomlFile(path, source, {}, WordsError), key, tuple(key.split(".")) if keys is None else keys, entry)
    assert isinstance(entry, dict)
    return MappingProxyType(entry)


def _check(file: TomlFile, key: str, at: Keys, entry: object) -> None:
    if not isinstance(entry, dict):
        raise file.wrong(at, f'{key}: an entry is {{ en = "...", zh = "..." }}')
    for language in LANGUAGES:
        if not isinstance(entry.get(language), str) or not entry[language].strip():
            raise file.wrong(at, f"{key}: no text in {language!r}; say it in both languages")
    if unknown := sorted(set(entry) - set(LANGUAGES)):
        raise file.wrong(at, f"{key}: {unknown[0]!r} is none of the languages {', '.join(LANGUAGES)}")
    named = {language: _placeholders(file, key, at, entry[language]) for language in LANGUAGES}
    if named["en"] != named["zh"]:
        said = "; ".join(f"{language} has {_braces(names)}" for language, names in named.items())
        raise file.wrong(at, f"{key}: the placeholders differ between the languages: {said}")


def _placeholders(file: TomlFile, key: str, at: Keys, text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError as fault:
        raise file.wrong(at, f"{key}: {fault}; a brace that is no placeholder is written twice") from None


def _braces(names: set[str]) -> str:
    return ", ".join(f"{{{each}}}" for each in sorted(names)) or "none"


def _no_entry(words: Words, key: str) -> WordsError:
    table, _, name = key.partition(".")
    file = read(words.path, WordsError)
    if table not in file.data:
        near = instead(table, file.data)
        hint = f"{near} Otherwise" if near.startswith("; is it") else ";"
        last = file.source.count("\n") + 1
        return WordsError(
            f"{shown(words.path)}:{last}: has no table [{table}]{hint}"
            f' add [{table}] with {name} = {{ en = "...", zh = "..." }} there'
        )
    near = instead(name, [each for each in file.data[table] if isinstance(each, str)])
    hint = f"{near} Otherwise" if near.startswith("; is it") else ";"
    return WordsError(
        f"{shown(words.path)}:{file.line((table,))}: [{table}] has no entry {name!r}{hint}"
        f' add {name} = {{ en = "...", zh = "..." }} there'
    )


def _filled(words: Words, key: str, text: str, args: Mapping[str, object]) -> str:
    try:
        return text.format_map(args)
    except (KeyError, IndexError, ValueError) as error:
        table, _, name = key.partition(".")
        cause = f"no argument for placeholder {{{error.args[0]}}}" if isinstance(error, LookupError) else str(error)
        raise read(words.path, WordsError).wrong((table, name), f"{key}: {cause}") from None
