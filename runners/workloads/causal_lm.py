"""Trains a Llama from its configuration on generated tokens with Hugging Face's Trainer or TRL's SFTTrainer.

The weights are random and nothing is fetched, so that no licence has to be accepted: speed does not depend on
their values. Every sequence is full, so that tokens are batch size times length. Started by torchrun where there
are several devices; then `--shard true` has FSDP2 shard parameters, gradients and optimiser, and without it each device
keeps all of them (DDP). The bar of the trainers prints a smoothed time per step. This trainer prints a line in the
shape of NVIDIA DLLogger's instead, from one step's loss to the next, which the host waits for.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from typing import Any

from runners.workloads import dllogger
from runners.workloads.causal_lm_models import LEARNING_RATE, MODELS, language_model_parser, tokens
from runners.workloads.options import add_threads

#: The projections that LoRA's authors adapt, and those of the feed-forward part, as TRL's examples do.
ADAPTED = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def sequences(arguments: argparse.Namespace, count: int) -> Any:
    """Return random tokens as a dataset with `input_ids` and, being their own labels, `labels`: (count, length)."""
    from datasets import Dataset

    # The model itself shifts labels by one.
    rows = list(tokens(arguments, count)[:, :-1])
    return Dataset.from_dict({"input_ids": rows, "labels": rows})


def network(arguments: argparse.Namespace) -> Any:
    """Return the model with random weights, which are stored in bfloat16 where training is in it."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig

    torch.manual_seed(arguments.seed)
    config = LlamaConfig(**MODELS[arguments.model], max_position_embeddings=arguments.sequence_length, use_cache=False)
    kind = torch.bfloat16 if arguments.weights == "bf16" else torch.float32
    # A processor takes minutes to draw 7B weights; a model that will be shared among GPUs may be too large for one.
    is_on_gpu = arguments.device == "cuda" and arguments.shard == "false"
    with torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if is_on_gpu else "cpu"):
        return AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=kind)


def settings(kind: Any, arguments: argparse.Namespace, folder: str, **further: Any) -> Any:
    """Return the settings of a trainer, of their `kind`: a line per step, no evaluation, nothing saved."""
    sharded = {"fsdp": "full_shard auto_wrap", "fsdp_config": {"version": 2}} if arguments.shard == "true" else {}
    return kind(
        output_dir=folder,
        max_steps=arguments.iterations,
        per_device_train_batch_size=arguments.batch_size,
        gradient_accumulation_steps=arguments.accumulation,
        learning_rate=LEARNING_RATE,
        bf16=arguments.precision == "bf16",
        use_cpu=arguments.device == "cpu",
        gradient_checkpointing=arguments.recompute == "true",
        torch_compile=arguments.compile == "true",
        logging_steps=1,
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
        seed=arguments.seed,
        **sharded,
        **further,
    )


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


def ranks() -> int:
    """Return the number of processes of the job, by torchrun's variable."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def operations_per_token(model: Any, arguments: argparse.Namespace) -> float:
    """Return the floating-point operations of forward and backward pass per token, without what is computed twice.

    Each weight of a matrix takes 2 forward, 2 for the gradient of its input, and 2 for its own unless it is frozen;
    attention takes `12 l h s` over s tokens, as if each saw all others. Source: A. Chowdhery et al., "PaLM: Scaling
    Language Modeling with Pathways", 2022, appendix B.
    """
    import torch

    matrices = [each.weight for each in model.modules() if isinstance(each, torch.nn.Linear)]
    size = MODELS[arguments.model]
    attention = 12 * size["num_hidden_layers"] * size["hidden_size"] * arguments.sequence_length
    return float(sum((6 if each.requires_grad else 4) * each.numel() for each in matrices) + attention)


def print_steps(made: Any, arguments: argparse.Namespace) -> None:
    """Have a trainer print a line per step, by rank 0, in place of its own words."""
    from transformers import PrinterCallback, TrainerCallback

    log, of_step = (
        dllogger.JsonLog(made.is_world_process_zero()),
        arguments.batch_size * arguments.accumulation * ranks(),
    )
    # Before the trainer wraps the model, which may share its weights among ranks.
    of_sequence = operations_per_token(made.model, arguments) * arguments.sequence_length

    class PrintedSteps(TrainerCallback):  # type: ignore[misc]  # without transformers its classes are Any
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            stated = {"batch_size_per_device": arguments.batch_size, "global_batch_size": of_step}
            own = {name: value for name, value in vars(arguments).items() if name not in ("batch_size", "iterations")}
            log.say(
                dllogger.PARAMETERS,
                {**own, **stated, "world_size": ranks(), "max_seq_length": arguments.sequence_length},
            )
            self.started = self.ended = time.perf_counter()

        def on_log(self, _: Any, state: Any, *__: Any, logs: dict[str, float], **___: Any) -> None:
            before, self.ended = self.ended, time.perf_counter()
            if "loss" in logs:
                rate = of_step / (self.ended - before)
                speeds = {
                    "train.sequences_per_second": round(rate, 5),
                    "train.tflops_per_device": round(rate * of_sequence / ranks() / 1e12, 5),
                }
                log.say((0, state.global_step), {"train.loss": logs["loss"], **speeds})

        def on_train_end(self, *_: Any, **__: Any) -> None:
            seconds = self.ended - self.started
            rate = of_step * arguments.iterations / seconds
            log.say(dllogger.WHOLE_JOB, {"training_sequences_per_second": round(rate, 5), "raw_train_time": seconds})

    made.remove_callback(PrinterCallback)
    made.add_callback(PrintedSteps())


def trainer(arguments: argparse.Namespace, folder: str) -> Any:
    """Return the trainer that was asked for."""
    data = sequences(arguments, arguments.iterations * arguments.batch_size * arguments.accumulation * ranks())
    if arguments.trainer == "trl":
        from peft import LoraConfig
        from trl import SFTConfig, SFTTrainer

        lora = LoraConfig(
            r=arguments.lora, lora_alpha=2 * arguments.lora, target_modules=ADAPTED, task_type="CAUSAL_LM"
        )
        return SFTTrainer(
            model=network(arguments),
            args=settings(SFTConfig, arguments, folder, max_length=arguments.sequence_length),
            train_dataset=data,
            processing_class=tokenizer(arguments),
            peft_config=lora,
        )
    from transformers import Trainer, TrainingArguments, default_data_collator

    return Trainer(
        model=network(arguments),
        args=settings(TrainingArguments, arguments, folder),
        train_dataset=data,
        data_collator=default_data_collator,
    )


def main() -> None:
    """Train for the iterations asked for."""
    arguments = parse_arguments()
    # Nothing is fetched, and no server is asked whether there is something newer.
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    import torch

    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        made = trainer(arguments, folder)
        print_steps(made, arguments)
        made.train()


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    made = language_model_parser("Train a Llama on generated tokens.", ("cpu", "cuda"))
    made.add_argument("--trainer", choices=("transformers", "trl"), default="transformers")
    made.add_argument("--weights", choices=("fp32", "bf16"), default="fp32", help="as which weights are stored")
    made.add_argument("--lora", type=int, default=0, metavar="RANK", help="adapters of this rank; 0: all weights")
    for name, what in {"shard": "FSDP2", "recompute": "activations once more", "compile": "torch.compile"}.items():
        made.add_argument(f"--{name}", choices=("true", "false"), default="false", help=what)
    add_threads(made)
    arguments = made.parse_args()
    if arguments.lora and arguments.trainer != "trl":
        made.error("--lora is for --trainer trl")
    return arguments


if __name__ == "__main__":
    main()
