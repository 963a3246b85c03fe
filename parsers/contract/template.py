"""Templates of log lines: the line as it is printed, with names in place of the numbers.

    iter {step}: loss {loss}, time {step_seconds:ms}

All special signs are in braces; `{{` and `}}` are braces themselves.

`{name}`            a number, perhaps after blanks that pad it
`{name:ms}`         a number with its unit after it, converted to the unit of the column (`UNITS`)
`{name:in ms}`      a number whose unit is elsewhere on the line, or known; `{name:short in ms}` for another kind of number
`{name:,}`          a number with thousands separators
`{name:short}`      a number that is shortened for people, such as `107K`
`{name:length}`     a length of time, such as `1:02:03`, `1 day, 2:03:04` or `1m 30s`
`{_}`               a word, up to the next sign of the template
`{}`, `{:int}`      the value of a fact: a word, or a number
`{*}`               a gap on the same line, up to the next text, optional part or line's end; it ends where the template begins again
`{images|samples}`  one of several words
`{?, eta: {_}}`     an optional part; inside it, `}}` closes two parts
`^`, `$`            at the beginning and the end of a template: the beginning and the end of a line

An empty line separates the templates of several lines that print some of the columns each; verbs such as `carry` join
them. A blank next to a brace, and two blanks, match one or more blanks. A line break also matches blanks before it,
empty lines after it, and a bar that the next line is drawn over. A template compiles to a pattern that takes linear
time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from perfledger.parsers.contract.literals import Alternatives, longest, strength
from perfledger.parsers.contract.patterns import FormatError

#: A number as printers print it. `nan` and `inf` match too: they must be quoted so that a rule can refuse them.
#: Digits are a range here and in the readings, since `re` tests a range by bitmap and `\\d` by a lookup.
NUMBER = rb"[-+.0-9EINFAeinfa]++"
#: A number before a unit that begins with a letter of NUMBER.
_DECIMAL = rb"[0-9.]++"
_WHOLE = rb"[0-9]++"
#: At the end of a cut file the digits after its last comma may be missing.
_SEPARATED = rb"[0-9]++(?:,[0-9]++)*+(?:\.[0-9]++)?+(?![.,]\Z)"
#: A number that is shortened for people to read, such as `107K` or `1.57M`.
SHORT_NUMBER = rb"[0-9.E+]++[KMBT]?+"
#: At the end of a cut file the digits after its last colon or point may be missing.
_ELAPSED = rb"(?:[0-9]++ days?, )?+[0-9]++(?:[:.][0-9]++)*+(?![:.]\Z)"
_PART_OF_LENGTH = rb"[0-9][0-9.]*+ ?(?:ms|[dhms])"
#: With units, or without. At the end of a cut file a unit may be missing.
_LENGTH = rb"(?:%s(?:,?+ ?+%s)*+(?!\w)|%s(?! ?(?:ms|[dhms])\b| \Z))" % (_PART_OF_LENGTH, _PART_OF_LENGTH, _ELAPSED)
#: Begins with digits, not with an optional part, since `re` passes over text without them fast.
CLOCK = (
    rb"[0-9][0-9](?:(?:[0-9]{2}[-/][0-9]{2}[-/][0-9]{2}[ T]|/[0-9]{2}/[0-9]{4} |/?[0-9]{2} )[0-9]{2})?+"
    rb":[0-9]{2}:[0-9]{2}(?:[.,][0-9]++)?+(?![.,]\Z)"
)
#: Pattern of `{name:kind}`, by kind.
_KINDS = {"": NUMBER, "int": _WHOLE, ",": _SEPARATED, "short": SHORT_NUMBER, "length": _LENGTH}
#: Pattern of `{name}`, for the columns that only take some numbers.
_BY_NAME = {
    **dict.fromkeys(("epoch", "step", "total_epochs", "total_steps"), _WHOLE),
    "clock": CLOCK,
    "elapsed": _ELAPSED,
}
#: Units of `{name:unit}`, and the factor to the unit of the columns: seconds, MiB, steps per second, TFLOP/s.
UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "hours": 3600.0,
    "MB": 1.0,
    "MiB": 1.0,
    "GB": 1024.0,
    "GiB": 1024.0,
    "KB": 1 / 1024,
    "KiB": 1 / 1024,
    "decimal GB": 1e9 / 2**20,
    "FLOP/s": 1e-12,
    "it/s": 1.0,
}
#: `in ms` in `{name:in ms}` and `{name:short in ms}`.
_IN_UNIT = re.compile(r"(?:(\w+) )?in (.+)")
#: Separator of the templates of several lines.
LINES = "\n\n"
#: Decimals after which a number at the end of a cut file has lost insignificant digits only.
_MANY_DECIMALS = 6
#: A number ends before white space or another sign, or at the end of the file after many decimals.
ENDED = rb"(?=[^\w]|(?:%s)\Z)" % b"|".join(rb"(?<=\.\d{%d})" % digits for digits in range(_MANY_DECIMALS, 18))
#: Characters of a word. Without a limit a word would be scanned again from each beginning within it.
_LONGEST_WORD = 500
_BLANKS = rb"[ \t]++"
#: Blanks that pad a number. A character class ends the literal text before it, and `re` first searches for that text.
_PADDING = rb"[ ]*+"
#: The next line that a terminal shows: after empty lines, and after a bar that it is drawn over.
_NEXT_LINE = rb"(?:[ \t\r]*+\n)++(?:[^\r\n]*+\r(?!\n))*+"
#: A part of a template: a sign in braces, the edge of an optional part, doubled braces, or text.
_PART = re.compile(r"(\{\{|\}\})|\{(\?)|(\})|\{((?:[^{}?][^{}]*)?)\}|([^{}]+)")


@dataclass(frozen=True)
class Slot:
    """A sign in braces: a number's name and kind, `_` or `*`, or alternative words."""

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

    def pattern(
        self, known: Sequence[Part], after: Sequence[Part] = (), first: bool = True, gap: bool = False
    ) -> Iterator[bytes]:
        """Yield the patterns of some parts.

        Args:
            known: parts that follow each other.
            after: parts that follow them in the template.
            first: whether they begin the template.
            gap: whether a gap may end where they begin.
        """
        for at, part in enumerate(known):
            rest = (*known[at + 1 :], *after)
            begins = first and at == 0
            before = known[at - 1] if at else None
            if part == Slot("_") and isinstance(before, str) and before.endswith(" "):
                yield _PADDING
            ends = all(isinstance(each, Optional) or each == "$" for each in rest)
            if isinstance(part, str):
                yield _after_gap(part) if gap else _text(part, begins=begins, ends=not rest)
            elif isinstance(part, Optional):
                yield b"(?:%s)?+" % b"".join(self.pattern(part.parts, rest, begins, gap))
            elif part.words:
                yield b"(?:%s)" % b"|".join(re.escape(each.encode()) for each in part.words)
            elif part.name == "_":
                yield _word(rest)
            elif not part.name and not part.kind:
                yield b"(%s)" % _word(rest)
            elif part.name == "*":
                yield self._gap(rest)
            else:
                yield self._number(part, rest if ends else None, begins=begins)
            gap = _ends_in_gap(part) or (gap and isinstance(part, Optional))

    def _number(self, slot: Slot, rest: Sequence[Part] | None, *, begins: bool) -> bytes:
        """Return the pattern of a number; `rest` are the optional parts and the `$` after the last one, else None."""
        if slot.kind in UNITS:
            if UNITS[slot.kind] != 1.0:
                self.factors[slot.name] = UNITS[slot.kind]
            unit = rb" ?%s" % re.escape(slot.kind.encode())
            return rb"%s%s%s" % (
                _PADDING,
                self.group(slot.name, _DECIMAL if slot.kind[0] in "EINFAeinfa" else NUMBER),
                unit + (rb"(?!\w)" if slot.kind[-1].isalpha() else b""),
            )
        converted = _IN_UNIT.fullmatch(slot.kind)
        named, other = (converted[1] or "", converted[2]) if converted else (slot.kind, "")
        kind = _KINDS.get(named)
        if kind is None or (other and other not in UNITS):
            known = ", ".join([*filter(None, _KINDS), *UNITS])
            raise FormatError(f"{self.template!r}: there is no kind {slot.kind!r}; there are {known}")
        if other:
            self.factors[slot.name] = UNITS[other]
        kind = _BY_NAME.get(slot.name, kind) if not named else kind
        before = _PADDING if not begins else b"" if kind == CLOCK else rb"(?<!\w)"
        number = before + self.group(slot.name, kind)
        if rest is None:
            return number
        glued = any(isinstance(each, Optional) and _begins_with_letter(each) for each in rest)
        return number + (rb"(?!\Z)" if glued else ENDED)

    def _gap(self, rest: Sequence[Part]) -> bytes:
        """Return a pattern for the characters up to the next text, or up to another beginning of the template.

        If optional parts precede that text, the gap ends at the first part that the line has. The time is linear.
        """
        known = next((at for at, each in enumerate(rest) if not isinstance(each, Optional)), len(rest))
        labels = [label for each in rest[: known + 1] for label in _labels_of(each)]
        if known == len(rest) or not all(label.strip(" ") for label in labels):
            raise FormatError(f"{self.template!r}: text must follow a gap, up to which it goes")
        stops = [_label(each) for each in labels]
        begin = self._begin()
        if begin:
            labels += _labels_of(begin[0])
            whole = not isinstance(parts(self.template)[0], Optional)
            stops.append(b"".join(_Compiler(self.template, lambda _, kind: kind).pattern(begin, ("",), whole)))
        firsts = {each.lstrip(" ")[0] for each in labels} - {"\n"}
        if not firsts:
            return rb"[^\r\n]*+"
        inner = re.escape("".join(sorted(firsts)).encode())
        return rb"(?:[^\r\n%s]++|(?!%s)[%s])*+" % (inner, b"|".join(stops), inner)

    def _begin(self) -> tuple[Part, ...]:
        """Return up to four parts from the first text or words of the template on: text, words and numbers.

        Return an empty tuple if the text is too short, or if the template begins with `^`.
        """
        known = parts(self.template)
        first = next(
            (at for at, each in enumerate(known) if any(_labels_of(each)) and not isinstance(each, Optional)), 0
        )
        begin: list[Part] = []
        for each in known[first : first + 4]:
            if isinstance(each, Optional) or (isinstance(each, Slot) and each.name in ("_", "*")):
                break
            begin.append(each.lstrip(" ") if isinstance(each, str) and not begin else each)
        texts = ["".join(_labels_of(each)) for each in begin]
        # Two characters alone are too common for a beginning; with a number they are enough.
        if texts[:1] == [""] or "".join(texts)[:1] in ("", "^") or (len(begin) == 1 and len(texts[0]) <= 2):
            return ()
        return tuple(begin)


def _labels_of(part: Part) -> tuple[str, ...]:
    """Return the text at the beginning of a part, or its alternative words; an empty text for other parts."""
    first = part.parts[0] if isinstance(part, Optional) else part
    return (first,) if isinstance(first, str) else first.words or ("",) if isinstance(first, Slot) else ("",)


def _ends_in_gap(part: Part) -> bool:
    return part == Slot("*") or (isinstance(part, Optional) and part.parts[-1] == Slot("*"))


def _begins_with_letter(part: Optional) -> bool:
    first = part.parts[0]
    return isinstance(first, str) and (first[0].isalnum() or first[0] == "_")


def _escaped(text: str) -> bytes:
    """Escape text; two blanks and more are any number, and a line break is that before the next line with text."""
    found = re.escape(text.encode()).replace(rb"\ ", b" ")
    found = re.sub(rb"  +", lambda _: _BLANKS, found)
    return found.replace(b"\\\n", _NEXT_LINE)


def _label(text: str) -> bytes:
    """Return the pattern of text that ends a gap: the gap takes blanks, and ends at a whole word."""
    bare = text.lstrip(" ")
    before = rb"(?<=[ \t])" if bare != text else rb"(?<!\w)" if bare[:1].isalnum() else b""
    return before + _escaped(bare)


def _after_gap(text: str) -> bytes:
    """Return the pattern of text after a gap; the gap may already have taken the blanks before the text."""
    bare = text.lstrip(" ")
    return (rb"[ \t]*+(?<=[ \t])" if bare != text else b"") + _escaped(bare)


def _text(text: str, *, begins: bool, ends: bool) -> bytes:
    before, after = b"", b""
    if begins and text.startswith("^"):
        before, text = rb"(?<![^\r\n])", text[1:]
    elif begins and text[:1].isalnum():
        before = rb"(?<![\w/])"
    if ends and text.endswith("$"):
        text, after = text[:-1], rb"[ \t]*+(?=[\r\n]|\Z)"
    if not begins and text.startswith(" "):
        before, text = _BLANKS, text.lstrip(" ")
    return before + _escaped(text) + after


def _word(rest: Sequence[Part]) -> bytes:
    """Return a pattern for a word, up to the first character of the next part."""
    ends = "".join(each[:1] for each in _labels_of(rest[0])).strip() if rest else ""
    return rb"[^\s%s]{1,%d}+" % (re.escape(ends.encode()), _LONGEST_WORD)


def compiled_line(template: str) -> tuple[bytes, dict[str, float]]:
    """Compile a template of a line to a pattern with a group per name, and the factors of its units.

    Raises:
        FormatError: it is not a template.
    """
    patterns = []
    factors: dict[str, float] = {}
    for line in template.split(LINES):
        compiler = _Compiler(line, lambda name, kind: rb"(?P<%s>%s)" % (name.encode(), kind), factors)
        patterns.append(b"".join(compiler.pattern(parts(line))))
    return b"|".join(patterns), factors


def template_words(template: str) -> tuple[Alternatives, ...]:
    """Return words that every record of a template contains; for several lines, alternatives with one word per line."""
    lines = [longest(_words_of_line(parts(each))) for each in template.split(LINES)]
    if len(lines) == 1:
        return lines[0]
    if not all(lines):
        return ()
    return longest([tuple(word for line in lines for word in max(line, key=strength))])


def _words_of_line(known: Sequence[Part]) -> Iterator[Alternatives]:
    """Yield the texts and alternative words of a template; a word contains a blank if lines print one or more there."""
    for each in known:
        if isinstance(each, str):
            text = each.removeprefix("^").removesuffix("$").encode()
            yield from ((word,) for word in re.split(rb"(?<= ) +|\s*\n\s*", text))
        elif isinstance(each, Slot) and each.words:
            yield tuple(word.encode() for word in each.words)


def compiled_text(written: str | bytes) -> bytes:
    """Return the pattern of a text without columns, such as a pause, a start or a fact.

    The group of a fact is `{}`, `{:int}` or `{:,}`.

    Args:
        written: a template, or a pattern, which is returned as it is.

    Raises:
        FormatError: it is not a template.
    """
    if isinstance(written, bytes):
        return written
    return b"|".join(
        b"".join(_Compiler(line, lambda _, kind: rb"(%s)" % kind).pattern(parts(line))) for line in written.split(LINES)
    )
