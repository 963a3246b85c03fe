"""The hardware that pages open with."""

from __future__ import annotations

from perfledger.ingest.compute.results import results
from perfledger.ingest.site.hardware_names import by_interest
from perfledger.ingest.site.model import Site
from perfledger.schema.records import Run
from tests import builders

CPU = "AMD EPYC (family 26, model 2), 2 cores (CPU)"


def site(*runs: Run) -> Site:
    return Site(runs, (), (), results)


def run(name: str, hardware: str, framework: str = "PyTorch") -> Run:
    return builders.run(name, hardware=hardware, framework=framework, speed=100.0)


def test_the_newest_accelerator_with_a_comparison_comes_first_and_processors_last() -> None:
    compared = [
        run(f"{each}-{framework}", each, framework)
        for each in ("V100-SXM2-32GB", "H200", CPU)
        for framework in ("PyTorch", "MXNet")
    ]
    found = site(*compared, run("b", "GB300"), run("t", "TPU v9"), run("z", ""))
    assert by_interest(found) == ["H200", "V100-SXM2-32GB", "GB300", "TPU v9", CPU]


def test_without_accelerators_a_processor_is_shown_and_without_results_none() -> None:
    assert by_interest(site(run("a", CPU))) == [CPU]
    assert by_interest(site()) == []
