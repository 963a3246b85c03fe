"""Logs of the Hugging Face family in which two numbers contradict each other, on made-up lines worked out by hand."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from test_dialects import DIFFUSERS_HEAD, HF_HEAD, LOSS, facts_of, log_of, reason, session_of, smoothed, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def headline(session: Session, **case: int) -> Figure | NoFigure:
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


def trainer(
    tokens: Callable[[int], float] = lambda step: 512.0 * step,
    seconds: Callable[[int], float] = lambda step: 2.0 * step,
    before: int = 0,
) -> list[str]:
    """Return the same of the Trainer; so many tokens were seen before a resumption."""
    rows = (
        f"{{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': {step / 800:.4f}, 'num_input_tokens_seen': "
        f"{int(tokens(step)) + before}, 'train_runtime': {seconds(step):.4f}, 'train_tokens_per_second': 256.0}}"
        for step in range(10, 801, 10)
    )
    return [*HF_HEAD[:2], "  Num Epochs = 1", "  Total optimization steps = 800", *rows]


@pytest.mark.parametrize(
    ("lines", "printer"), [(llamafactory, "llamafactory"), (trainer, "hf_trainer")], ids=["llamafactory", "trainer"]
)
def test_a_few_damaged_numbers_of_rows_since_the_start_move_no_figure(
    lines: Callable[..., list[str]], printer: str, tmp_path: Path
) -> None:
    for garbled in (
        {"tokens": lambda step: 512 * step // (10 if step % 70 == 0 else 1)},
        {"tokens": lambda step: 512 * step * (1000 if step % 70 == 0 else 1)},
        {"seconds": lambda step: 2 * step / (10 if step % 70 == 0 else 1)},
    ):
        session = session_of(lines(**garbled), tmp_path, f"frameworks.{printer}")
        assert value(session, "sustained") == pytest.approx(256, rel=0.01), garbled


@pytest.mark.parametrize(
    ("lines", "printer"), [(llamafactory, "llamafactory"), (trainer, "hf_trainer")], ids=["llamafactory", "trainer"]
)
def test_rows_since_the_start_that_contradict_their_own_speed_have_no_figure(
    lines: Callable[..., list[str]], printer: str, tmp_path: Path
) -> None:
    for wrong in (
        {"tokens": lambda step: 1024 * step},
        {"seconds": lambda step: 4 * step},
        {"tokens": lambda step: 512 * step * (2 if step > 400 else 1)},
    ):
        session = session_of(lines(**wrong), tmp_path, f"frameworks.{printer}")
        assert reason(session, "sustained") == "lines_contradict", wrong


def test_tokens_that_were_seen_before_a_resumption_contradict_no_speed(tmp_path: Path) -> None:
    session = session_of(trainer(before=1_000_000), tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained") == pytest.approx(256, rel=0.01)


# Checkpoints at steps that nothing states


def saved(step: int) -> float:
    """Return the seconds at the end of a step of 2 s, with a checkpoint of 40 s behind each 80th."""
    return 2.0 * step + 40 * ((step - 1) // 80)


def without_speed(lines: Iterable[str]) -> list[str]:
    """Return rows without the speed since the start, which holds the checkpoints."""
    return [line.replace('"throughput": 256.0, ', "") for line in lines]


@pytest.mark.parametrize("printer", ["llamafactory", "hf_trainer", "trl", "bar"])
def test_checkpoints_behind_all_multiples_of_a_number_of_steps(printer: str, tmp_path: Path) -> None:
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
    found = headline(session_of(lines, tmp_path, form))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(expected, rel=0.012)


# Bars whose time, steps or total are damaged


def bar(
    step: Callable[[int], int] = lambda step: step,
    seconds: Callable[[int], int] = lambda step: 2 * step,
    total: Callable[[int], int] = lambda step: 501,
) -> list[str]:
    """Return the bar of diffusers, whose steps of 64 samples take 2 s; some numbers may be printed as others."""
    return [
        *DIFFUSERS_HEAD,
        *(
            f"Steps:   2%|#    | {step(n)}/{total(n)} [{dt.timedelta(seconds=seconds(n))}<47:05,  2.00s/it, "
            "lr=1e-5, step_loss=0.0625]"
            for n in range(1, 501)
        ),
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        {"seconds": lambda n: 2 * n // (10 if n % 40 == 39 else 1)},
        {"seconds": lambda n: 2 * n * (1000 if n % 40 == 39 else 1)},
        {"step": lambda n: n // (10 if n % 40 == 39 else 1)},
        {"step": lambda n: n * (1000 if n % 40 == 39 else 1)},
        {"total": lambda n: 501 // (10 if n % 40 == 39 else 1)},
    ],
)
def test_single_damaged_numbers_of_a_bar_move_no_figure(
    damaged: dict[str, Callable[[int], int]], tmp_path: Path
) -> None:
    session = session_of(bar(**damaged), tmp_path, "frameworks.diffusers")
    assert second_run(session) is None
    assert value(session, "sustained") == pytest.approx(64 / 2, rel=0.01)


def test_a_time_that_falls_and_rises_all_along_is_none(tmp_path: Path) -> None:
    session = session_of(bar(seconds=lambda n: 2 * n * (1 + n % 2)), tmp_path, "frameworks.diffusers")
    assert reason(session, "sustained") == "clock_runs_back"


# A program that was started again


@pytest.mark.parametrize(
    ("pace", "tokens", "code"), [(2, 512, None), (1, 512, True), (2, 1024, True), (2.4, 512, None)]
)
def test_a_program_that_goes_on_otherwise_is_no_one_run(
    pace: float, tokens: int, code: bool | None, tmp_path: Path
) -> None:
    """400 updates of 512 tokens in 2 s each, and as many by a program that was started again."""
    first, lines = 512 * 400, []
    for step in range(10, 801, 10):
        spent = 2 * step if step <= 400 else pace * (step - 400)
        counted = 512 * step if step <= 400 else first + tokens * (step - 400)
        lines.append(json.dumps({
            "current_steps": step, "total_steps": 800, "loss": 2.5, "lr": 1e-5, "epoch": step / 800, "percentage": 1.0,
            "elapsed_time": str(dt.timedelta(seconds=int(spent))), "remaining_time": "0:01:00",
            "throughput": round(counted / spent, 2), "total_tokens": counted,
        }))  # fmt: skip
    found = second_run(session_of(lines, tmp_path, "frameworks.llamafactory"))
    assert (found and found[1].code) == (code and "resumed_otherwise")


def test_a_share_of_the_epoch_that_no_row_can_have_counts_no_updates(tmp_path: Path) -> None:
    # 16 samples an update, of which ten take 20 s; every third row tells half of its epoch.
    rows = [json.loads(each) for each in llamafactory()]
    for i, row in enumerate(rows):
        row.pop("total_tokens"), row.pop("throughput")
        row["epoch"] = row["current_steps"] / 1024 / (2 if i % 3 == 0 else 1)
    session = session_of(map(json.dumps, rows), tmp_path, "frameworks.llamafactory")
    found = measured(session, {"batch_size_of_job": 16}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(8, rel=0.002)


# The trainer's own figure, and what the head of the log says


def head(examples: int = 6400, epochs: int = 1, job: int = 64, steps: int = 100) -> list[str]:
    return [
        "***** Running training *****",
        f"  Num examples = {examples}",
        f"  Num Epochs = {epochs}",
        "  Instantaneous batch size per device = 8",
        f"  Total train batch size (w. parallel, distributed & accumulation) = {job}",
        "  Gradient Accumulation steps = 2",
        f"  Total optimization steps = {steps}",
    ]


def summed_up(speed: float, steps: float = 0.5, epoch: float = 1.0) -> list[str]:
    """Return the losses and the summary of 200 s."""
    told = f"'train_samples_per_second': {speed}, 'train_steps_per_second': {steps}, 'train_loss': 2.5"
    return [LOSS.replace("0.5}", f"{epoch}}}"), f"{{'train_runtime': 200.0, {told}, 'epoch': {epoch}}}"]


@pytest.mark.parametrize(("speed", "right"), [(32.0, True), (64.0, False), (16.0, False), (2.0, False)])
def test_a_summary_is_held_against_the_plan(speed: float, right: bool, tmp_path: Path) -> None:
    """6400 samples in 200 s."""
    found = headline(session_of([*head(), *summed_up(speed)], tmp_path, "frameworks.hf_trainer"))
    if right:
        assert isinstance(found, Figure), found
        assert found.value == pytest.approx(32)
    else:
        session = session_of([*head(), *summed_up(speed)], tmp_path, "frameworks.hf_trainer")
        reported = measured(session, facts_of(session)).figures["reported"]
        assert isinstance(reported, NoFigure)
        assert reported.reason.code == "unlike_plan"


@pytest.mark.parametrize("crashed", [True, False])
def test_a_banner_behind_a_crash_is_of_another_program(crashed: bool, tmp_path: Path) -> None:
    """A program that ran out of memory before its first step is started again with half the batch."""
    crash = ["Traceback (most recent call last):", "torch.OutOfMemoryError: CUDA out of memory."] if crashed else []
    first = [each.replace("= 8", "= 16") for each in head(job=128, steps=50)]
    log = log_of([*first, *crash, *head(), *summed_up(32.0)], tmp_path)
    assert [each.facts["batch_size"].value for each in log.sessions] == ([16, 8] if crashed else [16])
    found = headline(log.sessions[-1])
    assert not crashed or (isinstance(found, Figure) and found.value == pytest.approx(32))


def test_a_summary_counts_steps_where_they_end_a_run(tmp_path: Path) -> None:
    """100 of the 1000 steps of the data set; and a data set that is smaller than a batch."""
    limited = head(examples=64000, epochs=1)
    small = head(examples=20, epochs=100)
    for lines, speed, epoch in ((limited, 32.0, 0.1), (small, 10.0, 100.0)):
        found = headline(session_of([*lines, *summed_up(speed, epoch=epoch)], tmp_path, "frameworks.hf_trainer"))
        assert isinstance(found, Figure), found
        assert found.value == pytest.approx(speed)


def test_a_batch_of_a_job_that_is_less_than_that_of_a_device_is_wrong(tmp_path: Path) -> None:
    lines = [*head(job=8, examples=800), *summed_up(4.0)]
    found = headline(session_of(lines, tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld"


# Reinforcement learning, and XTuner


def verl(
    tokens: Callable[[int], int] = lambda step: 40_000, seconds: Callable[[int], float] = lambda step: 50.0
) -> list[str]:
    """Return steps of 40,000 tokens in 50 s on eight devices."""
    return [
        "{'actor_rollout_ref': {'actor': {'strategy': 'fsdp'}}, 'trainer': {'n_gpus_per_node': 8, 'nnodes': 1}}",
        *(
            f"step:{step} - actor/lr:1e-06 - perf/total_num_tokens:{tokens(step)} - "
            f"perf/time_per_step:{seconds(step):.3f} - perf/throughput:100.000 - training/epoch:0"
            for step in range(1, 31)
        ),
    ]


def xtuner(
    tokens: Callable[[int], int] = lambda step: 4000, seconds: Callable[[int], float] = lambda step: 1.9
) -> list[str]:
    """Return steps of 4000 tokens of a rank in 1.9 s, and 0.1 s of waiting."""
    return [
        f"[XTuner][RANK 0][2026-11-20 09:00:00][INFO] Step {step}/30 data_time: 0.1000 lr: 0.000020 "
        f"time: {seconds(step):.4f} text_tokens: {tokens(step)}.0 total_loss: 1.722 reduced_llm_loss: 1.684 "
        "max_memory: 16.00 GB reserved_memory: 17.87 GB grad_norm: 13.948 tgs: 2105.3 e2e_tgs: 2000.0 "
        for step in range(1, 31)
    ]


@pytest.mark.parametrize(("lines", "printer", "right"), [(verl, "verl", 800.0), (xtuner, "xtuner", 2000.0)])
def test_steps_are_held_against_their_own_speed(
    lines: Callable[..., list[str]], printer: str, right: float, tmp_path: Path
) -> None:
    def of(damaged: Callable[[int], bool]) -> Session:
        tokens, seconds = (40_000, 50.0) if printer == "verl" else (4000, 1.9)
        return session_of(
            lines(lambda step: tokens // (10 if damaged(step) else 1), lambda step: seconds),
            tmp_path,
            f"frameworks.{printer}",
        )

    for few in (lambda step: False, lambda step: step % 7 == 0):
        assert value(of(few), "sustained") == pytest.approx(right, rel=0.01)
    assert reason(of(lambda step: True), "sustained") == "lines_contradict"


def test_a_bar_of_which_each_500th_state_is_left_shows_no_checkpoint(tmp_path: Path) -> None:
    """64 samples in half a second; checkpoints may be saved behind each of the steps that are left."""
    bars = [
        f" 10%|#    | {step}/5000 [{dt.timedelta(seconds=step // 2)}<09:00,  2.00it/s]"
        for step in range(500, 5000, 500)
    ]
    lines = [*HF_HEAD[:2], *(line for each in bars for line in (each, LOSS))]
    found = headline(session_of(lines, tmp_path, "frameworks.hf_trainer"))
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(64 / 0.5)


def test_a_count_that_jumps_or_falls_gives_no_figure(tmp_path: Path) -> None:
    """Behind step 400 of 800 the tokens of TRL are told with a digit more, or halved; at 640 a line is told late."""
    for times, late in ((10, 0), (1, 19), (0.5, 0)):
        lines = list(HF_HEAD[:2])
        for step in range(10, 801, 10):
            took = 2 * step + (late if step == 640 else 0)
            counted = 512.0 * step * (times if step > 400 else 1)
            lines.append(f"{{'loss': 2.5, 'learning_rate': 1e-05, 'num_tokens': {counted}, 'epoch': {step / 800:.4f}}}")
            lines.append(f" 10%|#    | {step}/801 [{took // 60:02}:{took % 60:02}<06:46,  2.00s/it]")
        session = session_of(lines, tmp_path, "frameworks.trl")
        if late:
            assert value(session, "sustained") == pytest.approx(256, rel=0.01)
        else:
            assert reason(session, "sustained") == ("too_fast" if times > 1 else "count_runs_back")


# Times that are told twice since the start


def rows_of_llamafactory(elapsed: float, left: float) -> list[str]:
    """Return rows of 600 steps of 3 s, ten apart, with the time that has passed and that is left, times these."""
    return [
        json.dumps(
            {"current_steps": n, "total_steps": 600, "loss": 2.5, "lr": 1e-05, "epoch": n / 200, "percentage": n / 6}
            | {"elapsed_time": f"{dt.timedelta(seconds=int(3 * n * elapsed))}"}
            | {"remaining_time": f"{dt.timedelta(seconds=int(3 * (600 - n) * left))}"}
        )
        for n in range(10, 601, 10)
    ]


def rows_of_swift(elapsed: float, speed: float) -> list[str]:
    """Return rows of 600 steps of 3 s, five apart, with the time that has passed and the mean speed, times these."""
    return [
        json.dumps(
            {"loss": 2.5, "learning_rate": 1e-06, "epoch": n / 200, "global_step/max_steps": f"{n}/600"}
            | {"elapsed_time": f"{int(3 * n * elapsed) // 60}m {int(3 * n * elapsed) % 60}s"}
            | {"train_speed(s/it)": 3.0 * speed}
        )
        for n in range(5, 601, 5)
    ]


@pytest.mark.parametrize(("rows", "printer"), [(rows_of_llamafactory, "llamafactory"), (rows_of_swift, "ms_swift")])
def test_the_time_since_the_start_is_told_twice(
    rows: Callable[[float, float], list[str]], printer: str, tmp_path: Path
) -> None:
    def found(first: float, second: float) -> Figure | NoFigure:
        session = session_of(rows(first, second), tmp_path, f"frameworks.{printer}")
        return headline(session, devices=2, batch_size=4, accumulation=1)

    right = found(1, 1)
    assert isinstance(right, Figure)
    assert right.value == pytest.approx(8 / 3, rel=0.01)
    for lie in (2.0, 0.5):
        for wrong in (found(lie, 1), found(1, lie)):
            assert isinstance(wrong, NoFigure)
            assert wrong.reason.args["witness"] == "arithmetic"
