"""`changes.json`: the days when a result appeared, and when its figure moved, from the days of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.frame import json_array
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.candidates import measured_in
from perfledger.ingest.compute.contrast import Grade, contrast
from perfledger.ingest.compute.repeat_statistics import Statistics
from perfledger.ingest.compute.results import figure
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data.measured import date_of, identity
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.schema.records import Run, to_json
from perfledger.schema.results import ChangedBy, ChangeRecord, ResultRecord

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
    """A day when the figure of a result appeared or moved; `runs` are those of the day, `earlier` those before it."""

    suite: Suite
    row: Row
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
        now, before = measured_in(self.runs, self.row), measured_in(self.earlier, self.row)
        return contrast(now, before).grade if now and before else None


def changes(site: Site) -> tuple[Change, ...]:
    """Return every change of every measured result, in the order of the pages."""
    suites = {each.id: each for each in site.shown}
    return tuple(
        each
        for suite, rows in site.rows.items()
        for row in rows
        for each in _of_result(suites[suite], row, [site.by_id[run] for run in row.run_ids])
    )


def document(site: Site, results: Iterable[ResultRecord]) -> bytes:
    """Return every change as JSON with a line each, newest first."""
    by_id = {each.id: each for each in results}
    found = [_record(site, by_id[identity(each.row)], each) for each in site.once(changes)]
    by_result = sorted(found, key=lambda each: each.result)
    newest_first = sorted(by_result, key=lambda each: each.date, reverse=True)
    return f'{{\n"version": {VERSION},\n"changes": {json_array(map(to_json, newest_first))}\n}}\n'.encode()


def _of_result(suite: Suite, row: Row, runs: Sequence[Run]) -> Iterator[Change]:
    """Yield the changes of one result, oldest first.

    Its figure over the runs up to each day is compared with the last announced one, so that a slow drift is announced
    when it is large enough. Runs without a date come before all others.
    """
    days = sorted({day for run in runs if (day := date_of(run))})
    announced = figure([run for run in runs if date_of(run) is None])
    for day in days:
        now = figure([run for run in runs if (date_of(run) or "") <= day])
        if now is not None and (announced is None or _has_moved(announced, now)):
            of_day, earlier = (
                tuple(run for run in runs if matches(date_of(run) or "")) for matches in (day.__eq__, day.__gt__)
            )
            yield Change(suite, row, day, announced, now, of_day, earlier)
            announced = now


def _has_moved(before: Statistics, after: Statistics) -> bool:
    outside = not before.low <= after.value <= before.high
    return outside and abs(after.value / before.value - 1) >= MOVED


def _record(site: Site, result: ResultRecord, change: Change) -> ChangeRecord:
    return ChangeRecord(
        **{name: getattr(result, name) for name in _OF_RESULT},
        date=change.date,
        kind="moved" if change.before else "new",
        result=result.id,
        before=change.before.value if change.before else None,
        after=change.after.value,
        before_text=text(change.before) or None,
        after_text=text(change.after),
        share=change.share,
        share_text=None if change.share is None else numbers.signed_percent(change.share),
        grade=change.grade,
        runs=tuple(ChangedBy(id=each.id, page=addresses.served(site.page(each))) for each in change.runs),
    )


def how_sure(change: Change) -> Text:
    """Return in words how sure it is that the runs of the day differ from earlier ones; empty without earlier runs."""
    return phrase(f"front.change_{change.grade}") if change.grade else ""


def text(found: Statistics | None) -> str:
    """Return a figure as the pages would show it; empty without one."""
    return numbers.figure(found.value, found.spread) if found else ""
