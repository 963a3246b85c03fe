"""The difference of two ledgers as Markdown for a comment on a pull request, in either language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from ingest.common import numbers
from ingest.common.problems import printable
from ingest.common.words import Phrase, Words, coded, phrase, word_for
from ingest.diff.compare import Alone, Difference, Held, Metric, Pair, Verdict, Withdrawn
from ingest.diff.revision import Commit
from schema.records import Problem, Result
from schema.vocabulary import METRICS

#: What GitHub takes as a comment, less a little; counted in bytes, which are never fewer than characters.
LIMIT = 65_000
#: Rows that stand open; those behind them are folded.
_OPEN = 12
_LONGEST_CELL = 240
_MARKUP = re.compile(r"[&<>\\`*{}\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: A name behind @ is told of the comment, a number behind # becomes a link: a space without width keeps both text.
_CALLS = re.compile(r"([@#])(?=\w)")

Row = tuple[str, ...]
Shown = TypeVar("Shown")


@dataclass(frozen=True)
class _Section:
    """A table under a heading. `left` rows were left out of it, behind those that it has."""

    title: Phrase
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    folded: bool = False
    left: int = 0

    def cut(self, most: int) -> _Section:
        """The section with at most so many rows."""
        return replace(self, rows=self.rows[:most], left=max(len(self.rows) - most, 0))


@dataclass(frozen=True)
class _Writer:
    """Says cells in one language."""

    words: Words
    language: str

    def say(self, key: str, **args: object) -> str:
        """Words of the table `diff`."""
        return self.words.say(self.language, phrase(f"diff.{key}", **args))

    def told(self, text: Phrase | str) -> str:
        """Words or data as a cell; what we have no words for stands as its code."""
        if isinstance(text, Phrase) and text.otherwise is None and not self.words.has(text.key):
            text = text.key.partition(".")[2]
        return escaped(self.words.say(self.language, text))


def text(found: Difference, commit: Commit, words: Words, language: str) -> str:
    """The difference since a commit: counts, then tables, the largest moves first; at most LIMIT bytes long."""
    say = _Writer(words, language)
    head = [
        f"<!-- perfledger-diff {language} -->",
        f"### {say.say('title')}",
        _since(say, commit),
        *_counts(say, found),
    ]
    sections = [each for each in _sections(say, found) if each.rows]
    most = max((len(each.rows) for each in sections), default=0)
    while True:
        blocks = [*head, *(line for each in sections for line in _table(say, each.cut(most)))]
        whole = "\n\n".join(blocks) + "\n"
        if len(whole.encode()) <= LIMIT or not most:
            return whole
        most = most * 3 // 4


def escaped(data: str) -> str:
    """Text of any origin as a cell of a table in GitHub's Markdown: it shows itself, calls nobody and links nothing."""
    line = printable(" ".join(data.split()))
    cut = line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…"
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", _CALLS.sub("\\1\u200b", cut))


def _since(say: _Writer, commit: Commit) -> str:
    return say.say("since", rev=escaped(commit.rev), commit=commit.hash[:10], day=commit.day)


def _counts(say: _Writer, found: Difference) -> list[str]:
    verdicts = Counter(each.verdict for each in found.moved)
    held = {verdict: verdicts[verdict] for verdict in get_args(Verdict)}
    lines = [f"**{say.say('still')}**"] if found.still else []
    before, after = found.runs
    counted: list[tuple[str, int, Mapping[str, object]]] = [
        ("n_moved", len(found.moved), held),
        ("n_changed", len(found.changed), {}),
        ("n_renamed", len(found.renamed), {}),
        ("n_new", len(found.new), {}),
        ("n_gone", len(found.gone), {}),
        ("n_unchanged", found.unchanged, {}),
        ("n_metrics", len(found.metrics), {}),
        ("n_withdrawn", len(found.withdrawn), {}),
        ("n_new_problems", len(found.new_problems), {}),
        ("n_gone_problems", len(found.gone_problems), {}),
        ("n_published", max(found.published), {"new": found.published[0], "gone": found.published[1]}),
    ]
    always = {"n_moved", "n_new", "n_gone", "n_unchanged"}
    listed = [f"- {say.say(key, n=number, **args)}" for key, number, args in counted if number or key in always]
    return [*lines, "\n".join([*listed, f"- {say.say('n_runs', before=before, after=after)}"])]


def _sections(say: _Writer, found: Difference) -> Iterable[_Section]:
    result, before, after = (say.say(each) for each in ("result", "before", "after"))
    change, spread, runs, why = (say.say(each) for each in ("change", "spread", "runs", "why"))
    yield _section(say, "moved", (result, before, after, change, spread, runs), found.moved, _moved)
    yield _section(say, "changed", (result, before, after), found.changed, _changed)
    yield _section(say, "renamed", (say.say("was"), say.say("is"), before, after, change), found.renamed, _renamed)
    yield _section(say, "gone", (result, before, why), found.gone, _alone)
    yield _section(say, "new", (result, after, why), found.new, _alone)
    yield _section(say, "withdrawn", (say.say("run"), why), found.withdrawn, _withdrawn)
    place = (say.say("place"), say.say("problem"))
    yield _section(say, "new_problems", place, found.new_problems, _problem)
    yield _section(say, "gone_problems", place, found.gone_problems, _problem, folded=True)
    figure = (result, say.say("figure"), before, after, change)
    yield _section(say, "metrics", figure, found.metrics, _metric, folded=True)


def _section(
    say: _Writer,
    key: str,
    head: Row,
    found: Sequence[Shown],
    cells: Callable[[_Writer, Shown], Row],
    folded: bool = False,
) -> _Section:
    return _Section(phrase(f"diff.{key}", n=len(found)), head, tuple(cells(say, each) for each in found), folded)


def _table(say: _Writer, section: _Section) -> list[str]:
    """A section's blocks: heading, the rows that stand open, the folded ones, and what was left out."""
    title = say.words.say(say.language, section.title)
    first, rest = ((), section.rows) if section.folded else (section.rows[:_OPEN], section.rows[_OPEN:])
    blocks = [] if section.folded else [f"#### {title}"]
    blocks += [_rows(section.head, first)] if first else []
    if rest:
        summary = title if section.folded else say.say("more", n=len(rest))
        blocks.append(f"<details><summary>{summary}</summary>\n\n{_rows(section.head, rest)}\n\n</details>")
    return [*blocks, say.say("left", n=section.left)] if section.left else blocks


def _rows(head: Sequence[str], rows: Sequence[Row]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)


def _moved(say: _Writer, pair: Pair) -> Row:
    return (_case(say, pair.after), *_figures(pair), _change(pair.share), say.say(pair.verdict), _runs(say, pair))


def _changed(say: _Writer, pair: Pair) -> Row:
    return (_case(say, pair.after), _state(say, pair.before), _state(say, pair.after))


def _renamed(say: _Writer, pair: Pair) -> Row:
    states = (_state(say, pair.before), _state(say, pair.after))
    return (_case(say, pair.before), _case(say, pair.after), *states, _change(pair.share))


def _alone(say: _Writer, found: Alone) -> Row:
    why = say.say(found.why)
    reason = f" {_sentence(say, found.problem)}" if found.problem else ""
    return (_case(say, found.result), _state(say, found.result), why + reason)


def _withdrawn(say: _Writer, found: Withdrawn) -> Row:
    sentences = [_sentence(say, each) for each in found.problems]
    return (escaped(found.run.path), "<br>".join(dict.fromkeys(sentences)) or say.say("unsaid"))


def _problem(say: _Writer, found: Problem) -> Row:
    place = f"{found.path}:{found.line}" if found.line else found.path
    return (escaped(place), _sentence(say, found))


def _metric(say: _Writer, found: Metric) -> Row:
    share = found.after / found.before - 1 if found.before and found.after is not None else None
    unit = f" {METRICS[found.name].unit}".rstrip()
    both = _written((found.before, None), (found.after, None))
    values = (each if each == numbers.ABSENT else each + unit for each in both)
    return (_case(say, found.pair.after), say.told(word_for("metric", found.name)), *values, _change(share))


def _sentence(say: _Writer, found: Problem) -> str:
    """A problem's words; one whose words have changed since it was written is named by its code."""
    from ingest.common.words import WordsError

    try:
        return say.told(coded("problem", found))
    except WordsError:
        return escaped(found.code)


def _case(say: _Writer, held: Held) -> str:
    """Return a result's description, its model first."""
    found = held.result
    model = say.told(found.model if found.model is not None else phrase("site.unknown_model"))
    software = " ".join(each for each in (found.framework, found.version) if each)
    counted = [("nodes", found.nodes), ("devices", found.devices), ("batch_size", found.batch_size)]
    sizes = [say.say(name, n=value) for name, value in counted if value is not None and (name, value) != ("nodes", 1)]
    precision = say.told(word_for("precision", found.precision)) if found.precision else ""
    data = [escaped(each) for each in (software, found.hardware) if each]
    rest = [escaped(each) for each in (found.options_text, found.round) if each]
    return " · ".join(each for each in (f"**{model}**", *data, *sizes, precision, *rest) if each)


def _state(say: _Writer, held: Held) -> str:
    """Return a result's figure, or why there is none."""
    found = held.result
    if found.value is not None:
        return _with_unit(numbers.figure(found.value, found.spread), found)
    if found.outcome in (None, "completed") and found.reason:
        return say.told(coded("reason", found.reason))
    return say.told(word_for("outcome", found.outcome))


def _figures(pair: Pair) -> tuple[str, str]:
    before, after = pair.before.result, pair.after.result
    old, new = _written((before.value, before.spread), (after.value, after.spread))
    return _with_unit(old, before), _with_unit(new, after)


def _written(before: tuple[float | None, float | None], after: tuple[float | None, float | None]) -> tuple[str, str]:
    """Two figures that differ, each with its spread; as exactly as computed where rounded ones would look alike."""
    (old, _), (new, _) = before, after
    rounded = numbers.figure(*before), numbers.figure(*after)
    finer = numbers.figure(old), numbers.figure(new)
    if old is None or new is None or rounded[0] != rounded[1]:
        return rounded
    return finer if finer[0] != finer[1] else (numbers.exact(old), numbers.exact(new))


def _with_unit(figure: str, found: Result) -> str:
    spread = numbers.plus_minus(found.spread)
    return " ".join(each for each in (figure, escaped(found.unit), spread) if each)


def _change(share: float | None) -> str:
    """A move in percent, with as many places as it takes to be seen."""
    if share is None:
        return numbers.ABSENT
    places = next((each for each in range(1, 8) if round(share * 100, each)), 1)
    return numbers.signed_percent(share, places)


def _runs(say: _Writer, pair: Pair) -> str:
    """How many runs stand behind each side; where they are the same, another computation moved the figure."""
    if pair.before.logs == pair.after.logs:
        return say.say("same_logs", n=len(pair.after.logs))
    return say.say("other_logs", before=len(pair.before.logs), after=len(pair.after.logs))
