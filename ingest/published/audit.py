"""Audit published figures: compute them again from their logs, and find the log and the rule that give each.

A run belongs to a published figure if its path ends in the figure's `log`. Runs that were just read come before
recorded ones. A figure is reproduced if ours differs from it by at most `TOLERANCE`, relative to it, or is the same
number to the digits that were printed. It belongs to another log only if that log is of the same case.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from operator import attrgetter

from msgspec import UNSET

from perfledger.ingest.common import frame
from perfledger.ingest.common.frame import DataColumn, fields
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute.results import results
from perfledger.ingest.compute.rules import NAMES
from perfledger.ingest.published import cases
from perfledger.ingest.published.publications import Publications, Published, Publisher, SourceClaim, options_cell
from perfledger.ingest.read import facts
from perfledger.schema.records import FactValue, Figure, Figures, Problem, Result, Run, to_json
from perfledger.schema.vocabulary import METRICS

TOLERANCE = 0.001
#: Bounds of the histogram of deviations, on both sides of zero, beyond the tolerance.
BOUNDS = (TOLERANCE, 0.01, 0.02, 0.05, 0.1, 0.2)
#: Metrics that a benchmark round publishes as a score over the runs of a result.
SCORES = frozenset(name for name, metric in METRICS.items() if metric.repeats == "olympic")
REPRODUCED, OTHER_RULE, OTHER_LOG, UNSUPPORTED, NO_FIGURE, NO_LOG = VERDICTS = (
    "reproduced", "reproduced_by_another_rule", "belongs_to_another_log", "not_supported", "no_figure", "no_log",
)  # fmt: skip
#: Facts of the case: if a log's name and content differ in one of them, the log belongs to another run.
_CASE = frozenset({"model", "nodes", "devices", "devices_per_node", "batch_size", "precision"})

_EXACT = Context(prec=1000)


@dataclass(frozen=True)
class LogFigure:
    """One figure of a run under a rule; `difference` is relative to the published figure.

    `printed` says whether it is that figure once it is rounded, or truncated, to the printed digits.
    """

    run: Run
    rule: str
    value: float
    unit: str
    first_line: int
    last_line: int
    difference: float
    printed: bool

    @property
    def close(self) -> bool:
        """Whether it is the published figure."""
        return self.printed or abs(self.difference) <= TOLERANCE


@dataclass(frozen=True)
class Audited:
    """A published figure and its verdict.

    `run` is the run of the log that the figure names. `house` is our figure of it by the headline rule, `closest` the
    nearest one by any rule, ours included. `other` is the figure of another log that equals the published one.
    """

    row: Published
    verdict: str
    run: Run | None = None
    recorded: bool = False
    house: LogFigure | None = None
    closest: LogFigure | None = None
    other: LogFigure | None = None

    @property
    def best(self) -> LogFigure | None:
        """The figure that is nearest to the published one: of another log if that has it, or else of its own."""
        return self.other or self.closest

    @property
    def runs(self) -> list[Run]:
        """The runs that the verdict follows from."""
        figures = (self.house, self.closest, self.other)
        return [*([self.run] if self.run else []), *(each.run for each in figures if each)]


def audit(publications: Publications, runs: Sequence[Run]) -> tuple[Audited, ...]:
    """Return every published throughput with its verdict, in the order of the tables."""
    available = _AvailableRuns(publications, runs)
    return tuple(_audited(row, available) for row in publications.rows if row.value is not None and _comparable(row))


def _comparable(row: Published) -> bool:
    """Return whether the audit covers a figure: rules compute throughputs, and scores; one without a log is listed."""
    return not row.log or row.metric.startswith("throughput") or row.metric in SCORES


@dataclass(frozen=True)
class DeviationBin:
    """How many figures of ours differ from the published ones by `low` to `high`; None: no bound on that side."""

    low: float | None
    high: float | None
    count: int


def deviations(found: Iterable[Audited]) -> tuple[DeviationBin, ...]:
    """Return the histogram of how far our figures are from the published ones, relative to these, lowest first."""
    bounds = (*(-each for each in reversed(BOUNDS)), *BOUNDS)
    counted = Counter(bisect(bounds, each.house.difference) for each in found if each.house)
    edges = (None, *bounds, None)
    return tuple(DeviationBin(low, high, counted[index]) for index, (low, high) in enumerate(pairwise(edges)))


def disagreements(rows: Iterable[Published]) -> list[list[Published]]:
    """Return the figures that one source prints for one case and that differ by more than their rounding.

    The figures of single repeats are left out, since they differ by nature, and tables publish their median.
    """
    known = [row for row in rows if row.value is not None]
    by_cell = by_key((row for row in known if row.metric != "throughput_run"), cases.cell)
    found = [each for each in map(_distinct, by_cell.values()) if len(each) > 1]
    return [*found, *_stale_outputs(known)]


def _stale_outputs(rows: Sequence[Published]) -> Iterable[list[Published]]:
    """Yield script outputs (medians of repeats) that match none of the page's tables.

    Outputs rarely state their options, so a median matches if it equals any figure of its case.
    """
    tables = by_key((row for row in rows if row.metric == "throughput"), cases.case_on_page)
    for median in (row for row in rows if row.metric == "throughput_median"):
        of_case = tables.get(cases.case_on_page(median), ())
        there = [row for row in of_case if cases.options_agree(row.options, median.options)]
        if there and not any(same(row, median) for row in there):
            yield [*_distinct(there), median]


#: How far rounding two figures and their quotient may move a speed-up that is printed with two digits.
_ROUNDING = 0.015


@dataclass(frozen=True)
class Slip:
    """A published speed-up, and the one computed from the figures of its page."""

    row: Published
    computed: float


def slips(rows: Iterable[Published]) -> tuple[Slip, ...]:
    """Return speed-ups that differ from the quotient of their figure and that of one device on the same page."""
    pages = by_key((row for row in rows if row.value), lambda row: (row.source, row.place))
    return tuple(slip for page in pages.values() for slip in _slips_of_page(page))


def _slips_of_page(rows: Sequence[Published]) -> Iterable[Slip]:
    ones = cases.one_device_figures(rows)
    made = (_slip(row, ones.get(cases.case_without_devices(row), ())) for row in rows if row.speedup)
    return (each for each in made if each and abs(each.computed - float(each.row.speedup)) > _ROUNDING)


def _slip(row: Published, ones: Sequence[float]) -> Slip | None:
    """Return the speed-up nearest to the printed one; None without a figure of one device."""
    computed = [(row.value or 0.0) / one for one in ones]
    return Slip(row, min(computed, key=lambda each: abs(each - float(row.speedup)))) if computed else None


@dataclass(frozen=True)
class Unconfirmed:
    """A figure whose log does not support what its source claims of it; `stated` is empty where the log is silent."""

    row: Published
    claim: SourceClaim
    stated: str


def unconfirmed(found: Iterable[Audited], sources: Mapping[str, Publisher]) -> tuple[Unconfirmed, ...]:
    """Return the claims of sources that logs contradict or do not mention, once for each log."""
    checked: dict[tuple[str, SourceClaim], Unconfirmed] = {}
    for each in found:
        for claim in sources[each.row.source].claims:
            if each.run and fnmatchcase(each.row.place, claim.places):
                checked.setdefault((each.row.log, claim), Unconfirmed(each.row, claim, _stated(each.run, claim.option)))
    return tuple(each for each in checked.values() if each.stated != each.claim.value)


def _stated(run: Run, option: str) -> str:
    """Return what a log says of an option, in the words of the tables."""
    value = run.case.options.get(option, "")
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _distinct(rows: Sequence[Published]) -> list[Published]:
    """Return the rows without those whose figure is that of an earlier one, more or less rounded."""
    found: list[Published] = []
    for row in rows:
        if not any(same(row, each) for each in found):
            found.append(row)
    return found


def same(one: Published, two: Published) -> bool:
    """Return whether two printed figures are one number; one may be rounded and the other truncated."""
    finer, coarser = sorted((Decimal(each.printed) for each in (one, two)), key=_places, reverse=True)
    return _is_shortened(coarser, finer)


def _is_shortened(printed: Decimal, number: Decimal) -> bool:
    """Return whether `printed` is the number, rounded or truncated to the digits of `printed`."""
    last = Decimal(1).scaleb(-_places(printed))
    return printed in (number.quantize(last, each, _EXACT) for each in (ROUND_HALF_UP, ROUND_DOWN))


def _places(number: Decimal) -> int:
    """Return the number of digits after the point."""
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


class _AvailableRuns:
    """The available runs, by the log that a figure names and by model and framework."""

    def __init__(self, publications: Publications, runs: Sequence[Run]) -> None:
        self._wanted = {row.log for row in publications.rows if row.log}
        self.by_log: dict[str, list[Run]] = {}
        read = [run for run in runs if run.format]
        known, here = {run.sha256 for run in read}, {log for run in read for log in self._logs(run)}
        recorded = [run for run in publications.recorded if run.sha256 not in known and not self._logs(run) & here]
        self._alike = by_key([*read, *recorded], lambda run: (run.case.model, run.case.framework))
        for run in (*read, *recorded):
            for log in self._logs(run):
                self.by_log.setdefault(log, []).append(run)
        self.recorded = {id(run) for run in recorded}
        self._runs = {run.id: run for run in read}

    @cached_property
    def _results(self) -> list[Result]:
        return results(list(self._runs.values()))

    def entry(self, row: Published) -> tuple[Result, Run] | None:
        """Return our result of a published score, with its first run; None if we have no such result."""
        found = next((each for each in self._results if cases.is_of_entry(row, each)), None)
        return (found, self._runs[found.run_ids[0]]) if found else None

    def others_of_case(self, row: Published, own: Run) -> list[Run]:
        """Return the runs of other logs that are of the case of a figure; one whose case is not known is not."""
        alike = self._alike.get((row.model, row.framework), ())
        return [run for run in alike if run.sha256 != own.sha256 and _is_of_case(row, run)]

    def _logs(self, run: Run) -> set[str]:
        """Return the logs named by figures that this run's path ends in."""
        return self._wanted.intersection(_ends(run.path))


def _is_of_case(row: Published, run: Run) -> bool:
    """Return whether a run has the hardware, the precision and the devices of a figure, as far as that states them."""
    stated = {name: getattr(row, name) for name in ("hardware", "precision", "devices") if getattr(row, name)}
    ours = {name: getattr(run.case, name) for name in stated}
    return all(
        ours[name] is not None and facts.agree(name, FactValue(value), FactValue(ours[name]))
        for name, value in stated.items()
    )


def _ends(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[index:]) for index in range(len(parts)))


def _audited_score(row: Published, available: _AvailableRuns) -> Audited:
    """Compare a published score with that of the runs of its result; its rule is the only one."""
    entry = available.entry(row)
    if entry is None or (metric := entry[0].metrics.get(row.metric)) is None:
        return Audited(row, NO_LOG)
    run, value = entry[1], metric.value
    if value is None:
        return Audited(row, NO_FIGURE, run)
    metric_of_run = run.metrics[row.metric]
    score = Figure(
        value, metric.unit, "job", first_line=metric_of_run.first_line or 0, last_line=metric_of_run.last_line or 0
    )
    found = _log_figure(row, run, metric.rule, score)
    return Audited(row, REPRODUCED if found.close else UNSUPPORTED, run, house=found)


def _audited(row: Published, available: _AvailableRuns) -> Audited:
    if row.metric in SCORES:
        return _audited_score(row, available)
    runs = available.by_log.get(row.log, []) if row.log else []
    if not runs:
        return Audited(row, NO_LOG)
    ours = _figures(row, runs, headline=True)
    house = _nearest(ours)
    # If two are equally near, the one by another rule, since it shows which rule the source may have used.
    closest = _nearest([*_figures(row, runs, headline=False), *ours])
    run = next((each.run for each in (house, closest) if each), runs[0])
    verdict, other = _verdict(row, run, house, closest, available)
    return Audited(row, verdict, run, id(run) in available.recorded, house, closest, other)


def _verdict(
    row: Published, run: Run, house: LogFigure | None, closest: LogFigure | None, available: _AvailableRuns
) -> tuple[str, LogFigure | None]:
    if house and house.close:
        return REPRODUCED, None
    if closest and closest.close:
        return OTHER_RULE, None
    if other := _elsewhere(row, run, available):
        return OTHER_LOG, other
    if contradictions(run):
        return OTHER_LOG, None
    return (UNSUPPORTED if house or closest else NO_FIGURE), None


def _elsewhere(row: Published, own: Run, available: _AvailableRuns) -> LogFigure | None:
    """Return the figure of another log of the same case that equals the published one."""
    others = available.others_of_case(row, own)
    found = _nearest([*_figures(row, others, headline=True), *_figures(row, others, headline=False)])
    return found if found and found.close else None


def contradictions(run: Run | None) -> list[Problem]:
    """Return the problems about contradictions between the name of a log and its content."""
    return [each for each in run.problems if _contradicts(each)] if run else []


def _contradicts(problem: Problem) -> bool:
    return problem.code == "contradiction" and problem.args.get("fact") in _CASE


def refutations(run: Run | None) -> list[Problem]:
    """Return the problems about contradictions within a log; the published figure may be one side of them."""
    return [each for each in run.problems if each.code == "withheld"] if run else []


def _figures(row: Published, runs: Iterable[Run], *, headline: bool) -> list[LogFigure]:
    """Return figures of the whole job: the headline, or those under every other rule."""
    found = []
    for run in runs:
        for name, figure in run.all_figures.items():
            if isinstance(figure, Figure) and figure.scope == "job" and (name == run.rule) == headline:
                found.append(_log_figure(row, run, name, figure))
    return found


def _log_figure(row: Published, run: Run, name: str, figure: Figure) -> LogFigure:
    difference = figure.value / (row.value or float("nan")) - 1
    printed = _is_shortened(Decimal(row.printed), Decimal(repr(figure.value)))
    return LogFigure(run, name, figure.value, figure.unit, figure.first_line, figure.last_line, difference, printed)


def _nearest(found: Sequence[LogFigure]) -> LogFigure | None:
    """Return the figure that is the published one, or else the closest; of two, by a rule that the source names."""
    return min(
        found, key=lambda each: (not each.close, round(abs(each.difference), 9), each.rule in NAMES), default=None
    )


def table(found: Iterable[Audited]) -> bytes:
    """Return the figures that name a log as one CSV file; differences are relative to the published figure."""
    return frame.csv(COLUMNS, (each for each in found if each.row.log))


def _relative(found: LogFigure | None) -> str | None:
    return f"{found.difference:.6f}" if found else None


_ROW = attrgetter("row")
_RUN = attrgetter("run")
COLUMNS: tuple[DataColumn[Audited], ...] = (
    *fields(
        Published, "source", "place", "line", "log", "model", "framework", "hardware", "nodes", "devices",
        "batch_size", "precision", of=_ROW,
    ),
    DataColumn("options", str, lambda each: options_cell(each.row.options)),
    *fields(Published, "metric", "unit", of=_ROW),
    DataColumn("published", str, lambda each: each.row.printed),
    *fields(Audited, "verdict"),
    DataColumn("sustained", float, lambda each: each.house.value if each.house else None),
    DataColumn("sustained_difference", float, lambda each: _relative(each.house)),
    *fields(LogFigure, "rule", of=attrgetter("best")),
    DataColumn("recomputed", float, lambda each: each.best.value if each.best else None),
    DataColumn("recomputed_unit", str, lambda each: each.best.unit if each.best else None),
    DataColumn("difference", float, lambda each: _relative(each.best)),
    *fields(LogFigure, "first_line", "last_line", of=attrgetter("best")),
    DataColumn("other_log", str, lambda each: each.other.run.path if each.other else None),
    DataColumn("read", str, lambda each: None if each.run is None else "recorded" if each.recorded else "here"),
    *fields(Run, "format", of=_RUN),
    DataColumn("records", int, lambda each: each.run.observations if each.run else None),
    *fields(Run, "sha256", of=_RUN),
    DataColumn("problems", list, lambda each: sorted({one.code for one in each.run.problems} if each.run else ())),
)  # fmt: skip


#: Fields of a run that are recorded in addition to its figures; lines of the log are not recorded.
_RECORDED = ("path", "session", "sha256", "format", "outcome", "observations", "case", "problems")
_FIGURE = ("value", "unit", "scope", "used", "skipped", "first_line", "last_line")


def record(runs: Iterable[Run]) -> bytes:
    """Return the runs of logs that are not published here, one per line, sorted, for `Publications.recorded`."""
    ordered = sorted(runs, key=lambda each: (each.path, each.session))
    lines = ({name: to_json(run)[name] for name in _RECORDED} | _figures_of(run) for run in ordered)
    return b"".join(json.dumps(each, sort_keys=True, ensure_ascii=False).encode() + b"\n" for each in lines)


def _figures_of(run: Run) -> dict[str, dict[str, dict[str, object]]]:
    """Return the figures of a run without the steps of their computation."""
    found = {"figures": _shortened(run.figures)}
    return found if run.audit is UNSET else {**found, "audit": _shortened(run.audit)}


def _shortened(figures: Figures) -> dict[str, dict[str, object]]:
    known = {rule: each for rule, each in figures.items() if isinstance(each, Figure)}
    return {rule: {name: getattr(each, name) for name in _FIGURE} for rule, each in known.items()}
