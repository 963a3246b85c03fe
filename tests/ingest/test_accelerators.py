"""Power and prices: the keys of accelerators.toml, and messages about faults in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfledger.ingest.read.accelerators import FILE, found

ENTRY = """[H100-SXM5-80GB]
date = 2026-11-01
watts = 700
watts_source = "https://example.org/h100"
price = 2.5
currency = "EUR"
price_source = "https://example.org/price"
"""


def test_an_entry_is_found_by_the_name_of_the_hardware(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(ENTRY)
    stated = found([tmp_path]).of("h100-sxm5-80gb")
    assert stated is not None
    assert (stated.watts, stated.price, stated.currency, stated.date.isoformat()) == (700, 2.5, "EUR", "2026-11-01")
    assert found([tmp_path]).of("A100") is None


def test_without_a_file_power_and_price_are_unknown(tmp_path: Path) -> None:
    assert found([tmp_path, tmp_path / "absent"]).by_name == {}


@pytest.mark.parametrize(
    ("line", "instead", "at", "cause"),
    [
        ('watts_source = "https://example.org/h100"\n', "", 3, "add watts_source"),
        ('price_source = "https://example.org/price"\n', "", 5, "add price_source"),
        ('currency = "EUR"\n', "", 5, "currency"),
        ("date = 2026-11-01\n", "", 1, "date"),
        ("watts = 700", "watts = -700", 3, "positive"),
        ('currency = "EUR"', 'currency = "euro"', 6, "capital"),
        ("watts = 700", "watt = 700", 3, "watt"),
    ],
)
def test_a_fault_is_a_problem_with_its_line(line: str, instead: str, at: int, cause: str, tmp_path: Path) -> None:
    assert line in ENTRY
    (tmp_path / FILE).write_text(ENTRY.replace(line, instead))
    stated = found([tmp_path])
    assert stated.by_name == {}
    (problem,) = stated.problems
    assert (problem.code, problem.line) == ("wrong_file", at)
    assert cause in problem.args["cause"]
