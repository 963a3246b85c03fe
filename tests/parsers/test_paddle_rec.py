"""PaddleRec's logs say what ran in odd places: a path within a warning, a word with its first letter cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsers.engine.read import read

EPOCH = "2026-11-20 14:38:09,247 - INFO - Epoch: 0, using time 700.5 second, ips 15500.25 {}/sec."
WARNING = "/x/disk2/1.user-2026-1--{}_conv_cloud/python/io.py:1324: UserWarning: states are not zero"


def facts_of(tmp_path: Path, *lines: str, unit: str = "example") -> dict[str, Any]:
    log = tmp_path / "train.log"
    log.write_text("\n".join(["2026-11-20 14:26:20,125 - INFO - Run Worker Begin", *lines, EPOCH.format(unit)]) + "\n")
    (session,) = read(log).sessions
    assert session.format.id == "paddle.rec"
    return {name: each.value for name, each in session.facts.items()}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("CtrDnn_benchamrk_16_DataSet_async", {"model": "CTR-DNN", "sync_mode": "async"}),
        ("WideDeep_benchmark_4_DataLoader_sync", {"model": "Wide & Deep", "sync_mode": "sync"}),
        ("W2V_benchamrk_32_DataLoader_geo", {"model": "Word2Vec", "sync_mode": "geo"}),
        ("ctr_dnn_benchmark_8", {"model": "CTR-DNN"}),
        ("DeepFM_benchamrk_16_DataSet_async", {"sync_mode": "async"}),
        ("CtrDnn_training_16_DataSet_async", {}),
    ],
)
def test_facts_from_the_job_name(tmp_path: Path, job: str, expected: dict[str, str]) -> None:
    assert facts_of(tmp_path, WARNING.format(job)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("I1120 14:26:20.289086 17480 communicator.h:480] GeoCommunicator Initialized", {"sync_mode": "geo"}),
        ("ync_mode: geo", {"sync_mode": "geo"}),
        ("  sync_mode: async", {"sync_mode": "async"}),
        ("async_mode: 1", {}),
        ("2026-11-20 14:26:20,325 - INFO - Epoch: 0, Running Dataset Begin.", {"reader": "DataSet"}),
        ("2026-11-20 14:26:20,325 - INFO - Epoch: 0, Running DataLoader Begin.", {"reader": "DataLoader"}),
        ("I1120 14:26:20.288252 17480 communicator.h:205] trainers: 32", {"nodes": 32}),
        ("I1120 14:26:20.288250 17480 communicator.h:205] trainer_id: 3", {}),
        ("Epoch 0 Var cost\tmean_1.tmp_0\t  - place: CPUPlace", {}),
    ],
)
def test_facts_from_lines_of_a_mode(tmp_path: Path, line: str, expected: dict[str, Any]) -> None:
    assert facts_of(tmp_path, line) == expected


def test_only_word2vec_counts_words(tmp_path: Path) -> None:
    assert facts_of(tmp_path, unit="word") == {"model": "Word2Vec"}


def test_a_geo_run_under_a_job_called_async_is_geo(tmp_path: Path) -> None:
    lines = WARNING.format("W2V_benchamrk_16_DataLoader_async"), "I1120 14:26:20 1 x.h:480] GeoCommunicator Initialized"
    assert facts_of(tmp_path, *lines, unit="word")["sync_mode"] == "geo"


def test_node_and_thread_figures_are_separate_series(tmp_path: Path) -> None:
    batch = (
        "2026-11-20 14:28:02,412 - INFO - Epoch: 0, Batch: 100, auc: [0.66], cost: [0.49],  "
        "avg_batch_cost: 1.00000 sec, avg_samples: 1000.00000, ips: 1000.00000 example/sec"
    )
    log = tmp_path / "train.log"
    log.write_text("\n".join([batch, batch.replace("100,", "200,"), EPOCH.format("example")]) + "\n")
    (session,) = read(log).sessions
    scopes = {each.reading.scope: len(each) for each in session.records if len(each)}
    assert scopes == {"node": 1, "thread": 2}
    assert session.main["throughput"].tolist() == [15500.25]
