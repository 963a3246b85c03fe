"""Accelerators side by side: which figure stands for each, and what power and prices make of it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.common.words import load
from ingest.compute import results
from ingest.read.accelerators import Accelerator, Accelerators
from ingest.site import builder
from ingest.site.hardware_tables import Matrix, matrices
from ingest.site.model import Site, suites
from ingest.site.render.table import Cell, in_view
from schema.records import Run
from tests import builders
from tests.builders import absent, run
from tests.site.conftest import html, served

WORDS = load()
STATED = Accelerators(
    {
        "fast": Accelerator(
            dt.date(2026, 11, 1), 400.0, "https://example.org/fast", 2.0, "EUR", "https://example.org/p"
        ),
        "slow": Accelerator(dt.date(2026, 11, 1), 100.0, "https://example.org/slow"),
    }
)


def on(hardware: str, speed: float, **other: Any) -> Run:
    slug = re.sub("[^a-z0-9]+", "-", f"{hardware} {speed} {sorted(other)}".lower()).strip("-")
    return run(slug, hardware=hardware, speed=speed, **other)


def of(runs: Sequence[Run], accelerators: Accelerators = STATED) -> tuple[Matrix, ...]:
    ordered = tuple(sorted(runs, key=lambda each: each.id))
    return matrices(Site(ordered, (), suites(), results.results, accelerators=accelerators))


RUNS = [on("Slow", 100.0), on("Fast", 800.0), on("Middle", 300.0), on("Middle", 320.0, batch_size=128)]


def figures(found: Matrix, view: str = "") -> dict[str, str]:
    """Return the figure of the only column by accelerator, in a view."""
    shown = ((row[0], in_view(found.table, row[1], view) if view else row[1]) for row in found.table.rows)
    return {said(name): said(content) for name, content in shown}


def said(content: Cell) -> str:
    return WORDS.say("en", content.entries[0].text) if content.entries else ""


def test_the_fastest_batch_size_of_each_stands_for_it_and_the_fastest_accelerator_comes_first() -> None:
    (found,) = of(RUNS)
    assert found.devices == 1
    assert figures(found) == {"Fast": "800.0", "Middle": "320.0", "Slow": "100.0"}
    assert list(figures(found)) == ["Fast", "Middle", "Slow"]


def test_with_fewer_accelerators_there_is_no_table() -> None:
    assert of(RUNS[:2]) == ()


def test_figures_per_watt_and_price_where_they_are_stated() -> None:
    (found,) = of(RUNS)
    assert figures(found, "per_watt") == {"Fast": "2.000", "Middle": "", "Slow": "1.000"}
    assert figures(found, "per_price") == {"Fast": "400.0", "Middle": "", "Slow": ""}
    notes = " ".join(WORDS.say("en", each) for each in found.table.notes)
    assert "Fast: 400 W per device (https://example.org/fast, as of 2026-11-01)" in notes


def test_power_counts_every_device() -> None:
    (found,) = of([on(name, speed, devices=8) for name, speed in (("Slow", 800.0), ("Fast", 6400.0), ("Middle", 1.0))])
    assert figures(found, "per_watt")["Fast"] == "2.000"


def test_nothing_is_made_up_where_no_file_states_it() -> None:
    (found,) = of(RUNS, Accelerators())
    assert [each.key for each in found.table.views] == ["throughput"]


def test_prices_in_two_currencies_are_not_compared() -> None:
    dollars = Accelerator(dt.date(2026, 11, 1), price=1.0, currency="USD", price_source="https://example.org/u")
    (found,) = of(RUNS, Accelerators({**STATED.by_name, "slow": dollars}))
    assert "per_price" not in [each.key for each in found.table.views]


def test_another_workload_and_another_precision_stand_apart() -> None:
    other = [on(name, 5000.0, precision="amp") for name in ("Slow", "Fast", "Middle")]
    small = [on(name, 9000.0, options={"image_size": 64}) for name in ("Slow", "Fast", "Middle")]
    found = of([*RUNS, *other, *small])
    assert [len(each.table.columns) for each in found] == [3, 2]


def test_a_trainers_own_summary_says_so() -> None:
    alone = on(
        "Slow", 100.0, rule="reported", figures={"sustained": absent("no_records"), "reported": builders.figure(90.0)}
    )
    (found,) = of([alone, *RUNS[1:]])
    marks = [WORDS.say("en", each) for each in found.table.rows[-1][1].entries[0].marks]
    assert "trainer’s own summary" in marks


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accelerators")
    builder.build(RUNS, [], folder / "docs", cache=folder / "cache.sqlite", accelerators=STATED)
    return html(folder)


def test_the_front_page_shows_accelerators_side_by_side_instead_of_one_after_the_other(front: Path) -> None:
    for language, title in (("", "Accelerator comparison"), ("zh/", "加速器横向对比")):
        page = (front / language / "index.html").read_text()
        assert title in page
        assert page.count('class="pl-answer ') == 0


def test_a_reader_may_divide_by_an_accelerator(front: Path, browser: Any, tmp_path: Path) -> None:
    with served(front, tmp_path / "served") as address:
        page = browser.new_page()
        page.goto(address)
        page.locator("#accelerators ~ details summary").first.click()
        table = page.locator(".pl-table[data-relative]")
        table.locator("select").select_option(label="Middle")
        shown = table.locator(
            "tbody td [data-view=throughput] .pl-v, tbody td [data-view=throughput] a"
        ).all_inner_texts()
        assert [each for each in shown if "×" in each][:3] == ["2.50×", "1.00×", "0.31×"]
        table.locator("select").select_option(index=0)
        assert "800.0" in table.inner_text()
        page.close()
