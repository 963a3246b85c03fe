"""The picture that a framework's page is shared with: PNG, the same bytes on every machine.

Its texts are English, names and numbers: no font for Chinese comes with the library that draws.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "share"
#: The first bytes of every PNG.
SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Width in pixels that services with previews ask for.
WIDTH = 1200
#: Height in pixels that services with previews ask for.
HEIGHT = 630
_DPI = 100
_INK = "#1b2430"
_LIGHT = "#515d6b"
_PAPER = "#ffffff"
#: Won, too close to call, and lost.
_TONES = ("#00684a", "#b8c0c8", "#b3261e")
#: Lines of hardware, at most.
_LINES = 3
#: Pixels across a line.
_ACROSS = 1056
#: Width of a letter as a share of its size.
_LETTER = 0.74


@dataclass(frozen=True)
class Picture:
    """The content of a picture: counts of won, tied and lost cases, in total and by hardware, and the best result.

    `name` is that of its file.
    """

    name: str
    framework: str
    counts: tuple[int, int, int]
    hardware: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    best: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its path below the site's folder."""
        return path(self.name)


def path(name: str) -> str:
    """Return the path of the picture of that name."""
    return f"{FOLDER}/{name}.png"


def draw(found: Picture) -> bytes:
    """Return the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.family": "DejaVu Sans", "text.parse_math": False}):
        figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor=_PAPER)
        _stripe(figure, 0, 0, 18 / WIDTH, 1, colours.ink(found.framework).light)
        _write(figure, 84, found.framework, 40, weight="bold")
        _write(figure, 150, "Training speed against the fastest rival, by case", 19, colour=_LIGHT)
        _bar(figure, found.counts)
        _rows(figure, found)
        _write(figure, 596, "Every number is computed from raw logs and links to its log lines.", 15, colour=_LIGHT)
        return _png(figure)


def _bar(figure: Figure, counted: tuple[int, int, int]) -> None:
    total, left = sum(counted), 0.06
    for number, tone in zip(counted, _TONES, strict=True):
        width = 0.88 * number / total if total else 0.0
        _stripe(figure, left, 1 - 262 / HEIGHT, width, 46 / HEIGHT, tone)
        left += width
    won, tied, lost = counted
    _write(figure, 300, f"{won} won   ·   {tied} too close to call   ·   {lost} lost" if total else "No rival yet", 26)


def _rows(figure: Figure, found: Picture) -> None:
    lines = [f"{name}: {won} won, {tied} close, {lost} lost" for name, (won, tied, lost) in found.hardware[:_LINES]]
    for number, line in enumerate(lines):
        _write(figure, 368 + 38 * number, line, 19, colour=_LIGHT)
    for number, line in enumerate(found.best):
        _write(figure, 502 + 36 * number, line, 20 if number else 19, weight="bold" if number else "normal")


def _stripe(figure: Figure, left: float, bottom: float, width: float, height: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    figure.add_artist(Rectangle((left, bottom), width, height, facecolor=colour, linewidth=0))


def _write(figure: Figure, top: int, text: str, size: int, *, colour: str = _INK, weight: str = "normal") -> None:
    """Write one line with its middle `top` pixels below the upper edge; `size` is in pixels."""
    points = size * 72 / _DPI * 1.2
    figure.text(
        0.06,
        1 - top / HEIGHT,
        _latin(text, int(_ACROSS / _LETTER / size)),
        fontsize=points,
        color=colour,
        fontweight=weight,
        va="center",
    )


def _latin(text: str, most: int) -> str:
    """Return one line that the font can draw and that fits into the picture."""
    line = plain(text).encode("latin-1", "replace").decode("latin-1")
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # Without the version of the library, which would change the bytes.
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()
