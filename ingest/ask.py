"""Write a `facts.toml` with blanks for facts that logs do not state: one entry for logs that lack the same."""

from __future__ import annotations

import glob
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.read.reader_facts import FILE
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import FACTS

#: States more than one missing fact at once, since batch size per device and accumulation follow from it.
_JOB = "batch_size_of_job"
_HEAD = "# Facts that the logs do not state. Fill in what you know, and remove the # in front of it."

#: Missing facts, and the paths of the logs that lack them, below the folder of the file.
Groups = Mapping[tuple[str, ...], Sequence[str]]


def text(runs: Sequence[Run], folder: str) -> str:
    """Return the file for a folder of logs; empty if all results of its logs are placed.

    Args:
        runs: all runs.
        folder: name of the folder on the site.
    """
    by_folder: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    complete = set[str]()
    for run in runs:
        below = run.path.removeprefix(f"{folder}/")
        if run.missing:
            by_folder[below.rpartition("/")[0]][run.missing].append(below)
        else:
            complete.add(below.rpartition("/")[0])
    entries = [_entry(each) for at in sorted(by_folder) for each in _globs(at, by_folder[at], alone=at not in complete)]
    return "\n\n".join([_HEAD, *entries]) + "\n" if entries else ""


def write(target: Path, found: str) -> None:
    """Write the file, unless there is one.

    Raises:
        UsageError: there is one, or the folder cannot be written.
    """
    try:
        with target.open("x", encoding="utf-8") as stream:
            stream.write(found)
    except FileExistsError:
        raise UsageError(f"{target}: is there already; give another place by --to, or - to print it") from None
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}; give another place by --to, or - to print it") from None


def place(paths: Sequence[Path]) -> Path:
    """Return where the file of the given logs belongs.

    Raises:
        UsageError: the logs are not those of one folder.
    """
    if len(paths) != 1 or not paths[0].is_dir():
        raise UsageError("ask: give one folder of logs; its facts.toml is written there")
    return paths[0] / FILE


def _globs(at: str, groups: Groups, *, alone: bool) -> Iterator[tuple[list[str], Sequence[str], tuple[str, ...]]]:
    """Yield globs with the logs that they are of: that of a folder whose logs all lack the same, or those of logs."""
    for missing, logs in groups.items():
        whole = alone and len(groups) == 1 and bool(at)
        globs = [f"{glob.escape(at)}/*"] if whole else [glob.escape(each) for each in dict.fromkeys(logs)]
        yield globs, logs, missing


def _entry(given: tuple[list[str], Sequence[str], tuple[str, ...]]) -> str:
    globs, logs, missing = given
    first = f"# {len(logs)} log{'s' if len(logs) > 1 else ''}: {logs[0]}{', ...' if len(logs) > 1 else ''}"
    lines = [first] if len(globs) == 1 else []
    asked = [*missing, *([_JOB] if {"batch_size", "accumulation"} & {*missing} else [])]
    for each in globs:
        lines += [f"[{json.dumps(each, ensure_ascii=False)}]", *map(_blank, asked)]
    return "\n".join(lines)


def _blank(name: str) -> str:
    value = "" if FACTS[name].type in ("count", "number") else '""'
    alternative = "; states batch_size and accumulation at once" if name == _JOB else ""
    return f"# {name} = {value}".rstrip() + f"  # {FACTS[name].meaning}{alternative}"
