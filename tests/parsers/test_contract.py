"""The contract of formats: words of patterns, conditions, and messages about invalid formats."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, lists

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    FormatError,
    Pause,
    Reading,
    up_to,
)
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.conditions import Condition, lacks, says
from perfledger.parsers.contract.literals import words_of_pattern
from perfledger.parsers.contract.patterns import compiled, searched
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine import registry
from perfledger.parsers.engine.found import Found
from perfledger.parsers.engine.samples import samples_of
from perfledger.parsers.engine.table import LogSource, ReadingTable, SessionRecords
from perfledger.schema.distinct_lines import distinct_lines

PRIVATE = rb"begin (?P<_begin>[0-9]++) end (?P<duration>[0-9]++)"


def since_begin(columns: Columns) -> Columns:
    return columns.assign(duration=columns["duration"] - columns["_begin"])


def records_of(lines: bytes, reading: Reading) -> SessionRecords:
    table = ReadingTable(LogSource(Path("never-opened.log")), reading)
    table.store(Chunk(lines, 1, 0, len(lines), lines.count(b"\n")), Found.in_text(reading, lines, 0, len(lines)))
    return SessionRecords(table, 0, table.rows)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (rb"step: (\d++) loss: ", ((b"step:  loss: ",),)),
        (rb"step: ([0-9.]++) loss: ", ((b" loss: ",), (b"step: ",))),
        (rb"epoch(?:[0-9]++-)?(?P<last>[0-9]++) of", ((b"epoch",), (b" of",))),
        (rb"(?:epoch|batch) (\d++) of", ((b"  of",), (b"batch", b"epoch"))),
        (rb"(?:img|images)/s|ips", ((b"images", b"img", b"ips"),)),
        (rb"(?:speed: )?+(?:, lr: )++it", ((b", lr: ",),)),
        (rb"(?<=before )(?=after: )x", ((b"after: ",),)),
        (rb"Run\b(?! again) of", ((b"Run of",),)),
        (rb"(?!never )(?:always )[abc]def", ((b"always ",), (b"def",))),
        (rb"fp16 on\nv100 x", ((b"fp on",),)),
        (rb"(?i)speed: ", ()),
        (rb"(?i:speed): in", ((b": in",),)),
        (rb"ab\d|cdef", ()),
    ],
)
def test_literals_are_words_in_every_match_of_a_pattern(pattern: bytes, words: tuple[tuple[bytes, ...], ...]) -> None:
    assert words_of_pattern(pattern) == words


@pytest.mark.parametrize(
    ("where", "text", "met"),
    [
        (lacks(rb"lanes=[2-9]"), b"lanes=1\nrun", True),
        (lacks(rb"lanes=[2-9]"), b"run\nlanes=2", False),
        (says(rb"lanes=[2-9]"), b"run\nlanes=4", True),
        (says(rb"lanes=[2-9]"), b"lanes=1", False),
        (says(b"video") & lacks(b"workers"), b"video", True),
        (says(b"video") & lacks(b"workers"), b"workers\nvideo", False),
        (says(b"^video", b"^workers"), b"a video\nworkers", False),
        (lacks(b"tokens", says(b"llama", b"length")), b"llama", True),
        (lacks(b"tokens", says(b"llama", b"length")), b"length\nllama", False),
        (lacks(b"tokens", says(b"llama", b"length")), b"tokens", False),
    ],
)
def test_a_condition_depends_on_the_text(where: Condition, text: bytes, met: bool) -> None:
    found = {each for each in where.clues() if each.may_stand_in(distinct_lines(text)) and each.regex.search(text)}
    assert where.is_met(found) is met


def test_the_words_of_a_reading_are_in_every_sample_that_it_matches() -> None:
    samples = [samples_of(each.id) for each in registry.formats()]
    lines = [one.line for each in samples for one in (*each.line, *each.miss)]
    readings = [reading for each in registry.formats() for reading in each.readings]
    found = [(each, line) for each in readings for line in lines if each.finder.search(line)]
    assert len(found) > len(readings)
    assert all(reading.may_stand_in(distinct_lines(line)) for reading, line in found)


def test_distinct_lines_are_the_lines_without_numbers_and_repeats() -> None:
    text = b"epoch 1, step 10: ips 3.5\nepoch 1, step 20: ips 12.5\nDone in 7 s\nepoch 2, step 10: ips 3.25"
    assert distinct_lines(text) == b"epoch , step : ips .\nDone in  s"
    assert Chunk(text, 1, 0, len(text), 3).distinct == distinct_lines(text)
    reading = Reading(rb"step <step>: ips <throughput>")
    assert reading.may_stand_in(distinct_lines(text))
    assert not reading.may_stand_in(distinct_lines(b"step 10, ips 3.5"))


@pytest.mark.parametrize(
    ("pattern", "text", "places"),
    [
        (rb"(?m)^Namespace\(a", b"Namespace(a\n Namespace(a\rNamespace(a\n\nNamespace(b", [0, 25]),
        (rb"(?<!\S)step:[0-9]", b"step:1 x.step:2 step:3\nstep:4", [0, 16, 23]),
        (rb"\bips: [0-9]", b"ips: 1 tips: 2 -ips: 3", [0, 16]),
        (rb"(?<=\s)cat|dog", b"cat cat dog", [4, 8]),
        (rb"(?<![^\r\n])ips*", b"ip xip\nipss", [0, 7]),
    ],
)
def test_a_compiled_pattern_with_a_lookbehind_matches_at_the_same_places(
    pattern: bytes, text: bytes, places: list[int]
) -> None:
    assert [match.start() for match in compiled(pattern).finditer(text)] == places


@pytest.mark.parametrize(
    ("pattern", "text", "values"),
    [
        (rb"^ *+layers \.++ ([0-9]++)", b"layers . 1\n  layers .. 2\nmy layers . 3\r   layers . 4", [b"1", b"2", b"4"]),
        (rb"^ ++layers ([0-9]++)", b"layers 1\n layers 2", [b"2"]),
        (
            rb"^[^\w\n]*+All of ([0-9]++)",
            b"- All of 1\nbar 50%\r - All of 2\nAt All of 3\r\rAll of 4",
            [b"1", b"2", b"4"],
        ),
    ],
)
def test_a_pattern_with_an_indent_matches_only_at_the_start_of_a_line(
    pattern: bytes, text: bytes, values: list[bytes]
) -> None:
    assert [match[1] for match in searched(pattern).finditer(text)] == values
    assert [match[1] for match in compiled(pattern, re.MULTILINE).finditer(text)] == values


@settings(deadline=None)
@given(lists(floats(allow_nan=True, allow_infinity=True), max_size=50))
def test_the_median_is_that_of_numpy(values: list[float]) -> None:
    column = np.array(values)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        assert np.array_equal(median(column), np.median(column), equal_nan=True)


def test_lines_of_records_are_counted_in_the_whole_file() -> None:
    text = b"one\nips: 1\n\nips: 2\nips: 3"
    table = ReadingTable(LogSource(Path("never-opened.log")), Reading(rb"ips: <throughput>"))
    found = Found.in_text(table.reading, text, 0, len(text))
    table.store(Chunk(text, 101, 5000, len(text), 4), found)
    table.store(Chunk(text, 105, 5000 + len(text), len(text), 4), found)
    assert table.lines([5, 0, 0, 3, 2]) == [109, 102, 102, 106, 105]
    assert [table.printed(row, "throughput") for row in (1, 4)] == [b"2", b"2"]


def test_a_number_is_a_column_in_angle_brackets() -> None:
    reading = Reading(rb"<step>\<stdout>: ips <throughput> in <_seconds> s", verbs=(since_begin,))
    assert reading.columns == ("step", "throughput", "_seconds")
    assert reading.finder.findall(b"7<stdout>: ips 2.5 in 1e3 s") == [(b"7", b"2.5", b"1e3")]


def test_an_unknown_column_is_refused() -> None:
    for pattern in (rb"ips: <throughputs>", rb"ips: (?P<speed>[0-9]++)", rb"ips: ([0-9]++)"):
        with pytest.raises(FormatError, match="groups must be named after columns"):
            _ = Reading(pattern).finder


def test_a_private_column_needs_a_verb() -> None:
    with pytest.raises(FormatError, match="_begin"):
        _ = Reading(PRIVATE).finder
    assert Reading(PRIVATE, verbs=(since_begin,)).columns == ("_begin", "duration")


def test_a_private_column_is_consumed_by_the_verbs() -> None:
    records = records_of(b"begin 3 end 5\nbegin 5 end 9\n", Reading(PRIVATE, verbs=(since_begin,)))
    assert list(records.columns) == ["duration"]
    assert records["duration"].tolist() == [2.0, 4.0]
    assert list(SessionRecords(records.table, 0, 0).columns) == ["duration"]


def test_a_verb_with_an_unknown_column_is_refused() -> None:
    def wrong(columns: Columns) -> Columns:
        return columns.assign(speed=columns["_begin"])

    records = records_of(b"begin 3 end 5\n", Reading(PRIVATE, verbs=(wrong,)))
    with pytest.raises(FormatError, match=r"unknown to COLUMNS: \['speed'\]"):
        len(records)


def test_a_garbled_number_states_no_fact() -> None:
    assert Fact("devices", rb"([\d.]++)", int).value(b"1.2.3") is None
    assert Fact("devices", rb"([\d.]++)", int).value(b"8") == 8
    assert Fact("devices", rb"([\d.]++)", int).value(b"0") is None


def test_a_gap_may_end_with_one_label_of_several() -> None:
    pattern = re.compile(rb"begin " + up_to(rb"one=|two=", rb"begin ") + rb"(\d)")
    assert pattern.findall(b"two=1 begin two=2 two=3 one=4") == [b"2"]


def test_a_gap_ends_at_its_label_and_not_after_a_new_beginning() -> None:
    pattern = re.compile(rb"begin " + up_to(rb"label=", rb"begin ") + rb"(\d)")
    assert pattern.findall(b"begin a label=1 label=2\nbegin b\nlabel=3\n") == [b"1"]
    assert pattern.search(b"begin a begin b label=4")[0] == b"begin b label=4"  # type: ignore[index]


def test_a_module_without_a_format_is_refused() -> None:
    with pytest.raises(FormatError, match=r"parsers\.engine\.cells: a format module needs a docstring and one FORMAT"):
        list(registry._load("engine", "", Format))


def test_an_invalid_pattern_is_refused() -> None:
    with pytest.raises(FormatError, match="is no pattern"):
        _ = Pause("evaluation", rb"valid(: ").regex


@pytest.mark.parametrize("pattern", [rb"epochs = ([0-9]++)$", rb"epochs = ([0-9]++)(?= \| steps = |$)"])
def test_the_end_of_a_line_in_a_pattern_matches_after_blanks(pattern: bytes) -> None:
    text = b"epochs = 1\nepochs = 2 \t\nepochs = 3\r\nepochs = 4 x\n"
    assert [match[1] for match in searched(pattern).finditer(text)] == [b"1", b"2", b"3"]
    assert searched(rb"costs ([0-9]++)\$[$]").search(b"costs 5$$")
