"""Logs of jobs whose steps are known, printed by functions: too long to keep as files, or smoothed and made of noise.

Small logs are cases in tests/golden; test_truth.py prints one job as each printer would.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from made import ALL, ONE, facts_of, figure, log_of, metrics_of, reason, session_of, value

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.measurement import Measurement, measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.compute.one_run import one_run
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.facts import merge
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, MetricFigure, NoFigure, Reason

# Language models


def elapsed(seconds: float) -> str:
    """Return the time as tqdm prints it, cut to whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes:02d}:{rest:02d}"


@pytest.mark.parametrize("more", [", iteration_time=1.20", ", val_loss=7.050", ""])
def test_bars_of_nemo_without_a_timing(more: str, tmp_path: Path) -> None:
    # A step takes 1.25 s, and a validation after every hundredth step 10 s.
    now, drawn = 0.0, ["global_batch_size: 256\n"]
    for n in range(1, 601):
        now += 1.25
        drawn += [
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{elapsed(now)}<7:48:37,  1.25s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={step}.0, consumed_samples=1.5e+5{more}]"
            for step in (n - 1, n)
        ]
        if n % 100 == 0:
            drawn += [f"\rValidating:  {k}0%|# | {k}/10 [00:{k:02d}<00:00,  1.00s/it]" for k in range(1, 11)]
            now += 10
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    assert value(session, "sustained") == pytest.approx(256 / 1.25, rel=0.005)


def test_bars_of_nemo_count_samples(tmp_path: Path) -> None:
    seen, drawn = 0, ["global_batch_size: 256\n"]
    for n in range(1, 301):
        seen += 256
        drawn.append(
            f"\rEpoch 0:  22%|##1   | {n}/20101 [{elapsed(2 * n)}<7:48:37,  2.00s/it, loss=2.43, v_num=5, "
            f"reduced_train_loss=2.500, global_step={n}.0, consumed_samples={seen:.3g}]"
        )
    session = session_of(["".join(drawn)], tmp_path, "frameworks.nemo_bar")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(128, rel=0.01)


@pytest.mark.parametrize(
    "told", ["{:7.2f} sent/s - {:8.2f} words/s - ", "{:7.2f} equations/s - {:8.2f} words/s -  MEM: 2048.50 MB - "]
)
def test_xlm_evaluates_between_its_lines(told: str, tmp_path: Path) -> None:
    # Five batches of 32 sentences and 4000 words a second, for each of two processes; 40 s for each evaluation.
    lines, seconds = [], 0
    lines += ["INFO - 11/20/26 10:00:00 - 0:00:00 - ============ Initialized logger ============"] * 2
    lines += ["                                  batch_size: 32", "                                  world_size: 2"]
    for n in range(1, 121):
        waited = 40 if n % 40 == 1 and n > 1 else 0
        seconds += 1 + waited
        speed = told.format(160 / (1 + waited), 4000 / (1 + waited))
        stamp = f"INFO - 11/20/26 10:00:00 - {seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d} - "
        lines += [f"{stamp}{5 * n:7d} - {speed}MLM-en:  7.1250 - model LR: 1.0000e-04"] * 2
        if n % 40 == 0:
            lines += [
                f'{stamp}__log__:{{"epoch": {n // 40 - 1}, "valid_en_mlm_ppl": 12.5}}',
                f"{stamp}Saving checkpoint to out/checkpoint.pth ...",
            ]
    session = session_of(lines, tmp_path, "frameworks.xlm")
    assert value(session, "sustained") == pytest.approx(8000)
    assert facts_of(session)["batch_size"] == 32


def test_minillm_prints_seconds_of_updates_and_of_batches(tmp_path: Path) -> None:
    # Updates of four batches of 8 sequences on each of two devices take a second, and every fourth two.
    lines = ["using world size: 2", "arguments:", "  batch_size .................... 8"]
    lines += ["  gradient_accumulation_steps ... 4"]
    for n in range(1, 41):
        line = f"train | epoch   0 | Iter: {4 * n:6d}/   160 | global iter: {n:6d}/    40 | loss: 2.2500 | "
        line += "ds_loss: 1.1250 | lr: 5.0000e-06 | scale:  2048.0000 | micro time: 0.250 | step time: "
        lines += [f"{line}0.000"] * 4 + [f"{line}{2 if n % 4 == 0 else 1:.3f}"]
    session = session_of(lines, tmp_path, "frameworks.minillm")
    assert value(session, ALL) == pytest.approx(64 * 40 / 50)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_record_with_an_evaluation_is_left_out_with_several_ranks(ranks: int, tmp_path: Path) -> None:
    lines = list[str]()
    for step in range(10, 610, 10):
        took = 45 if step % 200 == 10 and step > 10 else 5
        evaluated = ["eval_loss: 6.5, eval_runtime: 40.0, eval_samples_per_second: 12.5, epoch: 1.0"] * (took > 5)
        record = f"loss: 7.75, learning_rate: 1e-05, global_step: {step}, interval_runtime: {took}.0, "
        record += (
            f"interval_samples_per_second: {640 / took:.4f}, interval_steps_per_second: {10 / took:.4f}, epoch: 0.1"
        )
        lines += [
            f"[2026-11-20 10:00:00,000] [    INFO] - {each}" for each in [*evaluated, record] for _ in range(ranks)
        ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert value(session, "sustained", devices=4) == pytest.approx(128)


# Hugging Face and bars


def head_of(
    *, examples: int = 320, epochs: int = 3, each: int = 8, job: int = 16, accumulated: int = 2, steps: int = 60
) -> list[str]:
    return [
        "***** Running training *****",
        f"  Num examples = {examples}",
        f"  Num Epochs = {epochs}",
        f"  Instantaneous batch size per device = {each}",
        f"  Total train batch size (w. parallel, distributed & accumulation) = {job}",
        f"  Gradient Accumulation steps = {accumulated}",
        f"  Total optimization steps = {steps}",
    ]


#: 16 samples per update of two batches.
HEAD = head_of()
STAMP = "11/20/2026 10:00:00 - INFO - __main__ -"
OLD_HEAD = [f"{STAMP}   {each.replace('per device', 'per GPU')}" for each in HEAD]


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def bar_of_updates(
    total: int,
    pace: float,
    name: str = "",
    postfix: str = "",
    paused: tuple[int, float] = (0, 0),
    said: Sequence[str] = (),
) -> list[str]:
    """Return a bar whose steps take `pace` seconds each, with a pause after one and the lines that announce it."""
    lines, took = [f"{name}  0%|          | 0/{total} [00:00<?, ?it/s]"], 0.0
    for step in range(1, total + 1):
        took += pace
        share = 100 * step // total
        lines.append(
            f"{name}{share:3}%|{'█' * (share // 10):10}| {step}/{total} "
            f"[{minutes(took)}<01:00, {pace:5.2f}s/it{postfix}]"
        )
        if step == paused[0]:
            took += paused[1]
            lines += said
    return lines


def resumed(step: int, total: int, pace: float) -> list[str]:
    """Return the lines of a bar after a step up to which it took no time."""
    return [
        f"Iteration: {100 * n // total:3}%|█████     | {n}/{total} "
        f"[{minutes((n - step) * pace)}<01:00, {pace:5.2f}s/it]"
        for n in range(step + 1, total + 1)
    ]


def test_resumed_run_does_not_count_skipped_batches(tmp_path: Path) -> None:
    """300 of 400 batches are skipped within a second; the others take 2 s each, for 8 samples."""
    skips = f"{STAMP}     Will skip the first 300 steps in the first epoch"
    bars = [*bar_of_updates(400, 0.003, "Iteration: ")[:301], *resumed(300, 400, 2)]
    assert value(session_of([*OLD_HEAD, skips, *bars], tmp_path, "frameworks.hf_iteration")) == pytest.approx(8 / 2)
    complete = "Iteration: 100%|██████████| 400/400 [03:20<00:00,  2.00it/s]"
    session = session_of([*OLD_HEAD, skips, complete], tmp_path, "frameworks.hf_iteration")
    assert value(session) == pytest.approx(100 * 8 / 200, rel=0.01)


def test_llamafactory_rows_within_one_second_count_together(tmp_path: Path) -> None:
    """A row per update of 0.25 s and 512 tokens: its time is cut to seconds, which most rows share with others."""
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
    """A program prepares its data or tries its model with a bar of its own; the run was killed, and states no total."""

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
    """Python prints them in blocks if its output is a file: after an evaluation, or when the program ends."""
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


def headline_of(session: Session, **case: int) -> Figure | NoFigure:
    return measured(session, facts_of(session) | case).headline


def llamafactory(
    tokens: Callable[[int], float] = lambda step: 512.0 * step,
    seconds: Callable[[int], float] = lambda step: 2.0 * step,
) -> list[str]:
    """Return a row per ten updates of 512 tokens in 2 s; some numbers may be printed as others."""
    return [
        json.dumps({
            "current_steps": step, "total_steps": 800, "loss": 2.5, "lr": 1e-5, "epoch": step / 800, "percentage": 1.0,
            "elapsed_time": str(dt.timedelta(seconds=int(seconds(step)))),
            "remaining_time": "0:01:00", "throughput": 256.0, "total_tokens": int(tokens(step)),
        })
        for step in range(10, 801, 10)
    ]  # fmt: skip


def saved(step: int) -> float:
    """Return the seconds at the end of a step of 2 s, with a checkpoint of 40 s after each 80th."""
    return 2.0 * step + 40 * ((step - 1) // 80)


EVAL = "{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'epoch': 1.0}"


def smoothed(
    total: int, pace: float, evaluated: tuple[int, int] = (0, 0), saved: tuple[int, int] = (0, 0), said: str = "",
    first: float = 0.0,
) -> Iterator[str]:  # fmt: skip
    """Yield the bar of a whole training as tqdm smooths it: a part of each step's time, and the rest of its mean.

    Args:
        total: steps.
        pace: seconds of one.
        evaluated: after how many steps an evaluation follows, and its seconds; the bar is drawn again after it.
        saved: after how many steps a checkpoint without a line follows, and its seconds.
        said: the line that is printed after each checkpoint.
        first: seconds that the first step takes beyond the others.
    """
    took, mean, weight, drawn = first, 0.0, 0.0, 0.0
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


def trainer(
    tokens: Callable[[int], float] = lambda step: 512.0 * step,
    seconds: Callable[[int], float] = lambda step: 2.0 * step,
    before: int = 0,
) -> list[str]:
    """Return the same of the Trainer, with tokens that were counted before a resumption."""
    rows = (
        f"{{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': {step / 800:.4f}, 'num_input_tokens_seen': "
        f"{int(tokens(step)) + before}, 'train_runtime': {seconds(step):.4f}, 'train_tokens_per_second': 256.0}}"
        for step in range(10, 801, 10)
    )
    return [*HF_HEAD[:2], "  Num Epochs = 1", "  Total optimization steps = 800", *rows]


def without_speed(lines: Iterable[str]) -> list[str]:
    """Return rows without the speed since the start, which includes the checkpoints."""
    return [line.replace('"throughput": 256.0, ', "") for line in lines]


@pytest.mark.parametrize("printer", ["llamafactory", "hf_trainer", "trl", "bar"])
def test_checkpoints_after_all_multiples_of_steps_do_not_count(printer: str, tmp_path: Path) -> None:
    """512 tokens, or 64 samples, in 2 s. With the checkpoints they would take a fifth more."""
    expected, form = 256.0, f"frameworks.{printer}"
    if printer == "llamafactory":
        lines: Sequence[str] = without_speed(llamafactory(seconds=saved))
    elif printer == "hf_trainer":
        lines = [
            line.replace("_second': 256.0", f"_second': {512 * step / saved(step):.4f}")
            for step, line in zip([1] * 4 + [*range(10, 801, 10)], trainer(seconds=saved), strict=True)
        ]
    elif printer == "trl":
        lines = list(HF_HEAD[:2])
        for step in range(10, 801, 10):
            took = int(saved(step))
            lines.append(
                f"{{'loss': 2.5, 'learning_rate': 1e-05, 'num_tokens': {512.0 * step}, 'epoch': {step / 800:.4f}}}"
            )
            lines.append(f" 10%|#    | {step}/801 [{took // 60:02}:{took % 60:02}<06:46,  2.00s/it]")
    else:
        lines, expected, form = [*HF_HEAD[:2], *smoothed(801, 2.0, saved=(80, 40)), LOSS], 32.0, "frameworks.hf_trainer"
    found = headline_of(session_of(lines, tmp_path, form))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(expected, rel=0.012)


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


def judged(session: Session) -> Measurement:
    return measured(session, facts_of(session))


def session_with_bar(printer: Printer, tmp_path: Path, usual: float = 3.0, first: float = 3.0) -> Session:
    """Return the log of steps of about three seconds."""
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


def published(session: Session) -> float:
    found = judged(session).headline
    assert isinstance(found, Figure), found
    return found.value


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


def test_model_that_answers_prompts_every_tenth_step(tmp_path: Path) -> None:
    # Behind each line the next answers are generated for 60 s, which the speed of the next line hardly shows.
    for key, apart in (("'completions/mean_length': 90.5, ", 10), ("'completions/mean_length': 90.5, ", 1)):
        since, mean, text = 0.0, 0.0, ""
        for n in range(1, STEPS + 1):
            took = 3.0 + 60.0 * (n % 10 == 1)
            since += took
            mean = 0.3 * took + 0.7 * (mean or took)
            bar = f"{n}/{STEPS} [{elapsed(since)}<{elapsed((STEPS - n) * mean)}, {mean:5.2f}s/it]"
            told_of = f"{{'loss': 2.5, 'num_tokens': {4096 * n}.0, {key}'epoch': {n / STEPS:.2f}}}"
            text += f"\r{percent(n)}{bar}" if n % apart else f"\n{told_of}\n\r{percent(n)}{bar}"
        (session,) = log_of([text], tmp_path).sessions
        assert published(session) == pytest.approx(4096 / 9, rel=0.02)


# Several families


@pytest.mark.parametrize(("window", "every"), [(10, 1), (10, 5), (50, 10), (50, 50), (20, 4), (25, 5), (5, 1)])
@pytest.mark.parametrize("by_epoch", [True, False])
def test_mmengine_counts_the_slow_first_iteration_once(window: int, every: int, by_epoch: bool, tmp_path: Path) -> None:
    took = [30.0, *[0.5] * 199]
    lines = [f"log_processor = dict(by_epoch=True, type='LogProcessor', window_size={window})"] * (window != 10)
    for i in range(every, 201, every):
        last = took[max(0, i - window) : i]
        head = (
            f"Epoch(train)  [{1 + (i - 1) // 100}][{1 + (i - 1) % 100:3}/100]"
            if by_epoch
            else f"Iter(train) [{i:4}/4000]"
        )
        lines.append(
            f"2026/11/20 12:01:00 - mmengine - INFO - {head}  lr: 1.0e-02  eta: 5:53:22  "
            f"time: {sum(last) / len(last):.4f}  data_time: 0.0100  memory: 3440  loss: 2.1"
        )
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert value(session, **ONE) == pytest.approx(32 * 200 / sum(took), rel=1e-3)


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
        # One that more than the usual dozen of smoothed speeds show.
        ([*HF_HEAD[:2], *smoothed(301, 2.0, evaluated=(60, 600))], 2),
    ],
    ids=["stated", "usual", "peft", "deepspeed", "long"],
)
def test_smoothed_bar_shows_evaluations_and_checkpoints(lines: list[str], pace: int, tmp_path: Path) -> None:
    session = session_of([*lines, LOSS], tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained") == pytest.approx(64 / pace, rel=0.012)


def time_of_day(seconds: float) -> str:
    return f"{int(seconds // 3600) + 10}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"


def olmo_core(step: int, seconds: float, before: str = "", clock: str = "10:00:00.000") -> list[str]:
    return [
        *([before] if before else []),
        f"2026-11-20 {clock}\thost:0\tconsole_logger:149\tINFO\t[step={step}/2000,epoch=1,eta=1h2m]",
        "    train/CE loss=9.250",
        f"    throughput/device/TPS={16384 / seconds:,.0f}",
        "    throughput/device/TPS (actual avg)=4,096",
        f"    throughput/device/BPS={1 / seconds:.4f}",
    ]


def test_olmo_core_leaves_out_evaluated_steps(tmp_path: Path) -> None:
    lines, now = ["world_size: 8"], 0.0
    for step in range(1, 201):
        evaluated = step % 50 == 0
        if evaluated:
            lines.append(f"2026-11-20 {time_of_day(now + 1)}\thost:0\tevaluator_callback:70\tINFO\tRunning lm evals...")
        now += 21.0 if evaluated else 1.0
        lines += olmo_core(step, 21.0 if evaluated else 1.0, clock=time_of_day(now))
    session = session_of(lines, tmp_path, "frameworks.olmo_core")
    assert value(session, "sustained", devices=8, batch_size=1) == pytest.approx(8 * 16384)


CLAS_BATCHES = [
    "[2026/11/20 10:00:00] ppcls INFO: Train : ",
    "[2026/11/20 10:00:00] ppcls INFO:     sampler : ",
    "[2026/11/20 10:00:00] ppcls INFO:         batch_size : 64",
]


def clas_batches(epochs: Sequence[Sequence[int]], cost: float = 0.2, every: int = 10) -> list[str]:
    """PaddleClas of 2024, whose `ips` is the size of the last batch over the mean cost; each batch takes `cost`."""
    return CLAS_BATCHES + [
        f"[2026/11/20 10:00:00] ppcls INFO: [Train][Epoch {epoch + 1}/{len(epochs)}][Iter: {step}/{len(sizes)}]"
        f"lr(Cosine): 0.1, loss: 2.3, batch_cost: {cost:.5f}s, reader_cost: 0.08870, ips: {size / cost:.5f} samples/s"
        for epoch, sizes in enumerate(epochs)
        for step, size in enumerate(sizes)
        if step % every == 0
    ]


@pytest.mark.parametrize(("steps", "last"), [(51, 44), (201, 40), (201, 3), (11, 3)])
def test_paddle_clas_counts_a_smaller_last_batch_once(tmp_path: Path, steps: int, last: int) -> None:
    epochs = [[64] * (steps - 1) + [last]] * 10
    session = session_of(clas_batches(epochs), tmp_path, "paddle.clas_dygraph")
    assert value(session, devices=4) == pytest.approx(4 * sum(epochs[0]) / (0.2 * steps), rel=1e-3)
    latency = metrics_of(session, devices=4)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200)


@pytest.mark.parametrize(("steps", "code"), [(500, "batch_sizes"), (30000, "")])
def test_paddle_clas_with_several_scales_needs_many_records(tmp_path: Path, steps: int, code: str) -> None:
    """A stated batch size says nothing then: it is that of one scale."""
    sizes = np.random.default_rng(1).choice([41, 64, 114], steps).tolist()
    session = session_of(clas_batches([sizes]), tmp_path, "paddle.clas_dygraph")
    if code:
        assert reason(session, "sustained", devices=1) == code
    else:
        assert value(session, devices=1) == pytest.approx(sum(sizes) / (0.2 * steps), rel=0.01)


OCR_DIALECTS = {
    "samples": "reader_cost: 0.01000 s, batch_cost: {cost:.5f} s, samples: {samples}, ips: {ips:.5f}",
    "avg_samples": "avg_reader_cost: 0.01000 s, avg_batch_cost: {cost:.5f} s, avg_samples: {mean}, "
    "ips: {ips:.5f} samples/s, eta: 0:10:00",
}
OCR = "[2026/11/20 10:00:00] {logger} INFO: epoch: [{epoch}/{epochs}], {step}: {at}, lr: 0.1, loss: 2.5, {told}"


def ocr(dialect: str, length: int, epochs: int, last: int = 16, every: int = 10, first: int = 0) -> list[str]:
    """PaddleOCR: steps of 0.2 s and 16 samples, except the last of an epoch; sums are always divided by `every`."""
    lines = [
        "[2026/11/20 10:00:00] ppocr INFO: Train : ",
        "[2026/11/20 10:00:00] ppocr INFO:         batch_size_per_card : 16",
    ]
    steps = samples = 0
    for at in range(first, first + length * epochs):
        end = (at - first) % length == length - 1
        steps, samples = steps + 1, samples + (last if end else 16)
        if end or (at > 0 and at % every == 0):
            told = OCR_DIALECTS[dialect].format(
                cost=0.2 * steps / every, samples=samples, mean=samples / every, ips=samples / (0.2 * steps)
            )
            old, epoch = dialect == "samples", (at - first) // length + 1
            lines.append(
                OCR.format(
                    logger="root" if old else "ppocr", epoch=epoch, epochs=epochs, at=at, told=told,
                    step="iter" if old else "global_step",
                )
            )  # fmt: skip
            steps = samples = 0
    return lines


@pytest.mark.parametrize("dialect", OCR_DIALECTS)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("length", "last"), [(12, 16), (63, 16), (13, 5), (4, 16), (6, 16), (30, 16), (10, 16)])
def test_paddle_ocr_divides_by_the_steps_of_the_interval(
    tmp_path: Path, dialect: str, length: int, last: int, first: int
) -> None:
    """An epoch ends off the grid of `print_batch_step`; steps count from 0 or 1."""
    session = session_of(ocr(dialect, length, 40, last, first=first), tmp_path, "frameworks.paddle_ocr")
    of_epoch = 16 * (length - 1) + last
    assert value(session, "sustained", devices=1) == pytest.approx(of_epoch / (0.2 * length), rel=0.01)
    latency = metrics_of(session, devices=1)["latency"]
    assert isinstance(latency, MetricFigure)
    assert latency.value == pytest.approx(200, rel=1e-3)
    found = measured(session, facts_of(session) | {"devices": 1})
    assert [each.verdict for each in found.witnesses if each.kind == "arithmetic"] == ["agrees"]


def test_paddle_clas_static_reports_epochs_shorter_than_its_mean(tmp_path: Path) -> None:
    lines = [
        f"ppcls INFO: epoch:{epoch}   train step:{step}   lr: 0.1, loss:  2.5 batch_cost: 0.20000 s, "
        "reader_cost: 0.0 s, ips: 80.00000 samples/sec."
        for epoch in range(60)
        for step in range(4)
    ]
    found = figure(session_of(lines, tmp_path, "paddle.clas_static"), "sustained", **ONE)
    assert found == NoFigure(Reason("not_stated", {"missing": "line_steps"}))


def gnmt(step: int, speed: float, seconds: float, rank: str = "0: ") -> str:
    return (
        f"{rank}TRAIN [0][{step}/4400]\tTime 0.206 ({seconds:.3f})\tData 1.49e-04 (1.78e-04)\t"
        f"Tok/s 134750 ({speed:.0f})\tLoss/tok 7.1250 (7.5)\tLR 8.319e-04"
    )


def test_gnmt_means_late_in_an_epoch_are_undone_over_several_intervals(tmp_path: Path) -> None:
    """Over 4,000 iterations the last digit counts 4 s, and an interval of 2 s would seem to last less than none."""
    lines = [gnmt(step, 100e3, 0.201 if step % 20 else 0.2) for step in range(10, 4410, 10)]
    session = session_of(lines, tmp_path, "ngc.pytorch_gnmt")
    assert (session.main["duration"] > 0).all()
    assert metrics_of(session, devices=1)["latency"].value == pytest.approx(200, rel=5e-3)
    assert value(session, devices=1) == pytest.approx(100e3)


def bars(total: int, rate: str, every: int = 1) -> list[str]:
    return [f" 10%|#    | {step}/{total} [00:21<06:46,  {rate}]" for step in range(every, total + 1, every)]


def paddlenlp(samples: float, *, updates: int = 10, rate: str = "3e-05", head: bool = True) -> list[str]:
    """PaddleNLP's Trainer: two devices with 2 x 8 samples per update each, and 4 s per line, which counts `samples`."""
    at, per_second = "[2026-11-20 10:{:02}:{:02},123] [    INFO] - ", "interval_{}_per_second: {:.3f}, "
    told = per_second.format("samples", samples / 4) + per_second.format("steps", updates / 4)
    stated = (
        "world_size                    :2",
        "***** Running training *****",
        "  Instantaneous batch size per device = 8",
        "  Total train batch size (w. parallel, distributed & accumulation) = 32",
        "  Gradient Accumulation steps = 2",
    )
    return [at.format(0, 0) + each for each in stated if head] + [
        f"{at.format(n // 15, 4 * n % 60)}loss: 1.5, learning_rate: {rate}, global_step: {updates * n}, "
        f"interval_runtime: 4.0, {told}epoch: 0.1"
        for n in range(1, 21)
    ]


def test_paddlenlp_trainer_with_bars_is_paddle(tmp_path: Path) -> None:
    head = paddlenlp(16)[1:5]
    lines = [
        *head,
        *bars(600, "2.50it/s"),
        "{'loss': 0.25, 'learning_rate': 4.5e-05, 'global_step': 150, 'epoch': 2.0}",
    ]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["framework"] == "PaddlePaddle"
    other = session_of([each.rpartition("] - ")[2] for each in lines], tmp_path, "frameworks.hf_trainer")
    assert "framework" not in facts_of(other)


@pytest.mark.parametrize("evaluated", [True, False])
def test_first_paddle_clas_has_evaluations_in_its_means(evaluated: bool, tmp_path: Path) -> None:
    """Means run from iteration 5 of an epoch to iteration 4 of the next; a batch of 32 takes 0.5 s, the last 0.1 s."""
    at = "[2021/11/20 10:00:00] root INFO: "
    told = "[Train][Epoch {}/6][Iter: {}/36]loss: 2.3, batch_cost: {:.5f}s, reader_cost: 0, ips: {:.5f} images/sec"
    between = (
        ["[Eval][Epoch 1][Avg]CELoss: 2.3, loss: 2.3", "Already save model in ./output/epoch_1"] if evaluated else []
    )
    lines = []
    for epoch in range(1, 7):
        carried = (30 * 0.5 + 0.1, 31)
        first = 0.5 if epoch == 1 else (carried[0] + (30 if evaluated else 0) + 0.5) / (carried[1] + 1)
        lines += [told.format(epoch, 0, first, 32 / first)]
        lines += [told.format(epoch, step, 0.5, 64) for step in range(5, 35)]
        lines += [told.format(epoch, 35, carried[0] / carried[1], 4 / (carried[0] / carried[1])), *between]
    session = session_of([at + each for each in lines], tmp_path, "paddle.clas_dygraph")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * (30 * 32 + 4) / 15.1, rel=2e-3)


def examples_of(steps: Iterable[int], took: Sequence[float], first: int = 0, mean: float | None = None) -> list[str]:
    """Return lines of PyTorch's ImageNet example at some steps; `took` are the seconds of all steps of the epoch."""
    lines = []
    for i in steps:
        average = sum(took[: i + 1]) / (i + 1) if mean is None else mean
        lines.append(
            f"Epoch: [0][{i + first:4d}/2000]\tTime {took[i]:6.3f} ({average:6.3f})\tData  0.001 ({average / 2:6.3f})\t"
            "Loss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)\tAcc@5  11.72 ( 10.94)"
        )
    return lines


@pytest.mark.parametrize("first", [0, 1])
def test_stalls_of_unprinted_batches_count(first: int, tmp_path: Path) -> None:
    """Was: 0.25 s, since the loader stalls for one batch in ten, and another one is printed."""
    took = [4.0 if i == 0 else 2.25 if i % 10 == 5 else 0.25 for i in range(2000)]
    session = session_of(examples_of(range(0, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.01)
    tail = session_of(examples_of(range(1700, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(tail, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.04)


def test_mean_that_begins_within_an_epoch_gives_no_seconds(tmp_path: Path) -> None:
    took = [0.25] * 400
    session = session_of(examples_of(range(0, 400, 10), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(256)
    whole = session_of(examples_of(range(400), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(whole, "sustained", devices=1, batch_size=64) == pytest.approx(256)


@pytest.mark.parametrize(("second", "reason"), [(0.5, None), (2.0, "withheld")])
def test_clock_judges_the_time_per_step_without_a_batch_size(second: float, reason: str | None, tmp_path: Path) -> None:
    """MMEngine prints the last ten of fifty iterations; in the others the loader stalls. The number of planned epochs
    is unknown, so `eta` does not count.
    """
    lines = [
        f"2026/11/20 12:{int(50 * second * i) // 60:02}:{int(50 * second * i) % 60:02} - mmengine - INFO - "
        f"Epoch(train)  [1][{50 * i:5}/40000]  lr: 1.0e-02  eta: 5:53:22  time: 0.5000  data_time: 0.0100  loss: 2.1"
        for i in range(1, 30)
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, {})
    assert isinstance(found.headline, NoFigure)
    assert (found.headline.reason.args, found.witnesses) == ({"missing": "devices"}, ())
    latency = metrics(session, {}, found.headline, found.slower, found.untimed)["latency"]
    assert latency.value == (None if reason else pytest.approx(500))
    assert (latency.reason and latency.reason.code) == reason


def test_seconds_that_the_clock_contradicts_are_not_a_time_per_step(tmp_path: Path) -> None:
    """PaddleOCR of 2021 leaves metrics out of its 2.25 s; a step takes 5 s."""
    told = "lr: 0.001, loss: 1.5, acc: 0.5, reader_cost: 0.00100 s, batch_cost: 2.25000 s, samples: 512, ips: 227.55556"
    lines = [
        f"[2021/11/20 10:{i // 12:02}:{5 * (i % 12):02}] root INFO: epoch: [1/500], iter: {i}, {told}"
        for i in range(1, 40)
    ]
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    found = measured(session, ONE)
    assert isinstance(found.headline, NoFigure)
    latency = metrics(session, ONE, found.headline, found.slower, found.untimed)["latency"]
    assert (latency.value, latency.reason) == (None, found.headline.reason)


def test_electra_counts_seconds_since_the_start(tmp_path: Path) -> None:
    """Ten updates of 1.5 s per line of two ranks; a checkpoint of 25 s after each tenth; `Perf` is of dispatch."""
    lines, at = ["gradient_accumulation_steps 3", "train_batch_size 176", "=" * 80, "Running training", "=" * 80], 0
    for step in range(10, 1001, 10):
        at += 15
        told = f"Elapsed: {at // 3600:2d}h{at // 60 % 60:2d}m{at % 60:2d}s, ETA:  1h 0m 0s, "
        line = (
            f"Step:{step:6d}, Loss: 40.125000, Gen_loss:  9.250000, Disc_acc: 85.25, Perf:9999, Loss Scaler: 1, {told}"
        )
        lines += [line] * 2
        if step % 100 == 0:
            at += 25
            lines.append(f" ** Saved model checkpoint for step {step}: out/ckpt-{step}")
    session = session_of(lines, tmp_path, "ngc.tensorflow2_electra")
    assert value(session, "sustained", **facts_of(session), devices=8) == pytest.approx(176 * 3 * 8 / 1.5)


# Paddle

PAIR = {"devices": 2, "batch_size": 4}
EIGHT_O_CLOCK = dt.datetime(2026, 11, 20, 8)


def test_paddlespeech_counts_a_batch_of_all_ranks_once(tmp_path: Path) -> None:
    lines = [
        f"Train: Rank: {rank}, epoch: 0, step: {n}, lr: 0.001, batch_size: 32, accum: 1, loss: 9.5, step_cost: 0.4, "
        f"iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: 32, ips: 64.0 sent./sec"
        for n in range(1, 101)
        for rank in range(4)
    ]
    session = session_of(lines, tmp_path, "paddle.speech")
    assert one_run(session) is None
    assert value(session, devices=4) == pytest.approx(256)


def test_paddlespeech_begins_with_its_arguments(tmp_path: Path) -> None:
    lines = [
        line
        for size in (32, 16)
        for line in (
            "----------- train.py Configuration Arguments -----------",
            "seed: 0",
            *(
                f"Train: Rank: 0, epoch: 0, step: {n}, lr: 0.001, batch_size: {size}, accum: 1, loss: 9.5, "
                f"step_cost: 0.4, iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: {size}, "
                f"ips: {size / 0.5} sent./sec"
                for n in range(1, 101)
            ),
        )
    ]
    assert [value(each, devices=4) for each in log_of(lines, tmp_path).sessions] == [
        pytest.approx(256),
        pytest.approx(128),
    ]


def test_paddleocr_for_documents_times_the_forward_pass_alone(tmp_path: Path) -> None:
    # Steps of 0.4 s on two devices, of which `batch_cost` has 0.05 s; evaluations and checkpoints of 20 s and 5 s.
    at, lines = (
        EIGHT_O_CLOCK,
        ["Instantaneous batch size per GPU = 8", "Total train batch size (w. parallel, distributed) = 16"],
    )
    lines = [f"[2026/11/20 07:59:59] root INFO:   {each}" for each in lines]
    for step in range(1, 1001):
        at += dt.timedelta(seconds=0.4)
        epoch, place = divmod(step - 1, 100)
        lines.append(
            f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: epoch: [{epoch}/200], iter: [{place}/100], global_step:{step}, "
            "train loss: 0.250000, lr: 0.000050, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.05000 sec, "
            "avg_samples: 8.00000, ips: 160.00000 images/sec"
        )
        for every, seconds, said in (
            (200, 20, f"[epoch {epoch}/200] results: {{}}"),
            (100, 5, "Saving model checkpoint to out"),
        ):
            if step % every == 0:
                at += dt.timedelta(seconds=seconds)
                lines.append(f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: {said}")
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    facts = merge({}, session.facts, PathFacts(""), {}).for_rules()
    told = measured(session, facts | {"devices": 2}).headline
    assert isinstance(told, Figure)
    assert told.value == pytest.approx(2 * 8 / 0.4, rel=0.01)


# NVIDIA and MLPerf


def mllog(at: float, key: str, told: object = None, **metadata: object) -> str:
    """Return a line of MLPerf, `at` seconds after some time in 2026."""
    event = {"namespace": "", "time_ms": 1795169472500 + round(1000 * at), "event_type": "POINT_IN_TIME", "key": key}
    return f":::MLLOG {json.dumps(event | {'value': told, 'metadata': metadata})}"


def run_of(benchmark: str, batch: int, lines: Sequence[str], end: float, **more: object) -> list[str]:
    """Return a log: its head with further settings, and a run that meets its target at the end."""
    stated = {"submission_benchmark": benchmark, "global_batch_size": batch} | more
    head = [mllog(-9, key, each) for key, each in stated.items()]
    return [*head, mllog(0, "run_start"), *lines, mllog(end, "run_stop", status="success")]


def marked(every: int, evaluated: int, factor: float = 1.0) -> list[str]:
    """TorchTitan's logger: 120 steps of 64 in 1 s, and evaluations of 20 s; a block is the first of some steps.

    Its end repeats the numbers of its beginning, with the speed of all steps since the last one. The timer begins
    with the run, so that the first of these speeds counts steps that are not done.
    """
    lines, at, before = [], 0.0, 0.0
    for step in range(120):
        marks, done = step % every == 0, 64 * step
        lines += [mllog(at, "block_start", "training_step", samples_count=done)] if marks else []
        at += 1
        if marks:
            told = {"throughput": factor * 64 * every / (at - before), "train_step_time": (at - before) / every}
            lines += [mllog(at, "tracked_stats", told, step_num=step)]
            lines += [mllog(at, "block_stop", "training_step", samples_count=done)]
            before = at
        if (step + 1) % evaluated == 0:
            for key in ("eval_start", "eval_accuracy", "eval_stop"):
                lines.append(mllog(at + 20 * (key != "eval_start"), key, 0.6, samples_count=done + 64))
            at += 20
    return run_of("flux1", 64, lines, at)


def session_of_mlperf(lines: Sequence[str], folder: Path) -> Session:
    return session_of(lines, folder, "frameworks.mlperf")


def metric(session: Session, name: str) -> Any:
    case: dict[str, Any] = facts_of(session)
    return metrics(session, case, rules.figure("sustained", session, case)).get(name)


def samples_to_train(session: Session) -> float | None:
    found = metric(session, "samples_to_train")
    return found.value if found else None


@pytest.mark.parametrize("every", [1, 2, 5, 10])
@pytest.mark.parametrize("evaluated", [10, 30])
def test_blocks_may_mark_only_some_steps(every: int, evaluated: int, tmp_path: Path) -> None:
    session = session_of_mlperf(marked(every, evaluated), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 64 * 120)


def test_means_since_the_start_contain_slow_steps(tmp_path: Path) -> None:
    # Mask R-CNN: a hundred steps of 64 in each epoch, 1 s each except the first ten, and the mean every tenth.
    lines, at, trained = [], 0.0, 0.0
    for step in range(1, 1001):
        if step % 100 == 1:
            lines.append(mllog(at, "epoch_start", epoch_num=step // 100 + 1))
        seconds = 2.5 if step <= 10 else 1.0
        at, trained = at + seconds, trained + seconds
        if step % 10 == 0:
            mean = trained / step
            lines.append(mllog(at, "tracked_stats", {"time": mean, "throughput": 64 / mean}, step=step))
            lines.append(mllog(at, "throughput", 64 / mean))
        if step % 100 == 0:
            lines += [mllog(at, "epoch_stop", epoch_num=step // 100), mllog(at, "eval_start", epoch_num=step // 100)]
            at += 30
            lines.append(mllog(at, "eval_stop", epoch_num=step // 100))
    session = session_of_mlperf(run_of("maskrcnn", 64, lines, at, train_samples=6400), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64)


@pytest.mark.parametrize("first", [True, False])
def test_speed_that_is_logged_twice_counts_once(first: bool, tmp_path: Path) -> None:
    # RNN-T: epochs of 6400 samples in 100 s, an evaluation of 10 s in each block, and both lines for the same speed.
    lines = []
    for epoch in range(1, 21):
        at = 110 * epoch - 110
        lines += [mllog(at, "block_start", first_epoch_num=epoch, epoch_count=1)]
        lines += [mllog(at, "epoch_start", epoch_num=epoch), mllog(at + 100, "epoch_stop", epoch_num=epoch)]
        speeds = [
            mllog(at + 100, "throughput", 64.0),
            mllog(at + 100, "tracked_stats", {"throughput": 64.0}, step=epoch),
        ]
        lines += speeds if first else speeds[::-1]
        lines += [mllog(at + 100, "eval_start", epoch_num=epoch), mllog(at + 110, "eval_stop", epoch_num=epoch)]
        lines += [mllog(at + 110, "block_stop", first_epoch_num=epoch)]
    session = session_of_mlperf(run_of("rnnt", 64, lines, 2200, train_samples=6400), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, samples_to_train(session)) == (pytest.approx(64), 128000)


def dllogger(unix: float, step: object, data: dict[str, object]) -> str:
    return "DLLL " + json.dumps({"timestamp": f"{unix:.6f}", "type": "LOG", "step": step, "data": data})


@pytest.mark.parametrize(("every", "expected"), [(1, None), (10, 32)])
def test_dllogger_may_print_planned_steps_after_the_step(every: int, expected: float | None, tmp_path: Path) -> None:
    """Steps one by one might be epochs."""
    lines = [dllogger(0.25 * step, [step, 640], {"loss": "5.5000"}) for step in range(0, 640, every)]
    session, case = (
        session_of(lines, tmp_path, "frameworks.dllogger"),
        {"devices": 1, "batch_size": 8, "accumulation": 1},
    )
    if expected is None:
        assert reason(session, "sustained", **case) == "epoch_length"
    else:
        assert value(session, "sustained", **case) == pytest.approx(expected)


def console_of_convnets(epochs: Sequence[Sequence[float]], interval: int = 10, devices: int | None = 8) -> list[str]:
    """Return the console of the ConvNets: iterations of 256 images that compute for 0.24 s and wait before."""

    def line(step: str, waits: Sequence[float]) -> str:
        speed = sum(256 / (0.24 + each) for each in waits) / len(waits)
        stamp = (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=clock)).isoformat(" ", "microseconds")
        return (
            f"DLL {stamp} - {step} train.loss : 6.5 None train.compute_ips : {256 / 0.24:.2f} images/s "
            f"train.total_ips : {speed:.2f} images/s train.lr : 0.1"
        )

    def times(step: str, waits: Sequence[float]) -> str:
        mean = f"train.data_time : {sum(waits) / len(waits):.5f} s train.compute_time : 0.24000 s"
        return f"DLL 2026-11-20 23:59:59.500000 - {step} {mean}"

    clock, lines = 10.5, []
    if devices:
        lines.append(
            f"DLL 2026-11-20 00:00:10.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : {devices} "
        )
    for epoch, waits in enumerate(epochs):
        for done, wait in enumerate(waits, 1):
            clock += 0.24 + wait
            if done % interval == 0:
                lines.append(line(f"Epoch: {epoch} Iteration: {done} ", waits[done - interval : done]))
        clock += 30
        lines += [line(f"Epoch: {epoch} ", waits), times(f"Epoch: {epoch} ", waits)]
    run = [one for each in epochs for one in each]
    return [*lines, line("Summary:", run), times("Summary:", run)]


def test_console_of_convnets_hides_waits_of_several_iterations(tmp_path: Path) -> None:
    # Of ten iterations nine take 0.25 s and one 3.24 s: 2560 images in 5.49 s; the mean speed is that of 2.75 s.
    epochs = [([0.01] * 9 + [3.0]) * 10] * 3
    session = session_of(console_of_convnets(epochs), tmp_path, "ngc.pytorch_resnet50")
    assert blamed(session) == "clock"
    # Lines of one iteration hide nothing, nor do waits that are all alike.
    session = session_of(console_of_convnets(epochs, interval=1), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(2560 / 5.49, rel=1e-4)
    session = session_of(console_of_convnets([[0.26] * 100] * 3), tmp_path, "ngc.pytorch_resnet50")
    assert value(session) == pytest.approx(512)
    assert value(session, "reported") == pytest.approx(512)


#: Items of ten iterations of 20,000 items over their seconds with the wait for data.
TRUE_SPEED = 200_000 / (10 * 0.5 + 9 * 0.01 + 3)


def iterations(count: int, epochs: int) -> Iterator[tuple[int, int, float]]:
    """Yield epoch, iteration and clock: 0.5 s each and 0.01 s for its data, of every tenth 3 s; 10 s between epochs."""
    clock = 0.5
    for epoch in range(1, epochs + 1):
        for iteration in range(1, count + 1):
            clock += 0.5 + (3.0 if iteration % 10 == 5 else 0.01)
            yield epoch, iteration, clock
        clock += 10


def stamp(seconds: float) -> str:
    return (dt.datetime(2026, 11, 20) + dt.timedelta(seconds=seconds)).isoformat(" ", "microseconds")


def fastpitch(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield (
            f"DLL {stamp(clock)} - epoch {epoch:>4} | iter {iteration:>3}/50 | loss 30.25 | mel loss 28.50 | "
            "  40000.00 frames/s | took 0.50 s | lrate 1.00e-03"
        )
        if iteration == 50:
            yield (
                f"DLL {stamp(clock)} - epoch {epoch:>4} | avg train loss 30.25 | avg train mel loss 28.50 | "
                "  24000.00 frames/s | took 40.45 s"
            )


def speech_json(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        data = {"train_loss": 30.25, "train_frames/s": 40000.0, "train_took": 0.5}
        yield dllogger(1795169472 + clock, [epoch, iteration, 50], data)
        if iteration == 50:
            yield dllogger(1795169472 + clock, [epoch], {"train_avg_loss": 30.25, "train_avg_took": 40.45})


def tacotron(epochs: int) -> Iterator[str]:
    for epoch, iteration, clock in iterations(50, epochs):
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_items_per_sec : 40000.0 items/s"
        yield f"DLL {stamp(clock)} - ({epoch}, {iteration}) train_iter_time : 0.5 s"
        if iteration == 50:
            yield f"DLL {stamp(clock)} - ({epoch},) train_epoch_time : 40.45 s"
    yield f"DLL {stamp(clock)} - () train_items_per_sec : 40000.0 items/s"


@pytest.mark.parametrize(
    ("format_id", "lines"),
    [
        ("frameworks.dllogger_text", fastpitch(4)),
        ("frameworks.dllogger", speech_json(4)),
        ("ngc.pytorch_items", tacotron(4)),
        ("ngc.pytorch_items", [each for n, each in enumerate(tacotron(4)) if n not in (150, 301)]),
    ],
)
def test_speech_waits_for_data_between_its_timers(format_id: str, lines: Iterable[str], tmp_path: Path) -> None:
    session = session_of(list(lines), tmp_path, format_id)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    # The window begins within the ten, and leaves out what lies between epochs.
    assert found.value == pytest.approx(TRUE_SPEED, rel=0.02)


def test_tft_waits_for_data_between_its_timers(tmp_path: Path) -> None:
    # 512 samples per step of 0.0625 s, and of every tenth 0.5 s for its data: 5120 samples in 1.125 s.
    unix = 1795169472.5
    lines = [dllogger(unix, "HPARAMS", {"batch_size": 64, "distributed_world_size": 8, "use_amp": True})]
    for step in range(400):
        unix += 0.5625 if step % 10 == 5 else 0.0625
        lines.append(dllogger(unix, step, {"P10": 0.5, "P50": 0.5, "P90": 0.25, "loss": 1.25, "items/s": 8192.0}))
        if step % 100 == 99:
            unix += 20
            lines.append(dllogger(unix, step + 1, {"val_P10": 0.5, "val_loss": 1.5, "val_items/s": 30000.0}))
    lines.append(dllogger(unix, [], {"test_p10": 0.5, "average_ips": 8192.0, "convergence_step": 400}))
    session = session_of(lines, tmp_path, "frameworks.dllogger")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(5120 / 1.125, rel=0.01)


def test_timing_in_bar_of_nemo_excludes_the_wait_for_data(tmp_path: Path) -> None:
    def bar(step: int, seconds: int) -> str:
        return (
            f"Epoch 0: :  10%|#         | {step}/2000 [{seconds // 60:02}:{seconds % 60:02}<10:00, v_num=, "
            f"reduced_train_loss=10.40, global_step={step - 1}.000, consumed_samples={32.0 * step}, "
            "train_step_timing in s=1.000]"
        )

    def bars(wait: float) -> list[str]:
        return [bar(step, int(step * (1 + wait))) for step in range(1, 201)]

    session = session_of(bars(0), tmp_path, "frameworks.nemo")
    found = measured(session, facts_of(session) | {"batch_size_of_job": 32}).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(32)
    session = session_of(bars(0.5), tmp_path, "frameworks.nemo")
    found = measured(session, facts_of(session) | {"batch_size_of_job": 32}).headline
    assert isinstance(found, NoFigure)
    assert found.reason.args["witness"] == "clock"


@pytest.mark.parametrize("text", [False, True])
def test_resnet_of_paddlepaddle_prints_one_step_of_many(text: bool, tmp_path: Path) -> None:
    # The printed steps take 0.25 s, the nine before each 0.5 s; an evaluation of 60 s follows each epoch.
    at, lines = 1795169472.5, []

    def log(step: list[int], **told: float) -> None:
        clock = dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        place = " ".join(f"{word}: {each}" for word, each in zip(("Epoch", "Iteration"), step, strict=False))
        words = "  ".join(f"train.{key} : {each}" for key, each in told.items())
        named = {f"train.{key}": each for key, each in told.items()}
        lines.append(f"DLL {clock} - {place}  {words} " if text else dllogger(at, step, named))

    for epoch in range(3):
        for step in range(10, 401, 10):
            at += 0.25 + 9 * 0.5
            log([epoch, step], loss=6.5, top1=0.25, data_time=0.0125, compute_time=0.2375, batch_time=0.25, ips=4096.0)
        log([epoch], loss=6.5, epoch_time=190.0, ips=2155.79)
        at += 60
    session = session_of(lines, tmp_path, "frameworks.dllogger_text" if text else "frameworks.dllogger")
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(1024 * 10 / 4.75, rel=0.001)


def blamed(session: Session) -> str:
    """Return the witness that withholds the figure, or `` where there is one."""
    found = measured(session, facts_of(session)).headline
    if isinstance(found, Figure):
        return ""
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld", found
    return str(found.reason.args["witness"])


def lines_of_convnets(speed: Callable[[int], float], seconds: Callable[[int], float] = lambda _: 0.25) -> Iterator[str]:
    """Yield 600 lines of an iteration of 256 images; `speed` and `seconds` of each line."""
    yield "DLL 2026-11-20 10:00:00.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : 8 "
    clock = dt.datetime(2026, 11, 20, 10, 0, 1, 250)
    for line in range(1, 601):
        clock += dt.timedelta(seconds=seconds(line))
        yield (
            f"DLL {clock.isoformat(' ', 'microseconds')} - Epoch: 0 Iteration: {line}  train.loss : 6.5 None "
            f"train.compute_ips : {1.01 * speed(line):.2f} images/s train.total_ips : {speed(line):.2f} images/s"
        )


def test_time_between_some_lines_contradicts_nothing(tmp_path: Path) -> None:
    # What no record covers, such as an evaluation, is longer than the other intervals.
    session = session_of(
        list(lines_of_convnets(lambda _: 1024.0, lambda line: 1.25 if line % 5 == 2 else 0.25)),
        tmp_path,
        "ngc.pytorch_resnet50",
    )
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(1024)


def test_speeds_of_epochs_contradict_those_of_iterations(tmp_path: Path) -> None:
    # The speed of an epoch is a quarter of that of its iterations.
    assert not blamed(session_of(list(fastpitch(4)), tmp_path, "frameworks.dllogger_text"))
    lines = [each.replace("24000.00 frames/s", "6000.00 frames/s") for each in fastpitch(4)]
    assert blamed(session_of(lines, tmp_path, "frameworks.dllogger_text")) == "summary"


# Vision

TEN_O_CLOCK = dt.datetime(2026, 11, 20, 10)


@pytest.mark.parametrize(("every", "batch"), [(1, 0.375), (10, 9.375)])
def test_line_of_chinese_clip_is_of_one_step(every: int, batch: float, tmp_path: Path) -> None:
    # Steps of 0.375 s; where one in ten is printed, it claims 9.375 s, and the stamps of whole seconds give the speed.
    lines = [
        f"{TEN_O_CLOCK + dt.timedelta(seconds=int(0.375 * i)):%Y-%m-%d,%H:%M:%S} | INFO | Rank 0 | "
        f"Global Steps: {i}/4000 | Train Epoch: 1 [{64 * i}/256000 ({i // 40}%)] | Loss: 1.500000 | "
        f"Data Time: 0.125s | Batch Time: {batch:.3f}s | LR: 0.000010 | logit_scale: 4.605 | Global Batch Size: 64"
        for i in range(every, 801, every)
    ]
    session = session_of(lines, tmp_path, "frameworks.chinese_clip")
    assert value(session, ALL, devices=8) == pytest.approx(64 / 0.375, rel=0.01)


OPENPI = [
    "10:00:00.125 [I] Running on: node                                                      (1234:train.py:196)",
    "10:00:20.125 [I] Initialized data loader:",
    "[0].images['base_0_rgb']: (32, 224, 224, 3)@float32",
    "[1]: (32, 50, 7)@float32 (1234:train.py:227)",
    "10:01:00.125 [I] Progress on: -/30000 rate:- remaining:? elapsed:00:00 postfix:-       (1234:tqdm_logging.py:145)",
]


def openpi_bar(seconds: float, steps: float) -> str:
    """Return the bar of openpi for JAX as tqdm_loggable logs it, with three digits of the steps."""
    told = f"{steps:.3g}it" if steps < 999.5 else f"{steps / 1000:#.3g}kit"
    return (
        f"{TEN_O_CLOCK + dt.timedelta(seconds=seconds):%H:%M:%S}.125 [I] Progress on: {told}/30.0kit rate:2.0it/s "
        f"remaining:1:00:00 elapsed:{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d} "
        "postfix:-             (1234:tqdm_logging.py:145)"
    )


def test_bar_of_openpi_counts_in_three_digits(tmp_path: Path) -> None:
    """The first step takes 40 s, each other one half a second; one of 12,345 steps is printed as 12,300."""
    lines = [*OPENPI, *(openpi_bar(40 + step / 2, step) for step in range(20, 30001, 20))]
    session = session_of(lines, tmp_path, "frameworks.openpi")
    assert value(session, "sustained") == pytest.approx(64, rel=2e-3)
    assert value(session, "median") == pytest.approx(64, rel=0.02)
    assert facts_of(session) | {"batch_size_of_job": 32, "total_steps": 30000} == facts_of(session)


def epoch_of_examples(epoch: int, took: Sequence[float], every: int = 10) -> list[str]:
    """Return the lines of an epoch; `took` are the seconds of all its steps."""
    return [
        f"Epoch: [{epoch}][{i + 1:3d}/{len(took)}]\tTime {took[i]:6.3f} ({sum(took[: i + 1]) / (i + 1):6.3f})\t"
        "Data  0.001 ( 0.001)\tLoss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)"
        for i in range(0, len(took), every)
    ]


def test_end_of_an_epoch_of_fast_steps_counts(tmp_path: Path) -> None:
    # 381 steps of an epoch up to its last line: one of 0.4 s, and 380 of 0.02 s. Three decimals need many.
    lines = [line for epoch in range(10) for line in epoch_of_examples(epoch, [0.4] + 390 * [0.02])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert value(session, ALL, devices=1, batch_size=64) == pytest.approx(64 * 381 / 8, rel=0.02)


def test_steps_too_fast_for_three_decimals_give_no_figure(tmp_path: Path) -> None:
    lines = [line for epoch in range(10) for line in epoch_of_examples(epoch, [0.4] + 390 * [0.0084])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert reason(session, ALL, devices=1, batch_size=64) == "impossible_figure"


def published_or_witness(session: Session, **case: int) -> float | tuple[str, str]:
    """Return the figure, or the witness that withholds it and the unit that it compares."""
    found = measured(session, facts_of(session) | case).headline
    if isinstance(found, Figure):
        return found.value
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld", found.reason
    return str(found.reason.args["witness"]), str(found.reason.args["unit"])


def test_smaller_update_of_timm_is_found_by_its_seconds(tmp_path: Path) -> None:
    # The first update of an epoch takes a second, 1999 others 5 ms each: 0.005498 s on average, printed as 0.005.
    lines = []
    for epoch in range(4):
        for i in range(2000):
            mean = (1 + 0.005 * i) / (i + 1)
            lines.append(
                f"Train: {epoch} [{i:>4d}/2000 ({i / 20:>3.0f}%)]  Loss: 6.25 (6.50)  Time: 0.005s, 102400.00/s  "
                f"({mean:.3f}s, {512 / mean:>7.2f}/s)  LR: 1.000e-05  Data: 0.010 (0.050)"
            )
    session = session_of(lines, tmp_path, "frameworks.timm")
    # Three epochs of 2000 updates, and 400 of the first.
    assert published_or_witness(session) == pytest.approx(6400 * 512 / (3 * 10.995 + 400 * 0.005), rel=0.01)


# Reinforcement learning


def openrlhf(words: str, command: str = "") -> Iterator[str]:
    """Yield two epochs of 60 batches of 2 on 4 devices in 5 s, and an evaluation of 45 s after every 20th."""
    yield f"deepspeed --module openrlhf.cli.train --train_batch_size 64 --micro_train_batch_size 2 {command}"
    for epoch in (0, 1):
        seconds, states = 0, list[str]()
        for batch in range(1, 61):
            seconds += 5
            # Words are set before the batch counts.
            for done in (batch - 1, batch):
                at = f"{done}/60 [{elapsed(seconds)}<05:00,  5.00s/it, {words}]"
                states.append(f"Train step of epoch {epoch}:  {done}%|#  | {at}")
            if batch % 20 == 0:
                seconds += 45
                states.append(f"Eval stage of steps {batch}: 100%|###| 9/9 [00:45<00:00,  5.00s/it, eval {words}]")
        yield "\r".join(states)


@pytest.mark.parametrize("words", ["gpt_loss=1.5, lr=5e-6", "loss=0.69, acc=0.5, chosen_reward=0.1, reject_reward=0.1"])
def test_openrlhf_draws_a_batch_before_it_counts(words: str, tmp_path: Path) -> None:
    session = session_of(list(openrlhf(words)), tmp_path, "frameworks.openrlhf_bars")
    assert value(session, "sustained", batch_size=2, devices=4) == pytest.approx(2 * 4 / 5)


def easyr1(ray: str, validated: int = 0) -> list[str]:
    """Return blocks of steps of 80,000 tokens in 50 s on eight devices; some include a validation of 100 s."""
    lines = [
        "Config",
        "algorithm:",
        "  adv_estimator: grpo",
        "data:",
        "  rollout_batch_size: 512",
        "trainer:",
        "  n_gpus_per_node: 8",
        "  nnodes: 1",
    ]
    lines += ["worker:", "  actor:", "    model:", "      model_path: /data/tiny-lm"]
    for n in range(1, 31):
        holds = bool(validated) and n % validated == 0
        took = 150.0 if holds else 50.0
        lines += [f"Step {n}", "actor:", "  lr: 1.0e-06", "critic:", "  rewards:", "    mean: 0.5", "perf:"]
        lines += ["  mfu_actor: 0.31", f"  throughput: {10000 / took:.3f}", f"  time_per_step: {took}"]
        lines += ["  total_num_tokens: 80000", "response_length:", "  mean: 612.5", "timing_s:", f"  step: {took}"]
        lines += ["  validation: 100.0"] if holds else []
    return [ray + each for each in lines]


@pytest.mark.parametrize("ray", ["", "(Runner pid=3860) "])
@pytest.mark.parametrize("validated", [0, 5])
def test_easyr1_prints_a_block_of_yaml(ray: str, validated: int, tmp_path: Path) -> None:
    session = session_of(easyr1(ray, validated), tmp_path, "frameworks.verl")
    assert value(session, "sustained") == pytest.approx(1600)
    stated = {"model": "tiny-lm", "devices_per_node": 8, "nodes": 1}
    assert facts_of(session) == stated
    both = log_of([*easyr1(ray, validated), *easyr1(ray)], tmp_path).sessions
    assert [value(each, "sustained") for each in both] == pytest.approx([1600] * 2)
