"""The contract between a format and everything that uses it.

A format is data: patterns over bytes, the unit and scope of what they quote, and samples that hold it to account.
The modules of the wings are the registry; a new format touches its own module only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from schema import vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scope = Literal["thread", "device", "node", "job"]
Span = Literal["step", "interval", "epoch", "run"]
Quantity = Literal["throughput", "seconds", "clock"]

#: Columns a reading may capture, with what they mean. Those in CLOCKS end up in the column `clock`, in seconds.
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "epoch": "epoch",
        "step": "step within the epoch, or of the run where it does not restart",
        "throughput": "per second, in the reading's unit, at its scope",
        "step_seconds": "seconds of one step, as a mean over what the record covers",
        "steps_per_second": "steps per second",
        "duration": "seconds that the whole record covers",
        "steps": "steps that the record covers",
        "samples": "samples that the record covers, at the reading's scope",
        "batch": "samples per step, at the reading's scope",
        "consumed": "samples since the start, at the reading's scope",
        "reader_seconds": "seconds per step spent waiting for data",
        "compute_throughput": "throughput without the time spent waiting for data",
        "loss": "training loss",
        "accuracy": "training accuracy or what the model is judged by, as printed",
        "memory": "MiB of one device",
        "flops": "TFLOP/s of one device",
        "seconds": "length of the whole run",
        "clock": "date and time as printed, or the time of day alone",
        "unix": "seconds since 1970",
        "elapsed": "seconds since some start",
    }
)
CLOCKS = frozenset({"clock", "unix", "elapsed"})

#: A number as printers print it, with what goes wrong with them: `nan` and `inf` must be quoted to be refused.
#: Digits are spelled as a range here and in the readings: `re` tests a range by bitmap and `\\d` by a lookup.
NUMBER = rb"[-+.0-9EINFAeinfa]++"

#: What must follow a number that ends its line: white space, or the end of a file that was not ended with a newline, if
#: so many decimals stand there that a cut could only have taken meaningless ones.
ENDED = rb"(?=\s|(?:%s)\Z)" % b"|".join(rb"(?<=\.\d{%d})" % digits for digits in range(6, 18))

#: A DLLogger stamp.
DLLOGGER_CLOCK = rb"DLL (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) - "

#: Names of facts a format may state, with what they mean.
FACTS: Mapping[str, str] = MappingProxyType(
    {name: fact.meaning for name, fact in vocabulary.FACTS.items() if fact.in_log}
)
#: Facts that make another workload or another way to run it: cases that differ in them are not repeats.
OPTIONS = vocabulary.OPTIONS


_PLAIN = re.compile(rb"[\w -]+")


_LONGEST_WORD, _MORE_THAN_ANY = 1000, 10**9
_MORE_PARAMETERS = 10**15


Columns = Mapping[str, "NDArray[np.float64]"]


class FormatError(ValueError):
    """A format module contradicts the contract; raised when formats are loaded, never while logs are read."""


@dataclass(frozen=True)
class Reading:
    """One kind of line, and what its named groups mean.

    `scope` says what the printed throughput or samples count, `span` what stretch of training it covers.
    `cumulative_since=5` marks printed running means that restart at step 5 of every epoch. `counts="update"` marks
    printers whose step is one optimiser update over all accumulation steps.
    `marker` stands in every line of the reading, where the format's own is so common that it saves no search.
    `factors` turn what is printed into the unit of its column: `{"step_seconds": 1e-3}` where milliseconds are printed.
    `repeated` marks printers of which every rank prints a line for each step, or that print one per metric: the records
    of one epoch and step count once, as their median. `reader_apart` marks printers whose seconds per step do not
    contain those spent waiting for data. `weak` marks lines that logs of other printers hold as well: they
    claim a log only where nobody else does.
    `where` is what must stand in the head of a session for its lines to mean this: the same words may count one worker
    or all of them, as the configuration printed above them says.
    `settle` is for printers with state: a pure function of the columns in file order (float64, NaN where a line did not
    print it) to the rows that are records and their columns. It gets the lines of one rank, where tags tell them apart.
    """

    pattern: bytes
    unit: str = ""
    scope: Scope = "job"
    span: Span = "interval"
    cumulative_since: int | None = None
    counts: Literal["step", "update"] = "step"
    factors: Mapping[str, float] = field(default_factory=dict)
    marker: bytes = b""
    repeated: bool = False
    reader_apart: bool = False
    weak: bool = False
    where: bytes | None = None
    settle: Callable[[Columns], tuple[NDArray[np.intp], Columns]] | None = None

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """The compiled pattern, with its named groups only as columns."""
        compiled = re.compile(self.pattern)
        unknown = (set(compiled.groupindex) | set(self.factors)) - set(COLUMNS)
        if unknown or compiled.groups != len(compiled.groupindex):
            raise FormatError(f"groups must be named after columns, not {sorted(unknown) or 'left unnamed'}")
        if len(CLOCKS & set(compiled.groupindex)) > 1:
            raise FormatError("one reading has one clock")
        return compiled

    @cached_property
    def where_regex(self) -> re.Pattern[bytes] | None:
        """The compiled condition, if there is one; multi-line mode, so that `^` is a line's start."""
        return re.compile(self.where, re.MULTILINE) if self.where else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Captured column names in the order of the groups."""
        return tuple(sorted(self.regex.groupindex, key=self.regex.groupindex.__getitem__))


def text(printed: bytes) -> str:
    """A printed word as text."""
    return printed.decode("utf-8", "replace").strip()


def listed(printed: bytes) -> int:
    """How many items a printed, comma-separated list names: `0,1,2,3` is 4."""
    return printed.count(b",") + 1


@dataclass(frozen=True)
class Fact:
    """A fact that a log states once: the first match of `pattern`, its group 1, read by `read`.

    `words` maps printed words to ours, for example `{b"True": "amp", b"False": "fp32"}`; a word that is not in it
    states nothing. Several facts of one name are tried in their order.
    """

    name: str
    pattern: bytes
    read: Callable[[bytes], int | str] = text
    words: Mapping[bytes, str] | None = None

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """The compiled pattern; multi-line mode, so that `^` is a line's start."""
        if self.name not in FACTS:
            raise FormatError(f"no such fact: {self.name}")
        return re.compile(self.pattern, re.MULTILINE)

    def value(self, printed: bytes) -> int | str | None:
        """What a printed word states, or None where it states nothing we know, or a count that no job can have."""
        if len(printed) > _LONGEST_WORD:
            return None
        value = self.words.get(printed) if self.words is not None else self.read(printed)
        most = _MORE_PARAMETERS if self.name == "parameters" else _MORE_THAN_ANY
        return None if isinstance(value, int) and not 0 < value < most else value


@dataclass(frozen=True)
class Window:
    """The records that a published script counts, both ends included.

    They are counted by printed step, by their number from 1 (a `last` of -2 is the last but one), or by the steps since
    the first printed one.

    Source: DLPerf's extractors; `of` is what they sum: speeds, of which the mean is taken; seconds, over which the
    samples are divided; or the wall clock from `first` to `last`. Only steps divisible by `every` count. Without `last`
    the window reaches to the end.
    """

    first: int
    last: int | None
    of: Quantity = "throughput"
    every: int = 1
    by: Literal["step", "record", "since_first"] = "step"


class Sample:
    """A real line and the values it must yield: `Sample(b"...", step=30, throughput=394.18)`."""

    def __init__(self, line: bytes, **values: float) -> None:
        self.line = line
        self.values = values


@dataclass(frozen=True)
class NearMiss:
    """A line that looks alike and must yield nothing, with the reason."""

    line: bytes
    why: str


@dataclass(frozen=True)
class Format:
    """What one printer prints. `id` and `doc` are filled in by the registry from the module.

    `marker` stands in every line of interest and makes search cheap. `start` matches once per start of the program,
    where the printer announces itself, `end` where it says that it is done. `framework` holds where the printer says so
    by its very form. `over` names formats, or `*` for all, above whose claims this one stands: MLPerf's lines beside
    the training program's own.
    """

    title: str
    marker: bytes
    readings: tuple[Reading, ...]
    samples: tuple[Sample | NearMiss, ...]
    facts: tuple[Fact, ...] = ()
    start: bytes | None = None
    end: bytes | None = None
    framework: str = ""
    windows: Mapping[str, Window] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    id: str = ""
    doc: str = ""

    @cached_property
    def start_regex(self) -> re.Pattern[bytes] | None:
        """The compiled start pattern, if the printer announces itself."""
        return re.compile(self.start) if self.start else None

    def starts(self, text: bytes) -> list[int]:
        """Where in a text the program starts. A start that is a plain text is found by `find`, five times as fast."""
        if self.start is None or self.start_regex is None:
            return []
        if not _PLAIN.fullmatch(self.start):
            return [match.start() for match in self.start_regex.finditer(text)]
        found, at = [], text.find(self.start)
        while at >= 0:
            found.append(at)
            at = text.find(self.start, at + 1)
        return found

    @cached_property
    def end_regex(self) -> re.Pattern[bytes] | None:
        """The compiled end pattern, if the printer says that it is done."""
        return re.compile(self.end) if self.end else None

    @property
    def main(self) -> Reading:
        """The reading whose records are counted and computed from: the first one."""
        return self.readings[0]
