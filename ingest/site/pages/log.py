"""A log's page: the lines that other pages link to, with their surroundings.

A page shows a short log whole. For a long log it shows head, tail and the surroundings of every line with a link, so
that a page never grows with its log. Lines are counted as `parsers.engine.scan` does, by the newline alone; their text
is cleaned, redacted and escaped. Log lines have no language, so one HTML page serves both: it does not pass MkDocs.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, NamedTuple

from markupsafe import Markup

from perfledger.ingest.common import numbers
from perfledger.ingest.common.files import file_hash
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.project import project
from perfledger.ingest.common.words import LANGUAGES, Text, Words, coded, phrase, word_for
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.rules import HEADLINE, used_records
from perfledger.ingest.compute.throughput import throughput
from perfledger.ingest.read.names import names_of
from perfledger.ingest.site import addresses, run_names
from perfledger.ingest.site.model import Site, reason
from perfledger.ingest.site.render.environment import environment
from perfledger.ingest.site.render.text import escape, verbatim
from perfledger.ingest.site.run_tables import fact_line, outcome
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError, check, open_log, unstyled
from perfledger.schema.records import Figure, MetricFigure, NoFigure, Reason, Run, Witness
from perfledger.schema.redaction.names import Names
from perfledger.schema.redaction.redact import redacted_text
from perfledger.schema.redaction.rules import KINDS

#: Lines of a log that is shown whole, at most.
WHOLE_LINES = 1500
#: Bytes of a log that is shown whole, at most.
WHOLE_BYTES = 400_000
#: Lines of the head of a longer log.
HEAD = 120
#: Lines of the tail of a longer log.
TAIL = 60
#: Lines on either side of a linked line of a longer log.
AROUND = 12
#: First characters of a line that are shown; a longer line is cut, since a progress bar may have many megabytes.
FRONT = 1500
#: Last characters of a line that are shown.
BACK = 500
#: Records are looked up only in logs of at most this many bytes.
LOOKED_UP = 64 << 20
#: Part of the first and the last line of a private key, whose other lines look like any text.
_PRIVATE_KEY = b"PRIVATE KEY-----"
#: Characters that are redacted beyond the shown ones.
LOOKED_AT = 300
#: A word that may be cut at the end of a text.
_CUT_OFF = re.compile(r"(?<![\w.+/-])[\w.+/-]{16,}+\Z")
#: A word that may be cut at the beginning of a text.
_CUT_ON = re.compile(r"\A[\w.+/-]+")
#: Bytes of a piece of a long line.
_READ = 1 << 14
#: Last bytes of a long line that stay in memory.
_KEPT = 1 << 12
#: Kinds of marks in the order of the legend, each with its CSS class; others have no colour.
_KINDS = {"window": "w", "used": "u", "left_out": "d", "fact": "f", "outcome": "o", "problem": "p"}


@dataclass(frozen=True)
class LineMark:
    """Lines that a page links to, first and last, and what they state."""

    first: int
    last: int
    kind: str
    what: Text

    @property
    def anchor(self) -> str:
        """The anchor of a link to them: `L161-L200`, or `L161`."""
        return addresses.log_anchor(self.first, self.last)


@dataclass(frozen=True)
class Line:
    """One shown line; `more` characters are left out of its middle."""

    number: int
    front: str
    more: int = 0
    back: str = ""


@dataclass(frozen=True)
class LineRange:
    """Consecutive lines, `skipped` lines after the range before."""

    lines: tuple[Line, ...]
    skipped: int = 0

    @property
    def first(self) -> int:
        """Number of its first line."""
        return self.lines[0].number

    @property
    def last(self) -> int:
        """Number of its last line."""
        return self.lines[-1].number


@dataclass(frozen=True)
class VisibleLog:
    """The lines of a log that its page shows; `state` is empty, or why it shows none.

    `taken` counts what redaction took out of them, by kind.
    """

    state: str = ""
    ranges: tuple[LineRange, ...] = ()
    lines: int = 0
    used: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()
    taken: tuple[tuple[str, int], ...] = ()

    @property
    def skipped(self) -> int:
        """Number of lines after the last shown one."""
        return self.lines - self.ranges[-1].last if self.ranges else 0


def document(site: Site, words: Words, run: Run) -> bytes:
    """Return the page of a log as HTML, with its words in both languages; in parts, if it is long."""
    found, marked = visible_log(site, run), marks(run)
    shown = {line.number for each in found.ranges for line in each.lines}
    template = environment().get_template("log.html.j2")
    written = template.render(
        run=run,
        site=project().title or "Perfledger",
        title=words.say("en", phrase("title.log", run=run_names.name(site, run))),
        runs=[(language, Markup(address)) for language, address in _run_pages(site, run)],
        log=found,
        sections=[(each, Markup(html.replace("&#34;", '"'))) for each, html in sections(run, found)],
        # The lines of a log that cannot be shown still need the anchors of the links to them.
        left_out=sorted({each.anchor for each in marked if each.first not in shown}),
        marks=[(alike[0], [each.what for each in alike]) for alike in by_key(marked, _place).values()],
        keys=[(name, phrase(f"log.key_{name}")) for name in _KINDS],
        two=partial(_two, words),
        phrase=phrase,
        count=numbers.count,
    )
    return written.encode()


def sections(run: Run, found: VisibleLog) -> list[tuple[LineRange, str]]:
    """Return the shown ranges of lines with their HTML: each line with its anchors and classes."""
    classes: dict[int, list[str]] = {}
    anchors: dict[int, set[str]] = {}
    if headline := run.headline:
        shown = (line.number for each in found.ranges for line in each.lines)
        classes = {line: ["w"] for line in shown if headline.first_line <= line <= headline.last_line}
    for kind, numbered in (("used", found.used), ("left_out", found.left_out)):
        for line in numbered:
            classes.setdefault(line, []).append(_KINDS[kind])
    for mark in marks(run):
        if mark.kind in ("fact", "outcome", "problem"):
            classes.setdefault(mark.first, []).append(_KINDS[mark.kind])
        if mark.last > mark.first:
            anchors.setdefault(mark.first, set()).add(mark.anchor)
    return [(each, _section(each, classes, anchors)) for each in found.ranges]


def shows_lines(page: bytes) -> bool:
    """Return whether a page shows lines of its log, and not only why it cannot."""
    return b'<pre class="pl-log"' in page


def state_of(site: Site, run: Run) -> str:
    """Return the reason that the log's lines are absent; empty if the log is the one that was read."""
    return _file_as_read(site.logs.get(run.path, ()), run.sha256)[1]


def _run_pages(site: Site, run: Run) -> Iterator[tuple[str, str]]:
    """Yield the address of the run's page in each language, from the page of its log."""
    for language in LANGUAGES:
        folder = "" if language == LANGUAGES[0] else f"{language}/"
        yield language, f"../{folder}{addresses.served(site.page(run))}"


def _two(words: Words, text: Text) -> Markup:
    """Return a text in both languages; once, if it is the same in both."""
    said = [words.say(language, text) for language in LANGUAGES]
    if said[0] == said[1]:
        return escape(said[0])
    parts = zip(LANGUAGES, map(escape, said), strict=True)
    return Markup(" · ").join(Markup('<span lang="{}">{}</span>').format(*each) for each in parts)


def marks(run: Run) -> tuple[LineMark, ...]:
    """Return the lines that pages link to, by place: windows, witnesses, metrics, facts, outcome and problems."""
    return tuple(sorted(_marks(run), key=_place))


def _place(mark: LineMark) -> tuple[int, int]:
    return (mark.first, -mark.last)


def _marks(run: Run) -> Iterator[LineMark]:
    for rule, figure in sorted(run.all_figures.items(), key=lambda each: each[0] != run.rule):
        if isinstance(figure, NoFigure):
            yield from _reason(figure.reason)
        else:
            kind = "window" if rule == run.rule else "other"
            yield from _mark(kind, phrase("log.window_of", rule=word_for("rule", rule)), figure)
    for witness in run.witnesses:
        yield from _mark("other", phrase("log.witness", witness=word_for("witness", witness.kind)), witness)
    for name, metric in run.metrics.items():
        yield from _mark("other", word_for("metric", name), metric)
        yield from _reason(metric.reason)
    for name, fact in run.facts.items():
        yield from _marked_line("fact", word_for("fact", name), fact_line(fact))
    yield from _marked_line("outcome", phrase("log.outcome", outcome=outcome(run)), run.outcome_line)
    for problem in run.problems:
        if problem.path == run.path:
            yield from _marked_line("problem", coded("problem", problem), problem.line)


def _mark(kind: str, what: Text, found: Figure | Witness | MetricFigure) -> Iterator[LineMark]:
    if lines := addresses.line_range(found.first_line, found.last_line):
        yield LineMark(*lines, kind, what)


def _marked_line(kind: str, what: Text, line: int | None) -> Iterator[LineMark]:
    if lines := addresses.line_range(line):
        yield LineMark(*lines, kind, what)


def _reason(why: Reason | None) -> Iterator[LineMark]:
    if why:
        yield from _marked_line("problem", reason(why) or "", why.args.get("line"))


def visible_log(site: Site, run: Run) -> VisibleLog:
    """Read what the page of a log shows: the lines that pages link to, with their surroundings."""
    path, state = _file_as_read(site.logs.get(run.path, ()), run.sha256)
    if path is None:
        return VisibleLog(state)
    try:
        chosen, total = _chosen_lines(path, {edge for each in marks(run) for edge in (each.first, each.last)})
        picked, taken = _redacted(chosen, names_of(path, run.sha256))
        used, left_out = _records(path, run) if path.stat().st_size <= LOOKED_UP else (frozenset(), frozenset())
    except _PrivateKeyError:
        return VisibleLog("private_key")
    except (OSError, EOFError, ValueError, ScanError):
        return VisibleLog("unreadable")
    counted = tuple((kind, taken[kind]) for kind in KINDS if kind in taken)
    return VisibleLog("", tuple(_ranges_of_lines(picked)), total, used, left_out, counted)


def _file_as_read(paths: Sequence[Path], sha256: str) -> tuple[Path | None, str]:
    """Return the file with the bytes that were read, or the reason why it is missing. A pipe is never opened."""
    state = "missing"
    for path in paths:
        try:
            check(path)
            if file_hash(path) == sha256:
                return path, ""
            state = "changed"
        except (ScanError, OSError):
            state = "unreadable"
    return None, state


def _chosen_lines(path: Path, edges: Iterable[int]) -> tuple[list[_Raw], int]:
    """Return the lines to show, and the number of lines of the log."""
    near = {line for edge in edges for line in range(edge - AROUND, edge + AROUND + 1)}
    whole: list[_Raw] = []
    some: list[_Raw] = []
    tail: deque[_Raw] = deque(maxlen=TAIL)
    short, size, total = True, 0, 0
    with open_log(path) as stream:
        for each in _raw_lines(stream):
            total, size = each.number, size + min(each.size, FRONT + BACK)
            short = short and total <= WHOLE_LINES and size <= WHOLE_BYTES
            whole = [] if not short else whole
            whole += [each] if short else []
            (some if total <= HEAD or total in near else tail).append(each)
    return whole if short else sorted([*some, *tail]), total


class _PrivateKeyError(Exception):
    """A log contains a private key."""


class _Raw(NamedTuple):
    """A line's number, its first bytes, its last ones where there are more, and how many it has."""

    number: int
    front: bytes
    back: bytes
    size: int


def _raw_lines(stream: IO[bytes]) -> Iterator[_Raw]:
    """Yield the lines of a log.

    Raises:
        _PrivateKeyError: the log contains a private key.
    """
    number = 0
    while piece := stream.readline(_READ):
        number += 1
        front, back, size = piece, b"", len(piece)
        while not piece.endswith(b"\n") and (piece := stream.readline(_READ)):
            back, size = (back + piece)[-_KEPT:], size + len(piece)
        if _PRIVATE_KEY in front or _PRIVATE_KEY in back:
            raise _PrivateKeyError
        yield _Raw(number, front, back, size - piece.endswith(b"\n"))


def _redacted(given: Sequence[_Raw], names: Names) -> tuple[list[Line], Mapping[str, int]]:
    """Clean, cut and redact lines, and count the findings.

    More characters are redacted than shown, and a word that is cut is left out. The trap: a secret with colour codes in
    it, or cut in its middle, is not recognised.
    """
    ends = [_ends(each) for each in given]
    shown = [redacted_text(lines, names) for lines in zip(*ends, strict=True)] if ends else [([], []), ([], [])]
    (fronts, in_fronts), (backs, in_backs) = shown
    taken: Counter[str] = Counter(each.kind for each in (*in_fronts, *in_backs))
    return [_line(*each) for each in zip(given, fronts, backs, strict=True)], taken


def _ends(raw: _Raw) -> tuple[str, str]:
    """Return a line's front and, where it is cut, its back, both with the extra characters that redaction looks at."""
    text = _clean(raw.front)
    if not _is_cut(raw, text):
        return text, ""
    rest = _clean(raw.back) if raw.back else text[FRONT:]
    return text[: FRONT + LOOKED_AT], rest[-BACK - LOOKED_AT :]


def _line(raw: _Raw, front: str, back: str) -> Line:
    if not _is_cut(raw, _clean(raw.front)):
        return Line(raw.number, front)
    front, back = _CUT_OFF.sub("", front[:FRONT]), _CUT_ON.sub("", back[-BACK:])
    return Line(raw.number, front, max(raw.size - len(front) - len(back), 1), back)


def _is_cut(raw: _Raw, text: str) -> bool:
    return bool(raw.back) or len(text) > FRONT + BACK


def _clean(raw: bytes) -> str:
    return unstyled(raw).decode("utf-8", "replace").rstrip("\r\n").replace("\n", " ")


def _ranges_of_lines(given: Sequence[Line]) -> Iterator[LineRange]:
    """Group consecutive lines."""
    last = 0
    for _, group in groupby(enumerate(given), key=lambda each: each[1].number - each[0]):
        lines = tuple(line for _, line in group)
        yield LineRange(lines, lines[0].number - last - 1)
        last = lines[-1].number


def _records(path: Path, run: Run) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines of the records that the headline uses, and of those that it leaves out."""
    facts = {name: fact.value for name, fact in run.facts.items() if isinstance(fact.value, int | float | str)}
    try:
        session = next((each for each in read(path).sessions if each.number == run.session), None)
        given = throughput(session, facts) if session else None
        used = set(used_records(HEADLINE, given).tolist()) if given else set()
    except NoFigureError:
        given = None
    if given is None:
        return frozenset(), frozenset()
    at = given.lines(range(len(given)))
    chosen = frozenset(line for index, line in enumerate(at) if index in used)
    return chosen, frozenset(at) - chosen


def _section(span: LineRange, classes: Mapping[int, Iterable[str]], anchors: Mapping[int, Iterable[str]]) -> str:
    lines = [_written(each, classes.get(each.number, ()), anchors.get(each.number, ())) for each in span.lines]
    head = f'<pre class="pl-log" style="counter-reset: pl-log {span.first - 1}"><code>'
    body = "\n</span>".join(lines)
    return f"{head}{body}\n</span></code></pre>"


def _written(line: Line, classes: Iterable[str], anchors: Iterable[str]) -> str:
    names = " ".join(dict.fromkeys(classes))
    attribute = f' class="{names}"' if names else ""
    inside = "".join(f'<i id="{each}"></i>' for each in sorted(anchors))
    text = _overwritten(line.front)
    if line.more:
        text += Markup("<b>… +{} …</b>").format(numbers.count(line.more)) + _overwritten(line.back)
    return f'<span id="L{line.number}"{attribute}>{inside}{text}'


def _overwritten(text: str) -> Markup:
    """Return a line's text; parts that overwrite each other on a terminal are put below each other."""
    return Markup("&#10;").join(verbatim(each) for each in text.split("\r"))
