"""Draft a format from a log that no format reads: the module, and its golden folder.

`new-format NAME LOG` finds the lines that repeat with changing numbers, proposes a template, and asks for the names of
the numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perfledger import INSTALLED, TOP, project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import display_path
from perfledger.parsers.contract import COLUMNS, Format, FormatError, Reading
from perfledger.parsers.engine.proposal import SKIPPED, TIMED, Proposal, proposals
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError
from perfledger.parsers.engine.session import Session
from perfledger.schema.vocabulary import UNITS

#: Asks a question with a default answer; returns the answer.
Ask = Callable[[str, str], str]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
#: Proposals in the first question.
_MOST_PROPOSALS = 5
#: Characters of a sample line in that question.
_LINE_SHOWN = 160
#: Characters before and after a number in the second question.
_CONTEXT = 24
#: Lines of the log that become the golden log.
_GOLDEN_LINES = 200
_SCOPES = ("job", "node", "device")


@dataclass(frozen=True)
class FormatPlace:
    """The module, the golden folder and the id of a new format."""

    module: Path
    golden: Path
    id: str


def place(name: str) -> FormatPlace:
    """Return where a format is written: the user's project, or our own repository.

    Raises:
        UsageError: the folder has no project, or the name is wrong or taken.
    """
    project = project_folder()
    if project is None and INSTALLED:
        raise UsageError("new-format: this folder has no perfledger.toml; perfledger init DIR makes a folder with one")
    if not _NAME.fullmatch(name):
        raise UsageError(f"new-format {name}: give a name of small letters, digits and _, such as our_trainer")
    if project in (None, TOP):
        id = f"frameworks.{name}"
        found = FormatPlace(TOP / "parsers" / "frameworks" / f"{name}.py", TOP / "tests" / "golden" / id, id)
    else:
        folder = project / "formats"
        found = FormatPlace(folder / f"{name}.py", folder / "golden" / name, f"own.{name}")
    if found.module.exists():
        raise UsageError(f"new-format {name}: {display_path(found.module)} is there already; choose another name")
    return found


def create(name: str, log: Path, ask: Ask) -> str:
    """Write the module and the golden folder of a format, and return what to do next.

    Args:
        name: of the module.
        log: the log that the format is to read.
        ask: asks the user.

    Raises:
        UsageError: the name is wrong or taken, the log has no such lines, an answer is wrong, or a file cannot be
            written.
    """
    at = place(name)
    _check_unread(log)
    proposal = _chosen(log, ask)
    names = _names(proposal, ask)
    template = proposal.template(names)
    unit = _answer(ask, "Unit of the speed, or of what a step counts", proposal.unit, tuple(UNITS))
    scope = _answer(ask, "Does a speed count the whole job, a node or a device?", "job", _SCOPES)
    reading = Reading(template, unit=unit, scope=scope)  # type: ignore[arg-type]
    session = _session(log, Format(name, readings=(reading,), id=at.id))
    files = {
        at.module: _module(name, template, unit, scope),
        at.golden / "samples.toml": _samples(session, proposal, reading),
        at.golden / "records.csv": _records(session),
        at.golden / "train.log": "".join(_head(log)),
        at.golden / "cases.toml": f'log = "train.log"\nfrom = {json.dumps(log.name)}\n',
    }
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}; give a folder that can be written") from None
    return _report(at, session, proposal, log)


def _check_unread(log: Path) -> None:
    """Refuse a log that a format reads: two formats for one log would contradict each other."""
    try:
        claims = read(log).claims
    except ScanError as error:
        raise UsageError(f"new-format: {log}: {error}") from None
    if claims:
        reads = f"the format {claims[0].format.id} reads {log} already"
        raise UsageError(f"new-format: {reads}: python -m ingest figures {log}")


def _chosen(log: Path, ask: Ask) -> Proposal:
    """Return the lines that the user chooses among those that repeat."""
    found = proposals(log)[:_MOST_PROPOSALS]
    if not found:
        raise UsageError(f"new-format: {log}: no line repeats with changing numbers; give a log that has trained")
    shown = "\n".join(
        f"  {number}. {each.lines} lines like: {each.samples[0].strip()[:_LINE_SHOWN]}"
        for number, each in enumerate(found, 1)
    )
    answer = ask(f"{shown}\nWhich lines are the steps of training?", "1")
    if not answer.isdigit() or not 1 <= int(answer) <= len(found):
        raise UsageError(f"new-format: {answer!r} is not one of these lines; give a number from 1 to {len(found)}")
    return found[int(answer) - 1]


def _names(proposal: Proposal, ask: Ask) -> list[str]:
    """Return the name of each number, after the corrections of the user, such as `3=throughput 5=_`."""
    proposed = [each.name for each in proposal.numbers]
    shown = "\n".join(
        f"  {number}. {each.before[-_CONTEXT:]}\x1b[1m{each.printed[0]}\x1b[0m{each.after[:_CONTEXT]}  ->  {each.name}"
        for number, each in enumerate(proposal.numbers, 1)
    )
    known = f"Names are {', '.join(COLUMNS)}; {SKIPPED} is not read."
    answer = ask(f"{shown}\n{known}\nCorrect the names, such as 3=throughput 5=_; Enter if they are right", "")
    corrected: dict[int, str] = {}
    for word in answer.replace(",", " ").split():
        number, _, name = word.partition("=")
        if not number.isdigit() or not 1 <= int(number) <= len(proposed) or name not in {*COLUMNS, SKIPPED}:
            raise UsageError(f"new-format: {word!r} is not NUMBER=NAME, with one of these numbers and names")
        corrected[int(number) - 1] = name
    # If a name was proposed for another number, the correction takes it from there.
    others = (SKIPPED if each in corrected.values() else each for each in proposed)
    names = [corrected.get(at, each) for at, each in enumerate(others)]
    named = [each for each in names if each != SKIPPED]
    if len(named) != len(set(named)):
        raise UsageError("new-format: two numbers have one name; a line has one number of each name")
    if not TIMED & set(named) and "clock" not in named:
        raise UsageError(f"new-format: no number is a time or a speed; name one of {', '.join(sorted(TIMED))}")
    return names


def _answer(ask: Ask, question: str, usual: str, allowed: Sequence[str]) -> str:
    answer = ask(f"{question} ({', '.join(allowed)})", usual)
    if answer not in allowed:
        raise UsageError(f"new-format: {answer!r} is not one of {', '.join(allowed)}")
    return answer


def _session(log: Path, format: Format) -> Session:
    """Return the last session of a log, read with a format."""
    try:
        return read(log, format).sessions[-1]
    except FormatError as error:
        raise UsageError(f"new-format: {error}") from None


def _module(name: str, template: str, unit: str, scope: str) -> str:
    return f'''"""{name}: a line per step.

Say here which program prints these lines, over which interval a time or speed counts, and what it leaves out.
"""

from perfledger.parsers.contract import Format, Reading

FORMAT = Format(
    title="{name}",
    readings=(Reading({json.dumps(template, ensure_ascii=False)}, unit="{unit}", scope="{scope}"),),
)
'''


def _samples(session: Session, proposal: Proposal, reading: Reading) -> str:
    """Return samples.toml: the first lines with their values, and one that is cut inside its last number."""
    written = []
    for line in proposal.samples:
        found = reading.finder.search(f"{line}\n".encode())
        if found is None:
            continue
        printed = {name: value for name, value in found.groupdict().items() if value and name != "clock"}
        values = {
            name: float(value.replace(b",", b"")) * reading.scales.get(name, 1.0) for name, value in printed.items()
        }
        row = ", ".join(f"{name} = {value:.10g}" for name, value in values.items())
        written.append(f"[[line]]\ntext = {json.dumps(line, ensure_ascii=False)}\nvalues = {{ {row} }}\n")
    whole = proposal.samples[0].encode()
    found = reading.finder.search(whole + b"\n")
    half = whole[: (found.start() + found.end()) // 2] if found else b""
    text = json.dumps(half.decode("utf-8", "replace"), ensure_ascii=False)
    return "\n".join([*written, f'[[miss]]\ntext = {text}\nwhy = "cut"\n'])


def _records(session: Session) -> str:
    """Return records.csv: each record of the first lines of the log with its line and columns."""
    records = session.records[0]
    names = list(records.columns)
    count = min(len(records), _GOLDEN_LINES)
    lines = records.lines(range(count))
    rows = [[str(line), *(f"{records[name][at]:.10g}" for name in names)] for at, line in enumerate(lines)]
    kept = [row for row in rows if int(row[0]) <= _GOLDEN_LINES]
    return "\n".join(",".join(each) for each in [["line", *names], *kept]) + "\n"


def _head(log: Path) -> list[str]:
    with log.open(encoding="utf-8", errors="replace") as stream:
        return [line for _, line in zip(range(_GOLDEN_LINES), stream, strict=False)]


def _report(at: FormatPlace, session: Session, proposal: Proposal, log: Path) -> str:
    """Return what was written, what the format reads, and what to do next."""
    count = len(session.records[0])
    return "\n".join([
        f"{display_path(at.module)}: the format {at.id}; it reads {count} of {proposal.lines} such lines of {log.name}",
        f"{display_path(at.golden)}/: samples, a golden log and its records; compare them with the log",
        f"Next: python -m ingest figures {log}. Then write in the module what the numbers count.",
    ])  # fmt: skip
