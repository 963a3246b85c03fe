"""The picture that a framework's page is shared with: PNG, the same bytes on every machine.

The font for Chinese has the characters of our own words only: names must be in Latin letters.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from perfledger import TEMPLATES
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "share"
#: Characters of Noto Sans CJK SC (SIL Open Font License 1.1) that the words of the picture use.
FONT = TEMPLATES / "share.otf"
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
#: Comes with the library that draws.
_LATIN = "DejaVu Sans"
#: Won, too close to call, and lost.
_TONES = ("#00684a", "#b8c0c8", "#b3261e")
#: Lines of hardware, at most.
_LINES = 4
#: Pixels across a line.
_ACROSS = 1056
#: Width of a letter as a share of its size.
_LETTER = 0.74


@dataclass(frozen=True)
class Picture:
    """The content of a picture in one language: counts of won, tied and lost cases, and lines of text.

    `name` is that of its file, and `ink` the framework whose colour it has.
    """

    name: str
    language: str
    ink: str
    title: str
    subtitle: str
    counts: tuple[int, int, int]
    counted: str
    lines: tuple[str, ...]
    foot: str

    @property
    def path(self) -> str:
        """Its path below the site's folder."""
        return path(self.name, self.language)


def path(name: str, language: str) -> str:
    """Return the path of the picture of that name."""
    return f"{FOLDER}/{name}.png" if language == "en" else f"{FOLDER}/{name}.{language}.png"


def draw(found: Picture) -> bytes:
    """Return the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor=_PAPER)
        _stripe(figure, 0, 0, 18 / WIDTH, 1, colours.ink(found.ink).light)
        _write(figure, 84, found.title, 40, weight="bold")
        _write(figure, 150, found.subtitle, 19, colour=_LIGHT)
        _bar(figure, found.counts)
        _write(figure, 300, found.counted, 26)
        for number, line in enumerate(found.lines[:_LINES]):
            _write(figure, 368 + 40 * number, line, 19, colour=_LIGHT)
        _write(figure, 590, found.foot, 17, weight="bold")
        return _png(figure)


@cache
def _chinese() -> str:
    """Return the name of the font for Chinese, which matplotlib knows from then on."""
    from matplotlib import font_manager

    font_manager.fontManager.addfont(str(FONT))
    return font_manager.FontProperties(fname=str(FONT)).get_name()


def _bar(figure: Figure, counted: tuple[int, int, int]) -> None:
    left = 0.06
    for number, tone in zip(counted, _TONES, strict=True):
        width = 0.88 * number / sum(counted)
        _stripe(figure, left, 1 - 262 / HEIGHT, width, 46 / HEIGHT, tone)
        left += width


def _stripe(figure: Figure, left: float, bottom: float, width: float, height: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    figure.add_artist(Rectangle((left, bottom), width, height, facecolor=colour, linewidth=0))


def _write(figure: Figure, top: int, text: str, size: int, *, colour: str = _INK, weight: str = "normal") -> None:
    """Write one line with its middle `top` pixels below the upper edge; `size` is in pixels."""
    most = int(_ACROSS / _LETTER / size)
    line = plain(text)
    figure.text(
        0.06,
        1 - top / HEIGHT,
        line if len(line) <= most else f"{line[: most - 3]}...",
        fontsize=size * 72 / _DPI * 1.2,
        color=colour,
        fontweight=weight,
        fontfamily=[_LATIN] if weight == "bold" else [_LATIN, _chinese()],
        va="center",
    )


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # Without the version of the library, which would change the bytes.
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()
