"""The charts of a model's results: throughput per device by framework, and scaling efficiency.

A chart has one panel per workload and unit, each with a scale of its own: image sizes, variants of a model, sequence
lengths and units never share an axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import contradicted
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site.chips import facets_of
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Row, Site, Suite, group_name, named, ordered, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Chart, ChartLine, Dot, Dots, Panel, Point, efficiency_lines
from perfledger.ingest.site.render.table import Facets
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.result_lines import ACCUMULATION, ResultLine, ResultSlice, not_ranked
from perfledger.ingest.site.result_tables import in_tokens, representative, version_marks
from perfledger.ingest.site.verdict_words import batch, devices_on

TOKENS = "tokens/s"
#: Points of a chart of efficiency, at least: two lines of two points, or one of three, show more than a sentence.
POINTS = 3


def throughput(site: Site, suite: Suite, of: ResultSlice) -> Iterator[tuple[Facets, Chart]]:
    """Yield a chart per number of devices that has two results to compare, with its facts for the filters."""
    by_devices = by_key(of.lines, lambda each: (each.row.nodes or 1, each.row.devices or 0))
    for (nodes, devices), lines in by_devices.items():
        found = list(_panels(site, suite, lines))
        if not any(len(panel.rows) > 1 for _, panel in found):
            continue
        units = {unit for unit, _ in found}
        unit = units.pop() if len(units) == 1 else ""
        place = devices_on(devices or None, nodes)
        spec = Dots(
            title=phrase("model.chart_title", title=suite.title, where=listed((*of.title, place))),
            unit=phrase("chart.per_device", unit=unit) if unit and devices > 1 else unit,
            panels=tuple(panel for _, panel in found), apart=True,
        )  # fmt: skip
        frameworks = sorted({each.row.framework or "" for each in lines if each.is_known})
        name = f"{_name(suite, of)}-{nodes}x{devices}-throughput"
        yield facets_of(of.hardware, of.group, [devices], frameworks), Chart(name, spec, phrase("model.chart_text"))


def efficiency(site: Site, suite: Suite, of: ResultSlice) -> Chart | None:
    """Return a line per framework, where there is more than one line between two points."""
    known = [each.row for each in of.lines if numbers.known(each.row.efficiency) and each.row.devices]
    first = ordered({row.framework or "" for row in known}, suite.frameworks)
    known.sort(key=lambda row: (first.index(row.framework or ""), row.precision or "", suite.row_key(row)))
    labels = _labels(suite, known, with_workload=True)
    lines: dict[Text, dict[int, Point]] = {}
    for row, label in zip(known, labels, strict=True):
        lines.setdefault(label, {})[row.devices or 1] = _point(site, row)
    drawn = {label: points for label, points in lines.items() if len(points) > 1}
    if sum(map(len, drawn.values())) < POINTS:
        return None
    inks = {label: colours.ink(row.framework or "").id for row, label in zip(known, labels, strict=True)}
    series = tuple(ChartLine(label, inks[label], tuple(at[each] for each in sorted(at))) for label, at in drawn.items())
    about = {"title": suite.title, "hardware": product(of.hardware), "group": group_name(of.group)}
    spec = efficiency_lines(phrase("chart.efficiency_title", **about), series)
    return Chart(f"{_name(suite, of)}-efficiency", spec, phrase("chart.efficiency_text"))


def _panels(site: Site, suite: Suite, lines: Sequence[ResultLine]) -> Iterator[tuple[str, Panel]]:
    """Yield a panel per workload and unit, with its unit; the panels of most results first."""
    known = [each for each in lines if each.is_known]
    workloads = [{**suite.workload, **each.row.options} for each in known]
    differing = [
        name
        for name in suite.row_options
        if name != ACCUMULATION and len({repr(each.get(name)) for each in workloads}) > 1
    ]
    by_workload = by_key(known, lambda each: suite.workload_text(each.row.model, each.row.options, ACCUMULATION))
    found = [of_unit for alike in by_workload.values() for of_unit in _by_unit(alike).items()]
    several = len({unit for unit, _ in found}) > 1
    for unit, alike in sorted(found, key=lambda each: -len(each[1])):
        first, rows = alike[0].row, [each.row for each in alike]
        # A result that does not state an option has its usual value.
        stated = {name: value for name, value in {**suite.workload, **first.options}.items() if value is not None}
        words = (suite.variant(first), in_words(stated, differing), unit if several else "")
        labels = _labels(suite, rows, with_workload=False)
        dots = tuple(_dot(site, each, unit, label) for each, label in zip(alike, labels, strict=True))
        yield unit, Panel(listed(words), dots)


def _by_unit(lines: Sequence[ResultLine]) -> Mapping[str, list[ResultLine]]:
    """Return the lines of a workload by unit; sequences count as tokens next to results in tokens."""
    tokens = any(each.row.unit == TOKENS for each in lines)
    return by_key(lines, lambda each: TOKENS if tokens and in_tokens(each.row) is not None else each.row.unit)


def _name(suite: Suite, of: ResultSlice) -> str:
    return f"{suite.id}-{slug(of.hardware or 'unknown')}-{of.group}"


def _dot(site: Site, of: ResultLine, unit: str, label: Text) -> Dot:
    row, devices = of.row, of.row.devices or 1
    factor = (in_tokens(row) or 0) / row.value if unit != row.unit and row.value else 1.0
    value, low, high = (
        each * factor / devices if each is not None else None for each in (row.value, row.low, row.high)
    )
    return Dot(
        label=label, series=named(row.framework), ink=colours.ink(row.framework or "").id, value=value, low=low,
        high=high, n=row.repeats, text=_written(row, value, unit, factor), href=site.page(representative(site, row)),
        about=listed((_about(site, row), not_ranked(of))), ranked=not of.apart,
    )  # fmt: skip


def _written(row: Row, value: float | None, unit: str, factor: float) -> Text:
    """Return the throughput of one device, and that of all."""
    resolution = (row.resolution or 0.0) * factor
    each = numbers.figure(value, row.spread, resolution)
    if (row.devices or 1) == 1:
        return f"{each} {unit}".strip()
    whole = numbers.figure((row.value or 0) * factor, row.spread, resolution)
    return phrase("chart.each_and_all", value=each, unit=unit, all=whole)


def _point(site: Site, row: Row) -> Point:
    share = (row.efficiency or 0) * 100
    text = f"{share:.1f}% ({numbers.ratio(row.speedup)})"
    page = site.page(representative(site, row))
    return Point(x=row.devices or 1, y=share, n=row.repeats, text=text, about=_about(site, row), href=page)


def _about(site: Site, row: Row) -> Text:
    """Return the case in words, with the version and the day of the run."""
    summary = "" if row.rule == HEADLINE else phrase("chart.summary")
    day = date_of(representative(site, row)) or ""
    return listed(
        (precision_name(row.precision), batch(row.batch_size), in_words(row.options), row.version or "", summary, day)
    )


def _labels(suite: Suite, rows: Sequence[Row], *, with_workload: bool) -> list[Text]:
    """Return the framework of each row, with the facts that distinguish it; tooltips have all other facts."""
    options = _distinguishing(suite, rows, with_workload=with_workload)
    precisions, batches = ({getattr(row, name) for row in rows} for name in ("precision", "batch_size"))
    return [
        listed(
            (
                named(row.framework),
                *version_marks(row, [each for each in rows if each.framework == row.framework]),
                suite.variant(row) if with_workload else "",
                precision_name(row.precision) if len(precisions) > 1 else "",
                batch(row.batch_size) if len(batches) > 1 else "",
                in_words(row.options, sorted(options & row.options.keys())),
                "" if row.rule == HEADLINE else phrase("chart.summary"),
            )
        )
        for row in rows
    ]


def _distinguishing(suite: Suite, rows: Sequence[Row], *, with_workload: bool) -> set[str]:
    """Return the options that distinguish results of one framework in one place, or that differ between frameworks."""

    def alike(row: Row) -> tuple[object, ...]:
        place = (row.nodes or 1, row.devices or 1)
        return (row.framework, row.precision, row.batch_size, row.version, row.round, place)

    own = by_key(rows, alike)
    names = {name for row in rows for name in row.options}
    differ = {
        name for name in names for group in own.values() if len({repr(row.options.get(name)) for row in group}) > 1
    }
    against = {name for case in by_key(rows, suite.row_key).values() for name in contradicted(case)}
    workload = {name for name in suite.row_options if len({repr(row.options.get(name)) for row in rows}) > 1}
    return differ | against | workload if with_workload else differ | against | (workload & {ACCUMULATION})
