"""Runs that are refused: no figure leads their page, and nothing about them looks as if it had gone well."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from perfledger.ingest.cli import main
from perfledger.ingest.site import run_tables
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import run as run_page
from perfledger.schema.records import FactValue
from tests.builders import edited, run

REFUSED = {"published": False, "sound": False}
SEG = "".join(
    f"2026-11-20 11:50:{i:02} [INFO]\t[TRAIN] epoch: 1, iter: {10 * i}/9999, loss: 2.0594, lr: 0.010000, batch_cost: "
    f"0.200000, reader_cost: 0.00247, ips: 20.0000 samples/sec | ETA 00:00:00\n"
    for i in range(1, 20)
)


def test_a_refused_run_shows_neither_its_figure_nor_a_good_outcome() -> None:
    refused, duplicate, good = (
        edited(run("a"), **about) for about in (REFUSED, {"published": False, "sound": True}, {"published": True})
    )
    assert run_tables.headline(refused) is None
    assert run_tables.headline(duplicate) == run_tables.headline(good) != None  # noqa: E711
    tones = [run_tables.outcome_cell(each).entries[0].tone for each in (refused, duplicate, good)]
    assert tones == ["", "good", "good"]
    site = site_of_runs([refused])
    (outcome, *_) = run_page.signs(site, refused)
    assert outcome.tone == ""
    assert [each.name.key for each in run_page.signs(site, refused)].count("proof.median") == 0  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site of one run whose log and run.json contradict each other."""
    top = tmp_path_factory.mktemp("refused")
    folder = top / "logs" / "a" / "1"
    folder.mkdir(parents=True)
    (folder / "train.log").write_text("GPUs used: 8\n" + SEG)
    case = {"model": "FastSCNN", "framework": "Paddle", "nodes": 2, "devices": 4, "batch_size": 4}
    (folder / "run.json").write_text(json.dumps({"schema": "perfledger.run/1", "case": case, "outcome": "completed"}))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main([str(top / "logs"), "--out", str(top / "docs")]) == 1
    return top / "docs"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_neither_its_page_nor_the_list_of_runs_shows_its_figure(built: Path, language: str) -> None:
    (page,) = (built / language / "runs").glob("a-1*.md")
    text = page.read_text("utf-8")
    assert "pl-headline" not in text
    assert not re.search(r'pl-good">[^<]*(?:completed|完成)', text)
    assert ("conflicting values" if language == "en" else "前后矛盾") in text
    listed = next(
        each for each in (built / language / "runs/index.md").read_text("utf-8").splitlines() if "a-1" in each
    )
    assert not re.search(r"\b(?:20|80|160)(?:\.0+)?\b", listed.replace("2026", "")), listed


def test_a_derived_fact_names_its_sources_in_both_languages() -> None:
    from perfledger.ingest.common import words

    fact = FactValue(32, "derived", "nodes (layout made), devices_per_node (line 7)")
    said = {name: words.load().say(name, run_tables.where(fact)) for name in ("en", "zh")}
    assert said["en"].startswith("machines (")
    assert ", devices per machine (line 7)" in said["en"]
    assert said["zh"].startswith("机器数（")
    assert "、单机设备数（第 7 行）" in said["zh"]
