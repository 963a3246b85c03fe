"""ResNet-50 v1.5 in JAX: its shape, that it trains, and what it prints."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy
import pytest
from workload_logs import ROOT, need, train

from runners.workloads import resnet50

SMALL = ("--batch-size", "4", "--image-size", "32")
TIMED = """
import os, sys, time
from runners.workloads import resnet50_jax as workload
arguments = workload.resnet50.parser("JAX").parse_args(["--batch-size", "8", "--iterations", "6"])
os.environ.update(NPROC="1", JAX_PLATFORMS="cpu")
wall = 0.0
for number, (_, seconds) in enumerate(workload.train(arguments)):
    used = time.process_time()
    if number == 0:  # the compiler takes the threads it likes
        begun = used
    else:
        wall += seconds
print((used - begun) / wall)
"""


@pytest.fixture
def workload(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    pytest.importorskip("jax", reason="JAX is not installed", exc_type=ImportError)
    return pytest.importorskip("runners.workloads.resnet50_jax")


def test_it_has_25557032_parameters(workload):
    parameters, _ = workload.initial(0)
    assert sum(math.prod(each.shape) for each in workload.jax.tree.leaves(parameters)) == resnet50.PARAMETERS


def test_the_3x3_convolution_carries_the_stride(workload):
    images = workload.jax.ShapeDtypeStruct((1, 224, 224, 3), "float32")
    traced = workload.jax.make_jaxpr(workload.logits)(*workload.initial(0), images)
    found = [each for each in traced.jaxpr.eqns if each.primitive.name == "conv_general_dilated"]
    halving = sorted(each.invars[1].aval.shape[0] for each in found if each.params["window_strides"] == (2, 2))
    shortcuts, middle, stem = [1] * 3, [3] * 3, [7]
    assert len(found) == 53
    assert halving == shortcuts + middle + stem


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("pixels", [1, 2, 4, 5])
def test_a_convolution_written_as_a_product_of_matrices_is_the_same_convolution(workload, pixels, stride):
    random = numpy.random.default_rng(0)
    images, kernel = random.standard_normal((2, pixels, pixels, 3)), random.standard_normal((3, 3, 3, 5))
    expected = workload.lax.conv_general_dilated(
        images, kernel, (stride, stride), [(1, 1)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    assert numpy.allclose(workload.product(images, kernel, stride), expected, atol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_loss_falls_on_one_batch(workload, precision):
    arguments = workload.resnet50.parser("JAX").parse_args(SMALL)
    batch = resnet50.noise(arguments, 1, channels_last=True)
    parameters, statistics = workload.initial(0)
    state = (parameters, statistics, workload.jax.tree.map(numpy.zeros_like, parameters))
    losses = []
    for _ in range(8):
        state, loss = workload.update(state, *batch, precision)
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    assert {each.dtype.name for each in workload.jax.tree.leaves(state)} == {"float32"}


def test_it_prints_every_iteration_and_one_format_reads_it(tmp_path):
    need("jax")
    training = train(tmp_path, "resnet50_jax", *SMALL, "--iterations", "5")
    session = training.session
    assert session.format.id == "frameworks.dllogger"
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5]
    assert {name: session.facts[name].value for name in ("batch_size", "devices")} == {"batch_size": 4, "devices": 1}
    assert 0 < (4 / session.main["throughput"]).sum() < training.wall_seconds


def test_one_thread_takes_no_more_time_than_the_wall():
    need("jax")
    command = [sys.executable, "-c", TIMED]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout
    assert float(printed) < 1.15
