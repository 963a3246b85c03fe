"""Trains ResNet-50 v1.5 with Keras' `fit` in TensorFlow on generated images; the printing is that of `verbose=2`.

Traps: Keras prints a line per epoch, so an epoch here is the iterations between two lines, and the first one holds the
building of the graph; from a second per step on it prints whole seconds, which no figure can be made of. A padding of
`same` with a stride of 2 pads one side only, so that such convolutions are padded by hand. Fed with arrays, `fit` makes
a new iterator for every epoch, a tenth of an iteration at this size; fed with a dataset that has no end, it goes on
with the old one. `SGD` takes the weight decay apart from the gradient and its momentum, where other frameworks add the
two; the work is the same.
"""

from __future__ import annotations

import argparse
from typing import Any

import keras
import tensorflow

from runners.workloads import options, resnet50

layers = keras.layers


def convolution(images: Any, channels: int, size: int, stride: int) -> Any:
    """A convolution that keeps the image's size apart from the stride, and its batch normalisation."""
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


def bottleneck(images: Any, block: resnet50.Bottleneck) -> Any:
    """1x1, 3x3, 1x1 with a shortcut; the 3x3 convolution carries the stride (v1.5)."""
    body = layers.ReLU()(convolution(images, block.channels, 1, 1))
    body = layers.ReLU()(convolution(body, block.channels, 3, block.stride))
    body = convolution(body, block.channels_out, 1, 1)
    if block.projects:
        images = convolution(images, block.channels_out, 1, block.stride)
    return layers.ReLU()(layers.Add()([body, images]))


def network(image_size: int) -> Any:
    """ResNet-50 v1.5 from images (n, h, w, 3) to logits (n, 1000), which are float32 at any precision."""
    entered = layers.Input((image_size, image_size, 3))
    images = layers.ReLU()(convolution(entered, 64, 7, 2))
    images = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(images))
    for block in resnet50.bottlenecks():
        images = bottleneck(images, block)
    classes = layers.Dense(resnet50.CLASSES, dtype="float32")(layers.GlobalAveragePooling2D()(images))
    return keras.Model(entered, classes)


def compiled(image_size: int) -> Any:
    """The network with its loss and its optimiser; built here, since `fit` would else trace the graph twice."""
    model = network(image_size)
    optimizer = keras.optimizers.SGD(
        resnet50.LEARNING_RATE, momentum=resnet50.MOMENTUM, weight_decay=resnet50.WEIGHT_DECAY
    )
    optimizer.build(model.trainable_variables)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def held(arguments: argparse.Namespace) -> Any:
    """The batches held in memory, over and over, without threads of their own."""
    images, labels = resnet50.noise(arguments, resnet50.BATCHES_HELD, channels_last=True)
    options = tensorflow.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False
    pairs = tensorflow.data.Dataset.from_tensor_slices((images, labels))
    return pairs.batch(arguments.batch_size).cache().repeat().with_options(options)


def limit_threads(threads: int) -> None:
    """So many threads within an operation, one operation at a time. Before the first operation, or it is refused."""
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)


def main() -> None:
    """Trains for the iterations asked for; what is left over after the last line is not run."""
    arguments = parse_arguments()
    limit_threads(arguments.threads)
    keras.utils.set_random_seed(arguments.seed)
    if arguments.precision == "bf16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    compiled(arguments.image_size).fit(
        held(arguments),
        epochs=arguments.iterations // arguments.print_every,
        steps_per_epoch=arguments.print_every,
        shuffle=False,
        verbose=2,
    )


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = resnet50.parser("TensorFlow", ("fp32", "bf16"))
    options.add_threads(parser)
    parser.add_argument("--print-every", type=options.positive, default=1, help="iterations per epoch, thus per line")
    return parser.parse_args()


if __name__ == "__main__":
    main()
