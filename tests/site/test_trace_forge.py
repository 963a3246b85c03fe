"""Links to lines of logs on a forge: their addresses, and which logs stay on a page of ours."""

from __future__ import annotations

import hashlib
import html
import json
import logging
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from perfledger.ingest.site import forge
from tests.hooks import hook

BLOCKS = hook("blocks")
PAGE = "logs/one-1.html"


class Files(list[Any]):
    """The part of MkDocs' files that the hook uses."""

    src_uris: ClassVar[dict[str, Any]] = {}


class Shown:
    """The file of a page of a log."""

    def url_relative_to(self, _: Any) -> str:
        return "../../logs/one-1.html"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder inside a checkout, with one log that is committed."""
    folder = tmp_path / "top" / "bench marks"
    (folder / "raw_logs").mkdir(parents=True)
    (folder / "raw_logs" / "a b.log").write_bytes(b"one\r\ntwo\n")
    committed(tmp_path / "top")
    return folder


def committed(top: Path) -> str:
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "logs"]):
        subprocess.run(["git", *arguments], cwd=top, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=top, check=True, capture_output=True, text=True).stdout[:40]


def linked(folder: Path, repository: str | None, kind: str | None = None, name: str = "a b.log") -> tuple[str, bool]:
    """Return the text of a page with links to a log, and whether the log's own page stays."""
    path = folder / "raw_logs" / name
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "0" * 64
    stated = f'<head><meta name="log" content="{html.escape(json.dumps([f"raw_logs/{name}", sha256]))}"></head>'
    files = Files([SimpleNamespace(src_uri=PAGE, content_string=stated)])
    config = {
        "repo_url": repository,
        "extra": {"forge": kind} if kind else {},
        "config_file_path": str(folder / "mkdocs.yml"),
    }
    left = BLOCKS.on_files(files, config)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="en/runs/one-1.md"), meta={"title": "One"})
    text = '[3](../../logs/one-1.html#L3-L5) <a href="../../logs/one-1.html#L7">7</a> [log](../../logs/one-1.html)'
    known = [Shown(), None]
    files.get_file_from_path = lambda path: known[path != PAGE]  # type: ignore[attr-defined]
    return BLOCKS.on_page_markdown(text, page, config, files), bool(left)


@pytest.mark.parametrize(
    ("repository", "kind", "file", "lines", "line"),
    [
        ("https://github.com/o/r", None, "https://github.com/o/r/blob/{}/{}", "#L3-L5", "#L7"),
        ("https://github.com/o/r.git", None, "https://github.com/o/r/blob/{}/{}", "#L3-L5", "#L7"),
        ("https://gitlab.com/g/s/r/", None, "https://gitlab.com/g/s/r/-/blob/{}/{}", "#L3-5", "#L7"),
        ("https://codeberg.org/o/r", None, "https://codeberg.org/o/r/src/commit/{}/{}", "#L3-L5", "#L7"),
        ("https://gitee.com/o/r", None, "https://gitee.com/o/r/blob/{}/{}", "#L3-L5", "#L7"),
        ("https://bitbucket.org/o/r", None, "https://bitbucket.org/o/r/src/{}/{}", "#lines-3:5", "#lines-7"),
        ("https://code.example.org/o/r", "gitea", "https://code.example.org/o/r/src/commit/{}/{}", "#L3-L5", "#L7"),
        ("https://code.example.org/o/r", "gitlab", "https://code.example.org/o/r/-/blob/{}/{}", "#L3-5", "#L7"),
    ],
)
def test_lines_have_the_address_of_the_forge(
    checkout: Path, repository: str, kind: str | None, file: str, lines: str, line: str
) -> None:
    commit = forge.git(checkout, "rev-parse", "HEAD").strip()
    there = file.format(commit, "bench%20marks/raw_logs/a%20b.log")
    text, stays = linked(checkout, repository, kind)
    assert text == f'[3]({there}{lines}) <a href="{there}{line}">7</a> [log]({there})'
    assert not stays


@pytest.mark.parametrize("repository", [None, "", "https://code.example.org/o/r", "javascript:alert(1)//github.com/"])
def test_without_a_forge_that_is_known_the_page_stays(checkout: Path, repository: str | None) -> None:
    text, stays = linked(checkout, repository)
    assert "(../../logs/one-1.html#L3-L5)" in text
    assert stays


def test_a_forge_that_is_not_known_by_its_name_is_said(checkout: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert linked(checkout, "https://code.example.org/o/r", "sourcehut")[1]
    assert "extra.forge" in caplog.text
    assert "bitbucket" in caplog.text


@pytest.mark.parametrize(
    "content", [b"a bar\rand on\n", b"nul\0\n", b"x" * 1_000_001], ids=["carriage return", "NUL", "large"]
)
def test_a_log_that_forges_show_otherwise_stays_on_our_page(checkout: Path, content: bytes) -> None:
    (checkout / "raw_logs" / "odd.log").write_bytes(content)
    committed(checkout.parent)
    assert linked(checkout, "https://github.com/o/r", name="odd.log")[1]


@pytest.mark.parametrize("change", ["edited", "not committed", "gone", "no checkout"])
def test_a_log_that_the_forge_has_not_got_stays_on_our_page(checkout: Path, change: str) -> None:
    name = "a b.log"
    if change == "edited":
        (checkout / "raw_logs" / name).write_bytes(b"another\n")
    elif change == "not committed":
        name = "new.log"
        (checkout / "raw_logs" / name).write_bytes(b"one\n")
    elif change == "gone":
        (checkout / "raw_logs" / name).unlink()
    else:
        (checkout.parent / ".git").rename(checkout.parent / "git")
    assert linked(checkout, "https://github.com/o/r", name=name)[1]
