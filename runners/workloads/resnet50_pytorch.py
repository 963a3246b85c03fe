"""Trains ResNet-50 v1.5 in PyTorch on generated images and prints NVIDIA DLLogger lines.

The network's shape is that of `resnet50`. `total_ips` counts the images of all processes over rank 0's seconds (see
`pytorch_training`), `compute_ips` leaves out the time of fetching the batch; the loss is that of rank 0's images.
With `--input resident --label-smoothing 0.1 --bn-weight-decay false` the work of an update is that of NVIDIA's trainer.
Source: NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets: its synthetic loader keeps a batch on the GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import torch

from runners.workloads import dllogger, pytorch_arguments
from runners.workloads.options import positive
from runners.workloads.pytorch_processes import leave
from runners.workloads.pytorch_training import AMP, TrainingSettings, TrainingStep, Workload, placed, train
from runners.workloads.ranks import Process
from runners.workloads.resnet50 import (
    BATCHES_HELD,
    CLASSES,
    LEARNING_RATE,
    MOMENTUM,
    WEIGHT_DECAY,
    BottleneckShape,
    bottlenecks,
)

#: NVIDIA's words for where the channels of an image lie in memory.
MEMORY_FORMATS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


class Bottleneck(torch.nn.Module):  # type: ignore[misc]  # without torch its classes are Any
    """1x1, 3x3, 1x1 with a shortcut; the 3x3 convolution carries the stride (v1.5)."""

    def __init__(self, shape: BottleneckShape) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            *convolution(shape.channels_in, shape.channels, 1, 1),
            torch.nn.ReLU(inplace=True),
            *convolution(shape.channels, shape.channels, 3, shape.stride),
            torch.nn.ReLU(inplace=True),
            *convolution(shape.channels, shape.channels_out, 1, 1),
        )
        shortcut = convolution(shape.channels_in, shape.channels_out, 1, shape.stride) if shape.projects else ()
        self.shortcut = torch.nn.Sequential(*shortcut)
        self.activation = torch.nn.ReLU(inplace=True)

    def forward(self, images: Any) -> Any:
        """(n, channels_in, h, w) to (n, channels_out, h / stride, w / stride)."""
        return self.activation(self.body(images) + self.shortcut(images))


def convolution(channels_in: int, channels_out: int, size: int, stride: int) -> tuple[Any, Any]:
    """Return a convolution that keeps the image's size apart from the stride, with batch normalisation."""
    layer = torch.nn.Conv2d(channels_in, channels_out, size, stride=stride, padding=size // 2, bias=False)
    torch.nn.init.kaiming_normal_(layer.weight, mode="fan_in", nonlinearity="relu")
    return layer, torch.nn.BatchNorm2d(channels_out)


def resnet50() -> Any:
    """Return ResNet-50 v1.5 for 1000 classes: 25,557,032 parameters."""
    blocks = bottlenecks()
    return torch.nn.Sequential(
        *convolution(3, blocks[0].channels_in, 7, 2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        *(Bottleneck(block) for block in blocks),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(blocks[-1].channels_out, CLASSES),
    )


def hold_batches(arguments: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Generate normal noise as images with random labels, in host memory: (n, 3, h, w) and (n,)."""
    shape = (arguments.batch_size, 3, arguments.image_size, arguments.image_size)
    layout = MEMORY_FORMATS[arguments.memory_format]
    return [
        (torch.randn(shape).to(memory_format=layout), torch.randint(CLASSES, shape[:1])) for _ in range(BATCHES_HELD)
    ]


def loss(model: Any, batch: tuple[Any, ...], smoothing: float) -> Any:
    """Return the mean cross entropy over the images of a batch, with this share of each label on all classes."""
    images, labels = batch
    return torch.nn.functional.cross_entropy(model(images), labels, label_smoothing=smoothing)


def optimizer_of(model: Any, bn_weight_decay: bool) -> Any:
    """Return SGD with momentum; without `bn_weight_decay` scale and offset of the normalisations are not decayed."""
    layers = [each for each in model.modules() if isinstance(each, torch.nn.BatchNorm2d | torch.nn.LayerNorm)]
    norms = [each for layer in layers for each in layer.parameters()]
    kept = set() if bn_weight_decay else set(norms)
    decayed = [each for each in model.parameters() if each not in kept]
    groups = [{"params": decayed}, *([{"params": norms, "weight_decay": 0.0}] if kept else [])]
    return torch.optim.SGD(groups, LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)


def workload(arguments: argparse.Namespace, process: Process, device: Any) -> Workload:
    """Build the workload: the same network in all processes of the job, with other images in each."""
    torch.manual_seed(arguments.seed)
    model = arguments.network(arguments).to(device, memory_format=MEMORY_FORMATS[arguments.memory_format]).train()
    optimizer = optimizer_of(model, arguments.bn_weight_decay)
    torch.manual_seed(arguments.seed + process.rank)
    resident = arguments.input == "resident"
    batches = placed(hold_batches(arguments), device, resident)
    return Workload(model, partial(loss, smoothing=arguments.label_smoothing), optimizer, batches, resident)


def throughput(steps: list[TrainingStep], batch_of_job: int) -> tuple[dllogger.PrintedMetric, ...]:
    """Return the metrics of some iterations together: mean loss, and images of the job over the sum of the seconds."""
    images = batch_of_job * len(steps)
    return (
        dllogger.loss("train.loss", sum(step.loss for step in steps) / len(steps)),
        dllogger.images_per_second("train.compute_ips", images / sum(step.compute_seconds for step in steps)),
        dllogger.images_per_second("train.total_ips", images / sum(step.seconds for step in steps)),
        dllogger.learning_rate(LEARNING_RATE),
        dllogger.PrintedMetric("train.grad_scale", f"{steps[-1].loss_scale:.5f}"),
    )


def durations(steps: list[TrainingStep]) -> tuple[dllogger.PrintedMetric, ...]:
    """Return mean seconds per iteration, for fetching the batch and for the rest."""
    return (
        dllogger.seconds("train.data_time", sum(step.data_seconds for step in steps) / len(steps)),
        dllogger.seconds("train.compute_time", sum(step.compute_seconds for step in steps) / len(steps)),
    )


def parameters(arguments: argparse.Namespace, process: Process) -> dict[str, dllogger.Printed]:
    """Return the values of the PARAMETER line, in the words of the NGC trainer if it has one."""
    return {
        "data_backend": "synthetic",
        "arch": arguments.arch,
        "epochs": 1,
        "image_size": arguments.image_size,
        "batch_size": arguments.batch_size,
        "world_size": process.world_size,
        "lr": LEARNING_RATE,
        "optimizer": "sgd",
        "momentum": MOMENTUM,
        "weight_decay": WEIGHT_DECAY,
        "bn_weight_decay": arguments.bn_weight_decay,
        "label_smoothing": arguments.label_smoothing,
        "input": arguments.input,
        "print_freq": arguments.print_every,
        "prof": arguments.iterations,
        **AMP.get(arguments.precision, {}),
        "precision": arguments.precision,
        "seed": arguments.seed,
        "training_only": True,
        "memory_format": arguments.memory_format,
        "compile": arguments.compile,
        "device": arguments.device,
        "threads": torch.get_num_threads(),
    }


def say(line: str) -> None:
    """Print at once, so that an interrupted log still contains everything up to that point."""
    print(line, flush=True)


def follow(arguments: argparse.Namespace, process: Process, device: Any) -> None:
    """Trains for the iterations asked for; rank 0 prints a line each, then those of the epoch and the summary."""
    batch_of_job = arguments.batch_size * process.world_size
    settings = TrainingSettings(arguments.iterations, arguments.precision, arguments.compile)
    steps: list[TrainingStep] = []
    for step in train(workload(arguments, process, device), settings, process, device):
        steps.append(step)
        if process.rank == 0 and len(steps) % arguments.print_every == 0:
            metrics = throughput(steps[-arguments.print_every :], batch_of_job)
            say(dllogger.iteration_line(datetime.now(), 0, len(steps), metrics))
    if process.rank == 0:
        whole = (throughput(steps, batch_of_job), durations(steps))
        for metrics in whole:
            say(dllogger.epoch_line(datetime.now(), 0, metrics))
        for metrics in whole:
            say(dllogger.summary_line(datetime.now(), metrics))


def run(made: argparse.ArgumentParser) -> None:
    """Train the `network` of the arguments, an image classifier, in as many processes as were started."""
    arguments, process, device = pytorch_arguments.begin(made)
    if process.rank == 0:
        say(dllogger.parameter_line(datetime.now(), parameters(arguments, process)))
    follow(arguments, process, device)
    leave(process)


def main() -> None:
    """Train ResNet-50 v1.5."""
    made = parser("Train ResNet-50 v1.5 on generated images and print its throughput.", lambda _: resnet50())
    made.set_defaults(arch="resnet50")
    run(made)


def parser(description: str, network: Callable[[argparse.Namespace], Any]) -> argparse.ArgumentParser:
    """Return the parser of the command line for a network of 1000 classes; its name, `arch`, is the caller's."""
    made = pytorch_arguments.parser(description, 16, "images")
    made.set_defaults(network=network)
    made.add_argument("--image-size", type=positive, default=64, help="height and width in pixels")
    made.add_argument("--memory-format", choices=tuple(MEMORY_FORMATS), default="nchw", help="nhwc: channels last")
    made.add_argument("--label-smoothing", type=share, default=0.0, help="share of each label spread over all classes")
    made.add_argument(
        "--bn-weight-decay", type=pytorch_arguments.switch, default=True, metavar="true|false",
        help="decay the normalisations, too",
    )  # fmt: skip
    return made


def share(text: str) -> float:
    """Convert a number from 0 on and below 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 on and below 1")
    return value


if __name__ == "__main__":
    main()
