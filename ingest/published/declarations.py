"""Reports of published figures as data: the figures of each table and chart, and the words around them.

A declaration is a file of `report_templates/reports/`. It names its source, and is shown with that source's figures.
Its blocks are text, facts, commands, or figures: a selection of published figures, laid out in rows and columns. A file
with several `[[page]]` makes a report of each, all with the same blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Struct

from perfledger import TEMPLATES
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import Keys, TomlFile, did_you_mean, display_path, one_of, read_tables
from perfledger.ingest.common.words import Bilingual, WordsEntry
from perfledger.schema.records import WrongValueError

REPORTS = TEMPLATES / "reports"
SHARED = "_shared.toml"
SECTIONS = ("summary", "model", "framework", "history")
#: Columns that distinguish figures.
CASE = ("model", "framework", "hardware", "devices", "precision", "batch_size", "metric")
#: The batch size in the head of a row; a cell with another batch size is marked.
ROW_BATCH_SIZE = "row_batch_size"
#: The columns of published figures that a declaration may name; besides them there is `options.NAME`. Batch sizes and
#: precisions are those that the source prints, which those of the logs need not be.
PLAIN = (*CASE, ROW_BATCH_SIZE, "source", "place", "line", "nodes", "state", "framework_source", "unit")
REST = "*"  # of rows: and whatever else differs between the figures
TABLE = "table"  # of split: as the figures stand in the source, lines without a gap


#: Tables of a file before they are decoded.
Tables = dict[str, Any]
ColumnName = Annotated[str, one_of(*PLAIN, pattern=r"options\..+", like="options.NAME")]
RowName = Annotated[str, one_of(REST, *PLAIN, pattern=r"options\..+", like="options.NAME")]
SplitName = Annotated[str, one_of(TABLE, *PLAIN, pattern=r"options\..+", like="options.NAME")]
Form = Literal["table", "bars", "columns", "speedup", "lines", "curve"]
Speedup = Literal["", "published", "computed"]
Section = Literal["summary", "model", "framework", "history"]
Name = str | WordsEntry
#: A selection: the permitted values of each column. `*` matches any text, `line` may be `first-last`.
Where = dict[ColumnName, tuple[str, ...]]


class ReportError(UsageError):
    """A declaration does not fit the published figures; the message is `path:line: block: what`."""


class ColumnDeclaration(Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a declaration: the figures that it takes of the selected ones, and its head."""

    head: Name
    where: Where = {}


class Delta(Struct, frozen=True, forbid_unknown_fields=True):
    """Differences next to the figures: from the figure whose `key` is among `base`, with all other facts equal."""

    key: ColumnName
    base: tuple[str, ...]


class CodeStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step of a procedure: what it does, and its commands for a shell, one a line."""

    words: WordsEntry
    shell: str


class Facts(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of words: an environment, for instance."""

    columns: tuple[Name, ...]
    rows: tuple[tuple[Name, ...], ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                fault = f"the row has {len(row)} cells, but there are {len(self.columns)} columns"
                raise WrongValueError(("rows", number), fault)


class BlockEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a report, as a file declares it: words, a table of facts, `code`, or figures.

    With `rows` it shows the figures that `where` selects. `split` makes several tables: one for each value of some
    columns, or with `table` those of the source. `rows` are the facts that a row has in common; `columns` are the facts
    of a column, or `column` lists the columns themselves. Other facts are marked if they differ between figures, except
    those in `unmarked`. `order` and `labels` give the order and the spelling of values. With `several` a cell may have
    more than one figure.
    """

    title: Name | None = None
    level: int = 2
    text: tuple[WordsEntry, ...] = ()
    facts: Facts | None = None
    code: tuple[CodeStep, ...] = ()
    where: Where = {}
    split: tuple[SplitName, ...] = ()
    rows: tuple[RowName, ...] = ()
    columns: tuple[ColumnName, ...] = ()
    column: tuple[ColumnDeclaration, ...] = ()
    show: tuple[Form, ...] = ("table",)
    speedup: Speedup = ""
    several: bool = False
    notes: tuple[WordsEntry, ...] = ()
    order: Where = {}
    labels: dict[ColumnName, dict[str, Name]] = {}
    unmarked: Where = {}
    delta: Delta | None = None


class Block(BlockEntry, frozen=True, kw_only=True):
    """A part of a report under its title. `place` says which block it is, for messages."""

    place: str


class _PageHead(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The head of a page, or of all pages of a file."""

    title: WordsEntry | None = None
    description: WordsEntry | None = None
    section: Section | None = None
    order: int | None = None
    date: str = ""
    recipes: tuple[str, ...] = ()
    edition_of: str = ""
    where: Where = {}
    block: tuple[BlockEntry, ...] = ()


class _Page(_PageHead, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str


class _ReportFile(_PageHead, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    page: tuple[_Page, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """One report.

    `id` is the name of its page and charts; `date` is the day of publication, if it is known more exactly than the
    source's year. If the report is another edition of a report, `edition_of` is the id of that one. `recipes` launch
    its cases.
    """

    id: str
    source: str
    section: Section
    title: Bilingual
    description: Bilingual
    order: int
    blocks: tuple[Block, ...]
    date: str
    recipes: tuple[str, ...] = ()
    edition_of: str = ""


@cache
def reports(folder: Path = REPORTS) -> tuple[Report, ...]:
    """Return all declared reports, by source and in their order.

    Raises:
        FileError: a declaration is not TOML, has an unknown key, or lacks one of the languages.
    """
    shared = _shared(folder / SHARED)
    found: dict[str, Path] = {}
    made: list[Report] = []
    for path in (each for each in sorted(folder.glob("*.toml")) if not each.name.startswith("_")):
        for report in _of_file(path, shared):
            if report.id in found:
                places = f"{display_path(found[report.id])} and {display_path(path)}"
                raise ReportError(f"{places}: two reports are called {report.id}; rename one")
            found[report.id] = path
            made.append(report)
    for report in made:
        _check_edition(report, made, found[report.id])
    return tuple(sorted(made, key=lambda each: (each.order, each.id)))


def _check_edition(report: Report, known: Sequence[Report], path: Path) -> None:
    """Refuse an edition of a report that is unknown, or is an edition itself: which one leads would be undecided."""
    leading = [each.id for each in known if not each.edition_of]
    if report.edition_of and report.edition_of not in leading:
        fault = f"there is no report {report.edition_of!r} that is not an edition itself"
        hint = did_you_mean(report.edition_of, leading)
        raise ReportError(f"{display_path(path)}: {report.id}: edition_of: {fault}{hint}")


def _shared(path: Path) -> Mapping[str, object]:
    """Return the blocks that others `use`, as tables: what a block adds to them is merged before it is decoded."""
    if not path.is_file():
        return {}
    file = read_tables(path)
    blocks = {name: _listed(block) for name, block in file.data.items()}
    file.decoded(blocks, dict[str, BlockEntry])
    return blocks


def _of_file(path: Path, shared: Mapping[str, object]) -> list[Report]:
    tables = read_tables(path)
    data = _listed(tables.data)
    pages = data.get("page")
    owners: list[tuple[Keys, object]] = [((), data)]
    owners += [(("page", n), each) for n, each in enumerate(pages if isinstance(pages, list) else ())]
    for keys, owner in owners:
        if isinstance(owner, dict) and isinstance(blocks := owner.get("block"), list):
            owner["block"] = [_merged(tables, (*keys, "block", n), each, shared) for n, each in enumerate(blocks)]
    file = tables.decoded(data, _ReportFile)
    if not file.data.page:
        return [_report(file, (), file.data, path.stem)]
    return [_report(file, ("page", number), page, page.id) for number, page in enumerate(file.data.page)]


def _merged(file: TomlFile[Tables], keys: Keys, block: object, shared: Mapping[str, object]) -> object:
    """Return the shared block that one names with `use`, and what it adds to that; its own values win."""
    if not isinstance(block, dict) or "use" not in block:
        return block
    made = shared.get(block["use"])
    if not isinstance(made, dict):
        fault = f"there is no block {block['use']!r} in {SHARED}{did_you_mean(str(block['use']), shared)}"
        raise file.wrong((*keys, "use"), fault)
    own = {key: value for key, value in block.items() if key != "use"}
    both = {
        key: {**made[key], **own[key]} for key in _MERGED if all(isinstance(of.get(key), dict) for of in (made, own))
    }
    return {**made, **own, **both}


#: Selections: values that may be numbers.
_SELECTIONS = frozenset({"where", "order", "unmarked"})
#: Keys that a block may add to those of a shared one.
_MERGED = (*_SELECTIONS, "labels")
#: Keys with lists, which may be single values in a file.
_LISTS = frozenset({"rows", "columns", "split", "show", "text"})


def _listed(value: Any, key: str = "") -> Any:
    """Return tables with lists where a file may write a single value, and texts where it may write a number."""
    if isinstance(value, dict):
        return {name: _texts(each) if key in _SELECTIONS else _listed(each, name) for name, each in value.items()}
    if key == "base":
        return _texts(value)
    if isinstance(value, list):
        return [_listed(each) for each in value]
    return [value] if key in _LISTS else value


def _texts(value: object) -> list[object]:
    values = value if isinstance(value, list) else [value]
    return [str(each) if type(each) is int else each for each in values]


def _report(file: TomlFile[_ReportFile], keys: Keys, page: _PageHead, name: str) -> Report:
    head = file.data
    inherited: Tables = {
        key: getattr(page, key) if getattr(page, key) is not None else getattr(head, key)
        for key in ("title", "description", "section", "order")
    }
    if missing := [key for key, value in inherited.items() if value is None]:
        raise file.wrong(keys, f"the key {missing[0]!r} is missing; add it")
    blocks = [((*keys, "block", number), each) for number, each in enumerate(page.block)]
    if page is not head:
        blocks += [(("block", number), each) for number, each in enumerate(head.block)]
    around = {**head.where, **page.where}
    return Report(
        id=name,
        source=head.source,
        blocks=tuple(_block(file, at, each, around, f"{name}, block {n}") for n, (at, each) in enumerate(blocks, 1)),
        date=page.date or head.date,
        recipes=page.recipes or head.recipes,
        edition_of=page.edition_of or head.edition_of,
        **inherited,
    )


def _block(file: TomlFile[_ReportFile], keys: Keys, entry: BlockEntry, around: Where, name: str) -> Block:
    if (entry.where or entry.columns or entry.column) and not entry.rows:
        raise file.wrong(keys, "the key 'rows' is missing; add it")
    if entry.rows and bool(entry.columns) == bool(entry.column):
        raise file.wrong(keys, "expected either columns (names of columns) or [[block.column]]")
    if TABLE in entry.split and len(entry.split) > 1:
        raise file.wrong((*keys, "split"), f"expected either {TABLE!r} or names of columns")
    title = f" ({entry.title.en if isinstance(entry.title, Bilingual) else entry.title})" if entry.title else ""
    place = f"{display_path(file.path)}:{file.line(keys)}: {name}{title}"
    fields = {key: getattr(entry, key) for key in entry.__struct_fields__}
    return Block(**{**fields, "where": {**around, **entry.where}}, place=place)
