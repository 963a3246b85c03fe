"""The ledger of many logs as a Parquet dataset: the same site as from JSON lines, with few writes and little memory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, snapshot, unpacked, write_run

from perfledger.ingest.record import ledger, store
from perfledger.ingest.record.kept import Slimmer
from perfledger.ingest.site import builder, run_paging
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Run, from_text

Ingest = Callable[..., Called]
RUNS = Path("data") / "runs"
OURS = Path(__file__).resolve().parents[2] / "raw_logs" / "pplcnet"


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a ledger of few logs a dataset of small parts."""
    monkeypatch.setattr(ledger, "MANY_LOGS", 2)
    monkeypatch.setattr(store, "_RUNS_OF_PART", 2)


def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give only two runs a page, so that memory has the others without the fields for pages."""
    monkeypatch.setattr(run_paging, "LIMITS", Limits(pages=2))


def parts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def pages(out: Path) -> dict[str, bytes]:
    """Return the files of a site except those of the ledger, whose names depend on its form."""
    return {name: data for name, data in unpacked(out).items() if not name.startswith(f"{RUNS}/")}


def without_ledger_names(data: bytes, folder: Path) -> bytes:
    for name in parts(folder):
        data = data.replace(name.encode(), b"LEDGER")
    return data


@pytest.mark.parametrize("logs", ["tree", "ours"])
def test_the_site_is_that_of_json_lines(
    logs: str, tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own logs have traces, witnesses, metrics and telemetry. Most runs in this test are without a page."""
    root = tree if logs == "tree" else OURS
    few_pages(monkeypatch)
    found = {}
    for form in ("lines", "dataset"):
        if form == "dataset":
            monkeypatch.setattr(ledger, "MANY_LOGS", 2)
            monkeypatch.setattr(store, "_RUNS_OF_PART", 2)
        out = tmp_path / form / "docs"
        assert ingest(root, "--out", out).code in (0, 1)
        assert {Path(each).suffix for each in parts(out / RUNS)} == {".jsonl" if form == "lines" else ".parquet"}
        found[form] = {name: without_ledger_names(data, out / RUNS) for name, data in pages(out).items()}
    assert found["dataset"].keys() == found["lines"].keys()
    differ = [name for name, data in found["lines"].items() if found["dataset"][name] != data]
    assert differ == []


@pytest.mark.usefixtures("many")
def test_a_second_call_reads_no_log_and_renders_no_page(
    tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contradicting copies of a run get problems after reading, and pages depend on these problems, too."""
    other = run_json(batch_size=2, repeat=1, model="Other")
    write_run(tree, "seg/paddleseg/again/1", (tree / "seg/paddleseg/bs2/1/train.log").read_bytes(), run=other)
    out = tmp_path / "site" / "docs"
    assert "contradiction" in ingest(tree, "--out", out, "--json").out
    before = snapshot(out)
    monkeypatch.setattr(builder, "_rendered", lambda *_: pytest.fail("pages were rendered again"))
    called = ingest(tree, "--out", out)
    assert "0 files written" in called.out
    assert "0 logs read" in called.out
    assert snapshot(out) == before
    assert ingest("check", tree, "--out", out).code == 1


@pytest.mark.usefixtures("many")
def test_a_changed_log_rewrites_only_its_part(tree: Path, tmp_path: Path, ingest: Ingest) -> None:
    out = tmp_path / "site" / "docs"
    ingest(tree, "--out", out)
    before = snapshot(out / RUNS)
    assert len(before) > 1
    write_run(tree, "seg/paddleseg/fast/1", seg([8.0] * 6, batch=3), run=run_json(model="FastSCNN", batch_size=3))
    ingest(tree, "--out", out)
    after = snapshot(out / RUNS)
    assert after.keys() == before.keys()
    assert sum(after[name] != before[name] for name in before) == 1


@pytest.mark.usefixtures("many")
def test_a_damaged_part_is_written_again(tree: Path, tmp_path: Path, ingest: Ingest) -> None:
    out = tmp_path / "site" / "docs"
    ingest(tree, "--out", out)
    before = contents(out)
    path = out / RUNS / parts(out / RUNS)[0]
    for harm in (b"", b"PAR1", path.read_bytes()[:-9]):
        path.write_bytes(harm)
        assert ingest("check", tree, "--out", out).code == 2
        assert ingest(tree, "--out", out).code == 0
        assert contents(out) == before


def test_the_form_follows_the_number_of_logs(
    tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site" / "docs"
    for most, form in ((5, ".jsonl"), (4, ".parquet"), (5, ".jsonl")):
        monkeypatch.setattr(ledger, "MANY_LOGS", most)
        ingest(tree, "--out", out)
        assert {Path(each).suffix for each in parts(out / RUNS)} == {form}


def test_a_ledger_in_another_folder_is_a_dataset(tree: Path, tmp_path: Path, ingest: Ingest) -> None:
    out, place = tmp_path / "site" / "docs", tmp_path / "ledger"
    for _ in range(2):
        assert ingest(tree, "--out", out, "--ledger", place).code == 0
        assert not (out / RUNS).exists()
        assert [Path(each).suffix for each in parts(place)] == [".parquet"]
        assert ingest("check", tree, "--out", out, "--ledger", place).code == 0
    (place / parts(place)[0]).unlink()
    called = ingest("check", tree, "--out", out, "--ledger", place)
    assert called.code == 2
    assert str(place) in called.err


def test_a_ledger_cannot_replace_a_file(tree: Path, tmp_path: Path, ingest: Ingest) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    called = ingest(tree, "--out", tmp_path / "docs", "--ledger", tmp_path / "file")
    assert called.code == 2
    assert "is a file; give a folder" in called.err


def test_diff_reads_both_forms_of_a_committed_ledger(
    tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON lines and a dataset with the same runs have no difference."""
    project = tmp_path / "project"
    out = project / "docs"
    git = ("git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b")
    ingest(tree, "--out", out)
    for command in (("init", "-q"), ("add", "docs/data"), ("commit", "-q", "-m", "lines")):
        subprocess.run((*git, *command), check=True)
    monkeypatch.setattr(ledger, "MANY_LOGS", 2)
    ingest(tree, "--out", out)
    assert {Path(each).suffix for each in parts(out / RUNS)} == {".parquet"}
    same = ingest("diff", "HEAD", "--out", out)
    subprocess.run((*git, "add", "docs/data"), check=True)
    subprocess.run((*git, "commit", "-q", "-m", "dataset"), check=True)
    write_run(tree, "seg/paddleseg/fast/1", seg([8.0] * 6, batch=3), run=run_json(model="FastSCNN", batch_size=3))
    ingest(tree, "--out", out)
    moved = ingest("diff", "HEAD", "--out", out)
    assert (same.code, moved.code) == (0, 0)
    assert "FastSCNN" not in same.out
    assert "FastSCNN" in moved.out


@pytest.mark.usefixtures("many")
def test_a_part_of_another_version_is_not_read(
    tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site" / "docs"
    ingest(tree, "--out", out)
    name = parts(out / RUNS)[0]
    data = (out / RUNS / name).read_bytes()
    assert list(store.runs_in(name, data))
    monkeypatch.setattr(store, "VERSION", 2)
    with pytest.raises(ValueError, match=r"is of version 1 of the ledger, and this is 2"):
        list(store.runs_in(name, data))


@pytest.mark.usefixtures("many")
def test_queries_find_a_run_by_its_columns(tree: Path, tmp_path: Path, ingest: Ingest) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    out = tmp_path / "site" / "docs"
    ingest(tree, "--out", out)
    asked = f"select line from '{out / RUNS}/*.parquet' where model = 'FastSCNN' and outcome = 'completed'"
    ((line,),) = duckdb.sql(asked).fetchall()
    assert json.loads(line)["path"].endswith("fast/1/train.log")


def test_a_fact_of_another_type_is_not_shared() -> None:
    """True, 1 and 1.0 are equal, but each must keep its type."""
    slimmer = Slimmer()
    texts = [f'{{"path": "a", "sha256": "", "facts": {{"x": {{"value": {each}}}}}}}' for each in ("1", "true", "1.0")]
    values = [slimmer.slim(from_text(each, Run)).facts["x"].value for each in texts]
    assert [type(each) for each in values] == [int, bool, float]


def test_parts_double_with_the_logs() -> None:
    folders = [f"logs/{n}" for n in range(5000)]
    few, more = (set(store.part_names(folders, logs).values()) for logs in (4_000, 8_000))
    assert (len(few), len(more)) == (4, 8)
    assert sorted(few)[0] == "runs-00001-of-00004.parquet"
