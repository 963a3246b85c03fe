"""Tables and the chart of a framework's page: against rivals, newest results, published results, and what changed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute.comparison import Candidate
from perfledger.ingest.published.audit import Audited
from perfledger.ingest.site import addresses, published_figures, verdict_words
from perfledger.ingest.site.audit_cases import AuditCase, audit_cases
from perfledger.ingest.site.data import changes
from perfledger.ingest.site.data.changes import Change
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.model import Row, Site, Suite, named, written
from perfledger.ingest.site.options import joined, listed
from perfledger.ingest.site.published_figures import PublishedLine
from perfledger.ingest.site.render import colours
from perfledger.ingest.site.render.chart import Chart, Dot, Dots, Panel
from perfledger.ingest.site.render.table import Cell, Table, cell
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.result_tables import day_of, representative
from perfledger.ingest.site.run_tables import stated
from perfledger.ingest.site.scorecards import Placing, Score
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: The day of a result's newest run, and the result with its suite.
_Dated = tuple[str, Suite, Row]
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

    def verdict(found: Placing) -> Text | None:
        return phrase(f"scorecard.is_{found.kind}") if score.is_telling else None

    columns = (
        ColumnOf[Placing](phrase("scorecard.case"), lambda each: _result(each.standing.suite, each.row)),
        ColumnOf[Placing](
            phrase("scorecard.ratio"), lambda each: cell(numbers.ratio(each.ratio), value=each.ratio), True
        ),
        ColumnOf(phrase("scorecard.verdict"), verdict, optional=True),
        ColumnOf[Placing](phrase("scorecard.mine"), lambda each: _figure(site, each.mine), True),
        ColumnOf[Placing](
            phrase("scorecard.rival"), lambda each: _figure(site, each.rival, named(each.rival.framework)), True
        ),
    )
    return table_of("comparisons", score.compared, columns, cards=True)


def _figure(site: Site, found: Candidate, *name: Text) -> Cell:
    """Return a figure, linked to its run, and the statements of the run about how it was measured."""
    row, run = found.result, representative(site, found.result)
    text = numbers.figure(found.figure.value, found.figure.spread, row.resolution or 0.0)
    about = joined((*name, verdict_words.times(row), *stated(run)))
    return cell(text, site.page(run), row.unit, about, value=found.figure.value)


# ---- newest results, and changes ----


def newest(site: Site, framework: str) -> Table | None:
    """Return the results of a framework that were measured last."""
    suites = {each.id: each for each in site.shown}
    found = [
        (day_of(site, row), suites[suite], row)
        for suite, rows in site.rows.items()
        for row in rows
        if row.framework == framework and numbers.known(row.value)
    ]

    def figure(row: Row) -> Cell:
        page = site.page(representative(site, row))
        return cell(written(row), page, row.unit, verdict_words.times(row), value=row.value)

    columns = (
        ColumnOf[_Dated](phrase("scorecard.day"), lambda of: of[0], key="day", optional=True),
        ColumnOf[_Dated](phrase("scorecard.case"), lambda of: _result(*of[1:])),
        ColumnOf[_Dated](phrase("table.figure"), lambda of: figure(of[2]), True),
    )
    dated = [of for of in found if of[0]] or found
    return table_of("newest", sorted(dated, key=lambda of: of[0], reverse=True)[:NEWEST], columns, cards=True)


def _result(suite: Suite, row: Row) -> Cell:
    case = verdict_words.case_of(suite, row)
    return cell(suite.name_of(row), addresses.model_page(suite), joined((product(row.hardware or ""), listed(case))))


def changed(site: Site, framework: str) -> Table | None:
    """Return the latest moves of a framework's figures."""
    found = [each for each in site.once(changes.changes) if each.row.framework == framework and each.before]
    columns = (
        ColumnOf[Change](phrase("scorecard.day"), lambda each: each.date),
        ColumnOf[Change](phrase("scorecard.case"), lambda each: _result(each.suite, each.row)),
        ColumnOf[Change](phrase("scorecard.before"), lambda each: changes.text(each.before), True),
        # Without a link: verify compares figures with links to the figure of today.
        ColumnOf[Change](
            phrase("scorecard.after"), lambda each: cell(changes.text(each.after), None, each.row.unit), True
        ),
        ColumnOf[Change](
            phrase("scorecard.change"),
            lambda each: cell(numbers.signed_percent(each.share or 0), None, changes.how_sure(each)),
            True,
        ),
    )
    return table_of("changed", sorted(found, key=lambda each: each.date, reverse=True)[:NEWEST], columns, cards=True)


# ---- results that others published ----


def audited(site: Site, framework: str) -> tuple[Audited, ...]:
    """Return the published results of a framework that name a log that was read."""
    return tuple(each for each in site.audited if each.run and each.row.framework == framework)


def cases(site: Site, framework: str) -> tuple[AuditCase, ...]:
    """Return the published results whose logs were read, as the audit shows them, by model and hardware."""

    def order(each: AuditCase) -> tuple[object, ...]:
        row = each.audited.row
        return row.model, newest_first(row.hardware), row.log, row.printed

    return tuple(sorted(audit_cases(site, audited(site, framework)), key=order))


def throughput(site: Site, framework: str) -> Table | None:
    """Return the published throughput of a framework on each hardware, with its sources."""
    by_hardware = site.once(published_figures.lines)
    found = [
        (hardware, each)
        for hardware in sorted(by_hardware, key=newest_first)
        for each in by_hardware[hardware]
        if framework in each.figures
    ]

    def case(of: tuple[str, PublishedLine]) -> Cell:
        hardware, line = of
        return cell(line.title, line.page, joined((product(hardware), listed(line.case))))

    def figure(of: tuple[str, PublishedLine]) -> Cell:
        mine = of[1].figures[framework]
        return cell(mine.figure, mine.page, joined((of[1].key.unit, mine.batch)))

    def source(of: tuple[str, PublishedLine]) -> Text:
        return of[1].figures[framework].about

    columns = (
        ColumnOf(phrase("scorecard.case"), case),
        ColumnOf(phrase("table.published"), figure, True, "published"),
        ColumnOf(phrase("table.source_of_figures"), source),
    )
    return table_of("throughput", found, columns, cards=True)
