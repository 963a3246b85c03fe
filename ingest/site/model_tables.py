"""The tables of a model's page: results, scaling, and figures besides the throughput; a row per result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import report_verdicts
from perfledger.ingest.site.model import Row, Site, Suite, named, or_unknown, precision_name, reason, written
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render.table import Cell, Entry, Table, absent, cell
from perfledger.ingest.site.report_verdicts import once_each
from perfledger.ingest.site.result_lines import ResultLine, ResultSlice, not_ranked
from perfledger.ingest.site.result_tables import (
    devices_cell,
    metric_title,
    not_finite_cell,
    own_marks,
    representative,
    sentences,
    spread_marks,
    units,
    version_marks,
    without_figure,
)
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.ingest.site.verdict_words import times
from perfledger.schema.vocabulary import METRICS


def results(site: Site, suite: Suite, of: ResultSlice) -> Table:
    """Return a row per result: its figure, its configuration, its runs, and its place among comparable results."""
    mixed = "," in (unit := units(of.rows))
    columns = [
        _framework(of.rows),
        *_devices(of.lines),
        ColumnOf(
            phrase("model.throughput_in", unit="" if mixed else unit),
            lambda each: _throughput(site, each, with_unit=mixed), True, "throughput",
        ),
        ColumnOf(phrase("model.per_device"), _per_device, True, "per_device", optional=True),
        ColumnOf(phrase("table.batch_size"), _batch_size, True, "batch_size"),
        ColumnOf(phrase("table.case"), lambda each: _configuration(suite, each), optional=True),
        ColumnOf(phrase("model.spread"), _runs, key="spread"),
        ColumnOf(phrase("table.verdict"), _verdict, key="verdict", optional=True),
        ColumnOf(phrase("table.published"), partial(_published, site), key="published", optional=True),
    ]  # fmt: skip
    return _filtered(table_of("results", of.lines, columns), of.lines)


def scaling(suite: Suite, of: ResultSlice) -> Table | None:
    """Return speed-up and efficiency of the results of several devices; None if all results are of one."""
    lines = [each for each in of.lines if (each.row.devices or 1) > 1]
    columns = [
        _framework(of.rows),
        ColumnOf[ResultLine](
            phrase("table.devices"), lambda each: devices_cell(each.row.devices, each.row.nodes), True
        ),
        ColumnOf(phrase("table.batch_size"), _batch_size, True, "batch_size"),
        ColumnOf(phrase("table.case"), lambda each: _configuration(suite, each), optional=True),
        ColumnOf(phrase("table.speedup"), lambda each: _against_one(each.row, each.row.speedup, numbers.ratio), True),
        ColumnOf(
            phrase("table.efficiency"), lambda each: _against_one(each.row, each.row.efficiency, numbers.percent), True
        ),
    ]
    return _filtered(table_of("scaling", lines, columns), lines) if lines else None


def other_metrics(suite: Suite, of: ResultSlice) -> Table | None:
    """Return the figures besides the throughput, with unit and direction; None if no log has any."""
    names = [name for name in METRICS if any(name in row.metrics for row in of.rows)]
    lines = [each for each in of.lines if each.row.metrics]
    columns = [
        _framework(of.rows),
        *_devices(lines),
        ColumnOf(phrase("table.batch_size"), _batch_size, True, "batch_size"),
        ColumnOf(phrase("table.case"), lambda each: _configuration(suite, each), optional=True),
        *(ColumnOf[ResultLine](metric_title(each), _metric(each, of.rows), True, each) for each in names),
    ]
    return _filtered(table_of("beside", lines, columns), lines) if names else None


def largest(site: Site, suite: Suite, of: ResultSlice, option: str = "num_classes") -> Table | None:
    """Return the largest value of an option that each framework trained with, and the smallest that ran out of memory.

    None if the results do not differ in the option: then nobody looked for its largest value.
    """
    stated = [each for each in of.lines if isinstance(each.row.options.get(option), int)]
    if len({each.row.options[option] for each in stated}) < 2:
        return None

    def case(each: ResultLine) -> tuple[object, ...]:
        row = each.row
        return (row.framework or "", suite.variant(row), row.nodes or 1, row.devices, row.batch_size, row.precision)

    groups = by_key(stated, case)
    columns = [
        ColumnOf[list[ResultLine]](phrase("table.framework"), lambda of: _name_in(suite, of[0].row)),
        ColumnOf(phrase("table.devices"), lambda of: devices_cell(of[0].row.devices, of[0].row.nodes), True),
        ColumnOf(phrase("table.batch_size"), lambda of: _batch_size(of[0]), True),
        ColumnOf(phrase("table.largest"), lambda of: _largest(site, of, option), True),
        ColumnOf(phrase("table.smallest_oom"), lambda of: _smallest_failing(site, of, option), True),
    ]
    return table_of("largest", [groups[key] for key in sorted(groups, key=repr)], columns)


def _filtered(found: Table | None, lines: Sequence[ResultLine]) -> Table:
    """Return a table whose rows the filters of the page know, as cards on a narrow screen."""
    table = found or Table((), ())
    return dataclasses.replace(table, facets=tuple(each.facets for each in lines), cards=True)


# ---- columns ----


def _framework(rows: Sequence[Row]) -> ColumnOf[ResultLine]:
    several = len({row.precision for row in rows}) > 1
    alike = {framework: _first_of_versions(of) for framework, of in by_key(rows, lambda row: row.framework).items()}

    def framework(each: ResultLine) -> Cell:
        row = each.row
        precision = precision_name(row.precision) if several else ""
        return _name(row, precision, *version_marks(row, alike[row.framework]))

    return ColumnOf(phrase("table.framework"), framework)


def _first_of_versions(rows: Sequence[Row]) -> list[Row]:
    """Return one row per version and round."""
    return list({(row.version, row.round): row for row in rows}.values())


def _name_in(suite: Suite, row: Row) -> Cell:
    return _name(row, suite.variant(row), precision_name(row.precision))


def _name(row: Row, *marks: Text) -> Cell:
    return cell(named(row.framework), None, *(mark for mark in (*marks, *own_marks(row)) if mark))


def _devices(lines: Sequence[ResultLine]) -> list[ColumnOf[ResultLine]]:
    """Return the column of the devices, if the results differ in them."""
    several = len({(each.row.nodes or 1, each.row.devices) for each in lines}) > 1
    column = ColumnOf[ResultLine](
        phrase("table.devices"), lambda each: devices_cell(each.row.devices, each.row.nodes), True
    )
    return [column] if several else []


def _throughput(site: Site, each: ResultLine, *, with_unit: bool) -> Cell:
    row = each.row
    if not each.is_known:
        return without_figure(site, row)
    marks: list[Text] = [row.unit] if with_unit else []
    if each.in_tokens is not None:
        marks.append(phrase("model.in_tokens", value=numbers.figure(each.in_tokens, row.spread)))
    page = site.page(representative(site, row))
    entry = Entry(
        written(row), page, tuple(marks), value=row.value, unit=row.unit,
        caution=phrase("front.caution", text=sentences(each.cautions)) if each.cautions else "",
    )  # fmt: skip
    return Cell((entry,))


def _per_device(each: ResultLine) -> Cell | None:
    row, devices = each.row, each.row.devices or 0
    if devices < 2 or not each.is_known:
        return None
    value = (row.value or 0) / devices
    return cell(numbers.figure(value, row.spread, row.resolution or 0.0), value=value)


def _batch_size(each: ResultLine) -> Cell:
    marks: list[Text] = []
    if (each.accumulation or 1) > 1:
        marks.append(phrase("model.accumulated", n=each.accumulation))
    if (
        (whole := each.global_batch)
        and whole != each.row.batch_size
        and (marks or "batch_size_of_job" in each.row.options)
    ):
        marks.append(phrase("model.global_batch", n=numbers.count(whole)))
    return cell(or_unknown(each.row.batch_size), None, *marks, value=each.row.batch_size)


def _configuration(suite: Suite, each: ResultLine) -> Text:
    """Return the variant of the model and the options in words, without those that other columns show."""
    shown = {name: value for name, value in each.row.options.items() if name not in _IN_OTHER_COLUMNS}
    return suite.case_words(each.row.model, shown)


_IN_OTHER_COLUMNS = ("accumulation", "batch_size_of_job")


def _runs(each: ResultLine) -> Cell:
    """Return the spread of a figure and the number of its runs."""
    return cell(listed((*spread_marks(each.row), times(each.row))), value=each.row.spread)


def _verdict(each: ResultLine) -> Cell | None:
    if each.apart:
        return cell(not_ranked(each), tone="outline")
    return cell(each.verdict) if each.verdict else None


def _published(site: Site, each: ResultLine) -> Cell:
    """Return the figures that others published of a result's logs, each with the sign of its verdict."""
    of_runs, signs = site.once(report_verdicts.of_runs), site.once(report_verdicts.signs)
    found = once_each(one for run in each.row.run_ids for one in of_runs.get(run, ()))
    return Cell(
        tuple(
            Entry(
                printed(row), site.published.sources[row.source].address_of(row), _printed_case(row, each.row.unit),
                value=row.value, verdict=signs[id(row)],
            )
            for row in (one.row for one in found)
        )
    )  # fmt: skip


def _printed_case(row: Published, unit: str) -> tuple[Text, ...]:
    """Return another unit, what the source prints of a case where the log says another value, and its own label."""
    size = phrase("front.batch_short", n=row.printed_batch_size) if row.printed_batch_size else ""
    precision = precision_name(row.printed_precision) if row.printed_precision else ""
    said = (phrase("model.printed_as", what=each) for each in (size, precision) if each)
    return (*([row.unit] if unit not in ("", row.unit) else []), *said, *filter(None, [row.label]))


def _against_one(row: Row, value: float | None, said: Callable[[float], str]) -> Cell:
    if value is None or not numbers.known(value):
        return absent(reason(row.speedup_reason) or reason(row.reason) or phrase("table.no_baseline"))
    return cell(said(value), value=value)


def _metric(name: str, rows: Sequence[Row]) -> Callable[[ResultLine], Cell | None]:
    def shown(each: ResultLine) -> Cell | None:
        found = each.row.metrics.get(name)
        if found is None:
            return None
        if found.value is None:
            return not_finite_cell(found)
        marks: list[Text] = [phrase("metric.diverged")] if found.diverged else []
        if name == "memory" and (ratio := _ratio(name, each.row, rows)):
            marks.append(ratio)
        return cell(numbers.figure(found.value, found.spread), None, *marks, value=found.value)

    return shown


def _ratio(name: str, row: Row, rows: Sequence[Row]) -> str:
    """Return the ratio to the framework that needs least in the same case; empty for that one itself."""
    about = (row.nodes or 1, row.devices, row.batch_size, row.precision, row.model, row.options)
    alike = [r for r in rows if (r.nodes or 1, r.devices, r.batch_size, r.precision, r.model, r.options) == about]
    known = [value for each in alike if (value := each.metric(name))]
    mine = row.metric(name)
    if not mine or len({each.framework for each in alike if each.metric(name)}) < 2 or mine == min(known):
        return ""
    return numbers.ratio(mine / min(known))


def _largest(site: Site, of: Sequence[ResultLine], option: str) -> Cell:
    return _extreme(site, [each.row for each in of if each.row.value], option, max)


def _smallest_failing(site: Site, of: Sequence[ResultLine], option: str) -> Cell:
    return _extreme(site, [each.row for each in of if each.row.outcome == "oom"], option, min)


def _extreme(site: Site, rows: Sequence[Row], option: str, pick: Callable[..., Row]) -> Cell:
    """Return a cell with the most or least of an option, linked to its run."""
    if not rows:
        return absent(phrase("table.not_measured"))
    row = pick(rows, key=lambda each: each.options[option])
    return cell(numbers.count(int(row.options[option] or 0)), site.page(site.by_id[row.run_ids[0]]))
