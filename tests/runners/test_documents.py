"""The documents on runners: the commands and recipes shown work, and each key and option is described."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from perfledger.ingest.site import reproduce
from perfledger.runners import recipes, settings
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import check, collect, main, setup
from perfledger.runners.command import plan_run
from perfledger.runners.job import PlannedRecord
from perfledger.runners.settings import Settings
from perfledger.schema.records import Run, from_json
from perfledger.schema.vocabulary import LAUNCHERS
from tests import key_tables
from tests.runners.home import ROOT

PAGES = ROOT / "report_templates/pages"
#: The same document in both languages.
PAIRS = {
    "guide": (ROOT / "docs/guide/benchmarks.md", ROOT / "docs/guide/benchmarks.zh.md"),
    "page": (PAGES / "running.en.md.j2", PAGES / "running.zh.md.j2"),
    "submitting": (PAGES / "submitting.en.md.j2", PAGES / "submitting.zh.md.j2"),
}
DOCUMENTS = (ROOT / "runners/README.md", *(path for pair in PAIRS.values() for path in pair))
GUIDE = ROOT / "docs/guide"
README_PATH = ROOT / "runners/README.md"
README = README_PATH.read_text("utf-8")
#: Prints as nanoGPT does; no two logs are the same, or they would count once.
TRAINER = """import random, sys
count = int(next(each for each in sys.argv if "--max_iters=" in each).partition("=")[2])
print("tokens per iteration will be: 8,192")
for step in range(count + 1):
    print(f"iter {step}: loss 4.1234, time {100 + random.random():.2f}ms, mfu -100.00%")
"""


def shown(path: Path) -> list[list[str]]:
    """Return the words after `python -m runners` of each line of a document's blocks, without comments."""
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
    monkeypatch.setattr(setup, "set_up", lambda *_: None)
    monkeypatch.setattr(collect, "unfinished", lambda _: [])
    monkeypatch.setenv("HF_TOKEN", "exported in the line before")
    monkeypatch.setattr(check, "check_hosts", lambda *_: 0)
    for words in shown(path):
        # Of `run`, `plan` has all options but this one.
        tried = ["plan", *(word for word in words[1:] if word != "--resume")] if words[0] == "run" else words
        harmless = {"plan": ["--raw-logs", str(tmp_path / "raw")], "export": ["--to", str(tmp_path)]}
        assert main([*tried, *harmless.get(tried[0], [])]) == 0, words
    assert not (tmp_path / "raw").exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_languages_show_the_same_commands(pair):
    english, chinese = map(shown, pair)
    assert english == chinese


def shown_toml(path: Path, begins_with: str) -> str:
    """Return the block of TOML in a document whose first line begins with this."""
    (block,) = re.findall(
        rf"^```toml\n({re.escape(begins_with)}.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return str(block)


@pytest.mark.parametrize("page", ["recipes.md", "recipes.zh.md"])
def test_the_site_shown_can_be_loaded(page, tmp_path):
    path = tmp_path / "shown.toml"
    path.write_text(shown_toml(GUIDE / page, "[hosts.gpu1]"), "utf-8")
    assert settings.find_site(str(path)).hosts


@pytest.mark.parametrize(("page", "language"), key_tables.PAGES.items())
def test_tables_of_keys_are_those_of_the_types(page, language):
    text = (GUIDE / page).read_text("utf-8")
    assert "<!-- keys: " in text
    assert key_tables.with_tables(text, language) == text, "run python -m tests.key_tables"


@pytest.mark.parametrize("table", [*key_tables.FILES, "slot"])
def test_each_key_has_a_meaning_and_each_meaning_a_key(table):
    assert set(key_tables.meanings()[table]) == set(key_tables.names(table)), "mend docs/guide/keys.toml"


@pytest.mark.parametrize("page", ["recipes.md", "recipes.zh.md"])
def test_each_launcher_is_named(page):
    text = (GUIDE / page).read_text("utf-8")
    assert [name for name in LAUNCHERS if f"`{name}`" not in text] == []


def test_the_first_run_gives_a_result(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAINER, "utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    first, *ours = (shlex.split(line.removeprefix("$ "), comments=True) for line in block.splitlines())
    assert first[-2:] == [">", "train.log"]
    Path("train.log").write_bytes(
        subprocess.run([sys.executable, *first[1:-2]], capture_output=True, check=True).stdout
    )
    draft, smoke, measure = (words[3:] for words in ours if words[2] == "runners")
    assert main(draft) == 0
    text = Path("train.toml").read_text("utf-8")
    for key, answer in (("model", "Toy"), ("framework", "Toy"), ("precision", "fp32")):
        text = text.replace(f'{key} = ""', f'{key} = "{answer}"')
    Path("train.toml").write_text(text, "utf-8")
    for words in (smoke, measure):
        assert main([*words, "--if-busy", "count"]) == 0
    assert re.search(r"^toy/cpu-n1d1-bs8-fp32 +5 .* tokens/s ", capsys.readouterr().out, re.MULTILINE)


def test_the_first_recipe_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('device = "cpu"\n' + shown_toml(README_PATH, "suite = "), "utf-8")
    Path("nanoGPT").mkdir()
    Path("nanoGPT/train.py").write_text(TRAINER, "utf-8")
    assert main(["run", "mine.toml", "--smoke", "--if-busy", "run", "--case", "batch_size=8"]) == 0
    (found,) = Path("raw_logs/gpt2/pytorch").glob("cpu-n1d1-bs8-bf16/1/run.json")
    assert json.loads(found.read_text("utf-8"))["records"]["format"] == "frameworks.nanogpt"


def test_every_option_of_run_is_described(capsys):
    assert main(["run", "--help"]) == 0
    options = set(re.findall(r"(--[a-z-]+)", capsys.readouterr().out)) - {"--help", "--account"}
    assert len(options) > 10
    for option in sorted(options):
        assert option in README, option


def as_ingest_reads(record: PlannedRecord) -> Run:
    document = msgspec.to_builtins(record)
    return from_json({"path": "train.log", "sha256": "", "case": document["case"], "recipe": document["recipe"]}, Run)


@pytest.mark.parametrize("name", recipes.names()[::4])
def test_the_command_that_a_page_shows_gives_its_case_again(name, capsys, tmp_path):
    chosen = recipes.load(recipes.find(name))
    cases = select_cases(chosen, {})
    for case, tool in ((cases[0], "none"), (cases[-1], "apptainer" if chosen.container else "none")):
        run = plan_run(chosen, case, tmp_path, Settings(container=tool, data="/data"))
        words = shlex.split(reproduce.command(as_ingest_reads(run.record)))
        assert main(["plan", *words[4:], "--repeats", "1", "--raw-logs", str(tmp_path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if line.startswith("[")] == [f"[1/1] {run.folder}"]
