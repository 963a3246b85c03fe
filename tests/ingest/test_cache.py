"""The cache: a damaged file never gives a wrong value."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from perfledger.ingest.common.cache import Cache, key_of


def stored(path: Path, values: dict[str, bytes], most_bytes: int = 1 << 20) -> None:
    with Cache(path, most_bytes) as cache:
        for key, value in values.items():
            cache.put(key, value)


def read(path: Path, *keys: str) -> list[bytes | None]:
    with Cache(path) as cache:
        return [cache.get(key) for key in keys]


def test_a_stored_value_is_found_in_this_run_and_the_next(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    with Cache(path) as cache:
        cache.put("a", b"\0one")
        assert cache.get("a") == b"\0one"
        assert cache.get_or_make("b", lambda: b"two") == b"two"
        assert cache.get_or_make("b", lambda: pytest.fail("made twice")) == b"two"
    assert read(path, "a", "b", "c") == [b"\0one", b"two", None]


def test_values_made_before_an_error_are_stored(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    cache.put("a", b"one")
    with pytest.raises(ZeroDivisionError), cache:
        cache.get_or_make("b", lambda: bytes([1 // 0]))
    assert read(tmp_path / "c", "a") == [b"one"]


def damaged(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"a long value", b"another text"))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    path.write_bytes(b"a text" * 1000)


def of_another_shape(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE entries (key TEXT, other TEXT)")


@pytest.mark.parametrize("harm", [damaged, truncated, overwritten, of_another_shape, Path.unlink])
def test_a_damaged_file_gives_no_wrong_value_and_is_used_again(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = tmp_path / "cache.sqlite"
    stored(path, {str(n): b"a long value %d " % n * 50 for n in range(40)})
    harm(path)
    assert set(read(path, "0", "20", "39")) <= {None, *(b"a long value %d " % n * 50 for n in (0, 20, 39))}
    stored(path, {"0": b"anew"})
    stored(path, {"0": b"anew"})
    assert read(path, "0") == [b"anew"]


def test_an_unwritable_cache_changes_no_result(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    stored(tmp_path / "file" / "cache", {"a": b"one"})
    stored(tmp_path, {"a": b"one"})
    assert read(tmp_path / "file" / "cache", "a") == read(tmp_path, "a") == [None]


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Advance the clock by two days whenever it is read."""
    now = count(1)
    monkeypatch.setattr("time.time", lambda: 2.0 * 86400 * next(now))
    return now


@pytest.mark.usefixtures("days")
def test_the_oldest_entries_are_evicted(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    for key in ("a", "b", "c", "d"):
        stored(path, {key: b"x" * 100}, 350)
    assert read(path, "a", "b", "c", "d") == [None, *[b"x" * 100] * 3]


def several(path: Path, of: int) -> None:
    stored(path, {f"{of}-{n}": bytes([of]) * 1000 for n in range(50)})


def test_concurrent_runs_share_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(several, [path] * 8, range(8)))
    assert read(path, *(f"{of}-49" for of in range(8))) == [bytes([of]) * 1000 for of in range(8)]


def test_a_key_depends_on_the_borders_and_order_of_its_parts() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("c", "ab"), key_of("abc"), key_of("abc", "")}) == 5
    assert key_of("a\ud800") == key_of("a\ud800")
