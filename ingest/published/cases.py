"""Decide which figures are of one case: published ones with each other, and our results with a published one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from perfledger.ingest.common import suites
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.suites import folded
from perfledger.ingest.published.publications import Published, options_cell
from perfledger.schema.plans import Plan, PlanCase
from perfledger.schema.records import Plain, Result
from perfledger.schema.vocabulary import PRECISION_GROUPS

Case = tuple[object, ...]
#: PaddlePaddle's own libraries of models. NVIDIA's trainers are not those of the frameworks in their names:
#: `NGC PyTorch` is never `PyTorch`.
_LIBRARIES = frozenset({"paddleclas", "paddleseg", "paddlenlp", "paddlerec", "paddledetection", "paddleocr"})
#: Sources call any of these AMP.
_HALF = frozenset(PRECISION_GROUPS["half"])
_SWITCH = {"yes": "true", "no": "false"}
_BATCH_OF_JOB = "batch_size_of_job"
#: Option in tables of runs with and without gradient accumulation: these update the weights with every batch.
_NO_ACCUMULATION = "gradient_accumulation"
#: Options whose absence means "off"; for all others, such as clipping, absence means "unknown".
_OFF = frozenset({("xla", "no"), ("dali", "no")})


def library(framework: str) -> str:
    """Return the folded name of a framework, and for its own libraries of models the framework's."""
    name = folded(framework)
    return "paddlepaddle" if name in _LIBRARIES else name


# ---- published figures with each other ----


def cell(row: Published) -> str:
    """Return what figures share that a source should publish one value of, wherever it prints them."""
    names = (
        "source", "model", "framework", "framework_source", "hardware", "nodes", "devices", "batch_size", "precision",
        "metric", "unit",
    )  # fmt: skip
    stated = {name: value for name, value in row.options.items() if (name, value) not in _OFF}
    return json.dumps([*(getattr(row, name) for name in names), options_cell(stated)])


def case_on_page(row: Published) -> Case:
    """Return what the tables and the script outputs of a page both state: the page, and the case without options."""
    case = (row.model, row.framework, row.nodes, row.devices, row.batch_size, row.precision, row.unit)
    return (row.source, row.place, *case)


def case_without_devices(row: Published) -> Case:
    """Return what figures have in common that differ in their number of devices only."""
    case = (row.model, row.framework, row.framework_source, row.hardware, row.batch_size, row.precision)
    return (*case, row.metric, row.unit, options_cell(row.options))


def one_device_figures(rows: Iterable[Published]) -> Mapping[Case, list[float]]:
    """Return the different figures of one device, by their case: those that speed-ups are computed from."""
    found: dict[Case, list[float]] = {}
    for row in rows:
        if row.devices == 1 and row.value:
            known = found.setdefault(case_without_devices(row), [])
            if row.value not in known:
                known.append(row.value)
    return found


def of_plan(figures: Iterable[Published], plan: Plan) -> list[Published]:
    """Return the published figures of the model and the framework of a plan."""
    model, framework = suites.model(plan.model), library(plan.framework)
    return [each for each in figures if each.model == model and library(each.framework) == framework]


def may_be_of(figure: Published, case: PlanCase) -> bool:
    """Return whether a published figure of a plan may belong to a case of it: all facts that both state are equal."""
    same = {figure.precision, case.precision} <= _HALF or figure.precision in ("", case.precision)
    return (
        same
        and figure.nodes in (None, case.nodes)
        and figure.devices in (None, case.devices)
        and figure.batch_size in (None, case.batch_size)
        and options_agree(_as_logs_say(figure.options), in_one_spelling(case.options))
    )


def options_agree(one: Mapping[str, str], two: Mapping[str, str]) -> bool:
    """Return whether all options that both state are equal; an option of one side only is not a difference."""
    return all(one[name] == two[name] for name in one.keys() & two.keys())


# ---- our results with a published figure ----

#: Facts that identify an entry of a benchmark round, together with the model.
_ENTRY = ("submitter", "system")


def is_of_entry(figure: Published, result: Result) -> bool:
    """Return whether a published score and a result have the same benchmark, submitter and system.

    A score states no other facts of its case. If both state a round, it must be the same.
    """
    published, ours = in_one_spelling(figure.options), in_one_spelling({**result.options, "round": result.round})
    stated = all(name in published and published[name] == ours.get(name) for name in _ENTRY)
    return (
        stated
        and figure.model == result.model
        and (result.round is None or published.get("round", ours["round"]) == ours["round"])
    )


def matcher(results: Iterable[Result], published: Iterable[Published] = ()) -> Callable[[Published], list[Result]]:
    """Return a function that looks up the results of the case of a published figure, in the order of the results.

    Two cases are the same if they agree in model, framework, hardware, machines, devices, batch size (of a device or of
    the job), precision, and in every option that both state. If a source has a case with and without gradient
    accumulation (`published` are all its figures), a figure without that option is the one with accumulation.
    """
    fit = options_fit(published)
    by_case = by_key(results, lambda result: _case(result, result.model or ""))

    def of_case(figure: Published) -> list[Result]:
        found = by_case.get(_case(figure, figure.model), ()) if figure.devices else ()
        return [each for each in found if fit(figure, each)]

    return of_case


def options_fit(published: Iterable[Published]) -> Callable[[Published, Result], bool]:
    """Return a function that returns whether a published figure and a result agree in every option that both state."""
    apart = {_of_source(row) for row in published if _NO_ACCUMULATION in row.options}

    def fit(figure: Published, result: Result) -> bool:
        gathers = _NO_ACCUMULATION not in figure.options and _of_source(figure) in apart
        return _options_match(figure, result) and ("accumulation" in result.options or not gathers)

    return fit


def _of_source(figure: Published) -> Case:
    return (figure.source, *_case(figure, figure.model))


def _case(of: Result | Published, name: str) -> Case:
    """Return what has to be the same, apart from options."""
    return (
        name,
        library(of.framework or ""),
        of.hardware or "",
        of.nodes or 1,
        of.devices,
        of.batch_size,
        of.precision or "",
    )


def _options_match(figure: Published, result: Result) -> bool:
    # The options of a case lack those with their usual value.
    ours = {"accumulation": "1"} | in_one_spelling(result.options)
    published = _as_logs_say(figure.options)
    if figure.batch_size is None and not (_BATCH_OF_JOB in ours and _BATCH_OF_JOB in published):
        return False
    return options_agree(ours, published)


def _as_logs_say(options: Mapping[str, Plain]) -> dict[str, str]:
    """Return options as a case of ours names them: without accumulation, one step makes an update."""
    found = in_one_spelling(options)
    stated = found.pop(_NO_ACCUMULATION, "")
    return found | ({"accumulation": "1"} if stated == "false" else {})


def in_one_spelling(options: Mapping[str, Plain]) -> dict[str, str]:
    """Return options in one spelling: tables have yes and no, logs true and false."""
    lower = {name: str(value).casefold() for name, value in options.items()}
    return {name: _SWITCH.get(value, value) for name, value in lower.items()}
