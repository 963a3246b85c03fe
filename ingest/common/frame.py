"""Tables for programs: a column is declared once, and CSV and Parquet are written from the same columns.

The fields of our records are columns as they are: their class declares name and type, and its schema says what they
mean.
"""

from __future__ import annotations

import csv as comma_separated
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, UnsetType

R = TypeVar("R")
#: The type of a column; `list` is of several texts.
Kind = type[str] | type[int] | type[float] | type[bool] | type[list[str]]

#: Written into each Parquet file, and raised when a column is removed or changes its meaning.
VERSION = 1
#: Rows that are written at once, so that few are in memory twice.
_ROWS = 10_000
#: Half and full width: a spreadsheet that is set to Chinese or Japanese takes either.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")


@dataclass(frozen=True)
class DataColumn(Generic[R]):
    """A column of a table: its name, its type, and the function that returns its value of a record."""

    name: str
    kind: Kind
    value: Callable[[R], object]


def fields(kind: type, *names: str, of: Callable[[R], object] = lambda record: record) -> tuple[DataColumn[R], ...]:
    """Return fields of a class as columns; `of` returns the object of the class for a record, or None."""
    types = get_type_hints(kind)
    return tuple(DataColumn(each, _kind(types[each]), _field(each, of)) for each in names)


def csv(columns: Sequence[DataColumn[R]], rows: Iterable[R]) -> bytes:
    """Return rows as CSV; a missing value is an empty cell, and texts that a spreadsheet would run are quoted."""
    text = io.StringIO()
    writer = comma_separated.writer(text, lineterminator="\n")
    writer.writerow(each.name for each in columns)
    writer.writerows([_cell(each.kind, each.value(row)) for each in columns] for row in rows)
    return text.getvalue().encode()


def parquet(columns: Sequence[DataColumn[R]], rows: Iterable[R]) -> bytes:
    """Return rows as Parquet: the same bytes for the same rows and the same version of the library."""
    import pyarrow as pa
    from pyarrow import parquet as writers

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), list: pa.list_(pa.string())}
    schema = pa.schema([(each.name, types[each.kind]) for each in columns], metadata={"perfledger": str(VERSION)})
    stream, left = io.BytesIO(), iter(rows)
    with writers.ParquetWriter(stream, schema, compression="zstd") as writer:
        for some in iter(lambda: list(islice(left, _ROWS)), []):
            values = ([_known(each.value(row)) for row in some] for each in columns)
            arrays = [pa.array(each, types[column.kind]) for each, column in zip(values, columns, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return stream.getvalue()


def json_array(objects: Iterable[Mapping[str, object]]) -> str:
    """Return objects as a JSON array with a line each, so that a changed object is a changed line."""
    each = ",\n".join(json.dumps(one, sort_keys=True, ensure_ascii=False, allow_nan=False) for one in objects)
    return f"[\n{each}\n]" if each else "[]"


def no_formula(text: str) -> str:
    """Return text for a cell of a spreadsheet; an apostrophe goes before one that would begin a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def _field(name: str, of: Callable[[R], object]) -> Callable[[R], object]:
    return lambda record: getattr(of(record), name, None)


def _known(value: object) -> object:
    return None if value is UNSET else value


def _cell(kind: Kind, value: object) -> object:
    if value is None or value is UNSET:
        return ""
    if kind is bool:
        return "true" if value else "false"
    if isinstance(value, list):
        return no_formula(" ".join(value))
    return no_formula(str(value)) if kind is str else value


def _kind(hint: Any) -> Kind:
    """Return the type of a field that may also be absent."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = {each for each in get_args(hint) if each not in (NoneType, UnsetType)}
    if get_origin(hint) is Literal:
        hint = type(get_args(hint)[0])
    kind: Kind = hint
    return kind
