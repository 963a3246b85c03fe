"""Tables of results: what the page of a model and those of its frameworks show of a suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.results import representative as representative_of
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import addresses, steadiness, witness_tables
from perfledger.ingest.site.model import (
    Row,
    RowKey,
    Site,
    Suite,
    group_name,
    named,
    options_text,
    or_unknown,
    ordered,
    precision_name,
    reason,
    written,
)
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, Value, View, absent, cell
from perfledger.ingest.site.run_tables import outcome, reservations
from perfledger.ingest.site.table_metrics import THROUGHPUT, leaders, measured, scaling_views, views
from perfledger.schema.records import MetricFigure, ResultMetric, Run
from perfledger.schema.vocabulary import METRICS, NO_FIGURE

RUNS_NAMED = 20  # repeats that a table's files name
DEVICES = Column(phrase("table.devices"), True)
BATCH_SIZE = Column(phrase("table.batch_size"), True)
OPTIONS = Column(phrase("table.options"))
#: A hardware, a precision group, and their rows.
Section = tuple[str, str, tuple[Row, ...]]


def sections(site: Site, suite: Suite) -> Sequence[Section]:
    """Return rows of a suite by hardware and precision group, in the order of the page."""
    return site.once(_sections).get(suite.id, ())


def _sections(site: Site) -> Mapping[str, Sequence[Section]]:
    return {suite.id: _sections_of(suite, site.rows.get(suite.id, ())) for suite in site.shown}


def _sections_of(suite: Suite, rows: Sequence[Row]) -> Sequence[Section]:
    groups = [*suite.groups, "unknown"]
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row.hardware or "", groups.index(suite.group(row.precision))), []).append(row)
    return [(hardware, groups[place], tuple(found[hardware, place])) for hardware, place in sorted(found)]


def units(rows: Sequence[Row]) -> str:
    """Return the unit of some rows, or all their units: what one printer calls words may be another's tokens."""
    return ", ".join(sorted({row.unit for row in rows if row.unit}))


def comparison(site: Site, suite: Suite, rows: Sequence[Row]) -> Table:
    """Return throughput, and what else frameworks are compared by: a row per case, a column per framework."""
    mixed = len({row.unit for row in rows if row.unit}) > 1
    shown = views(rows, "" if mixed else units(rows) or suite.unit)
    return _compared(site, suite, rows, shown, "comparison", mixed=mixed)


def scaling(site: Site, suite: Suite, rows: Sequence[Row]) -> Table | None:
    """Return efficiency, speed-up and throughput per device in the same form; None where every run used one device."""
    chosen = [row for row in rows if (row.devices or 1) > 1]
    if not chosen:
        return None
    return _compared(site, suite, chosen, scaling_views(units(chosen) or suite.unit), "scaling")


def _compared(
    site: Site, suite: Suite, rows: Sequence[Row], shown: Sequence[View], name: str, *, mixed: bool = False
) -> Table:
    """Return a row per number of devices and batch size, and a column per framework; a figure links to its run."""
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    found: dict[RowKey, list[Row]] = {}
    for row in rows:
        found.setdefault(suite.row_key(row), []).append(row)
    by_case = {key: found[key] for key in sorted(found)}
    with_options = any(key[3] for key in by_case)
    head = [DEVICES, BATCH_SIZE, *([OPTIONS] if with_options else [])]
    head += [
        Column(named(each), True, addresses.scorecard_page(site, each), switched=True, facets=(("framework", each),))
        for each in frameworks
    ]
    best, body = {each.key: leaders(site, suite, rows, each) for each in shown}, []
    for chosen in by_case.values():
        line = [devices_cell(chosen[0].devices, chosen[0].nodes), cell(or_unknown(chosen[0].batch_size))]
        line += [cell(suite.workload_words(chosen[0].model, chosen[0].options))] if with_options else []
        most = max((row.value or 0 for row in chosen), default=0) if len({row.framework for row in chosen}) > 1 else 0
        for each in frameworks:
            mine = [row for row in chosen if (row.framework or "") == each]
            line.append(_switched(site, suite, mine, shown, best, 0 if mixed else most, mixed))
        body.append(tuple(line))
    facets = tuple((("devices", chosen[0].devices or 0),) for chosen in by_case.values())
    return Table(tuple(head), tuple(body), views=tuple(shown), name=name, facets=facets)


def details_table(site: Site, suite: Suite, rows: Sequence[Row]) -> Table:
    """Return the metrics other than throughput, with unit and direction; and the throughput's range and spread."""
    shown = [name for name in METRICS if any(name in row.metrics for row in rows)]
    head = (
        *_case_columns(),
        *(Column(metric_title(name), True, key=name) for name in shown),
        Column(phrase("table.range", unit=units(rows) or suite.unit), True, key="range"),
        Column(phrase("table.spread"), True),
        Column(phrase("table.repeats"), True),
    )
    ordered_rows = _sorted(suite, rows)
    body = tuple(_details_row(site, suite, row, rows, shown) for row in ordered_rows)
    facets = tuple((("devices", row.devices or 0), ("framework", row.framework or "")) for row in ordered_rows)
    return Table(head, body, name="beside", facets=facets)


def largest(site: Site, suite: Suite, rows: Sequence[Row], option: str = "num_classes") -> Table | None:
    """Return the largest value of an option that each framework trained with, and the smallest that ran out of memory.

    None where rows do not differ in the option: then nobody looked for its largest value.
    """
    stated = [row for row in rows if isinstance(row.options.get(option), int)]
    if len({row.options[option] for row in stated}) < 2:
        return None
    head = (*_case_columns(), Column(phrase("table.largest"), True), Column(phrase("table.smallest_oom"), True))
    body = []
    for key in sorted({_without_options(suite, row) for row in stated}):
        chosen = [row for row in stated if _without_options(suite, row) == key]
        body.append((
            *_case_cells(site, suite, replace(chosen[0], options={})),
            _extreme(site, [row for row in chosen if row.value], option, max),
            _extreme(site, [row for row in chosen if row.outcome == "oom"], option, min),
        ))  # fmt: skip
    return Table(head, tuple(body), name="largest")


def batch_sizes(suite: Suite, rows: Sequence[Row]) -> Table:
    """Return the batch sizes that each framework ran, per precision group."""
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    groups = [each for each in (*suite.groups, "unknown") if any(suite.group(row.precision) == each for row in rows)]
    head = (Column(phrase("table.precision")), *(Column(named(each)) for each in frameworks))
    body = []
    for group in groups:
        line = [cell(group_name(group))]
        for each in frameworks:
            sizes = {r.batch_size for r in rows if (r.framework or "") == each and suite.group(r.precision) == group}
            known = sorted(size for size in sizes if size is not None)
            line.append(cell(", ".join(map(str, known))) if known else absent(phrase("table.not_measured")))
        body.append(tuple(line))
    return Table(head, tuple(body), name="batch-sizes")


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


def _without_options(suite: Suite, row: Row) -> tuple[str, str, tuple[int, int, int], str]:
    return (row.framework or "", suite.variant(row), _case_key(suite, row)[:3], row.precision or "")


def _extreme(site: Site, rows: Sequence[Row], option: str, pick: Callable[..., Row]) -> Cell:
    """Return a cell with the most or least of an option, linked to its run."""
    if not rows:
        return absent(phrase("table.not_measured"))
    row = pick(rows, key=lambda each: each.options[option])
    return cell(numbers.count(int(row.options[option] or 0)), site.page(site.by_id[row.run_ids[0]]))


def _switched(
    site: Site,
    suite: Suite,
    rows: Sequence[Row],
    shown: Sequence[View],
    best: Mapping[str, Sequence[Row]],
    most: float,
    mixed: bool,
) -> Cell:
    """Return all figures of one cell, in every view; throughputs are tinted by their share of the `most`."""
    first, *others = shown
    if first.key != THROUGHPUT:
        own = _in_view(site, suite, rows, first, best[first.key])
    else:
        own = _figures(site, suite, rows, best[THROUGHPUT], with_unit=mixed)
        own = dataclasses.replace(own, entries=tuple(_tinted(each, most) for each in own.entries))
    views_of = tuple((each.key, _in_view(site, suite, rows, each, best[each.key])) for each in others)
    return dataclasses.replace(own, views=views_of)


def _tinted(entry: Entry, most: float) -> Entry:
    value = entry.value
    return dataclasses.replace(entry, share=value / most) if most and isinstance(value, int | float) else entry


def _in_view(site: Site, suite: Suite, rows: Sequence[Row], view: View, best: Sequence[Row]) -> Cell:
    """Return all figures of one cell in a view other than throughput."""
    # A log that states no throughput may state a time per step.
    chosen = [row for row in rows if numbers.known(row.value)] or [row for row in rows if row.outcome != "oom"]
    if not chosen:
        return _figures(site, suite, rows)
    if not any(measured(site, row, view.key) for row in chosen):
        return absent(_why_not(chosen[0], view.key))
    return Cell(tuple(_entry_in_view(site, suite, row, chosen, view, _is_among(row, best)) for row in chosen))


def _entry_in_view(site: Site, suite: Suite, row: Row, rows: Sequence[Row], view: View, best: bool) -> Entry:
    """Return a row's figure in a view; a dash where it has none, so that the entries of all views correspond."""
    figure, marks = measured(site, row, view.key), _told_apart(suite, row, rows)
    if figure is None:
        return Entry(numbers.ABSENT, marks=marks)
    text = _written(view.key, figure.value, figure.spread)
    return Entry(text, site.page(representative(site, row)), marks, best=best, value=figure.value)


def _is_among(row: Row, rows: Sequence[Row]) -> bool:
    return any(row is each for each in rows)


def _written(view: str, value: float, spread: float | None) -> str:
    if view == "speedup":
        return numbers.ratio(value)
    return numbers.percent(value) if view == "efficiency" else numbers.figure(value, spread)


def _why_not(row: Row, view: str) -> Text:
    """Return why a row has no figure in a view."""
    if view in METRICS:
        return phrase("metric.not_printed")
    return reason(row.speedup_reason) or reason(row.reason) or phrase("table.no_baseline")


def _figures(
    site: Site,
    suite: Suite,
    rows: Sequence[Row],
    best: Sequence[Row] = (),
    *,
    plain: bool = False,
    with_unit: bool = False,
) -> Cell:
    """Return all figures of one cell: usually one, more where options differ."""
    if not rows:
        return absent(phrase("table.not_measured"))
    known = [row for row in rows if numbers.known(row.value)]
    if not known:
        return without_figure(site, rows[0])
    return Cell(tuple(_entry(site, suite, row, known, _is_among(row, best), plain, with_unit) for row in known))


def without_figure(site: Site, row: Row) -> Cell:
    """Return the cell of a result without a figure: how its runs ended, or why it has none although they completed."""
    if row.outcome in NO_FIGURE:
        text = phrase("table.oom") if row.outcome == "oom" else word_for("outcome", row.outcome)
        return cell(text, site.page(site.by_id[row.run_ids[0]]), tone="bad")
    return absent(reason(row.reason) or phrase("site.unknown"))


def _entry(site: Site, suite: Suite, row: Row, rows: Sequence[Row], best: bool, plain: bool, with_unit: bool) -> Entry:
    marks: list[Text] = [row.unit] if with_unit else []
    marks += [*own_marks(row), *version_marks(row, rows)] if plain else _told_apart(suite, row, rows)
    return figure_entry(site, row, marks, best=best)


def figure_entry(site: Site, row: Row, about: Sequence[Text], *, best: bool = False) -> Entry:
    """Return a result's figure, linked to its run, with marks about the figure and its reliability."""
    marks: list[Text] = [*about, *spread_marks(row), repeats_text(row)]
    marks += [phrase("metric.diverged")] if row.diverged else []
    run = representative(site, row)
    marks += [uneven] if (uneven := steadiness.mark(run)) else []
    marks += reservations(row)
    marks += _unseen_end(site, row)
    text = written(row)
    page = site.page(run)
    small = tuple(m for m in marks if m)
    mark = witness_tables.tag(row.witnesses)
    return Entry(text, page, small, best=best, value=row.value, details=_row_details(row), tag=mark)


def repeats_text(row: Row) -> Text:
    """Return the number of runs of a figure, and of machines if there are several."""
    return (
        phrase("table.hosts_of", hosts=row.hosts, n=row.repeats)
        if row.hosts > 1
        else phrase("table.repeats_of", n=row.repeats)
    )


def spread_marks(row: Row) -> tuple[Text, ...]:
    """Return the spread of a figure; of several machines those within and between them, which mean different things."""
    if row.hosts < 2:
        return (numbers.plus_minus(row.spread),)
    spreads = (("within", row.spread_within), ("between", row.spread_between))
    return tuple(
        phrase(f"table.spread_{name}", spread=numbers.plus_minus(each)) for name, each in spreads if numbers.known(each)
    )


def _unseen_end(site: Site, row: Row) -> list[Text]:
    """Return the outcome of the first repeat that neither completed nor failed; empty if all did."""
    runs = (site.by_id[each] for each in row.run_ids)
    return [outcome(run) for run in runs if run.outcome not in {"completed", *NO_FIGURE}][:1]


def _told_apart(suite: Suite, row: Row, rows: Sequence[Row]) -> tuple[Text, ...]:
    """Return what distinguishes a figure from the others of its cell and of its column."""
    several = len(suite.groups.get(suite.group(row.precision), ())) > 1
    marks: list[Text] = [precision_name(row.precision)] if several else []
    marks += own_marks(row)
    return tuple(each for each in (*marks, in_words(suite.other_options(row)), *version_marks(row, rows)) if each)


def _row_details(row: Row) -> tuple[tuple[str, Value | None], ...]:
    """Return what the CSV and JSON of a table state about a figure."""
    named_runs = [*row.run_ids[:RUNS_NAMED], *(["…"] if len(row.run_ids) > RUNS_NAMED else [])]
    return (
        ("spread", row.spread if numbers.known(row.spread) else None),
        ("repeats", row.repeats),
        ("hosts", row.hosts or None),
        ("spread_within", row.spread_within),
        ("spread_between", row.spread_between),
        ("witnesses", row.witnesses),
        ("unproven", "true" if row.unproven else None),
        ("precision", row.precision),
        ("options", options_text(row.options)),
        ("version", row.version),
        ("round", row.round),
        ("unit", row.unit),
        ("diverged", "true" if row.diverged else None),
        ("runs", " ".join(named_runs)),
    )


def _case_columns() -> tuple[Column, ...]:
    return (Column(phrase("table.framework")), DEVICES, BATCH_SIZE)


def _case_cells(site: Site, suite: Suite, row: Row) -> tuple[Cell, ...]:
    marks = (suite.variant(row), precision_name(row.precision), in_words(row.options), row.version, row.round)
    details = (
        ("model", suite.variant(row)),
        ("precision", row.precision),
        ("options", options_text(row.options)),
        ("version", row.version),
        ("round", row.round),
    )
    framework = cell(named(row.framework), None, *(each for each in marks if each), details=details)
    return (framework, devices_cell(row.devices, row.nodes), cell(or_unknown(row.batch_size)))


def _details_row(site: Site, suite: Suite, row: Row, rows: Sequence[Row], shown: Sequence[str]) -> tuple[Cell, ...]:
    span = numbers.span(row.low, row.high, row.spread, row.resolution or 0.0)
    once = absent(phrase("table.one_repeat"))
    return (
        *_case_cells(site, suite, row),
        *(_metric_cell(name, row, rows) for name in shown),
        cell(span, details=(("low", row.low), ("high", row.high))) if row.repeats > 1 else once,
        _spread_cell(row) if numbers.known(row.spread) else once,
        cell(repeats_text(row) if row.hosts > 1 else str(row.repeats), value=row.repeats),
    )


def _spread_cell(row: Row) -> Cell:
    marks = spread_marks(row) if row.hosts > 1 else ()
    return cell(numbers.percent(row.spread), None, *marks, value=row.spread)


def _metric_cell(name: str, row: Row, rows: Sequence[Row]) -> Cell:
    found = row.metrics.get(name)
    if found is None:
        return absent(phrase("metric.not_printed"))
    if found.value is None:
        return not_finite_cell(found)
    marks: list[Text] = [phrase("metric.diverged")] if found.diverged else []
    if name == "memory" and (ratio := _ratio(name, row, rows)):
        marks.append(ratio)
    return cell(numbers.figure(found.value, found.spread), None, *marks, value=found.value)


def _ratio(name: str, row: Row, rows: Sequence[Row]) -> str:
    """Return the ratio to the framework that needs least in the same case; empty for that one itself."""
    about = (row.nodes or 1, row.devices, row.batch_size, row.precision, row.model, row.options)
    alike = [r for r in rows if (r.nodes or 1, r.devices, r.batch_size, r.precision, r.model, r.options) == about]
    known = [value for each in alike if (value := each.metric(name))]
    mine = row.metric(name)
    if not mine or len({each.framework for each in alike if each.metric(name)}) < 2 or mine == min(known):
        return ""
    return numbers.ratio(mine / min(known))


def _sorted(suite: Suite, rows: Sequence[Row]) -> list[Row]:
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    return sorted(
        rows, key=lambda row: (frameworks.index(row.framework or ""), _case_key(suite, row), row.precision or "")
    )


def _case_key(suite: Suite, row: Row) -> tuple[int, int, int, str]:
    workload = " ".join(filter(None, (suite.variant(row), options_text(row.options))))
    return (row.nodes or 1, row.devices or 0, row.batch_size or 0, workload)


def devices_cell(devices: int | None, nodes: int | None) -> Cell:
    """Return the devices of a job, and its machines if there are several."""
    several = nodes if (nodes or 1) > 1 else None
    return cell(_devices(devices, nodes), value=devices, details=(("nodes", several),))


def _devices(devices: int | None, nodes: int | None) -> Text:
    if devices is None:
        return phrase("site.unknown")
    if (nodes or 1) > 1:
        return phrase("table.machines", devices=devices, nodes=nodes)
    return str(devices)
