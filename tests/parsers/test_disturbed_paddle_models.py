"""What Paddle's model libraries print under adverse conditions.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from test_dialects import facts_of, session_of, value

#: Samples per step, the seconds of a step that does not wait, and those of one that does.
BATCH, QUICK, SLOW = 96, 0.25, 0.75


def bert(head: str, seconds: Iterable[float], *, twice: bool = False, samples: float = BATCH) -> list[str]:
    """Return lines of BERT's pre-training, of 10 steps each; what a step takes above QUICK is waiting for data."""
    return [
        f"{head} {10 * n}, epoch: 0, batch: {10 * n - 1}, loss: 9.500000, avg_reader_cost: {each - QUICK:.5f} sec, "
        f"avg_batch_cost: {each:.5f} sec, avg_samples: {samples:.5f}, "
        f"ips: {samples / (each + (each - QUICK if twice else 0)):.5f} sequences/sec"
        for n, each in enumerate(seconds, 1)
    ]


@pytest.mark.parametrize(("head", "twice"), [("total step:", True), ("tobal step:", False), ("global step:", False)])
def test_bert_waits_for_data_within_its_batch_cost(head: str, twice: bool, tmp_path: Path) -> None:
    # 2 of 4 records wait: 40 steps in 20 seconds. The static graph divides by the wait twice.
    session = session_of(bert(head, [QUICK, SLOW] * 10, twice=twice), tmp_path, "paddle.nlp_bert")
    assert value(session, devices=8) == pytest.approx(8 * BATCH / 0.5)


def test_bert_of_another_file_counts_its_own_steps(tmp_path: Path) -> None:
    # In the fifth record a file of data ends after 6 steps, of which it says nothing: its `ips` is that of 10.
    lines = bert("global step:", [QUICK] * 10)
    lines[4] = lines[4].replace("96.00000", "38.40000").replace("384.00000", "153.60000")
    session = session_of(lines, tmp_path, "paddle.nlp_bert")
    assert session.records[0]["step"].tolist() == [10, 20, 30, 40, 60, 70, 80, 90, 100]
    assert value(session, devices=2) == pytest.approx(2 * BATCH / QUICK)


def test_bert_states_its_arguments_in_lines(tmp_path: Path) -> None:
    head = ["-----------  Configuration Arguments -----------", "batch_size: 96", "max_steps: 100", "use_amp: True"]
    lines = [*head, "model_name_or_path: bert-base-uncased", *bert("global step:", [QUICK] * 6)]
    assert facts_of(session_of(lines, tmp_path, "paddle.nlp_bert")) == {
        "batch_size": 96, "precision": "amp", "model": "bert-base-uncased", "total_steps": 100,
    }  # fmt: skip


def test_paddlerec_divides_the_first_batch_of_an_epoch_by_the_interval(tmp_path: Path) -> None:
    # Batches of 50 samples in 0.05 s; the first line of an epoch is of one batch, and says a tenth of its samples.
    lines = []
    for epoch in range(3):
        for batch in range(0, 60, 10):
            share = 1 if batch else 0.1
            lines.append(
                f"2026-11-20 13:37:10,000 - INFO - epoch: {epoch}, batch_id: {batch}, auc:0.500000,  "
                f"avg_reader_cost: 0.00000 sec, avg_batch_cost: {0.05 * share:.5f} sec, "
                f"avg_samples: {50 * share:.5f}, ips: 1000.00000 ins/s"
            )
    head = "2026-11-20 13:37:10,000 - INFO - use_gpu: True, train_batch_size: 50, epochs: 3, print_interval: 10"
    for log in (lines, [head, *lines]):
        session = session_of(log, tmp_path, "paddle.rec")
        assert facts_of(session)["batch_size"] == 50
        assert value(session, devices=1) == pytest.approx(1000)
