"""Write the difference of two ledgers as Markdown for a comment on a pull request, in either language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, get_args

from perfledger import TEMPLATES
from perfledger.ingest.common import numbers
from perfledger.ingest.common.markdown import escaped
from perfledger.ingest.common.words import Phrase, Words, WordsError, coded, phrase, word_for
from perfledger.ingest.compute.contrast import Grade
from perfledger.ingest.diff.compare import LedgerDifference, LoggedResult, MovedMetric, Pair, Unpaired
from perfledger.ingest.diff.revision import Commit
from perfledger.schema.records import Problem, Result
from perfledger.schema.vocabulary import METRICS, NO_FIGURE

if TYPE_CHECKING:
    from jinja2 import Template

#: Bytes of a comment, somewhat fewer than the characters that GitHub accepts.
LIMIT = 65_000
#: Rows that are shown at once; further rows are folded.
_OPEN = 12
#: Characters of a cell, at most.
_LONGEST_CELL = 240

Row = tuple[str, ...]


def text(found: LedgerDifference, commit: Commit, words: Words, language: str) -> str:
    """Return the difference since a commit in at most LIMIT bytes: counts, then tables, the largest moves first."""
    cells = _Cells(words, language)
    rows = cells.rows(found)
    verdicts = Counter(each.verdict for each in found.moved)
    names = {
        "w": cells.w,
        "table": lambda head, body: _table(list(map(cells.w, head)), body),
        "escaped": _cell,
        "language": language,
        "commit": commit,
        "found": found,
        "rows": rows,
        "verdicts": {each: verdicts[each] for each in get_args(Grade)},
        "open_rows": _OPEN,
    }
    most = max(map(len, rows.values()))
    while True:
        whole = _template().render(names, most=most)
        if len(whole.encode()) <= LIMIT or not most:
            return whole
        most = most * 3 // 4


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("diff.md.j2")


def _table(head: Sequence[str], rows: Sequence[Row]) -> str:
    """Return a table in GitHub's Markdown, without the blanks that would align it: a comment has no room for them."""
    from tabulate import DataRow, TableFormat, tabulate

    row = DataRow("| ", " | ", " |")
    rule = f"| {' | '.join(['---'] * len(head))} |"
    plain = TableFormat(None, lambda *_: rule, None, None, row, row, 0, None)
    return tabulate(rows, head, plain, disable_numparse=True, stralign=None)


def _cell(data: str) -> str:
    """Return text of any origin as a cell, cut to the longest."""
    return escaped(data if len(data) <= _LONGEST_CELL else data[: _LONGEST_CELL - 1] + "…")


@dataclass(frozen=True)
class _Cells:
    """Writes the cells of tables in one language."""

    words: Words
    language: str

    def w(self, key: str, **args: object) -> str:
        """Return words of the table `diff`."""
        return self.words.say(self.language, phrase(f"diff.{key}", **args))

    def cell(self, text: Phrase | str) -> str:
        """Return words or data as a cell; a code without words is shown as the code."""
        if isinstance(text, Phrase) and text.otherwise is None and not self.words.has(text.key):
            text = text.key.partition(".")[2]
        return _cell(self.words.say(self.language, text))

    def rows(self, found: LedgerDifference) -> Mapping[str, Sequence[Row]]:
        """Return the rows of each table of the template."""
        return {
            "moved": [self._moved(each) for each in found.moved],
            "changed": [self._changed(each) for each in found.changed],
            "renamed": [self._renamed(each) for each in found.renamed],
            "gone": [self._unpaired(each) for each in found.gone],
            "new": [self._unpaired(each) for each in found.new],
            "new_problems": [self._problem(each) for each in found.new_problems],
            "gone_problems": [self._problem(each) for each in found.gone_problems],
            "metrics": [self._metric(each) for each in found.metrics],
        }

    def _moved(self, pair: Pair) -> Row:
        return (self._case(pair.after), *_figures(pair), _change(pair.share), self.w(pair.verdict), self._runs(pair))

    def _changed(self, pair: Pair) -> Row:
        return (self._case(pair.after), self._state(pair.before), self._state(pair.after))

    def _renamed(self, pair: Pair) -> Row:
        states = (self._state(pair.before), self._state(pair.after))
        return (self._case(pair.before), self._case(pair.after), *states, _change(pair.share))

    def _unpaired(self, found: Unpaired) -> Row:
        why = self.w(found.why)
        reason = f" {self._sentence(found.problem)}" if found.problem else ""
        return (self._case(found.result), self._state(found.result), why + reason)

    def _problem(self, found: Problem) -> Row:
        place = f"{found.path}:{found.line}" if found.line else found.path
        return (_cell(place), self._sentence(found))

    def _metric(self, found: MovedMetric) -> Row:
        share = found.after / found.before - 1 if found.before and found.after is not None else None
        unit = f" {METRICS[found.name].unit}".rstrip()
        both = _written((found.before, None), (found.after, None))
        values = (each if each == numbers.ABSENT else each + unit for each in both)
        return (self._case(found.pair.after), self.cell(word_for("metric", found.name)), *values, _change(share))

    def _sentence(self, found: Problem) -> str:
        """Return a problem's words; its code where the words have changed since it was written."""
        try:
            return self.cell(coded("problem", found))
        except WordsError:
            return _cell(found.code)

    def _case(self, row: LoggedResult) -> str:
        """Return a result's description, its model first."""
        found = row.result
        model = self.cell(found.model if found.model is not None else phrase("site.unknown_model"))
        software = " ".join(each for each in (found.framework, found.version) if each)
        counted = [("nodes", found.nodes), ("devices", found.devices), ("batch_size", found.batch_size)]
        sizes = [
            self.w(name, n=value) for name, value in counted if value is not None and (name, value) != ("nodes", 1)
        ]
        precision = self.cell(word_for("precision", found.precision)) if found.precision else ""
        data = [_cell(each) for each in (software, found.hardware) if each]
        rest = [_cell(each) for each in (found.options_text, found.round) if each]
        return " · ".join(each for each in (f"**{model}**", *data, *sizes, precision, *rest) if each)

    def _state(self, row: LoggedResult) -> str:
        """Return a result's figure, or the reason why it is missing."""
        found = row.result
        if found.value is not None:
            return _with_unit(numbers.figure(found.value, found.spread), found)
        if found.outcome not in NO_FIGURE and found.reason:
            return self.cell(coded("reason", found.reason))
        return self.cell(word_for("outcome", found.outcome))

    def _runs(self, pair: Pair) -> str:
        """Return how many runs each side has; where they are the same, the figure was computed differently."""
        if pair.before.logs == pair.after.logs:
            return self.w("same_logs", n=len(pair.after.logs))
        return self.w("other_logs", before=len(pair.before.logs), after=len(pair.after.logs))


def _figures(pair: Pair) -> tuple[str, str]:
    before, after = pair.before.result, pair.after.result
    old, new = _written((before.value, before.spread), (after.value, after.spread))
    return _with_unit(old, before), _with_unit(new, after)


def _written(before: tuple[float | None, float | None], after: tuple[float | None, float | None]) -> tuple[str, str]:
    """Return two figures that differ, each with its spread; unrounded where rounding would make them look equal."""
    (old, _), (new, _) = before, after
    rounded = numbers.figure(*before), numbers.figure(*after)
    finer = numbers.figure(old), numbers.figure(new)
    if old is None or new is None or rounded[0] != rounded[1]:
        return rounded
    return finer if finer[0] != finer[1] else (numbers.exact(old), numbers.exact(new))


def _with_unit(figure: str, found: Result) -> str:
    spread = numbers.plus_minus(found.spread)
    return " ".join(each for each in (figure, _cell(found.unit), spread) if each)


def _change(share: float | None) -> str:
    """Return a move in percent, with as many decimals as it takes to be seen."""
    if share is None:
        return numbers.ABSENT
    places = next((each for each in range(1, 8) if round(share * 100, each)), 1)
    return numbers.signed_percent(share, places)
