"""From a log to its runs: one per session, with its facts, figures and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from perfledger.ingest.common import suites
from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute import rules, window
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.read import environment_json, facts
from perfledger.ingest.read.beside import path_facts
from perfledger.ingest.read.layout import Layout
from perfledger.ingest.read.names import names_of
from perfledger.ingest.read.run_json import of_log
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record import run_facts, run_problems
from perfledger.ingest.record.identity import fingerprint
from perfledger.ingest.record.run_problems import JudgedSession, LogFile
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, Figures, NoFigure, Problem, Run, RunProgress, text_of
from perfledger.schema.redaction.redact import redact_record
from perfledger.schema.run_json import RunJson

#: Fields that a run takes from run.json unchanged.
_FROM_RUN_JSON = (
    "argv", "environment_variables", "secrets", "site", "recipe", "records", "warnings", "disturbances",
    "accept_disturbed", "nodes", "start", "end", "wall_seconds", "notes", "source",
)  # fmt: skip


def runs_of(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str] = ()) -> list[Run]:
    """Read one log: a run per session, or one run that states why it has no session, or which fault of ours it met.

    A file is not a log, and gives no run, if no format claims it, its name is not one of a log, and it has no run.json.

    Args:
        given: the log.
        layout: how its tree names things.
        sha256: hash of its bytes.
        extra_rules: rules of those who published figures of this log; for the audit.
    """
    found = guarded(given.name, given.path, lambda: _writable_runs(given, layout, sha256, extra_rules))
    if isinstance(found, Problem):
        return [redact_record(Run(path=given.name, sha256=sha256, outcome="failed", problems=(found,)))]
    return found


def _writable_runs(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str]) -> list[Run]:
    """Return the runs; writing each finds a number that JSON does not have, here and not with the runs of all logs."""
    import numpy as np

    with np.errstate(all="ignore"):  # An overflow is found by its value, where that is used.
        return [run for run in _read(given, layout, sha256, extra_rules) if text_of(run)]


def _read(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str]) -> list[Run]:
    file = LogFile(given, of_log(given.path, given.name), path_facts(given, layout))
    size = given.path.stat().st_size if given.path.exists() else 0
    empty = Run(path=given.name, sha256=sha256, bytes=size, outcome="unread")
    try:
        log = read(given.path)
    except ScanError as error:
        return _not_understood(empty, file, Problem(error.code, given.name, args=error.details))
    empty = replace(empty, lines=log.lines)
    if not log.sessions:
        return _not_understood(empty, file, run_problems.of_unclaimed(log, given))
    started = _with_run_json(empty, file.run_json.document)
    names = partial(names_of, given.path, sha256)
    return [redact_record(_run(started, file, log, each, extra_rules), names) for each in log.sessions]


def _not_understood(empty: Run, file: LogFile, problem: Problem) -> list[Run]:
    """Return one run with the problem, of the case that others state; none if nobody says that the file is a log."""
    if run_problems.is_no_log(file, problem):
        return []
    merged = facts.merge(file.run_json.case(), {}, file.path_facts, {})
    wrong = (*file.run_json.problems, *file.path_facts.problems, *run_problems.of_parts(file))
    found = replace(empty, case=merged.case(), facts=dict(merged.stated), problems=(problem, *wrong))
    return [redact_record(found, partial(names_of, file.given.path, empty.sha256))]


def _with_run_json(empty: Run, document: RunJson | None) -> Run:
    if document is None:
        return empty
    stated = ((name, getattr(document, name)) for name in _FROM_RUN_JSON)
    return replace(empty, **{name: value for name, value in stated if value is not None})


def _run(started: Run, file: LogFile, log: Log, session: Session, extra_rules: Sequence[str]) -> Run:
    """Return the run of a session.

    Args:
        started: what is known of it before the log is read.
        file: where its log lies, and what is stated there.
        log: the whole log.
        session: the session.
        extra_rules: rules of figures for the audit.
    """
    merged = run_facts.facts_of(session, file.run_json, file.path_facts)
    facts_of_rules, case = merged.for_rules(), merged.case()
    found = measured(session, facts_of_rules, merged.of_records)
    beside = metrics(session, facts_of_rules, found.headline, found.slower, found.untimed)
    judged = JudgedSession(file, log, session, merged, found.headline, beside)
    details, unread = environment_json.details_of(file.given, file.run_json)
    of_file, of_session = run_problems.of_file(file), run_problems.of_session(judged)
    sound = run_problems.is_sound(judged, [*of_file, *of_session])
    audited = {name: rules.figure(name, session, facts_of_rules) for name in extra_rules}
    outcome, ending, counted = judged.outcome, session.ending, session.counters
    intervals = found.intervals
    return replace(
        started,
        session=session.number,
        sessions=len(log.sessions),
        format=session.format.id,
        unproven=session.format.unproven or UNSET,
        outcome=outcome,
        outcome_line=ending.line if outcome in (ending.outcome, "missed") else 0,
        progress=RunProgress(counted.unit, counted.done, counted.total) if counted else None,
        observations=judged.observations,
        case=case,
        facts=dict(merged.stated),
        environment=run_facts.environment_of(session, file.run_json, file.path_facts),
        environment_details=details,
        figures=_rounded(found.figures),
        rule=found.rule,
        witnesses=found.witnesses,
        metrics=beside,
        audit=_rounded(audited) if audited else UNSET,
        trace=None if intervals is None else run_facts.trace_of(intervals),
        pauses=None if intervals is None else window.pauses(intervals),
        evenness=None if intervals is None else window.evenness(intervals),
        # Problems of the file are reported once, by its first session.
        problems=(*of_file, *unread, *of_session) if session.number == 1 else tuple(of_session),
        repeat=document.repeat if (document := file.run_json.document) and document.repeat else merged.value("repeat"),
        suite=suites.suite_of_name(case.model) if case.model is not None else None,
        published=sound and not judged.missing and not started.disturbed,
        sound=sound,
        missing=judged.missing or UNSET,
        origin=file.path_facts.origin or UNSET,
        fingerprint=None if file.run_json.tells_the_run else fingerprint(session),
        clock=run_facts.clock_of(session),
        measured_clock=None if intervals is None else run_facts.measured_clock_of(intervals, found.headline),
    )


def _rounded(found: Mapping[str, Figure | NoFigure]) -> Figures:
    """Round figures to ten significant digits, which is more than any log prints."""
    return Figures(
        {
            rule: replace(each, value=shortened(each.value)) if isinstance(each, Figure) else each
            for rule, each in found.items()
        }
    )
