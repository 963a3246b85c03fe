"""Which figures moved between two states of the ledger, and by how much. How it is said is `diff_text`'s business."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ingest.common.numbers import known
from ingest.common.problems import Problem
from ingest.compute.metrics import METRICS
from ingest.diff.revision import Kept, Line
from ingest.read import facts

Log = tuple[str, int]
#: Whether a move is larger than what repeats differ by; unknown where one of the sides has no repeats.
Verdict = Literal["within", "beyond", "unknown"]

#: Two computations of one figure may differ in the last of sixteen digits, on another machine.
_SAME = 1e-9
_CASE = (*facts.CASE, "options_text", "version", "round")


@dataclass(frozen=True)
class Result:
    """One row of `ingest.compute.results` without NaN, and the sessions behind it."""

    row: Mapping[str, Any]
    logs: frozenset[Log]

    @property
    def case(self) -> str:
        """What was measured."""
        return json.dumps([self.row.get(name) for name in _CASE], default=str)

    @property
    def key(self) -> str:
        """What tells the result from all others: its case, and the unit if there is a figure."""
        return json.dumps([self.case, self.row["unit"]])

    @property
    def value(self) -> float | None:
        """The figure, in the row's unit."""
        value: float | None = self.row["value"]
        return value


@dataclass(frozen=True)
class Pair:
    """A result before and after."""

    before: Result
    after: Result

    @property
    def share(self) -> float | None:
        """The move as a share of what was; None where one side has no figure, or the units differ."""
        old, new = self.before.value, self.after.value
        if old is None or new is None or old == 0 or self.before.row["unit"] != self.after.row["unit"]:
            return None
        return new / old - 1

    @property
    def verdict(self) -> Verdict:
        """Whether the move is larger than the standard deviations of both sides together."""
        deviations = [_deviation(each.row) for each in (self.before, self.after)]
        if None in deviations or self.before.value is None or self.after.value is None:
            return "unknown"
        room = sum(each for each in deviations if each is not None)
        return "within" if abs(self.after.value - self.before.value) <= room else "beyond"


@dataclass(frozen=True)
class Metric:
    """A figure other than throughput that moved, appeared or went."""

    name: str
    pair: Pair
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Alone:
    """A result of one side only, and why: a key of the words' table `diff`, with a problem where that is the reason."""

    result: Result
    why: str
    problem: Problem | None = None


@dataclass(frozen=True)
class Withdrawn:
    """A run that was published and no longer is, and the problems that keep it from being."""

    line: Line
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Difference:
    """Everything that differs, each part in the order in which it is shown."""

    moved: tuple[Pair, ...] = ()
    changed: tuple[Pair, ...] = ()
    metrics: tuple[Metric, ...] = ()
    renamed: tuple[Pair, ...] = ()
    new: tuple[Alone, ...] = ()
    gone: tuple[Alone, ...] = ()
    withdrawn: tuple[Withdrawn, ...] = ()
    new_problems: tuple[Problem, ...] = ()
    gone_problems: tuple[Problem, ...] = ()
    unchanged: int = 0
    #: Sessions read, and rows of figures that others published: (before, after), (new, gone).
    runs: tuple[int, int] = (0, 0)
    published: tuple[int, int] = (0, 0)

    @property
    def still(self) -> bool:
        """Whether every figure that was there is there, and is the same."""
        return not (
            self.moved or self.changed or self.renamed or self.gone or any(m.before is not None for m in self.metrics)
        )


@dataclass(frozen=True)
class _Side:
    """One state of the ledger, with its results."""

    kept: Kept
    found: Mapping[str, Result]
    lines: Mapping[Log, Line] = field(repr=False)


def compare(before: Kept, after: Kept) -> Difference:
    """Both states' results, computed alike from their ledgers, beside each other."""
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
    return Difference(
        moved=tuple(sorted(moved, key=_by_size)),
        changed=tuple(changed),
        metrics=tuple(each for pair in (*shared, *renamed) for each in _metrics(pair)),
        renamed=tuple(renamed),
        new=tuple(_alone(each, old, "new") for each in born if each.key not in paired[1]),
        gone=tuple(_alone(each, new, "gone") for each in lost if each.key not in paired[0]),
        withdrawn=tuple(_withdrawn(old, new)),
        new_problems=tuple(_problems(after.lines, before.lines)),
        gone_problems=tuple(_problems(before.lines, after.lines)),
        unchanged=len(shared) - len(moved) - len(changed),
        runs=(len(before.lines), len(after.lines)),
        published=_rows(before.published, after.published),
    )


def _side(kept: Kept) -> _Side:
    from ingest.compute.results import results

    lines = {(str(each["path"]), int(each["session"])): each for each in kept.lines}
    logs = {str(each["id"]): log for log, each in lines.items()}
    found = [_result(row, logs) for row in results(kept.lines).to_dict("records")]
    return _Side(kept, {each.key: each for each in found}, lines)


def _result(row: Mapping[Any, Any], logs: Mapping[str, Log]) -> Result:
    clean = {str(name): _clean(value) for name, value in row.items()}
    return Result(clean, frozenset(logs[str(each)] for each in row["run_ids"]))


def _clean(value: Any) -> Any:
    """pandas turns what is absent into NaN, and the whole numbers of a column that lacks one into fractions."""
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    return value


def _by_size(pair: Pair) -> tuple[float, str]:
    return (-abs(pair.share or 0.0), pair.after.key)


def _moved(pair: Pair) -> bool:
    old, new = pair.before.value, pair.after.value
    return old is not None and new is not None and not math.isclose(old, new, rel_tol=_SAME)


def _changed(pair: Pair) -> bool:
    """A figure that came or went, or a reason that became another."""
    old, new = pair.before, pair.after
    if old.value is not None and new.value is not None:
        return False
    said = [(each.value is None, each.row["outcome"], each.row["reason"]) for each in (old, new)]
    return said[0] != said[1]


def _deviation(row: Mapping[str, Any]) -> float | None:
    """The standard deviation of the repeats, in the row's unit."""
    return row["spread"] * row["value"] if known(row["spread"]) and known(row["value"]) else None


def _metrics(pair: Pair) -> Iterable[Metric]:
    for name in METRICS:
        old, new = ((each.row["metrics"].get(name) or {}).get("value") for each in (pair.before, pair.after))
        old, new = (each if known(each) else None for each in (old, new))
        same = old is new or (old is not None and new is not None and math.isclose(old, new, rel_tol=_SAME))
        if not same:
            yield Metric(name, pair, old, new)


def _lost_figures(lost: Sequence[Result], born: Sequence[Result]) -> list[Pair]:
    """Results of one case of which one side has no figure, and so no unit either."""
    by_case: dict[str, tuple[list[Result], list[Result]]] = defaultdict(lambda: ([], []))
    for side, results in enumerate((lost, born)):
        for each in results:
            by_case[each.case][side].append(each)
    single = [(old[0], new[0]) for old, new in by_case.values() if len(old) == len(new) == 1]
    return [Pair(old, new) for old, new in single if old.value is None or new.value is None]


def _renamed(lost: Sequence[Result], born: Sequence[Result]) -> list[Pair]:
    """Results of the same logs under another description: each shares logs with exactly one of the other side."""
    heirs, parents = _sharing(lost, born), _sharing(born, lost)
    only = [(each, heirs[each.key][0]) for each in lost if len(heirs[each.key]) == 1]
    return [Pair(each, heir) for each, heir in only if len(parents[heir.key]) == 1]


def _sharing(these: Sequence[Result], those: Sequence[Result]) -> Mapping[str, list[Result]]:
    """For each of these by key, those that rest on one of its logs."""
    by_log: dict[Log, list[Result]] = defaultdict(list)
    for each in those:
        for log in each.logs:
            by_log[log].append(each)
    return {
        each.key: list({found.key: found for log in sorted(each.logs) for found in by_log[log]}.values())
        for each in these
    }


def _alone(result: Result, other: _Side, kind: Literal["new", "gone"]) -> Alone:
    """Why the other side has no such result."""
    there = [other.lines[log] for log in sorted(result.logs) if log in other.lines]
    if not there:
        return Alone(result, f"{kind}_logs")
    refused = [each for each in there if not each["published"]]
    if not refused:
        return Alone(result, f"{kind}_apart")
    problems = [problem for line in refused for problem in _told(line)]
    return Alone(result, f"{kind}_published", problems[0] if problems else None)


def _withdrawn(old: _Side, new: _Side) -> Iterable[Withdrawn]:
    for log in sorted(old.lines.keys() & new.lines.keys()):
        if old.lines[log]["published"] and not new.lines[log]["published"]:
            yield Withdrawn(new.lines[log], tuple(_told(new.lines[log])))


def _told(line: Line) -> list[Problem]:
    """A line's problems; one that an earlier version wrote may lack its place."""
    return [
        Problem(
            str(each["code"]), str(each.get("path") or line["path"]), int(each.get("line") or 0), each.get("args") or {}
        )
        for each in line["problems"]
    ]


def _problems(these: Sequence[Line], those: Sequence[Line]) -> Iterable[Problem]:
    """Problems of these lines that those do not have, each once, by place."""
    mine, theirs = ({_spelled(each): each for line in lines for each in _told(line)} for lines in (these, those))
    return [mine[each] for each in sorted(mine) if each not in theirs]


def _spelled(problem: Problem) -> str:
    return json.dumps([problem.path, problem.line, problem.code, problem.args], sort_keys=True, default=str)


def _rows(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[int, int]:
    """How many rows are new and how many gone; one that changed is both."""
    old, new = Counter(before), Counter(after)
    return (new - old).total(), (old - new).total()
