"""What users of Hugging Face's libraries left in public, on made-up lines whose figures are worked out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_dialects import EVAL, HF_HEAD, LOSS, bars, facts_of, log_of, reason, session_of, value

from ingest.compute.witnesses import measured
from parsers.engine.scan import unstyled
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

STAMP = "11/20/2026 10:00:00 - INFO - __main__ -"
#: 16 samples an update, of which two batches are accumulated.
HEAD = [
    "***** Running training *****",
    "  Num examples = 320",
    "  Num Epochs = 3",
    "  Instantaneous batch size per device = 8",
    "  Total train batch size (w. parallel, distributed & accumulation) = 16",
    "  Gradient Accumulation steps = 2",
    "  Total optimization steps = 60",
]


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def bar(
    total: int,
    pace: float,
    name: str = "",
    postfix: str = "",
    paused: tuple[int, float] = (0, 0),
    said: Sequence[str] = (),
) -> list[str]:
    """Return a bar whose steps take `pace` seconds each, with a pause behind one, and what tells of it."""
    lines, took = [f"{name}  0%|          | 0/{total} [00:00<?, ?it/s]"], 0.0
    for step in range(1, total + 1):
        took += pace
        share = 100 * step // total
        lines.append(
            f"{name}{share:3}%|{'█' * (share // 10):10}| {step}/{total} [{clock(took)}<01:00, {pace:5.2f}s/it{postfix}]"
        )
        if step == paused[0]:
            took += paused[1]
            lines += said
    return lines


def resumed(step: int, total: int, pace: float) -> list[str]:
    """Return the lines of a bar behind a step, up to which it took no time."""
    return [
        f"Iteration: {100 * n // total:3}%|█████     | {n}/{total} [{clock((n - step) * pace)}<01:00, {pace:5.2f}s/it]"
        for n in range(step + 1, total + 1)
    ]


def without_glyphs(lines: Sequence[str]) -> list[str]:
    """Return lines whose bars are drawn as where no terminal tells its width: `10% 5/50 [00:10<01:30]`."""
    return [re.sub(r"%\|[^|]*\|", "%", each) for each in lines]


SUMMARY = "'train_runtime': 200.5,{0}'train_samples_per_second': 1.596,{0}'train_steps_per_second': 0.1,{0}"


@pytest.mark.parametrize(
    "wrapped",
    [
        "TrainOutput(global_step=20, training_loss=2.5, metrics={"
        + SUMMARY.format("\n        ")
        + "'train_loss': 2.5})",
        "{" + SUMMARY.format("\n ") + "'total_flos': 1250.0,\n 'train_loss': 2.5,\n 'epoch': 1.0}",
        "{" + SUMMARY.format(" ") + "'train_loss': \n2.5, 'epoch': 1.0}",
    ],
)
def test_a_summary_that_a_notebook_or_a_page_wraps_is_read(wrapped: str, tmp_path: Path) -> None:
    session = session_of([*HEAD, LOSS, *wrapped.split("\n")], tmp_path, "frameworks.hf_trainer")
    assert value(session, "reported") == 1.596
    assert session.ending.outcome == "completed"


def test_the_table_of_the_training_says_that_it_is_done(tmp_path: Path) -> None:
    table = [
        "***** train metrics *****",
        "  epoch                    =        1.0",
        "  train_runtime            = 0:03:20.50",
        "  train_samples_per_second =      1.596",
        "  train_steps_per_second   =        0.1",
    ]
    session = session_of([*HEAD, LOSS, *table], tmp_path, "frameworks.hf_trainer")
    assert value(session, "reported") == 1.596
    assert session.ending.outcome == "completed"


@pytest.mark.parametrize("epoch", [", 'epoch': 3.0", ""])
@pytest.mark.parametrize(("done", "code"), [(300, "early_summary"), (1000, None)])
def test_a_summary_says_by_its_steps_that_a_run_ended_early(
    done: int, code: str | None, epoch: str, tmp_path: Path
) -> None:
    """1000 steps of 16 samples are planned, which are divided by 600 s."""
    told = (
        f"TrainOutput(global_step={done}, training_loss=2.5, metrics={{'train_runtime': 600.0, "
        f"'train_samples_per_second': 26.667, 'train_steps_per_second': 1.667, 'train_loss': 2.5{epoch}}})"
    )
    session = session_of([HEAD[0], told, "{'eval_loss': 2.5, 'epoch': 3.0}"], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert (found.reason.code if isinstance(found, NoFigure) else None) == code


def test_a_bar_of_the_splits_of_a_data_set_is_no_run_of_its_own(tmp_path: Path) -> None:
    lines = [
        "11/20/2026 10:00:00 - INFO - __main__ - Training/evaluation parameters TrainingArguments(fp16=True,)",
        " 33%|###3      | 1/3 [00:00<00:00,  5.01it/s]",
        "100%|##########| 3/3 [00:00<00:00,  7.01it/s]",
        *HEAD,
        " 10%|#         | 2/20 [00:04<00:36,  2.00s/it]",
    ]
    assert facts_of(session_of(lines, tmp_path, "frameworks.hf_trainer"))["precision"] == "amp"


def test_a_run_that_was_resumed_behind_its_end_has_no_speed(tmp_path: Path) -> None:
    told = (
        "{'train_runtime': 0.75, 'train_samples_per_second': 1280.0, 'train_steps_per_second': 80.0, "
        "'train_loss': 0.0, 'epoch': 3.0}"
    )
    session = session_of([*HEAD, told], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code == "resumed_losses"


def test_a_table_says_by_its_epoch_that_a_run_ended_early(tmp_path: Path) -> None:
    """Three epochs of 320 samples are planned, of which one is done in 200.5 s."""
    table = [
        "***** train metrics *****",
        "  epoch                    =        1.0",
        "  train_loss               =        2.5",
        "  train_runtime            = 0:03:20.50",
        "  train_samples_per_second =      4.788",
        "  train_steps_per_second   =      0.299",
    ]
    session = session_of([*HEAD, LOSS, *table], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code == "early_summary"


def test_a_table_says_by_its_loss_that_a_run_was_resumed_behind_its_end(tmp_path: Path) -> None:
    table = [
        "***** train metrics *****",
        "  epoch                    =        3.0",
        "  total_flos               =   125000GF",
        "  train_loss               =        0.0",
        "  train_runtime            = 0:00:00.75",
        "  train_samples            =        320",
        "  train_samples_per_second =     1280.0",
        "  train_steps_per_second   =       80.0",
    ]
    session = session_of([*HEAD, *table], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code == "resumed_losses"


def test_a_table_of_an_evaluation_of_the_training_data_is_none_of_the_training(tmp_path: Path) -> None:
    table = [
        "***** train metrics *****",
        "  epoch                    =        1.0",
        "  train_accuracy           =        0.5",
        "  train_loss               =        1.5",
        "  train_runtime            = 0:00:02.50",
        "  train_samples_per_second =      128.0",
        "  train_steps_per_second   =        8.0",
    ]
    of_training = [each for each in table if "accuracy" not in each][:-2]
    of_training += ["  train_samples_per_second =      1.596", "  train_steps_per_second   =        0.1"]
    session = session_of([*HEAD, LOSS, *of_training, *table], tmp_path, "frameworks.hf_trainer")
    assert value(session, "reported") == 1.596
    assert (
        reason(session_of([*HEAD, LOSS, *table], tmp_path, "frameworks.hf_trainer"), "reported") == "no_reported_figure"
    )


def test_an_evaluation_of_the_training_data_is_no_speed_of_a_state(tmp_path: Path) -> None:
    """320 samples in 2.5 s, behind a training of 320 samples in 200.5 s."""
    trained = {"total_flos": 1e12, "train_loss": 2.5} | speeds(200.5)
    evaluated = {"train_accuracy": 0.5, "train_loss": 1.5} | speeds(2.5)
    assert value(state(tmp_path, trained, evaluated), "reported") == 1.596
    assert reason(state(tmp_path, evaluated), "reported") == "no_reported_figure"
    assert value(state(tmp_path, speeds(200.5) | {"total_flos": 1e12, "train_loss": 2.5}), "reported") == 1.596


def speeds(seconds: float) -> dict[str, float]:
    return {
        "train_runtime": seconds,
        "train_samples_per_second": round(320 / seconds, 3),
        "train_steps_per_second": round(20 / seconds, 3),
    }


def state(folder: Path, *summaries: dict[str, float]) -> Session:
    """Return what a file says whose history holds losses and some summaries."""
    losses = [{"epoch": step / 20, "loss": 2.5, "step": step} for step in range(1, 21)]
    history = [*losses, *({"epoch": 1.0, "step": 20} | each for each in summaries)]
    lines = json.dumps({"best_metric": None, "log_history": history, "max_steps": 20}, indent=2).split("\n")
    return session_of(lines, folder, "frameworks.hf_trainer_state")


@pytest.mark.parametrize("behind", [", distributed training: False", "distributed training: False"])
def test_the_devices_that_a_process_drives_are_its_own(behind: str, tmp_path: Path) -> None:
    stated = f"Process rank: -1, device: cuda:0, n_gpu: 4{behind}, 16-bits training: False"
    session = session_of([stated, *HF_HEAD, LOSS], tmp_path, "frameworks.hf_trainer")
    assert facts_of(session)["devices"] == 4


def told(step: int, seconds: float) -> str:
    return (
        f"{{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.1, 'num_input_tokens_seen': {4096 * step}, "
        f"'train_runtime': {seconds:.4f}, 'train_tokens_per_second': {4096 * step / seconds:.3f}}}"
    )


def test_tokens_and_seconds_since_the_start_count_where_no_bar_is_drawn(tmp_path: Path) -> None:
    """4096 tokens in 0.8 s after a start of 30 s; an evaluation behind every tenth step takes 50 s."""
    lines = [
        each
        for step in range(1, 61)
        for each in [told(step, 30 + 0.8 * step + (step - 1) // 10 * 50), *[EVAL] * (step % 10 == 0)]
    ]
    assert value(session_of([*HEAD, *lines], tmp_path, "frameworks.hf_trainer"), "sustained") == pytest.approx(
        4096 / 0.8
    )


def test_ranks_that_share_samples_count_the_same_tokens(tmp_path: Path) -> None:
    lines = ["ParallelismConfig(tp_size=2)", *HEAD, *(told(step, 30 + 0.8 * step) for step in range(1, 61))]
    assert reason(session_of(lines, tmp_path, "frameworks.hf_trainer")) == "no_records"


@pytest.mark.parametrize(
    "launched",
    [
        "$ accelerate launch --num_cpu_threads_per_process 2 --num_processes=2 train_network.py",
        "accelerate launch \\\n  --mixed_precision=bf16 --num_processes 2 train_network.py",
        "The following values were not passed to `accelerate launch`:\n\t`--num_processes` was set to a value of `2`",
    ],
)
def test_accelerate_says_how_many_processes_it_starts(launched: str, tmp_path: Path) -> None:
    lines = [*launched.split("\n"), "running training", *bar(60, 8, "steps: ", ", avr_loss=0.25")]
    assert facts_of(session_of(lines, tmp_path, "frameworks.sd_scripts"))["devices"] == 2


def test_escaped_carriage_returns_of_sagemaker_begin_bars_anew(tmp_path: Path) -> None:
    """64 samples in 2 s."""
    lines = [*HF_HEAD[:2], "".join(f"#015{each}" for each in bars(40, "2.00s/it")), LOSS]
    assert value(session_of(lines, tmp_path, "frameworks.hf_trainer")) == pytest.approx(32)
    kept = b"Mended #015 at 10% of its cost, in colour #0150ff"
    assert unstyled(kept) == kept


@pytest.mark.parametrize("glyphs", [True, False])
def test_diffusers_in_colab(glyphs: bool, tmp_path: Path) -> None:
    """16 samples in 4 s."""
    lines = bar(60, 4, "Steps: ", ", lr=0.0001, step_loss=0.25")
    lines = [f"{STAMP} {HEAD[0]}", *HEAD[1:], *(lines if glyphs else without_glyphs(lines))]
    assert value(session_of(lines, tmp_path, "frameworks.diffusers")) == pytest.approx(16 / 4)


@pytest.mark.parametrize("loss", ["loss", "avr_loss"])
def test_sd_scripts_old_and_new(loss: str, tmp_path: Path) -> None:
    """Two samples in 8 s on each of two devices."""
    lines = ["running training", *bar(60, 8, "steps: ", f", {loss}=0.25")]
    found = session_of(lines, tmp_path, "frameworks.sd_scripts")
    assert value(found, devices=2, batch_size=2, accumulation=1) == pytest.approx(2 * 2 / 8)


@pytest.mark.parametrize("glyphs", [True, False])
def test_examples_without_the_trainer_draw_its_bar(glyphs: bool, tmp_path: Path) -> None:
    """16 samples in 2 s; an evaluation takes 90 s, and another bar has ten times the speed."""
    lines = [*smoothed_bar(60, 2, (30, 90)), *bar(300, 0.2), f"{STAMP} epoch 1: {{'accuracy': 0.5}}"]
    lines.insert(30, f"{STAMP} epoch 0: {{'accuracy': 0.5}}")
    state = ["Distributed environment: NO", "Num processes: 1", "Mixed precision type: fp16"]
    lines = [*state, *(f"{STAMP} {each}" for each in HEAD), *(lines if glyphs else without_glyphs(lines))]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(16 / 2, rel=0.01)
    assert facts_of(session).items() >= {"devices": 1, "precision": "amp", "batch_size_of_job": 16}.items()


def smoothed_bar(total: int, pace: float, paused: tuple[int, float]) -> list[str]:
    """Return a bar with the speed that tqdm smooths, and a pause behind one step."""
    lines, took, mean, weight = [], 0.0, 0.0, 0.0
    for step in range(1, total + 1):
        seconds = pace + (paused[1] if step == paused[0] + 1 else 0)
        took, mean, weight = took + seconds, 0.3 * seconds + 0.7 * mean, 0.3 + 0.7 * weight
        lines.append(f" {100 * step // total:2}%|█    | {step}/{total} [{clock(took)}<01:00, {mean / weight:5.2f}s/it]")
    return lines


# The scripts before 2021, with bars of iterations

OLD_HEAD = [f"{STAMP}   {each.replace('per device', 'per GPU')}" for each in HEAD]


def test_bars_of_iterations_count_batches_and_no_evaluation(tmp_path: Path) -> None:
    """8 samples in 2 s, since two batches are accumulated; an evaluation within an epoch takes 90 s."""
    said = [f"{STAMP}   ***** Running evaluation  *****", "Evaluating:  50%|#####     | 4/8 [00:45<00:45, 11.25s/it]"]
    epochs = [each for _ in range(3) for each in bar(40, 2, "Iteration: ", paused=(25, 90), said=said)]
    session = session_of([*OLD_HEAD, *epochs], tmp_path, "frameworks.hf_iteration")
    assert value(session, "sustained") == pytest.approx(8 / 2)


def test_complete_bars_of_iterations_are_epochs(tmp_path: Path) -> None:
    """170 batches of 8 samples in 9.35 s, of which the bar shows 9, and 5.5e-2 s a batch."""
    lines = ["Iteration: 100%|██████████| 170/170 [00:09<00:00, 18.18it/s]"] * 3
    session = session_of([*OLD_HEAD, *lines], tmp_path, "frameworks.hf_iteration")
    assert value(session) == pytest.approx(8 / 0.055, rel=1e-3)


def test_short_epochs_of_fast_steps_lose_no_part_of_a_second(tmp_path: Path) -> None:
    """170 batches of 8 samples in 9.35 s. What lies behind the last change of a bar's clock has no time of its own."""
    epochs = [each for _ in range(30) for each in bar(170, 0.055, "Iteration: ")]
    session = session_of([*OLD_HEAD, *epochs], tmp_path, "frameworks.hf_iteration")
    assert value(session) == pytest.approx(8 / 0.055, rel=0.01)


def test_a_resumed_run_counts_no_batches_that_it_skips(tmp_path: Path) -> None:
    """300 of 400 batches are skipped within a second; the others take 2 s each, for 8 samples."""
    skips = f"{STAMP}     Will skip the first 300 steps in the first epoch"
    bars = [*bar(400, 0.003, "Iteration: ")[:301], *resumed(300, 400, 2)]
    assert value(session_of([*OLD_HEAD, skips, *bars], tmp_path, "frameworks.hf_iteration")) == pytest.approx(8 / 2)
    complete = "Iteration: 100%|██████████| 400/400 [03:20<00:00,  2.00it/s]"
    session = session_of([*OLD_HEAD, skips, complete], tmp_path, "frameworks.hf_iteration")
    assert value(session) == pytest.approx(100 * 8 / 200, rel=0.01)


def test_bars_of_iterations_without_the_head_are_of_any_program(tmp_path: Path) -> None:
    assert not log_of(bar(40, 2, "Iteration: "), tmp_path).claims


# ms-swift


@pytest.mark.parametrize("key", ["steps[global_step/max_steps]", "global_step/max_steps", "iteration"])
def test_ms_swift_names_of_the_step(key: str, tmp_path: Path) -> None:
    """Two samples in 6 s; the speed is a mean since the start, and so is its second."""
    lines = [
        f'{{"loss": 1.5, "acc": 0.5, "train_speed(iter/s)": {step / (3 + 6 * step):.6f}, "epoch": {step / 60:.2f}, '
        f'"{key}": "{step}/60", "percentage": "5.00%", "elapsed_time": "{6 * step}s", "remaining_time": "4s"}}'
        for step in range(1, 61)
    ]
    session = session_of(lines, tmp_path, "frameworks.ms_swift")
    assert value(session, devices=1, batch_size=2, accumulation=1) == pytest.approx(2 / 6, rel=1e-3)


def test_the_first_ms_swift_prints_a_bar_with_a_name_alone(tmp_path: Path) -> None:
    """64 samples in 2 s."""
    lines = [*HF_HEAD[:2], *(f"Train: {each}" for each in bars(40, "2.00s/it")), LOSS]
    assert value(session_of(lines, tmp_path, "frameworks.hf_trainer")) == pytest.approx(32)


def test_ms_swift_sums_up_in_quotes(tmp_path: Path) -> None:
    told = "'epoch': '1', 'global_step/max_steps': '40/40', 'train_speed(s/it)': '6.012'}"
    summary = "{'train_runtime': '240.5', 'train_samples_per_second': '2.661', 'train_steps_per_second': '0.166', "
    session = session_of(["{'loss': '1.5', " + told, summary + told], tmp_path, "frameworks.ms_swift")
    assert value(session, "reported") == 2.661
