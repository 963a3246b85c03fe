"""Trains ResNet-50 v1.5 with MXNet's `Module.fit` on generated images; the printing is that of its `Speedometer`.

Traps: MXNet takes its threads from the environment when it is imported, those within an operator from OMP_NUM_THREADS,
so options cannot set them; MXNET_CPU_WORKER_NTHREADS=1 keeps it from running several operators at a time, each with
all of these. The speed is the batches since the last line over the time since then, so that the first batch has no line
of its own. The images lie in memory; `NDArrayIter` hands out its batches inside the timed part, as it would anybody's.
"""

from __future__ import annotations

import argparse
import logging
from typing import Any

import mxnet

from runners.workloads import options, resnet50


def convolution(name: str, images: Any, channels: int, size: int, stride: int) -> Any:
    """Return a convolution that keeps the image's size apart from the stride, with batch normalisation."""
    convolved = mxnet.sym.Convolution(
        images,
        num_filter=channels,
        kernel=(size, size),
        stride=(stride, stride),
        pad=(size // 2, size // 2),
        no_bias=True,
        name=name,
    )
    return mxnet.sym.BatchNorm(
        convolved, fix_gamma=False, eps=resnet50.EPSILON, momentum=resnet50.STATISTICS_KEPT, name=f"{name}_norm"
    )


def bottleneck(name: str, images: Any, block: resnet50.BottleneckShape) -> Any:
    """Return 1x1, 3x3 and 1x1 convolutions with a shortcut; the 3x3 convolution carries the stride (v1.5)."""
    body = mxnet.sym.relu(convolution(f"{name}_1", images, block.channels, 1, 1))
    body = mxnet.sym.relu(convolution(f"{name}_2", body, block.channels, 3, block.stride))
    body = convolution(f"{name}_3", body, block.channels_out, 1, 1)
    if block.projects:
        images = convolution(f"{name}_shortcut", images, block.channels_out, 1, block.stride)
    return mxnet.sym.relu(body + images)


def network() -> Any:
    """Return ResNet-50 v1.5 from `data` (n, 3, h, w) to the loss on `softmax_label` (n,)."""
    images = mxnet.sym.relu(convolution("stem", mxnet.sym.var("data"), 64, 7, 2))
    images = mxnet.sym.Pooling(images, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")
    for number, block in enumerate(resnet50.bottlenecks()):
        images = bottleneck(f"block{number}", images, block)
    pooled = mxnet.sym.flatten(mxnet.sym.Pooling(images, global_pool=True, pool_type="avg", kernel=(1, 1)))
    classes = mxnet.sym.FullyConnected(pooled, num_hidden=resnet50.CLASSES, name="classes")
    return mxnet.sym.SoftmaxOutput(classes, name="softmax")


def module() -> Any:
    """Return the network on this machine's CPU."""
    return mxnet.mod.Module(network(), context=mxnet.cpu())


def optimizer_parameters() -> dict[str, float]:
    """Return the arguments of `fit` for its optimiser `sgd`, which divides the gradients by the batch size itself."""
    return {"learning_rate": resnet50.LEARNING_RATE, "momentum": resnet50.MOMENTUM, "wd": resnet50.WEIGHT_DECAY}


def main() -> None:
    """Train one epoch of the requested iterations; print the arguments first, as MXNet's own examples do."""
    arguments = parse_arguments()
    mxnet.random.seed(arguments.seed)
    logging.basicConfig(level=logging.INFO, format="%(asctime)-15s Node[0] %(message)s")
    logging.info("start with arguments %s", arguments)
    images, labels = resnet50.noise(arguments, resnet50.BATCHES_HELD, channels_last=False)
    batches = mxnet.io.NDArrayIter(images, labels, arguments.batch_size)
    module().fit(
        mxnet.io.ResizeIter(batches, arguments.iterations),
        eval_metric=["accuracy", "ce"],
        initializer=mxnet.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        kvstore=arguments.kv_store,
        optimizer="sgd",
        optimizer_params=optimizer_parameters(),
        batch_end_callback=mxnet.callback.Speedometer(arguments.batch_size, arguments.print_every),
        num_epoch=1,
    )


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; `network`, `dtype` and `kv_store` are fixed, and printed for readers of the log."""
    parser = resnet50.parser("MXNet")
    parser.add_argument("--print-every", type=options.positive, default=1, help="iterations per printed line")
    parser.set_defaults(network="resnet50_v1.5", dtype="float32", kv_store="local")
    return parser.parse_args()


if __name__ == "__main__":
    main()
