"""What submitters' harnesses log of MLPerf Training under adverse conditions, as measured with a clock of our own.

Lines are made up after the harnesses' code; figures are worked out by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_dialects import facts_of, session_of, value

from ingest.compute import rules
from ingest.compute.measurement import measured
from ingest.compute.metrics import metrics
from parsers.engine.read import read as sessions_of
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def mllog(at: float, key: str, told: object = None, **metadata: object) -> str:
    """Return a line of MLPerf, `at` seconds after some time in 2026."""
    event = {"namespace": "", "time_ms": 1795169472500 + round(1000 * at), "event_type": "POINT_IN_TIME", "key": key}
    return f":::MLLOG {json.dumps(event | {'value': told, 'metadata': metadata})}"


def run_of(benchmark: str, batch: int, lines: Sequence[str], end: float, **more: object) -> list[str]:
    """Return a log: its head, with what else is stated, and a run that meets its target at the end."""
    stated = {"submission_benchmark": benchmark, "global_batch_size": batch} | more
    head = [mllog(-9, key, each) for key, each in stated.items()]
    return [*head, mllog(0, "run_start"), *lines, mllog(end, "run_stop", status="success")]


def read(lines: Sequence[str], folder: Path) -> Session:
    return session_of(lines, folder, "frameworks.mlperf")


def metric(session: Session, name: str) -> Any:
    case: dict[str, Any] = facts_of(session)
    return metrics(session, case, rules.figure("sustained", session, case)).get(name)


def samples_to_train(session: Session) -> float | None:
    found = metric(session, "samples_to_train")
    return found.value if found else None


def finetuned(each: int, logged: int) -> Iterator[str]:
    """Hugging Face's Trainer: blocks of `each` batches of 8 in 4 s, with an evaluation of 60 s that nothing begins.

    The count at the beginning of a block is one of steps, and the first block has no beginning.
    """
    at = 0.0
    for block in range(8):
        for step in range(logged, each, logged):
            yield mllog(at + 4 * step, "train_loss", 1.25, samples_count=8 * (each * block + step))
        at += 4 * each + 60
        done = each * (block + 1)
        yield mllog(at, "block_stop", "", samples_count=8 * done)
        yield mllog(at, "eval_accuracy", 0.94, samples_count=8 * done)
        yield mllog(at, "block_start", "", samples_count=done)


def test_a_stretch_with_an_evaluation_that_nothing_begins_is_no_training(tmp_path: Path) -> None:
    # 8 samples in 4 s; with the evaluation, half of the stretches are slower by a third.
    session = read(run_of("llama2_70b_lora", 8, list(finetuned(48, 24)), 8 * 252), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (pytest.approx(2), 6)
    assert samples_to_train(session) == 8 * 48 * 8
    # Where the loss is logged with the evaluation only, each stretch holds one.
    session = read(run_of("llama2_70b_lora", 8, list(finetuned(48, 48)), 8 * 252), tmp_path)
    withheld = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(withheld, NoFigure)
    assert withheld.reason.code == "only_pauses"


def test_a_block_that_ends_after_its_evaluation_is_no_training(tmp_path: Path) -> None:
    # MaxText: a count at the beginning is the size of the block, and none stands at its end.
    lines = [mllog(0, "block_start", epoch_count=640, first_epoch_num=0)]
    for block in range(1, 7):
        lines.append(mllog(130 * block, "block_stop", first_epoch_num=640 * (block - 1)))
        lines.append(mllog(130 * block, "eval_accuracy", 5.75, samples_count=640 * block))
        lines.append(mllog(130 * block, "block_start", samples_count=640, first_epoch_num=640 * block))
    session = read(run_of("llama31_405b", 64, lines[:-1], 780, max_sequence_length=8192), tmp_path)
    withheld = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(withheld, NoFigure)
    assert withheld.reason.code == "only_pauses"
    assert samples_to_train(session) == 3840


def test_an_evaluation_behind_its_block_is_not_in_it(tmp_path: Path) -> None:
    # 640 samples in 100 s, and 30 s until the accuracy, in which nobody trains.
    lines = []
    for block in range(6):
        lines.append(mllog(130 * block, "block_start", samples_count=640 * block))
        lines.append(mllog(130 * block + 100, "block_stop", samples_count=640 * (block + 1)))
        lines.append(mllog(130 * block + 130, "eval_accuracy", 5.75, samples_count=640 * (block + 1)))
    assert value(read(run_of("made_up", 64, lines, 780), tmp_path)) == pytest.approx(6.4)


def volumes(padded: bool, printed: bool) -> list[str]:
    """Return U-Net3D's blocks of 20 epochs of 160 volumes in 16 s; evaluations of 5 s from the third block on.

    The first block begins with epoch 1, the others with the last epoch of the one before.
    """
    lines, at = [mllog(0, "samples_per_epoch", 160)] if padded else [], 0.0
    for block in range(10):
        first, last = 20 * block or 1, 20 * (block + 1)
        lines.append(mllog(at, "block_start", first_epoch_num=first, epoch_count=20))
        at += 16
        if printed:
            lines.append(mllog(at, "tracked_stats", {"throughput": 200.0, "loss_scale": 1024.0}, step=first))
        lines.append(mllog(at, "block_stop", first_epoch_num=first, epoch_count=20))
        if block > 1:
            lines += [mllog(at, "eval_start", last, epoch_num=last), mllog(at + 5, "eval_stop", last, epoch_num=last)]
            at += 5
    return run_of("unet3d", 40, lines, at, train_samples=100 if padded else 160)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("printed", [False, True])
def test_epochs_beyond_the_batch_size_are_no_samples(padded: bool, printed: bool, tmp_path: Path) -> None:
    # Epoch 60 is more than the batch of 40; 3200 volumes in 16 s. Batches fill up an epoch of 100 volumes to 160.
    session = read(volumes(padded, printed), tmp_path)
    found = measured(session, facts_of(session))
    sustained = found.figures["sustained"]
    assert isinstance(sustained, Figure)
    assert sustained.value == pytest.approx(200)
    assert samples_to_train(session) == 32000


def test_count_of_an_evaluation_may_be_the_size_of_its_data(tmp_path: Path) -> None:
    # NeMo: blocks of 10 steps of 64, evaluated on 5000 samples, of which no run has trained as many.
    lines = []
    for block in range(6):
        at, step = 15 * block, 10 * block
        lines += [mllog(at, "block_start", samples_count=640, step=step)]
        lines += [mllog(at + 10, "block_stop", samples_count=640, step=step + 10)]
        for after, key in ((10, "eval_start"), (15, "eval_accuracy"), (15, "eval_stop")):
            lines.append(mllog(at + after, key, samples_count=5000, step=step + 10))
    session = read(run_of("flux1", 64, lines, 90), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 3840)


def pretrained(first: int, blocks: int = 6, **more: object) -> list[str]:
    """Return blocks of 640 sequences in 10 s, counted by their number; the accuracy counts their tokens."""
    lines = [mllog(0, "epoch_start", epoch_num=first), mllog(0, "block_start", epoch_num=first)]
    for block in range(1, blocks + 1):
        at, done = 15 * block, first + 640 * block
        lines += [mllog(at - 5, "block_stop", epoch_num=done), mllog(at - 5, "eval_start", epoch_num=done)]
        lines += [
            mllog(at, "eval_accuracy", 5.75, epoch_num=640 * block * 8192),
            mllog(at, "eval_stop", epoch_num=done),
        ]
        lines += [mllog(at, "block_start", epoch_num=done)]
    return run_of("llama31_405b", 64, lines[:-1], 15 * blocks, max_sequence_length=8192, **more)


@pytest.mark.parametrize(("first", "step"), [(0, 0), (64, 0), (6400, 100)])
def test_samples_until_the_target_are_of_this_run_and_in_one_unit(first: int, step: int, tmp_path: Path) -> None:
    # Some count the first batch at the beginning, and the samples of a checkpoint with which the rules let all begin.
    session = read(pretrained(first, init_checkpoint_step=step), tmp_path)
    assert value(session) == pytest.approx(64 * 8192)
    assert samples_to_train(session) == 3840
    assert metric(session, "time_to_train").value == 1.5


def test_minutes_of_a_resumed_run_are_not_the_time_to_train(tmp_path: Path) -> None:
    session = read(pretrained(6400, init_checkpoint_step=0), tmp_path)
    found = metric(session, "time_to_train")
    assert (found.value, found.reason.code, found.reason.args["samples"]) == (None, "target_resumed", "6400")
    assert samples_to_train(session) is None


@pytest.mark.parametrize("pause", [5, 300])
def test_a_block_that_was_begun_again_does_not_hold_the_pause_before_it(pause: int, tmp_path: Path) -> None:
    # 640 samples in 20 s; killed in the third block, and resumed at its beginning without a new head.
    lines, at = [], 0
    for block in (0, 1, 2, 2, 3, 4, 5, 6):
        lines.append(mllog(at, "block_start", samples_count=640 * block))
        if block == 2 and lines[-2] != "Killed":
            lines, at = [*lines, "Killed"], at + 15 + pause
            continue
        at += 20
        lines.append(mllog(at, "block_stop", samples_count=640 * (block + 1)))
    session = read(run_of("made_up", 64, lines, at), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(32), 640 * 7)


@pytest.mark.parametrize("first", [0, 1])
def test_parts_of_epochs_count_on_from_the_name_of_the_first_one(first: int, tmp_path: Path) -> None:
    # HugeCTR: evaluations of 5 s after every tenth of 6400 samples, which take 10 s.
    lines = [mllog(0, "epoch_start", epoch_num=first)]
    for each in range(1, 7):
        lines.append(mllog(15 * each - 5, "eval_start", epoch_num=first + 0.1 * each))
        lines.append(mllog(15 * each, "eval_stop", epoch_num=first + 0.1 * each))
    lines.append(mllog(90, "epoch_stop", epoch_num=first))
    session = read(run_of("dlrm_dcnv2", 64, lines, 90, train_samples=6400), tmp_path)
    assert value(session) == pytest.approx(64)
    assert samples_to_train(session) == pytest.approx(3840)


def test_samples_until_the_target_where_the_epoch_has_a_number_of_its_own(tmp_path: Path) -> None:
    # BERT: evaluations are numbered by samples, the only epoch is the first.
    lines = [mllog(0, "block_start", first_epoch_num=1, epoch_count=1), mllog(0, "epoch_start", epoch_num=1)]
    for each in range(1, 7):
        lines += [mllog(15 * each - 5, "eval_start", 640 * each, epoch_num=640 * each)]
        lines += [mllog(15 * each, "eval_stop", 640 * each, epoch_num=640 * each)]
    lines += [mllog(90, "block_stop", first_epoch_num=1), mllog(90, "epoch_stop", epoch_num=1)]
    session = read(run_of("bert", 64, lines, 90), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 3840)


def test_blocks_of_one_epoch_tell_no_samples(tmp_path: Path) -> None:
    # Stable Diffusion's reference: a block is a step that is logged, and all of them begin with epoch 0.
    lines = []
    for step in range(0, 600, 50):
        lines.append(mllog(step, "block_start", "training_step", first_epoch_num=0, epoch_count=1, step_num=step))
        lines.append(mllog(step + 1, "block_stop", "training_step", first_epoch_num=0, step_num=step))
    session = read(run_of("stable_diffusion", 64, lines, 600, train_samples=6400), tmp_path)
    assert samples_to_train(session) is None
    assert isinstance(measured(session, facts_of(session)).figures["sustained"], NoFigure)


@pytest.mark.parametrize("speeds", [True, False])
def test_checkpoints_that_are_evaluated_when_all_steps_are_done(speeds: bool, tmp_path: Path) -> None:
    # Stable Diffusion by NVIDIA: the end has the stamp of the first checkpoint that met the target.
    stated = (
        ("global_batch_size", 64),
        ("train_samples", 6400),
        ("eval_samples", 30),
        ("submission_benchmark", "stable_diffusion"),
    )
    lines = [mllog(-30, "cache_clear", True), *(mllog(-9, key, each) for key, each in stated), mllog(0, "run_start")]
    for block in range(15):
        at, took, done = 100 * block, 100 if block < 10 else 90, 64000 * (block + 1)
        lines.append(mllog(at, "block_start", "training_step", samples_count=done - 64000))
        lines.append(mllog(at + took, "block_stop", "training_step", samples_count=done))
        lines += [mllog(at + took, "tracked_stats", {"throughput": 64000 / took}, step_num=done // 64)] * speeds
    for judged, reached in (("FID", 88.5), ("CLIP", 0.155)):
        lines.append(mllog(1000, "eval_accuracy", reached, samples_count=640000, metric=judged))
    lines.append(mllog(1000, "run_stop", status="success", samples_count=640000))
    session = read(lines, tmp_path)
    assert value(session) == 640
    assert (metric(session, "time_to_train").value, samples_to_train(session)) == (pytest.approx(1000 / 60), 640000)
    assert facts_of(session)["batch_size_of_job"] == 64
    # A clock that was set back before the end tells nothing.
    lines[-1] = mllog(1000.5, "run_stop", status="success", samples_count=640000)
    assert isinstance(measured(read(lines, tmp_path), {}).figures["sustained"], NoFigure)


def blocks_with_speeds(speed: float) -> list[str]:
    """Return blocks of 640 samples in 10 s, each with the speed that the program logs."""
    lines = []
    for block in range(6):
        at, done = 15 * block, 640 * (block + 1)
        lines += [mllog(at, "block_start", samples_count=done - 640)]
        lines += [mllog(at + 10, "tracked_stats", {"throughput": speed}, step=done)]
        lines += [mllog(at + 10, "block_stop", samples_count=done), mllog(at + 10, "eval_start", samples_count=done)]
        lines += [mllog(at + 15, "eval_stop", samples_count=done)]
    return lines


@pytest.mark.parametrize(
    ("benchmark", "unit", "expected"), [("llama31_8b", "tokens/s", 64 * 8192), ("made_up", "samples/s", 64)]
)
@pytest.mark.parametrize("speed", [64, 64 * 8192])
def test_speed_may_count_tokens_where_events_count_sequences(
    benchmark: str, unit: str, expected: float, speed: float, tmp_path: Path
) -> None:
    lines = run_of(benchmark, 32, blocks_with_speeds(speed), 90, max_sequence_length=8192)
    session = read(lines, tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, found.unit) == (pytest.approx(expected), unit)


def test_nothing_tells_whether_a_speed_alone_counts_tokens(tmp_path: Path) -> None:
    lines = [mllog(10 * each, "tracked_stats", {"throughput": 64.5}, step=each) for each in range(1, 9)]
    session = read(run_of("llama31_8b", 32, lines, 90, max_sequence_length=8192), tmp_path)
    assert isinstance(measured(session, facts_of(session)).figures["sustained"], NoFigure)


def test_blocks_tell_the_batch_where_another_one_is_stated(tmp_path: Path) -> None:
    # 10 steps of 64; the first block is three times as long as it says.
    lines, at = [], 0
    for block, steps in enumerate((30, 10, 10, 10, 10)):
        step = 10 * (block + 2) if block else 0
        lines += [mllog(at, "block_start", samples_count=640, step=step)]
        at += steps
        lines += [mllog(at, "block_stop", samples_count=640, step=step + steps)]
    session = read(run_of("flux1", 256, lines, at), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 64 * 70)


def test_evaluations_tell_the_batch_where_blocks_tell_one_step(tmp_path: Path) -> None:
    # Blocks of 10 steps of 64 in 10 s, whose count is that of one step.
    lines = []
    for block in range(6):
        at, step = 15 * block, 10 * block
        lines.append(mllog(at, "block_start", samples_count=64, step=step))
        lines.append(mllog(at + 10, "block_stop", samples_count=64, step=step + 10))
        for after, key in ((10, "eval_start"), (15, "eval_stop")):
            lines.append(mllog(at + after, key, samples_count=64 * (step + 10), step=step + 10))
    session = read(run_of("made_up", 64, lines, 90), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 3840)


def marked(every: int, evaluated: int, factor: float = 1.0) -> list[str]:
    """TorchTitan's logger: 120 steps of 64 in 1 s, and evaluations of 20 s; a block is the first of some steps.

    It tells at its end what it told at its beginning, and the speed of all steps since the last one. The timer begins
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


@pytest.mark.parametrize("every", [1, 2, 5, 10])
@pytest.mark.parametrize("evaluated", [10, 30])
def test_blocks_may_only_mark_some_of_the_steps(every: int, evaluated: int, tmp_path: Path) -> None:
    session = read(marked(every, evaluated), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 64 * 120)


def test_speeds_of_marked_steps_may_not_contradict_the_samples(tmp_path: Path) -> None:
    session = read(marked(10, 30, factor=2.0), tmp_path)
    withheld = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(withheld, NoFigure)
    assert withheld.reason.code == "withheld"


@pytest.mark.parametrize("key", ["step", "step_num"])
@pytest.mark.parametrize(("told", "expected"), [(None, 64), (64, 64), (128, None), (32, None)])
def test_blocks_may_count_steps_alone(key: str, told: int | None, expected: int | None, tmp_path: Path) -> None:
    # NVIDIA's Stable Diffusion: blocks of 50 steps of 64 in 1 s each, and 10 s in which a checkpoint is saved.
    lines, at = [], 0
    for step in range(0, 500, 50):
        lines.append(mllog(at, "block_start", "training_step", **{key: step}))
        at += 50
        lines.append(mllog(at, "block_stop", "training_step", **{key: step + 50}))
        lines += [mllog(at, "tracked_stats", {"throughput": told, "loss": 0.5}, **{key: step + 50})] if told else []
        at += 10
    session = read(run_of("stable_diffusion", 64, lines, at), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    if expected:
        assert isinstance(found, Figure)
        assert (found.value, samples_to_train(session)) == (pytest.approx(64), 64 * 500)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.args["witness"] == "arithmetic"


def test_precision_and_parallelism_are_stated_since_2026(tmp_path: Path) -> None:
    stated = {"lowest_numerical_precision_in_linear": "bfloat16", "tensor_parallelism": 2, "micro_batch_size": 4}
    facts = facts_of(read(run_of("made_up", 64, blocks_with_speeds(64), 90, **stated), tmp_path))
    assert (facts["precision"], facts["tensor_parallel"], facts["micro_batch"]) == ("bf16", 2, 4)


def maxtext(lines: Sequence[str]) -> Iterator[str]:
    """Put the steps of 64 sequences in 10 s between the lines of MLPerf; the step behind an evaluation holds it."""
    step = 0
    for line in lines:
        if '"block_stop"' in line:
            yield from (f"Completed eval step {each}" for each in range(3))
        yield line
        for first in range(10 if '"block_start"' in line else 0):
            seconds = 40 if step and not first else 10
            yield (
                f"completed step: {step}, seconds: {seconds}.000, TFLOP/s/device: 400.125, Tokens/s/device: "
                f"{64 * 8192 / 8 / seconds:.3f}, total_weights: 524288, loss: 5.875"
            )
            step += 1


def test_steps_of_the_trainer_count_where_blocks_hold_their_evaluations(tmp_path: Path) -> None:
    lines = [mllog(0, "block_start", epoch_count=640, first_epoch_num=0)]
    for block in range(1, 7):
        lines.append(mllog(130 * block, "block_stop", first_epoch_num=640 * (block - 1)))
        lines.append(mllog(130 * block, "eval_accuracy", 5.75, samples_count=640 * block))
        lines.append(mllog(130 * block, "block_start", samples_count=640, first_epoch_num=640 * block))
    log = list(maxtext(run_of("llama31_405b", 64, lines[:-1], 780, max_sequence_length=8192)))
    session = session_of(log, tmp_path, "frameworks.maxtext")
    found = measured(session, facts_of(session) | {"devices": 8}).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, found.unit) == (pytest.approx(64 * 8192 / 10), "tokens/s")


def of_2019(at: float, *, ordered: bool = True) -> Iterator[str]:
    """Yield a run in the words of 2019: epochs of 640 samples in 10 s, and evaluations of 5 s."""

    def line(seconds: float, key: str, told: object = None, **metadata: object) -> str:
        event = {"value": told, "metadata": {"file": "train.py"} | metadata}
        event = event if ordered else dict(reversed(event.items()))
        return f":::MLL {1795169472.5 + at + seconds:.3f} {key}: {json.dumps(event)}"

    yield line(-5, "init_start")
    yield line(-4, "submission_benchmark", "resnet")
    yield line(-3, "global_batch_size", 64)
    yield line(0, "run_start")
    yield line(0, "train_samples", 640)
    for epoch in range(1, 8):
        yield line(15 * epoch - 15, "epoch_start", epoch_num=epoch)
        yield line(15 * epoch - 5, "epoch_stop", epoch_num=epoch)
        yield line(15 * epoch - 5, "eval_start", epoch_num=epoch)
        yield line(15 * epoch, "eval_accuracy", epoch / 8, epoch_num=epoch)
        yield line(15 * epoch, "eval_stop", epoch_num=epoch)
    yield line(105, "run_stop", status="success")


@pytest.mark.parametrize("ordered", [True, False])
def test_runs_of_2019_state_their_benchmark_and_batch(ordered: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"{each}\n" for at in (0, 500) for each in of_2019(at, ordered=ordered)))
    found = sessions_of(path).sessions
    assert [(facts_of(each)["model"], facts_of(each)["batch_size_of_job"]) for each in found] == [("resnet", 64)] * 2
    assert [value(each) for each in found] == pytest.approx([64, 64])
    assert [metric(each, "accuracy").value for each in found] == [0.875, 0.875]


@pytest.mark.parametrize("saved", [False, True])
def test_numbers_of_samples_count_where_evaluations_count_their_data(saved: bool, tmp_path: Path) -> None:
    # tinygrad's BERT: the end of an evaluation tells its 10,000 samples; blocks last from checkpoint to checkpoint.
    lines, at = [mllog(0, "epoch_start", 0, epoch_num=0)], 0
    for each in range(1, 9):
        done, at = 6400 * each, at + 100
        lines.append(mllog(at, "eval_start", epoch_num=done, step_num=100 * each))
        lines.append(mllog(at + 10, "eval_stop", done, epoch_count=done, step_num=100 * each, samples_count=10000))
        lines.append(mllog(at + 10, "eval_accuracy", 0.5, epoch_num=done))
        at += 10
        if saved:
            lines += [mllog(at, "block_stop", first_epoch_num=1, epoch_num=1)] if each > 1 else []
            at += 20
            lines.append(mllog(at, "block_start", first_epoch_num=1, epoch_num=1, epoch_count=1, samples_count=done))
    lines.append(mllog(at, "epoch_stop", 51200, epoch_num=51200))
    session = read(run_of("bert", 64, lines, at), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, samples_to_train(session)) == (pytest.approx(64), 51200)


@pytest.mark.parametrize(
    ("told", "logged", "speed"),
    [(True, 64.0, 64), (True, 42.7, 64_000 / 1500), (True, None, 64), (False, None, 64_000 / 1500)],
    ids=["as logged", "logged with evaluations", "not logged", "evaluations without times"],
)
def test_the_whole_run_is_taken_without_its_evaluations(
    told: bool, logged: float | None, speed: float, tmp_path: Path
) -> None:
    """Where nothing tells them apart, or the logged speed counts them, the run as a whole is all that there is."""
    # Only the samples at the end tell how far it came: 64000 in 1000 s, besides five evaluations of 100 s.
    lines = []
    for at in range(300, 1501, 300):
        if told:
            lines += [mllog(at - 100, "eval_start", at), mllog(at, "eval_stop", at)]
        lines.append(mllog(at, "eval_accuracy", 90.5, step_num=at, metric="FID"))
    log = [*run_of("stable_diffusion", 64, lines, 1500), mllog(1500, "train_samples", 64000)]
    log += [mllog(1500, "tracked_stats", {"throughput": logged})] if logged else []
    session = read(log, tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert (found.value if isinstance(found, Figure) else None) == pytest.approx(speed)


def test_an_accuracy_ends_its_evaluation_where_no_line_does(tmp_path: Path) -> None:
    # Evaluations of 5 s after every tenth of 6400 samples, which take 10 s, within an epoch.
    lines = [mllog(0, "epoch_start", epoch_num=0)]
    for each in range(1, 9):
        lines.append(mllog(15 * each - 5, "eval_start", epoch_num=0.1 * each))
        lines.append(mllog(15 * each, "eval_accuracy", 0.5, epoch_num=0.1 * each))
    lines.append(mllog(120, "epoch_stop", epoch_num=0))
    assert value(read(run_of("dlrm_dcnv2", 64, lines, 120, train_samples=6400), tmp_path)) == pytest.approx(64)


def test_an_epoch_that_may_have_ended_early_counts_no_samples(tmp_path: Path) -> None:
    # Nothing was evaluated after the last end: the target, or the last step, may have come before the whole epoch.
    lines = []
    for epoch in range(1, 7):
        lines += [
            mllog(10 * epoch - 10, "epoch_start", epoch_num=epoch),
            mllog(10 * epoch, "epoch_stop", epoch_num=epoch),
        ]
    session = read(run_of("resnet", 64, lines, 60, train_samples=640), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), None)
    evaluated = [*lines, mllog(60, "eval_start", epoch_num=6), mllog(60, "eval_stop", epoch_num=6)]
    assert samples_to_train(read(run_of("resnet", 64, evaluated, 60, train_samples=640), tmp_path)) == 3840


@pytest.mark.parametrize("name", ["block", "epoch"])
@pytest.mark.parametrize("first", [0, 1])
def test_the_end_of_an_epoch_cut_short_is_no_whole_epoch(first: int, name: str, tmp_path: Path) -> None:
    # 0.6 of an epoch, evaluated after each tenth; blocks, too, may tell how the first epoch is called.
    begin = {"first_epoch_num": first, "epoch_count": 1} if name == "block" else {"epoch_num": first}
    lines = [mllog(0, f"{name}_start", **begin)]
    for each in range(1, 7):
        lines += [mllog(10 * each, "eval_start", epoch_num=first + 0.1 * each)]
        lines += [mllog(10 * each, "eval_stop", epoch_num=first + 0.1 * each)]
    lines += [mllog(60, f"{name}_stop", epoch_num=first + 1)]
    session = read(run_of("dlrm_dcnv2", 64, lines, 60, train_samples=6400), tmp_path)
    assert samples_to_train(session) == pytest.approx(3840)


@pytest.mark.parametrize(("every", "expected"), [(20, 20 * 6), (1, None)])
def test_a_batch_of_one_leaves_numbers_one_by_one_open(every: int, expected: float | None, tmp_path: Path) -> None:
    lines = [mllog(0, "epoch_start", epoch_num=0)]
    for each in range(1, 7):
        lines += [mllog(10 * each, key, epoch_num=every * each) for key in ("eval_start", "eval_stop")]
    assert samples_to_train(read(run_of("bert", 1, lines, 60), tmp_path)) == expected


@pytest.mark.parametrize(("speed", "expected"), [(64.0, 64), (1.0, None), (640.0, None)])
def test_a_speed_is_roughly_held_against_stretches_with_evaluations(
    speed: float, expected: float | None, tmp_path: Path
) -> None:
    # 640 samples in 10 s, and an evaluation of 5 s that nothing begins, within each block.
    lines = []
    for block in range(6):
        at, done = 15 * block, 640 * (block + 1)
        lines += [mllog(at, "block_start", samples_count=done - 640)]
        lines += [mllog(at + 10, "tracked_stats", {"throughput": speed}, step=done)]
        lines += [mllog(at + 15, "eval_accuracy", 0.5, samples_count=done)]
        lines += [mllog(at + 15, "block_stop", samples_count=done)]
    session = read(run_of("made_up", 64, lines, 90), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert (found.value if isinstance(found, Figure) else None) == expected


def test_runs_of_mlperf_hpc_state_their_machines_and_evaluate_within_epochs(tmp_path: Path) -> None:
    # Copying the data takes longer than all the training.
    lines = [mllog(0, "staging_start"), mllog(200, "staging_stop")]
    for epoch, at in enumerate(range(200, 320, 20), 1):
        lines += [mllog(at, "epoch_start", epoch_num=epoch), mllog(at + 10, "eval_start", epoch_num=epoch)]
        lines += [mllog(at + 20, "eval_stop", epoch_num=epoch), mllog(at + 20, "epoch_stop", epoch_num=epoch)]
    stated = {"number_of_nodes": 4, "accelerators_per_node": 8, "train_samples": 640}
    session = read(run_of("cosmoflow", 64, lines, 320, **stated), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 3840)
    assert (facts_of(session)["nodes"], facts_of(session)["devices_per_node"]) == (4, 8)


def test_every_machine_may_log_the_figure_of_the_run(tmp_path: Path) -> None:
    lines = [mllog(0, "epoch_start", epoch_num=1)]
    for each in range(1, 7):
        lines += [mllog(15 * each - 5, "eval_start", epoch_num=1 + 0.1 * each)]
        lines += [mllog(15 * each, "eval_stop", epoch_num=1 + 0.1 * each)]
    speeds = [mllog(100, "tracked_stats", {"throughput": each}, step=0.6) for each in (42.5, 42.75, 42.25)]
    log = run_of("dlrm_dcnv2", 64, lines, 90, train_samples=6400)
    session = read([*log, *speeds], tmp_path)
    assert (value(session, "reported"), value(session)) == (42.5, pytest.approx(64))
    # R-GAT tells it with the epoch, and a logger may print the line twice.
    again = 2 * [mllog(100, "tracked_stats", {"throughput": 42.5}, epoch_num=0.6)]
    assert value(read([*log, *again], tmp_path), "reported") == 42.5


@pytest.mark.parametrize("lost", ["eval_stop", "eval_start"])
def test_a_lost_line_of_one_evaluation_leaves_the_others_out(lost: str, tmp_path: Path) -> None:
    # Epochs of 640 samples in 10 s, with an evaluation of 5 s before each one ends.
    lines = []
    for epoch in range(1, 11):
        at = 15 * epoch - 15
        lines += [mllog(at, "epoch_start", epoch_num=epoch), mllog(at + 10, "eval_start", epoch_num=epoch)]
        lines += [mllog(at + 15, "eval_stop", epoch_num=epoch), mllog(at + 15, "epoch_stop", epoch_num=epoch)]
    del lines[next(at for at, line in enumerate(lines) if f'"{lost}"' in line and '"epoch_num": 4}' in line)]
    session = read(run_of("cosmoflow", 64, lines, 150, train_samples=640), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64)


@pytest.mark.parametrize(("first", "last"), [(14, 17), (13, 22), (16, 21)])
def test_what_is_trained_between_lost_lines_has_no_speed(first: int, last: int, tmp_path: Path) -> None:
    # 640 samples in 10 s, then an evaluation of 5 s. Where lines are cut out, beginnings and ends still alternate.
    lines = []
    for block in range(8):
        at, before, after = 15 * block, 640 * block, 640 * (block + 1)
        lines += [mllog(at, "block_start", samples_count=before), mllog(at + 10, "block_stop", samples_count=after)]
        lines += [mllog(at + 10, "eval_start", samples_count=after), mllog(at + 15, "eval_stop", samples_count=after)]
    session = read(run_of("made_up", 64, lines[:first] + lines[last + 1 :], 120), tmp_path)
    found = measured(session, facts_of(session)).figures
    for rule in ("sustained", "mean"):
        assert isinstance(found[rule], Figure)
        assert found[rule].value == pytest.approx(64)


@pytest.mark.parametrize("lost", [0, -1])
def test_samples_until_the_target_are_not_told_where_a_line_of_an_end_is_lost(lost: int, tmp_path: Path) -> None:
    blocks = []
    for block in range(6):
        blocks += [[mllog(15 * block, "block_start", first_epoch_num=4 * block + 1, epoch_count=4)]]
        blocks += [[mllog(15 * block + 10, "block_stop", first_epoch_num=4 * block + 1)]]
        blocks[-1] += [mllog(15 * block + 10, "eval_start", epoch_num=4 * block + 4)]
        blocks[-1] += [mllog(15 * block + 15, "eval_stop", epoch_num=4 * block + 4)]
    del blocks[lost][0]
    session = read(run_of("resnet", 64, [line for block in blocks for line in block], 90, train_samples=160), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), None)


def test_an_accuracy_ends_its_evaluation_in_a_whole_run_too(tmp_path: Path) -> None:
    # Only the samples at the end tell how far it came: 64000 in 1000 s, besides five evaluations of 100 s.
    lines = []
    for at in range(300, 1501, 300):
        lines += [mllog(at - 100, "eval_start", at), mllog(at, "eval_accuracy", 0.5)]
    log = [*run_of("bert", 64, lines, 1500), mllog(1500, "train_samples", 64000)]
    assert value(read(log, tmp_path)) == pytest.approx(64)


@pytest.mark.parametrize("logged", [False, True])
def test_evaluations_may_take_longer_than_training_where_nothing_begins_them(logged: bool, tmp_path: Path) -> None:
    # 640 samples in 10 s, and 20 s until the accuracy, in which nobody trains.
    lines = []
    for block in range(8):
        at, done = 30 * block, 640 * (block + 1)
        lines += [mllog(at, "block_start", samples_count=done - 640), mllog(at + 10, "block_stop", samples_count=done)]
        lines += [mllog(at + 10, "tracked_stats", {"throughput": 640 / 30}, step=done)] * logged
        lines += [mllog(at + 30, "eval_accuracy", 0.5, samples_count=done)]
    log = [*run_of("made_up", 64, lines, 240), mllog(240, "train_samples", 5120)]
    assert value(read(log, tmp_path)) == pytest.approx(64)


def test_an_epoch_around_the_blocks_does_not_hide_their_steps(tmp_path: Path) -> None:
    lines = [mllog(0, "epoch_start", epoch_num=1)]
    for block in range(8):
        lines += [mllog(15 * block, "block_start", step=10 * block)]
        lines += [mllog(15 * block + 10, "block_stop", step=10 * block + 10)]
        lines += [mllog(15 * block + 10, "eval_start", step=10 * block + 10)]
        lines += [mllog(15 * block + 15, "eval_stop", step=10 * block + 10)]
    session = read(run_of("made_up", 64, lines, 120, train_samples=10**6), tmp_path)
    assert (value(session), samples_to_train(session)) == (pytest.approx(64), 5120)


def test_speeds_that_are_means_since_the_start_hold_its_slow_steps(tmp_path: Path) -> None:
    # Mask R-CNN: a hundred steps of 64 in each epoch, 1 s each but for the first ten, and the mean every tenth.
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
    session = read(run_of("maskrcnn", 64, lines, at, train_samples=6400), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64)


@pytest.mark.parametrize("first", [True, False])
def test_a_speed_that_is_logged_twice_counts_once(first: bool, tmp_path: Path) -> None:
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
    session = read(run_of("rnnt", 64, lines, 2200, train_samples=6400), tmp_path)
    found = measured(session, facts_of(session)).figures["sustained"]
    assert isinstance(found, Figure)
    assert (found.value, samples_to_train(session)) == (pytest.approx(64), 128000)
