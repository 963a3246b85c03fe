"""Hardware by model: which figure stands for each, what is kept apart, and what power and prices make of it."""

from __future__ import annotations

import datetime as dt
import gzip
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.compute import results
from perfledger.ingest.read.accelerators import Accelerator, Accelerators
from perfledger.ingest.site import hardware_tables
from perfledger.ingest.site.data import results as results_data
from perfledger.ingest.site.hardware_tables import Matrix, matrices
from perfledger.ingest.site.model import Site, suites
from perfledger.schema.records import Run
from tests import builders
from tests.builders import absent, edited, run

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
    ordered = tuple(sorted(runs, key=lambda each: each.id))
    return Site(ordered, (), suites(), results.results, accelerators=accelerators)


def shown(site: Site, found: Matrix | None = None) -> dict[str, Any]:
    """Return what the file of a matrix holds, of the first by default."""
    files = hardware_tables.files(site, WORDS)
    data: dict[str, Any] = json.loads(files[f"data/matrix/{(found or matrices(site)[0]).key.file}.json"])
    return data


def figures(data: dict[str, Any], column: int = 0, view: str = "throughput") -> dict[str, str]:
    """Return the figures of a column by hardware."""
    cells = {row["name"]: row["cells"][column] for row in data["rows"]}
    return {name: cell["figures"][view]["text"] for name, cell in cells.items() if cell and view in cell["figures"]}


RUNS = [on("Slow", 100.0), on("Fast", 800.0), on("Middle", 300.0), on("Middle", 320.0, batch_size=128)]


def test_the_fastest_batch_size_of_each_stands_for_it_and_the_fastest_comes_first() -> None:
    data = shown(site_of(RUNS))
    assert list(figures(data).items()) == [("Fast", "800.0"), ("Middle", "320.0"), ("Slow", "100.0")]
    about = {row["name"]: row["cells"][0]["about"]["en"] for row in data["rows"]}
    assert about["Middle"] == "320.0 images/s, batch size 128, PyTorch, FP32, 2026-01-01, 1 run"


def test_processors_stand_below_accelerators_however_fast() -> None:
    runs = [on("Slow", 100.0), on("AMD EPYC (family 25, model 17), 2 cores (CPU)", 900.0)]
    (found,) = matrices(site_of(runs))
    assert found.hardware[0] == "Slow"


def test_where_no_model_ran_on_two_there_is_no_table() -> None:
    assert matrices(site_of([on("Slow", 100.0), on("Fast", 50.0, model="BERT-base")])) == ()
    assert matrices(site_of(RUNS[2:])) == ()
    assert hardware_tables.files(site_of(RUNS[2:]), WORDS) == {}


def test_rounds_are_never_in_one_table_and_neither_are_results_without() -> None:
    first, second = in_round("2020-10", *RUNS[:3]), in_round("2021-04", on("Slow", 150.0), on("Fast", 900.0))
    site = site_of([*RUNS, *first, *second])
    found = {each.key.round: figures(shown(site, each)) for each in matrices(site)}
    assert found == {
        "": {"Fast": "800.0", "Middle": "320.0", "Slow": "100.0"},
        "2020-10": {"Fast": "800.0", "Middle": "300.0", "Slow": "100.0"},
        "2021-04": {"Fast": "900.0", "Slow": "150.0"},
    }


def test_other_precisions_devices_and_machines_stand_apart() -> None:
    half = [on(name, 5000.0, precision="amp") for name in ("Slow", "Fast")]
    eight = [on(name, 6000.0, devices=8) for name in ("Slow", "Fast")]
    two = [edited(each, id=f"{each.id}-2", path=f"{each.path}-2", case={"nodes": 2}) for each in eight]
    found = matrices(site_of([*RUNS, *half, *eight, *two]))
    assert {(each.key.group, each.key.size) for each in found} == {
        ("fp32", "1"), ("half", "1"), ("fp32", "8"), ("fp32", "8-on-2"),
    }  # fmt: skip
    assert found[0].key.size == "1", "the matrix with most figures comes first"
    assert len({each.key.file for each in found}) == 4


def test_other_workloads_units_and_rules_have_columns_of_their_own() -> None:
    small = [on(name, 9000.0, options={"image_size": 64}) for name in ("Slow", "Fast")]
    tokens = on("Slow", 7000.0, unit="tokens/s")
    reported = {"sustained": absent("no_records"), "reported": builders.figure(990.0)}
    summed = on("Fast", 990.0, batch_size=32, rule="reported", figures=reported)
    data = shown(site_of([*RUNS, *small, tokens, summed]))
    assert len(data["columns"]) == 4
    assert figures(data)["Fast"] == "800.0"
    assert [each["about"]["en"] for each in data["columns"] if each["about"]] == [
        "image size 64", "trainer’s own summary",
    ]  # fmt: skip


def test_the_reference_is_the_hardware_with_most_models_and_may_miss_one() -> None:
    bert = [on(name, 50.0, model="BERT-base", unit="sequences/s") for name in ("Slow", "Middle")]
    site = site_of([*RUNS, *bert, on("Slow", 9.0, model="Net of ours")])
    assert matrices(site)[0].reference == "Slow"
    missing = site_of([*RUNS, on("Middle", 50.0, model="BERT-base"), on("Slow", 9.0, model="Net of ours")])
    first = hardware_tables.first(missing)
    assert (first["reference"], [bool(each) for each in first["base"]]) == ("Middle", [True, True, False])


def test_figures_too_close_to_call_are_marked_on_both_sides() -> None:
    data = shown(site_of([on("Slow", 100.0), on("Fast", 800.0), on("Near", 102.0)]))
    close = {row["name"]: row["cells"][0]["figures"]["throughput"]["close"] for row in data["rows"]}
    names = [row["name"] for row in data["rows"]]
    assert {name: [names[at] for at in each] for name, each in close.items()} == {
        "Fast": [], "Near": ["Slow"], "Slow": ["Near"],
    }  # fmt: skip


def test_figures_per_watt_and_price_where_they_are_stated() -> None:
    site = site_of(RUNS)
    assert figures(shown(site), view="per_watt") == {"Fast": "2.000", "Slow": "1.000"}
    assert figures(shown(site), view="per_price") == {"Fast": "400.0"}
    notes = " ".join(WORDS.say("en", each) for each in hardware_tables.sources(site))
    assert "Fast: 400 W per device (https://example.org/fast, as of 2026-11-01)" in notes


def test_power_and_throughput_per_device_count_every_device() -> None:
    data = shown(site_of([on(name, speed, devices=8) for name, speed in (("Slow", 800.0), ("Fast", 6400.0))]))
    assert figures(data, view="per_watt")["Fast"] == "2.000"
    assert data["rows"][0]["cells"][0]["about"]["en"].startswith("6,400 images/s, 800.0 per device, batch size 64")


def test_nothing_is_made_up_where_no_file_states_it() -> None:
    assert [each.key for each in hardware_tables.views(site_of(RUNS, Accelerators()))] == ["throughput"]


def test_prices_in_two_currencies_are_not_compared() -> None:
    dollars = Accelerator(dt.date(2026, 11, 1), price=1.0, currency="USD", price_source="https://example.org/u")
    site = site_of(RUNS, Accelerators({**STATED.by_name, "slow": dollars}))
    assert "per_price" not in [each.key for each in hardware_tables.views(site)]


def _many() -> Sequence[Run]:
    """Return runs of many cases, with repeats, on three hardware."""
    found = []
    for n, (name, batch, precision, devices) in enumerate(
        itertools.product(("Slow", "Fast", "Middle"), (32, 64, 128), ("fp32", "amp", "bf16"), (1, 8))
    ):
        for framework, repeat in (("PyTorch", 1), ("PyTorch", 2), ("TensorFlow", 1)):
            speed = 100.0 + (n * 37 + repeat * 11 + len(framework) * 23) % 211
            more = {"framework": framework, "batch_size": batch, "precision": precision, "devices": devices}
            found.append(on(name, speed, repeat=repeat, **more))
    return [*found, *in_round("2021-04", *found[::2])]


def test_the_file_of_a_large_matrix_is_small() -> None:
    runs = [
        on(f"Accelerator {n:02} of 80 GB", 100.0 + (n * 61 + m * 37) % 509, model=f"Network number {m}")
        for n in range(45) for m in range(15)
    ]  # fmt: skip
    (file,) = hardware_tables.files(site_of(runs), WORDS).values()
    assert len(json.loads(file)["rows"]) == 45
    assert len(gzip.compress(file, 6)) < 40_000


def test_every_cell_is_the_largest_of_its_records_in_results_json() -> None:
    site = site_of(_many(), Accelerators())
    records = json.loads(results_data.document(results_data.records(site, WORDS)))["results"]
    wanted: dict[tuple[Any, ...], float] = {}
    for each in records:
        key = (each["group"], each["devices"], each["round"] or "", each["hardware"])
        wanted[key] = max(wanted.get(key, 0.0), each["value"])
    assert len(wanted) == 24
    found = {
        (one.key.group, one.key.devices, one.key.round, row["name"]): row["cells"][0]["figures"]["throughput"]["value"]
        for one in matrices(site)
        for row in shown(site, one)["rows"]
    }
    assert found == pytest.approx(wanted, abs=0)
