"""`python -m tests.parsers.golden FORMAT LOG`: draft the golden folder of a format from a log.

What it writes is what the format reads. Check every line against the log by hand before you commit it: a golden log
holds the code to what the log says, not the other way round.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ingest.compute import rules
from ingest.compute.frame import TIMED
from parsers.engine.read import read
from parsers.engine.registry import by_id
from parsers.engine.session import Session

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
COLUMNS = ("epoch", "step", "throughput", "step_seconds")
RULES = ("sustained", "mean", "median")
#: Columns that tell the speed of records.
SPEEDS = {"throughput", "clock", *TIMED}
#: Facts of a case that rules compute with.
NUMBERS = (
    "nodes", "devices", "batch_size", "accumulation", "sequence_length", "tokens_per_step", "batch_size_of_job",
    "data_set_size",
)  # fmt: skip


def command(format_id: str) -> str:
    """Return what a contributor types to make a golden folder."""
    return f"python -m tests.parsers.golden {format_id} LOG"


def log_of(format_id: str) -> Path:
    """Return the golden log of a format."""
    logs = list((GOLDEN / format_id).glob("*.log"))
    assert len(logs) == 1, (
        f"tests/golden/{format_id}/ must hold one log, not {len(logs)}. To make it: {command(format_id)}"
    )
    return logs[0]


@click.command()
@click.argument("format_id", metavar="FORMAT")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--case", multiple=True, metavar="NAME=NUMBER", help="What the log does not state, such as devices=8.")
def main(format_id: str, log: Path, case: tuple[str, ...]) -> None:
    """Draft tests/golden/FORMAT/ from LOG, a cut of a real log or one that you wrote."""
    sessions = read(log, by_id(format_id)).sessions
    if len(sessions) != 1 or not len(sessions[0].main):
        raise click.ClickException(
            f"{log}: a golden log is one session with records, but {format_id} reads {len(sessions)} sessions with "
            f"{[len(each.main) for each in sessions]} records; see python -m parsers {format_id} {log}"
        )
    folder = GOLDEN / format_id
    folder.mkdir(exist_ok=True)
    draft(sessions[0], folder, {name: int(value) for name, _, value in (each.partition("=") for each in case)})
    shutil.copyfile(log, folder / "made-up.log")
    click.echo(f"{folder}: check each line of the three tables by hand, and call a log of your own train.log")


def rules_of(session: Session) -> Sequence[str]:
    """Return the rules that a format must give figures for; where nothing but a summary tells a speed, only its own."""
    told = any(SPEEDS & set(each.columns) for each in session.records if each.reading.span != "run" and len(each))
    return RULES if told else ("reported",)


def draft(session: Session, folder: Path, stated: dict[str, int]) -> None:
    """Write the three tables of a session."""
    facts = dict(session.facts)
    _write(folder / "records.csv", ("line", *COLUMNS), _records(session))
    _write(folder / "facts.csv", ("fact", "value", "line"), [(name, q.value, q.line) for name, q in facts.items()])
    case = {name: int(facts[name].value) for name in NUMBERS if name in facts} | stated
    _write(folder / "figures.csv", (*case, "rule", "value", "used", "first_line", "last_line"), _figures(session, case))


def _records(session: Session) -> Iterable[Sequence[object]]:
    main = session.main
    columns = [main[name].tolist() if name in main else [""] * len(main) for name in COLUMNS]
    return zip(main.lines(range(len(main))), *columns, strict=True)


def _figures(session: Session, case: dict[str, int]) -> Iterable[Sequence[object]]:
    for name in rules_of(session):
        found = rules.figure(name, session, case)
        if not isinstance(found, rules.Figure):
            raise click.ClickException(f"rule {name}: {found}; state what is missing with --case, such as devices=8")
        yield (*case.values(), name, repr(found.value), found.used, found.first_line, found.last_line)


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([head, *rows])


if __name__ == "__main__":
    main(prog_name="python -m tests.parsers.golden")
