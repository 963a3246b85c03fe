"""A chart: what is drawn, as one record that the static picture and the script of the page are both made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct, json
from msgspec.structs import asdict, replace

from perfledger.ingest.common.words import Bilingual, Phrase, Text, Words, phrase
from perfledger.ingest.site.render.text import plain

CHARTS = "assets/js/charts.js"  # the script of pages with charts
DESCRIBED = 24  # values read out to those who cannot see the chart


class Dot(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A value with the range of its repeats; without one, `text` says why (`OOM`).

    `series` is what a legend calls it, if not by its label; `ink` the id of a framework's ink; `n` the number of
    repeats (None where it is not known); `text` the value as it is written; `about` its configuration; and `href` the
    page that shows where it comes from.
    """

    label: Text
    series: Text = ""
    ink: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    text: Text = ""
    about: Text = ""
    href: str = ""


class Panel(Struct, frozen=True, omit_defaults=True):
    """Values that a reader compares: one row each."""

    label: Text
    rows: tuple[Dot, ...]


class Dots(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="dots"):
    """A comparison: a panel per number of devices; with `apart` each has a scale of its own. Scales start at zero."""

    title: Text
    unit: Text
    better: str = "higher"
    panels: tuple[Panel, ...]
    apart: bool = False


class Point(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A value at a place; `label` is written at it, and `step` says what begins there, at a line up to the top."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    text: Text = ""
    about: Text = ""
    href: str = ""
    label: Text = ""
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


class Lines(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="lines"):
    """One quantity over another; `ideal` is drawn dashed. With `near` the axis need not start at zero."""

    title: Text
    unit: Text
    better: str = "higher"
    x: Axis
    series: tuple[ChartLine, ...]
    ideal: float | None = None
    near: bool = False


class Level(Struct, frozen=True, omit_defaults=True):
    """A value of the whole run, drawn as a line across its window."""

    label: Text
    value: float
    text: Text
    dashed: bool = False


class Annotation(Struct, frozen=True, omit_defaults=True):
    """A record that a reader should see, and why."""

    at: float
    value: float
    text: Text


class DrawnTrace(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="trace"):
    """The throughput of one run, record by record; the first `skipped` are `warmup`."""

    title: Text
    unit: Text
    x: Axis
    ink: str = ""
    steps: tuple[float, ...]
    values: tuple[float, ...]
    skipped: int = 0
    warmup: Text = phrase("chart.warmup")
    levels: tuple[Level, ...] = ()
    notes: tuple[Annotation, ...] = ()


Spec = Dots | Lines | DrawnTrace


@dataclass(frozen=True)
class Chart:
    """One chart: its file's name, what is drawn, and the text below its title."""

    name: str
    spec: Spec
    text: Text

    def said(self, words: Words, language: str) -> Spec:
        """Return what is drawn, in the words of one language."""
        said: Spec = _said(self.spec, lambda text: plain(words.say(language, text)))
        return said

    def linked(self, words: Words, language: str, link: Callable[[str], str]) -> bytes:
        """Return what is drawn as JSON, for the script of the page."""
        said = self.said(words, language)
        return json.encode(_linked(said, link))

    def described(self, words: Words, language: str) -> str:
        """Return the text with the charted values, for screen readers."""
        found = [words.say(language, each) for each in islice(values(self.said(words, language)), DESCRIBED)]
        return " ".join([words.say(language, self.text), *found])


def values(spec: Spec) -> Iterator[Phrase]:
    """Yield a sentence per charted value, as far as a reader can take them in."""
    if isinstance(spec, Dots):
        for panel in spec.panels:
            for row in panel.rows:
                yield phrase("chart.value_of", name=row.label, group=panel.label, value=row.text)
    if isinstance(spec, Lines):
        named = {tick.at: tick.label for tick in spec.x.ticks}
        for line in spec.series:
            for point in line.points:
                group = point.label or named.get(point.x, f"{point.x:g}")
                yield phrase("chart.value_of", name=line.label, group=group, value=point.text)


def _said(value: Any, say: Callable[[Text], str]) -> Any:
    """Return a record with its texts in words."""
    if isinstance(value, str | Phrase | Bilingual):
        return say(value)
    if isinstance(value, tuple):
        return tuple(_said(each, say) for each in value) if value and isinstance(value[0], Struct) else value
    if isinstance(value, Struct):
        return replace(value, **{name: _said(each, say) for name, each in asdict(value).items()})
    return value


def _linked(value: Any, link: Callable[[str], str]) -> Any:
    """Return a record with its pages as links from the page that shows it."""
    if isinstance(value, tuple):
        return tuple(_linked(each, link) for each in value)
    if not isinstance(value, Struct):
        return value
    fields = {name: _linked(each, link) for name, each in asdict(value).items() if isinstance(each, Struct | tuple)}
    if found := getattr(value, "href", ""):
        fields["href"] = link(found)
    return replace(value, **fields)


def framed(svg: str, name: str, title: str, description: str) -> str:
    """Return a drawing with its title and text for screen readers, and ids that are its own on a page of several."""
    referenced = sorted(set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg)))
    prefix = f"c{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}{found[1]}"' if found[1] in referenced else "", svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", svg)
    label = f' role="img" aria-label={quoteattr(plain(title))}'
    head = f"<title>{escape(plain(title))}</title><desc>{escape(plain(description))}</desc>"
    return re.sub(r"<svg ([^>]*)>", lambda found: f"<svg{label} {found[1]}>\n{head}", svg, count=1)
