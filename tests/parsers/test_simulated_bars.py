"""Simulated logs of the bars and rows of the Hugging Face Trainer and programs that use it, whose steps are known.

These logs are too long for files, or have smoothed or random numbers. Small logs are cases in tests/golden.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from made import elapsed, facts_of, log_of, published, session_of, value

from perfledger.ingest.compute.measurement import measured
from perfledger.parsers.engine.session import Session

STAMP = "11/20/2026 10:00:00 - INFO - __main__ -"
#: Head of a run with 16 samples per update of two batches.
HEAD = [
    f"{STAMP}   {each}"
    for each in (
        "***** Running training *****",
        "  Num examples = 320",
        "  Num Epochs = 3",
        "  Instantaneous batch size per GPU = 8",
        "  Total train batch size (w. parallel, distributed & accumulation) = 16",
        "  Gradient Accumulation steps = 2",
        "  Total optimization steps = 60",
    )
]


def iterations(first: int, last: int, pace: float) -> list[str]:
    """Return a bar of 400 batches from one to another; those before took no time."""
    return [
        f"Iteration: {n // 4:3}%|█████     | {n}/400 [{elapsed((n - first + 1) * pace)}<01:00, {pace:5.2f}s/it]"
        for n in range(first, last + 1)
    ]


def test_resumed_run_does_not_count_skipped_batches(tmp_path: Path) -> None:
    """300 of 400 batches are skipped within 1 s, and the others take 2 s for 8 samples."""
    skips = f"{STAMP}     Will skip the first 300 steps in the first epoch"
    begun = "Iteration:   0%|          | 0/400 [00:00<?, ?it/s]"
    lines = [*HEAD, skips, begun, *iterations(1, 300, 0.003), *iterations(301, 400, 2)]
    assert value(session_of(lines, tmp_path, "frameworks.hf_iteration")) == pytest.approx(8 / 2)
    complete = "Iteration: 100%|██████████| 400/400 [03:20<00:00,  2.00it/s]"
    session = session_of([*HEAD, skips, complete], tmp_path, "frameworks.hf_iteration")
    assert value(session) == pytest.approx(100 * 8 / 200, rel=0.01)


def test_llamafactory_rows_within_one_second_count_together(tmp_path: Path) -> None:
    """An update takes 0.25 s and has 512 tokens and a row. Times in rows have whole seconds, so several are equal."""
    lines = [
        f'{{"current_steps": {step}, "total_steps": 200, "loss": 2.5, "lr": 5e-05, "epoch": {step / 100}, '
        f'"percentage": 1.0, "elapsed_time": "0:00:{step // 4:02}", "remaining_time": "0:00:10", '
        f'"throughput": 2048.0, "total_tokens": {512 * step}}}'
        for step in range(1, 201)
    ]
    session = session_of(lines, tmp_path, "frameworks.llamafactory")
    assert value(session, "sustained") == pytest.approx(512 / 0.25)


@pytest.mark.parametrize(("total", "seconds"), [(50, 2.0), (5000, 0.01), (5000, 0.25)])
@pytest.mark.parametrize("before", [True, False])
def test_bar_before_losses_is_that_of_training(total: int, seconds: float, before: bool, tmp_path: Path) -> None:
    """Preparation of data or a trial of the model has a separate bar. The run was killed, and states no total."""

    def drawn(step: int, of: int, took: float) -> str:
        at = step * took
        rate = f"{took:.2f}s/it" if took >= 1 else f"{1 / took:.2f}it/s"
        return f"{100 * step // of:3}%|#   | {step}/{of} [{int(at) // 60:02}:{int(at) % 60:02}<09:00, {rate:>9}]"

    own = [drawn(step, total, seconds) for step in range(1, total + 1, 1 + total // 500)]
    training: list[str] = []
    for step in range(1, 601):
        training += [drawn(step, 1000, 0.5)]
        training += ["{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"] if step % 50 == 0 else []
    lines = [*own, *training] if before else [*training[100:], *own]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained", devices=1, batch_size=8, accumulation=1) == pytest.approx(8 / 0.5)


def test_buffered_losses_do_not_decide_which_bar_is_training(tmp_path: Path) -> None:
    """If the output is a file, Python prints losses in blocks, after an evaluation or at the end of the program."""
    lines: list[str] = []
    for step in range(1, 401):
        at = step // 2 + 20 * ((step - 1) // 100)
        lines += [f"{step // 10:3}%|#   | {step}/1000 [{at // 60:02}:{at % 60:02}<09:00,  2.00it/s]"]
        if step % 100 == 0:
            lines += [f"{10 * each:3}%|#   | {each}/20 [00:{each:02}<00:09,  1.00it/s]" for each in range(1, 20)]
            lines += ["{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"] * 40
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained", devices=1, batch_size=8, accumulation=1) == pytest.approx(16, rel=0.01)


HF_HEAD = [
    "***** Running training *****",
    "  Total train batch size (w. parallel, distributed & accumulation) = 64",
    "  Total optimization steps = 10",
]


LOSS = "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"


def saved(step: int) -> int:
    """Return the seconds at the end of a step of 2 s, with a checkpoint of 40 s after each 80th."""
    return 2 * step + 40 * ((step - 1) // 80)


def llamafactory() -> list[str]:
    """Return a row per ten updates of 512 tokens, without the speed since the start, which includes checkpoints."""
    return [
        json.dumps({
            "current_steps": step, "total_steps": 800, "loss": 2.5, "lr": 1e-5, "epoch": step / 800, "percentage": 1.0,
            "elapsed_time": str(dt.timedelta(seconds=saved(step))), "remaining_time": "0:01:00",
            "total_tokens": 512 * step,
        })
        for step in range(10, 801, 10)
    ]  # fmt: skip


def trainer() -> list[str]:
    """Return the same rows of the Trainer, whose speed includes the checkpoints."""
    rows = (
        f"{{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': {step / 800:.4f}, 'num_input_tokens_seen': {512 * step}, "
        f"'train_runtime': {saved(step):.4f}, 'train_tokens_per_second': {512 * step / saved(step):.4f}}}"
        for step in range(10, 801, 10)
    )
    return [*HF_HEAD[:2], "  Num Epochs = 1", "  Total optimization steps = 800", *rows]


EVAL = "{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'epoch': 1.0}"


def smoothed(
    total: int, pace: float, evaluated: tuple[int, int] = (0, 0), saved: tuple[int, int] = (0, 0), said: str = ""
) -> Iterator[str]:
    """Yield the bar of a whole training with tqdm's smoothing, which adds a part of each step's time to the mean.

    Args:
        total: steps.
        pace: seconds of one.
        evaluated: after how many steps an evaluation follows, and its seconds; the bar is drawn again after it.
        saved: after how many steps a checkpoint without a line follows, and its seconds.
        said: the line after each checkpoint.
    """
    took, mean, weight, drawn = 0.0, 0.0, 0.0, 0.0
    for step in range(1, total + 1):
        took += pace + (saved[1] if saved[0] and step > 1 and (step - 1) % saved[0] == 0 else 0)
        mean, weight, drawn = 0.3 * (took - drawn) + 0.7 * mean, 0.3 + 0.7 * weight, took
        bar = f" 10%|#    | {step}/{total} [{{:02}}:{{:02}}<06:46,  {mean / weight:.2f}s/it]"
        yield bar.format(int(took) // 60, int(took) % 60)
        if evaluated[0] and step % evaluated[0] == 0:
            took += evaluated[1]
            yield from (LOSS, EVAL, bar.format(int(took) // 60, int(took) % 60))
        if said and step % saved[0] == 0:
            yield said


@pytest.mark.parametrize("printer", ["llamafactory", "hf_trainer", "trl", "bar"])
def test_checkpoints_after_all_multiples_of_steps_do_not_count(printer: str, tmp_path: Path) -> None:
    """A step of 512 tokens, or 64 samples, takes 2 s. With the checkpoints the mean would be a fifth longer."""
    expected, form = 256.0, f"frameworks.{printer}"
    if printer == "llamafactory":
        lines = llamafactory()
    elif printer == "hf_trainer":
        lines = trainer()
    elif printer == "trl":
        lines = list(HF_HEAD[:2])
        for step in range(10, 801, 10):
            took = saved(step)
            lines.append(
                f"{{'loss': 2.5, 'learning_rate': 1e-05, 'num_tokens': {512.0 * step}, 'epoch': {step / 800:.4f}}}"
            )
            lines.append(f" 10%|#    | {step}/801 [{took // 60:02}:{took % 60:02}<06:46,  2.00s/it]")
    else:
        lines, expected, form = [*HF_HEAD[:2], *smoothed(801, 2.0, saved=(80, 40)), LOSS], 32.0, "frameworks.hf_trainer"
    assert published(session_of(lines, tmp_path, form)) == pytest.approx(expected, rel=0.012)


class Printer(NamedTuple):
    """A program that draws a bar: its head, its line, and the samples of a step.

    Attributes:
        line: of a step and the bar's words from its steps to its speed.
        smoothed: whether the speed is that of the last states, or else the mean since the start.
    """

    format: str
    head: str
    line: Callable[[int, str], str]
    samples: float | None
    smoothed: bool = True


STEPS = 300


BATCH_OF_JOB = "  Total train batch size (w. parallel, distributed & accumulation) = 16\n"


def percent(n: int) -> str:
    return f"{100 * n // STEPS:3d}%|##        | "


def of_trl(n: int, bar: str) -> str:
    losses = f"{{'loss': 2.5, 'learning_rate': 1e-05, '%s': {4096 * n}.0, 'epoch': {n / STEPS:.2f}}}\n"
    return f"\r{percent(n)}{bar}]" if n % 5 else f"\n{losses}\r{percent(n)}{bar}]"


PRINTERS = {
    "trl": Printer("trl", "", lambda n, bar: of_trl(n, bar).replace("%s", "num_tokens"), 4096),
    "axolotl": Printer("axolotl", "", lambda n, bar: of_trl(n, bar).replace("%s", "tokens/total"), 4096),
    "torchtune": Printer(
        "torchtune",
        "Running LoRAFinetuneRecipeSingleDevice with resolved config:\n\n"
        "batch_size: 16\ngradient_accumulation_steps: 1\n",
        lambda n, bar: f"\r1|{n}|Loss: 1.25: {percent(n)}{bar}]",
        16,
    ),
    "openrlhf": Printer(
        "openrlhf_bars",
        "world_size: 8\n--micro_train_batch_size 2\n",
        lambda n, bar: f"\rTrain step of epoch 0: {percent(n)}{bar}, gpt_loss=1.5, lr=4e-6]",
        16,
    ),
    "verl": Printer(
        "verl",
        "{'actor_rollout_ref': {'data': {'train_batch_size': 16}}}\n",
        lambda n, bar: f"Training Progress: {percent(n)}{bar}]\n",
        16,
    ),
    "diffusers": Printer(
        "diffusers", BATCH_OF_JOB, lambda n, bar: f"\rSteps: {percent(n)}{bar}, lr=1e-5, step_loss=0.0625]", 16
    ),
    "sd-scripts": Printer(
        "sd_scripts",
        "",
        lambda n, bar: f"\rsteps: {percent(n)}{bar}, avr_loss=0.0625]",
        None,
        smoothed=False,
    ),
    "llama-recipes": Printer(
        "llama_recipes",
        "",
        lambda n, bar: f"\rTraining Epoch: 1/1, step {n - 1}/{STEPS} completed (loss: 1.5): {percent(n)}{bar}]",
        None,
    ),
    "verl SFT": Printer(
        "verl_sft", "", lambda n, bar: f"Epoch 1/1: {percent(n)}{bar}]step:{n} - train/loss:1.5 - train/lr:0.5\n", None
    ),
    "nemo": Printer(
        "nemo_bar",
        "",
        lambda n, bar: f"\rEpoch 0: {percent(n)}{bar}, reduced_train_loss=3.125, consumed_samples={n}.0]",
        None,
    ),
    "gsplat": Printer(
        "gaussian_splatting", "", lambda n, bar: f"\rloss=0.033| sh degree=3| : {percent(n)}{bar}]", None
    ),
}  # fmt: skip


def session_with_bar(printer: Printer, tmp_path: Path, usual: float = 3.0, first: float = 3.0) -> Session:
    """Return the log of steps of about 3 s."""
    noise, since, mean, text = random.Random(1), 0.0, 0.0, printer.head
    for n in range(1, STEPS + 1):
        took = first if n == 1 else usual * noise.uniform(0.9, 1.1)
        since += took
        mean = since / n if not printer.smoothed else 0.3 * took + 0.7 * (mean or took)
        speed = f"{mean:5.2f}s/it" if mean >= 1 else f"{1 / mean:5.2f}it/s"
        text += printer.line(n, f"{n}/{STEPS} [{elapsed(since)}<{elapsed((STEPS - n) * mean)}, {speed}")
    log = log_of([text], tmp_path)
    assert [each.format.id for each in log.claims] == [f"frameworks.{printer.format}"]
    return log.sessions[-1]


@pytest.mark.parametrize("first", [3.0, 200.0])
@pytest.mark.parametrize("name", PRINTERS)
def test_bar_with_a_slow_start_contradicts_nothing(name: str, first: float, tmp_path: Path) -> None:
    session, samples = session_with_bar(PRINTERS[name], tmp_path, first=first), PRINTERS[name].samples
    assert measured(session, facts_of(session)).untimed is None
    assert samples is None or published(session) == pytest.approx(samples / 3, rel=0.02)


@pytest.mark.parametrize("name", ["verl", "diffusers", "trl", "openrlhf"])
def test_fast_steps_with_whole_seconds_contradict_nothing(name: str, tmp_path: Path) -> None:
    session = session_with_bar(PRINTERS[name], tmp_path, usual=0.2, first=0.2)
    assert measured(session, facts_of(session)).untimed is None


def test_answers_to_prompts_every_tenth_step_contradict_nothing(tmp_path: Path) -> None:
    # After each line answers are generated for 60 s, which hardly change the speed on the next line.
    for apart in (10, 1):
        since, mean, text = 0.0, 0.0, ""
        for n in range(1, STEPS + 1):
            took = 3.0 + 60.0 * (n % 10 == 1)
            since += took
            mean = 0.3 * took + 0.7 * (mean or took)
            bar = f"{n}/{STEPS} [{elapsed(since)}<{elapsed((STEPS - n) * mean)}, {mean:5.2f}s/it]"
            told_of = f"{{'loss': 2.5, 'num_tokens': {4096 * n}.0, 'completions/mean_length': 90.5, 'epoch': 0.25}}"
            text += f"\r{percent(n)}{bar}" if n % apart else f"\n{told_of}\n\r{percent(n)}{bar}"
        (session,) = log_of([text], tmp_path).sessions
        assert published(session) == pytest.approx(4096 / 9, rel=0.02)


@pytest.mark.parametrize(
    ("lines", "pace"),
    [
        (["python train.py --save_steps 50 --bf16", *HF_HEAD[:2], *smoothed(301, 2.0, saved=(50, 60))], 2),
        # The usual interval is 500 steps.
        ([*HF_HEAD[:2], *smoothed(2001, 2.0, saved=(500, 300))], 2),
        (
            [
                *HF_HEAD[:2],
                *smoothed(301, 2.0, saved=(50, 30), said="/a/peft/utils/save_and_load.py:309: UserWarning: b"),
            ],
            2,
        ),
        (
            [
                *HF_HEAD[:2],
                *smoothed(301, 2.0, saved=(50, 30), said="[INFO] [Rank 0] [Torch] Checkpoint a is about to be saved!"),
            ],
            2,
        ),
        # A pause that more than the usual twelve smoothed speeds show.
        ([*HF_HEAD[:2], *smoothed(301, 2.0, evaluated=(60, 600))], 2),
    ],
    ids=["stated", "usual", "peft", "deepspeed", "long"],
)
def test_smoothed_bar_shows_evaluations_and_checkpoints(lines: list[str], pace: int, tmp_path: Path) -> None:
    session = session_of([*lines, LOSS], tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained") == pytest.approx(64 / pace, rel=0.012)
