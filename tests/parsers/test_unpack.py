"""Packed logs are read like plain ones, within limits of size, ratio and memory."""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perfledger.parsers.engine import unpack
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.scan import ScanError, open_log
from tests.parsers.golden import log_of


def _zst(text: bytes) -> bytes:
    packer = pytest.importorskip("zstandard")
    return bytes(packer.compress(text))


def _ipynb(text: bytes) -> bytes:
    """Return a notebook of two cells that print the halves of a text; the second half is the value of an expression."""
    lines = text.decode().splitlines(keepends=True)
    half = len(lines) // 2
    stream = {"output_type": "stream", "name": "stderr", "text": lines[:half]}
    value = {"output_type": "execute_result", "data": {"text/plain": lines[half:], "image/png": "iVBORw0KGgo="}}
    cells = [{"cell_type": "markdown", "source": ["ips: 1"]}]
    cells += [{"cell_type": "code", "source": ["train()"], "outputs": [each]} for each in (stream, value)]
    return json.dumps({"nbformat": 4, "cells": cells}, indent=1).encode()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": _zst,
    ".ipynb": _ipynb,
}


def packed(folder: Path, suffix: str, text: bytes) -> Path:
    path = folder / f"train.log{suffix}"
    path.write_bytes(PACKERS[suffix](text))
    return path


def records_of(log: Log) -> list[tuple[str, int, list[int], list[bytes]]]:
    """Return format, number of records, and line and text of the first and last record, which are read again."""
    found = []
    for session in log.sessions:
        ends = [0, len(session.main) - 1] if len(session.main) else []
        name = session.main.reading.columns[0]
        printed = [session.main.printed(each, name) for each in ends]
        found.append((session.format.id, len(session.main), session.main.lines(ends), printed))
    return found


def test_every_suffix_has_a_test() -> None:
    assert set(PACKERS) == set(unpack.UNPACKERS)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("times", [1, 80])
def test_a_packed_log_reads_as_the_plain_one(tmp_path: Path, suffix: str, times: int) -> None:
    """A log of several chunks and sessions is tried, too, whose parts are read in any order."""
    plain = tmp_path / "train.log"
    plain.write_bytes(log_of("paddle.clas_static").read_bytes() * times)
    assert records_of(read(packed(tmp_path, suffix, plain.read_bytes()))) == records_of(read(plain))


@pytest.mark.parametrize("suffix", sorted(PACKERS.keys() - {".ipynb"}))
def test_several_packed_files_in_one_are_read_to_the_end(tmp_path: Path, suffix: str) -> None:
    path = packed(tmp_path, suffix, b"one\n")
    path.write_bytes(path.read_bytes() + PACKERS[suffix](b"two\n"))
    with open_log(path) as stream:
        assert stream.read() == b"one\ntwo\n"


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"no " + data, lambda _: b"x"])
def test_a_damaged_packed_log_is_unreadable_with_its_cause(
    tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    path = packed(tmp_path, suffix, log_of("paddle.clas_static").read_bytes() * 9)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ScanError) as wrong:
        read(path)
    assert wrong.value.code == "unreadable"
    assert wrong.value.details["cause"]


def test_a_crash_in_a_notebook_is_after_its_output(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    error = {
        "output_type": "error",
        "traceback": ["Traceback (most recent call last)", "\x1b[31mOutOfMemoryError\x1b[0m: CUDA"],
    }
    path.write_text(json.dumps({"cells": [{"outputs": [{"text": "loss: 2.5"}, {}, error]}]}))
    with open_log(path) as stream:
        assert stream.read() == b"loss: 2.5\nTraceback (most recent call last)\n\x1b[31mOutOfMemoryError\x1b[0m: CUDA\n"


def test_two_open_logs_have_separate_positions(tmp_path: Path) -> None:
    path = packed(tmp_path, ".gz", b"0123456789")
    with open_log(path) as one, open_log(path) as two:
        assert (one.read(3), two.read(5), one.read(3)) == (b"012", b"01234", b"345")
        assert (two.seek(-2, 2), two.read()) == (8, b"89")


def test_a_log_that_changed_is_unpacked_again(tmp_path: Path) -> None:
    for text in (b"one\n", b"another\n"):
        with open_log(packed(tmp_path, ".gz", text)) as stream:
            assert stream.read() == text


@pytest.mark.parametrize("size", [1, 100_000])
def test_unpacking_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A bomb may be endless, so at most a ratio to the packed size is unpacked, or a small size."""
    pieces = iter(itertools.count())

    def endless(_path: Path) -> Iterator[bytes]:
        for _ in pieces:
            yield bytes(1 << 20)

    monkeypatch.setattr(unpack, "UNPACKERS", {".gz": endless})
    path = tmp_path / "train.log.gz"
    path.write_bytes(bytes(size))
    with pytest.raises(ScanError) as wrong:
        open_log(path)
    most = max(unpack.FREE_BYTES, unpack.MOST_RATIO * size) >> 20
    assert (wrong.value.code, wrong.value.details) == ("unpacks_too_far", {"mib": most})
    assert next(pieces) <= most + 2


def test_no_ratio_allows_more_than_the_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MOST_BYTES", 1 << 20)
    with pytest.raises(ScanError) as wrong:
        open_log(packed(tmp_path, ".gz", bytes(3 << 20)))
    assert wrong.value.details == {"mib": 1}


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_a_dictionary_beyond_the_limit_of_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = packed(tmp_path, suffix, b"x" * (3 << 20))
    monkeypatch.setattr(unpack, "MOST_MEMORY", 1 << 20)
    with pytest.raises(OSError, match=r"(?i)memory"):
        open_log(path)
