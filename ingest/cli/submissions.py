"""`submit`, `accept`, `check-secrets`: runs that somebody hands in, and what must not go with them."""

from __future__ import annotations

from pathlib import Path

import click

from perfledger import as_called
from perfledger.ingest.cli.state import NOT_ALL, UNDERSTOOD
from perfledger.ingest.common.errors import UsageError, one_line, printable


@click.command("submit")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--submitter", metavar="NAME", required=True, help="Your name on GitHub.")
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default=True,
    help="Clone of the repository that the submission is written to.",
)
def submit(folders: tuple[Path, ...], submitter: str, to: Path) -> int:
    """Pack runs for submission, and check them.

    Example: submit raw_logs/resnet50/pytorch --submitter ada. The runs below FOLDER are copied to
    raw_logs/submitted/NAME/ID, without names of hosts and users, addresses and private paths, and with a manifest of
    hashes. Smoke runs and runs that were disturbed or did not complete are left out. If a check fails, nothing is
    written; a file is never replaced, and nothing is sent.
    """
    from perfledger.ingest import accept as submissions
    from perfledger.ingest import submit as packing

    packed = packing.pack(folders, submitter)
    left_out = [f"left out: {run}: {why}" for run, why in packed.left_out.items()]
    print(as_called(printable("\n".join([*left_out, submissions.table(packed.checks)]))))
    if packed.refused:
        raise UsageError("a check failed, so nothing was written; each line above says what to do")
    print(f"{packing.save(packed, to)}: {len(packed.files)} files. To open the pull request, in this clone:")
    print("\n".join(f"  {each}" for each in packing.next_commands(packed)))
    return UNDERSTOOD


@click.command("accept")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--base", metavar="REV", default="", help="FOLDER is a checkout: check what it adds to this revision.")
@click.option(
    "--bring", metavar="DIR", type=click.Path(path_type=Path), help="Copy what is accepted into this checkout."
)
def accept(folder: Path, base: str, bring: Path | None) -> int:
    """Check a submission of results, without running any of it.

    Example: accept raw_logs/submitted/lab/0123456789ab. FOLDER is the folder of one submission,
    raw_logs/submitted/SUBMITTER/ID; or with --base the checkout of a pull request, which may add submissions
    only. It fails (1) if a check does.
    """
    from perfledger.ingest import accept as submissions

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give that of a submission, or a checkout with --base")
    found = submissions.in_pull_request(folder, base) if base else [(str(folder), submissions.check(folder))]
    tables = [f"{name}:\n{submissions.table(some)}" for name, some in found]
    text = "\n".join(tables) or "nothing below raw_logs/submitted/ is touched: no submission to check"
    print(as_called(printable(text)))
    if any(each.state == "fail" for _, some in found for each in some):
        return NOT_ALL
    if bring and base:
        submissions.bring(folder, [name for name, _ in found[1:]], bring)
    return UNDERSTOOD


@click.command("check-secrets")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="List addresses, names and paths, too.")
def check_secrets(paths: tuple[Path, ...], every: bool) -> int:
    """List keys and passwords in files that are about to be committed.

    Example: check-secrets raw_logs/. It prints path, line and kind, never the key, and fails if there is one. What a
    machine says of itself is counted.
    """
    from perfledger.ingest import check_secrets as checking

    if not paths:
        raise UsageError("no PATH given; give the files or folders that are about to be committed")
    found = checking.check(paths, every=every)
    print("\n".join(map(one_line, found.lines)))
    return NOT_ALL if found.keys or found.unread else UNDERSTOOD
