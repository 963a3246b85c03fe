"""Logs of vision trainers whose numbers contradict each other; figures are worked out by hand."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_dialects import facts_of, reason, session_of
from test_disturbed_vision import tick, timm

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from parsers.engine.session import Session
from schema.records import Figure, NoFigure

JOB = {"devices": 8, "batch_size": 64}


def said(session: Session, **case: int) -> float | tuple[str, str]:
    """Return the figure, or the witness that withholds it and the unit that it compares."""
    found = measured(session, facts_of(session) | case).headline
    if isinstance(found, Figure):
        return found.value
    assert isinstance(found, NoFigure)
    assert found.reason.code == "withheld", found.reason
    return str(found.reason.args["witness"]), str(found.reason.args["unit"])


# Epochs of another length


def epochs(lengths: Sequence[int], printer: str) -> list[str]:
    """Return lines of every tenth step of epochs of so many steps, whose total only timm prints."""
    form = {
        "frameworks.timm": "Train: {n} [{i:4d}/{of} ( 10%)]  Loss: 6.00 (6.00)  Time: 0.250s, 1024.00/s  "
        "(0.250s, 1024.00/s)  LR: 1.000e-05  Data: 0.010 (0.012)",
        "frameworks.mxnet_fit": "2026-11-20 08:36:06,500 Node[0] Epoch[{n}] Batch [{i}]\tSpeed: 366.50 samples/sec\t"
        "Train-accuracy=0.044297",
    }[printer]
    return [form.format(n=n, i=i, of=of) for n, of in enumerate(lengths) for i in range(10, of + 1, 10)]


@pytest.mark.parametrize("printer", ["frameworks.timm", "frameworks.mxnet_fit"])
def test_epochs_of_another_length_are_of_other_batches(printer: str, tmp_path: Path) -> None:
    for lengths, line in (
        ([120, 120, 120, 60, 60, 60], 37),
        ([60, 60, 120, 120, 120], 13),
        # A warm-up epoch, one that ends the run early, epochs that all differ, and steps that a loader rounds.
        ([60, 120, 120, 120, 120], 0),
        ([120, 120, 120, 120, 60], 0),
        ([120, 60, 120, 60, 120, 60], 0),
        ([120, 120, 120, 130, 130, 130], 0),
    ):
        found = second_run(session_of(epochs(lengths, printer), tmp_path, printer))
        assert (found[0] if found else 0) == line
        assert found is None or found[1].code == "epochs_of_another"


# timm


@pytest.mark.parametrize("share", [1, 2])
@pytest.mark.parametrize(
    ("right", "wrong"), [("100.00/s)", "200.00/s)"), ("(2.560s", "(1.280s"), ("(2.560s", "(5.120s")]
)
def test_the_means_of_timm_are_held_against_the_last_update(right: str, wrong: str, share: int, tmp_path: Path) -> None:
    lines = [line for epoch in range(4) for line in timm(epoch, 101 * [256], 10)]
    assert right in lines[0].replace(" ", "") or right in lines[0]
    lines = [
        each.replace(right, wrong).replace(f" {right}", wrong) if i % share == 0 else each
        for i, each in enumerate(lines)
    ]
    session = session_of(lines, tmp_path, "frameworks.timm")
    assert said(session) == ("arithmetic", "s")


def test_stamps_say_nothing_of_the_speeds_of_timm(tmp_path: Path) -> None:
    begun, lines = dt.datetime(2026, 11, 20, 10), []
    for epoch in range(4):
        for i, each in enumerate(timm(epoch, 101 * [256], 10)):
            at = begun + dt.timedelta(seconds=2.56 * (101 * epoch + 10 * i + 1))
            lines.append(
                f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03} INFO {each.replace('100.00/s)', '200.00/s)')}"
            )
    assert said(session_of(lines, tmp_path, "frameworks.timm")) == ("arithmetic", "s")


def test_a_stated_batch_tells_which_pair_of_timm_is_right(tmp_path: Path) -> None:
    head = "Learning rate (0.1) calculated from base learning rate (0.1) and effective global batch size (256) with x."
    lines = [line for epoch in range(4) for line in timm(epoch, 101 * [256], 10)]
    lines = [head, *(each.replace("2.560s,  100.00/s", "2.560s,  200.00/s", 1) for each in lines)]
    session = session_of(lines, tmp_path, "frameworks.timm")
    assert said(session) == pytest.approx(100)


# MetricLogger


def metric_logger(epoch: int, every: int, *, time: float = 0.5, eta: float = 0.5, total: float = 0.0) -> list[str]:
    """Return the lines of an epoch of 1000 iterations, with the seconds that each number tells of one."""
    lines = [
        f"Epoch: [{epoch}]  [{i:4}/1000]  eta: {dt.timedelta(seconds=int(eta * (1000 - i)))}  lr: 0.0001  "
        f"loss: 6.5 (6.5)  time: {time:.4f}  data: 0.0010  max mem: 8021"
        for i in [*range(0, 1000, every), 999]
    ]
    told = f"Epoch: [{epoch}] Total time: {dt.timedelta(seconds=int(1000 * total))} ({total:.4f} s / it)"
    return [*lines, told] if total else lines


@pytest.mark.parametrize("every", [10, 20])
@pytest.mark.parametrize("time", [0.25, 0.6, 1.0])
def test_the_time_that_is_left_contradicts_the_means_of_a_metric_logger(
    every: int, time: float, tmp_path: Path
) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, time=time)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == ("arithmetic", "s")


@pytest.mark.parametrize("every", [10, 20])
def test_of_times_that_differ_the_total_of_an_epoch_tells_which_is_right(every: int, tmp_path: Path) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, eta=1.0, total=0.5)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == pytest.approx(1024)
    lines = [line for epoch in range(2) for line in metric_logger(epoch, every, time=1.0, total=0.5)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    assert said(session, **JOB) == ("summary", "s")


def test_stalls_that_no_mean_holds_do_not_contradict_the_time_that_is_left(tmp_path: Path) -> None:
    lines = [line for epoch in range(2) for line in metric_logger(epoch, 50, eta=0.8)]
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    # Of each 50 iterations 20 take 0.5 s, and all together 40 s.
    assert said(session, **JOB) == pytest.approx(640, rel=0.01)


# PyTorch examples, ImageNet


def examples(own: Sequence[float], means: Sequence[float], every: int, start: dt.datetime | None = None) -> list[str]:
    """Return the lines of two epochs; each line tells the next of some seconds of its batch, and of some means."""
    lines = []
    for at, (epoch, step) in enumerate((epoch, step) for epoch in range(2) for step in range(1, 201, every)):
        stamp = f"{start + dt.timedelta(seconds=0.5 * (200 * epoch + step)):%Y-%m-%d %H:%M:%S.%f} " if start else ""
        lines.append(
            f"{stamp}Epoch: [{epoch}][{step:3}/200]\tTime {own[at % len(own)]:6.3f} ({means[at % len(means)]:6.3f})\t"
            "Data  0.001 ( 0.001)\tLoss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)"
        )
    return lines


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize(("own", "means"), [((1.0,), (0.5,)), ((0.5,), (1.0,)), ((1.0, 0.5), (1.0, 0.5))])
def test_means_in_brackets_are_those_of_what_stands_before(
    own: Sequence[float], means: Sequence[float], every: int, tmp_path: Path
) -> None:
    session = session_of(examples(own, means, every), tmp_path, "dlperf.pytorch_examples")
    assert said(session, **JOB) == ("arithmetic", "s")


def test_means_that_are_right_give_the_figure_whatever_single_steps_say(tmp_path: Path) -> None:
    session = session_of(examples([0.5, 1.0], [0.5], 10), tmp_path, "dlperf.pytorch_examples")
    assert said(session, **JOB) == pytest.approx(1024)


def test_stamps_tell_which_seconds_are_right(tmp_path: Path) -> None:
    begun = dt.datetime(2026, 11, 20, 10)
    session = session_of(examples([0.5], [1.0], 10, begun), tmp_path, "dlperf.pytorch_examples")
    assert said(session, **JOB) == pytest.approx(1024)
    # Every second step claims twice its time: the median of the steps is right, their sum is not.
    session = session_of(examples([1.0, 0.5, 0.5], [0.5], 1, begun), tmp_path, "dlperf.pytorch_examples")
    assert said(session, **JOB) == ("clock", "images/s")


# Keras


def keras(seconds: int, milliseconds: int, steps: int = 100, *, half: bool = False) -> list[str]:
    """Return 10 epochs of 100 steps of 120 ms; all of them, or every second one, tell something else."""
    lines = []
    for epoch in range(1, 11):
        told = (seconds, milliseconds, steps) if epoch % 2 or not half else (12, 120, 100)
        bar = "{2}/{2} [==============================] - {0}s {1}ms/step - loss: 0.5000 - accuracy: 0.7500"
        lines += [f"Epoch {epoch}/10", bar.format(*told)]
    return lines


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("told", [(6, 120, 100), (12, 240, 100), (12, 120, 200)])
def test_steps_of_keras_that_last_longer_than_their_epoch(
    told: tuple[int, int, int], half: bool, tmp_path: Path
) -> None:
    session = session_of(keras(*told, half=half), tmp_path, "frameworks.keras")
    assert said(session, devices=1, batch_size=64) == ("arithmetic", "s")


def test_epochs_of_keras_of_which_many_wait_at_once(tmp_path: Path) -> None:
    session = session_of(keras(24, 120, half=True), tmp_path, "frameworks.keras")
    assert said(session, devices=1, batch_size=64) == ("arithmetic", "s")
    # All of them may wait for their first batch.
    session = session_of(keras(24, 120), tmp_path, "frameworks.keras")
    assert said(session, devices=1, batch_size=64) == pytest.approx(6400 / 24, rel=0.03)


# Ultralytics


def yolo(
    *, steps: int = 84, seconds: int = 42, rate: float = 2.0, images: int = 2688, corrupt: int = 0, hours: float = 0.125
) -> list[str]:
    """Return 10 epochs of 84 batches of 32 images in 42 s."""
    bar = "8.12G      1.234     0.5500      1.105        123        640: 100%|##########| "
    told = f"{images - corrupt} images, 3 backgrounds, {corrupt} corrupt: 100%|##| {images}/{images} [00:00<00:00]"
    return [
        "Ultralytics 8.3.0 Python-3.10 torch-2.1.0 CUDA:0 (NVIDIA A100, 40000MiB)",
        "engine/trainer: task=detect, mode=train, model=yolo11n.pt, epochs=10, batch=32, device=0, workers=8, x=1",
        f"train: Scanning labels/train... {told}",
        *(f"  {i:3}/10  {bar}{steps}/{steps} [00:{seconds:02}<00:00, {rate:5.2f}it/s]" for i in range(1, 11)),
        f"10 epochs completed in {hours:.3f} hours.",
    ]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({}, 64),
        ({"hours": 0.25}, 64),
        # 300 images that cannot be read are no part of an epoch.
        ({"images": 2988, "corrupt": 300}, 64),
        ({"steps": 168, "rate": 4.0}, ("counters", "samples")),
        ({"images": 1344}, ("counters", "samples")),
        ({"seconds": 21}, ("arithmetic", "s")),
        ({"rate": 4.0}, ("arithmetic", "s")),
        ({"seconds": 59, "rate": 1.4}, ("summary", "s")),
        ({"hours": 0.060}, ("summary", "s")),
    ],
)
def test_epochs_of_yolo_fit_their_images_their_rate_and_the_run(
    told: dict[str, float], found: float | tuple[str, str], tmp_path: Path
) -> None:
    given = said(session_of(yolo(**told), tmp_path, "frameworks.ultralytics"))  # type: ignore[arg-type]
    assert given == (found if isinstance(found, tuple) else pytest.approx(found, rel=0.01))


def test_an_epoch_of_yolo_that_was_not_finished_does_not_fit_its_images(tmp_path: Path) -> None:
    lines = [
        *yolo()[:3],
        yolo()[3].replace("100%", " 50%").replace("84/84", "42/84").replace("00:42", "00:21"),
        "Killed",
    ]
    session = session_of(lines, tmp_path, "frameworks.ultralytics")
    found = measured(session, facts_of(session))
    assert [each.verdict for each in found.witnesses if each.kind == "counters"] != ["disagrees"]


# MXNet, GluonCV and TensorFlow


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_speeds_of_gluon_cv_are_those_of_their_epoch(times: float, tmp_path: Path) -> None:
    lines = ["INFO:root:Namespace(batch_size=64, dtype='float32', kvstore='device', lr_mode='cosine', num_gpus=4)"]
    for epoch in range(3):
        speed = f"Speed: {1024 * times:.6f} samples/sec\taccuracy=0.0012\tlr=0.003133"
        lines += [f"INFO:root:Epoch[{epoch}] Batch [{49 + 50 * i}]\t{speed}" for i in range(8)]
        lines.append(f"INFO:root:[Epoch {epoch}] speed: 1024 samples/sec\ttime cost: 105.000000")
    assert said(session_of(lines, tmp_path, "dlperf.gluon_cv")) == ("summary", "images/s")


def test_several_speeds_of_one_batch_of_gluon_cv_may_be_those_of_workers(tmp_path: Path) -> None:
    lines = ["INFO:root:Namespace(batch_size=64, dtype='float32', lr_mode='cosine', num_gpus=1)"]
    for epoch in range(3):
        for i in range(49, 400, 50):
            lines += [
                f"INFO:root:Epoch[{epoch}] Batch [{i}]\tSpeed: {each:.6f} samples/sec\taccuracy=0.0012\tlr=0.003133"
                for each in (500, 503)
            ]
    assert reason(session_of(lines, tmp_path, "dlperf.gluon_cv"), "sustained") == "speed_of_ranks"


def ssd(batches: int, *, every: int = 100, words: str = "horovod=False", before: str = "") -> list[str]:
    """Return five epochs of SSD on what is called Pascal VOC, in batches of 32 images that take half a second."""
    arguments = f"batch_size=32, dataset='voc', epochs=5, gpus='0,1', {words}, log_interval=100"
    lines = [
        f"{before}Namespace({arguments}, save_prefix='ssd_512_vgg16_voc')",
        f"{before}Start training from [Epoch 0]",
    ]
    for epoch in range(5):
        told = "CrossEntropy=6.000, SmoothL1=2.500"
        speed = f"Speed: 90.000 samples/sec, {told}"
        lines += [f"{before}[Epoch {epoch}][Batch {i}], {speed}" for i in range(every - 1, batches, every)]
        lines += [f"{before}[Epoch {epoch}] Training cost: {batches / 2:.3f}, {told}"]
    return lines


@pytest.mark.parametrize("told", [{}, {"every": 200}, {"before": "INFO:root:"}])
def test_an_epoch_of_ssd_has_the_images_of_its_data_set(told: dict[str, Any], tmp_path: Path) -> None:
    session = session_of(ssd(517, **told), tmp_path, "frameworks.gluon_cv_detection")
    assert said(session) == pytest.approx(64, rel=0.001)
    assert facts_of(session)["devices"] == 2


def test_an_epoch_of_ssd_is_no_faster_than_its_fastest_batch(tmp_path: Path) -> None:
    # Its batches compute 90 images/s at most, and an epoch of half the seconds 128.
    fast = [each.replace("cost: 258.500,", "cost: 129.250,") for each in ssd(517)]
    assert reason(session_of(fast, tmp_path, "frameworks.gluon_cv_detection"), "sustained") == "lines_contradict"
    one = [*ssd(517)[:19], *fast[19:20], *ssd(517)[20:]]
    assert said(session_of(one, tmp_path, "frameworks.gluon_cv_detection")) == pytest.approx(64, rel=0.001)


def rcnn(batches: int, times: float) -> list[str]:
    """Return five epochs of Faster R-CNN in batches of 8 images that take half a second; speeds may lie."""
    lines = ["Namespace(batch_size=8, dataset='coco', epochs=5, gpus='0,1,2,3', horovod=False, log_interval=100)"]
    for epoch in range(5):
        told = "RPN_Conf=0.250,RPN_SmoothL1=0.125"
        speed = f"Speed: {16 * times:.3f} samples/sec, {told}"
        lines += [f"[Epoch {epoch}][Batch {i}], {speed}" for i in range(99, batches, 100)]
        lines += [f"[Epoch {epoch}] Training cost: {batches / 2 + 3:.3f}, {told}"]
    return lines


@pytest.mark.parametrize("batches", [120, 1250])
def test_speeds_of_rcnns_are_those_of_their_epochs(batches: int, tmp_path: Path) -> None:
    for times in (0.5, 1, 4):
        session = session_of(rcnn(batches, times), tmp_path, "frameworks.gluon_cv_detection")
        assert said(session) == (pytest.approx(16) if times == 1 else ("summary", "s"))


@pytest.mark.parametrize("batches", [150, 1600])
def test_images_of_ones_own_in_the_layout_of_pascal_voc_are_not_counted(batches: int, tmp_path: Path) -> None:
    session = session_of(ssd(batches), tmp_path, "frameworks.gluon_cv_detection")
    assert said(session) == ("counters", "samples")
    lines = [each for i, each in enumerate(ssd(517)) if i not in {6, 11, 12}]
    assert said(session_of(lines, tmp_path, "frameworks.gluon_cv_detection")) == pytest.approx(64, rel=0.001)


def test_epochs_of_too_few_batches_to_print_one_may_be_of_any_images(tmp_path: Path) -> None:
    session = session_of(ssd(60), tmp_path, "frameworks.gluon_cv_detection")
    assert reason(session, "sustained") == "no_steps_per_epoch"


def test_each_worker_of_horovod_takes_all_images_of_ssd(tmp_path: Path) -> None:
    session = session_of(ssd(4 * 517, words="horovod=True"), tmp_path, "frameworks.gluon_cv_detection")
    assert said(session) == ("counters", "samples")
    assert "devices" not in facts_of(session)


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_speeds_of_tf_cnn_benchmarks_are_those_of_their_total(times: float, tmp_path: Path) -> None:
    lines = [
        "TensorFlow:  1.15", "Model:       resnet50", "Batch size:  256 global", "             64 per device",
        "Devices:     ['/gpu:0', '/gpu:1', '/gpu:2', '/gpu:3']", "Variables:   replicated",
        *(f"{10 * i}\timages/sec: {1024 * times:.1f} +/- 1.8 (jitter = 9.0)\t7.925" for i in range(1, 11)),
        "total images/sec: 1024.00",
    ]  # fmt: skip
    assert said(session_of(lines, tmp_path, "frameworks.tf_cnn_benchmarks")) == ("summary", "images/s")


@pytest.mark.parametrize(("seconds", "rate"), [(50.0, 4.0), (25.0, 8.0)])
def test_the_seconds_of_estimator_are_held_against_its_rate(seconds: float, rate: float, tmp_path: Path) -> None:
    lines = ["INFO:tensorflow:Using config: {'_model_dir': 'x'}", "INFO:tensorflow:Running local_init_op."]
    for i in range(1, 21):
        lines.append(f"INFO:tensorflow:global_step/sec: {rate:.5f}")
        lines.append(f"INFO:tensorflow:loss = 6.5, step = {100 * i} ({seconds:.3f} sec)")
    session = session_of(lines, tmp_path, "frameworks.tf_estimator")
    assert said(session, batch_size_of_job=256) == ("summary", "steps/s")


# OpenMMLab


@pytest.mark.parametrize("told", [True, False])
def test_evaluations_that_no_row_of_mmcv_tells_are_no_training(told: bool, tmp_path: Path) -> None:
    # Iterations of 0.5 s; behind each 1000 an evaluation of 150 s, behind each pass of 825 the loader rests for 20 s.
    lines = []
    for done in range(50, 10001, 50):
        more = 3.0 if done > 50 and done % 1000 == 50 else 0.4 if done % 825 < 50 and done % 825 else 0.0
        row = {"mode": "train", "epoch": done // 825 + 1, "iter": done, "lr": 0.01, "memory": 3000}
        lines.append(json.dumps({**row, "data_time": 0.01 + more, "loss": 1.5, "time": 0.5 + more}))
        if told and done % 1000 == 0:
            lines.append(json.dumps({"mode": "val", "epoch": done // 825 + 1, "iter": 500, "lr": 0.01, "mIoU": 0.4}))
    session = session_of(lines, tmp_path, "frameworks.openmmlab_json")
    assert said(session, **JOB) == pytest.approx(1024, rel=0.01)


# timm, steps of a few milliseconds


def test_an_update_of_timm_is_smaller_where_seconds_tell_so(tmp_path: Path) -> None:
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
    assert said(session) == pytest.approx(6400 * 512 / (3 * 10.995 + 400 * 0.005), rel=0.01)


# CenterNet and Lightning


@pytest.mark.parametrize(("mean", "found"), [(0.5, 64), (1.0, ("arithmetic", "s")), (0.25, ("arithmetic", "s"))])
def test_the_means_of_centernet_are_held_against_the_time_of_the_epoch(
    mean: float, found: float | tuple[str, str], tmp_path: Path
) -> None:
    lines = ["training chunk_sizes: [16, 16]"]
    for epoch in range(1, 4):
        lines += [
            f"ctdet/coco_dla |##  | train: [{epoch}][{i}/400]|Tot: {dt.timedelta(seconds=(i + 1) // 2)} |ETA: 0:01:00 "
            f"|loss 6.2500 |hm_loss 5.9812 |Data 0.002s(0.008s) |Net {mean:.3f}s"
            for i in range(0, 400, 20)
        ]
    given = said(session_of(lines, tmp_path, "frameworks.centernet"))
    assert given == (found if isinstance(found, tuple) else pytest.approx(found))


@pytest.mark.parametrize(("rate", "found"), [(5.0, 80), (10.0, ("arithmetic", "s")), (2.5, ("arithmetic", "s"))])
def test_the_rate_of_a_bar_of_lightning_is_held_against_its_time(
    rate: float, found: float | tuple[str, str], tmp_path: Path
) -> None:
    lines = [f"Epoch {i}: 100%|##########| 500/500 [01:40<00:00,  {rate:.2f}it/s, v_num=0]" for i in range(8)]
    given = said(session_of(lines, tmp_path, "frameworks.lightning"), devices=1, batch_size=16)
    assert given == (found if isinstance(found, tuple) else pytest.approx(found, rel=0.01))


# The wait for data is a part of the step


@pytest.mark.parametrize(("waits", "found"), [(0.45, 1024), (0.8, ("arithmetic", "s"))])
def test_no_step_waits_longer_for_its_data_than_it_takes(
    waits: float, found: float | tuple[str, str], tmp_path: Path
) -> None:
    row = {"mode": "train", "epoch": 1, "lr": 0.01, "data_time": waits, "loss": 1.5, "time": 0.5}
    rows = [json.dumps({"mode": "train", "epoch": 1, "iter": i, **row}) for i in range(50, 1000, 50)]
    lines = [each.replace("data: 0.0010", f"data: {waits:.4f}") for each in metric_logger(0, 20)]
    for session in (
        session_of(rows, tmp_path, "frameworks.openmmlab_json"),
        session_of(lines, tmp_path, "frameworks.metric_logger"),
    ):
        given = said(session, **JOB)
        assert given == (found if isinstance(found, tuple) else pytest.approx(found, rel=0.01))


def test_stamps_tell_that_the_wait_for_data_is_wrong(tmp_path: Path) -> None:
    begun = dt.datetime(2026, 11, 20, 10)
    lines = [
        f"{begun + dt.timedelta(seconds=25 * i):%Y-%m-%d %H:%M:%S},250 - mmdet - INFO - Epoch [1][{50 * i}/1000]\t"
        "lr: 0.002, eta: 0:08:00, time: 0.500, data_time: 0.800, loss: 1.5"
        for i in range(1, 21)
    ]
    assert said(session_of(lines, tmp_path, "frameworks.mmseg"), **JOB) == pytest.approx(1024)


# TimeHistory


@pytest.mark.parametrize(
    ("head", "found"), [(["--batch_size=256 --num_gpus=4"], ("arithmetic", "samples")), ([], ("arithmetic", "s"))]
)
def test_some_speeds_that_their_seconds_contradict(head: list[str], found: tuple[str, str], tmp_path: Path) -> None:
    lines = [
        f"I1120 10:{i:02}:00.000000 1234 keras_utils.py:145] TimeHistory: 60.00 seconds, {2048 if i % 2 else 1024:.2f} "
        f"examples/second between steps {240 * i} and {240 * (i + 1)}"
        for i in range(30)
    ]
    assert said(session_of(head + lines, tmp_path, "dlperf.tensorflow2_resnet50")) == found


# EDM and StyleGAN


@pytest.mark.parametrize(
    ("took", "each", "found"),
    [(60.0, 15.0, 1000 / 15), (60.0, 30.0, ("arithmetic", "s")), (120.0, 15.0, ("arithmetic", "s"))],
)
def test_seconds_of_a_tick_are_those_of_its_images(
    took: float, each: float, found: float | tuple[str, str], tmp_path: Path
) -> None:
    # Every fifth line is lost: the images of two ticks are counted there, and the time of one.
    lines = ["Training options:", "{", "}", *(tick(i, 4.0 * i, took, each) for i in range(1, 31) if i % 5)]
    given = said(session_of(lines, tmp_path, "frameworks.edm"))
    assert given == (found if isinstance(found, tuple) else pytest.approx(found))


# torchreid and Dassl


@pytest.mark.parametrize(
    ("eta", "found"), [(0.5, 64), (0.25, ("arithmetic", "s")), (1.0, ("arithmetic", "s")), (None, 64)]
)
@pytest.mark.parametrize("dassl", [True, False])
def test_the_time_that_is_left_contradicts_the_means_of_torchreid(
    eta: float | None, found: float | tuple[str, str], dassl: bool, tmp_path: Path
) -> None:
    lines = []
    for epoch in range(1, 6):
        for i in range(20, 401, 20):
            left = dt.timedelta(seconds=int(((60 - epoch) * 400 + 400 - i) * (eta or 0)))
            told = f"eta {left}" if eta else "lr 0.0003"
            ends = f"loss 1.2500 (1.5000) {told}" if dassl else f"{told}\tloss 1.2500 (1.5000)"
            lines.append(f"epoch: [{epoch}/60][{i}/400]\ttime 0.500 (0.500)\tdata 0.001 (0.002)\t{ends}")
    given = said(session_of(lines, tmp_path, "frameworks.torchreid"), devices=1, batch_size=32)
    assert given == (found if isinstance(found, tuple) else pytest.approx(found))


# FastEstimator


@pytest.mark.parametrize(
    ("rate", "seconds", "found"),
    [(50.0, 37.5, 1600), (100.0, 37.5, ("arithmetic", "s")), (50.0, 75.0, ("arithmetic", "s"))],
)
def test_steps_of_fastestimator_are_those_of_their_epoch(
    rate: float, seconds: float, found: float | tuple[str, str], tmp_path: Path
) -> None:
    lines = ["FastEstimator-Start: step: 1; logging_interval: 100; num_device: 1;"]
    for step in range(100, 7501, 25):
        if step % 100 == 0:
            lines.append(f"FastEstimator-Train: step: {step}; ce: 0.25; steps/sec: {rate}; model_lr: 0.001;")
        if step % 1875 == 0:
            told = f"step: {step}; epoch: {step // 1875}"
            lines.append(f"FastEstimator-Train: {told}; epoch_time: {seconds} sec;")
            lines.append(f"FastEstimator-Eval: {told}; accuracy: 0.9375; ce: 0.125;")
    given = said(session_of(lines, tmp_path, "frameworks.fastestimator"), batch_size=32)
    assert given == (found if isinstance(found, tuple) else pytest.approx(found))


# Detectron2


@pytest.mark.parametrize(("time", "found"), [(0.5, 32), (0.25, ("arithmetic", "s")), (1.0, ("arithmetic", "s"))])
@pytest.mark.parametrize("slower", [1.0, 1.5])
def test_the_time_that_is_left_contradicts_the_rows_of_detectron2(
    time: float, found: float | tuple[str, str], slower: float, tmp_path: Path
) -> None:
    # The first 10 of 50 rows may be slower, by their time and by what they say is left.
    rows = []
    for n in range(1, 51):
        factor = slower if n <= 10 else 1.0
        left = {"data_time": 0.01, "eta_seconds": (2000 - 20 * n) * 0.5 * factor, "iteration": 20 * n - 1}
        rows.append(json.dumps(left | {"lr": 0.01, "time": time * factor, "total_loss": 2.5}))
    given = said(session_of(rows, tmp_path, "frameworks.detectron2_json"), batch_size_of_job=16)
    assert given == (found if isinstance(found, tuple) else pytest.approx(found))
