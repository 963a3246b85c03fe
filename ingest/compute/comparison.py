"""Decide which results may be compared, and which of them is best: once, for every page.

An axis is what is compared, such as the framework. Everything else must agree, except what follows from the axis:
another framework has another version, another image, and brings the CUDA libraries that it was built with.
Verdicts are of results that did the same work; on the page Compare the reader may choose another level (see
`comparison_levels`). A condition that no result states is not known to differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import UNSET

from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.compute.comparison_levels import (
    DEFAULT,
    Level,
    Values,
    coarse,
    coarse_option,
    is_tuning,
    level_rank,
)
from perfledger.ingest.compute.contrast import Contrast, Grade, Measured, contrast
from perfledger.schema.records import Container, Plain, Result, Run
from perfledger.schema.results import Conditions, ResultRecord

Kind = Literal["fact", "option", "condition"]
#: Verdicts on several frameworks in one case: how sure it is that the best is ahead, or why it is not compared;
#: `conditions`: the two fastest may not be compared.
Outcome = Grade | Literal["alone", "units", "conditions", "none"]

#: The fact or option that each axis compares, in the order of the pages.
AXES: Mapping[str, str] = {
    "framework": "framework",
    "precision": "precision",
    "compile": "compile",
    "trainer": "trainer",
    "hardware": "hardware",
    "devices": "devices",
    "batch": "batch_size",
    "version": "framework_version",
    "round": "round",
}
_BUILD = ("image", "python", "cuda", "cudnn", "nccl")
#: Conditions that usually change with the fact of an axis. They do not forbid a comparison along this axis.
FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "framework": ("framework_version", *_BUILD),
    "version": _BUILD,
    "round": ("framework_version", *_BUILD),
    "hardware": ("power_limit", "cpu", "topology", "gpu_ecc"),
    "precision": (),
    "compile": (),
    "trainer": (),
    "devices": ("nodes", "topology", "data_parallel", "batch_size_of_job", "accumulation"),
    "batch": ("batch_size_of_job",),
}
#: Facts of the case: one that only one of two results states is a difference.
_CASE = ("model", "framework", "hardware", "precision", "devices", "nodes", "batch_size", "unit")
#: Facts about how it was measured: one that is not stated is not known to differ.
_MANNER = ("framework_version", "rule")
#: Comparability conditions, each with the environment keys that provide it (first one present wins).
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "cpu": ("cpu",),
    "cuda": ("cuda", "cuda_driver"),
    "cudnn": ("cudnn",),
    "driver": ("driver",),
    "gpu_ecc": ("gpu_ecc",),
    "image": ("image",),
    "kernel": ("kernel",),
    "nccl": ("nccl",),
    "os": ("os",),
    "power_limit": ("power_limit", "gpu_power_limit_watts"),
    "python": ("python",),
    "topology": ("topology",),
}
#: Options that make another workload, with their default values; None without a default.
Workload = Mapping[str, Plain]


@dataclass(frozen=True)
class Statement:
    """The statements of a result about its case and how it was measured."""

    facts: Mapping[str, Values]
    options: Mapping[str, Values]
    conditions: Mapping[str, Values]

    def option(self, name: str, workload: Workload) -> Values:
        """Return the value of an option, or the one that is meant where none is stated."""
        return self.options[name] if name in self.options else _values(workload.get(name))


@dataclass(frozen=True)
class Difference:
    """A fact, an option or a condition that two results may not have in common.

    Attributes:
        strict: a value that only one of the two states is a difference too.
        tolerated: the strictest level at which the difference forbids no comparison; None if it always does.
    """

    kind: Kind
    name: str
    first: Values
    second: Values
    strict: bool
    tolerated: Level | None = "everything"


@dataclass(frozen=True)
class Comparability:
    """The comparison of two results.

    Attributes:
        differs: the differences that do not follow from the axis or from another difference.
        unknown: what at least one of them does not state.
        follows: what differs because the axis differs.
    """

    differs: tuple[Difference, ...]
    unknown: tuple[Difference, ...]
    follows: tuple[Difference, ...]

    @property
    def reasons(self) -> tuple[Difference, ...]:
        """The differences that forbid the comparison of results, since these did not do the same work."""
        return tuple(each for each in self.differs if each.tolerated != DEFAULT)

    @property
    def tolerated(self) -> tuple[Difference, ...]:
        """The differences between results that did the same work."""
        return tuple(each for each in self.differs if each.tolerated == DEFAULT)

    @property
    def besides(self) -> tuple[Difference, ...]:
        """All that may differ although they are compared: what is tolerated, and options that one alone states."""
        return (*self.tolerated, *self._stated_by_one)

    @property
    def apart(self) -> tuple[Difference, ...]:
        """Why they are not in one case: what forbids the comparison, or else the options that one alone states."""
        return self.reasons or self._stated_by_one

    @property
    def _stated_by_one(self) -> tuple[Difference, ...]:
        return tuple(each for each in self.unknown if each.kind == "option")


@dataclass(frozen=True)
class Candidate:
    """A result that takes part in a comparison along an axis, with the figure that is compared and its runs."""

    result: Result
    figure: Measured
    runs: tuple[Run, ...]
    axis: str = "framework"

    @property
    def framework(self) -> str:
        """The framework's name; empty where it is not known."""
        return self.result.framework or ""

    @cached_property
    def entrant(self) -> str:
        """The candidate's value of the axis, such as its framework; empty if that is not known."""
        return entrant(self.result, self.axis)

    @cached_property
    def statement(self) -> Statement:
        """The statements about the result."""
        return statement(self.result, conditions_of(self.runs))


@dataclass(frozen=True)
class LeftOut:
    """A result that a case leaves out, and why it is not compared with the best of the case.

    `is_faster`: it is faster than that one.
    """

    candidate: Candidate
    is_faster: bool
    reasons: tuple[Difference, ...]


@dataclass(frozen=True)
class Verdict:
    """The comparison of the frameworks in one case.

    Attributes:
        ranked: each entrant's best candidate in `unit`, the best first.
        pair: the candidates that the verdict rests on: the best, and the one that it is compared with.
        reasons: why these two may not be compared.
        tolerated: what differs between the two besides; options that only one of them states, too.
        follows: what differs because the frameworks differ, such as the libraries that they were built with.
        contrast: what these two say of each other, the best first: as a ratio above 1 where it is ahead. None where
            nothing is compared.
        left_out: results of other cases that a reader would miss, if they are known (see `candidates.judged`).
    """

    kind: Outcome
    unit: str = ""
    ranked: tuple[Candidate, ...] = ()
    pair: tuple[Candidate, ...] = ()
    reasons: tuple[Difference, ...] = ()
    tolerated: tuple[Difference, ...] = ()
    follows: tuple[Difference, ...] = ()
    contrast: Contrast | None = None
    left_out: tuple[LeftOut, ...] = ()

    @property
    def entrants(self) -> list[Candidate]:
        """The best candidate of each entrant that has a figure in the case."""
        return [each for each in self.ranked if not any(each is other.candidate for other in self.left_out)]


# ---- what a result states ----


def entrant(result: Result, axis: str) -> str:
    """Return a result's value of an axis, which is a fact of its case or an option; empty if it does not state it."""
    value = getattr(result, axis, None) or result.options.get(axis)
    return "" if value is None else _text(value)


def statement(result: Result, conditions: Conditions) -> Statement:
    """Return what a measured result states, for the comparison of its throughput."""
    case = {name: getattr(result, name) for name in _CASE}
    manner = {"framework_version": result.version, "round": result.round, "rule": result.rule}
    return _statement(case | manner, (), result.options, conditions)


def statement_of_record(record: ResultRecord, metric: str = "throughput") -> Statement:
    """Return what a record of `results.json` states, measured or published, about one of its figures."""
    names = (*_CASE, *_MANNER, "round")
    facts = {name: getattr(record, name) for name in names}
    if metric == "throughput":
        return _statement(facts, (), record.options, record.conditions)
    figure = record.metrics[metric]
    return _statement(facts | {"unit": figure.unit}, figure.sources or (), record.options, record.conditions)


def _statement(
    facts: Mapping[str, object], sources: Sequence[str], options: Mapping[str, Plain], conditions: Conditions
) -> Statement:
    return Statement(
        {**{name: _values(value) for name, value in facts.items()}, "measured_from": _values(sources)},
        {name: _values(value) for name, value in options.items()},
        {name: _values(getattr(conditions, name)) for name in CONDITIONS},
    )


def conditions_of(runs: Sequence[Run]) -> Conditions:
    """Return what is known of each condition: one value, or all that the runs had."""
    found = {name: _distinct(runs, keys) for name, keys in CONDITIONS.items()}
    return Conditions(**{name: each[0] if len(each) == 1 else each for name, each in found.items() if each})


def image_of(run: Run) -> str:
    """Return the image that a run was made in, by its digest if that is known; empty if it was made without one."""
    container = (run.recipe.container if run.recipe else None) or Container()
    image, digest = container.image or run.environment.get("image"), container.digest
    return f"{image}@{digest}" if image and digest else str(image or "")


def _distinct(runs: Iterable[Run], keys: Sequence[str]) -> Values:
    environments = (run.environment | {"image": image_of(run)} for run in runs)
    stated = ([each.get(key) for key in keys] for each in environments)
    known = (next((each for each in values if each not in (None, "", [], {})), None) for values in stated)
    return tuple(sorted({_condition(each) for each in known if each is not None}))


def _condition(value: object) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else numbers.quantity(value)


def _values(value: object) -> Values:
    """Return a value, or several, as sorted texts."""
    is_absent = value is None or value is UNSET or value == ""
    found = value if isinstance(value, tuple | list) else () if is_absent else (value,)
    return tuple(sorted(map(_text, found)))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ---- what may be compared ----


def differences(a: Statement, b: Statement, workload: Workload) -> list[Difference]:
    """Return every fact, option and condition that two results state differently, or only one of them."""
    found = [_difference("fact", name, a.facts[name], b.facts[name], strict=True) for name in _CASE]
    for name in sorted({*a.options, *b.options}):
        stated = a.option(name, workload), b.option(name, workload)
        found.append(_difference("option", name, *stated, strict=name in workload))
    # Memory as the driver counts it is not what a framework has allocated.
    measured = ("measured_from",) if a.facts["measured_from"] and b.facts["measured_from"] else ()
    found += [_difference("fact", name, a.facts[name], b.facts[name]) for name in (*_MANNER, *measured)]
    for name in CONDITIONS:
        first, second = a.conditions[name], b.conditions[name]
        found += [_difference("condition", name, first, second)] if first or second else []
    return [each for each in found if each]


def _difference(kind: Kind, name: str, first: Values, second: Values, *, strict: bool = False) -> Difference | None:
    """Return how two values differ; None where both are stated and equal."""
    if first and first == second:
        return None
    coarsely = coarse_option if kind == "option" and not strict else coarse
    level: Level | None = None  # Figures in different units have no ratio.
    if name != "unit":
        same_work = bool(first) and coarsely(name, first) == coarsely(name, second)
        level = "workload" if same_work else "everything"
    return Difference(kind, name, first, second, strict, level)


def comparability(a: Statement, b: Statement, axis: str, workload: Workload) -> Comparability:
    """Return whether two results may be compared along an axis, and what forbids it."""
    return judged(differences(a, b, workload), axis, differs_in(a, b, AXES[axis]))


def judged(found: Sequence[Difference], axis: str, differs: bool) -> Comparability:
    """Return whether some differences permit a comparison along an axis; `differs` is whether its own fact differs."""
    compared = AXES[axis]
    excused = FOLLOWS[axis] if differs else ()
    besides, unknown, follows = [], [], []
    for each in found:
        both, neither = each.first and each.second, not each.first and not each.second
        if differs and each.name == compared:
            continue
        if each.name in excused:
            follows += [each] if both else []
        elif both or (each.strict and not neither):
            besides.append(each)
        elif not (neither and each.kind == "option"):
            unknown.append(each)
    return Comparability(_without_consequences(besides), tuple(unknown), tuple(follows))


def differs_in(a: Statement, b: Statement, name: str) -> bool:
    """Return whether two results state a fact or an option differently."""
    first, second = (each.facts[name] if name in each.facts else each.options.get(name, ()) for each in (a, b))
    return first != second


def _without_consequences(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Leave out what follows from another difference that forbids no less: another machine has another CPU."""
    causes = {each.name: each for each in found}

    def follows(each: Difference) -> bool:
        named = (causes.get(fact) for axis, fact in AXES.items() if each.name in FOLLOWS[axis])
        return any(cause is not None and level_rank(cause.tolerated) >= level_rank(each.tolerated) for cause in named)

    return tuple(each for each in found if not follows(each))


# ---- which is best ----


def cases(rows: Sequence[Result], key: Callable[[Result], Hashable]) -> list[list[Result]]:
    """Return rows that did the same work: by the key, and by the options that frameworks state differently."""
    return [case for alike in by_key(rows, key).values() for case in _by_contradicted(alike)]


def _by_contradicted(rows: Sequence[Result]) -> Iterable[list[Result]]:
    names = contradicted(rows)
    return by_key(rows, lambda row: tuple(numbers.quantity(row.options.get(name)) for name in names)).values()


def contradicted(rows: Sequence[Result]) -> list[str]:
    """Return options whose stated values differ between frameworks, such as threads: another workload.

    How a framework does the same work (DALI, XLA) makes no other workload.
    """
    options = {(name, _text(value)) for row in rows for name, value in row.options.items()}
    names = sorted({name for name, value in options if not is_tuning(name, [value])})

    def is_contradicted(name: str) -> bool:
        stated = {(row.framework, numbers.quantity(row.options[name])) for row in rows if name in row.options}
        return len({framework for framework, _ in stated}) > 1 and len({value for _, value in stated}) > 1

    return list(filter(is_contradicted, names))


def verdict(candidates: Sequence[Candidate], workload: Workload) -> Verdict:
    """Return what can be said of the entrants of one case, such as the frameworks.

    The best and the next are compared, unless another is too close to the best to call: repeats of the third may reach
    into those of the best where those of the second do not.

    Args:
        candidates: throughputs of one case; those in another unit than that of most entrants are not ranked.
        workload: the options that make another workload.
    """
    unit, ranked = rank(candidates)
    if not ranked:
        return Verdict("none")
    if len(ranked) == 1:
        others = {each.entrant for each in candidates} - {ranked[0].entrant}
        return Verdict("units" if others else "alone", unit, ranked, ranked)

    def compared(other: Candidate) -> Comparability:
        return comparability(ranked[0].statement, other.statement, ranked[0].axis, workload)

    if (said := compared(ranked[1])).reasons:
        return Verdict("conditions", unit, ranked, ranked[:2], said.reasons, said.besides)
    rival = _rival(ranked, [each for each in candidates if not compared(each).reasons])
    found, said = contrast(ranked[0].figure, rival.figure), compared(rival)
    return Verdict(
        found.grade, unit, ranked, (ranked[0], rival), tolerated=said.besides, follows=said.follows, contrast=found
    )


def rank(candidates: Sequence[Candidate]) -> tuple[str, tuple[Candidate, ...]]:
    """Return the unit that most entrants count in, and the best candidate of each of these, the best first."""
    by_unit: dict[str, dict[str, Candidate]] = {}
    for each in sorted(candidates, key=lambda each: (-each.figure.value, each.result.run_ids)):
        by_unit.setdefault(each.figure.unit, {}).setdefault(each.entrant, each)
    if not by_unit:
        return "", ()
    unit = min(by_unit, key=lambda each: (-len(by_unit[each]), each))
    return unit, tuple(by_unit[unit].values())


def _rival(ranked: Sequence[Candidate], comparable: Sequence[Candidate]) -> Candidate:
    """Return the candidate that the first is compared with: the next, unless another is too close to call."""
    first, second = ranked[:2]
    others = [each for each in comparable if each.entrant != first.entrant]

    def is_close(other: Candidate) -> bool:
        return first.figure.value <= other.figure.value or contrast(first.figure, other.figure).grade == "close"

    return next(filter(is_close, (*(each for each in ranked[1:] if each in others), *others)), second)
