"""The figures of every real log on this machine, and the differences from the accepted figures.

`figures.csv` has one row per run. It contains paths and figures, never lines of a log. Rows of logs that are not on
this machine are skipped and counted.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perfledger.ingest import build
from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record.run import runs_of
from perfledger.schema.records import Figure, Reason, Run
from tests.corpus import ROOT, SHARED, folder

FIGURES = Path(__file__).resolve().parent / "figures.csv"
#: Columns that identify a run.
KEY = ("path", "session")
COLUMNS = (
    *KEY, "format", "case", "outcome", "rule", "value", "unit", "scope", "median", "step_seconds", "time_to_train",
    "reason", "missing", "problems", "witnesses",
)  # fmt: skip
#: Figures are stored with this many significant digits: sums in another order differ in later ones.
DIGITS = 9

Row = Mapping[str, str]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """A folder of real logs: its name in `figures.csv`, where it is, and the layout that reads its paths."""

    name: str
    path: Path
    layout: str = "perfledger"


def trees() -> list[Tree]:
    """Return all trees that are on this machine."""
    known = [Tree("raw_logs", ROOT / "raw_logs"), Tree("own-logs", SHARED / "own-logs", "paddle-perf")]
    known.append(Tree("strangers", SHARED / "strangers"))
    layouts = {
        "paddle-perf": "paddle-perf",
        "ngc-pytorch": "lambda-deeplearning-benchmark",
        "mlperf-v5.1": "mlperf",
        "public": "perfledger",
        "today": "perfledger",
        "more/gluoncv": "perfledger",
        "more/megatron-deepspeed": "perfledger",
        "more/modded-nanogpt": "perfledger",
        "more/ngc-pytorch": "lambda-deeplearning-benchmark",
        "more/mlperf-hpc-v3.0": "mlperf",
        "more/mlperf-v4.1": "mlperf",
        "more/mlperf-v5.0": "mlperf",
    }
    known += [Tree(f"corpus/{name}", folder(name), layout) for name, layout in layouts.items()]
    return [each for each in known if each.path.is_dir()]


def computed(given: Iterable[Tree]) -> dict[Key, Row]:
    """Read all logs of some trees, without a cache, and return their rows by path and session."""
    found = dict[Key, Row]()
    with tempfile.TemporaryDirectory(prefix="reference-") as nowhere:
        for tree in given:
            inputs = build.Inputs((tree.path,), tree.layout, jobs=os.cpu_count() or 1, out=Path(nowhere, "docs"))
            found |= {key_of(row): row for row in (row_of(tree, run) for run in build.read(inputs).ledger.runs)}
    return found


def computed_of_few(tree: Tree, paths: Iterable[Path]) -> dict[Key, Row]:
    """Read some logs of a tree in this process, and return their rows by path and session."""
    named = layout.load(tree.layout)
    given = [Input(path, f"{tree.path.name}/{path.relative_to(tree.path)}") for path in paths]
    rows = [row_of(tree, run) for each in given for run in runs_of(each, named, each.name)]
    return {key_of(row): row for row in rows}


def row_of(tree: Tree, run: Run) -> Row:
    """Return the row of a run."""
    headline, median = run.figures.get(run.rule), run.figure("median")
    latency, score = (run.metrics.get(name) for name in ("latency", "time_to_train"))
    seconds = latency.value / 1000 if latency and latency.value is not None else None
    values = {
        "path": f"{tree.name}/{run.path.partition('/')[2]}",
        "session": str(run.session),
        "format": run.format or "",
        "case": " ".join(f"{name}={value}" for name, value in run.case.known().items()),
        "outcome": run.outcome,
        "rule": run.rule,
        "value": _number(headline.value if isinstance(headline, Figure) else None),
        "unit": headline.unit if isinstance(headline, Figure) else "",
        "scope": headline.scope if isinstance(headline, Figure) else "",
        "median": _number(median.value if median else None),
        "step_seconds": _number(seconds),
        "time_to_train": _number(score.value if score else None),
        "reason": _reason(headline.reason) if headline and not isinstance(headline, Figure) else "",
        "missing": " ".join(run.missing or ()),
        "problems": " ".join(sorted({each.code for each in run.problems})),
        "witnesses": " ".join(f"{each.kind}={each.verdict}" for each in run.witnesses),
    }
    return {name: values[name] for name in COLUMNS}


def _reason(found: Reason) -> str:
    """Return the code of a reason, and the name of the missing number if a number is missing."""
    return " ".join([found.code, *([found.args["missing"]] if "missing" in found.args else [])])


def _number(value: float | None) -> str:
    return "" if value is None else f"{shortened(value, DIGITS):.{DIGITS}g}"


def key_of(row: Row) -> Key:
    """Return path and session of a row."""
    return tuple(row[name] for name in KEY)


def accepted(path: Path = FIGURES) -> dict[Key, Row]:
    """Return the last accepted rows, or an empty table without a file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [{name: row.get(name, "") for name in COLUMNS} for row in csv.DictReader(stream)]
    return {key_of(row): row for row in rows}


def write(rows: Iterable[Row], path: Path = FIGURES) -> None:
    """Write rows, sorted by path and session."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["path"], int(row["session"]))))


def absent(before: Mapping[Key, Row], now: Mapping[Key, Row], given: Sequence[Tree]) -> set[Key]:
    """Return the accepted rows whose logs are not on this machine."""
    return {key for key in before.keys() - now.keys() if not any(_is_at(key[0], tree) for tree in given)}


def _is_at(path: str, tree: Tree) -> bool:
    if not path.startswith(f"{tree.name}/"):
        return False
    # Only raw_logs is part of the repository: a log that is missing there was removed.
    return tree.path == ROOT / "raw_logs" or (tree.path / path.removeprefix(f"{tree.name}/")).exists()


def moved(before: Mapping[Key, Row], now: Mapping[Key, Row]) -> Iterator[str]:
    """Yield one sentence for each run that is new, gone or different."""
    for key in sorted(before.keys() | now.keys()):
        name = key[0] if key[1] == "1" else f"{key[0]} (session {key[1]})"
        if key not in now:
            yield f"{name}: is not read any more; it gave {_told(before[key])}"
        elif key not in before:
            yield f"{name}: is new, and gives {_told(now[key])}"
        elif changes := list(_changes(before[key], now[key])):
            yield f"{name}: {'; '.join(changes)}"


def _told(row: Row) -> str:
    if row["value"]:
        return f"{row['value']} {row['unit']} ({row['rule']}, per {row['scope']})"
    return f"no figure ({row['reason'] or row['problems'] or row['outcome']})"


def _changes(before: Row, now: Row) -> Iterator[str]:
    """Yield the differences between two rows of a run, the headline first."""
    figure = ("rule", "value", "unit", "scope", "reason")
    if any(before[name] != now[name] for name in figure):
        ratio = (
            f", {float(now['value']) / float(before['value']):.4g} times" if before["value"] and now["value"] else ""
        )
        yield f"{_told(before)} -> {_told(now)}{ratio}"
    for name in COLUMNS:
        if name not in figure and before[name] != now[name]:
            yield f"{name} {before[name] or 'none'} -> {now[name] or 'none'}"
