"""Changes of a log: damage, after which anything may be read, and harmless bytes outside of records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from random import Random

Operator = Callable[[bytes, Random], bytes]

#: Longest mutated log in bytes; other tests are about long logs.
LONGEST = 16_000
#: Numbers of a long log that may become thousands of digits.
_MOST_NUMBERS = 4_000
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_NUMBERS = (
    b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"-1", b"-0", b"-0.0", b"0", b"0.0", b"1e-320", b"1e308",
    b"1.7976931348623157e308", b"1.2.3", b"", b".", b"-", b"+", b"1,234", b"1,,2", b", ,", b"e5", b"1e", b"0x10",
    b"None", b"9" * 19, b"9" * 400, b"1" * 4301, b"0." + b"0" * 5000 + b"1", b"1_000", "１２３".encode(), "٣٤".encode(),
    "²".encode(), b"107K", b"1.5M", b"true", b"99:99:99", b"0000-00-00", b"1e5", b"2147483648", b"18446744073709551616",
)  # fmt: skip
_WORDS = (
    b"Traceback (most recent call last):", b"CUDA out of memory", b"epoch", b"loss: nan", b"[1,111]<stdout>:", b"{",
    b"}", b'"', b"[[[[[[", b"'", b"\\", b"DLL 2026-11-20 08:00:00.000000 - ", b"Namespace(", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\x1b]", b"\x1b[", b"\r", b"\r\r\n", b"\x00", b"\x08\x08\x08", "　".encode(), "\u2028".encode(),
    b"\x0b\x0c\x1c\x85",
)  # fmt: skip
_BARS = (
    b"Map:  37%|###7      | 37/100 [00:12<00:20,  3.10it/s]",
    b"\rDownloading: 100%|##########| 440M/440M [00:12<00:00, 36.1MB/s]\r",
    b"Fri Nov 20 08:00:00 UTC 2026",
    b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    b"node1:4242:4300 [0] NCCL INFO Channel 00/02 :    0   1",
    b"",
    b"   \t ",
    b"~" * 2_000,
)


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True) or [b""]


def _between(text: bytes, chance: Random, change: Callable[[bytes], bytes]) -> bytes:
    """Change some lines; the function gets them without their ends. The last line stays, since it may be cut."""
    rate, (*lines, rest) = chance.choice((0.02, 0.1, 0.5, 1.0)), text.split(b"\n")
    return b"\n".join([*(change(each) if chance.random() < rate else each for each in lines), rest])


def _bits(text: bytes, chance: Random) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.choice((1, 4, 30)) if text else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(text: bytes, chance: Random) -> bytes:
    begin, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    return chance.choice((text[:end], text[begin:], text[:begin] + text[end:], text[begin:end]))


def _lost(text: bytes, chance: Random) -> bytes:
    rate = chance.choice((0.02, 0.3, 0.8))
    return b"".join(each for each in _lines(text) if chance.random() > rate)


def _shuffled(text: bytes, chance: Random) -> bytes:
    lines = _lines(text)
    at = chance.randrange(len(lines))
    some = lines[at : at + chance.choice((2, 10, 1000))]
    chance.shuffle(some)
    return b"".join([*lines[:at], *some, *lines[at + len(some) :]])


def _number(text: bytes, chance: Random) -> bytes:
    """Replace one number, or some numbers on all lines."""
    places = list(islice(_NUMBER.finditer(text), _MOST_NUMBERS))
    if not places:
        return text
    rate, other = chance.choice((0.0, 0.05, 1.0)), chance.choice(_NUMBERS)
    chosen = {chance.randrange(len(places))} | {at for at in range(len(places)) if chance.random() < rate}
    parts, end = [], 0
    for at in sorted(chosen):
        parts += [text[end : places[at].start()], other]
        end = places[at].end()
    return b"".join([*parts, text[end:]])


def _inserted(text: bytes, chance: Random) -> bytes:
    at, piece = chance.randrange(len(text) + 1), chance.choice((*_WORDS, *_NUMBERS, chance.randbytes(40)))
    return text[:at] + piece * chance.choice((1, 1, 3, 1000)) + text[at:]


def _long(text: bytes, chance: Random) -> bytes:
    """Repeat a piece of a line on that line, since patterns with gaps may search it slowly."""
    lines = _lines(text)
    at = chance.randrange(len(lines))
    line = lines[at].rstrip(b"\n")
    begin = chance.randrange(len(line) + 1)
    piece = line[begin : begin + chance.choice((1, 10, 40, 200))] or b"x"
    lines[at] = line[:begin] + piece * (chance.choice((1_000, 8_000)) // len(piece) + 1) + line[begin:] + b"\n"
    return b"".join(lines)


def _stacked(text: bytes, chance: Random) -> bytes:
    return text * min(chance.choice((2, 2, 5, 50)), max(2, LONGEST // max(1, len(text))))


def _begun_often(text: bytes, chance: Random) -> bytes:
    """Repeat the first lines of a program many times."""
    head = b"".join(_lines(text)[: chance.choice((1, 3, 20))])
    return head * chance.choice((2, 2, 3, 30)) + text


def _tagged(text: bytes, chance: Random) -> bytes:
    """Add tags of launchers to lines, and texts that only look like tags."""
    tag = chance.choice((b"[1,%d]<stdout>:", b"[rank%d]: ", b"[default%d]:", b"%d: ", b"node-%d | ", b"[%d] "))
    highest = chance.choice((0, 7, 10**9, 10**20))
    return _between(text, chance, lambda line: tag % chance.randrange(highest + 1) + line)


def _utf16(text: bytes, chance: Random) -> bytes:
    return text.decode("latin1").encode(chance.choice(("utf-16", "utf-16-le", "utf-16-be")))


def spliced(text: bytes, other: bytes, chance: Random) -> bytes:
    """Return a log with lines of another in it."""
    lines, others = _lines(text), _lines(other)
    at, begin = chance.randrange(len(lines) + 1), chance.randrange(len(others))
    some = others[begin : begin + chance.choice((1, 5, 1000))]
    if chance.random() < 0.3:  # torn within a line, as two processes write into one file
        some[0] = some[0][chance.randrange(len(some[0]) + 1) :]
    return b"".join([*lines[:at], *some, *lines[at:]])


def _digits(text: bytes, chance: Random) -> bytes:
    """Change the digits of some numbers, so that dates, times and steps change or become impossible."""
    places = list(re.finditer(rb"[0-9]+", text))
    changed = bytearray(text)
    for found in chance.sample(places, min(len(places), chance.choice((1, 5, 50)))):
        for at in range(*found.span()):
            changed[at] = chance.choice(b"0123456789")
    return bytes(changed)


def _stamped(text: bytes, chance: Random) -> bytes:
    """Begin each line with a date and time, 1 s after the line before; some dates are impossible."""
    form = chance.choice(
        (b"%02d/%02d %02d:%02d:%02d ", b"[2026-%02d-%02d %02d:%02d:%02d] ", b"I%02d%02d %02d:%02d:%02d ")
    )
    day = chance.choice(((11, 28), (28, 11), (2, 30), (0, 0)))
    lines = text.split(b"\n")
    times = ((at // 3600 % 24, at // 60 % 60, at % 60) for at in range(len(lines)))
    return b"\n".join(form % (*day, *time) + line for time, line in zip(times, lines, strict=True))


#: After these changes any facts and records of the damaged log may be read.
DAMAGES: Mapping[str, Operator] = {
    "bits": _bits,
    "cut": _cut,
    "lost": _lost,
    "shuffled": _shuffled,
    "number": _number,
    "numbers": lambda text, chance: _number(_number(_number(text, chance), chance), chance),
    "inserted": _inserted,
    "long": _long,
    "stacked": _stacked,
    "begun often": _begun_often,
    "tagged": _tagged,
    "utf-16": _utf16,
    "digits": _digits,
    "stamped": _stamped,
}


def _blank_lines(text: bytes, chance: Random) -> bytes:
    return _between(text, chance, lambda line: line + chance.choice((b"\n", b"\n\n", b"\n  ", b"\n\t\n")))


def _trailing_blanks(text: bytes, chance: Random) -> bytes:
    return _between(text, chance, lambda line: line.rstrip(b"\r") + chance.choice((b" ", b"\t", b"   ")))


def _line_ends(text: bytes, chance: Random) -> bytes:
    return _between(text, chance, lambda line: line + chance.choice((b"\r", b"\r", b"\r\r")))


def _bars(text: bytes, chance: Random) -> bytes:
    bar = chance.choice(_BARS)
    return _between(text, chance, lambda line: bar + b"\n" + line)


def _redrawn(text: bytes, chance: Random) -> bytes:
    """Print a record over a progress bar, on the same line."""
    return _between(text, chance, lambda line: b" 10%|#   | 1/9\r 20%|##  | 2/9\r" + line)


def _coloured(text: bytes, chance: Random) -> bytes:
    """Colour lines, set a title, clear the line, or print two characters and remove them again.

    Backspaces remove no text. Blanks do, and a line may be shorter than the text before it.
    """
    colour = chance.choice((b"\x1b[32m%b\x1b[0m", b"\x1b]0;title\x07%b", b"\x1b[2K%b", b"ab\x08\x08  \x08\x08%b"))
    return _between(text, chance, lambda line: colour % line if line else line)


def _nul(text: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + b"\x00" * chance.choice((1, 10)) + text[at:]


def _labelled(text: bytes, chance: Random) -> bytes:
    """Label every line like containers and pipelines; the label has no rank, which would hide a launcher's.

    Their lines end with a line feed: the states of a bar that is drawn again are one line.
    """
    label = chance.choice((b"2026-11-20T08:00:00.000000000Z ", b"[2026-11-20T08:00:00.123Z] "))
    return re.sub(rb"(?m)^(?!\Z)", label, text)


#: Changes outside of records: each figure stays the same, or a problem or a reason says why it is lost.
HARMLESS: Mapping[str, Operator] = {
    "blank lines": _blank_lines,
    "trailing blanks": _trailing_blanks,
    "line ends": _line_ends,
    "bars": _bars,
    "redrawn": _redrawn,
    "coloured": _coloured,
    "nul": _nul,
    "labelled": _labelled,
    "byte order mark": lambda text, _: b"\xef\xbb\xbf" + text,
}
