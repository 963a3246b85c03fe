"""Problems of a run: what is wrong with its file, and why a session gives no figure or one that is not published."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from perfledger.ingest.common.files import file_hash, is_as_stated
from perfledger.ingest.compute import window
from perfledger.ingest.compute.one_run import one_run
from perfledger.ingest.compute.refusals import missing
from perfledger.ingest.read import facts
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.layout import OWN
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.ingest.read.walk import Input, may_be_log, named_like_log
from perfledger.ingest.record.run_facts import observations, outcome_of
from perfledger.parsers.engine.read import Log
from perfledger.parsers.engine.registry import current_id
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.telemetry import unread_samples
from perfledger.schema.records import Figure, MetricFigure, NoFigure, Problem, Reason, to_json
from perfledger.schema.vocabulary import COUNTS

#: Problems of a file that may simply be no log.
_NO_LOG = frozenset({"unknown_format", "binary", "empty"})
#: A text counts as prose if fewer than one in this many of its first lines contain a number.
_PROSE_LINES = 10
#: Bytes of the first lines.
_PROSE_BYTES = 1 << 16
#: Outcomes that do not explain a session without steps.
_WITHOUT_FAILURE = frozenset({"completed", "truncated", "unread"})
#: Characters of a line that a problem quotes.
_LONGEST_SAMPLE = 160
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
        "part_unnamed",
        "run_json_ignored",
    }
)
#: Problems of the throughput, which do not exclude the time to a target.
_OF_THROUGHPUT = frozenset(
    {
        "unread",
        "no_speed",
        "no_step",
        "no_figure",
        "impossible_figure",
        "withheld",
    }
)
#: Facts that a throughput needs, and that a run.json can state.
_NEEDED = frozenset({"devices", "batch_size", "accumulation", "tokens_per_step"})


@dataclass(frozen=True)
class LogFile:
    """A log file, and the statements of its run.json and its path."""

    given: Input
    run_json: RunJsonFile
    path_facts: PathFacts

    @property
    def name(self) -> str:
        """The name of the log on the site."""
        return self.given.name


@dataclass(frozen=True)
class JudgedSession:
    """A session of a log, its facts, and its figures."""

    file: LogFile
    log: Log
    session: Session
    merged: facts.Merged
    headline: Figure | NoFigure
    metrics: Mapping[str, MetricFigure]

    @cached_property
    def outcome(self) -> str:
        """How the run ended."""
        return outcome_of(self.session, self.log, self.file.run_json)

    @cached_property
    def observations(self) -> int:
        """Number of records of the main metric."""
        return observations(self.session)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The facts that no source states, and that the case or its throughput needs."""
        found = facts.missing(self.merged.stated)
        if isinstance(self.headline, Figure):
            return tuple(found)
        updates = "batch_size" in found and self._counts_updates()
        needed = {missing(self.headline.reason)} & _NEEDED
        more = [*(["accumulation"] if updates else []), *needed]
        return tuple(dict.fromkeys([*found, *more]))

    @property
    def lacks_facts(self) -> bool:
        """Whether only a missing fact prevents a throughput."""
        return isinstance(self.headline, NoFigure) and missing(self.headline.reason) in _NEEDED

    def knows(self, metric: str) -> bool:
        """Return whether a metric has a value."""
        return metric in self.metrics and self.metrics[metric].value is not None

    def _counts_updates(self) -> bool:
        """Return whether the batch of the job depends on the steps of an update, which no source states."""
        steps = ("accumulation", "samples_per_update_and_device")
        counted = any(each.reading.per_update and len(each) for each in self.session.records)
        return counted and not any(each in self.merged.stated for each in steps)


def of_unclaimed(log: Log, given: Input) -> Problem:
    """Return why a log has no session."""
    name = given.name
    if len(log.claims) > 1:
        claims = sorted(log.claims, key=lambda each: each.line)
        claimants = ", ".join(f"{each.format.id} (line {each.line})" for each in claims)
        return Problem("two_formats", name, claims[1].line, {"formats": claimants})
    if log.noise.binary or log.noise.cut_lines:
        return Problem("binary", name, 0 if log.noise.binary else log.noise.cut_lines[0])
    line = unread_samples(given.path)
    return Problem("telemetry_unknown" if line else "unknown_format", name, line)


def is_no_log(file: LogFile, problem: Problem) -> bool:
    """Return whether a file may be of another kind: neither its user, its name nor a run.json call it a log."""
    may_be_other = problem.code in _NO_LOG and file.run_json == RunJsonFile()
    return may_be_other and not (file.given.asked or _may_be_meant(file.given.path))


def _may_be_meant(path: Path) -> bool:
    """Return whether a file is named like a log; one that is named like any text must contain numbers as well."""
    if path.suffix.lower() != ".txt" or not named_like_log(path):
        return named_like_log(path)
    with path.open("rb") as stream:
        lines = stream.read(_PROSE_BYTES).splitlines()
    return _PROSE_LINES * sum(bool(re.search(rb"\d", each)) for each in lines) >= len(lines)


def of_file(file: LogFile) -> list[Problem]:
    """Return what is wrong with a log as a file, whatever its sessions say."""
    run_json, path_facts = file.run_json, file.path_facts
    problems = [*run_json.problems, *_changed(file), *of_parts(file), *path_facts.problems]
    is_unplaced = path_facts.path is None and path_facts.layout != OWN
    if is_unplaced and not run_json.document and not run_json.problem:
        problems.append(Problem("unmatched_name", file.name, args={"layout": path_facts.layout}))
    return problems


def _changed(file: LogFile) -> list[Problem]:
    """Return a problem if the log is not the one that run.json describes."""
    stated = file.run_json.files.get(file.given.path.name)
    if stated and stated.sha256 and stated.sha256 != file_hash(file.given.path):
        return [Problem("hash_mismatch", file.name)]
    return []


def of_parts(file: LogFile) -> list[Problem]:
    """Return problems of the other files of run.json that are missing or changed, and of logs that it does not name."""
    files, folder, at = file.run_json.files, file.given.path.parent, file.name.rpartition("/")[0]
    named = {name: about.sha256 for name, about in files.items() if name != file.given.path.name}
    problems = [
        Problem("part_changed", f"{at}/{name}")
        for name, sha256 in sorted(named.items())
        if not is_as_stated(folder / name, sha256)
    ]
    logs = (each for each in file.given.parts if may_be_log(each) and each.parent != folder)
    below = (each.relative_to(folder).as_posix() for each in logs)
    unnamed = [each for each in below if each not in files] if file.run_json.document else []
    return problems + [Problem("part_unnamed", f"{at}/{name}") for name in unnamed]


def of_session(judged: JudgedSession) -> list[Problem]:
    """Return all that is wrong with one session, most of it reasons not to publish its figure."""
    name, session = judged.file.name, judged.session
    problems = [facts.contradiction(name, each) for each in judged.merged.contradictions]
    problems += [facts.difference(name, each) for each in judged.merged.differences]
    problems += _other_format(judged)
    if judged.log.cut_line and session is judged.log.sessions[-1]:
        problems.append(Problem("cut_line", name, judged.log.cut_line))
    if session.ending.line and judged.outcome == "completed" and session.ending.outcome in {"oom", "failed"}:
        problems.append(Problem("ended_badly", name, session.ending.line, {"outcome": session.ending.outcome}))
    problems += of_several_runs(name, session)
    problems += _no_figure(judged)
    if isinstance(judged.headline, Figure) and judged.headline.scope == "thread" and not judged.missing:
        reason = Reason("not_stated", {"missing": "node_speed"})
        problems.append(Problem("no_figure", name, judged.headline.first_line, {"reason": to_json(reason)}))
    return [*problems, *_missing_facts(judged)]


def is_sound(judged: JudgedSession, problems: Sequence[Problem]) -> bool:
    """Return whether a run may be published, as far as its problems and its outcome say."""
    harmless = _HARMLESS | (_OF_THROUGHPUT if "time_to_train" in judged.metrics else frozenset())
    return not {each.code for each in problems} - harmless and judged.outcome != "trial"


def of_several_runs(name: str, session: Session) -> list[Problem]:
    """Return a problem if one session cannot be one run, of a printer that does not say when it starts."""
    found = one_run(session) if observations(session) else None
    return [Problem("begun_anew", name, found[0], {"reason": to_json(found[1])})] if found else []


def _other_format(judged: JudgedSession) -> list[Problem]:
    """Return a problem if run.json expects another format."""
    expected, found = judged.file.run_json.expected_format, judged.session.format.id
    if expected and current_id(expected) != found and judged.observations:
        return [Problem("other_format", judged.file.name, args={"expected": expected, "found": found})]
    return []


def _no_figure(judged: JudgedSession) -> list[Problem]:
    """Return the problem of a missing figure, unless a fact is missing, or the run is understood without a figure."""
    if isinstance(judged.headline, Figure) or (judged.missing and judged.lacks_facts):
        return []
    found = _problem_of_reason(judged, judged.headline.reason)
    is_short_trial = found.code == "too_few" and judged.outcome == "trial"
    # A log that states the time to a target need not contain a speed.
    is_timed = found.code == "unread" and judged.knows("time_to_train")
    return [] if is_short_trial or is_timed else [found]


def _missing_facts(judged: JudgedSession) -> list[Problem]:
    """Return a problem that names the facts that a throughput needs."""
    if not judged.lacks_facts or judged.knows("latency") or judged.file.run_json.problem:
        return []
    blanks = {name: 0 if name in COUNTS else "" for name in judged.missing}
    args = {"facts": ", ".join(judged.missing), "json": json.dumps(blanks)}
    return [Problem("missing_facts", judged.file.name, args=args)]


def _problem_of_reason(judged: JudgedSession, reason: Reason) -> Problem:
    """Return the problem of a session without figure, at the line where it shows."""
    name, session, args = judged.file.name, judged.session, reason.args
    if reason.code == "withheld":
        named = {key: value for key, value in args.items() if key != "line"}
        return Problem("withheld", name, int(args["line"]), {**named, "remedy": args["witness"]})
    if reason.code == "impossible_figure":
        return Problem("impossible_figure", name, int(args["line"]), {"count": args["count"]})
    if not judged.observations and missing(reason) != "whole_step":
        return _without_records(judged)
    code = "too_few" if reason.code in window.TOO_FEW else "no_figure"
    return Problem(code, name, int(args.get("line", session.first_line)), {"reason": to_json(reason)})


def _without_records(judged: JudgedSession) -> Problem:
    """Return the problem of a session without records of progress."""
    name, session = judged.file.name, judged.session
    line = session.ending.line or session.stated.end_line or session.first_line
    if judged.outcome not in _WITHOUT_FAILURE or session.stated.message:
        return Problem("no_step", name, line, {"session": session.number, "outcome": judged.outcome})
    if trained := [each for each in session.records if len(each) and each.reading.span != "run"]:
        return Problem("no_speed", name, trained[0].lines([0])[0], {"format": session.format.title})
    return Problem("unread", name, line, _expected_and_found(session))


def _expected_and_found(session: Session) -> dict[str, Any]:
    """Return which line was expected after a start, and what was found."""
    # A record may be a document or a table: its longest line.
    shown = max(session.format.main.shape.splitlines(), key=len).strip()
    return {
        "session": session.number,
        "format": session.format.title,
        "expected": shown if len(shown) <= _LONGEST_SAMPLE else f"{shown[:_LONGEST_SAMPLE]}…",
        "lines": session.last_line - session.first_line + 1,
    }
