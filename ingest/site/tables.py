"""Which tables the pages show: results, runs and facts turned into table objects, once for both languages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ingest.common import numbers
from ingest.common.words import Text, coded, phrase, word_for
from ingest.compute.comparison import image_of
from ingest.compute.results import representative as representative_of
from ingest.compute.rules import HEADLINE, NAMES
from ingest.site import log, run_paging
from ingest.site.addresses import framework_page
from ingest.site.model import (
    Row,
    Site,
    Suite,
    absence,
    framework_of,
    hardware_of,
    named,
    options_text,
    ordered,
    reason,
)
from ingest.site.render.table import Cell, Column, Entry, Link, Table, Value, View, absent, cell
from ingest.site.render.text import slug
from ingest.site.table_metrics import THROUGHPUT, leaders, measured, views
from schema.records import Case, FactValue, Figure, MetricFigure, NoFigure, Problem, ResultMetric, Run
from schema.vocabulary import CASE, METRICS, NO_FIGURE

ENVIRONMENT = (
    "cpu",
    "cpu_sockets",
    "cores",
    "numa_nodes",
    "cpu_governor",
    "memory_gib",
    "gpu",
    "gpus",
    "gpu_memory_gib",
    "gpu_memory_mib",
    "driver",
    "cuda",
    "cuda_driver",
    "cudnn",
    "nccl",
    "power_limit",
    "gpu_power_limit_watts",
    "gpu_persistence",
    "gpu_ecc",
    "gpu_clock_max_sm_mhz",
    "gpu_clock_max_memory_mhz",
    "gpu_clock_applications_sm_mhz",
    "gpu_clock_applications_memory_mhz",
    "topology",
    "infiniband",
    "network",
    "os",
    "kernel",
    "python",
    "image",
    "container_digest",
)
ENOUGH = 6  # distinct values of one item that a cell lists
RUNS_LINKED = 3  # repeats that a cell links one by one; their number says how many more there are
RUNS_NAMED = 20  # repeats that a table's files name


def sections(site: Site, suite: Suite) -> list[tuple[str, str, tuple[Row, ...]]]:
    """Rows of a suite by hardware and precision group, in the order of the page."""
    rows = site.rows.get(suite.id, ())
    groups = [*suite.groups, "unknown"]
    return [
        (hardware, group, chosen)
        for hardware in sorted({row.hardware or "" for row in rows})
        for group in groups
        if (chosen := tuple(r for r in rows if (r.hardware or "") == hardware and suite.group(r.precision) == group))
    ]


def units(rows: Sequence[Row]) -> str:
    """The unit of some rows; where they differ, all of them: what one printer calls words may be another's tokens."""
    return ", ".join(sorted({row.unit for row in rows if row.unit}))


def comparison(site: Site, suite: Suite, rows: Sequence[Row]) -> Table:
    """Devices by batch size down, frameworks across; a cell is the figure linked to its runs."""
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    keys = sorted({suite.row_key(row) for row in rows})
    with_options, mixed = any(key[3] for key in keys), len({row.unit for row in rows if row.unit}) > 1
    shown = views(rows, "" if mixed else units(rows) or suite.unit)
    head = [DEVICES, BATCH_SIZE, *([OPTIONS] if with_options else [])]
    head += [Column(named(each), True, framework_page(site, suite, each), switched=True) for each in frameworks]
    body = []
    for key in keys:
        chosen = [row for row in rows if suite.row_key(row) == key]
        best = {each.key: leaders(site, suite, chosen, each) for each in shown}
        row = [_devices_cell(chosen[0]), cell(_or_unknown(chosen[0].batch_size))]
        row += [cell(key[3])] if with_options else []
        row += [
            _switched(site, suite, [r for r in chosen if (r.framework or "") == each], shown, best, mixed)
            for each in frameworks
        ]
        body.append(tuple(row))
    return Table(tuple(head), tuple(body), views=shown, name="comparison")


DEVICES = Column(phrase("table.devices"), True)
BATCH_SIZE = Column(phrase("table.batch_size"), True)
OPTIONS = Column(phrase("table.options"))


def of_framework(site: Site, suite: Suite, rows: Sequence[Row]) -> Table:
    """One framework's own table: devices, batch size and options down, precisions across."""
    precisions = ordered((row.precision or "" for row in rows), [p for each in suite.groups.values() for p in each])
    keys = sorted({_case_key(suite, row) for row in rows})
    with_options = any(key[3] for key in keys)
    mixed = len({row.unit for row in rows if row.unit}) > 1
    unit = "" if mixed else units(rows) or suite.unit
    head = [DEVICES, BATCH_SIZE, *([OPTIONS] if with_options else [])]
    head += [Column(precision(each), True, key=slug(each or "unknown"), unit=unit) for each in precisions]
    body = []
    for key in keys:
        chosen = [row for row in rows if _case_key(suite, row) == key]
        line = [_devices_cell(chosen[0]), cell(_or_unknown(chosen[0].batch_size))]
        line += [cell(key[3])] if with_options else []
        line += [
            _figures(site, suite, [r for r in chosen if (r.precision or "") == each], plain=True, with_unit=mixed)
            for each in precisions
        ]
        body.append(tuple(line))
    return Table(tuple(head), tuple(body), name="results")


def scaling(site: Site, suite: Suite, rows: Sequence[Row]) -> Table | None:
    """Speed-up and efficiency per framework; None where every run used one device."""
    chosen = [row for row in _sorted(suite, rows) if (row.devices or 1) > 1]
    if not chosen:
        return None
    head = (*_case_columns(), Column(phrase("table.speedup"), True), Column(phrase("table.efficiency"), True))
    body = []
    for row in chosen:
        why = reason(row.speedup_reason) or reason(row.reason) or phrase("table.no_baseline")
        speed, share = (
            cell(said(value), value=value) if value is not None and numbers.known(value) else absent(why)
            for said, value in ((numbers.ratio, row.speedup), (numbers.percent, row.efficiency))
        )
        body.append((*_case_cells(site, suite, row), speed, share))
    return Table(head, tuple(body), name="scaling")


def beside(site: Site, suite: Suite, rows: Sequence[Row]) -> Table:
    """Figures beside the throughput, each with unit and direction; and the throughput's range, spread and repeats."""
    shown = [name for name in METRICS if any(name in row.metrics for row in rows)]
    head = (
        *_case_columns(),
        *(Column(metric_title(name), True, key=name) for name in shown),
        Column(phrase("table.range", unit=units(rows) or suite.unit), True, key="range"),
        Column(phrase("table.spread"), True),
        Column(phrase("table.repeats"), True),
    )
    return Table(head, tuple(_beside_row(site, suite, row, rows, shown) for row in _sorted(suite, rows)), name="beside")


def metric_title(name: str) -> Text:
    """A metric's name with its unit and whether more or less of it is better."""
    metric = METRICS[name]
    unit = phrase("metric.in_unit", unit=metric.unit) if metric.unit else ""
    return phrase("metric.title", name=phrase(f"metric.{name}"), unit=unit, better=phrase(f"metric.{metric.better}"))


def metric_table(site: Site, run: Run) -> Table | None:
    """A run's figures other than throughput, with where each comes from."""
    body = tuple(_metric_line(site, run, name, run.metrics[name]) for name in METRICS if name in run.metrics)
    head = ("metric", "value", "source", "window", "arithmetic")
    columns = tuple(Column(phrase(f"table.{each}"), each == "value") for each in head)
    return Table(columns, body, name="metrics") if body else None


def _metric_line(site: Site, run: Run, name: str, found: MetricFigure) -> tuple[Cell, ...]:
    marks = [phrase("metric.diverged")] if found.diverged else []
    first, last = found.first_line, found.last_line
    known = found.value is not None
    return (
        cell(metric_title(name)),
        cell(numbers.figure(found.value), None, *marks, value=found.value) if known else _not_finite(found),
        cell(word_for("source", found.source or "")),
        cell(_lines(first or "", last or ""), log.link(site, run, first, last)),
        cell(found.arithmetic or ""),
    )


def _not_finite(found: MetricFigure | ResultMetric) -> Cell:
    if found.diverged:
        return cell(phrase("metric.diverged"), tone="bad")
    why = found.reason if isinstance(found, MetricFigure) else None
    return absent(reason(why) or phrase("site.unknown"))


def largest(site: Site, suite: Suite, rows: Sequence[Row], option: str = "num_classes") -> Table | None:
    """The largest value of an option that each framework trained with, and the smallest for which memory ran out.

    None where no row states the option.
    """
    stated = [row for row in rows if isinstance(row.options.get(option), int)]
    if not stated:
        return None
    head = (*_case_columns(), Column(phrase("table.largest"), True), Column(phrase("table.smallest_oom"), True))
    body = []
    for key in sorted({_without_options(suite, row) for row in stated}):
        chosen = [row for row in stated if _without_options(suite, row) == key]
        body.append((
            *_case_cells(site, suite, replace(chosen[0], options={})),
            _extreme(site, [row for row in chosen if row.value], option, max),
            _extreme(site, [row for row in chosen if row.outcome == "oom"], option, min),
        ))  # fmt: skip
    return Table(head, tuple(body), name="largest")


def _without_options(suite: Suite, row: Row) -> tuple[str, str, tuple[int, int, int], str]:
    return (row.framework or "", suite.variant(row), _case_key(suite, row)[:3], row.precision or "")


def _extreme(site: Site, rows: Sequence[Row], option: str, pick: Callable[..., Row]) -> Cell:
    """The row with the most or least of an option, linked to its run."""
    if not rows:
        return absent(phrase("table.not_measured"))
    row = pick(rows, key=lambda each: each.options[option])
    return cell(numbers.count(int(row.options[option] or 0)), site.page(site.by_id[row.run_ids[0]]))


def batch_sizes(suite: Suite, rows: Sequence[Row]) -> Table:
    """Which batch sizes each framework ran, per precision group."""
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    groups = [each for each in (*suite.groups, "unknown") if any(suite.group(row.precision) == each for row in rows)]
    head = (Column(phrase("table.precision")), *(Column(named(each)) for each in frameworks))
    body = []
    for group in groups:
        line = [cell(group_name(group))]
        for each in frameworks:
            sizes = {r.batch_size for r in rows if (r.framework or "") == each and suite.group(r.precision) == group}
            known = sorted(size for size in sizes if size is not None)
            line.append(cell(", ".join(map(str, known))) if known else absent(phrase("table.not_measured")))
        body.append(tuple(line))
    return Table(head, tuple(body), name="batch-sizes")


def group_name(group: str) -> Text:
    """A precision group's words; a group of the suite's own making is shown by its name."""
    return word_for("group", group)


def precision(word: str | None) -> Text:
    """A precision's name; an unknown word is shown as it is."""
    return word_for("precision", word) if word else phrase("site.unknown")


def machines(runs: Sequence[Run]) -> Table | None:
    """The machines behind the runs: one column per hardware, its distinct values below."""
    hardware = sorted({hardware_of(run) for run in runs})
    found = [
        (item, [_distinct(r.environment.get(item) for r in runs if hardware_of(r) == each) for each in hardware])
        for item in ENVIRONMENT
    ]
    body = tuple(
        (cell(phrase(f"environment.{item}")), *(cell(values) if values else absent(None) for values in line))
        for item, line in found
        if any(line)
    )
    head = (Column(phrase("table.item")), *(Column(named(each, "site.unknown_hardware")) for each in hardware))
    return Table(head, body, name="machines") if body else None


def software(suite: Suite, runs: Sequence[Run]) -> Table | None:
    """Versions of packages, images and sources per framework."""
    body = []
    for each in ordered({framework_of(run) for run in runs}, suite.frameworks):
        chosen = [run for run in runs if framework_of(run) == each]
        packages = {f"{name} {version}" for r in chosen for name, version in _packages(r).items()}
        versions = {f"{each} {_fact(r, 'framework_version')}" for r in chosen if _fact(r, "framework_version")}
        images = {image for r in chosen if (image := image_of(r))}
        said = sorted(packages | versions | images)
        sources = sorted({found for r in chosen if (found := source_of(r))}, key=repr)
        body.append(
            (
                cell(named(each)),
                Cell(tuple(map(Entry, said))) if said else absent(phrase("site.unknown")),
                Cell(tuple(map(Entry, sources))) if sources else absent(phrase("site.unknown")),
            )
        )
    head = (Column(phrase("table.framework")), Column(phrase("table.software")), Column(phrase("run.source")))
    return Table(head, tuple(body), name="software") if body else None


def run_list(site: Site, runs: Iterable[Run], *, brief: bool = False) -> Table:
    """Runs with case, outcome and figure; `brief` leaves out the model, for a page about one."""
    middle = ("framework",) if brief else ("model", "framework")
    head = [Column(phrase(f"table.{each}")) for each in ("run", *middle, "case", "outcome")]
    head += [] if brief else [Column(phrase("table.records"), True)]
    head += [Column(phrase("table.figure"), True)]
    return Table(tuple(head), tuple(_run_line(site, run, brief) for run in runs), name="runs")


def lists_of(site: Site, runs: Sequence[Run]) -> Table:
    """Of each suite how many runs there are, and the pages that list them."""
    head = (
        Column(phrase("table.model")),
        Column(phrase("runs.runs"), True),
        Column(phrase("runs.in_tables"), True),
        Column(phrase("runs.not_completed"), True),
        Column(phrase("runs.lists")),
    )
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(site.suite_of[run.id].id, []).append(run)
    return Table(head, tuple(_lists_line(site, found[each]) for each in sorted(found)))


def _lists_line(site: Site, runs: Sequence[Run]) -> tuple[Cell, ...]:
    suite, ids = site.suite_of[runs[0].id], {run.id for run in runs}
    pages = [each.path for each in site.lists if each.suite == suite.id and ids & set(each.runs)]
    return (
        cell(suite.title, _suite_page(site, runs[0])),
        cell(numbers.count(len(runs))),
        cell(numbers.count(sum(run.published for run in runs))),
        cell(numbers.count(sum(run.outcome != "completed" for run in runs))),
        Cell((Entry("", sources=tuple(Link(numbers.count(n), page) for n, page in enumerate(pages, 1))),)),
    )


def run_entries(site: Site, runs: Sequence[Run]) -> Table:
    """Runs with all it takes to follow the figure of each to the lines of its log."""
    names = ("run", "framework", "case", "outcome", "figure", "window", "arithmetic")
    head = tuple(Column(phrase(f"table.{each}"), each == "figure") for each in names)
    head += (Column(phrase("run.log")), Column(phrase("runs.data")))
    return Table(head, tuple(_run_entry(site, run) for run in runs))


def _run_entry(site: Site, run: Run) -> tuple[Cell, ...]:
    identifier, found = run.id, run.figure(HEADLINE)
    name = Entry(identifier, site.page(run) if site.has_page(run) else None, anchor=run_paging.anchor(identifier))
    session = phrase("run.session_of", session=run.session, sessions=run.sessions)
    marks = (session,) if run.sessions > 1 else ()
    shard = site.shards.get(identifier)
    return (
        Cell((name,)),
        cell(named(run.case.framework)),
        _case_cell(run.case),
        cell(outcome(run), tone="good" if run.outcome == "completed" else "bad"),
        _headline(run),
        cell(_lines(found.first_line, found.last_line) if found else ""),
        cell(found.arithmetic if found else ""),
        cell(run.path, None, *marks, f"SHA-256 {run.sha256[:12]}"),
        cell(shard, f"../data/runs/{shard}") if shard else absent(None),
    )


def case_table(site: Site, run: Run) -> Table:
    """The facts of a run: value, source and place in it."""
    body = []
    for name in (*(n for n in CASE if n in run.facts), *sorted(set(run.facts) - set(CASE))):
        fact = run.facts[name]
        body.append(
            (
                cell(word_for("fact", name)),
                cell(_fact_value(name, fact.value)),
                cell(word_for("source", fact.source)),
                cell(_where(fact), log.link(site, run, log.fact_line(fact))),
            )
        )
    head = tuple(Column(phrase(f"table.{each}")) for each in ("fact", "value", "source", "where"))
    return Table(head, tuple(body), name="facts")


def figure_table(site: Site, run: Run) -> Table:
    """Every rule's figure with its window and arithmetic; also those by which others computed what they published."""
    figures = run.all_figures
    rules = [*(each for each in NAMES if each in figures), *sorted(set(figures) - set(NAMES))]
    head = (
        Column(phrase("table.rule")),
        Column(phrase("table.value"), True),
        Column(phrase("table.scope")),
        Column(phrase("table.used"), True),
        Column(phrase("table.skipped"), True),
        Column(phrase("table.window")),
        Column(phrase("table.arithmetic")),
    )
    return Table(head, tuple(_rule_line(site, run, rule) for rule in rules), name="figures")


def rule_table() -> Table:
    """Every rule's name and definition."""
    body = tuple((cell(phrase(f"rule.{each}")), cell(phrase(f"rule.{each}_definition"))) for each in NAMES)
    return Table((Column(phrase("table.rule")), Column(phrase("table.definition"))), body, name="rules")


def environment_table(run: Run) -> Table | None:
    """The machine and software of one run."""
    found = run.environment
    body = [(cell(phrase(f"environment.{k}")), cell(_value(found[k]))) for k in ENVIRONMENT if found.get(k) is not None]
    others = sorted(set(found) - set(ENVIRONMENT) - {"packages"})
    body += [
        (cell(word_for("environment", name)), cell(_value(found[name])))
        for name in others
        if found[name] not in (None, "", {}, [])
    ]
    packages = [f"{name} {version}" for name, version in sorted(_packages(run).items())]
    if packages:
        body.append((cell(phrase("environment.packages")), Cell(tuple(map(Entry, packages)))))
    head = (Column(phrase("table.item")), Column(phrase("table.value")))
    return Table(head, tuple(body), name="environment") if body else None


def provenance(site: Site, run: Run) -> Table:
    """Which bytes a run was read from, how, and when they were made."""
    size = phrase("run.size_of", bytes=numbers.count(run.bytes), lines=numbers.count(run.lines))
    wall = phrase("run.wall_of", seconds=numbers.seconds(run.wall_seconds)) if run.wall_seconds else None
    lines: list[tuple[str, Text | None]] = [
        ("session", phrase("run.session_of", session=run.session, sessions=run.sessions)),
        ("sha256", run.sha256),
        ("size", size),
        ("format", run.format or phrase("run.no_format")),
        ("observations", numbers.count(run.observations)),
        ("outcome", outcome(run)),
        ("start", run.start),
        ("end", run.end),
        ("wall", wall),
        ("repeat", str(run.repeat) if run.repeat else None),
        ("source", source_of(run)),
        ("recipe", _recipe(run)),
        ("records", _records_asked(run)),
        ("notes", run.notes),
    ]
    ended = tuple(Entry(each) for each in _nodes(run))
    path = cell(run.path, site.log_page(run))
    body = (
        (cell(phrase("run.log")), path),
        *((cell(phrase(f"run.{name}")), cell(text)) for name, text in lines if text),
        *([(cell(phrase("run.nodes")), Cell(ended))] if ended else []),
    )
    return Table((Column(phrase("table.item")), Column(phrase("table.value"))), body, name="provenance")


def problem_list(site: Site, problems: Sequence[Problem]) -> list[tuple[Link, Text]]:
    """Return problems with their place, linked to the line of a log of ours, or otherwise to its run."""
    return [(Link(place(each), log.problem_page(site, each)), coded("problem", each)) for each in problems]


def place(found: Problem) -> str:
    """Return `path:line`, or the path alone."""
    return f"{found.path}:{found.line}" if found.line else found.path


def outcome(run: Run) -> Text:
    """Return a run's outcome in words."""
    return word_for("outcome", run.outcome)


def representative(site: Site, row: Row) -> Run:
    """The run whose figure lies nearest to the row's median."""
    return representative_of([site.by_id[each] for each in row.run_ids])


def _switched(
    site: Site, suite: Suite, rows: Sequence[Row], shown: Sequence[View], best: Mapping[str, Sequence[Row]], mixed: bool
) -> Cell:
    """All figures of one cell, in every view."""
    own = _figures(site, suite, rows, best[THROUGHPUT], with_unit=mixed)
    others = tuple((each.key, _in_view(site, suite, rows, each, best[each.key])) for each in shown[1:])
    return dataclasses.replace(own, views=others)


def _in_view(site: Site, suite: Suite, rows: Sequence[Row], view: View, best: Sequence[Row]) -> Cell:
    """All figures of one cell in a view other than throughput."""
    # A log that states no throughput may state a time per step.
    chosen = [row for row in rows if numbers.known(row.value)] or [row for row in rows if row.outcome != "oom"]
    if not chosen:
        return _figures(site, suite, rows)
    if not any(measured(site, suite, row, view.key) for row in chosen):
        return absent(_why_not(chosen[0], view.key))
    return Cell(tuple(_entry_in_view(site, suite, row, chosen, view, _is_among(row, best)) for row in chosen))


def _entry_in_view(site: Site, suite: Suite, row: Row, rows: Sequence[Row], view: View, best: bool) -> Entry:
    """A row's figure in a view; a dash where it has none, so that the entries of all views go together."""
    figure, marks = measured(site, suite, row, view.key), _told_apart(suite, row, rows)
    if figure is None:
        return Entry(numbers.ABSENT, marks=marks)
    text = _written(view.key, figure.value, figure.spread)
    return Entry(text, site.page(representative(site, row)), marks, best=best, value=figure.value)


def _is_among(row: Row, rows: Sequence[Row]) -> bool:
    return any(row is each for each in rows)


def _written(view: str, value: float, spread: float | None) -> str:
    if view == "speedup":
        return numbers.ratio(value)
    return numbers.percent(value) if view == "efficiency" else numbers.figure(value, spread)


def _why_not(row: Row, view: str) -> Text:
    """Why a row has no figure in a view."""
    if view in METRICS:
        return phrase("metric.not_printed")
    return reason(row.speedup_reason) or reason(row.reason) or phrase("table.no_baseline")


def _figures(
    site: Site,
    suite: Suite,
    rows: Sequence[Row],
    best: Sequence[Row] = (),
    *,
    plain: bool = False,
    with_unit: bool = False,
) -> Cell:
    """All figures of one cell: usually one, more where options differ."""
    if not rows:
        return absent(phrase("table.not_measured"))
    known = [row for row in rows if numbers.known(row.value)]
    if not known:
        return _without_figure(site, rows[0])
    return Cell(tuple(_entry(site, suite, row, known, _is_among(row, best), plain, with_unit) for row in known))


def _without_figure(site: Site, row: Row) -> Cell:
    """How the runs ended, where they did not end well; otherwise why there is no figure."""
    if row.outcome in NO_FIGURE:
        said = phrase("table.oom") if row.outcome == "oom" else word_for("outcome", row.outcome)
        return cell(said, site.page(site.by_id[row.run_ids[0]]), tone="bad")
    return absent(reason(row.reason) or phrase("site.unknown"))


def _entry(site: Site, suite: Suite, row: Row, rows: Sequence[Row], best: bool, plain: bool, with_unit: bool) -> Entry:
    marks: list[Text] = [row.unit] if with_unit else []
    marks += version_marks(row, rows) if plain else _told_apart(suite, row, rows)
    marks += [numbers.plus_minus(row.spread), phrase("table.repeats_of", n=row.repeats)]
    marks += [phrase("metric.diverged")] if row.diverged else []
    text = numbers.figure(row.value, row.spread)
    page = site.page(representative(site, row))
    said = tuple(m for m in marks if m)
    return Entry(text, page, said, _run_links(site, row), best, value=row.value, details=_row_details(row))


def _told_apart(suite: Suite, row: Row, rows: Sequence[Row]) -> tuple[Text, ...]:
    """What tells a figure from the others of its cell and of its column."""
    several = len(suite.groups.get(suite.group(row.precision), ())) > 1
    marks: list[Text] = [precision(row.precision)] if several else []
    return tuple(each for each in (*marks, suite.other_options(row), *version_marks(row, rows)) if each)


def version_marks(row: Row, rows: Sequence[Row]) -> list[str]:
    """Return version and round, where the figures of a cell differ in them."""
    found = (row.version, {each.version for each in rows}), (row.round, {each.round for each in rows})
    return [mine for mine, all_of_them in found if mine and len(all_of_them) > 1]


def _run_links(site: Site, row: Row) -> tuple[Link, ...]:
    """Links to the repeats: the first few one by one, and all of them at the run list."""
    if len(row.run_ids) < 2:
        return ()
    links = [Link(str(n), site.page(site.by_id[each])) for n, each in enumerate(row.run_ids[:RUNS_LINKED], 1)]
    more = [Link(f"…{len(row.run_ids)}", "runs/index.md")] if len(row.run_ids) > RUNS_LINKED else []
    return (*links, *more)


def _row_details(row: Row) -> tuple[tuple[str, Value | None], ...]:
    """What a table's files say of a figure."""
    named_runs = [*row.run_ids[:RUNS_NAMED], *(["…"] if len(row.run_ids) > RUNS_NAMED else [])]
    return (
        ("spread", row.spread if numbers.known(row.spread) else None),
        ("repeats", row.repeats),
        ("precision", row.precision),
        ("options", options_text(row.options)),
        ("version", row.version),
        ("round", row.round),
        ("unit", row.unit),
        ("diverged", "true" if row.diverged else None),
        ("runs", " ".join(named_runs)),
    )


def _case_columns() -> tuple[Column, ...]:
    return (Column(phrase("table.framework")), DEVICES, BATCH_SIZE)


def _case_cells(site: Site, suite: Suite, row: Row) -> tuple[Cell, ...]:
    page = framework_page(site, suite, row.framework or "")
    marks = (suite.variant(row), precision(row.precision), options_text(row.options), row.version, row.round)
    details = (
        ("model", suite.variant(row)),
        ("precision", row.precision),
        ("options", options_text(row.options)),
        ("version", row.version),
        ("round", row.round),
    )
    framework = cell(named(row.framework), page, *(each for each in marks if each), details=details)
    return (framework, _devices_cell(row), cell(_or_unknown(row.batch_size)))


def _beside_row(site: Site, suite: Suite, row: Row, rows: Sequence[Row], shown: Sequence[str]) -> tuple[Cell, ...]:
    span = numbers.span(row.low, row.high, row.spread)
    once = absent(phrase("table.one_repeat"))
    return (
        *_case_cells(site, suite, row),
        *(_metric_cell(name, row, rows) for name in shown),
        cell(span, details=(("low", row.low), ("high", row.high))) if row.repeats > 1 else once,
        cell(numbers.percent(row.spread), value=row.spread) if numbers.known(row.spread) else once,
        cell(str(row.repeats)),
    )


def _metric_cell(name: str, row: Row, rows: Sequence[Row]) -> Cell:
    found = row.metrics.get(name)
    if found is None:
        return absent(phrase("metric.not_printed"))
    if found.value is None:
        return _not_finite(found)
    marks: list[Text] = [phrase("metric.diverged")] if found.diverged else []
    if name == "memory" and (ratio := _ratio(name, row, rows)):
        marks.append(ratio)
    return cell(numbers.figure(found.value, found.spread), None, *marks, value=found.value)


def _ratio(name: str, row: Row, rows: Sequence[Row]) -> str:
    """How many times as much as the framework that needs least in the same case; nothing for that one itself."""
    about = (row.nodes or 1, row.devices, row.batch_size, row.precision, row.model, row.options)
    alike = [r for r in rows if (r.nodes or 1, r.devices, r.batch_size, r.precision, r.model, r.options) == about]
    known = [value for each in alike if (value := each.metric(name))]
    mine = row.metric(name)
    if not mine or len({each.framework for each in alike if each.metric(name)}) < 2 or mine == min(known):
        return ""
    return numbers.ratio(mine / min(known))


def _run_line(site: Site, run: Run, brief: bool) -> tuple[Cell, ...]:
    model = [] if brief else [cell(named(run.case.model), _suite_page(site, run))]
    tone = "good" if run.outcome == "completed" else "bad"
    return (
        cell(run.id, site.page(run)),
        *model,
        cell(named(run.case.framework)),
        _case_cell(run.case),
        cell(outcome(run), tone=tone),
        *([] if brief else [cell(numbers.count(run.observations))]),
        _headline(run),
    )


def case_text(run: Run) -> Text:
    """Return a run's case in one line."""
    options = options_text(run.case.options)
    return phrase("table.case_line", size=_size(run.case), precision=precision(run.case.precision), options=options)


def _size(case: Case) -> Text:
    return phrase("table.case_of", devices=_or_unknown(case.devices), batch_size=_or_unknown(case.batch_size))


def _case_cell(case: Case) -> Cell:
    if case.devices is None and case.batch_size is None and case.precision is None:
        return absent(phrase("site.unknown"))
    options = options_text(case.options)
    details = tuple((name, getattr(case, name)) for name in ("nodes", "devices", "batch_size", "precision"))
    return cell(_size(case), None, precision(case.precision), options, details=(*details, ("options", options)))


def _headline(run: Run) -> Cell:
    if found := run.figure(HEADLINE):
        return _headline_of(found)
    return absent(absence(run) or (coded("problem", run.problems[0]) if run.problems else None))


def _headline_of(found: Figure) -> Cell:
    return cell(numbers.figure(found.value), None, found.unit, value=found.value, details=(("unit", found.unit),))


def _rule_line(site: Site, run: Run, rule: str) -> tuple[Cell, ...]:
    found, name = run.all_figures[rule], cell(word_for("rule", rule))
    if isinstance(found, NoFigure):
        return (name, absent(reason(found.reason) or phrase("site.unknown")), *(cell("") for _ in range(5)))
    return (
        name,
        _headline_of(found),
        cell(word_for("scope", found.scope)),
        cell(numbers.quantity(found.used)),
        cell(numbers.quantity(found.skipped)),
        cell(_lines(found.first_line, found.last_line), log.link(site, run, found.first_line, found.last_line)),
        cell(found.arithmetic),
    )


def _where(fact: FactValue) -> Text:
    """Return the place of a fact in what states it."""
    if line := log.fact_line(fact):
        return log.lines(line, line)
    return phrase("run.layout", name=fact.where[7:]) if fact.where.startswith("layout ") else fact.where


def _lines(first: int | str, last: int | str) -> Text:
    """The lines of a log between which a figure's records stand."""
    return str(first) if first == last else phrase("run.lines", first=first, last=last)


def _sorted(suite: Suite, rows: Sequence[Row]) -> list[Row]:
    frameworks = ordered((row.framework or "" for row in rows), suite.frameworks)
    return sorted(
        rows, key=lambda row: (frameworks.index(row.framework or ""), _case_key(suite, row), row.precision or "")
    )


def _case_key(suite: Suite, row: Row) -> tuple[int, int, int, str]:
    said = " ".join(filter(None, (suite.variant(row), options_text(row.options))))
    return (row.nodes or 1, row.devices or 0, row.batch_size or 0, said)


def _devices_cell(row: Row) -> Cell:
    """The devices of a job; on how many machines, where it is more than one."""
    nodes = row.nodes if (row.nodes or 1) > 1 else None
    return cell(_devices(row), value=row.devices, details=(("nodes", nodes),))


def _devices(row: Row) -> Text:
    if row.devices is None:
        return phrase("site.unknown")
    if (row.nodes or 1) > 1:
        return phrase("table.machines", devices=row.devices, nodes=row.nodes)
    return str(row.devices)


def _or_unknown(value: object) -> Text:
    return phrase("site.unknown") if value is None else numbers.quantity(value)


def _suite_page(site: Site, run: Run) -> str | None:
    suite = site.suite_of[run.id]
    return f"models/{suite.id}/index.md" if suite.id in {each.id for each in site.shown} else None


def _distinct(values: Iterable[Any]) -> str:
    found = sorted({_value(each) for each in values if each is not None})
    return "; ".join(found[:ENOUGH]) + ("; …" if len(found) > ENOUGH else "")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_value(each)}" for name, each in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(map(_value, value))
    return numbers.quantity(value)


def _fact_value(name: str, value: Any) -> Text:
    if name == "precision":
        return precision(str(value))
    return options_text(value) if isinstance(value, Mapping) else _value(value)


def _fact(run: Run, name: str) -> str:
    fact = run.facts.get(name)
    return str(fact.value) if fact and fact.value is not None else ""


def _packages(run: Run) -> Mapping[str, Any]:
    found = run.environment.get("packages")
    return found if isinstance(found, dict) else {}


def source_of(run: Run) -> Text | None:
    """Return repository and commit of the trainer; that it was changed since, where run.json says so."""
    found = run.source or {}
    said = " @ ".join(str(found[name]) for name in ("repository", "commit") if found.get(name))
    return phrase("run.source_modified", source=said) if said and found.get("modified") is True else said or None


def _recipe(run: Run) -> str | None:
    if run.recipe is None:
        return None
    return run.recipe.name + (f" (SHA-256 {run.recipe.sha256[:12]})" if run.recipe.sha256 else "")


def _records_asked(run: Run) -> Text | None:
    if run.records is None or run.records.at_least is None or run.records.count is None:
        return None
    asked, there = numbers.count(run.records.at_least), numbers.count(run.records.count)
    return phrase("run.records_of", at_least=asked, count=there)


def _nodes(run: Run) -> list[Text]:
    """Return how each machine of several ended."""
    return [
        phrase("run.node_of", folder=each.folder, outcome=word_for("outcome", each.outcome or ""))
        for each in run.nodes or ()
    ]


def details(run: Run) -> Mapping[str, Any] | None:
    """Return what is too long for a table of the environment: GPUs, topology, InfiniBand and packages."""
    found = run.environment_details
    if found is None:
        return None
    keys = list(dict.fromkeys(key for each in found.gpus for key in each))
    columns = tuple(Column(word_for("environment", f"gpu_{key}"), key=key) for key in keys)
    rows = tuple(tuple(_gpu_cell(each.get(key)) for key in keys) for each in found.gpus)
    return {
        "gpus": Table(columns, rows, name="gpus") if rows and keys else None,
        "topology": found.topology,
        "infiniband": found.infiniband,
        "packages_installed": found.packages_installed,
    }


def _gpu_cell(value: str | float | None) -> Cell:
    return absent(None) if value is None else cell(numbers.quantity(value))
