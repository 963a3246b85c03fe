"""Our own results of the case of a published figure.

Two cases are the same if they agree in model, framework, hardware, machines, devices, batch size, precision, unit, and
in every option that both state. An option that only ours states is shown with our result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common.suites import folded, model
from ingest.published.publications import Published, options_agree
from ingest.site.model import Row, Site, Suite, options_text
from ingest.site.result_tables import version_marks

#: Metrics that compare with published ones; the loss of one step does not compare with that of another.
METRICS = frozenset({"latency", "memory", "flops", "peak_share", "flops_of_job"})
#: PaddlePaddle's own libraries of models. NVIDIA's trainers are not those of the frameworks in their names:
#: `NGC PyTorch` is never `PyTorch`.
_LIBRARIES = frozenset({"paddleclas", "paddleseg", "paddlenlp", "paddlerec", "paddledetection", "paddleocr"})
_SWITCH = {"yes": "true", "no": "false"}
_BATCH_OF_JOB = "batch_size_of_job"


@dataclass(frozen=True)
class Ours:
    """A result of ours and its value of the published metric.

    `difference` is relative to the published figure; `marks` are what our case states and the published one does not.
    """

    row: Row
    value: float
    spread: float | None
    difference: float
    marks: tuple[str, ...]


def of_suite(site: Site, suite: Suite) -> Callable[[Published], list[Ours]]:
    """Return a function that looks up our results of the case of a published figure, in the order of the results."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in site.rows.get(suite.id, ()) if site.runs else ():
        found.setdefault(_case(row, model(row.model or "")), []).append(row)
    return lambda figure: _ours(figure, found.get(_case(figure, figure.model), ()))


def _case(of: Row | Published, name: str) -> tuple[object, ...]:
    """Return what has to be the same, apart from options."""
    framework = folded(of.framework or "")
    framework = "paddlepaddle" if framework in _LIBRARIES else framework
    return (name, framework, of.hardware or "", of.nodes or 1, of.devices, of.batch_size, of.precision or "")


def _ours(figure: Published, rows: Sequence[Row]) -> list[Ours]:
    if not figure.value or not figure.devices:
        return []
    alike = [row for row in rows if _alike(figure, row)]
    known = ((row, _value(figure, row)) for row in alike)
    return [
        Ours(row, value, spread, value / figure.value - 1, (*_marks(figure, row), *version_marks(row, alike)))
        for row, (value, spread) in known
        if value and value > 0
    ]


def _marks(figure: Published, row: Row) -> tuple[str, ...]:
    library = row.framework if folded(row.framework or "") != folded(figure.framework) else ""
    more = {name: value for name, value in row.options.items() if name not in figure.options}
    return tuple(each for each in (library, options_text(more)) if each)


def _alike(figure: Published, row: Row) -> bool:
    """Return whether both state a batch size, of a device or of the job, and agree in the options that both state."""
    ours, published = _spelled_alike(row.options), _spelled_alike(figure.options)
    if figure.batch_size is None and not (_BATCH_OF_JOB in ours and _BATCH_OF_JOB in published):
        return False
    return options_agree(ours, published)


def _spelled_alike(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options in one spelling: tables have yes and no, logs true and false."""
    lower = {name: str(value).casefold() for name, value in options.items()}
    return {name: _SWITCH.get(value, value) for name, value in lower.items()}


def _value(figure: Published, row: Row) -> tuple[float | None, float | None]:
    """Return our value of the published metric, and its spread over repeats."""
    if figure.metric == "throughput":
        return (row.value, row.spread) if row.unit == figure.unit else (None, None)
    found = row.metrics.get(figure.metric) if figure.metric in METRICS else None
    return (found.value, None) if found and found.unit == figure.unit else (None, None)
