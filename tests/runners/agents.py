"""Agents for tests: the modules of the agent with changes, in folders that processes of the tests share."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from perfledger.runners import agent_link

#: The texts of an agent's modules, by name.
Modules = Mapping[str, str]
Change = Callable[[Modules], Modules]


def modules(folder: Path) -> Modules:
    """Return the texts of the modules in a folder."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def replacing(old: str, new: str) -> Change:
    """Return a change of the agent that replaces the one place where a text occurs."""

    def change(texts: Modules) -> Modules:
        assert sum(text.count(old) for text in texts.values()) == 1, old
        return {name: text.replace(old, new) for name, text in texts.items()}

    return change


def all_of(*changes: Change) -> Change:
    """Return the changes one after the other as one change."""
    return lambda texts: functools.reduce(lambda so_far, change: change(so_far), changes, texts)


def kept(texts: Modules) -> Path:
    """Return the folder of an agent, the same for all processes, so that one of them compiles it."""
    return _kept(tuple(sorted(texts.items())))


@functools.cache
def _kept(texts: Iterable[tuple[str, str]]) -> Path:
    top = Path(os.environ["PERFLEDGER_COMPILED"])
    top.mkdir(exist_ok=True)
    folder = top / hashlib.sha256(repr(texts).encode()).hexdigest()
    if not folder.exists():
        new = Path(tempfile.mkdtemp(dir=top))
        (new / "agent").mkdir()
        for name, text in texts:
            (new / "agent" / name).write_text(text, encoding="utf-8")
        try:
            new.rename(folder)
        except OSError:
            # Another process was faster.
            shutil.rmtree(new)
    return folder / "agent"


def change_agent(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Have nodes run an agent with another text in the one place where `old` occurs."""
    texts = replacing(old, new)(modules(agent_link.AGENT))
    monkeypatch.setattr(agent_link, "AGENT", kept(texts))
