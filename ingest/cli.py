"""`python -m ingest`: arguments, the order of work, messages and the exit code. Heavy modules are imported late."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.common.errors import UsageError
from ingest.common.problems import printable
from schema.records import Problem, text_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ingest.published.publications import Publications
    from ingest.read.walk import Found
    from ingest.record.ledger import Ledger
    from ingest.site import builder

UNDERSTOOD, NOT_ALL, NOTHING = 0, 1, 2
_MANY_LOGS, _MANY_BYTES = 200, 64 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0: everything was understood; 1: the site is built and some inputs were not; 2: nothing was written.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.diff is not None:
            return _compared(options)
        if options.new_suite is not None:
            return _made_suite(options)
        return _explained(options) if options.explain else _ingested(options)
    except UsageError as error:
        print(printable(f"ingest: {error}"), file=sys.stderr)
        return NOTHING
    except BrokenPipeError:
        # The reader of our output has gone; closing it quietly is what every filter does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOTHING
    except KeyboardInterrupt:
        print("ingest: interrupted; every file is either as before or complete", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ingest",
        description="Read raw training logs, compute their figures and regenerate the report site.",
        epilog="exit codes: 0 all was understood; 1 the site is built, some inputs were not; 2 nothing was written",
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="a log, or a folder with logs below it")
    parser.add_argument(
        "--layout",
        metavar="NAME|FILE",
        default="perfledger",
        help="how the tree names its logs: perfledger (default), paddle-perf, dlperf or a .toml file",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=0, help="processes that read logs; by default as many as pay off"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if docs/data/ is not what the logs say"
    )
    parser.add_argument("--strict", action="store_true", help="write nothing if any input was not understood")
    parser.add_argument(
        "--explain", metavar="LOG", type=Path, help="print how the figures of one log came to be, and stop"
    )
    parser.add_argument(
        "--diff",
        metavar="REV",
        help="print, as Markdown, which figures moved since that revision of git; reads no logs",
    )
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="the language of --diff (default: en)")
    parser.add_argument(
        "--new-suite",
        metavar="NAME",
        help="write report_templates/suites/NAME.toml, filled from the runs of that model in docs/, and stop",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one line per run; writes no site unless --out is given"
    )
    parser.add_argument(
        "--audit-to",
        metavar="FILE",
        type=Path,
        help="record what the logs give, for the audit: published/recomputed/NAME.jsonl; no site unless --out is given",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="the folder of pages and data (default: docs)")
    return parser


def _explained(options: argparse.Namespace) -> int:
    from ingest import explain
    from ingest.read import layout

    log: Path = options.explain
    if not log.is_file():
        raise UsageError(f"--explain {log}: no such log; give the path of one file")
    print(explain.text(log, log.as_posix(), layout.load(options.layout)))
    return UNDERSTOOD


def _compared(options: argparse.Namespace) -> int:
    from ingest.common import words
    from ingest.diff import compare, revision, text

    if options.paths:
        raise UsageError(f"--diff reads no logs; leave {options.paths[0]} out, or run without --diff first")
    out: Path = options.out or Path("docs")
    commit, before = revision.at(options.diff, out)
    found = compare.compare(before, revision.here(out))
    print(text.text(found, commit, words.load(), options.language), end="")
    return UNDERSTOOD


def _made_suite(options: argparse.Namespace) -> int:
    from ingest import new_suite
    from ingest.record import ledger

    print(printable(new_suite.create(options.new_suite, (options.out or Path("docs")) / ledger.FOLDER)))
    return UNDERSTOOD


def _ingested(options: argparse.Namespace) -> int:
    from ingest.common import sources
    from ingest.read import layout
    from ingest.read.walk import walk
    from ingest.record import ledger

    if not options.paths:
        raise UsageError("no PATH given; give a folder of logs, for example raw_logs/")
    layout.load(options.layout)
    before = sources.state(options.paths, options.layout)
    published = _published_figures(options)
    found = walk(options.paths)
    found = replace(found, problems=(*found.problems, *published.problems))
    out: Path = options.out or Path("docs")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file; give a folder")
    if not found.inputs:
        _report_problems(list(found.problems))
        raise UsageError("no logs in the given paths, so nothing was written")
    memory = out.absolute().parent / ".perfledger" / f"{out.absolute().name}.json"
    with _executor(options.jobs, found) as executor, _progress(found) as progress:
        collected = ledger.collect(
            found.inputs, options.layout, out, memory, executor, progress, published.rules_of, found.beside
        )
    found = replace(found, problems=(*found.problems, *collected.problems))
    problems = _problems(found, collected)
    if options.json:
        for run in collected.runs:
            print(text_of(run))
    _report_problems(problems)
    _report_words()
    status = _published(options, found, collected, problems, published, out, memory)
    if status != NOTHING and _writes_site(options):
        sources.record(out, before)
    return status


def _published_figures(options: argparse.Namespace) -> Publications:
    """What others published: in the folders beside the logs, and in that of the record which is asked for."""
    from ingest.published import publications
    from ingest.read import walk

    folders = publications.folders(options.paths)
    if record := options.audit_to:
        folder: Path = record.parent.parent
        if record.suffix != ".jsonl" or record.parent.name != publications.RECOMPUTED:
            raise UsageError(f"--audit-to {record}: give FOLDER/{publications.RECOMPUTED}/NAME.jsonl")
        if not (folder / walk.SOURCES).is_file():
            raise UsageError(f"--audit-to {record}: {folder} holds no {walk.SOURCES}, so no published figures")
        if options.check:
            raise UsageError("--audit-to writes a record, and --check writes nothing; give one of them")
        folders = list(dict.fromkeys([*(each.absolute() for each in folders), folder.absolute()]))
    return publications.read(folders)


def _published(
    options: argparse.Namespace,
    found: Found,
    collected: Ledger,
    problems: list[Problem],
    published: Publications,
    out: Path,
    memory: Path,
) -> int:
    if problems and options.strict:
        print(
            f"ingest: {_count(len(problems), 'problem')}, and --strict was given, so nothing was written",
            file=sys.stderr,
        )
        return NOTHING
    if options.check:
        return _checked(found, collected, problems, published, out, memory)
    if options.audit_to:
        _recorded(options.audit_to, collected)
    if _writes_site(options):
        _written(found, collected, published, out, memory, quiet=options.json)
    return NOT_ALL if problems else UNDERSTOOD


def _writes_site(options: argparse.Namespace) -> bool:
    return not options.check and bool(options.out or not (options.json or options.audit_to))


def _recorded(path: Path, collected: Ledger) -> None:
    from ingest.common.files import write_if_changed
    from ingest.published import audit

    try:
        write_if_changed(path, audit.record(run for run in collected.runs if run.format))
    except OSError as error:
        raise UsageError(f"{error.filename or path}: {error.strerror}; no record was written") from None


def _checked(
    found: Found, collected: Ledger, problems: list[Problem], published: Publications, out: Path, memory: Path
) -> int:
    from ingest.record import ledger

    site = _built(found, collected, published, out, memory, check=True)
    stale = [*ledger.stale(collected, out), *site.stale]
    for path in stale:
        print(
            printable(f"{out / path}: is not what the logs say; run python -m ingest again and commit the result"),
            file=sys.stderr,
        )
    if stale:
        return NOTHING
    return NOT_ALL if problems else UNDERSTOOD


def _written(found: Found, collected: Ledger, published: Publications, out: Path, memory: Path, *, quiet: bool) -> None:
    from ingest.record import ledger

    try:
        # Before the ledger: a template or a word that is wrong stops here, and nothing has been written then.
        built = _built(found, collected, published, out, memory)
        written, removed = ledger.write(collected, out, memory)
    except OSError as error:
        raise UsageError(f"{error.filename or out}: {error.strerror}; what was written before is complete") from None
    if not quiet:
        print(_table(collected))
        print(
            f"{out}/: {len(written) + len(built.written)} files written, {len(built.unchanged)} pages and charts "
            f"unchanged, {len(removed) + len(built.removed)} removed; {_count(collected.read_logs, 'log')} read"
        )


def _built(
    found: Found, collected: Ledger, published: Publications, out: Path, memory: Path, *, check: bool = False
) -> builder.Built:
    from ingest.read.redact import redact_record
    from ingest.site import builder

    return builder.build(
        collected.runs,
        [redact_record(each) for each in found.problems],
        out,
        cache=memory.with_name("cache.sqlite"),
        check=check,
        published=published,
        logs=_logs(found),
        shards=collected.shards,
    )


def _logs(found: Found) -> dict[str, tuple[Path, ...]]:
    """Where each log lies, by its path as the site states it, which may be the same of several."""
    from ingest.read.redact import redact

    places: dict[str, tuple[Path, ...]] = {}
    for each in found.inputs:
        name = redact(each.name)
        places[name] = (*places.get(name, ()), each.path)
    return places


def _problems(found: Found, collected: Ledger) -> list[Problem]:
    """Every problem once, though several sessions of a log, or several logs beside one run.json, may have met it."""
    met = [*found.problems, *(each for run in collected.runs for each in run.problems)]
    return list({text_of(each): each for each in met}.values())


def _report_problems(problems: Sequence[Problem]) -> None:
    from ingest.common.problems import said

    for each in problems:
        print(said(each), file=sys.stderr)


def _report_words() -> None:
    """Words that a new suite still lacks: no problem of an input, so the exit code does not count them."""
    from ingest.new_suite import unfilled

    for each in unfilled():
        print(printable(each), file=sys.stderr)


def _table(collected: Ledger) -> str:
    """What was read, per format."""
    from tabulate import tabulate

    formats = Counter(run.format or "not understood" for run in collected.runs)
    published = Counter(run.format for run in collected.runs if run.published)
    records: Counter[str] = Counter()
    for run in collected.runs:
        records[run.format or "not understood"] += run.observations
    rows = [[name, count, records[name], published[name]] for name, count in sorted(formats.items())]
    return str(tabulate(rows, headers=["format", "runs", "records", "published"]))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@contextmanager
def _executor(jobs: int, found: Found) -> Iterator[Executor | None]:
    """Processes, where there is enough to read that starting them pays off or the user asks for them."""
    size = sum(each.path.stat().st_size for each in found.inputs if each.path.is_file())
    worth = len(found.inputs) >= _MANY_LOGS or size >= _MANY_BYTES
    count = jobs or (os.cpu_count() or 1 if worth else 1)
    if count < 0:
        raise UsageError(f"--jobs {jobs}: must be a positive number")
    if count <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(count, len(found.inputs))) as executor:
        yield executor


@contextmanager
def _progress(found: Found) -> Iterator[Any]:
    """A bar on a terminal, for more logs than are read in a moment."""
    if len(found.inputs) < _MANY_LOGS or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=len(found.inputs), unit="log", leave=False) as bar:
        yield bar.update
