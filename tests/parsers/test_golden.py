"""Golden logs: every record, fact and figure that was worked out beside them, line by line."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from golden import GOLDEN, NUMBERS, command

from ingest.compute import rules
from parsers.engine.read import Session, read
from parsers.engine.registry import formats
from schema.records import Figure

FORMATS = [each.id for each in formats()]


def table(format_id: str, name: str) -> list[dict[str, str]]:
    with (GOLDEN / format_id / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def log_of(format_id: str) -> Path:
    logs = list((GOLDEN / format_id).glob("*.log"))
    if len(logs) != 1:
        pytest.fail(f"tests/golden/{format_id}/ must hold one log, not {len(logs)}. To make it: {command(format_id)}")
    return logs[0]


def session_of(format_id: str) -> Session:
    log = read(log_of(format_id))
    assert [each.format.id for each in log.claims] == [format_id]
    assert log.cut_line == 0
    (session,) = log.sessions
    return session


def test_every_format_has_a_golden_log() -> None:
    folders = {path.name for path in GOLDEN.iterdir() if path.is_dir()}
    missing = sorted(set(FORMATS) - folders)
    assert not missing, "formats without a golden log; to make one: " + "; ".join(map(command, missing))
    assert sorted(folders - set(FORMATS)) == [], "golden logs without a format"


@pytest.mark.parametrize("format_id", FORMATS)
def test_records(format_id: str) -> None:
    main, expected = session_of(format_id).main, table(format_id, "records.csv")
    assert expected
    assert len(main) == len(expected)
    assert main.lines(range(len(main))) == [int(each["line"]) for each in expected]
    for name in ("epoch", "step", "throughput", "step_seconds"):
        printed = [each[name] for each in expected]
        if any(printed):
            assert main[name].tolist() == pytest.approx([float(each) for each in printed], rel=1e-12, abs=0), name
        else:
            assert name not in main


@pytest.mark.parametrize("format_id", FORMATS)
def test_facts(format_id: str) -> None:
    facts = session_of(format_id).facts
    for each in table(format_id, "facts.csv"):
        found = facts[each["fact"]]
        assert (str(found.value), found.line) == (each["value"], int(each["line"])), each["fact"]
    assert session_of(format_id).ending.outcome in ("completed", "truncated")


@pytest.mark.parametrize("format_id", FORMATS)
def test_figures(format_id: str) -> None:
    session, expected = session_of(format_id), table(format_id, "figures.csv")
    assert {"sustained", "mean", "median"} <= {each["rule"] for each in expected}
    for each in expected:
        case = {name: int(each[name]) for name in NUMBERS if each.get(name)}
        case |= {
            name: session.facts[name].value for name in ("samples_per_update_and_device",) if name in session.facts
        }  # type: ignore[dict-item]
        found = rules.figure(each["rule"], session, case)
        assert isinstance(found, Figure), (each, found)
        assert math.isclose(found.value, float(each["value"]), rel_tol=1e-9), each
        lines = (found.used, found.first_line, found.last_line)
        assert lines == tuple(int(each[name]) for name in ("used", "first_line", "last_line")), each


@pytest.mark.parametrize("format_id", FORMATS)
def test_line_ends_with_a_carriage_return_change_nothing(format_id: str, tmp_path: Path) -> None:
    plain = session_of(format_id)
    path = log_of(format_id)
    other = tmp_path / path.name
    other.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    (session,) = read(other).sessions
    assert session.facts == plain.facts
    for mine, expected in zip(session.records, plain.records, strict=True):
        assert len(mine) == len(expected)
        for name in mine.reading.columns if len(mine) else ():
            if name in expected:
                assert mine[name].tolist() == pytest.approx(expected[name].tolist(), nan_ok=True), name
    assert session.ending.outcome == plain.ending.outcome
