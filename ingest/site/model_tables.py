"""The tables of a model's page: results, and figures besides the throughput; a row per result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import report_verdicts
from perfledger.ingest.site.audit_cases import once_each
from perfledger.ingest.site.model import Row, Site, Suite, named, or_unknown, precision_name, written
from perfledger.ingest.site.options import listed
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render.table import Cell, Entry, Table, cell
from perfledger.ingest.site.result_lines import ResultLine, ResultSlice, not_ranked
from perfledger.ingest.site.result_tables import (
    devices_cell,
    in_tokens,
    metric_title,
    not_finite_cell,
    own_marks,
    representative,
    spread_marks,
    units,
    version_marks,
    without_figure,
)
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.ingest.site.verdict_words import times
from perfledger.schema.vocabulary import METRICS

_IN_OTHER_COLUMNS = ("accumulation", "batch_size_of_job")


def results(site: Site, suite: Suite, of: ResultSlice) -> Table:
    """Return a row per result: its figure, its configuration, its runs, and its place among comparable results."""
    mixed = "," in (unit := units(of.rows))
    unit_text = "" if mixed else unit
    batch, configuration = _settings(suite)
    columns = [
        _framework(of.rows),
        *_devices(of.lines),
        ColumnOf(phrase("model.throughput_in", unit=unit_text), partial(_throughput, site, mixed), True, "throughput"),
        ColumnOf(phrase("model.per_device"), _per_device, True, "per_device", optional=True),
        batch,
        configuration,
        ColumnOf(phrase("model.spread"), _runs, key="spread"),
        ColumnOf(phrase("table.verdict"), _verdict, key="verdict", optional=True),
        ColumnOf(phrase("table.published"), partial(_published, site), key="published", optional=True),
    ]
    return _table("results", of.lines, columns) or Table((), ())


def other_metrics(suite: Suite, of: ResultSlice) -> Table | None:
    """Return the figures besides the throughput, with unit and direction; None if no log has any."""
    lines = [each for each in of.lines if each.row.metrics]
    metrics = [
        ColumnOf(metric_title(name), _metric(name, of.rows), True, name)
        for name in METRICS
        if any(name in row.metrics for row in of.rows)
    ]
    return _table("beside", lines, [_framework(of.rows), *_devices(lines), *_settings(suite), *metrics])


def _table(name: str, lines: Sequence[ResultLine], columns: Sequence[ColumnOf[ResultLine]]) -> Table | None:
    return table_of(name, lines, columns, cards=True, facets=lambda each: each.facets)


# ---- columns ----


def _framework(rows: Sequence[Row]) -> ColumnOf[ResultLine]:
    """Return the column of the frameworks, with the precision and the version where they differ."""
    several = len({row.precision for row in rows}) > 1
    # One row per version and round.
    alike = {
        framework: list({(row.version, row.round): row for row in of}.values())
        for framework, of in by_key(rows, lambda row: row.framework).items()
    }

    def framework(each: ResultLine) -> Cell:
        row = each.row
        precision = [precision_name(row.precision)] if several else []
        marks = (*precision, *version_marks(row, alike[row.framework]), *own_marks(row))
        return cell(named(row.framework), None, *marks)

    return ColumnOf(phrase("table.framework"), framework)


_DEVICES: ColumnOf[ResultLine] = ColumnOf(
    phrase("table.devices"), lambda each: devices_cell(each.row.devices, each.row.nodes), True
)


def _devices(lines: Sequence[ResultLine]) -> list[ColumnOf[ResultLine]]:
    """Return the column of the devices, if the results differ in them."""
    return [_DEVICES] if len({(each.row.nodes or 1, each.row.devices) for each in lines}) > 1 else []


def _settings(suite: Suite) -> tuple[ColumnOf[ResultLine], ColumnOf[ResultLine]]:
    """Return the column of the batch size, and that of the variant of the model and all options that it leaves out."""

    def configuration(each: ResultLine) -> Text:
        shown = {name: value for name, value in each.row.options.items() if name not in _IN_OTHER_COLUMNS}
        return suite.case_words(each.row.model, shown)

    return (
        ColumnOf(phrase("table.batch_size"), _batch_size, True, "batch_size"),
        ColumnOf(phrase("table.case"), configuration, optional=True),
    )


def _throughput(site: Site, with_unit: bool, each: ResultLine) -> Cell:
    row = each.row
    if not each.is_known:
        return without_figure(site, row)
    marks: list[Text] = [row.unit] if with_unit else []
    if (tokens := in_tokens(row)) is not None:
        marks.append(phrase("model.in_tokens", value=numbers.figure(tokens, row.spread)))
    page = site.page(representative(site, row))
    entry = Entry(
        written(row), page, tuple(marks), value=row.value,
        caution=listed(each.cautions),
    )  # fmt: skip
    return Cell((entry,))


def _per_device(each: ResultLine) -> Cell | None:
    """Return the throughput of a device, with the speed-up over one device and the efficiency, if they are known."""
    row, devices = each.row, each.row.devices or 0
    if devices < 2 or not each.is_known:
        return None
    value = (row.value or 0) / devices
    scaling = (
        listed((numbers.ratio(row.speedup), numbers.percent(row.efficiency))) if numbers.known(row.speedup) else ""
    )
    return cell(numbers.figure(value, row.spread, row.resolution or 0.0), None, scaling, value=value)


def _batch_size(each: ResultLine) -> Cell:
    marks: list[Text] = []
    if (each.accumulation or 1) > 1:
        marks.append(phrase("model.accumulated", n=each.accumulation))
    whole = each.global_batch
    if whole and whole != each.row.batch_size and (marks or "batch_size_of_job" in each.row.options):
        marks.append(phrase("model.global_batch", n=numbers.count(whole)))
    n = each.row.batch_size
    return cell(or_unknown(numbers.count(n) if n else None), None, *marks, value=n)


def _runs(each: ResultLine) -> Cell:
    """Return the spread of a figure and the number of its runs."""
    return cell(listed((*spread_marks(each.row), times(each.row))), value=each.row.spread)


def _verdict(each: ResultLine) -> Cell | Text:
    return cell(not_ranked(each), tone="outline") if each.apart else each.verdict


def _published(site: Site, each: ResultLine) -> Cell:
    """Return the figures that others published of a result's logs, each with the sign of its verdict."""
    of_runs, signs = site.once(report_verdicts.of_runs), site.once(report_verdicts.signs)
    found = once_each(one for run in each.row.run_ids for one in of_runs.get(run, ()))
    return Cell(
        tuple(
            Entry(
                printed(row), site.published.address_of(row), _printed_case(row, each.row.unit),
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


def _metric(name: str, rows: Sequence[Row]) -> Callable[[ResultLine], Cell | None]:
    def shown(each: ResultLine) -> Cell | None:
        found = each.row.metrics.get(name)
        if found is None:
            return None
        if found.value is None:
            return not_finite_cell(found)
        marks: list[Text] = [phrase("metric.diverged")] if found.diverged else []
        if name == "memory" and (ratio := _memory_ratio(each.row, rows)):
            marks.append(ratio)
        return cell(numbers.figure(found.value, found.spread), None, *marks, value=found.value)

    return shown


def _memory_ratio(row: Row, rows: Sequence[Row]) -> str:
    """Return the ratio to the framework that needs least in the same case; empty for that one itself."""

    def case(each: Row) -> tuple[object, ...]:
        return each.nodes or 1, each.devices, each.batch_size, each.precision, each.model, each.options

    known = [(each, value) for each in rows if case(each) == case(row) and (value := each.metric("memory"))]
    least, mine = min((value for _, value in known), default=0.0), row.metric("memory")
    several = len({each.framework for each, _ in known}) > 1
    return numbers.ratio(mine / least) if mine and several and mine != least else ""
