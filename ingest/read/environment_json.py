"""`environment.json` beside a log: what of a machine is too long for a fact of `run.json`; shown, not reckoned with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ingest.common.files import is_as_stated
from ingest.common.problems import Problem
from ingest.read.run_json import RunJson, depth, parsed, short
from ingest.read.walk import Input

NAME, SCHEMA = "environment.json", "perfledger.environment/1"
#: Deeper than a runner writes; and how much of what it says is shown.
_DEEPEST, _ROWS, _KEYS, _WIDEST, _LONGEST = 6, 2000, 40, 300, 15_000


def beside(log: Input, run_json: RunJson) -> tuple[dict[str, Any] | None, list[Problem]]:
    """What the document that run.json names says of topology, InfiniBand, GPUs and installed packages.

    Returns:
        The known parts of it, None where there is none to be believed; and the problem that keeps it from being so.
        One that changed since is said to have, elsewhere, and is not read.
    """
    path, at = log.path.with_name(NAME), f"{log.name.rpartition('/')[0]}/{NAME}"
    stated = (run_json.data.get("files") or {}).get(NAME)
    if stated is None or not is_as_stated(path, stated.get("sha256")):
        return None, []
    try:
        data = parsed(path)
    except OSError as error:
        return None, [Problem("unreadable", at, args={"cause": error.strerror or "cannot be opened"})]
    except json.JSONDecodeError as error:
        return None, [Problem("environment_wrong", at, error.lineno, {"cause": error.msg})]
    except (ValueError, RecursionError) as error:
        return None, [Problem("environment_wrong", at, args={"cause": short(str(error))})]
    if wrong := _wrong(data):
        return None, [Problem("environment_wrong", at, args={"cause": short(wrong)})]
    return {key: data[key] for key in _SHAPES if data.get(key)} or None, []


def _wrong(data: Any) -> str:
    """What keeps the document from being believed; nothing where nothing does."""
    if not isinstance(data, dict):
        return "the document is no object"
    if depth(data) > _DEEPEST:
        return f"the document is nested more than {_DEEPEST} deep"
    if data.get("schema") != SCHEMA:
        return f"`schema` is {data.get('schema')!r}, not {SCHEMA!r}"
    wrong = (f"`{key}` is no {what}" for key, (fits, what) in _SHAPES.items() if data.get(key) and not fits(data[key]))
    return next(wrong, "")


def _is_rows(value: Any) -> bool:
    """Lines that a page can bear."""
    return isinstance(value, list) and len(value) <= _ROWS and all(_is_line(each) for each in value)


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _WIDEST


def _is_device(value: Any) -> bool:
    known = isinstance(value, dict) and len(value) <= _KEYS and all(map(_is_line, value))
    return known and all(_is_line(each) or type(each) in (int, float) for each in value.values())


#: The parts that are shown, with what each has to be.
_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "gpus": (
        lambda value: isinstance(value, list) and len(value) <= _ROWS and all(map(_is_device, value)),
        "list of objects of texts and numbers",
    ),
    "topology": (lambda value: isinstance(value, str) and len(value) <= _LONGEST, f"text of at most {_LONGEST} signs"),
    "infiniband": (_is_rows, f"list of at most {_ROWS} short texts"),
    "packages_installed": (_is_rows, f"list of at most {_ROWS} short texts"),
}
