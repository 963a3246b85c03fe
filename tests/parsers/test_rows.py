"""Rows of JSON and Python dictionaries are read by key, and quoted unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfledger.parsers.contract import FormatError, Reading, Rows
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.engine.found import Found
from perfledger.parsers.engine.table import LogSource, ReadingTable
from perfledger.schema.distinct_lines import distinct_lines

LINE = b'DLLL {"type": "LOG", "step": [0, 40], "data": {"train.loss": 6.50, "train.total_ips": 2500.25}}'


def values(rows: Rows, text: bytes) -> list[dict[str, bytes | None]]:
    return [each.groupdict() for each in rows.finditer(text)]


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("loss", b'{"loss": 2.50}', b"2.50"),
        ("loss", b'{"loss": "2.50"}', b"2.50"),
        ("loss", b'{"loss":-1e-05}', b"-1e-05"),
        ("loss", b'{"loss": NaN}', b"NaN"),
        ("loss", b'{"loss": -Infinity}', b"-Infinity"),
        ("data.loss", b'{"data": {"loss": 1}}', b"1"),
        ("data.train.loss", b'{"data": {"train.loss": 1}}', b"1"),
        ("data.train.loss", b'{"data.train": {"loss": 1}}', b"1"),
        ("data.train.loss", b'{"data.train": {"a": 2}, "data": {"train": {"loss": 1}}}', b"1"),
        ("data.train.loss", b'{"data": {"train": {"loss": 2}}, "data.train.loss": 1}', b"1"),
        ("perf/throughput", b'{"perf/throughput": 1}', b"1"),
        ("step[0]", b'{"step": [7, 8, 9]}', b"7"),
        ("step[-1]", b'{"step": [7, 8, 9]}', b"9"),
        ("step[1]|step", b'{"step": [7, 8, 9]}', b"8"),
        ("step[1]|step", b'{"step": 7}', b"7"),
        ("data.{train_|}{total_|}ips", b'{"data": {"ips": 1}}', b"1"),
        ("data.{train_|}{total_|}ips", b'{"data": {"val_ips": 2, "train_total_ips": 1}}', b"1"),
        ("{loss|mlm_loss}", b'{"mlm_loss": 1}', b"1"),
        ("loss", b"{'loss': 2.50}", b"2.50"),
        ("loss", b"{'note': 'it\\'s \"{ok}\"', 'loss': 2.50, 'done': False, 'best': None}", b"2.50"),
        ("loss", b"{'betas': (0.9, 0.95), 'loss': nan}", b"nan"),
        ("loss", b"{'loss': '1.04e+04'}", b"1.04e+04"),
        ("loss", b"{'loss': 2.5} 10%|#  | 1/10 [00:01<00:09]", b"2.5"),
    ],
)
def test_a_path_finds_the_printed_value(path: str, text: bytes, value: bytes) -> None:
    assert values(Rows("{", loss=path), text) == [{"loss": value}]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("loss", b'{"mlm_loss": 1}'),
        ("loss", b'{"loss": null}'),
        ("loss", b'{"loss": true}'),
        ("loss", b'{"loss": {"a": 1}}'),
        ("loss", b'{"loss": [1]}'),
        ("loss", b'{"loss": 1'),
        ("loss", b'{"a": {"loss": 1}, "loss": 1'),
        ("loss", b'{"a": {"loss": 1}'),
        ("loss", b"{'loss': 1, 'name': 'a"),
        ("loss", b'{"loss": 1}{"loss": 2}'),
        ("loss", b'"loss": 1'),
        ("loss.a", b'{"loss": 1}'),
        ("step[1]", b'{"step": [7]}'),
        ("step[-2]", b'{"step": [7]}'),
        ("step[0]", b'{"step": 7}'),
        ("step[0]", b'{"step": {"0": 7}}'),
        ("data.{train_|}ips", b'{"data": {"val_ips": 2}}'),
        ("data.{train_|}ips", b'{"data": 2}'),
        ("loss", b"{" * 5000 + b"}" * 5000),
        ("a.loss", b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
        ("loss", b'{"loss": 1, "\xff": 2}'),
    ],
)
def test_a_row_without_the_value_is_not_a_record(path: str, text: bytes) -> None:
    assert values(Rows("{", loss=path), text) == []


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("type == LOG", True),
        ("type == LO", False),
        ("step[1] == 40", True),
        ("step == []", False),
        ("data == 1", False),
        ("other == 1", False),
        ("data.train.loss", True),
        ("data.val.loss", False),
        ("data.val.loss|data.train.loss", True),
        ("!data.val.loss", True),
        ("!data.train.loss", False),
        ("!data.val.loss|data.train.loss", False),
        ("step[1]", True),
        ("!step[2]", True),
    ],
)
def test_a_condition_applies_to_the_object(condition: str, found: bool) -> None:
    assert len(values(Rows("DLLL ", condition, step="step[-1]"), LINE)) == found


@pytest.mark.parametrize(
    ("prefix", "text", "places"),
    [
        ("DLLL ", LINE + b"\n0: " + LINE, [0, len(LINE) + 4]),
        ("{", b' {"step": [1]}\r\n{"step": [1]}\r{"step": [1]}', [1, 16, 30]),
        ("^{", b' {"step": [1]}\r\n{"step": [1]}\r{"step": [1]}', [16, 30]),
        ('^{"mode": "train"', b'{"mode": "train", "step": [1]}\n{"mode": "val", "step": [1]}', [0]),
        ("stats: ", b'stats: x {"step": [1]}', []),
    ],
)
def test_a_row_begins_at_its_prefix(prefix: str, text: bytes, places: list[int]) -> None:
    rows = Rows(prefix, step="step[-1]")
    found = list(rows.finditer(text))
    assert [each.start() for each in found] == places
    assert [each.end() for each in found] == [
        min(at for at in (text.find(b"\n", place), text.find(b"\r", place), len(text)) if at > 0) for place in places
    ]
    assert all(rows.match(text, place) for place in places)
    assert not rows.match(text, len(text) - 1)
    assert (rows.search(text) is not None) == bool(places)
    assert [each.start() for each in rows.finditer(text, 1)] == [each for each in places if each]


def test_a_column_may_be_missing_if_it_is_marked() -> None:
    rows = Rows("{", step="step", loss="loss?", accuracy="data.{acc|top1}?")
    found = rows.search(b'{"step": 1, "loss": 2}')
    assert found
    assert found.groups(b"") == (b"1", b"2", b"")
    assert found["loss"] == b"2"
    assert found["accuracy"] is None
    assert not rows.search(b'{"loss": 2}')


@pytest.mark.parametrize("path", ["", "step[", "step[x]", "[1]", "step]"])
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(FormatError, match="is not a path"):
        Rows("{", step=path).search(b'{"step": 1}')


def test_columns_are_those_of_the_contract() -> None:
    assert Reading(Rows("{", step="step", loss="loss?")).columns == ("step", "loss")
    with pytest.raises(FormatError, match="groups must be named after columns"):
        _ = Reading(Rows("{", speed="step")).finder
    with pytest.raises(FormatError, match="one reading has one clock"):
        _ = Reading(Rows("{", unix="a", clock="b")).finder


def test_a_text_without_the_keys_is_not_searched() -> None:
    reading = Reading(Rows("DLLL ", "data.{train_|}loss|data.mlm", step="step[-1]", throughput="data.train.total_ips"))
    assert reading.may_stand_in(distinct_lines(LINE))
    assert not reading.may_stand_in(distinct_lines(LINE.replace(b"total_ips", b"compute_ips")))
    assert not reading.may_stand_in(distinct_lines(LINE.replace(b"loss", b"acc")))
    assert not reading.may_stand_in(distinct_lines(LINE.replace(b"DLLL", b"DLL")))


def test_a_row_is_shown_with_its_columns() -> None:
    assert Reading(Rows("DLLL ", step="step[-1]", loss="loss?")).shape == "DLLL {step[-1]: {step}, loss: {loss}}"
    assert Reading(Rows('{"a":', loss="{train_|}{mlm_|}loss")).shape == '{"a":… …loss: {loss}}'


def test_the_table_quotes_the_printed_values() -> None:
    text = b"\n".join([b"begin", LINE, LINE.replace(b"6.50", b'"nan"'), b"end"])
    table = ReadingTable(LogSource(Path("never-opened.log")), Reading(Rows("DLLL ", loss="data.train.loss")))
    table.store(Chunk(text, 1, 0, len(text), 4), Found.in_text(table.reading, text, 0, len(text)))
    assert [table.printed(row, "loss") for row in (0, 1)] == [b"6.50", b"nan"]
    assert table.lines([0, 1]) == [2, 3]


MANY = 12
KINDS = [
    b'{"step": 7, "data": {"loss": 1.5}}',
    b'{"step": [3, 7], "data": {"loss": 2.5}}',
    b'{"step": [7], "data": {"loss": "3.5"}}',
    b'{"step": [], "data": {"loss": 4.5}}',
    b'{"step": {"a": 1}, "data": {"loss": 5.5}}',
    b'{"step": 7, "data": {"loss": null}}',
    b'{"step": 7, "data": {"loss": [8.5]}}',
    b'{"step": "7 [{", "data": {"loss": 9.5}}',
    b'{"step": 7, "data": null}',
    b'{"step": 7, "data": {"loss": NaN}}',
    b"{'step': 7, 'data': {'loss': 6.5}}",
    b'{"step": 7, "data": {"loss": 7.5, "more": {"a": {"b": {"c": [1]}}}}}',
    b'{"step": 7, "data": {"loss": 10.5}',
]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize(
    "rows", [Rows("{", loss="data.loss", step="step[1]|step?"), Rows("^{", "!step[0]", loss="data.loss")]
)
def test_a_line_gives_the_same_alone_and_after_many_of_another_kind(first: bytes, rows: Rows) -> None:
    lines = (
        [first] * MANY
        + [other for kind in KINDS for other in (kind, first)]
        + [each for each in KINDS for _ in range(MANY)]
    )
    alone = [row for line in lines for row in values(rows, line)]
    assert values(rows, b"\n".join(lines)) == alone
    assert values(rows, b"\r\n".join(lines)) == alone


KEYS = st.text(alphabet="ab._/'\"\\é ", min_size=1, max_size=6).filter(lambda key: not set("[]{}|?") & set(key))
SCALARS = st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text(alphabet="a0'\"\\é{}\n", max_size=5))


@given(st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=5), st.floats())
def test_python_and_json_give_the_same_row(others: dict[str, object], loss: float) -> None:
    row = {**others, "loss": loss}
    for text in (repr(row), json.dumps(row)):
        found = Rows("{", loss="loss").search(text.encode())
        assert found
        assert float(found["loss"] or b"") == pytest.approx(loss, nan_ok=True)
