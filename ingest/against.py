"""Compare the results of logs with a baseline: the acceptance test of a machine, a driver or a software.

A result of the baseline is compared with all results here of the same case, framework version and rule. The benchmark
round is printed but may differ, since an acceptance is a round of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from perfledger.ingest.common import words
from perfledger.ingest.common.documents import MOST_OF_SITE, DocumentError, cause, read_bytes
from perfledger.ingest.common.errors import UsageError, one_line
from perfledger.ingest.compute import results
from perfledger.ingest.compute.contrast import Measured, contrast
from perfledger.schema.figures import Acceptance, AcceptedCase, CaseFigure, FiguresFound
from perfledger.schema.records import Plain, Reason, Result, Run, from_json, from_text
from perfledger.schema.vocabulary import CASE, METRICS, UNITS

THROUGHPUT = "throughput"
#: Facts that the user may allow to differ from the baseline, as values of the option.
MAY_DIFFER = ("hardware", "version")
#: Repeats on each side that are needed to distinguish a difference from chance.
_FEWEST = 2


class _MetricOfBaseline(Struct, frozen=True, kw_only=True):
    """The needed keys of `schema.results.Metric`; keys of later versions are ignored, as the schema requires."""

    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    repeats: int = 1
    sources: tuple[str, ...] = ()


class _ResultOfBaseline(Struct, frozen=True, kw_only=True):
    """The needed keys of `schema.results.ResultRecord`."""

    origin: str
    model: str | None
    framework: str | None
    hardware: str | None
    nodes: int | None
    devices: int | None
    batch_size: int | None
    precision: str | None
    options: dict[str, Plain]
    framework_version: str | None
    round: str | None
    rule: str | None
    unit: str | None
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    repeats: int
    metrics: dict[str, _MetricOfBaseline] = {}
    placed: bool = True


class _PublishedBaseline(Struct, frozen=True, kw_only=True):
    version: Literal[1]
    results: tuple[_ResultOfBaseline, ...]


@dataclass(frozen=True)
class CaseResult:
    """One figure of a case, of the baseline or measured here; without a figure `measured` is None, for a `reason`."""

    case: dict[str, Plain | None]
    options: dict[str, Plain]
    version: str | None
    round: str | None
    rule: str | None
    measured: Measured | None
    reason: str = ""

    def differs(self, other: CaseResult) -> tuple[str, ...]:
        """Return the names of the facts that differ, so that the other one is not a result of the same case."""
        names = [name for name in CASE if self.case[name] != other.case[name]]
        keys = sorted(self.options.keys() | other.options.keys())
        names += [key for key in keys if self.options.get(key) != other.options.get(key)]
        names += ["version"] if self.version != other.version else []
        # A result without a figure has no rule.
        return (*names, *(["rule"] if self.measured and other.measured and self.rule != other.rule else []))

    def stated(self, name: str) -> str | None:
        """Return its value of a fact that may differ."""
        found = {"version": self.version, "rule": self.rule, **self.case, **self.options}.get(name)
        return None if found is None else str(found)


def against(
    baseline: Path, runs: Sequence[Run], at_least: float, metric: str, may_differ: Sequence[str], only_common: bool
) -> Acceptance:
    """Compare the results of runs with those of a file.

    Args:
        baseline: the `results.json` of a site, or the output of `python -m ingest figures --json`.
        at_least: how good a figure must be, as a share of the baseline's.
        metric: `throughput`, or a name of METRICS.
        may_differ: names of MAY_DIFFER.
        only_common: leave out results that only the baseline has.

    Raises:
        UsageError: the file cannot be read, or has no such figure; or `only_common` leaves no result.
    """
    mine = [_of_result(each, runs, metric) for each in results.results(runs)]
    cases = tuple(row for each in read(baseline, metric) for row in _rows_of(each, mine, at_least, metric, may_differ))
    if only_common:
        cases = tuple(each for each in cases if each.verdict != "missing")
        if not cases:
            raise UsageError(f"{baseline}: no case of it has a figure here; without --only-common, the table says why")
    return Acceptance(
        metric=metric,
        at_least=at_least,
        accepted=all(each.verdict == "reached" for each in cases),
        cases=cases,
    )


def read(path: Path, metric: str) -> list[CaseResult]:
    """Return the figures of a baseline, without those that others published and cases without a figure.

    Raises:
        UsageError: the file cannot be read, or has no such figure.
    """
    try:
        text = read_bytes(path, MOST_OF_SITE)
    except (OSError, DocumentError) as error:
        what = cause(error)
        raise UsageError(f"{path}: {what}; give the results.json of a site, or what figures --json printed") from None
    found = [each for each in _entries(path, text, metric) if each.measured]
    if not found:
        raise UsageError(f"{path}: holds no measured figure of {metric}, so there is nothing to compare with")
    return found


def _entries(path: Path, text: bytes, metric: str) -> Iterator[CaseResult]:
    try:
        given = from_text(text, dict[str, Any])
        if "results" in given:
            document = from_json(given, _PublishedBaseline)
            return (_of_record(each, metric) for each in document.results if each.origin == "measured" and each.placed)
        if "cases" in given:
            figures = from_json(given, FiguresFound)
            return (_of_figure(path, each, metric) for each in figures.cases)
    except ValueError as error:
        raise UsageError(f"{path}: {error}; it is neither a results.json nor what figures --json prints") from None
    raise UsageError(f"{path}: has neither `results` nor `cases`; give a results.json, or what figures --json printed")


def _of_record(given: _ResultOfBaseline, metric: str) -> CaseResult:
    over = given if metric == THROUGHPUT else given.metrics.get(metric)
    measured = None
    if over and over.value is not None:
        low, high = (over.value if end is None else end for end in (over.low, over.high))
        sources = over.sources if isinstance(over, _MetricOfBaseline) else ()
        measured = Measured(over.value, low, high, over.repeats, over.spread, over.unit or "", sources)
    case = {name: getattr(given, name) for name in CASE}
    return CaseResult(case, given.options, given.framework_version, given.round, given.rule, measured)


def _of_figure(path: Path, given: CaseFigure, metric: str) -> CaseResult:
    if metric != THROUGHPUT:
        raise UsageError(f"{path}: figures --json prints throughput only; for {metric} give the results.json of a site")
    if given.value is not None and (given.low is None or given.high is None):
        raise UsageError(f"{path}: was printed by an earlier version, without the cases; print it again")
    measured = None
    if given.value is not None and given.low is not None and given.high is not None:
        measured = Measured(given.value, given.low, given.high, given.repeats, given.spread, given.unit)
    case = {name: getattr(given.case, name) for name in CASE}
    return CaseResult(case, given.case.options, given.version, given.round, given.rule, measured)


def _of_result(given: Result, runs: Sequence[Run], metric: str) -> CaseResult:
    behind = [run for run in runs if run.id in set(given.run_ids)]
    over = given if metric == THROUGHPUT else given.metrics.get(metric)
    measured = None
    if over and over.value is not None and over.low is not None and over.high is not None:
        name = None if metric == THROUGHPUT else metric
        stated = {run.metrics[metric].source or "" for run in behind if name and metric in run.metrics}
        measured = Measured(
            over.value,
            over.low,
            over.high,
            over.repeats,
            over.spread,
            over.unit,
            tuple(sorted(stated)),
            results.groups(behind, given.rule, name),
        )
    case = {name: getattr(given, name) for name in CASE}
    reason = "" if measured else _why(given.reason if metric == THROUGHPUT else over.reason if over else None, metric)
    return CaseResult(case, given.options, given.version, given.round, given.rule, measured, reason)


def _why(reason: Reason | None, metric: str) -> str:
    return words.own().say("en", words.coded("reason", reason)) if reason else f"no run here states its {metric}"


def _rows_of(
    entry: CaseResult, mine: Sequence[CaseResult], at_least: float, metric: str, may_differ: Sequence[str]
) -> Iterator[AcceptedCase]:
    """Yield a row for each result here that fits one of the baseline, or a row with the reason why none fits."""
    fitting = [each for each in mine if set(entry.differs(each)) <= set(may_differ)]
    if not fitting:
        yield _row(entry, reason=_nearest(entry, mine))
    for each in fitting:
        yield _compared(entry, each, at_least, metric)


def _nearest(entry: CaseResult, mine: Sequence[CaseResult]) -> str:
    """Return the reason why a result of the baseline has no counterpart, with an option that would give it one."""
    found = {entry.differs(other): other for other in mine}
    near = min((names for names in found if set(names) <= set(MAY_DIFFER)), key=len, default=())
    options = [f"{name} {found[near].stated(name)} here (--may-differ {name} compares it)" for name in near]
    return "; ".join(["not measured here", *options])


def _compared(entry: CaseResult, here: CaseResult, at_least: float, metric: str) -> AcceptedCase:
    differs = {name: here.stated(name) for name in entry.differs(here)}
    there, found = entry.measured, here.measured
    if there is None or found is None:
        return _row(entry, differs, reason=here.reason)
    if not _same_unit(there, found):
        return _row(entry, differs, reason=f"in {found.unit} here, in {there.unit} there")
    if there.sources and set(there.sources) != set(found.sources):
        return _row(
            entry, differs, reason=f"from {', '.join(found.sources)} here, from {', '.join(there.sources)} there"
        )
    better, worse = (there, found) if metric in METRICS and METRICS[metric].better == "lower" else (found, there)
    if worse.value <= 0 or better.value <= 0:
        return _row(entry, differs, reason="zero and negative figures have no ratio")
    judged, ratio = contrast(better, worse), better.value / worse.value
    repeated = min(there.repeats, found.repeats) >= _FEWEST
    row = _row(entry, differs, here=found.value)
    return msgspec.structs.replace(
        row,
        ratio=ratio,
        low=judged.low if repeated else None,
        high=judged.high if repeated else None,
        certainty=judged.grade if repeated else None,
        verdict="reached" if ratio >= at_least else "below",
    )


def _same_unit(one: Measured, other: Measured) -> bool:
    """Return whether two figures count the same; images and samples do, as batch sizes count them."""
    counted = {UNITS[each.unit].counts if each.unit in UNITS else "unknown" for each in (one, other)}
    return one.unit == other.unit or counted == {"sample"}


def _row(
    entry: CaseResult, differs: dict[str, str | None] | None = None, here: float | None = None, reason: str = ""
) -> AcceptedCase:
    assert entry.measured
    return AcceptedCase(
        **entry.case,  # type: ignore[arg-type]  # the facts of a case, each of its type
        options=entry.options,
        version=entry.version,
        round=entry.round,
        unit=entry.measured.unit,
        baseline=entry.measured.value,
        here=here,
        differs=differs or {},
        reason=reason,
    )


# ---- for a terminal ----

_NOISE = {"clear": "beyond the noise", "likely": "likely beyond the noise", "close": "within the noise", None: ""}


def table(found: Acceptance) -> str:
    """Return a table of all cases, why some have no figure here, and a line of counts."""
    from tabulate import tabulate

    head = ["case", "baseline", "here", "ratio", "difference", "verdict"]
    shown = tabulate([map(one_line, _cells(each)) for each in found.cases], headers=head, disable_numparse=True)
    missing = [
        f"{_name(each)}: no figure to compare: {each.reason}" for each in found.cases if each.verdict == "missing"
    ]
    return "\n".join([shown, *map(one_line, missing), _counts(found)])


def _counts(found: Acceptance) -> str:
    counts = {name: sum(each.verdict == name for each in found.cases) for name in ("reached", "below", "missing")}
    verdicts = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"{found.metric}, at least {found.at_least:g} of the baseline: {verdicts}"


def _cells(row: AcceptedCase) -> list[str]:
    ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
    if row.low is not None and row.high is not None:
        ratio += f" ({row.low:.3f} to {row.high:.3f})"
    here = "" if row.here is None else f"{row.here:.4g} {row.unit}"
    return [_name(row), f"{row.baseline:.4g} {row.unit}", here, ratio, _NOISE[row.certainty], row.verdict]


def _name(row: AcceptedCase) -> str:
    facts = [
        row.model,
        row.framework,
        row.version,
        row.hardware,
        f"{row.nodes}x{row.devices}",
        f"bs{row.batch_size}",
        row.precision,
    ]
    options = [f"{name}={value}" for name, value in sorted(row.options.items())]
    differs = [f"[here: {name} {value}]" for name, value in row.differs.items()]
    return " ".join(str(each) for each in (*facts, *options, row.round, *differs) if each is not None)
