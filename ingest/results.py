"""Results: runs of one case are repeats; their median is the figure, their spread says how far to believe it.

pandas lives here and in what draws on it; reading logs does without.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingest import facts
from ingest.metrics import METRICS
from ingest.rules import HEADLINE

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "suite", "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options",
    "options_text", "unit", "value", "low", "high", "spread", "repeats", "run_ids", "speedup", "speedup_reason",
    "efficiency", "outcome", "reason", "metrics",
)  # fmt: skip

#: Options that are another word for the number of devices, where the network is not cut over them.
_GROWING = frozenset({"data_parallel"})
#: Outcomes that leave no figure even where records were printed.
NO_FIGURE = frozenset({"oom", "failed"})


def results(runs: Sequence[Mapping[str, Any]], rule: str = HEADLINE) -> pd.DataFrame:
    """One row per case.

    `value` is the median over the repeats in `unit` for the whole job, `low` and `high` their extremes, `spread` the
    sample standard deviation over the mean (NaN for one repeat). `speedup` is against one device of the same case,
    `efficiency` that over the number of devices. An absent value is NaN with a `reason`. `metrics` holds the figures
    other than throughput, each as a mapping of `value`, `low`, `high`, `repeats`, `unit`, and `diverged` for a loss.

    Args:
        runs: ledger lines; duplicates and those not published are left out, out-of-memory outcomes are kept.
        rule: which figure.
    """
    import pandas as pd

    cases: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        if counts(run):
            cases[_key(run["case"])].append(run)
    rows = [_row(alike, rule) for found in cases.values() for alike in _by_unit(found, rule)]
    for row in rows:
        _compare(row, rows)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    order = ["suite", "hardware", "precision", "framework", "model", "devices", "batch_size", "options_text"]
    return frame.sort_values(order, kind="stable", na_position="last", ignore_index=True)


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


def _key(case: Mapping[str, Any]) -> str:
    return json.dumps({name: case.get(name) for name in (*facts.CASE, "options")}, sort_keys=True, default=str)


def _by_unit(runs: Sequence[Mapping[str, Any]], rule: str) -> list[list[Mapping[str, Any]]]:
    """Runs of one case apart by unit: words and tokens have no common median. A run without a figure has none."""
    units = [run["figures"].get(rule, {}).get("unit") for run in runs]
    known = list(dict.fromkeys(each for each in units if each)) or [None]
    return [[run for run, mine in zip(runs, units, strict=True) if (mine or known[0]) == unit] for unit in known]


def _row(runs: Sequence[Mapping[str, Any]], rule: str) -> dict[str, Any]:
    case, options = runs[0]["case"], runs[0]["case"].get("options") or {}
    figures = [run["figures"].get(rule, {}) for run in runs if run["outcome"] not in NO_FIGURE]
    values = [each["value"] for each in figures if each.get("value") is not None and each.get("scope") == "job"]
    reasons = [each["reason"] for each in figures if each.get("reason")]
    return {
        **{name: case.get(name) for name in facts.CASE},
        "suite": runs[0]["suite"],
        "options": dict(options),
        "options_text": ", ".join(f"{name}={value}" for name, value in sorted(options.items())),
        "unit": next((each["unit"] for each in figures if each.get("unit")), None),
        **_statistics(values),
        "run_ids": [run["id"] for run in runs],
        "speedup": math.nan,
        "speedup_reason": None,
        "efficiency": math.nan,
        "outcome": "completed" if values else runs[0]["outcome"],
        "reason": None
        if values
        else (reasons[0] if reasons else {"code": "outcome", "args": {"outcome": runs[0]["outcome"]}}),
        "metrics": {name: found for name in METRICS if (found := _metric(name, runs))},
    }


def _metric(name: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """One metric over the repeats that say something about it."""
    said = [run["metrics"][name] for run in runs if name in (run.get("metrics") or {})]
    values = [each["value"] for each in said if each["value"] is not None]
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
    # Its own figure, or that of the very same case, stands before those which leave options unsaid.
    alike = [each for each in alike if _options(each) == _options(row)] or alike
    alike = [row] if row["devices"] == 1 else alike
    if len(alike) != 1:
        row["speedup_reason"] = {"code": "no_baseline" if not alike else "several_baselines", "args": {}}
        return
    row["speedup"] = row["value"] / alike[0]["value"]
    row["efficiency"] = row["speedup"] / row["devices"]


def _same(row: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Whether two cases differ in nothing but nodes and devices; options that only one of them states do not count."""
    if row is one:
        return True
    names = ("model", "framework", "hardware", "batch_size", "precision", "unit")
    mine, theirs = _options(row), _options(one)
    agree = all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())
    return agree and all(row[name] == one[name] for name in names)


def _options(row: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a case by which it is told from others of more devices, or of less."""
    return {name: value for name, value in row["options"].items() if name not in _GROWING}
