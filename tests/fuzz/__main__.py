"""`python -m tests.fuzz`: read mutated logs, keep those that are read wrongly, and count both."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path

import click

from tests.corpus import ROOT
from tests.fuzz import mutations

COMMAND = "python -m tests.fuzz --seed {seed} --first {number} --mutations 1"


@click.command()
@click.option("--mutations", "count", default=100_000, show_default=True, help="How many mutations to read.")
@click.option("--seconds", default=0.0, help="Stop after so many seconds.")
@click.option("--seed", default=1, show_default=True, help="Another seed makes other mutations.")
@click.option("--first", default=0, show_default=True, help="Number of the first mutation.")
@click.option("--goldens", is_flag=True, help="Mutate golden and own logs only, and not those of the corpora.")
@click.option("--long", "is_long", is_flag=True, help="Mutate logs whose records are repeated a thousand times.")
@click.option(
    "--keep", default=ROOT / ".fuzz", show_default=True, type=click.Path(path_type=Path), help="Folder of failing logs."
)
def main(count: int, seconds: float, seed: int, first: int, goldens: bool, is_long: bool, keep: Path) -> None:
    """Read mutated logs; exit with 1 if any is read wrongly."""
    warnings.simplefilter("error")  # As in tests: what NumPy warns of, such as the mean of nothing, is a fault of ours.
    logs = mutations.goldens() + ([] if goldens else mutations.corpora())
    click.echo(f"{len(logs)} logs, seed {seed}, mutations {first} to {first + count - 1}")
    begun, failures, number = time.monotonic(), 0, first
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        scratch = Path(name)
        for number in range(first, first + count):
            found = (mutations.long_mutation if is_long else mutations.mutation)(seed, number, logs)
            text = found.damaged(logs)
            if wrong := found.wrong(text, scratch):
                failures += 1
                command = COMMAND.format(seed=seed, number=number) + " --goldens" * goldens + " --long" * is_long
                path = mutations.kept(found, text, wrong, keep, scratch, command)
                click.echo(f"{number}: {found.name}: {wrong[0][:300]}\n  {path}\n  {command}")
            if seconds and time.monotonic() - begun > seconds:
                break
    click.echo(f"{number + 1 - first} mutations, {failures} failures, {time.monotonic() - begun:.0f} s")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main(prog_name="python -m tests.fuzz")
