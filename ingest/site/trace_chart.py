"""The chart of a run's throughput over its records, with the median and the slow records."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.site.model import framework_of
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Axis, Chart, ChartLine, Level, Lines, Point, Tick
from perfledger.ingest.site.render.text import file_slug
from perfledger.schema.records import Run
from perfledger.schema.window import Trace

#: Points of a chart, at least.
FEWEST = 3
#: Share of the median below which a record is marked as slow.
SLOW = 0.8
#: Slow records that are marked, at most; the log has all of them.
MARKED = 12


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
        levels=_median(trace), shade=_warmup(trace, steps),
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


def _median(trace: Trace) -> tuple[Level, ...]:
    """Return the median of the window as a line."""
    window = trace.value[trace.skipped :]
    if not window:
        return ()
    value = statistics.median(window)
    return (Level(phrase("chart.median", value=numbers.figure(value)), value),)
