"""What is written about runners: every command shown can be given, and all that a recipe can say is named."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ingest.site import reproduce
from runners import commands
from runners.cases import recipe
from runners.cases.case import choose
from runners.cases.matrix import DERIVED
from runners.cases.parts import LAUNCHERS
from runners.cli import main
from runners.command.argv import LATE
from runners.command.script import Settings
from runners.runs.beforehand import plan
from runners.runs.plan import order
from tests.runners.home import ROOT

PAGES = ROOT / "report_templates/pages"
#: The same document in both languages.
PAIRS = {
    "readme": (ROOT / "README.md", ROOT / "README.zh.md"),
    "page": (PAGES / "running.en.md.j2", PAGES / "running.zh.md.j2"),
}
DOCUMENTS = (ROOT / "runners/README.md", *(path for pair in PAIRS.values() for path in pair))
README = (ROOT / "runners/README.md").read_text("utf-8")
TABLES = ("launcher", "records", "options", "slots", "environment_variables", "files", "container", "setup", "source")
INNER = [
    "always",
    "arguments",
    "node",
    "shape",
    "by",
    "digest",
    "python",
    "packages",
    "steps",
    "text",
    "repository",
    "commit",
    "folder",
]


def shown(path: Path) -> list[list[str]]:
    """The words behind `python -m runners` of each line of a document's blocks, comments left out."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("python -m runners")]
    assert lines, f"{path}: no command is shown"
    return [shlex.split(line, comments=True)[3:] for line in lines]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_shown_can_be_given(path, capsys, tmp_path, monkeypatch):
    # These two would do something: that their arguments are understood is all that can be tried.
    for name in ("set_up", "collect"):
        monkeypatch.setattr(commands, name, lambda _options: 0)
    for words in shown(path):
        harmless = ["--dry-run", "--raw-logs", str(tmp_path / "raw")] if words[0] == "run" else []
        assert main([*words, *harmless]) == 0, words
    assert not (tmp_path / "raw").exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_languages_show_the_same_commands(pair):
    english, chinese = map(shown, pair)
    assert english == chinese


def test_all_that_a_recipe_can_say_is_shown_in_one_that_can_be_read(tmp_path):
    (block,) = re.findall(r"^```toml\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    path = tmp_path / "shown.toml"
    path.write_text(block, "utf-8")
    assert recipe.load(path).launcher.name == "torchrun"
    for key in {*recipe.REQUIRED, *recipe.OPTIONAL} - {*TABLES, "matrix"}:
        assert re.search(rf"^{key} = ", block, re.MULTILINE), key
    for table in TABLES:
        assert re.search(rf"^\[{table}\]", block, re.MULTILINE), table
    for key in INNER:
        assert re.search(rf"^(?:# )?{key} = ", block, re.MULTILINE), key


def test_every_slot_and_launcher_is_named():
    _, _, words = README.partition("## A recipe")
    for name in (*LATE, *DERIVED):
        assert f"{{{name}}}" in words, name
    for launcher in LAUNCHERS:
        assert f"`{launcher}`" in words, launcher


def test_every_option_of_run_is_told_about(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    options = set(re.findall(r"(--[a-z-]+)", capsys.readouterr().out)) - {"--help", "--account"}
    assert len(options) > 10
    for option in sorted(options):
        assert option in README, option


@pytest.mark.parametrize("name", recipe.names())
def test_what_a_page_shows_to_make_a_case_again_makes_that_case(name, capsys, tmp_path):
    chosen = recipe.load(recipe.find(name))
    cases = choose(chosen, {})
    for case, tool in ((cases[0], "none"), (cases[-1], "apptainer" if chosen.container else "none")):
        run = order(chosen, [case], 1, tmp_path)[0]
        told = json.loads(json.dumps(plan(run, Settings(container=tool, data="/data"), "")))
        words = shlex.split(reproduce.command(told))
        assert main([*words[3:], "--repeats", "1", "--raw-logs", str(tmp_path), "--dry-run"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if line.startswith("[")] == [f"[1/1] {run.folder}"]
