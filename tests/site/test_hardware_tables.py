"""Hardware by model: which figure represents each, what is kept apart, and where published figures fill in."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perfledger.ingest.common.words import own
from perfledger.ingest.published import publications
from perfledger.ingest.read.accelerators import Accelerator, Accelerators
from perfledger.ingest.site.hardware_tables import DrawnSheet, SheetCell, drawn, sheets
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.pages.hardware import HardwareIndex, pages
from perfledger.schema.records import Run
from tests import builders
from tests.builders import absent, edited, run

ROOT = Path(__file__).resolve().parents[2]

WORDS = own()
STATED = Accelerators(
    {
        "fast": Accelerator(
            dt.date(2026, 11, 1), 400.0, "https://example.org/fast", 2.0, "EUR", "https://example.org/p"
        ),
        "slow": Accelerator(dt.date(2026, 11, 1), 100.0, "https://example.org/slow"),
    }
)


def on(hardware: str, speed: float, **other: Any) -> Run:
    slug = re.sub("[^a-z0-9]+", "-", f"{hardware} {speed} {sorted(other.items())}".lower()).strip("-")
    return run(slug, hardware=hardware, speed=speed, **other)


def in_round(name: str, *given: Run) -> list[Run]:
    stated = {"round": {"value": name, "source": "layout", "where": "the path"}}
    return [edited(each, id=f"{each.id}-{name}", path=f"{each.path}-{name}", facts=stated) for each in given]


def site_of(runs: Iterable[Run], accelerators: Accelerators = STATED) -> Site:
    return site_of_runs(runs, accelerators=accelerators)


def shown(site: Site, number: int = 0) -> DrawnSheet:
    return drawn(site, sheets(site)[number])


def cells(sheet: DrawnSheet, column: int = 0) -> dict[str, SheetCell]:
    """Return the cells of a column by hardware."""
    return {row.hardware: cell for row in sheet.rows if (cell := row.cells[column])}


def figures(sheet: DrawnSheet, column: int = 0) -> dict[str, str]:
    return {name: cell.text for name, cell in cells(sheet, column).items()}


def index(site: Site) -> HardwareIndex:
    found = pages(site)[0].context()
    assert isinstance(found, HardwareIndex)
    return found


RUNS = [on("Slow", 100.0), on("Fast", 800.0), on("Middle", 300.0), on("Middle", 320.0, batch_size=128)]


def test_each_hardware_has_its_fastest_batch_size() -> None:
    sheet = shown(site_of(RUNS))
    assert figures(sheet) == {"Fast": "800.0", "Middle": "320.0", "Slow": "100.0"}
    about = WORDS.say("en", cells(sheet)["Middle"].about)
    assert about == "batch size 128, PyTorch, FP32, 2026-01-01, 1 run"


def test_the_newest_generation_comes_first_and_processors_last() -> None:
    names = ("AMD EPYC (family 25, model 17), 2 cores (CPU)", "V100-SXM2-32GB", "Slow", "H200", "RTX 3090")
    sheet = shown(site_of([on(name, 100.0 + at) for at, name in enumerate(names)]))
    assert [WORDS.say("en", row.group) for row in sheet.rows] == [
        "NVIDIA Hopper", "NVIDIA Ampere", "NVIDIA Volta", "Other accelerators", "Processors",
    ]  # fmt: skip


def test_without_two_hardware_of_one_workload_there_is_only_the_list() -> None:
    for runs in ([on("Slow", 100.0), on("Fast", 50.0, model="BERT-base")], RUNS[2:]):
        found = index(site_of(runs))
        assert found.sheets == ()
        assert found.hardware is not None
        assert len(found.hardware.rows) == len({run.case.hardware for run in runs})


def test_each_hardware_has_its_latest_round_and_a_faster_earlier_one_is_named() -> None:
    first = in_round("v5.0", on("Slow", 150.0), on("Fast", 900.0))
    second = in_round("v5.1", *(edited(each, start="2026-03-01T00:00:00Z") for each in (on("Fast", 700.0),)))
    site = site_of([*first, *second])
    found = {sheet.key.round: figures(drawn(site, sheet)) for sheet in sheets(site)}
    assert found == {"": {"Fast": "700.0", "Slow": "150.0"}, "v5.0": {"Fast": "900.0", "Slow": "150.0"}}
    caution = WORDS.say("en", cells(shown(site))["Fast"].caution)
    assert "An earlier result is faster: 900.0 images/s, round v5.0" in caution


def test_precisions_devices_and_machines_are_apart_and_half_precision_comes_first() -> None:
    half = [on(name, 5000.0, precision="amp") for name in ("Slow", "Fast")]
    eight = [on(name, 6000.0, devices=8) for name in ("Slow", "Fast")]
    two = [edited(each, id=f"{each.id}-2", path=f"{each.path}-2", case={"nodes": 2}) for each in eight]
    found = sheets(site_of([*RUNS, *half, *eight, *two]))
    assert [(each.key.group, each.key.size) for each in found] == [
        ("half", "1"), ("fp32", "1"), ("fp32", "8"), ("fp32", "8-on-2"),
    ]  # fmt: skip


def test_the_workload_of_most_hardware_is_the_column_and_the_others_are_listed_below() -> None:
    small = [on(name, 9000.0, options={"image_size": 64}) for name in ("Slow", "Fast")]
    reported = {"sustained": absent("no_records"), "reported": builders.figure(990.0)}
    summed = on("Fast", 990.0, batch_size=32, rule="reported", figures=reported)
    sheet = shown(site_of([*RUNS, *small, summed]))
    assert [WORDS.say("en", each.about) for each in sheet.columns] == [""]
    assert sheet.variants is not None
    listed = [[WORDS.say("en", cell.entries[0].text) for cell in row] for row in sheet.variants.rows]
    assert listed == [
        ["ResNet-50 v1.5", "trainer’s own summary", "990.0"], ["ResNet-50 v1.5", "image size 64", "9,000"],
    ]  # fmt: skip


def test_the_reference_is_the_accelerator_with_most_models() -> None:
    bert = [on(name, 50.0, model="BERT-base", unit="sequences/s") for name in ("Slow", "Xeon")]
    sheet = shown(site_of([*RUNS, *bert, on("Xeon", 9.0), on("Xeon", 9.0, model="Net of ours")]))
    assert sheet.reference == "Slow"
    assert [cell.times if cell else None for row in sheet.rows for cell in row.cells[:1]] == [
        "8.00×", "3.20×", "1.00×", "0.09×",
    ]  # fmt: skip


def test_figures_too_close_to_call_know_each_other() -> None:
    sheet = shown(site_of([on("Slow", 100.0), on("Fast", 800.0), on("Near", 102.0)]))
    names = [row.hardware for row in sheet.rows]
    close = {name: [names[at] for at in cell.close] for name, cell in cells(sheet).items()}
    assert close == {"Fast": [], "Near": ["Slow"], "Slow": ["Near"]}


def test_figures_far_apart_are_disputed_where_another_rule_does_not_confirm_it() -> None:
    figures_of = {"Slow": (100.0, 100.0), "Fast": (300.0, 99.0), "Faster": (900.0, 900.0)}
    runs = [
        on(name, first, figures={"sustained": builders.figure(first), "reported": builders.figure(other)})
        for name, (first, other) in figures_of.items()
    ]
    sheet = shown(site_of(runs))
    names = [row.hardware for row in sheet.rows]
    found = {name: ([names[at] for at in cell.close], [names[at] for at in cell.disputed])
             for name, cell in cells(sheet).items()}  # fmt: skip
    assert found == {"Fast": ([], ["Slow"]), "Slow": ([], ["Fast"]), "Faster": ([], [])}


def test_power_and_prices_are_those_of_the_file() -> None:
    found = index(site_of(RUNS))
    assert [name for name, _ in found.units] == ["throughput", "watts", "price"]
    assert {row.hardware: (row.watts, row.price) for row in found.sheets[0].rows} == {
        "Fast": (400.0, 2.0), "Middle": (None, None), "Slow": (100.0, None),
    }  # fmt: skip
    notes = " ".join(WORDS.say("en", each) for each in found.stated)
    assert "Fast: 400 W per device (https://example.org/fast, as of 2026-11-01)" in notes
    assert [name for name, _ in index(site_of(RUNS, Accelerators())).units] == ["throughput"]


def test_prices_in_two_currencies_are_not_compared() -> None:
    dollars = Accelerator(dt.date(2026, 11, 1), price=1.0, currency="USD", price_source="https://example.org/u")
    site = site_of(RUNS, Accelerators({**STATED.by_name, "slow": dollars}))
    assert "price" not in dict(index(site).units)


def test_a_cell_states_the_throughput_per_device() -> None:
    sheet = shown(site_of([on(name, speed, devices=8) for name, speed in (("Slow", 800.0), ("Fast", 6400.0))]))
    assert WORDS.say("en", cells(sheet)["Fast"].about).startswith("800.0 per device, batch size 64")


def test_published_figures_fill_in_and_are_not_ranked() -> None:
    """The highest of the sources: V100-SXM2-16GB, ResNet-50, AMP, 1 device is 1,472.72 images/s of OneFlow 0.2.0."""
    published = publications.read([ROOT / "raw_logs" / "published"])
    site = site_of_runs([on("H200", 5000.0, precision="amp")], published=published)
    sheet = shown(site)
    assert (sheet.key.group, sheet.key.size, sheet.reference) == ("half", "1", "H200")
    found = cells(sheet)
    assert found["H200"].times == "1.00×"
    assert (found["V100-SXM2-16GB"].text, found["V100-SXM2-16GB"].times) == ("1,472.72", "")
    assert found["V100-SXM2-16GB"].is_published
    listed = index(site).hardware
    assert listed is not None
    assert len(listed.rows) == 1 + len({row.hardware for row in published.rows if row.value and row.hardware})
