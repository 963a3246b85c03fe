"""Explain a figure in the terminal: format, facts and their sources, records used and dropped, rule, result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from perfledger.ingest.common.errors import one_line
from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.problems import message
from perfledger.ingest.common.processes import Death, done_apart
from perfledger.ingest.compute import rules, window
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.compute.publisher_windows import PUBLISHERS
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.throughput import throughput
from perfledger.ingest.read import facts, reader_facts
from perfledger.ingest.read.beside import PathFacts, path_facts
from perfledger.ingest.read.layout import Layout
from perfledger.ingest.read.run_json import RunJsonFile, of_log
from perfledger.ingest.read.walk import FoundFiles, Input
from perfledger.ingest.record.reader import problem_of
from perfledger.ingest.record.run_facts import facts_of, outcome_of
from perfledger.ingest.record.run_problems import of_several_runs
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, MetricFigure, NoFigure, Plain, Problem, Reason, Witness
from perfledger.schema.redaction.redact import redacted_text
from perfledger.schema.run_json import RunJson
from perfledger.schema.vocabulary import NO_FIGURE

#: Stands for the folder of the log while all else is redacted.
_FOLDER = "folder_of_the_log:"


def explain(given: Input, layout: Layout) -> Iterator[str]:
    """Yield the lines of the explanation of one log."""
    yield f"log        {given.name}"
    try:
        log = read(given.path)
    except ScanError as error:
        yield f"not read   {message(Problem(error.code, given.name, args=error.details))}"
        return
    yield from _detected(log)
    of_path, stated = path_facts(given, layout), of_log(given.path, given.name)
    yield from (f"problem    {message(each)}" for each in (*stated.problems, *of_path.problems))
    for session in log.sessions:
        yield from _session(given, session, log, stated, of_path)


def _detected(log: Log) -> Iterator[str]:
    claims = ", ".join(f"{each.format.id} ({each.format.title}, first on line {each.line})" for each in log.claims)
    yield f"format     {claims or 'none claims this log'}"
    if len(log.claims) > 1:
        yield "           more than one format claims it, so none reads it"


def _session(given: Input, session: Session, log: Log, stated: RunJsonFile, of_path: PathFacts) -> Iterator[str]:
    merged, sessions = facts_of(session, stated, of_path), len(log.sessions)
    yield ""
    span = f"lines {session.first_line}-{session.last_line}"
    came = f", {reached.unit} {reached.done} of {reached.total}" if (reached := session.counters) else ""
    yield f"session    {session.number} of {sessions}, {span}, {session.ending.outcome}{came}"
    yield from (f"problem    {message(each)}" for each in of_several_runs(given.name, session))
    yield from (f"no result  {each}" for each in _left_out(outcome_of(session, log, stated), stated.document))
    for each in merged.differences:
        yield f"differs    {message(facts.difference(given.name, each))}"
    for name, fact in sorted(merged.stated.items()):
        yield f"fact       {name} = {fact.value}   ({fact.where})"
    if missing := facts.missing(merged.stated):
        yield f"not placed the log does not state {', '.join(missing)}"
    for each in merged.contradictions:
        first, second = (f"{one.value} ({one.where})" for one in (each.first, each.second))
        yield f"contradiction  {each.fact}: {first} against {second}"
    for records in session.records:
        reading = records.reading
        yield f"records    {len(records)} of span {reading.span}, scope {reading.scope}, unit {reading.unit}"
    case = merged.for_rules()
    yield from _window(session, case)
    found = measured(session, case, merged.of_records)
    for name, figure in found.figures.items():
        yield f"{name:<10} {_figure_text(figure)}"
    for name in PUBLISHERS:
        yield f"{name:<10} {_figure_text(rules.figure(name, session, case))}"
    for witness in found.witnesses:
        yield f"witness    {_witness_text(witness)}"
    for name, metric in metrics(session, case, found.headline, found.slower, found.untimed).items():
        yield f"{name:<10} {_metric_text(metric)}"


def _left_out(outcome: str, document: RunJson | None) -> Iterator[str]:
    """Yield what leaves a run out of results, whatever its figures are."""
    if outcome in NO_FIGURE:
        yield f"its outcome is {outcome}"
    elif document and document.disturbances and not document.accept_disturbed:
        yield f"it was disturbed ({'; '.join(document.disturbances)}), and --if-busy count was not given"


def _window(session: Session, case: Facts) -> Iterator[str]:
    try:
        given = throughput(session, case)
        used = set(rules.used_records(rules.HEADLINE, given).tolist())
    except NoFigureError:
        return
    yield f"used       {_ranges(given, sorted(used))}"
    yield f"dropped    {_ranges(given, [each for each in range(len(given)) if each not in used])}"
    if found := window.pauses(given):
        took = "" if found.seconds is None else f", {found.seconds:g} s"
        share = "" if found.percent is None else f", {found.percent:g} % of the time{took}"
        yield f"left out   {found.records} records: {', '.join(found.kinds)}{share}"


def _ranges(given: Intervals, indices: Sequence[int]) -> str:
    """Return `12 records: lines 20-31` with consecutive records joined."""
    if not indices:
        return "0 records"
    groups = [[indices[0], indices[0]]]
    for each in indices[1:]:
        if each == groups[-1][1] + 1:
            groups[-1][1] = each
        else:
            groups.append([each, each])
    lines = given.lines(each for group in groups for each in group)
    shown = [f"{a}-{b}" if a != b else f"{a}" for a, b in zip(lines[::2], lines[1::2], strict=True)]
    return f"{len(indices)} records: lines {', '.join(shown)}"


def _figure_text(found: Figure | NoFigure) -> str:
    if isinstance(found, NoFigure):
        return f"—  {_reason_text(found.reason)}"
    return (
        f"{found.value:.10g} {found.unit} ({found.scope}), {found.used} used, {found.skipped} dropped, "
        f"lines {found.first_line}-{found.last_line}: {found.arithmetic}"
    )


def _witness_text(found: Witness) -> str:
    """Return `clock agrees: 97.1 against 97.3 images/s printed (+0.2 %, tolerance 6 %, resolution 0.5 %), ...`."""
    why = f" ({_reason_text(found.reason)})" if found.reason else ""
    if found.value is None:
        return f"{found.kind} is silent{why}"
    lines = f", lines {found.first_line}-{found.last_line}" if found.first_line else ""
    return (
        f"{found.kind} {found.verdict}{why}: {found.value:.6g} against {found.against:.6g} {found.unit} printed "
        f"({found.difference:+.3g} %, tolerance {found.tolerance:g} %, resolution {found.resolution:.3g} %){lines}: "
        f"{found.arithmetic}"
    )


def _reason_text(reason: Reason) -> str:
    return ", ".join([reason.code, *(f"{name} {value}" for name, value in reason.args.items())])


def _metric_text(found: MetricFigure) -> str:
    if found.reason:
        return _figure_text(NoFigure(found.reason))
    value = "not finite" if found.value is None else f"{found.value:.10g}"
    shown = " ".join(filter(None, (value, found.unit, "(diverged)" if found.diverged else "")))
    lines = f", lines {found.first_line}-{found.last_line}" if found.first_line else ""
    return f"{shown}, {found.source}{lines}: {found.arithmetic}"


def text(path: Path, name: str, layout: Layout, assumed: Mapping[str, Plain] = MappingProxyType({})) -> str:
    """Return the whole explanation, safe to print, and redacted, except for the folder of the log."""
    found = FoundFiles((Input(path, name, asked=True),), ())
    (log,) = reader_facts.with_facts(found, assumed).inputs
    lines = done_apart(_explained, (log, layout))
    if isinstance(lines, Death):
        lines = [f"log        {name}", f"not read   {message(problem_of(lines, name))}"]
    folder = f"{name.rpartition('/')[0]}/"
    masked = [each.replace(folder, _FOLDER) for each in lines[1:]] if len(folder) > 1 else lines[1:]
    masked = [each.replace("\n", " ") for each in masked]  # a fact may have several lines
    return "\n".join(map(one_line, [*lines[:1], *(each.replace(_FOLDER, folder) for each in redacted_text(masked)[0])]))


def _explained(log_and_layout: tuple[Input, Layout]) -> list[str]:
    """Return the lines of an explanation, or those before a fault of ours, and the fault."""
    log, layout = log_and_layout
    lines: list[str] = []
    found = guarded(log.name, log.path, lambda: lines.extend(explain(log, layout)))
    return [*lines, f"fault      {message(found)}"] if isinstance(found, Problem) else lines
