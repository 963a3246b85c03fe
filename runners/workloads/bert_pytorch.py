"""Trains BERT-base on generated tokens in PyTorch, as in pre-training, and prints NVIDIA DLLogger's JSON lines.

Both heads are trained: the masked words, with logits at the masked places only, and whether the
second sentence follows the first. Sequences/s count all processes over rank 0's seconds (see `pytorch_training`); the
loss is that of rank 0's sequences. The traps: sequences are as long as `--sequence-length`, without padding, so the
attention gets no mask, which NVIDIA's trainer has; an iteration is one update, over `--accumulation` batches. With
`--input resident --vocabulary 30528 --optimizer lamb` the rest of an update is that of NVIDIA's trainer. Source: NVIDIA
DeepLearningExamples, PyTorch/LanguageModeling/BERT.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch.nn import functional

from runners.workloads import dllogger, pytorch_arguments
from runners.workloads.bert_pytorch_network import LONGEST, PADDED_VOCABULARY, VOCABULARY, BertPretraining
from runners.workloads.lamb import Lamb, ParameterGroup
from runners.workloads.options import positive
from runners.workloads.pytorch_processes import leave
from runners.workloads.pytorch_training import AMP, TrainingSettings, TrainingStep, Workload, placed, train
from runners.workloads.ranks import Process

LEARNING_RATE = 1e-4
WEIGHT_DECAY = 0.01
MASKED_SHARE = 0.15
MASK = 103
BATCHES_HELD = 4


def hold_batches(arguments: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Generate random tokens in host memory, two sentences to a sequence, and the targets of both heads.

    (n, length) tokens with those at the masked places replaced, (n, length) numbers of the sentence, (n, masked) masked
    places, (n, masked) tokens that stood there, (n,) whether the second sentence follows.
    """
    count, length = arguments.batch_size, arguments.sequence_length
    masked = max(1, round(MASKED_SHARE * length))
    sentences = (torch.arange(length) >= length // 2).long().repeat(count, 1)
    return [batch(torch.randint(VOCABULARY, (count, length)), sentences, masked) for _ in range(BATCHES_HELD)]


def batch(tokens: Any, sentences: Any, masked: int) -> tuple[Any, ...]:
    """Return one batch of these tokens, with `masked` random places of each sequence."""
    places = torch.rand(tokens.shape).argsort(1)[:, :masked]
    return (
        tokens.scatter(1, places, MASK),
        sentences,
        places,
        tokens.gather(1, places),
        torch.randint(2, tokens.shape[:1]),
    )


def loss(model: Any, batch: tuple[Any, ...]) -> Any:
    """Return the mean cross entropy of the masked words plus that of the order of the sentences."""
    tokens, sentences, places, words, follows = batch
    predicted_words, predicted_follows = model(tokens, sentences, places)
    of_words = functional.cross_entropy(predicted_words.flatten(0, 1), words.flatten())
    return of_words + functional.cross_entropy(predicted_follows, follows)


def workload(arguments: argparse.Namespace, process: Process, device: Any) -> Workload:
    """Build the workload: the same network in all processes of the job, with other sequences in each."""
    torch.manual_seed(arguments.seed)
    model = BertPretraining(arguments.vocabulary).to(device).train()
    decayed = [each for each in model.parameters() if each.ndim > 1]
    others = [each for each in model.parameters() if each.ndim == 1]
    groups: list[ParameterGroup] = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    optimizer = (
        Lamb(groups, LEARNING_RATE, WEIGHT_DECAY)
        if arguments.optimizer == "lamb"
        else torch.optim.AdamW(groups, LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    )
    torch.manual_seed(arguments.seed + process.rank)
    resident = arguments.input == "resident"
    return Workload(model, loss, optimizer, placed(hold_batches(arguments), device, resident), resident)


def parameters(arguments: argparse.Namespace, process: Process) -> dict[str, dllogger.Printed]:
    """Return the values of the PARAMETER line; the sequence length has the name of NVIDIA's logs."""
    return {
        "model": "BERT-base",
        "config": f"synthetic(max_seq_length={arguments.sequence_length})",
        "batch_size_per_device": arguments.batch_size,
        "gradient_accumulation_steps": arguments.accumulation,
        "global_batch_size": sequences(arguments, process),
        "world_size": process.world_size,
        "vocabulary": arguments.vocabulary,
        "optimizer": arguments.optimizer,
        "input": arguments.input,
        "lr": LEARNING_RATE,
        "weight_decay": WEIGHT_DECAY,
        **AMP.get(arguments.precision, {}),
        "precision": arguments.precision,
        "compile": arguments.compile,
        "seed": arguments.seed,
        "device": arguments.device,
        "threads": torch.get_num_threads(),
    }


def sequences(arguments: argparse.Namespace, process: Process) -> int:
    """Return the sequences of the whole job per update."""
    return int(arguments.batch_size * arguments.accumulation * process.world_size)


def iterations(steps: list[TrainingStep], batch_of_job: int) -> dict[str, dllogger.Printed]:
    """Return the metrics of some iterations together."""
    seconds = sum(step.seconds for step in steps)
    return {
        "train.loss": round(sum(step.loss for step in steps) / len(steps), 5),
        "train.sequences_per_second": round(batch_of_job * len(steps) / seconds, 4),
        "train.step_time": round(seconds / len(steps), 6),
        "train.loss_scale": steps[-1].loss_scale,
    }


def whole_job(steps: list[TrainingStep], batch_of_job: int) -> dict[str, dllogger.Printed]:
    """Return the metrics of the job, warm-up included."""
    seconds = sum(step.seconds for step in steps)
    return {
        "training_sequences_per_second": round(batch_of_job * len(steps) / seconds, 4),
        "raw_train_time": round(seconds, 6),
        "final_loss": round(steps[-1].loss, 5),
    }


def follow(arguments: argparse.Namespace, process: Process, device: Any) -> None:
    """Train for the requested iterations; rank 0 prints a line each and one for the job."""
    log, batch_of_job = dllogger.JsonLog(process.rank == 0), sequences(arguments, process)
    log.say(dllogger.PARAMETERS, parameters(arguments, process))
    settings = TrainingSettings(arguments.iterations, arguments.precision, arguments.compile, arguments.accumulation)
    steps: list[TrainingStep] = []
    for step in train(workload(arguments, process, device), settings, process, device):
        steps.append(step)
        if len(steps) % arguments.print_every == 0:
            log.say((0, len(steps)), iterations(steps[-arguments.print_every :], batch_of_job))
    log.say(dllogger.WHOLE_JOB, whole_job(steps, batch_of_job))


def main() -> None:
    """Train in as many processes as were started."""
    arguments, process, device = pytorch_arguments.begin(parser())
    follow(arguments, process, device)
    leave(process)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = pytorch_arguments.parser("Train BERT-base on generated tokens and print its throughput.", 4, "sequences")
    made.add_argument("--sequence-length", type=length, default=32, help=f"tokens, up to {LONGEST}")
    made.add_argument("--accumulation", type=positive, default=1, help="batches per update")
    made.add_argument(
        "--vocabulary", type=int, choices=(VOCABULARY, PADDED_VOCABULARY), default=VOCABULARY, help="words"
    )
    made.add_argument("--optimizer", choices=("adamw", "lamb"), default="adamw")
    return made


def length(text: str) -> int:
    """Convert a number of tokens; refuse more than BERT has positions for."""
    value = positive(text)
    if not 2 <= value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} tokens are not 2 to {LONGEST}")
    return value


if __name__ == "__main__":
    main()
