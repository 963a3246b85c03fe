"""After a change of formats only logs are read again that hold a marker of what changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, write_run

from ingest.common.cache import Cache
from ingest.record import format_changes, ledger, run
from ingest.record.format_changes import Concerned, KnownFormats
from parsers.engine.registry import PACKAGES, formats

Ingest = Callable[..., Called]
NOW = format_changes.now()
READS = "paddle.seg"


def formats_with(code: dict[str, str], markers: dict[str, tuple[str, ...]] | None = None) -> KnownFormats:
    return KnownFormats({**NOW.code, **code}, {**NOW.markers, **(markers or {})})


@pytest.fixture
def again(
    tree: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[KnownFormats], list[str]]:
    """Return a function that reads the tree with other formats, and returns the names of the logs that it reads."""
    marked = [*seg([8.0] * 6, batch=3), "a-new-printer says hello"]
    write_run(tree, "seg/paddleseg/marked/1", marked, run=run_json(model="Marked", batch_size=3))
    out, real, names = tmp_path / "site" / "docs", run.read, list[str]()
    assert ingest(tree, "--out", out).code == 0

    def noted(path: Path) -> object:
        names.append(path.parent.parent.name + "/" + path.parent.name)
        return real(path)

    def read(known: KnownFormats) -> list[str]:
        before = contents(out)
        monkeypatch.setattr(run, "read", noted)
        monkeypatch.setattr(format_changes, "now", lambda: known)
        ledger.code_of.cache_clear()
        names.clear()
        assert ingest(tree, "--out", out).code == 0
        ledger.code_of.cache_clear()
        assert contents(out) == before
        return sorted(names)

    return read


def test_a_format_that_no_log_holds_a_marker_of_reads_nothing_again(
    again: Callable[[KnownFormats], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert again(formats_with({"dlperf.megatron": "changed"})) == []
    monkeypatch.setattr(format_changes, "_holds", lambda *_: pytest.fail("a log was searched again"))
    assert again(formats_with({"dlperf.megatron": "changed"})) == []


def test_the_format_of_the_logs_reads_them_again(again: Callable[[KnownFormats], list[str]]) -> None:
    assert len(again(formats_with({READS: "changed"}))) == 6


def test_a_new_format_reads_the_logs_that_hold_its_marker(again: Callable[[KnownFormats], list[str]]) -> None:
    assert again(formats_with({"frameworks.new": "1"}, {"frameworks.new": ("a-new-printer",)})) == ["marked/1"]


def test_a_changed_marker_reads_logs_with_the_old_and_the_new_one(again: Callable[[KnownFormats], list[str]]) -> None:
    assert len(again(formats_with({READS: "changed"}, {READS: ("a-new-printer",)}))) == 6
    assert again(formats_with({READS: "other"}, {READS: ("in no log",)})) == ["marked/1"]


def test_formats_that_nothing_is_known_of_read_all_again(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache.sqlite") as cached:
        concerned = Concerned(cached)
        assert concerned.by_changes(b"unknown", [])
        assert not concerned.by_changes(concerned.mark.strip(), [])


def test_a_log_that_cannot_be_searched_is_read_again(tmp_path: Path) -> None:
    assert format_changes._holds(tmp_path / "missing.log", [b"x"])


def test_every_format_is_known_with_its_module() -> None:
    folders = [format_changes._TOP / "parsers" / each for each in PACKAGES]
    below = [each.relative_to(top) for each in format_changes.modules() for top in folders if top in each.parents]
    modules = {each.parts[0].removesuffix(".py") for each in below}
    assert set(NOW.code) == {each.id for each in formats()}
    assert {name.split(".")[1] for name in NOW.code} == modules
    assert {name.split(".")[0] for name in NOW.code} == set(PACKAGES)


def test_the_code_of_a_format_is_that_of_the_formats_it_takes_parts_of_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "parsers" / "dlperf"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text("A = 1\n", "utf-8")
    (folder / "other.py").write_text("from parsers.dlperf.one import A\n", "utf-8")
    monkeypatch.setattr(format_changes, "_TOP", tmp_path)
    before = format_changes._code(folder / "other")
    (folder / "one.py").write_text("A = 2\n", "utf-8")
    assert format_changes._code(folder / "other") != before


def test_the_code_of_a_format_that_is_a_package_is_that_of_all_its_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "parsers" / "frameworks" / "mlperf"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("A = 1\n", "utf-8")
    (folder / "lines.py").write_text("B = 1\n", "utf-8")
    monkeypatch.setattr(format_changes, "_TOP", tmp_path)
    assert {each.name for each in format_changes.modules()} == {"__init__.py", "lines.py"}
    before = format_changes._code(folder)
    (folder / "lines.py").write_text("B = 2\n", "utf-8")
    assert format_changes._code(folder) != before
