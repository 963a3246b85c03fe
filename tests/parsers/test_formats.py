"""Every sample gives its values, near-misses give none, and no format reads a sample of another."""

import math
import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from perfledger.parsers.contract import CLOCKS, Format, Pause, Reading
from perfledger.parsers.contract.literals import begins_with_a_word
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.samples import Sample, samples_of
from perfledger.parsers.engine.table import converter

FORMATS = formats()
MANY_DECIMALS = re.compile(rb"\.\d{6,}$")


def read(each: Format, line: bytes) -> dict[str, float]:
    for reading in each.readings:
        match = reading.finder.search(line)
        if match:
            return {
                "clock" if name in CLOCKS else name: float(converter(name)([match[name] or b""])[0])
                * reading.scales.get(name, 1.0)
                for name in reading.columns
            }
    return {}


SAMPLES = [
    pytest.param(each, one, id=f"{each.id}-{n}") for each in FORMATS for n, one in enumerate(samples_of(each.id).line)
]
MISSES = [
    pytest.param(each, one, id=f"{each.id}-{n}") for each in FORMATS for n, one in enumerate(samples_of(each.id).miss)
]


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.id)
def test_a_format_has_samples_and_near_misses(each: Format) -> None:
    assert samples_of(each.id).line
    assert samples_of(each.id).miss, "add a line that looks alike and must yield nothing"


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_sample_yields_its_values(each: Format, sample: Sample) -> None:
    found = read(each, sample.line)
    assert found, "no reading matches this sample"
    for name, value in sample.values.items():
        assert found[name] == pytest.approx(value, nan_ok=True), name


def greedy(tree: Any) -> Iterator[str]:
    """Yield the kinds of unbounded greedy repeats of a parsed pattern, which give back and try again."""
    for kind, value in tree:
        if kind == op.MAX_REPEAT and value[1] == op.MAXREPEAT:
            yield str(value[2])
        for inner in value if isinstance(value, tuple | list) else [value]:
            for part in inner if kind == op.BRANCH and isinstance(inner, list) else [inner]:
                if isinstance(part, _parser.SubPattern):
                    yield from greedy(part)


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.id)
def test_unbounded_repeats_are_possessive_or_lazy(each: Format) -> None:
    patterns = [one.finder.pattern for one in each.readings if isinstance(one.finder, re.Pattern)]
    patterns += [one.regex.pattern for one in each.facts]
    patterns += [one.regex.pattern for one in (each.start_clue, each.end_clue) if one]
    patterns += [one.regex.pattern for reading in each.readings if reading.where for one in reading.where.clues()]
    for pattern in patterns:
        found = list(greedy(_parser.parse(pattern)))
        remedy = r"write ++ or *+ for + or *, and exclude what follows, such as [^\s)]++ for \S+"
        assert not found, f"{pattern!r} repeats greedily: {remedy}"


def quoted(each: Format, text: bytes) -> list[tuple[int, dict[str, bytes]]]:
    """Return number and printed figures of each reading that matches a text."""
    return [
        (number, {name: printed for name, printed in match.groupdict().items() if printed is not None})
        for number, reading in enumerate(each.readings)
        for match in reading.finder.finditer(text)
    ]


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_a_sample_cut_anywhere_yields_no_other_figure(each: Format, sample: Sample) -> None:
    """A figure at the end of a cut file is complete, has at least six decimals, or is not read."""
    line = sample.line.rstrip(b"\r\n")
    whole = quoted(each, line + b"\n")
    assert whole == quoted(each, (line + b"\n").replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    for end in range(len(line)):
        for number, figures in quoted(each, line[:end]):
            least = {name: printed for name, printed in figures.items() if not MANY_DECIMALS.search(printed)}
            assert any(number == other and least.items() <= found.items() for other, found in whole), line[:end]


@pytest.mark.parametrize(("each", "miss"), MISSES)
def test_near_miss_yields_nothing(each: Format, miss: Sample) -> None:
    assert read(each, miss.line) == {}, miss.why


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.id)
def test_no_format_reads_anothers_sample(each: Format) -> None:
    """A format that is over others may read their lines; claims then decide which format a log has."""
    others = [other for other in FORMATS if other.id != each.id and each.id not in other.over]
    samples = [samples_of(other.id) for other in others]
    lines = [one.line for found in samples for one in (*found.line, *found.miss)]
    assert lines
    assert [line for line in lines if read(each, line)] == []


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.id)
def test_every_reading_is_exercised(each: Format) -> None:
    samples = samples_of(each.id).line
    assert all(any(reading.finder.search(one.line) for one in samples) for reading in each.readings)
    assert any(not math.isnan(value) for one in samples for value in one.values.values())


PAUSES = [
    pytest.param(each, reading, pause, id=f"{each.id}-{n}-{pause.pattern!s}")
    for each in FORMATS
    for n, reading in enumerate(each.readings)
    for pause in reading.pauses
    if pause.pattern
]


@pytest.mark.parametrize(("each", "reading", "pause"), PAUSES)
def test_a_pause_is_found_in_its_own_line_and_in_no_record(each: Format, reading: Reading, pause: Pause) -> None:
    lines = [one.line for one in samples_of(each.id).pause if pause.regex.search(one.line)]
    assert lines, "add a line of the pause to samples.toml"
    assert not any(reading.finder.search(line) for line in lines)
    records = [one.line for one in samples_of(each.id).line if reading.finder.search(one.line)]
    assert records
    # A sample may contain the line before the record.
    assert [line for line in records if pause.regex.search(line[reading.finder.search(line).start() :])] == []  # type: ignore[union-attr]


@pytest.mark.parametrize(("each", "reading", "pause"), PAUSES)
def test_the_pattern_of_a_pause_begins_with_plain_characters(each: Format, reading: Reading, pause: Pause) -> None:
    """Text without them is skipped ten times as fast."""
    assert begins_with_a_word(pause.regex)
