"""Scales and letters of charts: round ticks, places that do not meet, and how wide a text is."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from perfledger.ingest.common import numbers

#: Pixels of a Latin letter at the size of a chart's text, as wide as a browser may draw it.
LETTER = 7.4
#: Width of a Chinese letter, in Latin ones.
_WIDE = 1.8
#: Width of bold letters, as a multiple.
BOLD = 1.1
#: Ticks of an axis, about.
TICKS = 5
_NUMBER = re.compile(r"([0-9][0-9,]*)(?:\.([0-9]+))?(?![0-9.])([%×]?)")
#: Parts of a text between which a line may end: after a blank, and before and after a Chinese letter.
_PARTS = re.compile(r"[\u2e80-\uffee]|[^\s\u2e80-\uffee]+\s*|\s+")


def nice(least: float, most: float, count: int = TICKS) -> list[float]:
    """Return round ticks from below the least to above the most value; an empty range is extended to zero."""
    if not least < most:
        least, most = min(least, 0.0), max(most, 0.0) or 1.0
    rough = (most - least) / max(count - 1, 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * each for each in (1, 2, 2.5, 5, 10) if unit * each >= rough * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [each * step for each in range(first, last + 1)]


def apart(values: Sequence[float], gap: float, most: float) -> list[float]:
    """Return rising places at least `gap` apart and none above `most`, near their rising values."""
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] + gap) if places else value)
    ceiling = most
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places


def width(text: str) -> float:
    """Return the pixels that a text takes."""
    return LETTER * sum(_WIDE if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def widest(texts: Sequence[str]) -> float:
    """Return the pixels of the widest text; 0 without any."""
    return max(map(width, texts), default=0.0)


def wrapped(text: str, room: float) -> list[str]:
    """Return a text in lines of at most `room` pixels; a word that is wider has a line of its own, cut."""
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and width((lines[-1] + part).rstrip()) > room:
            lines.append("")
        lines[-1] += part
    return [cut(each.strip(), room) for each in lines]


def cut(text: str, room: float) -> str:
    """Return a text that fits."""
    if width(text) <= room:
        return text
    ends = (end for end in range(len(text), 0, -1) if width(text[:end]) + LETTER <= room)
    return f"{text[: next(ends, 0)].rstrip()}…"


def written_tick(value: float) -> str:
    """Write a tick."""
    return f"{value:,.10g}"


def shortened(text: str) -> str:
    """Return the number that begins a written value, with four significant digits but all before the point."""
    found = _NUMBER.match(text)
    if not found:
        return text
    value = float(found[0].rstrip("%×").replace(",", ""))
    places = max(0, numbers.decimals(value))
    if len(found[2] or "") <= places:
        return found[0]
    rounded = round(value, places)
    # 999.99 becomes 1,000 and not 1,000.0.
    return numbers.grouped(rounded, max(0, numbers.decimals(rounded))) + found[3]
