"""`new-suite NAME` writes a valid file, and lists the texts that a person still has to write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from perfledger import TOP
from perfledger.ingest import new_suite
from perfledger.ingest.common import suites
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.words import LANGUAGES, own
from perfledger.ingest.site import model
from perfledger.schema.records import Run, text_of
from tests import builders


def run(model: str | None, framework: str = "PyTorch", unit: str = "images/s", **options: Any) -> Run:
    made = builders.run("a", framework=framework, unit=unit, options=options)
    return builders.edited(made, case={"model": model})


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Write runs of a model without a suite in three spellings, of another such model, and of one with a suite."""
    folder = tmp_path / "runs"
    folder.mkdir()
    made = [
        run("VGG-16", image_size=224, threads=2), run("VGG-16", image_size=64), run("VGG 16", "PaddleClas"),
        run("AlexNet"), run("ResNet-50 v1.5", "MXNet"), run(None),
    ]  # fmt: skip
    (folder / "a.jsonl").write_text("".join(text_of(each) + "\n" for each in made) + "not json\n[]\n", "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the suites before the new one."""
    found = tmp_path / "suites"
    found.mkdir()
    (found / "first.toml").write_text('title = { en = "First", zh = "甲" }\norder = 70\nmodels = ["First"]\n', "utf-8")
    (found / "last.toml").write_text('title = { en = "Last", zh = "乙" }\norder = 999\nmodels = ["Last"]\n', "utf-8")
    return found


def test_the_file_has_names_and_words_of_the_models_runs(ledger: Path, folder: Path) -> None:
    said = new_suite.create("vgg16", ledger, folder)
    made = {each.id: each for each in model.suites(folder)}["vgg16"]
    assert (made.title.en, made.title.zh) == ("VGG-16", "VGG-16")
    assert made.models == ("VGG-16",)
    assert suites.suite_file(folder / "vgg16.toml").data.models == ("VGG-16", "VGG 16")
    assert made.frameworks == ("PyTorch", "PaddleClas")
    assert made.unit == "images/s"
    assert made.row_options == ("image_size", "threads"), "as in the suites of the same unit"
    assert made.order == 80, "behind the others, save those that stand at the end on purpose"
    assert "3 runs of VGG-16 (PyTorch, PaddleClas)" in said
    assert "AlexNet" not in said


def test_words_of_logs_are_declared_with_their_format(tmp_path: Path, folder: Path) -> None:
    """Otherwise the runs would stay on a separate page."""
    stated = [{"model": {"value": each, "source": "log", "where": "line 1"}} for each in ("VGG-16", "vgg16")]
    said = [builders.edited(run(each["model"]["value"]), format="a.b", facts=each) for each in stated]
    (tmp_path / "a.jsonl").write_text("".join(text_of(each) + "\n" for each in [*said, run("VGG 16")]), "utf-8")
    new_suite.create("vgg16", tmp_path, folder)
    made = suites.suite_file(folder / "vgg16.toml").data
    assert made.printed == {"a.b": {"VGG-16": "VGG-16", "vgg16": "VGG-16"}}


def test_without_runs_a_file_is_written_and_names_models_without_a_suite(ledger: Path, folder: Path) -> None:
    said = new_suite.create("squeeze-net", ledger, folder)
    made = {each.id: each for each in model.suites(folder)}["squeeze-net"]
    assert made.models == ("squeeze-net",)
    assert "no run of this model was found" in said
    assert "Runs without a suite: VGG-16, VGG 16, AlexNet" in said
    assert "models/squeeze-net/" in said


def test_the_file_explains_every_key_of_a_suite(tmp_path: Path, folder: Path) -> None:
    new_suite.create("squeeze-net", tmp_path, folder)
    lines = (folder / "squeeze-net.toml").read_text("utf-8").splitlines()
    for key in [
        *(set(suites.SuiteFile.__struct_fields__) - {"words"}),
        *suites.SuiteWords.__struct_fields__,
    ]:
        at = next(number for number, line in enumerate(lines) if re.match(rf"(# )?{key} = ", line))
        assert lines[at - 1].startswith("# "), key
    assert lines[lines.index("[words]") - 1].startswith("# ")


def test_missing_words_are_listed_by_line_until_they_are_written(tmp_path: Path, folder: Path) -> None:
    new_suite.create("squeeze-net", tmp_path, folder)
    path = folder / "squeeze-net.toml"
    text = path.read_text("utf-8")
    lines = text.splitlines()
    wanted = []
    for key in new_suite.OWN_WORDS:
        at = next(number for number, line in enumerate(lines, 1) if line.startswith(f"{key} = "))
        wanted.append(f"{path}:{at}: words.{key} is as new-suite wrote it (en, zh); write your own")
    assert new_suite.unfilled(sorted(folder.glob("*.toml"))) == wanted
    entry = own().entries["suite.summary"]
    path.write_text(text.replace(entry["en"], "Image classification."), "utf-8")
    assert new_suite.unfilled(sorted(folder.glob("*.toml")))[0].endswith(
        "words.summary is as new-suite wrote it (zh); write your own"
    )
    for key in new_suite.OWN_WORDS:
        for language in LANGUAGES:
            text = text.replace(own().entries[f"suite.{key}"][language], f"{key} {language}")
    path.write_text(text, "utf-8")
    assert new_suite.unfilled(sorted(folder.glob("*.toml"))) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("VGG 16!", "small letters and digits.*for example new-suite vgg-16"),
        ("", "small letters and digits"),
        ("../etc", "small letters and digits.*for example new-suite etc"),
        ("-x", "for example new-suite x"),
        ("a--b", "small letters and digits"),
        ("网络", "small letters and digits"),
        ("x" * 61, "at most 60"),
        ("model-vgg-16", "other pages.*for example new-suite vgg-16"),
        ("index", "other pages"),
        ("other", "other pages"),
        ("first", "first.toml is there already; edit it"),
        ("rn-50", "resnet50.toml compares ResNet-50 v1.5 already"),
    ],
)
def test_an_unusable_name_is_refused_with_a_remedy(tmp_path: Path, folder: Path, name: str, message: str) -> None:
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=message):
        new_suite.create(name, tmp_path, folder)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_call_after_the_command_lists_missing_words(
    ingest: Any, ledger: Path, folder: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "SUITES", folder)
    monkeypatch.setattr(new_suite.create, "__defaults__", (folder,))
    monkeypatch.setattr(new_suite.unfilled, "__defaults__", (folder,))
    out = tmp_path / "out"
    done = ingest("new-suite", "squeeze-net", "--out", out)
    assert (done.code, done.err) == (0, "")
    assert (folder / "squeeze-net.toml").is_file()
    again = ingest("new-suite", "squeeze-net", "--out", out)
    assert again.code == 2
    assert again.err.startswith("ingest: new-suite squeeze-net: ")
    said = ingest(tree, "--json")
    assert said.err.count("squeeze-net.toml:") == len(new_suite.OWN_WORDS)
    assert not any("squeeze-net" in each for each in said.out.splitlines())


def test_a_new_suite_is_written_to_the_users_project_or_to_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOP)
    assert new_suite.place() == suites.SUITES
    (tmp_path / "perfledger.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert new_suite.place() == tmp_path / "suites"
