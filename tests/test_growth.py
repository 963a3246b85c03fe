"""Four times the input takes at most five times the processor time, so that large inputs finish."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from perfledger.ingest import build
from perfledger.ingest.compute.results import results
from perfledger.ingest.site import model_tables
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.result_lines import slices
from perfledger.parsers.engine.read import read
from tests import builders
from tests.parsers.golden import GOLDEN

#: How many times the processor seconds may grow if the input grows four times.
MOST = 5
SHORT_LOG = GOLDEN / "frameworks.horovod_synthetic" / "made-up.log"


def growth(prepare: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times longer four times the input takes, in processor seconds.

    On a busy machine the same work takes up to twice as many. Therefore the small input is read four times for each
    time that the large one is, so that both meet the same disturbances; each counts with its best of two tries; and a
    ratio above the limit gets two more tries.
    """
    small, large = prepare(size), prepare(4 * size)
    best = [float("inf"), float("inf")]
    for number in range(4):
        tries = [sum(_seconds(small) for _ in range(4)), _seconds(large)]
        best = [min(pair) for pair in zip(best, tries, strict=True)]
        if number and 4 * best[1] <= MOST * best[0]:
            break
    return 4 * best[1] / best[0]


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_time_grows_linearly_with_the_sessions_of_a_file(tmp_path: Path) -> None:
    def first_and_last_lines(path: Path, count: int) -> None:
        sessions = read(path).sessions
        assert len(sessions) == count
        for session in sessions:
            session.main.lines([0])
            session.main.lines([len(session.main) - 1])

    def prepare(count: int) -> Callable[[], object]:
        path = tmp_path / f"{count}.log"
        path.write_bytes(SHORT_LOG.read_bytes() * count)
        return lambda: first_and_last_lines(path, count)

    assert growth(prepare, 1000) <= MOST


def test_time_grows_linearly_with_the_results_of_a_suite() -> None:
    def prepare(count: int) -> Callable[[], object]:
        runs = tuple(builders.run(f"run-{at:05}", batch_size=at + 1) for at in range(count))
        site = Site(runs, (), suites(), results)
        (suite,) = site.shown
        assert len(site.rows[suite.id]) == count
        return lambda: [model_tables.results(site, suite, each) for each in slices(site, suite)]

    assert growth(prepare, 400) <= MOST


def test_time_grows_linearly_with_the_logs_of_a_tree(tmp_path: Path) -> None:
    def prepare(count: int) -> Callable[[], object]:
        top = tmp_path / str(count)
        for at in range(count):
            path = top / "suite" / "framework" / f"case{at}" / "1" / "train.log"
            path.parent.mkdir(parents=True)
            path.write_bytes(SHORT_LOG.read_bytes())
        inputs = build.Inputs((top,), jobs=1, out=tmp_path / "docs")
        return lambda: build.read(inputs)

    assert growth(prepare, 50) <= MOST
