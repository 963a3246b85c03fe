"""Parts of raw patterns: ends of numbers, gaps in linear time, and lines that follow each other."""

from __future__ import annotations

#: Lookahead after a number at the end of a line: white space, or the end of the file after six decimals or more. A file
#: that was cut there has lost insignificant digits only.
ENDED = rb"(?=\s|(?:%s)\Z)" % b"|".join(rb"(?<=\.\d{%d})" % digits for digits in range(6, 18))


def up_to(label: bytes, again: bytes, within: bytes = rb"[^\n]") -> bytes:
    """Return a pattern for the characters up to and including the next `label`, in linear time.

    A gap such as `[^\n]*?` rescans the line from each beginning of the pattern, which takes hours on a line of many
    beginnings and no label. This gap ends where the pattern begins again, so that no character is scanned twice.

    Args:
        label: a pattern without groups that ends the gap.
        again: a pattern without groups for the beginning, or for a part of it that no real gap contains.
        within: the characters that the gap may contain.
    """
    return rb"(?:(?!%s|%s)%s)*+(?:%s)" % (again, label, within, label)


def up_to_argument(name: bytes, again: bytes = rb"Namespace\(") -> bytes:
    """Return `up_to` the value of an argument of a list such as `Namespace(lr=0.1, batch_size=32)`.

    Args:
        name: a pattern without groups for its name.
        again: a pattern without groups for the beginning of this list or another one.
    """
    return up_to(rb"\b" + name + rb"=", again)


def next_line(of_printer: bytes) -> bytes:
    """Return a pattern for the end of a line and up to four states of bars and lines of other programs after it.

    A bar that is redrawn ends each of its states with a carriage return. Its last state may be a line of its own.

    Args:
        of_printer: a pattern without groups for the beginning of the lines that must not be passed over.
    """
    return rb"[ \t]*+[\r\n]++(?:(?![ \t]*+%s)[^\r\n]{0,4000}+[\r\n]++){0,4}+[ \t]*+" % of_printer


#: A DLLogger stamp.
DLLOGGER_CLOCK = rb"DLL (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) - "
