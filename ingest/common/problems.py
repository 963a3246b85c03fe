"""Problems in the terminal: one sentence about an input, `path:line: what, and why`; the words are in `words.toml`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ingest.common.errors import printable
from schema.records import Problem

if TYPE_CHECKING:
    from ingest.common.words import Words


def said(problem: Problem) -> str:
    """`path:line: what, and why`, one line in English; control characters of names are shown, not obeyed."""
    where = f"{problem.path}:{problem.line}" if problem.line else problem.path
    args = {name: _shown(each) for name, each in problem.args.items()}
    return printable(f"{where}: {_words().text('en', f'problem.{problem.code}', **args)}").replace("\n", "\\n")


def _shown(argument: Any) -> Any:
    """An argument of a problem; a reason, which is a code with arguments of its own, in its words."""
    if isinstance(argument, dict) and "code" in argument:
        return _words().text("en", f"reason.{argument['code']}", **argument.get("args", {}))
    return argument


@cache
def _words() -> Words:
    from ingest.common.words import load

    return load()
