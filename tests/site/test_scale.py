"""The number and size of pages is bounded, every run has one address, and one more run moves few others."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from perfledger.ingest.common import words
from perfledger.ingest.common.words import LANGUAGES
from perfledger.ingest.site import builder
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.pages import pages
from perfledger.ingest.site.pages.problems import SHOWN
from perfledger.ingest.site.render import jinja
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Problem, Run
from tests import builders

SMALL = Limits(pages=20)
MODELS = ("ResNet-50 v1.5", "BERT-base", "Transformer", "Test net 7")


def many(size: int) -> list[Run]:
    """Return made-up runs: cases of five repeats, of four models in turn."""
    found = []
    for number in range(size):
        case, repeat = divmod(number, 5)
        model = MODELS[case % len(MODELS)]
        name = f"{model.lower().replace(' ', '-').replace('.', '-')}-case{case:04}-{repeat + 1}"
        speed = 400 * random.Random(number).uniform(0.95, 1.05)
        found.append(builders.run(name, model=model, speed=speed, repeat=repeat + 1, options={"case": case}))
    return found


def speed(run: Run) -> float:
    """Return the headline figure of a run that has one."""
    found = run.figure("sustained")
    assert found is not None
    return found.value


def site_of(runs: list[Run], limits: Limits = SMALL, **more: Any) -> Site:
    return site_of_runs(runs, limits=limits, **more)


def paths(site: Site) -> list[str]:
    return [each.path for each in pages(site)]


def run_paths(site: Site) -> set[str]:
    return {each for each in paths(site) if each.startswith("runs/") and each != "runs/index.md"}


def test_up_to_the_limit_each_run_has_a_page() -> None:
    site = site_of(many(20))
    assert {site.page(run) for run in site.runs} == run_paths(site)


@pytest.mark.parametrize("size", [21, 200, 2000])
def test_pages_are_bounded_by_the_limits_and_not_by_the_runs(size: int) -> None:
    assert len(run_paths(site_of(many(size)))) == SMALL.pages


def test_runs_make_no_pages_beyond_those_of_the_limit() -> None:
    few, more = (site_of(many(size), Limits()) for size in (400, 2000))
    assert len(paths(few)) == len(paths(more)) > Limits().pages


def test_the_page_of_all_runs_does_not_grow_with_them() -> None:
    """Only the names of the parts of their data do; these runs are of four models on one kind of hardware."""
    sizes = []
    for size in (400, 4000):
        (runs,) = [each for each in pages(site_of(many(size))) if each.path == "runs/index.md"]
        sizes.append([len(each) for each in jinja.rendered(words.load(), runs)])
    assert all(less < more < less + 2000 for less, more in zip(*sizes, strict=True))


def test_every_run_has_an_address_of_its_own() -> None:
    site = site_of(many(300))
    places = [site.page(run) for run in site.runs]
    assert len(set(places)) == len(places)
    assert {place.partition("?")[0] for place in places} == {*run_paths(site), "runs/index.md"}
    assert sum("?run=" in place for place in places) == 300 - SMALL.pages


def test_runs_that_represent_results_come_first_then_those_with_problems() -> None:
    runs = many(60)
    troubled = [max(runs[at : at + 5], key=speed).id for at in (0, 55)]
    runs = [replace(run, problems=(Problem("empty", run.path),) * (run.id in troubled)) for run in runs]
    site = site_of(runs, Limits(pages=14))
    own = {run.id for run in site.runs if site.has_page(run)}
    medians = set()
    for case in range(12):
        repeats = sorted(runs[case * 5 : case * 5 + 5], key=speed)
        medians.add(repeats[2].id)
    assert own == medians | set(troubled)


def test_the_page_that_a_table_links_for_a_figure_is_of_its_own() -> None:
    from perfledger.ingest.site.result_tables import representative

    site = site_of(many(90))
    rows = [row for found in site.rows.values() for row in found]
    assert len(rows) == 18
    assert all(site.has_page(representative(site, row)) for row in rows)


def test_one_more_run_moves_few_others() -> None:
    """Whatever the new run's name: at most one run loses its page, and the others keep their addresses."""
    runs = many(2000)
    before = site_of(runs)
    was = {run.id: before.page(run) for run in before.runs}
    for number in range(8):
        model = MODELS[number % len(MODELS)]
        name = f"{model.lower().replace(' ', '-').replace('.', '-')}-case{number * 25:04}-added"
        after = site_of([*runs, builders.run(name, model=model, options={"case": f"new {number}"})])
        moved = [run for run in before.runs if before.has_page(run) != after.has_page(run)]
        assert len(moved) <= 1
        assert [run for run in before.runs if was[run.id] != after.page(run)] == moved


def test_a_run_cannot_take_the_page_of_the_index() -> None:
    found = paths(site_of([*many(40), builders.run("index")]))
    assert len(set(found)) == len(found)


def test_a_log_of_thousands_of_sessions_makes_no_more_pages_than_others() -> None:
    runs = [builders.run(f"appended-{n:05}", session=n, sessions=3000, path="raw_logs/a.log") for n in range(1, 3001)]
    assert len(run_paths(site_of(runs, Limits()))) == Limits().pages


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build pages of 130 runs with problems of two kinds, one of them seventy times; 20 runs have a page."""
    folder = tmp_path_factory.mktemp("paged")
    runs = many(130)
    troubled = [replace(run, problems=(Problem("empty", run.path, n),)) for n, run in enumerate(runs[60:])]
    runs = [*runs[:60], *troubled]
    loose = [Problem("binary", "raw_logs/x.bin")]
    shards = {run.id: "made-up.jsonl" for run in runs}
    site = site_of_runs(runs, loose, limits=SMALL, shards=shards)
    builder.build(site, folder / "docs", folder / "cache.sqlite")
    return folder


def page(folder: Path, language: str, name: str) -> str:
    return (folder / "docs" / language / name).read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_problems_are_shown_by_kind_with_counts(paged: Path, language: str) -> None:
    text = page(paged, language, "problems.md")
    assert re.findall(r"<h2>.*?>(\w+)<.* \((\d+)\)</h2>", text) == [("empty", "70"), ("binary", "1")]
    assert text.count("<li>") == SHOWN + 1
    assert f"{70 - SHOWN}" in text


def test_all_problems_are_in_the_data_with_their_sentences(paged: Path) -> None:
    lines = (paged / "docs" / "data" / "problems.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(each) for each in lines]
    assert len(found) == 71
    assert all(set(each["said"]) == set(LANGUAGES) for each in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_of_runs_counts_them_and_leads_to_those_with_pages(paged: Path, language: str) -> None:
    text = page(paged, language, "runs/index.md")
    there = sorted(each.name for each in (paged / "docs" / language / "runs").glob("*.md"))
    assert len(there) == SMALL.pages + 1
    assert sorted({*re.findall(r'href="([\w-]+\.md)"', text), "index.md"}) == there
    assert text.count("<tr>") == 1 + SMALL.pages
    assert "130" in text.partition("<form")[0]
    assert "data/runs.parquet" in text
