"""Trains LeNet-5 with MindSpore's `Model.train` on generated images; the printing is that of its two monitors.

LeNet-5 and nothing larger, because this release computes the forward pass of a convolution on a CPU about a hundred
times slower than its backward pass. On images of 32 pixels, with ReLU and max pooling, it has 61,706 parameters.

Traps: a time is printed per epoch, so an epoch here is the iterations between two lines, and the first one contains
the compilation of the graph; `construct` is compiled from its source, where the network must be called `self`; data
sets of arrays use functions that numpy 2.0 removed.
"""

from __future__ import annotations

import argparse
from typing import Any

import mindspore
import numpy
from mindspore import nn, train

from runners.workloads import options

PIXELS = 32
CLASSES = 10
LEARNING_RATE = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4


def network() -> Any:
    """Return the network, from images (n, 1, 32, 32) to logits (n, 10)."""
    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(16 * 5 * 5, 120),
        nn.ReLU(),
        nn.Dense(120, 84),
        nn.ReLU(),
        nn.Dense(84, CLASSES),
    )


def dataset(arguments: argparse.Namespace) -> Any:
    """Return the batches of an epoch, kept in memory and fetched by the trainer's thread: noise with random labels."""
    random = numpy.random.default_rng(arguments.seed)
    count = arguments.batch_size * arguments.print_every
    images = random.standard_normal((count, 1, PIXELS, PIXELS), dtype=numpy.float32)
    labels = random.integers(0, CLASSES, count, dtype=numpy.int32)
    mindspore.dataset.config.set_num_parallel_workers(1)
    pairs = mindspore.dataset.NumpySlicesDataset((images, labels), ["images", "labels"], shuffle=False)
    return pairs.batch(arguments.batch_size)


def trainer() -> Any:
    """Return the network with its loss and its optimiser."""
    made = network()
    optimizer = nn.Momentum(made.trainable_params(), LEARNING_RATE, MOMENTUM, WEIGHT_DECAY)
    return train.Model(made, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer)


def limit_threads(threads: int) -> None:
    """Set how many threads hand out operators; call it before the first operator.

    The trap: with one, the runtime still splits operators over a second thread. The two take turns, so that a training
    takes the CPU time of one core; with two it takes longer than with one.
    """
    mindspore.runtime.dispatch_threads_num(threads)


def main() -> None:
    """Train for the requested iterations; those after the last printed line are not run."""
    arguments = parse_arguments()
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mindspore.set_device("CPU")
    limit_threads(arguments.threads)
    mindspore.set_seed(arguments.seed)
    trainer().train(
        arguments.iterations // arguments.print_every,
        dataset(arguments),
        callbacks=[train.LossMonitor(arguments.print_every), train.TimeMonitor()],
        dataset_sink_mode=False,
    )


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = options.parser("Train LeNet-5 in MindSpore on generated images.", 32)
    options.add_threads(parser)
    parser.add_argument(
        "--print-every", type=options.positive, default=4, help="iterations per epoch, thus per printed time"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
