"""Caches, ledgers and folders that an attacker prepared: no file outside our folders is written or removed."""

from __future__ import annotations

import ast
import itertools
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from perfledger.ingest.common.cache import _TABLE, Cache, _checksum, packed
from perfledger.ingest.common.files import refuse_ways_out
from perfledger.ingest.record.folders import LocalFolder
from perfledger.ingest.record.kept import Kept, Slimmer
from perfledger.ingest.site import builder

ROOT = Path(__file__).resolve().parents[2]
PAGE = 4096


def prepared(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {_TABLE}")


def names_a_file_to_delete(path: Path, victim: Path) -> None:
    """Write a journal for the cache that names the victim as the journal of several files, which SQLite removes."""
    prepared(path)
    name, magic = str(victim).encode(), bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">IIIII", 0, 1, path.stat().st_size // PAGE, 512, PAGE)
    tail = struct.pack(">I", (1 << 30) // PAGE + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    path.with_name(f"{path.name}-journal").write_bytes(head.ljust(512, b"\0") + tail)


def is_a_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def has_a_linked_file(end: str) -> Callable[[Path, Path], None]:
    def prepare(path: Path, victim: Path) -> None:
        prepared(path)
        if end != "-journal":
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("PRAGMA journal_mode = WAL")
        path.with_name(path.name + end).symlink_to(victim)

    return prepare


HARM = {
    "journal": names_a_file_to_delete,
    "link": is_a_link,
    **{f"link {end}": has_a_linked_file(end) for end in ("-journal", "-wal", "-shm")},
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("content", ["text", "database"])
def test_a_prepared_cache_harms_no_other_file(harm: str, content: str, read_only: bool, tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "there" / "cache.sqlite"
    path.parent.mkdir()
    if content == "database":
        with closing(sqlite3.connect(victim)) as connection, connection:
            connection.execute("CREATE TABLE precious (text TEXT)")
    else:
        victim.write_text("precious\n", "utf-8")
    HARM[harm](path, victim)
    before = victim.read_bytes()
    with Cache(path, read_only=read_only) as cache:
        cache.put("a", b"one")
        assert cache.get("a") == b"one"
    assert victim.read_bytes() == before
    with Cache(path) as cache:
        cache.put("a", b"one")
    with Cache(path) as cache:
        assert cache.get("a") == b"one"
    assert victim.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE other (text TEXT)",
        "DROP TABLE entries; CREATE VIEW entries AS SELECT 'a' AS key, 1 AS value, 2 AS checksum, 3 AS made",
    ],
)
def test_a_cache_with_other_tables_is_replaced(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    prepared(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(statement)
    for _ in range(2):
        with Cache(path) as cache:
            cache.put("a", b"one")
    with Cache(path) as cache:
        assert cache.get("a") == b"one"


@pytest.mark.parametrize("value", [None, 7, 1.5, "text"])
def test_a_value_that_is_not_bytes_counts_as_missing(value: object, tmp_path: Path) -> None:
    prepared(tmp_path / "c")
    with closing(sqlite3.connect(tmp_path / "c")) as connection, connection:
        connection.execute("INSERT INTO entries VALUES ('a', ?, ?, 1)", (value, _checksum("a", b"")))
    with Cache(tmp_path / "c") as cache:
        assert cache.get("a") is None


def test_a_value_with_a_changed_key_counts_as_missing(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put("a", b"one")
    with closing(sqlite3.connect(tmp_path / "c")) as connection, connection:
        connection.execute("UPDATE entries SET key = 'b'")
    with Cache(tmp_path / "c") as cache:
        assert cache.get("b") is None


def ingested(folder: Path) -> tuple[int, str, dict[str, bytes]]:
    """Read the logs of a folder into its `docs`, and return exit code, messages and all files."""
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "build", "raw_logs", "--out", "docs"],
        cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    docs = folder / "docs"
    return done.returncode, done.stderr, {str(each.relative_to(docs)): each.read_bytes() for each in _files(docs)}


def _files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a log, its telemetry, and its site."""
    folder = tmp_path_factory.mktemp("project")
    run = folder / "raw_logs" / "case" / "1"
    run.mkdir(parents=True)
    shutil.copy(ROOT / "tests/golden/ngc.pytorch_resnet50/train.log", run / "train.log")
    (run / "telemetry.csv").write_text(
        "timestamp, index, power.draw [W]\n2026/01/01 00:00:00.000, 0, 10.00 W\n", "utf-8"
    )
    status, said, files = ingested(folder)
    assert status in (0, 1), said
    assert "en/index.md" in files
    return folder


@pytest.fixture
def mine(project: Path, tmp_path: Path) -> Path:
    return shutil.copytree(project, tmp_path / "project", symlinks=True)


#: An attacker who can write checksums can write any figure, so these values are only malformed.
PAGES = ({}, {"../../x": b""}, {"assets/x.js": b""}, {"en/index.md": b""}, {"en/index.md": 1})
GARBAGE = (
    *(b"\xff\xfe", b"null", b"[]", b"7", b'{"/dev/zero": "0"}', b'{"../../x": "0"}', b"[" * 100_000),
    *map(msgspec.msgpack.encode, PAGES),
)


@pytest.mark.parametrize("made", [bytes, packed])
def test_garbage_in_the_cache_changes_no_file(mine: Path, made: Callable[[bytes], bytes]) -> None:
    right = {str(path.relative_to(mine / "docs")): path.read_bytes() for path in _files(mine / "docs")}
    [path] = (mine / ".perfledger").rglob("cache.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM entries ORDER BY key")]
        garbage = zip(keys, itertools.cycle(GARBAGE), strict=False)
        changed = [(made(value), _checksum(key, made(value)), key) for key, value in garbage]
        connection.executemany("UPDATE entries SET value = ?, checksum = ? WHERE key = ?", changed)
    assert len(keys) > 5
    status, said, files = ingested(mine)
    assert status in (0, 1), said
    assert files == right


def linked(path: Path, elsewhere: Path) -> None:
    """Replace one of our folders by a link to a folder whose files look like ours."""
    elsewhere.mkdir()
    for name in ("old.jsonl", "mine.csv"):
        (elsewhere / name).write_text("precious", "utf-8")
    (elsewhere / "page.md").write_text("---\ntitle: x\ngenerated: x\n---\n", "utf-8")
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("folder", ["en", "zh", "en/runs", "charts/zh", "logs", "data", "data/badges", "assets/css"])
def test_a_folder_that_is_a_link_is_refused_and_its_files_stay(folder: str, tmp_path: Path) -> None:
    linked(tmp_path / "docs" / folder, tmp_path / "elsewhere")
    files = {"en/runs/a.md": b"", "zh/a.md": b"", "charts/zh/a.svg": b"", "data/a.json": b"", "assets/css/a.css": b""}
    with pytest.raises(OSError, match="is a link"):
        builder._written([files], tmp_path / "docs")
    assert len(list((tmp_path / "elsewhere").iterdir())) == 3
    assert [path.name for path in (tmp_path / "docs").rglob("*") if path.is_file()] == []


def test_a_linked_folder_of_the_ledger_is_refused_with_a_message(mine: Path) -> None:
    linked(mine / "docs" / "data" / "runs", mine / "elsewhere")
    status, said, _ = ingested(mine)
    assert status == 2
    assert "docs/data/runs: is a link" in said
    assert "Traceback" not in said
    assert len(list((mine / "elsewhere").iterdir())) == 3


@pytest.mark.parametrize("name", ["/etc/x", "../x", "en/../../x"])
def test_a_name_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="within our folder"):
        refuse_ways_out(tmp_path, [name])


@pytest.mark.parametrize(
    "content", [b"\xff", b"[]", b"{}", b'{"/dev/zero": "0"}', b"[" * 99999, b'{"runs": {"a": [{"id": "../x"}]}}']
)
def test_runs_that_cannot_be_decoded_count_as_missing(content: bytes, tmp_path: Path) -> None:
    job = LocalFolder("", (), (), "perfledger", {}, {}, "key")
    with Cache(tmp_path / "kept.sqlite") as cached:
        cached.put("key", content)
        for slimmer in (None, Slimmer()):
            assert Kept(cached, slimmer)._kept(job) is None
        cached.put("key", b'{"runs": {"a": []}, "others": {"a": ["AAAA"]}}')
        assert (found := Kept(cached)._kept(job)) is not None
        assert found.runs == {"a": []}


def test_the_code_uses_no_reader_that_can_run_code() -> None:
    """`pickle` and similar readers call any function that their input names."""
    forbidden = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
    for top in ("ingest", "parsers", "runners", "schema", "bench", "report_templates"):
        for path in (ROOT / top).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            assert not forbidden & {name.partition(".")[0] for name in names}, path
            called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            assert not called & {"read_pickle", "allow_pickle"}, path
            assert "yaml" not in names or not called & {"load", "load_all", "unsafe_load", "full_load"}, path
