"""`python -m bench [NAME...] [--gib N] [--logs N...]`: run the measurements and print one table of ratios."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from tabulate import tabulate

from bench import explorer, front_page, nodes, reading, redaction, scale
from bench.measure import Row

MEASUREMENTS: Mapping[str, Callable[..., list[Row]]] = {
    "log": reading.long_log,
    "tree": reading.tree,
    "scale": scale.scale,
    "workers": scale.workers,
    "formats": reading.formats,
    "redaction": redaction.redaction,
    "phone": front_page.phone,
    "explorer": explorer.explorer,
    "questions": nodes.questions,
}
HEAD = ("what", "seconds", "against", "seconds", "ratio", "goal", "peak MiB")


@click.command(epilog=f"The measurements: {', '.join(MEASUREMENTS)}.")
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(list(MEASUREMENTS)))
@click.option("--gib", default=1.0, show_default=True, help="Size of the long log in GiB.")
@click.option("--logs", multiple=True, type=int, help="Numbers of logs of `scale` [default: 1000 and 10000].")
def main(names: tuple[str, ...], gib: float, logs: tuple[int, ...]) -> None:
    """Run the named measurements, or all of them, and print one table of ratios."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or MEASUREMENTS:
            click.echo(f"measuring {name} ...", err=True)
            options = {"gib": gib} if name == "log" else {"counts": logs} if name == "scale" and logs else {}
            rows += MEASUREMENTS[name](Path(folder), **options)
    click.echo(tabulate([each.cells() for each in rows], headers=HEAD, floatfmt=".2f"))


if __name__ == "__main__":
    main(prog_name="python -m bench")
