"""The recipes of the PyTorch workloads: what they pass is understood, and all that is imported travels along."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.job import texts
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.wrappers import CaseWords

ROOT = Path(__file__).parents[2]
NAMES = [
    name for name in recipes.names() if name.startswith(("resnet50-pytorch", "bert-pytorch")) and "examples" not in name
]


def loaded(name: str) -> LaunchRecipe:
    return recipes.load(recipes.find(name))


def imported(path: Path) -> set[str]:
    """Return the modules of `runners.workloads` that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "runners.workloads":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runners.workloads."):
            found.add((node.module or "").rpartition(".")[2])
    return found


def test_there_are_recipes_for_both_networks_and_both_devices():
    assert {(loaded(name).suite, loaded(name).device) for name in NAMES} == {
        ("resnet50", "cpu"), ("resnet50", "gpu"), ("bert", "cpu"), ("bert", "gpu"),
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_exactly_what_the_trainer_imports_travels_along(name):
    chosen = loaded(name)
    modules = {chosen.command[2].rpartition(".")[2]}
    while more := {each for module in modules for each in imported(ROOT / f"runners/workloads/{module}.py")} - modules:
        modules |= more
    assert set(chosen.files) == {"runners/__init__.py", *(f"runners/workloads/{module}.py" for module in modules)}


@pytest.mark.parametrize("name", NAMES)
def test_the_trainer_understands_every_case(name):
    pytest.importorskip("torch", reason="PyTorch is not installed; the workloads are tested where it is")
    chosen = loaded(name)
    trainer = importlib.import_module(chosen.command[2])
    for each in select_cases(chosen, {}):
        arguments = trainer.parser().parse_args(texts(CaseWords(chosen, each).trainer())[3:])
        assert (arguments.batch_size, arguments.precision) == (each.batch_size, each.precision)
        assert all(getattr(arguments, option) == value for option, value in each.options.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_for_gpus_trains_on_them_and_one_for_cpus_has_no_such_precision(name):
    chosen = loaded(name)
    assert (("--device", "cuda") in zip(chosen.command, chosen.command[1:], strict=False)) is (chosen.device == "gpu")
    precisions = {each.precision for each in select_cases(chosen, {})}
    assert precisions == ({"fp32", "tf32", "bf16", "amp"} if chosen.device == "gpu" else {"fp32", "bf16"})


@pytest.mark.parametrize("name", NAMES)
def test_every_iteration_is_a_record(name):
    assert loaded(name).records.at_least == loaded(name).iterations
