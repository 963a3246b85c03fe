"""Every recipe loads, and all its cases have a command; `tests/approved/commands.txt` has them word by word."""

from __future__ import annotations

import functools
import json
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from perfledger.parsers.contract.fact import FACTS
from perfledger.parsers.engine.registry import by_id
from perfledger.runners import recipes
from perfledger.runners.cases import RecipeCase, case_choices, framework_slug, select_cases
from perfledger.runners.job import NODE_VARIABLES, texts
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.wrappers import CaseWords
from perfledger.schema.vocabulary import OPTIONS

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "report_templates" / "suites"
NAMES = recipes.names()
#: Recipes in folders rebuild what others published; those next to the folders are our own workloads.
OF_THE_SOURCES = [name for name in NAMES if recipes.find(name).is_relative_to(recipes.FOLDER / "archive")]
#: Options that no printer states, with their meaning.
OWN_OPTIONS = {
    "loss_scale": "how the loss is scaled in half precision: none, static or dynamic",
    "data_set": "whether images are real or synthetic",
    "dataset": "which faces are trained on",
    "dataloader_workers": "processes that load data, on each machine",
    "graph_kernel_fusion": "whether MindSpore fuses kernels",
    "version": "version or commit of the trainer, where recipes of two of them share a page",
}


@functools.cache
def load(name: str) -> LaunchRecipe:
    return recipes.load(recipes.find(name))


def words(name: str, choices: str = "") -> list[str]:
    """Return the command of the one case that the choices leave, under its launcher."""
    recipe = load(name)
    (case,) = select_cases(recipe, dict(pair.split("=") for pair in choices.split(",") if pair))
    return texts(CaseWords(recipe, case, "/data").launch())


def test_there_are_recipes_in_folders():
    assert {recipes.find(name).parent.name for name in OF_THE_SOURCES} >= {"paddle", "ngc", "dlperf"}


@pytest.mark.parametrize("name", NAMES)
def test_every_case_has_a_command_and_can_be_selected(name):
    recipe = load(name)
    cases = select_cases(recipe, {})
    for case in cases:
        argv = texts(CaseWords(recipe, case, "/data").launch())
        assert all(argv)
        CaseWords(recipe, case, "/data").variables()
        assert select_cases(recipe, case_choices(recipe, case)) == [case]
    assert len({case.slug for case in cases}) == len(cases)


def test_no_two_recipes_share_the_folder_of_a_case():
    folders = Counter(
        (recipe.suite, framework_slug(recipe.framework), case.slug)
        for recipe in map(load, NAMES)
        for case in select_cases(recipe, {})
    )
    assert [folder for folder, times in folders.items() if times > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_format_of_the_records_exists(name):
    assert by_id(load(name).records.format)


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_the_suite_has_a_page_that_knows_the_model(name):
    recipe = load(name)
    suite = tomllib.loads((SUITES / f"{recipe.suite}.toml").read_text("utf-8"))
    assert recipe.model in [suite["models"][0], *(each[0] for each in suite.get("more", []))]


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_options_have_the_names_that_formats_give_them(name):
    recipe = load(name)
    for option in {*recipe.options, *recipe.tables[0]} - {"shape", "batch_size", "precision"}:
        known = OPTIONS | OWN_OPTIONS.keys() | {"accumulation"}
        assert option in known, f"{option}: use a name of schema.vocabulary.OPTIONS, or describe it in OWN_OPTIONS"


def test_own_options_are_used_and_not_facts_of_formats():
    used = {option for name in OF_THE_SOURCES for option in (*load(name).options, *load(name).tables[0])}
    assert OWN_OPTIONS.keys() <= used - FACTS.keys()


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_recipes_state_source_setup_and_repeats(name):
    recipe = load(name)
    assert recipe.repeats >= 3
    assert recipe.source.repository
    assert recipe.setup.steps or recipe.container
    assert recipe.setup.text or recipe.data.layout
    assert recipe.records.at_least <= recipe.iterations
    if recipe.source.commit:
        checkouts = [step for step in recipe.setup.steps if re.search(rf"checkout {recipe.source.commit}$", step)]
        assert len(checkouts) == 1


#: Recipes that follow a branch: that of a release, or the newest where no commit is known whose source has their
#: arguments.
MOVING = {
    "bert-ngc-tensorflow", "bert-paddle-models", "bert-tensorflow-models", "insightface-classes-oneflow",
    "insightface-r100-oneflow", "insightface-y1-oneflow", "resnet50-paddle-models", "resnet50-tensorflow-models",
    "wide-deep-oneflow-models",
}  # fmt: skip
#: How the tags begin that recipes name.
TAG = re.compile(r" --branch (?:v|core_v)\d")


def moving(steps: Sequence[str]) -> list[str]:
    """Return the folders that setup steps clone without a tag, and check out at nothing."""
    cloned = [step.rpartition(" ")[2] for step in steps if " git clone " in step and not TAG.search(step)]
    return [folder for folder in cloned if not any(step.startswith(f"git -C {folder} checkout ") for step in steps)]


def test_recipes_clone_what_does_not_move():
    assert {name for name in NAMES if moving(load(name).setup.steps)} == MOVING
    assert [name for name in MOVING if load(name).source.commit] == []


def test_recipes_of_one_folder_of_sources_fetch_the_same():
    """A folder that is there is not cloned again, so that the second recipe would run what the first one fetched."""
    fetched: dict[str, set[tuple[str, ...]]] = {}
    for name in NAMES:
        steps = load(name).setup.steps
        for folder in (step.rpartition(" ")[2] for step in steps if " git clone " in step):
            own = tuple(step for step in steps if re.search(rf"(test|git) -[dC] {re.escape(folder)} ", step))
            fetched.setdefault(folder, set()).add(own)
    assert {folder: ways for folder, ways in fetched.items() if len(ways) > 1} == {}


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_recipes_list_the_files_of_the_folder_of_data(name):
    recipe = load(name)
    if any("{data}" in word for word in (*recipe.command, *recipe.environment_variables.values())):
        assert (recipe.data.layout and recipe.data.below == "{data}") or "--data names" in recipe.setup.text


def test_the_checksum_is_that_of_the_file_at_the_address():
    stated = [load(name).data for name in NAMES if load(name).data.checksum]
    assert [(each.address.rpartition("/")[2], each.checksum) for each in stated] == [
        ("cityscapes.tar", "md5 37724b19b6e5d41f9f147936d60b3c29")
    ]


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_commands_write_nothing_but_logs_to_the_folder_of_ranks(name):
    recipe = load(name)
    for word in (*recipe.command, *recipe.environment_variables.values()):
        assert "{ranks}" not in word or word.endswith("{ranks}/paddle")


@pytest.mark.parametrize("name", [name for name in OF_THE_SOURCES if "samples_per_update" in load(name).slots])
def test_samples_per_update_are_batch_size_times_accumulation(name):
    recipe = load(name)
    for case in select_cases(recipe, {}):
        samples = case.batch_size * int(case.options["accumulation"])
        assert f"--train_batch_size={samples}" in texts(CaseWords(recipe, case, "/data").trainer())


@pytest.mark.parametrize("name", ["gpt-megatron", "gpt-oneflow"])
def test_model_parallel_cases_use_all_devices_and_whole_micro_batches(name):
    for case in select_cases(load(name), {}):
        copies, left = divmod(
            case.devices, int(case.options["tensor_parallel"]) * int(case.options["pipeline_parallel"])
        )
        assert not left
        assert case.batch_size * case.devices % (int(case.options["micro_batch"]) * copies) == 0


def commands() -> Iterator[str]:
    """Yield the command of each case of each recipe, as a shell would take it."""
    for name in NAMES:
        recipe = load(name)
        for case in select_cases(recipe, {}):
            command = shlex.join(texts(CaseWords(recipe, case, "/data").launch())).replace("\n", "\\n")
            yield f"{name} {case.slug}: {command}"


def test_commands_are_the_approved_ones(approved: Callable[[str, str], None]):
    approved("commands.txt", "\n".join(commands()) + "\n")


def test_megatrons_log_is_that_of_the_last_node():
    assert load("gpt-megatron").records.node == "last"
    assert "--redirects" not in words("gpt-megatron", "devices=32,pipeline_parallel=2")


RUNS = sorted((ROOT / "raw_logs").rglob("run.json"))


def of_recipes() -> list[tuple[Path, dict[str, Any]]]:
    runs = [(path, json.loads(path.read_text("utf-8"))) for path in RUNS]
    return [(path, run) for path, run in runs if run.get("recipe", {}).get("name") in NAMES]


def current(run: dict[str, Any]) -> bool:
    """Return whether the recipe has not changed since the run."""
    return load(run["recipe"]["name"]).sha256 == run["recipe"]["sha256"]


def test_recorded_runs_agree_with_their_recipes():
    assert RUNS
    runs = [(path, run) for path, run in of_recipes() if current(run)]
    if not runs:
        pytest.skip("no run in raw_logs is of a recipe as it stands now")
    for path, run in runs:
        recipe = load(run["recipe"]["name"])
        (case,) = select_cases(recipe, run["recipe"]["case"])
        assert stated(run["case"]) == facts(case), path
        if "container" not in run["recipe"]:
            assert run["argv"] == texts(CaseWords(recipe, case).launch()), path


def stated(case: dict[str, Any]) -> dict[str, Any]:
    return {key: case[key] for key in ("nodes", "devices", "batch_size", "precision", "options")}


def facts(case: RecipeCase) -> dict[str, Any]:
    return stated(structs.asdict(case))


def test_commands_contain_no_unknown_names_in_braces():
    for name in NAMES:
        recipe = load(name)
        for word in texts(CaseWords(recipe, select_cases(recipe, {})[0], "/data").trainer()):
            assert set(re.findall(r"(?<!\$)\{([a-z_]+)\}", word)) <= set(NODE_VARIABLES), (name, word)
