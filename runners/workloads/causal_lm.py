"""Trains a Llama from its configuration on generated tokens with Hugging Face's Trainer or TRL's SFTTrainer.

The weights are random and nothing is fetched, so that no licence has to be accepted: speed does not depend on what a
model has learned. What is printed is the trainers' own: the bar of tqdm, a dictionary per step, and a summary. Every
sequence is full, so that tokens are batch size times length. Started by torchrun where there are several devices; then
`--shard true` has FSDP2 shard parameters, gradients and optimiser, and without it each device holds all (DDP).
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any

from runners.workloads.options import add_threads, parser, positive

#: Sizes as published: the 7B is Llama 2's, the 8B Llama 3's. `tiny` is ours, for a trial on a CPU.
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
#: The projections that LoRA's authors adapt, and those of the feed-forward part, as TRL's examples do.
ADAPTED = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def sequences(arguments: argparse.Namespace, count: int) -> Any:
    """Return random tokens as a dataset with `input_ids` and, being their own labels, `labels`: (count, length)."""
    import numpy
    from datasets import Dataset

    vocabulary = MODELS[arguments.model]["vocab_size"]
    random = numpy.random.default_rng(arguments.seed)
    tokens = random.integers(3, vocabulary, (count, arguments.sequence_length))
    return Dataset.from_dict({"input_ids": list(tokens), "labels": list(tokens)})


def network(arguments: argparse.Namespace) -> Any:
    """Return the model with random weights, which are stored in bfloat16 where training is in it."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig

    torch.manual_seed(arguments.seed)
    config = LlamaConfig(**MODELS[arguments.model], max_position_embeddings=arguments.sequence_length, use_cache=False)
    attention = "sdpa"
    kind = torch.bfloat16 if arguments.weights == "bf16" else torch.float32
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention, dtype=kind)


def settings(arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Return the arguments that both trainers take: a line per step, no evaluation, nothing saved."""
    sharded = {"fsdp": "full_shard auto_wrap", "fsdp_config": {"version": 2}} if arguments.shard == "true" else {}
    return {
        "output_dir": folder,
        "max_steps": arguments.iterations,
        "per_device_train_batch_size": arguments.batch_size,
        "gradient_accumulation_steps": arguments.accumulation,
        "learning_rate": LEARNING_RATE,
        "bf16": arguments.precision == "bf16",
        "use_cpu": arguments.device == "cpu",
        "gradient_checkpointing": arguments.recompute == "true",
        "torch_compile": arguments.compile == "true",
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "seed": arguments.seed,
        **sharded,
    }


def tokenizer(arguments: argparse.Namespace) -> Any:
    """Return a tokenizer that TRL asks for though the tokens are there: it knows the marks alone."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    marks = {"<unk>": 0, "<s>": 1, "</s>": 2}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(marks, unk_token="<unk>")),
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="</s>",
        model_max_length=arguments.sequence_length,
    )


def trainer(arguments: argparse.Namespace, folder: str) -> Any:
    """Return the trainer that was asked for."""
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    data = sequences(arguments, arguments.iterations * arguments.batch_size * arguments.accumulation * ranks)
    if arguments.trainer == "trl":
        from peft import LoraConfig
        from trl import SFTConfig, SFTTrainer

        lora = LoraConfig(
            r=arguments.lora, lora_alpha=2 * arguments.lora, target_modules=ADAPTED, task_type="CAUSAL_LM"
        )
        return SFTTrainer(
            model=network(arguments),
            args=SFTConfig(**settings(arguments, folder), max_length=arguments.sequence_length),
            train_dataset=data,
            processing_class=tokenizer(arguments),
            peft_config=lora if arguments.lora else None,
        )
    from transformers import Trainer, TrainingArguments, default_data_collator

    return Trainer(
        model=network(arguments),
        args=TrainingArguments(**settings(arguments, folder)),
        train_dataset=data,
        data_collator=default_data_collator,
    )


def main() -> None:
    """Train for the iterations asked for."""
    arguments = parse_arguments()
    # Nothing is fetched, and no server is asked whether there is something newer.
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    import torch
    from transformers import logging

    torch.set_num_threads(arguments.threads)
    # What a reader of the log needs: batch size, devices, accumulation.
    logging.set_verbosity_info()
    with tempfile.TemporaryDirectory() as folder:
        trainer(arguments, folder).train()


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    made = parser("Train a Llama on generated tokens.", 1)
    made.add_argument("--trainer", choices=("transformers", "trl"), default="transformers")
    made.add_argument("--model", choices=tuple(MODELS), default="llama-tiny")
    made.add_argument("--sequence-length", type=positive, default=128, help="tokens of each sequence")
    made.add_argument("--accumulation", type=positive, default=1, help="batches per update")
    made.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the arithmetic")
    made.add_argument("--weights", choices=("fp32", "bf16"), default="fp32", help="as which weights are stored")
    made.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    made.add_argument(
        "--lora", type=int, default=0, metavar="RANK", help="train adapters of this rank; 0 for all weights"
    )
    for name, what in {"shard": "FSDP2", "recompute": "activations once more", "compile": "torch.compile"}.items():
        made.add_argument(f"--{name}", choices=("true", "false"), default="false", help=what)
    add_threads(made)
    arguments = made.parse_args()
    if arguments.lora and arguments.trainer != "trl":
        made.error("--lora is for --trainer trl")
    return arguments


if __name__ == "__main__":
    main()
