"""Measure ledgers and sites of many logs: logs of the corpora, copied to other accelerators with other figures.

A layout that is written next to the logs states their configurations by name. The copied figures are not real: they
serve to measure time and memory.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench.measure import Row, Used, child
from bench.reading import _imports

if TYPE_CHECKING:
    from perfledger.schema.records import Run

_ROOT = Path(__file__).resolve().parents[1]
#: Other people's logs if they are next to the repository, else our own.
_CORPORA = _ROOT.parent / "shared" / "corpus"
_TREES = (
    (_CORPORA / "public", "perfledger"),
    (_CORPORA / "today", "perfledger"),
    (_CORPORA / "paddle-perf", "paddle-perf"),
    (_CORPORA / "ngc-pytorch", str(_CORPORA / "ngc-pytorch" / "layout.toml")),
)
_OUR_OWN = ((_ROOT / "raw_logs", "perfledger"),)
#: Number of repeats of a configuration on one accelerator.
_REPEATS = 5
ACCELERATORS = 45
#: Facts of a configuration that the names state.
_STATED = ("model", "framework", "nodes", "devices", "batch_size", "precision")
#: The last digit of a figure, or the third decimal of a small one: copies of a log differ there.
_LAST_DIGIT = re.compile(rb"(\.(?:\d\d|(?<=\d\d\.)\d|(?<=\d\d\d\.)))(\d)(?=[\s,)/}\]]|\Z)")
LAYOUT = "layout.toml"


@dataclass(frozen=True)
class SourceLog:
    """A log to copy, the facts that the names of its copies state, and whether the log states its hardware."""

    path: Path
    facts: Mapping[str, str | int]
    states_hardware: bool


def scale(folder: Path, counts: Sequence[int] = (1_000, 10_000)) -> list[Row]:
    """Compare ledgers and sites of ever more logs with importing pandas and matplotlib."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    base, rows = child(_imports), list[Row]()
    row = partial(_row, base)
    for logs in counts:
        site = folder / f"scale{logs}"
        write_tree(site / "logs", logs)
        layout, name = site / "logs" / LAYOUT, f"{logs:,} logs"
        asked = site / "logs", site / "docs", layout
        rows += [row(f"{name}, all new, without pages", child(read_and_record, *asked), logs)]
        rows += [row(f"{name}, none changed, without pages", child(read_and_record, *asked))]
        rows += [row(f"{name}, none changed, all pages new", child(_ingest, *asked))]
        rows += [row(f"{name}, none changed", child(_ingest, *asked))]
        one = min((site / "logs").rglob("*1.*"))
        one.write_bytes(one.read_bytes() + b"one more line\n")
        rows += [row(f"{name}, one changed", child(_ingest, *asked))]
        shutil.copy(_ROOT / "mkdocs.yml", site)
        (site / "report_templates").symlink_to(_ROOT / "report_templates")
        used = child(_mkdocs, site)
        files = [each for each in (site / "site").rglob("*") if each.is_file()]
        pages, size = sum(each.suffix == ".html" for each in files), sum(each.stat().st_size for each in files)
        rows += [row(f"{name}, mkdocs build: {pages:,} pages, {size / 2**20:.0f} MiB", used)]
        shutil.rmtree(site)
    return rows


def workers(folder: Path, logs: int = 10_000) -> list[Row]:
    """Compare two Dask workers with one, by the clock: reading logs of all kinds, with nothing cached."""
    write_tree(folder / "workers", logs)
    used = [child(_read_on_dask, folder / "workers", folder / f"by{number}", number) for number in (1, 2)]
    shutil.rmtree(folder / "workers")
    return [Row(f"{logs:,} logs on two Dask workers", used[1].wall, "on one", used[0].wall, "0.59")]


def _read_on_dask(root: str, out: str, number: str) -> None:
    from perfledger.ingest import build

    layout = str(Path(root) / LAYOUT)
    state = build.read(build.Inputs((Path(root),), layout, jobs=int(number), out=Path(out) / "docs", on="dask"))
    assert state.ledger.read_logs


def write_tree(folder: Path, logs: int) -> None:
    """Write a number of logs, and the layout of their names, `<accelerator>/<configuration>/<number>.<ending>`."""
    sources = _sources()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LAYOUT).write_text(_layout(sources), "utf-8")
    for number in range(logs):
        again, place = divmod(number, len(sources))
        accelerator = again // _REPEATS % ACCELERATORS
        gpu = "stated" if sources[place].states_hardware else f"gpu{accelerator + 1}"
        target = folder / gpu / f"c{place:04d}"
        target.mkdir(parents=True, exist_ok=True)
        path = sources[place].path
        data = path.read_bytes()
        if again:
            data = _LAST_DIGIT.sub(partial(_other_digit, Random(again)), data)
        ending = path.suffix if path.suffix in (".txt", ".out", ".jsonl", ".json") else ".log"
        (target / f"{again + 1}{ending}").write_bytes(data + b"\n" * again)


def read_and_record(root: str, out: str, layout: str) -> None:
    """Read a tree in this process, and write the ledger and the cache, but no pages."""
    from perfledger.ingest import build
    from perfledger.ingest.record import ledger

    state = build.read(build.Inputs((Path(root),), layout, jobs=1, out=Path(out)))
    assert state.ledger.runs
    ledger.write(state.ledger, state.store)
    build.remember(state)


def _ingest(logs: str, out: str, layout: str = "perfledger") -> None:
    from perfledger.ingest.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        code = main([logs, "--out", out, "--layout", layout])
    assert code < 2, code


def _mkdocs(folder: str) -> None:
    from mkdocs.__main__ import cli

    os.chdir(folder)
    cli(["build", "--strict", "--quiet"], standalone_mode=False)


def _sources() -> list[SourceLog]:
    from perfledger.ingest import build

    found = []
    for root, layout in _TREES if _CORPORA.is_dir() else _OUR_OWN:
        state = build.read(build.Inputs((root,), layout, out=Path(os.devnull).with_name("none")))
        paths = {name: path for name, (path, *_) in state.logs.items()}
        alone = {run.path: run for run in state.ledger.runs if run.format and run.sessions == 1}
        found += [
            SourceLog(paths[name], dict(_facts(run)), "hardware" in run.facts and run.facts["hardware"].source == "log")
            for name, run in alone.items()
            if name in paths
        ]
    return sorted(found, key=lambda each: str(each.path))


def _facts(run: Run) -> Iterator[tuple[str, str | int]]:
    for name, value in run.case.known().items():
        if name in _STATED and isinstance(value, str | int):
            yield name, value


def _layout(sources: Sequence[SourceLog]) -> str:
    gpus = (f'gpu{n + 1} = {{ hardware = "Made-up accelerator {n + 1}" }}' for n in range(ACCELERATORS))
    cases = (f"c{place:04d} = {{ {_toml(each.facts)} }}" for place, each in enumerate(sources))
    paths = (f'[[path]]\ntemplate = "{each}/{{case}}/{{*}}"\n\n' for each in ("stated", "{gpu}"))
    head = 'title = "Logs made for measuring"\n\n' + "".join(paths)
    return head + "\n".join(["[words.gpu]", *gpus, "", "[words.case]", *cases, ""])


def _toml(facts: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in facts.items())


def _other_digit(digits: Random, found: re.Match[bytes]) -> bytes:
    """Return any digit: with one that follows from its place, copies would come to print the same speeds again."""
    return b"%s%d" % (found[1], int(10 * digits.random()))


def _row(base: Used, what: str, used: Used, logs: int = 0) -> Row:
    each = f": {1000 * used.cpu / logs:.2f} ms a log" if logs else ""
    return Row.of(what + each, used, "importing pandas and matplotlib", base)
