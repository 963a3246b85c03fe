"""Several machines of one kind: each counts once, and the spread between machines is separate."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.compute.results import representative, results
from perfledger.ingest.read.layout import OWN, load
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.identity import identify
from perfledger.ingest.record.run import runs_of
from perfledger.schema.records import Result, Run

#: Figures of runs by machine; the machine with most runs differs from the others.
MACHINES = {"a": [100.0, 102.0], "b": [110.0, 111.0], "c": [140.0, 141.0, 142.0, 143.0, 144.0]}


def made(root: Path, machines: dict[str, Sequence[float]]) -> list[Run]:
    for host, values in machines.items():
        for number, value in enumerate(values, 1):
            document = run_json(repeat=number)
            document["case"] |= {"host": host} if host else {}
            write_run(root, f"seg/{host or 'nowhere'}/{number}", seg([value / 2] * 10), run=document)
    found = [runs_of(each, load(OWN), each.name)[0] for each in walk([root]).inputs]
    assert all(each.published for each in found)
    return identify(found)


def result_of(runs: list[Run]) -> Result:
    (found,) = results(runs)
    return found


def test_each_machine_counts_once(tmp_path: Path) -> None:
    runs = made(tmp_path, MACHINES)
    values = {
        host: [run.figures["sustained"].value for run in runs if run.facts["host"].value == host] for host in "abc"
    }
    medians = [statistics.median(each) for each in values.values()]
    found = result_of(runs)
    assert (found.repeats, found.hosts) == (9, 3)
    assert found.value == pytest.approx(statistics.median(medians))
    everything = [value for each in values.values() for value in each]
    assert found.value != pytest.approx(statistics.median(everything))
    assert (found.low, found.high) == (min(everything), max(everything))
    assert found.spread_between == pytest.approx(statistics.stdev(medians) / statistics.mean(medians))
    squares = sum(sum((one - statistics.mean(each)) ** 2 for one in each) for each in values.values())
    assert found.spread_within == pytest.approx((squares / (9 - 3)) ** 0.5 / statistics.mean(everything))
    assert found.spread_within is not None
    assert found.spread_between is not None
    assert found.spread_within < 0.02 < 0.1 < found.spread_between
    assert representative(runs).facts["host"].value == "b"


def test_one_run_each_has_no_spread_within(tmp_path: Path) -> None:
    found = result_of(made(tmp_path, {"a": [100.0], "b": [110.0]}))
    assert (found.repeats, found.hosts, found.spread_within) == (2, 2, None)
    assert found.spread_between == found.spread


def test_a_single_machine_gives_the_same_result_as_no_stated_machine(tmp_path: Path) -> None:
    one = result_of(made(tmp_path / "one", {"a": [100.0, 102.0, 105.0]}))
    none = result_of(made(tmp_path / "none", {"": [100.0, 102.0, 105.0]}))
    assert (one.hosts, one.spread_within, one.spread_between) == (1, None, None)
    assert (none.hosts, none.spread_within, none.spread_between) == (0, None, None)
    assert (one.value, one.low, one.high, one.spread, one.repeats) == (
        none.value, none.low, none.high, none.spread, none.repeats,
    )  # fmt: skip


def test_pages_and_data_count_machines_and_runs_separately(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    made(tmp_path / "logs", MACHINES)
    assert ingest(tmp_path / "logs", "--out", tmp_path / "docs").code == 0
    (found,) = json.loads((tmp_path / "docs" / "data" / "results.json").read_text())["results"]
    assert (found["hosts"], found["repeats"]) == (3, 9)
    assert found["spread_within"] < found["spread_between"]
    (row,) = csv.DictReader((tmp_path / "docs" / "data" / "results.csv").read_text().splitlines())
    assert (row["hosts"], float(row["spread_between"])) == ("3", found["spread_between"])
    pages = "".join(each.read_text("utf-8") for each in sorted((tmp_path / "docs" / "en").rglob("*.md")))
    for text in ("3 machines, 9 runs", "within a machine", "between machines"):
        assert text in pages
    assert "9 runs each" not in pages
