"""`python -m tests.fuzz`: read mutated logs, keep those that are read wrongly, and count both."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from tests.corpus import ROOT
from tests.fuzz import mutations, properties
from tests.fuzz.mutations import Apart

#: Default number of mutations of each kind: logs, long logs, and folders of logs.
KINDS = {"short": 100_000, "long": 200, "folder": 10}
#: Bytes of a long log.
LEAST = 9 << 20
#: Logs in a folder.
PER_FOLDER = 1_000


@dataclass(frozen=True)
class Source:
    """Mutations of one seed; failing logs are written to `keep`."""

    seed: int
    logs: Sequence[Path]
    apart: Apart
    keep: Path

    def wrong(self, kind: str, number: int, command: str) -> list[str]:
        """Read a mutation by its number, and return its faults and the path of its log."""
        if kind == "folder":
            return self._wrong_folder(range(number * PER_FOLDER, (number + 1) * PER_FOLDER))
        least = LEAST if kind == "long" else 0
        found = (mutations.long_mutation if least else mutations.mutation)(self.seed, number, self.logs)
        text = found.damaged(self.logs, least)
        wrong = self.apart.wrong(found, text)
        return wrong and [
            f"{found.name}: {wrong[0][:300]}",
            str(mutations.kept(found, text, wrong, self.apart, self.keep, command)),
        ]

    def _wrong_folder(self, numbers: range) -> list[str]:
        found = (mutations.mutation(self.seed, number, self.logs) for number in numbers)
        texts = [each.changed(each.damaged(self.logs)) for each in found]
        with tempfile.TemporaryDirectory(prefix="fuzz-") as top:
            return properties.neighbours_lost(texts, Path(top) / "logs")


@click.command()
@click.option("--kind", type=click.Choice(list(KINDS)), help="Read mutations of this kind only.")
@click.option("--mutations", "count", type=int, help=f"How many to read of each kind; by default {KINDS}.")
@click.option("--seconds", type=float, default=float("inf"), help="Stop each kind after so many seconds.")
@click.option("--seed", default=1, show_default=True, help="Another seed makes other mutations.")
@click.option("--first", default=0, show_default=True, help="Number of the first mutation.")
@click.option("--goldens", is_flag=True, help="Mutate golden and own logs only, and not those of the corpora.")
@click.option(
    "--keep", default=ROOT / ".fuzz", show_default=True, type=click.Path(path_type=Path), help="Folder of failing logs."
)
def main(kind: str | None, count: int | None, seconds: float, seed: int, first: int, goldens: bool, keep: Path) -> None:
    """Read mutated logs; exit with 1 if any is read wrongly."""
    warnings.simplefilter("error")  # As in tests: what NumPy warns of, such as the mean of nothing, is a fault of ours.
    logs, failures = mutations.goldens() + ([] if goldens else mutations.corpora()), 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch, closing(Apart(Path(scratch))) as apart:
        source = Source(seed, logs, apart, keep)
        for each in [kind] if kind else KINDS:
            begun, number, wrong_ones = time.monotonic(), first, 0
            for number in range(first, first + (count or KINDS[each])):
                command = f"python -m tests.fuzz --kind {each} --seed {seed} --first {number} --mutations 1"
                command += " --goldens" * goldens
                if wrong := source.wrong(each, number, command):
                    wrong_ones += 1
                    click.echo("\n  ".join([f"{each} {number}:", *wrong[:20], command]))
                if time.monotonic() - begun > seconds:
                    break
            took = time.monotonic() - begun
            click.echo(f"{each}, seed {seed}: {number + 1 - first} mutations, {wrong_ones} failures, {took:.0f} s")
            failures += wrong_ones
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main(prog_name="python -m tests.fuzz")
