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
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

from markupsafe import Markup

from perfledger.ingest.common import numbers
from perfledger.ingest.common.files import file_hash
from perfledger.ingest.common.project import project
from perfledger.ingest.common.words import LANGUAGES, Text, Words, coded, phrase, word_for
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.rules import HEADLINE, NAMES, used_records
from perfledger.ingest.compute.throughput import throughput
from perfledger.ingest.read.names import names_of
from perfledger.ingest.site import addresses, run_names
from perfledger.ingest.site.model import Site, reason
from perfledger.ingest.site.render.environment import environment
from perfledger.ingest.site.render.text import escape, past_markdown, verbatim
from perfledger.ingest.site.run_tables import fact_line, outcome
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import ScanError, check, open_log, unstyled
from perfledger.schema.records import NoFigure, Reason, Run
from perfledger.schema.redaction.names import Names
from perfledger.schema.redaction.redact import redacted_text
from perfledger.schema.redaction.rules import KINDS
from perfledger.schema.vocabulary import METRICS

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
#: First and last line, kind, and text.
_Statement = tuple[tuple[Any, Any], str, Text]
_About = tuple[int, tuple[tuple[str, Any], ...]]
_KEY_BEGINS, _KEY_ENDS = (re.compile(rb"-----%b [A-Z ]*PRIVATE KEY-----" % each) for each in (b"BEGIN", b"END"))
_KEY_END = re.compile(r"(?s)\A(?:(?!-----BEGIN ).)*?-----END [A-Z ]*PRIVATE KEY-----")
#: Characters that are redacted beyond the shown ones.
LOOKED_AT = 300
#: A word that may be cut at the end of a text.
_CUT_OFF = re.compile(r"(?<![\w.+/-])[\w.+/-]{16,}+\Z")
#: A word that may be cut at the beginning of a text.
_CUT_ON = re.compile(r"\A[\w.+/-]+")
#: Replacement for a private key.
_HIDDEN = b"<private key>"
#: Lines of a private key, at most.
_LONGEST_KEY = 200
#: Bytes of a piece of a long line.
_READ = 1 << 14
#: Last bytes of a long line that stay in memory.
_KEPT = 1 << 12
_KINDS = {"fact": "f", "problem": "p", "outcome": "o"}
#: Signs of the legend.
KEYS = ("window", "used", "left_out", "fact", "outcome", "problem")


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

    name: str
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
    found = visible_log(site, run)
    template = environment().get_template("log.html.j2")
    written = template.render(
        run=run,
        site=project().title or "Perfledger",
        title=words.say("en", phrase("title.log", run=run_names.name(site, run))),
        runs=[(language, Markup(address)) for language, address in _run_pages(site, run)],
        log=found,
        sections=[(each, _lines(lines)) for each, lines in sections(run, found)],
        left_out=anchors_left_out(run, found),
        marks=marked_lines(run),
        keys=[(name, phrase(f"log.key_{name}")) for name in KEYS],
        two=partial(_two, words),
        phrase=phrase,
        count=numbers.count,
    )
    return written.encode()


def sections(run: Run, found: VisibleLog) -> list[tuple[LineRange, str]]:
    """Return the shown ranges of lines with their HTML: each line with its anchors and classes."""
    classes, ranges = _classes(run, found), _ranges(run)
    return [(each, _section(each, classes, ranges)) for each in found.ranges]


def _lines(html: str) -> Markup:
    """Return HTML of lines without references that only Markdown and attributes need."""
    return Markup(past_markdown(html).replace("&#34;", '"'))


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


def marked_lines(run: Run) -> list[tuple[LineMark, list[Text]]]:
    """Return the lines that the pages link to, by place, with what each states."""
    by_place = groupby(sorted(marks(run), key=_place), key=lambda each: (each.first, each.last))
    groups = ([*found] for _, found in by_place)
    return [(found[0], [each.what for each in found]) for found in groups]


def marks(run: Run) -> tuple[LineMark, ...]:
    """Return the lines that pages link to: windows, witnesses, metrics, facts, outcome and problems, in this order."""
    statements = [*_figures(run), *_witnesses(run), *_metrics(run), *_facts(run), *_outcome(run), *_problems(run)]
    return tuple(
        LineMark(*lines, kind, what) for found, kind, what in statements if (lines := addresses.line_range(*found))
    )


def visible_log(site: Site, run: Run) -> VisibleLog:
    """Read what the page of a log shows. Only the last few results are cached, since logs are large."""
    spans = frozenset((each.first, each.last) for each in marks(run))
    about = (run.session, tuple(_scalars(run)))
    return _read_log(site.logs.get(run.path, ()), run.sha256, spans, about)


def anchors_left_out(run: Run, found: VisibleLog) -> list[str]:
    """Return the anchors of links to lines that are not shown."""
    shown = {line.number for each in found.ranges for line in each.lines}
    return sorted({each.anchor for each in marks(run) if each.first not in shown})


def _figures(run: Run) -> Iterator[_Statement]:
    figures = run.all_figures
    for rule in (*(each for each in NAMES if each in figures), *sorted(set(figures) - set(NAMES))):
        found = figures[rule]
        if isinstance(found, NoFigure):
            yield from _reason(found.reason)
        else:
            kind = "window" if rule == run.rule else "other"
            what = phrase("log.window_of", rule=word_for("rule", rule))
            yield (found.first_line, found.last_line), kind, what


def _witnesses(run: Run) -> Iterator[_Statement]:
    for each in run.witnesses:
        what = phrase("log.witness", witness=word_for("witness", each.kind))
        yield (each.first_line, each.last_line), "other", what


def _metrics(run: Run) -> Iterator[_Statement]:
    for name in METRICS:
        if (found := run.metrics.get(name)) is None:
            continue
        yield (found.first_line, found.last_line), "other", word_for("metric", name)
        yield from _reason(found.reason)


def _reason(why: Reason | None) -> Iterator[_Statement]:
    if why and (line := why.args.get("line")):
        yield (line, None), "problem", reason(why) or ""


def _facts(run: Run) -> Iterator[_Statement]:
    for name, fact in run.facts.items():
        yield (fact_line(fact), None), "fact", word_for("fact", name)


def _outcome(run: Run) -> Iterator[_Statement]:
    yield (run.outcome_line, None), "outcome", phrase("log.outcome", outcome=outcome(run))


def _problems(run: Run) -> Iterator[_Statement]:
    for each in run.problems:
        if each.path == run.path:
            yield (each.line, None), "problem", coded("problem", each)


def _span_of(run: Run) -> tuple[int, int] | None:
    """Return the headline's window."""
    found = run.headline
    return addresses.line_range(found.first_line, found.last_line) if found else None


def _scalars(run: Run) -> Iterator[tuple[str, Any]]:
    """Yield the facts that rules need: numbers and words."""
    for name, fact in sorted(run.facts.items()):
        if isinstance(fact.value, int | float | str):
            yield name, fact.value


def _place(mark: LineMark) -> tuple[int, int]:
    return (mark.first, -mark.last)


@lru_cache(maxsize=4)
def _read_log(paths: tuple[Path, ...], sha256: str, spans: frozenset[tuple[int, int]], about: _About) -> VisibleLog:
    path, state = _file_as_read(paths, sha256)
    if path is None:
        return VisibleLog(state)
    edges = sorted({edge for span in spans for edge in span})
    try:
        chosen, total = _chosen_lines(path, edges)
        picked, taken = _redacted(chosen, names_of(path, sha256))
        used, left_out = _records(path, about) if path.stat().st_size <= LOOKED_UP else (frozenset(), frozenset())
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


def _chosen_lines(path: Path, edges: Sequence[int]) -> tuple[list[_Raw], int]:
    """Return the lines to show, and the number of lines of the log."""
    near = {line for edge in edges for line in range(edge - AROUND, edge + AROUND + 1)}
    whole: list[_Raw] = []
    some: list[_Raw] = []
    tail: deque[_Raw] = deque(maxlen=TAIL)
    short, size, total = True, 0, 0
    with open_log(path) as stream:
        for each in _without_keys(_raw_lines(stream)):
            total, size = each.number, size + min(each.size, FRONT + BACK)
            short = short and total <= WHOLE_LINES and size <= WHOLE_BYTES
            whole = [] if not short else whole
            whole += [each] if short else []
            (some if total <= HEAD or total in near else tail).append(each)
    return whole if short else sorted([*some, *tail]), total


class _Raw(NamedTuple):
    """A line's number, its first bytes, its last ones where there are more, and how many it has."""

    number: int
    front: bytes
    back: bytes
    size: int


def _raw_lines(stream: IO[bytes]) -> Iterator[_Raw]:
    number = 0
    while piece := stream.readline(_READ):
        number += 1
        front, back, size = piece, b"", len(piece)
        while not piece.endswith(b"\n") and (piece := stream.readline(_READ)):
            back, size = (back + piece)[-_KEPT:], size + len(piece)
        yield _Raw(number, front, back, size - piece.endswith(b"\n"))


def _without_keys(given: Iterable[_Raw]) -> Iterator[_Raw]:
    """Hide private keys: only the first and the last line of a key can be recognised, so count lines in between."""
    inside = 0
    for each in given:
        marked = b"PRIVATE KEY-----" in each.front or b"PRIVATE KEY-----" in each.back
        ends = marked and any(_KEY_ENDS.search(part) for part in (each.front, each.back))
        if inside:
            yield each._replace(front=_HIDDEN, back=b"")
            inside = 0 if ends else inside - 1
            continue
        begins = _KEY_BEGINS.search(each.front) if marked and not ends else None
        inside = _LONGEST_KEY if begins else 0
        yield each._replace(front=each.front[: begins.start()] + _HIDDEN, back=b"") if begins else each


def _redacted(given: Sequence[_Raw], names: Names) -> tuple[list[Line], Mapping[str, int]]:
    """Clean, cut and redact lines, and count the findings.

    More characters are redacted than shown, and a word that is cut is left out. The trap: a secret with colour codes in
    it, or cut in its middle, is not recognised.
    """
    ends = [_ends(each) for each in given]
    # Whole private keys are gone already.
    keys = sum(hidden for hidden, _ in groupby(_HIDDEN in each.front for each in given))
    shown = [redacted_text(lines, names) for lines in zip(*ends, strict=True)] if ends else [([], []), ([], [])]
    (fronts, in_fronts), (backs, in_backs) = shown
    taken = Counter(each.kind for each in (*in_fronts, *in_backs)) + Counter(key=keys)
    return [_line(*each) for each in zip(given, fronts, backs, strict=True)], taken


def _ends(raw: _Raw) -> tuple[str, str]:
    """Return a line's front and, where it is cut, its back, both with the extra characters that redaction looks at."""
    text = _clean(raw.front)
    if not _is_cut(raw, text):
        return text, ""
    rest = _clean(raw.back) if raw.back else text[FRONT:]
    return text[: FRONT + LOOKED_AT], _KEY_END.sub(_HIDDEN.decode(), rest[-BACK - LOOKED_AT :])


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
    for index, (_, group) in enumerate(groupby(enumerate(given), key=lambda each: each[1].number - each[0])):
        lines = tuple(line for _, line in group)
        yield LineRange(f"lines-{index + 1}", lines, lines[0].number - last - 1)
        last = lines[-1].number


def _records(path: Path, about: _About) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines of the records that the headline uses, and of those that it leaves out."""
    number, facts = about
    try:
        session = next((each for each in read(path).sessions if each.number == number), None)
        given = throughput(session, dict(facts)) if session else None
        used = set(used_records(HEADLINE, given).tolist()) if given else set()
    except NoFigureError:
        return frozenset(), frozenset()
    if given is None:
        return frozenset(), frozenset()
    at = given.lines(range(len(given)))
    chosen = frozenset(line for index, line in enumerate(at) if index in used)
    return chosen, frozenset(at) - chosen


def _classes(run: Run, found: VisibleLog) -> Mapping[int, str]:
    """Return the CSS classes of each line: whether it is in the window, and what it states."""
    kinds_of: dict[int, list[str]] = {}
    if window := _span_of(run):
        kinds_of = {line: ["w"] for each in found.ranges for line in _within(each, window)}
    for kind, numbered in (("u", found.used), ("d", found.left_out)):
        for line in numbered:
            kinds_of.setdefault(line, []).append(kind)
    for each in marks(run):
        if each.kind in _KINDS:
            kinds_of.setdefault(each.first, []).append(_KINDS[each.kind])
    return {line: " ".join(dict.fromkeys(kinds)) for line, kinds in kinds_of.items()}


def _within(span: LineRange, window: tuple[int, int]) -> range:
    return range(max(span.first, window[0]), min(span.last, window[1]) + 1)


def _ranges(run: Run) -> Mapping[int, list[str]]:
    """Return the anchors of ranges of lines, by their first line."""
    found: dict[int, set[str]] = {}
    for each in marks(run):
        if each.last > each.first:
            found.setdefault(each.first, set()).add(each.anchor)
    return {line: sorted(anchors) for line, anchors in found.items()}


def _section(span: LineRange, classes: Mapping[int, str], ranges: Mapping[int, list[str]]) -> str:
    """Return a span as HTML, each line with its anchors and classes."""
    lines = [_written(each, classes.get(each.number, ""), ranges.get(each.number, ())) for each in span.lines]
    head = f'<pre class="pl-log" style="counter-reset: pl-log {span.first - 1}"><code>'
    body = "\n</span>".join(lines)
    return f"{head}{body}\n</span></code></pre>"


def _written(line: Line, kinds: str, anchors: Iterable[str]) -> str:
    attribute = f' class="{kinds}"' if kinds else ""
    inside = "".join(f'<i id="{each}"></i>' for each in anchors)
    text = _overwritten(line.front)
    if line.more:
        text += Markup("<b>… +{} …</b>").format(numbers.count(line.more)) + _overwritten(line.back)
    return f'<span id="L{line.number}"{attribute}>{inside}{text}'


def _overwritten(text: str) -> Markup:
    """Return a line's text; parts that overwrite each other on a terminal are put below each other."""
    return Markup("&#10;").join(verbatim(each) for each in text.split("\r"))
