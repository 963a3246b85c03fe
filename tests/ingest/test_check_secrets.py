"""`python -m ingest check-secrets` lists the places of keys in files, and never prints a key."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from made_trees import Called

from perfledger.ingest import check_secrets
from tests.planted_secrets import KEYS, PLANTED, TOKEN


@pytest.fixture
def check(ingest: Callable[..., Called], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Called]:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: ingest("check-secrets", *arguments)


def test_the_message_about_a_key_has_path_line_and_rule_and_not_the_key(check: Callable[..., Called]) -> None:
    Path("logs").mkdir()
    Path("logs/a.log").write_text(f"one\ntwo {TOKEN}\nat 10.0.0.1\n", "utf-8")
    Path("logs/b.log").write_text("nothing\n", "utf-8")
    called = check("logs")
    assert called.code == 1
    assert called.out.splitlines() == [
        "logs/a.log:2: key (key-of-an-issuer)",
        "2 files checked, keys and passwords found: 1; redacted on pages as well: address 1",
    ]


def test_paths_in_messages_lose_only_keys(check: Callable[..., Called], tmp_path: Path) -> None:
    """A private folder stays in the path so that the file can be found."""
    folder = tmp_path / "home" / "zoltan" / TOKEN
    folder.mkdir(parents=True)
    (folder / "a.log").write_text(f"{TOKEN}\n", "utf-8")
    assert check(folder).out.splitlines()[0] == f"{tmp_path}/home/zoltan/<token>/a.log:1: key (key-of-an-issuer)"


def test_names_of_machines_are_listed_only_on_demand_and_are_not_a_failure(check: Callable[..., Called]) -> None:
    Path("a.log").write_text("at 10.0.0.1 in /home/zoltan/x\n", "utf-8")
    called = check("a.log", "--all")
    assert called.code == 0
    assert called.out.splitlines() == [
        "a.log:1: address (network-address)",
        "a.log:1: path (path)",
        "1 files checked, keys and passwords found: 0; redacted on pages as well: address 1, path 1",
    ]


def test_every_planted_key_is_found_and_not_printed(check: Callable[..., Called]) -> None:
    for number, each in enumerate(KEYS):
        Path(f"{number}.log").write_text(each.text, "utf-8")
    called = check(".")
    assert called.code == 1
    assert {line.partition(":")[0] for line in called.out.splitlines()[:-1]} == {f"{n}.log" for n in range(len(KEYS))}
    secrets = {secret for each in (*KEYS, *PLANTED["user"]) for secret in each.secrets}
    assert not [each for each in secrets if each in called.out]


def test_keys_in_names_of_files_are_found(check: Callable[..., Called]) -> None:
    Path(f"{TOKEN}.log").write_text("", "utf-8")
    assert check(".").out.splitlines()[0] == "<token>.log:0: key (key-of-an-issuer)"


def test_packed_and_styled_logs_are_read(check: Callable[..., Called]) -> None:
    Path("a.log.gz").write_bytes(gzip.compress(f"x\n\x1b[31m{TOKEN[:9]}\x1b[0m{TOKEN[9:]}\n".encode()))
    assert check("a.log.gz").out.splitlines()[0] == "a.log.gz:2: key (key-of-an-issuer)"


@pytest.mark.parametrize("before", [0, 4_999, 5_000, 5_001])
def test_a_key_between_two_portions_is_found_once(before: int, check: Callable[..., Called]) -> None:
    lines = ["x"] * before + ["password:", "hunter2", "y"]
    Path("a.log").write_text("\n".join(lines), "utf-8")
    assert check("a.log").out.splitlines()[:-1] == [f"a.log:{before + 2}: key (named-key)"]


def test_a_line_without_end_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch, check: Callable[..., Called]) -> None:
    monkeypatch.setattr(check_secrets, "_LONGEST", 100)
    Path("a.log").write_text(f"{'.' * 80} {TOKEN} {'.' * 300}\n{TOKEN}\n", "utf-8")
    found = check("a.log").out.splitlines()
    assert [line for line in found if "key (" in line] == [
        "a.log:1: key (key-of-an-issuer)",
        "a.log:2: key (key-of-an-issuer)",
    ]


def test_an_unreadable_file_is_a_failure(check: Callable[..., Called]) -> None:
    Path("a.log.gz").write_bytes(b"no gzip")
    os.mkfifo("pipe")
    called = check(".")
    assert called.code == 1
    assert called.out.splitlines()[0].startswith("a.log.gz: cannot be read (")
    assert check("pipe").code == 2


@pytest.mark.parametrize(("arguments", "said"), [((), "no PATH given"), (("nowhere",), "nowhere: no such file")])
def test_a_call_without_files_is_refused(arguments: tuple[str, ...], said: str, check: Callable[..., Called]) -> None:
    called = check(*arguments)
    assert called.code == 2
    assert said in called.err
