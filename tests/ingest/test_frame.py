"""Tables for programs: columns have the types of their fields, and cells are safe in spreadsheets."""

from __future__ import annotations

import io
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from pyarrow import parquet

from perfledger.ingest.common import frame
from perfledger.ingest.common.frame import DataColumn, fields


class Machine(Struct):
    name: str
    memory: float | None = None


class Job(Struct):
    title: str | None
    devices: int | UnsetType
    state: Literal["new", "old"]
    safe: bool
    machine: Machine | None = None


COLUMNS = (
    *fields(Job, "title", "devices", "state", "safe"),
    *fields(Machine, "memory", of=lambda job: job.machine),
    DataColumn("tags", list, lambda job: [job.state, str(job.safe)]),
)
ROWS = (Job("=1+1", 8, "new", True, Machine("a", -0.5)), Job(None, UNSET, "old", False))


def test_csv_has_empty_cells_for_missing_values_and_no_formulas() -> None:
    head, first, second = frame.csv(COLUMNS, ROWS).decode().splitlines()
    assert head == "title,devices,state,safe,memory,tags"
    assert first == "'=1+1,8,new,true,-0.5,new True"
    assert second == ",,old,false,,old False"


def test_parquet_has_the_types_of_the_fields() -> None:
    table = parquet.read_table(io.BytesIO(frame.parquet(COLUMNS, ROWS)))
    types = {each.name: str(each.type) for each in table.schema}
    assert types.pop("tags") == "list<element: string>"
    assert types == {"title": "string", "devices": "int64", "state": "string", "safe": "bool", "memory": "double"}
    assert [each["devices"] for each in table.to_pylist()] == [8, None]
