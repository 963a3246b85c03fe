"""Which charts the pages show: results and traces turned into chart data, with words for caption and screen reader."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ingest.common import numbers
from ingest.common.words import Phrase, Text, Words, phrase
from ingest.compute.comparison import contradicted
from ingest.site.model import Row, RowKey, Site, Suite, framework_of, named, options_text, ordered
from ingest.site.render import drawing
from ingest.site.render.text import file_slug, slugs
from ingest.site.tables import group_name, sections, units
from schema.records import Run

TOKENS = (
    "groups", "devices", "speedup", "ideal", "warmup", "median", "slow", "step", "record", "nodes", "batch_size",
    "case", "version", "vocabulary", "cards", "throughput", "latency", "memory",
)  # fmt: skip
DESCRIBED = 24  # values read out to those who cannot see the chart


@dataclass(frozen=True)
class Chart:
    """One chart: its file's name, what draws it of which data, and its words. `values` are its description."""

    name: str
    draw: partial[str]
    title: Phrase
    text: str
    values: tuple[Phrase, ...] = ()
    args: tuple[tuple[str, object], ...] = ()

    def described(self, words: Words, language: str) -> str:
        """Caption with the charted values: what a screen reader says."""
        said = " ".join(words.say(language, each) for each in self.values[:DESCRIBED])
        return words.text(language, self.text, **{**dict(self.args), "values": said}).strip()

    def caption(self, words: Words, language: str) -> str:
        """Caption for those who see the chart."""
        return words.text(language, self.text, **{**dict(self.args), "values": ""}).strip()


def of_suite(site: Site, suite: Suite) -> list[Chart]:
    """Throughput and speed-up per hardware and precision group; figures of different units never share an axis."""
    found = []
    by_hardware = slugs({hardware for hardware, _, _ in sections(site, suite)})
    for hardware, group, rows in sections(site, suite):
        about = {"title": suite.title, "hardware": named(hardware, "site.unknown_hardware"), "group": group_name(group)}
        name = f"{suite.id}-{by_hardware[hardware]}-{group}"
        by_unit = {unit: [row for row in rows if row.unit == unit] for unit in sorted({row.unit for row in rows})}
        valued = {unit: mine for unit, mine in by_unit.items() if any(numbers.known(row.value) for row in mine)}
        parts = slugs(valued) if len(valued) > 1 else {}
        for unit, mine in valued.items():
            found.append(_bars(suite, mine, "-".join(filter(None, (name, parts.get(unit)))), about))
        found.append(_speedup(suite, rows, name, about))
    return [each for each in found if each]


def of_run(run: Run) -> Chart | None:
    """The trace of a run; None where there are too few points to draw."""
    trace = run.trace
    if trace is None or len(trace.value) < 3:
        return None
    steps, values = trace.step, trace.value
    rising = all(numbers.known(each) for each in steps) and all(a < b for a, b in itertools.pairwise(steps))
    skipped = min(trace.skipped, len(values))
    unit = drawing.literal(trace.unit)
    data = drawing.DrawnTrace(
        steps if rising else tuple(map(float, range(len(values)))), values, skipped,
        statistics.median(values[skipped:]) if values[skipped:] else None, unit, rising,
        framework_of(run),
    )  # fmt: skip
    name = f"runs/{file_slug(run.id)}"
    title = phrase("chart.trace_title", run=run.id)
    return Chart(name, partial(drawing.trace, data), title, "chart.trace_text", args=(("n", len(values)),))


def words_of(words: Words, language: str) -> Mapping[str, str]:
    """What to put in for the tokens that charts are drawn with."""
    said = {token: words.text(language, f"chart.{token}") for token in TOKENS}
    return {**said, "unknown": words.text(language, "site.unknown")}


def _bars(suite: Suite, rows: Sequence[Row], name: str, about: Mapping[str, Text]) -> Chart | None:
    rows = [row for row in rows if numbers.known(row.value)]
    if not rows:
        return None
    groups = sorted({suite.row_key(row) for row in rows})
    labels = _labels(suite, rows)
    series = []
    for label in ordered(set(labels), suite.frameworks):
        by_group = {suite.row_key(row): row for row, mine in zip(rows, labels, strict=True) if mine == label}
        chosen = [by_group.get(each) for each in groups]
        speeds, low, high = (tuple(getattr(r, f) if r else None for r in chosen) for f in ("value", "low", "high"))
        written = tuple(numbers.figure(row.value, row.spread) if row else "" for row in chosen)
        series.append(drawing.Series(label, speeds, low, high, labels=written))
    data = drawing.Bars(_group_labels(groups), tuple(series), drawing.literal(units(rows)))
    values = tuple(
        phrase("chart.value_of", name=_shown(label), group=_group_label(suite.row_key(row)),
               value=f"{numbers.figure(row.value, row.spread)} {row.unit}")
        for row, label in zip(rows, labels, strict=True)
    )  # fmt: skip
    title = phrase("chart.bars_title", **about)
    return Chart(f"{name}-throughput", partial(drawing.bars, data), title, "chart.bars_text", values)


def _speedup(suite: Suite, rows: Sequence[Row], name: str, about: Mapping[str, Text]) -> Chart | None:
    rows = [row for row in rows if numbers.known(row.speedup) and row.devices]
    if not any((row.devices or 1) > 1 for row in rows):
        return None
    lines: dict[str, dict[int, float]] = {}
    several = len({row.batch_size for row in rows}) > 1
    workloads = len({suite.row_key(row)[3] for row in rows}) > 1
    for row, mine in zip(rows, _labels(suite, rows), strict=True):
        what = (str(row.batch_size) if several else "", suite.row_key(row)[3] if workloads else "")
        said = ", ".join(filter(None, what))
        label = mine + (f" ({said})" if said else "")
        lines.setdefault(label, {})[row.devices or 1] = row.speedup or 1.0
    series = tuple((label, tuple(sorted(points)), tuple(points[each] for each in sorted(points)))
                   for label, points in sorted(lines.items()) if max(points) > 1)  # fmt: skip
    values = tuple(
        phrase("chart.value_of", name=_shown(label), group=device, value=numbers.ratio(value))
        for label, devices, points in series
        for device, value in zip(devices, points, strict=True)
    )
    title = phrase("chart.speedup_title", **about)
    return Chart(
        f"{name}-speedup", partial(drawing.speedup, drawing.Lines(series)), title, "chart.speedup_text", values
    )


def _labels(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """Of each row its framework, and what else tells its bars from those of others in the same group.

    Another workload (threads) is said, so that nobody takes its bar for one of the same.
    """
    precisions = len({row.precision for row in rows}) > 1
    places = Counter((row.framework, row.precision, suite.row_key(row)) for row in rows)
    crowded = {(framework, precision) for (framework, precision, _), count in places.items() if count > 1}
    found = []
    apart = _apart(suite, rows)
    for row in rows:
        precision = (row.precision or "").upper() if precisions else ""
        stated = options_text({name: value for name, value in row.options.items() if name in apart})
        options = suite.other_options(row) if (row.framework, row.precision) in crowded else stated
        edition = [getattr(row, name) for name in ("version", "round") if len(_all(rows, row.framework, name)) > 1]
        named = drawing.literal(row.framework) if row.framework else "@unknown@"
        found.append(
            " ".join(filter(None, (named, *map(drawing.literal, filter(None, (*edition, precision, options))))))
        )
    return found


def _apart(suite: Suite, rows: Sequence[Row]) -> set[str]:
    """Options in which frameworks of one group contradict each other."""
    keys = {suite.row_key(row) for row in rows}
    return {name for key in keys for name in contradicted([row for row in rows if suite.row_key(row) == key])}


def _all(rows: Sequence[Row], framework: str | None, name: str) -> set[str | None]:
    """The versions or rounds of a framework: bars of one must not be taken for those of another."""
    return {getattr(row, name) for row in rows if row.framework == framework}


def _shown(label: str) -> Text:
    return phrase("site.unknown") if label == "@unknown@" else label


def _group_labels(groups: Sequence[RowKey]) -> tuple[str, ...]:
    """Labels of groups, without the options that all of several groups have."""
    options = [set(each[3].split(" ")) for each in groups]
    common = set.intersection(*options) if len(groups) > 1 else set()
    return tuple(
        _group_label((*each[:3], " ".join(word for word in each[3].split(" ") if word not in common)))
        for each in groups
    )


def _group_label(group: RowKey) -> str:
    _, devices, batch_size, options = group
    return " ".join(filter(None, (f"{devices or '?'} × {batch_size or '?'}", drawing.literal(options))))
