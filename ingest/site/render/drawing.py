"""Static pictures of charts: pure functions from data to SVG text, the same bytes on every machine.

They are for print, for feeds and for readers without scripts; theme/assets/js/charts.js draws the same records with
tooltips. Text stays text (`svg.fonttype: none`) and ink is `currentColor`, so that an inlined chart follows the theme
in light and dark. No layout depends on the width of a font, which varies; letters are counted.
"""

from __future__ import annotations

import functools
import io
import math
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from perfledger.ingest.common.words import Text
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, ChartLine, Dot, Dots, DrawnTrace, Lines, Panel, Spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#010203"  # replaced by currentColor; matplotlib knows no such colour
PAPER = "#fdfeff"  # replaced by the page's ground
#: Lines of one ink differ in how they are cut.
DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1, 2)))
BOLD = 1.12  # how much wider bold letters are
LETTER = 0.076  # inches of a label's letter at nine points, as wide as a browser may draw it
#: Width of a chart in inches.
WIDTH = 7.2
#: Inches between two rows.
ROW = 0.23
#: Inches for the title of a panel.
HEAD = 0.3
#: Inches below a plot.
BELOW = 0.5
#: Inches above a plot.
ABOVE = 0.3
#: Inches at the left of a plot.
LEFT = 0.75
VALUE = 0.75  # inches right of the scale, for the value of the longest row
MOST = 2.6  # inches of a label at most, and how far above its row a longer one is
UNDER = 0.17
TICKS = 5
#: Number of panels that are drawn in two columns, at least.
COLUMNS_FROM = 4
#: Width of labels, in inches, that leaves room for two columns, at most.
COLUMN_LABEL = 1.7
GUTTER = 0.3
NEAR = 0.08  # the share of an axis left free above and below lines that need not start at zero


def draw(spec: Spec) -> str:
    """Draw a chart whose texts are in words."""
    if isinstance(spec, Dots):
        return dots(spec)
    return lines(spec) if isinstance(spec, Lines) else trace(spec)


def dots(data: Dots) -> str:
    """Draw a row per value with a line from the least to the most repeat; a single run has a hollow dot."""
    longest = max((_wide(row.label) for panel in data.panels for row in panel.rows), default=0) + 0.1
    label = longest if longest <= MOST else 0.0  # longer names are above their rows
    row = ROW if label else ROW + UNDER
    half, heads = (WIDTH - GUTTER) / 2, max((_wide(panel.label) * BOLD for panel in data.panels), default=0)
    columns = 2 if len(data.panels) >= COLUMNS_FROM and longest <= COLUMN_LABEL and heads <= half else 1
    grid = [data.panels[at : at + columns] for at in range(0, len(data.panels), columns)]
    heights = [HEAD + row * max(len(panel.rows) for panel in line) for line in grid]
    foot = BELOW - 0.2 if data.apart else BELOW
    figure, axes = _sheet(sum(heights) + foot)
    across = (WIDTH - GUTTER * (columns - 1)) / columns
    for nth, line in enumerate(grid):
        for column, panel in enumerate(line):
            most = _most([panel] if data.apart else data.panels)
            scale = _Scale(most, label, across - label - VALUE, row)
            last = str(data.unit) if column + (nth + 1) * columns >= len(data.panels) else ""
            _panel(axes, panel, column * (across + GUTTER), sum(heights[:nth]), scale, last, labelled=not data.apart)
    return _svg(figure)


class _Scale:
    """A scale from zero to the most: where it begins in a panel, its inches, and those of a row."""

    def __init__(self, most: float, start: float, wide: float, row: float) -> None:
        self.most, self.start, self.wide, self.row = most, start, wide, row
        self.ticks = [each for each in nice(0, most) if each <= most]

    def __call__(self, value: float) -> float:
        return self.start + value / self.most * self.wide


def _panel(axes: Axes, panel: Panel, left: float, top: float, scale: _Scale, unit: str, *, labelled: bool) -> None:
    """Draw a panel; the last one of a column has the `unit`, and the labels of ticks where panels share a scale."""
    bottom = top + HEAD + scale.row * len(panel.rows)
    axes.text(left, top + HEAD / 2, str(panel.label), fontsize=9, fontweight="bold", va="center", color=INK)
    small: dict[str, Any] = {"fontsize": 8.5, "ha": "center", "va": "center", "color": INK}
    for tick in scale.ticks:
        at = left + scale(tick)
        axes.plot([at, at], [top + HEAD, bottom], color=INK, alpha=0.15, linewidth=0.8)
        if unit and labelled:
            axes.text(at, bottom + 0.14, written_tick(tick), **small)
    axes.text(left + scale(scale.most / 2), bottom + (0.34 if labelled else 0.16), unit, **small)
    for nth, row in enumerate(panel.rows):
        _row(axes, row, left, top + HEAD + scale.row * (nth + 1) - ROW / 2, scale)


def _row(axes: Axes, row: Dot, left: float, at: float, scale: _Scale) -> None:
    above = 0 if scale.start else UNDER
    axes.text(left, at - above, _cut(str(row.label), scale.start or WIDTH), fontsize=9, va="center", color=INK)
    zero = left + scale(0)
    if row.value is None:
        axes.text(zero + 0.06, at, str(row.text), fontsize=8.5, va="center", color=INK)
        return
    ink = _colour(row.ink)
    place, end = left + scale(row.value), left + scale(row.value if row.high is None else max(row.high, row.value))
    axes.plot([zero, place], [at, at], color=ink, linewidth=1, alpha=0.35)
    if row.low is not None and row.high is not None and row.low < row.high:
        axes.plot([left + scale(row.low), left + scale(row.high)], [at, at], color=ink, linewidth=2.4)
    face = PAPER if row.n == 1 else ink
    axes.plot(
        [place], [at], marker="o", markersize=6.5, markeredgewidth=1.6, markeredgecolor=ink, markerfacecolor=face,
        gid=f"{_POINTED}{row.label} · {row.text}",
    )  # fmt: skip
    axes.text(end + 0.09, at, shortened(str(row.text)), fontsize=8.5, va="center", color=INK)


def lines(data: Lines) -> str:
    """Draw a line per series, named where it ends."""
    names = [str(each.label) for each in data.series]
    room = min(max(map(_wide, names), default=0) + 0.3, MOST)
    figure, axes = _canvas(2.6, room)
    points = [point for line in data.series for point in line.points]
    place = _place(data.x)
    _over(axes, data, [place(point.x) for point in points])
    if data.ideal is not None:
        axes.axhline(data.ideal, color=INK, linewidth=1, linestyle=(0, (4, 3)), alpha=0.7)
    low, high = _span(data)
    axes.set_ylim(low, high)
    axes.set_title(str(data.unit), loc="left", fontsize=9, color=INK, x=-LEFT / (WIDTH - LEFT - room))
    used: list[str] = []
    for line in data.series:
        _line(axes, line, place, used.count(line.ink))
        used.append(line.ink)
    _steps(axes, data, place, high)
    _name_ends(axes, data.series, place, (low, high))
    return _svg(figure)


def _over(axes: Axes, data: Lines, places: Sequence[float]) -> None:
    """Set the horizontal axis, with some room at its ends."""
    place = _place(data.x)
    ticks = [(place(tick.at), str(tick.label)) for tick in data.x.ticks]
    least, most = (
        min([*places, *(at for at, _ in ticks)], default=0),
        max([*places, *(at for at, _ in ticks)], default=1),
    )
    if ticks:
        axes.set_xticks([at for at, _ in ticks], [label for _, label in ticks])
    room = (most - least or 1) * 0.04
    axes.set_xlim(least - room, most + room)
    axes.set_xlabel(str(data.x.label), fontsize=9)


def _place(axis: Axis) -> Any:
    return (lambda at: math.log2(at)) if axis.log2 else float


def _span(data: Lines) -> tuple[float, float]:
    """Return the ends of the vertical axis."""
    found = [each for line in data.series for point in line.points for each in (point.y, point.low, point.high)]
    known = [each for each in (*found, data.ideal) if each is not None] or [0.0, 1.0]
    ticks = nice(min(known) if data.near else 0.0, max(known))
    room = (ticks[-1] - ticks[0]) * NEAR
    return (ticks[0] - room if data.near else 0.0), ticks[-1] + room


def _line(axes: Axes, line: ChartLine, place: Any, nth: int) -> None:
    ink, across = _colour(line.ink), [place(point.x) for point in line.points]
    axes.plot(across, [point.y for point in line.points], color=ink, linewidth=1.8, linestyle=DASHES[nth % len(DASHES)])
    for at, point in zip(across, line.points, strict=True):
        if point.low is not None and point.high is not None and point.low < point.high:
            axes.plot([at, at], [point.low, point.high], color=ink, linewidth=2.4)
        axes.plot(
            [at], [point.y], marker=_marker(line.ink), markersize=6, markeredgewidth=1.6, markeredgecolor=ink,
            markerfacecolor=PAPER if point.n == 1 or nth else ink, gid=f"{_POINTED}{line.label} · {point.text}",
        )  # fmt: skip
        if point.label:
            axes.annotate(
                str(point.label), (at, point.y), (0, 6), textcoords="offset points", ha="center", fontsize=8, color=INK
            )


def _steps(axes: Axes, data: Lines, place: Any, top: float) -> None:
    """Draw a line up from each point where something begins; what begins is written once per place."""
    written = set()
    for line in data.series:
        for point in line.points:
            if not point.step:
                continue
            at = place(point.x)
            axes.plot([at, at], [point.y, top], color=_colour(line.ink), linewidth=1, linestyle=(0, (2, 2)))
            if at not in written:
                axes.annotate(
                    str(point.step), (at, top), (-4, -2), textcoords="offset points", ha="right", va="top",
                    fontsize=8, color=INK,
                )  # fmt: skip
            written.add(at)


def _name_ends(axes: Axes, found: Sequence[ChartLine], place: Any, span: tuple[float, float]) -> None:
    """Write names of lines in the margin, level with their last points, and moved apart where those are close."""
    edge, left = axes.get_xlim()[1], axes.get_xlim()[0]
    ends = sorted(
        ((line.points[-1].y, place(line.points[-1].x), str(line.label)) for line in found if line.points),
        key=lambda end: end[0],
    )
    gap = (span[1] - span[0]) * 0.062
    for (value, at, name), height in zip(ends, apart([end[0] for end in ends], gap, span[1]), strict=True):
        axes.annotate(
            name, (at, value), (edge + (edge - left) * 0.03, height), annotation_clip=False, va="center",
            fontsize=9, color=INK,
            arrowprops={"arrowstyle": "-", "color": INK, "alpha": 0.35, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )  # fmt: skip


def trace(data: DrawnTrace) -> str:
    """Draw throughput by record: warm-up shaded, the values of the whole run as lines, notes at slow records."""
    room = min(max((_wide(f"{level.label} {level.text}") for level in data.levels), default=0) + 0.2, MOST)
    figure, axes = _canvas(1.9, room)
    across = data.steps
    if 0 < data.skipped < len(across):
        edge = (across[data.skipped - 1] + across[data.skipped]) / 2
        axes.axvspan(across[0], edge, facecolor=INK, alpha=0.08, linewidth=0)
        axes.text(across[0], 0, f" {data.warmup}", fontsize=8.5, va="bottom", color=INK)
    marker = "" if len(across) > 40 else "o"
    axes.plot(across, data.values, color=_colour(data.ink), linewidth=1.2, marker=marker, markersize=3)
    most = nice(0, max((*data.values, *(level.value for level in data.levels)), default=1))[-1] * 1.1
    axes.set_ylim(0, most)
    axes.set_xlim(across[0], across[-1])
    axes.set_xlabel(str(data.x.label), fontsize=9)
    axes.set_title(str(data.unit), loc="left", fontsize=9, color=INK, x=-LEFT / (WIDTH - LEFT - room))
    _levels(axes, data, most)
    _notes(axes, data)
    return _svg(figure)


def _levels(axes: Axes, data: DrawnTrace, most: float) -> None:
    start, end = data.steps[min(data.skipped, len(data.steps) - 1)], data.steps[-1]
    ordered = sorted(data.levels, key=lambda level: level.value)
    for level, height in zip(ordered, apart([level.value for level in ordered], most * 0.11, most), strict=True):
        axes.plot(
            [start, end], [level.value] * 2, color=INK, linewidth=1, linestyle=(0, (5, 3)) if level.dashed else "solid"
        )
        axes.annotate(
            f"{level.label} {level.text}", (end, level.value), (end + (end - data.steps[0]) * 0.015, height),
            annotation_clip=False, va="center", fontsize=8.5, color=INK,
        )  # fmt: skip


def _notes(axes: Axes, data: DrawnTrace) -> None:
    middle = (data.steps[0] + data.steps[-1]) / 2
    for note in data.notes:
        axes.plot(
            [note.at], [note.value], marker="o", markersize=7, markerfacecolor="none", markeredgecolor=INK, linestyle=""
        )
        side = ("right", -7) if note.at > middle else ("left", 7)
        axes.annotate(
            str(note.text),
            (note.at, note.value),
            (side[1], 0),
            textcoords="offset points",
            ha=side[0],
            va="center",
            fontsize=8.5,
            color=INK,
        )


def apart(values: Sequence[float], gap: float, top: float) -> list[float]:
    """Return rising places at least `gap` apart and none above `top`, near their rising values."""
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] + gap) if places else value)
    ceiling = top
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places


def nice(least: float, most: float) -> list[float]:
    """Return round ticks from below the least to above the most value; an empty range is extended to zero."""
    if not least < most:
        least, most = min(least, 0.0), max(most, 0.0) or 1.0
    rough = (most - least) / (TICKS - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * each for each in (1, 2, 2.5, 5, 10) if unit * each >= rough * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [each * step for each in range(first, last + 1)]


def _most(panels: Iterable[Panel]) -> float:
    rows = [row for panel in panels for row in panel.rows]
    return max((each for row in rows for each in (row.value, row.high) if each is not None), default=0) or 1.0


def written_tick(value: float) -> str:
    """Write a tick."""
    return f"{value:,.10g}"


def shortened(text: str) -> str:
    """Return the number that begins a written value, with four significant digits but all before the point."""
    found = _NUMBER.match(text)
    if not found:
        return text
    whole, fraction = found[1], found[2] or ""
    value = Decimal(f"{whole.replace(',', '')}.{fraction}" if fraction else whole.replace(",", ""))
    digits = max(0, 3 - value.adjusted())
    if len(fraction) <= digits:
        return found[0]
    rounded = value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    # 999.99 becomes 1,000 and not 1,000.0.
    rounded = rounded.quantize(Decimal(1).scaleb(-max(0, 3 - rounded.adjusted())))
    return f"{rounded:,f}{found[3]}"


def _wide(text: Text) -> float:
    """Return the inches that a text takes; a Chinese letter is as wide as two."""
    return LETTER * sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in str(text))


def _cut(text: str, inches: float) -> str:
    """Return a text that fits; the interactive chart has all of it."""
    if _wide(text) <= inches:
        return text
    ends = (end for end in range(len(text), 0, -1) if _wide(text[:end]) + LETTER <= inches)
    return f"{text[: next(ends, 0)].rstrip()}…"


def _colour(ink: str) -> str:
    found = _inks().get(ink)
    return found.light if found else INK


def _marker(ink: str) -> str:
    found = _inks().get(ink)
    return found.marker if found else "o"


@functools.cache
def _inks() -> dict[str, colours.Ink]:
    return {each.id: each for each in colours.inks()}


def _sheet(height: float) -> tuple[Figure, Axes]:
    """Return a figure whose places are inches from its top left."""
    figure = _figure(height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    return figure, axes


def _canvas(plot: float, right: float) -> tuple[Figure, Axes]:
    """Return a figure with a plot of `plot` inches, and `right` inches for names."""
    height = plot + ABOVE + BELOW
    figure = _figure(height)
    axes = figure.add_axes((LEFT / WIDTH, BELOW / height, (WIDTH - LEFT - right) / WIDTH, plot / height))
    axes.patch.set_alpha(0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    axes.tick_params(colors=INK, length=0, labelsize=9)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.8)
    axes.set_axisbelow(True)
    _few_ticks(axes)
    return figure, axes


def _few_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(TICKS))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: written_tick(value)))


def _figure(height: float) -> Figure:
    _set_rcparams()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    figure.patch.set_alpha(0)
    return figure


def _set_rcparams() -> None:
    import matplotlib

    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "perfledger",
            "font.family": ["DejaVu Sans"],  # ships with matplotlib, so that every machine measures the same
            "text.parse_math": False,  # a `$` in a name is a dollar sign
            "axes.labelcolor": INK,
            "text.color": INK,
            "path.simplify": False,
        }
    )


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    with warnings.catch_warnings():
        # Names may contain glyphs that the measuring font lacks; the reader's browser draws them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _themed(out.getvalue())


#: Beginning of the id of a shape with a tooltip; the rest of the id is its text.
_POINTED = "says:"
_NUMBER = re.compile(r"([0-9][0-9,]*)(?:\.([0-9]+))?(?![0-9.])([%×]?)")
#: Patterns in matplotlib's output and their replacements, in this order.
_REWRITTEN = (
    (rf"""<g id=(["']){_POINTED}([^>]*)\1>""", r"<g><title>\2</title>"),
    (r"(?s)\s*<metadata>.*?</metadata>|<!--.*?-->", ""),
    (r"(?s)<defs>\s*<style.*?</style>\s*</defs>", ""),  # it would style the whole page
    (r"font: ([\d.]+px) [^;\"]+", r"font-size: \1"),  # the page's own font
    (r"font: (\d+|bold) ([\d.]+px) [^;\"]+", r"font-size: \2; font-weight: \1"),
    (r"font-family: 'DejaVu Sans'; ", ""),
    (r"stroke-linecap: square", "stroke-linecap: butt"),
    (r' transform="rotate\(-0 [^"]*"|<g/>', ""),
    (rf"{INK}|(?<=stroke: )#000000", "currentColor"),
    (PAPER, "var(--md-default-bg-color, #fff)"),
)  # fmt: skip


def _themed(svg: str) -> str:
    """Return only the drawing, in the page's font and ink, without blank lines and comments."""
    svg = svg[svg.index("<svg") :]
    for pattern, replacement in _REWRITTEN:
        svg = re.sub(pattern, replacement, svg)
    svg = colours.in_theme(svg)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'(?<= )d="([^"]*)"', lambda found: f'd="{_short(found[1])}"', svg)
    # Only within tags: a place needs two decimals, what is written keeps all of its own.
    svg = re.sub(r"<[^>]*>", lambda found: re.sub(r"(\d+\.\d{2})\d+", r"\1", found[0]), svg)
    svg = svg.replace("<svg ", '<svg class="pl-chart-still" fill="currentColor" ', 1)
    return _slim("\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n")


def _short(path: str) -> str:
    """Return the data of a path on one line; of straight lines, to a tenth of a point and without each further `L`."""
    data = " ".join(path.split())
    if not re.fullmatch(r"M [-\d. ]+(?: L [-\d. ]+)+(?: z)?", data):
        return data
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.1f}", data.replace(" L ", " "))


#: Invisible shapes: areas without ink, and lines that end at their beginning.
_IDLE = re.compile(r"""<path [^>]*style="fill: none; opacity: 0"/>\n|<path d="M [-\d.]+ [-\d.]+"[^>]*/>\n""")
#: A group of one thing or of none, and what all of a drawing has.
_LONE = re.compile(r"<g>\n((?:(?!</?g[ >]).*\n)?)</g>\n")
_USUAL = frozenset({"stroke-linecap: butt", "text-anchor: start", "fill: currentColor"})
_STYLED = re.compile(r'(<[^<>]*?) style="([^"]*)"')


def _slim(svg: str) -> str:
    """Return a drawing, a tag per line, without what is idle in it: a fifth."""
    svg, left = _IDLE.sub("", svg), 1
    while left:
        svg, left = _LONE.subn(r"\1", svg)
    return _STYLED.sub(_with_style, svg)


def _with_style(found: re.Match[str]) -> str:
    style = ";".join(each.replace(": ", ":") for each in found[2].split("; ") if each not in _USUAL)
    return f'{found[1]} style="{style}"' if style else found[1]
