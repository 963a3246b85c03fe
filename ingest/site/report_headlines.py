"""The headline of a report, computed from its figures: how often each framework is best.

Figures that differ in batch size, unit or an option are not compared: `published.likeness` decides which may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from perfledger.ingest.common.words import Phrase, Text, phrase
from perfledger.ingest.published.likeness import LikeFigures, comparisons
from perfledger.ingest.published.slices import Cut, Slice
from perfledger.ingest.site.options import joined
from perfledger.ingest.site.published_tables import metric_name

#: Metrics that were measured; others follow from these, such as a share of the peak.
METRICS = ("throughput", "flops", "latency", "memory", "max_num_classes")


def headline(found: Cut) -> tuple[Text, ...]:
    """Return the sentences of a report's headline; empty for a report of one framework."""
    if found.rows and all(row.state == "pending" for row in found.rows):
        return (phrase("headline.pending", n=len(found.rows)),)
    parts = [part for parts in found.slices for part in parts]
    if not any(map(_has_several_frameworks, parts)):
        return ()
    like = [each for part in parts for each in comparisons(part)]
    return (*_tallies(like), *_cautions(like)) if like else (phrase("headline.nothing_alike"),)


def _has_several_frameworks(part: Slice) -> bool:
    return len({each.row.framework for each in part.figures if each.row.value is not None}) > 1


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
