"""What Paddle's older trainers and copies of its logs print.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_dialects import facts_of, figure, log_of, reason, session_of, value

from ingest.compute.frame import begun_anew
from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from ingest.read.facts import merge
from parsers.engine.session import Session
from parsers.engine.table import SessionRecords
from schema.records import Figure, NoFigure

START = dt.datetime(2026, 11, 20, 8)
PAIR = {"devices": 2, "batch_size": 4}


def recorded(session: Session) -> SessionRecords:
    """Return the records of the reading of steps that has any."""
    (found,) = [each for each in session.records if len(each) and each.reading.span != "run"]
    return found


def reason_of(session: Session) -> str:
    """Return why there is no headline."""
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    return found.reason.code


def static_detection(speed: str) -> list[str]:
    """Return PaddleDetection's static graph: steps of 0.25 s, and 30 s of saving and evaluation behind every 100."""
    lines, at, outside = [], START, 0.0
    for step in range(0, 1001, 20):
        seconds = (20 * 0.25 + outside) / 20 if step else 7e-5
        at += dt.timedelta(seconds=20 * seconds)
        head = f"{at:%Y-%m-%d %H:%M:%S},000-INFO: "
        told = speed.format(seconds=seconds, ips=8 / seconds)
        lines.append(f"{head}iter: {step}, lr: 0.000040, 'loss_cls': '0.500000', 'loss': '43.500000', {told}")
        outside = 30.0 if step and step % 100 == 0 else 0.0
        if outside:
            lines += [f"{head}Save model to output/yolov3_darknet/{step}.", f"{head}Test iter 0"]
    return lines


def test_the_static_graph_of_paddledetection_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    lines = static_detection("eta: 8:12:05, batch_cost: {seconds:.5f} sec, ips: {ips:.5f} images/sec")
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 32)


def test_the_first_releases_of_paddledetection_print_seconds_alone(tmp_path: Path) -> None:
    # The first line prints the mean of no iteration.
    session = session_of(static_detection("time: {seconds:.3f}, eta: 8:12:05"), tmp_path, "frameworks.paddle_detection")
    assert recorded(session)["step"].tolist()[:2] == [20, 40]
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 / 0.25)


def test_the_first_dynamic_graph_of_paddledetection_counts_iterations_within_epochs(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 08:00:00,000-INFO: Epoch:{epoch}: iter: {step}, lr: 0.000040, 'loss': '43.500000', eta: 8:12:05, "
        "batch_cost: 0.25000 sec, ips: 32.00000 images/sec"
        for epoch in range(4)
        for step in range(0, 100, 20)
    ]
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert begun_anew(recorded(session)) is None
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 32)


def paddlex(step: float, *, first: float, every: int, window: int) -> list[str]:
    """Return PaddleX's lines of 12 epochs of 237 steps, whose first takes longer, each with an evaluation of 20 s."""
    lines, at, seconds = [], START, list[float]()
    for epoch in range(1, 13):
        for n in range(1, 238):
            seconds.append(step + (first if n == 1 else 0))
            at += dt.timedelta(seconds=seconds[-1])
            if len(seconds) % every == 0:
                last = seconds[-window:]
                lines.append(
                    f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] Epoch={epoch}/12, Step={n}/237, loss_xy=0.25, loss=4.75, "
                    f"lr=1e-05, time_each_step={round(sum(last) / len(last), 2)}s, eta=3:44:27"
                )
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] Epoch {epoch} finished, loss_xy=0.25, loss=4.75 .")
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\tStart to evaluating(total_samples=100, total_steps=25)...")
        at += dt.timedelta(seconds=20)
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\tModel saved in output/ppyolo/epoch_{epoch}.")
    return lines


@pytest.mark.parametrize(("every", "window"), [(10, 10), (2, 20)])
def test_paddlex_evaluates_outside_its_timer(every: int, window: int, tmp_path: Path) -> None:
    lines = paddlex(0.5, first=0, every=every, window=window)
    session = session_of(lines, tmp_path, "paddle.paddlex")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 / 0.5)


def test_paddlex_is_read_by_its_clock_where_its_seconds_are_too_coarse(tmp_path: Path) -> None:
    # A step of 47 ms is printed as 0.05 s; an epoch begins with a second of waiting, which is no step.
    lines = paddlex(0.047, first=1, every=10, window=10)
    session = session_of(lines, tmp_path, "paddle.paddlex")
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 / 0.047, rel=0.01)
    undated = [each.partition("\t")[2] for each in lines]
    assert reason(session_of(undated, tmp_path, "paddle.paddlex"), "sustained", **PAIR) == "coarse_seconds"


@pytest.mark.parametrize(
    "loaded",
    [
        "There are 135 varaibles in output/ppyolo/pretrain/R50 are loaded.",
        "There are 530/538 variables loaded into YOLOv3.",
    ],
)
def test_paddlex_begins_where_it_has_loaded_weights(loaded: str, tmp_path: Path) -> None:
    loads = f"{START:%Y-%m-%d %H:%M:%S} [INFO]\t{loaded}"
    slow, fast = ([loads, *paddlex(step, first=0, every=10, window=10)] for step in (1.0, 0.5))
    sessions = log_of([*slow, *fast], tmp_path).sessions
    assert [value(each, **PAIR) for each in sessions] == [pytest.approx(8), pytest.approx(16)]


def hub(lines: Iterable[tuple[str, float]], evaluation: str) -> list[str]:
    """Return PaddleHub's lines at the seconds since the one before; an evaluation stands behind every fifth."""
    made, at = [], START
    for n, (line, seconds) in enumerate(lines, 1):
        at += dt.timedelta(seconds=seconds)
        stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}]"
        made.append(f"{stamp} [   TRAIN] - {line}")
        if n % 5 == 0:
            made.append(f"{stamp} {evaluation}")
    return made


def test_paddlehub_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    # 10 steps in 5 s, and 20 s of evaluation behind every fifth line.
    seconds = [25.0 if n % 5 == 1 and n > 1 else 5.0 for n in range(1, 41)]
    lines = [
        (
            f"Epoch=1/1, Step={10 * n}/400 loss=2.5000 acc=0.5000 lr=0.000100 step/sec={10 / each:.2f} | ETA 00:01:00",
            each,
        )
        for n, each in enumerate(seconds, 1)
    ]
    session = session_of(hub(lines, "[    EVAL] - [Evaluation result] avg_acc=0.7500"), tmp_path, "paddle.hub")
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 * 2)


def test_paddlehub_1_leaves_out_the_wait_of_a_first_step(tmp_path: Path) -> None:
    # 10 steps in 2.037 s, of which the printed rate holds 1.8 s; evaluations of 5 s lie outside.
    seconds = [7.037 if n % 5 == 1 and n > 1 else 2.037 for n in range(1, 61)]
    lines = [
        (f"step {10 * n} / 600: loss=0.75000 acc=0.50000 [step/sec: {10 / 1.8:.2f}]", each)
        for n, each in enumerate(seconds, 1)
    ]
    session = session_of(hub(lines, "[    INFO] - Evaluation on dev dataset start"), tmp_path, "paddle.hub")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 * 10 / 2.037, rel=0.01)
    # A bar may stand before the stamp.
    behind = [f"100%|##| {each}" for each in hub(lines, "[    INFO] - Evaluation on dev dataset start")]
    told = measured(session_of(behind, tmp_path, "paddle.hub"), PAIR).headline
    assert isinstance(told, Figure)
    assert told.value == found.value


def test_paddlehub_of_slow_steps_has_too_few_digits(tmp_path: Path) -> None:
    lines = [(f"step {n} / 60: loss=0.75000 [step/sec: 0.03]", 33.3) for n in range(1, 21)]
    session = session_of(hub(lines, "[    INFO] - Evaluation on dev dataset start"), tmp_path, "paddle.hub")
    assert reason(session, **PAIR) == "coarse_seconds"


def test_pdseg_states_devices_and_batch(tmp_path: Path) -> None:
    # 10 steps in 2 s; behind every fifth line 10 s of saving and evaluation, which has lines of its own.
    lines = ["#Device count: 2", "batch_size_per_dev: 4"]
    for n in range(1, 41):
        seconds = 12 if n % 5 == 1 and n > 1 else 2
        lines.append(
            f"epoch={n // 5 + 1} step={10 * n} lr=0.00093 loss=0.2500 step/sec={10 / seconds:.3f} | ETA 00:07:06"
        )
        if n % 5 == 0:
            lines += [
                f"Save model checkpoint to ./saved_model/unet/{n}",
                "Evaluation start",
                "[EVAL]step=1 loss=0.01955 acc=0.9926 IoU=0.9653 step/sec=21.25 | ETA 00:00:00",
            ]
    assert value(session_of(lines, tmp_path, "paddle.hub"), "sustained") == pytest.approx(2 * 4 * 5)


def test_ernie_in_fine_tuning_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    lines = ["-----------  Configuration Arguments -----------", "batch_size: 4", "in_tokens: False"]
    for n in range(1, 41):
        seconds = 17 if n % 5 == 1 and n > 1 else 5
        lines.append(
            f"epoch: 0, progress: {80 * n}/9600, step: {10 * n}, ave loss: 0.250000, ave acc: 0.968750, "
            f"speed: {10 / seconds:.6f} steps/s"
        )
        if n % 5 == 0:
            lines.append("[dev evaluation] ave loss: 0.250000, acc:0.937500, data_num: 1200, elapsed time: 12.0 s")
    assert value(session_of(lines, tmp_path, "dlperf.paddle_bert"), "sustained", devices=2) == pytest.approx(16)


def test_paddlespeech_of_2021_prints_the_wait_apart(tmp_path: Path) -> None:
    lines, at = [], START
    for n in range(1, 101):
        at += dt.timedelta(seconds=2)
        lines.append(
            f"[INFO {at:%Y/%m/%d %H:%M:%S} model.py:61] Train: Rank: 0, epoch: 1, step: {n}, batch : {n}/1876, "
            "lr: 0.0005, data time: 0.500s, train time: 1.500s, batch size: 64, train_loss: 16.030918"
        )
    session = session_of(lines, tmp_path, "paddle.speech")
    told = measured(session, facts_of(session) | {"devices": 2})
    assert isinstance(told.headline, Figure)
    assert told.headline.value == pytest.approx(2 * 32)
    assert {each.kind: each.verdict for each in told.witnesses}["clock"] == "agrees"


def test_paddlespeech_counts_each_batch_once_though_every_rank_prints_it(tmp_path: Path) -> None:
    lines = [
        f"Train: Rank: {rank}, epoch: 0, step: {n}, lr: 0.001, batch_size: 32, accum: 1, loss: 9.5, step_cost: 0.4, "
        f"iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: 32, ips: 64.0 sent./sec"
        for n in range(1, 101)
        for rank in range(4)
    ]
    session = session_of(lines, tmp_path, "paddle.speech")
    assert begun_anew(recorded(session)) is None
    assert value(session, devices=4) == pytest.approx(256)


@pytest.mark.parametrize(
    "line",
    [
        "epoch:{epoch:<3d}, train step:{step:<4d}, top1: 0.25, loss: 4.5, lr: 0.1, {told} images/sec.",
        "epoch:{epoch:<3d} train step:{step:<4d} lr: 0.1, loss:  4.5 top1:  0.25 top5:  0.5 {told} samples/sec.",
    ],
)
def test_a_mean_of_paddleclas_says_nothing_of_the_steps_before_it(line: str, tmp_path: Path) -> None:
    # Epochs of 15 steps of 0.25 s, the first five of which wait for data: the mean at step 10 begins after them.
    at, lines = START, []
    for epoch in range(30):
        for step, seconds in ((0, 2.0), (10, 4 * 2.0 + 6 * 0.25)):
            at += dt.timedelta(seconds=seconds)
            cost = 0.25 if step else 2.0
            told = f"batch_cost: {cost:.5f} s, reader_cost: 0.00100 s, ips: {8 / cost:.5f}"
            lines.append(f"{at:%Y-%m-%d %H:%M:%S} INFO: {line.format(epoch=epoch, step=step, told=told)}")
        at += dt.timedelta(seconds=4 * 0.25 + 10)
    told = measured(session_of(lines, tmp_path, "paddle.clas_static"), {"devices": 2, "batch_size": 8})
    assert isinstance(told.headline, Figure)
    assert told.headline.value == pytest.approx(2 * 32)
    (clock,) = [each for each in told.witnesses if each.kind == "clock"]
    assert (clock.verdict, clock.reason and clock.reason.code) == ("silent", "no_comparison")


def test_paddlespeech_prints_its_arguments_when_it_starts(tmp_path: Path) -> None:
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


def rec(digits: int) -> list[str]:
    """Return PaddleRec's lines of one epoch, of 512 samples in 0.1 s."""
    return [
        f"2026-11-20 08:00:{n:02d},000 - INFO - epoch: 0, batch_id: {10 * n}, auc:0.500000,  "
        f"avg_reader_cost: 0.00050 sec, avg_batch_cost: 0.10000 sec, avg_samples: 512.00000, "
        f"ips: {5120:.{digits}f} ins/s"
        for n in range(1, 21)
    ]


def test_paddlerec_infers_in_the_same_words(tmp_path: Path) -> None:
    loaded = "2026-11-20 09:00:00,000 - INFO - load model epoch 0"
    session = session_of([*rec(5), loaded, *rec(5)], tmp_path, "paddle.rec")
    assert value(session, devices=2) == pytest.approx(2 * 5120)
    assert len(recorded(session)) == 20
    assert not log_of(rec(2), tmp_path).claims


@pytest.mark.parametrize("points", [1, 100])
def test_paddlescience_of_2024_has_no_unit(points: int, tmp_path: Path) -> None:
    # 20 iterations of 0.37 s and 20 of 0.5 s in each epoch, whose means begin anew at its fifth.
    lines = []
    for epoch in range(1, 11):
        for step in (1, 20, 40):
            mean = (0.37 * (min(step, 20) - 4) + 0.5 * max(step - 20, 0)) / (step - 4) if step > 4 else 0.37
            lines.append(
                f"[2026/11/20 08:00:00] ppsci INFO: [Train][Epoch {epoch:2d}/10][Iter {step:2d}/40] lr: 0.00100, "
                f"loss: 0.5, EQ: 0.5, batch_cost: {mean:.5f}s, reader_cost: 0.00010s, ips: {points / mean:.2f}, "
                "eta: 0:02:14"
            )
    session = session_of(lines, tmp_path, "paddle.science")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * points * 36 / (16 * 0.37 + 20 * 0.5), rel=1e-3)


@pytest.mark.parametrize(
    ("printed", "precision"),
    [
        ("2026-11-20 08:00:00 [INFO]\tuse amp to train", "amp"),
        ("2026-11-20 08:00:00 [INFO]\tuse AMP to train. AMP level = O1", "amp"),
        ("2026-11-20 08:00:00 [INFO]\tuse AMP to train. AMP level = O2", "fp16"),
        ("[2026/11/20 08:00:00] INFO: use AMP to train. AMP level = O2", "fp16"),
    ],
)
def test_paddleseg_states_its_precision(printed: str, precision: str, tmp_path: Path) -> None:
    lines = [
        f"[2026/11/20 08:00:{n:02d}] INFO: [TRAIN] epoch: 1, iter: {10 * n}/8000, loss: 0.1837, lr: 0.000100, "
        "batch_cost: 0.1000, reader_cost: 0.0113, ips: 80.0000 samples/sec, max_mem_reserved: 2048 MB, "
        "max_mem_allocated: 1902 MB | ETA 00:11:22"
        for n in range(1, 41)
    ]
    session = session_of([printed, *lines], tmp_path, "paddle.seg")
    assert facts_of(session)["precision"] == precision
    assert value(session, "sustained", devices=2) == pytest.approx(160)


@pytest.mark.parametrize("place", ["epoch: 0, step: [{}/990]", "global step {0}, epoch: 0, step: {0}"])
def test_fleetx_prints_the_images_of_the_job(place: str, tmp_path: Path) -> None:
    # 10 steps in 5 s; behind every fifth line 20 s of evaluation, which the timer holds.
    head, lines = "[2026-11-20] [    INFO] - ", []
    for n in range(1, 41):
        seconds = 25 if n % 5 == 1 and n > 1 else 5
        lines.append(
            f"{head}[train] {place.format(10 * n)}, learning rate: 1.00000e-04, loss: 6.750000000, "
            f"batch_cost: {seconds:.5f} sec, ips: {10 * 1024 / seconds:.2f} images/sec"
        )
        if n % 5 == 0:
            lines.append(f"{head}[eval] epoch: 0, batch: 9, loss: 10.500000000")
    assert value(session_of(lines, tmp_path, "paddle.fleetx"), "sustained") == pytest.approx(2048)


def test_uie_saves_and_evaluates_outside_its_timer(tmp_path: Path) -> None:
    # 10 steps in 5 s, and 12 s of saving and evaluation behind every fifth line.
    lines, at = [], START
    for n in range(1, 41):
        at += dt.timedelta(seconds=5.013)
        stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] [    INFO] - "
        lines.append(f"{stamp}global step {10 * n}, epoch: {n // 9 + 1}, loss: 0.00500, speed: 1.99 step/s")
        if n % 5 == 0:
            at += dt.timedelta(seconds=12)
            lines.append(f"{stamp}Evaluation precision: 0.50000, recall: 0.50000, F1: 0.50000")
    session = session_of(lines, tmp_path, "paddle.nlp_uie")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 * 1.99)


def test_voiceprint_times_the_first_batch_of_an_epoch_alone(tmp_path: Path) -> None:
    # Batches of 0.25 s, but for a first one of 5 s, after which an epoch has 40 more.
    lines = [
        f"Train epoch: [{epoch}/9], batch: [{batch}/41], loss: 11.5, accuracy: 0.5, learning rate: 0.001, "
        f"speed: {64 / (0.25 if batch else 5):.2f} data/sec, eta: 5 days, 5:24:08"
        for epoch in range(1, 10)
        for batch in range(0, 41, 10)
    ]
    session = session_of(lines, tmp_path, "frameworks.voiceprint")
    assert value(session, devices=2) == pytest.approx(2 * 64 * 41 / (40 * 0.25 + 5), rel=1e-3)


def test_paddlenlp_without_escape_characters(tmp_path: Path) -> None:
    lines = [
        f"[32m[2026-11-20 08:00:{n:02d},000] [    INFO][0m - loss: 2.5, learning_rate: 3e-05, global_step: {n}, "
        "interval_runtime: 1.0, interval_samples_per_second: 16.0, interval_steps_per_second: 1.0, epoch: 0.02[0m"
        for n in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert isinstance(figure(session), Figure)
    assert recorded(session).stamps()[1] - recorded(session).stamps()[0] == 1


NCCL = "I1120 08:00:00.500173 4242 nccl_context.cc:83] init nccl context nranks: {} local rank: 0 gpu id: 0 ring id: 0"
GPU = "W1120 08:00:01.164415 4242 gpu_resources.cc:61] Please NOTE: device: 0, GPU Compute Capability: 6.1, Driver API"


def ppdet(batch: int, seconds: float, place: str = "Epoch: [{epoch}] [{step:>3}/100]") -> list[str]:
    """Return PaddleDetection's lines of 6 epochs of 100 iterations."""
    loaded = "[11/20 08:00:02] ppdet.utils.checkpoint INFO: Finish loading model weights: made/up.pdparams"
    return [
        loaded,
        *(
            f"[11/20 08:00:03] ppdet.engine INFO: {place.format(n=100 * epoch + step + 1, epoch=epoch, step=step)} "
            f"learning_rate: 0.001 loss: 1.5 eta: 0:01:02 batch_cost: {seconds:.4f} data_cost: 0.0100 "
            f"ips: {batch / seconds:.4f} images/s"
            for epoch in range(6)
            for step in range(0, 100, 20)
        ),
    ]


def test_paddledetection_may_load_its_data_before_it_names_its_gpu(tmp_path: Path) -> None:
    group = "[2026-11-20 08:00:00,000] [    INFO] topology.py:215 - HybridParallelInfo: rank_id: 0, mp_degree: 1, dp"
    data = "[11/20 08:00:01] ppdet.data.source.coco INFO: Load [100 samples valid] in file made/up.json."
    log = log_of([line for batch in (4, 8) for line in (group, data, GPU, *ppdet(batch, 0.5))], tmp_path)
    assert [value(each, devices=1) for each in log.sessions] == [pytest.approx(8), pytest.approx(16)]


def test_paddledetection_counts_its_iterations_in_front_where_it_learns_from_unlabelled_images(tmp_path: Path) -> None:
    lines = ppdet(4, 0.8, "{n:>6}/600 iters Epoch: [{epoch}] [{step:>6}/100]")
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert recorded(session)["step"].tolist()[:3] == [0, 20, 40]
    assert value(session, devices=4) == pytest.approx(4 * 5)


def test_paddledetection_starts_again_on_a_gpu_of_today(tmp_path: Path) -> None:
    # Ranks are connected before the device is told.
    log = log_of([NCCL.format(4), GPU, *ppdet(8, 0.5), NCCL.format(8), GPU, *ppdet(16, 0.8)], tmp_path)
    assert [value(each) for each in log.sessions] == [pytest.approx(4 * 16), pytest.approx(8 * 20)]


def paddle3d(batch: int, at: dt.datetime) -> list[str]:
    """Return lines of Paddle3D's first releases: 10 iterations in 12.5 s, a minute of evaluation behind every 100."""
    head = f"""{at:%Y-%m-%d %H:%M:%S},000 -     INFO -
------------Environment Information-------------
platform:
    Linux-5.4.0
PaddlePaddle:
    paddle3d - 1.0.0
---------------Config Information---------------
batch_size: {batch}
model:
  backbone:
    type: MadeUpBackbone
  type: MadeUp
optimizer:
  type: AdamW"""
    lines = head.split("\n")
    for n in range(1, 41):
        at += dt.timedelta(seconds=12.5)
        stamp = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} -     INFO - "
        lines.append(
            f"{stamp}[TRAIN] epoch={1 + n // 20}/80, iter={10 * n}/9000 , total_loss=1.25, lr=0.001000 | ETA 15:15:36"
        )
        if n % 10 == 0:
            lines.append(f"{stamp}evaluate on validate dataset")
            at += dt.timedelta(seconds=60)
    return lines


def test_the_first_releases_of_paddle3d_print_no_speed(tmp_path: Path) -> None:
    log = log_of([*paddle3d(4, START), *paddle3d(8, START + dt.timedelta(hours=1))], tmp_path)
    assert [each.format.id for each in log.claims] == ["paddle.paddle3d"]
    assert [facts_of(each)["model"] for each in log.sessions] == ["MadeUp"] * 2
    assert [value(each, "sustained", devices=2) for each in log.sessions] == [
        pytest.approx(2 * 4 / 1.25),
        pytest.approx(2 * 8 / 1.25),
    ]


def test_paddle3d_that_fails_is_no_paddleseg(tmp_path: Path) -> None:
    lines = [*paddle3d(4, START)[:13], "Traceback (most recent call last):", "KeyError: 'Car'"]
    assert [each.format.id for each in log_of(lines, tmp_path).claims] == ["paddle.paddle3d"]


def test_paddlevideo_starts_with_its_configuration(tmp_path: Path) -> None:
    lines = []
    for batch in (32, 16):
        lines += [
            "[11/20 08:00:00] DALI is not installed, you can improve performance if use DALI",
            "[11/20 08:00:01] DATASET : ",
            f"[11/20 08:00:01]     batch_size : {batch}",
            "[11/20 08:00:01]     test_batch_size : 1",
            *(
                f"[11/20 08:00:02] epoch:[  1/50 ] train step:{10 * n}   loss: 1.25 batch_cost: 0.50000 sec, "
                f"reader_cost: 0.01000 sec, ips: {2 * batch:.5f} instance/sec."
                for n in range(1, 21)
            ),
        ]
    log = log_of(lines, tmp_path)
    assert [facts_of(each)["batch_size"] for each in log.sessions] == [32, 16]
    assert [value(each, devices=2) for each in log.sessions] == [pytest.approx(128), pytest.approx(64)]


def test_paddleclas_of_release_2_splits_its_batch_over_all_devices(tmp_path: Path) -> None:
    head = "2026-11-20 08:00:00,000 - INFO - "
    sections = ["ARCHITECTURE : ", "    name : ResNet50_vd", "TRAIN : ", "    batch_size : 256", "VALID : "]
    lines = [head + each for each in (*sections, "    batch_size : 20", "classes_num : 102")]
    lines += [
        f"{head}epoch:{epoch:<3d}, train step:{step:<4d}, top1: 0.1, top5: 0.1, loss: 4.5, lr: 0.0038, "
        "batch_cost: 0.40000 s, reader_cost: 0.13033 s, ips: 160.00000 images/sec."
        for epoch in range(6)
        for step in range(0, 100, 10)
    ]
    session = session_of([NCCL.format(4), *lines], tmp_path, "paddle.clas_static")
    assert facts_of(session) == {
        "devices": 4, "batch_size_of_job": 256, "model": "ResNet50_vd", "num_classes": 102,
    }  # fmt: skip
    told = measured(session, facts_of(session))
    assert isinstance(told.headline, Figure)
    assert told.headline.value == pytest.approx(640)
    assert {each.kind: each.verdict for each in told.witnesses}["arithmetic"] == "agrees"


def test_paddleocr_of_2021_leaves_out_its_metrics_in_short_epochs_too(tmp_path: Path) -> None:
    # Steps of 0.2 s, and 0.05 s each of metrics; epochs of 97 steps, with 9 s of saving between, so that whole seconds
    # tell no epoch exactly.
    lines, at = [], START
    for epoch in range(1, 13):
        for step in range(1, 98):
            at += dt.timedelta(seconds=0.25)
            done = 97 * (epoch - 1) + step
            if done % 10 == 0 or step == 97:
                steps = min(done - 97 * (epoch - 1), done % 10 or 10)
                lines.append(
                    f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: epoch: [{epoch}/12], iter: {done}, lr: 0.001000, "
                    f"loss: 28.25, reader_cost: 0.04312 s, batch_cost: {0.2 * steps / 10:.5f} s, "
                    f"samples: {64 * steps}, ips: 320.00000"
                )
        at += dt.timedelta(seconds=9)
        lines.append(f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: save model in ./output/rec/latest")
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    told = measured(session, facts_of(session) | {"devices": 4})
    assert {each.kind: each.verdict for each in told.witnesses}["clock"] == "corrects"
    assert isinstance(told.headline, Figure)
    assert told.headline.value == pytest.approx(4 * 64 / 0.25, rel=0.01)


def of_node(begun: dt.datetime) -> list[str]:
    """Return the lines of PaddleRec's epochs of one node."""
    return [
        f"{begun + dt.timedelta(seconds=700 * (epoch + 1)):%Y-%m-%d %H:%M:%S},000 - INFO - Epoch: {epoch}, "
        f"using time 700.0 second, ips {15000.5 + epoch} example/sec."
        for epoch in range(6)
    ]


@pytest.mark.parametrize(("later", "code"), [(2, "told_at_once"), (9000, "epochs_restart")])
def test_a_second_node_is_no_second_run(later: int, code: str, tmp_path: Path) -> None:
    lines = [*of_node(START), *of_node(START + dt.timedelta(seconds=later))]
    found = second_run(session_of(lines, tmp_path, "paddle.rec"))
    assert found is not None
    assert (found[0], found[1].code) == (7, code)


def test_paddlenlp_draws_a_bar_by_default(tmp_path: Path) -> None:
    # 20 updates of 24 samples in 16 s; behind every fifth line a checkpoint of 5 s.
    head = "[2026-11-20 08:00:00,000] [    INFO] - "
    lines = [head + "***** Running training *****", head + "  Total optimization steps = 800"]
    for n in range(1, 41):
        seconds = 21 if n % 5 == 1 and n > 1 else 16
        bar = f"{20 * n // 8:3d}%|##        | {20 * n}/800 [00:18<01:03,  1.25it/s]"
        words = (
            f"loss: 97.25, learning_rate: 0.0008687, global_step: {20 * n}, interval_runtime: {seconds}.0, "
            f"interval_samples_per_second: {480 / seconds:.3f}, interval_steps_per_second: {20 / seconds:.3f}, "
            "epoch: 0.0024"
        )
        lines.append("\r" + bar + "\r" + " " * 60 + "\r" + words)
        if n % 5 == 0:
            lines.append(f"\r{bar}{head}Saving model checkpoint to ./output/checkpoint-{20 * n}")
    lines.append(
        "          train_runtime: 675.0, train_samples_per_second: 28.444, train_steps_per_second: 1.185, epoch: 0.1"
    )
    for log in (lines, [each.replace("\r", "") for each in lines]):
        session = session_of(log, tmp_path, "paddle.nlp_trainer")
        assert recorded(session)["step"].tolist() == list(range(20, 801, 20))
        assert value(session, "sustained") == pytest.approx(30)


def test_paddlenlp_keeps_its_speeds_in_a_file(tmp_path: Path) -> None:
    # 10 updates of 64 samples in 5 s; behind every tenth row an evaluation of 20 s.
    lines = ["{", '  "best_metric": null,', '  "log_history": [']
    for n in range(1, 41):
        seconds = 25.0 if n % 10 == 1 and n > 1 else 5.0
        row = {
            "epoch": n / 1000, "interval_runtime": seconds, "interval_samples_per_second": round(640 / seconds, 3),
            "interval_steps_per_second": 10 / seconds, "learning_rate": 2.9e-05, "loss": 1.25, "step": 10 * n,
        }  # fmt: skip
        lines += ["    {", *(f'      "{key}": {each},' for key, each in row.items())]
        lines[-1] = lines[-1].removesuffix(",")
        lines.append("    },")
        if n % 10 == 0:
            lines += ["    {", '      "epoch": 0.5,', '      "eval_loss": 0.8,', f'      "step": {10 * n}', "    },"]
    lines += ["  ],", '  "max_steps": 400,', '  "num_train_epochs": 1,', "}"]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert len(recorded(session)) == 40
    assert value(session, "sustained") == pytest.approx(128)


def test_paddleclas_of_2020_prints_the_seconds_of_one_step(tmp_path: Path) -> None:
    # Steps of 0.4 s, of 256 images of all devices; validations and checkpoints of 40 s between the epochs.
    head = ("TRAIN : ", "    batch_size : 256", "VALID : ")
    at, lines = START, [f"2026-11-20 07:59:59 INFO: {each}" for each in head]
    for epoch in range(3):
        for step in range(0, 400, 10):
            at += dt.timedelta(seconds=4)
            lines.append(
                f"{at:%Y-%m-%d %H:%M:%S} INFO: epoch:{epoch:<3d} train step:{step:<4d} loss:  6.9196 top1: 0.0039 "
                "top5: 0.0078 lr: 0.100000 elapse: 0.400s"
            )
        at += dt.timedelta(seconds=40)
        lines += [
            f"{at:%Y-%m-%d %H:%M:%S} INFO: epoch:{epoch:<3d} valid step:0    loss:  6.9196 top1: 0.0039 elapse: 0.100s",
            f"{at:%Y-%m-%d %H:%M:%S} INFO: Already save model in output/ResNet50/{epoch}",
        ]
    session = session_of(lines, tmp_path, "paddle.clas_static")
    told = measured(session, facts_of(session))
    assert isinstance(told.headline, Figure)
    assert (told.headline.value, told.headline.scope) == (pytest.approx(640), "job")
    assert {each.kind: each.verdict for each in told.witnesses}["clock"] == "agrees"
    session = session_of([each.replace("0.400s", "0.200s") for each in lines], tmp_path, "paddle.clas_static")
    assert reason_of(session) == "withheld"


def test_paddleclas_of_october_2020_prints_means(tmp_path: Path) -> None:
    """Steps of 0.4 s, of 256 images of all devices, but 8 s for the first of the epoch."""
    lines = ["INFO: TRAIN : ", "INFO:     batch_size : 256"]
    lines += [
        f"INFO: epoch:0   train step:{step:<4d} loss: 6.91960 top1: 0.00390 lr: 0.100000 "
        f"elapse: {0.4 + 7.6 / (step + 1):.7f} reader : 0.0020440s"
        for step in range(0, 800, 10)
    ]
    session = session_of(lines, tmp_path, "paddle.clas_static")
    assert value(session, "sustained", devices=2) == pytest.approx(640, rel=1e-3)


def test_translation_of_2020_validates_within_the_record_that_follows(tmp_path: Path) -> None:
    at, lines = START, []
    for step in range(100, 6001, 100):
        late = 30 if step % 1000 == 100 and step > 100 else 0
        at += dt.timedelta(seconds=25 + late)
        head = f"{at:%Y-%m-%d %H:%M:%S},000-INFO: "
        lines.append(
            f"{head}step_idx: {step}, epoch: 0, batch: {step}, avg loss: 8.062560, normalized loss: 6.694919, "
            f"ppl: 3173.404053, avg_speed: {100 / (25 + late):.2f} step/s, "
            f"words speed: {400_000 / (25 + late):.2f} words/s"
        )
        if step % 1000 == 0:
            lines.append(f"{head}validation, step_idx: {step}, avg loss: 4.2, normalized loss: 2.8, ppl: 65.9")
    session = session_of(lines, tmp_path, "paddle.nlp_transformer")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 16_000)
    session = session_of([each.replace("4.00 step", "8.00 step") for each in lines], tmp_path, "paddle.nlp_transformer")
    assert reason_of(session) == "withheld"


def test_svtas_prints_the_lines_of_paddlevideo_in_pytorch(tmp_path: Path) -> None:
    line = (
        "[11/20 08:00:{:02d}] epoch:[  1/50 ] train step:{}   loss: 1.25 {}batch_cost: 0.50000 sec, "
        "reader_cost: 0.01000 sec, ips: 4.00000 instance/sec."
    )
    for metrics, framework in (("Acc: 0.5 Seg_Acc: 0.5 ", "PyTorch"), ("top1: 0.5 ", None)):
        session = session_of([line.format(n, 10 * n, metrics) for n in range(1, 21)], tmp_path, "paddle.video")
        assert facts_of(session).get("framework") == framework


@pytest.mark.parametrize(("samples", "found"), [(8.0, 2 * 8 / 0.4), (16.0, "lines_contradict")])
def test_paddleocr_of_documents_times_the_forward_pass_alone(
    samples: float, found: float | str, tmp_path: Path
) -> None:
    # Steps of 0.4 s on two devices, of which `batch_cost` tells 0.05; evaluations and checkpoints of 20 s and 5 s.
    at, lines = (
        START,
        ["Instantaneous batch size per GPU = 8", "Total train batch size (w. parallel, distributed) = 16"],
    )
    lines = [f"[2026/11/20 07:59:59] root INFO:   {each}" for each in lines]
    for step in range(1, 1001):
        at += dt.timedelta(seconds=0.4)
        epoch, place = divmod(step - 1, 100)
        lines.append(
            f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: epoch: [{epoch}/200], iter: [{place}/100], global_step:{step}, "
            "train loss: 0.250000, lr: 0.000050, avg_reader_cost: 0.00100 sec, avg_batch_cost: 0.05000 sec, "
            f"avg_samples: {samples:.5f}, ips: 160.00000 images/sec"
        )
        for every, seconds, said in (
            (200, 20, f"[epoch {epoch}/200] results: {{}}"),
            (100, 5, "Saving model checkpoint to out"),
        ):
            if step % every == 0:
                at += dt.timedelta(seconds=seconds)
                lines.append(f"[{at:%Y/%m/%d %H:%M:%S}] root INFO: {said}")
    session = session_of(lines, tmp_path, "frameworks.paddle_ocr")
    facts = merge({}, session.facts, None, "", {}).for_rules()
    told = measured(session, facts | {"devices": 2}).headline
    if isinstance(told, Figure):
        assert told.value == pytest.approx(found, rel=0.01)
    else:
        assert told.reason.code == found


def clas_of_2022(costs: list[float], epochs: int, *, since_last: bool = False) -> list[str]:
    """Return PaddleClas's lines of such epochs, with means since iteration 5 of the epoch or since the last line."""
    lines, at, taken = [], START, []
    for epoch in range(1, epochs + 1):
        for step, cost in enumerate(costs):
            if step == 5 and not since_last:
                taken = []
            at += dt.timedelta(seconds=cost)
            taken.append(cost)
            if step % 10 == 0:
                mean = sum(taken) / len(taken)
                lines.append(
                    f"[{at:%Y/%m/%d %H:%M:%S}] ppcls INFO: [Train][Epoch {epoch}/{epochs}][Iter: {step}/{len(costs)}]"
                    f"lr: 0.1, loss: 2.3, batch_cost: {mean:.5f}s, reader_cost: 0.0087s, ips: {64 / mean:.5f} samples/s"
                )
                taken = [] if since_last else taken
        at += dt.timedelta(seconds=9)
    return lines


@pytest.mark.parametrize(("name", "samples"), [("ppcls", 128), ("plsc", 64), ("passl", 64)])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("since_last", [False, True])
def test_running_means_of_paddleclas_of_2022_are_undone_where_timestamps_tell(
    tmp_path: Path, epochs: int, since_last: bool, name: str, samples: int
) -> None:
    """The last 250 of each 400 steps take 0.3 s; over midnight, too."""
    lines = clas_of_2022([0.25] * 151 + [0.3] * 249, epochs, since_last=since_last)
    lines = [each.replace(" 08:0", " 23:5").replace(" 08:1", " 00:0").replace("ppcls", name) for each in lines]
    if name != "ppcls":
        lines = [each.replace("samples/s", "images/sec") for each in lines]
    session = session_of(lines, tmp_path, "paddle.clas_dygraph")
    # The first fifth of the records is left out: 80 steps of the first epoch, or 240.
    fast, slow = {1: (70, 240), 3: (300, 640)}[epochs]
    steps_per_second = (fast + slow) / (0.25 * fast + 0.3 * slow)
    assert value(session, "sustained", devices=2) == pytest.approx(samples * steps_per_second, rel=5e-3)


def test_running_means_that_no_timestamp_tells_stay_as_they_are(tmp_path: Path) -> None:
    lines = [each[each.index("ppcls") :] for each in clas_of_2022([0.25] * 151 + [0.3] * 249, 1)]
    assert len(recorded(session_of(lines, tmp_path, "paddle.clas_dygraph"))) == 40


def test_llava_of_paddlemix_prints_the_samples_of_the_job(tmp_path: Path) -> None:
    """32 samples of 8 devices take 0.5 s; a checkpoint lies in the record that follows it."""
    head = [
        "[2026-11-20 08:00:00,000] [INFO] -   Instantaneous batch size per device = 4",
        "[2026-11-20 08:00:00,000] [INFO] -   Total train batch size (w. parallel, distributed & accumulation) = 32",
    ]
    lines = []
    for n in range(1, 31):
        at = f"[2026-11-20 08:{n:02}:00,000] [    INFO] -"
        ips = 6.4 if n % 10 == 1 else 64
        lines.append(
            f"{at} global step {n}, loss: 0.5, ips: {ips:.5f}, max_mem_reserved: 9000 MB, max_mem_allocated: 8000 MB"
        )
        if n % 10 == 0:
            lines.append(f"{at} Saving model checkpoint to output/checkpoint-{n}")
    session = session_of(head + lines, tmp_path, "paddle.nlp_bert")
    assert value(session, "sustained", devices=8) == pytest.approx(64)
