"""Remove secrets, names, private paths and addresses from every text before it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from perfledger.schema.records import from_json, to_json
from perfledger.schema.redaction.names import NO_NAMES, USER, Names, names_in
from perfledger.schema.redaction.rules import Kind, every_rule
from perfledger.schema.redaction.views import decoded, views
from perfledger.schema.visible import visible

Record = TypeVar("Record", bound=Struct)

#: Seconds for one pattern in one text.
_TIMEOUT_SECONDS = 1.0
#: Characters of a single text; a longer one is replaced by its length.
_LONGEST = 20_000
#: Characters of a block of lines.
_BLOCK = 8_000
#: Timeouts after which all further blocks of a log are cut out.
_MOST_TIMEOUTS = 5
#: The characters of words that may be keys are marked with `x`, all others with a blank.
_MARKS = bytes(120 if chr(each).isalnum() or chr(each) in "_~%+/=.-" else 32 for each in range(128)) + b" " * 128
#: The marks of the shortest word that may be a key.
_LONG_WORD = b"x" * 16
#: Members of records with text of a machine or a user.
_FREE_TEXTS = frozenset(
    {"argv", "environment", "environment_details", "environment_variables", "notes", "warnings", "printed", "cause"}
)
UNREADABLE = "<unreadable text>"


class Finding(NamedTuple):
    """A removed part of a text: its kind, the id of the rule, and the line where it begins, from 0."""

    kind: Kind
    rule: str
    line: int


@lru_cache(maxsize=1 << 14)
def redacted(text: str, names: Names = NO_NAMES) -> str:
    """Return the text without secrets and with its control characters spelled out.

    A text that is too long, or takes a pattern too long, is replaced as a whole.
    """
    if len(text) > _LONGEST:
        return f"<{len(text)} characters>"
    try:
        return visible(_redacted(text, names, _TIMEOUT_SECONDS)[0])
    except TimeoutError:
        return UNREADABLE


def redacted_text(lines: Sequence[str], names: Names = NO_NAMES) -> tuple[list[str], list[Finding]]:
    """Return consecutive lines, each without a line break, redacted, and the findings in them.

    Neighbours are redacted together, since a name may be on one line and its secret on the next. After a few timeouts
    all further blocks are cut out, so that a log that is made to be slow cannot stall us.
    """
    text: list[str] = []
    found: list[Finding] = []
    timeouts = 0
    for begin, end in _blocks(lines):
        # With the lines around it: they may contain the name, the beginning or the end of a secret in this block.
        first = max(begin - 1, 0)
        try:
            if timeouts >= _MOST_TIMEOUTS:
                raise TimeoutError
            block, findings = _redacted("\n".join(lines[first : end + 1]), names, _TIMEOUT_SECONDS / 4)
        except TimeoutError:
            timeouts += 1
            text += [UNREADABLE] * (end - begin)
            continue
        text += block.split("\n")[begin - first : end - first]
        found += [each._replace(line=each.line + first) for each in findings if begin <= each.line + first < end]
    return text, found


def redact(value: Any, names: Names = NO_NAMES, only: frozenset[str] = frozenset()) -> Any:
    """Redact every text of a document, keys included; with `only`, names are replaced in these members only."""
    if isinstance(value, str):
        return redacted(value, NO_NAMES if only else names)
    if isinstance(value, dict):
        return {redact(key): redact(each, names, frozenset() if key in only else only) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([redact(each, names, only) for each in value])
    return value


def redact_record(record: Record, known: Callable[[], Names] = Names) -> Record:
    """Return a record with every text in it redacted; names that it states itself are numbered after the known ones.

    Names are replaced only in texts of a machine or a user (`_FREE_TEXTS`); without such texts, `known` is not called.
    The trap: a user may have the name of a model, a format or a code, which must not change. A path must not change
    either, except by the rules, since it is looked up later.
    """
    document = to_json(record)
    names = NO_NAMES
    if _has_free_text(document):
        texts = dict.fromkeys(_texts(document))  # in order, and each once
        names = names_in((each for each in texts if len(each) <= _LONGEST), known())
    found = redact(document, names, only=_FREE_TEXTS)
    return record if found == document else from_json(found, type(record))


def _has_free_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(each and (key in _FREE_TEXTS or _has_free_text(each)) for key, each in value.items())
    return isinstance(value, list | tuple) and any(map(_has_free_text, value))


def _texts(document: Any) -> Iterator[str]:
    for each in document.values() if isinstance(document, dict) else document:
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict | list | tuple):
            yield from _texts(each)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield blocks of lines of about `_BLOCK` characters: the first line and the one after the last."""
    begin = size = 0
    for index, line in enumerate(lines):
        if size and size + len(line) > _BLOCK:
            yield begin, index
            begin, size = index, 0
        size += len(line) + 1
    if begin < len(lines):
        yield begin, len(lines)


class _Span(NamedTuple):
    """A part of a text to replace, and what found it."""

    begin: int
    end: int
    by: str
    kind: Kind
    rule: str


def has_key(text: str, seconds: float) -> bool:
    """Return whether a text contains a key or password.

    Raises:
        TimeoutError: a pattern takes longer than `seconds`.
    """
    return any(each.kind == "key" for each in _spans(text, NO_NAMES, seconds))


def _redacted(text: str, names: Names, seconds: float) -> tuple[str, list[Finding]]:
    found = _merged(_spans(text, names, seconds))
    pieces, at = [], 0
    for each in found:
        pieces += [text[at : each.begin], each.by, "\n" * text.count("\n", each.begin, each.end)]
        at = each.end
    findings = [Finding(each.kind, each.rule, text.count("\n", 0, each.begin)) for each in found]
    return "".join([*pieces, text[at:]]), findings


def _spans(text: str, names: Names, seconds: float) -> Iterator[_Span]:
    """Yield the parts of a text to replace, found in the text or in another reading of it."""
    for view in views(text):
        for each in _spans_of_view(view.text, names, seconds):
            begin, end = view.original_span(each.begin, each.end)
            yield each._replace(begin=begin, end=end)


def _spans_of_view(text: str, names: Names, seconds: float) -> Iterator[_Span]:
    for rule, first, last in every_rule().places(text):
        for match in rule.matches(text, seconds, first, last):
            for begin, end, group in rule.hidden(match):
                by = names.pseudonym(text[begin:end]) if group == "host" else USER if group == "user" else rule.by
                yield _Span(begin, end, by, "user" if group == "user" else rule.kind, rule.id)
    for at, word in _long_words(text):
        for found in _in_word(word):
            yield found._replace(begin=at + found.begin, end=at + found.end)
    for match in names.regex.finditer(text, timeout=seconds) if names.everywhere else ():
        begin, end = match.span()
        by = names.pseudonym(match[1])
        yield _Span(begin, end, by, "user" if by == USER else "host", "known-name")


def _long_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield words that may be keys, and where they begin. A search for marks is ten times as fast as a pattern."""
    marks = text.encode("latin-1", "replace").translate(_MARKS) + b" "
    end = 0
    while (begin := marks.find(_LONG_WORD, end)) >= 0:
        end = marks.find(b" ", begin)
        yield begin, text[begin:end]


@lru_cache(1 << 14)
def _in_word(word: str) -> tuple[_Span, ...]:
    """Return the parts of a word to replace; most words are in a text more than once."""
    text = decoded(word)
    if text and any(_spans(text, NO_NAMES, _TIMEOUT_SECONDS)):
        return (_Span(0, len(word), "<token>", "key", "base64"),)
    return tuple(
        _Span(begin, end, rule.by, rule.kind, rule.id)
        for rule in every_rule().of_words
        for match in rule.matches(word, _TIMEOUT_SECONDS)
        for begin, end, _ in rule.hidden(match)
    )


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    """Return spans in order; overlapping ones are one, named by a key in it, else by the longest."""
    merged: list[_Span] = []
    for each in sorted(spans, key=lambda span: (span.begin, -span.end)):
        if merged and each.begin < merged[-1].end:
            last = merged[-1]
            named = each if each.kind == "key" != last.kind else last
            merged[-1] = named._replace(begin=last.begin, end=max(last.end, each.end))
        else:
            merged.append(each)
    return merged
