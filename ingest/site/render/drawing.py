"""Charts as SVG text: `draw` lays a specification out for a width in pixels; the style sheet gives it its looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from perfledger.ingest.common.words import Text
from perfledger.ingest.site.render import colours, scale, svg
from perfledger.ingest.site.render.chart import (
    Axis,
    ChartLine,
    ChartMark,
    Dot,
    Dots,
    Lines,
    Panel,
    Point,
    Spec,
    place_of,
    tip,
)

#: Width of a chart in the content column of a screen, in pixels.
WIDE = 880
#: Width of a chart on a phone.
NARROW = 345
#: Least width of a chart that has names next to its lines and rows.
_ROOMY = 560
#: Share of the width that names of lines take at most.
_ENDS = 0.36
#: Share of the width that names of rows take at most.
_NAMES = 0.43
#: Height of a row with one line.
_ROW = 25
#: Height of a mark below the name of its row.
_BELOW = 17
#: Height of a panel's title.
_HEAD = 28
#: Space between panels next to each other.
_GUTTER = 32
#: Number of panels that are drawn in two columns, at least.
_COLUMNS_FROM = 4
#: Pixels between two labels of an axis, at least.
_TICK = 26
#: Pixels of the label of a named place, before it continues on a further line.
_PLACE = 84
#: Height of the plot of lines.
_PLOT = 250
#: Top of the plot, below the unit.
_TOP = 30
#: Share of an axis left free above and below lines that need not start at zero.
_NEAR = 0.08
#: Space at the ends of a horizontal axis.
_INSET = 12
#: Classes of a line across a chart.
_LEVEL = "pl-across pl-cut-1"
#: Ways to cut lines of one ink; the style sheet has as many.
_CUTS = 8

Say = Callable[[Text], str]


@dataclass(frozen=True)
class Pen:
    """The width of a drawing in pixels, and the words of its language."""

    width: int
    say: Say

    @property
    def is_roomy(self) -> bool:
        """Whether names have room next to what they name."""
        return self.width >= _ROOMY


def draw(spec: Spec, width: int, say: Say, description: str = "") -> str:
    """Draw a chart whose texts are in words; `description` is for those who cannot see it."""
    pen = Pen(width, say)
    height, parts = _dots(spec, pen) if isinstance(spec, Dots) else _lines(spec, pen)
    kind = "pl-svg pl-wide" if pen.is_roomy else "pl-svg pl-narrow"
    about = svg.words("desc", description) if description else ""
    return svg.tag(
        "svg", about, *parts, kind=kind, viewBox=f"0 0 {width} {height:.0f}", role="group", aria_label=str(spec.title)
    )  # fmt: skip


def _marked(mark: ChartMark, lines: Sequence[Text], pen: Pen, ink: str, *shapes: str) -> str:
    """Return the shapes of a value; pointing at it shows its words, and its link leads to its source."""
    kind = f"pl-mark pl-ink-{ink}" if ink else "pl-mark"
    said = svg.words("title", *map(pen.say, lines))
    return svg.tag("a" if mark.href else "g", said, *shapes, kind=kind, href=mark.href)


# ---- dots ----


@dataclass(frozen=True)
class _Place:
    """The place of a panel: its left and top, the pixels of its names, of its plot and of its values.

    If it is stacked, names are above their rows.
    """

    left: float
    top: float
    names: float
    plot: float
    values: float
    most: float
    is_stacked: bool

    def at(self, value: float) -> float:
        """Return the place of a value."""
        return self.left + self.names + value / self.most * self.plot

    @property
    def width(self) -> float:
        """The pixels of the panel."""
        return self.names + self.plot + self.values

    def name(self, row: Dot) -> list[str]:
        """Return the name of a row in lines."""
        return scale.wrapped(str(row.label), self.width if self.is_stacked else self.names - 12)

    def head(self, panel: Panel) -> list[str]:
        """Return the title of a panel in lines; a panel may have none."""
        return scale.wrapped(str(panel.label), self.width / scale.BOLD) if panel.label else []

    def height(self, row: Dot) -> float:
        """Return the height of a row."""
        return svg.LINE * (len(self.name(row)) - 1) + _ROW + (_BELOW if self.is_stacked else 0)


def _dots(data: Dots, pen: Pen) -> tuple[float, list[str]]:
    """Draw a row per value, with a line from the least to the most of its repeats."""
    rows = [row for panel in data.panels for row in panel.rows]
    widest = scale.widest([str(row.label) for row in rows]) + 12
    heads = scale.widest([str(panel.label) for panel in data.panels]) * scale.BOLD
    half = (pen.width - _GUTTER) / 2
    is_paired = pen.is_roomy and len(data.panels) >= _COLUMNS_FROM and max(widest / _NAMES, heads) <= half
    across = half if is_paired else float(pen.width)
    is_stacked = not pen.is_roomy and widest > across * _NAMES
    names = _INSET if is_stacked else min(widest, across * _NAMES)
    values = scale.widest([scale.shortened(str(row.text)) for row in rows if row.value is not None]) * scale.BOLD + 16
    plot, columns = across - names - values, 2 if is_paired else 1
    bottom, drawn = 0.0, list[str]()
    for first in range(0, len(data.panels), columns):
        top = bottom
        for column, panel in enumerate(data.panels[first : first + columns]):
            most = max(_most(panel.rows if data.apart else rows), data.against or 0.0)
            place = _Place(column * (across + _GUTTER), top, names, plot, values, most, is_stacked)
            is_last = first + column + columns >= len(data.panels)
            end, made = _panel(data, panel, place, pen, is_last=is_last)
            bottom = max(bottom, end)
            drawn += made
    return bottom, drawn


def _most(rows: Sequence[Dot]) -> float:
    return max((each for row in rows for each in (row.value, row.high) if each is not None), default=0) or 1.0


def _panel(data: Dots, panel: Panel, place: _Place, pen: Pen, *, is_last: bool) -> tuple[float, list[str]]:
    """Draw a panel; return its bottom, too. The last one of a column has the unit."""
    head = place.head(panel)
    drawn = [svg.texts(place.left, place.top + _HEAD / 2, head, "pl-head")]
    top = bottom = place.top + (_HEAD - svg.LINE if head else 0) + svg.LINE * len(head)
    rows = []
    for row in panel.rows:
        rows.append(_row(row, panel, place, bottom, pen))
        bottom += place.height(row)
    ticks = [each for each in scale.nice(0, place.most, _count(place.plot, place.most)) if each <= place.most]
    drawn.append(svg.path("pl-rule", *((place.at(tick), top, place.at(tick), bottom) for tick in ticks)))
    if data.against is not None and data.against <= place.most:
        drawn.append(svg.path(_LEVEL, (place.at(data.against), top, place.at(data.against), bottom)))
    if is_last or data.apart:
        bottom += svg.LINE
        drawn += [svg.text(place.at(tick), bottom - 6, scale.written_tick(tick), "pl-tick") for tick in ticks]
    if data.unit and is_last:
        bottom += svg.LINE
        drawn.append(svg.text(place.at(place.most / 2), bottom - 6, str(data.unit), "pl-tick"))
    return bottom + 10, drawn + rows


def _count(length: float, most: float) -> int:
    """Return the number of ticks whose labels have room."""
    each = scale.widest([scale.written_tick(tick) for tick in scale.nice(0, most)]) + _TICK
    return max(2, min(scale.TICKS, int(length / each) + 1))


def _row(row: Dot, panel: Panel, place: _Place, top: float, pen: Pen) -> str:
    height, name = place.height(row), place.name(row)
    middle = top + (height - _ROW / 2 if place.is_stacked else height / 2)
    first = top + _ROW / 2 + 2 if place.is_stacked else middle - svg.LINE * (len(name) - 1) / 2
    area = svg.tag("rect", x=place.left, y=top, width=place.width, height=height, kind="pl-area")
    shapes = [area, svg.texts(place.left, first, name)]
    zero = place.at(0)
    if row.value is None:
        shapes.append(svg.text(zero + 6, middle, scale.cut(str(row.text), place.plot + place.values)))
    else:
        at = place.at(row.value)
        end = max(at, place.at(row.high)) if row.high is not None else at
        shapes += [svg.path("pl-stem", (zero, middle, at, middle)), _range(row, place.at, middle)]
        shapes.append(svg.marker("circle", at, middle, is_filled=row.ranked))
        shapes.append(svg.text(end + 10, middle, scale.shortened(str(row.text)), "pl-value"))
    return _marked(row, tip(row, row.label, panel.label), pen, row.ink, *shapes)


def _range(row: Dot, at: Callable[[float], float], middle: float) -> str:
    if row.low is None or row.high is None or row.low >= row.high:
        return ""
    return svg.path("pl-range", (at(row.low), middle, at(row.high), middle))


# ---- lines ----


@dataclass(frozen=True)
class _Frame:
    """The place of a plot, and the values at its ends."""

    left: float
    right: float
    low: float
    high: float
    first: float
    last: float
    log2: bool
    inset: float

    bottom = float(_TOP + _PLOT)

    def x(self, at: float) -> float:
        """Return the place of a value of the axis."""
        along = (math.log2(at) if self.log2 else at) - self.first
        return (
            self.left + self.inset + along / (self.last - self.first or 1) * (self.right - self.left - 2 * self.inset)
        )

    def y(self, value: float) -> float:
        """Return the height of a value."""
        return self.bottom - (value - self.low) / (self.high - self.low) * _PLOT


@dataclass(frozen=True)
class _Name:
    """A name of a line or level: the value and place where it ends, its looks, and its words."""

    value: float
    at: float
    kind: str
    words: str


def _lines(data: Lines, pen: Pen) -> tuple[float, list[str]]:
    """Draw a line per series, and name the lines where they end, or below where that has no room."""
    names = _names(data)
    room = scale.widest([each.words for each in names]) * scale.BOLD + 24
    is_beside = pen.is_roomy and room <= pen.width * _ENDS
    ticks = _span(data)
    left = scale.widest([scale.written_tick(tick) for tick in ticks]) + 8
    frame = _frame(data, ticks, left, pen.width - (room if is_beside and names else 14))
    drawn = [
        svg.text(0.0, 12.0, str(data.unit)),
        svg.path("pl-rule", *((frame.left, frame.y(tick), frame.right, frame.y(tick)) for tick in ticks)),
        *(svg.text(frame.left - 7, frame.y(tick), scale.written_tick(tick), "pl-tick pl-end") for tick in ticks),
        *_shade(data, frame),
        *(_line(data, at, frame, pen) for at in range(len(data.series))),
        *_levels(data, frame),
    ]
    bottom, labels = _axis(data.x, frame, pen)
    drawn += labels
    if is_beside:
        return bottom, drawn + _beside(names, frame)
    height, below = _below(names, bottom, pen)
    return height, drawn + below


def _frame(data: Lines, ticks: Sequence[float], left: float, right: float) -> _Frame:
    """Return the frame of the plot: all points, and some room where the axis does not start at zero."""
    place = math.log2 if data.x.log2 else float
    xs = [place(point.x) for line in data.series for point in line.points]
    xs += [place(tick.at) for tick in data.x.ticks]
    room = (ticks[-1] - ticks[0]) * _NEAR if data.near else 0.0
    is_marked = any(point.text for line in data.series for point in line.points)
    return _Frame(
        left, right, ticks[0] - room, ticks[-1] + room, min(xs, default=0), max(xs, default=1), data.x.log2,
        _INSET if is_marked else 0,
    )  # fmt: skip


def _span(data: Lines) -> list[float]:
    """Return the ticks of the vertical axis."""
    found = [each for line in data.series for point in line.points for each in (point.y, point.low, point.high)]
    found += [level.value for level in data.levels]
    known = [each for each in found if each is not None] or [0.0, 1.0]
    return scale.nice(min(known) if data.near else 0.0, max(known))


def _names(data: Lines) -> list[_Name]:
    """Return the names of lines and levels, from the top."""
    named = [
        _Name(line.points[-1].y, line.points[-1].x, _look(data, at), str(line.label))
        for at, line in enumerate(data.series)
        if line.points and line.label
    ]
    last = max((point.x for line in data.series for point in line.points), default=0.0)
    levels = [_Name(each.value, last, _LEVEL, str(each.label)) for each in data.levels if each.label]
    return sorted([*named, *levels], key=lambda each: -each.value)


def _look(data: Lines, at: int) -> str:
    """Return the classes of a line; lines of one ink differ in how they are cut."""
    ink = data.series[at].ink
    nth = sum(each.ink == ink for each in data.series[:at]) % _CUTS
    return " ".join([f"pl-line pl-cut-{nth}" if nth else "pl-line", *([f"pl-ink-{ink}"] if ink else [])])


def _line(data: Lines, at: int, frame: _Frame, pen: Pen) -> str:
    """Draw a line and its marks; the script of the page reads the values of a line whose points have no marks."""
    line = data.series[at]
    points = " ".join(f"{frame.x(point.x):.1f},{frame.y(point.y):.1f}" for point in line.points)
    is_plain = not all(point.text for point in line.points)
    values = " ".join(f"{point.x:.10g},{point.y:.10g}" for point in line.points) if is_plain else ""
    asked = {"data_values": values, "data_x": data.x.label, "data_unit": data.unit} if is_plain else {}
    drawn = svg.tag("polyline", points=points, kind=_look(data, at), **asked)
    return svg.tag("g", drawn, *(_point(data, line, each, frame, pen) for each in line.points if each.text))


def _point(data: Lines, line: ChartLine, point: Point, frame: _Frame, pen: Pen) -> str:
    x, y = frame.x(point.x), frame.y(point.y)
    shapes = [svg.tag("circle", cx=x, cy=y, r=12, kind="pl-area")]
    if point.low is not None and point.high is not None and point.low < point.high:
        shapes.append(svg.path("pl-range", (x, frame.y(point.low), x, frame.y(point.high))))
    shapes.append(svg.marker(_shape(line.ink), x, y, is_filled=point.ranked))
    if point.step:
        shapes.append(svg.path("pl-stem pl-cut-2", (x, y - 6, x, float(_TOP))))
        shapes.append(svg.text(x - 4, _TOP + 6, str(point.step), "pl-tick pl-end"))
    group = f"{data.x.label} {place_of(data.x, point.x)}"
    return _marked(point, tip(point, line.label, group), pen, line.ink, *shapes)


@cache
def _shapes() -> dict[str, str]:
    return {each.id: each.marker for each in colours.inks()}


def _shape(ink: str) -> str:
    return _shapes().get(ink, "circle")


def _shade(data: Lines, frame: _Frame) -> list[str]:
    if data.shade is None:
        return []
    edge = frame.x(data.shade.at)
    area = svg.tag("rect", x=frame.left, y=_TOP, width=edge - frame.left, height=_PLOT, kind="pl-shade")
    return [area, svg.text(frame.left + 5, frame.bottom - 10, str(data.shade.label))]


def _levels(data: Lines, frame: _Frame) -> list[str]:
    start = frame.x(data.shade.at) if data.shade else frame.left
    return [svg.path(_LEVEL, (start, frame.y(each.value), frame.right, frame.y(each.value))) for each in data.levels]


def _axis(axis: Axis, frame: _Frame, pen: Pen) -> tuple[float, list[str]]:
    """Label the horizontal axis: as many places as have room, in up to several lines."""
    ticks = [(frame.x(each.at), str(each.label)) for each in axis.ticks]
    if not ticks:
        found = scale.nice(frame.first, frame.last, _count(frame.right - frame.left, frame.last))
        values = [2.0**at if axis.log2 else at for at in found if frame.first <= at <= frame.last]
        ticks = [(frame.x(at), scale.written_tick(at)) for at in values]
    room = max(_PLACE, (frame.right - frame.left) / max(len(ticks), 1) - 8)
    drawn, free, lines = [], -math.inf, 1
    for at, label in ticks:
        written = scale.wrapped(label, room)
        half = scale.widest(written) / 2
        middle = min(max(at, half), pen.width - half)
        if middle - half < free:
            continue
        free, lines = middle + half + 6, max(lines, len(written))
        drawn.append(svg.texts(middle, frame.bottom + 14, written, "pl-tick"))
    bottom = frame.bottom + 14 + svg.LINE * lines
    drawn.append(svg.text((frame.left + frame.right) / 2, bottom, str(axis.label), "pl-tick"))
    return bottom + 14, drawn


def _beside(names: Sequence[_Name], frame: _Frame) -> list[str]:
    """Write names in the margin, level with the ends of their lines, and apart where those are close."""
    heights = [frame.y(each.value) for each in names]
    drawn = []
    for name, height, free in zip(names, heights, scale.apart(heights, svg.LINE, frame.bottom), strict=True):
        drawn.append(svg.path("pl-leader", (frame.x(name.at) + 7, height, frame.right + 8, free)))
        drawn.append(svg.text(frame.right + 12, free, name.words))
    return drawn


def _below(names: Sequence[_Name], top: float, pen: Pen) -> tuple[float, list[str]]:
    """Write names below the plot, each with a piece of its line."""
    drawn = []
    for name in names:
        lines = scale.wrapped(name.words, pen.width - 34)
        drawn.append(svg.path(name.kind, (0.0, top + 8, 24.0, top + 8)))
        drawn.append(svg.texts(34.0, top + 8, lines))
        top += svg.LINE * len(lines) + 3
    return top + 4, drawn
