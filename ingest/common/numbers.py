"""Write numbers, in one way for both languages and the terminal."""

from __future__ import annotations

import math
import sys

ABSENT = "—"
SIGNIFICANT_ALONE = 4
SIGNIFICANT_AT_MOST = 5
#: A last digit of two thirds of a power of ten counts as that power, so the figure is near the printed one.
_ROUNDED = 1.5


def known(value: object) -> bool:
    """Return whether a value is a finite number; None, NaN and infinities are absent figures."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def shortened(value: float, digits: int = 10) -> float:
    """Round a value to a number of significant digits; the largest floats, which would become infinite, stay."""
    short = float(f"{value:.{digits}g}")
    return short if math.isfinite(short) else float(value)


def figure(value: float | None, spread: float | None = None, resolution: float = 0.0) -> str:
    """Write a measured value, with digits no finer than its spread and its resolution.

    `spread` is the coefficient of variation of its repeats; without one, four significant digits are written.
    `resolution` is the value of the last printed digit, as a share of the figure.
    """
    if value is None or not known(value):
        return ABSENT
    return grouped(value, min(decimals(value, spread), printed_decimals(value, resolution)))


def printed_decimals(value: float, resolution: float) -> int:
    """Return how many digits after the point were printed, from the resolution; at least one digit is significant."""
    if value == 0 or not resolution > 0:
        return sys.maxsize
    return max(-math.floor(math.log10(abs(value) * resolution * _ROUNDED)), -math.floor(math.log10(abs(value))))


def decimals(value: float, spread: float | None = None) -> int:
    """Return how many digits after the point are significant; negative for zeros before it."""
    if value == 0:
        return 0
    magnitude = math.floor(math.log10(abs(value)))
    if spread is None or not known(spread) or spread <= 0:
        return SIGNIFICANT_ALONE - 1 - magnitude
    uncertain = math.floor(math.log10(abs(value) * spread))
    return max(min(-uncertain, SIGNIFICANT_AT_MOST - 1 - magnitude), -magnitude)


def grouped(value: float, places: int) -> str:
    """Write a number with thousands separators and `places` decimals; negative places round to tens and hundreds."""
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}"


def exact(value: float) -> str:
    """Write a number as computed, to ten significant digits: for arithmetic that a reader wants to check."""
    return f"{value:,.10g}" if known(value) else ABSENT


def percent(share: float | None, places: int = 1) -> str:
    """Write a share of one as a percentage."""
    return f"{share * 100:.{places}f}%" if share is not None and known(share) else ABSENT


def signed_percent(share: float, places: int = 1) -> str:
    """Write a difference as a percentage with its sign, a true minus; zero has none."""
    nothing = round(share * 100, places) == 0
    return f"{0:.{places}f}%" if nothing else f"{share * 100:+.{places}f}%".replace("-", "−")


def span(low: float | None, high: float | None, spread: float | None = None, resolution: float = 0.0) -> str:
    """Write the least and the most of repeats as `398.1 – 402.3`, with digits no finer than their spread supports."""
    return f"{figure(low, spread, resolution)} – {figure(high, spread, resolution)}"


def plus_minus(spread: float | None) -> str:
    """Write a coefficient of variation as `±1.2%`, or nothing without one."""
    return f"±{percent(spread)}" if spread is not None and known(spread) else ""


def ratio(value: float | None) -> str:
    """Write a speed-up: `7.62×`."""
    return f"{value:.2f}×" if value is not None and known(value) else ABSENT


def count(value: int) -> str:
    """Write a whole number with thousands separators."""
    return f"{value:,}"


def seconds(value: float | None) -> str:
    """Write a duration in seconds, to a tenth."""
    return f"{value:,.1f}" if value is not None and known(value) else ABSENT


def quantity(value: object) -> str:
    """Write a fact's value: whole numbers without separators, since a step number is not grouped; others briefly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else ABSENT
    return str(value)
