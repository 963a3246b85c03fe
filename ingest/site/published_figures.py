"""Others' published figures on the page of a model, and the reports that show them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.published import cases
from perfledger.ingest.published.audit import SCORES, Audited
from perfledger.ingest.published.declarations import CASE, Report, reports
from perfledger.ingest.published.notes import of_places
from perfledger.ingest.published.publications import REPEATS, Published, options_cell
from perfledger.ingest.published.slices import Values, case_fact, common, select
from perfledger.ingest.site import addresses, our_results
from perfledger.ingest.site import published_tables as tables
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.ingest.site.options import in_words
from perfledger.ingest.site.our_results import Ours
from perfledger.ingest.site.published_tables import VERDICT_TONES
from perfledger.ingest.site.render.table import Cell, Column, Entry, Link, Table, absent, cell
from perfledger.ingest.site.render.text import slugs
from perfledger.ingest.site.result_tables import representative

#: `2D_8x1x1_16_1536x16`: data, tensor and pipeline parallelism, batch size of the job, width and layers.
_IN_CASE = ("data_parallel", "tensor_parallel", "pipeline_parallel", "batch_size_of_job", "hidden", "layers")


def reports_with_figures(site: Site) -> tuple[Report, ...]:
    """Return the reports whose source has figures here."""
    there = {row.source for row in site.published.rows}
    return tuple(each for each in reports() if each.source in there)


def rows_of(site: Site, report: Report) -> tuple[Published, ...]:
    """Return the figures of a report's source."""
    return tuple(row for row in site.published.rows if row.source == report.source)


def score_of(site: Site, row: Row) -> Published | None:
    """Return the published score of a result; None where nobody published one here."""
    scores = (each for each in site.published.rows if each.metric in SCORES and each.value)
    return next((each for each in scores if cases.is_of_entry(each, row)), None)


def source_anchors(site: Site) -> Mapping[str, str]:
    """Return the anchor of each source on the index of the reports, the same in both languages."""
    return slugs(site.published.sources)


def reports_of(site: Site, suite: Suite) -> list[Link]:
    """Return links to the reports that show figures of a suite's models."""
    rows = site.published.by_suite.get(suite.id, ())
    return [Link(each.title, addresses.report_page(each)) for each in reports_with_figures(site) if _holds(each, rows)]


def _holds(report: Report, rows: Sequence[Published]) -> bool:
    of_source = [row for row in rows if row.source == report.source]
    return any(select(of_source, block.where) for block in report.blocks if block.rows)


def published_tables(site: Site, suite: Suite) -> list[Mapping[str, Any]]:
    """Return the published figures of a suite's models: a table per source, hardware and metric.

    A figure that several places print is shown once; what all figures of a table share is stated above it.
    """
    rows = [row for row in site.published.by_suite.get(suite.id, ()) if is_shown(row)]
    verdicts = {id(each.row): each for each in site.audited if each.run}
    results_of = our_results.of_suite(site, suite)
    of_case = {id(row): found for row in rows if (found := results_of(row))}
    groups: dict[tuple[str, str, str, str], list[Published]] = {}
    for row in rows:
        groups.setdefault((row.source, row.hardware, row.metric, row.unit), []).append(row)
    order = {name: index for index, name in enumerate(site.published.sources)}
    return [
        {
            "title": phrase("report.joined", first=site.published.sources[source].title, rest=hardware),
            "same": [tables.stated(*each) for each in _same(of_table) if each[0] != "hardware"],
            "table": _figures(site, of_table, verdicts, of_case),
            "ours": any(id(row) in of_case for row in of_table),
        }
        for (source, hardware, _, _), of_table in sorted(
            groups.items(), key=lambda each: (order[each[0][0]], each[0][1])
        )
    ]


def is_shown(row: Published) -> bool:
    """Return whether a model's page shows a figure: one that was measured, and is not of a single repeat.

    Single repeats, and their means and medians, are on the pages of their reports and in the data.
    """
    return row.metric not in REPEATS and row.state != "not_measured"


def _same(rows: Sequence[Published]) -> Values:
    """Return the facts that all of these figures share, where that is what their sources print, too."""
    printed = common(rows)
    return tuple(each for each in common(rows, case_fact) if each in printed)


def _figures(
    site: Site,
    rows: Sequence[Published],
    verdicts: Mapping[int, Audited],
    of_case: Mapping[int, Sequence[Ours]],
) -> Table:
    groups: dict[tuple[object, ...], list[Published]] = {}
    for row in sorted(rows, key=_order):
        groups.setdefault(_case(row), []).append(row)
    said = [_said(group) for group in groups.values()]
    everywhere = [note for note in said[0] if all(note in each for each in said)]
    same = {key for key, _ in _same(rows)}
    keys = [key for key in CASE if key not in same and any(case_fact(row, key) for row in rows)]
    options = sorted({name for row in rows for name in row.options if f"options.{name}" not in same})
    audited = any(id(row) in verdicts for row in rows)
    has_ours = any(id(row) in of_case for row in rows)
    head = [Column(tables.key_name(key), key in ("devices", "batch_size")) for key in keys]
    head += [Column(phrase("table.options"))] if options else []
    head += [Column(tables.metric(rows[0].metric, rows[0].unit), True)]
    head += [Column(phrase("report.ours"), True)] if has_ours else []
    head += [Column(phrase("table.verdict"))] if audited else []
    body = []
    for group, notes in zip(groups.values(), said, strict=True):
        line = [tables.label(group[0], key) for key in keys]
        line += [_label(_options(group[0], options))] if options else []
        line += [_value(site, group, [each for each in notes if each not in everywhere])]
        line += [_ours(site, of_case.get(id(group[0]), ()))] if has_ours else []
        line += [_verdict(group, verdicts)] if audited else []
        body.append(tuple(line))
    return Table(tuple(head), tuple(body), notes=tuple(everywhere))


def _said(group: Sequence[Published]) -> list[Text]:
    """Return the notes on a figure, each with its places if it does not apply to all."""
    return [
        tables.note(note)
        if len(places) == len(group)
        else phrase("report.note_at", places=", ".join(map(str, places)), note=tables.note(note))
        for note, places in of_places(group)
    ]


def _options(row: Published, names: Sequence[str]) -> Text:
    """Return what a figure states of these options, without those that the name of its case contains."""
    left_out = _IN_CASE if "case" in row.options else ()
    return in_words({name: row.options[name] for name in names if name in row.options and name not in left_out})


def _order(row: Published) -> tuple[object, ...]:
    """Sort cases that differ only in their number of devices together, by that number."""
    options = tuple((name, _rank(value)) for name, value in sorted(row.options.items()))
    rest = (row.model, row.framework, row.precision, row.batch_size or 0, options)
    return (*rest, row.devices or 0, row.nodes or 0)


def _rank(text: str) -> tuple[bool, float, str]:
    """Sort numbers by size, then words."""
    number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text)
    return (not number, float(text) if number else 0.0, text)


def _case(row: Published) -> tuple[object, ...]:
    """Return what identifies a figure: rows that agree in it are one figure, printed at several places."""
    stated = tuple(case_fact(row, key) for key in CASE)
    return (*stated, options_cell(row.options), row.value if row.value is not None else row.state)


def _label(text: Text) -> Cell:
    return cell(text) if text else absent(None)


def _value(site: Site, group: Sequence[Published], notes: Sequence[Text]) -> Cell:
    """Return a figure with links to the first place that prints it and to the other places, and its labels."""
    row, *others = group
    places = tuple(Link(str(index), _address(site, each)) for index, each in enumerate(others, 2))
    labels = tuple(dict.fromkeys(each.label for each in group if each.label))
    entry = Entry(tables.printed(row), _address(site, row), labels, places, value=row.value)
    return replace(tables.state(row) or Cell((entry,)), note=tables.sentences(notes) or None)


def _ours(site: Site, found: Sequence[Ours]) -> Cell:
    """Return our results of the same case, each linked to its run, with the difference from the published figure."""
    return Cell(tuple(_our(site, each) for each in found)) if found else absent(None)


def _our(site: Site, found: Ours) -> Entry:
    marks = (numbers.signed_percent(found.difference), *found.marks)
    page = site.page(representative(site, found.row))
    return Entry(numbers.figure(found.value, found.spread), page, marks, value=found.value)


def _address(site: Site, row: Published) -> str | None:
    return site.published.sources[row.source].address_of(row)


def _verdict(group: Sequence[Published], verdicts: Mapping[int, Audited]) -> Cell:
    found = [verdicts[id(row)] for row in group if id(row) in verdicts]
    if not found:
        return absent(None)
    return cell(phrase(f"verdict.{found[0].verdict}"), addresses.AUDIT, tone=VERDICT_TONES.get(found[0].verdict, ""))
