"""`make corpus` fetches files at fixed commits of other repositories and checks their hashes."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.corpus import File, __main__, corpus, files

LOG = b"a line of a log\n"


@pytest.fixture
def forge(tmp_path: Path) -> tuple[str, str]:
    """Make a repository whose newest commit changed the log, and return its forge's address and the older commit."""
    clone = tmp_path / "forge" / "someone" / "logs"
    clone.mkdir(parents=True)

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *identity, *arguments], cwd=clone, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("config", "uploadpack.allowFilter", "true")
    (clone / "out").mkdir()
    (clone / "out" / "train.log").write_bytes(LOG)
    git("add", ".")
    git("commit", "--quiet", "-m", "A log")
    commit = git("rev-parse", "HEAD")
    (clone / "out" / "train.log").write_bytes(b"changed\n")
    git("commit", "--quiet", "-am", "Another log")
    return (tmp_path / "forge").as_uri() + "/", commit


def file(commit: str, content: bytes = LOG) -> File:
    return File("public/a.log", "someone/logs", commit, "out/train.log", hashlib.sha256(content).hexdigest())


def test_a_file_is_fetched_at_its_commit_under_its_name(forge: tuple[str, str], tmp_path: Path) -> None:
    address, commit = forge
    wanted = file(commit[:7])
    assert __main__.fetch("someone/logs", [wanted], tmp_path / "corpus", address) == []
    assert (tmp_path / "corpus" / "public" / "a.log").read_bytes() == LOG
    assert wanted.is_at(tmp_path / "corpus")


def test_a_file_with_another_hash_is_refused_and_removed(forge: tuple[str, str], tmp_path: Path) -> None:
    address, commit = forge
    (message,) = __main__.fetch("someone/logs", [file(commit, b"other\n")], tmp_path / "corpus", address)
    assert "out/train.log" in message
    assert not (tmp_path / "corpus" / "public" / "a.log").exists()


def test_a_missing_repository_does_not_stop_the_others(
    forge: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address, commit = forge
    gone = File("public/b.log", "someone/gone", commit, "b.log", "0" * 64)
    monkeypatch.setattr(__main__, "files", lambda: [gone, file(commit)])
    assert __main__.main(tmp_path / "corpus", address) == 1
    captured = capsys.readouterr()
    assert "someone/gone" in captured.err
    assert "1 of 2 files" in captured.out
    assert __main__.main(tmp_path / "corpus", address) == 1, "what is there is not fetched again, the other is tried"


def test_the_list_names_every_file_once_at_a_commit() -> None:
    found = files()
    assert len({each.file for each in found}) == len(found) > 100
    assert all(len(each.commit) >= 7 and len(each.sha256) == 64 for each in found)


@pytest.mark.parametrize("below", ["paddle-perf", "public"])
def test_the_local_corpus_equals_the_list(below: str) -> None:
    top = corpus(below).parent
    assert [each.file for each in files() if each.file.startswith(below) and not each.is_at(top)] == []
