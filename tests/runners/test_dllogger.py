"""The lines of our DLLogger writer, against the shapes that NGC's trainers and DLLogger itself print."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from runners.workloads import dllogger

NOW = datetime(2026, 11, 20, 14, 0, 1, 2345)
METRICS = (
    dllogger.loss("train.loss", 7.123456),
    dllogger.images_per_second("train.compute_ips", 29.8312),
    dllogger.images_per_second("train.total_ips", 29.8),
    dllogger.learning_rate(0.1),
    dllogger.PrintedMetric("train.grad_scale", "1.00000"),
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


def test_a_line_of_json_has_the_clock_the_step_and_the_figures():
    line = dllogger.json_line(NOW, NOW - timedelta(seconds=2.5), (0, 7), {"train.sequences_per_second": 12.5})
    assert line == (
        f'DLLL {{"timestamp": "{NOW.timestamp()}", "datetime": "2026-11-20 14:00:01.002345", "elapsedtime": "2.5", '
        '"type": "LOG", "step": [0, 7], "data": {"train.sequences_per_second": 12.5}}'
    )


def test_parameters_and_the_whole_job_have_steps_of_their_own():
    stated = dllogger.json_line(NOW, NOW, dllogger.PARAMETERS, {"model": "BERT-base"})
    assert '"step": "PARAMETER", "data": {"model": "BERT-base"}' in stated
    assert '"step": [], "data": {}' in dllogger.json_line(NOW, NOW, dllogger.WHOLE_JOB, {})


def test_only_the_first_process_prints(capsys):
    for is_first in (True, False):
        dllogger.JsonLog(is_first).say((0, 1), {"train.loss": 0.5})
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith('DLLL {"timestamp": ')
    assert line.endswith('"step": [0, 1], "data": {"train.loss": 0.5}}')


def test_a_loss_that_is_nan_is_printed():
    assert str(dllogger.loss("train.loss", math.nan)) == "train.loss : nan None"
    assert '{"train.loss": NaN}' in dllogger.json_line(NOW, NOW, (0, 1), {"train.loss": math.nan})
