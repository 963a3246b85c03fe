"""Figures that others published: tables beside our logs, read strictly, one row per figure with the place it has.

A folder `published/` directly below a path given to ingest, with a `sources.toml` in it, holds the tables; every one
has the columns of `COLUMNS`. Values stay as printed: `printed` is the text, `value` the number it says. Below it,
`recomputed/*.jsonl` records what was computed from logs that stay where they are: lines of the ledger, shortened.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.common import suites
from ingest.common.words import Both, WordsError, pair
from ingest.compute import rules
from ingest.read.walk import PUBLISHED_FOLDER, SOURCES
from schema import vocabulary
from schema.records import Problem, Run, from_text

if TYPE_CHECKING:
    import pandas as pd

RECOMPUTED = "recomputed"

COLUMNS = (
    "source", "place", "line", "log", "model", "framework", "framework_source", "hardware", "nodes", "devices",
    "batch_size", "precision", "options", "metric", "unit", "value", "state", "speedup", "note",
)  # fmt: skip

#: Metric to the units it may have. `throughput_run` is one repeat, `_mean` and `_median` are over repeats.
METRICS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("throughput", "throughput_run", "throughput_mean", "throughput_median"),
        frozenset({"images/s", "sequences/s", "tokens/s", "words/s", "samples/s"}),
    ),
    "latency": frozenset({"ms", "s"}),
    "memory": frozenset({"MiB"}),
    "memory_ratio": frozenset({"%"}),
    "utilisation": frozenset({"%"}),
    "max_num_classes": frozenset({"classes"}),
    "flops": frozenset({"TFLOP/s"}),
    "peak_share": frozenset({"%"}),
    "flops_of_job": frozenset({"PFLOP/s"}),
    "loss": frozenset({""}),
}
PRECISIONS = frozenset({"", *vocabulary.PRECISIONS})
STATES = frozenset({"measured", "oom", "pending", "not_measured"})
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_COUNTS = ("nodes", "devices", "batch_size")
#: A count of more digits than this is none, and Python refuses to read one of thousands.
_LONGEST_COUNT = 9
#: What no cell of a table can show.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Published:
    """One figure as others published it.

    `value` is in `unit` and None unless `state` is `measured`; `printed` and `speedup` are the texts as given. `nodes`,
    `devices` and `batch_size` (per device) are None where the place does not say. `options` maps names to texts. `file`
    and `row` say where the figure stands in our tables.
    """

    source: str
    place: str
    line: str
    log: str
    model: str
    framework: str
    framework_source: str
    hardware: str
    nodes: int | None
    devices: int | None
    batch_size: int | None
    precision: str
    options: Mapping[str, str]
    metric: str
    unit: str
    printed: str
    value: float | None
    state: str
    speedup: str
    note: str
    file: str
    row: int

    @property
    def suite(self) -> str | None:
        """The suite that compares the model, if there is one."""
        return suites.suite(self.model)


@dataclass(frozen=True)
class Source:
    """Who published figures, and where.

    `page` and `log` are addresses with `{path}`, or empty. `rules` are pairs of a pattern of logs (`*` matches any
    text, slashes too) and the rule by which the source computed the figures of those logs.
    """

    name: str
    title: Both
    address: str
    words: Both
    year: int
    commit: str = ""
    licence: str = ""
    page: str = ""
    log: str = ""
    rules: tuple[tuple[str, str], ...] = ()

    def address_of(self, row: Published) -> str:
        """The address of the page on which a figure stands; that of the whole source where no page is known."""
        path = row.place.split(" ")[0]
        line = f"#L{row.line}" if row.line.isdigit() else ""
        return (self.page.format(path=path) + line) if self.page and path else self.address

    def address_of_log(self, row: Published) -> str:
        """The address of the log that a figure names; empty where there is none."""
        return self.log.format(path=row.log) if self.log and row.log else ""


@dataclass(frozen=True)
class Publications:
    """All that is known of published figures: rows in the order of their tables, sources by name.

    `recorded` are runs that were computed elsewhere; `digest` is a hash of the folders' bytes.
    """

    rows: tuple[Published, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    recorded: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    digest: str = ""

    def rules_of(self, path: str) -> tuple[str, ...]:
        """The rules by which a source says it computed the figures of a log, beyond those every run has."""
        found = (
            rule
            for beginning, pattern, rule in self._patterns
            if beginning in path and (fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}"))
        )
        return tuple(dict.fromkeys(each for each in found if each not in rules.NAMES))

    @cached_property
    def _patterns(self) -> tuple[tuple[str, str, str], ...]:
        """What a pattern begins with, the pattern, and its rule: most logs are told apart by the beginning alone."""
        given = (each for source in self.sources.values() for each in source.rules)
        return tuple((re.split(r"[*?[]", pattern, maxsplit=1)[0], pattern, rule) for pattern, rule in given)

    @cached_property
    def by_suite(self) -> Mapping[str, tuple[Published, ...]]:
        """The rows of each suite."""
        found: dict[str, list[Published]] = {}
        for row in self.rows:
            if name := row.suite:
                found.setdefault(name, []).append(row)
        return {name: tuple(rows) for name, rows in found.items()}


def folders(paths: Iterable[Path]) -> list[Path]:
    """The folders of published figures directly below the given paths."""
    found = {
        (path / PUBLISHED_FOLDER).absolute(): path / PUBLISHED_FOLDER
        for path in paths
        if (path / PUBLISHED_FOLDER / SOURCES).is_file()
    }
    return list(found.values())


def load(folder: Path) -> list[Published]:
    """The figures of one folder that keep the rules; `read` says what is wrong with the others."""
    return list(read([folder]).rows)


def read(found: Sequence[Path]) -> Publications:
    """All figures of the given folders. What is wrong with a row or a source is a problem, and the rest is read."""
    rows: list[Published] = []
    recorded: list[Run] = []
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    digest = hashlib.sha256()
    for folder in found:
        sources |= _sources(folder / SOURCES, problems)
        for path in sorted(folder.glob("*.csv")):
            rows += _table(path, sources, problems)
        for path in sorted((folder / RECOMPUTED).glob("*.jsonl")):
            recorded += _recorded(path, problems)
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0" + _bytes(path) + b"\0")
    return Publications(tuple(rows), sources, tuple(recorded), tuple(problems), digest.hexdigest() if found else "")


def frame(rows: Iterable[Published]) -> pd.DataFrame:
    """One row per figure, one column per field; `options` as text, absent numbers NA, `value` a float."""
    import pandas as pd

    names = [each.name for each in fields(Published)]
    made = pd.DataFrame(
        [{name: getattr(row, name) for name in names} | {"options": options_text(row.options)} for row in rows],
        columns=names,
    )
    whole: dict[str, Any] = dict.fromkeys(_COUNTS, "Int64")
    return made.astype({**whole, "value": "float64"})


def table(rows: Iterable[Published]) -> bytes:
    """The rows as one CSV file in the columns of the tables, values as printed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(row) for row in rows)
    return text.getvalue().encode()


def options_text(options: Mapping[str, str]) -> str:
    """Options in the form of the tables: `clip=no; xla=yes`."""
    return "; ".join(f"{name}={value}" for name, value in sorted(options.items()))


def _cells(row: Published) -> list[str]:
    special = {"options": options_text(row.options), "value": row.printed}
    return [special.get(name, "" if (cell := getattr(row, name)) is None else str(cell)) for name in COLUMNS]


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _table(path: Path, sources: Mapping[str, Source], problems: list[Problem]) -> Iterable[Published]:
    try:
        reader = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), strict=True)
        header = tuple(reader.fieldnames or ())
        if header != COLUMNS:
            problems.append(_problem("published_columns", path, 1, cause=_difference(header)))
            return
        for cells in reader:
            if made := _row(path, reader.line_num, cells, sources, problems):
                yield made
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(_problem("published_unreadable", path, 0, cause=str(error)))


def _difference(header: tuple[str, ...]) -> str:
    unknown = [name for name in header if name not in COLUMNS]
    missing = [name for name in COLUMNS if name not in header]
    said = [f"{word} {', '.join(names)}" for word, names in (("unknown:", unknown), ("missing:", missing)) if names]
    return "; ".join(said) or "another order"


def _row(
    path: Path, line: int, cells: Mapping[Any, Any], sources: Mapping[str, Source], problems: list[Problem]
) -> Published | None:
    wrong = _wrong(cells, sources)
    if wrong:
        problems.append(_problem("published_row", path, line, cause=wrong))
        return None
    text = {name: str(cells[name]).strip() for name in COLUMNS}
    made: dict[str, Any] = {name: text[name] for name in COLUMNS if name != "value"}
    made |= {name: int(text[name]) if text[name] else None for name in _COUNTS}
    made |= {"model": suites.model(text["model"]), "options": _options(text["options"]), "printed": text["value"]}
    value = _number(text["value"]) if text["state"] == "measured" else None
    return Published(**made, value=value, file=_name(path), row=line)


def _wrong(cells: Mapping[Any, Any], sources: Mapping[str, Source]) -> str:
    """Why a row cannot be believed; empty where it can."""
    if None in cells or None in cells.values():
        return "it has another number of cells than the header"
    text = {name: str(cells[name]).strip() for name in COLUMNS}
    for name, said in text.items():
        if found := _CONTROL.search(said):
            return f"{name} holds the control character {found[0]!r}"
    named = {"source": sources, "metric": METRICS, "precision": PRECISIONS, "state": STATES}
    for name, known in named.items():
        if text[name] not in known:
            return f"unknown {name} {text[name]!r}"
    if text["unit"] not in METRICS[text["metric"]]:
        return f"unit {text['unit']!r} is none of {text['metric']}"
    for name in _COUNTS:
        if text[name] and not _is_count(text[name]):
            return f"{name} {text[name][:40]!r} is no positive whole number"
    if _options(text["options"]) is None:
        return f"options {text['options']!r} are not name=value; name=value"
    if text["state"] == "measured" and _number(text["value"]) is None:
        return f"value {text['value']!r} is no positive number, though the state is measured"
    if text["speedup"] and _number(text["speedup"]) is None:
        return f"speedup {text['speedup']!r} is no positive number"
    if text["state"] != "measured" and text["value"]:
        return f"value {text['value']!r} stands beside the state {text['state']}"
    return ""


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_COUNT and int(text) > 0


def _number(text: str) -> float | None:
    """A positive number as people write it: no exponent, no separators, no nan."""
    value = float(text) if _PLAIN.fullmatch(text) else math.nan
    return value if math.isfinite(value) and value > 0 else None


def _options(text: str) -> dict[str, str] | None:
    pairs = [each.split("=", 1) for each in text.split("; ")] if text else []
    if any(len(each) != 2 or not each[0].strip() for each in pairs):
        return None
    return {name.strip(): value.strip() for name, value in pairs}


def _recorded(path: Path, problems: list[Problem]) -> Iterable[Run]:
    """Yield the runs of a record; a line that is none is a problem."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        problems.append(_problem("published_unreadable", path, 0, cause=error.strerror or "cannot be opened"))
        return
    for number, line in enumerate(text.splitlines(), 1):
        try:
            yield from_text(line, Run)
        except ValueError as error:
            problems.append(_problem("published_row", path, number, cause=f"no record of a run ({error})"))


def _bytes(path: Path) -> bytes:
    """A file's bytes; of one that cannot be read, none: what that means for its rows is said where they are read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _sources(path: Path, problems: list[Problem]) -> dict[str, Source]:
    """Sources by name; one without both languages, or without a name, is a problem and is left out."""
    try:
        source = path.read_text("utf-8")
        given = tomllib.loads(source)["source"]
        return {str(each["name"]): _source(path, source, each) for each in given}
    except (
        OSError,
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        WordsError,
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
    ) as error:
        cause = f"no {error}" if isinstance(error, KeyError) else str(error)
        problems.append(_problem("published_sources", path, 0, cause=cause.replace(f"{path}:", "")))
        return {}


def _source(path: Path, source: str, given: Mapping[str, Any]) -> Source:
    plain = {name: str(given[name]) for name in ("commit", "licence", "page", "log") if name in given}
    for address in (str(given["address"]), *(plain[name] for name in ("page", "log") if name in plain)):
        _check_address(address)
    return Source(
        name=str(given["name"]),
        title=Both(**pair(path, source, "title", given["title"])),
        words=Both(**pair(path, source, "words", given["words"])),
        address=str(given["address"]),
        year=int(given["year"]),
        rules=tuple(_rule(each) for each in given.get("rules", ())),
        **plain,
    )


def _check_address(address: str) -> None:
    """Raise ValueError for what may not become a link: any other scheme, any placeholder but the path's."""
    if not address.startswith("https://"):
        raise ValueError(f"address {address!r} does not begin with https://")
    address.format(path="")


def _rule(given: Mapping[str, Any]) -> tuple[str, str]:
    return str(given["logs"]), rules.parse(str(given["rule"])).name


def _problem(code: str, path: Path, line: int, **args: Any) -> Problem:
    return Problem(code, _name(path), line, args)
