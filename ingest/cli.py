"""`python -m ingest`: the commands, their messages and exit codes. Heavy modules are imported where they are used."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfledger import as_called, project_folder
from perfledger.ingest.common.errors import UsageError, one_line, printable

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs, State, Written
    from perfledger.ingest.last_build import Printed
    from perfledger.schema.records import Problem

UNDERSTOOD, NOT_ALL, NOTHING, INTERRUPTED = 0, 1, 2, 130
PROGRAM = "python -m ingest"
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
EXIT_CODES = (
    "Exit codes: 0, all inputs were recognized; 1, the rest is done and some inputs were not recognized; 2, nothing "
    "was written."
)
_ENDED = "every file is either as before or complete"
_SHORT = "Free what is short (disk, memory, open files)"
_CLOSED = "Allow this user to open it"
#: Names of files that the summary names at most.
_NAMES_SHOWN = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of `python -m ingest`; return its exit code."""
    return run(commands, arguments, PROGRAM, "build")


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


@click.group(context_settings=SETTINGS, epilog=f"Paths alone mean `build`. {EXIT_CODES}")
def commands() -> None:
    """Read raw training logs, compute their figures, and generate the report site."""


def _layouts(given: tuple[str, ...]) -> str:
    """Return the layouts of `--layout` options as one text; a layout may be of a folder alone."""
    from perfledger.ingest.common.project import joined_layouts

    whole = [each for each in given if "=" not in each]
    pairs = [each.rpartition("=") for each in given if "=" in each]
    for folder, _, _ in pairs:
        if not Path(folder).is_dir():
            raise UsageError(f"--layout {folder}=: {folder} is not a folder; give FOLDER=NAME")
    if len(whole) > 1:
        raise UsageError(f"--layout {whole[1]}: is the second one of all logs; give FOLDER=NAME for those of a folder")
    return joined_layouts(whole[0] if whole else "perfledger", {at: name for at, _, name in pairs})


def reads_logs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments of every command that reads a tree of logs, and give them to it as `inputs`."""

    @wraps(command)
    def reading(
        paths: tuple[str, ...], layout: tuple[str, ...], assume: tuple[str, ...], jobs: int, on: str, **others: Any
    ) -> Any:
        from perfledger.ingest.build import Inputs
        from perfledger.ingest.read import reader_facts
        from perfledger.ingest.read.objects import is_url

        here, there = [Path(each) for each in paths if not is_url(each)], [each for each in paths if is_url(each)]
        assumed = tuple(reader_facts.parsed(assume).items())
        inputs = Inputs(tuple(here), _layouts(layout), jobs, on=on, stores=tuple(there), assumed=assumed)
        return command(inputs=inputs, **others)

    options = (
        click.argument("paths", metavar="PATH...", nargs=-1),
        _layout_option,
        _assume_option,
        click.option(
            "--jobs", metavar="N", type=int, default=0, help="Processes that read logs [default: as many as pay off]."
        ),
        click.option(
            "--on",
            metavar="CLUSTER",
            default="",
            help="Read logs on a Dask cluster: dask for one of this machine, or tcp://HOST:PORT of a scheduler.",
        ),
    )
    made: Callable[..., Any] = reading
    for option in reversed(options):
        made = option(made)
    return made


_layout_option = click.option(
    "--layout",
    metavar="[FOLDER=]NAME|FILE",
    multiple=True,
    help="How the tree, or a folder of it, names its logs: one of ingest/layouts, such as paddle-perf, or a .toml "
    "file. A layout.toml in a folder is used without this option [default: perfledger].",
)
_assume_option = click.option(
    "--assume",
    metavar="KEY=VALUE",
    multiple=True,
    help="Fill in a fact that the logs do not state, such as devices=8. A facts.toml does so for some logs.",
)
_out_option = click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the pages and the data [default: docs]."
)


_ledger_option = click.option(
    "--ledger",
    metavar="DIR|URL",
    default="",
    help="Folder of the ledger, here or in an object store, as a Parquet dataset [default: data/runs below the pages].",
)
verbose_option = click.option("--verbose", is_flag=True, help="Print every problem, however many there are.")


@commands.command()
@reads_logs
@_out_option
@_ledger_option
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
    _check_call(inputs)  # before the lock, which leaves a file
    if as_json:
        with lock.held(inputs.out) if out else nullcontext():
            return _build(inputs, strict, verbose, as_json=True, writes=bool(out))
    with lock.held(inputs.out):
        asked = last_build.asked(inputs, strict, verbose)
        if found := last_build.repeated(asked, inputs):
            _print_lines(found.messages)
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

    state = _read(inputs)
    if writes:
        keep_apart(inputs)
    if as_json:
        for line in state.ledger.lines():
            print(line)
    messages = _messages(state, verbose, inputs.out if writes and not strict else None)
    _print_lines(messages)
    if _refused(state, strict):
        return NOTHING
    if not writes:
        return _status(state)
    written = builder.write(state)
    printed = last_build.Printed(messages, _table(state), written.pages, _status(state))
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

    state = _read(inputs)
    _print_lines(_messages(state, verbose))
    builder.write(state)
    print(_table(state))
    return _status(state)


@commands.command()
@reads_logs
@_out_option
@_ledger_option
@click.option("--strict", is_flag=True, help="Fail if any input was not recognized, too.")
@verbose_option
def check(inputs: Inputs, out: Path | None, ledger: str, strict: bool, verbose: bool) -> int:
    """Check that docs/data/ is what the logs say.

    Example: check raw_logs/. It writes nothing, and fails where the committed data differ.
    """
    from perfledger.ingest import build as builder

    state = _read(replace(inputs, ledger=ledger, out=out or inputs.out))
    _print_lines(_messages(state, verbose))
    if _refused(state, strict):
        return NOTHING
    stale = builder.stale(state)
    for path in stale:
        print(
            one_line(as_called(f"{path}: is not what the logs say; run {PROGRAM} again and commit the result")),
            file=sys.stderr,
        )
    return NOTHING if stale else _status(state)


@commands.command("check-layout")
@click.argument("layout", metavar="NAME|FILE")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
def check_layout(layout: str, paths: tuple[Path, ...]) -> int:
    """List the paths that a layout cannot read.

    Example: check-layout layouts/ours.toml old-logs/. Logs that fit a template and have the files that it asks for
    are not listed. No log is opened.
    """
    from perfledger.ingest.common.problems import message
    from perfledger.ingest.read import beside
    from perfledger.ingest.read import layout as layouts
    from perfledger.ingest.read.walk import walk

    if not paths:
        raise UsageError("no PATH given; give the folder that the layout describes")
    named = layouts.load(layout)
    found = named.logs_of(walk(paths))
    by_name = {each.name: beside.path_facts(each, named) for each in found.inputs}
    wrong = dict.fromkeys(message(problem) for each in by_name.values() for problem in each.problems)
    lines = [one_line(f"{name}: matches no template") for name, each in by_name.items() if each.path is None]
    print("\n".join([*lines, *wrong, f"{len(by_name)} paths, of which {len(lines)} fit no template"]))
    return NOT_ALL if lines or wrong else UNDERSTOOD


@commands.command("check-secrets")
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


@commands.command()
@click.option(
    "--from", "name", metavar="NAME", default="", help="What exported the log; without it the names are listed."
)
@click.argument("export", metavar="FILE", required=False, type=click.Path(path_type=Path))
def unwrap(name: str, export: Path | None) -> int:
    """Print the log that another tool exported, as its program printed it.

    Example: unwrap --from loki answer.json > train.log
    """
    from perfledger.parsers.unwrap import FILTERS

    if name not in FILTERS or export is None:
        filters = "\n".join(f"  {each:9} {str(made.__doc__).partition(chr(10))[0]}" for each, made in FILTERS.items())
        raise UsageError(f"give --from NAME FILE, where NAME is one of\n{filters}")
    try:
        stream = export.open("rb")
    except OSError as error:
        raise UsageError(f"{export}: {error.strerror}; check the path") from None
    with stream:
        try:
            for line in FILTERS[name](stream):
                sys.stdout.buffer.write(line)
        except ValueError as error:
            raise UsageError(f"{export}: {error}") from None
    return UNDERSTOOD


@commands.command()
@click.argument("log", type=click.Path(path_type=Path))
@_layout_option
@_assume_option
def explain(log: Path, layout: tuple[str, ...], assume: tuple[str, ...]) -> int:
    """Print how the figures of one log are computed.

    Example: explain logs/train.log. It prints format, facts and their sources, records used and left out, arithmetic
    and result.
    """
    from perfledger.ingest import explain as explanation
    from perfledger.ingest.read import layout as layouts
    from perfledger.ingest.read import reader_facts

    if not log.is_file():
        what = "is a folder" if log.is_dir() else "is no file" if os.path.lexists(log) else "no such log"
        raise UsageError(f"explain {log}: {what}; give the path of one file")
    print(explanation.text(log, log.as_posix(), layouts.load(_layouts(layout)), reader_facts.parsed(assume)))
    return UNDERSTOOD


@commands.command()
@reads_logs
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, which also names the formats known.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
@click.option("--markdown", is_flag=True, help="Print the rows as a table in Markdown.")
@click.option("--cases", is_flag=True, help="Print a row per case instead: median over its repeats, interval, spread.")
@click.option(
    "--format", "export", type=click.Choice(["bencher", "github-action-benchmark", "openmetrics"]),
    help="Print the cases as such a service reads them.",
)  # fmt: skip
def figures(inputs: Inputs, as_json: bool, as_csv: bool, markdown: bool, cases: bool, export: str | None) -> int:
    """Print a row for each log: its figure, or why it has none. Nothing is written.

    Example: perfledger figures logs/ --csv > figures.csv. The 95 % interval is the bootstrap interval of the median of
    the case, from five repeats on. A row says which other numbers of the log support its figure.
    """
    import msgspec

    from perfledger.ingest import build as builder
    from perfledger.ingest import exports
    from perfledger.ingest import figures as printing
    from perfledger.ingest.common.problems import message
    from perfledger.parsers.engine import registry

    if not inputs.paths:
        raise UsageError("no PATH given; give a folder of logs, for example raw_logs/")
    if as_json + as_csv + markdown + cases + bool(export) > 1:
        raise UsageError("give one of --json, --csv, --markdown, --cases and --format")
    state = builder.read(inputs)
    found = printing.of_runs(state.ledger.runs)
    if as_json:
        print(msgspec.json.encode(found).decode())
        return UNDERSTOOD
    _print_lines(map(message, state.of_no_run))
    _print_lines(registry.added().broken)
    if not found.runs:
        raise UsageError("no logs in the given paths, so there are no figures")
    if export:
        print(exports.FORMATS[export](found))
    elif as_csv:
        print(printing.csv(found), end="")
    elif cases:
        print(printing.table_of_cases(found))
    else:
        style, width = ("github", 0) if markdown else ("simple", _width())
        print(printing.table(found, style, width))
        if state.ledger.passed_over:
            print(_passed_over(state.ledger.passed_over), file=sys.stderr)
    return _status(state)


@commands.command()
@reads_logs
@click.option("--to", metavar="FILE", default="", help="Where to write it; - prints it [default: facts.toml of PATH].")
def ask(inputs: Inputs, to: str) -> int:
    """Write a facts.toml with blanks for facts that logs leave open.

    Example: perfledger ask logs/, then fill in logs/facts.toml. Logs of a folder that lack the same facts have one
    entry. A file that is there stays as it is.
    """
    from perfledger.ingest import ask as asking
    from perfledger.ingest.read.walk import labels

    target = asking.place(inputs.paths)
    state = _read(inputs)
    (folder,) = labels(inputs.paths)
    found = asking.text(state.ledger.runs, folder)
    if not found:
        print("all logs state their cases: nothing is missing")
    elif to == "-":
        print(printable(found), end="")
    else:
        target = Path(to) if to else target
        asking.write(target, found)
        print(f"{target}: fill in the blanks that you know, then read the logs again")
    return UNDERSTOOD


def _width() -> int:
    """Return the columns of the terminal; 0 if the output goes elsewhere and must not be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


@commands.command()
@click.argument("baseline", metavar="BASELINE", type=click.Path(path_type=Path))
@reads_logs
@click.option(
    "--at-least", metavar="SHARE", type=float, default=0.95, show_default=True, help="How good each figure must be."
)
@click.option(
    "--metric",
    metavar="NAME",
    default="throughput",
    show_default=True,
    help="Which figure: latency, memory, energy, ...",
)
@click.option(
    "--may-differ",
    type=click.Choice(["hardware", "version"]),
    multiple=True,
    help="Compare with another hardware or framework version, too; may be given twice.",
)
@click.option("--only-common", is_flag=True, help="Leave out cases that have no figure here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def against(
    inputs: Inputs,
    baseline: Path,
    at_least: float,
    metric: str,
    may_differ: tuple[str, ...],
    only_common: bool,
    as_json: bool,
) -> int:
    """Compare results with a baseline: the acceptance test of a machine.

    Example: against results.json my-logs/ --at-least 0.95. BASELINE is the results.json of a site, or what
    `figures --json` printed. Each of its cases is looked for below PATH, and its figure must be at least SHARE times as
    good. A ratio above 1 is better, also where less is. It fails
    (1) if a figure is below that or missing; with 2, the input is wrong.
    """
    import msgspec

    from perfledger.ingest import against as acceptance
    from perfledger.schema.vocabulary import METRICS

    if metric not in (acceptance.THROUGHPUT, *METRICS):
        raise UsageError(
            f"--metric {metric}: no such figure; give one of {acceptance.THROUGHPUT}, {', '.join(METRICS)}"
        )
    if not 0 < at_least < float("inf"):
        raise UsageError(f"--at-least {at_least:g}: must be a positive number, such as 0.95")
    state = _read(inputs)
    _print_lines(_messages(state))
    found = acceptance.against(baseline, state.ledger.runs, at_least, metric, may_differ, only_common)
    print(msgspec.json.encode(found).decode() if as_json else acceptance.table(found))
    return UNDERSTOOD if found.accepted else NOT_ALL


@commands.command()
@click.argument("revision", metavar="REV")
@_out_option
@click.option(
    "--language", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the text."
)
def diff(revision: str, out: Path | None, language: str) -> int:
    """Print which figures moved since a revision of git.

    Example: diff main. It prints Markdown, from the committed data alone.
    """
    from perfledger.ingest.common import words
    from perfledger.ingest.diff import compare, text
    from perfledger.ingest.diff import revision as revisions

    folder = out or Path("docs")
    commit, before = revisions.at(revision, folder)
    found = compare.compare(before, revisions.here(folder))
    print(text.text(found, commit, words.own(), language), end="")
    return UNDERSTOOD


@commands.command()
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


@commands.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--base", metavar="REV", default="", help="FOLDER is a checkout: check what it adds to this revision.")
@click.option(
    "--bring", metavar="DIR", type=click.Path(path_type=Path), help="Copy what is accepted into this checkout."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def accept(folder: Path, base: str, bring: Path | None, as_json: bool) -> int:
    """Check a submission of results, without running any of it.

    Example: accept raw_logs/submitted/lab/0123456789ab. FOLDER is the folder of one submission,
    raw_logs/submitted/SUBMITTER/ID; or with --base the checkout of a pull request, which may add submissions
    only. It fails (1) if a check does.
    """
    import msgspec

    from perfledger.ingest import accept as submissions

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give that of a submission, or a checkout with --base")
    found = submissions.in_pull_request(folder, base) if base else [(str(folder), submissions.check(folder))]
    checks = [each for _, some in found for each in some]
    if as_json:
        print(msgspec.json.encode(checks).decode())
    else:
        tables = [f"{name}:\n{submissions.table(some)}" for name, some in found]
        text = "\n".join(tables) or "nothing below raw_logs/submitted/ is touched: no submission to check"
        print(as_called(printable(text)))
    if any(each.state == "fail" for each in checks):
        return NOT_ALL
    if bring and base:
        submissions.bring(folder, [name for name, _ in found[1:]], bring)
    return UNDERSTOOD


@commands.command()
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
        _check_call(inputs)
    verified = verifying.fast(site) if fast else verifying.rebuilt(site, inputs)
    _print_lines(map(one_line, verified.wrong))
    print(printable(as_called(verified.summary)))
    return NOTHING if verified.wrong else UNDERSTOOD


@commands.command("new-suite")
@click.argument("name")
@_out_option
def new_suite(name: str, out: Path | None) -> int:
    """Write the file of a model's page.

    Example: new-suite vgg16. The file, suites/vgg16.toml of the project, is filled from the runs of that model in
    docs/data.
    """
    from perfledger.ingest import new_suite as creation
    from perfledger.ingest.record.store import FOLDER

    print(printable(creation.create(name, (out or Path("docs")) / FOLDER)))
    return UNDERSTOOD


@commands.command("new-format")
@click.argument("name")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Take every proposal, and ask nothing.")
def new_format(name: str, log: Path, yes: bool) -> int:
    """Draft a format for a log that no format reads.

    Example: new-format our_trainer train.log. It finds the lines that repeat with changing numbers, asks what the
    numbers are, and writes formats/our_trainer.py of the project with a golden folder.
    """
    from perfledger.ingest import new_format as creation

    def ask(question: str, usual: str) -> str:
        return usual if yes else str(click.prompt(question, default=usual, show_default=bool(usual)))

    print(printable(as_called(creation.create(name, log, ask))))
    return UNDERSTOOD


@commands.command()
@reads_logs
@click.option(
    "--to",
    "record",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="File of the record: published/recomputed/NAME.jsonl in the folder of the published results.",
)
@click.option("--strict", is_flag=True, help="Record nothing if any input was not recognized.")
@verbose_option
def audit(inputs: Inputs, record: Path, strict: bool, verbose: bool) -> int:
    """Record what logs give, for the audit.

    Example: audit logs/ --to published/recomputed/lab.jsonl. The audit compares published figures with such records; no
    site is written.
    """
    from perfledger.ingest.common import lock
    from perfledger.ingest.common.files import remove_unfinished, write_if_changed
    from perfledger.ingest.published import audit as audits

    state = _read(replace(inputs, published=(_published_folder(record),)))
    _print_lines(_messages(state, verbose))
    if _refused(state, strict):
        return NOTHING
    try:
        with lock.held(record.parent):
            remove_unfinished([record.parent])
            write_if_changed(record, audits.record(run for run in state.ledger.runs if run.format))
    except OSError as error:
        raise UsageError(f"{error.filename or record}: {error.strerror}; no record was written") from None
    return _status(state)


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


def _check_call(inputs: Inputs) -> None:
    from perfledger.ingest import build as builder

    if not (inputs.paths or inputs.stores):
        raise UsageError("no PATH given; give a folder of logs, for example raw_logs/")
    if inputs.jobs < 0:
        raise UsageError(f"--jobs {inputs.jobs}: must be a positive number")
    builder.checked(inputs)


def _read(inputs: Inputs) -> State:
    from perfledger.ingest import build as builder

    _check_call(inputs)
    state = builder.read(inputs)
    if not state.ledger.runs and (state.ledger.passed_over or not state.logs):
        _print_lines(_messages(state))
        raise UsageError("no logs in the given paths, so nothing was written")
    return state


def _messages(state: State, verbose: bool = False, out: Path | None = None) -> tuple[str, ...]:
    """Return the problems of inputs, and the words that a new suite lacks.

    `out` is the folder of the file of all problems; None if the file is not written.
    """
    from perfledger.ingest.common import suites
    from perfledger.ingest.common.problems import file_of, printed
    from perfledger.ingest.new_suite import unfilled
    from perfledger.parsers.engine import registry

    file = printable(str(out / file_of(state.ledger.runs))) if out else ""
    found = printed(state.problems if verbose else _wrong(state), file, verbose=verbose)
    return (*found, *map(printable, (*unfilled(suites.paths()), *registry.added().broken)))


def _print_lines(messages: Iterable[str]) -> None:
    for each in messages:
        print(each, file=sys.stderr)


def _refused(state: State, strict: bool) -> bool:
    """Return whether `--strict` forbids to continue, and print a message if so."""
    wrong = _wrong(state)
    if wrong and strict:
        count = f"{len(wrong)} problem{'s' if len(wrong) > 1 else ''}"
        print(f"ingest: {count}, and --strict was given, so nothing was written", file=sys.stderr)
    return bool(wrong) and strict


def _status(state: State) -> int:
    from perfledger.parsers.engine import registry

    return NOT_ALL if _wrong(state) or registry.added().broken else UNDERSTOOD


def _wrong(state: State) -> list[Problem]:
    """Return the problems, without notes on facts that the log states itself."""
    from perfledger.ingest.common.problems import NOTE

    return [each for each in state.problems if each.code != NOTE]


def _table(state: State) -> str:
    """Return a table of the runs by format."""
    from tabulate import tabulate

    names = [run.format or "not recognized" for run in state.ledger.runs]
    runs, published, records, unplaced = Counter(names), Counter[str](), Counter[str](), Counter[str]()
    for name, run in zip(names, state.ledger.runs, strict=True):
        published[name] += run.published
        records[name] += run.observations
        unplaced[name] += run.unplaced
    rows = [[name, count, records[name], published[name], unplaced[name]] for name, count in sorted(runs.items())]
    others = f"\n{_passed_over(state.ledger.passed_over)}" if state.ledger.passed_over else ""
    ask = "\nnot placed: the log does not state all facts of the case; `ask` writes a facts.toml with blanks"
    headers = ["format", "runs", "records", "published", "not placed"]
    return tabulate(rows, headers=headers) + (ask if any(unplaced.values()) else "") + others


def _summary(printed: Printed, out: Path, written: Written | None = None, read: int = 0) -> str:
    """Return the table of the runs, and a line with the numbers of written files; without `written`, no file was."""
    counts = (written.written, written.unchanged, written.removed) if written else (0, printed.pages, 0)
    files = "{} files written, {} pages unchanged, {} removed".format(*counts)
    return f"{printed.table}\n{out}/: {files}; {read} log{'' if read == 1 else 's'} read"


def _passed_over(names: Sequence[str]) -> str:
    """Return one line on files that are not logs: their number, and their most frequent names."""
    often = Counter(name.rpartition("/")[2] for name in names).most_common(_NAMES_SHOWN)
    shown = ", ".join(f"{name} ({times})" if times > 1 else name for name, times in often)
    more = ", …" if sum(times for _, times in often) < len(names) else ""
    count = f"{len(names)} file{'' if len(names) == 1 else 's'}"
    return one_line(f"skipped: {count} that no format reads and that are not named like logs: {shown}{more}")
