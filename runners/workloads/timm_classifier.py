"""Trains an image classifier of timm on generated images: the model is timm's, the loop that of `resnet50_pytorch`.

timm's own training script is not in its package. The lines have the shape of those of NVIDIA's trainer.
"""

from __future__ import annotations

import argparse
from typing import Any

from runners.workloads import resnet50_pytorch
from runners.workloads.resnet50 import CLASSES


def network(arguments: argparse.Namespace) -> Any:
    """Return the model with random weights, for images of the size asked for."""
    import timm

    # Convolutional networks take images of any size, and no argument for it.
    sized = {"img_size": arguments.image_size} if arguments.arch.startswith("vit_") else {}
    return timm.create_model(arguments.arch, pretrained=False, num_classes=CLASSES, **sized)


def main() -> None:
    """Train the model that is named."""
    made = resnet50_pytorch.parser("Train an image classifier of timm and print its throughput.", network)
    made.add_argument("--arch", default="resnet50", help="timm's name of the model")
    resnet50_pytorch.run(made)


if __name__ == "__main__":
    main()
