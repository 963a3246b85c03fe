"""Plans of recipes: what `export` writes, and that the committed ones are what the recipes say."""

from __future__ import annotations

import shlex

import pytest

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import main
from perfledger.runners.cli.export import document, plan_of
from perfledger.schema.plans import EXAMPLE_DATA, Plan
from perfledger.schema.records import from_text
from perfledger.schema.redaction.redact import redact_record
from tests.runners.home import ROOT

COMMITTED = ROOT / "raw_logs" / "plans"


def test_the_committed_plans_are_those_of_the_recipes(tmp_path):
    assert main(["export", "--to", str(tmp_path)]) == 0
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {f"{name}.json" for name in recipes.names()}
    stale = [name for name in written if not _is_committed(name, written[name])]
    assert stale == [], "run `make plans`"
    assert {path.name for path in COMMITTED.iterdir()} == set(written), "remove the plans of recipes that are gone"


def _is_committed(name: str, content: bytes) -> bool:
    path = COMMITTED / name
    return path.is_file() and path.read_bytes() == content


@pytest.mark.parametrize("name", recipes.names())
def test_a_plan_has_every_case_and_the_choices_that_give_it_again(name):
    recipe = recipes.load(recipes.find(name))
    plan = from_text((COMMITTED / f"{name}.json").read_bytes(), Plan)
    assert len(plan.cases) == len(select_cases(recipe, {}))
    for each in plan.cases:
        (case,) = select_cases(recipe, each.choices)
        found = (case.nodes, case.devices, case.batch_size, case.precision, case.options)
        assert found == (each.nodes, each.devices, each.batch_size, each.precision, each.options)
        assert shlex.split(each.command)
        assert (EXAMPLE_DATA in each.command) == each.data
    assert redact_record(plan) == plan


def test_a_recipe_of_the_users_own_is_written_by_its_path(tmp_path, capsys):
    source = recipes.find("lenet5-mindspore")
    own = tmp_path / "mine.toml"
    own.write_text(source.read_text("utf-8").replace('"../', f'"{source.parent.parent}/'), "utf-8")
    (tmp_path / "locks").symlink_to(source.parent / "locks")
    assert main(["export", str(own), "lenet5-mindspore", "--to", str(tmp_path / "plans")]) == 0
    assert capsys.readouterr().out.split() == [
        str(tmp_path / "plans" / f"{name}.json") for name in ("mine", "lenet5-mindspore")
    ]


def test_a_folder_that_is_a_file_is_refused(tmp_path, capsys):
    folder = tmp_path / "plans"
    folder.write_text("", "utf-8")
    assert main(["export", "lenet5-mindspore", "--to", str(folder)]) == 2
    assert f"{folder}: it cannot be written" in capsys.readouterr().err


def test_equal_recipes_give_equal_bytes():
    recipe = recipes.load(recipes.find("bert-oneflow"))
    assert document(plan_of(recipe)) == document(plan_of(recipe))
