"""What users of Hugging Face's libraries left in public, on made-up lines whose figures are worked out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from test_dialects import EVAL, HF_HEAD, LOSS, bars, facts_of, log_of, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.read import read
from parsers.engine.scan import unstyled
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

STAMP = "11/20/2026 10:00:00 - INFO - __main__ -"


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


#: 16 samples an update, of which two batches are accumulated.
HEAD = head_of()


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


# Runs that ended early, of which the summary counts all steps that were planned


def losses(steps: Sequence[int], total: int, epochs: float, more: str = "") -> list[str]:
    """Return dictionaries of a run whose learning rate falls in a line."""
    return [
        f"{{'loss': {3 - step / total:.4f}, 'learning_rate': {5e-5 * (1 - step / total)}{more}, "
        f"'epoch': {epochs * step / total:.2f}}}"
        for step in steps
    ]


def summed(seconds: float, steps: int, batch: float, epoch: float) -> str:
    return (
        f"{{'train_runtime': {seconds}, 'train_samples_per_second': {steps * batch / seconds:.3f}, "
        f"'train_steps_per_second': {steps / seconds:.3f}, 'train_loss': 2.5, 'epoch': {epoch}}}"
    )


def headline(session: Session) -> Figure | NoFigure:
    return measured(session, facts_of(session)).headline


@pytest.mark.parametrize(("done", "code"), [(400, "early_summary"), (1000, None)])
@pytest.mark.parametrize("between", ["", "\r", "\n"])
def test_the_bar_behind_a_summary_says_that_a_run_ended_early(
    done: int, code: str | None, between: str, tmp_path: Path
) -> None:
    """1000 steps of 16 samples are planned, which are divided by 460 s."""
    drawn = f"{between}{done // 10:3}%|####      | {done}/1000 [07:40<11:30,  1.15s/it]"
    lines = [EVAL, f"{summed(460.0, 1000, 16, done / 100)}  ", *drawn.split("\n")]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).figures["reported"]
    assert (found.reason.code if isinstance(found, NoFigure) else None) == code
    assert isinstance(found, NoFigure) or found.value == pytest.approx(16 * 1000 / 460, rel=1e-4)


def test_a_line_of_the_bar_that_a_terminal_kept_is_no_record_beside_the_summary(tmp_path: Path) -> None:
    lines = [*HEAD, " 50%|#####     | 30/60 [01:00<01:00,  2.00s/it]killed", LOSS, summed(120.0, 60, 16, 3.0)]
    found = headline(session_of(lines, tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found
    assert found.value == 8


def test_a_bar_of_an_evaluation_alone_is_none_of_training(tmp_path: Path) -> None:
    """100 batches in 50.123 s. Where losses are told behind a bar of as many steps, it is that of training."""
    told = (
        "{'eval_loss': 1.5, 'eval_runtime': 50.123, 'eval_samples_per_second': 16.0, 'eval_steps_per_second': 1.995, "
    )
    lines = [*bar(100, 0.5), told + "'epoch': 3.0}"]
    assert not len(session_of(lines, tmp_path, "frameworks.hf_trainer").main)
    trained = bar(100, 2)
    lines = [*trained[:50], LOSS, *trained[49:90], LOSS, *trained[89:], *lines]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert float(np.median(session.main["step_seconds"])) == 2


def test_a_bar_of_other_steps_behind_a_summary_says_nothing_of_it(tmp_path: Path) -> None:
    lines = [LOSS, summed(460.0, 1000, 16, 10.0), " 50%|#####     | 12/24 [00:06<00:06,  2.00it/s]"]
    found = headline(session_of(lines, tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found


@pytest.mark.parametrize(("last", "code"), [(4, "early_summary"), (8, "early_summary"), (10, None)])
@pytest.mark.parametrize("each", [10, 100])
def test_the_learning_rate_says_that_a_run_ended_early(last: int, code: str | None, each: int, tmp_path: Path) -> None:
    told = losses(range(each, 100 * last + 1, each), 1000, 10)
    found = headline(session_of([*told, summed(460.0, 1000, 16, float(last))], tmp_path, "frameworks.hf_trainer"))
    assert (found.reason.code if isinstance(found, NoFigure) else None) == code


def test_a_learning_rate_that_overflows_held_back_says_nothing(tmp_path: Path) -> None:
    """Of 60 steps three overflowed: the learning rate is that of the 57th at the end."""
    told = [
        losses([max(step - 3, 0)], 60, 3)[0].replace("'epoch': ", f"'epoch': {step / 20:.2f}, 'at': ")
        for step in range(1, 61)
    ]
    found = headline(session_of([*told, summed(120.0, 60, 16, 3.0)], tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found


def test_a_learning_rate_that_stays_says_nothing(tmp_path: Path) -> None:
    told = [
        re.sub("'learning_rate': [^,]+", "'learning_rate': 5e-05", each) for each in losses(range(10, 401, 10), 400, 4)
    ]
    found = headline(session_of([*told, summed(460.0, 400, 16, 4.0)], tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found


def test_a_summary_of_a_resumed_run_is_no_figure_beside_that_of_the_bar(tmp_path: Path) -> None:
    """60 steps of 16 samples are divided by the time of the last 30, of 2 s each."""
    lines = [
        *HEAD,
        "  Continuing training from global step 30",
        *smoothed_bar(60, 2, (0, 0))[30:],
        summed(60.5, 60, 16, 3.0),
    ]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session))
    assert isinstance(found.headline, Figure), found.headline
    summary = found.figures["reported"]
    assert isinstance(summary, NoFigure)
    assert summary.reason.code == "resumed_summary"


@pytest.mark.parametrize(
    ("epoch", "samples", "code"),
    [
        (3.0, 1000, None),
        (3.0, None, None),
        (1.0, 1000, "early_summary"),
        # The last epoch lacks samples that were accumulated to no whole batch.
        (2.6, 1000, None),
    ],
)
def test_a_file_of_results_says_by_its_samples_that_a_run_ended_early(
    epoch: float, samples: int | None, code: str | None, tmp_path: Path
) -> None:
    """3000 samples in 600 s."""
    counted = {"train_samples": samples} if samples else {}
    told = {"train_samples_per_second": 5.0, "train_steps_per_second": 0.3}
    results = {"epoch": epoch, "total_flos": 1e15, "train_loss": 2.5, "train_runtime": 600.0} | counted | told
    lines = json.dumps(results, indent=4).split("\n")
    found = headline(session_of(lines, tmp_path, "frameworks.hf_results"))
    assert (found.reason.code if isinstance(found, NoFigure) else found.value) == (code or 5)


# Several runs of one program, which print no head


def trained(pace: int, drawn: bool) -> list[str]:
    """Return a run of 60 steps of 16 samples and an evaluation, of which a terminal keeps no bars."""
    last = f"100%|##########| 60/60 [{clock(60 * pace)}<00:00, {pace:.2f}s/it]"
    steps, told = bar(60, pace) if drawn else [last] * 61, losses([20, 40, 60], 60, 3)
    lines = [*steps[:21], told[0], *steps[20:41], told[1], *steps[40:], told[2], last] if drawn else told
    return [*lines, summed(60.0 * pace, 60, 16, 3.0), last, *(bar(24, 0.5) if drawn else []), "{'eval_loss': 2.5}"]


@pytest.mark.parametrize("drawn", [True, False])
def test_a_run_without_a_head_begins_behind_the_summary_of_another(drawn: bool, tmp_path: Path) -> None:
    log = log_of(["loading", *trained(2, drawn), "loading", *trained(4, drawn)], tmp_path)
    assert [value(each, "reported") for each in log.sessions] == [8, 4]
    assert not any(second_run(each) for each in log.sessions)


def test_a_run_without_a_head_begins_behind_one_that_was_killed(tmp_path: Path) -> None:
    """Most of a run of 2 s a step, then one of 4 s a step; an evaluation before both is no run."""
    before = [*bar(24, 0.5), "{'eval_loss': 2.5}"]
    log = log_of([*before, *trained(2, drawn=True)[:50], "Killed", *trained(4, drawn=True)], tmp_path)
    assert [float(np.median(each.main["step_seconds"])) for each in log.sessions] == [2, 4]


def test_a_summary_of_ms_swift_counts_what_was_trained_before(tmp_path: Path) -> None:
    """30 of 60 steps after a resumption, of 16 samples in 6 s: the summary counts them all."""
    lines = [
        f'{{"loss": 1.5, "epoch": {step / 20}, "global_step/max_steps": "{step}/60", "elapsed_time": '
        f'"{6 * (step - 30)}s", "train_speed(iter/s)": {1 / 6:.6f}}}'
        for step in range(31, 61)
    ]
    told = '{"train_runtime": 180.5, "train_samples_per_second": 5.319, "train_steps_per_second": 0.332, "train_loss": '
    summary = told + '0.75, "epoch": 3.0, "global_step/max_steps": "60/60"}'
    session = session_of([*lines, summary], tmp_path, "frameworks.ms_swift")
    case = facts_of(session) | {"devices": 1, "batch_size": 16, "accumulation": 1}
    found = measured(session, case)
    assert isinstance(found.headline, Figure), found.headline
    assert found.headline.value == pytest.approx(16 / 6, rel=1e-3)
    assert isinstance(found.figures["reported"], NoFigure)


@pytest.mark.parametrize("head", [True, False])
def test_an_evaluation_of_as_many_steps_begins_no_run(head: bool, tmp_path: Path) -> None:
    """Training of 60 steps of 2 s, with an evaluation of 60 steps of 0.5 s behind every twentieth."""
    drawn, told, lines = bar(60, 2), losses([20, 40, 60], 60, 3), [*HEAD] if head else []
    for n, each in enumerate(told):
        lines += [*drawn[20 * n : 20 * n + 21], each, drawn[20 * n + 20], *bar(60, 0.5), EVAL, drawn[20 * n + 20]]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert float(np.median(session.main["step_seconds"])) == 2


def test_summaries_of_nodes_are_of_one_run(tmp_path: Path) -> None:
    lines = [f"node{n}: {each}" for each in [*losses([20, 40, 60], 60, 3), summed(120.0, 60, 16, 3.0)] for n in (1, 2)]
    assert len(log_of(lines, tmp_path).sessions) == 1


# Notebooks


def rows_of(first: int) -> list[str]:
    return ["Step \tTraining Loss", *(f"{step} \t1.5" for step in range(first, 61, 10))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([*HEAD, " [60/60 02:00, Epoch 3/3]", *rows_of(10)], 60 * 16 / 120.5),
        ([*HEAD, " [60/60 02:00, Epoch 3/3]"], 60 * 16 / 120.5),
        ([*HEAD, " [30/60 01:00 < 01:02, 0.50 it/s, Epoch 1.5/3]", *rows_of(10)], 30 * 16 / 60.5),
        # Resumed, too short, and of two runs.
        ([*HEAD, " [60/60 01:00, Epoch 3/3]", *rows_of(40)], None),
        ([*HEAD, " [60/60 00:20, Epoch 3/3]", *rows_of(10)], None),
        ([*HEAD, " [60/60 02:00, Epoch 3/3]", " [60/60 04:00, Epoch 3/3]"], None),
    ],
)
def test_the_bar_of_a_notebook_tells_the_whole_run(lines: list[str], expected: float | None, tmp_path: Path) -> None:
    log = log_of(lines, tmp_path)
    assert [each.format.id for each in log.claims] == ["frameworks.hf_notebook"]
    found = headline(log.sessions[0])
    assert (found.value if isinstance(found, Figure) else None) == (expected and pytest.approx(expected))


def test_what_a_notebook_shows_as_html_is_read(tmp_path: Path) -> None:
    html = "<div><progress value='60' max='60'></progress>\n [60/60 02:00, Epoch 3/3]</div><table><th>Step</th></table>"
    shown = {"text/html": [html], "text/plain": ["<IPython.core.display.HTML object>"]}
    printed = {"name": "stdout", "output_type": "stream", "text": [f"{each}\n" for each in HEAD]}
    cell = {"cell_type": "code", "outputs": [printed, {"data": shown, "output_type": "display_data"}]}
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    (session,) = read(path).sessions
    assert value(session, "reported") == pytest.approx(60 * 16 / 120.5)


# Where a model answers prompts


ANSWERS = ", 'reward': 0.5, 'completions/mean_length': 125.5, 'kl': 0.25"


@pytest.mark.parametrize(("epoch", "batch"), [(1.0, 1), (0.1, 4)])
def test_a_batch_of_answers_is_none_of_prompts(epoch: float, batch: int, tmp_path: Path) -> None:
    """Batches of four answers to one of 60 prompts in 2 s; of a given number of steps the summary counts answers."""
    head = head_of(examples=60, epochs=1, each=4, accumulated=1, job=4)
    told = losses([20, 40, 60], 60, epoch, ANSWERS)
    lines = [*head, *smoothed_bar(60, 2, (0, 0)), *told, summed(120.0, 60, batch, epoch)]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = headline(session)
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(4 / 2, rel=0.01)


# Checkpoints


@pytest.mark.parametrize(
    "said",
    [
        [],
        ["Writing model shards: 100%|##########| 1/1 [00:20<00:00, 20.00s/it]"],
        ["Unsloth: Restored added_tokens_decoder metadata in out/checkpoint-20/tokenizer_config.json."],
    ],
)
def test_checkpoints_behind_an_epoch_or_that_a_line_tells_of(said: list[str], tmp_path: Path) -> None:
    """16 samples in 2 s; behind each of three epochs of 100 steps a checkpoint takes 40 s."""
    every = 75 if said else 100
    lines, took, mean, weight = [], 0.0, 0.0, 0.0
    for step in range(1, 300):
        seconds = 2 + (40 if step > 1 and (step - 1) % every == 0 else 0)
        took, mean, weight = took + seconds, 0.3 * seconds + 0.7 * mean, 0.3 + 0.7 * weight
        lines.append(f" {step // 3:2}%|#    | {step}/300 [{clock(took)}<01:00, {mean / weight:5.2f}s/it]")
        lines += said if step % every == 0 else []
    head = head_of(examples=1600, steps=300)
    found = headline(session_of([*head, *lines, LOSS], tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(16 / 2, rel=0.01)


def test_rows_of_tokens_that_hold_a_checkpoint_behind_an_epoch(tmp_path: Path) -> None:
    """A row per ten updates of 2 s and 512 tokens; behind each of three epochs a checkpoint takes 40 s."""
    lines = []
    for step in range(10, 301, 10):
        took = 2 * step + (step - 1) // 100 * 40
        lines += losses([step], 300, 3, f", 'num_tokens': {512.0 * step}")
        lines.append(f" {step // 3:2}%|#    | {step}/300 [{clock(took)}<01:00,  2.00s/it]")
    head = head_of(examples=1600, steps=300)
    found = headline(session_of([*head, *lines], tmp_path, "frameworks.trl"))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(512 / 2)


# What a command or a configuration states


@pytest.mark.parametrize(
    "stated",
    [
        "+ torchrun a.py --bf16 True --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --output_dir out",
        "python train.py \\\n  --per_device_train_batch_size=4 \\\n  --gradient_accumulation_steps=2 \\\n  --bf16",
        "TrainingArguments(\nbf16=True,\ngradient_accumulation_steps=2,\nper_device_train_batch_size=4,\n)",
        "micro_batch_size: 4\ngradient_accumulation_steps: 2\nbf16: true",
    ],
)
def test_a_command_or_a_configuration_states_the_batch_size(stated: str, tmp_path: Path) -> None:
    lines = [*stated.split("\n"), *bars(40, "2.00s/it"), LOSS]
    found = facts_of(session_of(lines, tmp_path, "frameworks.hf_trainer"))
    assert found.items() >= {"batch_size": 4, "accumulation": 2, "precision": "bf16"}.items()


# The scripts before 2021, with bars of iterations

OLD_HEAD = [f"{STAMP}   {each.replace('per device', 'per GPU')}" for each in HEAD]


def test_bars_of_iterations_count_batches_and_no_evaluation(tmp_path: Path) -> None:
    """8 samples in 2 s, since two batches are accumulated; an evaluation within an epoch takes 90 s."""
    said = [f"{STAMP}   ***** Running evaluation  *****", "Evaluating:  50%|#####     | 4/8 [00:45<00:45, 11.25s/it]"]
    epochs = [each for _ in range(3) for each in bar(40, 2, "Iteration: ", paused=(25, 90), said=said)]
    session = session_of([*OLD_HEAD, *epochs], tmp_path, "frameworks.hf_iteration")
    assert value(session, "sustained") == pytest.approx(8 / 2)


def test_the_bars_of_setfit_have_a_shorter_head(tmp_path: Path) -> None:
    """500 batches of 32 pairs in 1000 s; the terminal kept the last state alone."""
    head = [
        "***** Running training *****",
        "  Num examples = 16000",
        "  Num epochs = 1",
        "  Total train batch size = 32",
    ]
    lines = [*head, "Iteration: 100%|##########| 500/500 [16:40<00:00,  2.00s/it]"]
    assert value(session_of(lines, tmp_path, "frameworks.hf_iteration")) == pytest.approx(16, rel=1e-3)


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


# LLaMA-Factory


def test_processes_that_write_one_file_count_as_one(tmp_path: Path) -> None:
    """Two processes write a row per ten updates of 512 tokens, of 2.0 s by the clock of one, and 2.2 s of the other."""
    lines = [
        f'{{"current_steps": {step}, "total_steps": 300, "loss": 1.5, "lr": 5e-05, "epoch": {step / 300}, '
        f'"percentage": 1.0, "elapsed_time": "0:{clock(pace * step)}", "remaining_time": "0:01:00", '
        f'"throughput": 250.5, "total_tokens": {512 * step}}}'
        for step in range(10, 301, 10)
        for pace in (2.0, 2.2)
    ]
    session = session_of(lines, tmp_path, "frameworks.llamafactory")
    assert value(session, "sustained") == pytest.approx(512 / 2.1)
    assert second_run(session) is None


def test_open_instruct_prints_tokens_per_second_since_the_start(tmp_path: Path) -> None:
    head = ["11/20/2026 10:00:00 - INFO - __main__ - ***** Running training *****", "  Total optimization steps = 400"]
    lines = [
        f"11/20/2026 10:{n:02d}:00 - INFO - __main__ -   Step: {10 * n}, LR: 2e-05, Loss: 0.8125, TPS: {8000 + n}.5"
        for n in range(1, 41)
    ]
    session = session_of([*head, *lines], tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert (found.value, found.unit) == (8040.5, "tokens/s")
