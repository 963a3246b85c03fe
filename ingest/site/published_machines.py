"""Models by frameworks on hardware that only others published figures of: shown as published, and never ranked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses, answers
from perfledger.ingest.site.heat import SCREEN, HeatColumn, HeatPlace, written
from perfledger.ingest.site.model import Site, Suite, group_name, named, ordered
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.published_figures import is_shown
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.render.text import slugs


@dataclass(frozen=True)
class PublishedShare:
    """Published figures of one framework in a row: one figure, or the least and the most of several.

    `batch` has the batch sizes, `about` the sources; `page` is the place of a single figure, or the comparison of all.
    """

    figure: str
    batch: Text
    about: Text
    page: str


@dataclass(frozen=True)
class PublishedRow:
    """One model on a number of devices in a group of precisions: what others published, by framework."""

    place: HeatPlace
    unit: str
    shares: tuple[PublishedShare | None, ...]


@dataclass(frozen=True)
class PublishedMachine:
    """Published figures on a hardware without a result of ours.

    `key` is its name in ids. If nobody published a throughput, `rows` is empty, `metrics` are the published metrics,
    and `models` lead to them.
    """

    key: str
    hardware: str
    frameworks: tuple[HeatColumn, ...]
    rows: tuple[PublishedRow, ...]
    metrics: Text
    models: tuple[Link, ...]

    @property
    def usual_devices(self) -> int | None:
        """The number of devices that a table longer than a screen begins with: that of most rows."""
        counted = Counter(each.place.devices for each in self.rows)
        return max(counted, key=lambda each: (counted[each], each)) if counted.total() > SCREEN else None

    @property
    def places(self) -> tuple[HeatPlace, ...]:
        """The subjects of its lines."""
        return tuple(each.place for each in self.rows)


@dataclass(frozen=True, order=True)
class _Place:
    """The common facts of a row's figures, in the order of the rows."""

    group: int
    variant: str
    nodes: int
    devices: int
    unit: str


def machines(site: Site, hardware: Sequence[str]) -> tuple[PublishedMachine, ...]:
    """Return the table of each of some hardware, in their order."""
    keys = slugs(hardware)
    return tuple(_machine(site, each, f"published-{keys[each]}") for each in hardware)


def _machine(site: Site, hardware: str, key: str) -> PublishedMachine:
    by_suite = [(suite, _figures(site, suite, hardware)) for suite in site.shown]
    names = ordered({row.framework for _, rows in by_suite for row in rows if row.metric == "throughput"}, ())
    metrics = sorted({row.metric for _, rows in by_suite for row in rows})
    return PublishedMachine(
        key=key,
        hardware=hardware,
        frameworks=tuple(HeatColumn(named(each), None, colours.ink(each).id, True) for each in names),
        rows=tuple(each for suite, rows in by_suite for each in _rows(site, suite, rows, names)),
        metrics=listed(word_for("published_metric", each) for each in metrics),
        models=tuple(Link(suite.title, addresses.comparison(suite, hardware)) for suite, rows in by_suite if rows),
    )


def _figures(site: Site, suite: Suite, hardware: str) -> list[Published]:
    found = site.published.by_suite.get(suite.id, ())
    return [row for row in found if row.hardware == hardware and row.value is not None and is_shown(row)]


def _rows(site: Site, suite: Suite, found: Sequence[Published], names: Sequence[str]) -> list[PublishedRow]:
    """Return a row per group of precisions, variant of the model, and number of machines and devices."""
    groups = [*suite.groups, "unknown"]
    by_place: dict[_Place, list[Published]] = {}
    for row in (row for row in found if row.metric == "throughput"):
        group = groups.index(suite.group(row.precision))
        place = _Place(group, suite.variant_of(row.model), row.nodes or 1, row.devices or 0, row.unit)
        by_place.setdefault(place, []).append(row)
    made = []
    for place, rows in sorted(by_place.items()):
        page = addresses.comparison(suite, rows[0].hardware)
        case = (group_name(groups[place.group]), answers.devices_on(place.devices or None, place.nodes), place.variant)
        at = HeatPlace(
            suite.id, groups[place.group], place.devices, suite.title, page, tuple(each for each in case if each)
        )
        shares = (_share(site, page, [row for row in rows if row.framework == name]) for name in names)
        made.append(PublishedRow(at, place.unit, tuple(shares)))
    return made


def _share(site: Site, page: str, rows: Sequence[Published]) -> PublishedShare | None:
    if not rows:
        return None
    found = sorted(rows, key=lambda each: each.value or 0)
    ends = list(dict.fromkeys(map(written, (found[0], found[-1]))))
    sizes = sorted({row.batch_size for row in found if row.batch_size})
    sources = site.published.sources
    one = sources[found[0].source].address_of(found[0]) if len(found) == 1 else None
    batch = "–".join(map(numbers.count, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else ""
    return PublishedShare(
        figure="–".join(ends),
        batch=phrase("front.batch_short", n=batch) if batch else "",
        about=listed(dict.fromkeys(sources[each.source].title for each in found)),
        page=one or page,
    )
