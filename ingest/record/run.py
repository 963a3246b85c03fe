"""Runs: one session with its facts, figures and problems, as the line that the ledger keeps."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ingest.common import suites
from ingest.common.files import file_hash, is_as_stated, stamp
from ingest.common.problems import Problem
from ingest.compute import rules
from ingest.compute.frame import TIMED, begun_anew, framed
from ingest.compute.metrics import metrics
from ingest.compute.series import Absent, Series, series
from ingest.compute.telemetry_figures import iso
from ingest.read import environment_json, facts
from ingest.read.layout import OWN, Layout
from ingest.read.redact import redact
from ingest.read.run_json import RunJson, beside
from ingest.read.walk import Input, may_be_log
from ingest.record import duplicates
from parsers.engine.clock import DATELESS_BEFORE
from parsers.engine.read import Log, read
from parsers.engine.registry import current_id
from parsers.engine.scan import ScanError
from parsers.engine.session import Session

TRACE_POINTS = 400
#: By how much batch size over seconds may differ from the printed speed before one of the two is not believed.
_BATCH_TOLERANCE = 0.05


def runs_of(given: Input, layout: Layout, sha256: str, asked: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Everything the ledger keeps of one log: a line per session, or one line that says why there is none.

    Args:
        given: the log.
        layout: how its tree names things.
        sha256: hash of its bytes.
        asked: further rules, by which others computed what they published of this log; for the audit.
    """
    run_json = beside(given.path, given.name)
    shared = {"path": given.name, "sha256": sha256, "bytes": given.path.stat().st_size if given.path.exists() else 0}
    try:
        log = read(given.path)
    except ScanError as error:
        return [redact(_not_understood(given, shared, [Problem(error.code, given.name, args=error.details)], run_json))]
    shared["lines"] = log.lines
    if not log.sessions:
        return [redact(_not_understood(given, shared, [_unclaimed(log, given.name)], run_json))]
    said = layout.facts(given.path.absolute().as_posix())
    lines = [shared | _line(given, log, each, run_json, said, layout, asked) for each in log.sessions]
    return [redact(line) for line in lines]


def _unclaimed(log: Log, name: str) -> Problem:
    """Why no session could be made of a log."""
    if len(log.claims) > 1:
        claims = sorted(log.claims, key=lambda each: each.line)
        claimants = ", ".join(f"{each.format.id} (line {each.line})" for each in claims)
        return Problem("two_formats", name, claims[1].line, {"formats": claimants})
    if log.noise.binary:
        return Problem("binary", name)
    if log.noise.cut_lines:
        return Problem("long_line", name, log.noise.cut_lines[0])
    return Problem("unknown_format", name)


def _not_understood(
    given: Input, shared: Mapping[str, Any], problems: list[Problem], run_json: RunJson
) -> dict[str, Any]:
    problems += [run_json.problem] if run_json.problem else []
    problems += _parts(given, run_json)
    return {
        "session": 1, "sessions": 1, "format": None, "outcome": "failed", "outcome_line": 0, "observations": 0,
        "case": {"options": {}}, "facts": {}, "environment": {}, "figures": {}, "metrics": {},
        "problems": [each.as_dict() for each in problems], "repeat": None, "environment_details": None,
        "suite": None, "published": False, "sound": False, "duplicate_of": None, "fingerprint": None, "trace": None,
        "lines": 0, "clock": None, "telemetry": None, **RunJson({}).told(), **shared,
    }  # fmt: skip


def _line(
    given: Input,
    log: Log,
    session: Session,
    run_json: RunJson,
    said: dict[str, Any] | None,
    layout: Layout,
    asked: Sequence[str],
) -> dict[str, Any]:
    merged = facts_of(session, run_json, said, layout)
    for_rules = merged.for_rules()
    found = rules.figures(session, for_rules)
    outcome = _outcome(session, log, run_json)
    details, unread = environment_json.beside(given, run_json)
    of_file = [*_problems_of_file(given, run_json, said, layout), *unread]
    problems = [*of_file, *_problems(given.name, log, session, run_json, merged, found)]
    case = merged.case()
    blocking = {each.code for each in problems} - _HARMLESS
    shown = problems if session.number == 1 else problems[len(of_file) :]
    return {
        "session": session.number,
        "sessions": len(log.sessions),
        "format": session.format.id,
        "outcome": outcome,
        # Where the log says so; 0 where it says nothing, or something else than run.json.
        "outcome_line": session.ending.line if session.ending.outcome == outcome else 0,
        "observations": _observations(session),
        "case": case,
        "facts": {name: each.as_dict() for name, each in sorted(merged.stated.items())},
        "environment": _environment(run_json, session),
        "environment_details": details,
        "figures": {name: _kept(each) for name, each in found.items()},
        "metrics": metrics(session, for_rules, found[rules.HEADLINE]),
        **({"audit": {name: _kept(rules.figure(name, session, for_rules)) for name in asked}} if asked else {}),
        "problems": [each.as_dict() for each in shown],
        **run_json.told(),
        "repeat": run_json.data.get("repeat") or merged.value("repeat"),
        "clock": _clock(session),
        "telemetry": None,
        "suite": suites.suite(str(case["model"])) if "model" in case else None,
        "published": not blocking,
        "sound": not blocking,
        "duplicate_of": None,
        "fingerprint": None if run_json.present else duplicates.fingerprint(session),
        "trace": _trace(session, for_rules),
    }


def facts_of(session: Session, run_json: RunJson, said: dict[str, Any] | None, layout: Layout) -> facts.Merged:
    """What is known of a session, from its run.json, from itself, and from what the layout says of its path."""
    return facts.merge(run_json.case(), session.facts, said, layout.name, {"framework": session.format.framework})


#: Problems that are said but do not keep a figure from its table.
_HARMLESS = frozenset(
    {"cut_line", "unmatched_name", "ended_badly", "part_changed", "part_missing", "part_unnamed", "environment_wrong"}
)


def _kept(found: rules.Figure | Absent) -> dict[str, Any]:
    if isinstance(found, Absent):
        return {"value": None, "reason": found.as_dict()}
    return found.as_dict()


def _observations(session: Session) -> int:
    """Records of the main metric: those that print a speed or a duration, otherwise those with a clock."""
    for column in ("throughput", *TIMED, "clock"):
        for records in session.records:
            if column in records and len(records):
                return len(framed(records)) if records.reading.repeated else len(records)
    return 0


def _clock(session: Session) -> list[str] | None:
    """First and last clock of the records, as the host showed it; None where the log prints no date and time.

    Seconds since 1970 are no such clock: which zone the host was in they do not say.
    """
    import numpy as np

    columns = [each["clock"] for each in session.records if "clock" in each.reading.columns and "clock" in each]
    stamps = np.concatenate(columns) if columns else np.empty(0)
    stamps = stamps[np.isfinite(stamps)]
    if not len(stamps) or float(stamps.min()) < DATELESS_BEFORE:
        return None
    return [iso(float(stamps.min())), iso(float(stamps.max()))]


def _outcome(session: Session, log: Log, run_json: RunJson) -> str:
    """What run.json says of the end of the log; of sessions before the last, and without one, what the log does."""
    last = session.number == len(log.sessions)
    return str(run_json.data["outcome"]) if run_json.present and last else session.ending.outcome


def _environment(run_json: RunJson, session: Session) -> dict[str, Any]:
    known = dict(run_json.data.get("environment", {}))
    for fact, name in (("gpu", "gpu"), ("framework_version", "framework_version")):
        if fact in session.facts:
            known.setdefault(name, session.facts[fact].value)
    return known


def _problems_of_file(given: Input, run_json: RunJson, said: dict[str, Any] | None, layout: Layout) -> list[Problem]:
    """What is wrong with a log as a file; it holds for all its sessions and is said once."""
    problems = [run_json.problem] if run_json.problem else []
    problems += [*_changed(given, run_json), *_parts(given, run_json)]
    if said is None and not run_json.present and not run_json.problem and layout.name != OWN:
        problems.append(Problem("unmatched_name", given.name, args={"layout": layout.name}))
    return problems


def _problems(
    name: str, log: Log, session: Session, run_json: RunJson, merged: facts.Merged,
    found: Mapping[str, rules.Figure | Absent],
) -> list[Problem]:  # fmt: skip
    """All that is wrong with one session, most of it reasons not to publish its figure."""
    outcome = _outcome(session, log, run_json)
    problems = [facts.contradiction(name, each) for each in merged.contradictions]
    problems += _wrong_format(name, session, run_json)
    if log.cut_line and session is log.sessions[-1]:
        problems.append(Problem("cut_line", name, log.cut_line))
    if session.ending.line and outcome == "completed" and session.ending.outcome in {"oom", "failed"}:
        problems.append(Problem("ended_badly", name, session.ending.line, {"outcome": session.ending.outcome}))
    problems += _begun_anew(name, session)
    headline = found[rules.HEADLINE]
    if isinstance(headline, Absent):
        problems.append(_without_figure(name, session, headline, outcome))
    elif (missing := facts.missing(merged.stated)) and not run_json.problem:
        problems.append(Problem("missing_facts", name, args={"facts": ", ".join(missing)}))
    elif headline.scope == "thread":
        problems.append(Problem("thread_figure", name, headline.first_line))
    elif batch := _implied_batch(session, merged):
        problems.append(Problem("batch_size", name, session.main.lines([0])[0], batch))
    return problems


def _begun_anew(name: str, session: Session) -> list[Problem]:
    """A second run in one session, of a printer that does not say when it starts."""
    for records in session.records:
        row = begun_anew(records) if records.reading.span != "run" else None
        if row is not None:
            return [Problem("begun_anew", name, records.lines([row])[0])]
    return []


def _without_figure(name: str, session: Session, reason: Absent, outcome: str) -> Problem:
    if reason.code == "impossible_figure":
        return Problem("impossible_figure", name, int(reason.details["line"]), {"count": reason.details["count"]})
    if not _observations(session):
        return Problem(
            "no_step", name, session.ending.line or session.first_line, {"session": session.number, "outcome": outcome}
        )
    return Problem("no_figure", name, session.first_line, {"reason": reason.as_dict()})


def _changed(given: Input, run_json: RunJson) -> list[Problem]:
    """A log that is no longer the one that run.json was written beside."""
    stated = run_json.data.get("files", {}).get(given.path.name, {}).get("sha256")
    if stated and stated != file_hash(given.path):
        return [Problem("hash_mismatch", given.name)]
    return []


def _parts(given: Input, run_json: RunJson) -> list[Problem]:
    """What else run.json names and is not there, or not as it was; and logs below that it does not name."""
    files, folder, at = run_json.data.get("files") or {}, given.path.parent, given.name.rpartition("/")[0]
    named = {name: about.get("sha256") for name, about in files.items() if name != given.path.name}
    problems = [
        Problem("part_changed" if stamp(folder / name) else "part_missing", f"{at}/{name}")
        for name, sha256 in sorted(named.items())
        if not is_as_stated(folder / name, sha256)
    ]
    below = (each.relative_to(folder).as_posix() for each in given.parts if may_be_log(each) and each.parent != folder)
    unnamed = [each for each in below if each not in files] if run_json.present else []
    return problems + [Problem("part_unnamed", f"{at}/{name}") for name in unnamed]


def _wrong_format(name: str, session: Session, run_json: RunJson) -> list[Problem]:
    expected = run_json.data.get("format") or (run_json.data.get("records") or {}).get("format")
    if expected and current_id(str(expected)) != session.format.id and _observations(session):
        return [Problem("other_format", name, args={"expected": str(expected), "found": session.format.id})]
    return []


def _implied_batch(session: Session, merged: facts.Merged) -> dict[str, Any] | None:
    """The batch size that speed times seconds implies, where it is not the one stated."""
    import numpy as np

    main, stated = session.main, merged.value("batch_size")
    if main.reading.scope != "device" or "step_seconds" not in main or "throughput" not in main or not stated:
        return None
    if "samples" in main:  # The printer says how many there were; its batch size is the most that there may be.
        return None
    seconds = main["step_seconds"] + (main["reader_seconds"] if main.reading.reader_apart else 0.0)
    implied = float(np.median(main["throughput"] * seconds))
    if abs(implied / stated - 1) <= _BATCH_TOLERANCE:
        return None
    return {"implied": f"{implied:.4g}", "stated": str(stated), "where": merged.stated["batch_size"].where}


def _trace(session: Session, case: Mapping[str, Any]) -> dict[str, Any] | None:
    """At most TRACE_POINTS of the series; of every bin its extremes, so that no outlier is lost."""
    try:
        given = series(session, case)
    except Absent:
        return None
    shown = _bins(given)
    return {
        "step": [float(f"{given.steps[each]:.10g}") for each in shown],
        "value": [float(f"{given.values[each]:.6g}") for each in shown],
        "unit": given.unit,
        "skipped": sum(each < rules.warm_up(len(given)) for each in shown),
    }


def _bins(given: Series) -> list[int]:
    import numpy as np

    count = len(given)
    if count <= TRACE_POINTS:
        return list(range(count))
    edges = np.linspace(0, count, TRACE_POINTS // 2 + 1).astype(int)
    spans = [range(a, b) for a, b in pairwise(edges)]
    extremes = {pick(each, key=lambda row: given.values[row]) for each in spans for pick in (min, max)}
    return sorted(extremes)


def identify(lines: Sequence[dict[str, Any]]) -> None:
    """Give every line its `id`: a slug of its path, with a hash where two paths make one slug."""
    slugs = [_slug(each) for each in lines]
    used = Counter(slugs)
    for line, slug in zip(lines, slugs, strict=True):
        if used[slug] > 1 or len(slug) > 100:
            digest = hashlib.sha256(f"{line['path']}#{line['session']}".encode()).hexdigest()[:8]
            slug = f"{slug[:90].rstrip('-')}-{digest}"
        line["id"] = slug


def _slug(line: Mapping[str, Any]) -> str:
    path = str(line["path"]).partition("/")[2] or str(line["path"])
    path = path.removesuffix("/train.log")
    slug = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "log"
    return slug if line["sessions"] == 1 else f"{slug}-s{line['session']}"
