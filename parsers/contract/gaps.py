"""Gaps of raw patterns in linear time."""

from __future__ import annotations


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
