"""The contract between a format and everything that uses it.

A format is data: patterns over bytes, and the unit and scope of what they quote. Lines that test it are in
`tests/golden/<id>/samples.toml`. The registry finds the modules in the packages of formats; a new format is one new
module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from perfledger.parsers.contract.conditions import Condition
from perfledger.parsers.contract.literals import Alternatives, all_in, literals
from perfledger.parsers.contract.patterns import FormatError as FormatError
from perfledger.parsers.contract.patterns import compiled, searched
from perfledger.parsers.contract.rows import RowMatch as RowMatch
from perfledger.parsers.contract.rows import Rows as Rows
from perfledger.parsers.contract.shape import shape_of
from perfledger.parsers.contract.template import NUMBER as NUMBER
from perfledger.parsers.contract.template import SHORT_NUMBER as SHORT_NUMBER
from perfledger.parsers.contract.template import compiled_line, compiled_text, longest_text
from perfledger.parsers.contract.verbs import Column as Column
from perfledger.parsers.contract.verbs import Columns as Columns
from perfledger.parsers.contract.verbs import Indices as Indices
from perfledger.parsers.contract.verbs import Kept, Verb
from perfledger.schema import vocabulary

Scope = Literal["thread", "device", "node", "job"]
Span = Literal["step", "interval", "epoch", "run"]
PauseKind = Literal["evaluation", "checkpoint", "epoch_end"]

#: Columns a reading may capture, with what they mean. Those in CLOCKS end up in the column `clock`, in seconds.
#: A reading with verbs may capture private columns as well, whose names begin with an underscore: only the verbs see them.
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "rank": "rank that the line itself names, where no launcher's tag was taken off; each rank is processed by itself",
        "epoch": "epoch",
        "step": "step within the epoch, or of the run where it does not restart",
        "total_epochs": "epochs that the run is to take",
        "total_steps": "what `step` counts up to: steps of the run, or of the epoch where it restarts",
        "throughput": "per second, in the reading's unit, at its scope",
        "restated": "the same of a line whose seconds give the figure, which it may only contradict",
        "step_seconds": "seconds of one step, as a mean over what the record covers",
        "training_seconds": "seconds of one step by a timer of training alone, beside a clock that runs on; it may smooth",
        "steps_per_second": "steps per second",
        "duration": "seconds that the whole record covers, as a number or as `1:02:03`",
        "steps": "steps that the record covers",
        "samples": "samples that the record covers, at the reading's scope",
        "batch": "samples per step, at the reading's scope",
        "evaluated": "1 where the record holds an evaluation that no line of its own tells, else 0",
        "consumed": "samples since the start, at the reading's scope",
        "length": "tokens of a sample, where they may change",
        "reader_seconds": "seconds per step spent waiting for data",
        "loss": "training loss",
        "mean_loss": "losses since the program started, summed and divided by all steps of the run, also those before a resumption",
        "accuracy": "training accuracy or what the model is judged by, as printed",
        "memory": "MiB of one device",
        "flops": "TFLOP/s of one device",
        "power": "watts of one device",
        "energy": "joules of one device in one step",
        "seconds": "length of the whole run",
        "target_seconds": "seconds from the start of training to its end, of a run that trains until it reaches a target",
        "target_samples": "samples until then",
        "samples_before": "samples that other runs had trained before, of a run that goes on from them",
        "reached": "1 if the run reached its target, 0 if it ended without it",
        "clock": "date and time as printed, or the time of day alone",
        "unix": "seconds since 1970",
        "elapsed": "seconds since some start, as a number or as `1 day, 2:03:04`",
    }
)
CLOCKS = frozenset({"clock", "unix", "elapsed"})

#: `<throughput>` in the pattern of a reading; `\<` is the character itself.
_COLUMN = re.compile(rb"(?<!\?P)(?<!\\)<([a-z_]++)>")
#: Columns that are whole numbers.
_WHOLE = {b"epoch", b"step", b"total_epochs", b"total_steps"}

#: Lookahead after a number at the end of a line: white space, or the end of the file after six decimals or more. A file
#: that was cut there has lost insignificant digits only.
ENDED = rb"(?=\s|(?:%s)\Z)" % b"|".join(rb"(?<=\.\d{%d})" % digits for digits in range(6, 18))


def up_to(label: bytes, again: bytes, within: bytes = rb"[^\n]") -> bytes:
    """Return a pattern for the characters up to and with the next `label`, in linear time.

    A gap such as `[^\n]*?` rescans the line from each beginning of the pattern, which takes hours on a line of many
    beginnings and no label. This gap ends where the pattern begins again, so that no character is scanned twice.

    Args:
        label: a pattern without groups that ends the gap.
        again: a pattern without groups for the beginning, or for a part of it that stands nowhere in a real gap.
        within: the characters that the gap may hold.
    """
    return rb"(?:(?!%s|%s)%s)*+(?:%s)" % (again, label, within, label)


def up_to_argument(name: bytes, again: bytes = rb"Namespace\(") -> bytes:
    """Return `up_to` the value of an argument of a list such as `Namespace(lr=0.1, batch_size=32)`.

    Args:
        name: a pattern without groups for its name.
        again: where another list begins, or this one.
    """
    return up_to(rb"\b" + name + rb"=", again)


def next_line(of_printer: bytes) -> bytes:
    """Return a pattern for the end of a line and up to four states of bars and lines of other programs behind it.

    A bar that is redrawn ends each of its states with a carriage return, and may leave the next line on its own.

    Args:
        of_printer: a pattern without groups for the beginning of the lines that must not be passed over.
    """
    return rb"[ \t]*+[\r\n]++(?:(?![ \t]*+%s)[^\r\n]{0,4000}+[\r\n]++){0,4}+[ \t]*+" % of_printer


#: A DLLogger stamp.
DLLOGGER_CLOCK = rb"DLL (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) - "

#: Names of facts a format may state, with what they mean.
FACTS: Mapping[str, str] = MappingProxyType(
    {name: fact.meaning for name, fact in vocabulary.FACTS.items() if fact.in_log}
)
#: Facts that change the workload or how it is run: cases that differ in one of them are not repeats.
OPTIONS = vocabulary.OPTIONS


_LONGEST_WORD, _MORE_THAN_ANY = 1000, 10**9
_MORE_PARAMETERS = 10**15


#: What a reading finds in a text: where it begins and ends, and what is printed for each column.
Record = re.Match[bytes] | RowMatch

#: The rows that are records, and the columns of these records.
Postprocessed = Kept


def is_private(column: str) -> bool:
    """Return whether only the verbs of a reading see a column."""
    return column.startswith("_")


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
        cumulative_since: the step of every epoch at which the printed running means restart; None where no running
            means are printed.
        counts: `update` where a printed step is one optimiser update over all accumulation steps.
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
    cumulative_since: int | None = None
    counts: Literal["step", "update"] = "step"
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


def text(printed: bytes) -> str:
    """Decode a printed word."""
    return printed.decode("utf-8", "replace").strip()


#: A model in the cache of the Hugging Face Hub: `models--acme--tiny-lm/snapshots/` and a hash.
_CACHED = re.compile(r"/models--([\w.-]+?)--([\w.-]+)/snapshots/")

#: Folders that hold a model, and do not name it.
_UNNAMED = re.compile(
    r"(?:checkpoint|ckpt|(?:global_?)?step|iter|epoch)[-_]?[0-9]*|models?|weights|hf|huggingface|outputs?|final|merged|latest|actor",
    re.IGNORECASE,
)


def without_folders(model: str) -> str:
    """Return the name of a model that is printed with the folders of a machine: `/data/tiny-lm` is `tiny-lm`.

    Redaction takes such folders away, and with them all that tells two models apart. `acme/tiny-lm` is a name. Where the
    last folder is a checkpoint of any model there is none.
    """
    if not model.startswith(("/", "./", "../", "~/")):
        return model
    cached = _CACHED.search(model)
    name = "/".join(cached.groups()) if cached else model.rstrip("/").rpartition("/")[2]
    return "" if _UNNAMED.fullmatch(name) else name


def listed(printed: bytes) -> int:
    """Count the items of a printed, comma-separated list: `0,1,2,3` is 4."""
    return printed.count(b",") + 1


def grouped(printed: bytes) -> int:
    """Convert a whole number with separators of thousands: `1,024` is 1024."""
    return int(printed.replace(b",", b""))


@dataclass(frozen=True)
class Fact:
    """A fact that a log states.

    A program may print a setting several times, first as a file has it, then as it runs with it. The last value before
    the first record counts.

    Attributes:
        name: one of FACTS. Several facts of one name are tried in their order.
        pattern: a template with one `{}`, or a pattern whose group 1 is the printed word.
        read: converts the printed word; a ValueError states nothing. A template says it itself: `{:int}`, `{:,}`.
        words: our words for the printed ones, such as `{b"True": "amp", b"False": "fp32"}`, instead of `read`. A word
            that is not among them states nothing.
        first: the first value counts, since later lines of this form state something else, such as validation data.
        where: a condition on the session, or it does not state the fact.
    """

    name: str
    pattern: str | bytes
    read: Callable[[bytes], int | str] = text
    words: Mapping[bytes, str] | None = None
    first: bool = False
    where: Condition | None = None

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """Compile the pattern in multi-line mode: `^` is the start of a line."""
        if self.name not in FACTS:
            raise FormatError(f"no such fact: {self.name}. Facts are {', '.join(FACTS)} (parsers.contract.FACTS)")
        return searched(compiled_text(self.pattern))

    @cached_property
    def _held(self) -> tuple[Alternatives, ...]:
        return literals(compiled(compiled_text(self.pattern), re.MULTILINE))

    def may_stand_in(self, distinct: bytes) -> bool:
        """Return whether a text may state the fact, by its distinct lines."""
        return all_in(self._held, distinct)

    @property
    def _reader(self) -> Callable[[bytes], int | str]:
        if self.read is text and isinstance(self.pattern, str):
            return int if "{:int}" in self.pattern else grouped if "{:,}" in self.pattern else text
        return self.read

    def value(self, printed: bytes) -> int | str | None:
        """Return the value of a printed word; None where it is unknown, or a count that no job can have."""
        if len(printed) > _LONGEST_WORD:
            return None
        try:
            value = self.words.get(printed) if self.words is not None else self._reader(printed)
        except (ValueError, OverflowError):  # such as `1.2.3` or `4, ,2`, from a garbled line
            return None
        if self.name == "model" and isinstance(value, str):
            return without_folders(value) or None
        most = _MORE_PARAMETERS if self.name == "parameters" else _MORE_THAN_ANY
        return None if isinstance(value, int) and not 0 < value < most else value


@dataclass(frozen=True)
class Window:
    """The records that a published script counts, both ends included.

    Source: DLPerf's extractors.

    Attributes:
        first: the first record.
        last: the last record; None for the end of the log.
        of: what is summed: speeds, of which the mean is taken; seconds, over which the samples are divided; or the wall
            clock from `first` to `last`.
        every: only steps divisible by it count.
        by: how records are counted: by printed step, by their number from 1 (a `last` of -2 is the last but one), or by
            the steps since the first printed one.
    """

    first: int
    last: int | None
    of: Literal["throughput", "seconds", "clock"] = "throughput"
    every: int = 1
    by: Literal["step", "record", "since_first"] = "step"


@dataclass(frozen=True)
class Format:
    """What one printer prints.

    Attributes:
        title: name of the printer on the pages.
        marker: text that each record of a reading without a marker of its own contains, unless the reading is a template.
        readings: the kinds of lines; records of the first are counted and used for figures.
        facts: what a log states once.
        start: matches once per start of the program, where the printer announces itself. Where what tells of a start
            stands in part before it, a group `start` begins there.
        before_start: matches lines that the program, or what launches it, prints before that: a session begins at the
            first of them after the last record of the session before it. The engine knows common launchers itself.
        end: matches where the printer says that it is done.
        framework: the training framework, where only one prints such lines.
        windows: the records that published scripts count, by the name of the rule.
        over: ids of formats, or `*` for all, whose claims this one overrides: MLPerf's lines stand between those of the
            training program.
        frames: readings that sessions of every other format get as well: lines that frame a run, whatever program
            prints within it.
        document: a key of the JSON document that the printer writes, at its top. Another JSON document that contains
            such lines quotes them.
        needs: text that a log of the format contains, if its records alone do not identify it.
        unproven: whether the lines stand on the printer's source alone, since no real log was at hand: the format's page
            and every figure of it say so.
        id: `package.module`, filled in by the registry.
        doc: the module's docstring, filled in by the registry.
    """

    title: str
    marker: bytes = b""
    readings: tuple[Reading, ...] = ()
    facts: tuple[Fact, ...] = ()
    start: str | bytes | None = None
    before_start: str | bytes | None = None
    end: str | bytes | None = None
    framework: str = ""
    windows: Mapping[str, Window] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    unproven: bool = False
    frames: tuple[Reading, ...] = ()
    document: str = ""
    needs: bytes = b""
    id: str = ""
    doc: str = ""

    @cached_property
    def start_regex(self) -> re.Pattern[bytes] | None:
        """Compile the start pattern, if the printer announces itself."""
        return compiled(compiled_text(self.start)) if self.start else None

    @cached_property
    def _held_by_start(self) -> tuple[Alternatives, ...]:
        return literals(self.start_regex) if self.start_regex else ()

    def may_start_in(self, distinct: bytes) -> bool:
        """Return whether the program may start in a text, by its distinct lines."""
        return self.start_regex is not None and all_in(self._held_by_start, distinct)

    def starts(self, text: bytes) -> list[int]:
        """Return where the program starts."""
        if not self.start_regex:
            return []
        at = "start" if "start" in self.start_regex.groupindex else 0
        found = ((match.start(at), match.start()) for match in self.start_regex.finditer(text))
        return [named if named >= 0 else whole for named, whole in found]

    @cached_property
    def before_start_regex(self) -> re.Pattern[bytes] | None:
        """Compile the pattern of what stands before the start, in multi-line mode: `^` is the start of a line."""
        return searched(compiled_text(self.before_start)) if self.before_start else None

    @cached_property
    def end_regex(self) -> re.Pattern[bytes] | None:
        """Compile the end pattern, if the printer says that it is done."""
        return searched(compiled_text(self.end)) if self.end else None

    @cached_property
    def _held_by_end(self) -> tuple[Alternatives, ...]:
        return literals(compiled(compiled_text(self.end), re.MULTILINE)) if self.end else ()

    def may_end_in(self, distinct: bytes) -> bool:
        """Return whether a text may hold the line that says that it is done, by its distinct lines."""
        return bool(self.end) and all_in(self._held_by_end, distinct)

    @property
    def main(self) -> Reading:
        """Return the first reading, whose records are counted and used for figures."""
        return self.readings[0]
