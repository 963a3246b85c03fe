"""The chart of a run's throughput over its records, with the values of the whole run and its slow records."""

from __future__ import annotations

import itertools
import math
import statistics

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import steadiness
from perfledger.ingest.site.model import framework_of
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Annotation, Axis, Chart, DrawnTrace, Level
from perfledger.ingest.site.render.text import file_slug
from perfledger.ingest.site.run_tables import headline
from perfledger.schema.records import Run, Trace

FEWEST = 3
SLOW = 0.8  # a record below this share of the median is marked
MARKED = 12  # slow records; all of them stand in the log
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
    spec = DrawnTrace(
        title=phrase("chart.trace_title"), unit=trace.unit, x=axis, ink=colours.ink(framework_of(run)).id,
        steps=tuple(int(each) if each.is_integer() else each for each in steps), values=trace.value,
        skipped=min(trace.skipped, len(trace.value)),
        levels=_levels(run, trace), notes=_notes(trace, steps, axis.label),
    )  # fmt: skip
    return Chart(f"runs/{file_slug(run.id)}", spec, phrase("chart.trace_text", n=len(trace.value)))


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
        return (Level(phrase("chart.median"), middle, numbers.figure(middle), dashed=True),)
    result = phrase(
        "chart.against_median", value=numbers.figure(found.value / scale), share=numbers.signed_percent(share)
    )
    return (
        Level(phrase("chart.result", rule=word_for("rule", run.rule)), found.value / scale, result),
        Level(phrase("chart.median"), median.value / scale, numbers.figure(median.value / scale), dashed=True),
    )


def _scale(run: Run, median: float | None, middle: float) -> float | None:
    """Return what the figures of the whole job are divided by to be at the scope of the records; None if unclear."""
    devices, nodes = run.case.devices or 1, run.case.nodes or 1
    scales = (1.0, float(devices), devices / nodes, float(nodes))
    return next((each for each in scales if median and math.isclose(median / each, middle, rel_tol=BINNED)), None)


def _notes(trace: Trace, steps: tuple[float, ...], axis: Text) -> tuple[Annotation, ...]:
    """Return the slowest records of the window; words for the slowest, rings for the others."""
    window = list(zip(steps, trace.value, strict=True))[trace.skipped :]
    middle = statistics.median([value for _, value in window]) if window else 0.0
    slow = sorted((value, step) for step, value in window if value < middle * SLOW)[:MARKED]
    return tuple(
        Annotation(step, value, "" if nth else _words(trace, axis, step, value, middle))
        for nth, (value, step) in enumerate(slow)
    )


def _words(trace: Trace, axis: Text, step: float, value: float, middle: float) -> Text:
    share, at = numbers.percent(1 - value / middle, 0), numbers.quantity(step)
    return phrase("chart.slow", axis=axis, step=at, value=numbers.figure(value), unit=trace.unit, share=share)
