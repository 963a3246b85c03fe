"""`figures`, `explain`, `ask`, `against`, `diff`: print figures, how they come about, and what they lack."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfledger.ingest.cli.options import assume_option, chosen_layout, layout_option, out_option, reads_logs
from perfledger.ingest.cli.state import (
    NOT_ALL,
    UNDERSTOOD,
    messages_of,
    passed_over_line,
    print_lines,
    state_of,
    status_of,
)
from perfledger.ingest.common.errors import UsageError, printable

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs


@click.command("figures")
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
    print_lines(map(message, state.of_no_run))
    print_lines(registry.added().broken)
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
            print(passed_over_line(state.ledger.passed_over), file=sys.stderr)
    return status_of(state)


def _width() -> int:
    """Return the columns of the terminal; 0 if the output goes elsewhere and must not be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


@click.command("explain")
@click.argument("log", type=click.Path(path_type=Path))
@layout_option
@assume_option
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
    print(explanation.text(log, log.as_posix(), layouts.load(chosen_layout(layout)), reader_facts.parsed(assume)))
    return UNDERSTOOD


@click.command("ask")
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
    state = state_of(inputs)
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


@click.command("against")
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
    state = state_of(inputs)
    print_lines(messages_of(state))
    found = acceptance.against(baseline, state.ledger.runs, at_least, metric, may_differ, only_common)
    print(msgspec.json.encode(found).decode() if as_json else acceptance.table(found))
    return UNDERSTOOD if found.accepted else NOT_ALL


@click.command("diff")
@click.argument("revision", metavar="REV")
@out_option
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
