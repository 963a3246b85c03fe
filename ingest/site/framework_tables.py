"""Tables and the chart of a framework's page: against rivals, newest results, published results, and what changed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import Candidate
from perfledger.ingest.published.audit import Audited
from perfledger.ingest.site import addresses, published_figures, verdict_words
from perfledger.ingest.site.data import changes
from perfledger.ingest.site.data.changes import Change
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.model import Row, Site, Suite, named, precision_name, written
from perfledger.ingest.site.options import in_words, joined, listed
from perfledger.ingest.site.published_figures import PublishedFigure, PublishedLine
from perfledger.ingest.site.published_tables import printed
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Chart, Dot, Dots, Panel
from perfledger.ingest.site.render.table import Cell, Entry, Table, absent, cell
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.report_verdicts import once_each, verdict_cell
from perfledger.ingest.site.result_tables import day_of, representative
from perfledger.ingest.site.scorecards import Placing, Score
from perfledger.ingest.site.stated import stated
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: Rows of the newest results and of changes, at most.
NEWEST = 10


# ---- against the fastest rival ----


def ratios(framework: str, score: Score) -> Chart | None:
    """Return a chart of the ratios to the fastest rival: a panel per hardware, a row per model; None of a few."""
    if not score.is_telling:
        return None
    by_hardware: dict[str, dict[str, list[Placing]]] = {}
    for each in score.compared:
        of_hardware = by_hardware.setdefault(each.standing.hardware, {})
        of_hardware.setdefault(each.standing.suite.id, []).append(each)
    panels = tuple(
        Panel(product(hardware), tuple(_dot(framework, found) for found in by_hardware[hardware].values()))
        for hardware in sorted(by_hardware, key=newest_first)
    )
    title = phrase("scorecard.chart", framework=named(framework))
    spec = Dots(title=title, unit=phrase("scorecard.chart_unit"), panels=panels, against=1.0)
    return Chart(f"ratios-{slug(framework)}", spec, phrase("scorecard.chart_text"))


def _dot(framework: str, found: Sequence[Placing]) -> Dot:
    """Return the median of the ratios of one model, and their range."""
    values = [each.ratio for each in found]
    first = found[0]
    return Dot(
        label=first.standing.suite.title,
        ink=colours.ink(framework).id,
        value=statistics.median(values),
        low=min(values),
        high=max(values),
        n=len(values),
        text=numbers.ratio(statistics.median(values)),
        about=phrase("scorecard.chart_about", n=len(values)),
        href=addresses.model_page(first.standing.suite, framework=framework),
    )


def comparisons(site: Site, score: Score) -> Table | None:
    """Return a row per comparison with the fastest rival."""
    columns = (
        ColumnOf[Placing](phrase("scorecard.case"), _case),
        ColumnOf[Placing](
            phrase("scorecard.ratio"), lambda each: cell(numbers.ratio(each.ratio), value=each.ratio), True
        ),
        ColumnOf[Placing](
            phrase("scorecard.verdict"),
            lambda each: phrase(f"scorecard.is_{each.kind}") if score.is_telling else None,
            optional=True,
        ),
        ColumnOf[Placing](phrase("scorecard.mine"), lambda each: _figure(site, each.mine), True),
        ColumnOf[Placing](phrase("scorecard.rival"), lambda each: _rival(site, each), True),
    )
    return table_of("comparisons", score.compared, columns, cards=True)


def _case(found: Placing) -> Cell:
    return _result(found.standing.suite, found.row)


def _rival(site: Site, found: Placing) -> Cell:
    return _figure(site, found.rival, with_name=True) if found.rival else absent(None)


def _figure(site: Site, found: Candidate, with_name: bool = False) -> Cell:
    """Return a figure, linked to its run, and the statements of the run about how it was measured."""
    row, run = found.result, representative(site, found.result)
    name = (named(row.framework),) if with_name else ()
    text = numbers.figure(found.figure.value, found.figure.spread, row.resolution or 0.0)
    marks = (row.unit, joined((*name, verdict_words.times(row), *stated(run))))
    return Cell((Entry(text, site.page(run), marks, value=found.figure.value),))


# ---- newest results, and changes ----


@dataclass(frozen=True)
class _Dated:
    """A result with the day of its newest run."""

    suite: Suite
    row: Row
    day: str


def newest(site: Site, framework: str) -> Table | None:
    """Return the results of a framework that were measured last."""
    suites = {each.id: each for each in site.shown}
    found = [
        _Dated(suites[suite], row, day_of(site, row))
        for suite, rows in site.rows.items()
        for row in rows
        if row.framework == framework and numbers.known(row.value)
    ]
    columns = (
        ColumnOf[_Dated](phrase("scorecard.day"), lambda each: each.day, key="day", optional=True),
        ColumnOf[_Dated](phrase("scorecard.case"), lambda each: _result(each.suite, each.row)),
        ColumnOf[_Dated](phrase("table.figure"), lambda each: _measured(site, each.row), True),
    )
    dated = [each for each in found if each.day] or found
    return table_of("newest", sorted(dated, key=lambda each: each.day, reverse=True)[:NEWEST], columns, cards=True)


def _result(suite: Suite, row: Row) -> Cell:
    case = verdict_words.case_of(suite, row)
    return cell(suite.name_of(row), addresses.model_page(suite), joined((product(row.hardware or ""), listed(case))))


def _measured(site: Site, row: Row) -> Cell:
    page = site.page(representative(site, row))
    return cell(written(row), page, row.unit, verdict_words.times(row), value=row.value)


def changed(site: Site, framework: str) -> Table | None:
    """Return the latest moves of a framework's figures."""
    found = [each for each in site.once(changes.changes) if each.row.framework == framework and each.before]
    columns = (
        ColumnOf[Change](phrase("scorecard.day"), lambda each: each.date),
        ColumnOf[Change](phrase("scorecard.case"), lambda each: _result(each.suite, each.row)),
        ColumnOf[Change](phrase("scorecard.before"), lambda each: changes.text(each.before) or "", True),
        ColumnOf[Change](phrase("scorecard.after"), _after, True),
        ColumnOf[Change](phrase("scorecard.change"), lambda each: numbers.signed_percent(each.share or 0), True),
    )
    return table_of("changed", sorted(found, key=lambda each: each.date, reverse=True)[:NEWEST], columns, cards=True)


def _after(found: Change) -> Cell:
    # Without a link: verify compares figures with links to the figure of today.
    return cell(changes.text(found.after) or "", None, found.row.unit)


# ---- results that others published ----


def audited(site: Site, framework: str) -> tuple[Audited, ...]:
    """Return the published results of a framework that name a log that was read."""
    return tuple(each for each in site.audited if each.run and each.row.framework == framework)


def published(site: Site, framework: str) -> Table | None:
    """Return the published results whose logs were read, with the result from the log; what is printed twice once."""
    rows = sorted(
        once_each(audited(site, framework)),
        key=lambda each: (each.row.model, newest_first(each.row.hardware), each.row.log, each.row.printed),
    )
    columns = (
        ColumnOf[Audited](phrase("scorecard.case"), lambda each: cell(each.row.model, None, _setting(each))),
        ColumnOf[Audited](phrase("table.published"), lambda each: _printed(site, each), True, "published"),
        ColumnOf[Audited](phrase("scorecard.from_log"), lambda each: _recomputed(site, each), True, "recomputed"),
        ColumnOf[Audited](phrase("table.difference"), _difference, True, "difference"),
        ColumnOf[Audited](phrase("table.verdict"), verdict_cell),
    )
    return table_of("published", rows, columns, cards=True)


def _setting(found: Audited) -> Text:
    row = found.row
    on = verdict_words.devices_on(row.devices, row.nodes or 1) if row.devices else ""
    batch = verdict_words.batch(row.batch_size)
    precision = precision_name(row.precision) if row.precision else ""
    return joined((product(row.hardware), listed((precision, on, batch, in_words(row.options)))))


def _printed(site: Site, found: Audited) -> Cell:
    row = found.row
    return cell(printed(row), site.published.sources[row.source].address_of(row), row.unit, value=row.value)


def _recomputed(site: Site, found: Audited) -> Cell:
    if found.house is None:
        return absent(None)
    run = site.by_id.get(found.house.run.id)
    text = numbers.exact(float(f"{found.house.value:.7g}"))
    return cell(text, site.page(run) if run else None, value=found.house.value)


def _difference(found: Audited) -> Cell:
    if found.house is None:
        return absent(None)
    share = found.house.difference
    return cell(numbers.signed_percent(share, 1 if abs(share) >= 0.01 else 3), value=share)


def throughput(site: Site, framework: str) -> Table | None:
    """Return the published throughput of a framework on each hardware, with its sources."""
    by_hardware = site.once(published_figures.lines)
    found = [
        (hardware, each)
        for hardware in sorted(by_hardware, key=newest_first)
        for each in by_hardware[hardware]
        if framework in each.figures
    ]
    columns = (
        ColumnOf[tuple[str, PublishedLine]](
            phrase("scorecard.case"),
            lambda of: cell(of[1].title, of[1].page, joined((product(of[0]), listed(of[1].case)))),
        ),
        ColumnOf[tuple[str, PublishedLine]](
            phrase("table.published"), lambda of: _published(of[1].figures[framework], of[1].unit), True, "published"
        ),
        ColumnOf[tuple[str, PublishedLine]](
            phrase("table.source_of_figures"), lambda of: of[1].figures[framework].about
        ),
    )
    return table_of("throughput", found, columns, cards=True)


def _published(found: PublishedFigure, unit: str) -> Cell:
    return cell(found.figure, found.page, joined((unit, found.batch)))


def without_log(site: Site, framework: str) -> Table | None:
    """Return the number of further published results of each source, whose logs were not read."""
    with_log = {id(each.row) for each in audited(site, framework)}
    rows = [
        row for row in site.published.rows
        if row.framework == framework and row.value is not None and id(row) not in with_log
    ]  # fmt: skip
    return published_figures.source_table(site, rows, "hardware")
