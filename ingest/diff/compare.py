"""Find the figures that moved between two states of the ledger, and by how much; `text` writes the result."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from perfledger.ingest.compute.contrast import Grade, Measured, contrast
from perfledger.ingest.compute.results import results
from perfledger.ingest.diff.revision import RecordedState
from perfledger.schema.records import Problem, Result, Run
from perfledger.schema.vocabulary import CASE, METRICS

Log = tuple[str, int]
#: Two computations of one figure may differ in the last of sixteen digits, on another machine.
_SAME = 1e-9
_CASE = (*CASE, "options_text", "version", "round", "submitter")


@dataclass(frozen=True)
class LoggedResult:
    """A result and the sessions that it was computed from."""

    result: Result
    logs: frozenset[Log]

    @property
    def case(self) -> str:
        """The case, framework version, round and submitter, as a text."""
        return json.dumps([getattr(self.result, name) for name in _CASE])

    @property
    def key(self) -> str:
        """The identity of the result: its case, and the unit if there is a figure."""
        return json.dumps([self.case, self.result.unit])

    @property
    def value(self) -> float | None:
        """The figure, in the result's unit."""
        return self.result.value


@dataclass(frozen=True)
class Pair:
    """A result before and after."""

    before: LoggedResult
    after: LoggedResult

    @property
    def share(self) -> float | None:
        """The move as a share of the earlier figure; None if a side has no figure, or the units differ."""
        old, new = self.before.value, self.after.value
        if old is None or new is None or old == 0 or self.before.result.unit != self.after.result.unit:
            return None
        return new / old - 1

    @property
    def verdict(self) -> Grade:
        """How sure it is that the figure moved."""
        return contrast(_measured(self.after.result), _measured(self.before.result)).grade


@dataclass(frozen=True)
class MovedMetric:
    """A figure other than throughput that moved, appeared or disappeared."""

    name: str
    pair: Pair
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Unpaired:
    """A result of one side only, and why: a key of the words' table `diff`, with a problem if that is the reason."""

    result: LoggedResult
    why: str
    problem: Problem | None = None


@dataclass(frozen=True)
class LedgerDifference:
    """All differences, each part in the order of the output."""

    moved: tuple[Pair, ...] = ()
    changed: tuple[Pair, ...] = ()
    metrics: tuple[MovedMetric, ...] = ()
    renamed: tuple[Pair, ...] = ()
    new: tuple[Unpaired, ...] = ()
    gone: tuple[Unpaired, ...] = ()
    new_problems: tuple[Problem, ...] = ()
    gone_problems: tuple[Problem, ...] = ()
    unchanged: int = 0
    #: Sessions read, and rows of figures that others published: (before, after), (new, gone).
    runs: tuple[int, int] = (0, 0)
    published: tuple[int, int] = (0, 0)

    @property
    def still(self) -> bool:
        """Whether every earlier figure is still there, unchanged."""
        return not (
            self.moved or self.changed or self.renamed or self.gone or any(m.before is not None for m in self.metrics)
        )


@dataclass(frozen=True)
class _Side:
    """One state of the ledger, with its results."""

    found: Mapping[str, LoggedResult]
    runs: Mapping[Log, Run] = field(repr=False)


def compare(before: RecordedState, after: RecordedState) -> LedgerDifference:
    """Compute the results of both ledgers in the same way, and compare them."""
    old, new = _side(before), _side(after)
    shared = [Pair(each, new.found[key]) for key, each in old.found.items() if key in new.found]
    lost = [each for key, each in old.found.items() if key not in new.found]
    born = [each for key, each in new.found.items() if key not in old.found]
    shared += _lost_figures(lost, born)
    paired = {each.before.key for each in shared}, {each.after.key for each in shared}
    renamed = _renamed([r for r in lost if r.key not in paired[0]], [r for r in born if r.key not in paired[1]])
    paired[0].update(each.before.key for each in renamed)
    paired[1].update(each.after.key for each in renamed)
    moved = [each for each in shared if _moved(each)]
    changed = [each for each in shared if _changed(each)]
    return LedgerDifference(
        moved=tuple(sorted(moved, key=_by_size)),
        changed=tuple(changed),
        metrics=tuple(each for pair in (*shared, *renamed) for each in _metrics(pair)),
        renamed=tuple(renamed),
        new=tuple(_unpaired(each, old, "new") for each in born if each.key not in paired[1]),
        gone=tuple(_unpaired(each, new, "gone") for each in lost if each.key not in paired[0]),
        new_problems=tuple(_problems(after.runs, before.runs)),
        gone_problems=tuple(_problems(before.runs, after.runs)),
        unchanged=len(shared) - len(moved) - len(changed),
        runs=(len(before.runs), len(after.runs)),
        published=_rows(before.published, after.published),
    )


def _side(kept: RecordedState) -> _Side:
    runs = {(each.path, each.session): each for each in kept.runs}
    logs = {each.id: log for log, each in runs.items()}
    found = [LoggedResult(each, frozenset(logs[run] for run in each.run_ids)) for each in results(kept.runs)]
    return _Side({each.key: each for each in found}, runs)


def _by_size(pair: Pair) -> tuple[float, str]:
    return (-abs(pair.share or 0.0), pair.after.key)


def _moved(pair: Pair) -> bool:
    old, new = pair.before.value, pair.after.value
    return old is not None and new is not None and not math.isclose(old, new, rel_tol=_SAME)


def _changed(pair: Pair) -> bool:
    """Return figures that appeared or disappeared, and reasons that changed."""
    old, new = pair.before, pair.after
    if old.value is not None and new.value is not None:
        return False
    said = [(each.value is None, each.result.outcome, each.result.reason) for each in (old, new)]
    return said[0] != said[1]


def _measured(result: Result) -> Measured:
    value = result.value or 0.0
    low, high = (value if each is None else each for each in (result.low, result.high))
    return Measured(value, low, high, result.repeats, result.spread, result.unit)


def _metrics(pair: Pair) -> Iterable[MovedMetric]:
    for name in METRICS:
        old, new = (each.result.metric(name) for each in (pair.before, pair.after))
        same = old is new or (old is not None and new is not None and math.isclose(old, new, rel_tol=_SAME))
        if not same:
            yield MovedMetric(name, pair, old, new)


def _lost_figures(lost: Sequence[LoggedResult], born: Sequence[LoggedResult]) -> list[Pair]:
    """Return pairs of results of one case where one side has no figure, and so no unit."""
    by_case: dict[str, tuple[list[LoggedResult], list[LoggedResult]]] = defaultdict(lambda: ([], []))
    for side, alone in enumerate((lost, born)):
        for each in alone:
            by_case[each.case][side].append(each)
    single = [(old[0], new[0]) for old, new in by_case.values() if len(old) == len(new) == 1]
    return [Pair(old, new) for old, new in single if old.value is None or new.value is None]


def _renamed(lost: Sequence[LoggedResult], born: Sequence[LoggedResult]) -> list[Pair]:
    """Return results of the same logs described differently: each shares logs with exactly one of the other side."""
    heirs, parents = _sharing(lost, born), _sharing(born, lost)
    only = [(each, heirs[each.key][0]) for each in lost if len(heirs[each.key]) == 1]
    return [Pair(each, heir) for each, heir in only if len(parents[heir.key]) == 1]


def _sharing(these: Sequence[LoggedResult], those: Sequence[LoggedResult]) -> Mapping[str, list[LoggedResult]]:
    """Return, for each of these by key, the results of the other side that share a log with it."""
    by_log: dict[Log, list[LoggedResult]] = defaultdict(list)
    for each in those:
        for log in each.logs:
            by_log[log].append(each)
    return {
        each.key: list({found.key: found for log in sorted(each.logs) for found in by_log[log]}.values())
        for each in these
    }


def _unpaired(result: LoggedResult, other: _Side, kind: Literal["new", "gone"]) -> Unpaired:
    """Return why the other side has no such result."""
    there = [other.runs[log] for log in sorted(result.logs) if log in other.runs]
    if not there:
        return Unpaired(result, f"{kind}_logs")
    refused = [each for each in there if not each.published]
    if not refused:
        return Unpaired(result, f"{kind}_apart")
    problems = [problem for run in refused for problem in run.problems]
    return Unpaired(result, f"{kind}_published", problems[0] if problems else None)


def _problems(these: Sequence[Run], those: Sequence[Run]) -> Iterable[Problem]:
    """Return problems of these runs that those do not have, each once, by place."""
    here, there = ({_spelled(each): each for run in runs for each in run.problems} for runs in (these, those))
    return [here[each] for each in sorted(here) if each not in there]


def _spelled(problem: Problem) -> str:
    return json.dumps([problem.path, problem.line, problem.code, problem.args], sort_keys=True, default=str)


def _rows(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[int, int]:
    """Return how many rows are new and how many gone; one that changed is both."""
    old, new = Counter(before), Counter(after)
    return (new - old).total(), (old - new).total()
