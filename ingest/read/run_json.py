"""`run.json`: the whole contract with whoever ran the training. Read strictly, since it outweighs the log itself."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from perfledger.ingest.common.documents import read_text
from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.toml_file import record
from perfledger.ingest.read.layout_file import check_facts
from perfledger.schema.records import Plain, Problem, Stated, WrongValueError, names_of
from perfledger.schema.run_json import RunJson, StatedFile, told_apart
from perfledger.schema.vocabulary import CASE, FACTS

NAME = "run.json"
SCHEMA = "perfledger.run/1"
#: Documents that people write are flat; what is nested deeper is an attack on whoever walks it.
_DEEPEST = 8
#: Objects whose keys are the user's own, so that a null in them is a value and not a missing one.
_OPEN = frozenset({"case", "environment", "environment_variables", "source"})


@dataclass(frozen=True)
class RunJsonFile:
    """The outcome of reading a run.json next to a log: a valid document, a problem with it, or neither.

    `facts` are those that its case states beyond the ones that most cases have. `ignored` names entries that are not
    used.
    """

    document: RunJson | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)
    problem: Problem | None = None
    ignored: Problem | None = None

    @property
    def problems(self) -> list[Problem]:
        """All problems with it, whether it is used or not."""
        return [each for each in (self.problem, self.ignored) if each]

    @property
    def tells_the_run(self) -> bool:
        """Whether it says which run it was, and not only what is known of its case."""
        return bool(self.document and (self.document.repeat or self.document.start))

    @property
    def files(self) -> Mapping[str, StatedFile]:
        """The files that it names, by their path below the folder of the run."""
        return self.document.files if self.document else {}

    @property
    def expected_format(self) -> str | None:
        """The format that the document or its recipe states for the log."""
        if self.document is None:
            return None
        return self.document.format or (self.document.records.format if self.document.records else None)

    def case(self) -> dict[str, Stated]:
        """Return the facts of the case, its options, and the benchmark round that the run was made for."""
        if self.document is None:
            return {}
        case = self.document.case
        stated: dict[str, Stated] = {name: value for name in CASE if (value := getattr(case, name)) is not UNSET}
        stated |= {**self.facts, "options": case.options}
        return stated | ({"round": self.document.round.strip()} if self.document.round else {})


def of_log(log: Path, name: str) -> RunJsonFile:
    """Return the `run.json` in the log's folder, if it speaks of that log."""
    path = log.with_name(NAME)
    if not os.path.lexists(path):
        return RunJsonFile()
    at = name.rpartition("/")[0] + "/" + NAME
    found = guarded(at, path, lambda: _of_log(path, log.name, at))
    return RunJsonFile(problem=found) if isinstance(found, Problem) else found


def _of_log(path: Path, log: str, at: str) -> RunJsonFile:
    if path.exists() and not path.is_file():
        return RunJsonFile(problem=Problem("not_a_file", at))
    document = read(path, at)
    if isinstance(document, Problem):
        return RunJsonFile(problem=document)
    document = _completed(document)
    try:
        found, facts = record(_without_nulls(document), RunJson), _further_facts(document)
    except ValueError as error:
        return RunJsonFile(problem=Problem("wrong_file", at, args={"cause": short(str(error))}))
    if found.files and log not in found.files:
        return RunJsonFile()
    found, times = _with_times(_with_disturbances(found))
    ignored = [*_unknown(document), *times]
    problem = Problem("run_json_ignored", at, args={"entries": short(", ".join(ignored))}) if ignored else None
    return RunJsonFile(found, facts, None, problem)


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    """Complete a document that a person wrote: `{"devices": 1}` or `{"case": {"devices": 1}}`."""
    if "schema" in document or not document:
        return document
    if document.keys() <= {*FACTS, "options"}:
        document = {"case": document}
    of_ours = isinstance(document.get("case"), dict) and document.keys() <= {*names_of(RunJson)}
    return {"schema": SCHEMA, **document} if of_ours else document


def _with_disturbances(found: RunJson) -> RunJson:
    """Return a document with its disturbances apart from its other warnings."""
    warnings, disturbances = told_apart(found.warnings or (), found.disturbances)
    return msgspec.structs.replace(found, warnings=warnings or None, disturbances=disturbances or None)


def _with_times(found: RunJson) -> tuple[RunJson, list[str]]:
    """Return a document without invalid times, which would silently leave its run without a day, and these times."""
    stated = {"start": found.start, "end": found.end}
    wrong = {key: value for key, value in stated.items() if value is not None and not _is_time(value)}
    named = [f"`{key}` is {value!r}" for key, value in wrong.items()]
    return msgspec.structs.replace(found, **dict.fromkeys(wrong)), named


def _is_time(stated: str) -> bool:
    try:
        datetime.fromisoformat(stated)
    except ValueError:
        return False
    return True


def read(path: Path, at: str) -> dict[str, Any] | Problem:
    """Read a JSON object that a runner wrote.

    Args:
        path: the file.
        at: its name in a problem.
    """
    try:
        document = _parsed(path)
    except OSError as error:
        return Problem("unreadable", at, args={"cause": error.strerror or "cannot be opened"})
    except json.JSONDecodeError as error:
        return Problem("wrong_file", at, error.lineno, {"cause": error.msg})
    except RecursionError:
        return Problem("wrong_file", at, args={"cause": "it is nested too deep"})
    except ValueError as error:
        return Problem("wrong_file", at, args={"cause": short(str(error))})
    if not isinstance(document, dict):
        return Problem("wrong_file", at, args={"cause": "the document is no object"})
    if _depth(document) > _DEEPEST:
        return Problem("wrong_file", at, args={"cause": f"the document is nested more than {_DEEPEST} deep"})
    return document


def short(text: str) -> str:
    """Return a cause shortened for a sentence."""
    return text if len(text) <= 200 else f"{text[:200]}…"


def _parsed(path: Path) -> Any:
    """Parse a document.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is not a document, not JSON, or contains invalid numbers.
        RecursionError: it is nested too deep to be read.
    """
    return json.loads(read_text(path), parse_constant=_refuse, parse_float=_finite, parse_int=_counted)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _finite(printed: str) -> float:
    if not math.isfinite(value := float(printed)):
        raise ValueError(f"{printed} is larger than any number")
    return value


def _counted(printed: str) -> int:
    if len(printed) > 16:
        raise ValueError(f"a number of {len(printed)} digits is larger than any count")
    return int(printed)


def _depth(document: Any) -> int:
    """Return the levels of a document, as far as is needed to refuse it.

    It does not call itself: a hostile document would end the interpreter's stack.
    """
    level, levels = [document], 0
    while level and levels <= _DEEPEST:
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, levels = [one for each in inner for one in each], levels + 1
    return levels


def _without_nulls(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without keys whose value is null; they mean the same as missing ones."""
    kept = {key: value for key, value in document.items() if value is not None}
    return {key: value if key in _OPEN else _nested_without_nulls(value) for key, value in kept.items()}


def _nested_without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nested_without_nulls(each) for key, each in value.items() if each is not None}
    return [_nested_without_nulls(each) for each in value] if isinstance(value, list) else value


def _further_facts(document: Mapping[str, Any]) -> dict[str, Plain]:
    """Return the facts of the case that the vocabulary knows and `Case` has no field for.

    Raises:
        ValueError: one has a wrong value, or belongs elsewhere.
    """
    case = document.get("case") or {}
    facts = {name: value for name, value in case.items() if name in FACTS and name not in CASE}
    if "round" in facts:
        raise ValueError("case.round: is not part of the case; put `round` next to `case`")
    try:
        check_facts((), facts)
    except WrongValueError as error:
        raise ValueError(f"case.{error.keys[0]}: {error}") from None
    return facts


def _unknown(document: Mapping[str, Any]) -> list[str]:
    """Return the keys of the document and of its case that are unknown, such as misspelt ones."""
    places = (("", document, names_of(RunJson)), ("case.", document.get("case") or {}, (*FACTS, "options")))
    return [f"`{place}{key}`{_meant(key, known)}" for place, keys, known in places for key in keys if key not in known]


def _meant(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""
