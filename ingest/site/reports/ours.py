"""Our own results beside figures that others published: which results have the case of a published figure.

A case is the same where model, framework, hardware, machines, devices, batch size, precision and unit are, and every
option that both state. What only one of them states is no difference; ours is shown with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common.suites import folded, model
from ingest.published.publications import Published
from ingest.site.model import Row, Site, Suite, options_text

#: Metrics that compare with published ones; the loss of one step does not compare with that of another.
METRICS = frozenset({"latency", "memory", "flops", "peak_share", "flops_of_job"})
#: PaddlePaddle's own libraries of models. NVIDIA's trainers are others than those of the frameworks they are called
#: after, so that `NGC PyTorch` is never `PyTorch`.
_LIBRARIES = frozenset({"paddleclas", "paddleseg", "paddlenlp", "paddlerec", "paddledetection", "paddleocr"})
_SWITCH = {"yes": "true", "no": "false"}
_BATCH_OF_JOB = "batch_size_of_job"


@dataclass(frozen=True)
class Ours:
    """A result of ours and its value of the published metric.

    `difference` is a part of the published figure; `marks` say what our case states and the published one does not.
    """

    row: Row
    value: float
    spread: float | None
    difference: float
    marks: tuple[str, ...]


def of_suite(site: Site, suite: Suite) -> Callable[[Published], list[Ours]]:
    """What looks up our results of the case of a figure of a suite, in the order of the results."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in site.rows.get(suite.id, ()) if site.runs else ():
        found.setdefault(_case(row, model(row.model or "")), []).append(row)
    return lambda figure: _ours(figure, found.get(_case(figure, figure.model), ()))


def _case(of: Row | Published, name: str) -> tuple[object, ...]:
    """What has to be the same, options aside."""
    framework = folded(of.framework or "")
    framework = "paddlepaddle" if framework in _LIBRARIES else framework
    return (name, framework, of.hardware or "", of.nodes or 1, of.devices, of.batch_size, of.precision or "")


def _ours(figure: Published, rows: Sequence[Row]) -> list[Ours]:
    if not figure.value or not figure.devices:
        return []
    alike = [row for row in rows if _alike(figure, row)]
    known = ((row, _value(figure, row)) for row in alike)
    return [
        Ours(row, value, spread, value / figure.value - 1, (*_marks(figure, row), *_edition(row, alike)))
        for row, (value, spread) in known
        if value and value > 0
    ]


def _edition(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """Version and round, where our results of the case differ in them."""
    said = (row.version, {each.version for each in rows}), (row.round, {each.round for each in rows})
    return tuple(mine for mine, all_of_them in said if mine and len(all_of_them) > 1)


def _marks(figure: Published, row: Row) -> tuple[str, ...]:
    library = row.framework if folded(row.framework or "") != folded(figure.framework) else ""
    more = {name: value for name, value in row.options.items() if name not in figure.options}
    return tuple(each for each in (library, options_text(more)) if each)


def _alike(figure: Published, row: Row) -> bool:
    """Whether both state a batch size, of a device or of the job, and agree in the options that both state."""
    mine, theirs = _said(row.options), _said(figure.options)
    if figure.batch_size is None and not (_BATCH_OF_JOB in mine and _BATCH_OF_JOB in theirs):
        return False
    return all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())


def _said(options: Mapping[str, Any]) -> dict[str, str]:
    """Options in one spelling: tables say yes and no, logs true and false."""
    lower = {name: str(value).casefold() for name, value in options.items()}
    return {name: _SWITCH.get(value, value) for name, value in lower.items()}


def _value(figure: Published, row: Row) -> tuple[float | None, float | None]:
    """Our value of the published metric, and its spread over repeats."""
    if figure.metric == "throughput":
        return (row.value, row.spread) if row.unit == figure.unit else (None, None)
    found = row.metrics.get(figure.metric) if figure.metric in METRICS else None
    return (found.value, None) if found and found.unit == figure.unit else (None, None)
