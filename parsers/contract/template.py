"""Templates of log lines: the line as it is printed, with names in place of the numbers.

    iter {step}: loss {loss}, time {step_seconds:ms}

All special signs are in braces; `{{` and `}}` are braces themselves.

`{name}`            a number, perhaps after blanks that pad it
`{name:ms}`         a number with its unit, in the unit of the column (`UNITS`)
`{name:,}`          a number with thousands separators
`{name:short}`      a number that is shortened for people, such as `107K`
`{name:length}`     a length of time, such as `1:02:03` or `1 day, 2:03:04`
`{_}`               a word, up to the next sign of the template
`{}`, `{:int}`      the value of a fact: a word, or a number
`{*}`               a gap on the same line, up to the next sign; it ends where the template begins again
`{images|samples}`  one of several words
`{?, eta: {_}}`     an optional part, in which `}}` closes two parts
`^`, `$`            at the beginning and the end of a template: the beginning and the end of a line

A blank after a brace, and two blanks, stand for one or more blanks. A line break stands for one, with blanks before
it. A template compiles to a pattern that takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from perfledger.parsers.contract.patterns import FormatError

#: A number as printers print it. `nan` and `inf` match too: they must be quoted so that a rule can refuse them.
#: Digits are a range here and in the readings, since `re` tests a range by bitmap and `\\d` by a lookup.
NUMBER = rb"[-+.0-9EINFAeinfa]++"
_WHOLE = rb"[0-9]++"
_SEPARATED = rb"[0-9][0-9,]*+(?:\.[0-9]++)?+"
#: A number that is shortened for people to read, such as `107K` or `1.57M`.
SHORT_NUMBER = rb"[0-9.E+]++[KMBT]?+"
_LENGTH = rb"(?:[0-9]++ days?, )?+[0-9]++(?:[:.][0-9]++)*+"
#: It begins with two digits in all its forms, so that `re` looks for digits only.
_CLOCK = (
    rb"[0-9]{2}(?:(?:[0-9]{2}[-/][0-9]{2}[-/][0-9]{2}[ T]|/[0-9]{2}/[0-9]{4} |/?[0-9]{2} )[0-9]{2})?+"
    rb":[0-9]{2}:[0-9]{2}(?:[.,][0-9]++)?+"
)
#: What `{name:kind}` matches.
_KINDS = {"": NUMBER, "int": _WHOLE, ",": _SEPARATED, "short": SHORT_NUMBER, "length": _LENGTH}
#: What `{name}` matches for columns that are not any number.
_BY_NAME = {
    **dict.fromkeys(("epoch", "step", "total_epochs", "total_steps"), _WHOLE),
    "clock": _CLOCK,
    "elapsed": _LENGTH,
}
#: Units of `{name:unit}`, and the factor to the unit of the columns: seconds, MiB, steps per second.
UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "h": 3600.0,
    "MB": 1.0,
    "MiB": 1.0,
    "GB": 1024.0,
    "GiB": 1024.0,
    "G": 1024.0,
    "KB": 1 / 1024,
    "KiB": 1 / 1024,
    "it/s": 1.0,
    "s/it": 1.0,
    "%": 1.0,
}
#: Decimals after which a number at the end of a cut file has lost insignificant digits only.
_MANY_DECIMALS = 6
#: A number ends before white space or another sign, or at the end of the file after many decimals.
ENDED = rb"(?=[^\w]|(?:%s)\Z)" % b"|".join(rb"(?<=\.\d{%d})" % digits for digits in range(_MANY_DECIMALS, 18))
_BLANKS = rb"[ \t]++"
#: Blanks before a number. As a class they end the word before them, for which `re` looks first.
_PADDING = rb"[ ]*+"
_LINE_END = rb"[ \t\r]*+"
#: A part of a template: a sign in braces, the edge of an optional part, doubled braces, or text.
_PART = re.compile(r"(\{\{|\}\})|\{(\?)|(\})|\{((?:[^{}?][^{}]*)?)\}|([^{}]+)")


@dataclass(frozen=True)
class Slot:
    """A sign in braces: a number's name and kind, `_` or `*`, or words of which one is printed."""

    name: str = ""
    kind: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Optional:
    """A part that a line may lack."""

    parts: tuple[Part, ...]


Part = str | Slot | Optional


def parts(template: str) -> tuple[Part, ...]:
    """Return the parts of a template.

    Raises:
        FormatError: its braces do not match.
    """
    stack: list[list[Part]] = [[]]
    at = 0
    while found := _PART.match(template, at):
        doubled, opened, closed, slot, text = found.groups()
        at = found.end()
        if doubled == "}}" and len(stack) > 1:
            doubled, closed, at = None, "}", at - 1
        if doubled or text:
            _append_text(stack[-1], text or doubled[0])
        elif opened:
            stack.append([])
        elif closed and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(Optional(tuple(inner)))
        elif closed:
            break
        else:
            stack[-1].append(_slot(slot or ""))
    if at != len(template) or len(stack) > 1:
        raise FormatError(f"{template!r}: its braces do not match at {template[at:]!r}; a brace itself is {{{{ or }}}}")
    return tuple(stack[0])


def _slot(sign: str) -> Slot:
    if "|" in sign:
        return Slot(words=tuple(sign.split("|")))
    name, _, kind = sign.partition(":")
    return Slot(name, kind)


def _append_text(known: list[Part], text: str) -> None:
    if known and isinstance(known[-1], str):
        known[-1] += text
    else:
        known.append(text)


@dataclass
class _Compiler:
    """Compiles one template. `group` returns the pattern of a named number."""

    template: str
    group: Callable[[str, bytes], bytes]
    factors: dict[str, float] = field(default_factory=dict)

    def pattern(self, known: Sequence[Part], first: bool = True, last: bool = True) -> Iterator[bytes]:
        """Yield the patterns of some parts.

        Args:
            known: parts that follow each other.
            first: whether they begin the template.
            last: whether they end it.
        """
        for at, part in enumerate(known):
            rest = known[at + 1 :]
            begins = first and at == 0
            ends = last and all(isinstance(each, Optional) or each == "$" for each in rest)
            if isinstance(part, str):
                if at > 0 and known[at - 1] == Slot("*"):
                    yield _label(part)
                else:
                    yield _text(part, begins=begins, ends=last and not rest)
            elif isinstance(part, Optional):
                yield b"(?:%s)?+" % b"".join(self.pattern(part.parts, False, ends))
            elif part.words:
                yield b"(?:%s)" % b"|".join(re.escape(each.encode()) for each in part.words)
            elif part.name == "_":
                yield _word(rest)
            elif not part.name and not part.kind:
                yield b"(%s)" % _word(rest)
            elif part.name == "*":
                yield self._gap(rest)
            else:
                found = self._number(part, rest if ends else None)
                yield found if begins else _PADDING + found

    def _number(self, slot: Slot, rest: Sequence[Part] | None) -> bytes:
        """Return the pattern of a number; `rest` are the optional parts and the `$` after the last one, else None."""
        if slot.kind in UNITS:
            if UNITS[slot.kind] != 1.0:
                self.factors[slot.name] = UNITS[slot.kind]
            unit = rb" ?%s" % re.escape(slot.kind.encode())
            return self.group(slot.name, NUMBER) + unit + (rb"(?!\w)" if slot.kind[-1].isalpha() else b"")
        kind = _KINDS.get(slot.kind)
        if kind is None:
            known = ", ".join([*filter(None, _KINDS), *UNITS])
            raise FormatError(f"{self.template!r}: there is no kind {slot.kind!r}; there are {known}")
        kind = _BY_NAME.get(slot.name, kind) if not slot.kind else kind
        found = self.group(slot.name, kind)
        if rest is None:
            return found
        glued = any(isinstance(each, Optional) and _begins_with_letter(each) for each in rest)
        return found + (rb"(?!\Z)" if glued else ENDED)

    def _gap(self, rest: Sequence[Part]) -> bytes:
        """Return a pattern up to the next text, or to where the template begins again, in linear time."""
        if not rest or not isinstance(rest[0], str) or not rest[0].strip():
            raise FormatError(f"{self.template!r}: text must follow a gap, up to which it goes")
        stops = [_label(rest[0])]
        known = parts(self.template)
        begin = next((each for each in known if isinstance(each, str) and len(each.strip("^ ")) > 2), "")
        again = begin.lstrip("^ ")
        if again:
            behind = rb"(?<!\w)" if begin == known[0] and again[0].isalnum() else b""
            stops.append(behind + _escaped(again))
        firsts = {rest[0].lstrip(" ")[0], *again[:1]}
        inner = re.escape("".join(sorted(firsts)).encode())
        return rb"(?:[^\r\n%s]++|(?!%s)[%s])*+" % (inner, b"|".join(stops), inner)


def _begins_with_letter(part: Optional) -> bool:
    first = part.parts[0]
    return isinstance(first, str) and (first[0].isalnum() or first[0] == "_")


def _escaped(text: str) -> bytes:
    """Escape text; two blanks and more are any number, and a line break may follow blanks."""
    found = re.escape(text.encode()).replace(rb"\ ", b" ")
    found = re.sub(rb"  +", lambda _: _BLANKS, found)
    return found.replace(b"\\\n", _LINE_END + rb"\n")


def _label(text: str) -> bytes:
    """Return the pattern of text after a gap: a gap takes blanks, and ends at a whole word."""
    bare = text.lstrip(" ")
    before = rb"(?<=[ \t])" if bare != text else rb"(?<!\w)" if bare[:1].isalnum() else b""
    return before + _escaped(bare)


def _text(text: str, *, begins: bool, ends: bool) -> bytes:
    before, after = b"", b""
    if begins and text.startswith("^"):
        before, text = rb"(?<![^\r\n])", text[1:]
    elif begins and text[:1].isalnum():
        before = rb"(?<!\w)"
    if ends and text.endswith("$"):
        text, after = text[:-1], rb"[ \t]*+(?=[\r\n]|\Z)"
    if not begins and text.startswith(" "):
        before, text = _BLANKS, text.lstrip(" ")
    return before + _escaped(text) + after


def _word(rest: Sequence[Part]) -> bytes:
    """Return a pattern for a word, up to the first character of what follows."""
    following = rest[0] if rest else ""
    if isinstance(following, Optional):
        following = following.parts[0]
    end = following[0] if isinstance(following, str) and following else ""
    return rb"[^\s%s]++" % (re.escape(end.encode()) if end.strip() else b"")


def compiled_line(template: str) -> tuple[bytes, dict[str, float]]:
    """Compile a template of a line to a pattern with a group per name, and the factors of its units.

    Raises:
        FormatError: it is not a template.
    """
    compiler = _Compiler(template, lambda name, kind: rb"(?P<%s>%s)" % (name.encode(), kind))
    return b"".join(compiler.pattern(parts(template))), compiler.factors


def compiled_text(written: str | bytes) -> bytes:
    """Return the pattern of a text without columns: a pause, a start, a fact, whose group is `{}`, `{:int}` or `{:,}`.

    Args:
        written: a template, or a pattern, which is returned as it is.

    Raises:
        FormatError: it is not a template.
    """
    if isinstance(written, bytes):
        return written
    compiler = _Compiler(written, lambda _, kind: rb"(%s)" % kind)
    return b"".join(compiler.pattern(parts(written)))
