"""The two shapes that a pattern cannot describe: random text, and the private part of a path."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

import msgspec
from msgspec import Struct

_WORDS = Path(__file__).resolve().parent / "names.toml"
#: Pairs of letters in a random text, at least: fewer say nothing.
_FEWEST_PAIRS = 5
#: Characters without `-`, `_` and alike in a random text, at least.
_SHORTEST = 12
#: Digits in a random text whose letters are all small or all capitals: more than this.
_DIGITS_OF_WORDS = 2
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-fA-F-]+")
_SEPARATOR = re.compile(r"[^A-Za-z0-9]+")
#: The usual form of an account.
_ACCOUNT = re.compile(r"[a-z]{2,12}\d{0,8}")
_PART = re.compile(r"[^/\\]+")


class FolderWords(Struct, frozen=True):
    """Names of folders that say whether a path is private."""

    public: frozenset[str]
    homes: frozenset[str]
    groups: frozenset[str]
    contents: frozenset[str]


class KnownWords(Struct, frozen=True):
    """The words of `names.toml`, which explains them."""

    generic: str
    common: frozenset[str]
    pairs: tuple[str, ...]
    folders: FolderWords


@cache
def words() -> KnownWords:
    """Return the words that distinguish names, paths and random texts."""
    return msgspec.toml.decode(_WORDS.read_bytes(), type=KnownWords)


@lru_cache(1 << 12)
def is_random(text: str, frequency: float) -> bool:
    """Return whether a text is random letters and digits, such as a key; words, versions and hashes are not.

    `frequency` is the mean frequency of the pairs of neighbouring letters, at most: random text has 2.5, words have 6.
    A hash is hexadecimal; only a name in front can say that such a text is a key.
    """
    digits = sum(each.isdigit() for each in text)
    mixed = text.lower() != text != text.upper()
    if digits <= (0 if mixed else _DIGITS_OF_WORDS) or max(map(len, _SEPARATOR.split(text))) < _SHORTEST:
        return False
    if _HEXADECIMAL.fullmatch(text):
        return False
    known = _pair_frequency()
    pairs = [known[pair] for pair in map("".join, pairwise(text.lower())) if pair in known]
    return len(pairs) >= _FEWEST_PAIRS and sum(pairs) <= frequency * len(pairs)


@cache
def _pair_frequency() -> dict[str, int]:
    rows = zip(ascii_lowercase, words().pairs, strict=True)
    return {
        first + second: int(digit) for first, row in rows for second, digit in zip(ascii_lowercase, row, strict=True)
    }


@lru_cache(1 << 12)
def private_length(path: str) -> int:
    """Return the length of the private part of an absolute path, from its begin.

    The last part, usually a file, a model or a data set, stays. It goes if it may be the folder of a person or group.
    """
    folders, parts = words().folders, list(_PART.finditer(path))
    names = [part[0].lower().rstrip("0123456789") for part in parts]
    public = folders.public | folders.contents if len(parts) == 2 else folders.public
    if folders.homes.isdisjoint(names[:-1]) and (len(parts) < 2 or names[0] in public):
        return 0
    last = len(parts) - 1
    owner = _owner(names, folders)
    shared = owner is None or names[owner - 1] in folders.groups
    account = shared and last <= (owner or 1) + 1 and _ACCOUNT.fullmatch(parts[last][0])
    goes = last <= (owner or 0) or (account and folders.contents.isdisjoint(names[-2:]))
    return parts[last].end() if goes else parts[last].start() - 1


def _owner(names: list[str], folders: FolderWords) -> int | None:
    """Return the number of the part that names a person or a group; None if no folder says so."""
    for number, name in enumerate(names[:-1]):
        if number and len(name) == 1 and names[number + 1].startswith(name):
            return number + 1
        if name in folders.homes | folders.groups and not (len(names[number + 1]) < 2 and number + 2 < len(names)):
            return number + 1
    return None
