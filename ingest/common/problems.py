"""A problem: one sentence about an input, `path:line: what, and why`; its words live in `words.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.common.words import Words


@dataclass(frozen=True)
class Problem:
    """`code` is a key of the words' table `problem`; `line` counts from 1, 0 where no line is meant."""

    code: str
    path: str
    line: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The form in which the ledger keeps it."""
        return {"code": self.code, "path": self.path, "line": self.line, "args": dict(self.args)}


def of(entry: Mapping[str, Any]) -> Problem:
    """A problem from the ledger's form."""
    return Problem(entry["code"], entry["path"], entry["line"], entry["args"])


def said(problem: Problem) -> str:
    """`path:line: what, and why`, one line in English; control characters of names are shown, not obeyed."""
    where = f"{problem.path}:{problem.line}" if problem.line else problem.path
    args = {name: _shown(each) for name, each in problem.args.items()}
    return printable(f"{where}: {_words().text('en', f'problem.{problem.code}', **args)}").replace("\n", "\\n")


def _shown(argument: Any) -> Any:
    """An argument of a problem; a reason, which is a code with arguments of its own, in its words."""
    if isinstance(argument, Mapping) and "code" in argument:
        return _words().text("en", f"reason.{argument['code']}", **argument.get("args", {}))
    return argument


@cache
def _words() -> Words:
    from ingest.common.words import load

    return load()


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor."""
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)
