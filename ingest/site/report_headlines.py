"""The headline of a report, computed from its figures: how often each framework is best, and the largest setup.

Figures that differ in batch size, unit or an option are not compared: `published.likeness` decides which may be.
Figures are written as they were printed; ratios are computed from them, with two decimals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase
from perfledger.ingest.published.declarations import ROW_BATCH_SIZE
from perfledger.ingest.published.likeness import MANNER, LikeFigures, comparisons
from perfledger.ingest.published.publications import Published
from perfledger.ingest.published.slices import Cut, Slice, SliceFigure, fact
from perfledger.ingest.site.published_tables import joined, metric_name, printed, stated

#: Metrics that were measured; others follow from these, such as a share of the peak.
METRICS = ("throughput", "flops", "latency", "memory", "max_num_classes")
#: Facts that come first in the name of a line; the batch size is last, and the other facts are elsewhere.
_FIRST = ("model", "hardware", "place", "precision")
_SAID = frozenset({"batch_size", ROW_BATCH_SIZE, "devices", "nodes", "metric", "framework", "line", "options.repeat"})
MOST_LINES = 6
MOST_SPEEDUPS = 4


@dataclass(frozen=True)
class Headline:
    """Sentences, and lines that belong to them; `over` says what the lines are of."""

    sentences: tuple[Text, ...] = ()
    over: Text | None = None
    lines: tuple[Text, ...] = ()


def headline(found: Cut) -> Headline:
    """Return the headline of a report's figures; it may be empty."""
    parts = [part for parts in found.slices for part in parts]
    if found.rows and all(row.state == "pending" for row in found.rows):
        return Headline((phrase("headline.pending", n=len(found.rows)),))
    if not any(map(_several_frameworks, parts)):
        return _of_one(parts)
    like = [each for part in parts for each in comparisons(part)]
    if not like:
        return Headline((phrase("headline.nothing_alike"),))
    sentences = (*_tallies(like), *_mixed(like), *_out_of_memory(found.rows), *_without_batch_size(like))
    return _largest(sentences, parts)


def _several_frameworks(part: Slice) -> bool:
    return len({each.row.framework for each in part.figures if each.row.value is not None}) > 1


# ---- comparisons ----


def _tallies(found: Iterable[LikeFigures]) -> list[Phrase]:
    """Return a sentence per metric: how often each framework is best. Figures in two tables count once."""
    once = {tuple(map(id, each.rows)): each for each in found}.values()
    by_metric = {name: [each for each in once if each.rows[0].metric == name] for name in METRICS}
    return [_tally(name, of_metric) for name, of_metric in by_metric.items() if of_metric]


def _tally(name: str, found: Sequence[LikeFigures]) -> Phrase:
    counted = Counter(each.best[0].framework if len(each.best) == 1 else "" for each in found)
    parts = [_times(framework or phrase("headline.tie"), n) for framework, n in counted.most_common()]
    return phrase("headline.tally", metric=metric_name(name), total=len(found), counts=joined(parts))


def _times(name: Text, n: int) -> Phrase:
    return phrase("headline.times", name=name, n=n)


def _mixed(found: Iterable[LikeFigures]) -> list[Phrase]:
    """Say that kinds of half precision are compared with each other, where they are."""
    mixed = (len({row.precision for row in each.rows}) > 1 for each in found)
    return [phrase("headline.half")] if any(mixed) else []


def _out_of_memory(rows: Iterable[Published]) -> list[Phrase]:
    """Say how many cases ran out of memory; several metrics of one case are one case."""
    lost = {_of_case(row) for row in rows if row.state == "oom"}
    counted = Counter(framework for framework, _ in sorted(lost))
    parts = [_times(name, n) for name, n in counted.most_common()]
    return [phrase("headline.oom", counts=joined(parts))] if parts else []


def _of_case(row: Published) -> tuple[str, str]:
    return row.framework, repr((row.model, row.devices, row.batch_size, row.precision, sorted(row.options.items())))


def _without_batch_size(found: Iterable[LikeFigures]) -> list[Phrase]:
    first = [each.rows[0] for each in found]
    unknown = [row for row in first if not (row.batch_size or "batch_size_of_job" in row.options)]
    return [phrase("headline.no_batch_size")] if unknown else []


def _largest(sentences: Sequence[Text], parts: Iterable[Slice]) -> Headline:
    """Add a line per table that has figures of the largest setup: the best one there, and the next."""
    found = [(part, each) for part in parts if (each := _widest(part))]
    most = max((_devices(each) for _, each in found), default=0)
    shown = {tuple(map(id, each.rows)): (part, each) for part, each in found if _devices(each) == most}
    if most <= 1 or len(shown) > MOST_LINES:
        return Headline(tuple(sentences))
    cases = _cases([(part, each.ranked[0]) for part, each in shown.values()], MANNER)
    over = _setup(found[0][1].rows[0], most)
    lines = tuple(_line(each, case) for (_, each), case in zip(shown.values(), cases, strict=True))
    return Headline(tuple(sentences), over, lines)


def _widest(part: Slice) -> LikeFigures | None:
    """Return what compares most frameworks on the most devices of a table, at the largest batch size, and is last."""
    found = [each for each in comparisons(part) if each.rows[0].metric == _metric_of(part)]
    return max(reversed(found), key=_width, default=None)


def _metric_of(part: Slice) -> str:
    there = {each.row.metric for each in part.figures}
    return next((each for each in METRICS if each in there), "")


def _width(found: LikeFigures) -> tuple[int, int, int]:
    frameworks = len({row.framework for row in found.rows})
    return _devices(found), frameworks, found.rows[0].batch_size or 0


def _devices(found: LikeFigures) -> int:
    return found.rows[0].devices or 0


def _line(found: LikeFigures, case: Text) -> Phrase:
    """Return the best figure and the best one of another framework, with their ratio."""
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


def _figure(row: Published) -> str:
    return f"{printed(row)} {row.unit}".strip()


# ---- one framework ----


def _of_one(parts: Sequence[Slice]) -> Headline:
    """Say how far one framework speeds up on its largest setup; else which figures it has there."""
    known = [(part, each) for part in parts for each in part.figures]
    if differences := _differences([each for _, each in known]):
        return Headline(tuple(differences))
    scaled = [(part, each) for part, each in known if each.speedup and (each.row.devices or 0) > 1]
    most = max((each.row.devices or 0 for _, each in scaled), default=0)
    shown = {(id(each.row)): (part, each) for part, each in scaled if each.row.devices == most}
    if not shown:
        return _range([each.row for _, each in known])
    over = _setup(next(iter(shown.values()))[1].row, most)
    if len(shown) > MOST_SPEEDUPS:
        speeds = sorted((each.speedup for _, each in shown.values()), key=float)
        return Headline((phrase("headline.speedups", setup=over, low=speeds[0], high=speeds[-1], n=len(shown)),))
    cases = _cases([(part, each.row) for part, each in shown.values()])
    return Headline(
        (), over, tuple(_speedup(each, case) for (_, each), case in zip(shown.values(), cases, strict=True))
    )


def _speedup(figure: SliceFigure, case: Text) -> Phrase:
    return phrase("headline.speedup", case=case, value=_figure(figure.row), speedup=figure.speedup)


def _differences(figures: Iterable[SliceFigure]) -> list[Phrase]:
    """Say per metric between which shares figures differ from their base, where a report shows that."""
    shares: dict[str, list[float]] = {}
    for each in figures:
        if each.delta:
            shares.setdefault(each.row.metric, []).append(each.delta[1])
    return [
        phrase(
            "headline.differences",
            metric=metric_name(name),
            n=len(shares[name]),
            low=numbers.signed_percent(min(shares[name])),
            high=numbers.signed_percent(max(shares[name])),
        )
        for name in METRICS
        if name in shares
    ]


def _range(rows: Iterable[Published]) -> Headline:
    """Say from where to where the figures of the largest setup go."""
    known = [row for row in rows if row.value is not None and row.metric in METRICS]
    name = next((each for each in METRICS if any(row.metric == each for row in known)), "")
    of_metric = [row for row in known if row.metric == name]
    most = max((_size(row) for row in of_metric), default=0)
    shown = sorted((row for row in of_metric if _size(row) == most), key=lambda row: row.value or 0)
    n = len(set(map(_of_case, shown)))
    if most <= 1 or n < 2 or len({row.unit for row in shown}) > 1:
        return Headline()
    args = {"metric": metric_name(name), "low": printed(shown[0]), "high": _figure(shown[-1]), "n": n}
    return Headline((phrase("headline.range", setup=_setup(shown[0], most), **args),))


def _size(row: Published) -> int:
    return row.devices or row.nodes or 0


# ---- both ----


def _setup(row: Published, most: int) -> Text:
    """Return what the largest setup is: machines, where each counts as one device, as with parameter servers."""
    return phrase("headline.machines" if row.devices in (None, row.nodes) else "headline.devices", n=most)


def _cases(shown: Sequence[tuple[Slice, Published]], left_out: Collection[str] = ()) -> list[Text]:
    """Return a name for the case of each line: the facts that differ, the row's labels, and the batch size."""
    without = {*_SAID, *(f"options.{name}" for name in left_out)}
    keys = [key for key in dict.fromkeys(k for part, _ in shown for k in _keys(part)) if key not in without]
    differ = {key for key in keys if _differs(key, [row for _, row in shown])}
    return [_case(part, row, [key for key in keys if key in differ or key in part.keys]) for part, row in shown]


def _differs(key: str, rows: Sequence[Published]) -> bool:
    """Return whether a fact distinguishes cases; one that only other models' figures lack does not."""
    known = {(row.model, fact(row, key)) for row in rows}
    return len(known) > len({model for model, _ in known}) or len({value for _, value in known if value}) > 1


def _keys(part: Slice) -> Iterator[str]:
    """Yield what a table states above it, at its rows and columns; places where they have names of their own."""
    yield from (key for key in _FIRST if key != "place" or key in part.block.labels)
    stated_keys = (*(key for key, _ in part.same), *part.keys)
    stated_keys += tuple(key for head in part.columns for key, _ in (*head.values, *head.marks))
    yield from (key for key in stated_keys if key != "place" and key not in part.block.unmarked)


def _case(part: Slice, row: Published, keys: Sequence[str]) -> Text:
    known = [(key, fact(row, key)) for key in keys if fact(row, key)]
    texts = [part.block.labels.get(key, {}).get(text) or stated(key, text) for key, text in known]
    # The batch size is that of the case, since figures are compared by case, and not that of the source.
    texts += [stated("batch_size", str(row.batch_size))] if row.batch_size else []
    return joined(texts or [metric_name(row.metric)])
