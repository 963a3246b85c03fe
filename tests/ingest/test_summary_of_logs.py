"""From made-up logs to the results of a model's page: batch sizes, accumulation and memory of the logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_logs import nlp_bert, pytorch_bert, run_json
from made_trees import write_run

from perfledger.ingest import build
from perfledger.ingest.common import words
from perfledger.ingest.compute.results import results
from perfledger.ingest.site import model_tables
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.render.table import Cell
from perfledger.ingest.site.result_lines import slices

WORDS = words.load()
#: Figures of the front page of 2021 for 32 GPUs and FP32.
PADDLE = {32: 3379.9, 48: 4160.7}
PYTORCH = {(32, 16): 3994.05, (48, 16): 3973.97, (32, 1): 2836.7, (48, 1): 3179.96}


def paddle(root: Path, batch: int, speed: float, steps: int) -> None:
    """Write a log that states its accumulation."""
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
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Return the throughput of each framework and batch size in a reader's form."""
    root = tmp_path_factory.mktemp("logs")
    for batch, speed in PADDLE.items():
        paddle(root, batch, speed, 1)
    for (batch, steps), speed in PYTORCH.items():
        pytorch(root, batch, speed, steps)
    # This framework had to reduce its batch size: the log of the larger one ran out of memory.
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
    (of,) = slices(site, bert)
    table = model_tables.results(site, bert, of)
    keys = [each.key for each in table.columns]
    figure, size = keys.index("throughput"), keys.index("batch_size")
    return {(_read(row[0]), _read(row[size])): _read(row[figure]) for row in table.rows}


def _read(cell: Cell) -> str:
    said = [[str(WORDS.say("en", text)) for text in (entry.text, *entry.marks)] for entry in cell.entries]
    return " / ".join(" ".join(each) for each in said)


def test_each_result_states_its_accumulation_and_global_batch(shown: dict[tuple[str, str], str]) -> None:
    assert shown == {
        ("PaddlePaddle", "32"): "3,380",
        ("PaddlePaddle", "48"): "4,161",
        ("PaddlePaddle", "40 AccGrad 16 global batch 20,480"): "3,500",
        ("PaddlePaddle", "48 AccGrad 16 global batch 24,576"): "OOM",
        ("NGC PyTorch", "32"): "2,837",
        ("NGC PyTorch", "48"): "3,180",
        ("NGC PyTorch", "32 AccGrad 16 global batch 16,384"): "3,994",
        ("NGC PyTorch", "48 AccGrad 16 global batch 24,576"): "3,974",
    }
