"""The pages of benchmark rounds: per benchmark the scores of all systems, per system its environment and its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.results import round_of
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Row, Site, Suite, named, reason
from perfledger.ingest.site.published_figures import score_of
from perfledger.ingest.site.render.table import Cell, Link, Table, absent, cell
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.run_details import environment_table
from perfledger.ingest.site.run_tables import log_lines_text, outcome
from perfledger.ingest.site.table_of import ColumnOf, table_of
from perfledger.ingest.site.verdict_words import devices_of
from perfledger.schema.records import ResultMetric, Run
from perfledger.schema.vocabulary import METRICS

SCORE = "time_to_train"
SAMPLES = "samples_to_train"


@dataclass(frozen=True)
class Entrant:
    """A result that was submitted to a round: its score, and its runs by the numbers that their paths state."""

    suite: Suite
    row: Row
    score: ResultMetric
    runs: tuple[Run, ...]

    @property
    def submitter(self) -> str:
        """Return who submitted it."""
        return str(self.row.options["submitter"])

    @property
    def system(self) -> str:
        """Return the name of its system."""
        return str(self.row.options["system"])

    @property
    def anchor(self) -> str:
        """Return the section of its system."""
        return slug(f"{self.submitter} {self.system}")

    @property
    def page(self) -> str:
        """Return the page of its benchmark."""
        return addresses.model_page(self.suite)


@dataclass(frozen=True)
class RoundPage:
    """A benchmark round: how many results and runs it has, the scores by benchmark, and the systems.

    A system has its first result, its environment, and the runs of each result.
    """

    title: Text
    results: int
    runs: int
    benchmarks: tuple[tuple[Entrant, Table | None], ...]
    systems: tuple[tuple[Entrant, Table | None, tuple[tuple[Entrant, Table | None], ...]], ...]
    index: str = addresses.REPORTS


def pages(site: Site) -> list[Page]:
    """Return a page per round with results."""
    return [
        Page(
            addresses.round_page(name),
            "round",
            _title(name),
            phrase("describe.round", round=name or "—"),
            partial(_round, site, name),
            order=0,
        )
        for name in rounds(site)
    ]


def links(site: Site) -> list[Link]:
    """Return links to the pages of all rounds."""
    return [Link(_title(name), addresses.round_page(name)) for name in rounds(site)]


def rounds(site: Site) -> list[str]:
    """Return the names of the rounds that runs were submitted to; empty where no path names it."""
    return sorted({round_of(run) or "" for run in site.counted if _is_entry(run.metrics, run.case.options)})


def entrants(site: Site, name: str) -> list[Entrant]:
    """Return the results that were submitted to a round."""
    return [
        Entrant(suite, row, row.metrics[SCORE], tuple(sorted((site.by_id[each] for each in row.run_ids), key=_nth)))
        for suite in site.shown
        for row in site.rows.get(suite.id, ())
        if _is_entry(row.metrics, row.options) and (row.round or "") == name
    ]


def _nth(run: Run) -> tuple[float, str]:
    return (run.repeat if run.repeat is not None else math.inf, run.id)


def _is_entry(metrics: Mapping[str, object], options: Mapping[str, object]) -> bool:
    """Return whether somebody submitted it, and it trained to a target."""
    return SCORE in metrics and {"submitter", "system"} <= options.keys()


def _title(name: str) -> Text:
    return phrase("round.title", round=name) if name else phrase("round.unnamed")


def _round(site: Site, name: str) -> RoundPage:
    in_suites = entrants(site, name)
    found = sorted(in_suites, key=lambda each: each.anchor)
    page = addresses.round_page(name)
    by_suite = by_key(in_suites, lambda each: each.suite.id).values()
    return RoundPage(
        title=_title(name),
        results=len(found),
        runs=sum(len(each.runs) for each in found),
        benchmarks=tuple((each[0], scores(site, each, page)) for each in by_suite),
        systems=tuple(
            (each[0], environment_table(each[0].runs[0]), tuple((one, _runs(site, one)) for one in each))
            for each in by_key(found, lambda each: each.anchor).values()
        ),
    )


def scores(site: Site, entrants: Sequence[Entrant], page: str) -> Table | None:
    """Return the scores of one benchmark, the best first, with links to the systems on the page of the round."""
    ordered = sorted(entrants, key=lambda each: (each.score.value or math.inf, each.anchor))
    unit = METRICS[SCORE].unit
    of = ColumnOf[Entrant]
    columns = (
        of(phrase("round.submitter"), lambda each: each.submitter),
        of(phrase("round.system"), lambda each: cell(each.system, addresses.section(page, each.anchor))),
        of(phrase("round.devices"), _devices_cell),
        of(word_for("metric", SCORE), lambda each: _score_cell(each, page), True, SCORE, unit=unit),
        of(phrase("round.published"), lambda each: _published_cell(site, each), True, optional=True, unit=unit),
        of(phrase("round.runs"), _reached_cell, True),
        of(phrase("table.spread"), lambda each: _number(each.score.spread, numbers.percent), True),
        of(phrase("round.range", unit=unit), _range, True, "range"),
        of(word_for("metric", SAMPLES), lambda each: _number(each.row.metric(SAMPLES), numbers.exact), True, SAMPLES),
        of(phrase("round.throughput"), lambda each: _number(each.row.value, numbers.figure, each.row.unit), True),
    )
    return table_of("scores", ordered, columns)


def _devices_cell(entrant: Entrant) -> Cell:
    row = entrant.row
    return cell(devices_of(row.devices, row.nodes, named(row.hardware)), value=row.devices)


def _score_cell(entrant: Entrant, page: str) -> Cell:
    """Return the score with a link to its runs, or the reason why it is missing."""
    score = entrant.score
    if score.value is None:
        return absent(reason(score.reason))
    marks = (phrase("round.factor", factor=f"{score.factor:.6g}"),) if score.factor != 1 else ()
    return cell(_minutes(score.value), addresses.section(page, entrant.anchor), *marks, value=score.value)


def _published_cell(site: Site, entrant: Entrant) -> Cell | None:
    """Return the published score, and how far ours is from it."""
    published = score_of(site, entrant.row)
    if published is None or not published.value:
        return None
    ours = entrant.score.value
    difference = numbers.signed_percent(ours / published.value - 1, 3) if ours else ""
    return cell(published.printed, addresses.AUDIT, difference, value=published.value)


def _reached_cell(entrant: Entrant) -> Cell:
    """Return how many runs there are, and how many of them missed the target."""
    runs = len(entrant.runs)
    missed = runs - entrant.score.repeats
    return cell(str(runs), None, *([phrase("round.missed", missed=missed)] if missed else []), value=runs)


def _range(entrant: Entrant) -> str:
    low, high = entrant.score.low, entrant.score.high
    return "" if low is None or high is None else f"{_minutes(low)} – {_minutes(high)}"


def _minutes(value: float) -> str:
    """Write minutes as rounds publish them, to a thousandth."""
    return numbers.grouped(value, 3)


def _number(value: float | None, write: Callable[[float], str], *marks: Text) -> Cell | None:
    return cell(write(value), None, *marks, value=value) if value is not None else None


def _runs(site: Site, entrant: Entrant) -> Table | None:
    """Return the runs of a result, each with the line of its log that ends it."""
    of = ColumnOf[Run]
    columns = (
        of(phrase("table.run"), lambda run: cell(run.path.rpartition("/")[2], site.page(run))),
        of(phrase("table.outcome"), outcome),
        of(word_for("metric", SCORE), _time_cell, True, SCORE, unit=METRICS[SCORE].unit),
        of(phrase("round.line"), lambda run: _line_cell(site, run)),
        of(
            word_for("fact", "seed"),
            lambda run: str(run.facts["seed"].value) if "seed" in run.facts else "",
            key="seed",
        ),
        of(
            word_for("metric", SAMPLES),
            lambda run: _number(run.metrics[SAMPLES].value, numbers.exact) if SAMPLES in run.metrics else None,
            True,
            SAMPLES,
        ),
        of(
            phrase("round.throughput"),
            lambda run: _number(run.headline.value, numbers.figure, run.headline.unit) if run.headline else None,
            True,
        ),
    )
    return table_of("runs-of-system", entrant.runs, columns)


def _time_cell(run: Run) -> Cell | None:
    time = run.metrics.get(SCORE)
    return _number(time.value or None, _minutes) or absent(reason(time.reason)) if time else None


def _line_cell(site: Site, run: Run) -> Cell | None:
    time = run.metrics.get(SCORE)
    line = time.last_line if time else None
    return cell(log_lines_text(line, line), addresses.log_lines(site, run, line)) if line else None
