"""`pytest tests/parsers/test_golden_cases.py | python -m tests.parsers.cases`: list the cases that failed.

With `--delete` their logs and tables are deleted.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from tests.parsers import golden

#: A line of pytest's summary that names a case.
_FAILED = re.compile(r"(?m)^FAILED \S+::test_case\[([^/\]]+)/([^\]]+)\]")


@click.command()
@click.option("--delete", is_flag=True, help="Delete the logs and the tables of these cases.")
def main(delete: bool) -> None:
    """Print the failed cases in pytest's output on stdin, and their descriptions."""
    for format_id, name in _FAILED.findall(sys.stdin.read()):
        click.echo(f"{format_id}/{name}: {golden.cases_of(format_id)[name]['says']}")
        if delete:
            _delete(golden.GOLDEN / format_id, name)


def _delete(folder: Path, name: str) -> None:
    """Delete the log of a case, and its table in cases.toml."""
    for path in folder.glob(f"{name}.*"):
        path.unlink()
    document = folder / "cases.toml"
    document.write_text(re.sub(rf"(?ms)^\n?\[{re.escape(name)}\]\n.*?(?=^\n?\[|\Z)", "", document.read_text()))


if __name__ == "__main__":
    main(prog_name="python -m tests.parsers.cases")
