"""Which tests run when: markers by fixtures, files and functions, and the tests of each tier.

`quick` is `make test`: every test without a marker, one in nine of each sweep, and the journeys of a browser. `rest` is
all that `quick` leaves out, and `all` is both.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

from tests import corpus

TIERS = ("quick", "rest", "all")
MARKERS = {"browser", "host", "sweep", "slow", "corpus"}
#: The quick tier runs one in this number of the tests of a sweep.
SHARE = 9
#: Markers by the fixtures of a `conftest.py` that a test asks for, directly or through others.
FIXTURES: Mapping[str, str] = {
    "browser": "browser",
    "large": "slow",
    "planted_site": "slow",
    "published": "slow",
    "real": "slow",
    "real_pages": "slow",
}
#: Markers of all tests of some files, by their names.
FILES: Mapping[str, str] = {
    "test_agent_pythons": "host",
    "test_backend_local": "host",
    "test_backend_slurm": "host",
    "test_backend_ssh": "host",
    "test_container_podman": "host",
    "test_end_to_end": "host",
    "test_environments": "host",
    "test_fault_hosts": "host",
    "test_host_accelerators": "host",
    "test_host_environment": "host",
    "test_host_network": "host",
    "test_host_preflight": "host",
    "test_host_run": "host",
    "test_host_telemetry": "host",
    "test_runner_hosts": "host",
    "test_runner_local": "host",
    "test_appended": "sweep",
    "test_bytes_between_records": "sweep",
    "test_changed_logs": "sweep",
    "test_properties": "sweep",
    "test_agreement": "slow",
    "test_audit_page": "slow",
    "test_bench": "slow",
    "test_cluster": "slow",
    "test_columnar": "slow",
    "test_companion_files": "slow",
    "test_diff": "slow",
    "test_documents": "slow",
    "test_explorer": "slow",
    "test_growth": "slow",
    "test_history_pages": "slow",
    "test_hostile_cache": "slow",
    "test_kills": "slow",
    "test_ledger": "slow",
    "test_ledger_dataset": "slow",
    "test_live": "slow",
    "test_objects": "slow",
    "test_pattern_growth": "slow",
    "test_planted_secrets": "slow",
    "test_problems": "slow",
    "test_repeats": "slow",
    "test_reports": "slow",
    "test_results_json": "slow",
    "test_resume": "slow",
    "test_run_folders": "slow",
    "test_run_telemetry": "slow",
    "test_runner_cli": "slow",
    "test_scale": "slow",
    "test_series": "slow",
    "test_site": "slow",
    "test_site_build": "slow",
    "test_submit": "slow",
    "test_system_faults": "slow",
    "test_template_errors": "slow",
    "test_verify": "sweep",
    "test_weight": "slow",
}
#: Markers of single functions.
FUNCTIONS: Mapping[str, str] = {
    "test_a_smoke_run_has_few_iterations_and_is_not_published": "host",
    "test_a_very_long_line_does_not_fill_the_memory": "slow",
    "test_cut_file_yields_no_other_number": "sweep",
    "test_mutated_goldens_are_read_as_they_must_be": "sweep",
    "test_neighbours_of_a_log_that_ends_its_reader_are_read": "slow",
    "test_transport_changes_nothing": "sweep",
    "test_no_figure_of_the_corpora_moves": "slow",
}
#: The tests of a browser that the quick tier runs.
JOURNEYS = "test_journeys"
#: A test whose code mentions one of these reads logs of third parties.
OF_CORPUS = (corpus.corpus, corpus.logs, corpus.folder, corpus.SHARED)
FOLDER = str(corpus.ROOT / "tests")


def mark(item: pytest.Item) -> None:
    """Add the markers of a test."""
    for name in sorted({*_markers(item)}):
        item.add_marker(name)


def _markers(item: pytest.Item) -> Iterator[str]:
    if item.path.stem in FILES:
        yield FILES[item.path.stem]
    if not isinstance(item, pytest.Function):
        return
    if item.originalname in FUNCTIONS:
        yield FUNCTIONS[item.originalname]
    known = item._fixtureinfo.name2fixturedefs
    fixtures = {name: known[name][-1].func for name in item.fixturenames if name in known}
    shared = [name for name, each in fixtures.items() if each.__module__.endswith("conftest")]
    # A parameter may name a fixture, too.
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    yield from (FIXTURES[name] for name in (*shared, *given) if isinstance(name, str) and name in FIXTURES)
    if any(map(_reads_corpus, (item.function, *fixtures.values()))):
        yield "corpus"


@cache
def _reads_corpus(function: Hashable) -> bool:
    """Return whether a function mentions one of `OF_CORPUS`: itself, or through other functions of the tests."""
    seen, ahead = {function}, [function]
    while ahead:
        each = ahead.pop()
        if each in OF_CORPUS:
            return True
        ahead += _mentioned(each) - seen
        seen |= _mentioned(each)
    return False


@cache
def _mentioned(function: Hashable) -> frozenset[Hashable]:
    """Return the functions and paths that a function of the tests names, of its own module and of those it imports."""
    plain = inspect.unwrap(function) if callable(function) else None
    if not isinstance(plain, FunctionType) or not plain.__code__.co_filename.startswith(FOLDER):
        return frozenset()
    own, names = plain.__globals__, {*_names(plain.__code__)}
    mine = [own[name] for name in names if name in own]
    modules = [vars(each) for each in mine if isinstance(each, ModuleType)]
    found = [*mine, *(each[name] for each in modules for name in names - own.keys() if name in each)]
    return frozenset(each for each in found if isinstance(each, FunctionType | Path) or hasattr(each, "__wrapped__"))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def runs_in(tier: str, item: pytest.Item) -> bool:
    """Return whether a tier runs a test: the same tests on every machine.

    In the quick tier a sweep reads no logs of third parties, so the rest runs these tests again with them.
    """
    names = {each.name for each in item.iter_markers()} & MARKERS
    if tier == "rest":
        return "corpus" in names or not runs_in("quick", item)
    if tier == "quick" and "sweep" in names:
        return names <= {"sweep", "corpus"} and is_in_share(item.name)
    return tier == "all" or not names or (names == {"browser"} and item.path.stem == JOURNEYS)


def is_in_share(name: str) -> bool:
    """Return whether a test of this name is the one in `SHARE` of its sweep."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % SHARE == 0


def is_left_out(tier: str, path: Path) -> bool:
    """Return whether a tier runs no test of a file, which therefore need not be imported."""
    return tier == "quick" and FILES.get(path.stem) in ("host", "slow")


def remedies(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """Return each remedy of skipped tests with their number, the most frequent first.

    A reason ends with its remedy, after a colon: `needs the corpus file public/a.log: make corpus`.
    """
    found = Counter(" ".join(each.removeprefix("Skipped: ").rpartition(": ")[2].split()) for each in reasons)
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
