"""The words of the site and of the vocabulary: every entry has both languages, on one line."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import msgspec

from perfledger import TEMPLATES, as_called, project_folder
from perfledger.ingest.common.toml_file import FileError, did_you_mean, read
from perfledger.schema import vocabulary
from perfledger.schema.records import Problem, Reason, WrongValueError

LANGUAGES = ("en", "zh")
WORDS = TEMPLATES / "words.toml"


class WordsError(FileError):
    """An entry of the words file, or an argument for one of its placeholders, is missing."""


@dataclass(frozen=True)
class Phrase:
    """A text in both languages: `[table] key` of the words file, with the arguments of its placeholders.

    With `otherwise` the entry may be missing, and the text in `otherwise`, which is data, is shown instead.
    """

    key: str
    args: tuple[tuple[str, object], ...] = ()
    otherwise: str | None = None


class Bilingual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that contains both languages, such as the title of a suite."""

    en: str = ""
    zh: str = ""


class WordsEntry(Bilingual, frozen=True, forbid_unknown_fields=True):
    """A text in both languages as a file has it: neither is empty, and both have the same placeholders."""

    expected: ClassVar[str] = 'a text in both languages, { en = "...", zh = "..." }'

    def __post_init__(self) -> None:
        for language in LANGUAGES:
            if not getattr(self, language).strip():
                raise WrongValueError((), f"no text in {language!r}; write it in both languages")
        en, zh = (_placeholders(getattr(self, language)) for language in LANGUAGES)
        if en != zh:
            raise WrongValueError((), f"the placeholders differ: en has {_braces(en)}, zh has {_braces(zh)}")


#: A text that a page shows: in both languages, or data that is the same in both.
Text = Phrase | Bilingual | str


def phrase(key: str, **args: object) -> Phrase:
    """Return a phrase from keyword arguments: `phrase("table.devices", n=8)`."""
    return Phrase(key, tuple(sorted(args.items())))


def counted(key: str, n: int) -> Phrase:
    """Return a phrase about a number of things; English has other words for one."""
    return phrase(f"{key}_one" if n == 1 else key, n=f"{n:,}")


def word_for(table: str, name: object) -> Phrase:
    """Return the word for a name from data; a name without a word is shown as it is."""
    return Phrase(f"{table}.{name}", (), str(name))


def coded(table: str, found: Reason | Problem) -> Phrase:
    """Return the words for a reason or a problem, which are codes with arguments.

    Names of facts, outcomes, rules, witnesses and sources among the arguments are translated; other arguments are data.
    """
    args = {name: _argument(name, each) for name, each in found.args.items()}
    return phrase(f"{table}.{found.code}", **args)


#: Arguments whose values have a table of words of the same name.
_TRANSLATED = frozenset({"fact", "missing", "outcome", "remedy", "rule", "witness"})


def _argument(name: str, value: Any) -> object:
    if isinstance(value, Mapping) and "code" in value:
        return coded("reason", Reason(value["code"], value.get("args", {})))
    table = "source" if name.endswith("source") else name if name in _TRANSLATED else None
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
        """Return whether there is an entry `table.key`."""
        return key in self.entries

    def table(self, name: str, language: str) -> dict[str, str]:
        """Return the words of a table in one language, by their keys within the table."""
        parts = ((key.partition("."), entry[language]) for key, entry in self.entries.items())
        return {key: text for (table, _, key), text in parts if table == name}

    def text(self, language: str, key: str, **args: object) -> str:
        """Return the entry in that language with its placeholders filled; plain text, not yet escaped.

        Raises:
            WordsError: no such entry, or a placeholder without an argument.
        """
        if not self.has(key):
            raise _no_entry(self, key)
        return _filled(self, key, self.entries[key][language], args)

    def say(self, language: str, text: Phrase | Bilingual | str) -> str:
        """Return a phrase in that language, its arguments included; text that is data stays as it is."""
        if isinstance(text, str):
            return text
        if isinstance(text, Bilingual):
            return text.en if language == "en" else text.zh
        if text.otherwise is not None and not self.has(text.key):
            return text.otherwise
        args = {
            name: self.say(language, value) if isinstance(value, (Phrase, Bilingual)) else value
            for name, value in text.args
        }
        return self.text(language, text.key, **args)


#: The content of a words file: tables of entries.
Tables = dict[str, Annotated[dict[str, WordsEntry], msgspec.Meta(description="a [table] of entries")]]


def load(path: Path = WORDS) -> Words:
    """Read and check a words file, and add the words of the vocabulary.

    Raises:
        FileError: it is not TOML, has an entry without one of the languages or with placeholders that differ, or an
            entry that the vocabulary has.
    """
    file = read(path, Tables)
    terms = vocabulary.words()
    for table, keys in file.data.items():
        for key in keys:
            if f"{table}.{key}" in terms:
                raise file.wrong((table, key), "is an entry of schema/vocabulary.toml already; delete it here")
    entries = {f"{table}.{key}": entry for table, keys in file.data.items() for key, entry in keys.items()}
    own = {key: _as_called(entry) for key, entry in entries.items()}
    return Words(path, MappingProxyType({**terms, **own, **_of_project({*terms, *own}, entries)}))


def _as_called(entry: WordsEntry) -> dict[str, str]:
    return {language: as_called(text) for language, text in msgspec.structs.asdict(entry).items()}


def _of_project(known: Collection[str], entries: Mapping[str, WordsEntry]) -> dict[str, dict[str, str]]:
    """Return the entries of the project's own `words.toml`, which replace ours."""
    at = project_folder()
    if at is None or not (at / "words.toml").is_file():
        return {}
    file = read(at / "words.toml", Tables)
    found = {f"{table}.{key}": entry for table, keys in file.data.items() for key, entry in keys.items()}
    for key, entry in found.items():
        place = tuple(key.split(".", 1))
        if key not in known:
            raise file.wrong(place, f"there is no such entry, so no page would show it{did_you_mean(key, known)}")
        if key in entries and _placeholders(entry.en) != _placeholders(entries[key].en):
            raise file.wrong(place, f"its placeholders must be {_braces(_placeholders(entries[key].en))}")
    return {key: msgspec.structs.asdict(entry) for key, entry in found.items()}


def own() -> Words:
    """Return the words of the site as their files have them now; they are read again only if a file has changed.

    Raises:
        FileError: as `load`.
    """
    folder = project_folder()
    files = (WORDS, *([folder / "words.toml"] if folder else []))
    return _as_of(tuple(path.stat().st_mtime_ns if path.is_file() else 0 for path in files))


@lru_cache(maxsize=1)
def _as_of(_changed: tuple[int, ...]) -> Words:
    return load()


def _placeholders(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError as error:
        raise WrongValueError((), f"{error}; write a brace that is not a placeholder twice") from None


def _braces(names: set[str]) -> str:
    return ", ".join(f"{{{each}}}" for each in sorted(names)) or "none"


def _no_entry(words: Words, key: str) -> WordsError:
    table, _, name = key.partition(".")
    file = read(words.path, Tables)
    near = did_you_mean(name, file.data[table]) if table in file.data else did_you_mean(table, file.data)
    hint = f"{near} Otherwise" if near.startswith("; did") else ";"
    remedy = f'{name} = {{ en = "...", zh = "..." }}'
    if table in file.data:
        return WordsError(words.path, file.line((table,)), f"[{table}] has no entry {name!r}{hint} add {remedy}")
    last = file.source.count("\n") + 1
    return WordsError(words.path, last, f"there is no table [{table}]{hint} add [{table}] with {remedy}")


def _filled(words: Words, key: str, text: str, args: Mapping[str, object]) -> str:
    if "{" not in text and "}" not in text:
        return text
    try:
        return text.format_map(args)
    except (KeyError, IndexError, ValueError) as error:
        table, _, name = key.partition(".")
        cause = f"no argument for placeholder {{{error.args[0]}}}" if isinstance(error, LookupError) else str(error)
        line = read(words.path, Tables).line((table, name))
        raise WordsError(words.path, line, f"{key}: {cause}") from None
