"""The pages of benchmark rounds: per benchmark the scores of all systems, per system its environment and its runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase, word_for
from perfledger.ingest.compute.results import round_of
from perfledger.ingest.published.publications import Published
from perfledger.ingest.site import addresses
from perfledger.ingest.site.model import Page, Row, Site, Suite, hardware_of, named, reason
from perfledger.ingest.site.published_figures import score_of
from perfledger.ingest.site.render.table import Cell, Column, Link, Table, absent, cell
from perfledger.ingest.site.render.text import slug
from perfledger.ingest.site.run_details import environment_table
from perfledger.ingest.site.run_tables import log_lines_text, outcome
from perfledger.schema.records import ResultMetric, Run
from perfledger.schema.vocabulary import METRICS

SCORE = "time_to_train"
SAMPLES = "samples_to_train"
ENERGY = "energy_to_train"
_COLUMNS = ("submitter", "system", "devices")


@dataclass(frozen=True)
class Entrant:
    """A result that was submitted to a round: its score, and the page of its benchmark."""

    suite: Suite
    row: Row
    score: ResultMetric

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


def pages(site: Site) -> list[Page]:
    """Return a page per round with results."""
    return [
        Page(
            addresses.round_page(name),
            "round",
            _title(name),
            phrase("describe.round", round=name or "—"),
            functools.partial(_context, site, name),
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
        Entrant(suite, row, row.metrics[SCORE])
        for suite in site.shown
        for row in site.rows.get(suite.id, ())
        if _is_entry(row.metrics, row.options) and (row.round or "") == name
    ]


def _is_entry(metrics: Mapping[str, object], options: Mapping[str, object]) -> bool:
    """Return whether somebody submitted it, and it trained to a target."""
    return SCORE in metrics and {"submitter", "system"} <= options.keys()


def _title(name: str) -> Text:
    return phrase("round.title", round=name) if name else phrase("round.unnamed")


def _context(site: Site, name: str) -> Mapping[str, Any]:
    found = sorted(entrants(site, name), key=lambda each: each.anchor)
    by_suite: dict[str, list[Entrant]] = {}
    by_system: dict[str, list[Entrant]] = {}
    for each in found:
        by_suite.setdefault(each.suite.id, []).append(each)
        by_system.setdefault(each.anchor, []).append(each)
    order = [suite for suite in site.shown if suite.id in by_suite]
    return {
        "title": _title(name),
        "index": addresses.REPORTS,
        "results": len(found),
        "runs": sum(len(each.row.run_ids) for each in found),
        "benchmarks": [
            (each, addresses.model_page(each), scores(site, by_suite[each.id], addresses.round_page(name)))
            for each in order
        ],
        "systems": [_system(site, anchor, each) for anchor, each in by_system.items()],
    }


def scores(site: Site, entrants: Sequence[Entrant], page: str) -> Table:
    """Return the scores of one benchmark, the best first, with links to the systems on the page of the round."""
    ordered = sorted(entrants, key=lambda each: (each.score.value or math.inf, each.anchor))
    published = {each.anchor: score_of(site, each.row) for each in ordered}
    with_published, with_energy = any(published.values()), any(ENERGY in each.row.metrics for each in ordered)
    head = [
        *(Column(phrase(f"round.{each}")) for each in _COLUMNS),
        Column(word_for("metric", SCORE), True, key=SCORE, unit=METRICS[SCORE].unit),
        *([Column(phrase("round.published"), True, unit=METRICS[SCORE].unit)] if with_published else []),
        Column(phrase("round.runs"), True),
        Column(phrase("table.spread"), True),
        Column(phrase("round.range", unit=METRICS[SCORE].unit), True, key="range"),
        Column(word_for("metric", SAMPLES), True, key=SAMPLES),
        Column(phrase("round.throughput"), True),
        *([Column(word_for("metric", ENERGY), True, key=ENERGY, unit=METRICS[ENERGY].unit)] if with_energy else []),
    ]
    body = tuple(_line(entrant, published[entrant.anchor], page, with_published, with_energy) for entrant in ordered)
    return Table(tuple(head), body, name="scores")


def _line(
    entrant: Entrant, published: Published | None, page: str, with_published: bool, with_energy: bool
) -> tuple[Cell, ...]:
    row, score = entrant.row, entrant.score
    samples = row.metrics.get(SAMPLES)
    devices = phrase("round.devices_of", devices=row.devices, hardware=named(row.hardware))
    machines = (phrase("round.machines_of", nodes=row.nodes),) if (row.nodes or 1) > 1 else ()
    return (
        cell(entrant.submitter),
        cell(entrant.system, addresses.section(page, entrant.anchor)),
        cell(devices, None, *machines, value=row.devices),
        _score_cell(entrant, page),
        *([_published_cell(entrant, published)] if with_published else []),
        _reached_cell(entrant),
        cell(numbers.percent(score.spread), value=score.spread) if score.spread is not None else absent(None),
        _range_cell(score),
        _number(samples.value if samples else None, numbers.exact),
        _number(row.value, numbers.figure, row.unit),
        *([_number(row.metric(ENERGY), numbers.figure)] if with_energy else []),
    )


def _score_cell(entrant: Entrant, page: str) -> Cell:
    """Return the score with a link to its runs, or the reason why it is missing."""
    score = entrant.score
    if score.value is None:
        return absent(reason(score.reason))
    marks = (phrase("round.factor", factor=f"{score.factor:.6g}"),) if score.factor != 1 else ()
    return cell(_minutes(score.value), addresses.section(page, entrant.anchor), *marks, value=score.value)


def _reached_cell(entrant: Entrant) -> Cell:
    """Return how many runs there are, and how many of them missed the target."""
    runs = len(entrant.row.run_ids)
    missed = runs - entrant.score.repeats
    return cell(str(runs), None, *([phrase("round.missed", missed=missed)] if missed else []), value=runs)


def _range_cell(score: ResultMetric) -> Cell:
    if score.low is None or score.high is None:
        return absent(None)
    return cell(f"{_minutes(score.low)} – {_minutes(score.high)}")


def _minutes(value: float) -> str:
    """Write minutes as rounds publish them, to a thousandth."""
    return numbers.grouped(value, 3)


def _number(value: float | None, write: Any, *marks: Text) -> Cell:
    return cell(write(value), None, *marks, value=value) if value is not None else absent(None)


def _published_cell(entrant: Entrant, published: Published | None) -> Cell:
    """Return the published score, and how far ours is from it."""
    if published is None or not published.value:
        return absent(None)
    ours = entrant.score.value
    difference = numbers.signed_percent(ours / published.value - 1, 3) if ours else ""
    return cell(published.printed, addresses.AUDIT, difference, value=published.value)


def _system(site: Site, anchor: str, entrants: Sequence[Entrant]) -> Mapping[str, Any]:
    """Return the section of a system: its environment, and the runs of each of its results."""
    first = entrants[0]
    run = site.by_id[first.row.run_ids[0]]
    return {
        "anchor": anchor,
        "submitter": first.submitter,
        "system": first.system,
        "hardware": hardware_of(run),
        "environment": environment_table(run),
        "results": [
            (each.suite.title, addresses.model_page(each.suite), _runs(site, [site.by_id[i] for i in each.row.run_ids]))
            for each in entrants
        ],
    }


def _runs(site: Site, runs: Sequence[Run]) -> Table:
    """Return the runs of a result, each with the line of its log that ends it."""
    head = (
        Column(phrase("table.run")),
        Column(phrase("table.outcome")),
        Column(word_for("metric", SCORE), True, key=SCORE, unit=METRICS[SCORE].unit),
        Column(phrase("round.line")),
        Column(word_for("fact", "seed"), key="seed"),
        Column(word_for("metric", SAMPLES), True, key=SAMPLES),
        Column(phrase("round.throughput"), True),
    )
    return Table(head, tuple(_run_line(site, run) for run in _in_order(runs)), name="runs-of-system")


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Return runs by the numbers that their paths state."""
    return sorted(runs, key=lambda run: (run.repeat if run.repeat is not None else math.inf, run.id))


def _run_line(site: Site, run: Run) -> tuple[Cell, ...]:
    time, samples, speed = run.metrics.get(SCORE), run.metrics.get(SAMPLES), run.headline
    line = time.last_line if time else None
    return (
        cell(run.path.rpartition("/")[2], site.page(run)),
        cell(outcome(run)),
        _number(time.value, _minutes) if time and time.value else absent(reason(time.reason) if time else None),
        cell(log_lines_text(line, line), addresses.log_lines(site, run, line)) if line else absent(None),
        cell(str(run.facts["seed"].value)) if "seed" in run.facts else absent(None),
        _number(samples.value if samples else None, numbers.exact),
        _number(speed.value if speed else None, numbers.figure, speed.unit if speed else ""),
    )
