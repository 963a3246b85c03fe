"""A reading: one kind of line, and what its numbers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from perfledger.parsers.contract.clue import Sought
from perfledger.parsers.contract.columns import CLOCKS, COLUMNS, is_private
from perfledger.parsers.contract.conditions import Condition
from perfledger.parsers.contract.literals import Alternatives, all_in, words_of_pattern
from perfledger.parsers.contract.patterns import FormatError, compiled
from perfledger.parsers.contract.rows import RowMatch, Rows
from perfledger.parsers.contract.shape import shape_of
from perfledger.parsers.contract.template import NUMBER, UNITS, compiled_line, template_words
from perfledger.parsers.contract.verbs import Verb

Scope = Literal["thread", "device", "node", "job"]
Span = Literal["step", "interval", "epoch", "run"]
PauseKind = Literal["evaluation", "checkpoint", "epoch_end"]

#: A record in a text: its begin, its end and the printed value of each column.
Record = re.Match[bytes] | RowMatch

#: `<throughput>` in the pattern of a reading, or `<step_seconds:ms>` with its unit; `\<` is the character itself.
_COLUMN = re.compile(rb"(?<!\?P)(?<!\\)<([a-z_]++)(?::([A-Za-z/ ]++))?>")
#: Columns that are whole numbers.
_WHOLE = {b"epoch", b"step", b"total_epochs", b"total_steps"}


def _group(column: re.Match[bytes]) -> bytes:
    return rb"(?P<%s>%s)" % (column[1], rb"[0-9]++" if column[1] in _WHOLE else NUMBER)


@dataclass(frozen=True)
class Pause(Sought):
    """Lines that report work other than training steps, such as an evaluation.

    Attributes:
        kind: the reason. An `epoch_end` counts only if its record is slow, since most loaders end an epoch at no cost.
            The same is true of any pause if a record times one step only and not every step is printed.
        pattern: a template, or a pattern, of a part of such a line. It begins with plain characters, so that text
            without them is skipped quickly. If it is empty, each change of the epoch's number is such a line.
        inside: the record whose interval includes that time: the `next` one, or the `last` one before the line, which
            the printer prints when the epoch is over; `none` if the printer stops its timer meanwhile. The time between
            the lines before and after it is then not training time.
        records: number of records that still show it, of a printer that smooths its speeds.
    """

    kind: PauseKind
    pattern: str | bytes = ""
    inside: Literal["next", "last", "none"] = "next"
    records: int = 1

    @property
    def shape(self) -> str:
        """Return the pattern for people: a template, or the shape of a regular expression."""
        return self.pattern if isinstance(self.pattern, str) else shape_of(self.regex)


#: The interval of the first record of an epoch begins in the epoch before, and includes its end.
EPOCH_END = Pause("epoch_end")
#: The timer begins again with the epoch, so that no record includes the time between two epochs.
EPOCH_TIMER = Pause("epoch_end", inside="none")


@dataclass(frozen=True)
class Reading:
    """One kind of line, and the meaning of its numbers.

    Attributes:
        pattern: a template of the lines (`parsers.contract.template`), `Rows` for lines with an object in JSON
            (`parsers.contract.rows`), or a pattern for other lines. Its named groups are columns: `<throughput>` is any
            NUMBER, `<epoch>` and `<step>` are whole numbers, and `<step_seconds:ms>` is converted from that unit.
        unit: of the printed throughput or samples, such as `images/s`.
        scope: the extent of the printed throughput or samples: a thread, a device, a node or the whole job.
        span: the stretch of training that a record covers.
        running_mean: the step of every epoch at which the printed running means restart; None if none are printed.
        per_update: whether a printed step is one optimizer update over all micro batches.
        ranks: how records of one epoch and step are merged. `median`: several processes print the step, or one process
            prints a line per metric; the median counts. `own`: the same, but the printed speed may be of one rank or of
            the job. The lines do not say which, so speeds that differ give no figure.
        weak: logs of other printers contain such lines, too. They claim a log only if no other format does.
        pauses: lines that report other work inside the intervals of these records, or between them. A printer that
            stops its clock meanwhile, or times one step only, needs them only if its lines have clocks.
        where: a condition on the session; its lines are not read in other sessions.
        untrue: equations (`ingest.compute.equations`) that are untrue for the printer. `clock`: its printed seconds omit
            some work, so the clocks of its lines give the figure if they show more time. `summary`: its figure for the
            run may be higher than the figure of its steps.
        verbs: functions that turn the columns of the lines into records, in their order (`parsers.contract.verbs`). They
            also get private columns that the pattern captures, such as `_epoch_start`, and numbers from the session's
            facts, such as `_batch_size`.
    """

    pattern: str | bytes | Rows
    unit: str = ""
    scope: Scope = "job"
    span: Span = "interval"
    running_mean: int | None = None
    per_update: bool = False
    ranks: Literal["", "median", "own"] = ""
    weak: bool = False
    pauses: tuple[Pause, ...] = ()
    where: Condition | None = None
    verbs: tuple[Verb, ...] = ()
    untrue: tuple[Literal["clock", "summary"], ...] = ()

    @cached_property
    def finder(self) -> re.Pattern[bytes] | Rows:
        """Return the object that finds records in a text with `finditer`, `search` and `match`.

        Raises:
            FormatError: the pattern is invalid, or names a column that the contract does not know.
        """
        found = self.pattern if isinstance(self.pattern, Rows) else self._compiled()
        named = set(found.groupindex)
        unknown = sorted(each for each in named - set(COLUMNS) if not (self.verbs and is_private(each)))
        if unknown or (isinstance(found, re.Pattern) and found.groups != len(found.groupindex)):
            known = f"one of {', '.join(COLUMNS)}, or, with verbs, a private one such as _start"
            raise FormatError(f"groups must be named after columns, not {unknown or 'left unnamed'}: {known}")
        if len(CLOCKS & set(found.groupindex)) > 1:
            raise FormatError("one reading has one clock: capture only one of clock, unix and elapsed")
        return found

    def _compiled(self) -> re.Pattern[bytes]:
        pattern = self._of_template[0] if self._of_template else self.pattern
        assert isinstance(pattern, bytes)
        return compiled(_COLUMN.sub(_group, pattern))

    @cached_property
    def _of_template(self) -> tuple[bytes, Mapping[str, float]] | None:
        return compiled_line(self.pattern) if isinstance(self.pattern, str) else None

    @cached_property
    def scales(self) -> Mapping[str, float]:
        """Return the factors that convert printed numbers to the units of their columns, without factors of 1."""
        if self._of_template:
            return self._of_template[1]
        found = _COLUMN.findall(self.pattern) if isinstance(self.pattern, bytes) else []
        return {name.decode(): UNITS[unit.decode()] for name, unit in found if unit}

    @cached_property
    def shape(self) -> str:
        """Return a line for people, with columns in braces."""
        if isinstance(self.pattern, str):
            return self.pattern
        return self.finder.shape if isinstance(self.finder, Rows) else shape_of(self.finder)

    @cached_property
    def words(self) -> tuple[Alternatives, ...]:
        """Return words that every record of the reading contains."""
        if isinstance(self.pattern, Rows):
            return self.pattern.words
        if isinstance(self.pattern, str):
            return template_words(self.pattern)
        return words_of_pattern(_COLUMN.sub(_group, self.pattern))

    def may_stand_in(self, distinct: bytes) -> bool:
        """Return whether a text may contain a record, by its distinct lines."""
        return all_in(self.words, distinct)

    @cached_property
    def _measured(self) -> tuple[str, ...]:
        """Return the columns that are neither private nor count epochs and steps."""
        return tuple(each for each in self.columns if not is_private(each) and each.encode() not in _WHOLE)

    def first_in(self, text: bytes) -> Record | None:
        """Return the first record that is not a heading. A heading only counts steps, or prints only private columns."""
        for each in self.finder.finditer(text):
            if not self._measured or any(each[name] for name in self._measured):
                return each
        return None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the captured columns in the order of the groups."""
        return tuple(sorted(self.finder.groupindex, key=self.finder.groupindex.__getitem__))
