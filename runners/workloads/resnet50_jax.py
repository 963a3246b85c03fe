"""Trains ResNet-50 v1.5 in JAX on generated images, on a CPU, and prints NVIDIA DLLogger's JSON lines.

Plain `jax`, no library of layers: a step is one compiled function from the state to the next one. A figure counts from
before the batch is fetched until the whole new state is there; JAX hands out results that are still being computed,
so that a clock stopped without waiting measures nothing. The first iteration contains the compilation.

Traps: XLA takes the size of its pool of threads from NPROC when its CPU client is made, and not later; its
compiler ignores that limit. And it computes a convolution whose output is smaller than its kernel, as the last ones
are with images of 64 pixels, a hundred times slower than others, so those are written as a product of matrices.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy
from jax import lax
from jax import numpy as jnp

from runners.workloads import dllogger, options, resnet50

TYPES = {"fp32": jnp.float32, "bf16": jnp.bfloat16}
Tree = Any
Random = Any


def initial(seed: int) -> tuple[Tree, Tree]:
    """Return the parameters, drawn as in He et al., and the running statistics: trees of float32 arrays."""
    random = numpy.random.default_rng(seed)
    blocks = [block_parameters(random, block) for block in resnet50.bottlenecks()]
    channels = resnet50.bottlenecks()[-1].channels_out
    weight = random.standard_normal((channels, resnet50.CLASSES), dtype=numpy.float32) * 0.01
    parameters = {
        "stem": convolution_parameters(random, 3, resnet50.STAGES[0][0], 7),
        "blocks": blocks,
        "classes": {"weight": weight, "offset": numpy.zeros(resnet50.CLASSES, numpy.float32)},
    }
    statistics = {
        "stem": initial_statistics(parameters["stem"]),
        "blocks": [{name: initial_statistics(each) for name, each in block.items()} for block in blocks],
    }
    return parameters, statistics


def block_parameters(random: Random, block: resnet50.BottleneckShape) -> Tree:
    """Return the convolutions of a bottleneck by name; `shortcut` is there only if its shape changes."""
    parameters = {
        "first": convolution_parameters(random, block.channels_in, block.channels, 1),
        "middle": convolution_parameters(random, block.channels, block.channels, 3),
        "last": convolution_parameters(random, block.channels, block.channels_out, 1),
    }
    if block.projects:
        parameters["shortcut"] = convolution_parameters(random, block.channels_in, block.channels_out, 1)
    return parameters


def convolution_parameters(random: Random, channels_in: int, channels: int, size: int) -> Tree:
    """Return a kernel (size, size, channels_in, channels) and the parameters of its batch normalisation."""
    kernel = random.standard_normal((size, size, channels_in, channels), dtype=numpy.float32)
    return {
        "kernel": kernel * numpy.float32((2 / (size * size * channels_in)) ** 0.5),
        "scale": numpy.ones(channels, numpy.float32),
        "offset": numpy.zeros(channels, numpy.float32),
    }


def initial_statistics(parameters: Tree) -> Tree:
    """Return mean 0 and variance 1 for each channel."""
    return {"mean": numpy.zeros_like(parameters["scale"]), "variance": numpy.ones_like(parameters["scale"])}


def convolution(parameters: Tree, statistics: Tree, images: Any, stride: int) -> tuple[Any, Tree]:
    """Apply a convolution (padded to keep the image's size) and batch normalisation; return the new statistics too."""
    kernel = parameters["kernel"].astype(images.dtype)
    size, padding = kernel.shape[0], kernel.shape[0] // 2
    if -(-images.shape[1] // stride) < size:
        convolved = product(images, kernel, stride)
    else:
        convolved = lax.conv_general_dilated(
            images, kernel, (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
    return normalised(parameters, statistics, convolved)


def product(images: Any, kernel: Any, stride: int) -> Any:
    """Compute the same convolution as one matrix product: the pixels under a kernel are contiguous."""
    size, padding = kernel.shape[0], kernel.shape[0] // 2
    padded = jnp.pad(images, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    reach = images.shape[1]
    shifts = [(row, column) for row in range(size) for column in range(size)]
    under = [padded[:, row : row + reach : stride, column : column + reach : stride] for row, column in shifts]
    return jnp.concatenate(under, axis=-1) @ kernel.reshape(-1, kernel.shape[-1])


def normalised(parameters: Tree, statistics: Tree, images: Any) -> tuple[Any, Tree]:
    """Return batch normalisation in float32, converted to the images' own type, and the new running statistics."""
    exact = images.astype(jnp.float32)
    mean = exact.mean((0, 1, 2))
    variance = jnp.square(exact).mean((0, 1, 2)) - jnp.square(mean)
    scale = parameters["scale"] * lax.rsqrt(variance + resnet50.EPSILON)
    kept = partial(jax.tree.map, lambda old, new: resnet50.STATISTICS_KEPT * (old - new) + new, statistics)
    result = (exact - mean) * scale + parameters["offset"]
    return result.astype(images.dtype), kept({"mean": mean, "variance": variance})


def bottleneck(parameters: Tree, statistics: Tree, images: Any, stride: int) -> tuple[Any, Tree]:
    """Apply 1x1, 3x3 and 1x1 convolutions with a shortcut; the 3x3 convolution carries the stride (v1.5)."""
    body, new = images, {}
    for name, step in (("first", 1), ("middle", stride), ("last", 1)):
        body, new[name] = convolution(parameters[name], statistics[name], body, step)
        body = body if name == "last" else jax.nn.relu(body)
    if "shortcut" in parameters:
        images, new["shortcut"] = convolution(parameters["shortcut"], statistics["shortcut"], images, stride)
    return jax.nn.relu(body + images), new


def logits(parameters: Tree, statistics: Tree, images: Any) -> tuple[Any, Tree]:
    """Return float32 logits (n, 1000) of images (n, h, w, 3), computed in their type, and the new statistics."""
    images, stem = convolution(parameters["stem"], statistics["stem"], images, 2)
    border = ((0, 0), (1, 1), (1, 1), (0, 0))
    images = lax.reduce_window(jax.nn.relu(images), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), border)
    new = []
    states = zip(parameters["blocks"], statistics["blocks"], strict=True)
    for block, (learned, running) in zip(resnet50.bottlenecks(), states, strict=True):
        images, seen = bottleneck(learned, running, images, block.stride)
        new.append(seen)
    pooled = images.astype(jnp.float32).mean((1, 2))
    classes = parameters["classes"]
    return pooled @ classes["weight"] + classes["offset"], {"stem": stem, "blocks": new}


def mean_loss(parameters: Tree, statistics: Tree, images: Any, labels: Any) -> tuple[Any, Tree]:
    """Return the mean cross entropy over the batch, and the new statistics."""
    scores, new = logits(parameters, statistics, images)
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1).mean(), new


@partial(jax.jit, donate_argnums=0, static_argnames="precision")
def update(state: Tree, images: Any, labels: Any, precision: str) -> tuple[Tree, Any]:
    """Run forward, loss, backward and SGD with momentum; return (parameters, statistics, velocity) and the loss."""
    parameters, statistics, velocity = state
    differentiated = jax.value_and_grad(mean_loss, has_aux=True)
    (loss, statistics), gradient = differentiated(parameters, statistics, images.astype(TYPES[precision]), labels)
    velocity = jax.tree.map(
        lambda past, now, weight: resnet50.MOMENTUM * past + now + resnet50.WEIGHT_DECAY * weight,
        velocity, gradient, parameters,
    )  # fmt: skip
    parameters = jax.tree.map(lambda weight, speed: weight - resnet50.LEARNING_RATE * speed, parameters, velocity)
    return (parameters, statistics, velocity), loss


def train(arguments: argparse.Namespace) -> Iterator[tuple[float, float]]:
    """Yield loss and seconds of each iteration."""
    parameters, statistics = initial(arguments.seed)
    state = jax.device_put((parameters, statistics, jax.tree.map(numpy.zeros_like, parameters)))
    images, labels = resnet50.noise(arguments, resnet50.BATCHES_HELD, channels_last=True)
    held = list(zip(*(numpy.split(each, resnet50.BATCHES_HELD) for each in (images, labels)), strict=True))
    for iteration in range(arguments.iterations):
        started = time.perf_counter()
        batch = jax.device_put(held[iteration % len(held)])
        state, loss = jax.block_until_ready(update(state, *batch, arguments.precision))
        yield float(loss), time.perf_counter() - started


def main() -> None:
    """Train for the requested iterations, and print one line each."""
    arguments = parse_arguments()
    os.environ.update(NPROC=str(arguments.threads), JAX_PLATFORMS="cpu")
    log = dllogger.JsonLog()
    log.say(dllogger.PARAMETERS, resnet50.parameters_of(arguments))
    for iteration, (loss, seconds) in enumerate(train(arguments), 1):
        log.say((0, iteration), {"train.loss": loss, "train.total_ips": arguments.batch_size / seconds})


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = resnet50.parser("JAX", tuple(TYPES))
    options.add_threads(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
