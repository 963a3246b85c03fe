"""Throughput that others published on a hardware, a line per place: shown as published, and never ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, published_tables
from perfledger.ingest.site.model import Site, Suite, group_name
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.published_figures import is_shown
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.verdict_words import devices_on

#: A place: suite, group of precisions, variant of the model, machines, devices, and unit.
Key = tuple[str, str, str, int, int, str]


@dataclass(frozen=True)
class PublishedFigure:
    """Published figures of one framework: one figure, or the least and the most of several.

    `batch` has the batch sizes, `about` the sources; `page` is the place of a single figure, or the comparison of all.
    """

    figure: str
    batch: Text
    about: Text
    page: str


@dataclass(frozen=True)
class PublishedLine:
    """One model on a number of devices in a group of precisions: what others published, by framework."""

    key: Key
    suite: Suite
    title: Text
    unit: str
    page: str
    case: tuple[Text, ...]
    figures: Mapping[str, PublishedFigure]


@dataclass(frozen=True, order=True)
class _PublishedPlace:
    """The common facts of a line's figures, in the order of the lines."""

    group: int
    variant: str
    nodes: int
    devices: int
    unit: str


def hardware(site: Site) -> frozenset[str]:
    """Return the hardware of published figures."""
    return frozenset(row.hardware for row in site.published.rows if row.hardware and _counts(row))


def lines(site: Site) -> Mapping[str, tuple[PublishedLine, ...]]:
    """Return the lines of each hardware, in the order of the models."""
    return {each: tuple(_of_hardware(site, each)) for each in site.once(hardware)}


def _of_hardware(site: Site, name: str) -> Iterator[PublishedLine]:
    for suite in site.shown:
        yield from _lines(site, suite, [row for row in _rows(site, suite, name) if row.metric == "throughput"])


def without_throughput(site: Site, hardware: str) -> tuple[tuple[Link, ...], Text]:
    """Return links to the models with published figures on a hardware, and the metrics of these figures."""
    found = [(suite, rows) for suite in site.shown if (rows := _rows(site, suite, hardware))]
    metrics = sorted({row.metric for _, rows in found for row in rows})
    return (
        tuple(Link(suite.title, addresses.comparison(suite, hardware)) for suite, _ in found),
        listed(word_for("published_metric", each) for each in metrics),
    )


def _counts(row: Published) -> bool:
    return row.value is not None and is_shown(row)


def _rows(site: Site, suite: Suite, hardware: str) -> list[Published]:
    return [row for row in site.published.by_suite.get(suite.id, ()) if row.hardware == hardware and _counts(row)]


def _lines(site: Site, suite: Suite, found: Sequence[Published]) -> Iterator[PublishedLine]:
    """Yield a line per group of precisions, variant of the model, and number of machines and devices."""
    groups = [*suite.groups, "unknown"]
    by_place: dict[_PublishedPlace, list[Published]] = {}
    for row in found:
        group = groups.index(suite.group(row.precision))
        place = _PublishedPlace(group, suite.variant_of(row.model), row.nodes or 1, row.devices or 0, row.unit)
        by_place.setdefault(place, []).append(row)
    for place, rows in sorted(by_place.items()):
        page = addresses.comparison(suite, rows[0].hardware)
        case = (group_name(groups[place.group]), devices_on(place.devices or None, place.nodes))
        by_framework: dict[str, list[Published]] = {}
        for row in rows:
            by_framework.setdefault(row.framework, []).append(row)
        yield PublishedLine(
            (suite.id, groups[place.group], place.variant, place.nodes, place.devices, place.unit),
            suite, place.variant or suite.title, place.unit, page, tuple(each for each in case if each),
            {name: figure_of(site, page, each) for name, each in by_framework.items()},
        )  # fmt: skip


def figure_of(site: Site, page: str, rows: Sequence[Published]) -> PublishedFigure:
    """Return published figures of one framework in one case; `page` compares all of them."""
    found = sorted(rows, key=lambda each: each.value or 0)
    ends = list(dict.fromkeys(map(_written, (found[0], found[-1]))))
    sizes = sorted({row.batch_size for row in found if row.batch_size})
    sources = site.published.sources
    one = sources[found[0].source].address_of(found[0]) if len(found) == 1 else None
    batch = "–".join(map(numbers.count, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else ""
    return PublishedFigure(
        figure="–".join(ends),
        batch=phrase("front.batch_short", n=batch) if batch else "",
        about=listed(dict.fromkeys(sources[each.source].title for each in found)),
        page=one or page,
    )


def _written(figure: Published) -> str:
    """Return a published figure with as many digits as ours have, and no more than were printed."""
    return min(numbers.figure(figure.value), published_tables.printed(figure), key=len)
