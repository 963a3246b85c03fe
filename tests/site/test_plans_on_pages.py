"""How to reproduce what was not run here: recipes with commands, image, commit and data on pages."""

from __future__ import annotations

import html
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from perfledger import TEMPLATES
from perfledger.ingest.common.words import LANGUAGES, Bilingual
from perfledger.ingest.published import publications
from perfledger.ingest.published.declarations import reports
from perfledger.ingest.published.slices import cut
from perfledger.ingest.read import plans
from perfledger.ingest.read.plans import Plans
from perfledger.ingest.site import recipe_tables
from perfledger.ingest.site.model import site_of_runs
from perfledger.runners import recipes
from perfledger.schema.plans import Plan
from perfledger.schema.records import Run
from tests import builders
from tests.runners.test_recipe_sources import COVERAGE
from tests.site.conftest import ROOT

#: Reports whose code no recipe launches: Fluid 1.4, and PaddleSeg at a commit whose arguments nobody printed.
WITHOUT_RECIPES = {"fluid-guide", "perf-deeplabv3p-pending"}
#: Recipes of the code that DLPerf's other pages name; the report of the round names other commits.
AT_ANOTHER_COMMIT = {
    "dlperf-round": {"bert-ngc-pytorch-2020", "resnet50-ngc-pytorch-2020", "resnet50-pytorch-examples"}
}
#: Per page what its section on reproducing must print.
PRINTED = {
    "reports/perf-resnet50": (
        "python -m runners run resnet50-paddleclas --on ssh:HOST1,HOST2,HOST3,HOST4 --case 'nodes=4,devices=32,",
        "--container docker --data /path/to/data", "../models/resnet50/index.md#reproduce",
        "python -m runners run resnet50-ngc-mxnet --on local",
    ),
    "models/resnet50": (
        "python -m runners run resnet50-paddleclas --on local", "python -m runners show RECIPE",
        "nvidia-dali-cuda110",
    ),
    "models/deeplabv3p": ("deeplabv3p-paddleseg-gpu", "deeplabv3p-mmseg"),
    "models/transformer": ("transformer-big-paddlenlp",),
    "models/bert": ("bert-paddlenlp", "bert-oneflow", "bert-ngc-tensorflow-2020"),
}  # fmt: skip


def table_of(*found: Plan, runs: tuple[Run, ...] = ()) -> list[list[list[str]]]:
    """Return the entries of each cell of the table of recipes of ResNet-50."""
    site = site_of_runs(runs, plans=Plans({each.recipe: each for each in found}))
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    table = recipe_tables.of_suite(site, suite)
    return [[[str(one.text) for one in each.entries] for each in row] for row in table.rows] if table else []


def test_a_recipe_is_a_row_with_a_command_for_each_number_of_machines() -> None:
    image = {"image": "example.org/torch:1", "digest": "sha256:" + "c" * 64}
    begin, end = "python -m runners run a --on", "--container docker --data /path/to/data"
    assert table_of(builders.plan("a", image=image)) == [[["a"], ["2"], [
        f"{begin} local --case nodes=1,devices=8 {end}", f"{begin} ssh:HOST1,HOST2 --case nodes=2,devices=16 {end}",
    ]]]  # fmt: skip
    assert not any("--container" in each for each in table_of(builders.plan("a"))[0][2])


def test_what_every_recipe_of_a_page_says_has_chinese_and_no_more() -> None:
    found = plans.found([ROOT / "raw_logs"]).by_recipe.values()
    assert [each.recipe for each in found if recipe_tables.described(each).zh.startswith("“")] == []
    chinese = tomllib.loads((TEMPLATES / "recipes.zh.toml").read_text("utf-8"))
    said = {" ".join(text.split()) for each in found for text in (each.text, each.notes) if text}
    assert (set(chinese["title"]), set(chinese["text"])) == ({each.title for each in found}, said)


def test_notes_of_our_runs_have_chinese_and_those_of_others_stay_as_they_are() -> None:
    ours = {json.loads(path.read_bytes()).get("notes") for path in (ROOT / "raw_logs").glob("**/run.json")} - {None, ""}
    assert len(ours) > 10
    shown = [recipe_tables.noted(builders.run("a-1", notes=each)) for each in ours]
    assert all(isinstance(each, Bilingual) and each.en and each.zh for each in shown)
    assert recipe_tables.noted(builders.run("a-1", notes="Fan at full speed.")) == "Fan at full speed."


def test_a_recipe_without_chinese_is_shown_in_english() -> None:
    told = recipe_tables.described(builders.plan("a", title="Trainer of ours", text="Read the manual.", notes=""))
    assert (told.en, told.zh) == ("Trainer of ours. Read the manual.", "“Trainer of ours. Read the manual.”")


def test_cases_with_runs_are_not_listed_again() -> None:
    run = builders.run("a-1", devices=8, recipe={"name": "a", "case": {"nodes": "1", "devices": "8"}})
    ((_, (count,), (command,)),) = table_of(builders.plan("a"), runs=(run,))
    assert (count, shlex.split(command)[7:9]) == ("1", ["--case", "nodes=2,devices=16"])
    assert table_of(builders.plan("a", cases=[{"devices": 8}]), runs=(run,)) == []


def test_plans_follow_the_order_of_the_suites_frameworks() -> None:
    found = [builders.plan("a", framework="JAX"), builders.plan("b", framework="NGC PyTorch"), builders.plan("c"),
             builders.plan("d", framework="PaddleClas")]  # fmt: skip
    site = site_of_runs((), plans=Plans({each.recipe: each for each in found}))
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    assert [each.recipe for each in site.plans_of(suite)] == ["d", "b", "c", "a"]


def test_a_plan_of_a_model_without_a_suite_is_on_the_page_of_its_runs() -> None:
    plan = builders.plan("a", cases=[{"devices": 8}], model="Test net 7", suite="anything")
    run = builders.run("a-1", model="Test net 7", devices=1)
    site = site_of_runs([run], plans=Plans({"a": plan}))
    assert site.plans_of(site.suite_of["a-1"]) == (plan,)


# ---- the reports' recipes ----


@pytest.fixture(scope="module")
def published() -> Any:
    return publications.read([ROOT / "raw_logs" / "published"])


@pytest.mark.parametrize("report", reports(), ids=lambda each: each.id)
def test_a_report_names_the_recipes_of_its_figures(published: Any, report: Any) -> None:
    rows = cut(report, [each for each in published.rows if each.source == report.source]).rows
    wanted = set() if report.id in WITHOUT_RECIPES else {name for row in rows for name in _recipes_of(row)}
    assert set(report.recipes) == wanted - AT_ANOTHER_COMMIT.get(report.id, set())
    assert set(report.recipes) <= set(recipes.names())
    assert len(report.recipes) == len(set(report.recipes))


def _recipes_of(row: Any) -> tuple[str, ...]:
    """Return the recipes of the first entry whose code is part of the row's code."""
    found = (
        names
        for (model, framework, code), names in COVERAGE.items()
        if (model, framework) == (row.model, row.framework) and code in row.framework_source
    )
    return next(found, ())


def test_a_report_has_the_cases_that_it_prints_and_all_where_it_prints_none(published: Any) -> None:
    site = site_of_runs((), published=published, plans=plans.found([ROOT / "raw_logs"]))
    known = {each.id: each for each in reports()}

    def row(name: str, recipe: str) -> list[list[str]]:
        rows = cut(known[name], [each for each in published.rows if each.source == known[name].source]).rows
        table = recipe_tables.of_report(site, known[name], rows)
        assert table
        (found,) = [each for each in table.rows if each[0].entries[0].text == recipe]
        return [[str(entry.text) for entry in each.entries] for each in found]

    _, (count,), commands = row("dlperf-round", "resnet50-oneflow")
    assert int(count) == 8  # 1, 8, 16 and 32 devices, FP32 at 128 and AMP at 256
    assert [re.findall(r"nodes=(\d),devices=([\d|]+)", each) for each in commands] == [
        [("1", "1|8")], [("2", "16")], [("4", "32")]
    ]  # fmt: skip
    assert row("perf-resnet50", "resnet50-paddleclas")[1] == [
        str(len(site.plans.by_recipe["resnet50-paddleclas"].cases))
    ]
    assert int(row("perf-2021", "bert-paddlenlp")[1][0]) > 0


# ---- pages ----


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PRINTED)
def test_pages_say_how_to_reproduce(real_pages: Path, page: str, language: str) -> None:
    written = page_of(real_pages, language, page)
    section = written.rpartition(REPRODUCE)[2] if REPRODUCE in written else ""
    assert [each for each in PRINTED[page] if each not in section] == []


#: The heading of how to reproduce a page.
REPRODUCE = 'id="reproduce"'


def page_of(pages: Path, language: str, page: str) -> str:
    """Return the text of a page, with signs as they are read."""
    path = pages / language / f"{page}/index.md"
    return html.unescape((path if path.is_file() else pages / language / f"{page}.md").read_text("utf-8"))


def test_every_report_with_recipes_says_how_to_reproduce_it(real_pages: Path) -> None:
    for report in reports():
        written = page_of(real_pages, "en", f"reports/{report.id}")
        assert (REPRODUCE in written) == (report.id not in WITHOUT_RECIPES), report.id
        for name in report.recipes:
            assert f"python -m runners run {name} --on " in written, (report.id, name)
