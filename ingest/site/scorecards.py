"""Scorecards: how each framework does on each hardware, counted from the answers of the front page.

A case that an answer shows is an placing for each framework that has a figure there, against its best rival. The
fastest one has the answer's own verdict; any other one has the verdict of a comparison with the fastest alone.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.comparison import Candidate, Verdict
from perfledger.ingest.compute.results import version
from perfledger.ingest.site import addresses, answers
from perfledger.ingest.site.answers import Answer
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Row, Site, Suite, framework_of, hardware_of, named
from perfledger.ingest.site.render.table import Cell, Column, Entry, Table, absent, cell
from perfledger.ingest.site.result_tables import representative
from perfledger.ingest.site.run_tables import value_text
from perfledger.ingest.site.stated import joined, stated
from perfledger.ingest.site.table_metrics import candidates
from perfledger.schema.records import Run

#: Result of a framework in a case. `apart`: it may not be compared with the fastest; `alone`: nobody else ran the case.
Kind = Literal["clear_win", "likely_win", "tie", "likely_loss", "clear_loss", "apart", "alone"]
KINDS: tuple[Kind, ...] = ("clear_win", "likely_win", "tie", "likely_loss", "clear_loss", "apart", "alone")
#: Kinds with a comparison of two figures.
COMPARED: tuple[Kind, ...] = KINDS[:5]
#: Number of the best placings that are listed, and of the worst.
LISTED = 5
#: Facts of the machines in the table of versions.
_SYSTEM = ("driver", "cuda", "cudnn", "nccl", "python", "os")


@dataclass(frozen=True)
class Placing:
    """The result of a framework in the case of an answer; `rival` is the fastest of the others, if any."""

    suite: Suite
    hardware: str
    answer: Answer
    kind: Kind
    mine: Candidate
    rival: Candidate | None = None

    @property
    def framework(self) -> str:
        """The framework's name; empty where it is not known."""
        return self.mine.framework

    @property
    def row(self) -> Row:
        """The result that represents the framework."""
        return self.mine.result

    @property
    def ratio(self) -> float | None:
        """Its figure over that of the best rival; None where the two are not compared."""
        if self.rival is None or self.kind not in COMPARED:
            return None
        return self.mine.figure.value / self.rival.figure.value


def placings(site: Site) -> tuple[Placing, ...]:
    """Return all placings: by hardware as on the front page, model, case, and the fastest framework first."""
    names = answers.hardware_by_coverage(site.counted)
    return tuple(
        placing
        for hardware in names
        for suite in site.shown
        for answer in answers.answers(site, suite, hardware)
        for placing in _of_answer(site, suite, hardware, answer)
    )


def _of_answer(site: Site, suite: Suite, hardware: str, answer: Answer) -> Iterable[Placing]:
    of_case = sorted(candidates(site, answer.rows), key=lambda each: -each.figure.value)
    best = {each.framework: each for each in answer.judged.ranked}
    for each in of_case:  # what counts in another unit is not ranked
        best.setdefault(each.framework, each)
    for mine in best.values():
        rival = next((each for each in best.values() if each is not mine), None)
        yield Placing(suite, hardware, answer, _kind(suite, answer.judged, mine, of_case), mine, rival)


def _kind(suite: Suite, found: Verdict, mine: Candidate, of_case: Sequence[Candidate]) -> Kind:
    first = found.ranked[0]
    if mine is first:
        return _of_first(found)
    two = [each for each in of_case if each.framework in (first.framework, mine.framework)]
    apart = comparison.verdict(two, "higher", suite.workload)
    if found.contrast is None or apart.contrast is None:
        return "apart"
    return "tie" if apart.kind == "close" else "clear_loss" if apart.kind == "clear" else "likely_loss"


def _of_first(found: Verdict) -> Kind:
    if found.kind == "alone":
        return "alone"
    if found.contrast is None:
        return "apart"
    return "tie" if found.kind == "close" else "clear_win" if found.kind == "clear" else "likely_win"


# ---- what is counted ----


@dataclass(frozen=True)
class Score:
    """Some placings, counted; `ratio` is the median of the ratios to the best rival."""

    counted: Counter[Kind]
    ratio: float | None

    @property
    def won(self) -> int:
        """Cases won, clearly or likely."""
        return self.counted["clear_win"] + self.counted["likely_win"]

    @property
    def lost(self) -> int:
        """Cases lost, clearly or likely."""
        return self.counted["clear_loss"] + self.counted["likely_loss"]

    @property
    def compared(self) -> int:
        """Number of cases with a comparison of two figures."""
        return sum(self.counted[each] for each in COMPARED)


def score(found: Iterable[Placing]) -> Score:
    """Count placings."""
    listed = list(found)
    ratios = [each.ratio for each in listed if each.ratio is not None]
    return Score(Counter(each.kind for each in listed), statistics.median(ratios) if ratios else None)


def best_and_worst(found: Iterable[Placing]) -> tuple[list[Placing], list[Placing]]:
    """Return the placings with the highest and those with the lowest ratio, each once, the extreme one first."""
    by_ratio = sorted((each for each in found if each.ratio is not None), key=lambda each: -(each.ratio or 0))
    best = by_ratio[:LISTED]
    return best, by_ratio[len(best) :][-LISTED:][::-1]


# ---- tables ----


def scores(rows: Iterable[tuple[Cell, Sequence[Placing]]], first: Text, name: str) -> Table:
    """Return a table of scores, a line per name."""
    head = (
        Column(first),
        Column(phrase("scorecard.ratio"), True),
        *(Column(phrase(f"scorecard.{each}"), True) for each in KINDS),
    )
    return Table(head, tuple((title, *_score_cells(score(found))) for title, found in rows), name=name)


def _score_cells(found: Score) -> tuple[Cell, ...]:
    ratio = cell(numbers.ratio(found.ratio), value=found.ratio) if found.ratio else absent(phrase("scorecard.no_ratio"))
    return (ratio, *(count(found.counted[each]) for each in KINDS))


def listed(site: Site, found: Sequence[Placing], name: str) -> Table:
    """Return placings with the figures, the best rival's, and what is stated about the environment."""
    head = tuple(
        Column(phrase(f"scorecard.{each}"), each in ("mine", "rival", "ratio"))
        for each in ("case", "ratio", "verdict", "mine", "rival")
    )
    return Table(head, tuple(_line(site, each) for each in found), name=name)


def _line(site: Site, found: Placing) -> tuple[Cell, ...]:
    case = cell(
        found.suite.title,
        addresses.model_page(found.suite),
        joined((product(found.hardware), *found.answer.case)),
    )
    ratio = cell(numbers.ratio(found.ratio), value=found.ratio)
    return (case, ratio, cell(in_words(found.kind)), figure(site, found.mine), _rival(site, found))


def in_words(kind: Kind) -> Text:
    """Return what an placing is called."""
    return phrase(f"scorecard.{kind}") if kind in ("tie", "apart", "alone") else phrase(f"scorecard.is_{kind}")


def _rival(site: Site, found: Placing) -> Cell:
    if found.rival is None:
        return absent(None)
    (entry,) = figure(site, found.rival).entries
    return Cell((Entry(entry.text, entry.page, (named(found.rival.framework), *entry.marks), value=entry.value),))


def figure(site: Site, found: Candidate) -> Cell:
    """Return a cell with a figure, linked to its run, and what is stated about how it was measured."""
    repeats = phrase("front.once") if found.result.repeats == 1 else phrase("front.repeats", n=found.result.repeats)
    text = numbers.figure(found.figure.value, found.figure.spread, found.result.resolution or 0.0)
    marks = (found.result.unit, joined((repeats, *stated(representative(site, found.result)))))
    return Cell((Entry(text, site.page(representative(site, found.result)), marks, value=found.figure.value),))


def versions(runs: Sequence[Run]) -> Table | None:
    """Return a table of the framework's versions: how often, when and where each ran; None without runs."""
    by_version: dict[str, list[Run]] = {}
    for run in runs:
        by_version.setdefault(version(run) or "", []).append(run)
    shown = [each for each in _SYSTEM if any(run.environment.get(each) for run in runs)]
    head = (
        *(Column(phrase(f"scorecard.{each}")) for each in ("version", "days")),
        Column(phrase("nav.runs"), True),
        *(Column(phrase(f"environment.{each}")) for each in shown),
    )
    body = tuple(
        (cell(named(name)), _days(found), count(len(found)), *(_values(found, each) for each in shown))
        for name, found in sorted(by_version.items())
    )
    return Table(head, body, name="versions") if body else None


def count(number: int) -> Cell:
    """Return a cell with a count."""
    return cell(numbers.count(number), value=number)


def _days(runs: Sequence[Run]) -> Cell:
    days = sorted({day for run in runs if (day := date_of(run))})
    if not days:
        return absent(phrase("stated.undated"))
    return cell(days[0] if len(days) == 1 else phrase("front.range", low=days[0], high=days[-1]))


def _values(runs: Sequence[Run], item: str) -> Cell:
    found = sorted({value_text(value) for run in runs if (value := run.environment.get(item))})
    return entries(found)


def entries(texts: Sequence[str]) -> Cell:
    """Return a cell with texts one below the other."""
    return Cell(tuple(map(Entry, texts))) if texts else absent(None)


# ---- names ----


def frameworks(site: Site) -> list[str]:
    """Return the frameworks of all runs that count, by name."""
    return sorted({framework_of(run) for run in site.counted}, key=str.casefold)


def runs_on(site: Site, hardware: str) -> list[Run]:
    """Return the runs on a hardware that count."""
    return [run for run in site.counted if hardware_of(run) == hardware]
