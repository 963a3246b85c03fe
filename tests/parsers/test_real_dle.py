"""What NVIDIA's printers print under adverse conditions, as measured with a clock of our own.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import facts_of, session_of, value


def nemo(epoch: int, iteration: int, step: int, batch: str, seconds: str, consumed: int) -> str:
    """Return a line of NeMo 2.0's progress printer."""
    return (
        f"Training epoch {epoch}, iteration {iteration}/25 | lr: 1e-06 | global_batch_size: {batch} | "
        f"global_step: {step} | reduced_train_loss: 9.5 | train_step_timing in s: {seconds} | consumed_samples: {consumed}"
    )


def test_nemo_line_that_begins_an_epoch_sums_the_end_of_the_one_before(tmp_path: Path) -> None:
    # Steps of 8 samples in 0.5 s, printed every 10 in epochs of 25: the sum of 15 steps is divided by 10 as well.
    lines = []
    for epoch in range(6):
        begun = 25 * epoch
        if epoch:
            lines.append(nemo(epoch, 10, begun + 9, "12", "0.75", 12 * (begun + 3)))
        else:
            lines.append(nemo(0, 10, 9, "8", "0.5", 44))
        lines.append(nemo(epoch, 20, begun + 19, "8", "0.5", 8 * begun + 124))
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert facts_of(session)["batch_size_of_job"] == 8
    # In epochs of 12, every line but the first one is such a sum, and a batch of 8 reads 9.6.
    lines = [nemo(0, 10, 9, "8", "0.5", 44), *(nemo(each, 10, 12 * each + 9, "9.6", "0.6", 90) for each in range(1, 9))]
    assert value(session_of(lines, tmp_path, "frameworks.nemo"), batch_size_of_job=8) == pytest.approx(16)


def test_nemo_first_line_after_a_resumption_sums_fewer_steps(tmp_path: Path) -> None:
    # Resumed at step 15: 5 steps of 0.5 s, divided by 10.
    resumed = [nemo(0, 20, 19, "4", "0.25", 72)]
    resumed += [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in range(3, 12)]
    session = session_of(resumed, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert facts_of(session)["batch_size_of_job"] == 8
    assert len(session.records[2]) == 9
    # Into the same file: stopped behind step 28, and resumed from the checkpoint of step 25.
    first = [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in (1, 2)]
    again = [nemo(0, 30, 29, "4", "0.25", 112), *resumed[2:]]
    session = session_of(first + again, tmp_path, "frameworks.nemo")
    assert value(session) == pytest.approx(16)
    assert len(session.records[2]) == 10


def test_nemo_batch_that_grows_is_no_resumption(tmp_path: Path) -> None:
    # 8 samples per step of 0.5 s, later 16 per second; the line of step 39 holds both, half of each.
    lines = [nemo(0, 10 * n, 10 * n - 1, "8", "0.5", 80 * n - 36) for n in (1, 2, 3)]
    lines.append(nemo(0, 40, 39, "12", "0.75", 304))
    lines += [nemo(0, 10 * n, 10 * n - 1, "16", "1", 280 + 160 * (n - 4) + 88) for n in range(5, 10)]
    session = session_of(lines, tmp_path, "frameworks.nemo")
    assert len(session.records[2]) == 9
    assert facts_of(session)["batch_size_of_job"] == 8
