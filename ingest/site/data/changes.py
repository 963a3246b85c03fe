"""`changes.json`: the days when a result appeared, and when its figure moved, from the days of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.frame import json_array
from perfledger.ingest.compute.contrast import Grade, Measured, contrast
from perfledger.ingest.compute.repeat_statistics import Statistics
from perfledger.ingest.compute.results import by_rule, figure, groups
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data.measured import date_of, identity
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.schema.records import Run, to_json
from perfledger.schema.results import ResultRecord

VERSION = 1
#: A figure has moved if by this part of it at least, and out of the range that its repeats had.
MOVED = 0.01
#: Fields that a change copies from the record of its result.
_OF_RESULT = (
    "title", "model", "framework", "framework_version", "round", "hardware", "nodes", "devices", "batch_size",
    "precision", "options", "unit", "page",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One day when a result's figure appeared or moved; `runs` are those of the day, `earlier` those before it."""

    date: str
    before: Statistics | None
    after: Statistics
    runs: tuple[Run, ...]
    earlier: tuple[Run, ...] = ()

    @property
    def share(self) -> float | None:
        """The move as a part of the figure before."""
        return None if self.before is None else self.after.value / self.before.value - 1

    @property
    def grade(self) -> Grade | None:
        """How sure it is that the runs of the day differ from earlier runs; None without earlier runs."""
        now, before = _measured(self.runs), _measured(self.earlier)
        return contrast(now, before).grade if now and before else None


@dataclass(frozen=True)
class OfResult:
    """A change with the result that changed."""

    suite: Suite
    row: Row
    change: Change


def of_results(site: Site) -> list[OfResult]:
    """Return every change of every measured result, in the order of the pages."""
    suites = {each.id: each for each in site.shown}
    return [
        OfResult(suites[suite], row, change)
        for suite, rows in site.rows.items()
        for row in rows
        for change in changes([site.by_id[each] for each in row.run_ids])
    ]


def records(site: Site, measured: Iterable[ResultRecord]) -> list[dict[str, Any]]:
    """Return every change of every measured result, newest first."""
    by_id = {each.id: each for each in measured}
    found = [_record(site, by_id[identity(each.row)], each.change) for each in of_results(site)]
    by_result = sorted(found, key=lambda each: str(each["result"]))
    return sorted(by_result, key=lambda each: str(each["date"]), reverse=True)


def document(found: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the changes as JSON with a line each."""
    return f'{{\n"version": {VERSION},\n"changes": {json_array(found)}\n}}\n'.encode()


def changes(runs: Sequence[Run]) -> list[Change]:
    """Return the changes of one result, oldest first.

    Its figure over the runs up to each day is compared with the last announced one, so that a slow drift is announced
    when it is large enough. Runs without a date come before all others.
    """
    days = sorted({day for run in runs if (day := date_of(run))})
    announced = figure([run for run in runs if date_of(run) is None])
    found: list[Change] = []
    for day in days:
        now = figure([run for run in runs if (date_of(run) or "") <= day])
        if now is not None and (announced is None or _has_moved(announced, now)):
            of_day, earlier = (
                tuple(run for run in runs if matches(date_of(run) or "")) for matches in (day.__eq__, day.__gt__)
            )
            found.append(Change(day, announced, now, of_day, earlier))
            announced = now
    return found


def _has_moved(before: Statistics, after: Statistics) -> bool:
    outside = not before.low <= after.value <= before.high
    return outside and abs(after.value / before.value - 1) >= MOVED


def _measured(runs: Sequence[Run]) -> Measured | None:
    found = figure(runs)
    if found is None:
        return None
    rule = runs[0].rule
    several, rules = groups(runs, rule), by_rule(runs, rule)
    return Measured(found.value, found.low, found.high, found.repeats, found.spread, groups=several, rules=rules)


def _record(site: Site, result: ResultRecord, change: Change) -> dict[str, Any]:
    known = to_json(result)
    return {
        "date": change.date,
        "kind": "moved" if change.before else "new",
        "result": result.id,
        **{name: known[name] for name in _OF_RESULT},
        "before": change.before.value if change.before else None,
        "after": change.after.value,
        "before_text": text(change.before),
        "after_text": text(change.after),
        "share": change.share,
        "share_text": None if change.share is None else numbers.signed_percent(change.share),
        "grade": change.grade,
        "runs": [{"id": each.id, "page": addresses.served(site.page(each))} for each in change.runs],
    }


def text(found: Statistics | None) -> str | None:
    """Return a figure as the pages would show it."""
    return numbers.figure(found.value, found.spread) if found else None
