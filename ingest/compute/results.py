"""Results: runs of one case are repeats; their median is the figure, their spread says how far to believe it.

Runs of other framework versions, or of other benchmark rounds, are no repeats of each other. What a run does not state
is not guessed from others: runs without a version are repeats of each other only.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from msgspec.structs import replace

from ingest.common.suites import SAMPLES, folded, unit_of_samples
from ingest.compute.rules import HEADLINE
from ingest.read import facts
from schema.records import NoFigure, Plain, Reason, Result, ResultMetric, Run, to_json
from schema.vocabulary import CASE, METRICS, NO_FIGURE

_ORDER = (
    "suite", "hardware", "precision", "framework", "model", "devices", "batch_size", "options_text", "version", "round",
)  # fmt: skip

#: Options that are another word for the number of devices, where the network is not cut over them.
_GROWING = frozenset({"data_parallel"})
#: What parts results of one case.
_EDITION = ("version", "round")
#: What the name of a framework holds, to the packages whose version is the framework's; the first has it.
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "paddle": ("paddlepaddle-gpu", "paddlepaddle"),
    "pytorch": ("torch",),
    "tensorflow": ("tensorflow", "tensorflow-gpu", "tensorflow-cpu"),
    "mxnet": ("mxnet",),
    "oneflow": ("oneflow",),
    "mindspore": ("mindspore", "mindspore-gpu"),
    "deepspeed": ("deepspeed",),
    "megatron": ("megatron-core",),
    "nemo": ("nemo-toolkit", "nemo_toolkit"),
    "keras": ("keras",),
    "jax": ("jax",),
}


def results(runs: Sequence[Run], rule: str = HEADLINE) -> list[Result]:
    """Return one result per case, framework version and benchmark round.

    `value` is the median over the repeats in `unit` for the whole job, `low` and `high` their extremes, `spread` the
    sample standard deviation over the mean (None for one repeat). `speedup` is against one device of the same case,
    `efficiency` that over the number of devices. An absent value is None with a `reason`.

    Args:
        runs: duplicates and those not published are left out, out-of-memory outcomes are kept.
        rule: which figure.
    """
    found = [_result(alike, rule) for alike in repeats(runs, rule)]
    # Only results that agree in what must be equal are compared: the time grows with them, not with their square.
    ones: dict[tuple[Any, ...], list[Result]] = defaultdict(list)
    for each in found:
        if each.devices == 1:
            ones[_workload(each)].append(each)
    return _sorted([_compared(each, ones[_workload(each)]) for each in found])


def _sorted(found: Sequence[Result]) -> list[Result]:
    """Return results in the order of the tables; what is not known comes last."""
    import pandas as pd

    frame = pd.DataFrame([[getattr(each, name) for name in _ORDER] for each in found], columns=list(_ORDER))
    order = frame.sort_values(list(_ORDER), kind="stable", na_position="last").index
    return [found[int(each)] for each in order]


def repeats(runs: Sequence[Run], rule: str = HEADLINE) -> list[list[Run]]:
    """Return the runs behind each result, of those that count."""
    cases: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if counts(run):
            cases[_key(run)].append(run)
    return [alike for found in cases.values() for alike in _by_unit(found, rule)]


@dataclass(frozen=True)
class Statistics:
    """What repeats give: their median, extremes, and the sample standard deviation over the mean (of one, None)."""

    value: float
    low: float
    high: float
    spread: float | None
    repeats: int


def figure(runs: Sequence[Run], rule: str = HEADLINE) -> Statistics | None:
    """Return what repeats give; None where none of them has a figure."""
    return _statistics([value for run in runs if (value := _value(run, rule)) is not None])


def representative(runs: Sequence[Run], rule: str = HEADLINE) -> Run:
    """Return the run of a result whose figure lies nearest to the median; of several, or of none, the first by id."""
    over = figure(runs, rule)

    def distance(run: Run) -> tuple[float, str]:
        value = _value(run, rule)
        return (math.inf if over is None or value is None else abs(value - over.value), run.id)

    return min(runs, key=distance)


def _value(run: Run, rule: str) -> float | None:
    """Return what a run adds to its result: a figure of the whole job, of a run that went well."""
    found = run.figure(rule)
    return found.value if found and found.scope == "job" and run.outcome not in NO_FIGURE else None


#: Problems with which not even an out-of-memory is a result: nobody knows of which case.
_REFUSED = frozenset({"contradiction", "hash_mismatch", "other_format", "batch_size"})


def counts(run: Run) -> bool:
    """Return whether a run may stand in a result table: with its figure, or with an out-of-memory as its result."""
    if run.duplicate_of or run.format is None:
        return False
    known = not facts.missing(run.case.known(), run.case.options)
    refused = {each.code for each in run.problems} & _REFUSED
    return run.published or (run.outcome == "oom" and known and not refused)


def version(run: Run) -> str | None:
    """Return the framework's version: as run.json, the log or the layout states it, otherwise that of its package."""
    stated = run.environment.get("framework_version") or _fact(run, "framework_version")
    if isinstance(stated, str):
        return stated
    return _packaged(run.case.framework or "", run.environment.get("packages"))


def round_of(run: Run) -> str | None:
    """Return the benchmark round that a run was made for; None where nothing states one."""
    stated = _fact(run, "round")
    return str(stated) if stated else None


def _fact(run: Run, name: str) -> Any:
    return run.facts[name].value if name in run.facts else None


def _packaged(framework: str, packages: Any) -> str | None:
    """Return the version of the package that a framework is installed as."""
    if not isinstance(packages, Mapping):
        return None
    names = next((_PACKAGES[each] for each in _PACKAGES if each in folded(framework)), ())
    return next((str(packages[each]) for each in names if packages.get(each)), None)


def _key(run: Run) -> str:
    return json.dumps([to_json(run.case), version(run), round_of(run)], sort_keys=True)


def _by_unit(runs: Sequence[Run], rule: str) -> list[list[Run]]:
    """Part the runs of one case by unit: words and tokens have no common median. A run without a figure has none."""
    units = [_unit(run, rule) for run in runs]
    known: list[str | None] = [*dict.fromkeys(each for each in units if each)] or [None]
    return [[run for run, mine in zip(runs, units, strict=True) if (mine or known[0]) == unit] for unit in known]


def _unit(run: Run, rule: str) -> str | None:
    """Return what a run's figure counts, in the words of its model's page, so that frameworks can be compared."""
    found = run.figure(rule)
    return unit_of_samples(run.suite) if found and found.unit == SAMPLES else found.unit if found else None


def _result(runs: Sequence[Run], rule: str) -> Result:
    first, well = runs[0], [run for run in runs if run.outcome not in NO_FIGURE]
    over = figure(runs, rule)
    absent = (run.figures.get(rule) for run in well)
    reasons = [each.reason for each in absent if isinstance(each, NoFigure)]
    return Result(
        **{name: getattr(first.case, name) for name in CASE},
        suite=first.suite,
        options=dict(sorted(first.case.options.items())),
        version=version(first),
        round=round_of(first),
        unit=next((unit for run in well if (unit := _unit(run, rule))), ""),
        **_statistics_of(over),
        run_ids=tuple(run.id for run in runs),
        outcome="completed" if over else first.outcome,
        reason=None if over else next(iter(reasons), Reason("outcome", {"outcome": first.outcome})),
        metrics={name: found for name in METRICS if (found := _metric(name, runs))},
    )


def _metric(name: str, runs: Sequence[Run]) -> ResultMetric | None:
    """Return one metric over the repeats that state it: as with throughput, those that went well, if any did."""
    stating = [run for run in runs if name in run.metrics]
    if not stating:
        return None
    stated = [run.metrics[name] for run in stating]
    well = [run.metrics[name] for run in stating if run.outcome not in NO_FIGURE] or stated
    over = _statistics([each.value for each in well if each.value is not None])
    known = [each.diverged for each in stated if each.diverged is not None]
    return ResultMetric(**_statistics_of(over), unit=stated[0].unit, diverged=any(known) if known else None)


def _statistics_of(over: Statistics | None) -> dict[str, Any]:
    """Return the statistics as fields of a result."""
    return asdict(over) if over else {"value": None, "low": None, "high": None, "spread": None, "repeats": 0}


def _statistics(values: Sequence[float]) -> Statistics | None:
    import statistics

    if not values:
        return None
    spread = statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else None
    return Statistics(statistics.median(values), min(values), max(values), spread, len(values))


def _compared(result: Result, ones: Sequence[Result]) -> Result:
    """Return a result with its speed-up against one device of the same case."""
    if result.value is None:
        return replace(result, speedup_reason=result.reason)
    one = result if result.devices == 1 else _baseline(result, ones)
    if isinstance(one, Reason):
        return replace(result, speedup_reason=one)
    speedup = result.value / (one.value or math.nan)
    return replace(result, speedup=speedup, efficiency=speedup / (result.devices or math.nan))


def _baseline(result: Result, ones: Sequence[Result]) -> Result | Reason:
    """Return the figure of one device that a result is compared with, or why there is none."""
    alike = [each for each in ones if each.value is not None and _same(result, each)]
    # That of the very same case stands before those which leave something unsaid.
    alike = [each for each in alike if _options(each) == _options(result)] or alike
    for name in _EDITION:
        alike = [each for each in alike if getattr(each, name) == getattr(result, name)] or alike
    if len(alike) != 1:
        return Reason("several_baselines" if alike else "no_baseline")
    return alike[0]


def _same(result: Result, one: Result) -> bool:
    """Return whether two cases differ in nothing but nodes and devices.

    Options, version and round that only one of them states do not count.
    """
    editions = ((getattr(result, name), getattr(one, name)) for name in _EDITION)
    if any(mine and theirs and mine != theirs for mine, theirs in editions):
        return False
    mine, theirs = _options(result), _options(one)
    return all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())


def _workload(result: Result) -> tuple[Any, ...]:
    """Return what two cases that differ only in their number of devices have in common."""
    names = ("model", "framework", "hardware", "batch_size", "precision", "unit")
    return tuple(getattr(result, name) for name in names)


def _options(result: Result) -> dict[str, Plain]:
    """Return the options by which a case is told from others of more devices, or of less."""
    return {name: value for name, value in result.options.items() if name not in _GROWING}
