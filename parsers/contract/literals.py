"""Find words that every match of a pattern contains. A text without one of them need not be searched.

`re` searches for a word only if the pattern begins with it. Most of our patterns begin with a date, a bracket or a number.
Words are searched in the distinct lines of a text (`schema.distinct_lines`), so they have no digits and no line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from perfledger.schema.distinct_lines import without_digits

#: Fewest characters of a word; shorter ones are in every text.
_SHORTEST = 3
#: Most words that are searched per pattern; further words exclude hardly any more text.
_MOST = 4
#: Names of repeats in parsed patterns.
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})

#: Alternative words: every match contains at least one of them.
Alternatives = tuple[bytes, ...]


@cache
def words_of_pattern(pattern: bytes) -> tuple[Alternatives, ...]:
    """Return words that every match of a pattern contains: single words first, then alternatives, each by length.

    The pattern is not compiled: compiling takes longer than all the rest.
    """
    parsed = import_module("re._parser").parse(pattern)
    return () if parsed.state.flags & re.IGNORECASE else longest(_required_words(parsed))


def longest(words: Iterable[Alternatives]) -> tuple[Alternatives, ...]:
    """Return the longest words, as distinct lines spell them: single words first, then alternatives."""
    likely = {bare for each in words if (bare := _bare(each))}
    ordered = sorted(likely, key=lambda each: (-strength(each), each))
    alone, others = ([each for each in ordered if (len(each) > 1) == several] for several in (False, True))
    return (*alone[:_MOST], *others[:_MOST])


def all_in(words: tuple[Alternatives, ...], distinct: bytes) -> bool:
    """Return whether the distinct lines of a text contain at least one word of each set of alternatives."""
    for each in words:
        for word in each:
            if word in distinct:
                break
        else:
            return False
    return True


def begins_with_a_word(regex: re.Pattern[bytes]) -> bool:
    """Return whether every match of a pattern begins with the same characters."""
    begin = islice(import_module("re._parser").parse(regex.pattern, regex.flags), _SHORTEST)
    return not regex.flags & re.IGNORECASE and [str(kind) for kind, _ in begin] == ["LITERAL"] * _SHORTEST


def _bare(words: Alternatives) -> Alternatives:
    """Return words as distinct lines spell them; an empty tuple if one of them is too short to be useful."""
    bare = {max(without_digits(each).split(b"\n"), key=len) for each in words}
    return tuple(sorted(bare)) if min(map(len, bare)) >= _SHORTEST else ()


def strength(words: Alternatives) -> int:
    """Return the length of the shortest of some words."""
    return min(map(len, words))


def _required_words(parsed: Iterable[tuple[Any, Any]], begin: bytes = b"") -> Iterator[Alternatives]:
    """Yield the words that every match of a parsed pattern contains; `begin` is the text right before the match."""
    word = bytearray(begin)
    for kind, argument in ((str(kind), argument) for kind, argument in parsed):
        if kind == "LITERAL":
            word.append(argument)
        elif kind in ("AT", "ASSERT", "ASSERT_NOT"):  # They match no characters: the word continues after them.
            yield from _required_words(_required_part(kind, argument))
        elif not _only_digits(kind, argument):
            # The word before a group continues in the group.
            required = _required_words(_required_part(kind, argument), bytes(word))
            inside = [*required, *_branch_words(kind, argument, bytes(word))]
            yield from inside or [(bytes(word),)]
            word.clear()
    yield (bytes(word),)


def _branch_words(kind: str, argument: Any, begin: bytes) -> Iterator[Alternatives]:
    """Yield one set of alternative words for `a|b|c`: the longest words of each branch."""
    if kind != "BRANCH":
        return
    best = [
        max(map(_bare, _required_words(each, begin)), key=lambda words: strength(words) if words else 0)
        for each in argument[1]
    ]
    yield tuple(word for words in best for word in words) if all(best) else (begin,)


def _only_digits(kind: str, argument: Any) -> bool:
    """Return whether a part of a pattern matches only digits, which distinct lines omit."""
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


def _required_part(kind: str, argument: Any) -> Iterable[tuple[Any, Any]]:
    """Return the inner pattern of a group, of a repeat with at least one match, or of a lookahead; else an empty tuple."""
    match kind, argument:
        case "SUBPATTERN", (_, more, _, inner) if not more & re.IGNORECASE:
            return inner  # type: ignore[no-any-return]
        case kind, (least, _, inner) if kind in _REPEATS and least:
            return inner  # type: ignore[no-any-return]
        case "ASSERT", (1, inner):
            return inner  # type: ignore[no-any-return]
    return ()
