"""The documents on runners: every command shown works, and every key of a recipe and every option is described."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest
from msgspec import Struct

from perfledger.ingest.site import reproduce
from perfledger.runners import cli, recipe, site
from perfledger.runners.cli import main
from perfledger.runners.command import Settings, build_run
from perfledger.runners.job import NODE_VARIABLES, PlannedRecord
from perfledger.runners.recipe import DERIVED, RecipeFile, select_cases
from perfledger.runners.site import SitePlace
from perfledger.schema.records import Run, SiteRecord, from_json
from perfledger.schema.vocabulary import LAUNCHERS, PRECISIONS
from tests.runners.home import ROOT

PAGES = ROOT / "report_templates/pages"
#: The same document in both languages.
PAIRS = {
    "guide": (ROOT / "docs/guide/benchmarks.md", ROOT / "docs/guide/benchmarks.zh.md"),
    "page": (PAGES / "running.en.md.j2", PAGES / "running.zh.md.j2"),
    "submitting": (PAGES / "submitting.en.md.j2", PAGES / "submitting.zh.md.j2"),
}
DOCUMENTS = (ROOT / "runners/README.md", *(path for pair in PAIRS.values() for path in pair))
README = (ROOT / "runners/README.md").read_text("utf-8")


def shown(path: Path) -> list[list[str]]:
    """Return the words behind `python -m runners` of each line of a document's blocks, without comments."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [
        line
        for kind, block in blocks
        if kind in ("", "sh")
        for line in block.splitlines()
        if line.startswith("python -m runners")
    ]
    assert lines, f"{path}: no command is shown"
    return [shlex.split(line, comments=True)[3:] for line in lines]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_the_documents_works(path, capsys, tmp_path, monkeypatch):
    # These would do something: all that can be tried is that their arguments are understood.
    monkeypatch.setattr(cli, "set_up", lambda *_: None)
    monkeypatch.setattr(cli, "_unfinished", lambda _: [])
    monkeypatch.setenv("HF_TOKEN", "exported in the line before")
    monkeypatch.setattr(cli, "_check", lambda *_: 0)
    for words in shown(path):
        harmless = {"run": ["--dry-run", "--raw-logs", str(tmp_path / "raw")], "export": ["--to", str(tmp_path)]}
        assert main([*words, *harmless.get(words[0], [])]) == 0, words
    assert not (tmp_path / "raw").exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_languages_show_the_same_commands(pair):
    english, chinese = map(shown, pair)
    assert english == chinese


def shown_toml(section: str) -> str:
    """Return the one block of TOML in a section of the README."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    (block,) = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return str(block)


def test_the_site_shown_has_every_key_and_can_be_loaded(tmp_path):
    path = tmp_path / "shown.toml"
    path.write_text(shown_toml("Sites"), "utf-8")
    places = site.load(path).places.values()
    for name in SitePlace.__struct_fields__:
        assert any(getattr(place, name) != getattr(SitePlace(), name) for place in places), name
    for name in SiteRecord.__struct_fields__:
        assert f"`{name}`" in README, name


def test_the_recipe_shown_has_every_key_and_can_be_loaded(tmp_path):
    block = shown_toml("A recipe")
    path = tmp_path / "shown.toml"
    path.write_text(block, "utf-8")
    assert recipe.load(path).launcher.name == "torchrun"
    for name, hint in get_type_hints(RecipeFile).items():
        assert re.search(rf"^\[?\[?{name}\b", block, re.MULTILINE), name
        structs = [each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, Struct)]
        for key in (key for struct in structs for key in struct.__struct_fields__):
            assert re.search(rf"^(?:# )?{key} = ", block, re.MULTILINE), f"{name}.{key}"
    for key in ("shape", "by"):
        assert re.search(rf"^{key} = ", block, re.MULTILINE), key


def test_every_slot_and_launcher_is_named():
    _, _, words = README.partition("## A recipe")
    for name in (*NODE_VARIABLES, *DERIVED):
        assert f"{{{name}}}" in words, name
    for launcher in LAUNCHERS:
        assert f"`{launcher}`" in words, launcher
    assert f"of {', '.join(PRECISIONS)}" in words
    assert ", ".join(f"`{precision}`" for precision in PRECISIONS) in README


def test_every_option_of_run_is_described(capsys):
    assert main(["run", "--help"]) == 0
    options = set(re.findall(r"(--[a-z-]+)", capsys.readouterr().out)) - {"--help", "--account"}
    assert len(options) > 10
    for option in sorted(options):
        assert option in README, option


def as_ingest_reads(record: PlannedRecord) -> Run:
    document = msgspec.to_builtins(record)
    return from_json({"path": "train.log", "sha256": "", "case": document["case"], "recipe": document["recipe"]}, Run)


@pytest.mark.parametrize("name", recipe.names()[::4])
def test_the_command_that_a_page_shows_gives_its_case_again(name, capsys, tmp_path):
    chosen = recipe.load(recipe.find(name))
    cases = select_cases(chosen, {})
    for case, tool in ((cases[0], "none"), (cases[-1], "apptainer" if chosen.container else "none")):
        run = build_run(chosen, case, tmp_path, Settings(container=tool, data="/data"))
        words = shlex.split(reproduce.command(as_ingest_reads(run.record)))
        assert main([*words[3:], "--repeats", "1", "--raw-logs", str(tmp_path), "--dry-run"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if line.startswith("[")] == [f"[1/1] {run.folder}"]
