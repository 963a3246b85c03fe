"""Parts of results that several pages show: their order, and the words for their figures and runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute import candidates
from perfledger.ingest.compute.candidates import Section
from perfledger.ingest.compute.results import representative as representative_of
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site.data.measured import newest_day
from perfledger.ingest.site.model import Row, Site, Suite, precision_name, reason
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.table import Cell, absent, cell
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.verdict_words import devices_short, times
from perfledger.schema.records import MetricFigure, ResultMetric, Run
from perfledger.schema.vocabulary import METRICS, NO_FIGURE


def sections(site: Site, suite: Suite) -> Sequence[Section]:
    """Return rows of a suite by hardware and precision group, in the order of the page."""
    return candidates.sections(site.rows.get(suite.id, ()))


def units(rows: Iterable[Row]) -> str:
    """Return the unit of some rows, or all their units: what one printer calls words may be another's tokens."""
    return ", ".join(sorted({row.unit for row in rows if row.unit}))


def metric_title(name: str) -> Text:
    """Return a metric's name with its unit and whether more or less of it is better."""
    metric = METRICS[name]
    unit = phrase("metric.in_unit", unit=metric.unit) if metric.unit else ""
    return phrase("metric.title", name=phrase(f"metric.{name}"), unit=unit, better=phrase(f"metric.{metric.better}"))


def representative(site: Site, row: Row) -> Run:
    """Return the run whose figure is nearest to the row's median."""
    return site.once(_representatives)[row.run_ids]


def _representatives(site: Site) -> Mapping[tuple[str, ...], Run]:
    """Return the representative run of each result, by the ids of its runs."""
    found = (row.run_ids for rows in site.rows.values() for row in rows)
    return {ids: representative_of([site.by_id[each] for each in ids]) for ids in found}


def in_tokens(row: Row) -> float | None:
    """Return a throughput in tokens per second, if it counts sequences of a known length."""
    length = row.options.get("sequence_length")
    if row.unit != "sequences/s" or not isinstance(length, int) or not numbers.known(row.value):
        return None
    return (row.value or 0) * length


def version_marks(row: Row, rows: Sequence[Row]) -> list[str]:
    """Return version and round of a row, each if it differs among `rows`."""
    found = (row.version, {each.version for each in rows}), (row.round, {each.round for each in rows})
    return [mine for mine, all_of_them in found if mine and len(all_of_them) > 1]


def own_marks(row: Row) -> list[Text]:
    """Return the marks that a figure has everywhere: the trainer's own summary, and not measured here."""
    marks: list[Text] = [] if row.rule == HEADLINE else [phrase("metric.summary")]
    return [*marks, *([phrase("table.submitted", name=row.submitter)] if row.submitter else [])]


def not_finite_cell(found: MetricFigure | ResultMetric) -> Cell:
    """Return the cell of a metric without a finite value: that the run diverged, or why the value is missing."""
    if found.diverged:
        return cell(phrase("metric.diverged"), tone="bad")
    return absent(reason(found.reason) or phrase("site.unknown"))


def without_figure(site: Site, row: Row) -> Cell:
    """Return the cell of a result without a figure: how its runs ended, or why it has none although they completed."""
    if row.outcome in NO_FIGURE:
        text = phrase("table.oom") if row.outcome == "oom" else word_for("outcome", row.outcome)
        return cell(text, site.page(site.by_id[row.run_ids[0]]), tone="bad")
    return absent(reason(row.reason) or phrase("site.unknown"))


def day_of(site: Site, row: Row) -> str:
    """Return the day of the newest run of a result; empty if none is dated."""
    return newest_day(site.by_id[each] for each in row.run_ids)


def how_measured(site: Site, suite: Suite, row: Row) -> Text:
    """Return how a figure was measured: version, precision, options, round, day, repeats and spread."""
    return listed((
        *own_marks(row), " ".join(filter(None, (row.framework, row.version))), precision_name(row.precision),
        in_words(suite.other_options(row)), row.round or "", day_of(site, row) or phrase("stated.undated"), times(row),
        *spread_marks(row), *reservations(row),
    ))  # fmt: skip


def spread_marks(row: Row) -> tuple[Text, ...]:
    """Return the spread of a figure; of several machines those within and between them, which mean different things."""
    if row.hosts < 2:
        return (numbers.plus_minus(row.spread),)
    spreads = (("within", row.spread_within), ("between", row.spread_between))
    return tuple(
        phrase(f"table.spread_{name}", spread=numbers.plus_minus(each)) for name, each in spreads if numbers.known(each)
    )


def devices_cell(devices: int | None, nodes: int | None) -> Cell:
    """Return the devices of a job, and its machines if there are several."""
    if devices is None:
        return cell(phrase("site.unknown"))
    return cell(devices_short(devices, nodes), value=devices)
