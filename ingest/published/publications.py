"""Read figures that others published: tables with one row per figure, next to our logs.

The tables are in a folder `published/` directly below a path given to ingest, with a `sources.toml`. Every table has
the columns of `COLUMNS`; those of `OPTIONAL` may be missing. Values stay as printed: `printed` is the text, `value` its
number. `batch_size` and `precision` are those of the case, from the log if there is one; if the source prints other
values, these have columns of their own. In the folder, `recomputed/*.jsonl` are shortened lines of the ledger, for
figures that were computed from logs elsewhere.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import fields

from perfledger.ingest.common import frame, suites, toml_file
from perfledger.ingest.common.documents import MOST_OF_TABLE, DocumentError, cause, read_bytes, read_text
from perfledger.ingest.common.frame import DataColumn
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.optional_file import read_if_there
from perfledger.ingest.common.toml_file import did_you_mean, one_of
from perfledger.ingest.common.words import WordsEntry
from perfledger.ingest.compute import rules
from perfledger.ingest.read.walk import PUBLISHED_FOLDER, SOURCES
from perfledger.schema import vocabulary
from perfledger.schema.records import Problem, Run, WrongValueError, from_text
from perfledger.schema.redaction.redact import redacted

RECOMPUTED = "recomputed"

#: Metric to the units it may have. `throughput_run` is one repeat, `_mean` and `_median` are over repeats.
METRICS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("throughput", "throughput_run", "throughput_mean", "throughput_median"),
        frozenset({"images/s", "sequences/s", "tokens/s", "words/s", "samples/s", "items/s"}),
    ),
    "latency": frozenset({"ms", "s"}),
    "memory": frozenset({"MiB"}),
    "memory_ratio": frozenset({"%"}),
    "utilisation": frozenset({"%"}),
    "time_to_train": frozenset({"min"}),
    "samples_to_train": frozenset({"samples"}),
    "max_num_classes": frozenset({"classes"}),
    "flops": frozenset({"TFLOP/s"}),
    "peak_share": frozenset({"%"}),
    "flops_of_job": frozenset({"PFLOP/s"}),
    "loss": frozenset({""}),
}
#: Metrics of single repeats and their means and medians, which are not results.
REPEATS = frozenset({"throughput_run", "throughput_mean", "throughput_median"})
PRECISIONS = frozenset({"", *vocabulary.PRECISIONS})
STATES = frozenset({"measured", "oom", "pending", "not_measured"})
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_COUNTS = ("nodes", "devices", "batch_size", "printed_batch_size", "row_batch_size")
#: Nine digits are enough, and Python refuses to read a number of thousands.
_COUNT = re.compile(r"0*[1-9][0-9]{0,8}")

Count = Annotated[int, Meta(ge=1)] | None
Metric = Annotated[str, one_of(*METRICS)]
Precision = Annotated[str, one_of(*sorted(PRECISIONS))]
State = Annotated[str, one_of(*sorted(STATES))]


class Published(
    Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"printed": "value", "value": "number"}
):
    """One figure as others published it, a row of a table.

    `value` is in `unit` and None unless `state` is `measured`; `printed` and `speedup` are the original texts. `nodes`,
    `devices` and `batch_size` (per device) are None if the place does not state them. `batch_size` and `precision` are
    those of the case; `printed_batch_size` and `printed_precision` are the source's, if they differ from the case's.
    `row_batch_size` is that in the head of the row, if the cell has another one; `label` is a text next to the figure,
    such as `(O2)`. `options` maps names to texts. `file` and `row` are the place in our tables.
    """

    source: str
    place: str
    line: str
    log: str
    model: str
    framework: str
    framework_source: str
    hardware: str
    nodes: Count
    devices: Count
    batch_size: Count
    printed_batch_size: Count = None
    row_batch_size: Count = None
    precision: Precision
    printed_precision: Precision = ""
    label: str = ""
    options: Mapping[str, str]
    metric: Metric
    unit: str
    printed: str
    state: State
    speedup: str
    note: str
    value: float | None
    file: str
    row: int

    def __post_init__(self) -> None:
        if self.unit not in METRICS[self.metric]:
            known = " or ".join(sorted(METRICS[self.metric]))
            raise WrongValueError(("unit",), f"expected {known} for {self.metric}, got {self.unit!r}")
        if self.state != "measured" and self.printed:
            raise WrongValueError(("value",), f"expected no value with the state {self.state}, got {self.printed!r}")
        if self.state == "measured" and self.value is None:
            raise WrongValueError(("value",), f"expected a positive number, got {self.printed!r}")
        if self.speedup and _number(self.speedup) is None:
            raise WrongValueError(("speedup",), f"expected a positive number, got {self.speedup!r}")
        if self.printed_batch_size and not self.log:
            fault = f"expected nothing without a log that says another one, got '{self.printed_batch_size}'"
            raise WrongValueError(("printed_batch_size",), fault)
        self._check_printed("printed_batch_size", "batch_size", self.batch_size)
        self._check_printed("row_batch_size", "batch size of the figure", self.printed_batch_size or self.batch_size)
        self._check_printed("printed_precision", "precision", self.precision)

    def _check_printed(self, name: str, instead: str, value: object) -> None:
        """Refuse a printed value if the value of the case is missing, or if both are the same."""
        found = getattr(self, name)
        if found and not value:
            raise WrongValueError((name,), f"expected nothing without a {instead}, got '{found}'")
        if found and found == value:
            raise WrongValueError((name,), f"expected nothing where it is the {instead}, got '{found}'")

    @property
    def suite(self) -> str | None:
        """The suite that compares the model, if there is one."""
        return suites.suite(self.model)


#: Columns of a table.
COLUMNS = tuple(each for each in Published.__struct_encode_fields__ if each not in ("number", "file", "row"))
#: Columns that a table may lack.
OPTIONAL = frozenset(each.name for each in fields(Published) if not each.required)


Address = Annotated[str, Meta(pattern=r"^https://[^{}]*\Z", description="an address that begins with https://")]
#: An address with `{path}` in it, or nothing.
PathAddress = Annotated[
    str,
    Meta(
        pattern=r"^(?:https://(?:[^{}]|\{path\})*)?\Z",
        description="an address that begins with https:// and has no placeholder but {path}",
    ),
]


class LogRule(Struct, frozen=True, forbid_unknown_fields=True):
    """The rule that a source used for its figures of some logs; `*` in their pattern matches slashes, too."""

    logs: str
    rule: str

    def __post_init__(self) -> None:
        rules.parse(self.rule)


class SourceClaim(Struct, frozen=True, forbid_unknown_fields=True):
    """An option and its value that a source states for all figures at some places."""

    places: str
    option: str
    value: str


class Publisher(Struct, frozen=True, forbid_unknown_fields=True):
    """A publisher of figures, and one edition of the publication.

    `year` and `commit` are those of the edition, if known; `edition` is its name, if the year is not enough. `page`
    and `log` are addresses of its pages and logs, if known.
    """

    name: str
    title: WordsEntry
    address: Address
    words: WordsEntry
    year: int | None = None
    edition: WordsEntry | None = None
    commit: str = ""
    page: PathAddress = ""
    log: PathAddress = ""
    rules: tuple[LogRule, ...] = ()
    claims: tuple[SourceClaim, ...] = ()

    def address_of(self, row: Published) -> str | None:
        """Return the address of the page that prints a figure; None if the edition's address is unknown."""
        path = row.place.split(" ")[0]
        line = f"#L{row.line}" if row.line.isdigit() else ""
        return (self.page.format(path=path) + line) if self.page and path else None

    def address_of_log(self, row: Published) -> str:
        """Return the address of the log that a figure names, or an empty text."""
        return self.log.format(path=row.log) if self.log and row.log else ""


@dataclass(frozen=True)
class Publications:
    """All that is known of published figures: rows in the order of their tables, sources by name.

    `recorded` are runs that were computed elsewhere; `digest` is a hash of the folders' bytes.
    """

    rows: tuple[Published, ...] = ()
    sources: Mapping[str, Publisher] = field(default_factory=dict)
    recorded: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    digest: str = ""

    def address_of(self, row: Published) -> str | None:
        """Return the address of the page that prints a figure; None if it is unknown."""
        source = self.sources.get(row.source)
        return source.address_of(row) if source else None

    def rules_of(self, path: str) -> tuple[str, ...]:
        """Return the rules that a source used for the figures of a log, in addition to those of every run."""
        found = (
            rule
            for beginning, pattern, rule in self._patterns
            if beginning in path and (fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}"))
        )
        return tuple(dict.fromkeys(each for each in found if each not in rules.NAMES))

    @cached_property
    def _patterns(self) -> tuple[tuple[str, str, str], ...]:
        """The fixed beginning of each pattern, the pattern, and its rule; comparing beginnings first is much faster."""
        return tuple(
            (re.split(r"[*?[]", each.logs, maxsplit=1)[0], each.logs, each.rule)
            for source in self.sources.values()
            for each in source.rules
        )

    @cached_property
    def by_suite(self) -> Mapping[str, tuple[Published, ...]]:
        """The rows of each suite."""
        return {name: tuple(rows) for name, rows in by_key(self.rows, lambda row: row.suite).items() if name}


def folders(paths: Iterable[Path]) -> list[Path]:
    """Return the folders of published figures directly below the given paths."""
    found = {
        (path / PUBLISHED_FOLDER).absolute(): path / PUBLISHED_FOLDER
        for path in paths
        if os.path.lexists(path / PUBLISHED_FOLDER / SOURCES)
    }
    return list(found.values())


def read(found: Sequence[Path]) -> Publications:
    """Return all figures of the given folders. A fault in a row or a source is a problem, and the rest is read."""
    rows: list[Published] = []
    recorded: list[Run] = []
    problems: list[Problem] = []
    sources: dict[str, Publisher] = {}
    digest = hashlib.sha256()
    for folder in found:
        # A wrong file adds no source.
        file = read_if_there(folder / SOURCES, _SourcesFile, problems)
        sources |= {each.name: each for each in file.data.source} if file else {}
        for path in sorted(folder.glob("*.csv")):
            rows += _table(path, sources, problems)
        for path in sorted((folder / RECOMPUTED).glob("*.jsonl")):
            recorded += _recorded(path, problems)
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0" + _content(path) + b"\0")
    return Publications(tuple(rows), sources, tuple(recorded), tuple(problems), digest.hexdigest() if found else "")


def table(rows: Iterable[Published]) -> bytes:
    """Return the rows as one CSV file in the columns of the tables, values as printed."""
    special: Mapping[str, Callable[[Published], object]] = {
        "options": lambda row: options_cell(row.options),
        "value": lambda row: row.printed,
    }
    return frame.csv([DataColumn(name, str, special.get(name) or attrgetter(name)) for name in COLUMNS], rows)


def options_cell(options: Mapping[str, str]) -> str:
    """Return options in the form of the tables: `clip=no; xla=yes`."""
    return "; ".join(f"{name}={value}" for name, value in sorted(options.items()))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _table(path: Path, sources: Mapping[str, Publisher], problems: list[Problem]) -> Iterable[Published]:
    try:
        reader = csv.DictReader(io.StringIO(read_text(path, MOST_OF_TABLE), newline=""), strict=True)
        header = tuple(reader.fieldnames or ())
        if header != tuple(each for each in COLUMNS if each in header or each not in OPTIONAL):
            problems.append(_problem("wrong_file", path, 1, cause=_difference(header)))
            return
        for cells in reader:
            if made := _row(path, reader.line_num, cells, sources, problems):
                yield made
    except csv.Error as error:
        problems.append(_problem("published_row", path, reader.line_num, cause=str(error)))
    except (OSError, DocumentError) as error:
        problems.append(_problem("wrong_file", path, 0, cause=cause(error)))


def _difference(header: tuple[str, ...]) -> str:
    unknown = [name for name in header if name not in COLUMNS]
    missing = [name for name in COLUMNS if name not in header and name not in OPTIONAL]
    parts = [f"{word} {', '.join(names)}" for word, names in (("unknown:", unknown), ("missing:", missing)) if names]
    return f"its columns differ from those of other tables: {'; '.join(parts) or 'another order'}"


def _row(
    path: Path, line: int, cells: Mapping[Any, Any], sources: Mapping[str, Publisher], problems: list[Problem]
) -> Published | None:
    try:
        return _published(cells, sources, _name(path), line)
    except ValueError as error:
        problems.append(_problem("published_row", path, line, cause=str(error)))
        return None


def _published(cells: Mapping[Any, Any], sources: Mapping[str, Publisher], file: str, line: int) -> Published:
    """Return the figure of a row; a ValueError says what is wrong with it."""
    if None in cells or None in cells.values():
        raise ValueError("the row has another number of cells than the header")
    text = {name: redacted(str(cell).strip()) for name, cell in cells.items()}
    if text["source"] not in sources:
        raise ValueError(f"source: unknown source {text['source']!r}{did_you_mean(text['source'], sources)}")
    counts = {name: _count(text[name]) for name in _COUNTS if name in text}
    rest = {"model": suites.model(text["model"]), "options": _options(text["options"]), "file": file, "row": line}
    return toml_file.record({**text, **counts, **rest, "number": _number(text["value"])}, Published)


def _count(text: str) -> int | str | None:
    """Return a count; the text itself if it is not one, and None without a text."""
    return int(text) if _COUNT.fullmatch(text) else text or None


def _number(text: str) -> float | None:
    """Return a positive number as people write it, with no exponent, no separators and no nan; None for others."""
    value = float(text) if _PLAIN.fullmatch(text) else math.nan
    return value if math.isfinite(value) and value > 0 else None


def _options(text: str) -> dict[str, str]:
    pairs = [each.split("=", 1) for each in text.split("; ")] if text else []
    if any(len(each) != 2 or not each[0].strip() for each in pairs):
        raise ValueError(f"options: expected name=value; name=value, got {text!r}")
    return {name.strip(): value.strip() for name, value in pairs}


def _recorded(path: Path, problems: list[Problem]) -> Iterable[Run]:
    """Yield the runs of a record; an invalid line is a problem."""
    try:
        text = read_bytes(path, MOST_OF_TABLE).decode("utf-8", "replace")
    except (OSError, DocumentError) as error:
        problems.append(_problem("wrong_file", path, 0, cause=cause(error)))
        return
    for number, line in enumerate(text.splitlines(), 1):
        try:
            yield from_text(line, Run)
        except ValueError as error:
            problems.append(_problem("published_row", path, number, cause=f"no record of a run ({error})"))


def _content(path: Path) -> bytes:
    """Return a file's bytes; none of one that cannot be read, which is a problem where its rows are read."""
    try:
        return read_bytes(path, MOST_OF_TABLE)
    except (OSError, DocumentError):
        return b""


class _SourcesFile(Struct, frozen=True, forbid_unknown_fields=True):
    source: tuple[Publisher, ...]


def _problem(code: str, path: Path, line: int, **args: Any) -> Problem:
    return Problem(code, _name(path), line, args)
