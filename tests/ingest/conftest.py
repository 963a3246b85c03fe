"""Fixtures of the engine's tests: a made-up tree of logs, and calls of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_trees import Called, make_tree

from perfledger.ingest import last_build
from perfledger.ingest.cli import main
from perfledger.ingest.site import pages

#: Pages that most tests of ingest do not need; they take half of the time of a build.
LEFT_OUT = {
    pages.compare, pages.formats, pages.frameworks, pages.glossary, pages.guides, pages.hardware, pages.history,
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def light_site() -> Iterator[None]:
    """Build sites without some pages, which tests/site tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pages, "KINDS", tuple(each for each in pages.KINDS if each not in LEFT_OUT))
        yield


@pytest.fixture
def ingest(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Called]:
    """Return a function that calls the command in this process and returns its exit code and output.

    Each call reads the logs, because tests change settings in memory, which the note of the last build cannot contain.
    """
    monkeypatch.setattr(last_build, "repeated", lambda *_: None)

    def call(*arguments: object) -> Called:
        capfd.readouterr()
        code = main([str(each) for each in arguments])
        printed = capfd.readouterr()
        assert "Traceback" not in printed.err
        return Called(code, printed.out, printed.err)

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write two cases of one model with two repeats each, and one run of another model."""
    return make_tree(tmp_path / "logs")
