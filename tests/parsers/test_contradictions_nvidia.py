"""Numbers of NVIDIA's printers and of MLPerf's logs that contradict each other within one log.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_dialects import facts_of, session_of, value
from test_disturbed_mlperf import mllog, run_of, samples_to_train
from test_disturbed_nvidia import dllogger, fastpitch, resnet50_run

from ingest.compute.measurement import measured
from parsers.engine.session import Session
from schema.records import Figure, NoFigure


def blamed(session: Session) -> str:
    """Return the witness that withholds the figure, or `` where there is one."""
    found = measured(session, facts_of(session)).headline
    if isinstance(found, Figure):
        return ""
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld", found
    return str(found.reason.args["witness"])


def transformer_xl(speed: Callable[[int], str]) -> Iterator[str]:
    """Yield 50 lines of 10 steps of 12,288 tokens in 0.25 s; `speed` prints the speed of a line."""
    yield "Namespace(batch_size=64, d_model=512, fp16=False, gpu0_bsz=-1, max_step=500, tgt_len=192)"
    for line in range(1, 51):
        yield (
            f"| epoch   1 step {10 * line:>8} | batches {10 * line:>6} / 9000 | lr 1.000e-02 | ms/batch 250.0 | "
            f"tok/s {speed(line):>7} | loss  6.50 | ppl    665.14"
        )


@pytest.mark.parametrize("wrong", ["4915", "9152", "98304"])
def test_a_few_speeds_that_the_seconds_beside_them_contradict(wrong: str, tmp_path: Path) -> None:
    # 12,288 tokens in 0.25 s are 49,152 per second; a speed that has lost a digit weighs as much as ten lines.
    assert not blamed(session_of(list(transformer_xl(lambda _: "49152")), tmp_path, "ngc.pytorch_transformer_xl"))
    lines = list(transformer_xl(lambda line: wrong if line % 5 == 2 else "49152"))
    session = session_of(lines, tmp_path, "ngc.pytorch_transformer_xl")
    assert blamed(session) == "arithmetic"
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    # A line that says so is named, and blamed, since the others agree with the batch size.
    assert found.reason.args["likelier"] == "unlike_others"
    named = lines[int(found.reason.args["line"]) - 1]
    assert wrong in named


def convnets(speed: Callable[[int], float], seconds: Callable[[int], float] = lambda _: 0.25) -> Iterator[str]:
    """Yield 600 lines of an iteration of 256 images; `speed` and `seconds` of each line."""
    yield "DLL 2026-11-20 10:00:00.500000 - PARAMETER arch : resnet50  batch_size : 32  world_size : 8 "
    clock = dt.datetime(2026, 11, 20, 10, 0, 1, 250)
    for line in range(1, 601):
        clock += dt.timedelta(seconds=seconds(line))
        yield (
            f"DLL {clock.isoformat(' ', 'microseconds')} - Epoch: 0 Iteration: {line}  train.loss : 6.5 None "
            f"train.compute_ips : {1.01 * speed(line):.2f} images/s train.total_ips : {speed(line):.2f} images/s"
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda line: 24.0 if line % 5 == 2 else 1024.0,
        lambda line: 512.0 if line > 400 else 1024.0,
        lambda line: 2048.0 if line % 3 == 1 else 1024.0,
    ],
)
def test_speeds_of_some_lines_that_the_clocks_contradict(wrong: Callable[[int], float], tmp_path: Path) -> None:
    # 256 images in 0.25 s by the clocks of all lines; the median of the lines agrees with them.
    assert not blamed(session_of(list(convnets(lambda _: 1024.0)), tmp_path, "ngc.pytorch_resnet50"))
    assert blamed(session_of(list(convnets(wrong)), tmp_path, "ngc.pytorch_resnet50")) == "clock"


def test_time_between_some_lines_contradicts_nothing(tmp_path: Path) -> None:
    # What no record covers, such as an evaluation, is longer than the other intervals.
    session = session_of(
        list(convnets(lambda _: 1024.0, lambda line: 1.25 if line % 5 == 2 else 0.25)), tmp_path, "ngc.pytorch_resnet50"
    )
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(1024)


def in_blocks(
    count: Callable[[str, int], float], speed: float = 64.0, mean: float | None = None, pause: float = 5.0
) -> Iterator[str]:
    """Yield ten blocks of 640 samples in 10 s with an evaluation behind each.

    Args:
        count: what an event of some key tells of the samples that are counted there.
        speed: what is printed of a block.
        mean: the seconds of a step of 64 samples that a callback prints instead.
        pause: seconds of an evaluation.
    """
    for block in range(10):
        at, done = (10 + pause) * block, 640 * (block + 1)
        yield mllog(at, "block_start", samples_count=count("block_start", done - 640))
        if mean:
            yield mllog(at + 10, "tracked_stats", {"train_step_time": mean}, samples_count=done)
        else:
            yield mllog(at + 10, "tracked_stats", {"throughput": speed}, step=done)
        for key, after in (("block_stop", 10.0), ("eval_start", 10.0), ("eval_stop", 10 + pause)):
            yield mllog(at + after, key, samples_count=count(key, done))


def mlperf(lines: Iterator[str], folder: Path, end: float = 150) -> Session:
    return session_of(run_of("made_up", 64, list(lines), end), folder, "frameworks.mlperf")


def test_mlperf_counts_that_the_logged_speeds_contradict(tmp_path: Path) -> None:
    assert not blamed(mlperf(in_blocks(lambda _, done: done), tmp_path))
    # All that counts samples counts twice as many: 128 per second, where 64 are logged again and again.
    session = mlperf(in_blocks(lambda _, done: 2 * done), tmp_path)
    assert blamed(session) == "arithmetic"
    # Speeds that hold the evaluations are lower, and no contradiction: 640 samples in 15 s.
    assert not blamed(mlperf(in_blocks(lambda _, done: done, 640 / 15), tmp_path))
    # Lower than that they cannot be.
    assert blamed(mlperf(in_blocks(lambda _, done: done, 32.0), tmp_path)) == "arithmetic"


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_mlperf_counts_that_the_mean_over_a_block_contradicts(factor: float, tmp_path: Path) -> None:
    # 64 samples per second by a timer that holds the steps of a block and nothing else.
    assert not blamed(mlperf(in_blocks(lambda _, done: done, mean=1.0), tmp_path))
    assert blamed(mlperf(in_blocks(lambda _, done: factor * done, mean=1.0), tmp_path)) == "summary"


def test_mlperf_evaluation_that_tells_other_samples_than_the_block_before_it(tmp_path: Path) -> None:
    # From the sixth block on evaluations count twice; what they are held against is the block that ended just before.
    def twice(key: str, done: int) -> float:
        return done * (2 if key.startswith("eval") and done > 3200 else 1)

    session = mlperf(in_blocks(twice), tmp_path)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64)
    assert samples_to_train(session) is None
    assert samples_to_train(mlperf(in_blocks(lambda _, done: done), tmp_path)) == 6400


def test_mlperf_stretch_that_is_faster_than_the_others_lacks_some_of_its_seconds(tmp_path: Path) -> None:
    # BERT: 640 samples in 10 s, and an evaluation of 2 s. Of one evaluation no line tells the end and of the next one
    # none the beginning, so that what is trained in between seems to take no time.
    lost = [1, 2, 4, 8, 12, 14, 18, 19, 20, 23, 24, 25, 26, 28, 30, 36]
    lines = [mllog(0, "epoch_start", epoch_num=1), mllog(0, "block_start", first_epoch_num=1)]
    for each in range(1, 13):
        lines.append(mllog(12 * each - 2, "eval_start", epoch_num=640 * each))
        lines += [mllog(12 * each, key, epoch_num=640 * each) for key in ("eval_stop", "eval_accuracy")]
    session = mlperf((each for number, each in enumerate(lines) if number not in lost), tmp_path, 144)
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64)


def test_mlperf_speed_of_the_run_below_what_its_length_allows(tmp_path: Path) -> None:
    # DLRM: parts of an epoch of 64,000 samples, a tenth in 10 s and an evaluation of 5 s; one speed at the end.
    def run(logged: float, part: float = 0.1) -> Session:
        lines = [mllog(0, "train_samples", 64000), mllog(0, "epoch_start", epoch_num=0)]
        for each in range(1, 9):
            lines += [mllog(15 * each - 5, "eval_start", epoch_num=part * each)]
            lines += [mllog(15 * each, "eval_stop", epoch_num=part * each)]
        lines.append(mllog(120, "tracked_stats", {"throughput": logged}, step=1))
        return mlperf(iter(lines), tmp_path, 120)

    # With the evaluations 51,200 samples in 120 s.
    assert not blamed(run(51200 / 120))
    assert blamed(run(51200 / 120, part=0.11)) == "summary"


def nemo(timing: float, seconds: float = 2.0) -> Iterator[str]:
    """Yield 60 DLLogger lines of NeMo, of a step of 64 samples each; every tenth interval holds 30 s of validation."""
    unix = 1795169472.5
    for step in range(60):
        unix += seconds + (30 if step % 10 == 5 else 0)
        told = {"reduced_train_loss": 6.5, "global_step": float(step), "consumed_samples": 64.0 * (step + 1)}
        yield dllogger(unix, step, {**told, "train_step_timing in s": timing})


def test_nemo_timing_that_the_clock_contradicts(tmp_path: Path) -> None:
    session = session_of(list(nemo(2.0)), tmp_path, "frameworks.nemo")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(32)
    # A timer cannot count more than has passed, and one that counts half of it does not tell which lines hold more.
    for timing in (4.0, 2.5, 1.0):
        assert blamed(session_of(list(nemo(timing)), tmp_path, "frameworks.nemo")) == "clock"


def waveglow(speed: float, mean: float) -> Iterator[str]:
    """Yield 60 iterations of 0.5 s as NVLOG, and the mean of their speeds."""
    head = ":::NVLOGv0.2.2 Tacotron2_PyT {} (/workspace/logger.py:251) {}"
    for step in range(1, 61):
        now = 1795169472.5 + 0.5 * step
        yield f"Batch: {step}/60 epoch 0"
        yield head.format(now, f"train_iter_stop: {step}")
        yield head.format(now, f"train_iter_items/sec: {speed}")
        yield head.format(now, "iter_time: 0.5")
    yield head.format(now, f"train_epoch_avg_items/sec: {mean}")


@pytest.mark.parametrize("mean", [64000.0, 112000.0])
def test_mean_of_the_speeds_of_iterations_is_no_other_than_theirs(mean: float, tmp_path: Path) -> None:
    assert not blamed(session_of(list(waveglow(96000.0, 96000.0)), tmp_path, "ngc.pytorch_nvlog"))
    assert blamed(session_of(list(waveglow(96000.0, mean)), tmp_path, "ngc.pytorch_nvlog")) == "summary"


@pytest.mark.parametrize("wrong", [2048.0, 512.0, 102.4])
def test_speeds_of_some_lines_where_no_devices_are_stated(wrong: float, tmp_path: Path) -> None:
    # Ten steps in 2.5 s by the clocks of all lines: whatever the batch is, no third of the lines has another speed.
    def log(speed: Callable[[int], float], seconds: float = 2.5) -> Iterator[str]:
        yield "DLL 2026-11-20 10:00:00.500000 - PARAMETER arch : resnet50  mode : training_benchmark  batch_size : 32 "
        clock = dt.datetime(2026, 11, 20, 10, 0, 1, 250)
        for line in range(1, 61):
            clock += dt.timedelta(seconds=seconds)
            stamp = clock.isoformat(" ", "microseconds")
            yield f"DLL {stamp} - (0, {10 * line}) total_ips : {speed(line):.4f} "

    assert not blamed(session_of(list(log(lambda _: 1024.0)), tmp_path, "ngc.tensorflow_resnet50"))
    session = session_of(
        list(log(lambda line: wrong if line % 3 == 1 else 1024.0)), tmp_path, "ngc.tensorflow_resnet50"
    )
    assert blamed(session) == "clock"
    # In whole seconds it takes two or three, which tells nothing of a line.
    coarse = [re.sub(r"(:\d\d)\.\d{6}", r"\1.000000", each) for each in log(lambda _: 1024.0, 2.6)]
    assert not blamed(session_of(coarse, tmp_path, "ngc.tensorflow_resnet50"))


def test_dlrm_of_mlperf_states_its_batch(tmp_path: Path) -> None:
    # Two processes print an iteration of 65,536 samples of the job in 128 ms; a launcher puts its own words before.
    log = [mllog(0, "submission_benchmark", "dlrm"), mllog(0, "global_batch_size", 65536), mllog(1, "run_start")]
    for done in range(16, 161, 16):
        told = f"Finished training it {done}/160 of epoch 0, 128.00 ms/it, loss 0.561402, accuracy 74.972 %"
        log += [f"[{rank}] {told}" for rank in (0, 1)]
    session = session_of([f"training  | {each}" for each in log], tmp_path, "frameworks.dlrm")
    assert value(session) == pytest.approx(512000)


def test_speeds_of_epochs_that_contradict_those_of_their_iterations(tmp_path: Path) -> None:
    # The frames of an epoch over its time are a quarter of what its iterations say.
    assert not blamed(session_of(list(fastpitch(4)), tmp_path, "frameworks.dllogger_text"))
    lines = [each.replace("24000.00 frames/s", "6000.00 frames/s") for each in fastpitch(4)]
    assert blamed(session_of(lines, tmp_path, "frameworks.dllogger_text")) == "summary"


def test_convnets_speeds_below_what_the_times_beside_them_tell(tmp_path: Path) -> None:
    # 256 images in 0.25 s; half the speed would be a batch of 128, while 256 images are computed in 0.24 s.
    lines = [
        each.replace('"train.total_ips": 1024.0', '"train.total_ips": 512.0')
        for each in resnet50_run([[0.01] * 10] * 30)
    ]
    assert blamed(session_of(lines, tmp_path, "frameworks.dllogger")) == "arithmetic"


def hugectr(seconds: float) -> Iterator[str]:
    """Yield 60 lines of HugeCTR of 2020, of 500 iterations of 4096 samples in 20 s, over midnight."""
    for line in range(1, 61):
        day, rest = divmod(19 * 86400 + 23 * 3600 + 50 * 60 + 20 * line, 86400)
        stamp = f"{day:02}d{rest // 3600:02}h{rest // 60 % 60:02}m{rest % 60:02}s"
        yield f"[{stamp}][HUGECTR][INFO]: Iter: {500 * line} Time(500 iters): {seconds:.6f}s Loss: 0.125000 lr:0.5"


def test_hugectr_seconds_that_its_clock_contradicts(tmp_path: Path) -> None:
    case = {"batch_size_of_job": 4096}
    session = session_of(list(hugectr(20.0)), tmp_path, "dlperf.hugectr")
    found = measured(session, case).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(102400)
    found = measured(session_of(list(hugectr(2.0)), tmp_path, "dlperf.hugectr"), case).headline
    assert isinstance(found, NoFigure)
    assert found.reason.args["witness"] == "clock"


def in_lines(steps: int, told: int, seconds: float) -> Iterator[str]:
    """Yield 12 lines of HugeCTR, of so many iterations in 10 s, that tell the seconds of some number of iterations."""
    for line in range(1, 13):
        stamp = f"[HCTR][10:{10 * line // 60:02}:{10 * line % 60:02}.000][INFO][RK0][main]: "
        yield f"{stamp}Iter: {steps * line} Time({told} iters): {seconds:.6f}s Loss: 0.125000 lr:0.5"


@pytest.mark.parametrize(
    ("told", "seconds", "expected"),
    [(1000, 10, 409600), (500, 5, 409600), (500, 10, None), (2000, 10, None)],
)
def test_hugectr_iterations_that_its_clock_contradicts(
    told: int, seconds: float, expected: float | None, tmp_path: Path
) -> None:
    # Of lines that tell of 500 iterations in 5 s every other one is lost.
    session = session_of(list(in_lines(1000, told, seconds)), tmp_path, "dlperf.hugectr")
    found = measured(session, {"batch_size_of_job": 4096}).headline
    if expected:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(expected)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.code == ("lines_contradict" if told > 1000 else "withheld")


def test_hugectr_a_few_lines_of_more_iterations_than_they_can_hold(tmp_path: Path) -> None:
    # Each of these tells the seconds of its own iterations: none takes those of a line that is left out.
    lines = list(in_lines(1000, 1000, 10))
    lines[5:9:3] = (each.replace("Time(1000 ", "Time(2000 ") for each in lines[5:9:3])
    found = measured(session_of(lines, tmp_path, "dlperf.hugectr"), {"batch_size_of_job": 4096}).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(409600)


#: What HugeCTR prints in the end, with the seconds of the run.
HIT = (
    "Hit target accuracy AUC 0.80250 at 11999 / 20000 iterations with batchsize 4096 in {}.00s. "
    "Average speed {} records/s."
)
FINISH = "Finish 12000 iterations with batchsize: 4096 in {}.00s."


@pytest.mark.parametrize("end", [HIT, FINISH])
def test_hugectr_run_that_is_shorter_than_its_lines(end: str, tmp_path: Path) -> None:
    for seconds in (125, 60):
        last = end.format(seconds, 4096 * 11999 / seconds)
        session = session_of([*in_lines(1000, 1000, 10), last], tmp_path, "dlperf.hugectr")
        assert facts_of(session) == {"batch_size_of_job": 4096}
        assert session.ending.outcome == "completed"
        found = measured(session, facts_of(session)).headline
        if seconds == 125:
            assert isinstance(found, Figure)
            assert found.value == pytest.approx(409600)
        else:
            assert isinstance(found, NoFigure)
            assert found.reason.args["witness"] == "summary"


@pytest.mark.parametrize(("told", "expected"), [(1.0, 1024), (1.6, None)])
def test_convnets_of_tensorflow_sum_up_their_steps_alone(told: float, expected: float | None, tmp_path: Path) -> None:
    """Every tenth step of 256 images in 0.25 s; their own figure counts nothing else, and is not five eighths."""
    lines = ["DLL 2026-11-20 10:00:00.500000 - PARAMETER arch : resnet50  mode : training_benchmark  batch_size : 32 "]
    for step in range(200, 700, 10):
        at = (dt.datetime(2026, 11, 20, 10) + dt.timedelta(seconds=0.25 * step)).strftime("%H:%M:%S.%f")
        lines.append(f"DLL 2026-11-20 {at} - (0, {step}) total_ips : {told * 1024:.6f} ")
    lines.append("DLL 2026-11-20 10:03:00.500000 - () train_throughput : 1024.123456 images/s")
    found = measured(session_of(lines, tmp_path, "ngc.tensorflow_resnet50"), {}).headline
    if expected:
        assert isinstance(found, Figure)
        assert found.value == pytest.approx(expected)
    else:
        assert isinstance(found, NoFigure)
        assert found.reason.args["witness"] == "summary"


def test_bert_repeats_a_step_while_other_lines_are_missing(tmp_path: Path) -> None:
    # A step of 8 times 32 sequences takes 0.5 s; the loss scaler skips some, and most of the later lines are lost.
    lines = ["DLL 2026-11-20 10:00:00.500000 - PARAMETER batch_size_per_gpu : 32 "]
    at = dt.datetime(2026, 11, 20, 10, 0, 1)
    done = [(tried, 1) for tried in range(12)] + [(tried, tried - 10) for tried in (13, 15, 17, 19, 24, 26, 28)]
    for tried, step in done:
        stamp = (at + dt.timedelta(seconds=0.5 * tried, microseconds=250)).isoformat(" ", "microseconds")
        lines.append(
            f"DLL {stamp} - Training Epoch: 0 Training Iteration: {step}  average_loss : 11.125  learning_rate : 0.5 "
        )
    session = session_of(lines, tmp_path, "ngc.pytorch_bert")
    assert value(session, devices=8, accumulation=1) == pytest.approx(512)


def test_list_of_an_nvlog_document_ends_with_its_bracket(tmp_path: Path) -> None:
    # The line that begins the next list is lost: its numbers are no speeds.
    lines = ["{", '    "run": {', '        "train_epoch_items/sec": [', "            16000.5,", "            16000.5"]
    lines += ["        ],", "            0.5,", "            0.25", "        ]", "    }", "}"]
    session = session_of(lines, tmp_path, "frameworks.nvlog")
    assert value(session) == pytest.approx(16000.5)
