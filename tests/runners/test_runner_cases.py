"""Recipes, cases, folders and the order of runs: strings and tables only."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners import recipe
from runners.case import choose, command, environment_variables, fill, slugged
from runners.errors import RunnerError
from runners.plan import order


@pytest.fixture
def tiny(write_recipe):
    return recipe.load(write_recipe('echo "$1"', batches="1, 2"))


def test_there_are_recipes_and_each_can_be_launched():
    assert recipe.names()
    for name in recipe.names():
        chosen = recipe.load(recipe.find(name))
        for case in choose(chosen, {}):
            assert command(chosen, case)[0] == "python"
            assert environment_variables(chosen, case)["OMP_NUM_THREADS"] == "1"
        assert all(path.is_file() for path in chosen.files.values())


def test_cases_of_a_shipped_recipe():
    chosen = recipe.load(recipe.find("resnet50_pytorch_cpu"))
    assert [case.slug for case in choose(chosen, {})] == [
        "cpu-n1d1-bs8-fp32", "cpu-n1d1-bs16-fp32", "cpu-n1d1-bs8-bf16", "cpu-n1d1-bs16-bf16",
    ]  # fmt: skip
    (case,) = choose(chosen, {"batch_size": "16", "precision": "fp32"})
    assert command(chosen, case)[:7] == [
        "python", "-m", "runners.workloads.resnet50_pytorch", "--batch-size", "16", "--precision", "fp32",
    ]  # fmt: skip
    assert case.options == {"image_size": 64, "threads": 1}


def test_a_chosen_option_names_the_folder_and_iterations_do_not(tiny):
    (case,) = choose(tiny, {"batch_size": "2", "word": "other", "iterations": "9"})
    assert case.slug == "cpu-n1d1-bs2-fp32-word-other"
    assert case.options == {"word": "other", "threads": 1}


@pytest.mark.parametrize("value", ["a b", "a/b", "../..", "$(touch x)", "a-b", "a_b", "A-b", "", "."])
def test_any_value_makes_a_folder_of_its_own(value):
    others = {"a b", "a/b", "../..", "$(touch x)", "a-b", "a_b", "A-b", "", "."} - {value}
    slug = slugged(value)
    assert recipe.SLUG.fullmatch(slug)
    assert slug not in {slugged(other) for other in others}


def test_slots():
    chosen = recipe.load(recipe.find("resnet50_pytorch_cpu"))
    assert fill(chosen, "{{x}} ${{y}} {batch_size}", {"batch_size": 8}) == "{x} ${y} 8"
    assert fill(chosen, "{flag}", {"flag": True}) == "true"
    with pytest.raises(RunnerError, match=r"the slot \{lr\}.*has no value"):
        fill(chosen, "--lr {lr}", {"batch_size": 8})


def test_repeats_are_interleaved_over_the_cases(tiny):
    runs = order(tiny, choose(tiny, {}), 2, Path("raw"))
    assert [str(run.folder) for run in runs] == [
        "raw/tiny/bash/cpu-n1d1-bs1-fp32/1",
        "raw/tiny/bash/cpu-n1d1-bs2-fp32/1",
        "raw/tiny/bash/cpu-n1d1-bs1-fp32/2",
        "raw/tiny/bash/cpu-n1d1-bs2-fp32/2",
    ]


def test_a_folder_that_is_there_keeps_its_number(tiny, tmp_path):
    for taken in ("1", "7", "notes"):
        (tmp_path / "tiny/bash/cpu-n1d1-bs1-fp32" / taken).mkdir(parents=True)
    runs = order(tiny, choose(tiny, {}), 2, tmp_path)
    assert [run.repeat for run in runs] == [8, 1, 9, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("suite", "suit"), "the key `suite` is missing"),
        (('title = "', 'colour = "red"\ntitle = "'), "`colour` is no key of a recipe"),
        (("iterations = 3", "iterations = 0"), "`iterations` is 0, but must be at least 1"),
        (("iterations = 3", "iterations = true"), "`iterations` is True, but must be of type int"),
        (('suite = "tiny"', 'suite = "../up"'), "`suite` is '../up', but names a folder"),
        (("batch_size = [1, 2]", "batch_size = []"), "`matrix.batch_size` is missing or empty"),
        (("batch_size = [1, 2]", "batch_size = [[1]]"), "`matrix.batch_size` holds [1]"),
        (("OMP_NUM_THREADS", '"A B"'), "is no name of an environment variable"),
        (('command = ["bash"', 'command = [1, "bash"'), "`command` must be a list of words"),
        (("title", "title title"), "this recipe cannot be read"),
    ],
)
def test_what_is_wrong_with_a_recipe_is_said_with_its_path(write_recipe, change, said):
    path = write_recipe("true", batches="1, 2")
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace(*change, 1), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(RunnerError) as error:
        recipe.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (
            {"colour": "red"},
            "no key 'colour' to choose by; it has nodes, devices, iterations, word, threads, batch_size",
        ),
        ({"batch_size": "many"}, "batch_size='many' must be a whole number, like its 1"),
        ({"batch_size": "0"}, "batch_size=0 must be a whole number from 1"),
        ({"precision": "int8"}, "precision='int8' is unknown; it is one of fp32, tf32, amp, fp16, bf16"),
    ],
)
def test_a_choice_that_a_recipe_does_not_have(tiny, choice, said):
    with pytest.raises(RunnerError) as error:
        choose(tiny, choice)
    assert said in str(error.value)
