"""Submitted results: they are not repeats of our own, and each page and file names their author."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.ingest.made_logs import run_json, seg
from tests.ingest.made_trees import unpacked, write_run

PLACE = "submitted/ada/0123456789ab/seg/paddleseg/case"


def test_pages_and_files_name_the_author_of_a_result(tmp_path: Path, ingest: Callable[..., Any]) -> None:
    root, out = tmp_path / "raw_logs", tmp_path / "docs"
    write_run(root, "seg/paddleseg/case/1", seg([5.0] * 12), run=run_json(repeat=1, argv=["python", "train.py"]))
    write_run(root, f"{PLACE}/1", seg([7.0] * 12), run=run_json(repeat=1))
    (root / "submitted/ada/0123456789ab/submission.json").write_text("{}", "utf-8")
    called = ingest(root, "--out", out)
    assert (called.code, called.problems) == (0, []), "a manifest is no log"
    results = json.loads((out / "data/results.json").read_text("utf-8"))["results"]
    assert {each.get("submitter"): (each["value"], each["repeats"]) for each in results} == {
        None: (5.0, 1),
        "ada": (7.0, 1),
    }
    assert len({each["id"] for each in results}) == 2
    with (out / "data/results.csv").open(encoding="utf-8") as stream:
        assert {row["submitter"]: float(row["value"]) for row in csv.DictReader(stream)} == {"": 5.0, "ada": 7.0}
    for language, mark, here in (
        ("en", "submitted by ada", "the publisher of this site"),
        ("zh", "由 ada 提交", "本站"),
    ):
        pages = {path: path.read_text("utf-8") for path in (out / language).rglob("*.md")}
        runs = {path.stem: text for path, text in pages.items() if path.parent.name == "runs"}
        assert [here in text for name, text in runs.items() if name.startswith("seg-")] == [True]
        assert [mark in text for name, text in runs.items() if name.startswith("submitted-")] == [True]
        assert any(mark in text for path, text in pages.items() if "models" in path.parts)
    explorer = b"".join(unpacked(out / "data/explorer").values())
    assert b"submitted by ada" in explorer


def test_a_run_page_names_the_source_of_its_layout_and_nobody_without_one(
    tmp_path: Path, ingest: Callable[..., Any]
) -> None:
    """The author of a log without a run.json is unknown, so its page does not name the site's publisher."""
    root, out = tmp_path / "logs", tmp_path / "docs"
    for number, owner in enumerate(("theirs", "unknown")):
        log = root / owner / "case" / "train.log"
        log.parent.mkdir(parents=True)
        log.write_text("\n".join(seg([5.0 + number] * 12)), "utf-8")
    (root / "theirs" / "layout.toml").write_text(
        'title = "Their tree"\nsource = "https://example.org/logs"\n[[path]]\ntemplate = "{model}/train.log"\n', "utf-8"
    )
    ingest(root, "--out", out)
    for language, measured_by in (("en", "Measured by"), ("zh", "测量方")):
        pages = {path.stem: path.read_text("utf-8") for path in (out / language / "runs").glob("*.md")}
        del pages["index"]
        assert len(pages) == 2
        assert {name: measured_by in text for name, text in pages.items()} == {name: "theirs" in name for name in pages}
        (theirs,) = (text for name, text in pages.items() if "theirs" in name)
        assert re.search(r'<a href="https://example\.org/logs">[^<]*Their tree', theirs)
