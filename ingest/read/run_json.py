"""`run.json`: the whole contract with whoever ran the training. Read strictly, since it outweighs the log itself."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.common.problems import Problem
from schema.vocabulary import COUNTS as NUMBERS

NAME = "run.json"
SCHEMA = "perfledger.run/1"
_CASE = ("model", "framework", "hardware", "nodes", "devices", "batch_size", "precision")
_PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16")
_OUTCOMES = ("completed", "oom", "failed", "timeout", "stopped", "truncated", "short")
#: Documents that people write are flat; what is nested deeper is an attack on whoever walks it.
_DEEPEST = 8
#: A round is named in tables and addresses.
_LONGEST_NAME = 40
#: More bytes, and longer lists, than a runner writes.
_LARGEST, _LONGEST_LIST = 8 << 20, 1000


#: Keys that are carried on as they stand.
_TOLD = (
    "argv", "environment_variables", "recipe", "records", "warnings", "nodes", "start", "end", "wall_seconds", "notes",
    "source",
)  # fmt: skip


@dataclass(frozen=True)
class RunJson:
    """What `run.json` says of a log; empty where there is none, and a problem where it cannot be believed."""

    data: Mapping[str, Any]
    problem: Problem | None = None

    @property
    def present(self) -> bool:
        """Whether there is one that can be believed."""
        return bool(self.data)

    def told(self) -> dict[str, Any]:
        """What it says of how the run came about, in the form in which the ledger keeps it."""
        stated = {key: self.data.get(key) for key in _TOLD}
        recipe = stated["recipe"]
        return stated | {"recipe": {key: recipe[key] for key in RECIPE if recipe.get(key)} if recipe else None}

    def case(self) -> dict[str, Any]:
        """Its facts of the case, and the benchmark round that the run was made for."""
        stated = {"round": self.data["round"].strip()} if self.data.get("round") else {}
        return {**self.data.get("case", {}), **stated}


def beside(log: Path, name: str) -> RunJson:
    """The `run.json` in the log's folder, if it speaks of that log."""
    path = log.with_name(NAME)
    if not os.path.lexists(path):
        return RunJson({})
    at = name.rpartition("/")[0] + "/" + NAME
    if path.exists() and not path.is_file():
        return RunJson({}, Problem("not_a_file", at))
    try:
        data = parsed(path)
    except OSError as error:
        return RunJson({}, Problem("unreadable", at, args={"cause": error.strerror or "cannot be opened"}))
    except json.JSONDecodeError as error:
        return RunJson({}, Problem("run_json_invalid", at, error.lineno, {"cause": error.msg}))
    except (ValueError, RecursionError) as error:
        return RunJson({}, Problem("run_json_invalid", at, args={"cause": short(str(error))}))
    wrong = next(_wrong(data), "")
    if wrong:
        return RunJson({}, Problem("run_json_wrong", at, args={"cause": short(wrong)}))
    files = data.get("files") or {}
    return RunJson(data if not files or log.name in files else {})


def parsed(path: Path) -> Any:
    """A document of a runner.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is no JSON, larger than any that a runner writes, or holds numbers that are none.
        RecursionError: it is nested too deep to be read.
    """
    if (size := path.stat().st_size) > _LARGEST:
        raise ValueError(f"it has {size} bytes, and at most {_LARGEST} are read")
    return json.loads(path.read_text("utf-8"), parse_constant=_refuse, parse_float=_finite, parse_int=_counted)


def short(text: str) -> str:
    """A cause in as few characters as a sentence bears."""
    return text if len(text) <= 200 else f"{text[:200]}…"


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


def _wrong(data: Any) -> Iterator[str]:
    """What keeps the document from being believed, the first first; nothing where nothing does."""
    if not isinstance(data, dict):
        yield "the document is no object"
        return
    if depth(data) > _DEEPEST:
        yield f"the document is nested more than {_DEEPEST} deep"
        return
    if data.get("schema") != SCHEMA:
        yield f"`schema` is {data.get('schema')!r}, not {SCHEMA!r}"
    if isinstance(data.get("case"), dict):
        yield from _wrong_case(data["case"])
    else:
        yield "`case` is missing"
    if data.get("outcome") not in _OUTCOMES:
        yield f"`outcome` is {data.get('outcome')!r}, not one of {', '.join(_OUTCOMES)}"
    for key, (fits, shape) in _SHAPES.items():
        if data.get(key) is not None and not fits(data[key]):
            yield f"`{key}` is no {shape}"


def _wrong_case(case: Mapping[str, Any]) -> Iterator[str]:
    for key in _CASE:
        if key not in case:
            yield f"`case.{key}` is missing"
    for key, value in case.items():
        if key in NUMBERS and not _is_count(value):
            yield f"`case.{key}` is {value!r}, not a positive whole number"
        elif key in _CASE and key not in NUMBERS and not (_is_text(value) and value):
            yield f"`case.{key}` is {value!r}, not a text"
        elif key == "round":
            yield "`case.round` is no part of the case; `round` stands beside `case`"
        elif key != "options" and not _is_plain(value):
            yield f"`case.{key}` is no plain value"
    if case.get("precision") not in _PRECISIONS:
        yield f"`case.precision` is {case.get('precision')!r}, not one of {', '.join(_PRECISIONS)}"
    if _is_object(case.get("options", {}), _is_plain):
        yield from _wrong_options(case.get("options", {}))
    else:
        yield "`case.options` is no object of plain values"
    nodes, devices = case.get("nodes"), case.get("devices")
    if isinstance(nodes, int) and isinstance(devices, int) and nodes > 0 and devices % nodes:
        yield f"`case.devices` is {devices}, which {nodes} nodes cannot share"


def _wrong_options(options: Mapping[str, Any]) -> Iterator[str]:
    """An option may bear the name of any fact and then counts as it: `"accumulation": "8"` multiplies a text."""
    for name, value in options.items():
        if name in _CASE:
            yield f"`case.options.{name}` is no option, but stands in the case itself"
        elif name == "round":
            yield "`case.options.round` is no option; `round` stands beside `case`"
        elif name in NUMBERS and not _is_count(value):
            yield f"`case.options.{name}` is {value!r}, not a positive whole number"


def depth(data: Any) -> int:
    """Levels of a document, without walking down by calls of itself; no deeper than is needed to refuse it."""
    level, levels = [data], 0
    while level and levels <= _DEEPEST:
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, levels = [one for each in inner for one in each], levels + 1
    return levels


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return _is_text(value) and 0 < len(value.strip()) <= _LONGEST_NAME


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_object(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(of, value.values()))


def _is_amount(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _LONGEST_LIST and all(map(_is_text, value))


def _has(value: Any, shapes: Mapping[str, Callable[[Any], bool]], needed: str = "") -> bool:
    """Whether an object has each of the keys in its shape where it has it at all; `needed` it must have."""
    if not isinstance(value, dict) or (needed and needed not in value):
        return False
    return all(value.get(key) is None or fits(value[key]) for key, fits in shapes.items())


def _is_recipe(value: Any) -> bool:
    return _has(value, RECIPE, "name")


def _is_node(value: Any) -> bool:
    return _has(
        value, {"folder": _is_below, "outcome": _is_text, "exit_status": lambda status: type(status) is int}, "folder"
    )


def _is_below(name: Any) -> bool:
    """Whether a text is a path below the run's folder, or the folder itself: nothing else of the disk is looked at."""
    return _is_text(name) and name.isprintable() and (name == "." or not {"", ".", ".."} & set(name.split("/")))


def _is_files(value: Any) -> bool:
    about = {"sha256": _is_text, "bytes": _is_amount}
    return _is_object(value, lambda each: _has(each, about)) and all(map(_is_below, value))


def _is_source(value: Any) -> bool:
    return _is_object(value, _is_plain) and type(value.get("modified", False)) is bool


#: What a recipe states of itself; what it states besides is not carried on.
RECIPE: Mapping[str, Callable[[Any], bool]] = {
    "name": lambda value: _is_text(value) and bool(value),
    "sha256": _is_text,
    "case": lambda value: _is_object(value, _is_text),
    "command": _is_texts,
    "setup": _is_texts,
    "container": lambda value: _is_object(value, _is_plain),
    "launcher": _is_text,
    "data": lambda value: type(value) is bool,
}
#: What may be missing, but must be of its shape where it is not.
_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "suite": (_is_text, "text"),
    "format": (_is_text, "text"),
    "round": (_is_name, f"text of 1 to {_LONGEST_NAME} characters"),
    "start": (_is_text, "text"),
    "end": (_is_text, "text"),
    "notes": (_is_text, "text"),
    "repeat": (_is_count, "positive whole number"),
    "wall_seconds": (lambda value: type(value) in (int, float), "number"),
    "argv": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "list of texts"),
    "environment": (lambda value: isinstance(value, dict), "object"),
    "environment_variables": (lambda value: _is_object(value, _is_plain), "object of plain values"),
    "source": (_is_source, "object of plain values, `modified` of them true or false"),
    "files": (_is_files, "object of objects, each under a path below the run's folder"),
    "recipe": (
        _is_recipe,
        "object with `name`, and `case`, `command`, `setup`, `container`, `launcher` and `data` of their shapes",
    ),
    "records": (
        lambda value: _has(value, {"format": _is_text, "count": _is_amount, "at_least": _is_amount}),
        "object of `format`, `count` and `at_least`",
    ),
    "warnings": (_is_texts, f"list of at most {_LONGEST_LIST} texts"),
    "nodes": (
        lambda value: isinstance(value, list) and len(value) <= _LONGEST_LIST and all(map(_is_node, value)),
        "list of objects with `folder`",
    ),
}
