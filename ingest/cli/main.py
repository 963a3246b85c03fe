"""The group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from perfledger import as_called, project_folder
from perfledger.ingest.cli.build import audit, build, check, verify
from perfledger.ingest.cli.figures import against, ask, diff, explain, figures
from perfledger.ingest.cli.state import INTERRUPTED, NOTHING, UNDERSTOOD
from perfledger.ingest.cli.submissions import accept, check_secrets, submit
from perfledger.ingest.cli.user_files import check_layout, new_format, new_suite, unwrap
from perfledger.ingest.common.errors import UsageError, printable

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
EXIT_CODES = (
    "Exit codes: 0, all inputs were recognized; 1, the rest is done and some inputs were not recognized; 2, nothing "
    "was written."
)
_ENDED = "every file is either as before or complete"
_SHORT = "Free what is short (disk, memory, open files)"
_CLOSED = "Allow this user to open it"


@click.group(context_settings=SETTINGS, epilog=f"Paths alone mean `build`. {EXIT_CODES}")
def commands() -> None:
    """Read raw training logs, compute their figures, and generate the report site."""


for _command in (
    build, check, verify, audit, figures, explain, ask, against, diff,
    new_suite, new_format, check_layout, unwrap, submit, accept, check_secrets,
):  # fmt: skip
    commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of `python -m ingest`; return its exit code."""
    return run(commands, arguments, "python -m ingest", "build")


def run(group: click.Group, arguments: Sequence[str] | None, program: str, usual: str) -> int:
    """Run a command of a group.

    Args:
        group: the commands.
        arguments: those of the process by default.
        program: its name in help.
        usual: the command that paths alone mean.

    Returns:
        0: everything was understood; 1: the rest is done, and some inputs were not; 2: nothing was written.
    """
    given = list(sys.argv[1:] if arguments is None else map(str, arguments))
    name = program.rpartition(" ")[2]
    try:
        _check_project()
        code = int(
            group.main(with_command(given, group, usual), prog_name=program, standalone_mode=False) or UNDERSTOOD
        )
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        error.show()
        return NOTHING
    except UsageError as error:
        print(printable(as_called(f"{name}: {error}")), file=sys.stderr)
        return NOTHING
    except BrokenPipeError:
        _no_more_output()  # its reader has gone; end quietly, as filters do
        return NOTHING
    except (OSError, MemoryError) as error:
        cause = getattr(error, "strerror", None) or os.strerror(errno.ENOMEM)
        where = getattr(error, "filename", None) or "the system refused something"
        remedy = _CLOSED if isinstance(error, PermissionError) else _SHORT
        print(printable(f"{name}: {where}: {cause}; {_ENDED}. {remedy}, and run again"), file=sys.stderr)
        _no_more_output()
        return NOTHING
    except (KeyboardInterrupt, click.Abort):
        print(f"{name}: interrupted; every file is either as before or complete", file=sys.stderr)
        return INTERRUPTED


def _check_project() -> None:
    """Read the user's `perfledger.toml`, if there is one, so that a mistake in it is named before all else."""
    if project_folder():
        from perfledger.ingest.common import project

        project.project()


def _no_more_output() -> None:
    """Let what is not printed yet go nowhere: Python would try once more at its end, and complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def with_command(given: Sequence[str], group: click.Group, usual: str) -> list[str]:
    """Return arguments that begin with a command: paths alone mean the usual one."""
    if given and (given[0] in group.commands or given[0] in ("-h", "--help", "--version")):
        return list(given)
    return [usual, *given]
