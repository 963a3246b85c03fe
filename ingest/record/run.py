"""From a log to its runs: one per session, with its facts, figures and problems."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from perfledger.ingest.common import suites
from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.files import file_hash, is_as_stated, stamp
from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute import rules, window
from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.intervals import TIMED, Intervals
from perfledger.ingest.compute.measurement import WITNESSES, measured
from perfledger.ingest.compute.metrics import has_tf32, metrics
from perfledger.ingest.compute.one_run import one_run
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.telemetry_figures import iso
from perfledger.ingest.read import environment_json, facts, power
from perfledger.ingest.read.beside import PathFacts, path_facts
from perfledger.ingest.read.layout import OWN, Layout
from perfledger.ingest.read.names import names_of
from perfledger.ingest.read.run_json import RunJsonFile, of_log
from perfledger.ingest.read.walk import Input, may_be_log, named_like_log
from perfledger.ingest.record import duplicates
from perfledger.parsers.contract import Sample, text
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.registry import current_id
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.parsers.engine.telemetry import unread_samples
from perfledger.schema.records import (
    FactValue,
    Figure,
    Figures,
    MetricFigure,
    NoFigure,
    Problem,
    Reason,
    Run,
    RunJson,
    RunProgress,
    Stated,
    Trace,
    text_of,
    to_json,
)
from perfledger.schema.redaction.names import NO_NAMES, may_name
from perfledger.schema.redaction.redact import redact_record
from perfledger.schema.vocabulary import COUNTS, METRICS, UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRACE_POINTS = 400
#: Outcomes that do not explain why there is no step.
_WITHOUT_FAILURE = frozenset({"completed", "truncated", "unread"})
#: Characters of a line that a problem quotes.
_LONGEST_SAMPLE = 160


def runs_of(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str] = ()) -> list[Run]:
    """Read one log: a run per session, or one run that states why it has no session, or which fault of ours it met.

    What no format claims, is not named like a log and has no run.json is no log, and gives no run.

    Args:
        given: the log.
        layout: how its tree names things.
        sha256: hash of its bytes.
        extra_rules: rules by which others computed what they published of this log; for the audit.
    """
    found = guarded(given.name, given.path, lambda: _written(_runs_of(given, layout, sha256, extra_rules)))
    if isinstance(found, Problem):
        return [redact_record(Run(path=given.name, sha256=sha256, outcome="failed", problems=(found,)))]
    return found


def _written(runs: list[Run]) -> list[Run]:
    """Return the runs if each can be written: a number that is none would be found out only with all others."""
    return [run for run in runs if text_of(run)]


def _runs_of(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str]) -> list[Run]:
    import numpy as np

    with np.errstate(all="ignore"):  # What overflows is found out by its value, where it is used.
        return _read(given, layout, sha256, extra_rules)


def _read(given: Input, layout: Layout, sha256: str, extra_rules: Sequence[str]) -> list[Run]:
    run_json = of_log(given.path, given.name)
    size = given.path.stat().st_size if given.path.exists() else 0
    empty = Run(path=given.name, sha256=sha256, bytes=size, outcome="unread")
    told = path_facts(given, layout)
    try:
        log = read(given.path)
    except ScanError as error:
        return _not_understood(empty, given, Problem(error.code, given.name, args=error.details), run_json, told)
    empty = replace(empty, lines=log.lines)
    if not log.sessions:
        return _not_understood(empty, given, _unclaimed(log, given), run_json, told)
    names = NO_NAMES if log.distinct and not may_name(log.distinct) else names_of(given.path, sha256)
    return [redact_record(_run(empty, given, log, each, run_json, told, extra_rules), names) for each in log.sessions]


def _unclaimed(log: Log, given: Input) -> Problem:
    """Return why no session could be made of a log."""
    name = given.name
    if len(log.claims) > 1:
        claims = sorted(log.claims, key=lambda each: each.line)
        claimants = ", ".join(f"{each.format.id} (line {each.line})" for each in claims)
        return Problem("two_formats", name, claims[1].line, {"formats": claimants})
    if log.noise.binary:
        return Problem("binary", name)
    if log.noise.cut_lines:
        return Problem("long_line", name, log.noise.cut_lines[0])
    line = unread_samples(given.path)
    return Problem("telemetry_unknown" if line else "unknown_format", name, line)


def _not_understood(empty: Run, given: Input, problem: Problem, run_json: RunJsonFile, told: PathFacts) -> list[Run]:
    """Return one run with what is wrong, of the case that others state; none where nobody says that it is a log."""
    if problem.code in _NO_LOG and run_json == RunJsonFile() and not (given.asked or _may_be_meant(given.path)):
        return []
    merged = facts.merge(run_json.case(), {}, told, {})
    wrong = (*run_json.problems, *told.problems, *_parts(given, run_json))
    found = replace(empty, case=merged.case(), facts=dict(merged.stated), problems=(problem, *wrong))
    return [redact_record(found, names_of(given.path, empty.sha256))]


#: Problems of a file that may simply be no log.
_NO_LOG = frozenset({"unknown_format", "binary", "long_line", "empty"})
#: A text counts as prose if fewer of its first lines than one in so many hold a number.
_PROSE_LINES, _PROSE_BYTES = 10, 1 << 16


def _may_be_meant(path: Path) -> bool:
    """Return whether a file is named like a log; one that is named like any text must hold numbers as well."""
    if path.suffix.lower() != ".txt" or not named_like_log(path):
        return named_like_log(path)
    with path.open("rb") as stream:
        lines = stream.read(_PROSE_BYTES).splitlines()
    return _PROSE_LINES * sum(bool(re.search(rb"\d", each)) for each in lines) >= len(lines)


def _run(
    empty: Run,
    given: Input,
    log: Log,
    session: Session,
    run_json: RunJsonFile,
    told: PathFacts,
    extra_rules: Sequence[str],
) -> Run:
    merged = facts_of(session, run_json, told)
    for_rules = merged.for_rules()
    found = measured(session, for_rules, merged.of_records)
    outcome = outcome_of(session, log, run_json)
    details, unread = environment_json.details_of(given, run_json)
    of_file = [*_problems_of_file(given, run_json, told), *unread]
    case = merged.case()
    beside = _with_energy(metrics(session, for_rules, found.headline, found.slower, found.untimed), told)
    timed = _is_known(beside, "time_to_train")
    missing = tuple(_missing(session, merged, found.headline))
    lacking = isinstance(found.headline, NoFigure) and found.headline.reason.code in _LACKS
    problems = [*of_file, *_problems(given.name, log, session, run_json, merged, found.headline, timed=timed)]
    if lacking and not _is_known(beside, "latency") and not run_json.problem:
        blanks = {name: 0 if name in COUNTS else "" for name in missing}
        problems.append(
            Problem("missing_facts", given.name, args={"facts": ", ".join(missing), "json": json.dumps(blanks)})
        )
    harmless = _HARMLESS | (_OF_THROUGHPUT if "time_to_train" in beside else frozenset())
    sound = not {each.code for each in problems if each not in unread} - harmless and outcome != "trial"
    audited = {name: rules.figure(name, session, for_rules) for name in extra_rules}
    started = _with_run_json(empty, run_json.document)
    return replace(
        started,
        session=session.number,
        sessions=len(log.sessions),
        format=session.format.id,
        unproven=session.format.unproven or UNSET,
        outcome=outcome,
        outcome_line=session.ending.line if outcome in (session.ending.outcome, "missed") else 0,
        progress=_progress(session),
        observations=_observations(session),
        case=case,
        facts=dict(merged.stated),
        environment=_environment(run_json, session, told),
        environment_details=details,
        figures=_rounded(found.figures),
        rule=found.rule,
        metrics=beside,
        witnesses=found.witnesses,
        audit=_rounded(audited) if audited else UNSET,
        # Problems of the file are reported once, by its first session.
        problems=tuple(problems if session.number == 1 else problems[len(of_file) :]),
        repeat=run_json.document.repeat if run_json.document and run_json.document.repeat else merged.value("repeat"),
        clock=_clock(session),
        measured_clock=_measured_clock(found.given, found.headline),
        suite=suites.suite_of_name(case.model) if case.model is not None else None,
        published=sound and not missing and not started.disturbed,
        sound=sound,
        missing=missing or UNSET,
        origin=told.origin or UNSET,
        fingerprint=None if run_json.tells_the_run else duplicates.fingerprint(session),
        **_of_series(found.given),
    )


#: Fields that a run takes from run.json as they stand.
_FROM_RUN_JSON = (
    "argv", "environment_variables", "secrets", "site", "recipe", "records", "warnings", "disturbances",
    "accept_disturbed", "nodes", "start", "end", "wall_seconds", "notes", "source",
)  # fmt: skip


def _with_run_json(empty: Run, document: RunJson | None) -> Run:
    if document is None:
        return empty
    stated = ((name, getattr(document, name)) for name in _FROM_RUN_JSON)
    return replace(empty, **{name: value for name, value in stated if value is not None})


def facts_of(session: Session, run_json: RunJsonFile, told: PathFacts) -> facts.Merged:
    """Merge the facts of a session: from its run.json, its log, files beside it, and its path by the layout."""
    within = session.view.format.framework if session.view else ""
    implied, said = {"framework": session.format.framework or within}, session.format.id
    merged = facts.merge(run_json.case(), session.facts, told, implied, said)
    if not _NO_BATCH_OF_RECORDS & merged.stated.keys():
        merged = merged.with_facts_of_records(_with_devices(_batch_of_records(session), merged))
    return _with_tf32(merged, run_json)


#: Frameworks as NVIDIA packs them: since containers 20.06, which Ampere needs, they allow TF32 by default.
_ALLOWS_TF32 = "NGC "
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"


def _with_tf32(merged: facts.Merged, run_json: RunJsonFile) -> facts.Merged:
    """Return the facts with what FP32 is where the framework may have computed it as TF32, and nothing says otherwise.

    run.json is taken at its word, and so is a switch that the log prints.
    """
    used = {name: merged.stated[name] for name in ("precision", "framework", "hardware") if name in merged.stated}
    if len(used) < 3 or used["precision"].value != "fp32" or used["precision"].source == "run.json":
        return merged
    variables = (run_json.document.environment_variables if run_json.document else None) or {}
    allowed = merged.stated.get("tf32")
    forbidden = str(variables.get(_OVERRIDE)) == "0" or (allowed and str(allowed.value).lower() == "false")
    by_default = str(used["framework"].value).startswith(_ALLOWS_TF32) and has_tf32(str(used["hardware"].value))
    if forbidden or not (by_default or allowed):
        return merged
    found = facts.computed("tf32", **used, tf32=allowed) if allowed else facts.computed("fp32_tf32", **used)
    return merged.with_fact("precision", found)


#: What states the batch size of a device, or that a step is not one batch of each.
_NO_BATCH_OF_RECORDS = frozenset({"batch_size", "accumulation", *facts.CUTS})
#: How far a product of two printed figures may lie from the whole number that it stands for.
_ROUNDED = 0.005


def _batch_of_records(session: Session) -> dict[str, FactValue]:
    """Return the batch size, of a device or the job, that nothing states but all speeds times their seconds."""
    import numpy as np

    counted = next((each for each in session.records if len(each) and each.reading.span != "run"), session.main)
    products = _batch_products(counted)
    if products is None or UNITS[counted.reading.unit].counts != "sample":
        return {}
    if not len(products) or not np.isfinite(products).all():
        return {}
    batch = round(median(products))
    if not batch or float(np.max(np.abs(products / batch - 1))) > _ROUNDED:
        return {}
    first, last = counted.lines([0, len(counted) - 1])
    lines = f"lines {first}-{last}" if last > first else f"line {first}"
    name = "batch_size" if counted.reading.scope == "device" else "batch_size_of_job"
    return {name: FactValue(batch, facts.DERIVED, f"throughput ({lines}), step_seconds ({lines})")}


def _with_devices(found: dict[str, FactValue], merged: facts.Merged) -> dict[str, FactValue]:
    """Add the number of devices that share the stated batch of the job, where nothing else states one of the two."""
    job, each = merged.stated.get("batch_size_of_job"), found.get("batch_size")
    if job is None:
        return found
    if each is None or "devices" in merged.stated or job.value % each.value:
        return {}
    return {**found, "devices": facts.computed(job.value // each.value, batch_size_of_job=job, batch_size=each)}


def _batch_products(records: SessionRecords) -> NDArray[np.float64] | None:
    """Return speed times seconds of each record that counts a device or the job; None where it does not print both.

    Where a record prints its samples, its batch size is the most that there may be.
    """
    printed = "step_seconds" in records and "throughput" in records and "samples" not in records
    if records.reading.scope not in {"device", "job"} or not printed:
        return None
    return records["throughput"] * records["step_seconds"]


#: Problems that are reported but do not exclude the figure.
_HARMLESS = frozenset(
    {
        "too_few",
        "cut_line",
        "unmatched_name",
        "beside_missing",
        "ended_badly",
        "fact_differs",
        "part_changed",
        "part_missing",
        "part_unnamed",
        "run_json_keys",
        "run_json_times",
    }
)


def _with_energy(found: dict[str, MetricFigure], told: PathFacts) -> dict[str, MetricFigure]:
    """Add the energy until the target was reached, where power logs lie beside the log: their mean over that time."""
    time = found.get("time_to_train")
    if time is None or time.value is None or not told.power:
        return found
    unit = METRICS["energy_to_train"].unit
    try:
        mean = power.watts(told.power)
    except power.PowerError as wrong:
        energy = MetricFigure(None, unit, reason=Reason("power_unread", {"file": str(wrong)}))
    else:
        arithmetic = f"{mean:.8g} W × {60 * time.value:.8g} s / 1000"
        energy = MetricFigure(mean * 60 * time.value / 1000, unit, "telemetry", arithmetic=arithmetic)
    return {name: each for name in METRICS if (each := {**found, "energy_to_train": energy}.get(name))}


#: Problems of the throughput, with which the time to a target stands all the same.
_OF_THROUGHPUT = frozenset(
    {
        "unread",
        "no_speed",
        "no_step",
        "no_figure",
        "contradicts_itself",
        "impossible_figure",
        *(f"witness_{each}" for each in WITNESSES),
    }
)


def _rounded(found: Mapping[str, Figure | NoFigure]) -> Figures:
    """Round figures to ten significant digits, which is more than any log prints."""
    return Figures(
        {
            rule: replace(each, value=shortened(each.value)) if isinstance(each, Figure) else each
            for rule, each in found.items()
        }
    )


def _counts_updates(session: Session, stated: Container[str]) -> bool:
    """Return whether a batch of the job can only be known with the steps of an update, which nothing else tells."""
    told = ("accumulation", "samples_per_update_and_device")
    counted = any(each.reading.counts == "update" and len(each) for each in session.records)
    return counted and not any(each in stated for each in told)


def _observations(session: Session) -> int:
    """Return records of the main metric: those that print a speed or a duration, otherwise those with a clock.

    What a printer says of the whole run besides its records is none, unless there is nothing else.
    """
    beside = [each is not session.main and each.reading.span == "run" for each in session.records]
    for skipped, columns in product((True, False), (("throughput",), TIMED, ("clock",))):
        for records, of_run in zip(session.records, beside, strict=True):
            if any(column in records for column in columns) and len(records) and of_run != skipped:
                return len(intervals_of(records)) if records.reading.repeated else len(records)
    return 0


def _clock(session: Session) -> tuple[str, str] | None:
    """Return first and last clock of the records in the host's local time; None if the log prints no date and time.

    Seconds since 1970 are no such clock: which zone the host was in they do not say.
    """
    import numpy as np

    columns = [each["clock"] for each in session.records if "clock" in each.reading.columns and "clock" in each]
    stamps = np.concatenate(columns) if columns else np.empty(0)
    stamps = stamps[np.isfinite(stamps)]
    if not len(stamps) or float(stamps.min()) < DATELESS_BEFORE:
        return None
    return iso(float(stamps.min())), iso(float(stamps.max()))


def _measured_clock(series: Callable[[], Intervals], headline: Figure | NoFigure) -> tuple[str, str] | None:
    """Return the clock of the record before those that the headline counts, where one begins, and of their last.

    It is that of their lines, in the host's local time; None where these have no date and time.
    """
    import numpy as np

    if not isinstance(headline, Figure) or headline.first_line is None or headline.last_line is None:
        return None
    try:
        records = series().records
    except NoFigureError:
        return None
    stamps = records.stamps()
    before, known = records.before(headline.first_line), np.isfinite(stamps)
    counted = known & ~before & records.before(headline.last_line + 1)
    if not counted.any() or float(stamps[counted].min()) < DATELESS_BEFORE:
        return None
    first = stamps[known & before][-1] if (known & before).any() else stamps[counted][0]
    return (iso(float(first)), iso(float(stamps[counted][-1]))) if first < stamps[counted][-1] else None


#: Outcomes by run.json that stand in tables.
_PUBLISHABLE = (None, "completed", "truncated", "missed", "oom")


def outcome_of(session: Session, log: Log, run_json: RunJsonFile) -> str:
    """Return the outcome by run.json; without one, and of sessions before the last, by the log.

    A trial that did not fail is one whatever it came to, so that nothing of it is published.
    """
    if run_json.document and run_json.document.smoke and run_json.document.outcome in _PUBLISHABLE:
        return "trial"
    stated = run_json.document.outcome if run_json.document and session.number == len(log.sessions) else None
    return stated or _outcome_by_log(session)


def _outcome_by_log(session: Session) -> str:
    """Return the outcome by the log: a run that trains to a target has ended there, though more steps were planned."""
    found = session.ending.outcome
    reached = {float(each["reached"][-1]) for each in session.records if "reached" in each and len(each)}
    if found not in ("completed", "truncated") or not reached & {0.0, 1.0}:
        return found
    return "missed" if 0.0 in reached else "completed"


def _progress(session: Session) -> RunProgress | None:
    found = session.counters
    return RunProgress(found.unit, found.done, found.total) if found else None


def _environment(run_json: RunJsonFile, session: Session, told: PathFacts) -> dict[str, Stated]:
    known = dict(run_json.document.environment) if run_json.document else {}
    for fact, name in (("gpu", "gpu"), ("framework_version", "framework_version")):
        if fact in session.facts:
            known.setdefault(name, session.facts[fact].value)
    return {**told.environment, **known}


def _problems_of_file(given: Input, run_json: RunJsonFile, told: PathFacts) -> list[Problem]:
    """Return what is wrong with a log as a file, whatever its sessions say."""
    problems = [*run_json.problems, *_changed(given, run_json), *_parts(given, run_json), *told.problems]
    if told.path is None and not run_json.document and not run_json.problem and told.layout != OWN:
        problems.append(Problem("unmatched_name", given.name, args={"layout": told.layout}))
    return problems


def _problems(
    name: str, log: Log, session: Session, run_json: RunJsonFile, merged: facts.Merged,
    headline: Figure | NoFigure, *, timed: bool,
) -> list[Problem]:  # fmt: skip
    """Return all that is wrong with one session, most of it reasons not to publish its figure.

    A log that tells the time to a target need not hold a speed: it is understood without.
    """
    outcome = outcome_of(session, log, run_json)
    problems = [facts.contradiction(name, each) for each in merged.contradictions]
    problems += [facts.difference(name, each) for each in merged.differences]
    problems += _wrong_format(name, session, run_json)
    if log.cut_line and session is log.sessions[-1]:
        problems.append(Problem("cut_line", name, log.cut_line))
    if session.ending.line and outcome == "completed" and session.ending.outcome in {"oom", "failed"}:
        problems.append(Problem("ended_badly", name, session.ending.line, {"outcome": session.ending.outcome}))
    problems += of_several_runs(name, session)
    wrong = _without_figure(name, session, headline.reason, outcome) if isinstance(headline, NoFigure) else None
    wrong = None if wrong and wrong.code == "too_few" and outcome == "trial" else wrong
    wrong = None if wrong and wrong.code == "unread" and timed else wrong
    missing = _missing(session, merged, headline)
    if wrong and not (missing and isinstance(headline, NoFigure) and headline.reason.code in _LACKS):
        problems.append(wrong)
    if isinstance(headline, Figure) and headline.scope == "thread" and not missing:
        problems.append(Problem("thread_figure", name, headline.first_line))
    return problems


def _missing(session: Session, merged: facts.Merged, headline: Figure | NoFigure) -> list[str]:
    """Return the facts that nothing states, and that the case or its throughput needs."""
    missing = facts.missing(merged.stated)
    if isinstance(headline, Figure):
        return missing
    updates = "batch_size" in missing and _counts_updates(session, merged.stated)
    lacking = _LACKS.get(headline.reason.code)
    return list(dict.fromkeys([*missing, *(["accumulation"] if updates else []), *([lacking] if lacking else [])]))


def _is_known(found: Mapping[str, MetricFigure], name: str) -> bool:
    return name in found and found[name].value is not None


#: Why there is no figure of numbers that contradict each other: nothing is missing that anybody could state.
_OF_ITSELF = frozenset({"clock_runs_back"})
#: Reasons for a missing throughput, with the fact that it needs.
_LACKS = {
    "no_devices": "devices",
    "no_batch_size": "batch_size",
    "no_accumulation": "accumulation",
    "no_tokens_per_step": "tokens_per_step",
}


def of_several_runs(name: str, session: Session) -> list[Problem]:
    """Return a problem if one session cannot be one run, of a printer that does not say when it starts."""
    found = one_run(session) if _observations(session) else None
    return [Problem("begun_anew", name, found[0], {"reason": to_json(found[1])})] if found else []


def _without_figure(name: str, session: Session, reason: Reason, outcome: str) -> Problem:
    if reason.code == "withheld":
        return Problem(f"witness_{reason.args['witness']}", name, int(reason.args["line"]), _likelier(reason.args))
    if reason.code == "impossible_figure":
        return Problem("impossible_figure", name, int(reason.args["line"]), {"count": reason.args["count"]})
    if not _observations(session) and reason.code != "part_of_step":
        line = session.ending.line or session.first_line
        if outcome in _WITHOUT_FAILURE and not session.stated.message:
            if trained := [each for each in session.records if len(each) and each.reading.span != "run"]:
                return Problem("no_speed", name, trained[0].lines([0])[0], {"format": session.format.title})
            return Problem("unread", name, line, _unread(session))
        return Problem("no_step", name, line, {"session": session.number, "outcome": outcome})
    if reason.code in _OF_ITSELF:
        line = int(reason.args.get("line", session.first_line))
        return Problem("contradicts_itself", name, line, {"reason": to_json(reason)})
    code = "too_few" if reason.code in window.TOO_FEW else "no_figure"
    return Problem(code, name, session.first_line, {"reason": to_json(reason)})


def _unread(session: Session) -> dict[str, Any]:
    """Return what was expected after a start, and what was found."""
    expected = next(each for each in session.format.samples if isinstance(each, Sample)).line
    # Of a document or a table, the line that says most.
    shown = max(text(expected).splitlines(), key=len).strip()
    end = session.stated.end_line
    return {
        "session": session.number,
        "format": session.format.title,
        "expected": shown if len(shown) <= _LONGEST_SAMPLE else f"{shown[:_LONGEST_SAMPLE]}…",
        "lines": session.last_line - session.first_line + 1,
        "reason": to_json(Reason("end_seen", {"line": end}) if end else Reason("end_not_seen")),
    }


def _likelier(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the problem of a withheld figure, with which of the two is likelier to be wrong."""
    named = {name: value for name, value in args.items() if name not in {"line", "witness", "likelier"}}
    faster = str(args["difference"]).startswith("-")
    usual = {"clock": "clock_faster" if faster else "clock_slower", "arithmetic": "other_batch_size"}
    if args["witness"] in usual:
        named["reason"] = to_json(Reason(args.get("likelier", usual[args["witness"]])))
    return named


def _changed(given: Input, run_json: RunJsonFile) -> list[Problem]:
    """Return a problem if the log is not the one that run.json describes."""
    stated = run_json.files.get(given.path.name)
    if stated and stated.sha256 and stated.sha256 != file_hash(given.path):
        return [Problem("hash_mismatch", given.name)]
    return []


def _parts(given: Input, run_json: RunJsonFile) -> list[Problem]:
    """Return problems of the other files of run.json that are missing or changed, and of logs that it does not name."""
    files, folder, at = run_json.files, given.path.parent, given.name.rpartition("/")[0]
    named = {name: about.sha256 for name, about in files.items() if name != given.path.name}
    problems = [
        Problem("part_changed" if stamp(folder / name) else "part_missing", f"{at}/{name}")
        for name, sha256 in sorted(named.items())
        if not is_as_stated(folder / name, sha256)
    ]
    below = (each.relative_to(folder).as_posix() for each in given.parts if may_be_log(each) and each.parent != folder)
    unnamed = [each for each in below if each not in files] if run_json.document else []
    return problems + [Problem("part_unnamed", f"{at}/{name}") for name in unnamed]


def _wrong_format(name: str, session: Session, run_json: RunJsonFile) -> list[Problem]:
    expected = run_json.expected_format
    if expected and current_id(expected) != session.format.id and _observations(session):
        return [Problem("other_format", name, args={"expected": expected, "found": session.format.id})]
    return []


def _of_series(series: Callable[[], Intervals]) -> dict[str, Any]:
    """Return what a run keeps of its series."""
    try:
        given = series()
    except NoFigureError:
        return {}
    return {"trace": _trace(given), "pauses": window.pauses(given), "evenness": window.evenness(given)}


def _trace(given: Intervals) -> Trace:
    """Return at most TRACE_POINTS of the series; of every bin its extremes, so that no outlier is lost."""
    shown, begin = _bins(given), window.begin(given)
    steps, values = (column[shown].tolist() for column in (given.step, given.speed))
    return Trace(
        step=tuple(map(shortened, steps)),
        value=tuple(shortened(each, 6) for each in values),
        unit=given.reading.unit,
        skipped=sum(each < begin for each in shown),
    )


def _bins(given: Intervals) -> list[int]:
    import numpy as np

    count = len(given)
    if count <= TRACE_POINTS:
        return list(range(count))
    edges = np.linspace(0, count, TRACE_POINTS // 2 + 1).astype(int).tolist()
    spans, values = [range(a, b) for a, b in pairwise(edges)], given.speed.tolist()
    extremes = {pick(each, key=values.__getitem__) for each in spans for pick in (min, max)}
    return sorted(extremes)


def identify(runs: Sequence[Run]) -> list[Run]:
    """Give every run its `id`: a slug of its path, with a hash if two paths make one slug."""
    slugs = [_slug(each) for each in runs]
    used = Counter(slugs)
    return [replace(run, id=_id(run, slug, alone=used[slug] == 1)) for run, slug in zip(runs, slugs, strict=True)]


def _id(run: Run, slug: str, *, alone: bool) -> str:
    if alone and len(slug) <= 100:
        return slug
    digest = hashlib.sha256(f"{run.path}#{run.session}".encode()).hexdigest()[:8]
    return f"{slug[:90].rstrip('-')}-{digest}"


def _slug(run: Run) -> str:
    path = run.path.partition("/")[2] or run.path
    path = path.removesuffix("/train.log")
    slug = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "log"
    return slug if run.sessions == 1 else f"{slug}-s{run.session}"
