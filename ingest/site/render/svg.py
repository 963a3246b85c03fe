"""Elements of SVG as text: numbers to a tenth of a pixel, text as text, looks by class (css/50-charts.css)."""

from __future__ import annotations

from collections.abc import Sequence

from perfledger.ingest.site.render.text import escape

#: Pixels from one line of a text to the next.
LINE = 17
_CIRCLE = "m-4.8 0a4.8 4.8 0 1 0 9.6 0a4.8 4.8 0 1 0-9.6 0z"
#: Outlines of markers by their names in frameworks.toml, around a place.
SHAPES = {
    "circle": _CIRCLE,
    "square": "m-4.4-4.4h8.8v8.8h-8.8z",
    "triangle": "m0-5.4l5.4 9.6h-10.8z",
    "triangle-down": "m0 5.4l5.4-9.6h-10.8z",
    "triangle-left": "m-5.4 0l9.6-5.4v10.8z",
    "triangle-right": "m5.4 0l-9.6-5.4v10.8z",
    "diamond": "m0-5.8l5.8 5.8-5.8 5.8-5.8-5.8z",
    "thin-diamond": "m0-6.4l3.8 6.4-3.8 6.4-3.8-6.4z",
    "plus": "m-1.9-5.4h3.8v3.5h3.5v3.8h-3.5v3.5h-3.8v-3.5h-3.5v-3.8h3.5z",
    "cross": "m0-2.7l2.7-2.7 2.7 2.7-2.7 2.7 2.7 2.7-2.7 2.7-2.7-2.7-2.7 2.7-2.7-2.7 2.7-2.7-2.7-2.7 2.7-2.7z",
    "pentagon": "m0-5.4l5.1 3.7-1.9 6h-6.4l-1.9-6z",
    "hexagon": "m0-5.4l4.7 2.7v5.4l-4.7 2.7-4.7-2.7v-5.4z",
}


def tag(name: str, *inner: str, **attributes: object) -> str:
    """Return an element; `kind` is its class, and attributes that are empty are left out."""
    named = {"class" if key == "kind" else key.replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(f' {key}="{escape(_value(value))}"' for key, value in named.items() if value != "")
    return f"<{name}{written}>{''.join(inner)}</{name}>" if inner else f"<{name}{written}/>"


def text(x: float, y: float, written: str, kind: str = "") -> str:
    """Return a text whose middle is at `y`."""
    return tag("text", escape(written), x=x, y=y, kind=kind)


def texts(x: float, y: float, lines: Sequence[str], kind: str = "") -> str:
    """Return lines of text; the middle of the first is at `y`."""
    return "".join(text(x, y + LINE * nth, each, kind) for nth, each in enumerate(lines))


def path(kind: str, *lines: tuple[float, float, float, float]) -> str:
    """Return straight lines, each from one place to another; empty if there are none."""
    drawn = "".join(f"M{_value(x1)} {_value(y1)}L{_value(x2)} {_value(y2)}" for x1, y1, x2, y2 in lines)
    return tag("path", d=drawn, kind=kind) if drawn else ""


def marker(shape: str, x: float, y: float, *, is_filled: bool) -> str:
    """Return a marker around a place, or its outline."""
    outline = f"M{_value(x)} {_value(y)}{SHAPES[shape]}"
    return tag("path", d=outline, kind="pl-dot" if is_filled else "pl-dot pl-outline")


def words(name: str, *lines: str) -> str:
    """Return an element of words that are not drawn: `title` for who points at something, `desc` for who cannot see."""
    return tag(name, "\n".join(map(escape, lines)))


def _value(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
