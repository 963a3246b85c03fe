"""`build`, `check`, `verify`, `audit`: write a site or a record of logs, or compare one with its logs."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfledger import as_called
from perfledger.ingest.cli.options import ledger_option, out_option, reads_logs, verbose_option
from perfledger.ingest.cli.state import (
    NOTHING,
    UNDERSTOOD,
    check_call,
    messages_of,
    print_lines,
    state_of,
    status_of,
    table_of,
    wrong_of,
)
from perfledger.ingest.common.errors import UsageError, one_line, printable

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs, Written
    from perfledger.ingest.last_build import Printed


@click.command("build")
@reads_logs
@out_option
@ledger_option
@click.option("--strict", is_flag=True, help="Write nothing if any input was not recognized.")
@click.option("--json", "as_json", is_flag=True, help="Print one line per run; write no site unless --out is given.")
@verbose_option
def build(inputs: Inputs, out: Path | None, ledger: str, strict: bool, as_json: bool, verbose: bool) -> int:
    """Read logs and write the pages of a site, for MkDocs.

    Example: build raw_logs/, then mkdocs serve. It writes pages in both languages, charts and data.
    """
    from perfledger.ingest import last_build
    from perfledger.ingest.common import lock

    inputs = replace(inputs, ledger=ledger, out=out or inputs.out)
    check_call(inputs)  # before the lock, which leaves a file
    if as_json:
        with lock.held(inputs.out) if out else nullcontext():
            return _build(inputs, strict, verbose, as_json=True, writes=bool(out))
    with lock.held(inputs.out):
        asked = last_build.asked(inputs, strict, verbose)
        if found := last_build.repeated(asked, inputs):
            print_lines(found.messages)
            print(_summary(found, inputs.out))
            return found.status
        return _build(inputs, strict, verbose, asked)


def keep_apart(inputs: Inputs, option: str = "--out") -> None:
    """Refuse to write pages where logs are read: the next run would read them as logs.

    Raises:
        UsageError: the folder of the pages is one of the given paths, or lies below one where files are looked for.
    """
    out = inputs.out.resolve()
    for path in inputs.paths:
        top = path.resolve()
        if out.is_relative_to(top) and not any(each.startswith(".") for each in out.relative_to(top).parts):
            raise UsageError(
                f"{option} {inputs.out}: lies in {path}, whose files are read as logs, so nothing was written; give "
                "a folder outside it, or one whose name begins with a dot"
            )


def _build(
    inputs: Inputs, strict: bool, verbose: bool, asked: str = "", *, as_json: bool = False, writes: bool = True
) -> int:
    """Build; `asked` identifies the build in its note (`ingest.last_build`), empty if there is to be none."""
    from perfledger.ingest import build as builder
    from perfledger.ingest import last_build

    state = state_of(inputs)
    if writes:
        keep_apart(inputs)
    if as_json:
        for line in state.ledger.lines():
            print(line)
    messages = messages_of(state, verbose, inputs.out if writes and not strict else None)
    print_lines(messages)
    if strict and (wrong := len(wrong_of(state))):
        count = f"{wrong} problem{'s' if wrong > 1 else ''}"
        print(f"ingest: {count}, and --strict was given, so nothing was written", file=sys.stderr)
        return NOTHING
    if not writes:
        return status_of(state)
    written = builder.write(state)
    printed = last_build.Printed(messages, table_of(state), written.pages, status_of(state))
    if not as_json:
        print(_summary(printed, inputs.out, written, state.ledger.read_logs))
    if asked and written.lasting:
        last_build.note(asked, inputs, printed)
    return printed.status


def write_pages(inputs: Inputs, verbose: bool) -> int:
    """Write the pages of a site that is built at once; print problems, and a table of the formats and their runs.

    Returns:
        the exit code of the command.
    """
    from perfledger.ingest import build as builder

    state = state_of(inputs)
    print_lines(messages_of(state, verbose))
    builder.write(state)
    print(table_of(state))
    return status_of(state)


def _summary(printed: Printed, out: Path, written: Written | None = None, read: int = 0) -> str:
    """Return the table of the runs, and a line with the numbers of written files; without `written`, no file was."""
    counts = (written.written, written.unchanged, written.removed) if written else (0, printed.pages, 0)
    files = "{} files written, {} pages unchanged, {} removed".format(*counts)
    return f"{printed.table}\n{out}/: {files}; {read} log{'' if read == 1 else 's'} read"


@click.command("check")
@reads_logs
@out_option
@ledger_option
@verbose_option
def check(inputs: Inputs, out: Path | None, ledger: str, verbose: bool) -> int:
    """Check that docs/data/ is what the logs say.

    Example: check raw_logs/. It writes nothing, and fails where the committed data differ.
    """
    from perfledger.ingest import build as builder

    state = state_of(replace(inputs, ledger=ledger, out=out or inputs.out))
    print_lines(messages_of(state, verbose))
    stale = builder.stale(state)
    for path in stale:
        print(
            one_line(as_called(f"{path}: is not what the logs say; run python -m ingest again and commit the result")),
            file=sys.stderr,
        )
    return NOTHING if stale else status_of(state)


@click.command("verify")
@click.argument("site", metavar="SITE", type=click.Path(path_type=Path))
@reads_logs
@click.option("--fast", is_flag=True, help="Build nothing: check hashes and links inside SITE only.")
def verify(site: Path, inputs: Inputs, fast: bool) -> int:
    """Build a site again from its logs, and compare every byte.

    Example: verify site raw_logs/. SITE is the folder of a built site. It takes as long as a build without a cache:
    about a minute for a thousand pages. A site that was built with a mkdocs.yml is verified in the folder of that file,
    at the same commit. The command writes nothing, and names the first files that differ. With --fast, no log is read.
    """
    from perfledger.ingest import verify as verifying

    if bool(inputs.paths or inputs.stores) == fast:
        raise UsageError("verify: give the logs that the site was built from, or --fast without logs")
    if not fast:
        check_call(inputs)
    verified = verifying.fast(site) if fast else verifying.rebuilt(site, inputs)
    print_lines(map(one_line, verified.wrong))
    print(printable(as_called(verified.summary)))
    return NOTHING if verified.wrong else UNDERSTOOD


@click.command("audit")
@reads_logs
@click.option(
    "--to",
    "record",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="File of the record: published/recomputed/NAME.jsonl in the folder of the published results.",
)
@verbose_option
def audit(inputs: Inputs, record: Path, verbose: bool) -> int:
    """Record what logs give, for the audit.

    Example: audit logs/ --to published/recomputed/lab.jsonl. The audit compares published figures with such records; no
    site is written.
    """
    from perfledger.ingest.common import lock
    from perfledger.ingest.common.files import remove_unfinished, write_if_changed
    from perfledger.ingest.published import audit as audits

    state = state_of(replace(inputs, published=(_published_folder(record),)))
    print_lines(messages_of(state, verbose))
    try:
        with lock.held(record.parent):
            remove_unfinished([record.parent])
            write_if_changed(record, audits.record(run for run in state.ledger.runs if run.format))
    except OSError as error:
        raise UsageError(f"{error.filename or record}: {error.strerror}; no record was written") from None
    return status_of(state)


def _published_folder(record: Path) -> Path:
    """Return the folder of published figures that a record belongs to."""
    from perfledger.ingest.published import publications
    from perfledger.ingest.read import walk

    folder = record.parent.parent
    if record.suffix != ".jsonl" or record.parent.name != publications.RECOMPUTED:
        raise UsageError(f"--to {record}: give FOLDER/{publications.RECOMPUTED}/NAME.jsonl")
    if not (folder / walk.SOURCES).is_file():
        raise UsageError(f"--to {record}: {folder} holds no {walk.SOURCES}, so no published results")
    return folder.absolute()
