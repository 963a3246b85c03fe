"""Printed decimals to float64 columns, several times faster than `float` one by one, and equal to it bit for bit.

Exactness: a decimal of at most 15 digits is an integer below 2**53 over a power of ten up to 10**22, both exact in
float64, and one division of two exact numbers is correctly rounded, which is what `float` gives.
Source: W. D. Clinger, "How to read floating point numbers accurately", 1990, the fast path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXACT_DIGITS = 15


def floats(printed: Sequence[bytes]) -> NDArray[np.float64]:
    """Numbers as printed, in order; what is no number (`None`, an empty group) is NaN.

    Args:
        printed: n byte strings.

    Returns:
        n float64 values.
    """
    import numpy as np

    if len(printed) > 16:
        column = _uniform(printed)
        if column is not None:
            return column
    return np.fromiter(map(_float, printed), dtype=np.float64, count=len(printed))


def _float(printed: bytes) -> float:
    try:
        return float(printed)
    except ValueError:
        return float("nan")


def _uniform(printed: Sequence[bytes]) -> NDArray[np.float64] | None:
    """The column where all values have the same number of decimals and only digits; None where they have not."""
    import numpy as np

    text = np.frombuffer(b"\n".join(printed) + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(text == 10)
    if len(ends) != len(printed):
        return None
    lengths = np.diff(ends, prepend=-1) - 1
    width = int(lengths.max())
    decimals = _decimals(printed[0])
    # A shorter value would borrow the point of the value before it.
    if width > _EXACT_DIGITS + 1 or lengths.min() < max(1, decimals + (decimals > 0)):
        return None
    padded = np.concatenate([np.zeros(width, dtype=np.uint8), text])
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)[ends]
    return _value(windows, lengths, width, decimals)


def _decimals(printed: bytes) -> int:
    return len(printed) - 1 - printed.find(b".") if b"." in printed else 0


def _value(
    windows: NDArray[np.uint8], lengths: NDArray[np.int64], width: int, decimals: int
) -> NDArray[np.float64] | None:
    """Right-aligned characters (n, width) to numbers, or None if one of them is not of the common shape."""
    import numpy as np

    digits = windows - np.uint8(48)
    digits[np.arange(width) < (width - lengths)[:, None]] = 0
    weights = 10.0 ** np.arange(width - 1, -1, -1)
    if decimals:
        point = width - 1 - decimals
        if point < 0 or not (windows[:, point] == 46).all():
            return None
        digits[:, point] = 0
        weights[:point] /= 10.0
        weights[point] = 0.0
    if (digits > 9).any():
        return None
    column: NDArray[np.float64] = (digits.astype(np.float64) @ weights) / 10.0**decimals
    return column
