"""`python -m tests.parsers.golden FORMAT LOG`: draft the golden folder of a format from a log.

It writes the records, facts and figures that the format reads. Compare every line with the log by hand before you
commit it, and write the arithmetic of each figure into the column `hand` of figures.csv. A golden log tests the code,
so its tables must not come only from the code.
"""

from __future__ import annotations

import ast
import csv
import difflib
import io
import json
import math
import operator
import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.intervals import TIMED
from perfledger.parsers.contract import COLUMNS
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import by_id
from perfledger.parsers.engine.session import Session

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
#: Columns of records.csv that every format has, with empty cells where its printer prints nothing.
ALWAYS = ("epoch", "step", "throughput", "step_seconds")
RULES = ("sustained", "mean", "median")
#: Columns that give the speed of records.
SPEEDS = {"throughput", "clock", *TIMED}
#: Facts of a case that rules compute with.
NUMBERS = (
    "nodes", "devices", "batch_size", "accumulation", "sequence_length", "tokens_per_step", "batch_size_of_job",
    "data_set_size",
)  # fmt: skip
#: A fact of a case that no column of figures.csv has.
UNLISTED = {"samples_per_update_and_device"}
#: A cell keeps its text if the number that it would get differs by less.
_SAME = 1e-9

_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def command(format_id: str) -> str:
    """Return the command that makes a golden folder."""
    return f"python -m tests.parsers.golden {format_id} LOG"


def log_of(format_id: str) -> Path:
    """Return the golden log of a format."""
    return GOLDEN / format_id / str(document(format_id)["log"])


def logs() -> list[Path]:
    """Return the golden logs of all formats."""
    return [log_of(path.name) for path in sorted(GOLDEN.iterdir()) if path.is_dir()]


def cases_of(format_id: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a format's cases by name."""
    return {name: each for name, each in document(format_id).items() if isinstance(each, dict)}


def document(format_id: str) -> dict[str, Any]:
    """Return a format's cases.toml: the name and the origin of its golden log, and its cases."""
    path = GOLDEN / format_id / "cases.toml"
    assert path.exists(), f"tests/golden/{format_id}/cases.toml is missing. To make it: {command(format_id)}"
    return _parsed(path)


@cache
def _parsed(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def evaluate(arithmetic: str) -> float:
    """Compute an expression of numbers, `+`, `-`, `*`, `/` and brackets.

    Raises:
        ValueError: the expression has anything else.
    """
    return _evaluated(ast.parse(arithmetic, mode="eval").body)


def _evaluated(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.BinOp(left, kind, right) if type(kind) in _OPERATORS:
            return _OPERATORS[type(kind)](_evaluated(left), _evaluated(right))
        case ast.UnaryOp(ast.USub(), operand):
            return -_evaluated(operand)
    raise ValueError(f"{ast.unparse(node)} is not arithmetic")


@click.command()
@click.argument("format_id", metavar="FORMAT")
@click.argument("log", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--case", multiple=True, metavar="NAME=NUMBER", help="What the log does not state, such as devices=8.")
@click.option("--from", "origin", default="made up", help="The address and commit of the log, or `made up`.")
@click.option("--check", is_flag=True, help="Print how the tables would change, and write nothing.")
@click.option("--force", is_flag=True, help="Overwrite the tables of a folder.")
def main(format_id: str, log: Path | None, case: tuple[str, ...], origin: str, check: bool, force: bool) -> None:
    """Draft tests/golden/FORMAT/ from LOG, a cut of a real log or one that you wrote.

    With --check LOG may be left out: then the golden log of the format is read.
    """
    folder = GOLDEN / format_id
    if log is None and not check:
        raise click.UsageError("name the log that the tables are drafted from")
    log = log or log_of(format_id)
    drafted = draft(_session(format_id, log), folder, _case(case))
    changed = "".join(_difference(folder / name, text) for name, text in drafted.items())
    if check:
        click.echo(changed, nl=False)
        raise click.exceptions.Exit(1 if changed else 0)
    if folder.exists() and not force:
        raise click.ClickException(f"{folder} exists: see what would change with --check, or overwrite it with --force")
    folder.mkdir(exist_ok=True)
    for name, text in drafted.items():
        (folder / name).write_text(text)
    if log.resolve() != (folder / log.name).resolve():
        shutil.copyfile(log, folder / log.name)
    _write_origin(folder / "cases.toml", log.name, origin)
    click.echo(f"{folder}: compare each line of the tables with the log, and fill the column `hand` of figures.csv")


def rules_of(session: Session) -> Sequence[str]:
    """Return the rules that a format must give figures for; only `reported` if only a summary has a speed."""
    has_speeds = any(SPEEDS & set(each.columns) for each in session.records if each.reading.span != "run" and len(each))
    return RULES if has_speeds else ("reported",)


def draft(session: Session, folder: Path, case: Mapping[str, int]) -> dict[str, str]:
    """Return the three tables of a session as text by file name; unchanged cells keep their text.

    The figures are those in the folder's table, or those of the case if it states numbers.
    """
    facts = dict(session.facts)
    quoted = [(name, each.value, each.line) for name, each in facts.items()]
    stated = {name: int(facts[name].value) for name in NUMBERS if name in facts} | case
    before = table(folder / "figures.csv")
    asked = [(stated, rule) for rule in rules_of(session)]
    if before and not case:
        asked = [
            ({name: int(each[name]) for name in each if name in NUMBERS and each[name]}, each["rule"])
            for each in before
        ]
    by_hand = {(each["rule"], _rounded(each["value"])): each.get("hand", "") for each in before}
    of_figures = (*asked[0][0], "rule", "value", "used", "first_line", "last_line", "hand")
    return {
        "records.csv": _text(folder / "records.csv", columns_of(session), _records(session)),
        "facts.csv": _text(folder / "facts.csv", ("fact", "value", "line"), quoted),
        "figures.csv": _text(folder / "figures.csv", of_figures, _figures(session, asked, by_hand)),
    }


def columns_of(session: Session) -> tuple[str, ...]:
    """Return the head of records.csv: every column of the first reading."""
    more = [name for name in COLUMNS if name in session.main.columns and name not in ALWAYS]
    return ("line", *ALWAYS, *more)


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, or an empty list without a file."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _session(format_id: str, log: Path) -> Session:
    sessions = read(log, by_id(format_id)).sessions
    if len(sessions) != 1 or not len(sessions[0].main):
        raise click.ClickException(
            f"{log}: a golden log is one session with records, but {format_id} reads {len(sessions)} sessions with "
            f"{[len(each.main) for each in sessions]} records; see python -m parsers {format_id} {log}"
        )
    return sessions[0]


def _case(stated: Sequence[str]) -> dict[str, int]:
    return {name: int(value) for name, _, value in (each.partition("=") for each in stated)}


def _records(session: Session) -> Iterable[Sequence[object]]:
    main = session.main
    columns = [main[name].tolist() if name in main else [""] * len(main) for name in columns_of(session)[1:]]
    return zip(main.lines(range(len(main))), *columns, strict=True)


def _figures(
    session: Session, asked: Sequence[tuple[Mapping[str, int], str]], by_hand: Mapping[tuple[str, str], str]
) -> Iterable[Sequence[object]]:
    for case, rule in asked:
        found = rules.figure(
            rule, session, case | {name: session.facts[name].value for name in UNLISTED & session.facts.keys()}
        )
        if isinstance(found, rules.Figure):
            hand = by_hand.get((rule, _rounded(found.value)), "")
            yield (*case.values(), rule, repr(found.value), found.used, found.first_line, found.last_line, hand)
        elif (rule, "") in by_hand:  # The folder's table says that it is withheld.
            yield (*case.values(), rule, "", "", "", "", "")
        else:
            raise click.ClickException(f"rule {rule}: {found}; state what is missing with --case, such as devices=8")


def _rounded(value: object) -> str:
    return f"{float(str(value)):.9g}" if value else ""


def _text(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text; unchanged cells keep the text of the file."""
    before, stream = table(path), io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    for number, row in enumerate(rows):
        old = before[number] if number < len(before) else {}
        writer.writerow([_cell(str(new), old.get(name)) for name, new in zip(head, row, strict=True)])
    return stream.getvalue()


def _cell(new: str, old: str | None) -> str:
    try:
        same = old is not None and math.isclose(float(new), float(old), rel_tol=_SAME)
    except ValueError:
        return new
    return str(old) if same else new


def _difference(path: Path, text: str) -> str:
    before = path.read_text().splitlines(keepends=True) if path.exists() else []
    after = text.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, str(path.relative_to(GOLDEN)), "drafted"))


def _write_origin(path: Path, log: str, origin: str) -> None:
    """Write the name and the origin of a golden log before the cases of the format."""
    _, bracket, cases = path.read_text().partition("\n[") if path.exists() else ("", "", "")
    path.write_text(f"log = {json.dumps(log)}\nfrom = {json.dumps(origin)}\n{bracket}{cases}")


if __name__ == "__main__":
    main(prog_name="python -m tests.parsers.golden")
