"""The ledger: which logs are read again, which files are written, and lost files, which only cost time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import made_runs
import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, make_tree, snapshot, write_run

from perfledger.ingest.cli import main
from perfledger.ingest.common.words import Words
from perfledger.ingest.record import folders, ledger, run
from perfledger.ingest.record.identity import identify
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.pages import log as log_pages
from perfledger.ingest.site.render import jinja
from perfledger.schema.records import Run

Ingest = Callable[..., Called]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build the site of the good tree once, and return the folder with logs, site and cache, and a copy of it."""
    top = tmp_path_factory.mktemp("built") / "work"
    assert main([str(make_tree(top / "logs")), "--out", str(top / "docs")]) == 0
    return top, Path(shutil.copytree(top, top.with_name("copy")))


@pytest.fixture
def tree(built: tuple[Path, Path]) -> Path:
    """Return the good tree with its site in `docs`, at the path where it was read, since the cache contains paths."""
    top, copy = built
    shutil.rmtree(top)
    shutil.copytree(copy, top)
    return top / "logs"


@pytest.fixture
def out(tree: Path) -> Path:
    """Return the site of the good tree."""
    return tree.parent / "docs"


@pytest.fixture
def read_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Return a function that lists the logs that any process read since its last call."""
    notes, real = tmp_path / "read", run.read
    notes.touch()

    def noted(path: Path) -> object:
        with notes.open("a") as stream:
            stream.write(f"{path.parent.parent.name}/{path.parent.name}\n")
        return real(path)

    monkeypatch.setattr(run, "read", noted)
    return lambda: notes.read_text().split()


def shard(out: Path, case: str) -> Path:
    return out / "data" / "runs" / f"seg-paddleseg-{case}.jsonl"


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(each) for each in path.read_text().splitlines()]


def test_a_second_call_reads_no_log_and_touches_no_file(
    tree: Path, out: Path, ingest: Ingest, read_logs: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "content", lambda *_: pytest.fail("a file of the ledger was encoded again"))
    before = snapshot(out)
    called = ingest(tree, "--out", out)
    assert called.code == 0
    assert "0 files written" in called.out
    assert "0 logs read" in called.out
    assert read_logs() == []
    assert snapshot(out) == before


def test_pages_are_the_same_from_logs_and_from_the_cache(tmp_path: Path, ingest: Ingest) -> None:
    """The keys of a run.json have any order, and those of the ledger are sorted."""
    case = {"precision": "fp32", "nodes": "1", "threads": "1", "devices": "1", "batch_size": "16"}
    variables = {"TITLE": "a b", "OMP_NUM_THREADS": "1"}
    recipe = {**made_runs.RECIPE, "case": case}
    made_runs.write(tmp_path / "logs/a/b/c/1", recipe=recipe, environment_variables=variables)
    cold, warm = tmp_path / "cold", tmp_path / "warm"
    ingest(tmp_path / "logs", "--out", cold)
    ingest(tmp_path / "logs", "--out", warm)
    # Without pages, all pages are rendered again, and no log is read.
    for page in warm.rglob("*.md"):
        page.unlink()
    assert "0 logs read" in ingest(tmp_path / "logs", "--out", warm).out
    assert contents(warm) == contents(cold)
    page = (warm / "en/runs/a-b-c-1.md").read_text("utf-8")
    assert "--case nodes=1,devices=1,batch_size=16,precision=fp32,threads=1" in page


def test_one_changed_log_rewrites_its_shard_and_its_pages(
    tree: Path, out: Path, ingest: Ingest, read_logs: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(out)
    rendered = set[str]()
    render = jinja.rendered
    monkeypatch.setattr(jinja, "rendered", lambda words, page: (rendered.add(page.path), render(words, page))[1])
    write_run(tree, "seg/paddleseg/bs2/1", seg([2.0] * 2 + [11.0] * 10, batch=2), run=run_json(batch_size=2, repeat=1))
    assert ingest(tree, "--out", out).code == 0
    after = snapshot(out)
    assert after.keys() == before.keys()
    changed = {name for name in after if after[name] != before[name]}
    assert {each for each in changed if each.startswith("data/runs/")} == {"data/runs/seg-paddleseg-bs2.jsonl"}
    assert len([each for each in changed if each.startswith("data/badges/")]) == 1
    assert set(read_logs()) == {"bs2/1", "bs2/2"}
    pages = {each for each in changed if each.endswith(".md")}
    assert any("/runs/" in each and "bs2-1" in each for each in pages)
    assert not any("/runs/" in each and ("bs4" in each or "fast" in each) for each in pages), pages
    untouched = {each for each in after if each.endswith(".md")} - pages
    assert any("/models/fastscnn" in each for each in untouched), sorted(untouched)
    assert any(each.startswith("runs/") and "bs2-1" in each for each in rendered)
    assert not any("bs4" in each or "fast" in each for each in rendered), rendered
    (tree.parent / "elsewhere").mkdir()
    ingest(tree, "--out", tree.parent / "elsewhere" / "docs")  # with nothing kept
    assert contents(tree.parent / "elsewhere" / "docs") == contents(out)


def test_the_page_of_a_log_that_changed_during_rendering_is_not_cached(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, render = tree.parent / "other" / "docs", log_pages.document

    def changes_meanwhile(site: Site, words: Words, run: Run) -> bytes:
        before = {path: path.read_bytes() for path in site.logs[run.path]}
        for path, data in before.items():
            path.write_bytes(data + b"one line more\n")
        made = render(site, words, run)
        for path, data in before.items():
            path.write_bytes(data)
        return made

    with monkeypatch.context() as patched:
        patched.setattr(log_pages, "document", changes_meanwhile)
        ingest(tree, "--out", out)
    assert not any(log_pages.shows_lines(each.read_bytes()) for each in (out / "logs").glob("*.html"))
    ingest(tree, "--out", out)
    lines = [each.read_bytes() for each in (out / "logs").glob("*.html")]
    assert lines
    assert all(b"ips" in each for each in lines)


def test_a_changed_run_json_is_a_change(tree: Path, out: Path, ingest: Ingest) -> None:
    write_run(
        tree,
        "seg/paddleseg/bs2/1",
        (tree / "seg/paddleseg/bs2/1/train.log").read_bytes(),
        run=run_json(batch_size=2, hardware="another"),
    )
    ingest(tree, "--out", out)
    assert {each["case"]["hardware"] for each in lines_of(shard(out, "bs2"))} == {"another", "made-up"}  # type: ignore[index]


@pytest.mark.parametrize("content", [None, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_lost_or_broken_cache_changes_no_output(
    tree: Path, out: Path, ingest: Ingest, read_logs: Callable[[], list[str]], content: bytes | None
) -> None:
    before = snapshot(out)
    path = tree.parent / ".perfledger" / "cache.sqlite"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert ingest(tree, "--out", out).code == 0
    assert len(read_logs()) == 5
    assert snapshot(out) == before


def test_commands_that_write_nothing_use_the_cache_and_do_not_change_it(
    tree: Path, out: Path, ingest: Ingest, read_logs: Callable[[], list[str]]
) -> None:
    path = tree.parent / ".perfledger" / "cache.sqlite"
    before = path.read_bytes()
    assert ingest("check", tree, "--out", out).code == 0
    assert read_logs() == []
    assert path.read_bytes() == before
    path.unlink()
    assert ingest("check", tree, "--out", out).code == 0
    assert not path.exists()


@pytest.mark.parametrize(
    "change", [lambda text: text.replace('"value": 2', '"value": 9'), lambda _: "not JSON\n", None]
)
def test_a_changed_or_lost_shard_is_restored(
    tree: Path, out: Path, ingest: Ingest, change: Callable[[str], str] | None
) -> None:
    before, path = contents(out), shard(out, "bs4")
    if change:
        path.write_text(change(path.read_text()))
    else:
        path.unlink()
    assert contents(out) != before
    assert ingest(tree, "--out", out).code == 0
    assert contents(out) == before


def test_a_removed_log_takes_its_line_and_a_removed_case_its_shard_with_it(
    tree: Path, out: Path, ingest: Ingest
) -> None:
    for run_folder in ("bs2/1", "fast/1"):
        for name in ("train.log", "run.json"):
            (tree / "seg/paddleseg" / run_folder / name).unlink()
    assert ingest(tree, "--out", out).code == 0
    assert [each["path"] for each in lines_of(shard(out, "bs2"))] == ["logs/seg/paddleseg/bs2/2/train.log"]
    assert not shard(out, "fast").exists()
    assert not any("bs2-1" in name or "fast-1" in name for name in contents(out))


def test_the_same_bytes_count_once(tree: Path, out: Path, ingest: Ingest) -> None:
    copy = tree / "seg/paddleseg/bs2/3"
    copy.mkdir()
    for name in ("train.log", "run.json"):
        (copy / name).write_bytes((tree / "seg/paddleseg/bs2/1" / name).read_bytes())
    called = ingest(tree, "--out", out, "--json")
    assert called.code == 1
    (problem,) = called.problems
    assert problem.startswith("logs/seg/paddleseg/bs2/3/train.log: ")
    assert "logs/seg/paddleseg/bs2/1/train.log" in problem
    counted = [each for each in called.lines if each["published"]]
    assert len(counted) == 5
    (copied,) = (each for each in called.lines if each["duplicate_of"])
    assert (copied["duplicate_of"], copied["published"]) == ("logs/seg/paddleseg/bs2/1/train.log", False)
    for name in ("train.log", "run.json"):
        (tree / "seg/paddleseg/bs2/1" / name).unlink()
    assert ingest(tree, "--out", out).code == 0


def test_check_names_stale_files_and_writes_nothing(tree: Path, out: Path, ingest: Ingest) -> None:
    before = snapshot(out)
    assert ingest("check", tree, "--out", out).code == 0
    page, results = out / "en" / "index.md", out / "data" / "results.csv"
    for path in (page, results):
        path.write_text(path.read_text() + "edited by hand\n")
    shard(out, "bs2").write_text("{}\n")
    (out / "data/runs/left-over.jsonl").write_text("{}\n")
    edited = snapshot(out)
    called = ingest("check", tree, "--out", out)
    assert called.code == 2
    named = {each.split(": ")[0] for each in called.problems}
    assert named == {str(results), str(shard(out, "bs2")), str(out / "data/runs/left-over.jsonl")}
    assert snapshot(out) == edited
    assert ingest(tree, "--out", out).code == 0
    assert contents(out) == {name: data for name, (data, _) in before.items()}
    assert ingest("check", tree, "--out", out).code == 0


@pytest.mark.parametrize("new", [True, False], ids=["no site yet", "a site"])
def test_strict_writes_nothing_if_there_is_a_problem(tree: Path, ingest: Ingest, tmp_path: Path, new: bool) -> None:
    out = tmp_path / "docs" if new else tree.parent / "docs"
    write_run(tree, "bad/x/y/1", b"nothing\n")
    before = snapshot(tree.parent)
    called = ingest(tree, "--out", out, "--strict")
    assert called.code == 2
    assert "--strict" in called.err
    assert snapshot(tree.parent) == before
    assert out.exists() is not new


def test_the_next_call_completes_an_interrupted_one(
    tree: Path, out: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C interrupts each write in turn. Replaced files are complete, and the next call gives the same bytes."""
    write_run(tree, "seg/paddleseg/bs2/1", seg([2.0] * 12, batch=2), run=run_json(batch_size=2, repeat=1))
    whole = tree.parent / "whole"
    ingest(tree, "--out", whole)
    real = os.replace
    for allowed in (0, 3):
        left = [allowed]

        def stops(*args: str, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            real(*args)

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", stops)
            called = ingest(tree, "--out", out)
        assert called.code == 130 or allowed > 1
        assert not [each for each in contents(out) if each.endswith(".tmp") or "/." in each]
    assert ingest(tree, "--out", out).code == 0
    assert contents(out) == contents(whole)


def test_ids_are_unique_and_stable(tree: Path, ingest: Ingest) -> None:
    first = {each["path"]: each["id"] for each in ingest(tree, "--json").lines}
    assert first["logs/seg/paddleseg/bs2/1/train.log"] == "seg-paddleseg-bs2-1"
    assert len(set(first.values())) == 5
    write_run(tree, "aaa/paddleseg/bs2/1", seg([3.0, 9.0]))
    write_run(tree, "zzz/paddleseg/bs2/1", seg([4.0, 9.0]))
    second = {each["path"]: each["id"] for each in ingest(tree, "--json").lines}
    assert {path: second[path] for path in first} == first


def test_paths_that_make_one_slug_get_different_ids() -> None:
    paths = [
        "logs/a-b/x.log",
        "logs/a/b/x.log",
        "logs/A_B/x.log",
        "logs/" + "long/" * 60 + "x.log",
        "logs/" + "long/" * 61 + "x.log",
        "logs/训练.log",
        "logs/日志.log",
    ]
    ids = [each.id for each in identify([Run(path=path, sha256="") for path in paths])]
    assert len(set(ids)) == len(paths)
    assert all(each.isascii() and len(each) <= 100 and each.strip("-") == each for each in ids)
    again = identify([Run(path=path, sha256="") for path in reversed(paths)])
    assert [each.id for each in reversed(again)] == ids


def test_the_key_depends_on_the_code(
    tree: Path, out: Path, ingest: Ingest, read_logs: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change of rules or layouts all logs are read again."""
    monkeypatch.setattr(folders, "code_of", lambda layout: "another")
    assert ingest(tree, "--out", out).code == 0
    assert len(read_logs()) == 5


@pytest.mark.parametrize(
    "name",
    ["parsers/a/b.py", "ingest/compute/a.py", "ingest/read/a.toml", "schema/a.toml", "report_templates/suites/a.toml"],
)
def test_the_code_that_lines_depend_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(folders, "PACKAGES", tmp_path)
    monkeypatch.setattr(folders.suites, "SUITES", tmp_path / "report_templates/suites")
    before = folders._code_of.__wrapped__("perfledger", None)
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("# a rule\n")
    assert folders._code_of.__wrapped__("perfledger", None) != before
