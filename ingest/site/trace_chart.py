"""The chart of a run's throughput over its records, with the values of the whole run and its slow records."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import steadiness
from perfledger.ingest.site.model import framework_of
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Level, Lines, Point, Tick
from perfledger.ingest.site.render.text import file_slug
from perfledger.ingest.site.run_tables import headline
from perfledger.schema.records import Run
from perfledger.schema.window import Trace

FEWEST = 3
SLOW = 0.8  # a record below this share of the median is marked
MARKED = 12  # slow records; the log has all of them
#: Relative difference, at most, between the median of a trace's points, which are extremes, and that of all records.
BINNED = 0.05


def trace_chart(run: Run) -> Chart | None:
    """Return the chart of a run's records; None if there are too few points."""
    trace = run.trace
    if trace is None or len(trace.value) < FEWEST:
        return None
    rising = all(numbers.known(each) for each in trace.step) and all(a < b for a, b in itertools.pairwise(trace.step))
    steps = trace.step if rising else tuple(map(float, range(1, len(trace.value) + 1)))
    axis = Axis(phrase("chart.step" if rising else "chart.record"))
    slow = _slow(trace, steps)
    title = phrase("chart.steady", share=numbers.percent(1 - SLOW, 0))
    if slow:
        step, share = next(iter(slow.items()))
        title = phrase("chart.slowest", axis=axis.label, step=numbers.quantity(step), share=share)
    line = ChartLine("", colours.ink(framework_of(run)).id, tuple(_points(trace, steps, slow, axis.label)))
    spec = Lines(
        title=title, unit=trace.unit, x=axis, series=(line,),
        levels=_levels(run, trace), shade=_warmup(trace, steps),
    )  # fmt: skip
    return Chart(f"runs/{file_slug(run.id)}", spec, phrase("chart.trace_text", n=len(trace.value)))


def _slow(trace: Trace, steps: Sequence[float]) -> Mapping[float, str]:
    """Return how far the slowest records of the window are below its median, by their steps; the slowest first."""
    window = list(zip(steps, trace.value, strict=True))[trace.skipped :]
    middle = statistics.median([value for _, value in window]) if window else 0.0
    found = sorted((value, step) for step, value in window if value < middle * SLOW)[:MARKED]
    return {step: numbers.percent(1 - value / middle, 0) for value, step in found}


def _points(trace: Trace, steps: Sequence[float], slow: Mapping[float, str], axis: Text) -> Iterator[Point]:
    """Yield a point per record; slow records have a mark that says how slow."""
    for step, value in zip(steps, trace.value, strict=True):
        if step not in slow:
            yield Point(x=step, y=value)
            continue
        written = {"step": numbers.quantity(step), "value": numbers.figure(value), "unit": trace.unit}
        words = phrase("chart.slow", axis=axis, share=slow[step], **written)
        yield Point(x=step, y=value, text=words)


def _warmup(trace: Trace, steps: Sequence[float]) -> Tick | None:
    """Return the place where the warm-up ends: between its last record and the first of the window."""
    if not 0 < trace.skipped < len(steps):
        return None
    return Tick((steps[trace.skipped - 1] + steps[trace.skipped]) / 2, phrase("chart.warmup"))


def _levels(run: Run, trace: Trace) -> tuple[Level, ...]:
    """Return the median of the window, and the result where it differs from it by more than a little."""
    window = trace.value[trace.skipped :]
    if not window:
        return ()
    middle, share, found, median = (
        statistics.median(window),
        steadiness.difference(run),
        headline(run),
        run.figure("median"),
    )
    scale = _scale(run, median.value if median else None, middle)
    same = share is None or abs(share) <= steadiness.DIFFER or run.rule != HEADLINE
    if found is None or median is None or share is None or scale is None or same:
        return (_median(middle),)
    value, rule = found.value / scale, word_for("rule", run.rule)
    result = phrase("chart.result", rule=rule, value=numbers.figure(value), share=numbers.signed_percent(share))
    return (Level(result, value), _median(median.value / scale))


def _median(value: float) -> Level:
    return Level(phrase("chart.median", value=numbers.figure(value)), value, dashed=True)


def _scale(run: Run, median: float | None, middle: float) -> float | None:
    """Return what the figures of the whole job are divided by to be at the scope of the records; None if unclear."""
    devices, nodes = run.case.devices or 1, run.case.nodes or 1
    scales = (1.0, float(devices), devices / nodes, float(nodes))
    return next((each for each in scales if median and math.isclose(median / each, middle, rel_tol=BINNED)), None)
