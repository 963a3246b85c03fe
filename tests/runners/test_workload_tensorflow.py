"""ResNet-50 v1.5 in TensorFlow: its shape, that it trains, and what it prints."""

from __future__ import annotations

import json
import math

import pytest
from workload_logs import need, train

from runners.workloads import resnet50

SMALL = ("--batch-size", "4", "--image-size", "32")


@pytest.fixture
def workload():
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed", exc_type=ImportError)
    return pytest.importorskip("runners.workloads.resnet50_tensorflow")


def convolutions(workload):
    return [layer for layer in workload.network(64).layers if type(layer).__name__ == "Conv2D"]


def test_it_has_25557032_parameters(workload):
    learned = workload.network(64).trainable_variables
    assert sum(math.prod(each.shape) for each in learned) == resnet50.PARAMETERS


def test_the_3x3_convolution_carries_the_stride(workload):
    halving = sorted(layer.kernel_size[0] for layer in convolutions(workload) if layer.strides == (2, 2))
    shortcuts, middle, stem = [1] * 3, [3] * 3, [7]
    assert halving == shortcuts + middle + stem


def test_images_become_smaller_by_the_strides_alone(workload):
    sizes = [layer.output.shape[1] for layer in convolutions(workload)]
    assert sorted(set(sizes), reverse=True) == [32, 16, 8, 4, 2]


def test_the_loss_falls_on_one_batch(workload):
    arguments = workload.resnet50.parser("TensorFlow").parse_args(SMALL)
    images, labels = resnet50.noise(arguments, 1, channels_last=True)
    losses = workload.compiled(32).fit(images, labels, batch_size=4, epochs=10, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2


def test_it_prints_every_iteration_and_one_format_reads_it(tmp_path):
    need("tensorflow")
    training = train(tmp_path, "resnet50_tensorflow", *SMALL, "--iterations", "6")
    session = training.session
    assert session.format.id == "frameworks.dllogger"
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert {name: session.facts[name].value for name in ("batch_size", "devices")} == {"batch_size": 4, "devices": 1}
    assert 0 < (4 / session.main["throughput"]).sum() < training.wall_seconds


def test_a_printed_loss_is_of_its_batch_alone(workload, capsys):
    model = workload.compiled(32)
    model.optimizer.learning_rate = 0.0
    images, labels = resnet50.noise(workload.resnet50.parser("TensorFlow").parse_args(SMALL), 3, channels_last=True)
    lines = workload.StepPrinter(4, workload.datetime.now())
    for first in (0, 8):
        model.fit(images[first:], labels[first:], batch_size=4, verbose=0, shuffle=False, callbacks=[lines])
    printed = [json.loads(line.removeprefix("DLLL ")) for line in capsys.readouterr().out.splitlines()]
    losses = [line["data"]["train.loss"] for line in printed]
    assert len(losses) == 4
    assert losses[2] == pytest.approx(losses[3], rel=1e-3)


def test_one_thread_takes_no_more_time_than_the_wall(tmp_path):
    need("tensorflow")
    training = train(tmp_path, "resnet50_tensorflow", "--batch-size", "8", "--iterations", "16")
    assert training.cpu_seconds < 1.15 * training.wall_seconds
