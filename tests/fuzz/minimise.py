"""Make a failing log small: remove lines, then parts of lines, as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: Largest number of readings of a log.
_MOST = 500


def minimal(text: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Return a part of a failing text that fails as well: remove lines, then bytes of the lines.

    Source: A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
    """
    tries = 0

    def still(pieces: Sequence[bytes]) -> bool:
        nonlocal tries
        tries += 1
        return tries < _MOST and fails(b"".join(pieces))

    lines = _reduced(text.splitlines(keepends=True), still)
    short = b"".join(lines)
    return b"".join(_reduced([short[at : at + 1] for at in range(len(short))], still)) if len(short) < 4_000 else short


def _reduced(pieces: list[bytes], fails: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    """Remove stretches of pieces, which become smaller and smaller."""
    size = len(pieces) // 2
    while size:
        at = 0
        while at < len(pieces):
            fewer = pieces[:at] + pieces[at + size :]
            if fewer and fails(fewer):
                pieces = fewer
            else:
                at += size
        size //= 2
    return pieces
