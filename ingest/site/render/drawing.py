"""Charts: pure functions from data to SVG text, the same bytes on every machine.

Words are drawn as tokens (`@devices@`), which `render.chart` replaces, so that a chart is drawn once for both
languages and its layout does not depend on a CJK font. Text stays text (`svg.fonttype: none`) and ink is
`currentColor`, so that an inlined chart follows the theme in light and dark.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from ingest.site.render import colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#010203"  # replaced by currentColor; matplotlib knows no such colour
PAPER = "#fdfeff"  # replaced by the page's ground
#: Variants of one framework in the order in which they are drawn: how full their bars are, how their lines are cut.
FULLNESS = (1.0, 0.45, 0.2, 0.08)
DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
LETTER = 0.078  # inches of a label's letter at nine points, as wide as a browser may draw it
ROOM = 0.6  # inches that turned labels take of a plot before it grows with them
LINE = 0.13  # inches that a line of such letters needs
MOST_ENDS = 8  # lines that can be labelled at their ends
#: Inches across a chart, and where plots begin and end in it.
WIDTH, LEFT, RIGHT = 7.2, 0.105, 0.99
BELOW = 0.62  # inches below a plot, for its labels
BETWEEN = 0.16  # inches between two plots, one below the other
WIDEST = 0.26  # of a group: a lone bar must not fill the chart
SLOW = 0.8  # a record below this share of the median is drawn as an outlier


@dataclass(frozen=True)
class Series:
    """One framework: a value per group (None where there is none), and low and high of its repeats.

    `missing` are words for groups without a value, to stand where the bar would: `OOM`. `labels` are the values as they
    are written, with what stands beside them: in full where a reader points, and shortened on the bars where there is
    room for all of them.
    """

    name: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    missing: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bars:
    """Grouped bars: one group per number of devices (and batch size), one bar per framework. `across` is the token
    of what the groups are."""

    groups: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str
    across: str = "groups"


@dataclass(frozen=True)
class Lines:
    """Speed-up over devices: per framework the devices and the speed-up there."""

    series: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...]


@dataclass(frozen=True)
class Curve:
    """Points of one series, in the order in which they are joined, a label at each, and its value as it is written."""

    name: str
    across: tuple[float, ...]
    values: tuple[float, ...]
    labels: tuple[str, ...]
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class Curves:
    """One quantity over another; `across` and `up` are a token or a unit."""

    series: tuple[Curve, ...]
    across: str
    up: str


@dataclass(frozen=True)
class DrawnTrace:
    """Throughput record by record; the first `skipped` are warm-up; `middle` is the window's median."""

    steps: tuple[float, ...]
    values: tuple[float, ...]
    skipped: int
    middle: float | None
    unit: str
    by_step: bool = True
    framework: str = ""


def bars(data: Bars) -> str:
    """Draw throughput as grouped bars, with lines from the slowest to the fastest repeat."""
    plot = 2.3 + max(0.0, _longest(data) - ROOM)
    figure, axes = _canvas(plot, [series.name for series in data.series], below=_named(data.groups).below)
    _draw_groups(axes, data)
    _finish(axes)
    return _svg(figure)


def panels(data: Sequence[Bars]) -> str:
    """Draw grouped bars below each other, over the same groups and for the same series."""
    names = [series.name for series in data[0].series]
    figure, axes = _canvas(2.0, names, len(data), below=_named(data[0].groups).below)
    for panel, each in zip(figure.axes, data, strict=True):
        _draw_groups(panel, each)
        _labelled(panel)
    for panel in figure.axes[:-1]:
        panel.set_xlabel("")
        panel.set_xticklabels([])
    _finish(axes)
    return _svg(figure)


def trend(data: Bars) -> str:
    """Draw a line per series with a marker per group, for groups that have an order, such as versions."""
    figure, axes = _canvas(2.3, [series.name for series in data.series], below=_named(data.groups).below)
    for series, style in zip(data.series, _styles([series.name for series in data.series]), strict=True):
        found = [(group, value) for group, value in enumerate(series.values) if value is not None]
        across, values = zip(*found, strict=True) if found else ((), ())
        _line(axes, across, values, series.name, style)
        _ranges(axes, range(len(series.values)), series)
        _point_out(axes, across, values, [_said(data, series, group) for group in across])
    _over_groups(axes, data)
    axes.set_ylim(0, _highest(value for series in data.series for value in series.values) * 1.1)
    _finish(axes)
    return _svg(figure)


def curves(data: Curves) -> str:
    """Draw one quantity over another, a line per series with labelled points; both axes from zero."""
    figure, axes = _canvas(2.6, [series.name for series in data.series])
    wide = _highest(at for series in data.series for at in series.across) * 1.06
    high = _highest(value for series in data.series for value in series.values) * 1.12
    for index, series in enumerate(data.series):
        _line(axes, series.across, series.values, series.name, _plain_style(index))
        said = [f"{series.name} · {label} · {each}" for label, each in zip(series.labels, series.written, strict=False)]
        _point_out(axes, series.across, series.values, said)
        _label_points(axes, series, wide, high)
    axes.set_xlabel(data.across)
    axes.set_ylabel(data.up)
    axes.set_xlim(0, wide)
    axes.set_ylim(0, high)
    _finish(axes)
    return _svg(figure)


def speedup(data: Lines) -> str:
    """Draw speed-up over devices with the dashed ideal line, both axes from zero; lines are named where they end."""
    names = [name for name, _, _ in data.series]
    most = max((device for _, devices, _ in data.series for device in devices), default=1)
    direct = _named_at_ends(names)
    figure, axes = _canvas(2.6, [] if direct else [_token("ideal"), *names])
    axes.plot([1, most], [1, most], color=INK, linewidth=1, linestyle=(0, (4, 3)), label=_token("ideal"), alpha=0.7)
    for (name, devices, values), style in zip(data.series, _styles(names), strict=True):
        _line(axes, devices, values, name, style)
        said = [f"{name} · {n} · {value:.2f}×" for n, value in zip(devices, values, strict=True)]
        _point_out(axes, devices, values, said)
    axes.set_xticks(sorted({device for _, devices, _ in data.series for device in devices} | {1}))
    axes.set_xlabel("@devices@")
    axes.set_ylabel("@speedup@")
    axes.set_xlim(0, most * 1.02)
    axes.set_ylim(0, most * 1.08)
    if direct:
        ends = [("@ideal@", most, float(most)), *((n, devices[-1], values[-1]) for n, devices, values in data.series)]
        _name_ends(figure, axes, ends, most * 1.08)
        return _svg(figure)
    _finish(axes)
    return _svg(figure)


def trace(data: DrawnTrace) -> str:
    """Draw throughput of one run by record: warm-up shaded, the window's median as a line, slow records marked."""
    figure, axes = _canvas(1.7, [_token(each) for each in ("warmup", "median", "slow")])
    across = data.steps if data.by_step else tuple(float(index + 1) for index in range(len(data.values)))
    if 0 < data.skipped < len(across):
        edge = (across[data.skipped - 1] + across[data.skipped]) / 2
        axes.axvspan(across[0], edge, facecolor=INK, alpha=0.08, linewidth=0, label=_token("warmup"))
    many = len(across) > 40
    marker = {} if many else {"marker": "o", "markersize": 3}
    axes.plot(across, data.values, color=colours.ink(data.framework).light, linewidth=1.2, **marker)  # type: ignore[arg-type]
    _draw_window(axes, data, across)
    axes.set_xlabel("@step@" if data.by_step else "@record@")
    axes.set_ylabel(data.unit)
    axes.set_ylim(0, max(data.values, default=1) * 1.1 or 1)
    if across and across[0] != across[-1]:
        axes.set_xlim(across[0], across[-1])
    _finish(axes)
    return _svg(figure)


def _token(name: str) -> str:
    """Return a token for a legend, as wide as the longest word that may replace it."""
    return f"@{name:.<20}@"


@dataclass(frozen=True)
class _Style:
    """How a series is drawn: its ink's colour, hatch and marker, and which variant of its framework it is."""

    colour: str
    hatch: str
    marker: str
    variant: int = 0

    @property
    def full(self) -> float:
        """The opacity of its bars."""
        return FULLNESS[min(self.variant, len(FULLNESS) - 1)]

    @property
    def dash(self) -> object:
        """The dash pattern of its line."""
        return DASHES[self.variant % len(DASHES)]


def _styles(names: Sequence[str]) -> list[_Style]:
    """Return a style per series: variants of a framework share its colour, and differ in fullness, dash and marker."""
    inks = [colours.ink(name) for name in names]
    found = []
    for index, each in enumerate(inks):
        variant = sum(ink.id == each.id for ink in inks[:index])
        marker = each.marker if variant == 0 else MARKERS[(MARKERS.index("o") + variant + 1) % len(MARKERS)]
        found.append(_Style(each.light, each.hatch if variant == 0 else "", marker, variant))
    return found


def _plain_style(index: int) -> _Style:
    """Return a style for series that are no frameworks: the page's ink, with different dashes and markers."""
    return _Style(INK, "", MARKERS[index % len(MARKERS)], index)


def _line(axes: Axes, across: Sequence[float], values: Sequence[float], name: str, style: _Style) -> None:
    face = style.colour if style.variant == 0 else PAPER
    axes.plot(
        across, values, color=style.colour, linewidth=1.8, linestyle=style.dash, label=name, marker=style.marker,
        markersize=5.5, markerfacecolor=face, markeredgecolor=style.colour,
    )  # fmt: skip


def _named_at_ends(names: Sequence[str]) -> bool:
    """Return whether there is room to name lines where they end; otherwise they need a legend."""
    return len(names) < MOST_ENDS and max(map(len, names), default=0) <= 26


def _name_ends(figure: Figure, axes: Axes, ends: Sequence[tuple[str, float, float]], top: float) -> None:
    """Write names of lines in the margin beside their last points, moved apart where those are close."""
    room = LETTER * max(len(name.strip("@")) + 2 for name, _, _ in ends) + 0.3
    left, bottom, _, height = axes.get_position().bounds
    axes.set_position((left, bottom, RIGHT - left - room / WIDTH, height))
    edge, gap = axes.get_xlim()[1], top * 0.155 / (height * figure.get_figheight())
    ordered = sorted(ends, key=lambda end: end[2])
    for (name, at, value), place in zip(ordered, _apart([end[2] for end in ordered], gap, top), strict=True):
        axes.annotate(
            name, (at, value), (edge * 1.03, place), annotation_clip=False, va="center", fontsize=9, color=INK,
            arrowprops={"arrowstyle": "-", "color": INK, "alpha": 0.35, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )  # fmt: skip
    _labelled(axes)


def _apart(values: Sequence[float], gap: float, top: float) -> list[float]:
    """Return rising places at least `gap` apart and none above `top`, near their values."""
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] + gap) if places else value)
    ceiling = top
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places


def _draw_groups(axes: Axes, data: Bars) -> None:
    width = min(0.8 / max(len(data.series), 1), WIDEST)
    turned = _turned(data, width)
    for index, (series, style) in enumerate(
        zip(data.series, _styles([each.name for each in data.series]), strict=True)
    ):
        shift = (index - (len(data.series) - 1) / 2) * width
        places = [group + shift for group in range(len(data.groups))]
        _draw_bars(axes, series, places, width, style, [_said(data, series, at) for at in range(len(data.groups))])
        if turned is not None:
            axes.margins(y=_headroom(axes, data) if turned else 0.12)
            _write_values(axes, series, places, turned)
    _over_groups(axes, data)


def _turned(data: Bars, width: float) -> int | None:
    """Return the degrees by which values are turned so that none touches the next; None if there is no room."""
    inches = (RIGHT - LEFT) * WIDTH * width / max(len(data.groups), 3)
    if not _longest(data):
        return None
    if _longest(data) <= inches:
        return 0
    return 90 if inches >= LINE else None


def _longest(data: Bars) -> float:
    """Return the inches of the longest value."""
    labels = (shortened(label) for series in data.series for label in series.labels)
    return max(map(len, labels), default=0) * LETTER * 0.95


def _headroom(axes: Axes, data: Bars) -> float:
    """Return the share of a plot's height that turned values need above the highest bar."""
    figure = axes.get_figure(root=True)
    height = axes.get_position().height * (figure.get_figheight() if figure else 1)
    return min((_longest(data) + 0.08) / max(height - _longest(data), 0.4), 0.9)


def _write_values(axes: Axes, series: Series, places: Sequence[float], turned: int) -> None:
    tops = [high or value for value, high in zip(series.values, series.high or series.values, strict=True)]
    for at, top, label in zip(places, tops, series.labels, strict=True):
        if top is not None and label:
            axes.annotate(
                shortened(label), (at, top), (0, 3), textcoords="offset points", ha="center", va="bottom",
                rotation=turned,
                fontsize=9, color=INK,
            )  # fmt: skip


def _over_groups(axes: Axes, data: Bars) -> None:
    named = _named(data.groups)
    axes.set_xticks(list(range(len(named.texts))), list(named.texts), rotation=90 if named.turned else 0)
    axes.set_ylabel(data.unit)
    axes.set_xlabel(f"@{data.across}@")
    middle, half = (len(data.groups) - 1) / 2, max(len(data.groups), 3) / 2 + 0.1
    axes.set_xlim(middle - half, middle + half)


@dataclass(frozen=True)
class _Named:
    """The names of groups as they stand below a plot, and the inches that they need there."""

    texts: tuple[str, ...]
    below: float
    turned: bool = False


def _named(groups: Sequence[str]) -> _Named:
    """Return names that do not overlap: in one line, else in several, else turned."""
    if sum(0.085 * (len(each) + 2) for each in groups) <= 6.3:
        return _Named(tuple(groups), BELOW)
    most = int(6.3 / len(groups) / 0.085) - 1
    lines = [_wrapped(each, most) for each in groups]
    if max(map(len, lines)) <= 3 and all(len(line) <= most for each in lines for line in each):
        return _Named(tuple("\n".join(each) for each in lines), BELOW + 0.17 * (max(map(len, lines)) - 1))
    return _Named(tuple(groups), BELOW + 0.085 * max(map(len, groups)), turned=True)


def _wrapped(name: str, most: int) -> list[str]:
    """Return the lines of a name; what is multiplied stays together, and a code may go on after an underscore."""
    kept = name.replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}").replace("_", "_ ")
    lines = textwrap.wrap(kept, max(most, 1), break_long_words=False, break_on_hyphens=False)
    return [each.replace("\N{NO-BREAK SPACE}", " ").replace("_ ", "_") for each in lines] or [name]


def _highest(values: Iterable[float | None]) -> float:
    return max((value for value in values if value is not None), default=0) or 1


def _draw_bars(
    axes: Axes, series: Series, places: Sequence[float], width: float, style: _Style, said: Sequence[str]
) -> None:
    found = [each for each in zip(places, series.values, said, strict=True) if each[1] is not None]
    lefts, heights = [at for at, _, _ in found], [value or 0 for _, value, _ in found]
    edge = PAPER if style.variant == 0 else style.colour  # a hatch takes the edge's colour
    drawn = axes.bar(
        lefts, heights, width * 0.9, label=series.name, hatch=style.hatch or None, edgecolor=edge,
        facecolor=(style.colour, style.full), linewidth=0 if style.variant == 0 else 1.2,
    )  # fmt: skip
    for bar, (_, _, text) in zip(drawn, found, strict=True):
        bar.set_gid(f"{_POINTED}{text}" if text else None)
    for at, word in zip(places, series.missing, strict=False):
        if word:
            axes.annotate(
                word, (at, 0), (0, 3), textcoords="offset points", ha="center", va="bottom", rotation=90, fontsize=8
            )
    _ranges(axes, places, series)


def _ranges(axes: Axes, places: Sequence[float], series: Series) -> None:
    """Draw lines from the slowest to the fastest repeat."""
    for at, low, high in zip(places, series.low, series.high, strict=False):
        if low is not None and high is not None and low < high:
            axes.plot([at, at], [low, high], color=INK, linewidth=1.2)


def _said(data: Bars, series: Series, group: int) -> str:
    """Return what a reader sees who points at a bar or a point: its series, its group, and the value in full."""
    label = series.labels[group] if group < len(series.labels) else ""
    unit = re.sub(r"@\w+@ \((.+)\)", r"\1", data.unit)
    return f"{series.name} · {data.groups[group]} · {label} {unit}".strip() if label else ""


def _point_out(axes: Axes, across: Sequence[float], values: Sequence[float], said: Sequence[str]) -> None:
    """Lay a disc over each point that nobody sees and that says what it is when a reader points at it."""
    for at, value, text in zip(across, values, said, strict=False):
        if text:
            axes.plot([at], [value], marker="o", markersize=13, alpha=0, gid=f"{_POINTED}{text}", label="_nolegend_")


def _label_points(axes: Axes, series: Curve, wide: float, high: float) -> None:
    """Write the label of each point above it, a line higher where it would cover the one before."""
    before = (-WIDTH, 0.0)
    for at, value, label in zip(series.across, series.values, series.labels, strict=True):
        place = (at / wide * WIDTH * (RIGHT - LEFT), value / high * 2.6)
        close = place[0] - before[0] < LETTER * len(label) * 0.88 and abs(place[1] - before[1]) < LINE
        before = (-WIDTH, 0.0) if close else place
        rise = 16 if close else 6
        axes.annotate(label, (at, value), (0, rise), textcoords="offset points", ha="center", fontsize=8, color=INK)


def shortened(label: str) -> str:
    """Return a written value with four significant digits, but no digit before the point less; the rest stays."""
    found = _LONG.match(label)
    if not found:
        return label
    whole, fraction = found[1], found[2]
    value = Decimal(f"{whole.replace(',', '')}.{fraction}")
    digits = max(0, 3 - value.adjusted())
    if len(fraction) <= digits:
        return label
    rounded = value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    # 999.99 becomes 1,000 and not 1,000.0.
    rounded = rounded.quantize(Decimal(1).scaleb(-max(0, 3 - rounded.adjusted())))
    return f"{rounded:,f}{label[found.end() :]}"


def _draw_window(axes: Axes, data: DrawnTrace, across: Sequence[float]) -> None:
    if data.middle is None:
        return
    window = list(zip(across, data.values, strict=True))[data.skipped :]
    if window:
        ends = [window[0][0], window[-1][0]]
        axes.plot(ends, [data.middle] * 2, color=INK, linewidth=1, linestyle=(0, (5, 3)), label=_token("median"))
    slow = [(at, value) for at, value in window if value < data.middle * SLOW]
    if slow:
        at, values = zip(*slow, strict=True)
        ring = {"marker": "o", "markersize": 7, "markerfacecolor": "none", "markeredgecolor": INK}
        axes.plot(at, values, linestyle="", label=_token("slow"), **ring)  # type: ignore[arg-type]


def _canvas(plot: float, names: Sequence[str], panels: int = 1, below: float | None = None) -> tuple[Figure, Axes]:
    """Return a figure with plots of so many inches below each other, and the first of them, which has the legend.

    Margins do not depend on how wide a font draws its labels.
    """
    _set_rcparams()
    from matplotlib.figure import Figure

    columns = _columns(names)
    rows = -(-len(names) // columns)
    below = BELOW if below is None else below
    height = panels * plot + (panels - 1) * BETWEEN + below + 0.14 + 0.24 * rows
    figure = Figure(figsize=(WIDTH, height))
    figure.patch.set_alpha(0)
    for panel in reversed(range(panels)):
        bottom = below + panel * (plot + BETWEEN)
        _plain(figure.add_axes((LEFT, bottom / height, RIGHT - LEFT, plot / height)))
    axes = figure.axes[0]
    axes.set_gid(str(columns))
    return figure, axes


def _plain(axes: Axes) -> None:
    axes.patch.set_alpha(0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    axes.tick_params(colors=INK, length=0, labelsize=10)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)


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
            "hatch.linewidth": 0.6,
        }
    )


def _columns(names: Sequence[str]) -> int:
    """Return the number of columns of a legend of these names within the figure's width."""
    inches = 0.55 + 0.085 * max(map(len, names), default=1)
    return max(1, min(len(names), 4, int(6.3 / inches)))


def _labelled(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _finish(axes: Axes) -> None:
    _labelled(axes)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=int(axes.get_gid() or 1), frameon=False,
            fontsize=10, borderaxespad=0.2, handlelength=1.4, columnspacing=1.6, labelcolor=INK,
        )  # fmt: skip


def _widen(figure: Figure) -> None:
    """Make room on the left for the longest figure of an axis. Digits count, not the width of a font, which varies."""
    longest = max(len(f"{tick:,.10g}") for axes in figure.axes for tick in axes.get_yticks())
    left = max(LEFT, (0.085 * longest + 0.24) / WIDTH)
    for axes in figure.axes:
        place = axes.get_position()
        axes.set_position((left, place.y0, place.x1 - left, place.height))


def _svg(figure: Figure) -> str:
    import warnings

    _widen(figure)

    out = io.StringIO()
    with warnings.catch_warnings():
        # Names may hold glyphs that the measuring font lacks; the reader's browser draws them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _themed(out.getvalue())


#: What begins the id of a shape that says something; the rest of it is what it says.
_POINTED = "says:"
_LONG = re.compile(r"([0-9][0-9,]*)\.([0-9]+)(?![0-9.])")
#: What matplotlib writes and what takes its place, in this order.
_REWRITTEN = (
    (rf"""<g id=(["']){_POINTED}([^>]*)\1>""", r"<g><title>\2</title>"),
    (r"(?s)\s*<metadata>.*?</metadata>|<!--.*?-->", ""),
    (r"(?s)<defs>\s*<style.*?</style>\s*</defs>", ""),  # it would style the whole page
    (r"font: ([\d.]+px) [^;\"]+", r"font-size: \1"),  # the page's own font
    (r"font-family: 'DejaVu Sans'; ", ""),
    (r"stroke-linecap: square", "stroke-linecap: butt"),
    (r' transform="rotate\(-0 [^"]*"|<g/>', ""),
    (rf"{INK}|(?<=stroke: )#000000", "currentColor"),
    (PAPER, "var(--md-default-bg-color, #fff)"),
)


def _themed(svg: str) -> str:
    """Return only the drawing, in the page's font and ink, without blank lines and comments."""
    svg = svg[svg.index("<svg") :]
    for pattern, replacement in _REWRITTEN:
        svg = re.sub(pattern, replacement, svg)
    svg = colours.in_theme(svg)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'(?<= )d="([^"]*)"', lambda found: f'd="{" ".join(found[1].split())}"', svg)
    # Only within tags: a place needs two decimals, what is written keeps all of its own.
    svg = re.sub(r"<[^>]*>", lambda found: re.sub(r"(\d+\.\d{2})\d+", r"\1", found[0]), svg)
    svg = svg.replace("<svg ", '<svg class="pl-chart" fill="currentColor" ', 1)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"
