"""Bars of tqdm whose time and speed contradict each other: what follows is no figure."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from test_contradictions_language_models import code
from test_contradictions_language_models import value as value_of
from test_dialects import facts_of, log_of

from ingest.compute.measurement import measured
from parsers.engine.session import Session

STEPS = 300


def told(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


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


def percent(n: int) -> str:
    return f"{100 * n // STEPS:3d}%|##        | "


def of_trl(n: int, bar: str) -> str:
    losses = f"{{'loss': 2.5, 'learning_rate': 1e-05, '%s': {4096 * n}.0, 'epoch': {n / STEPS:.2f}}}\n"
    return f"\r{percent(n)}{bar}]" if n % 5 else f"\n{losses}\r{percent(n)}{bar}]"


_HEAD = "  Total train batch size (w. parallel, distributed & accumulation) = 16\n"
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
        "diffusers", _HEAD, lambda n, bar: f"\rSteps: {percent(n)}{bar}, lr=1e-5, step_loss=0.0625]", 16
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


def drawn(printer: Printer, tmp_path: Path, lie: float = 1.0, usual: float = 3.0, first: float = 3.0) -> Session:
    """Return the log of steps of about three seconds whose time is told so many times too long."""
    noise, since, mean, text = random.Random(1), 0.0, 0.0, printer.head
    for n in range(1, STEPS + 1):
        took = first if n == 1 else usual * noise.uniform(0.9, 1.1)
        since += took
        mean = since / n if not printer.smoothed else 0.3 * took + 0.7 * (mean or took)
        speed = f"{mean:5.2f}s/it" if mean >= 1 else f"{1 / mean:5.2f}it/s"
        text += printer.line(n, f"{n}/{STEPS} [{told(since * lie)}<{told((STEPS - n) * mean)}, {speed}")
    log = log_of([text], tmp_path)
    assert [each.format.id for each in log.claims] == [f"frameworks.{printer.format}"]
    return log.sessions[-1]


@pytest.mark.parametrize("name", PRINTERS)
@pytest.mark.parametrize("lie", [2.0, 0.5])
def test_the_time_of_a_bar_is_held_against_its_speed(name: str, lie: float, tmp_path: Path) -> None:
    session = drawn(PRINTERS[name], tmp_path, lie)
    if PRINTERS[name].samples is not None:
        assert code(session) == "arithmetic"
    found = measured(session, facts_of(session)).untimed
    assert found is not None
    assert found.args["witness"] == "arithmetic"


@pytest.mark.parametrize("first", [3.0, 200.0])
@pytest.mark.parametrize("name", PRINTERS)
def test_a_bar_that_starts_slowly_contradicts_nothing(name: str, first: float, tmp_path: Path) -> None:
    session, samples = drawn(PRINTERS[name], tmp_path, first=first), PRINTERS[name].samples
    assert measured(session, facts_of(session)).untimed is None
    assert samples is None or value_of(session) == pytest.approx(samples / 3, rel=0.02)


@pytest.mark.parametrize("name", ["verl", "diffusers", "trl", "openrlhf"])
def test_fast_steps_whose_time_is_cut_to_seconds_contradict_nothing(name: str, tmp_path: Path) -> None:
    session = drawn(PRINTERS[name], tmp_path, usual=0.2, first=0.2)
    assert measured(session, facts_of(session)).untimed is None
    assert code(drawn(PRINTERS[name], tmp_path, 2.0, usual=0.2, first=0.2)) == "arithmetic"


@pytest.mark.parametrize("lie", [1.0, 2.0])
def test_a_model_that_answers_prompts_every_tenth_step(lie: float, tmp_path: Path) -> None:
    # Behind each line the next answers are generated for 60 s, which the speed of the next line hardly shows.
    for key, apart in (("'completions/mean_length': 90.5, ", 10), ("'completions/mean_length': 90.5, ", 1)):
        since, mean, text = 0.0, 0.0, ""
        for n in range(1, STEPS + 1):
            took = 3.0 + 60.0 * (n % 10 == 1)
            since += took
            mean = 0.3 * took + 0.7 * (mean or took)
            bar = f"{n}/{STEPS} [{told(since * lie)}<{told((STEPS - n) * mean)}, {mean:5.2f}s/it]"
            told_of = f"{{'loss': 2.5, 'num_tokens': {4096 * n}.0, {key}'epoch': {n / STEPS:.2f}}}"
            text += f"\r{percent(n)}{bar}" if n % apart else f"\n{told_of}\n\r{percent(n)}{bar}"
        (session,) = log_of([text], tmp_path).sessions
        if lie == 2 and apart == 1:
            assert code(session) == "arithmetic"
        else:
            assert value_of(session) == pytest.approx(4096 / 9 / lie, rel=0.02)
