"""From made-up logs to the summary of a model's page: other batch sizes, accumulation and memory, as logs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_logs import nlp_bert, pytorch_bert, run_json
from made_trees import write_run

from perfledger.ingest import build
from perfledger.ingest.common import words
from perfledger.ingest.compute.results import results
from perfledger.ingest.site import source_form
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.render.table import Cell

WORDS = words.load()
#: As the front page of 2021 prints them for 32 GPUs and FP32.
PADDLE = {32: 3379.9, 48: 4160.7}
PYTORCH = {(32, 16): 3994.05, (48, 16): 3973.97, (32, 1): 2836.7, (48, 1): 3179.96}


def paddle(root: Path, batch: int, speed: float, steps: int) -> None:
    """Write a log that says itself whether it accumulates."""
    arguments = f"Namespace(adam_epsilon=1e-06, batch_size={batch}, gradient_merge_steps={steps}, use_amp=False)"
    lines = nlp_bert([(20 * i, speed / 32) for i in range(1, 12)], batch=batch)
    write_run(root, f"bert/paddle/bs{batch}-{steps}/1", [arguments, *lines], run=case("PaddlePaddle", batch))


def pytorch(root: Path, batch: int, speed: float, steps: int) -> None:
    seconds = 32 * batch * steps / speed
    head = f"DLL 2026-11-20 07:00:00.000000 - PARAMETER Config : ['--gradient_accumulation_steps={steps}']"
    lines = pytorch_bert([(i, seconds * i) for i in range(1, 12)])
    write_run(root, f"bert/pytorch/bs{batch}-{steps}/1", [head, *lines], run=case("NGC PyTorch", batch))


def case(framework: str, batch: int, **other: Any) -> dict[str, Any]:
    about = {"model": "BERT-base", "nodes": 4, "devices": 32, "hardware": "made-up"}
    return run_json(framework=framework, batch_size=batch, **about, **other)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Return the rows of the summary as they are read; of a cell, the first words of each entry."""
    root = tmp_path_factory.mktemp("logs")
    for batch, speed in PADDLE.items():
        paddle(root, batch, speed, 1)
    for (batch, steps), speed in PYTORCH.items():
        pytorch(root, batch, speed, steps)
    # One that had to lower its batch size, as the log of the larger one tells.
    paddle(root, 40, 3500.0, 16)
    oom = run_json(framework="PaddlePaddle", batch_size=48, model="BERT-base", nodes=4, devices=32, hardware="made-up")
    write_run(
        root, "bert/paddle/bs48-16/1",
        "Namespace(adam_epsilon=1e-06, batch_size=48, gradient_merge_steps=16, use_amp=False)\n",
        run=oom | {"outcome": "oom"},
    )  # fmt: skip
    state = build.read(build.Inputs((root,), out=root / "docs", jobs=1))
    site = Site(tuple(state.ledger.runs), (), suites(), results)
    (bert,) = [each for each in suites() if each.id == "bert"]
    (summary,) = source_form.summaries(site, bert)
    return [[_read(each) for each in row] for row in summary.table.rows]


def _read(cell: Cell) -> str:
    said = [[WORDS.say("en", text) for text in (entry.text, *entry.marks)] for entry in cell.entries]
    return " / ".join(" ".join(str(word) for word in each if not str(word).startswith("n=")) for each in said)


def test_the_rows_are_those_of_the_source(shown: list[list[str]]) -> None:
    assert [row[:2] for row in shown] == [
        ["32 on 4 machines", "32"], ["32 on 4 machines", "48"],
        ["32 on 4 machines", "32 W/O AccGrad"], ["32 on 4 machines", "48 W/O AccGrad"],
    ]  # fmt: skip


def test_figures_stand_with_those_that_accumulate_alike(shown: list[list[str]]) -> None:
    assert [row[3].split()[0] for row in shown] == ["3,994", "3,974", "2,837", "3,180"]
    assert [row[2].split()[0] for row in shown[2:]] == ["3,380", "4,161"]


def test_another_batch_size_is_in_the_cell_beside_the_one_that_ran_out_of_memory(shown: list[list[str]]) -> None:
    assert shown[0][2] == ""
    assert shown[1][2] == "3,500 BS=40 / OOM BS=48"
