"""ResNet-50 v1.5 on generated images, the same for TensorFlow, MXNet and JAX: sizes, optimiser, data, command line.

v1.5 differs from the paper's network in one place: a bottleneck that halves the image does so in its 3x3 convolution,
not in its first 1x1 one. The trap: in a log only the speed differs, and both have the same number of
parameters. Needs numpy alone, of any release that one of the frameworks asks for.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy

from runners.workloads import options

CLASSES = 1000
PARAMETERS = 25_557_032
#: Channels of the inner convolutions, number of bottlenecks, stride of the first of them.
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
#: Channels that leave a bottleneck, over those of its inner convolutions.
EXPANSION = 4

LEARNING_RATE = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4
#: Share of the running statistics of batch normalisation that is kept from one iteration to the next.
STATISTICS_KEPT = 0.9
EPSILON = 1e-5
#: Different batches in memory, which the iterations take in turn.
BATCHES_HELD = 4


@dataclass(frozen=True)
class BottleneckShape:
    """One block: the channels that enter it, those of its inner convolutions, and the stride of the 3x3 one."""

    channels_in: int
    channels: int
    stride: int

    @property
    def channels_out(self) -> int:
        """Return the channels that leave it."""
        return self.channels * EXPANSION

    @property
    def projects(self) -> bool:
        """Return whether its shortcut is a 1x1 convolution, because output and input differ in shape."""
        return self.stride != 1 or self.channels_in != self.channels_out


def bottlenecks() -> list[BottleneckShape]:
    """Return the sixteen blocks in order."""
    blocks, channels_in = [], STAGES[0][0]
    for channels, count, stride in STAGES:
        for index in range(count):
            blocks.append(BottleneckShape(channels_in, channels, stride if index == 0 else 1))
            channels_in = channels * EXPANSION
    return blocks


def noise(arguments: argparse.Namespace, batches: int, *, channels_last: bool) -> tuple[Any, Any]:
    """Return images of normal noise and random labels: float32 (n, h, w, 3) or (n, 3, h, w), and int32 (n,).

    n is the number of images of these batches. All of them are in memory, and no file is read.
    """
    random = numpy.random.default_rng(arguments.seed)
    count, size = arguments.batch_size * batches, arguments.image_size
    shape = (count, size, size, 3) if channels_last else (count, 3, size, size)
    return random.standard_normal(shape, dtype=numpy.float32), random.integers(0, CLASSES, count, dtype=numpy.int32)


def parser(framework: str, precisions: tuple[str, ...] = ("fp32",)) -> argparse.ArgumentParser:
    """Return a parser with the options that every framework's trainer has."""
    made = options.parser(f"Train ResNet-50 v1.5 in {framework} on generated images.", 16)
    made.add_argument("--image-size", type=options.positive, default=64, help="height and width in pixels")
    made.add_argument("--precision", choices=precisions, default="fp32")
    return made


def parameters_of(arguments: argparse.Namespace) -> dict[str, str | int | float]:
    """Return the parameters that DLLogger's first line states: one process, its threads, its optimiser."""
    return {
        "arch": "resnet50_v1.5",
        "data_backend": "synthetic",
        "image_size": arguments.image_size,
        "batch_size_per_device": arguments.batch_size,
        "world_size": 1,
        "precision": arguments.precision,
        "threads": arguments.threads,
        "optimizer": "sgd",
        "lr": LEARNING_RATE,
        "momentum": MOMENTUM,
        "weight_decay": WEIGHT_DECAY,
        "seed": arguments.seed,
    }
