"""The lines of our DLLogger writer, against the shapes that NGC's PyTorch ResNet-50 trainer printed in 2023."""

from __future__ import annotations

from datetime import datetime

from runners.workloads import dllogger

NOW = datetime(2026, 11, 20, 14, 0, 1, 2345)
METRICS = (
    dllogger.loss("train.loss", 7.123456),
    dllogger.images_per_second("train.compute_ips", 29.8312),
    dllogger.images_per_second("train.total_ips", 29.8),
    dllogger.learning_rate(0.1),
    dllogger.Metric("train.grad_scale", "1.00000"),
)
PRINTED = (
    "train.loss : 7.12346 None train.compute_ips : 29.83 images/s train.total_ips : 29.80 images/s "
    "train.lr : 0.1  train.grad_scale : 1.00000 None"
)
STAMP = "DLL 2026-11-20 14:00:01.002345 - "


def test_parameters():
    line = dllogger.parameter_line(NOW, {"data_backend": "synthetic", "batch_size": 16, "amp": False})
    assert line == STAMP + "PARAMETER data_backend : synthetic  batch_size : 16  amp : False "


def test_an_iteration():
    assert dllogger.iteration_line(NOW, 0, 2, METRICS) == STAMP + "Epoch: 0 Iteration: 2  " + PRINTED


def test_an_epoch():
    assert dllogger.epoch_line(NOW, 0, METRICS) == STAMP + "Epoch: 0  " + PRINTED


def test_the_summary_has_one_space():
    assert dllogger.summary_line(NOW, METRICS) == STAMP + "Summary: " + PRINTED


def test_durations():
    assert str(dllogger.seconds("train.data_time", 0.001919)) == "train.data_time : 0.00192 s"
