"""Print figures in the formats of services that follow benchmarks over time.

A figure is the median of a case. A service follows a name from one version to the next, so a name has version, rule and
unit only if cases would share it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from perfledger.schema.figures import CaseFigure, FiguresFound


def bencher(figures: FiguresFound) -> str:
    """Return Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format/."""
    found = {}
    for name, each in _named(figures):
        low, high = each.interval or (None, None)
        bounds = {"lower_value": low, "upper_value": high}
        measured = {"value": each.value, **{key: value for key, value in bounds.items() if value is not None}}
        found[name] = {f"throughput ({each.unit})": measured}
    return json.dumps(found, indent=1, ensure_ascii=False)


def github_action_benchmark(figures: FiguresFound) -> str:
    """Return what github-action-benchmark reads with `tool: customBiggerIsBetter`."""
    found = []
    for name, each in _named(figures):
        spread = {} if each.spread is None else {"range": f"± {100 * each.spread:.1f} %"}
        found.append({"name": name, "unit": each.unit, "value": each.value, **spread, "extra": "\n".join(each.runs)})
    return json.dumps(found, indent=1, ensure_ascii=False)


def openmetrics(figures: FiguresFound) -> str:
    """Return OpenMetrics 1.0 text, a gauge for each case."""
    lines = ["# TYPE perfledger_throughput gauge", "# HELP perfledger_throughput Median over the repeats of a case."]
    for name, each in _named(figures):
        labels = {"case": name, "unit": each.unit, "rule": each.rule, "version": each.version or ""}
        written = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
        lines.append(f"perfledger_throughput{{{written}}} {each.value!r}")
    return "\n".join([*lines, "# EOF"])


FORMATS: Mapping[str, Callable[[FiguresFound], str]] = {
    "bencher": bencher,
    "github-action-benchmark": github_action_benchmark,
    "openmetrics": openmetrics,
}


def _named(figures: FiguresFound) -> Iterator[tuple[str, CaseFigure]]:
    known = [each for each in figures.cases if each.value is not None]
    often = Counter(map(_name, known))
    for each in known:
        name = _name(each)
        yield f"{name} {each.version} {each.rule} {each.unit}" if often[name] > 1 else name, each


def _name(figure: CaseFigure) -> str:
    case = figure.case
    devices = f"{case.devices}x {case.hardware}" if case.hardware else f"{case.devices} devices"
    options = (f"{name}={value}" for name, value in sorted(case.options.items()))
    facts = (case.model, case.framework, devices, f"bs{case.batch_size}", case.precision, *options, figure.round)
    return " ".join(str(each) for each in facts if each is not None)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
