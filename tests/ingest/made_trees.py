"""Trees of logs for the tests of the engine: the shared folder where it exists, and made-up ones."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from made_logs import run_json, seg
from pyarrow import parquet

from perfledger.ingest.common import words
from perfledger.ingest.read.layout import Layout

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Called:
    """Result of one call of `python -m ingest`."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the runs that `--json` printed."""
        return [json.loads(each) for each in self.out.splitlines() if each.startswith("{")]

    @property
    def problems(self) -> list[str]:
        """Return the lines of stderr."""
        return self.err.splitlines()

    @property
    def codes(self) -> dict[str, str]:
        """Return the code of each problem on stderr by `path` or `path:line`."""
        found = (each.partition(": ")[::2] for each in self.problems)
        return {where: code for where, text in found for code, pattern in problems() if pattern.fullmatch(text)}


@cache
def problems() -> list[tuple[str, re.Pattern[str]]]:
    """Return the code of each problem, with a pattern of its words."""
    found = ((key.partition("."), entry["en"]) for key, entry in words.load().entries.items())
    return [
        (code, re.compile(re.sub(r"\\\{\w+\\\}", "(?s:.*)", re.escape(text))))
        for (table, _, code), text in found
        if table == "problem"
    ]


def write_run(
    root: Path, name: str, log: str | bytes | Sequence[str], *, run: dict[str, Any] | str | bytes | None = None
) -> Path:
    """Write `root/name/train.log`, and a run.json unless `run` is "", and return the path of the log."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.log"
    if not isinstance(log, bytes | str):
        log = "".join(f"{each}\n" for each in log)
    path.write_bytes(log.encode() if isinstance(log, str) else log)
    if run != "":
        document = json.dumps(run or run_json()) if isinstance(run, dict | None) else run
        (folder / "run.json").write_bytes(document.encode() if isinstance(document, str) else document)
    return path


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and time of the last write of every file below a folder."""
    found = {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    assert found
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {name: data for name, (data, _) in snapshot(folder).items()}


def unpacked(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder: unpacked, and the rows of Parquet tables."""

    def inside(name: str, data: bytes) -> bytes:
        if name.endswith(".gz"):
            return gzip.decompress(data)
        return repr(parquet.read_table(io.BytesIO(data)).to_pylist()).encode() if name.endswith(".parquet") else data

    return {name: inside(name, data) for name, data in contents(folder).items()}


def make_tree(root: Path) -> Path:
    """Write two cases of one model with two repeats each, and one run of another model."""
    for batch in (2, 4):
        for repeat in (1, 2):
            speeds = [batch * 1.0] * 2 + [batch * (5.0 + 0.1 * repeat + 0.01 * i) for i in range(10)]
            write_run(
                root,
                f"seg/paddleseg/bs{batch}/{repeat}",
                seg(speeds, batch=batch),
                run=run_json(batch_size=batch, repeat=repeat),
            )
    write_run(root, "seg/paddleseg/fast/1", seg([9.0] * 6, batch=3), run=run_json(model="FastSCNN", batch_size=3))
    return root


def facts_of_path(layout: Layout, path: str) -> Mapping[str, Any] | None:
    """Return the facts that a layout reads from a path; None if no template matches."""
    found = layout.match(path)
    return found.facts if found else None
