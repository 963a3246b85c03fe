"""Segmentation networks in PaddleSeg: that they train, and what PaddleSeg's own trainer prints.

paddlepaddle 2.6 installs on no Python that the formats run on, so a pattern of the test's own reads the lines here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from workload_logs import need, train

LINE = re.compile(
    r"\[TRAIN\] epoch: \d+, iter: (?P<step>\d+)/\d+, loss: (?P<loss>[\d.]+), .*"
    r"batch_cost: (?P<seconds>[\d.]+), .*ips: (?P<speed>[\d.]+) samples/sec"
)
QUIET = {"PYTHONWARNINGS": "ignore::UserWarning", "OMP_NUM_THREADS": "1"}


def records(folder: Path, *arguments: str) -> list[dict[str, float]]:
    log = train(folder, "segmentation_paddleseg", *arguments, **QUIET).log.read_text(encoding="utf-8")
    return [{name: float(text) for name, text in match.groupdict().items()} for match in LINE.finditer(log)]


@pytest.mark.parametrize(("model", "pixels"), [("fastscnn", "64"), ("deeplabv3p_resnet50", "32")])
def test_a_network_trains_and_prints_at_the_interval(tmp_path, model, pixels):
    need("paddleseg")
    arguments = ("--model", model, "--image-size", pixels, "--batch-size", "2", "--iterations", "6", "--print-every")
    found = records(tmp_path, *arguments, "2")
    assert [record["step"] for record in found] == [2, 4, 6]
    assert all(record["speed"] == pytest.approx(2 / record["seconds"], rel=0.01) for record in found)


def test_the_loss_falls(tmp_path):
    need("paddleseg")
    found = records(tmp_path, "--image-size", "64", "--batch-size", "4", "--iterations", "48", "--print-every", "4")
    assert found[-1]["loss"] < 0.9 * found[0]["loss"]
