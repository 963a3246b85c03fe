"""The words that every match of a pattern holds, so that a text without one of them need not be searched.

`re` looks for a word only where a pattern begins with it; most of ours begin with a date, a bracket or a number. Words
are looked for in the distinct lines of a text (`schema.distinct_lines`), and so are without digits and line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from perfledger.schema.distinct_lines import without_digits

#: Characters of a word; shorter ones are in every text.
_SHORTEST = 3
#: Words that are looked for; more find hardly more.
_MOST = 4
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})

#: Words of which one stands in every match.
Alternatives = tuple[bytes, ...]


def literals(regex: re.Pattern[bytes], *more: bytes) -> tuple[Alternatives, ...]:
    """Return some words that stand in every match of a pattern, and some of which one does; the longest come first.

    Args:
        regex: the pattern.
        more: further texts that stand in every match.
    """
    found = () if regex.flags & re.IGNORECASE else _held(_parsed(regex))
    return longest((*((each,) for each in more), *found))


def words_of_pattern(pattern: bytes) -> tuple[Alternatives, ...]:
    """Return the words of a pattern without compiling it, which takes longer than all the rest."""
    parsed = import_module("re._parser").parse(pattern)
    return () if parsed.state.flags & re.IGNORECASE else longest(_held(parsed))


def longest(words: Iterable[Alternatives]) -> tuple[Alternatives, ...]:
    """Return the longest of some words, in the spelling of distinct lines."""
    likely = {bare for each in words if (bare := _bare(each))}
    ordered = sorted(likely, key=lambda each: (-strength(each), each))
    alone, others = ([each for each in ordered if (len(each) > 1) == several] for several in (False, True))
    return (*alone[:_MOST], *others[:_MOST])


def all_in(words: tuple[Alternatives, ...], distinct: bytes) -> bool:
    """Return whether all words, or one of each alternatives, stand in the distinct lines of a text."""
    for each in words:
        for word in each:
            if word in distinct:
                break
        else:
            return False
    return True


def begins_with_a_word(regex: re.Pattern[bytes]) -> bool:
    """Return whether every match of a pattern begins with the same characters."""
    begin = list(islice(_parsed(regex), _SHORTEST))
    return not regex.flags & re.IGNORECASE and [str(kind) for kind, _ in begin] == ["LITERAL"] * _SHORTEST


def _parsed(regex: re.Pattern[bytes]) -> Iterable[tuple[Any, Any]]:
    parsed: Iterable[tuple[Any, Any]] = import_module("re._parser").parse(regex.pattern, regex.flags)
    return parsed


def _bare(words: Alternatives) -> Alternatives:
    """Return words as they stand in distinct lines; none where one is too short to tell anything."""
    bare = {max(without_digits(each).split(b"\n"), key=len) for each in words}
    return tuple(sorted(bare)) if min(map(len, bare)) >= _SHORTEST else ()


def strength(words: Alternatives) -> int:
    """Return the length of the shortest of some words."""
    return min(map(len, words))


def _held(parsed: Iterable[tuple[Any, Any]], begin: bytes = b"") -> Iterator[Alternatives]:
    """Yield the characters that follow each other in what every match holds, those that stand before it included."""
    word = bytearray(begin)
    for kind, argument in ((str(kind), argument) for kind, argument in parsed):
        if kind == "LITERAL":
            word.append(argument)
        elif kind in ("AT", "ASSERT", "ASSERT_NOT"):  # They take no characters: the word goes on.
            yield from _held(_certain(kind, argument))
        elif not _only_digits(kind, argument):
            # What a group begins with goes on the word before it.
            inside = [*_held(_certain(kind, argument), bytes(word)), *_one_of(kind, argument, bytes(word))]
            yield from inside or [(bytes(word),)]
            word.clear()
    yield (bytes(word),)


def _one_of(kind: str, argument: Any, begin: bytes) -> Iterator[Alternatives]:
    """Yield the words of alternatives of which one stands in every match: of each, those that tell most."""
    if kind != "BRANCH":
        return
    best = [
        max(map(_bare, _held(each, begin)), key=lambda words: strength(words) if words else 0) for each in argument[1]
    ]
    yield tuple(word for words in best for word in words) if all(best) else (begin,)


def _only_digits(kind: str, argument: Any) -> bool:
    """Return whether a part of a pattern matches digits alone, of which distinct lines hold none."""
    match kind, argument:
        case "LITERAL", _:
            return _is_digit(kind, argument)
        case "IN", items:
            return all(_is_digit(str(each), of) for each, of in items)
        case "SUBPATTERN", (_, _, _, inner):
            return all(_only_digits(str(each), of) for each, of in inner)
        case kind, (_, _, inner) if kind in _REPEATS:
            return all(_only_digits(str(each), of) for each, of in inner)
    return False


def _is_digit(kind: str, argument: Any) -> bool:
    match kind, argument:
        case "RANGE", (first, last):
            return bool(ord("0") <= first and last <= ord("9"))
        case "LITERAL", character:
            return bool(ord("0") <= character <= ord("9"))
    return kind == "CATEGORY" and str(argument) == "CATEGORY_DIGIT"


def _certain(kind: str, argument: Any) -> Iterable[tuple[Any, Any]]:
    """Return what of a part of a pattern stands in every match: groups, repeats of one and more, what is looked at ahead."""
    match kind, argument:
        case "ATOMIC_GROUP", inner:
            return inner  # type: ignore[no-any-return]
        case "SUBPATTERN", (_, more, _, inner) if not more & re.IGNORECASE:
            return inner  # type: ignore[no-any-return]
        case kind, (least, _, inner) if kind in _REPEATS and least:
            return inner  # type: ignore[no-any-return]
        case "ASSERT", (1, inner):
            return inner  # type: ignore[no-any-return]
    return ()
