"""Read the logs of a command and print their problems; exit codes of all commands."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perfledger.ingest.common.errors import UsageError, one_line, printable

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs, State
    from perfledger.schema.records import Problem

UNDERSTOOD = 0
NOT_ALL = 1
NOTHING = 2
INTERRUPTED = 130

#: Names of files that the summary names at most.
_NAMES_SHOWN = 5


def check_call(inputs: Inputs) -> None:
    """Refuse a call without logs, and options that cannot be.

    Raises:
        UsageError: it names the option and the remedy.
    """
    from perfledger.ingest import build as builder

    if not (inputs.paths or inputs.stores):
        raise UsageError("no PATH given; give a folder of logs, for example raw_logs/")
    if inputs.jobs < 0:
        raise UsageError(f"--jobs {inputs.jobs}: must be a positive number")
    builder.checked(inputs)


def state_of(inputs: Inputs) -> State:
    """Read the logs.

    Raises:
        UsageError: the call is wrong, or the paths contain no logs.
    """
    from perfledger.ingest import build as builder

    check_call(inputs)
    state = builder.read(inputs)
    if not state.ledger.runs and (state.ledger.passed_over or not state.logs):
        print_lines(messages_of(state))
        raise UsageError("no logs in the given paths, so nothing was written")
    return state


def messages_of(state: State, verbose: bool = False, out: Path | None = None) -> tuple[str, ...]:
    """Return the problems of inputs, and the words that a new suite lacks.

    `out` is the folder of the file of all problems; None if the file is not written.
    """
    from perfledger.ingest.common import suites
    from perfledger.ingest.common.problems import file_of, printed
    from perfledger.ingest.new_suite import unfilled
    from perfledger.parsers.engine import registry

    file = printable(str(out / file_of(state.ledger.runs))) if out else ""
    found = printed(state.problems if verbose else wrong_of(state), file, verbose=verbose)
    return (*found, *map(printable, (*unfilled(suites.paths()), *registry.added().broken)))


def print_lines(messages: Iterable[str]) -> None:
    """Print each message to the error stream."""
    for each in messages:
        print(each, file=sys.stderr)


def status_of(state: State) -> int:
    """Return the exit code of a command that has read these logs."""
    from perfledger.parsers.engine import registry

    return NOT_ALL if wrong_of(state) or registry.added().broken else UNDERSTOOD


def wrong_of(state: State) -> list[Problem]:
    """Return the problems, without notes on facts that the log states itself."""
    from perfledger.ingest.common.problems import NOTE

    return [each for each in state.problems if each.code != NOTE]


def table_of(state: State) -> str:
    """Return a table of the runs by format."""
    from tabulate import tabulate

    names = [run.format or "not recognized" for run in state.ledger.runs]
    runs, published, records, unplaced = Counter(names), Counter[str](), Counter[str](), Counter[str]()
    for name, run in zip(names, state.ledger.runs, strict=True):
        published[name] += run.published
        records[name] += run.observations
        unplaced[name] += run.unplaced
    rows = [[name, count, records[name], published[name], unplaced[name]] for name, count in sorted(runs.items())]
    others = f"\n{passed_over_line(state.ledger.passed_over)}" if state.ledger.passed_over else ""
    ask = "\nnot placed: the log does not state all facts of the case; `ask` writes a facts.toml with blanks"
    headers = ["format", "runs", "records", "published", "not placed"]
    return tabulate(rows, headers=headers) + (ask if any(unplaced.values()) else "") + others


def passed_over_line(names: Sequence[str]) -> str:
    """Return one line on files that are not logs: their number, and their most frequent names."""
    often = Counter(name.rpartition("/")[2] for name in names).most_common(_NAMES_SHOWN)
    shown = ", ".join(f"{name} ({times})" if times > 1 else name for name, times in often)
    more = ", …" if sum(times for _, times in often) < len(names) else ""
    count = f"{len(names)} file{'' if len(names) == 1 else 's'}"
    return one_line(f"skipped: {count} that no format reads and that are not named like logs: {shown}{more}")
