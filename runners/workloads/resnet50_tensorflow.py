"""Trains ResNet-50 v1.5 with Keras' `fit` in TensorFlow on generated images, and prints NVIDIA DLLogger's JSON lines.

Keras' own lines are not used: from a second per step on they print whole seconds, which are too coarse for a figure. A
figure counts from the end of an iteration to the end of the next one; the first contains the building of the graph.

Traps: a padding of `same` with a stride of 2 pads one side only, so that such convolutions are padded by hand; the loss
that `fit` prints is a mean since the epoch began, unless it is reset; `SGD` takes the weight decay apart from the
gradient and its momentum, where other frameworks add the two, though the work is the same.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import keras
import tensorflow

from runners.workloads import dllogger, options, resnet50

layers = keras.layers


def convolution(images: Any, channels: int, size: int, stride: int) -> Any:
    """Apply a convolution that keeps the image's size apart from the stride, and batch normalisation."""
    padded = layers.ZeroPadding2D(size // 2)(images) if size > 1 and stride > 1 else images
    convolved = layers.Conv2D(
        channels,
        size,
        strides=stride,
        padding="same" if padded is images else "valid",
        use_bias=False,
        kernel_initializer="he_normal",
    )(padded)
    return layers.BatchNormalization(momentum=resnet50.STATISTICS_KEPT, epsilon=resnet50.EPSILON)(convolved)


def bottleneck(images: Any, block: resnet50.BottleneckShape) -> Any:
    """1x1, 3x3, 1x1 with a shortcut; the 3x3 convolution carries the stride (v1.5)."""
    body = layers.ReLU()(convolution(images, block.channels, 1, 1))
    body = layers.ReLU()(convolution(body, block.channels, 3, block.stride))
    body = convolution(body, block.channels_out, 1, 1)
    if block.projects:
        images = convolution(images, block.channels_out, 1, block.stride)
    return layers.ReLU()(layers.Add()([body, images]))


def network(image_size: int) -> Any:
    """Return ResNet-50 v1.5 from images (n, h, w, 3) to logits (n, 1000), which are float32 at any precision."""
    entered = layers.Input((image_size, image_size, 3))
    images = layers.ReLU()(convolution(entered, 64, 7, 2))
    images = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(images))
    for block in resnet50.bottlenecks():
        images = bottleneck(images, block)
    classes = layers.Dense(resnet50.CLASSES, dtype="float32")(layers.GlobalAveragePooling2D()(images))
    return keras.Model(entered, classes)


def compiled(image_size: int) -> Any:
    """Return the network with its loss and its optimiser; compiled here, or `fit` would trace the graph twice."""
    model = network(image_size)
    optimizer = keras.optimizers.SGD(
        resnet50.LEARNING_RATE, momentum=resnet50.MOMENTUM, weight_decay=resnet50.WEIGHT_DECAY
    )
    optimizer.build(model.trainable_variables)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


class StepPrinter(keras.callbacks.Callback):  # type: ignore[misc]  # without keras its classes are Any
    """Prints a line per iteration; the loss is the batch's own."""

    def __init__(self, batch_size: int, log: dllogger.JsonLog) -> None:
        super().__init__()
        self.batch_size = batch_size
        self.log = log

    def on_train_begin(self, logs: Any = None) -> None:
        """Start the clock."""
        self.ended = time.perf_counter()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Forget the losses of earlier batches."""
        self.model.reset_metrics()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Stop the clock when the loss is known on the host, print, and start it again at once."""
        loss = float(logs["loss"])
        before, self.ended = self.ended, time.perf_counter()
        speed = self.batch_size / (self.ended - before)
        self.log.say((0, batch + 1), {"train.loss": loss, "train.total_ips": speed})


def dataset(arguments: argparse.Namespace) -> Any:
    """Return an endless dataset of the batches in memory, without threads of its own."""
    images, labels = resnet50.noise(arguments, resnet50.BATCHES_HELD, channels_last=True)
    options = tensorflow.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False
    pairs = tensorflow.data.Dataset.from_tensor_slices((images, labels))
    return pairs.batch(arguments.batch_size).cache().repeat().with_options(options)


def limit_threads(threads: int) -> None:
    """Set the threads within an operation, one operation at a time; call it before the first operation."""
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)


def main() -> None:
    """Train one epoch of the requested iterations, and print one line each."""
    arguments = parse_arguments()
    limit_threads(arguments.threads)
    keras.utils.set_random_seed(arguments.seed)
    if arguments.precision == "bf16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    log = dllogger.JsonLog()
    log.say(dllogger.PARAMETERS, resnet50.parameters_of(arguments))
    compiled(arguments.image_size).fit(
        dataset(arguments),
        steps_per_epoch=arguments.iterations,
        shuffle=False,
        verbose=0,
        callbacks=[StepPrinter(arguments.batch_size, log)],
    )


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = resnet50.parser("TensorFlow", ("fp32", "bf16"))
    options.add_threads(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
