"""ResNet-50 v1.5 in MXNet: its shape, that it trains, and what its Speedometer prints."""

from __future__ import annotations

import json
import math

import pytest
from workload_logs import need, train

from runners.workloads import resnet50

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MXNET_CPU_WORKER_NTHREADS": "1"}
SMALL = ("--batch-size", "4", "--image-size", "32")


@pytest.fixture
def network():
    pytest.importorskip("mxnet", reason="MXNet is not installed", exc_type=ImportError)
    return pytest.importorskip("runners.workloads.resnet50_mxnet").network()


def test_it_has_25557032_parameters(network):
    given = {"data": (1, 3, 64, 64), "softmax_label": (1,)}
    shapes, _, _ = network.infer_shape(**given)
    named = dict(zip(network.list_arguments(), shapes, strict=True))
    assert sum(math.prod(shape) for name, shape in named.items() if name not in given) == resnet50.PARAMETERS


def test_the_3x3_convolution_carries_the_stride(network):
    nodes = [node for node in json.loads(network.tojson())["nodes"] if node["op"] == "Convolution"]
    halving = sorted(node["attrs"]["kernel"] for node in nodes if node["attrs"]["stride"] == "(2, 2)")
    shortcuts, middle, stem = ["(1, 1)"] * 3, ["(3, 3)"] * 3, ["(7, 7)"]
    assert halving == shortcuts + middle + stem


def test_the_speedometer_prints_every_iteration_but_the_first_and_one_format_reads_it(tmp_path):
    need("mxnet")
    training = train(tmp_path, "resnet50_mxnet", *SMALL, "--iterations", "7", **ONE_THREAD)
    session = training.session
    assert session.format.id == "frameworks.mxnet_fit"
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert session.facts["batch_size_of_job"].value == 4
    assert session.facts["nodes"].value == 1
    assert 0 < (4 / session.main["throughput"]).sum() < training.wall_seconds


def test_the_loss_falls(tmp_path):
    need("mxnet")
    # Of four batches in turn; each is seen ten times.
    log = train(tmp_path, "resnet50_mxnet", "--batch-size", "8", "--iterations", "40", **ONE_THREAD).log.read_text()
    losses = [float(line.rsplit("cross-entropy=")[1]) for line in log.splitlines() if "Speed: " in line]
    assert sum(losses[-8:]) < sum(losses[:8]) / 2


def test_one_thread_takes_no_more_time_than_the_wall(tmp_path):
    need("mxnet")
    training = train(tmp_path, "resnet50_mxnet", "--batch-size", "8", "--iterations", "16", **ONE_THREAD)
    assert training.cpu_seconds < 1.15 * training.wall_seconds
