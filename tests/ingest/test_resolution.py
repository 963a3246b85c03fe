"""Digits of figures, which are at most those of the log, and samples of epochs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_sessions import made
from msgspec import UNSET

from perfledger.ingest.common import numbers
from perfledger.ingest.compute import rules
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.contract import Columns
from perfledger.parsers.engine.registry import by_id
from perfledger.schema.records import Figure, NoFigure, Reason, to_json
from tests.parsers.golden import log_of

SPEED = rb"(?m)^step <step>: <throughput> per s$"
SHORT = "^step {step}: {throughput:short} per s$"
TIME = rb"(?m)^step <step>: <step_seconds:ms> ms$"
EPOCH = rb"(?m)^epoch <epoch>: <duration> s$"
ONE = {"devices": 1, "batch_size": 100}


def of(
    pattern: bytes, printed: Sequence[str], unit: str, folder: Path, case: dict[str, Any] | None = None, **about: Any
) -> Figure:
    lines = [f"step {n}: {each} {unit}" for n, each in enumerate(printed, 1)]
    found = rules.figure("sustained", made(pattern, lines, folder, unit="samples/s", **about), case or ONE)
    assert isinstance(found, Figure), found
    return found


def shown(found: Figure) -> str:
    return numbers.figure(found.value, None, found.resolution or 0.0)


def test_numbers_shortened_for_people_have_three_digits(tmp_path: Path) -> None:
    found = of(SHORT, ["99K", "107K", "108K", "107K", "107K", "107K"], "per s", tmp_path)
    assert found.resolution == pytest.approx(1000 / 107_000, rel=1e-3)
    assert shown(found) == "107,000"


def test_whole_milliseconds_limit_the_digits(tmp_path: Path) -> None:
    found = of(TIME, ["30", "13", "13", "13", "13", "14"], "ms", tmp_path)
    assert found.value == pytest.approx(500 / 0.066)
    assert shown(found) == "7,600"


def test_digits_finer_than_those_of_pages_do_not_limit(tmp_path: Path) -> None:
    assert of(SPEED, ["394.1", "394.2", "394.3"], "per s", tmp_path).resolution is UNSET


def test_printed_zeros_of_equal_round_figures_are_digits(tmp_path: Path) -> None:
    assert of(SPEED, ["400.00"] * 6, "per s", tmp_path).resolution is UNSET
    assert shown(of(SPEED, ["412"] * 6, "per s", tmp_path)) == "412"


def test_computed_values_have_no_printed_digits(tmp_path: Path) -> None:
    def halved(columns: Columns) -> Columns:
        return columns.assign(throughput=columns["throughput"] / 2)

    assert of(SPEED, ["800"] * 6, "per s", tmp_path, verbs=(halved,)).resolution is UNSET


def test_several_devices_have_no_more_digits_than_one(tmp_path: Path) -> None:
    found = of(SPEED, ["41"] * 6, "per s", tmp_path, {"devices": 8, "batch_size": 1}, scope="device")
    assert (found.value, shown(found)) == (328, "330")


@pytest.mark.parametrize(
    ("value", "spread", "resolution", "written"),
    [
        (57.742, None, 0.0, "57.74"),
        (57.742, None, 0.002, "57.7"),
        (104_477.6, None, 1 / 105, "104,000"),
        (104_477.6, 0.0001, 1 / 105, "104,000"),
        (57.742, 0.1, 0.002, "58"),
        (7.0, None, 5.0, "7"),
    ],
)
def test_the_coarser_of_spread_and_printed_digits_counts(
    value: float, spread: float | None, resolution: float, written: str
) -> None:
    assert numbers.figure(value, spread, resolution) == written


def test_runs_of_a_format_without_a_real_log_are_marked() -> None:
    for each in (by_id("frameworks.nanotron"), by_id("frameworks.timm")):
        (log,) = walk([log_of(each.id)]).inputs
        (run,) = runs_of(log, layout.load(layout.OWN), "")
        assert ("unproven" in to_json(run)) == each.unproven == (each.id == "frameworks.nanotron")


def test_epoch_lines_are_not_counted_as_records() -> None:
    golden = log_of("frameworks.metric_logger")
    (log,) = walk([golden]).inputs
    (run,) = runs_of(log, layout.load(layout.OWN), "")
    assert run.observations == len(golden.with_name("records.csv").read_text().splitlines()) - 1


def test_an_epoch_has_the_samples_of_its_data_set(tmp_path: Path) -> None:
    lines = [f"epoch {n}: {each} s" for n, each in enumerate(["20.00", "10.00", "10.00", "10.50", "10.00", "10.00"])]
    session = made(EPOCH, lines, tmp_path, unit="images/s", span="epoch")
    found = rules.figure("sustained", session, {"data_set_size": 1000})
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(5000 / 50.5)
    assert rules.figure("sustained", session, ONE) == NoFigure(Reason("not_stated", {"missing": "epoch_length"}))
