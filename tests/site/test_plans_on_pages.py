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
from perfledger.ingest.common.words import LANGUAGES, Bilingual, own
from perfledger.ingest.compute.results import results
from perfledger.ingest.published import publications
from perfledger.ingest.published.declarations import reports
from perfledger.ingest.published.slices import cut
from perfledger.ingest.read import plans
from perfledger.ingest.read.plans import Plans
from perfledger.ingest.site import report_recipes, reproduce
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.reproduce import CommandBlock
from perfledger.runners import recipes
from perfledger.schema.plans import Plan
from perfledger.schema.records import Run
from tests import builders
from tests.runners.test_recipe_sources import COVERAGE
from tests.site.conftest import ROOT

WORDS = own()
#: Reports whose code no recipe launches: Fluid 1.4, and PaddleSeg at a commit whose arguments nobody printed.
WITHOUT_RECIPES = {"fluid-guide", "perf-deeplabv3p-pending"}
#: Recipes of the code that DLPerf's other pages name; the report of the round names other commits.
AT_ANOTHER_COMMIT = {
    "dlperf-round": {"bert-ngc-pytorch-2020", "resnet50-ngc-pytorch-2020", "resnet50-pytorch-examples"}
}
MD5 = "37724b19b6e5d41f9f147936d60b3c29"
#: Per page what its section on reproducing must print.
PRINTED = {
    "reports/perf-resnet50": (
        "python -m runners run resnet50-paddleclas --on ssh:HOST1,HOST2,HOST3,HOST4 --case 'nodes=4,devices=32,",
        "--container docker --data /path/to/data", "../models/resnet50/index.md#reproduce",
        "python -m runners run resnet50-ngc-mxnet --on local",
    ),
    "models/resnet50": (
        "paddlepaddle/paddle-benchmark:2.5.0-cuda11.2-cudnn8-runtime-ubuntu16.04",
        "PaddlePaddle/PaddleClas @ 5bb2e8c", "nvcr.io/nvidia/mxnet:22.10-py3",
        "python -m runners setup resnet50-paddleclas --on local", "train/<class>/*.jpeg", "train_list.txt",
        "ppcls/configs/ImageNet/ResNet/ResNet50_amp_O2_ultra.yaml",
    ),
    "models/deeplabv3p": (MD5, "deeplabv3p-paddleseg-gpu", "deeplabv3p-mmseg"),
    "models/transformer": ("transformer-big-paddlenlp", "nvcr.io/nvidia/pytorch:22.06-py3"),
    "models/bert": ("bert-paddlenlp", "bert-oneflow", "bert-ngc-tensorflow-2020"),
}  # fmt: skip


def block_of(*found: Plan, runs: tuple[Run, ...] = ()) -> list[CommandBlock]:
    site = Site(runs, (), suites(), results, plans=Plans({each.recipe: each for each in found}))
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    return reproduce.of_suite(site, suite)


def said(text: Any, language: str = "en") -> str:
    return WORDS.say(language, text)


def test_a_plan_is_shown_with_all_of_its_cases() -> None:
    image = {"image": "example.org/torch:1", "digest": "sha256:" + "c" * 64}
    data = {"name": "ImageNet-1k", "layout": ["train/"], "address": "https://example.org/a.tar", "checksum": "md5 1"}
    source = {"repository": "example/trainer", "commit": "d" * 8, "folder": "trainer"}
    plan = builders.plan("a", image=image, data_set=data, source=source, setup=["pip install x"], packages=["torch"])
    (block,) = block_of(plan)
    beginning, end = "python -m runners run a --on", "--container docker --data /path/to/data"
    assert block.again == (
        f"{beginning} local --case nodes=1,devices=8 {end}",
        f"{beginning} ssh:HOST1,HOST2 --case nodes=2,devices=16 {end}",
    )
    assert said(block.title) == "PyTorch, recipe a (pending configurations: 2)"
    assert [said(each) for each in block.facts] == [
        "Code: example/trainer @ dddddddd",
        f"Image: example.org/torch:1@sha256:{'c' * 64}",
        "Launcher of the recipe (if it starts several ranks): torchrun",
        "Packages: torch",
        "Data: ImageNet-1k, https://example.org/a.tar, md5 1",
    ]
    assert (block.folder, block.layout, block.install) == ("/path/to/data", ("train/",), ("pip install x",))
    assert block.setup == "python -m runners setup a --on local"
    assert block.planned == tuple(each.command for each in plan.cases)
    assert (block.hosts, block.data, block.late, block.more) == (True, True, False, 0)


def test_a_plan_without_an_image_says_so_and_names_no_container() -> None:
    (block,) = block_of(builders.plan("a"))
    assert "not specified" in said(block.facts[0])
    assert "未指定" in said(block.facts[0], "zh")
    assert not any("--container" in each for each in block.again)


def test_what_every_recipe_of_a_page_says_has_chinese_and_no_more() -> None:
    found = plans.found([ROOT / "raw_logs"]).by_recipe.values()
    assert [each.recipe for each in found if not reproduce.described(each).zh] == []
    chinese = tomllib.loads((TEMPLATES / "recipes.zh.toml").read_text("utf-8"))
    said = {" ".join(text.split()) for each in found for text in (each.text, each.notes) if text}
    assert (set(chinese["title"]), set(chinese["text"])) == ({each.title for each in found}, said)


def test_notes_of_our_runs_have_chinese_and_those_of_others_stay_as_they_are() -> None:
    ours = {json.loads(path.read_bytes()).get("notes") for path in (ROOT / "raw_logs").glob("**/run.json")} - {None, ""}
    assert len(ours) > 10
    shown = [reproduce.noted(builders.run("a-1", notes=each)) for each in ours]
    assert all(isinstance(each, Bilingual) and each.en and each.zh for each in shown)
    assert reproduce.noted(builders.run("a-1", notes="Fan at full speed.")) == "Fan at full speed."


def test_a_recipe_without_chinese_is_shown_in_english() -> None:
    told = reproduce.described(builders.plan("a", title="Trainer of ours", text="Read the manual.", notes=""))
    assert (told.en, told.zh) == ("Trainer of ours. Read the manual.", "")


def test_cases_with_runs_are_not_listed_again() -> None:
    run = builders.run("a-1", devices=8, recipe={"name": "a", "case": {"nodes": "1", "devices": "8"}})
    (block,) = block_of(builders.plan("a"), runs=(run,))
    assert [shlex.split(each)[7:9] for each in block.again] == [["--case", "nodes=2,devices=16"]]
    assert block_of(builders.plan("a", cases=[{"devices": 8}]), runs=(run,)) == []


def test_no_more_cases_of_a_plan_than_a_page_can_bear() -> None:
    (block,) = block_of(builders.plan("a", cases=[{"devices": size} for size in range(1, 91)]))
    assert len(block.again) == len(block.planned) == reproduce.CASES_SHOWN
    assert block.more == 90 - reproduce.CASES_SHOWN


def test_plans_follow_the_order_of_the_suites_frameworks() -> None:
    found = [builders.plan("a", framework="JAX"), builders.plan("b", framework="NGC PyTorch"), builders.plan("c"),
             builders.plan("d", framework="PaddleClas")]  # fmt: skip
    site = Site((), (), suites(), results, plans=Plans({each.recipe: each for each in found}))
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    assert [each.recipe for each in site.plans_of(suite)] == ["d", "b", "c", "a"]


def test_a_plan_of_a_model_without_a_suite_is_on_the_page_of_its_runs() -> None:
    plan = builders.plan("a", cases=[{"devices": 8}], model="Test net 7", suite="anything")
    run = builders.run("a-1", model="Test net 7", devices=1)
    site = Site((run,), (), suites(), results, plans=Plans({"a": plan}))
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
    site = Site((), (), suites(), results, published, plans=plans.found([ROOT / "raw_logs"]))
    known = {each.id: each for each in reports()}

    def row(name: str, recipe: str) -> list[list[str]]:
        rows = cut(known[name], [each for each in published.rows if each.source == known[name].source]).rows
        table = report_recipes.recipes(site, known[name], rows)
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


@pytest.mark.parametrize(("language", "word"), [("en", "pending configurations: "), ("zh", "待测配置 ")])
def test_models_pages_count_pending_cases(real_pages: Path, language: str, word: str) -> None:
    written = page_of(real_pages, language, "models/transformer")
    assert len(re.findall(rf"<summary>[^<]*transformer-[^<]*{word}[0-9]+[^<]*</summary>", written)) == 3


def test_a_case_that_was_run_here_is_not_pending_on_its_page(real_pages: Path) -> None:
    written = page_of(real_pages, "en", "models/lenet5")
    assert "pending configurations" not in written
    assert "python -m runners run lenet5-mindspore" in written
