"""LeNet-5 in MindSpore: its size, that it trains, and what its two monitors print."""

from __future__ import annotations

import math

import pytest
from workload_logs import need, train

SMALL = ("--batch-size", "4", "--iterations", "12", "--print-every", "2")


def test_it_has_61706_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("mindspore", reason="MindSpore is not installed", exc_type=ImportError)
    workload = pytest.importorskip("runners.workloads.lenet5_mindspore")
    assert sum(math.prod(each.shape) for each in workload.network().trainable_params()) == 61706


def test_the_monitors_print_every_epoch_and_one_format_reads_it(tmp_path):
    need("mindspore")
    training = train(tmp_path, "lenet5_mindspore", *SMALL)
    session = training.session
    assert session.format.id == "dlperf.mindspore"
    assert session.main["steps"].tolist() == [2] * 6
    assert session.main["step"].tolist() == [2, 4, 6, 8, 10, 12]
    assert 0 < session.main["duration"].sum() < training.wall_seconds


def test_the_loss_falls_on_one_batch(tmp_path):
    need("mindspore")
    arguments = ("--batch-size", "4", "--iterations", "40", "--print-every", "1")
    losses = train(tmp_path, "lenet5_mindspore", *arguments).session.main["loss"]
    assert losses[-1] < losses[0]
