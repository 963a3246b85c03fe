"""Trains a PaddleSeg network with PaddleSeg's own trainer, on images generated here; the printing is PaddleSeg's.

For paddleseg 2.8.0 on paddlepaddle 2.6.2. One thing is added: a loss there has no dimension, while the trainer reads
element 0 of it (`IndexError: too many indices`), so the loss gets one dimension back. It costs no measurable time.
The wheels of paddleseg leave out its `tools/train.py`, which is why the datasets are built in Python.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

import numpy
import paddle
import paddleseg.core
from paddleseg import datasets, models, transforms
from paddleseg.models import losses

# Imported by name: it comes with paddleseg, and the type checker has nothing to look at.
cv2: Any = importlib.import_module("cv2")

CLASSES = 19
IMAGES = 64
REGIONS = 8
LEARNING_RATE = 0.01


class CrossEntropyLoss(losses.CrossEntropyLoss):  # type: ignore[misc]  # without paddle its classes are Any
    """PaddleSeg's loss with the shape (1,) that its trainer indexes."""

    def forward(self, logit: Any, label: Any, semantic_weights: Any = None) -> Any:
        """Mean cross entropy over the pixels, shape (1,)."""
        return super().forward(logit, label, semantic_weights).reshape([1])


def write_dataset(folder: Path, image_size: int, seed: int) -> Path:
    """Write pairs of files, rectangles of classes and noisy colours of them, and return the list of them.

    BMP because it needs no zlib: the one inside paddle 2.6.2 and those of the image libraries crash each other.
    """
    random = numpy.random.default_rng(seed)
    colours = random.integers(0, 256, (CLASSES, 3))
    folder.mkdir(parents=True)
    for index in range(IMAGES):
        label = random.integers(0, CLASSES, (REGIONS, REGIONS)).repeat(-(-image_size // REGIONS), 0)
        label = label.repeat(-(-image_size // REGIONS), 1)[:image_size, :image_size].astype("uint8")
        noise = random.integers(-24, 25, (image_size, image_size, 3))
        image = (colours[label] + noise).clip(0, 255).astype("uint8")
        cv2.imwrite(str(folder / f"image{index}.bmp"), image)
        cv2.imwrite(str(folder / f"label{index}.bmp"), label)
    listing = folder / "train.txt"
    listing.write_text("".join(f"image{index}.bmp label{index}.bmp\n" for index in range(IMAGES)), encoding="utf-8")
    return listing


def network(name: str) -> tuple[Any, int]:
    """Return the network and the number of outputs that its loss is computed on."""
    if name == "fastscnn":
        return models.FastSCNN(num_classes=CLASSES, enable_auxiliary_loss=True), 2
    backbone = models.ResNet50_vd(output_stride=8)
    return models.DeepLabV3P(num_classes=CLASSES, backbone=backbone, backbone_indices=(0, 3)), 1


def main() -> None:
    """Train for the requested iterations, in the folder it is started in."""
    arguments = parse_arguments()
    paddle.seed(arguments.seed)
    listing = write_dataset(Path("dataset"), arguments.image_size, arguments.seed)
    crop = transforms.RandomPaddingCrop(crop_size=(arguments.image_size, arguments.image_size))
    dataset = datasets.Dataset(
        mode="train",
        dataset_root=str(listing.parent),
        train_path=str(listing),
        num_classes=CLASSES,
        transforms=[crop, transforms.RandomHorizontalFlip(), transforms.Normalize()],
    )
    model, outputs = network(arguments.model)
    optimizer = paddle.optimizer.Momentum(LEARNING_RATE, parameters=model.parameters(), weight_decay=4e-5)
    paddleseg.core.train(
        model,
        dataset,
        optimizer=optimizer,
        iters=arguments.iterations,
        batch_size=arguments.batch_size,
        save_interval=arguments.iterations,
        log_iters=arguments.print_every,
        losses={"types": [CrossEntropyLoss() for _ in range(outputs)], "coef": [1.0, 0.4][:outputs]},
    )


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; the defaults are those of a smoke test."""
    parser = argparse.ArgumentParser(description="Train a segmentation network with PaddleSeg on generated images.")
    parser.add_argument("--model", choices=("fastscnn", "deeplabv3p_resnet50"), default="fastscnn")
    parser.add_argument("--batch-size", type=int, default=2, help="images per iteration")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--image-size", type=int, default=128, help="height and width in pixels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print-every", type=int, default=2, help="iterations per printed line")
    return parser.parse_args()


if __name__ == "__main__":
    main()
