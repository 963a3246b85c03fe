"""How fast logs are read: a long log against a plain scan, trees against importing pandas, and with more formats."""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Row, in_turns

if TYPE_CHECKING:
    from perfledger.schema.records import Run

#: Other people's logs where they lie beside the repository, otherwise our own.
_CORPUS = Path("..") / "shared" / "corpus" / "paddle-perf"
_PPLCNET = Path("raw_logs") / "pplcnet" / "paddleclas"


def long_log(folder: Path, gib: float = 1, times: int = 3) -> list[Row]:
    """Compare all fields of a long PaddleClas log with one figure by a plain pattern over the same bytes, mapped.

    The log is one of our own, repeated to `gib` GiB: with its header once (one run), whole (appended runs), and with
    each record once for each of eight ranks, which mpirun tells apart by tags.
    """
    log = sorted(_PPLCNET.glob("*static*/1/train.log"))[0].read_bytes()
    header, records = _split(log)
    tagged = b"".join(b"[1,%d]<stdout>:%s" % (rank, each) for each in records.splitlines(True) for rank in range(8))
    rows = []
    for what, first, repeated in (
        ("one run", header, records),
        ("appended runs", b"", log),
        ("eight ranks", header, tagged),
    ):
        path = folder / "long.log"
        _write(path, first, repeated, int(gib * 2**30))
        plain, ours = in_turns((_one_figure, _all_fields), path, times=times)
        name = f"all fields of {gib:g} GiB, {what}"
        rows.append(Row.of(name, ours, "one figure, plain re", plain, "2"))
        path.unlink()
    return rows


def tree(folder: Path, times: int = 5) -> list[Row]:
    """Compare reading and computing a tree of logs, with nothing cached, with importing pandas and matplotlib."""
    root, layout = tree_of_logs()
    logs = sum(each.is_file() for each in root.rglob("*"))
    imports, ours = in_turns((_imports, read_tree), root, layout, folder / "tree", times=times)
    return [Row.of(f"{logs} files read and computed", ours, "importing pandas and matplotlib", imports, "2")]


def formats(folder: Path, times: int = 5) -> list[Row]:
    """Compare reading a tree with all formats with reading it with half of them, the claimants of its logs included."""
    from perfledger.parsers.engine import registry

    root, layout = tree_of_logs()
    known = [each.id for each in registry.formats()]
    needed = {run.format for run in read_tree(root, layout, folder / "formats")}
    half = sorted(known, key=lambda each: each not in needed)[: max(len(needed), len(known) // 2)]
    few, every = in_turns((_read_with, read_tree), root, layout, folder / "formats", ",".join(half), times=times)
    return [Row.of(f"a tree read with {len(known)} formats", every, f"with {len(half)} of them", few, "1.1")]


def tree_of_logs() -> tuple[Path, str]:
    """Return a tree of logs, and the layout of its names."""
    return (_CORPUS, "paddle-perf") if _CORPUS.is_dir() else (Path("raw_logs"), "perfledger")


def _read_with(root: str, layout: str, out: str, ids: str) -> None:
    from perfledger.parsers.engine import detect, registry

    few = tuple(registry.by_id(each) for each in ids.split(","))
    vars(detect).update(formats=lambda: few)
    read_tree(root, layout, out)


def _one_figure(path: str) -> None:
    total, count = 0.0, 0
    with Path(path).open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for match in re.finditer(rb"ips: ([\d.]+) samples/sec", mapped):
            total += float(match[1])
            count += 1
    assert count, total


def _all_fields(path: str) -> None:
    from perfledger.parsers.engine.read import read

    log = read(Path(path))
    assert log.sessions
    assert all(len(each.main) for each in log.sessions)


def _imports(*_: str) -> None:
    # Importing is what is measured.
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401


def read_tree(root: str | Path, layout: str, out: str | Path, *_: str) -> Sequence[Run]:
    """Read and compute a tree of logs in this process, with nothing cached."""
    from perfledger.ingest import build

    shutil.rmtree(out, ignore_errors=True)
    found = build.read(build.Inputs((Path(root),), layout, jobs=1, out=Path(out) / "docs")).ledger.runs
    assert found
    return found


def _split(log: bytes) -> tuple[bytes, bytes]:
    """Return the lines before the first record, and the rest."""
    at = log.rfind(b"\n", 0, log.index(b"train step:")) + 1
    return log[:at], log[at:]


def _write(path: Path, first: bytes, repeated: bytes, size: int) -> None:
    block = repeated * max(1, min(8 << 20, size) // len(repeated))
    with path.open("wb") as stream:
        stream.write(first)
        while stream.tell() < size:
            stream.write(block)
