"""Trains ResNet-50 v1.5 in PyTorch on generated images and prints NVIDIA DLLogger lines.

v1.5 differs from the paper's network in one place: a bottleneck that halves the image does so in its 3x3 convolution,
not in its first 1x1 one (the trap: the two are told apart by no name in a log, only by their speed).

Every figure printed is measured: an iteration's clock starts before the batch is fetched and stops when the loss is
known on the host, so that work queued on a GPU is counted. `compute_ips` leaves out the time of fetching the batch,
`total_ips` does not. Runs on the first GPU where there is one, otherwise on the CPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import torch

from runners.workloads import dllogger

CLASSES = 1000
LEARNING_RATE = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
EXPANSION = 4
BATCHES_HELD = 4


@dataclass(frozen=True)
class Step:
    """What one iteration took, in seconds, and the loss it had."""

    loss: float
    data_seconds: float
    compute_seconds: float


class Bottleneck(torch.nn.Module):  # type: ignore[misc]  # without torch its classes are Any
    """1x1, 3x3, 1x1 with a shortcut; the 3x3 convolution carries the stride (v1.5)."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        channels_out = channels * EXPANSION
        self.body = torch.nn.Sequential(
            *convolution(channels_in, channels, 1, 1),
            torch.nn.ReLU(inplace=True),
            *convolution(channels, channels, 3, stride),
            torch.nn.ReLU(inplace=True),
            *convolution(channels, channels_out, 1, 1),
        )
        same_shape = stride == 1 and channels_in == channels_out
        self.shortcut = torch.nn.Sequential(*(() if same_shape else convolution(channels_in, channels_out, 1, stride)))
        self.activation = torch.nn.ReLU(inplace=True)

    def forward(self, images: Any) -> Any:
        """(n, channels_in, h, w) to (n, 4 * channels, h / stride, w / stride)."""
        return self.activation(self.body(images) + self.shortcut(images))


def convolution(channels_in: int, channels_out: int, size: int, stride: int) -> tuple[Any, Any]:
    """A convolution that keeps the image's size apart from the stride, and its batch normalisation."""
    layer = torch.nn.Conv2d(channels_in, channels_out, size, stride=stride, padding=size // 2, bias=False)
    torch.nn.init.kaiming_normal_(layer.weight, mode="fan_in", nonlinearity="relu")
    return layer, torch.nn.BatchNorm2d(channels_out)


def resnet50() -> Any:
    """ResNet-50 v1.5 for 1000 classes: 25,557,032 parameters."""
    layers: list[Any] = [
        *convolution(3, 64, 7, 2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
    ]
    channels_in = 64
    for channels, blocks, stride in STAGES:
        for block in range(blocks):
            layers.append(Bottleneck(channels_in, channels, stride if block == 0 else 1))
            channels_in = channels * EXPANSION
    pool = torch.nn.AdaptiveAvgPool2d(1)
    return torch.nn.Sequential(*layers, pool, torch.nn.Flatten(), torch.nn.Linear(channels_in, CLASSES))


def hold_batches(arguments: argparse.Namespace) -> list[tuple[Any, Any]]:
    """Normal noise as images with random labels, in host memory: (n, 3, h, w) and (n,)."""
    shape = (arguments.batch_size, 3, arguments.image_size, arguments.image_size)
    return [(torch.randn(shape), torch.randint(CLASSES, shape[:1])) for _ in range(BATCHES_HELD)]


def fetch(batch: tuple[Any, Any], device: Any) -> tuple[Any, Any]:
    """A batch copied to the device; on the CPU too, where it would otherwise be handed over without any work."""
    images, labels = batch
    return images.to(device, copy=True), labels.to(device, copy=True)


def train(arguments: argparse.Namespace, device: Any) -> Iterator[Step]:
    """Forward, loss, backward and update, once per iteration."""
    model = resnet50().to(device).train()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    held = hold_batches(arguments)
    for iteration in range(arguments.iterations):
        started = time.perf_counter()
        images, labels = fetch(held[iteration % len(held)], device)
        fetched = time.perf_counter()
        with autocast(arguments.precision, device):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        synchronize(device)
        yield Step(value, fetched - started, time.perf_counter() - fetched)


def autocast(precision: str, device: Any) -> Any:
    """bfloat16 where autocast allows it, or nothing."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if precision == "bf16" else nullcontext()


def synchronize(device: Any) -> None:
    """Waits for work queued on a GPU: the update is still running when the loss is known."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def throughput(steps: list[Step], batch_size: int) -> tuple[dllogger.Metric, ...]:
    """The metrics of some iterations together: mean loss, and images over the sum of the seconds."""
    images = batch_size * len(steps)
    compute = sum(step.compute_seconds for step in steps)
    data = sum(step.data_seconds for step in steps)
    return (
        dllogger.loss("train.loss", sum(step.loss for step in steps) / len(steps)),
        dllogger.images_per_second("train.compute_ips", images / compute),
        dllogger.images_per_second("train.total_ips", images / (compute + data)),
        dllogger.learning_rate(LEARNING_RATE),
        dllogger.Metric("train.grad_scale", f"{1.0:.5f}"),
    )


def durations(steps: list[Step]) -> tuple[dllogger.Metric, ...]:
    """Mean seconds per iteration, for fetching the batch and for the rest."""
    return (
        dllogger.seconds("train.data_time", sum(step.data_seconds for step in steps) / len(steps)),
        dllogger.seconds("train.compute_time", sum(step.compute_seconds for step in steps) / len(steps)),
    )


def parameters(arguments: argparse.Namespace, device: Any) -> dict[str, object]:
    """What the PARAMETER line states, in the words of the NGC trainer where it has one."""
    return {
        "data_backend": "synthetic",
        "arch": "resnet50",
        "epochs": 1,
        "image_size": arguments.image_size,
        "batch_size": arguments.batch_size,
        "world_size": 1,
        "lr": LEARNING_RATE,
        "optimizer": "sgd",
        "momentum": MOMENTUM,
        "weight_decay": WEIGHT_DECAY,
        "print_freq": arguments.print_every,
        "prof": arguments.iterations,
        "amp": arguments.precision != "fp32",
        "precision": arguments.precision,
        "seed": arguments.seed,
        "training_only": True,
        "memory_format": "nchw",
        "device": device.type,
        "threads": torch.get_num_threads(),
    }


def say(line: str) -> None:
    """Prints at once, so that a log that breaks off still holds what was reached."""
    print(line, flush=True)


def main() -> None:
    """Trains for the iterations asked for; prints one line each, then those of the epoch and the summary."""
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    say(dllogger.parameter_line(datetime.now(), parameters(arguments, device)))
    steps: list[Step] = []
    for step in train(arguments, device):
        steps.append(step)
        if len(steps) % arguments.print_every == 0:
            metrics = throughput(steps[-arguments.print_every :], arguments.batch_size)
            say(dllogger.iteration_line(datetime.now(), 0, len(steps), metrics))
    for metrics in (throughput(steps, arguments.batch_size), durations(steps)):
        say(dllogger.epoch_line(datetime.now(), 0, metrics))
    for metrics in (throughput(steps, arguments.batch_size), durations(steps)):
        say(dllogger.summary_line(datetime.now(), metrics))


def parse_arguments() -> argparse.Namespace:
    """The command line; the defaults are those of a smoke test."""
    parser = argparse.ArgumentParser(description="Train ResNet-50 v1.5 on generated images and print its throughput.")
    parser.add_argument("--batch-size", type=positive, default=16, help="images per iteration")
    parser.add_argument("--iterations", type=positive, default=20)
    parser.add_argument("--image-size", type=positive, default=64, help="height and width in pixels")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=positive, default=1, help="CPU threads within an operation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print-every", type=positive, default=1, help="iterations per printed line")
    return parser.parse_args()


def positive(text: str) -> int:
    """A whole number from 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return value


if __name__ == "__main__":
    main()
