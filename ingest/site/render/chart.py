"""A chart: a record of its marks, `Dots` or `Lines`.

`render/drawing.py` draws it as SVG; `theme/assets/js/charts.js` draws the same records for choices of a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Bilingual, Phrase, Text, Words, phrase
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.render.scale import written_tick
from perfledger.ingest.site.render.text import plain

CHARTS = "assets/js/charts.js"  # the script of pages with charts
DESCRIBED = 24  # values read out to those who cannot see the chart


class ChartMark(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One value of a chart: its range over `n` repeats (None where unknown), the value as it is written,
    its configuration, and the page that shows where it comes from. A value that is not ranked has an outline."""

    low: float | None = None
    high: float | None = None
    n: int | None = None
    text: Text = ""
    about: Text = ""
    href: str = ""
    ranked: bool = True


class Dot(ChartMark, frozen=True, omit_defaults=True, kw_only=True):
    """A value in a row of its own; without one, `text` says why (`OOM`). `ink` is the id of a framework's ink."""

    label: Text
    series: Text = ""
    ink: str = ""
    value: float | None = None


class Panel(Struct, frozen=True, omit_defaults=True):
    """Values that a reader compares: one row each."""

    label: Text
    rows: tuple[Dot, ...]


class Dots(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="dots"):
    """A comparison: a panel per number of devices; with `apart` each has a scale of its own. Scales start at zero.

    A line across the panels shows the value that all are compared `against`.
    """

    title: Text
    unit: Text
    panels: tuple[Panel, ...]
    apart: bool = False
    against: float | None = None


class Point(ChartMark, frozen=True, omit_defaults=True, kw_only=True):
    """A value at a place; without `text` it has no mark. `step` says what begins there, at a line up to the top."""

    x: float
    y: float
    step: Text = ""


class ChartLine(Struct, frozen=True, omit_defaults=True):
    """Points in the order of the line that joins them."""

    label: Text
    ink: str
    points: tuple[Point, ...]


class Tick(Struct, frozen=True, omit_defaults=True):
    """A labelled place of an axis."""

    at: float
    label: Text


class Axis(Struct, frozen=True, omit_defaults=True):
    """An axis; with `log2` each doubling is as far. Without ticks they follow from the values."""

    label: Text
    log2: bool = False
    ticks: tuple[Tick, ...] = ()


class Level(Struct, frozen=True, omit_defaults=True):
    """A value that points are compared with, drawn as a dashed line across them; it may have no name."""

    label: Text
    value: float


class Lines(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="lines"):
    """One quantity over another. With `near` the axis need not start at zero.

    Places up to `shade` are shaded, and named by its label.
    """

    title: Text
    unit: Text
    x: Axis
    series: tuple[ChartLine, ...]
    near: bool = False
    levels: tuple[Level, ...] = ()
    shade: Tick | None = None


Spec = Dots | Lines


def efficiency_lines(title: Text, series: tuple[ChartLine, ...]) -> Lines:
    """Return lines of the efficiency in percent over the number of devices, with a level at the ideal."""
    ticks = tuple(
        Tick(each, written_tick(each)) for each in sorted({point.x for line in series for point in line.points})
    )
    axis = Axis(phrase("chart.devices"), log2=True, ticks=ticks)
    levels = (Level("", 100),)
    return Lines(title=title, unit=phrase("chart.efficiency"), x=axis, series=series, near=True, levels=levels)


@dataclass(frozen=True)
class Chart:
    """One chart: its file's name, what is drawn, and the text below its title."""

    name: str
    spec: Spec
    text: Text

    def said(self, words: Words, language: str, link: Callable[[str], str] = str) -> Spec:
        """Return what is drawn, in the words of one language, with links from the page that shows it."""
        said: Spec = _said(self.spec, lambda text: plain(words.say(language, text)), link)
        return said

    def described(self, words: Words, language: str) -> str:
        """Return the text with the charted values, for screen readers."""
        found = [words.say(language, each) for each in islice(values(self.said(words, language)), DESCRIBED)]
        return plain(" ".join([words.say(language, self.text), *found]))


def values(spec: Spec) -> Iterator[Phrase]:
    """Yield a sentence per marked value, as far as a reader can take them in."""
    if isinstance(spec, Dots):
        for panel in spec.panels:
            for row in panel.rows:
                yield phrase("chart.value_of", name=row.label, group=panel.label, value=row.text)
        return
    for line in spec.series:
        for point in line.points:
            if point.text:
                group = place_of(spec.x, point.x)
                yield phrase("chart.value_of", name=line.label or spec.unit, group=group, value=point.text)


def place_of(axis: Axis, at: float) -> Text:
    """Return the name of a place of an axis."""
    return next((tick.label for tick in axis.ticks if tick.at == at), written_tick(at))


def tip(mark: ChartMark, name: Text, group: Text) -> tuple[Text, ...]:
    """Return the lines that a reader sees who points at a mark."""
    low, high = mark.low, mark.high
    runs = phrase("ui.chart_runs", n=mark.n) if mark.n and mark.n > 1 else phrase("ui.chart_single") if mark.n else ""
    spread: Text = ""
    if low is not None and high is not None and low < high:
        spread = phrase("ui.chart_range", low=_brief(low), high=_brief(high))
    repeats = listed([each for each in (runs, spread) if each])
    step = mark.step if isinstance(mark, Point) else ""
    return tuple(dict.fromkeys(each for each in (name, mark.text, group, mark.about, repeats, step) if each))


def _brief(value: float) -> str:
    return written_tick(numbers.shortened(value, 4))


def _said(value: Any, say: Callable[[Text], str], link: Callable[[str], str]) -> Any:
    """Return a record with its texts in words, and its pages as links."""
    if isinstance(value, str | Phrase | Bilingual):
        return say(value)
    if isinstance(value, tuple):
        return tuple(_said(each, say, link) for each in value)
    if not isinstance(value, Struct):
        return value
    fields = {name: _said(each, say, link) for name, each in asdict(value).items() if name != "href"}
    if href := getattr(value, "href", ""):
        fields["href"] = link(href)
    return replace(value, **fields)
