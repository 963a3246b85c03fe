"""One run told twice: logs with the same bytes, and logs with the same records. It counts once.

Both are found over all lines of the ledger, since the two logs may lie anywhere. The marks are taken off and set anew
at every call: which log is the original changes with the logs that there are.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.common.problems import Problem
from ingest.read import facts
from ingest.read.facts import Contradiction, Stated
from parsers.engine.session import Session

Line = dict[str, Any]

#: Columns that are measured; steps, epochs and losses are the same in every repeat of a seeded run.
_MEASURED = frozenset(
    {"throughput", "step_seconds", "steps_per_second", "duration", "reader_seconds", "clock", "seconds"}
)
#: So many different measured numbers do not come out alike in two runs.
_ENOUGH = 10
_CODES = frozenset({"duplicate", "same_run"})


def fingerprint(session: Session) -> str | None:
    """Hash of what a session's records and facts say, whatever else its log holds; None where that is too little.

    A log with a run.json beside it needs none: there the runner says which run it was, and what its bytes were.
    """
    import numpy as np

    digest, numbers = hashlib.sha256(session.format.id.encode()), 0
    for name, quoted in sorted(session.facts.items()):
        digest.update(f"{name}={quoted.value}\n".encode())
    for number, records in enumerate(session.records):
        for name in sorted(records.columns) if len(records) else ():
            digest.update(f"{number} {name} {len(records)}\n".encode() + records[name].tobytes())
            numbers += len(np.unique(records[name][:_ENOUGH])) if name in _MEASURED else 0
    return digest.hexdigest() if numbers >= _ENOUGH else None


def settle(lines: Sequence[Line]) -> None:
    """Mark the lines of runs that other lines tell already, and say where two names of one run disagree."""
    for line in lines:
        _stand_alone(line)
    told = [line for line in lines if line["format"]]
    twice = [*_again(told, "duplicate", "sha256")]
    twice += _again([line for line in told if not line["duplicate_of"]], "same_run", "fingerprint")
    for line, original in twice:
        _compare(line, original)


def _stand_alone(line: Line) -> None:
    """A line as if there were no other."""
    line["problems"] = [each for each in line["problems"] if each["code"] not in _CODES and "other" not in each["args"]]
    line["published"], line["duplicate_of"] = line["sound"], None


def _again(lines: Iterable[Line], code: str, key: str) -> Iterator[tuple[Line, Line]]:
    """Lines that tell a run again, marked, each with the line that counts."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line[key]:
            groups[line[key]].append(line)
    for found in groups.values():
        # A log that its name contradicts is not the one to keep, if there is another.
        original = min(found, key=lambda each: (not each["sound"], each["path"], each["session"]))
        for line in found if original["sound"] or code == "duplicate" else ():
            if (code == "duplicate" and line["path"] == original["path"]) or line is original:
                continue
            _add(line, Problem(code, line["path"], args={"original": original["path"]}))
            line["duplicate_of"] = original["path"]
            yield line, original


def _compare(line: Line, original: Line) -> None:
    """Two names of one run that disagree where the run itself says nothing: it belongs to neither."""
    if not (line["sound"] and original["sound"]):
        return
    for found in list(_contradictions(original, line)):
        for one, other in ((line, original), (original, line)):
            _add(one, facts.contradiction(one["path"], found, other=other["path"]))


def _contradictions(first: Line, second: Line) -> Iterator[Contradiction]:
    for name in sorted(first["facts"].keys() & second["facts"].keys()):
        one, other = (_placed(each, name) for each in (first, second))
        if not facts.agree(name, one, other):
            yield Contradiction(name, one, other)


def _placed(line: Line, name: str) -> Stated:
    stated = Stated(**line["facts"][name])
    return Stated(stated.value, stated.source, f"{line['path']}: {stated.where}")


def _add(line: Line, problem: Problem) -> None:
    line["problems"].append(problem.as_dict())
    line["published"] = False
