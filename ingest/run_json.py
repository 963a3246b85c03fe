"""`run.json`: the whole contract with whoever ran the training. Read strictly, since it outweighs the log itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.problems import Problem

NAME = "run.json"
SCHEMA = "perfledger.run/1"
_CASE: Mapping[str, type] = {
    "model": str, "framework": str, "hardware": str, "nodes": int, "devices": int, "batch_size": int, "precision": str,
}  # fmt: skip
_PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16")
_OUTCOMES = ("completed", "oom", "failed", "timeout", "stopped", "truncated", "short")


@dataclass(frozen=True)
class RunJson:
    """What `run.json` says of a log; empty where there is none, and a problem where it cannot be believed."""

    data: Mapping[str, Any]
    problem: Problem | None = None

    @property
    def present(self) -> bool:
        """Whether there is one that can be believed."""
        return bool(self.data)

    def case(self) -> dict[str, Any]:
        """Its facts of the case."""
        return dict(self.data.get("case", {}))


def beside(log: Path, name: str) -> RunJson:
    """The `run.json` in the log's folder, if it speaks of that log."""
    path = log.with_name(NAME)
    if not path.is_file():
        return RunJson({})
    at = name.rpartition("/")[0] + "/" + NAME
    try:
        data = json.loads(path.read_text("utf-8"), parse_constant=_refuse)
    except OSError as error:
        return RunJson({}, Problem("unreadable", at, args={"cause": error.strerror or "cannot be opened"}))
    except json.JSONDecodeError as error:
        return RunJson({}, Problem("run_json_invalid", at, error.lineno, {"cause": error.msg}))
    except (ValueError, RecursionError) as error:
        return RunJson({}, Problem("run_json_invalid", at, args={"cause": str(error)[:200]}))
    wrong = _wrong(data)
    if wrong:
        return RunJson({}, Problem("run_json_wrong", at, args={"cause": wrong}))
    files = data.get("files", {})
    return RunJson(data if not files or log.name in files else {})


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _wrong(data: object) -> str:
    """What keeps the document from being believed; empty where nothing does."""
    if not isinstance(data, dict):
        return "the document is no object"
    if data.get("schema") != SCHEMA:
        return f"`schema` is {data.get('schema')!r}, not {SCHEMA!r}"
    case = data.get("case")
    if not isinstance(case, dict):
        return "`case` is missing"
    for key, kind in _CASE.items():
        if key not in case:
            return f"`case.{key}` is missing"
        if not isinstance(case[key], kind) or isinstance(case[key], bool) or (kind is int and case[key] < 1):
            return f"`case.{key}` is {case[key]!r}, not {'a positive whole number' if kind is int else 'a text'}"
    if case["precision"] not in _PRECISIONS:
        return f"`case.precision` is {case['precision']!r}, not one of {', '.join(_PRECISIONS)}"
    if data.get("outcome") not in _OUTCOMES:
        return f"`outcome` is {data.get('outcome')!r}, not one of {', '.join(_OUTCOMES)}"
    options = case.get("options", {})
    if not isinstance(options, dict) or any(isinstance(each, dict | list) for each in options.values()):
        return "`case.options` is no object of plain values"
    for key, shape in (("environment", dict), ("argv", list), ("files", dict), ("source", dict)):
        if not isinstance(data.get(key, shape()), shape):
            return f"`{key}` is no {'object' if shape is dict else 'list'}"
    if not all(isinstance(each, dict) for each in data.get("files", {}).values()):
        return "`files` is no object of objects"
    return ""
