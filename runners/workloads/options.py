"""The options that trainers have in common; the defaults are those of a smoke test."""

from __future__ import annotations

import argparse


def parser(description: str, batch_size: int, samples: str = "images") -> argparse.ArgumentParser:
    """Return a parser with batch size, iterations and seed; `samples` says what a batch contains."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--batch-size", type=positive, default=batch_size, help=f"{samples} per process and batch")
    made.add_argument("--iterations", type=positive, default=20)
    made.add_argument("--seed", type=int, default=0)
    return made


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add `--threads`, for frameworks that do not take it from their environment."""
    parser.add_argument("--threads", type=positive, default=1, help="CPU threads within an operation")


def positive(text: str) -> int:
    """Convert a whole number from 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return value
