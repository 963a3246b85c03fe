"""Trains a Llama from its configuration on generated tokens with PaddleFormers' Trainer: `causal_lm` in PaddlePaddle.

The weights are random and nothing is fetched. The trainer prints its own line per step. Every sequence is full.
Started by `paddle.distributed.launch` where there are several devices; `--sharding stage3` has them share
parameters, gradients and optimiser.
"""

from __future__ import annotations

import argparse
import tempfile

from runners.workloads.causal_lm_models import LEARNING_RATE, MODELS, Tokens, language_model_parser, tokens


class Sequences:
    """Random tokens, which are their own labels: as many sequences as the training takes."""

    def __init__(self, arguments: argparse.Namespace, count: int) -> None:
        self.tokens = tokens(arguments, count)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, number: int) -> dict[str, Tokens]:
        # The trainer leaves the shift by one to its data sets.
        row = self.tokens[number]
        return {"input_ids": row[:-1], "labels": row[1:]}


def main() -> None:
    """Train for the iterations asked for."""
    arguments = parse_arguments()
    import paddle
    from paddleformers.trainer import Trainer, TrainingArguments
    from paddleformers.transformers import LlamaConfig, LlamaForCausalLM

    paddle.seed(arguments.seed)
    if arguments.device == "cpu":
        paddle.set_device("cpu")
    config = LlamaConfig(**MODELS[arguments.model], max_position_embeddings=arguments.sequence_length, use_cache=False)
    # A kernel of GPUs alone.
    config.fuse_rms_norm = arguments.device == "gpu"
    model = LlamaForCausalLM(config)
    ranks = paddle.distributed.get_world_size()
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder,
            max_steps=arguments.iterations,
            per_device_train_batch_size=arguments.batch_size,
            gradient_accumulation_steps=arguments.accumulation,
            learning_rate=LEARNING_RATE,
            bf16=arguments.precision == "bf16",
            # Weights and arithmetic in bfloat16, with gradients and a copy of the weights in float32 for the update.
            fp16_opt_level="O2",
            amp_master_grad=arguments.precision == "bf16",
            device=arguments.device,
            logging_steps=1,
            save_strategy="no",
            seed=arguments.seed,
            sharding=arguments.sharding,
            recompute_granularity="full" if arguments.recompute == "true" else None,
        )
        count = arguments.iterations * arguments.batch_size * arguments.accumulation * ranks
        Trainer(model=model, args=settings, train_dataset=Sequences(arguments, count)).train()


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    made = language_model_parser("Train a Llama on generated tokens in PaddlePaddle.", ("cpu", "gpu"))
    made.add_argument("--recompute", choices=("true", "false"), default="false", help="activations once more")
    made.add_argument("--sharding", choices=("", "stage1", "stage2", "stage3"), default="")
    return made.parse_args()


if __name__ == "__main__":
    main()
