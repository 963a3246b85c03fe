"""Print the figure of each run and of each case, for a terminal or for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from perfledger.ingest.common import frame
from perfledger.ingest.common.errors import one_line
from perfledger.ingest.common.frame import DataColumn, fields
from perfledger.ingest.common.markdown import escaped
from perfledger.ingest.common.problems import NOTE, message
from perfledger.ingest.compute import results
from perfledger.ingest.compute.contrast import median_interval
from perfledger.parsers.engine import registry
from perfledger.schema.figures import CaseFigure, FiguresFound, RunFigure
from perfledger.schema.records import Figure, NoFigure, Run
from perfledger.schema.vocabulary import NO_FIGURE

#: Unit of a time per step, next to the units of throughput.
_PER_STEP = "ms/step"
COLUMNS = ("log", "format", "model", "devices", "figure", "95 % interval of case", "verdict, or why there is no figure")
_CSV: tuple[DataColumn[RunFigure], ...] = (
    DataColumn("log", str, lambda run: run.path),
    *fields(RunFigure, "session", "format", "model", "devices"),
    DataColumn("figure", float, lambda run: run.value),
    *fields(RunFigure, "unit"),
    DataColumn("scope", str, lambda run: run.scope if run.value is not None else None),
    DataColumn("placed", str, lambda run: ("yes" if run.placed else "no") if run.value is not None else None),
    DataColumn("low", float, lambda run: run.interval[0] if run.interval else None),
    DataColumn("high", float, lambda run: run.interval[1] if run.interval else None),
    *fields(RunFigure, "verdict", "reason"),
)


def of_runs(runs: Sequence[Run]) -> FiguresFound:
    """Return the figures of runs, and of the cases that they are repeats of."""
    repeats = results.repeats(runs)
    found = tuple(map(_case, repeats))
    intervals = {id(run): case.interval for case, of in zip(found, repeats, strict=True) for run in of}
    return FiguresFound(
        runs=tuple(_run(each, intervals.get(id(each))) for each in runs),
        cases=found,
        formats=tuple(each.id for each in registry.formats()),
    )


def table(figures: FiguresFound, style: str = "simple", width: int = 0) -> str:
    """Return a table with a row for each run: `style` is one of tabulate; rows are cut to a `width` above 0."""
    from tabulate import tabulate

    cell = escaped if style == "github" else one_line
    rows = [map(cell, _row(each, width // 3)) for each in figures.runs]
    text = tabulate(rows, headers=COLUMNS, tablefmt=style, disable_numparse=True)
    return "\n".join(_cut(line, width) for line in text.splitlines())


def csv(figures: FiguresFound) -> str:
    """Return the same table as CSV, with numbers as they were computed."""
    return frame.csv(_CSV, figures.runs).decode()


def table_of_cases(figures: FiguresFound) -> str:
    """Return a table of the cases, and a line for each run that has no figure."""
    from tabulate import tabulate

    rows = [map(one_line, _row_of_case(each)) for each in figures.cases]
    shown = tabulate(rows, headers=["case", "repeats", "median", "95 % interval", "spread", "round"])
    missing = (f"{run.path}: no figure: {run.reason}" for run in figures.runs if run.value is None)
    return "\n".join([shown, *map(one_line, missing)])


def _row(run: RunFigure, longest: int) -> list[str]:
    """Return the cells of a row; of a path longer than `longest`, if that is not 0, its end."""
    path = run.path if run.session is None else f"{run.path}, session {run.session}"
    path = path if not longest or len(path) <= longest else f"…{path[1 - longest :]}"
    scope = f" per {run.scope}" if run.scope != "job" else ""
    figure = "—" if run.value is None else f"{run.value:.4g} {run.unit}{scope}"
    interval = f"{run.interval[0]:.4g} to {run.interval[1]:.4g}" if run.interval else ""
    devices = "" if run.devices is None else str(run.devices)
    remarks = "; ".join(filter(None, (run.verdict, run.reason)))
    return [path, run.format or "—", run.model or "", devices, figure, interval, remarks]


def _cut(line: str, width: int) -> str:
    return line if not width or len(line) <= width else f"{line[: width - 1]}…"


def _run(run: Run, interval: tuple[float, float] | None) -> RunFigure:
    stated = _shown(run)
    median = run.figures.get("median")
    reasons = [*([] if stated else _reasons(run)), *([not_placed(run)] if run.unplaced else [])]
    return RunFigure(
        path=run.path,
        format=run.format,
        records=run.observations - _unusable(run),
        outcome=run.outcome,
        value=stated.value if stated else None,
        unit=stated.unit if stated else "",
        reason="; ".join(reasons),
        model=run.case.model,
        devices=run.case.devices,
        interval=interval if stated else None,
        verdict="; ".join(_verdicts(run)) if stated else "",
        session=run.session if run.sessions > 1 else None,
        scope=stated.scope if stated else "job",
        placed=not run.missing,
        missing=run.missing or (),
        about=f"{float(f'{median.value:.2g}'):g} {median.unit}" if isinstance(median, Figure) else "",
    )


def _shown(run: Run) -> Figure | None:
    """Return the figure that a row shows: of a job if it is placed, or else the throughput or the time per step."""
    found = run.headline
    if not run.unplaced:
        return found if found and found.scope == "job" and run.published and run.outcome not in NO_FIGURE else None
    time = run.metrics.get("latency")
    if found or not time or time.value is None:
        return found
    return Figure(time.value, _PER_STEP, "job", first_line=time.first_line or 0, last_line=time.last_line or 0)


def not_placed(run: Run) -> str:
    """Return why the figure of a run is in no table of results."""
    return f"not placed: the log does not state {', '.join(run.missing or ())}"


def _verdicts(run: Run) -> Iterator[str]:
    """Yield what supports the figure of a run, and which of its facts the reader states."""
    if run.headline:
        yield _verdict(run)
    yield from (f"{name} is stated in {where}" for name, where in run.filled_in.items())


def _verdict(run: Run) -> str:
    """Return which witnesses in the same log support the figure."""
    support = results.support(run)
    if support == "line":
        return "unchecked"
    wanted = "agrees" if support == "agree" else "corrects"
    kinds = ", ".join(dict.fromkeys(each.kind for each in results.supporting(run) if each.verdict == wanted))
    return f"checked by {kinds}" if support == "agree" else f"taken from {kinds}, since the printed speed is wrong"


def _unusable(run: Run) -> int:
    """Return the number of records without usable seconds or speed."""
    absent = run.figures.get(run.rule)
    if isinstance(absent, NoFigure) and absent.reason.code == "impossible_figure":
        return int(absent.reason.args["count"])
    return 0


def _reasons(run: Run) -> Iterator[str]:
    """Yield the reasons why a run has no figure: its problems, each without the path."""
    if run.outcome in NO_FIGURE and run.outcome != "unread":
        yield f"its outcome is {run.outcome}"
    elif run.duplicate_of:
        yield f"it is the same run as {run.duplicate_of}"
    elif run.disturbed and run.sound:
        yield f"it was disturbed ({'; '.join(run.disturbances or ())}), and --if-busy count was not given"
    elif not run.problems and not run.unplaced:
        yield "no format knows its log"
    for problem in sorted(run.problems, key=lambda each: each.code == NOTE):
        yield message(problem).partition(": ")[2]


def _case(runs: Sequence[Run]) -> CaseFigure:
    over, first = results.figure(runs), runs[0]
    stated = next((found for run in runs if (found := run.figure(run.rule))), None)
    return CaseFigure(
        runs=tuple(run.path for run in runs),
        value=over.value if over else None,
        unit=stated.unit if stated else "",
        repeats=over.repeats if over else 0,
        case=first.case,
        rule=next((run.rule for run in runs if run.figure(run.rule)), first.rule),
        low=over.low if over else None,
        high=over.high if over else None,
        interval=median_interval(results.groups(runs, first.rule)),
        spread=over.spread if over else None,
        hardware=first.case.hardware,
        version=results.version(first),
        round=results.round_of(first),
        start=max((run.start for run in runs if run.start), default=None),
    )


def _row_of_case(case: CaseFigure) -> list[str]:
    folder = str(PurePosixPath(case.runs[0]).parent.parent)
    if case.value is None:
        return [folder, "0", "", "", "", case.round or ""]
    low, high = case.interval or (0.0, 0.0)
    interval = f"{low:.4g} to {high:.4g}" if case.interval else ""
    spread = "" if case.spread is None else f"{100 * case.spread:.1f} %"
    return [folder, str(case.repeats), f"{case.value:.4g} {case.unit}", interval, spread, case.round or ""]
