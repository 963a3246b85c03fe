"""Results: runs of one case are repeats; their median is the figure, their spread says how far to believe it.

Runs of other framework versions, benchmark rounds or submitters are not repeats of each other. A fact that a run does
not state is not guessed from others: runs without a version are repeats of each other only.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.suites import SAMPLES, folded, unit_of_samples
from perfledger.ingest.compute.repeat_statistics import Statistics, by_host, statistics_of
from perfledger.ingest.compute.rules import HEADLINE, SUMMARY
from perfledger.ingest.read import facts
from perfledger.schema.records import (
    NoFigure,
    Plain,
    Problem,
    Reason,
    Result,
    ResultMetric,
    Run,
    Support,
    Witness,
    to_json,
)
from perfledger.schema.submission import submitter_of
from perfledger.schema.vocabulary import CASE, METRICS, NO_FIGURE

_ORDER = (
    "suite", "hardware", "precision", "framework", "model", "devices", "batch_size", "options_text", "version", "round",
    "submitter",
)  # fmt: skip

#: Options that are another word for the number of devices, where the network is not cut over them.
_GROWING = frozenset({"data_parallel"})
#: Facts that two cases share, in addition to their options, if only their numbers of devices differ.
_WORKLOAD = (
    "model", "framework", "hardware", "batch_size", "precision", "unit", "rule", "submitter", "version", "round",
)  # fmt: skip
#: A run with these metrics counts in the score of its result.
SCORED = frozenset({"time_to_train"})
#: Rules that decide which of two results is faster: the house's, the median of the same records, the trainer's summary.
SPEAKING = (HEADLINE, "median", SUMMARY)
#: The evidence for a figure, the weakest first.
_SUPPORT: tuple[Support, ...] = ("corrects", "line", "agree")
#: The peak of a device does not confirm a figure below it: most wrong figures are below it, too.
_BOUND = "physics"
#: Units of a witness that shows how far a run came, but not how fast.
PLANNED = frozenset({"steps", "epochs"})
#: So far apart, as a share, the figures of two formats may lie that read the same run.
ALIKE = 0.02
#: Packages whose version is that of the framework, by a part of its name; the first one that is stated counts.
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


def results(runs: Sequence[Run]) -> list[Result]:
    """Return one result per case, framework version, benchmark round and rule of the headline.

    `value` is the median over the repeats in `unit` for the whole job, `low` and `high` their extremes, `spread` the
    sample standard deviation over the mean (None for one repeat). If the runs are of several machines, `hosts`, it
    is the median of the machines' medians, and the spreads within and between them are separate. `speedup` is against
    one device of the same case, `efficiency` that over the number of devices. An absent value is None with a `reason`;
    so is that of runs that several formats read with figures that are not alike.

    Args:
        runs: duplicates and those not published are left out, but not out-of-memory outcomes. Disturbed runs count
            only where a case has no others: its result is then absent, and says so.
    """
    return _sorted(_with_speedups([_result(each, _throughput(each)) for each in repeats(runs)]))


def _sorted(found: Sequence[Result]) -> list[Result]:
    """Return results in the order of the tables; what is not known comes last."""

    def place(result: Result) -> list[tuple[bool, Any]]:
        return [(value is None, value) for value in (getattr(result, name) for name in _ORDER)]

    return sorted(found, key=place)


def repeats(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs that count, in one list per result, in the order of their first runs.

    Words and tokens have no common median, nor has a summary with a figure over records. A run without a figure has
    neither unit nor rule: it joins the first that is known. Runs that a score counts are never parted.
    """
    counted = _counted(runs)
    keys, ways = [_key(run) for run in counted], [_way(run) for run in counted]
    first: dict[str, str] = {}
    for key, way in zip(keys, ways, strict=True):
        if way is not None:
            first.setdefault(key, way)
    found: dict[tuple[str, str], list[Run]] = {}
    for run, key, own in zip(counted, keys, ways, strict=True):
        way = first.get(key, "") if own is None or run.metrics.keys() >= SCORED else own
        found.setdefault((key, way), []).append(run)
    return list(found.values())


def unplaced(runs: Sequence[Run]) -> list[Result]:
    """Return one result per run whose case is incomplete, at the scope of its log. It is not compared."""
    return [_unplaced(run) for run in runs if run.unplaced]


def _unplaced(run: Run) -> Result:
    found = run.headline
    result = _result([run], statistics_of((found.value,), (_host(run),)) if found else None)
    return replace(result, scope=found.scope if found else UNSET, missing=run.missing)


def _throughput(runs: Sequence[Run]) -> Statistics | None:
    """Return the throughput of repeats; a score may count runs with another unit or rule, which add nothing to it."""
    way = next(filter(None, map(_way, runs)), None)
    return None if several_formats(runs) else figure([run for run in runs if _way(run) == way])


def figure(runs: Sequence[Run], rule: str | None = None) -> Statistics | None:
    """Return what repeats give; None where none has a figure, or they are of several formats and unlike."""
    found = _values(runs, rule)
    return statistics_of(*zip(*found, strict=True)) if found else None


def groups(runs: Sequence[Run], rule: str, metric: str | None = None) -> tuple[tuple[float, ...], ...]:
    """Return the figures of repeats that went well, of throughput or of a metric, a group for each machine."""
    found = _values(runs, rule, metric)
    return tuple(map(tuple, by_host(*zip(*found, strict=True)).values())) if found else ()


def _values(runs: Sequence[Run], rule: str | None, metric: str | None = None) -> list[tuple[float, str]]:
    """Return the figure of each repeat that has one, with its machine; empty if formats give unlike figures."""
    found = [(value, _host(run)) for run in runs if (value := _value(run, rule, metric)) is not None]
    return found if found and not several_formats(runs, rule) else []


def several_formats(runs: Sequence[Run], rule: str | None = None) -> Reason | None:
    """Return that figures of a case are of several formats and unlike each other, if they are.

    Two programs may have the same case, such as two trainers of PyTorch; their runs are not repeats. One
    program may leave two logs of a run, whose figures are alike.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if run.format and (value := _value(run, rule)) is not None:
            values[run.format].append(value)
    unlike = any(max(low) * (1 + ALIKE) < min(high) for low, high in pairwise(sorted(values.values(), key=min)))
    return Reason("several_formats", {"formats": ", ".join(sorted(values))}) if unlike else None


def by_rule(runs: Sequence[Run], rule: str) -> dict[str, float]:
    """Return the figure of repeats under each rule that all of them have one by, in the unit of their headline.

    Args:
        runs: the repeats; those without a headline do not count.
        rule: that of the headline.
    """
    well = [run for run in runs if _value(run, rule) is not None]
    unit = {_unit(run, rule) for run in well}
    found = {each: figure(well, each) for each in SPEAKING if {_unit(run, each) for run in well} == unit}
    return {name: each.value for name, each in found.items() if each and each.repeats == len(well)}


def representative(runs: Sequence[Run], rule: str | None = None) -> Run:
    """Return the run of a result whose figure lies nearest to the median; of several, or of none, the first by id."""
    over = figure(runs, rule)

    def distance(run: Run) -> tuple[float, str]:
        value = _value(run, rule)
        return (math.inf if over is None or value is None else abs(value - over.value), run.id)

    return min(runs, key=distance)


def _counted(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that results use, without disturbed ones if their case has others."""
    counted = [run for run in runs if counts(run)]
    keys = {id(run): _key(run) for run in counted} if any(run.disturbed for run in counted) else {}
    calm = {keys[id(run)] for run in counted if keys and not run.disturbed}
    return [run for run in counted if not (run.disturbed and keys[id(run)] in calm)]


def _value(run: Run, rule: str | None = None, metric: str | None = None) -> float | None:
    """Return what an undisturbed run that went well adds to its result: a figure of the whole job, or a metric."""
    if run.disturbed or run.outcome in NO_FIGURE:
        return None
    if metric:
        return run.metrics[metric].value if metric in run.metrics else None
    found = run.figure(rule or run.rule)
    return found.value if found and found.scope == "job" else None


#: Problems of logs whose case is uncertain, so that not even an out-of-memory is a result.
_OF_UNKNOWN_CASE = frozenset({"contradiction", "hash_mismatch", "other_format"})


def _is_of_unknown_case(problem: Problem) -> bool:
    return problem.code in _OF_UNKNOWN_CASE or problem.args.get("witness") == "arithmetic"


def counts(run: Run) -> bool:
    """Return whether a run may be in a result table: with its figure, or with an out-of-memory as its result."""
    if run.duplicate_of or run.format is None:
        return False
    known = not facts.missing(run.case.known(), run.case.options)
    refused = any(map(_is_of_unknown_case, run.problems))
    left_out = run.disturbed and run.sound and known and not refused
    return run.published or left_out or (run.outcome == "oom" and known and not refused)


def supporting(run: Run) -> list[Witness]:
    """Return the witnesses that measure how fast a run was."""
    return [each for each in run.witnesses if each.kind != _BOUND and each.unit not in PLANNED]


def support(run: Run) -> Support:
    """Return what the headline figure of a run rests on."""
    verdicts = {each.verdict for each in supporting(run)}
    return "corrects" if "corrects" in verdicts else "agree" if "agrees" in verdicts else "line"


def _weakest(runs: Sequence[Run]) -> Support | None:
    """Return what the figure of several runs rests on: that of the weakest."""
    found = [support(run) for run in runs if _value(run) is not None]
    return min(found, key=_SUPPORT.index, default=None)


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


def _host(run: Run) -> str:
    """Return the machine that a run was made on; empty where nothing states one."""
    return str(_fact(run, "host") or "")


def _fact(run: Run, name: str) -> Any:
    return run.facts[name].value if name in run.facts else None


def _packaged(framework: str, packages: Any) -> str | None:
    """Return the version of the package that a framework is installed as."""
    if not isinstance(packages, Mapping):
        return None
    names = next((_PACKAGES[each] for each in _PACKAGES if each in folded(framework)), ())
    return next((str(packages[each]) for each in names if packages.get(each)), None)


def _key(run: Run) -> str:
    return json.dumps([to_json(run.case), version(run), round_of(run), submitter_of(run.path)], sort_keys=True)


def _way(run: Run) -> str | None:
    """Return unit and rule of a run's figure, without which it has no common median with another; None without one."""
    unit = _unit(run)
    return None if unit is None else f"{unit} {run.rule}"


def _unit(run: Run, rule: str | None = None) -> str | None:
    """Return what a run's figure counts, in the words of its model's page, so that frameworks can be compared."""
    found = run.figure(rule or run.rule)
    return unit_of_samples(run.suite) if found and found.unit == SAMPLES else found.unit if found else None


def _result(runs: Sequence[Run], over: Statistics | None) -> Result:
    first, well = runs[0], [run for run in runs if run.outcome not in NO_FIGURE]
    unlike = several_formats(runs)
    absent = (run.figures.get(run.rule) for run in well)
    reasons = [each.reason for each in absent if isinstance(each, NoFigure)]
    return Result(
        **{name: getattr(first.case, name) for name in CASE},
        suite=first.suite,
        options=dict(sorted(first.case.options.items())),
        version=version(first),
        round=round_of(first),
        submitter=submitter_of(first.path),
        unit=next((unit for run in well if (unit := _unit(run))), ""),
        rule=next((run.rule for run in well if _unit(run)), HEADLINE),
        **_fields(over),
        witnesses=_weakest(runs),
        resolution=_coarsest(runs),
        unproven=any(run.unproven for run in well) or UNSET,
        assumed={name: where for run in runs for name, where in run.filled_in.items()} or UNSET,
        run_ids=tuple(run.id for run in runs),
        outcome=_outcome(well) if over else first.outcome,
        reason=None if over else unlike or _reason(runs, reasons),
        metrics={each: found for each in METRICS if (found := _metric(each, runs, unlike))},
    )


def _reason(runs: Sequence[Run], reasons: Sequence[Reason]) -> Reason:
    """Return why the repeats of a case give no figure."""
    if all(run.disturbed for run in runs):
        return Reason("disturbed", {"n": len(runs)})
    return next(iter(reasons), Reason("outcome", {"outcome": runs[0].outcome}))


def _coarsest(runs: Sequence[Run]) -> float | UnsetType:
    """Return what the last printed digit counts in the coarsest of several figures, as a share."""
    found = (run.headline for run in runs if _value(run) is not None)
    return max((each.resolution for each in found if each and each.resolution is not UNSET), default=UNSET)


def _outcome(well: Sequence[Run]) -> str:
    """Return how the repeats of a figure ended: completed, unless the end of one was not seen."""
    return next((run.outcome for run in well if run.outcome != "completed"), "completed")


def _metric(name: str, runs: Sequence[Run], unlike: Reason | None) -> ResultMetric | None:
    """Return one metric over the repeats that state it; None where none does.

    Those of runs without a figure count only if no other run states the metric.
    """
    stated = [run.metrics[name] for run in runs if name in run.metrics]
    if not stated:
        return None
    calm = [run for run in runs if name in run.metrics and not run.disturbed]
    well = [run for run in calm if run.outcome not in NO_FIGURE] or calm
    values = [(value, _host(run)) for run in well if (value := run.metrics[name].value) is not None]
    finite = [(value, host) for value, host in values if not math.isnan(value)]
    over = statistics_of(*zip(*finite, strict=True)) if finite and not unlike else None
    known = [each.diverged for each in stated if each.diverged is not None]
    found = ResultMetric(**_fields(over), unit=stated[0].unit, diverged=any(known) if known else None)
    return _scored(found, name, runs) if METRICS[name].repeats == "olympic" else found


#: A score of at least this many runs drops more than one run at each end, as MLPerf does for U-Net 3D.
_MANY = 40
#: Runs that such a score drops at each end.
_DROPPED_OF_MANY = 4


def _scored(found: ResultMetric, name: str, runs: Sequence[Run]) -> ResultMetric:
    """Return a metric with the score of its repeats, times the factor that the round declares, or why it is absent.

    Source: the rules of MLPerf Training and its result summarizer. A run that did not reach its target is the slowest.
    """
    known = [run.metrics[name].value if name in run.metrics else None for run in sorted(runs, key=_minutes)]
    factor = float(_fact(runs[0], "scaling_factor") or 1)  # of the round: all repeats have it
    dropped = _DROPPED_OF_MANY if len(known) >= _MANY else 1
    kept, missed = [each or math.nan for each in known[dropped:-dropped]], known.count(None)
    needed = 2 * dropped + 1 if not kept else len(known) - dropped if missed > dropped else len(known)
    reason = None
    if not kept or missed > dropped or any(map(math.isnan, kept)):
        reason = Reason("too_few_scored", {"repeats": len(known) - missed, "needed": needed})
    value = None if reason else math.fsum(kept) / len(kept) * factor
    return replace(found, value=value, rule="olympic", factor=factor, reason=reason)


def _minutes(run: Run) -> float:
    """Return a run's time to train, infinite where it did not reach its target."""
    time = run.metrics.get("time_to_train")
    return math.inf if time is None or time.value is None else time.value


def _fields(over: Statistics | None) -> dict[str, Any]:
    """Return the statistics as fields of a result."""
    return asdict(over) if over else {"value": None, "low": None, "high": None, "spread": None, "repeats": 0}


def _with_speedups(found: Sequence[Result]) -> list[Result]:
    """Return the results with their speed-up against one device of the same case."""
    # Only results of the same workload are compared: the time grows with their number, not with its square.
    ones = by_key((each for each in found if each.devices == 1 and each.value is not None), _workload)
    return [_with_speedup(each, _baselines(each, ones.get(_workload(each), ()))) for each in found]


def _with_speedup(result: Result, baselines: Sequence[Result]) -> Result:
    if result.value is None:
        return replace(result, speedup_reason=result.reason)
    if len(baselines) != 1:
        return replace(result, speedup_reason=Reason("no_baseline", {"count": len(baselines)}))
    (baseline,) = baselines
    speedup = result.value / (baseline.value or math.nan)
    return replace(
        result,
        speedup=speedup,
        efficiency=speedup / (result.devices or math.nan),
        baseline=None if baseline is result else baseline,
    )


def _baselines(result: Result, ones: Sequence[Result]) -> Sequence[Result]:
    """Return those of the one-device results of its workload that are its baseline; two are ambiguous.

    A result of one device is its own. Options that only one of two states do not count, but that with the very same
    options is first.
    """
    if result.devices == 1:
        return [result]
    near = [one for one in ones if _differ_in_devices_only(result, one)]
    return [one for one in near if _options(one) == _options(result)] or near


def _differ_in_devices_only(result: Result, one: Result) -> bool:
    mine, other = _options(result), _options(one)
    return all(mine[name] == other[name] or _same_update(name, result, one) for name in mine.keys() & other.keys())


def _same_update(name: str, result: Result, one: Result) -> bool:
    """Return whether fewer batches per update and device make the same update, since more devices share it."""
    steps, alone = result.options.get(name), one.options.get(name)
    shared = isinstance(steps, int) and isinstance(alone, int) and steps * (result.devices or 0) == alone
    return name == "accumulation" and shared


def _workload(result: Result) -> tuple[Any, ...]:
    """Return what two cases that differ only in their number of devices have in common."""
    return tuple(getattr(result, name) for name in _WORKLOAD)


def _options(result: Result) -> dict[str, Plain]:
    """Return the options that distinguish cases besides their number of devices."""
    return {name: value for name, value in result.options.items() if name not in _GROWING}
