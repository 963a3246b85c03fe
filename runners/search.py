"""The search for the largest batch size: doubled until memory runs out, then halved in between."""

from __future__ import annotations

from collections.abc import Collection

#: Above it only multiples of STEP are tried: hardware computes in such steps, and nothing in between is asked for.
FINE_UP_TO = 16
STEP = 8


def next_size(smallest: int, fits: Collection[int], fails: Collection[int]) -> int | None:
    """The batch size to try next, or None where the border is known.

    Args:
        smallest: where the search begins.
        fits: sizes that completed.
        fails: sizes for which memory did not suffice; one below a size that fits is believed all the same.
    """
    if not fails:
        return 2 * max(fits) if fits else smallest
    above = min(fails)
    below = largest(fits, fails)
    between = [size for size in range(below + 1, above) if size <= FINE_UP_TO or size % STEP == 0]
    return min(between, key=lambda size: abs(2 * size - below - above)) if between else None


def largest(fits: Collection[int], fails: Collection[int]) -> int:
    """The largest size that fits below all that fail; 0 where none does."""
    return max((size for size in fits if size < min(fails, default=size + 1)), default=0)
