"""The headline of a report, computed from its figures: how often each framework is best, and the largest setup.

Figures that differ in batch size, unit or an option are not compared: `published.likeness` decides which may be.
Figures are written as they were printed; ratios are computed from them, with two decimals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.words import Phrase, Text, phrase
from perfledger.ingest.published.declarations import ROW_BATCH_SIZE
from perfledger.ingest.published.likeness import MANNER, LikeFigures, comparisons
from perfledger.ingest.published.publications import Published
from perfledger.ingest.published.slices import Cut, Slice, fact
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.published_tables import metric_name, printed, stated

#: Metrics that were measured; others follow from these, such as a share of the peak.
METRICS = ("throughput", "flops", "latency", "memory", "max_num_classes")
#: Facts that come first in the name of a case, where they are not those of the whole report.
_FIRST = ("model", "hardware", "precision")
#: Facts that a line says elsewhere than in the name of its case.
_SAID = frozenset({"batch_size", ROW_BATCH_SIZE, "devices", "nodes", "metric", "framework", "line", "options.repeat"})
#: Lines of a headline, at most: more are a table.
MOST_LINES = 6


@dataclass(frozen=True)
class Headline:
    """Sentences, and lines that belong to them; `over` says what the lines are of."""

    sentences: tuple[Text, ...] = ()
    over: Text | None = None
    lines: tuple[Text, ...] = ()


def headline(found: Cut) -> Headline:
    """Return the headline of a report's figures; it may be empty."""
    if found.rows and all(row.state == "pending" for row in found.rows):
        return Headline((phrase("headline.pending", n=len(found.rows)),))
    parts = [part for parts in found.slices for part in parts]
    if not any(map(_several_frameworks, parts)):
        return _with_lines((), _speedups(found, parts))
    like = [each for part in parts for each in comparisons(part)]
    if not like:
        return Headline((phrase("headline.nothing_alike"),))
    return _with_lines((*_tallies(like), *_cautions(like), *_out_of_memory(found.rows)), _leads(found, parts))


def _several_frameworks(part: Slice) -> bool:
    return len({each.row.framework for each in part.figures if each.row.value is not None}) > 1


def _with_lines(sentences: tuple[Text, ...], lines: Iterable[tuple[int, Text]]) -> Headline:
    """Return a headline with the lines of the most devices, unless these are too many."""
    known = dict.fromkeys(lines)
    most = max((devices for devices, _ in known), default=0)
    shown = tuple(text for devices, text in known if devices == most)
    if most <= 1 or len(shown) > MOST_LINES:
        return Headline(sentences)
    return Headline(sentences, phrase("headline.devices", n=most), shown)


# ---- sentences ----


def _tallies(found: Iterable[LikeFigures]) -> Iterator[Phrase]:
    """Yield how often each framework is best, per metric. Figures in two tables count once."""
    once = {tuple(map(id, each.rows)): each for each in found}.values()
    yield phrase("headline.best")
    for name in METRICS:
        of_metric = [each for each in once if each.rows[0].metric == name]
        best = [each.best[0].framework if len(each.best) == 1 else phrase("headline.tie") for each in of_metric]
        if best:
            yield phrase("headline.tally", metric=metric_name(name), total=len(best), counts=_counts(best))


def _counts(names: Iterable[Text]) -> Text:
    """Return how often each name occurs, the most frequent first."""
    return joined([phrase("headline.times", name=name, n=n) for name, n in Counter(names).most_common()])


def _cautions(found: Sequence[LikeFigures]) -> Iterator[Phrase]:
    """Yield where kinds of half precision are compared with each other, and where batch sizes are unknown."""
    if any(len({row.precision for row in each.rows}) > 1 for each in found):
        yield phrase("headline.half")
    if any(not (each.rows[0].batch_size or "batch_size_of_job" in each.rows[0].options) for each in found):
        yield phrase("headline.no_batch_size")


def _out_of_memory(rows: Iterable[Published]) -> Iterator[Phrase]:
    """Yield how many cases ran out of memory; several metrics of one case are one case."""
    lost = {
        (row.framework, repr((row.model, row.devices, row.batch_size, row.precision, sorted(row.options.items()))))
        for row in rows
        if row.state == "oom"
    }
    if lost:
        yield phrase("headline.oom", counts=_counts(framework for framework, _ in sorted(lost)))


# ---- lines ----


def _leads(found: Cut, parts: Iterable[Slice]) -> Iterator[tuple[int, Text]]:
    """Yield devices and a line per table: its largest comparison, the best figure there, and the next framework's."""
    for part in parts:
        metric = next((name for name in METRICS if any(each.row.metric == name for each in part.figures)), "")
        like = [each for each in comparisons(part) if each.rows[0].metric == metric]
        if like:
            widest = max(reversed(like), key=_width)
            yield _width(widest)[0], _lead(widest, _case(found, part, widest.ranked[0]))


def _width(found: LikeFigures) -> tuple[int, int, int]:
    first = found.rows[0]
    return first.devices or 0, len({row.framework for row in found.rows}), first.batch_size or 0


def _lead(found: LikeFigures, case: Text) -> Phrase:
    first = found.ranked[0]
    second = next(row for row in found.ranked if row.framework != first.framework)
    ratio = f"{(first.value or 0) / (second.value or 1):.2f}"
    names = {"first": _name(first, found), "second": _name(second, found)}
    return phrase("headline.line", case=case, value=_figure(first), ratio=ratio, other=_figure(second), **names)


def _name(row: Published, found: LikeFigures) -> Text:
    """Return a framework, with the way it ran where that, or its precision, is not that of all."""
    keys = ("precision", *(f"options.{name}" for name in sorted(MANNER)))
    apart = [key for key in keys if len({fact(each, key) for each in found.rows if fact(each, key)}) > 1]
    marks = [stated(key, fact(row, key)) for key in apart if fact(row, key)]
    return phrase("report.head", head=row.framework, marks=joined(marks)) if marks else row.framework


def _speedups(found: Cut, parts: Iterable[Slice]) -> Iterator[tuple[int, Text]]:
    """Yield devices and a line per figure of one framework with its speed-up."""
    for part in parts:
        for each in part.figures:
            if each.speedup and (each.row.devices or 0) > 1:
                about = {"case": _case(found, part, each.row), "value": _figure(each.row), "speedup": each.speedup}
                yield each.row.devices or 0, phrase("headline.speedup", **about)


def _case(found: Cut, part: Slice, row: Published) -> Text:
    """Return what distinguishes a figure: facts that other tables or rows of the report have differently.

    The batch size is that of the log, if there is one, since figures are compared by that.
    """
    known = {key: fact(row, key) for key in _FIRST if (key, fact(row, key)) not in found.common}
    known |= {key: value for key, value in part.same if key in _differing(found)}
    known |= {key: fact(row, key) for key in part.keys}
    manner = {f"options.{name}" for name in MANNER}
    texts = [
        part.block.labels.get(key, {}).get(value) or stated(key, value)
        for key, value in known.items()
        if value and key not in _SAID and key not in manner and (key != "place" or key in part.block.labels)
    ]
    return joined([*texts, *([stated("batch_size", str(row.batch_size))] if row.batch_size else [])] or [row.model])


def _differing(found: Cut) -> frozenset[str]:
    """Return the keys that several tables of a report state, with different values."""
    stated_values = {each for parts in found.slices for part in parts for each in part.same}
    return frozenset(key for key, n in Counter(key for key, _ in stated_values).items() if n > 1)


def _figure(row: Published) -> str:
    return f"{printed(row)} {row.unit}".strip()
