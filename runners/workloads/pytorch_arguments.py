"""The further options that the PyTorch workloads have in common; the defaults are those of a smoke test."""

from __future__ import annotations

import argparse
import os
from typing import Any

import torch

from runners.workloads import options
from runners.workloads.pytorch_processes import join
from runners.workloads.pytorch_training import PRECISIONS, prepare, refusal
from runners.workloads.ranks import Process, process_of


def parser(description: str, batch_size: int, samples: str) -> argparse.ArgumentParser:
    """Return a parser with the shared options; `samples` says what a batch contains."""
    made = options.parser(description, batch_size, samples)
    made.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: one GPU per process")
    made.add_argument("--precision", choices=PRECISIONS, default="fp32", help="amp: float16 with a scaled loss")
    made.add_argument("--compile", type=switch, default=False, metavar="true|false", help="compile the network first")
    made.add_argument(
        "--input", choices=("copied", "resident"), default="copied", help="resident: batches lie on the device"
    )
    options.add_threads(made)
    made.add_argument("--print-every", type=options.positive, default=1, help="iterations per printed line")
    return made


def begin(made: argparse.ArgumentParser) -> tuple[argparse.Namespace, Process, Any]:
    """Return the arguments, this process and its device, once all processes of the job have started.

    Ends with status 2 and one message where it cannot train like this.
    """
    arguments = made.parse_args()
    try:
        process = process_of(os.environ)
        if reason := refusal(arguments.device, arguments.precision, process):
            made.error(reason)
        torch.set_num_threads(arguments.threads)
        device = prepare(process, arguments.device, arguments.precision)
        join(process, device)
    except ValueError as error:
        made.error(str(error))
    return arguments, process, device


def switch(text: str) -> bool:
    """Convert `true` or `false`, as a recipe's matrix writes an option that is on or off."""
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text} is neither true nor false")
    return text == "true"
