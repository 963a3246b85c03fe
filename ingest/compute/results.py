"""Results: runs of one case are repeats; their median is the figure, their spread says how far to believe it.

Runs of other framework versions, or of other benchmark rounds, are no repeats of each other. What a run does not state
is not guessed from others: runs without a version are repeats of each other only.

pandas lives here and in what draws on it; reading logs does without.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingest.common.suites import SAMPLES, folded, unit_of_samples
from ingest.compute.rules import HEADLINE
from ingest.read import facts
from schema.vocabulary import CASE, METRICS, NO_FIGURE

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "suite", "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options",
    "options_text", "version", "round", "unit", "value", "low", "high", "spread", "repeats", "run_ids",
    "speedup", "speedup_reason", "efficiency", "outcome", "reason", "metrics",
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


def results(runs: Sequence[Mapping[str, Any]], rule: str = HEADLINE) -> pd.DataFrame:
    """One row per case, framework version and benchmark round.

    `value` is the median over the repeats in `unit` for the whole job, `low` and `high` their extremes, `spread` the
    sample standard deviation over the mean (NaN for one repeat). `speedup` is against one device of the same case,
    `efficiency` that over the number of devices. An absent value is NaN with a `reason`. `metrics` holds the figures
    other than throughput, each as a mapping of `value`, `low`, `high`, `repeats`, `unit`, and `diverged` for a loss.

    Args:
        runs: ledger lines; duplicates and those not published are left out, out-of-memory outcomes are kept.
        rule: which figure.
    """
    import pandas as pd

    rows = [_row(alike, rule) for alike in repeats(runs, rule)]
    # Only rows that agree in what must be equal are compared: the time grows with the rows, not with their square.
    ones: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["devices"] == 1:
            ones[_workload(row)].append(row)
    for row in rows:
        _compare(row, ones[_workload(row)])
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    order = ["suite", "hardware", "precision", "framework", "model", "devices", "batch_size", "options_text"]
    order += ["version", "round"]
    return frame.sort_values(order, kind="stable", na_position="last", ignore_index=True)


def repeats(runs: Sequence[Mapping[str, Any]], rule: str = HEADLINE) -> list[list[Mapping[str, Any]]]:
    """The runs behind each result, of those that count."""
    cases: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        if counts(run):
            cases[_key(run)].append(run)
    return [alike for found in cases.values() for alike in _by_unit(found, rule)]


def figure(runs: Sequence[Mapping[str, Any]], rule: str = HEADLINE) -> dict[str, Any]:
    """What repeats give: `value`, their median, `low`, `high`, `spread` and `repeats`; NaN where none has a figure."""
    return _statistics([value for run in runs if (value := _value(run, rule)) is not None])


def representative(runs: Sequence[Mapping[str, Any]], rule: str = HEADLINE) -> Mapping[str, Any]:
    """Of a result's runs the one whose figure lies nearest to the median; the first by id where several do, or none."""
    known = [run for run in runs if _value(run, rule) is not None]
    middle = _statistics([run["figures"][rule]["value"] for run in known])["value"]
    return min(known or runs, key=lambda run: (abs(_value(run, rule) - middle) if known else 0, str(run["id"])))


def _value(run: Mapping[str, Any], rule: str) -> Any:
    """What a run adds to its result: a figure of the whole job, of a run that went well; None where there is none."""
    found = run["figures"].get(rule, {})
    return found.get("value") if found.get("scope") == "job" and run["outcome"] not in NO_FIGURE else None


def counts(run: Mapping[str, Any]) -> bool:
    """Whether a run may stand in a result table: with its figure, or with an out-of-memory as its result."""
    if run["duplicate_of"] or run["format"] is None:
        return False
    known = not facts.missing(run["case"], run["case"].get("options") or {})
    refused = {each["code"] for each in run["problems"]} & {
        "contradiction",
        "hash_mismatch",
        "other_format",
        "batch_size",
    }
    return bool(run["published"]) or (run["outcome"] == "oom" and known and not refused)


def version(run: Mapping[str, Any]) -> str | None:
    """The framework's version: as run.json, the log or the layout states it, otherwise that of its package."""
    environment = run.get("environment") or {}
    stated = environment.get("framework_version") or _fact(run, "framework_version")
    if isinstance(stated, str):
        return stated
    return _packaged(str(run["case"].get("framework") or ""), environment.get("packages"))


def round_of(run: Mapping[str, Any]) -> str | None:
    """The benchmark round that a run was made for; None where nothing states one."""
    stated = _fact(run, "round")
    return str(stated) if stated else None


def _fact(run: Mapping[str, Any], name: str) -> Any:
    return ((run.get("facts") or {}).get(name) or {}).get("value")


def _packaged(framework: str, packages: Any) -> str | None:
    """The version of the package that a framework is installed as."""
    if not isinstance(packages, Mapping):
        return None
    names = next((_PACKAGES[each] for each in _PACKAGES if each in folded(framework)), ())
    return next((str(packages[each]) for each in names if packages.get(each)), None)


def _key(run: Mapping[str, Any]) -> str:
    case = {name: run["case"].get(name) for name in (*CASE, "options")}
    return json.dumps([case, version(run), round_of(run)], sort_keys=True, default=str)


def _by_unit(runs: Sequence[Mapping[str, Any]], rule: str) -> list[list[Mapping[str, Any]]]:
    """Runs of one case apart by unit: words and tokens have no common median. A run without a figure has none."""
    units = [_unit(run, rule) for run in runs]
    known: list[str | None] = [*dict.fromkeys(each for each in units if each)] or [None]
    return [[run for run, mine in zip(runs, units, strict=True) if (mine or known[0]) == unit] for unit in known]


def _unit(run: Mapping[str, Any], rule: str) -> str | None:
    """What a run's figure counts, in the words of its model's page, so that frameworks can be compared."""
    stated = run["figures"].get(rule, {}).get("unit")
    return unit_of_samples(run.get("suite")) if stated == SAMPLES else stated


def _row(runs: Sequence[Mapping[str, Any]], rule: str) -> dict[str, Any]:
    case, options = runs[0]["case"], runs[0]["case"].get("options") or {}
    figures = [run["figures"].get(rule, {}) for run in runs if run["outcome"] not in NO_FIGURE]
    over = figure(runs, rule)
    reasons = [each["reason"] for each in figures if each.get("reason")]
    return {
        **{name: case.get(name) for name in CASE},
        "suite": runs[0]["suite"],
        "options": dict(options),
        "options_text": ", ".join(f"{name}={value}" for name, value in sorted(options.items())),
        "version": version(runs[0]),
        "round": round_of(runs[0]),
        "unit": next((unit for run in runs if run["outcome"] not in NO_FIGURE and (unit := _unit(run, rule))), None),
        **over,
        "run_ids": [run["id"] for run in runs],
        "speedup": math.nan,
        "speedup_reason": None,
        "efficiency": math.nan,
        "outcome": "completed" if over["repeats"] else runs[0]["outcome"],
        "reason": None
        if over["repeats"]
        else (reasons[0] if reasons else {"code": "outcome", "args": {"outcome": runs[0]["outcome"]}}),
        "metrics": {name: found for name in METRICS if (found := _metric(name, runs))},
    }


def _metric(name: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """One metric over the repeats that say something about it: as with throughput, those that went well, if any did."""
    stating = [run for run in runs if name in (run.get("metrics") or {})]
    said = [run["metrics"][name] for run in stating]
    well = [run["metrics"][name] for run in stating if run["outcome"] not in NO_FIGURE] or said
    values = [each["value"] for each in well if each["value"] is not None]
    if not said:
        return None
    diverged = {"diverged": any(each["diverged"] for each in said)} if any("diverged" in each for each in said) else {}
    return {**_statistics(values), "unit": said[0]["unit"], **diverged}


def _statistics(values: Sequence[float]) -> dict[str, Any]:
    import statistics

    if not values:
        return {"value": math.nan, "low": math.nan, "high": math.nan, "spread": math.nan, "repeats": 0}
    spread = statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else math.nan
    middle, low, high = statistics.median(values), min(values), max(values)
    return {"value": middle, "low": low, "high": high, "spread": spread, "repeats": len(values)}


def _compare(row: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Fill in the speed-up against one device of the same case."""
    if math.isnan(row["value"]):
        row["speedup_reason"] = row["reason"]
        return
    alike = [each for each in rows if each["devices"] == 1 and not math.isnan(each["value"]) and _same(row, each)]
    # Its own figure, or that of the very same case, stands before those which leave something unsaid.
    alike = [each for each in alike if _options(each) == _options(row)] or alike
    for name in _EDITION:
        alike = [each for each in alike if each[name] == row[name]] or alike
    alike = [row] if row["devices"] == 1 else alike
    if len(alike) != 1:
        row["speedup_reason"] = {"code": "no_baseline" if not alike else "several_baselines", "args": {}}
        return
    row["speedup"] = row["value"] / alike[0]["value"]
    row["efficiency"] = row["speedup"] / row["devices"]


def _same(row: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Whether two cases differ in nothing but nodes and devices.

    Options, version and round that only one of them states do not count.
    """
    if row is one:
        return True
    if any(row[name] and one[name] and row[name] != one[name] for name in _EDITION):
        return False
    mine, theirs = _options(row), _options(one)
    agree = all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())
    return agree and _workload(row) == _workload(one)


def _workload(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What two cases that differ only in their number of devices have in common."""
    return tuple(row[name] for name in ("model", "framework", "hardware", "batch_size", "precision", "unit"))


def _options(row: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a case by which it is told from others of more devices, or of less."""
    return {name: value for name, value in row["options"].items() if name not in _GROWING}
