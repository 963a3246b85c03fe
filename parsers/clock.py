"""Wall clocks as printed to seconds since 1970, taken as UTC: only differences are ever used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TO_ISO = bytes.maketrans(b"/, ", b"-.T")


def clocks(printed: Sequence[bytes]) -> NDArray[np.float64]:
    """`2020-09-15 14:29:13.473765`, `2023/07/28 06:42:58`, `2020-12-16 08:36:06,505` to seconds.

    Args:
        printed: n stamps; one that is no date is NaN.

    Returns:
        n float64 values in seconds, exact to a microsecond until the year 2106.
    """
    import numpy as np

    try:
        stamps = np.array([each.translate(_TO_ISO).decode("ascii") for each in printed], dtype="datetime64[us]")
    except ValueError:
        return np.array([_one(each) for each in printed], dtype=np.float64)
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)


def _one(printed: bytes) -> float:
    import numpy as np

    try:
        stamp = np.datetime64(printed.translate(_TO_ISO).decode("ascii"), "us")
        return float("nan") if np.isnat(stamp) else float(stamp.astype(np.int64)) / 1e6
    except ValueError:
        return float("nan")
