"""Problems in the terminal: one sentence about an input, `path:line: what, and why`; the words are in `words.toml`.

If there are many problems, those of one kind below one folder are one group.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfledger.ingest.common.errors import one_line
from perfledger.ingest.common.files import MANY_LOGS
from perfledger.schema.records import Problem, Reason, Run

if TYPE_CHECKING:
    from perfledger.ingest.common.words import Words

#: A problem that only notes which of two values is used.
NOTE = "fact_differs"
#: The file of all problems of a site of few logs, below the folder of the pages.
LINES = "data/problems.jsonl"
#: The file of all problems of a site of many logs.
TABLE = "data/problems.parquet"
#: Problems that are printed one by one, at most.
FEW = 20
#: Groups of problems that are printed if there are more problems.
GROUPS_PRINTED = 10
#: Problems that may be bugs of ours: their groups are printed first, since they are small.
OURS = frozenset({"reader_died", "fault"})


@dataclass(frozen=True)
class ProblemGroup:
    """Problems of one kind below one folder, in their order."""

    code: str
    folder: str
    problems: tuple[Problem, ...]


def file_of(runs: Iterable[Run]) -> str:
    """Return the file of all problems of a site of these runs; it has the form of the ledger."""
    return LINES if len({run.path for run in runs}) <= MANY_LOGS else TABLE


def grouped(problems: Iterable[Problem]) -> list[ProblemGroup]:
    """Return problems by kind and folder, the largest group first.

    A kind in one folder is one group. A kind in several folders has a group for each subfolder of their common folder.
    """
    kinds: dict[str, list[Problem]] = defaultdict(list)
    for each in problems:
        kinds[each.code].append(each)
    found = [group for code, mine in kinds.items() for group in _by_folder(code, mine)]
    return sorted(found, key=lambda each: (-len(each.problems), each.code, each.folder))


def _by_folder(code: str, problems: Sequence[Problem]) -> Iterator[ProblemGroup]:
    folders = [posixpath.dirname(each.path).split("/") for each in problems]
    # Sorted, the first and the last differ earliest.
    shared = len(posixpath.commonprefix([min(folders), max(folders)]))
    below: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for folder, each in zip(folders, problems, strict=True):
        below[tuple(folder[: shared + 1])].append(each)
    for names, mine in below.items():
        yield ProblemGroup(code, "/".join(names), tuple(mine))


def printed(problems: Sequence[Problem], where: str, *, verbose: bool) -> list[str]:
    """Return the lines to print: all problems if they are few, else our faults and the largest groups.

    Args:
        problems: all problems.
        where: the file that contains all problems; empty if it is not written.
        verbose: whether to print all problems.
    """
    if verbose or len(problems) <= FEW:
        return [message(each) for each in problems]
    groups = sorted(grouped(problems), key=lambda each: each.code not in OURS)
    lines = [_line(each) for each in groups[:GROUPS_PRINTED]]
    shown = f"{min(len(groups), GROUPS_PRINTED)} of {len(groups)} groups by kind and folder"
    file = f", and {where} contains them" if where else ""
    return [*lines, f"ingest: {len(problems):,} problems, {shown} above; --verbose prints every problem{file}"]


def _line(group: ProblemGroup) -> str:
    first = message(group.problems[0])
    if len(group.problems) == 1:
        return first
    return one_line(f"{group.folder or '.'}/: {group.code}, {len(group.problems):,} times, such as ") + first


def message(problem: Problem) -> str:
    """Return `path:line: what, and why`, one line in English; control characters of names are escaped."""
    where = f"{problem.path}:{problem.line}" if problem.line else problem.path
    args = {name: _worded(name, each) for name, each in problem.args.items()}
    return one_line(f"{where}: {_words().text('en', f'problem.{problem.code}', **args)}")


def _worded(name: str, argument: Any) -> Any:
    """Return an argument for the sentence: words for a reason and a remedy; names of facts stay as files have them."""
    from perfledger.ingest.common.words import coded, word_for

    if isinstance(argument, dict) and "code" in argument:
        return _words().say("en", coded("reason", Reason(argument["code"], argument.get("args", {}))))
    return _words().say("en", word_for(name, argument)) if name == "remedy" else argument


def _words() -> Words:
    from perfledger.ingest.common.words import own

    return own()
