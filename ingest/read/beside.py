"""Files next to logs that state environment and batch size, by a layout: `benchmark.para`, JSON, and the `config.yaml`
of Weights & Biases. Each fact is quoted with file and line.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfledger.ingest.common.documents import DocumentError, read_bytes
from perfledger.ingest.common.files import absolute
from perfledger.ingest.common.toml_file import did_you_mean
from perfledger.ingest.read import run_json
from perfledger.ingest.read.layout import Layout, beside
from perfledger.ingest.read.layout_file import BesideEntry
from perfledger.ingest.read.walk import Input
from perfledger.parsers.contract import without_folders
from perfledger.schema.records import FactValue, Origin, Plain, Problem, Stated
from perfledger.schema.vocabulary import FACTS, PRECISIONS

#: The source of a fact that a file next to the log states.
BESIDE = "beside"
#: The same of a file that yields to the log.
FOLDER = "folder"
#: Bytes of the largest file that describes a machine.
_LARGEST = 1 << 20
#: `GPU models: A100`, `GPU=8`, `GLOBAL_BATCH 256`.
_LINE = re.compile(r"\s*(?:(?P<named>[^:=]+?)\s*[:=]|(?P<word>\S+)(?=\s))\s*(?P<value>.*?)\s*")
#: A key of a `config.yaml` of Weights & Biases, and its value: `value:` is indented once below the key.
_CONFIG_KEY = re.compile(r"([\w./-]++):\s*+")
_CONFIG_VALUE = re.compile(r"(\s++)value:\s++(['\"]?+)(.*?)\2\s*+")
#: Words for an unknown value; zero of something is not a count of it.
_UNKNOWN = frozenset({"", "0", "n/a", "na", "none", "null", "unknown", "-", "could not collect"})

#: Values by key, each with its line.
Entries = Mapping[str, tuple[Any, int]]


@dataclass(frozen=True)
class PathFacts:
    """The statements about one log, apart from its run.json and itself.

    A layout states facts by the log's path (None if no template fits), and by each file next to it. `weak` names the
    facts of the path that yield to the log. `reader` are the facts that the reader of the log states, and those of
    files that yield.
    """

    layout: str
    path: Mapping[str, Plain] | None = None
    weak: frozenset[str] = frozenset()
    reader: Mapping[str, FactValue] = field(default_factory=dict)
    beside: tuple[Mapping[str, FactValue], ...] = ()
    environment: Mapping[str, Stated] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    origin: Origin | None = None


def path_facts(log: Input, layout: Layout) -> PathFacts:
    """Return what a layout says of a log, with the problems of files next to it."""
    match = layout.match(absolute(log.path))
    reader, origin, own = dict(log.stated), layout.origin(absolute(log.path)), layout.of(absolute(log.path)).name
    if match is None:
        return PathFacts(own, reader=reader, origin=origin)
    facts: list[Mapping[str, FactValue]] = []
    environment: dict[str, Stated] = {}
    problems: list[Problem] = []
    for relative, entry in match.beside.items():
        at = posixpath.normpath(posixpath.join(posixpath.dirname(log.name), relative))
        found = _entries(beside(log.path, relative), at, entry)
        if isinstance(found, Problem):
            problems += [] if entry.optional and found.code == "beside_missing" else [found]
            continue
        try:
            stated = _facts(found, entry, relative)
        except _WrongEntryError as error:
            problems.append(Problem("wrong_file", at, error.line, {"cause": run_json.short(str(error))}))
            stated = {}
        if entry.yields:
            reader = {**stated, **reader}
        else:
            facts.append(stated)
        for key, name in entry.environment.items():
            if (value := _known(found, key)) is not None:
                environment.setdefault(name, value)
    return PathFacts(own, match.facts, match.weak, reader, tuple(facts), environment, tuple(problems), origin)


class _WrongEntryError(ValueError):
    """A value that its fact cannot have, with its line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def _entries(path: Path, at: str, entry: BesideEntry) -> Entries | Problem:
    """Return the values of a file by their keys, or what is wrong with it."""
    try:
        text = read_bytes(path, _LARGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return Problem("beside_missing", at)
    except OSError as error:
        return Problem("unreadable", at, args={"cause": error.strerror or "cannot be opened"})
    except DocumentError as error:
        return Problem("wrong_file", at, args={"cause": str(error)})
    if entry.kind == "json":
        document = run_json.read(path, at)
        return document if isinstance(document, Problem) else _of_document(document, text)
    if entry.kind == "wandb_config":
        return _of_wandb_config(text)
    return _of_text(text)


def _of_text(text: str) -> dict[str, tuple[str, int]]:
    """Return the values of lines `KEY: VALUE`, `KEY=VALUE` and `KEY VALUE`; the first of a key counts."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _LINE.fullmatch(line):
            found.setdefault(match["named"] or match["word"], (match["value"], number))
    return found


def _of_wandb_config(text: str) -> dict[str, tuple[str, int]]:
    """Return the plain values of a `config.yaml`; each of its keys has a `value` and perhaps a `desc`."""
    found: dict[str, tuple[str, int]] = {}
    key = indent = ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _CONFIG_KEY.fullmatch(line):
            key, indent = match[1], ""
        elif key and (indent := indent or line[: len(line) - len(line.lstrip())]):
            match = _CONFIG_VALUE.fullmatch(line)
            if match and match[1] == indent:
                found.setdefault(key, (match[3], number))
        else:
            key = ""
    return found


def _of_document(document: Mapping[str, Any], text: str) -> dict[str, tuple[Any, int]]:
    """Return the plain values of a JSON object by their dotted keys.

    The parser keeps the order of the keys, but not their lines, so the lines are searched for in this order.
    """
    found: dict[str, tuple[Any, int]] = {}
    at = 0
    for key, name, value in _leaves(document, ""):
        match = re.compile(rf'"{re.escape(name)}"\s*:').search(text, at)
        at = match.end() if match else at
        found[key] = (value, text.count("\n", 0, at) + 1 if match else 0)
    return found


def _leaves(document: Mapping[str, Any], above: str) -> Iterator[tuple[str, str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        elif isinstance(value, list):
            yield from _leaves(_shared(value), f"{above}{name}.*.")
        else:
            yield f"{above}{name}", name, value


def _shared(items: Sequence[Any]) -> dict[str, Any]:
    """Return the plain values that all objects of a list have alike."""
    if not items or not all(isinstance(each, dict) for each in items):
        return {}
    alike = {name: value for name, value in items[0].items() if all(each.get(name) == value for each in items)}
    return {name: value for name, value in alike.items() if not isinstance(value, dict | list)}


def _known(entries: Entries, key: str) -> Any:
    """Return the value of a key; None if the file lacks it or states that it is unknown."""
    value, _ = entries.get(key, (None, 0))
    return None if value is None or str(value).strip().lower() in _UNKNOWN else value


def _facts(entries: Entries, entry: BesideEntry, relative: str) -> dict[str, FactValue]:
    """Return the facts that a file states.

    Raises:
        _WrongEntryError: a value is invalid for its fact, or is missing from the words of its key.
    """
    found: dict[str, FactValue] = {}
    for key in (*entry.facts, *(each for each in entry.words if each not in entry.facts)):
        if (value := _known(entries, key)) is None:
            continue
        line = entries[key][1]
        words = entry.words.get(key, {})
        stated = words[str(value)] if str(value) in words else _stated(entry, key, value, line)
        source = FOLDER if entry.yields else BESIDE
        found |= {name: FactValue(each, source, f"{relative}:{line}") for name, each in stated.items()}
    return found


def _stated(entry: BesideEntry, key: str, value: Any, line: int) -> Mapping[str, Any]:
    name = entry.facts.get(key)
    if name is None:
        hint = did_you_mean(str(value), entry.words[key])
        raise _WrongEntryError(line, f"`{key}` is {value!r}, for which the layout has no word{hint}")
    if name == "framework":
        return _versioned(str(value))
    if name == "model":
        return {name: model} if (model := without_folders(str(value))) else {}
    return {name: _typed(name, key, value, line)}


#: `NVIDIA NeMo Framework Release 25.09`, `PyTorch 2.8.0.dev20251001+rocm7.0.0, ROCm 7.0.0`.
_VERSIONED = re.compile(r"(.*?[^\W\d])[ ,]+(?:Release |[Vv]ersion |v)?(\d[\w.+-]*+)(?:[ ,;(].*)?")


def _versioned(value: str) -> Mapping[str, str]:
    """Return a framework's name, and its version if that follows."""
    found = _VERSIONED.fullmatch(value.strip())
    return {"framework": found[1], "framework_version": found[2]} if found else {"framework": value}


def _typed(name: str, key: str, value: Any, line: int) -> Any:
    """Return a value as its fact has it."""
    kind = FACTS[name].type
    try:
        if kind == "count":
            return _positive(value)
        if kind == "number":
            return value if isinstance(value, int | float) else float(value)
    except ValueError:
        expected = "a positive whole number" if kind == "count" else "a number"
        raise _WrongEntryError(line, f"`{key}` is {value!r}, not {expected}") from None
    if kind == "precision" and value not in PRECISIONS:
        hint = did_you_mean(str(value), PRECISIONS)
        raise _WrongEntryError(line, f"`{key}` is {value!r}, which is no precision{hint}")
    return value if isinstance(value, bool) else str(value)


def _positive(value: Any) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,9}", str(value).strip()) or int(value) < 1:
        raise ValueError(value)
    return int(value)
