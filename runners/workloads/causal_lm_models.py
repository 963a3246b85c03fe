"""The common parts of the trainers of language models: sizes of models, generated tokens, and their command line."""

from __future__ import annotations

import argparse
from typing import Any

from runners.workloads.options import parser, positive

#: Sizes as published: the 7B is Llama 2's, the 8B Llama 3's. `llama-tiny` is ours, for a CPU.
MODELS: dict[str, dict[str, int]] = {
    "llama-2-7b": {
        "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "vocab_size": 32000,
    },
    "llama-3-8b": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256,
    },
    "llama-tiny": {
        "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 8,
        "num_key_value_heads": 8, "vocab_size": 32000,
    },
}  # fmt: skip
LEARNING_RATE = 1e-4
#: An array of int64.
Tokens = Any


def tokens(arguments: argparse.Namespace, count: int) -> Tokens:
    """Return random tokens: int64 (count, sequence length + 1), without those that mark beginning, end and the like."""
    import numpy

    shape = (count, arguments.sequence_length + 1)
    return numpy.random.default_rng(arguments.seed).integers(3, MODELS[arguments.model]["vocab_size"], shape)


def language_model_parser(description: str, devices: tuple[str, str]) -> argparse.ArgumentParser:
    """Return a parser with the shared options; `devices` are the framework's words for a processor and a GPU."""
    made = parser(description, 1, "sequences")
    made.add_argument("--model", choices=tuple(MODELS), default="llama-tiny")
    made.add_argument("--sequence-length", type=positive, default=128, help="tokens of each sequence")
    made.add_argument("--accumulation", type=positive, default=1, help="batches per update")
    made.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the arithmetic")
    made.add_argument("--device", choices=devices, default="cpu")
    return made
