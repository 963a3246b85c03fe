"""Every page says the same about the same results: what may be compared, and who leads."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from perfledger.ingest import build
from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import own
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.candidates import JudgedCase, candidates, verdicts
from perfledger.ingest.compute.candidates import places as places_of
from perfledger.ingest.compute.comparison import Candidate
from perfledger.ingest.compute.comparison_levels import LEVELS, Level, level_rank
from perfledger.ingest.compute.comparison_tables import ComparisonTables, Figures
from perfledger.ingest.compute.contrast import written
from perfledger.ingest.site.data import badges
from perfledger.ingest.site.data import results as data
from perfledger.ingest.site.data.measured import figures, identity
from perfledger.ingest.site.model import Row, Site, Suite, site_of_runs, suites
from perfledger.ingest.site.pages import compare
from perfledger.ingest.site.result_lines import slices
from perfledger.ingest.site.result_tables import sections
from perfledger.schema.records import Run, from_text
from perfledger.schema.results import ResultRecord, ResultsDocument
from tests import builders
from tests.corpus import corpus
from tests.site.conftest import ROOT, serve
from tests.site.shown import shown as shown_on

DATA = ROOT / "docs" / "data"
NONE: Figures = MappingProxyType({})


def of_repository() -> list[Run]:
    lines = (line for path in sorted(DATA.glob("runs/*.jsonl")) for line in path.read_text("utf-8").splitlines())
    return [from_text(line, Run) for line in lines]


FAST, SLOW = [400.0, 401.0, 402.0], [300.0, 301.0, 302.0]


def made_up() -> list[Run]:
    """Return the fixture's runs, and pairs of frameworks where one should not lead, each pair on its own hardware."""
    found = builders.runs()
    other: dict[str, str]
    for name, speeds, other in (
        ("single", {"PyTorch": [400.0], "TensorFlow": [300.0, 301.0, 302.0]}, {}),
        ("two", {"PyTorch": [400.0, 401.0], "TensorFlow": [300.0, 301.0, 302.0]}, {}),
        ("narrow", {"PyTorch": [403.0, 403.1, 403.2], "TensorFlow": [400.0, 400.1, 400.2]}, {}),
        ("overlap", {"PyTorch": [400.0, 401.0, 402.0], "TensorFlow": [390.0, 391.0, 400.5]}, {}),
        ("third", {"PyTorch": FAST, "TensorFlow": SLOW, "PaddlePaddle": [200.0, 250.0, 420.0]}, {}),
        ("third single", {"PyTorch": FAST, "TensorFlow": SLOW, "PaddlePaddle": [200.0]}, {}),
        ("drivers", {"PyTorch": FAST, "TensorFlow": SLOW}, {"environment": "driver"}),
        ("switches", {"PyTorch": FAST, "TensorFlow": SLOW}, {"options": "trainer"}),
        ("clear", {"PyTorch": FAST, "TensorFlow": SLOW}, {}),
        (
            "five",
            {"PyTorch": [405.0, 406.0, 407.0, 408.0, 399.5], "TensorFlow": [396.0, 397.0, 398.0, 399.0, 400.0]},
            {},
        ),
    ):
        found += [
            builders.run(
                f"{name}-{framework}-{number}".replace(" ", "-").lower(), framework=framework, speed=speed,
                repeat=number, hardware=f"Device {name}", metrics=builders.metrics(framework, number),
                **stating(framework, other),
            )
            for framework, repeats in speeds.items()
            for number, speed in enumerate(repeats, 1)
        ]  # fmt: skip
    return found


def stating(framework: str, facts: dict[str, str]) -> dict[str, Any]:
    """Return facts of a run that have the framework's name as their value, so that they differ."""
    return {key: {fact: framework} for key, fact in facts.items()}


@pytest.fixture(scope="module", params=[of_repository, made_up], ids=["repository", "made up"])
def results_site(request: pytest.FixtureRequest) -> Site:
    return site_of_runs(request.param())


def opened(visit: Callable[..., Any], home: str, found: Sequence[ResultRecord], measured: Figures = NONE) -> Any:
    """Return the compare page, with these results instead of those of the fixture."""
    page = visit("about:blank")
    serve(page, found, measured)
    page.goto(home + "compare/")
    page.wait_for_selector("#pl-compare .pl-compare-status")
    return page


def leading(site: Site) -> list[tuple[Suite, Row]]:
    """Return the rows that clearly lead."""
    found = ((suite, verdict) for suite, of_place in places_of_site(site) for _, verdict in of_place)
    return [(suite, each.pair[0].result) for suite, each in found if each.kind == "clear"]


def places_of_site(site: Site) -> Iterator[tuple[Suite, list[JudgedCase]]]:
    for suite in site.shown:
        for _, _, rows in sections(site, suite):
            yield from ((suite, verdicts(site.by_id, suite, place)) for place in places_of(suite, rows))


def test_only_clear_leads_of_the_made_up_results_are_leads() -> None:
    site = site_of_runs(made_up())
    found = {(row.hardware, row.framework) for _, row in leading(site)}
    assert found == {(f"Device {name}", "PyTorch") for name in ("clear", "five", "third single")}


def test_the_front_page_names_the_leaders_of_the_models_tables(results_site: Site) -> None:
    leads = leading(results_site)
    for suite in results_site.shown:
        for hardware in {row.hardware or "" for row in results_site.rows.get(suite.id, ())}:
            here = {
                (row.framework, numbers.figure(row.value, row.spread))
                for of, row in leads
                if (of, row.hardware) == (suite, hardware)
            }
            standings = [each for each in shown_on(results_site, hardware) if each.standing.suite == suite]
            named = {each.first for each in standings if each.kind == "clear"}
            # A page of a model shows cases that the front page only counts.
            assert named <= here, (suite.id, hardware)
            several = any(of == suite and len(cases) > 1 for of, cases in places_of_site(results_site))
            assert named == here or several, (suite.id, hardware)


def test_the_models_tables_call_the_leaders_clear_and_no_others(results_site: Site) -> None:
    clear = {
        (suite.id, line.row.run_ids)
        for suite in results_site.shown
        for each in slices(results_site, suite)
        for line in each.lines
        if own().say("en", line.verdict).startswith("Clear")
    }
    assert clear == {(suite.id, row.run_ids) for suite, row in leading(results_site)}


def test_a_badge_shows_the_figure_that_leads(results_site: Site) -> None:
    shown = badges.badges(results_site, own())
    for _, row in leading(results_site):
        message = f"{numbers.figure(row.value, row.spread)} {row.unit}, clearly the fastest"
        assert f">{message}</text>" in shown[badges.path(row)].decode()


def test_a_badge_names_a_clear_and_a_likely_lead_alone() -> None:
    site = site_of_runs(made_up())
    shown = badges.badges(site, own())
    rows = {row.hardware: row for rows in site.rows.values() for row in rows if row.framework == "PyTorch"}
    for name, expected in (("clear", "clearly the fastest"), ("single", "likely the fastest")):
        assert f", {expected}</text>" in shown[badges.path(rows[f"Device {name}"])].decode(), name
    assert b"fastest" not in shown[badges.path(rows["Device third"])]


def test_the_compare_page_looks_up_what_ingest_decides_of_every_pair_that_it_places(
    real: Path, visit: Callable[..., Any], real_home: str
) -> None:
    """Every eighth pair of throughputs is enough: there are 160,000, at least eight per result."""
    records = from_text((real / "data" / "results.json").read_bytes(), ResultsDocument).results
    known, workloads = {each.id: each for each in records}, {each.id: each.workload for each in suites()}
    page = visit(real_home + "compare/")
    page.wait_for_selector("#pl-compare .pl-compare-status")
    for metric, axes, every, least in (
        ("throughput", list(comparison.AXES), 8, 15_000), ("memory", ["framework"], 1, 20),
        ("speedup", ["devices"], 1, 50),
    ):  # fmt: skip
        found = json.loads(page.evaluate(PLACED, [axes, metric, every]))
        assert len(found) > least
        stated = {each.id: statement(each, metric) for each in records}
        assert {level for level, *_ in found} == set(LEVELS)
        for level, by, a, b, shown in found:
            expected = outcome(stated[a], stated[b], by, workloads.get(known[a].suite, {}), level)
            # Results of the same workload have notes, which agree for a pair at this level.
            names = ("reasons", "differs") if level == "everything" else ("reasons", "differs", "unknown")
            assert {name: sorted(shown[name]) for name in names} == {name: expected[name] for name in names}, (a, b, by)


#: Returns, as text for speed, the verdict of the page on each pair of results that it places together.
PLACED = """async ([axes, metric, every]) => {
  let count = 0;
  const { PLACE, item, outcome } = perfledger.compare;
  const all = (await (await fetch("../data/results.json")).json()).results;
  const tables = await (await fetch("../data/comparisons.json")).json();
  return JSON.stringify(Object.keys(PLACE).flatMap((level) => axes.flatMap((axis) => {
    const choice = { axis, metric, level }, settings = {};
    all.forEach((each) => {
      const found = item(each, choice);
      if (found.figure.value !== null) (settings[each.suite + found.setting] ||= []).push(found);
    });
    return Object.values(settings).flatMap((items) => items.flatMap((a, index) => items.slice(0, index)
      .filter((b) => count++ % every === 0 && (axis === "framework" || a.series === b.series || a.x === b.x))
      .map((b) => [level, axis, a.result.id, b.result.id, outcome(a, b, choice, tables)])));
  })));
}"""


def statement(record: ResultRecord, metric: str) -> comparison.Statement:
    if metric in ("throughput", *record.metrics):
        return comparison.statement_of_record(record, metric)
    found = comparison.statement_of_record(record)
    return replace(found, facts=found.facts | {"unit": ("the same for all",)})


def outcome(
    a: comparison.Statement, b: comparison.Statement, by: str, workload: comparison.Workload, level: Level
) -> dict[str, list[str]]:
    """Return what the page should look up: notes matter only of results that did the same work."""
    fact = comparison.AXES[by]
    both = [each.facts.get(fact, each.options.get(fact)) for each in (a, b)]
    # If the compared fact is the same, different frameworks are compared.
    found = comparison.comparability(a, b, by if both[0] != both[1] else "framework", workload)
    reasons = {each for each in found.differs if level_rank(each.tolerated) > level_rank(level)}
    lists = {
        "reasons": reasons,
        "differs": {*found.differs} - reasons,
        "unknown": () if found.reasons else found.unknown,
    }
    return {name: sorted(f"{each.kind}.{each.name}" for each in lists[name]) for name in lists}


# ---- every pair of frameworks, on our own results and on those of a corpus of GPUs ----


def of_corpus() -> list[Run]:
    inputs = build.Inputs((corpus("paddle-perf"),), layout="paddle-perf", jobs=1, out=Path("nowhere"))
    return list(build.read(inputs).ledger.runs)


@pytest.fixture(scope="module", params=[of_repository, of_corpus], ids=["repository", "corpus"])
def measured_site(request: pytest.FixtureRequest) -> Site:
    return site_of_runs(request.param())


@dataclass(frozen=True)
class Pair:
    """The comparison of two frameworks in words: the faster one first, and the ratio if they have one."""

    ids: tuple[str, str]
    grade: str = ""
    low: str = ""
    high: str = ""


def pairs_of_front(site: Site) -> Iterator[tuple[Suite, tuple[Candidate, Candidate], Pair]]:
    """Yield the verdict on every two frameworks that share a row."""
    for suite in site.shown:
        for _, _, rows in sections(site, suite):
            for case in comparison.cases(rows, lambda row, of=suite: (of.variant(row), of.row_key(row))):
                _, ranked = comparison.rank(candidates(site.by_id, case))
                for first, second in itertools.combinations(ranked, 2):
                    found = comparison.verdict([first, second], suite.workload)
                    yield suite, (first, second), told(found)


def told(found: comparison.Verdict) -> Pair:
    first, second = (identity(each.result) for each in found.pair)
    return Pair((first, second), found.kind, *written(found.contrast)) if found.contrast else Pair((first, second))


def pair_of_compare(made: ComparisonTables, suite: Suite, first: str, second: str) -> Pair:
    """Return what the page would say, from nothing but the file that its script reads."""
    table = made.statements[suite.id]["throughput"]
    one, two = sorted((table.numbers[first], table.numbers[second]), reverse=True)
    outcome = made.outcomes[made.verdicts[table.pairs[one][two]]["framework"]]
    if outcome.never or outcome.everything:
        return Pair((first, second))
    lead = made.ahead["throughput"][first][second]
    return Pair((first, second), lead.grade, lead.low, lead.high)


def test_front_and_compare_agree_on_every_pair(measured_site: Site) -> None:
    found = list(pairs_of_front(measured_site))
    records = data.records(measured_site, own())
    made = from_text(compare.data(measured_site, records), ComparisonTables)
    for suite, _, said in found:
        assert pair_of_compare(made, suite, *said.ids) == said
    assert len(found) >= 15
    assert len({said.grade for *_, said in found}) > 1


def test_the_script_says_of_every_pair_what_the_front_page_says(
    measured_site: Site, visit: Callable[..., Any], home: str
) -> None:
    page = opened(visit, home, data.records(measured_site, own()), figures(measured_site))
    expected = list(pairs_of_front(measured_site))
    choices = [said.ids for _, _, said in expected]
    found = page.evaluate(
        """async (choices) => {
          const { board } = perfledger.compare;
          const all = (await (await fetch("../data/results.json")).json()).results;
          const tables = await (await fetch("../data/comparisons.json")).json();
          const known = new Map(all.map((each) => [each.id, each]));
          const choice = { axis: "framework", level: "workload", metric: "throughput" };
          return choices.map((ids) => board(ids.map((id) => known.get(id)), choice, tables, known).rows
            .map((each) => [each.result.id, each.behind || null, Boolean(each.apart)]));
        }""",
        choices,
    )
    for (_, _, said), shown in zip(expected, found, strict=True):
        by_id = {identifier: (behind, apart) for identifier, behind, apart in shown}
        behind, apart = by_id[said.ids[1]]
        assert apart == (not said.grade), said
        if said.grade:
            assert (behind["grade"], behind["low"], behind["high"]) == (said.grade, said.low, said.high)
