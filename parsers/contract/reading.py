"""A reading: one kind of line, and what its numbers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from perfledger.parsers.contract.columns import CLOCKS, COLUMNS, is_private
from perfledger.parsers.contract.conditions import Condition
from perfledger.parsers.contract.literals import Alternatives, all_in, literals
from perfledger.parsers.contract.patterns import FormatError, compiled
from perfledger.parsers.contract.rows import RowMatch, Rows
from perfledger.parsers.contract.shape import shape_of
from perfledger.parsers.contract.template import NUMBER, compiled_line, compiled_text, longest_text
from perfledger.parsers.contract.verbs import Verb

Scope = Literal["thread", "device", "node", "job"]
Span = Literal["step", "interval", "epoch", "run"]
PauseKind = Literal["evaluation", "checkpoint", "epoch_end"]

#: What a reading finds in a text: where it begins and ends, and what is printed for each column.
Record = re.Match[bytes] | RowMatch

#: `<throughput>` in the pattern of a reading; `\<` is the character itself.
_COLUMN = re.compile(rb"(?<!\?P)(?<!\\)<([a-z_]++)>")
#: Columns that are whole numbers.
_WHOLE = {b"epoch", b"step", b"total_epochs", b"total_steps"}


def _group(column: re.Match[bytes]) -> bytes:
    return rb"(?P<%s>%s)" % (column[1], rb"[0-9]++" if column[1] in _WHOLE else NUMBER)


@dataclass(frozen=True)
class Pause:
    """Lines which say that something other than training steps took time.

    Attributes:
        kind: what took time. An `epoch_end` counts only where its record is slow: most loaders end an epoch at no cost.
            So does any pause where a record times one step only and the line may stand among steps that are not printed.
        pattern: a template, or a pattern, of a part of such a line. It begins with plain characters, so that text
            without them is skipped quickly.
        inside: the record whose interval holds that time: the `next` one, or the `last` one before the line, which the
            printer prints when the epoch is over; `none` where the printer stops its timer meanwhile. The clocks of the
            lines before and behind it then say nothing of training.
    """

    kind: PauseKind
    pattern: str | bytes
    inside: Literal["next", "last", "none"] = "next"

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """Compile the pattern in multi-line mode: `^` is the start of a line."""
        return compiled(compiled_text(self.pattern), re.MULTILINE)

    @property
    def shape(self) -> str:
        """Return the part of the line as people read it."""
        return self.pattern if isinstance(self.pattern, str) else shape_of(self.regex)

    @cached_property
    def _held(self) -> tuple[Alternatives, ...]:
        return literals(self.regex)

    def may_stand_in(self, distinct: bytes) -> bool:
        """Return whether a text may hold such a line, by its distinct lines."""
        return all_in(self._held, distinct)


@dataclass(frozen=True)
class Trap:
    """A known fault of what a printer prints: where the witness disagrees, it gives the figure.

    Attributes:
        witness: the witness that is right, such as `clock`.
        code: the reason, in the words' table `reason`.
        most: the largest ratio of the witness's seconds to the printed ones that the fault explains. Beyond it the two
            contradict each other.
    """

    witness: Literal["clock"]
    code: str
    most: float


@dataclass(frozen=True)
class Reading:
    """One kind of line, and what its named groups mean.

    Attributes:
        pattern: a template of the lines (`parsers.contract.template`), `Rows` for lines with an object in JSON
            (`parsers.contract.rows`), or a pattern for lines that neither can describe. Its named groups are columns;
            `<throughput>` is a column that is a NUMBER; `<epoch>` and `<step>` are whole numbers.
        unit: of the printed throughput or samples, such as `images/s`.
        scope: what the printed throughput or samples count: a thread, a device, a node or the whole job.
        span: the stretch of training that a record covers.
        running_mean: the step of every epoch at which the printed running means restart; None where no running
            means are printed.
        per_update: whether a printed step is one optimizer update over all micro batches.
        factors: turn what is printed into the unit of its column: `{"step_seconds": 1e-3}` for milliseconds.
        marker: stands in every line of the reading. Needed only where most lines of a log hold the format's marker.
        alone: the speed is that of the job where one process prints it. Several print their own or the job's, by their
            own clocks, and no line says which.
        repeated: every rank prints a line per step, or one line per metric is printed. The records of one epoch and
            step then count once, as their median.
        weak: logs of other printers hold such lines as well. They claim a log only where no other format does.
        pauses: what else takes time inside the intervals of these records, or between them. A printer that stops its clock
            meanwhile, or times one step only, needs none unless its lines have clocks of their own.
        epoch_end: the interval of the first record of an epoch begins in the epoch before, and holds its end.
        epoch_timer: the timer begins anew where the steps do, so that what stands between two epochs is in no record.
        exact: the seconds of an epoch, or of the run, are those of its steps and of nothing else, and `step_seconds` or the
            speed their mean. Records that claim fewer left some out.
        averages: the speed of the run is the mean of the speeds of its steps, in which slow ones hardly count.
        lingers: records after a slow one whose printed speed still shows it, where the printer smooths.
        where: a condition on the session, or its lines are not read. For words that count one worker or all of them,
            depending on the configuration that is printed elsewhere.
        settings: private columns of lines that state settings. They are not records of training: what other ranks state
            after them is of the same run.
        verbs: what is done with the columns of the lines before they are records (`parsers.contract.verbs`). What they
            need besides COLUMNS is captured as private columns, such as `_epoch_start`. The numbers that the session
            states are private columns, too, such as `_batch_size`.
        trap: what is known to be wrong with the printed speeds, and the witness that is right. A summary with a trap says
            nothing against slower records that do not go by printed speeds.
        summary: of a further figure for the whole run, which others publish, the name of its rule behind `reported-`.
    """

    pattern: str | bytes | Rows
    unit: str = ""
    scope: Scope = "job"
    span: Span = "interval"
    running_mean: int | None = None
    per_update: bool = False
    factors: Mapping[str, float] = field(default_factory=dict)
    marker: bytes = b""
    alone: bool = False
    repeated: bool = False
    weak: bool = False
    pauses: tuple[Pause, ...] = ()
    epoch_end: bool = False
    epoch_timer: bool = False
    exact: bool = False
    averages: bool = False
    lingers: int = 0
    where: Condition | None = None
    settings: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ()
    trap: Trap | None = None
    summary: str = ""

    @cached_property
    def finder(self) -> re.Pattern[bytes] | Rows:
        """Return what finds the records of a text, by `finditer`, `search` and `match`; its columns are those of the contract.

        Raises:
            FormatError: the pattern is not one, or names a column that the contract does not know.
        """
        found = self.pattern if isinstance(self.pattern, Rows) else self._compiled()
        names = set(found.groupindex) | set(self.factors)
        unknown = sorted(each for each in names - set(COLUMNS) if not (self.verbs and is_private(each)))
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
        """Return what turns printed numbers into the unit of their column, by column: `factors` and units of the template."""
        return {**(self._of_template[1] if self._of_template else {}), **self.factors}

    @cached_property
    def literal(self) -> bytes:
        """Return the longest text that each line of the template contains; empty for rows and patterns."""
        return longest_text(self.pattern) if isinstance(self.pattern, str) else b""

    @cached_property
    def shape(self) -> str:
        """Return a line as people read it, with columns in braces."""
        if isinstance(self.pattern, str):
            return self.pattern
        return self.finder.shape if isinstance(self.finder, Rows) else shape_of(self.finder)

    @cached_property
    def words(self) -> tuple[Alternatives, ...]:
        """Return what stands in every record of the reading."""
        if isinstance(self.finder, Rows):
            return self.finder.words
        return literals(self.finder)

    def may_stand_in(self, distinct: bytes) -> bool:
        """Return whether a text may hold a record, by its distinct lines."""
        return all_in(self.words, distinct)

    def of_training(self, found: list[Record]) -> list[Record]:
        """Return the records that are not lines of settings."""
        if not self.settings:
            return found
        return [each for each in found if all(each[name] is None for name in self.settings)]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the captured columns in the order of the groups."""
        return tuple(sorted(self.finder.groupindex, key=self.finder.groupindex.__getitem__))
